/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers for addresses from the description of a given load module. A scope of the file that has the address comes
 * first; where it does not name the statement, the line table of the binary does, and scopes without addresses are
 * found by that line. Addresses that the file does not describe at all are answered from the binary.
 */
#include "structure/given/given.h"
#include "common/mem.h"
#include "common/names.h"
#include "structure/book.h"
#include <string.h>

struct answer {
    const struct given_module *module;
    const struct structure_options *options;
    struct structure rest;           /* of the addresses that the binary is asked for */
    uint32_t *rest_of;               /* [address] its place there, GIVEN_NONE */
    uint32_t *scope_of[GIVEN_TREES]; /* [scope of the file] of the book, GIVEN_NONE */
    struct map paths;                /* text of the file -> that of the book: a path whose end the file gives */
    uint32_t *copy_of;               /* [scope of the rest] of the book, GIVEN_NONE */
    struct book book;
};

static const struct given_tree *tree_for(const struct given_module *m, int which)
{
    return &m->trees[m->has[which] ? which : GIVEN_NORMAL + GIVEN_RAW - which];
}

/* Both trees of a module with one are the same. */
static int number_of(const struct answer *w, const struct given_tree *t)
{
    return (int)(t - w->module->trees);
}

static uint32_t text(struct answer *w, uint32_t in_file)
{
    const uint64_t *path = map_find(&w->paths, in_file);

    return path ? (uint32_t)*path : intern_add(&w->book.strings, intern_str(&w->module->file->strings, in_file));
}

static void add_aliases(struct answer *w, const struct intern *strings, const uint32_t *from, uint32_t count,
                        uint32_t scope)
{
    struct structure_scope *s = &w->book.scopes.data[scope];

    s->first_alias = (uint32_t)w->book.aliases.len;
    s->alias_count = count;
    for (uint32_t i = 0; i < count; i++)
        vec_push(&w->book.aliases, intern_add(&w->book.strings, intern_str(strings, from[i])));
}

/* A scope of the file in the book, with its parents. */
static uint32_t scope_in_book(struct answer *w, const struct given_tree *t, uint32_t i)
{
    uint32_t *known = &w->scope_of[number_of(w, t)][i];
    const struct structure_scope *from = &t->scopes.data[i].of;
    struct structure_scope s = *from;
    bool is_new;

    if (*known != GIVEN_NONE)
        return *known;
    s.parent = from->parent == STRUCTURE_NONE ? STRUCTURE_NONE : scope_in_book(w, t, from->parent);
    if (from->kind == SCOPE_LOOP && !w->options->loops)
        return *known = s.parent;
    s.name = text(w, from->name);
    s.linkage = text(w, from->linkage);
    s.file = text(w, from->file);
    s.call_file = text(w, from->call_file);
    *known = book_scope(&w->book, &s, &is_new);
    if (is_new)
        add_aliases(w, &w->module->file->strings, w->module->file->aliases.data + from->first_alias, from->alias_count,
                    *known);
    return *known;
}

/* ---- lines ---- */

static bool is_file(const struct answer *w, uint32_t in_file, const char *path)
{
    const char *given = intern_str(&w->module->file->strings, in_file);

    return *path && *given && (path_ends(path, given) || path_ends(given, path));
}

/* Whether a scope without addresses has a line: it names it, or something in it does. */
static bool has_line(const struct answer *w, const struct given_tree *t, uint32_t i, const char *path, uint32_t line)
{
    const struct given_scope *s = &t->scopes.data[i];

    if (s->ranges || s->of.kind == SCOPE_INLINE)
        return false;
    if (s->first_line && line >= s->first_line && line <= s->last_line && is_file(w, s->of.file, path))
        return true;
    for (uint32_t k = s->first_child; k != GIVEN_NONE; k = t->scopes.data[k].next)
        if (has_line(w, t, k, path, line))
            return true;
    return false;
}

/* The innermost scope below another that has no addresses, is no statement and has the line; else the other. */
static uint32_t descend(const struct answer *w, const struct given_tree *t, uint32_t i, const char *path, uint32_t line)
{
    for (uint32_t k = t->scopes.data[i].first_child, next; k != GIVEN_NONE; k = next) {
        next = t->scopes.data[k].next;
        if (t->scopes.data[k].of.kind == SCOPE_LINE || !has_line(w, t, k, path, line))
            continue;
        i = k;
        next = t->scopes.data[k].first_child;
    }
    return i;
}

/* ---- what the binary says ---- */

static const struct structure_scope *rest_scope(const struct answer *w, uint32_t i)
{
    return &w->rest.scopes.data[i];
}

static const char *rest_text(const struct answer *w, uint32_t id)
{
    return intern_str(&w->rest.strings, id);
}

