/* SPDX-License-Identifier: BSD-3-Clause */
/* Structure files into memory: element by element, each checked against what may stand there. */
#include "structure/given/given_attributes.h"
#include "structure/given/given_groups.h"
#include "structure/given/spelling.h"
#include "structure/given/xml.h"
#include "common/file.h"
#include "common/str.h"
#include <stdlib.h>
#include <string.h>

enum element_kind {
#define ELEMENT(name, within, attributes) ELEMENT_##name,
#include "structure/given/elements.def"
#undef ELEMENT
    ELEMENTS
};

#define IN(name) (1u << ELEMENT_##name)

static const struct element_row {
    const char *name, *attributes;
    uint32_t within;
} rows[] = {
#define ELEMENT(name, within, attributes) [ELEMENT_##name] = {#name, attributes, within},
#include "structure/given/elements.def"
#undef ELEMENT
};

struct level { /* an element that is open */
    enum element_kind kind;
    uint32_t scope; /* the innermost that is open, itself or around it; GIVEN_NONE */
    size_t group;   /* of a G */
};

struct reading {
    struct given *given;
    struct given_file *file;
    struct given_module *module; /* that is open; NULL */
    struct given_tree *tree;
    VEC(struct level) levels;
    bool has_raw;
    char *program; /* the name of PGM; NULL none */
    VEC(const char *) known;
    enum known_names known_state;
    unsigned long at;
};

/* ---- scopes ---- */

static const struct given_scope *scope_at(const struct reading *r, uint32_t i)
{
    return i == GIVEN_NONE ? NULL : &r->tree->scopes.data[i];
}

/* The file of what stands in a scope if it names none. */
static uint32_t file_around(const struct reading *r, uint32_t parent)
{
    const struct given_scope *up = scope_at(r, parent);

    return !up ? 0
           : up->of.kind == SCOPE_FILE && !strcmp(intern_str(&r->file->strings, up->of.name), "<unknown file>")
               ? 0
               : up->of.file;
}

/* The texts and numbers of a scope; `s` has its kind and its parent. */
static struct hq_error *read_scope(struct reading *r, const struct xml_element *e, struct given_scope *s)
{
    uint32_t around = file_around(r, s->of.parent), file;

    HQ_TRY(given_text(&r->file->strings, e, "n", &s->of.name));
    HQ_TRY(given_text(&r->file->strings, e, "k", &s->of.linkage));
    HQ_TRY(given_text(&r->file->strings, e, "f", &file));
    HQ_TRY(given_number(e, "b", 0, &s->first_line));
    HQ_TRY(given_number(e, "e", s->first_line, &s->last_line));
    HQ_TRY(given_number(e, "o", 0, &s->of.ordinal));
    HQ_TRY(given_address(e, "a", &s->of.address));
    if (s->last_line < s->first_line)
        return hq_error_new(HQ_DATA, "the last line (e) stands before the first (b)");
    s->of.line = s->first_line;
    s->of.file = given_attribute(e, "f") ? file : s->first_line || s->of.kind == SCOPE_PROCEDURE ? around : 0;
    if (s->of.kind == SCOPE_FILE) {
        s->of.file = s->of.name;
    } else if (s->of.kind == SCOPE_LOOP) {
        HQ_TRY(given_number(e, "l", s->first_line, &s->of.line));
        HQ_TRY(given_basis(e, &s->of.basis));
        s->of.file = given_attribute(e, "f") ? file : s->of.line ? around : 0;
    } else if (s->of.kind == SCOPE_INLINE) {
        s->of.call_file = given_attribute(e, "f") ? file : around;
        s->of.call_line = s->first_line;
        HQ_TRY(given_text(&r->file->strings, e, "df", &s->of.file));
        if (!given_attribute(e, "df"))
            s->of.file = around;
        HQ_TRY(given_number(e, "dl", 0, &s->of.line));
    }
    return given_ranges(r->tree, e, s);
}

