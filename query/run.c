/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/measure/grouping.h"
#include "query/output.h"
#include "query/shape/rows.h"
#include "query/views/views.h"
#include "query/pattern/waits.h"
#include <math.h>
#include <stdarg.h>

bool run_interrupted(struct run *run)
{
    if (!run->interrupted && run->env->interrupted && *run->env->interrupted)
        run->interrupted = true;
    return run->interrupted;
}

void run_note(struct run *run, const char *fmt, ...)
{
    va_list ap;
    AUTO_STR struct str text = {0};

    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    vec_push(&run->table->notes, (const char *)arena_strdup(&run->table->arena, str_cstr(&text)));
}

static void add_count(struct str *out, size_t n, const char *before, const char *after)
{
    if (n)
        str_addf(out, "%s%zu %sthread%s%s", out->len ? " and " : "", n, before, n == 1 ? "" : "s", after);
}

void helpers_note(struct run *run, const char *of, uint32_t metric)
{
    const struct selection *s = &run->selection;
    const struct db *db = s->tree.db;
    bool elapsed = any_is_elapsed(db);
    size_t launchers = 0, helpers = 0;
    double cost = 0;
    char text[UNITS_TEXT];
    AUTO_STR struct str who = {0};

    if (metric == HQDB_NONE && s->here_count)
        metric = s->measures.data[0].metric;
    if (!s->helpers.of || metric >= db->metric_count || run->helpers_told)
        return;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        enum stands stands = s->helpers.of[p];

        if (!selection_has_profile(s, p) || stands == STANDS_IN || (stands == STANDS_BUSY_HELPER && !elapsed))
            continue;
        launchers += stands == STANDS_LAUNCHER;
        helpers += stands != STANDS_LAUNCHER;
        cost += scaled_value(db_profile_total(db, p, metric).sum, db->metrics[metric].scale);
    }
    add_count(&who, launchers, "", " of launchers");
    add_count(&who, helpers, "helper ", "");
    if (!who.len)
        return;
    run->helpers_told = true;
    units_format(text, cost, s->measures.data[0].dim);
    run_note(run, "left out of %s: %s with %s of %s in all; `set helpers on` counts them", of, str_cstr(&who), text,
             db_string(db, db->metrics[metric].name));
}

static void note_elapsed(struct run *run)
{
    for (size_t i = 0; i < run->selection.here_count && !run->view->prepare; i++)
        if (run->binding.used[i] &&
            selection_leaves_out(&run->selection, false, run->selection.measures.data[i].metric)) {
            helpers_note(run, run->selection.measures.data[i].name, run->selection.measures.data[i].metric);
        }
}

/* ---- measuring ---- */

static double delta(const struct run *run, const struct measure *m, const double *slots, bool x,
                    const struct ranges *ranges)
{
    const struct measure *all = run->selection.measures.data;
    size_t here = m->here_measure, old = m->old_measure;

    /* Exact where both sides count in the same unit: a database compared with itself is all zeros. */
    if (here != SIZE_MAX && old != SIZE_MAX && all[here].scale == all[old].scale && all[old].factor == 1)
        return scaled_value(sum_difference(ranges_sum(ranges, all[here].sums), ranges_sum(ranges, all[old].sums)),
                            all[here].scale);
    return (here == SIZE_MAX ? 0 : slots[2 * here + x]) - (old == SIZE_MAX ? 0 : slots[2 * old + x]);
}

static void measure_side(struct run *run, const struct ranges *ranges, bool x, double *slots)
{
    const struct measure *all = run->selection.measures.data;

    for (size_t m = 0; m < run->selection.measures.len; m++) {
        double *slot = &slots[2 * m + x];

        if (!run->binding.used[m])
            *slot = NAN;
        else if (all[m].side == SIDE_DELTA)
            *slot = delta(run, &all[m], slots, x, ranges);
        else
            *slot = scaled_value(ranges_sum(ranges, all[m].sums), all[m].scale) * all[m].factor;
    }
}

void run_measure(struct run *run, const struct node *n, double *slots)
{
    for (int x = 0; x < 2; x++) {
        node_ranges(run->tree, n, x, &run->ranges);
        measure_side(run, &run->ranges, x, slots);
    }
}

