/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `explain P% of EXPR`: the smallest set of contexts whose own costs cover the share. Own costs (exclusive values of
 * the frames of call paths) are disjoint, so the smallest set is the largest ones, in order. Of a change, those that go
 * the way the whole goes.
 */
#include "common/str.h"
#include "query/measure/values.h"
#include "query/shape/rows.h"
#include "query/tree/recursion.h"
#include "query/views/views.h"
#include <math.h>

struct part {
    uint32_t context;
    double value;
};

static bool is_frame(enum scope_kind kind)
{
    return scope_is_called(kind) || kind == SCOPE_INLINE || kind == SCOPE_THREAD || kind == SCOPE_PARTIAL;
}

static int by_value(const void *x, const void *y)
{
    const struct part *a = x, *b = y;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

static struct node node_at(const struct tree *t, uint32_t *self)
{
    struct node n = node_of_context(t, *self);

    n.inc = n.exc = (struct set){self, 1};
    n.leaf = true;
    return n;
}

static double value_at(struct run *run, uint32_t context, const struct program *p, double *slots)
{
    struct node n = node_at(run->tree, &context);

    values_measure(run, &n, slots);
    return program_number(p, &(struct point){.number = point_number(), .slots = slots, .totals = run->totals});
}

struct piece {
    size_t at, period, times;
}; /* of a path: steps that may repeat */

static void add_piece(struct run *run, const uint32_t *path, struct piece p, struct str *text)
{
    str_add(text, text->len ? " > " : "");
    str_add(text, p.times > 1 && p.period > 1 ? "(" : "");
    for (size_t i = 0; i < p.period; i++)
        str_addf(text, "%s%s", i ? " > " : "", tree_scope_name(run->tree, path[p.at + i], &run->arena));
    str_add(text, p.times > 1 && p.period > 1 ? ")" : "");
    if (p.times > 1)
        str_addf(text, " (x %zu)", p.times);
}

enum { PIECES_SHOWN = 40 };

/* main > solve > exchange. People see recursion as `fib (x 38)`, and not the outermost steps of a very long path. */
static const char *path_text(struct run *run, uint32_t context)
{
    VEC(uint32_t) path = {0};
    VEC(struct piece) pieces = {0};
    AUTO_STR struct str text = {0};

    for (uint32_t c = context; c != HQDB_NONE; c = tree_caller(run->tree, c))
        vec_push(&path, tree_scope_of(run->tree, c));
    for (size_t i = 0; i < path.len / 2; i++) {
        uint32_t scope = path.data[i];

        path.data[i] = path.data[path.len - 1 - i];
        path.data[path.len - 1 - i] = scope;
    }
    for (size_t i = 0; i < path.len;) {
        struct piece p = {i, 1, 1};

        if (!run->complete)
            p.times = recursion_times(path.data, path.len, i, &p.period);
        vec_push(&pieces, p);
        i += p.period * p.times;
    }
    size_t from = !run->complete && pieces.len > PIECES_SHOWN ? pieces.len - PIECES_SHOWN : 0;

    str_add(&text, from ? "..." : "");
    for (size_t i = from; i < pieces.len; i++)
        add_piece(run, path.data, pieces.data[i], &text);
    vec_deinit(&path);
    vec_deinit(&pieces);
    return arena_strdup(&run->arena, str_cstr(&text));
}

static void add_part(struct run *run, uint32_t context, struct nodes *out)
{
    uint32_t *self = ARENA_NEW(&run->arena, uint32_t);
    struct node n;

    *self = context;
    n = node_at(run->tree, self);
    n.text = path_text(run, context);
    vec_push(out, n);
}

/* Returns the value of the whole. It is to be explained for exclusive values too, since all of it is some scope's
 * own. */
static double whole_value(struct run *run, double *slots)
{
    uint32_t root = 0;
    struct node n = node_at(run->tree, &root);

    values_measure(run, &n, slots);
    for (size_t s = 1; s < 2 * run->selection.measures.len; s += 2)
        slots[s] = slots[s - 1];
    return program_number(run->by, &(struct point){.number = point_number(), .slots = slots, .totals = run->totals});
}

static struct hq_error *explain_roots(struct run *run, struct nodes *out)
{
    double *slots = ARENA_ARRAY(&run->arena, 2 * run->selection.measures.len, double);
    double whole = whole_value(run, slots), sign = whole < 0 ? -1 : 1,
           want = fabs(whole) * run->query->view.share / 100, sum = 0;
    VEC(struct part) parts = {0};

    for (uint32_t c = 1; c < run->tree->context_count && !run_interrupted(run); c++) {
        double x = is_frame(tree_kind(run->tree, c)) ? sign * value_at(run, c, run->columns.data[0], slots) : NAN;

        if (x > 0)
            vec_push(&parts, (struct part){c, x});
    }
    vec_sort(&parts, by_value);
    for (size_t i = 0; i < parts.len && sum < want * (1 - 1e-12); i++) {
        add_part(run, parts.data[i].context, out);
        sum += parts.data[i].value;
    }
    if (isnan(whole) || whole == 0)
        run_note(run, "there is nothing to explain: the whole is %s", isnan(whole) ? "blank" : "0");
    else
        run_note(run, "%zu context%s cover%s %.1f %%", out->len, out->len == 1 ? "" : "s", out->len == 1 ? "s" : "",
                 100 * sum / fabs(whole));
    vec_deinit(&parts);
    return NULL;
}

const struct view_row view_explain = {.shape = SHAPE_LIST,
                                      .row_kinds = KINDS_TREE,
                                      .in_order = true,
                                      .covers = true,
                                      .beside = "path",
                                      .roots = explain_roots};
