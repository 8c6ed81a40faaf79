/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranked lists: procedures, loops, lines, files, modules. */
#include "common/hash.h"
#include "query/tree/keyed.h"
#include "query/views/views.h"

static struct hq_error *procedures_roots(struct run *run, struct nodes *out)
{
    bool named = false;

    /* Procedures that match themselves, else those inside of a file or load module that does. */
    for (uint32_t i = 0; run->of.scopes && i < run->tree->scope_count && !named; i++)
        named = run->of.scopes[i] && (KINDS_PROCEDURE & KIND_BIT(run->tree->scopes[i].kind));
    entity_nodes(run, named ? run->of.scopes : run_wanted(run, KINDS_PROCEDURE), out);
    return NULL;
}

static struct hq_error *loops_roots(struct run *run, struct nodes *out)
{
    const struct tree *t = run->tree;
    const uint8_t *wanted = run_wanted(run, KIND_BIT(SCOPE_LOOP));

    for (uint32_t i = 0; i < t->scope_count; i++) {
        struct db_list l = tree_instances(t, i);
        const struct hqdb_scope *s = &t->scopes[i];

        if (s->kind != SCOPE_LOOP || !l.len || (wanted && !wanted[i]))
            continue;
        struct node n = node_of_set(t, i, (struct set){l.data, l.len});

        n.id = hash_combine(hash_combine(SCOPE_LOOP, hash_str(tree_text(t, s->file))),
                            hash_combine(s->line, s->ordinal));
        vec_push(out, n);
    }
    if (!out->len && !wanted)
        run_note(run, query_setting(run->env, SETTING_LOOPS)
                          ? "no sample lies in a loop that is known; profiles of other tools tell none"
                          : "`set loops off` leaves them out");
    return NULL;
}

/* ---- lines: one row for a line of a file, with the calls made from it ---- */

struct line_key {
    uint32_t file, line, scope;
};

static bool is_call(enum scope_kind kind)
{
    return scope_is_called(kind) || kind == SCOPE_INLINE;
}

/* Returns the scope that tells lines without a number apart: their procedure, or the line itself if it lies in none. */
static uint32_t holder_of(const struct tree *t, uint32_t line)
{
    uint32_t procedure = tree_enclosing(t, line, SCOPE_PROCEDURE);

    return procedure == HQDB_NONE ? line : procedure;
}

static void add_line(struct run *run, struct keyed *g, uint32_t c, const uint8_t *wanted)
{
    uint32_t line = tree_scope_of(run->tree, c);
    const struct hqdb_scope *s = tree_scope(run->tree, line);

    if (!wanted || wanted[line])
        keyed_add(g, &(struct line_key){s->file, s->line, s->line ? 0 : holder_of(run->tree, line)}, c, MEMBER_BOTH);
}

static void add_call(struct run *run, struct keyed *g, uint32_t c, const uint8_t *wanted)
{
    const struct hqdb_context *x = tree_context(run->tree, c);
    uint32_t parent = tree_parent(run->tree, c);
    struct line_key key = {x->call_file, x->call_line, 0};

    if (!x->call_line || parent == HQDB_NONE)
        return;
    if (wanted && !wanted[tree_scope_of(run->tree, parent)])
        return;
    keyed_add(g, &key, c, MEMBER_INCLUSIVE);
}

static struct hq_error *lines_roots(struct run *run, struct nodes *out)
{
    const struct tree *t = run->tree;
    const uint8_t *wanted = run_wanted(run, KINDS_STATIC & ~KIND_BIT(SCOPE_FILE) & ~KIND_BIT(SCOPE_MODULE));
    struct keyed g;
    struct set *inc, *exc;

    keyed_init(&g, sizeof(struct line_key));
    for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++)
        if (tree_kind(t, c) == SCOPE_LINE)
            add_line(run, &g, c, wanted);
    for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++)
        if (is_call(tree_kind(t, c)))
            add_call(run, &g, c, wanted);
    keyed_sets(&g, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < g.keys.len; k++) {
        const struct line_key *key = keymap_key(&g.keys, k);
        struct node n = {.kind = SCOPE_LINE, .scope = HQDB_NONE, .context = HQDB_NONE, .profile = HQDB_NONE};

        if (exc[k].len) {
            n = node_of_set(t, tree_scope_of(t, exc[k].data[0]), exc[k]);
        } else { /* calls that were inlined alone: of no statement, so what holds them tells the module */
            n.scope = tree_scope_of(t, tree_parent(t, inc[k].data[0]));
            n.file = key->file;
            n.line = key->line;
            n.name = arena_printf(&run->arena, "%s:%u", path_base(tree_text(t, key->file)), key->line);
        }
        n.inc = inc[k];
        n.leaf = true;
        n.id = hash_combine(hash_combine(SCOPE_LINE, hash_str(tree_text(t, key->file))), key->line);
        if (!key->line)
            n.id = hash_combine(n.id, hash_str(tree_text(t, tree_scope(t, key->scope)->name)));
        vec_push(out, n);
    }
    keyed_deinit(&g);
    return NULL;
}

