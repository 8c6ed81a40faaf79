/* SPDX-License-Identifier: BSD-3-Clause */
/* From callgrind's graph of calls to call paths: costs are shared out to callers (callgrind.h). */
#include "db/import/callgrind.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/str.h"
#include <math.h>
#include <string.h>

/* Calls that cost less of the whole are not followed; those that are followed first. */
#define COST_LEAST  1e-5
#define COST_FIRST  1e-2
#define COST_JOINED 1e-3
enum { CONTEXTS_MAX = 100000, DEPTH_MAX = 1000 };

/* A function as it was reached through one path. */
struct cg_context {
    uint32_t function, parent; /* parent: context, HQDB_NONE */
    uint32_t site;             /* frame that called it */
    uint32_t call;             /* of the graph's, HQDB_NONE */
    uint32_t depth;
    double cost;   /* inclusive */
    double alone;  /* of it, what nobody called */
    double weight; /* what it has more of the function's own cost and of its calls than by its cost: see fit */
    bool runtime;  /* nothing but the C runtime's start so far */
};

/* A call of a function that is on the path: the path ends, and what it costs is that of the context above. */
struct cg_return {
    uint32_t from, to; /* contexts */
    uint32_t call;
};

/* A call, or what a function costs by itself, and its factor. */
struct cg_column {
    double cost, parts, factor;
};

struct cg_paths {
    struct cg_graph *g;
    struct import *im;
    VEC(struct cg_context) contexts;
    VEC(struct cg_return) returns;
    struct map made;                   /* context << 32 | call: what is one of the two */
    uint32_t *first_call, *first_cost; /* [functions + 1] calls and costs are sorted by function */
    double *incoming, *inclusive;  /* [functions] cost of the calls to it; own and of the calls it makes, but itself */
    double *reached;               /* [functions] costs of its contexts added up */
    struct cg_column *own, *calls; /* [functions], [calls] */
    double total, least;           /* least: calls that cost less are not followed */
};

static double amount(const struct cg_graph *g, uint32_t costs)
{
    double x = (double)g->numbers.data[costs];

    return x > 0 ? x : 0;
}

static int compare_calls(const void *pa, const void *pb)
{
    const struct cg_call *a = pa, *b = pb;
    int c = (a->caller > b->caller) - (a->caller < b->caller);

    c = c ? c : (a->callee > b->callee) - (a->callee < b->callee);
    return c ? c : (a->costs > b->costs) - (a->costs < b->costs);
}

static int compare_costs(const void *pa, const void *pb)
{
    const struct cg_cost *a = pa, *b = pb;
    int c = (a->function > b->function) - (a->function < b->function);

    return c ? c : (a->costs > b->costs) - (a->costs < b->costs);
}

/*
 * Of thousands of calls of one function by another, a table of names entered one by one, each is too rare to follow,
 * and together they are a tenth of the whole: they are one call, of no line.
 */
static void join_rare_calls(struct cg_paths *p)
{
    struct cg_call *first = NULL;

    vec_foreach(c, &p->g->calls) {
        double *cost = &p->calls[c - p->g->calls.data].cost;

        if (*cost <= 0 || *cost >= COST_JOINED * p->total)
            continue;
        if (!first || first->caller != c->caller || first->callee != c->callee) {
            first = c;
            continue;
        }
        first->line = 0;
        p->calls[first - p->g->calls.data].cost += *cost;
        *cost = 0;
    }
}

static void prepare(struct cg_paths *p)
{
    struct cg_graph *g = p->g;
    size_t n = g->functions.len;

    vec_sort(&g->calls, compare_calls);
    vec_sort(&g->costs, compare_costs);
    p->first_call = xcalloc(n + 1, sizeof *p->first_call);
    p->first_cost = xcalloc(n + 1, sizeof *p->first_cost);
    p->incoming = xcalloc(n + 1, sizeof *p->incoming);
    p->inclusive = xcalloc(n + 1, sizeof *p->inclusive);
    p->reached = xcalloc(n + 1, sizeof *p->reached);
    p->own = xcalloc(n + 1, sizeof *p->own);
    p->calls = xcalloc(g->calls.len + 1, sizeof *p->calls);
    vec_foreach(c, &g->calls) {
        p->first_call[c->caller + 1]++;
        /* The cost of a function's calls of itself is part of the call from outside already. */
        if (c->caller == c->callee)
            continue;
        p->calls[c - g->calls.data].cost = amount(g, c->costs);
        p->inclusive[c->caller] += amount(g, c->costs);
        p->incoming[c->callee] += amount(g, c->costs);
    }
    vec_foreach(c, &g->costs) {
        p->first_cost[c->function + 1]++;
        p->own[c->function].cost += amount(g, c->costs);
        p->inclusive[c->function] += amount(g, c->costs);
        p->total += amount(g, c->costs);
    }
    join_rare_calls(p);
    for (size_t i = 0; i < n; i++) {
        p->first_call[i + 1] += p->first_call[i];
        p->first_cost[i + 1] += p->first_cost[i];
    }
}

