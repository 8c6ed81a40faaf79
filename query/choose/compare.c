/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `compare with`: one tree for two databases. Scopes are the same if kind and qualified name are, loops by their
 * ordinal within their procedure, if that has as many on both sides (recounted.h); never by line or address. Procedures
 * of one database that have one name are told apart by their names for the linker, if both sides have those. The call
 * sites of one caller merge, and statements fall on the scope that holds them. Every frame of both databases has its
 * place in the new tree, so each side's values add up in it as they do in its own.
 *
 * Details that a database of another tool cannot tell at all are left out on the other side, too, so that paths meet:
 * loops are merged into the scope that holds them, arguments are no part of names, threads are one. Two tools never
 * agree on what is inlined: there an inlined procedure counts as called if the other side has it at all, and falls on
 * what holds it if not.
 *
 * Where one side joins parallel regions with the paths that open them and the other does not know which path that was,
 * the regions of each procedure are one row at the top, with what all threads do in them, and so is what the runtime of
 * OpenMP does, waiting included.
 */
#include "common/hash.h"
#include "query/choose/derive.h"
#include "query/grammar/parse.h"
#include "query/choose/paths.h"
#include "common/names.h"
#include "common/str.h"
#include "db/facts.h"
#include "db/runtimes.h"
#include "query/choose/one_sided.h"
#include "query/choose/pairing.h"
#include "query/choose/recounted.h"
#include "query/query.h"
#include <string.h>

struct scope_key {
    uint32_t kind, within, name, ordinal;
};

/* The details left out of both sides, because one of them cannot tell them. */
struct left_out {
    bool loops, inlines, arguments, threads, linkage;
    bool two_tools, inlines_of_both, loops_of_both; /* two tools never find the same inlined code, nor the same loops */
    bool regions, no_homes;                         /* no_homes: nor which procedure they are written in */
};

struct aligner {
    struct keymap keys;
    struct pairing names;
    VEC(struct hqdb_scope) scopes;
    struct intern *extra; /* texts of the old side */
    struct left_out without;
    struct map known[2]; /* without.inlines: names of the procedures of this side and the old one, inlined or not */
    struct map here;     /* names of the procedures of this side -> the first of their scopes in `scopes` */
    bool *recounted[2];  /* [scope] loops whose numbers are others' on the other side */
};

/* ---- parallel regions that one side does not join ---- */

static bool in_openmp(const struct tree *t, const struct hqdb_scope *s)
{
    const struct runtime *r = s->module < t->db->module_count
                                  ? runtime_of_module(db_string(t->db, t->db->modules[s->module].path))
                                  : NULL;

    return r && r->kind == RUNTIME_OPENMP;
}

enum parallel { PARALLEL_NOT, PARALLEL_REGION, PARALLEL_RUNTIME };

/* Whether a scope is a parallel region, or a part of the runtime, and as such stands at the top. */
static enum parallel parallel_of(const struct aligner *a, const struct tree *t, const struct hqdb_scope *s)
{
    if (!a->without.regions)
        return PARALLEL_NOT;
    if (s->kind == SCOPE_REGION || (s->kind == SCOPE_PROCEDURE && pairing_is_body(tree_text(t, s->name))))
        return PARALLEL_REGION;
    return (scope_is_called(s->kind) || s->kind == SCOPE_INLINE) && in_openmp(t, s) ? PARALLEL_RUNTIME : PARALLEL_NOT;
}

/* The procedure that a region is written in; 0 if it is in none that is known. */
static uint32_t home_of(struct aligner *a, const struct tree *t, const struct hqdb_scope *s, bool old)
{
    uint32_t up = s->parent;

    if (a->without.no_homes)
        return 0;
    if (s->kind != SCOPE_REGION)
        return pairing_home(&a->names, tree_text(t, s->name));
    while (up != HQDB_NONE && tree_scope(t, up)->kind != SCOPE_PROCEDURE && tree_scope(t, up)->kind != SCOPE_INLINE)
        up = tree_scope_parent(t, up);
    if (up == HQDB_NONE)
        return 0;
    const char *name = tree_text(t, tree_scope(t, up)->name);

    return pairing_is_body(name) ? pairing_home(&a->names, name)
                                 : pairing_procedure(&a->names, t, tree_scope(t, up), old);
}

