/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/outline_impl.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Where a scope stands in the text of its parent. */
static uint32_t place(const struct structure_scope *c)
{
    return c->kind == SCOPE_INLINE ? c->call_line : c->line;
}

/* Statements before the loops of the same line, everything else by line, then address and name. */
static int by_place(const void *a, const void *b, void *arg)
{
    const struct outline *o = arg;
    const struct structure_scope *x = outline_scope(o, *(const uint32_t *)a),
                                 *y = outline_scope(o, *(const uint32_t *)b);

    if (x->kind == SCOPE_FILE)
        return strcmp(outline_text(o, x->name), outline_text(o, y->name));
    if (place(x) != place(y))
        return place(x) < place(y) ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind == SCOPE_LINE ? -1 : y->kind == SCOPE_LINE ? 1 : x->kind < y->kind ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->name != y->name)
        return strcmp(outline_text(o, x->name), outline_text(o, y->name));
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static uint32_t parent_of(const struct outline *o, uint32_t i)
{
    uint32_t parent = outline_scope(o, i)->parent;

    return parent == STRUCTURE_NONE ? (uint32_t)o->s->scopes.len : parent;
}

/* The rows to print are the ancestors of the places of one structure, raw or normal. */
void outline_arrange(struct outline *o)
{
    size_t n = o->s->scopes.len;
    uint8_t *used = xcalloc(n + 1, 1);

    o->order = xcalloc(n + 1, sizeof *o->order);
    o->start = xcalloc(n + 2, sizeof *o->start);
    o->count = xcalloc(n + 2, sizeof *o->count);
    vec_foreach(p, &o->s->places)
        for (uint32_t i = o->options->raw ? p->raw : p->normal; i != STRUCTURE_NONE && !used[i];
             i = outline_scope(o, i)->parent)
            used[i] = 1;
    for (uint32_t i = 0; i < n; i++)
        if (used[i])
            o->start[parent_of(o, i) + 1]++;
    for (size_t i = 0; i <= n; i++)
        o->start[i + 1] += o->start[i];
    for (uint32_t i = 0; i < n; i++)
        if (used[i])
            o->order[o->start[parent_of(o, i)] + o->count[parent_of(o, i)]++] = i;
    for (size_t i = 0; i <= n; i++)
        if (o->count[i] > 1)
            qsort_r(o->order + o->start[i], o->count[i], sizeof *o->order, by_place, o);
    free(used);
}

static const char *unqualified(const char *name, size_t *len)
{
    const char *end = name + strcspn(name, "(<"), *at = end;

    while (at > name && !(at[-1] == ':' && at - name > 1 && at[-2] == ':'))
        at--;
    *len = (size_t)(end - at);
    return at;
}

static bool name_matches(const char *pattern, const char *name)
{
    size_t len;
    const char *short_name = unqualified(name, &len);
    AUTO_FREE char *copy = xstrndup(short_name, len);

    return !strcmp(pattern, name) || !fnmatch(pattern, name, 0) || !fnmatch(pattern, copy, 0);
}

static bool is_called(const struct structure *s, const struct structure_scope *c, const char *pattern)
{
    if (name_matches(pattern, intern_str(&s->strings, c->name)))
        return true;
    for (uint32_t i = 0; i < c->alias_count; i++)
        if (name_matches(pattern, intern_str(&s->strings, s->aliases.data[c->first_alias + i])))
            return true;
    return false;
}

bool outline_is_wanted(const struct outline *o, const struct structure_scope *c)
{
    if (!o->options->procedures || !*o->options->procedures)
        return true;
    for (const char *const *p = o->options->procedures; *p; p++)
        if (is_called(o->s, c, *p))
            return true;
    return false;
}

bool outline_has(const struct structure *s, const char *procedure)
{
    for (size_t i = 0; i < s->scopes.len; i++)
        if (s->scopes.data[i].kind == SCOPE_PROCEDURE && is_called(s, &s->scopes.data[i], procedure))
            return true;
    return false;
}