/* ---- files and modules: their procedures, with the code inlined into them ---- */

/* Waiting and runtimes have no file, and what other tools tell no load module: they are one row, so that rows add up to
 * the total. */
static struct node node_of_none(struct run *run, enum scope_kind kind, struct set contexts)
{
    return (struct node){.kind = kind,
                         .scope = HQDB_NONE,
                         .name = arena_strdup(&run->arena, kind == SCOPE_FILE ? "[no file]" : "[no module]"),
                         .context = HQDB_NONE,
                         .profile = HQDB_NONE,
                         .inc = contexts,
                         .exc = contexts};
}

static void containers(struct run *run, enum scope_kind kind, struct nodes *out)
{
    const struct tree *t = run->tree;
    const uint8_t *wanted = run_wanted(run, KIND_BIT(kind));
    const uint32_t nowhere = t->scope_count; /* the number of no scope */
    uint32_t *in = xmalloc(t->scope_count * sizeof *in);
    struct keyed g;
    struct set *inc, *exc;

    for (uint32_t i = 0; i < t->scope_count; i++) {
        in[i] = scope_is_called(t->scopes[i].kind) ? tree_enclosing(t, i, kind) : HQDB_NONE;
        if (in[i] != HQDB_NONE && wanted && !wanted[in[i]])
            in[i] = HQDB_NONE;
        else if (in[i] == HQDB_NONE && !wanted && scope_is_called(t->scopes[i].kind))
            in[i] = nowhere;
    }
    keyed_init(&g, sizeof(uint32_t));
    for (uint32_t c = 0; c < t->context_count && !run_interrupted(run); c++)
        if (in[tree_scope_of(t, c)] != HQDB_NONE)
            keyed_add(&g, &in[tree_scope_of(t, c)], c, MEMBER_BOTH);
    keyed_sets(&g, &run->arena, &inc, &exc);
    for (uint32_t k = 0; k < g.keys.len; k++) {
        uint32_t scope = *(const uint32_t *)keymap_key(&g.keys, k);
        struct node n = scope == nowhere ? node_of_none(run, kind, exc[k]) : node_of_set(t, scope, exc[k]);

        n.rule = EXCLUSIVE_FRAME;
        n.id = hash_combine(kind, hash_str(n.name ? n.name : tree_text(t, tree_scope(t, scope)->name)));
        vec_push(out, n);
    }
    keyed_deinit(&g);
    free(in);
}

static struct hq_error *files_roots(struct run *run, struct nodes *out)
{
    containers(run, SCOPE_FILE, out);
    return NULL;
}

static struct hq_error *modules_roots(struct run *run, struct nodes *out)
{
    containers(run, SCOPE_MODULE, out);
    return NULL;
}

const struct view_row view_procedures = {
    .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .row_kinds = KINDS_PROCEDURE, .roots = procedures_roots};
const struct view_row view_loops = {.shape = SHAPE_LIST,
                                    .of_kinds = KINDS_STATIC,
                                    .row_kinds = KIND_BIT(SCOPE_LOOP),
                                    .none = "nothing that was measured of it lies in a loop of its own",
                                    .roots = loops_roots};
const struct view_row view_lines = {
    .shape = SHAPE_LIST, .of_kinds = KINDS_STATIC, .row_kinds = KIND_BIT(SCOPE_LINE), .roots = lines_roots};
const struct view_row view_files = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_STATIC,
    .row_kinds = KIND_BIT(SCOPE_FILE),
    .none = "files are listed of a file or of a load module with source files, and it is neither: `procedures of` has "
            "the file of a procedure",
    .roots = files_roots};
const struct view_row view_modules = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_STATIC,
    .row_kinds = KIND_BIT(SCOPE_MODULE),
    .none = "it is no load module: `callers of` and `flat of` say in which one a procedure or file lies",
    .roots = modules_roots};
