/* SPDX-License-Identifier: BSD-3-Clause */
/* A structure as a structure file: doc/structure-file.md says what each element and attribute is. */
#include "structure/outline_impl.h"
#include "structure/given/given_attributes.h"
#include "structure/given/spelling.h"
#include "common/str.h"
#include <stdlib.h>
#include <string.h>

struct lines { /* of a loop or statement row */
    uint32_t first, last;
};

struct ranges {
    struct structure_code *data;
    size_t len, cap;
};

struct writing {
    struct outline rows;
    struct lines *spans;  /* [scope] */
    struct ranges *where; /* [scope]; the last one is of all */
    struct str scratch;
};

static void widen(struct lines *l, uint32_t line)
{
    if (!line)
        return;
    l->first = !l->first || line < l->first ? line : l->first;
    l->last = line > l->last ? line : l->last;
}

/* First and last line of a loop in its own file; children come after their parents. */
static void measure(struct writing *o)
{
    o->spans = xcalloc(o->rows.s->scopes.len + 1, sizeof *o->spans);
    for (uint32_t i = (uint32_t)o->rows.s->scopes.len; i-- > 0;) {
        const struct structure_scope *c = outline_scope(&o->rows, i),
                                     *up = c->parent == STRUCTURE_NONE ? NULL : outline_scope(&o->rows, c->parent);

        if (c->kind == SCOPE_LOOP || c->kind == SCOPE_LINE)
            widen(&o->spans[i], c->line);
        if (!up || up->kind != SCOPE_LOOP)
            continue;
        if (c->kind == SCOPE_INLINE && c->call_file == up->file)
            widen(&o->spans[c->parent], c->call_line);
        if (c->kind != SCOPE_INLINE && c->file == up->file) {
            widen(&o->spans[c->parent], o->spans[i].first);
            widen(&o->spans[c->parent], o->spans[i].last);
        }
    }
}

/* The code of a scope is that of all that lies in it. */
static void locate(struct writing *o)
{
    const struct structure *s = o->rows.s;
    size_t n = s->scopes.len;

    o->where = xcalloc(n + 1, sizeof *o->where);
    for (size_t i = 0; i < s->places.len; i++) {
        const struct structure_code *code = &s->code.data[i];
        const struct structure_place *p = &s->places.data[i];

        for (uint32_t at = o->rows.options->raw ? p->raw : p->normal;; at = s->scopes.data[at].parent) {
            struct ranges *r = &o->where[at == STRUCTURE_NONE ? n : at];

            if (r->len && vec_last(r).high == code->low)
                vec_last(r).high = code->high;
            else
                vec_push(r, *code);
            if (at == STRUCTURE_NONE)
                break;
        }
    }
}

static void print_text(struct writing *o, const char *name, const char *value)
{
    str_clear(&o->scratch);
    spelling_add(&o->scratch, value);
    fprintf(o->rows.out, " %s=\"%s\"", name, str_cstr(&o->scratch));
}

static void print_where(struct writing *o, size_t scope)
{
    const struct ranges *r = &o->where[scope];

    if (!r->len)
        return;
    fputs(" v=\"", o->rows.out);
    for (size_t i = 0; i < r->len; i++)
        fprintf(o->rows.out, "%s0x%llx-0x%llx", i ? " " : "", (unsigned long long)r->data[i].low,
                (unsigned long long)r->data[i].high);
    fputc('"', o->rows.out);
}

/* Returns the file that a reader assumes for a scope that names none, from the scope around it. */
static uint32_t file_in(const struct writing *o, uint32_t parent)
{
    const struct structure_scope *p = outline_scope(&o->rows, parent);

    return p->kind == SCOPE_FILE && !strcmp(outline_text(&o->rows, p->name), "<unknown file>") ? 0 : p->file;
}

static void print_file(struct writing *o, const char *name, uint32_t file, uint32_t otherwise)
{
    if (file != otherwise)
        print_text(o, name, outline_text(&o->rows, file));
}

static void print_procedure(struct writing *o, const struct structure_scope *c)
{
    FILE *out = o->rows.out;

    fputs("<P", out);
    print_text(o, "n", outline_text(&o->rows, c->name));
    if (c->linkage)
        print_text(o, "k", outline_text(&o->rows, c->linkage));
    print_file(o, "f", c->file, file_in(o, c->parent));
    if (c->line)
        fprintf(out, " b=\"%u\"", c->line);
    if (c->ordinal)
        fprintf(out, " o=\"%u\"", c->ordinal);
    fprintf(out, " a=\"0x%llx\"", (unsigned long long)c->address);
}

static void print_inline(struct writing *o, const struct structure_scope *c)
{
    FILE *out = o->rows.out;
    uint32_t around = file_in(o, c->parent);

    fputs("<I", out);
    print_text(o, "n", outline_text(&o->rows, c->name));
    if (c->linkage)
        print_text(o, "k", outline_text(&o->rows, c->linkage));
    print_file(o, "f", c->call_file, around);
    fprintf(out, " b=\"%u\"", c->call_line);
    print_file(o, "df", c->file, around);
    if (c->line)
        fprintf(out, " dl=\"%u\"", c->line);
}