void run_facts(struct run *run, const struct node *n, int depth, struct facts *f)
{
    const struct tree *t = run->tree;

    *f = (struct facts){.kind = n->kind, .depth = depth, .id = n->id, .rank = -1, .thread = -1, .name = n->name};
    if (n->scope != HQDB_NONE && n->kind != SCOPE_ROOT) {
        const struct hqdb_scope *s = tree_scope(t, n->scope);

        f->module = tree_module_name(t, n->scope);
        f->file = n->kind == SCOPE_FILE ? tree_text(t, s->name) : tree_text(t, s->file);
        f->line = s->line;
        if (f->file && !*f->file)
            f->file = NULL;
    }
    if (run->binding.uses_waits && n->scope != HQDB_NONE) {
        if (!run->waits)
            run->waits = waits_of_scopes(run->env, t);
        f->waits = run->waits[n->scope] != WAITS_NOT;
    }
    f->beside = n->text;
    if (n->call_file || n->call_line) {
        f->call_file = tree_text(t, n->call_file);
        f->call_line = n->call_line;
        if (!*f->call_file)
            f->call_file = NULL;
    }
    if (n->profile != HQDB_NONE && n->profile < t->db->profile_count) {
        const struct hqdb_profile *p = &t->db->profiles[n->profile];

        f->rank = p->rank;
        f->thread = p->thread;
        f->host = db_string(t->db, p->host);
    }
}

/* ---- binding the clauses ---- */

static struct column *add_column(struct run *run, struct program *p, const char *name)
{
    struct column *c = vec_add(&run->table->columns);

    vec_push(&run->columns, p);
    c->name = arena_strdup(&run->table->arena, name);
    c->type = p->is_text ? COLUMN_TEXT : COLUMN_NUMBER;
    c->dim = p->dim;
    c->total = NAN;
    c->scope = p->kind != PROGRAM_SLOT || !p->linear ? SCOPED_NONE : p->slot % 2 ? SCOPED_EXCLUSIVE : SCOPED_INCLUSIVE;
    if (p->kind == PROGRAM_SLOT && p->linear) {
        const struct measure *m = &run->selection.measures.data[p->slot / 2];

        c->metric = arena_printf(&run->table->arena, "%s%s",
                                 m->side == SIDE_OLD     ? "old."
                                 : m->side == SIDE_DELTA ? "delta."
                                                         : "",
                                 m->name);
        c->marks_sign = m->side == SIDE_DELTA || m->marks_sign;
        c->no_total = m->marks_sign;
    }
    return c;
}

static struct program *side_program(struct run *run, size_t measure, bool x)
{
    struct program *p = ARENA_NEW(&run->arena, struct program);

    run->binding.used[measure] = 1;
    *p = (struct program){.kind = PROGRAM_SLOT,
                          .slot = (unsigned)(2 * measure + x),
                          .linear = true,
                          .dim = run->selection.measures.data[measure].dim};
    return p;
}

static bool on_both_sides(const struct measure *m)
{
    return m->side == SIDE_DELTA && m->here_measure != SIZE_MAX && m->old_measure != SIZE_MAX;
}

/* NAME, old.NAME, delta.NAME and delta.NAME.x for every metric that both sides have. */
static void compared_columns(struct run *run)
{
    for (size_t i = 0; i < run->selection.measures.len; i++) {
        const struct measure *m = &run->selection.measures.data[i];

        if (!on_both_sides(m)) {
            if (m->side == SIDE_DELTA)
                run_note(run, "only %s database has the metric %s", m->here_measure == SIZE_MAX ? "the other" : "this",
                         m->name);
            continue;
        }
        add_column(run, side_program(run, m->here_measure, false), m->name);
        add_column(run, side_program(run, m->old_measure, false), arena_printf(&run->arena, "old.%s", m->name));
        add_column(run, side_program(run, i, false), arena_printf(&run->arena, "delta.%s", m->name));
        add_column(run, side_program(run, i, true), arena_printf(&run->arena, "delta.%s.x", m->name));
    }
}