/* Returns the key by which a scope is found on both sides. */
static struct scope_key key_of(struct aligner *a, const struct tree *t, const struct hqdb_scope *s, uint32_t parent,
                               bool old)
{
    const char *name = tree_text(t, s->name);
    enum parallel parallel = parallel_of(a, t, s);
    uint32_t home = parallel == PARALLEL_REGION ? home_of(a, t, s, old) : 0;

    if (parallel)
        return home ? (struct scope_key){SCOPE_PROCEDURE, 0, home, 0}
                    : (struct scope_key){parallel == PARALLEL_REGION ? SCOPE_REGION : SCOPE_RUNTIME, 0, 0, 0};
    switch (s->kind) {
    case SCOPE_MODULE: return (struct scope_key){s->kind, 0, pairing_module(&a->names, name), 0};
    case SCOPE_FILE: return (struct scope_key){s->kind, parent, pairing_name(&a->names, path_base(name)), 0};
    case SCOPE_LOOP: return (struct scope_key){s->kind, parent, 0, s->ordinal};
    case SCOPE_INLINE:
        return a->without.inlines ? (struct scope_key){SCOPE_PROCEDURE, 0, pairing_procedure(&a->names, t, s, old), 0}
                                  : (struct scope_key){s->kind, parent, pairing_procedure(&a->names, t, s, old), 0};
    case SCOPE_PROCEDURE: return (struct scope_key){s->kind, 0, pairing_procedure(&a->names, t, s, old), 0};
    case SCOPE_THREAD: return (struct scope_key){s->kind, 0, a->without.threads ? 0 : pairing_name(&a->names, name), 0};
    default: return (struct scope_key){s->kind, 0, pairing_name(&a->names, name), 0};
    }
}

/* A row for the threads that a runtime created: what they do is not below it where regions are rows. */
static bool is_of_team(const char *name)
{
    static const char by[] = "thread created by ";

    return !strncmp(name, by, sizeof by - 1) &&
           (str_begins(name + sizeof by - 1, "GOMP_") || strstr(name, "kmp") || strstr(name, "libgomp"));
}

/* Scopes that have no rows of their own: their contexts are those of what holds them. */
static bool is_folded(struct aligner *a, const struct tree *t, uint32_t scope, bool old)
{
    const struct hqdb_scope *s = tree_scope(t, scope);

    return s->kind == SCOPE_LINE || a->recounted[old][scope] ||
           (s->kind == SCOPE_LOOP && (a->without.loops || (a->without.regions && in_openmp(t, s)))) ||
           (s->kind == SCOPE_THREAD && a->without.regions && is_of_team(tree_text(t, s->name))) ||
           (s->kind == SCOPE_INLINE && a->without.inlines &&
            !map_get(&a->known[!old], pairing_procedure(&a->names, t, s, old), 0));
}

static uint32_t carry_text(struct aligner *a, const struct tree *t, uint32_t text, bool old)
{
    return old ? TREE_EXTRA + intern_add(a->extra, tree_text(t, text)) : text;
}

/*
 * A procedure that is inlined elsewhere, or called there, is a scope of its own; in lists it is one procedure with that
 * of this side, and so has its name and place.
 */
static void adopt(struct aligner *a, const struct tree *t, uint32_t scope, struct hqdb_scope *s, bool old)
{
    const struct hqdb_scope *own = tree_scope(t, scope);
    bool is_new;

    if (own->kind != SCOPE_PROCEDURE && own->kind != SCOPE_INLINE)
        return;
    uint32_t name = pairing_procedure(&a->names, t, own, old);

    if (!old) {
        map_insert(&a->here, name, a->scopes.len, &is_new);
        return;
    }
    const uint64_t *at = map_find(&a->here, name);
    if (!at)
        return;
    const struct hqdb_scope *here = &a->scopes.data[*at];

    s->name = here->name;
    s->file = here->file;
    s->line = here->line;
    s->linkage = here->linkage;
    s->module = here->module;
}