static void print_loop(struct writing *o, uint32_t i)
{
    const struct structure_scope *c = outline_scope(&o->rows, i);

    fputs("<L", o->rows.out);
    print_file(o, "f", c->file, c->line ? file_in(o, c->parent) : 0);
    fprintf(o->rows.out, " b=\"%u\" e=\"%u\" l=\"%u\" o=\"%u\" a=\"0x%llx\"", o->spans[i].first, o->spans[i].last,
            c->line, c->ordinal, (unsigned long long)c->address);
    if (c->basis)
        fprintf(o->rows.out, " s=\"%s\"", given_basis_words[c->basis]);
}

static void print_aliases(struct writing *o, const struct structure_scope *c, int depth)
{
    for (uint32_t i = 0; i < c->alias_count; i++) {
        outline_indent(&o->rows, depth);
        fputs("<A", o->rows.out);
        print_text(o, "n", outline_text(&o->rows, o->rows.s->aliases.data[c->first_alias + i]));
        fputs("/>\n", o->rows.out);
    }
}

static const char *open_scope(struct writing *o, uint32_t i)
{
    const struct structure_scope *c = outline_scope(&o->rows, i);

    switch (c->kind) {
    case SCOPE_FILE:
        fputs("<F", o->rows.out);
        print_text(o, "n", outline_text(&o->rows, c->name));
        return "F";
    case SCOPE_PROCEDURE: print_procedure(o, c); return "P";
    case SCOPE_INLINE: print_inline(o, c); return "I";
    default: print_loop(o, i); return "L";
    }
}

static void print_statement(struct writing *o, uint32_t i, int depth)
{
    const struct structure_scope *c = outline_scope(&o->rows, i);

    outline_indent(&o->rows, depth);
    fputs("<S", o->rows.out);
    print_file(o, "f", c->file, c->line ? file_in(o, c->parent) : 0);
    fprintf(o->rows.out, " b=\"%u\" e=\"%u\"", c->line, c->line);
    print_where(o, i);
    fputs("/>\n", o->rows.out);
}

static void print_scopes(struct writing *o, uint32_t parent, int depth)
{
    const struct outline *rows = &o->rows;

    for (uint32_t k = 0; k < rows->count[parent]; k++) {
        uint32_t i = rows->order[rows->start[parent] + k];
        const struct structure_scope *c = outline_scope(rows, i);

        if (c->kind == SCOPE_LINE) {
            print_statement(o, i, depth);
            continue;
        }
        if (c->kind == SCOPE_FILE ? !outline_file_is_wanted(rows, i)
                                  : c->kind == SCOPE_PROCEDURE && !outline_is_wanted(rows, c))
            continue;
        outline_indent(&o->rows, depth);
        const char *tag = open_scope(o, i);
        print_where(o, i);
        fputs(">\n", rows->out);
        print_aliases(o, c, depth + 1);
        print_scopes(o, i, depth + 1);
        outline_indent(&o->rows, depth);
        fprintf(rows->out, "</%s>\n", tag);
    }
}

static void prepare(struct writing *o)
{
    outline_arrange(&o->rows);
    measure(o);
    locate(o);
}

static void done(struct writing *o)
{
    outline_deinit(&o->rows);
    for (size_t i = 0; i <= o->rows.s->scopes.len; i++)
        vec_deinit(&o->where[i]);
    free(o->where);
    free(o->spans);
    str_deinit(&o->scratch);
}

static void print_tree(const struct structure *s, const struct outline_options *options, FILE *out, int depth)
{
    struct writing o = {.rows = {.s = s, .options = options, .out = out}};

    prepare(&o);
    print_scopes(&o, (uint32_t)s->scopes.len, depth);
    done(&o);
}

/* The note of a structure begins with the path that was asked for. */
static const char *without_path(const char *note, const char *path)
{
    size_t n = strlen(path);

    return !strncmp(note, path, n) && str_begins(note + n, ": ") ? note + n + 2 : note;
}

static void print_known(struct writing *o, const struct known *known)
{
    static const char *const words[] = {
        [KNOWN_EXPORTED] = "exported", [KNOWN_SYMBOLS] = "symbols", [KNOWN_ALL] = "all"};
    struct known_walk *walk = known->state ? known_open(known->packed, known->bytes, known->unpacked) : NULL;

    if (!walk)
        return;
    fprintf(o->rows.out, "    <K names=\"%s\">\n", words[known->state]);
    for (const char *name; (name = known_next(walk));) {
        fputs("      <N", o->rows.out);
        print_text(o, "n", name);
        fputs("/>\n", o->rows.out);
    }
    fputs("    </K>\n", o->rows.out);
    known_close(walk);
}

void outline_xml(const struct structure *s, const char *module, const struct known *known,
                 const struct outline_options *options, FILE *out)
{
    struct outline_options normal = *options, raw = *options;
    struct writing o = {.rows = {.s = s, .options = &normal, .out = out}};
    bool some = options->procedures && *options->procedures;

    normal.raw = false;
    raw.raw = true;
    prepare(&o);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PGM", out);
    print_text(&o, "n", module);
    fputs(" version=\"1\">\n  <LM", out);
    print_text(&o, "n", module);
    if (s->build_id)
        print_text(&o, "id", s->build_id);
    if (s->note)
        print_text(&o, "note", without_path(s->note, module));
    print_where(&o, s->scopes.len);
    fputs(">\n", out);
    if (!some)
        print_known(&o, known);
    print_scopes(&o, (uint32_t)s->scopes.len, 2);
    done(&o);
    fputs("    <RAW>\n", out);
    print_tree(s, &raw, out, 3);
    fputs("    </RAW>\n  </LM>\n</PGM>\n", out);
}