static struct hq_error *default_columns(struct run *run)
{
    unsigned from = 1,
             to = run->view->prepare ? (unsigned)(2 * run->selection.here_count) : binding_columns(&run->binding);

    if (run->tree->old) {
        compared_columns(run);
        from = (unsigned)(2 * run->selection.here_count + 1);
    }
    for (unsigned n = from; n <= to; n++) {
        struct program *p;
        const char *name;
        struct column *c;

        if (n % 2 == 0 && (run->view->prepare || run->query->view.kind == VIEW_PROFILES))
            continue;
        HQ_TRY(bind_column(&run->binding, n, &run->query->view.place, &p, &name));
        c = add_column(run, p, name);
        if (p->kind == PROGRAM_SLOT && !p->linear)
            continue; /* a number that is no amount */
        if (!c->metric)
            c->metric = arena_strndup(&run->table->arena, name, strlen(name) - (n % 2 ? 0 : 2));
        c->scope = n % 2 ? SCOPED_INCLUSIVE : SCOPED_EXCLUSIVE;
    }
    return NULL;
}

/* A column of text that the view has beside the name. */
static void beside_column(struct run *run, const char *name)
{
    struct program *p = ARENA_NEW(&run->arena, struct program);
    struct column *c;

    *p = (struct program){.kind = PROGRAM_BESIDE, .is_text = true};
    c = add_column(run, p, name);
    c->beside = true;
    c->is_path = run->query->view.kind == VIEW_EXPLAIN;
}

static struct hq_error *bind_columns(struct run *run)
{
    if (!run->query->columns.len) {
        HQ_TRY(default_columns(run));
        if (run->view->beside)
            beside_column(run, run->view->beside);
        return NULL;
    }
    vec_foreach(def, &run->query->columns) {
        struct program *p;

        HQ_TRY(bind_expr(&run->binding, def->expr, false, &p));
        add_column(run, p, def->name ? def->name : print_expr(&run->arena, def->expr));
    }
    return NULL;
}

/* The first metric; of a comparison the size of its change. */
static struct program *default_key(struct run *run)
{
    struct program *p;

    if (!run->selection.here_count)
        return NULL;
    if (!run->tree->old) {
        run->binding.used[0] = 1;
        return side_program(run, 0, false);
    }
    for (size_t i = 0; i < run->selection.measures.len; i++)
        if (on_both_sides(&run->selection.measures.data[i])) {
            p = ARENA_NEW(&run->arena, struct program);
            *p = (struct program){.kind = PROGRAM_FUNCTION, .function = FUNCTION_ABS, .arg_count = 1};
            p->args = ARENA_NEW(&run->arena, struct program *);
            p->args[0] = side_program(run, i, false);
            run->binding.used[run->selection.measures.data[i].here_measure] = 1;
            run->binding.used[run->selection.measures.data[i].old_measure] = 1;
            return p;
        }
    return NULL;
}

static struct hq_error *bind_sort(struct run *run)
{
    vec_foreach(key, &run->query->sort) {
        struct sort_program s = {.program = default_key(run), .ascending = key->ascending};

        if (key->expr)
            HQ_TRY(bind_expr(&run->binding, key->expr, false, &s.program));
        if (s.program)
            vec_push(&run->sort, s);
    }
    if (!run->query->sort.len && default_key(run))
        vec_push(&run->sort, (struct sort_program){.program = default_key(run)});
    return NULL;
}

/* A list by the size of a change is one by the change. */
static bool same_slot(const struct program *a, const struct program *b)
{
    if (b && b->kind == PROGRAM_FUNCTION && b->function == FUNCTION_ABS)
        b = b->args[0];
    return a && b && a->kind == PROGRAM_SLOT && b->kind == PROGRAM_SLOT && a->slot == b->slot;
}

static void mark_orders(struct run *run)
{
    for (size_t i = 0; i < run->columns.len; i++) {
        bool orders = run->query->by && same_slot(run->columns.data[i], run->by);

        for (size_t k = 0; k < run->sort.len && !orders; k++)
            orders = same_slot(run->columns.data[i], run->sort.data[k].program);
        run->table->columns.data[i].orders = orders;
    }
}