/* A scope that is the binary's, below a parent in the book. */
static uint32_t add_copy(struct answer *w, uint32_t i, uint32_t parent)
{
    const struct structure_scope *from = rest_scope(w, i);
    struct structure_scope s = *from;
    bool is_new;

    s.parent = parent;
    s.name = intern_add(&w->book.strings, rest_text(w, from->name));
    s.linkage = intern_add(&w->book.strings, rest_text(w, from->linkage));
    s.file = intern_add(&w->book.strings, rest_text(w, from->file));
    s.call_file = intern_add(&w->book.strings, rest_text(w, from->call_file));

    uint32_t index = book_scope(&w->book, &s, &is_new);

    if (is_new)
        add_aliases(w, &w->rest.strings, w->rest.aliases.data + from->first_alias, from->alias_count, index);
    return index;
}

/* Whether a procedure of the file is one of the binary, by its name and the end of its path. */
static bool is_procedure(const struct answer *w, const struct given_scope *p, uint32_t i)
{
    const struct structure_scope *s = rest_scope(w, i);
    const char *name = intern_str(&w->module->file->strings, p->of.name);

    return (!strcmp(name, rest_text(w, s->name)) || !strcmp(name, rest_text(w, s->linkage))) &&
           is_file(w, p->of.file, rest_text(w, s->file));
}

/* The innermost scope for a line of a procedure of the binary, in the procedure without addresses that has the line or
 * is that procedure; GIVEN_NONE: there is none. */
static uint32_t by_line(const struct answer *w, const struct given_tree *t, uint32_t host, const char *path,
                        uint32_t line)
{
    uint32_t named = GIVEN_NONE;

    for (uint32_t p = 0; p < t->scopes.len; p++) {
        const struct given_scope *s = &t->scopes.data[p];

        if (s->of.kind != SCOPE_PROCEDURE || s->ranges)
            continue;
        if (line && has_line(w, t, p, path, line))
            return descend(w, t, p, path, line);
        if (named == GIVEN_NONE && is_procedure(w, s, host))
            named = p;
    }
    return named;
}

/* Files that are given by the ends of their paths, for what has no addresses, are those of the binary. */
static void find_paths(struct answer *w)
{
    for (int which = 0; which < GIVEN_TREES; which++)
        vec_foreach(f, &w->module->trees[which].scopes) {
            const char *given = intern_str(&w->module->file->strings, f->of.name), *best = NULL;

            if (f->of.kind != SCOPE_FILE || f->ranges || given[0] == '/')
                continue;
            vec_foreach(s, &w->rest.scopes) {
                const char *path = rest_text(w, s->file);

                if (path_ends(path, given) && (!best || strcmp(path, best) < 0))
                    best = path;
            }
            if (best)
                map_put(&w->paths, f->of.name, intern_add(&w->book.strings, best));
        }
}

/*
 * A scope of the binary with its parents, but that code whose line a procedure of the file has lies in that one. What
 * was inlined there keeps its own lines below the place that it was called from.
 */
static uint32_t copy(struct answer *w, const struct given_tree *t, uint32_t i)
{
    const struct structure_scope *s = rest_scope(w, i);
    bool is_line = s->kind == SCOPE_LINE, is_inline = s->kind == SCOPE_INLINE;
    uint32_t *known = &w->copy_of[i], up = s->parent, host = up;

    if (*known != GIVEN_NONE)
        return *known;
    while (host != STRUCTURE_NONE && rest_scope(w, host)->kind == SCOPE_LOOP)
        host = rest_scope(w, host)->parent;
    if ((is_line || is_inline) && host != STRUCTURE_NONE && rest_scope(w, host)->kind == SCOPE_PROCEDURE) {
        uint32_t given = is_line ? by_line(w, t, host, rest_text(w, s->file), s->line)
                                 : by_line(w, t, host, rest_text(w, s->call_file), s->call_line);

        if (given != GIVEN_NONE)
            return *known = add_copy(w, i, scope_in_book(w, t, given));
    }
    return *known = add_copy(w, i, up == STRUCTURE_NONE ? STRUCTURE_NONE : copy(w, t, up));
}

/* ---- an address ---- */

/* Whether the file alone says what is there. */
static bool is_told(const struct given_tree *t, uint32_t i)
{
    const struct given_scope *s = i == GIVEN_NONE ? NULL : &t->scopes.data[i];

    return s && s->of.kind == SCOPE_LINE && s->last_line == s->first_line;
}