/* Code lies in procedures. */
static struct hq_error *check_place(const struct reading *r, const struct given_scope *s)
{
    const struct given_scope *up = scope_at(r, s->of.parent);

    if (s->of.kind == SCOPE_FILE)
        return up ? hq_error_new(HQ_DATA, "F cannot stand within a scope") : NULL;
    if (!up)
        return hq_error_new(HQ_DATA, "there is no F around it");
    if (s->of.kind == SCOPE_PROCEDURE)
        return up->of.kind == SCOPE_FILE ? NULL : hq_error_new(HQ_DATA, "P cannot stand within a procedure");
    if (up->of.kind == SCOPE_FILE && (s->ranges || s->of.kind == SCOPE_INLINE))
        return hq_error_new(HQ_DATA, "code lies in procedures: there is no P around it");
    return up->of.kind == SCOPE_LINE ? hq_error_new(HQ_DATA, "nothing lies in a statement") : NULL;
}

static void link_child(struct reading *r, uint32_t parent, uint32_t child)
{
    struct given_scope *up = parent == STRUCTURE_NONE ? NULL : &r->tree->scopes.data[parent];

    if (!up)
        return;
    if (up->last_child == GIVEN_NONE)
        up->first_child = child;
    else
        r->tree->scopes.data[up->last_child].next = child;
    up->last_child = child;
}

static struct hq_error *open_scope(struct reading *r, const struct xml_element *e, enum scope_kind kind,
                                   uint32_t parent, uint32_t *out)
{
    struct given_scope s = {.of = {.kind = kind, .parent = parent},
                            .first_child = GIVEN_NONE,
                            .last_child = GIVEN_NONE,
                            .next = GIVEN_NONE,
                            .at = e->line};

    HQ_TRY(read_scope(r, e, &s));
    HQ_TRY(check_place(r, &s));
    *out = (uint32_t)r->tree->scopes.len;
    s.of.first_alias = (uint32_t)r->file->aliases.len;
    vec_push(&r->tree->scopes, s);
    r->module->has[r->tree - r->module->trees] = true;
    link_child(r, parent, *out);
    return NULL;
}

static struct hq_error *add_alias(struct reading *r, const struct xml_element *e, uint32_t scope)
{
    struct structure_scope *s = &r->tree->scopes.data[scope].of;
    uint32_t text;

    HQ_TRY(given_text(&r->file->strings, e, "n", &text));
    vec_push(&r->file->aliases, text);
    s->alias_count++;
    return NULL;
}

/* ---- load modules ---- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct hq_error *read_build_id(const char *text, struct given_module *m)
{
    size_t n = strlen(text);

    if (!n || n % 2 || n / 2 > sizeof m->build_id || strspn(text, "0123456789abcdef") != n)
        return hq_error_new(HQ_DATA, "id=\"%.200s\" is no build-id: pairs of digits, at most %zu", text,
                            sizeof m->build_id);
    for (size_t i = 0; i < n / 2; i++)
        m->build_id[i] = (uint8_t)(hex(text[2 * i]) << 4 | hex(text[2 * i + 1]));
    m->build_id_len = n / 2;
    return NULL;
}

static struct hq_error *check_twin(const struct reading *r, const struct given_module *m)
{
    vec_foreach(f, &r->given->files)
        vec_foreach(other, &(*f)->modules) {
            bool same = m->build_id_len ? m->build_id_len == (*other)->build_id_len &&
                                              !memcmp(m->build_id, (*other)->build_id, m->build_id_len)
                                        : !(*other)->build_id_len && !strcmp(m->path, (*other)->path);

            if (*other != m && same)
                return hq_error_new(HQ_DATA, "this load module is given already, by line %lu of %s", (*other)->at,
                                    (*f)->path);
        }
    return NULL;
}

static void set_tree(struct reading *r, int which)
{
    r->tree = &r->module->trees[which];
}

/* `name`: of PGM, if the file has no LM. */
static struct hq_error *open_module(struct reading *r, const struct xml_element *e, const char *name)
{
    struct given_module *m = xcalloc(1, sizeof *m);
    AUTO_STR struct str path = {0}, note = {0};
    const char *id = given_attribute(e, "id"), *text = given_attribute(e, "note");