/* explain: its own costs are what is chosen from and shown, the inclusive value of the whole is what is to be covered.
 */
static struct hq_error *bind_explain(struct run *run)
{
    const struct expr *e = run->query->view.expr;
    struct program *own;

    HQ_TRY(bind_expr(&run->binding, e, true, &own));
    HQ_TRY(bind_expr(&run->binding, e, false, &run->by));
    if (own->is_text)
        return place_error(&e->place, NULL, "this is a text, and a metric is wanted here");
    add_column(run, own, print_expr(&run->arena, e));
    return NULL;
}

static struct hq_error *bind_clauses(struct run *run)
{
    const struct query *q = run->query;

    run->first = run->selection.here_count ? side_program(run, 0, false) : NULL;
    if (q->view.kind == VIEW_EXPLAIN)
        HQ_TRY(bind_explain(run));
    if (q->view.kind != VIEW_EXPLAIN || q->columns.len)
        HQ_TRY(bind_columns(run));
    else
        beside_column(run, "path");
    for (size_t i = 0; i < q->where.len; i++) {
        struct program *p;

        HQ_TRY(bind_condition(&run->binding, q->where.data[i], &p));
        vec_push(&run->where, p);
    }
    for (size_t i = 0; i < q->matching.len; i++) {
        struct regex *r;

        HQ_TRY(regex_compile(&q->matching.data[i], &r));
        vec_push(&run->matching, r);
    }
    for (size_t i = 0; i < q->expect.len; i++) {
        struct program *p = NULL;

        if (q->expect.data[i].expr)
            HQ_TRY(bind_expectation(&run->binding, q->expect.data[i].expr, &p));
        vec_push(&run->expect, p);
    }
    HQ_TRY(bind_sort(run));
    if (!run->by)
        run->by = default_key(run);
    if (q->by)
        HQ_TRY(bind_expr(&run->binding, q->by, false, &run->by));
    mark_orders(run);
    if (run->view->shape == SHAPE_PATH && !run->by)
        return place_error(&q->view.place, NULL, "this database holds no metric that a path could follow");
    return NULL;
}

/* ---- totals ---- */

static void total_of(struct run *run, size_t i)
{
    const struct measure *all = run->selection.measures.data, *m = &all[i];
    double total = m->no_total ? NAN : scaled_value(m->total, m->scale) * m->factor;

    run->wholes[2 * i] = run->wholes[2 * i + 1] = total;
    if (m->side != SIDE_DELTA) {
        run->totals[2 * i] = run->totals[2 * i + 1] = total;
        return;
    }
    run->wholes[2 * i] = run->wholes[2 * i + 1] = (m->here_measure == SIZE_MAX ? 0 : run->totals[2 * m->here_measure]) -
                                                  (m->old_measure == SIZE_MAX ? 0 : run->totals[2 * m->old_measure]);
    /* A change is a share of what was there before. */
    total = m->old_measure != SIZE_MAX && run->totals[2 * m->old_measure] != 0 ? run->totals[2 * m->old_measure]
            : m->here_measure != SIZE_MAX                                      ? run->totals[2 * m->here_measure]
                                                                               : NAN;
    run->totals[2 * i] = run->totals[2 * i + 1] = total;
}

static struct hq_error *load(struct run *run)
{
    size_t n = run->selection.measures.len;

    run->totals = ARENA_ARRAY(&run->arena, 2 * n, double);
    run->wholes = ARENA_ARRAY(&run->arena, 2 * n, double);
    for (size_t i = 0; i < n; i++) {
        run->totals[2 * i] = run->totals[2 * i + 1] = run->wholes[2 * i] = run->wholes[2 * i + 1] = NAN;
        if (!run->binding.used[i])
            continue;
        HQ_TRY(selection_load(&run->selection, i));
        total_of(run, i);
    }
    for (size_t i = 0; i < run->columns.len; i++) {
        struct column *c = &run->table->columns.data[i];
        double *wholes = run->tree->old ? run->wholes : run->totals;

        if (!run->columns.data[i]->linear)
            continue;
        c->total = program_total(run->columns.data[i], wholes);
        c->base = program_total(run->columns.data[i], run->totals);
    }
    return NULL;
}