static const char *name_of(const struct cg_paths *p, uint32_t function)
{
    return intern_str(&p->im->names, p->g->functions.data[function].name);
}

static uint32_t place_of(const struct cg_paths *p, uint32_t function, uint32_t file, uint32_t line)
{
    const struct intern *names = &p->im->names;
    const struct cg_function *f = &p->g->functions.data[function];
    struct import_step step = {
        .kind = SCOPE_PROCEDURE, .name = intern_str(names, f->name), .file = intern_str(names, f->file)};

    return import_place(p->im, &(struct import_place){.module = intern_str(names, f->object),
                                                      .steps = &step,
                                                      .count = 1,
                                                      .file = line ? intern_str(names, file) : NULL,
                                                      .line = line});
}

/*
 * Where a call leads: of a function that is on the path already, to this context of it, above. *possible: false where
 * the level of the callee's recursion says that the call is made on other paths.
 */
static uint32_t on_path(const struct cg_paths *p, uint32_t context, uint32_t callee, bool *possible)
{
    const struct cg_function *functions = p->g->functions.data, *f = &functions[callee];
    uint32_t levels = p->g->levels, highest = 0, again = HQDB_NONE;
    bool once = false;

    for (; context != HQDB_NONE; context = p->contexts.data[context].parent) {
        const struct cg_function *x = &functions[p->contexts.data[context].function];

        if (x->plain == f->plain && x->level > highest)
            highest = x->level;
        if (x == f && again == HQDB_NONE && !once)
            again = context;
        once |= x->level < levels;
    }
    *possible = levels < 2 || highest + 1 == f->level || (highest == levels && f->level == levels);
    return again;
}

static void add_context(struct cg_paths *p, struct cg_context c)
{
    c.weight = 1;
    p->reached[c.function] += c.cost;
    vec_push(&p->contexts, c);
}

/* The loader, whose start has no name, and the start code of programs. */
static bool is_runtime(const struct cg_paths *p, uint32_t function)
{
    const char *object = file_basename(intern_str(&p->im->names, p->g->functions.data[function].object));

    return import_is_runtime(name_of(p, function)) || str_begins(object, "ld-");
}

/* The frame below which a callee hangs: none for main below the C runtime, a THREAD for what a thread was started with.
 */
static uint32_t site_of(const struct cg_paths *p, const struct cg_context *from, const struct cg_call *call)
{
    if (from->runtime && import_is_main(name_of(p, call->callee)))
        return HQDB_NONE;
    if (import_starts_thread(name_of(p, from->function))) {
        uint32_t thread = model_root_frame(p->im->model, SCOPE_THREAD, "thread");

        if (from->site == HQDB_NONE || from->site == thread)
            return thread;
    }
    return import_frame(p->im, from->site, place_of(p, from->function, call->file, call->line));
}

static void expand(struct cg_paths *p, uint32_t context)
{
    struct cg_context from = p->contexts.data[context];

    for (uint32_t i = p->first_call[from.function]; i < p->first_call[from.function + 1]; i++) {
        const struct cg_call *call = &p->g->calls.data[i];
        double cost = from.cost * p->calls[i].cost / p->inclusive[from.function];
        uint64_t key = (uint64_t)context << 32 | i;
        bool possible;

        if (!(cost >= p->least) || cost <= 0 || map_find(&p->made, key))
            continue;
        uint32_t again = on_path(p, context, call->callee, &possible);
        if (!possible)
            continue;
        if (again != HQDB_NONE) {
            vec_push(&p->returns, (struct cg_return){context, again, i});
            map_put(&p->made, key, 1);
            continue;
        }
        if (p->contexts.len >= CONTEXTS_MAX || from.depth >= DEPTH_MAX)
            continue;
        map_put(&p->made, key, 1);
        uint32_t site = site_of(p, &from, call);

        add_context(p, (struct cg_context){.function = call->callee,
                                           .parent = context,
                                           .site = site,
                                           .call = i,
                                           .depth = from.depth + 1,
                                           .cost = cost,
                                           .runtime = from.runtime && is_runtime(p, call->callee)});
    }
}