/* [scope of t] -> scope of the new tree; what is folded -> the scope around it. */
static uint32_t *align_scopes(struct aligner *a, const struct tree *t, bool old)
{
    uint32_t *to = xcalloc((size_t)t->scope_count + 1, sizeof *to);

    for (uint32_t i = 0; i < t->scope_count; i++) {
        struct hqdb_scope s = *tree_scope(t, i);
        uint32_t up = tree_scope_parent(t, i), parent = up == HQDB_NONE ? 0 : to[up];
        bool is_new;

        if (is_folded(a, t, i, old) || (i == 0 && old)) {
            to[i] = parent;
            continue;
        }
        struct scope_key key = key_of(a, t, &s, parent, old);

        to[i] = keymap_add(&a->keys, &key, &is_new);
        if (!is_new)
            continue;
        s.parent = i == 0 ? HQDB_NONE : parent;
        if (s.kind != key.kind) /* an inlined procedure that is one of its own here */
            s.call_file = s.call_line = 0;
        s.kind = (uint16_t)key.kind;
        enum parallel parallel = parallel_of(a, t, tree_scope(t, i));

        if (parallel) {
            uint32_t module = tree_enclosing(t, i, SCOPE_MODULE);
            const char *home = key.kind == SCOPE_PROCEDURE   ? intern_str(&a->names.texts, key.name)
                               : parallel == PARALLEL_REGION ? "parallel regions"
                                                             : "OpenMP runtime";

            s.name = TREE_EXTRA + intern_add(a->extra, home);
            s.linkage = s.call_file = s.line = s.call_line = 0;
            s.alias_count = 0;
            if (key.kind != SCOPE_PROCEDURE) {
                s.parent = module == HQDB_NONE ? 0 : to[module];
                s.file = 0;
            }
        } else {
            s.name = carry_text(a, t, s.name, old);
        }
        s.file = carry_text(a, t, s.file, old);
        s.linkage = carry_text(a, t, s.linkage, old);
        s.call_file = carry_text(a, t, s.call_file, old);
        if (old) {
            s.module = HQDB_NONE;
            s.alias_count = 0;
        }
        adopt(a, t, i, &s, old);
        vec_push(&a->scopes, s);
    }
    return to;
}

/* The new node of each context; ids are those of the path in the new tree, so that the two sides agree. */
static uint32_t *align_contexts(struct tree_builder *b, const struct tree *t, const uint32_t *to, struct aligner *a,
                                bool old)
{
    uint32_t *node = xmalloc((size_t)t->context_count * sizeof *node);

    node[0] = 0;
    for (uint32_t c = 1; c < t->context_count; c++) {
        uint32_t up = tree_parent(t, c), parent = up == HQDB_NONE ? 0 : node[up], scope = to[tree_scope_of(t, c)];

        if (parallel_of(a, t, tree_scope(t, tree_scope_of(t, c))))
            parent = 0;
        node[c] = is_folded(a, t, tree_scope_of(t, c), old)
                      ? parent
                      : builder_child(b, parent, scope, 0, 0,
                                      hash_combine(b->nodes.data[parent].id, hash_bytes(keymap_key(&a->keys, scope),
                                                                                        sizeof(struct scope_key), 0)));
    }
    return node;
}

struct hq_error *compare_open(struct query_env *env, const struct query *q, struct db **out)
{
    struct hq_error *err;

    if (env->find_db)
        err = env->find_db(env->find_db_arg, q->samples.compare, out);
    else if (!(err = db_open(q->samples.compare, out)))
        vec_push(&env->opened, *out);
    return err;
}

/* Where the frames of one side are in the new tree; takes over `position`. */
static uint32_t *compose(struct tree *side, uint32_t *position)
{
    if (!side->position)
        return position;
    for (size_t f = 0; f < side->db->frame_count; f++)
        side->position[f] = position[side->position[f]];
    free(position);
    return MEM_STEAL(side->position);
}

/* ---- what one side cannot tell ---- */

struct knows {
    const char *format;
    bool loops, inlines, arguments, linkage, regions, outlined, nameless;
    size_t threads;
}; /* format: NULL for a recording of our own */

static struct knows what_is_known(const struct tree *t)
{
    struct knows k = {0};
    size_t qualified = 0, arguments = 0;

    for (size_t i = 0; i < t->db->info_count; i++)
        if (!strcmp(db_string(t->db, t->db->info[i].key), "format"))
            k.format = db_string(t->db, t->db->info[i].value);
    for (uint32_t i = 0; i < t->scope_count; i++) {
        const struct hqdb_scope *s = tree_scope(t, i);

        k.loops |= s->kind == SCOPE_LOOP;
        k.regions |= s->kind == SCOPE_REGION;
        k.outlined |= s->kind == SCOPE_PROCEDURE && (in_openmp(t, s) || pairing_is_body(tree_text(t, s->name)));
        k.nameless |= s->kind == SCOPE_PROCEDURE && pairing_is_nameless_body(tree_text(t, s->name));
        k.inlines |= s->kind == SCOPE_INLINE;
        k.threads += s->kind == SCOPE_THREAD;
        k.linkage |= *tree_text(t, s->linkage) != '\0';
        if (s->kind == SCOPE_PROCEDURE && strstr(tree_text(t, s->name), "::")) {
            struct name_parts p = name_split(tree_text(t, s->name));

            qualified++;
            arguments += p.no_arguments < p.length;
        }
    }
    /* A few come from elsewhere than the tool's demangler. */
    k.arguments = arguments * 10 > qualified;
    return k;
}