/* The statement of the binary in a scope of the file. */
static uint32_t statement_in(struct answer *w, const struct given_tree *t, uint32_t i, uint32_t leaf)
{
    const struct given_scope *s = &t->scopes.data[i];
    const struct structure_scope *line = leaf == STRUCTURE_NONE ? NULL : rest_scope(w, leaf);
    struct structure_scope made = {.kind = SCOPE_LINE};

    if (s->of.kind == SCOPE_LINE) { /* of several lines */
        bool here = line && line->line >= s->first_line && line->line <= s->last_line &&
                    is_file(w, s->of.file, rest_text(w, line->file));

        made.parent = scope_in_book(w, t, s->of.parent);
        made.file = text(w, s->of.file);
        made.line = here ? line->line : s->first_line;
        return book_scope(&w->book, &made, NULL);
    }
    uint32_t inner = i;

    for (uint32_t k = leaf; k != STRUCTURE_NONE && inner == i; k = rest_scope(w, k)->parent) {
        const struct structure_scope *x = rest_scope(w, k);

        if (x->kind == SCOPE_LINE && x->line)
            inner = descend(w, t, i, rest_text(w, x->file), x->line);
        else if (x->kind == SCOPE_INLINE && x->call_line)
            inner = descend(w, t, i, rest_text(w, x->call_file), x->call_line);
    }
    made.parent = scope_in_book(w, t, inner);
    made.file = line ? intern_add(&w->book.strings, rest_text(w, line->file)) : 0;
    made.line = line ? line->line : 0;
    return book_scope(&w->book, &made, NULL);
}

static uint32_t leaf_at(struct answer *w, int which, uint64_t address, size_t number)
{
    const struct given_tree *t = tree_for(w->module, which);
    uint32_t i = given_at(t, address), place = w->rest_of[number], leaf = STRUCTURE_NONE;

    if (is_told(t, i))
        return scope_in_book(w, t, i);
    if (place != GIVEN_NONE)
        leaf = which == GIVEN_RAW ? w->rest.places.data[place].raw : w->rest.places.data[place].normal;
    return i == GIVEN_NONE ? copy(w, t, leaf) : statement_in(w, t, i, w->rest.unread ? STRUCTURE_NONE : leaf);
}

static struct hq_error *ask_binary(struct answer *w, const char *path, const uint64_t *addresses, size_t count)
{
    VEC(uint64_t) wanted = {0};
    struct hq_error *error = NULL;

    for (size_t i = 0; i < count; i++) {
        bool told = true;

        for (int which = 0; which < GIVEN_TREES; which++) {
            const struct given_tree *t = tree_for(w->module, which);

            told &= is_told(t, given_at(t, addresses[i]));
        }
        w->rest_of[i] = told ? GIVEN_NONE : (uint32_t)wanted.len;
        if (!told)
            vec_push(&wanted, addresses[i]);
    }
    if (wanted.len)
        error = structure_recover(path, w->options, wanted.data, wanted.len, &w->rest);
    vec_deinit(&wanted);
    return error;
}

static uint32_t *none(size_t n)
{
    uint32_t *all = xmalloc((n + 1) * sizeof *all);

    memset(all, 0xff, (n + 1) * sizeof *all);
    return all;
}

static void make_places(struct answer *w, const uint64_t *addresses, size_t count, struct structure *out)
{
    static const int order[GIVEN_TREES] = {GIVEN_RAW, GIVEN_NORMAL};
    uint32_t *leaf[GIVEN_TREES];

    /* Scopes copied from the binary depend on the tree that they are put into, so each tree has copies of its own. */
    for (int k = 0; k < GIVEN_TREES; k++) {
        leaf[order[k]] = none(count);
        w->copy_of = none(w->rest.scopes.len);
        for (size_t i = 0; i < count; i++)
            leaf[order[k]][i] = leaf_at(w, order[k], addresses[i], i);
        free(w->copy_of);
    }
    for (size_t i = 0; i < count; i++)
        vec_push(&out->places, (struct structure_place){.raw = leaf[GIVEN_RAW][i], .normal = leaf[GIVEN_NORMAL][i]});
    free(leaf[GIVEN_RAW]);
    free(leaf[GIVEN_NORMAL]);
}

struct hq_error *given_recover(const struct given_module *m, const char *path, const struct structure_options *options,
                               const uint64_t *addresses, size_t count, struct structure *out)
{
    struct answer w = {.module = m, .options = options, .rest_of = none(count)};
    struct hq_error *error = ask_binary(&w, path, addresses, count);

    *out = (struct structure){0};
    if (!error) {
        book_init(&w.book);
        find_paths(&w);
        for (int i = 0; i < GIVEN_TREES; i++)
            w.scope_of[i] = none(m->trees[i].scopes.len);
        make_places(&w, addresses, count, out);
        if (w.rest.places.len)
            out->note = MEM_STEAL(w.rest.note);
        else
            out->note = m->note ? xasprintf("%s: %s", path, m->note) : NULL;
        book_take(&w.book, out);
        book_deinit(&w.book);
        for (int i = 0; i < GIVEN_TREES; i++)
            free(w.scope_of[i]);
    }
    structure_deinit(&w.rest);
    map_deinit(&w.paths);
    free(w.rest_of);
    return error;
}