/* The cost of a function that nobody called. */
static double alone_of(const struct cg_paths *p, uint32_t f)
{
    return fmax(p->inclusive[f] - p->incoming[f], 0);
}

static void expand_from(struct cg_paths *p, uint32_t function)
{
    size_t done = p->contexts.len;
    double alone = alone_of(p, function);

    if (alone <= 0)
        alone = p->inclusive[function] > 0 ? p->inclusive[function] : 1; /* it may have costs of other events */
    add_context(p, (struct cg_context){.function = function,
                                       .parent = HQDB_NONE,
                                       .site = HQDB_NONE,
                                       .call = HQDB_NONE,
                                       .cost = alone,
                                       .alone = alone,
                                       .runtime = is_runtime(p, function)});
    for (; done < p->contexts.len; done++)
        expand(p, (uint32_t)done);
}

struct by_cost {
    uint32_t function;
    double cost;
};

static int compare_by_cost(const void *pa, const void *pb)
{
    const struct by_cost *a = pa, *b = pb;
    int c = (a->cost < b->cost) - (a->cost > b->cost);

    return c ? c : (a->function > b->function) - (a->function < b->function);
}

/* A thread began in it: its callers know little of what it costs. */
static bool begins_alone(const struct cg_paths *p, uint32_t f)
{
    double alone = alone_of(p, f);

    return alone >= 0.5 * p->inclusive[f] && alone >= COST_LEAST * p->total;
}

/* How often costs are fitted at most, and when they are. */
enum { ROUNDS = 400 };
#define FITTED      1e-7
#define WEIGHT_MOST 1e6

static double part_of(const struct cg_paths *p, uint32_t context)
{
    return p->contexts.data[context].cost * p->contexts.data[context].weight;
}

static void add_up_parts(struct cg_paths *p)
{
    for (size_t i = 0; i < p->g->functions.len; i++)
        p->own[i].parts = 0;
    for (size_t i = 0; i < p->g->calls.len; i++)
        p->calls[i].parts = 0;
    for (uint32_t i = 0; i < p->contexts.len; i++) {
        const struct cg_context *x = &p->contexts.data[i];

        p->own[x->function].parts += part_of(p, i);
        if (x->call != HQDB_NONE)
            p->calls[x->call].parts += part_of(p, x->parent);
    }
    vec_foreach(r, &p->returns)
        p->calls[r->call].parts += part_of(p, r->from);
}

static void find_factors(struct cg_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        columns[i].factor = columns[i].parts > 0 ? columns[i].cost / columns[i].parts : 0;
}

/* The cost of each context is that of its call, by the factors; returns the largest change. */
static double find_costs(struct cg_paths *p, double *sum)
{
    double change = 0;

    for (size_t i = 0; i < p->contexts.len; i++) {
        const struct cg_context *x = &p->contexts.data[i];

        sum[i] = x->call == HQDB_NONE ? x->alone : part_of(p, x->parent) * p->calls[x->call].factor;
    }
    vec_foreach(r, &p->returns)
        sum[r->to] += part_of(p, r->from) * p->calls[r->call].factor;
    memset(p->reached, 0, p->g->functions.len * sizeof *p->reached);
    for (size_t i = 0; i < p->contexts.len; i++) {
        struct cg_context *x = &p->contexts.data[i];

        change = fmax(change, fabs(sum[i] - x->cost));
        x->cost = sum[i];
        p->reached[x->function] += x->cost;
    }
    return change;
}

/* Calls that only some contexts make, or that are not followed, leave these more or less for the rest. */
static void find_weights(struct cg_paths *p, double *sum)
{
    for (size_t i = 0; i < p->contexts.len; i++)
        sum[i] = p->own[p->contexts.data[i].function].factor;
    vec_foreach(x, &p->contexts)
        if (x->call != HQDB_NONE)
            sum[x->parent] += p->calls[x->call].factor;
    vec_foreach(r, &p->returns)
        sum[r->from] += p->calls[r->call].factor;
    for (size_t i = 0; i < p->contexts.len; i++)
        p->contexts.data[i].weight = sum[i] > 1 / WEIGHT_MOST ? fmax(1 / sum[i], 1 / WEIGHT_MOST) : WEIGHT_MOST;
}

/*
 * Divides the costs of functions and calls among contexts: each is a column, its cost times a context's part times a
 * factor is what the context has of it. In turns factors are chosen so that the columns have their costs, and parts so
 * that what a context has is what its own call costs, until both hold.
 */