/* ---- the run ---- */

static void look_at_format(struct run *run)
{
    const struct output_format *format = run->query->as ? output_find(run->query->as->format) : NULL;

    run->complete = run->query->as ? format && format->complete : run->env->complete;
    run->of_paths = format && format->of_paths;
}

static struct hq_error *resolve_of(struct run *run)
{
    const struct pattern *of = run->query->view.of;

    if (!of)
        return NULL;
    HQ_TRY(pattern_resolve(run->env, run->tree, of, run->view->of_kinds, &run->of));
    if (run->of.problem)
        run_note(run, "%s", run->of.problem);
    return NULL;
}

static void note_selection(struct run *run)
{
    vec_foreach(note, &run->selection.notes) {
        run_note(run, "%s", *note);
        free(*note);
    }
    vec_clear(&run->selection.notes);
}

/* What a regular expression could not decide has no result, and what does not add up has none. */
static struct hq_error *all_known(const struct run *run)
{
    if (sums_overflow)
        return hq_error_new(HQ_DATA,
                            "the values of %s add up to more than 64 bits hold: it is damaged; `hq verify` "
                            "says more",
                            run->tree->old ? "these databases" : "this database");
    HQ_TRY(db_damage(run->env->db));
    if (run->tree && run->tree->old)
        HQ_TRY(db_damage(run->tree->old));
    vec_foreach(r, &run->matching)
        HQ_TRY(regex_failure(*r));
    vec_foreach(r, &run->binding.regexes)
        HQ_TRY(regex_failure(*r));
    return NULL;
}

static struct hq_error *make_table(struct run *run)
{
    HQ_TRY(selection_make(run->env, run->query, &run->selection));
    run->tree = &run->selection.tree;
    note_selection(run);
    note_trace(run);
    HQ_TRY(resolve_of(run));
    if (run->view->prepare)
        HQ_TRY(run->view->prepare(run));
    binding_init(&run->binding, run->env, &run->selection, &run->arena);
    run->binding.has_rows_of_profiles = run->view->of_profiles;
    run->binding.row_kinds = run->view->row_kinds;
    if (query_setting(run->env, SETTING_LINES) && run->view->row_kinds & KIND_BIT(SCOPE_THREAD) &&
        !run->view->of_profiles)
        run->binding.row_kinds |= KIND_BIT(SCOPE_LINE);
    if (run->view->shape == SHAPE_FACTS)
        return run->view->fill(run, run->table);
    HQ_TRY(bind_clauses(run));
    HQ_TRY(grouping_check(run));
    note_selection(run);
    HQ_TRY(load(run));
    note_elapsed(run);
    run->table->chosen_columns = run->query->columns.len;
    run->table->tree = run->view->shape != SHAPE_LIST;
    run->table->doubt = run->doubt;
    HQ_TRY(rows_make(run));
    return all_known(run);
}

static void run_deinit(struct run *run)
{
    vec_foreach(r, &run->matching)
        regex_destroy(*r);
    vec_deinit(&run->matching);
    vec_deinit(&run->columns);
    vec_deinit(&run->where);
    vec_deinit(&run->sort);
    vec_deinit(&run->expect);
    vec_deinit(&run->ranges);
    matches_deinit(&run->of);
    binding_deinit(&run->binding);
    selection_deinit(&run->selection);
    free(run->waits);
    free(run->families);
    arena_deinit(&run->arena);
}

struct hq_error *run_query(struct query_env *env, const struct query *q, struct table **out)
{
    struct run run = {.env = env, .query = q, .view = view_find(q->view.kind), .table = table_create()};
    struct hq_error *err = NULL;

    *out = NULL;
    sums_overflow = false;
    err = db_damage(env->db);
    run.table->query = print_query(&run.table->arena, q);
    run.table->view = view_words[q->view.kind].name;
    if (!err && q->as && !output_find(q->as->format))
        err = output_unknown(q->as);
    look_at_format(&run);
    if (!err)
        err = make_table(&run);
    run_deinit(&run);
    if (err) {
        table_destroy(run.table);
        return err;
    }
    *out = run.table;
    return NULL;
}
