/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/shape/rows.h"
#include "query/bind/clauses.h"
#include "query/measure/interval.h"
#include "query/measure/statistics.h"
#include "query/measure/values.h"
#include "query/shape/loop_lines.h"
#include "query/view.h"
#include <math.h>

/* ---- where ---- */

static bool satisfies(struct run *run, struct entry *e)
{
    struct facts facts = {0};
    struct point at;

    if (run->binding.uses_attributes)
        facts = entry_facts(run, e);
    at = entry_point(run, e, &facts);
    for (size_t i = 0; i < run->where.len; i++)
        if (program_truth(run->where.data[i], &at) != 1)
            return false;
    for (size_t i = 0; i < run->matching.len; i++)
        if (!regex_matches(run->matching.data[i], entry_name(run, e)))
            return false;
    return true;
}

/* `metric > constant` bounds every row below too where no value is negative: no row has more than its parent. */
static bool bounded_below(struct run *run, const struct program *p, const struct entry *e)
{
    bool less = p->op == OP_LT || p->op == OP_LE, strict = p->op == OP_LT || p->op == OP_GT;
    const struct program *metric = p->args[less], *bound = p->args[!less];
    struct point at = entry_point(run, e, NULL);

    if (p->op < OP_LT || metric->kind != PROGRAM_SLOT || !bound->constant ||
        run->selection.measures.data[metric->slot / 2].side == SIDE_DELTA)
        return false;
    double inclusive = e->slots[metric->slot & ~1u], least = program_number(bound, &at);

    return (strict ? inclusive <= least : inclusive < least) && !values_fall(run, metric->slot / 2);
}

static bool excludes(struct run *run, const struct program *p, const struct entry *e)
{
    if (p->kind != PROGRAM_BINARY)
        return false;
    if (p->op == OP_AND)
        return excludes(run, p->args[0], e) || excludes(run, p->args[1], e);
    return p->op >= OP_LT && p->op <= OP_GE && bounded_below(run, p, e);
}

static bool nothing_below(struct run *run, const struct entry *e)
{
    for (size_t i = 0; i < run->where.len; i++)
        if (excludes(run, run->where.data[i], e))
            return true;
    return false;
}

/* ---- the entries that a query needs before it can show any ---- */

static bool sorts_by_statistics(const struct run *run)
{
    for (size_t i = 0; i < run->sort.len; i++)
        if (run->sort.data[i].program->has_statistic)
            return true;
    return false;
}

/* Expectations look at all rows, unless `of PATTERN` without where makes them look at the top rows only. */
static bool expects_all_rows(const struct run *run)
{
    return run->query->expect.len && !(run->query->view.of && !rows_filtered(run));
}

static bool wants_kids(struct run *run, const struct entry *e)
{
    if (rows_filtered(run) || expects_all_rows(run))
        return !nothing_below(run, e);
    if (run->query->depth && e->depth + 1 >= (int)run->query->depth)
        return false;
    return !rows_fold(run) || rows_above_fold(run, e);
}

/* Breadth first, parents before children. */
static void expand_all(struct run *run, struct entries *all)
{
    for (size_t i = 0; i < all->len && !run_interrupted(run); i++) {
        struct entry *e = all->data[i];

        if (!wants_kids(run, e))
            continue;
        entry_expand(run, e);
        for (size_t k = 0; k < e->kid_count; k++)
            vec_push(all, e->kids[k]);
    }
}

static void mark(struct run *run, const struct entries *all)
{
    if (!rows_filtered(run))
        return;
    for (size_t i = 0; i < all->len && !run_interrupted(run); i++) {
        struct entry *e = all->data[i];

        e->match = satisfies(run, e);
        e->keep = e->match || run->env->keep_all;
    }
    for (size_t i = all->len; i-- > 0;)
        if (all->data[i]->keep && all->data[i]->parent)
            all->data[i]->parent->keep = true;
}

/* ---- into the table ---- */

static double row_base(const struct run *run, const struct entry *e, const struct program *p, double base)
{
    if (run->query->percent != PERCENT_PARENT || !p->linear)
        return NAN;
    if (!e->parent)
        return base;
    struct point at = entry_point(run, e->parent, NULL);

    /* A share of the parent's inclusive value, for exclusive columns too. */
    return p->kind == PROGRAM_SLOT ? e->parent->slots[p->slot & ~1u] : program_number(p, &at);
}

/* Flame graphs have colours: whose code it is, or of a comparison what is more than chance. */
static bool is_drawn(const struct run *run)
{
    return run->query->as && !strcmp(run->query->as->format, "svg");
}

static bool colours_by_change(const struct run *run)
{
    return is_drawn(run) && run->query->samples.compare;
}

