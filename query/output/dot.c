/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `as dot`: the rows as a call graph. Rows of the same kind, name, module and file are one node: its inclusive cost is
 * that of its outermost rows, its own cost that of all. An edge carries the inclusive cost of the rows that it stands
 * for. Edges that are part of a recursion are dashed.
 */
#include "query/output/formats.h"
#include "query/output/json.h"
#include "query/output/number.h"
#include "query/output/text.h"
#include "query/output/weights.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include <math.h>

struct node {
    const struct row *row;
    double inclusive, own;
    unsigned open;
};
struct edge {
    uint32_t from, to;
    double cost;
    bool recursive;
};

struct graph {
    const struct table *t;
    size_t column;
    double *own;       /* per row */
    uint32_t *node_of; /* per row */
    struct map node_ids, edge_ids;
    VEC(struct node) nodes;
    VEC(struct edge) edges;
};

static uint64_t hash_text(const char *s)
{
    return s ? hash_str(s) : 0;
}

static uint32_t node_of_row(struct graph *g, const struct row *r)
{
    uint64_t key = hash_combine(hash_combine(r->kind, hash_text(r->name)),
                                hash_combine(hash_text(r->module), hash_text(r->file)));
    bool is_new;

    if (r->kind == SCOPE_LOOP || r->kind == SCOPE_LINE)
        key = hash_combine(key, r->line);
    uint64_t *id = map_insert(&g->node_ids, key, g->nodes.len, &is_new);
    if (is_new)
        vec_push(&g->nodes, (struct node){.row = r});
    return (uint32_t)*id;
}

static void add_edge(struct graph *g, uint32_t from, uint32_t to, double cost, bool recursive)
{
    bool is_new;
    uint64_t *id = map_insert(&g->edge_ids, (uint64_t)from << 32 | to, g->edges.len, &is_new);

    if (is_new)
        vec_push(&g->edges, (struct edge){.from = from, .to = to});
    struct edge *e = &g->edges.data[*id];
    e->cost += cost;
    e->recursive = e->recursive || recursive;
}

static double cost_of(const struct graph *g, size_t row)
{
    double v = g->t->rows.data[row].cells[g->column].number;
    return isfinite(v) ? v : 0;
}

static void add_rows(struct graph *g)
{
    VEC(size_t) path = {0};

    for (size_t i = 0; i < g->t->rows.len; i++) {
        const struct row *r = &g->t->rows.data[i];
        if (r->flags & ROW_FOLDED)
            continue;
        while (path.len && g->t->rows.data[vec_last(&path)].depth >= r->depth)
            g->nodes.data[g->node_of[vec_pop(&path)]].open--;
        uint32_t id = node_of_row(g, r);
        struct node *n = &g->nodes.data[id];
        bool recursive = n->open > 0;
        g->node_of[i] = id;
        n->own += g->own[i];
        if (!recursive)
            n->inclusive += cost_of(g, i);
        if (path.len)
            add_edge(g, g->node_of[vec_last(&path)], id, cost_of(g, i), recursive);
        n->open++;
        vec_push(&path, i);
    }
    vec_deinit(&path);
}

/* White for nothing to red for everything. */
static void put_colour(double share, FILE *out)
{
    int fade = 255 - (int)(200 * sqrt(share < 0 ? 0 : share > 1 ? 1 : share));
    fprintf(out, "\"#ff%02x%02x\"", fade, fade);
}

static void put_cost(const char *what, const struct number_style *style, double value, double total, FILE *out)
{
    char number[NUMBER_MAX], percent[NUMBER_MAX];

    const char *unit = number_text(number, style, value);
    if (!number[0])
        return;
    percent_text(percent, value, total, false);
    fprintf(out, "\\n%s%s%s%s%s%s%s", what, number, unit[0] ? " " : "", unit, percent[0] ? " (" : "", percent,
            percent[0] ? ")" : "");
}

/* In a quoted string of the DOT language only the quote and the backslash are special. */
static text_instead dot_instead = {[1 ... 0x1f] = " ", ['"'] = "\\\"", ['\\'] = "\\\\"};

static void put_node(const struct graph *g, size_t i, const struct number_style *style, double total, FILE *out)
{
    const struct node *n = &g->nodes.data[i];
    struct row plain = *n->row;
    struct label l;

    plain.flags = 0;
    plain.call_file = NULL;
    label_of(g->t, &plain, NULL, &l);
    fprintf(out, "  n%zu [label=\"", i);
    text_put_with(l.prefix, dot_instead, out);
    text_put_with(l.name, dot_instead, out);
    put_cost("", style, n->inclusive, total, out);
    put_cost("own ", style, n->own, total, out);
    fputs("\", fillcolor=", out);
    put_colour(total > 0 ? n->own / total : 0, out);
    fprintf(out, ", fontsize=%.0f];\n", 10 + 14 * sqrt(total > 0 && n->own > 0 ? fmin(1, n->own / total) : 0));
}

static void put_edge(const struct edge *e, const struct number_style *style, double total, FILE *out)
{
    char text[NUMBER_MAX];

    const char *unit = number_text(text, style, e->cost);
    fprintf(out, "  n%u -> n%u [label=\"%s%s%s\", penwidth=%.1f%s];\n", e->from, e->to, text, unit[0] ? " " : "", unit,
            1 + 4 * (total > 0 && e->cost > 0 ? fmin(1, e->cost / total) : 0), e->recursive ? ", style=dashed" : "");
}

static double total_of(const struct graph *g)
{
    double total = g->t->columns.data[g->column].total, sum = 0;

    for (size_t i = 0; i < g->t->rows.len; i++)
        if (g->t->rows.data[i].depth == 0)
            sum += cost_of(g, i);
    return isfinite(total) && total > 0 ? total : sum;
}

struct hq_error *dot_write(const struct table *t, const struct output_options *o, FILE *out)
{
    struct graph g = {.t = t};

    (void)o;
    HQ_TRY(weights_of(t, "dot", &g.own, &g.column));
    g.node_of = xcalloc(t->rows.len + 1, sizeof *g.node_of);
    add_rows(&g);
    struct number_style style = number_style_of(t, g.column);
    double total = total_of(&g);
    fputs("digraph hq {\n  label=", out);
    json_text(t->query ? t->query : "", out);
    fputs(";\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", "
          "fontsize=10];\n",
          out);
    for (size_t i = 0; i < g.nodes.len; i++)
        put_node(&g, i, &style, total, out);
    for (size_t i = 0; i < g.edges.len; i++)
        put_edge(&g.edges.data[i], &style, total, out);
    fputs("}\n", out);
    map_deinit(&g.node_ids);
    map_deinit(&g.edge_ids);
    vec_deinit(&g.nodes);
    vec_deinit(&g.edges);
    free(g.node_of);
    free(g.own);
    return NULL;
}