bool outline_file_is_wanted(const struct outline *o, uint32_t file)
{
    for (uint32_t k = 0; k < o->count[file]; k++)
        if (outline_is_wanted(o, outline_scope(o, o->order[o->start[file] + k])))
            return true;
    return false;
}

/* How many rows from child k on are statements of one file with consecutive lines. */
static uint32_t run_of_lines(const struct outline *o, uint32_t parent, uint32_t k)
{
    const uint32_t *rows = o->order + o->start[parent];
    uint32_t n = 1;

    while (k + n < o->count[parent]) {
        const struct structure_scope *a = outline_scope(o, rows[k + n - 1]), *b = outline_scope(o, rows[k + n]);

        if (b->kind != SCOPE_LINE || b->file != a->file || b->line > a->line + 1)
            break;
        n++;
    }
    return n;
}

void outline_indent(struct outline *o, int depth)
{
    fprintf(o->out, "%*s", depth * 2, "");
}

static const char *short_file(const struct outline *o, uint32_t file)
{
    return file_basename(outline_text(o, file));
}

static void print_lines(struct outline *o, const struct structure_scope *first, const struct structure_scope *last,
                        const struct structure_scope *parent, int depth)
{
    outline_indent(o, depth);
    if (!first->line) {
        fputs("no line\n", o->out);
        return;
    }
    if (first->file != parent->file)
        fprintf(o->out, "%s:", short_file(o, first->file));
    fprintf(o->out, first->line == last->line ? "%u\n" : "%u-%u\n", first->line, last->line);
}

static void print_row(struct outline *o, uint32_t i, int depth)
{
    const struct structure_scope *c = outline_scope(o, i);

    outline_indent(o, depth);
    switch (c->kind) {
    case SCOPE_FILE: fprintf(o->out, "%s\n", outline_text(o, c->name)); break;
    case SCOPE_PROCEDURE:
        fprintf(o->out, "%s", outline_text(o, c->name));
        if (c->line)
            fprintf(o->out, "  %s:%u", short_file(o, c->file), c->line);
        fprintf(o->out, "  0x%llx\n", (unsigned long long)c->address);
        break;
    case SCOPE_INLINE:
        fprintf(o->out, "inlined %s", outline_text(o, c->name));
        if (c->call_line)
            fprintf(o->out, "  from %s:%u", short_file(o, c->call_file), c->call_line);
        fputc('\n', o->out);
        break;
    default:
        if (c->line)
            fprintf(o->out, "loop at %s:%u\n", short_file(o, c->file), c->line);
        else
            fprintf(o->out, "loop at 0x%llx\n", (unsigned long long)c->address);
    }
}

static void print_tree(struct outline *o, uint32_t parent, int depth)
{
    for (uint32_t k = 0; k < o->count[parent]; k++) {
        uint32_t i = o->order[o->start[parent] + k];
        const struct structure_scope *c = outline_scope(o, i);

        if (c->kind == SCOPE_LINE) {
            uint32_t n = run_of_lines(o, parent, k);

            print_lines(o, c, outline_scope(o, o->order[o->start[parent] + k + n - 1]), outline_scope(o, parent),
                        depth);
            k += n - 1;
            continue;
        }
        if (c->kind == SCOPE_FILE ? !outline_file_is_wanted(o, i)
                                  : c->kind == SCOPE_PROCEDURE && !outline_is_wanted(o, c))
            continue;
        print_row(o, i, depth);
        print_tree(o, i, depth + 1);
    }
}

void outline_deinit(struct outline *o)
{
    free(o->order);
    free(o->start);
    free(o->count);
}

void outline_print(const struct structure *s, const char *module, const struct outline_options *options, FILE *out)
{
    struct outline o = {.s = s, .options = options, .out = out};
    uint32_t top = (uint32_t)s->scopes.len;

    outline_arrange(&o);
    fprintf(out, "%s\n", module);
    print_tree(&o, top, 1);
    outline_deinit(&o);
}