    vec_push(&r->file->modules, m);
    m->file = r->file;
    m->at = e->line;
    if (!spelling_read(&path, name ? name : given_attribute(e, "n")) ||
        !spelling_read(&note, text && !name ? text : ""))
        return hq_error_new(HQ_DATA, "a backslash is followed by another one, or by x and two digits");
    m->path = str_steal(&path);
    m->note = note.len ? str_steal(&note) : NULL;
    r->module = m;
    r->has_raw = false;
    set_tree(r, GIVEN_NORMAL);
    r->known_state = KNOWN_NOT;
    r->known.len = 0;
    if (id && !name)
        HQ_TRY(read_build_id(id, m));
    else if (!r->given->by_name)
        return hq_error_new(
            HQ_DATA, "the load module %s has no build-id (id): --structure-by-name takes it by its name", m->path);
    return check_twin(r, m);
}

static struct hq_error *open_raw(struct reading *r)
{
    if (r->has_raw)
        return hq_error_new(HQ_DATA, "a load module has one RAW");
    r->has_raw = true;
    set_tree(r, GIVEN_RAW);
    return NULL;
}

static struct hq_error *open_known(struct reading *r, const struct xml_element *e)
{
    static const char *const words[] = {
        [KNOWN_ALL] = "all", [KNOWN_SYMBOLS] = "symbols", [KNOWN_EXPORTED] = "exported"};
    const char *value = given_attribute(e, "names");

    if (r->known_state)
        return hq_error_new(HQ_DATA, "a load module has one K");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] && !strcmp(words[i], value)) {
            r->known_state = (enum known_names)i;
            return NULL;
        }
    return hq_error_new(HQ_DATA, "names=\"%.200s\": all, symbols or exported", value);
}

static void close_module(struct reading *r)
{
    if (r->known_state)
        known_make(r->known_state, r->known.data, r->known.len, &r->module->known);
    r->module = NULL;
    r->tree = NULL;
}

/* ---- elements ---- */

static struct hq_error *find_element(const struct reading *r, const struct xml_element *e, enum element_kind *out)
{
    const struct level *up = r->levels.len ? &vec_last(&r->levels) : NULL;
    size_t i = 0;

    while (i < ELEMENTS && strcmp(rows[i].name, e->name))
        i++;
    if (i == ELEMENTS && up)
        return hq_error_new(HQ_DATA, "structure files have no element %.100s", e->name);
    if (up ? !(rows[i].within >> up->kind & 1) : i != ELEMENT_PGM)
        return up ? hq_error_new(HQ_DATA, "%s cannot stand within %s", e->name, rows[up->kind].name)
                  : hq_error_new(HQ_DATA, "no structure file: its outermost element is %.100s, not PGM", e->name);
    *out = (enum element_kind)i;
    return given_check_attributes(e, rows[i].attributes);
}

static struct hq_error *open_group(struct reading *r, const struct xml_element *e, const struct level *up,
                                   size_t *group)
{
    AUTO_STR struct str name = {0};

    if (!spelling_read(&name, given_attribute(e, "n")) || !name.len)
        return hq_error_new(HQ_DATA, "n=\"%.200s\" is no name of a group", given_attribute(e, "n"));
    *group = given_group_at(r->given, str_cstr(&name), r->file->path, e->line);
    return up && up->kind == ELEMENT_G ? given_group_hold(r->given, up->group, *group) : NULL;
}

/* Makes a scope or load module that lies directly in a G a member of that group. */
static void note_member(struct reading *r, const struct level *up, const struct level *now)
{
    if (up->kind != ELEMENT_G || now->kind == ELEMENT_G)
        return;
    if (now->kind == ELEMENT_LM)
        given_group_module(r->given, up->group, r->module->path);
    else
        given_group_scope(r->given, up->group, r->file, scope_at(r, now->scope));
}