static void fill_cells(struct run *run, const struct entry *e, const struct facts *facts, struct row *row)
{
    struct point at = entry_point(run, e, facts);

    for (size_t i = 0; i < run->columns.len; i++) {
        const struct program *p = run->columns.data[i];
        struct cell *cell = &row->cells[i];
        char buffer[PROGRAM_TEXT_ROOM];

        if (p->is_text) {
            const char *text = e->folded ? NULL : program_text(p, &at, buffer);

            cell->text = text ? arena_strdup(&run->table->arena, text) : "";
            continue;
        }
        cell->number = program_number(p, &at);
        cell->base = row_base(run, e, p, run->table->columns.data[i].base);
        if ((query_setting(run->env, SETTING_CI) || colours_by_change(run)) && !e->folded)
            cell->ci = interval_half_width(run, e, p);
    }
}

static bool recursive(const struct run *run, const struct entry *e)
{
    const struct tree *t = run->tree;

    /* Code without a name need not be the same code. */
    if (!strcmp(tree_text(t, tree_scope(t, e->node.scope)->name), HQDB_GENERATED))
        return false;
    for (uint32_t c = e->node.context; c != HQDB_NONE && (c = tree_parent(t, c)) != HQDB_NONE;)
        if (tree_scope_of(t, c) == e->node.scope)
            return true;
    return false;
}

static unsigned row_flags(const struct run *run, const struct entry *e)
{
    unsigned flags = (e->match ? 0 : ROW_ANCESTOR) | (e->folded ? ROW_FOLDED : 0) | (e->hot ? ROW_HOT : 0) |
                     (e->node.aside ? ROW_ASIDE : 0);

    if (!e->folded && (run->view->shape == SHAPE_TREE || run->view->shape == SHAPE_PATH) &&
        e->node.kind == SCOPE_PROCEDURE && recursive(run, e))
        flags |= ROW_RECURSIVE;
    for (size_t i = 0; run->tree->old && i < run->selection.measures.len; i++) {
        const struct measure *m = &run->selection.measures.data[i];

        if (m->side != SIDE_DELTA || !run->binding.used[i] || m->here_measure == SIZE_MAX || m->old_measure == SIZE_MAX)
            continue;
        if (e->slots[2 * m->old_measure] == 0 && e->slots[2 * m->here_measure] != 0)
            return flags | ROW_NEW;
        if (e->slots[2 * m->here_measure] == 0 && e->slots[2 * m->old_measure] != 0)
            return flags | ROW_GONE;
        break;
    }
    return flags;
}

static const char *keep_text(struct run *run, const char *s)
{
    return s && *s ? arena_strdup(&run->table->arena, s) : NULL;
}

/* The name of a scope, and that for the linker where it is another: `solve(Grid&) [_Z5solveR4Grid]`. */
static const char *linked_name(const struct tree *t, uint32_t scope, struct arena *arena)
{
    const char *name = tree_scope_name(t, scope, arena), *linkage = tree_linkage(t, scope);

    return linkage && strcmp(linkage, name) ? arena_printf(arena, "%s [%s]", name, linkage) : name;
}

/* Kind and qualified name, loops by their number within their procedure and how many that has, since one more of them
 * shifts the others; lines and profiles not at all. */
static const char *row_key(struct run *run, const struct entry *e)
{
    const struct tree *t = run->tree;
    uint32_t scope = e->node.scope, host;
    struct arena *arena = &run->table->arena;

    if (e->node.kind == SCOPE_GROUP)
        return arena_printf(arena, "group %s", e->node.name);
    if (scope == HQDB_NONE || e->node.profile != HQDB_NONE || e->node.kind == SCOPE_LINE || e->node.kind == SCOPE_CALL)
        return NULL;
    if (e->node.kind != SCOPE_LOOP)
        return arena_printf(arena, "%s %s", scope_kind_name(e->node.kind),
                            e->node.kind == SCOPE_FILE ? path_base(tree_scope_name(t, scope, arena))
                                                       : linked_name(t, scope, arena));
    host = tree_enclosing(t, scope, SCOPE_PROCEDURE);
    const char *of = host == HQDB_NONE ? "?" : linked_name(t, host, arena);
    uint32_t number = tree_scope(t, scope)->ordinal, count = tree_loop_count(t, scope);

    return count ? arena_printf(arena, "loop %u/%u of %s", number, count, of)
                 : arena_printf(arena, "loop %u of %s", number, of);
}

static void add_row(struct run *run, struct entry *e, uint32_t *number)
{
    struct row *row = table_add_row(run->table);
    struct facts f = entry_facts(run, e);

    row->kind = f.kind;
    row->flags = row_flags(run, e);
    row->depth = run->view->shape == SHAPE_LIST ? 0 : e->depth;
    row->name = arena_strdup(&run->table->arena, f.name);
    if (!e->folded) {
        row->id = f.id;
        row->number = ++*number;
        row->module = keep_text(run, f.module);
        row->file = keep_text(run, f.file);
        row->line = f.line;
        row->basis = loop_lines_basis(run->tree, e->node.scope);
        row->call_file = keep_text(run, f.call_file);
        row->call_line = f.call_line;
        row->times = e->times;
        row->profile = e->node.profile;
        row->key = row_key(run, e);
        if (is_drawn(run))
            row->tint = values_tint(run, e->node.scope);
    }
    fill_cells(run, e, &f, row);
}