/* Only what another tool does not tell: in a recording of our own, what is not there is not in the program. */
static void leave_out(struct left_out *w, const struct knows *k, const struct knows *more)
{
    w->linkage |= !k->linkage && more->linkage;
    w->regions |= !k->regions && k->outlined && more->regions;
    w->no_homes |= w->regions && k->nameless;
    if (!k->format)
        return;
    w->loops |= !k->loops && more->loops;
    w->inlines |= !k->inlines && more->inlines;
    w->arguments |= !k->arguments && more->arguments;
    w->threads |= k->threads == 1 && more->threads;
    if (!more->format || strcmp(k->format, more->format)) {
        w->two_tools = true;
        w->inlines |= w->inlines_of_both = k->inlines && more->inlines;
        w->loops |= w->loops_of_both = k->loops && more->loops;
    }
}

static void note_left_out(const struct left_out *w, bool any_alike, struct selection *s)
{
    AUTO_STR struct str what = {0};

    if (w->loops && !w->loops_of_both)
        str_add(&what, "loops");
    if (w->inlines && !w->inlines_of_both)
        str_addf(&what, "%sinlined code", what.len ? ", " : "");
    if (w->arguments)
        str_addf(&what, "%sarguments of names", what.len ? ", " : "");
    if (w->linkage && any_alike)
        str_addf(&what, "%snames for the linker", what.len ? ", " : "");
    if (what.len)
        vec_push(&s->notes,
                 xasprintf("only one of the databases knows %s: left out of the comparison", str_cstr(&what)));
    if (w->regions)
        vec_push(&s->notes, xstrdup("only one of the databases knows which call path opens a parallel region: what the "
                                    "regions of a procedure do is a row of its name at the top, and so is the runtime "
                                    "of OpenMP, waiting included"));
    if (w->inlines_of_both || w->loops_of_both)
        vec_push(&s->notes, xasprintf("%s%s%s, because two tools find others of them",
                                      w->inlines_of_both ? "inlined procedures count as called" : "",
                                      w->inlines_of_both && w->loops_of_both ? ", and " : "",
                                      w->loops_of_both ? "loops are left out" : ""));
}

static void note_known(struct aligner *a, const struct tree *t, bool old)
{
    for (uint32_t i = 0; i < t->scope_count; i++)
        if (tree_scope(t, i)->kind == SCOPE_PROCEDURE || tree_scope(t, i)->kind == SCOPE_INLINE)
            map_put(&a->known[old], pairing_procedure(&a->names, t, tree_scope(t, i), old), 1);
}

/* Whether rows stand below those that they are called from. */
static bool shows_paths(enum view_kind view)
{
    return view == VIEW_TREE || view == VIEW_CALLERS || view == VIEW_HOT_PATH || view == VIEW_EXPLAIN;
}

