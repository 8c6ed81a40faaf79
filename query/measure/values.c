/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/measure/values.h"
#include "query/pattern/families.h"
#include "query/pattern/waits.h"
#include <math.h>

#define ROUNDING 1e-13 /* of values that were scaled */

/* The rest that a factor leaves of equal values is no difference. */
static double difference(double a, double b)
{
    return fabs(a - b) <= ROUNDING * fmax(fabs(a), fabs(b)) ? 0 : a - b;
}

static double delta(const struct run *run, const struct measure *m, const double *slots, bool x,
                    const struct ranges *ranges)
{
    const struct measure *all = run->selection.measures.data;
    size_t here = m->here_measure, old = m->old_measure;

    /* Exact where both sides count in the same unit: a database compared with itself is all zeros. */
    if (here != SIZE_MAX && old != SIZE_MAX && all[here].scale == all[old].scale && all[old].factor == 1)
        return scaled_value(sum_difference(ranges_sum(ranges, all[here].sums), ranges_sum(ranges, all[old].sums)),
                            all[here].scale);
    return difference(here == SIZE_MAX ? 0 : slots[2 * here + x], old == SIZE_MAX ? 0 : slots[2 * old + x]);
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

void values_measure(struct run *run, const struct node *n, double *slots)
{
    for (int x = 0; x < 2; x++) {
        node_ranges(run->tree, n, x, &run->ranges);
        measure_side(run, &run->ranges, x, slots);
    }
}

void values_facts(struct run *run, const struct node *n, int depth, struct facts *f)
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
    if (n->line) {
        f->file = tree_text(t, n->file);
        f->line = n->line;
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

struct tint values_tint(struct run *run, uint32_t scope)
{
    if (scope >= run->tree->scope_count)
        return (struct tint){FAMILY_PROGRAM, 0};
    if (!run->tints)
        run->tints = tints_of_scopes(run->env, run->tree);
    return run->tints[scope];
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
    run->wholes[2 * i] = run->wholes[2 * i + 1] = difference(
        m->here_measure == SIZE_MAX ? 0 : run->totals[2 * m->here_measure],
        m->old_measure == SIZE_MAX ? 0 : run->totals[2 * m->old_measure]);
    /* A change is a share of what was there before. */
    total = m->old_measure != SIZE_MAX && run->totals[2 * m->old_measure] != 0 ? run->totals[2 * m->old_measure]
            : m->here_measure != SIZE_MAX                                      ? run->totals[2 * m->here_measure]
                                                                               : NAN;
    run->totals[2 * i] = run->totals[2 * i + 1] = total;
}

/* As in the difference of two profiles of pprof. */
static bool has_negative(const struct measure *m, size_t positions)
{
    for (size_t i = 0; m->sums && !m->of_view && i < positions; i++)
        if (m->sums[i + 1] < m->sums[i])
            return true;
    return false;
}

bool values_fall(struct run *run, size_t measure)
{
    enum falls *known = &run->falls[measure];

    if (*known == FALLS_UNKNOWN)
        *known = has_negative(&run->selection.measures.data[measure], run->tree->position_count) ? FALLS : FALLS_NOT;
    return *known == FALLS;
}

struct hq_error *values_load(struct run *run)
{
    size_t n = run->selection.measures.len;

    run->totals = ARENA_ARRAY(&run->arena, 2 * n, double);
    run->wholes = ARENA_ARRAY(&run->arena, 2 * n, double);
    run->falls = ARENA_ARRAY(&run->arena, n + 1, enum falls);
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
