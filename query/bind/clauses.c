/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/bind/clauses.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/view.h"
#include <math.h>
#include <string.h>

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
        if (!m->of_view && !(m->flags & HQDB_METRIC_EXACT))
            c->sample = (m->weight > 0 ? m->weight : (double)m->period) * m->scale * m->factor;
        c->spare = m->spare;
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

/* The measure of the other side, or the difference, of one of this side; SIZE_MAX none. */
static size_t side_of(const struct selection *s, size_t here, enum metric_side side)
{
    for (size_t i = s->here_count; i < s->measures.len; i++)
        if (s->measures.data[i].side == side && !strcmp(s->measures.data[i].name, s->measures.data[here].name))
            return i;
    return SIZE_MAX;
}

/* Of a view that compares itself: its first measure, which is what both sides stand on, and what is told of a
 * difference, on both sides; what only this side has, too. */
static struct hq_error *compared_by_view(struct run *run)
{
    const struct selection *s = &run->selection;

    for (size_t i = 0; i < s->here_count; i++) {
        size_t old = side_of(s, i, SIDE_OLD), delta = side_of(s, i, SIDE_DELTA);
        const char *name = s->measures.data[i].name;

        if (!i || old == SIZE_MAX || delta != SIZE_MAX)
            add_column(run, side_program(run, i, false), name);
        if (!i || delta == SIZE_MAX)
            continue;
        add_column(run, side_program(run, old, false), arena_printf(&run->arena, "old.%s", name));
        add_column(run, side_program(run, delta, false), arena_printf(&run->arena, "delta.%s", name));
    }
    return NULL;
}

/* Leaves a column out: nothing is known of its metric in a slice of time. */
static bool is_unknown(struct run *run, unsigned n, struct hq_error **err, struct str *names)
{
    unsigned metric = (n - 1) / 2;
    bool measured = metric < run->selection.here_count;

    if (measured ? !selection_knows_nothing_of(&run->selection, metric) : !*err || !run->binding.untimed)
        return false;
    run->binding.untimed = false;
    hq_error_free(*err);
    *err = NULL;
    if (n % 2)
        str_addf(names, "%s%s", names->len ? ", " : "",
                 measured ? run->selection.measures.data[metric].name
                          : run->env->lets.data[metric - run->selection.here_count].name);
    return true;
}

static struct hq_error *default_columns(struct run *run)
{
    AUTO_STR struct str unknown = {0};

    if (run->view->compares && run->query->samples.compare)
        return compared_by_view(run);
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

        if (n % 2 == 0 && (run->view->prepare || run->view->of_wholes))
            continue;
        struct hq_error *err = bind_column(&run->binding, n, &run->query->view.place, &p, &name);

        if (is_unknown(run, n, &err, &unknown))
            continue;
        if (err)
            return err;
        c = add_column(run, p, name);
        if (p->kind == PROGRAM_SLOT && !p->linear)
            continue; /* a number that is no amount */
        if (!c->metric)
            c->metric = arena_strndup(&run->table->arena, name, strlen(name) - (n % 2 ? 0 : 2));
        c->scope = n % 2 ? SCOPED_INCLUSIVE : SCOPED_EXCLUSIVE;
    }
    if (unknown.len)
        run_note(run, "recorded without a trace, so unknown in a slice of time: %s", str_cstr(&unknown));
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
    c->is_path = run->view->covers;
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

/* The first metric of which anything is known; 0: of none. */
static size_t first_measure(const struct selection *s)
{
    size_t first = 0;

    while (first < s->here_count && selection_knows_nothing_of(s, first))
        first++;
    return first < s->here_count ? first : 0;
}

/* How large a change is, whichever way it went. */
static struct program *size_of(struct run *run, struct program *change)
{
    struct program *p = ARENA_NEW(&run->arena, struct program);

    *p = (struct program){.kind = PROGRAM_FUNCTION, .function = FUNCTION_ABS, .arg_count = 1};
    p->args = ARENA_NEW(&run->arena, struct program *);
    p->args[0] = change;
    return p;
}

/* A list by the size of a change is one by the change. */
static bool same_slot(const struct program *a, const struct program *b)
{
    if (b && b->kind == PROGRAM_FUNCTION && b->function == FUNCTION_ABS)
        b = b->args[0];
    return a && b && a->kind == PROGRAM_SLOT && b->kind == PROGRAM_SLOT && a->slot == b->slot;
}

/* The first amount that a list shows, of a comparison the first change, if `columns` leaves out that of the usual key:
 * an order by what is not seen looks like none. A row that has others below it stays where all of its cost puts it.
 * NULL: the usual one. */
static struct program *first_shown(struct run *run, const struct program *usual)
{
    struct program *shown = NULL;

    if (!run->query->columns.len || run->view->shape != SHAPE_LIST)
        return NULL;
    vec_foreach(p, &run->columns) {
        if ((*p)->kind != PROGRAM_SLOT || !(*p)->linear ||
            (run->tree->old && run->selection.measures.data[(*p)->slot / 2].side != SIDE_DELTA))
            continue;
        if (same_slot(*p, usual))
            return NULL;
        if (!shown)
            shown = *p;
    }
    return shown && run->tree->old ? size_of(run, shown) : shown;
}