/* `percent of shown`: of all top rows that are shown together. */
static void base_on_shown(struct run *run, const struct entries *shown)
{
    struct entry **top = xmalloc((shown->len + 1) * sizeof *top), *all;
    size_t n = 0;

    for (size_t i = 0; i < shown->len; i++)
        if (shown->data[i]->depth == 0 || !shown->data[i]->parent)
            top[n++] = shown->data[i];
    if (n) {
        all = rows_together(run, top, n, NULL, 0, NULL);
        for (size_t s = 1; s < 2 * run->selection.measures.len; s += 2)
            all->slots[s] = all->slots[s - 1];
        for (size_t i = 0; i < run->columns.len; i++)
            if (!isnan(run->table->columns.data[i].total))
                run->table->columns.data[i].base = run->table->columns.data[i].total = program_total(
                    run->columns.data[i], all->slots);
    }
    free(top);
}

/* ---- top rows ---- */

static void make_roots(struct run *run, const struct nodes *nodes, struct entries *roots)
{
    struct entry *e;

    for (size_t i = 0; i < nodes->len && !run_interrupted(run); i++)
        if (!entry_is_absent(run, e = entry_new(run, &nodes->data[i], NULL, 0)))
            vec_push(roots, e);
}

/* Rows are in the order of the first metric that any of them has. */
static void settle_order(struct run *run, const struct entries *roots)
{
    size_t n = run->selection.measures.len;
    bool *has_value = ARENA_ARRAY(&run->arena, n + 1, bool);

    for (size_t i = 0; i < roots->len; i++)
        for (size_t m = 0; m < n; m++)
            has_value[m] |= !isnan(roots->data[i]->slots[2 * m]) && roots->data[i]->slots[2 * m] != 0;
    clauses_settle_order(run, has_value);
}

/* Each top row is replaced by its children; one without any stays, and when none has any no further level does more. */
static void flatten(struct run *run, struct entries *roots)
{
    bool more = true;

    for (uint32_t n = 0; more && n < run->query->flatten && !run_interrupted(run); n++) {
        struct entries next = {0};

        more = false;
        for (size_t i = 0; i < roots->len; i++) {
            struct entry *e = roots->data[i];

            entry_expand(run, e);
            more |= e->kid_count > 0;
            if (!e->kid_count)
                vec_push(&next, e);
            for (size_t k = 0; k < e->kid_count; k++) {
                e->kids[k]->parent = NULL;
                e->kids[k]->depth = 0;
                vec_push(&next, e->kids[k]);
            }
        }
        vec_deinit(roots);
        *roots = next;
    }
}

static struct hq_error *interrupted(void)
{
    return hq_error_new(QUERY_INTERRUPTED, "interrupted");
}

static struct hq_error *prepare(struct run *run, struct entries *roots, struct entries *all)
{
    bool everything = rows_filtered(run) || expects_all_rows(run);

    vec_append(all, roots->data, roots->len);
    if (everything || sorts_by_statistics(run)) {
        if (run->view->shape != SHAPE_PATH)
            expand_all(run, all);
        HQ_TRY(statistics_compute(run, all->data, all->len));
    } else if (run->query->expect.len) {
        HQ_TRY(statistics_compute(run, all->data, all->len));
    }
    mark(run, all);
    HQ_TRY(absent_tell(run, all));
    return run->interrupted ? interrupted() : NULL;
}

static struct hq_error *show(struct run *run, struct entries *roots, struct entries *shown)
{
    uint32_t number = 0;

    if (run->view->shape == SHAPE_PATH)
        rows_walk_hot_path(run, roots->data, roots->len, shown);
    else
        rows_walk(run, roots->data, roots->len, shown);
    rows_fold_recursion(run, shown);
    if (run->interrupted)
        return interrupted();
    HQ_TRY(statistics_compute(run, shown->data, shown->len));
    if (run->query->percent == PERCENT_SHOWN)
        base_on_shown(run, shown);
    for (size_t i = 0; i < shown->len && !run_interrupted(run); i++)
        add_row(run, shown->data[i], &number);
    if (run->interrupted)
        return interrupted();
    rows_tell_apart(run, shown);
    refs_remember(run, shown);
    return NULL;
}

struct hq_error *rows_make(struct run *run)
{
    struct entries roots = {0}, all = {0}, shown = {0};
    struct nodes nodes = {0};
    struct hq_error *err = run->view->roots(run, &nodes);

    if (!err) {
        if (!nodes.len && run->view->none && run->query->view.of && !run->of.problem)
            run_note(run, "%s", run->view->none);
        make_roots(run, &nodes, &roots);
        settle_order(run, &roots);
        flatten(run, &roots);
        err = prepare(run, &roots, &all);
    }
    if (!err)
        err = show(run, &roots, &shown);
    if (!err) {
        coverage_compute(run, rows_filtered(run) ? shown.data : roots.data, rows_filtered(run) ? shown.len : roots.len);
        if (run->query->expect.len)
            err = expect_evaluate(run, all.data, all.len);
        if (!err && run->interrupted)
            err = interrupted();
    }
    vec_deinit(&nodes);
    vec_deinit(&roots);
    vec_deinit(&all);
    vec_deinit(&shown);
    return err;
}