static struct hq_error *open_one(struct reading *r, const struct xml_element *e, const struct level *up,
                                 struct level *now)
{
    static const enum scope_kind kinds[ELEMENTS] = {[ELEMENT_F] = SCOPE_FILE,
                                                    [ELEMENT_P] = SCOPE_PROCEDURE,
                                                    [ELEMENT_I] = SCOPE_INLINE,
                                                    [ELEMENT_L] = SCOPE_LOOP,
                                                    [ELEMENT_S] = SCOPE_LINE};
    uint32_t text;

    switch (now->kind) {
    case ELEMENT_PGM:
        if (given_attribute(e, "version") && strcmp(given_attribute(e, "version"), "1"))
            return hq_error_new(HQ_DATA, "version %.20s of structure files is not known to this hq, which reads 1",
                                given_attribute(e, "version"));
        r->program = given_attribute(e, "n") ? xstrdup(given_attribute(e, "n")) : NULL;
        return NULL;
    case ELEMENT_LM:
        return r->module ? hq_error_new(HQ_DATA, "LM cannot stand within a load module") : open_module(r, e, NULL);
    case ELEMENT_RAW:
    case ELEMENT_K:
        if (!r->module)
            return hq_error_new(HQ_DATA, "there is no LM around it");
        return now->kind == ELEMENT_RAW ? open_raw(r) : open_known(r, e);
    case ELEMENT_N:
        HQ_TRY(given_text(&r->file->strings, e, "n", &text));
        vec_push(&r->known, intern_str(&r->file->strings, text));
        return NULL;
    case ELEMENT_A: return add_alias(r, e, up->scope);
    case ELEMENT_G: return open_group(r, e, up, &now->group);
    default:
        return r->module ? open_scope(r, e, kinds[now->kind], up->scope, &now->scope)
                         : hq_error_new(HQ_DATA, "there is no LM around it");
    }
}

/* A file of one load module may leave LM out, as those of the HPCView paper do: PGM names it. */
static struct hq_error *open_implied(struct reading *r, const struct xml_element *e, enum element_kind kind)
{
    bool code = kind == ELEMENT_F || kind == ELEMENT_RAW || kind == ELEMENT_K;

    if (r->module || !code || r->file->modules.len)
        return NULL;
    if (!r->program)
        return hq_error_new(HQ_DATA, "there is no LM around it, and PGM has no name (n)");
    return open_module(r, e, r->program);
}

static struct hq_error *on_open(void *arg, const struct xml_element *e)
{
    struct reading *r = arg;
    struct level now = {.scope = GIVEN_NONE}, up = r->levels.len ? vec_last(&r->levels) : (struct level){0};

    HQ_TRY(find_element(r, e, &now.kind));
    now.scope = r->levels.len ? up.scope : GIVEN_NONE;
    if (r->levels.len)
        HQ_TRY(open_implied(r, e, now.kind));
    HQ_TRY(open_one(r, e, &up, &now));
    if (r->levels.len)
        note_member(r, &up, &now);
    vec_push(&r->levels, now);
    return NULL;
}

static struct hq_error *on_close(void *arg, unsigned long line)
{
    struct reading *r = arg;
    struct level now = vec_pop(&r->levels);

    (void)line;
    if (now.kind == ELEMENT_RAW)
        set_tree(r, GIVEN_NORMAL);
    if (now.kind == ELEMENT_LM || (now.kind == ELEMENT_PGM && r->module))
        close_module(r);
    return NULL;
}

struct hq_error *given_read(struct given *g, struct given_file *file)
{
    static const struct xml_handler handler = {on_open, on_close};
    struct reading r = {.given = g, .file = file};
    struct hq_error *error = xml_read(file->path, &handler, &r);

    vec_foreach(m, &file->modules)
        for (int i = 0; i < GIVEN_TREES && !error; i++)
            error = given_spans(file->path, &(*m)->trees[i]);
    vec_deinit(&r.levels);
    vec_deinit(&r.known);
    free(r.program);
    return error;
}
