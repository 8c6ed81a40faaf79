/* SPDX-License-Identifier: BSD-3-Clause */
/* `groups`: the groups that are defined, or a ready-made set of them, with how far they overlap and what is in none. */
#include "common/hash.h"
#include "query/measure/grouping.h"
#include "query/views/views.h"

struct node node_of_group(struct run *run, const struct grouping_row *row)
{
    (void)run;
    return (struct node){
        .kind = SCOPE_GROUP,
        .scope = HQDB_NONE,
        .name = row->name,
        .context = HQDB_NONE,
        .profile = HQDB_NONE,
        .inc = row->inc,
        .exc = row->exc,
        .rule = EXCLUSIVE_DIRECT,
        .text = row->origin,
        .id = hash_combine(SCOPE_GROUP, hash_str(row->name)),
    };
}

/* ---- how they overlap ---- */

enum { PAIRS_TOLD = 3, PAIRED_MOST = 100 };

/* The exclusive value of the first metric in contexts, in base units. */
static int64_t own_value(struct run *run, struct set contexts)
{
    struct node n = {.exc = contexts, .rule = EXCLUSIVE_DIRECT};

    node_ranges(run->tree, &n, true, &run->ranges);
    return ranges_sum(&run->ranges, run->selection.measures.data[0].sums);
}

static const char *amount(struct run *run, int64_t value)
{
    const struct measure *m = &run->selection.measures.data[0];
    char text[UNITS_TEXT];

    return arena_printf(&run->arena, "%s of %s", units_format(text, scaled_value(value, m->scale), m->dim), m->name);
}

static struct set in_both(struct run *run, struct set a, struct set b)
{
    uint32_t *out = ARENA_ARRAY(&run->arena, a.len < b.len ? a.len : b.len, uint32_t);
    size_t n = 0;

    for (size_t i = 0, k = 0; i < a.len && k < b.len;) {
        uint32_t x = a.data[i], y = b.data[k];

        if (x == y)
            out[n++] = x;
        i += x <= y;
        k += y <= x;
    }
    return (struct set){out, n};
}

struct pair {
    const char *a, *b;
    int64_t value;
};

static int by_value(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;

    return a->value < b->value   ? 1
           : a->value > b->value ? -1
           : strcmp(a->a, b->a)  ? strcmp(a->a, b->a)
                                 : strcmp(a->b, b->b);
}

static void note_pairs(struct run *run, const struct grouping *g)
{
    VEC(struct pair) pairs = {0};

    for (size_t i = 0; i < g->count && g->count <= PAIRED_MOST; i++)
        for (size_t k = i + 1; k < g->count && !run_interrupted(run); k++) {
            int64_t value = own_value(run, in_both(run, g->rows[i].exc, g->rows[k].exc));

            if (value)
                vec_push(&pairs, (struct pair){g->rows[i].name, g->rows[k].name, value});
        }
    if (pairs.len)
        qsort(pairs.data, pairs.len, sizeof *pairs.data, by_value);
    for (size_t i = 0; i < pairs.len && i < PAIRS_TOLD; i++)
        run_note(run, "%s and %s overlap: %s is exclusive to both", pairs.data[i].a, pairs.data[i].b,
                 amount(run, pairs.data[i].value));
    if (pairs.len > PAIRS_TOLD)
        run_note(run, "%zu more pairs of groups overlap", pairs.len - PAIRS_TOLD);
    vec_deinit(&pairs);
}

/* Sums of exclusive values are more than the total by what overlaps, and less by what is in no group. */
static struct hq_error *note_overlaps(struct run *run, const struct grouping *g)
{
    int64_t rest;

    if (!run->selection.here_count)
        return NULL;
    HQ_TRY(selection_load(&run->selection, 0));
    note_pairs(run, g);
    rest = own_value(run, g->rest);
    if (rest)
        run_note(run, "exclusive to no group: %s", amount(run, rest));
    return NULL;
}

static struct hq_error *groups_roots(struct run *run, struct nodes *out)
{
    const struct grouping *g;

    /* Those that are defined somebody wants to see. */
    run->complete |= run->query->view.grouped == GROUPED_DEFINED;
    HQ_TRY(grouping_make_shown(run, &g));
    for (size_t i = 0; i < g->count; i++) {
        vec_push(out, node_of_group(run, &g->rows[i]));
        if (!g->rows[i].inc.len)
            run_note(run, "no call path passes through group %s", g->rows[i].name);
    }
    return g->count ? note_overlaps(run, g) : NULL;
}

const struct view_row view_groups = {
    .shape = SHAPE_LIST,
    .row_kinds = KIND_BIT(SCOPE_GROUP),
    .beside = "defined",
    .roots = groups_roots,
};