static void fit(struct cg_paths *p)
{
    AUTO_FREE double *sum = xcalloc(p->contexts.len + 1, sizeof *sum);

    double change = HUGE_VAL;

    for (int round = 0; round < ROUNDS && change > FITTED * p->total; round++) {
        add_up_parts(p);
        find_factors(p->own, p->g->functions.len);
        find_factors(p->calls, p->g->calls.len);
        change = find_costs(p, sum);
        find_weights(p, sum);
    }
    add_up_parts(p);
}

/*
 * The rarer calls are followed once the costs of the others are known: what is recursive costs more than it seems at
 * first, and if there are too many paths these are the ones that are left out.
 */
static void find_more(struct cg_paths *p)
{
    for (bool last = false; !last;) {
        fit(p);
        last = p->least <= COST_LEAST * p->total;
        p->least = fmax(p->least / 4, COST_LEAST * p->total);
        for (uint32_t i = 0; i < p->contexts.len; i++)
            expand(p, i);
    }
    fit(p);
}

/*
 * First what nobody calls, and what threads were started with, however little that costs; then what has got no path
 * although much is spent in it, as a cycle. The most expensive of these comes first, because it calls the others.
 */
static void find_contexts(struct cg_paths *p)
{
    VEC(struct by_cost) rest = {0};
    uint32_t n = (uint32_t)p->g->functions.len;

    p->least = COST_FIRST * p->total;
    for (uint32_t f = 0; f < n; f++)
        if (p->incoming[f] <= 0 || begins_alone(p, f))
            expand_from(p, f);
    find_more(p);
    for (uint32_t f = 0; f < n; f++)
        if (p->reached[f] <= 0 && p->inclusive[f] >= 0.01 * p->total)
            vec_push(&rest, (struct by_cost){f, p->inclusive[f]});
    vec_sort(&rest, compare_by_cost);
    vec_foreach(r, &rest)
        if (p->reached[r->function] <= 0)
            expand_from(p, r->function);
    if (rest.len)
        find_more(p);
    vec_deinit(&rest);
}

/* The frame of a cost whose function has no path. */
static uint32_t lost_frame(const struct cg_paths *p, uint32_t place)
{
    uint32_t root = model_root_frame(p->im->model, SCOPE_PARTIAL, "partial: calls too rare to follow");

    return import_frame(p->im, root, place);
}

/* Shares out whole numbers so that they add up: the k-th gets what the sum of the first k is more than before. */
struct sharing {
    double so_far;
    int64_t given[CG_EVENTS_MAX];
};

static void give_cost(struct cg_paths *p, const struct cg_cost *c, struct sharing *s, uint32_t frame, double share)
{
    s->so_far += share;
    double part = s->so_far > 1 - 1e-9 ? 1 : s->so_far;

    for (size_t e = 0; e < p->g->event_count; e++) {
        int64_t all = p->g->numbers.data[c->costs + e];
        int64_t until = part >= 1 ? all : llround((double)all * part);

        if (until != s->given[e])
            import_value(p->im, p->g->profile, p->g->metrics[e], frame, until - s->given[e], 0);
        s->given[e] = until;
    }
}

static void give_costs(struct cg_paths *p)
{
    struct cg_graph *g = p->g;
    AUTO_FREE struct sharing *sharing = xcalloc(g->costs.len + 1, sizeof *sharing);

    vec_foreach(x, &p->contexts) {
        double part = part_of(p, (uint32_t)(x - p->contexts.data)) / p->own[x->function].parts;

        if (!(part > 0))
            continue;
        for (uint32_t i = p->first_cost[x->function]; i < p->first_cost[x->function + 1]; i++) {
            const struct cg_cost *c = &g->costs.data[i];
            uint32_t frame = import_frame(p->im, x->site, place_of(p, c->function, c->file, c->line));

            give_cost(p, c, &sharing[i], frame, part);
        }
    }
    for (size_t i = 0; i < g->costs.len; i++) {
        const struct cg_cost *c = &g->costs.data[i];

        if (sharing[i].so_far <= 0)
            give_cost(p, c, &sharing[i], lost_frame(p, place_of(p, c->function, c->file, c->line)), 1);
    }
}

bool cg_give(struct cg_graph *g, struct import *im)
{
    struct cg_paths p = {.g = g, .im = im};

    prepare(&p);
    find_contexts(&p);
    give_costs(&p);
    bool as_filed = g->levels > 1 || !p.returns.len;

    vec_deinit(&p.contexts);
    vec_deinit(&p.returns);
    map_deinit(&p.made);
    free(p.first_call);
    free(p.first_cost);
    free(p.incoming);
    free(p.inclusive);
    free(p.reached);
    free(p.own);
    free(p.calls);
    return as_filed;
}