static void align(struct tree *here, struct tree *old, struct tree *both, struct selection *s, const struct query *q)
{
    struct aligner a = {.extra = &both->extra};
    const struct tree *sides[2] = {here, old};
    struct knows known[2];
    uint32_t *position[2], *to[2], *node[2];
    struct tree_builder b;

    keymap_init(&a.keys, sizeof(struct scope_key));
    for (int i = 0; i < 2; i++)
        known[i] = what_is_known(sides[i]);
    for (int i = 0; i < 2; i++)
        leave_out(&a.without, &known[i], &known[1 - i]);
    a.names.no_arguments = a.without.arguments;
    a.names.no_linkage = a.without.linkage;
    a.names.two_tools = a.without.two_tools;
    a.names.one_program = a.without.regions;
    pairing_init(&a.names, sides);
    for (int i = 0; i < 2 && a.without.inlines; i++)
        note_known(&a, sides[i], i);
    note_left_out(&a.without, a.names.alike.len > 0, s);
    recounted_loops(sides, &a.names, shows_paths(q->view.kind) || q->view.kind == VIEW_LOOPS, s, a.recounted);
    for (int i = 0; i < 2; i++)
        to[i] = align_scopes(&a, sides[i], i);
    builder_init(&b, 0, tree_context(here, 0)->id);
    for (int i = 0; i < 2; i++)
        node[i] = align_contexts(&b, sides[i], to[i], &a, i);
    if (shows_paths(q->view.kind))
        one_sided_note(sides, node, (uint32_t)b.nodes.len, s);
    struct frame_source sources[2] = {{here, node[0]}, {old, node[1]}};

    builder_finish(&b, sources, 2, a.scopes.data, (uint32_t)a.scopes.len, true, position, both);
    both->position = compose(here, position[0]);
    both->old_position = compose(old, position[1]);
    for (int i = 0; i < 2; i++) {
        free(to[i]);
        free(node[i]);
        free(a.recounted[i]);
    }
    keymap_deinit(&a.keys);
    pairing_deinit(&a.names);
    map_deinit(&a.here);
    map_deinit(&a.known[0]);
    map_deinit(&a.known[1]);
}

static bool has_entries(const struct db *db)
{
    for (size_t i = 0; i < db->code_count; i++)
        if (db->codes[i].flags & HQDB_CODE_ENTRY)
            return true;
    return false;
}

/* Whether a database has the insides of runtimes without telling them: of an older hq, or of a tool without modules. */
static bool may_be_unfolded(const struct db *db)
{
    for (size_t i = 0; i < db->module_count; i++) {
        const struct runtime *r = runtime_of_module(db_string(db, db->modules[i].path));

        if (r && (r->kind == RUNTIME_MPI || r->kind == RUNTIME_GPU))
            return !has_entries(db);
    }
    return !db->module_count;
}

static void note_folding(const struct query_env *env, const struct db *here, const struct db *old, struct selection *s)
{
    if (!query_setting(env, SETTING_INTERNALS) &&
        ((has_entries(here) && may_be_unfolded(old)) || (has_entries(old) && may_be_unfolded(here))))
        vec_push(&s->notes, xstrdup("only one of the databases tells the insides of runtimes from what the program "
                                    "called: `set internals on` compares both as they are"));
}

/* Returns the factor for the values of the old side. Unless `scaled by` gives one, it is such that means over the runs
 * are compared. */
static double old_factor(struct selection *s, const struct query_env *env, const struct db *old_db,
                         const struct query *q)
{
    size_t here = env->runs_of ? env->runs_of(env->find_db_arg, env->db) : 1,
           old = env->runs_of ? env->runs_of(env->find_db_arg, old_db) : 1;

    if (q->given[CLAUSE_SCALED].line || here == old)
        return q->samples.scale;
    vec_push(&s->notes, xasprintf("this side is the sum of %zu run%s and the other of %zu, whose values are scaled by "
                                  "%.4g, so that means over the runs are compared (`scaled by 1` compares the sums)",
                                  here, here == 1 ? "" : "s", old, (double)here / (double)old));
    return (double)here / (double)old;
}

/* Shares of two machines can be compared, and amounts of work; seconds are of the machine. */
static void note_machine(struct selection *s, const struct db *here, const struct db *old)
{
    const char *mine = facts_text(here, FACT_MACHINE), *other = facts_text(old, FACT_MACHINE);

    if (mine && other && strcmp(mine, other))
        vec_push(&s->notes, xasprintf("this side was recorded on another machine, %s, than the other, %s: what differs "
                                      "may be due to that",
                                      mine, other));
}

struct hq_error *compare_trees(struct query_env *env, struct selection *s, const struct query *q)
{
    AUTO(tree_deinit) struct tree old = {0};
    struct tree here = s->tree, both = {.db = s->tree.db};
    struct db *old_db;

    HQ_TRY(compare_open(env, q, &old_db));
    HQ_TRY(derive_settings(env, old_db, &both.old));
    tree_init(&old, both.old);
    note_folding(env, here.db, both.old, s);
    note_machine(s, here.db, both.old);
    HQ_TRY(paths_mark(env, &old, q, &s->old_keep, NULL));
    HQ_TRY(prune_tree(env, &old, q, NULL));
    align(&here, &old, &both, s, q);
    s->tree = both;
    s->old_factor = old_factor(s, env, old_db, q);
    tree_deinit(&here);
    return NULL;
}