/* The first metric; of a comparison the size of its change. */
static struct program *default_key(struct run *run)
{
    if (!run->selection.here_count)
        return NULL;
    if (!run->tree->old)
        return side_program(run, first_measure(&run->selection), false);
    for (size_t i = 0; i < run->selection.measures.len; i++)
        if (on_both_sides(&run->selection.measures.data[i])) {
            run->binding.used[run->selection.measures.data[i].here_measure] = 1;
            run->binding.used[run->selection.measures.data[i].old_measure] = 1;
            return size_of(run, side_program(run, i, false));
        }
    return NULL;
}

static struct hq_error *bind_sort(struct run *run)
{
    struct program *first = default_key(run);

    vec_foreach(key, &run->query->sort) {
        struct sort_program s = {.program = first, .ascending = key->ascending};

        if (key->expr)
            HQ_TRY(bind_expr(&run->binding, key->expr, false, &s.program));
        if (s.program)
            vec_push(&run->sort, s);
    }
    if ((run->sort.len && run->view->in_order) || !first)
        return NULL;
    struct program *shown = run->sort.len ? NULL : first_shown(run, first);

    if (shown)
        vec_push(&run->sort, (struct sort_program){.program = shown});
    vec_push(&run->sort, (struct sort_program){.program = first});
    return NULL;
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

/* The measure of which the rows are in order, if the query does not say; SIZE_MAX. */
static size_t default_measure(const struct run *run)
{
    const struct program *p = run->query->sort.len || !run->sort.len ? NULL : run->sort.data[0].program;

    if (!p && run->view->shape == SHAPE_PATH && !run->query->by)
        p = run->by;
    if (p && p->kind == PROGRAM_FUNCTION && p->function == FUNCTION_ABS)
        p = p->args[0];
    return p && p->kind == PROGRAM_SLOT ? p->slot / 2 : SIZE_MAX;
}

/* Whether rows may be in the order of one measure instead of another: what a view has measured itself is of many kinds.
 */
static bool replaces(const struct run *run, size_t measure, size_t first)
{
    const struct measure *m = &run->selection.measures.data[measure], *of = &run->selection.measures.data[first];

    return run->binding.used[measure] && m->side == of->side && (m->side != SIDE_DELTA || on_both_sides(m)) &&
           (!run->view->prepare || m->dim == of->dim);
}

void clauses_settle_order(struct run *run, const bool *has_value)
{
    const struct measure *measures = run->selection.measures.data;
    size_t first = default_measure(run), other = 0;

    if (first == SIZE_MAX || has_value[first] || run->view->in_order || run->view->covers)
        return;
    while (other < run->selection.measures.len && !(has_value[other] && replaces(run, other, first)))
        other++;
    if (other == run->selection.measures.len)
        return;
    run_note(run, "nothing here has any %s: the rows are in the order of %s%s", measures[first].name,
             measures[other].side == SIDE_DELTA ? "delta." : "", measures[other].name);
    struct program *p = side_program(run, other, false);
    if (measures[other].side == SIDE_DELTA)
        p = size_of(run, p);
    if (!run->query->sort.len)
        run->sort.data[0].program = p;
    if (!run->query->by)
        run->by = p;
    mark_orders(run);
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

struct hq_error *clauses_bind(struct run *run)
{
    const struct query *q = run->query;

    run->first = run->selection.here_count ? side_program(run, first_measure(&run->selection), false) : NULL;
    if (run->view->covers)
        HQ_TRY(bind_explain(run));
    if (!run->view->covers || q->columns.len)
        HQ_TRY(bind_columns(run));
    else
        beside_column(run, run->view->beside);
    run->binding.binds = BINDS_ROWS;
    for (size_t i = 0; i < q->where.len; i++) {
        struct program *p;

        HQ_TRY(bind_condition(&run->binding, q->where.data[i], &p));
        vec_push(&run->where, p);
        named_in_condition(&run->binding, p);
    }
    for (size_t i = 0; i < q->matching.len; i++) {
        struct regex *r;

        HQ_TRY(regex_compile(&q->matching.data[i], &r));
        vec_push(&run->matching, r);
        HQ_TRY(names_check(&run->binding, &q->matching.data[i], &run->binding.unknown));
    }
    run->binding.binds = BINDS_EXPECTATIONS;
    for (size_t i = 0; i < q->expect.len; i++) {
        struct program *p = NULL;

        if (q->expect.data[i].expr)
            HQ_TRY(bind_expectation(&run->binding, q->expect.data[i].expr, &p));
        vec_push(&run->expect, p);
        if (p) /* what `all` rows have to be is what no row may not be */
            named_in_expectation(&run->binding, p, q->expect.data[i].kind != EXPECT_ALL);
    }
    HQ_TRY(named_check(&run->binding));
    run->binding.binds = BINDS_VALUES;
    HQ_TRY(bind_sort(run));
    if (!run->by)
        run->by = default_key(run);
    if (q->by)
        HQ_TRY(bind_expr(&run->binding, q->by, false, &run->by));
    if (q->by && run->by->is_text)
        return place_error(&q->by->place, NULL, "this is a text, and a path follows a number");
    mark_orders(run);
    if (run->view->shape == SHAPE_PATH && !run->by)
        return place_error(&q->view.place, NULL, "this database holds no metric that a path could follow");
    return NULL;
}
