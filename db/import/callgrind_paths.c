/* SPDX-License-Identifier: BSD-3-Clause */
/* From callgrind's graph of calls to call paths: costs are shared out to callers (callgrind.h). */
#include "db/import/callgrind.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include <math.h>
#include <string.h>

#define SHARE_LEAST 1e-5
enum { CONTEXTS_MAX = 100000, DEPTH_MAX = 1000 };

/* A function as it was reached through one path. */
struct cg_context {
    uint32_t function, parent; /* parent: context, HQDB_NONE */
    uint32_t site;             /* frame that called it */
    uint32_t call;             /* of the graph's, HQDB_NONE */
    uint32_t depth;
    double share; /* of all that the function does */
    double alone; /* of it, what nobody called */
    bool runtime; /* nothing but the C runtime's start so far */
};

/* A call of a function that is on the path: the path ends, and what it costs is that of the context above. */
struct cg_return {
    uint32_t from, to; /* contexts */
    uint32_t call;
};

struct cg_paths {
    struct cg_graph *g;
    struct import *im;
    VEC(struct cg_context) contexts;
    VEC(struct cg_return) returns;
    struct map made;                   /* context << 32 | call: what is one of the two */
    uint32_t *first_call, *first_cost; /* [functions + 1] calls and costs are sorted by function */
    double *incoming, *inclusive;      /* [functions] cost of the calls to it; own and of the calls it makes */
    double *inner;                     /* [functions] of these, of its calls of itself */
    double *reached;                   /* [functions] shares of its contexts added up */
    double total;
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

    return c ? c : (a->costs > b->costs) - (a->costs < b->costs);
}

static int compare_costs(const void *pa, const void *pb)
{
    const struct cg_cost *a = pa, *b = pb;
    int c = (a->function > b->function) - (a->function < b->function);

    return c ? c : (a->costs > b->costs) - (a->costs < b->costs);
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
    p->inner = xcalloc(n + 1, sizeof *p->inner);
    p->reached = xcalloc(n + 1, sizeof *p->reached);
    vec_foreach(c, &g->calls) {
        p->first_call[c->caller + 1]++;
        p->inclusive[c->caller] += amount(g, c->costs);
        /* The cost of a function's calls of itself is part of the call from outside already. */
        if (c->caller != c->callee)
            p->incoming[c->callee] += amount(g, c->costs);
        else
            p->inner[c->callee] += amount(g, c->costs);
    }
    vec_foreach(c, &g->costs) {
        p->first_cost[c->function + 1]++;
        p->inclusive[c->function] += amount(g, c->costs);
        p->total += amount(g, c->costs);
    }
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

/* The context of a function on the path that ends in a context, HQDB_NONE: it is not on it. */
static uint32_t on_path(const struct cg_paths *p, uint32_t context, uint32_t function)
{
    while (context != HQDB_NONE && p->contexts.data[context].function != function)
        context = p->contexts.data[context].parent;
    return context;
}

static void add_context(struct cg_paths *p, struct cg_context c)
{
    p->reached[c.function] += c.share;
    vec_push(&p->contexts, c);
}

/* The loader, whose start has no name, and the start code of programs. */
static bool is_runtime(const struct cg_paths *p, uint32_t function)
{
    const char *object = file_basename(intern_str(&p->im->names, p->g->functions.data[function].object));

    return import_is_runtime(name_of(p, function)) || !strncmp(object, "ld-", 3);
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
        double cost = amount(p->g, call->costs), all = p->incoming[call->callee];
        double share = all > 0 ? from.share * cost / all : 0;

        uint64_t key = (uint64_t)context << 32 | i;
        if (from.share * cost < SHARE_LEAST * p->total || share <= 0 || map_find(&p->made, key))
            continue;
        uint32_t again = on_path(p, context, call->callee);
        if (again != HQDB_NONE) {
            if (call->caller != call->callee)
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
                                           .share = share,
                                           .runtime = from.runtime && is_runtime(p, call->callee)});
    }
}

static void expand_from(struct cg_paths *p, uint32_t function)
{
    size_t done = p->contexts.len;

    add_context(p, (struct cg_context){.function = function,
                                       .parent = HQDB_NONE,
                                       .site = HQDB_NONE,
                                       .call = HQDB_NONE,
                                       .share = 1,
                                       .alone = 1,
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
    double alone = p->inclusive[f] - p->inner[f];

    return alone - p->incoming[f] >= 0.5 * alone && alone >= SHARE_LEAST * p->total;
}

/*
 * First what nobody calls; then what has got no path although much is spent in it: a cycle, or what a thread was
 * started with, however little that costs. The most expensive of these comes first, because it calls the others.
 */
static void find_contexts(struct cg_paths *p)
{
    VEC(struct by_cost) rest = {0};
    uint32_t n = (uint32_t)p->g->functions.len;

    for (uint32_t f = 0; f < n; f++)
        if (p->incoming[f] <= 0)
            expand_from(p, f);
    for (uint32_t f = 0; f < n; f++)
        if (p->reached[f] <= 0 && (p->inclusive[f] >= 0.01 * p->total || begins_alone(p, f)))
            vec_push(&rest, (struct by_cost){f, p->inclusive[f]});
    vec_sort(&rest, compare_by_cost);
    vec_foreach(r, &rest)
        if (p->reached[r->function] <= 0)
            expand_from(p, r->function);
    vec_deinit(&rest);
}

/* How often shares are settled at most, and when they are; how often more is followed. */
enum { ROUNDS = 200, GROWTHS = 8 };
#define SETTLED 1e-9

static void add_up_shares(struct cg_paths *p)
{
    memset(p->reached, 0, p->g->functions.len * sizeof *p->reached);
    vec_foreach(x, &p->contexts)
        p->reached[x->function] += x->share;
}

/* A context's part of all that its function does. */
static double part_of(const struct cg_paths *p, uint32_t context)
{
    const struct cg_context *x = &p->contexts.data[context];

    return p->reached[x->function] > 0 ? x->share / p->reached[x->function] : 0;
}

/* The share of its callee that a call from a context makes, of_call: the parts of all contexts that make it. */
static double flow_of(const struct cg_paths *p, uint32_t call, uint32_t from, const double *of_call)
{
    const struct cg_call *c = &p->g->calls.data[call];

    return of_call[call] > 0 ? amount(p->g, c->costs) / p->incoming[c->callee] * part_of(p, from) / of_call[call] : 0;
}

/* One round; returns the largest change of a share. */
static double settle_once(struct cg_paths *p, double *of_call, double *share)
{
    double change = 0;

    memset(of_call, 0, p->g->calls.len * sizeof *of_call);
    vec_foreach(x, &p->contexts)
        if (x->call != HQDB_NONE)
            of_call[x->call] += part_of(p, x->parent);
    vec_foreach(r, &p->returns)
        of_call[r->call] += part_of(p, r->from);
    for (size_t i = 0; i < p->contexts.len; i++) {
        const struct cg_context *x = &p->contexts.data[i];

        share[i] = x->call == HQDB_NONE ? x->alone : flow_of(p, x->call, x->parent, of_call);
    }
    vec_foreach(r, &p->returns)
        share[r->to] += flow_of(p, r->call, r->from, of_call);
    for (size_t i = 0; i < p->contexts.len; i++) {
        change = fmax(change, fabs(share[i] - p->contexts.data[i].share));
        p->contexts.data[i].share = share[i];
    }
    add_up_shares(p);
    return change;
}

/*
 * The costs of each call in the file are shared out to the contexts that make it, in the proportion of their parts,
 * until that holds of every call. So what lies below a recursive call, where paths end, is not made up for by what
 * other callers have below them: their costs are known.
 */
static void settle(struct cg_paths *p)
{
    AUTO_FREE double *of_call = xcalloc(p->g->calls.len + 1, sizeof *of_call);
    AUTO_FREE double *share = xcalloc(p->contexts.len + 1, sizeof *share);

    add_up_shares(p);
    for (int round = 0; round < ROUNDS && settle_once(p, of_call, share) > SETTLED; round++)
        ;
}

/* Below a recursion more is followed once its share is known: before, a call there seems to be too rare. */
static void find_more(struct cg_paths *p)
{
    size_t before = 0;

    for (int round = 0; round < GROWTHS && before != p->contexts.len + p->returns.len; round++) {
        before = p->contexts.len + p->returns.len;
        settle(p);
        for (uint32_t i = 0; i < p->contexts.len; i++)
            expand(p, i);
    }
    settle(p);
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
        for (uint32_t i = p->first_cost[x->function]; i < p->first_cost[x->function + 1]; i++) {
            const struct cg_cost *c = &g->costs.data[i];
            uint32_t frame = import_frame(p->im, x->site, place_of(p, c->function, c->file, c->line));

            give_cost(p, c, &sharing[i], frame, x->share / p->reached[x->function]);
        }
    }
    for (size_t i = 0; i < g->costs.len; i++) {
        const struct cg_cost *c = &g->costs.data[i];

        if (p->reached[c->function] <= 0)
            give_cost(p, c, &sharing[i], lost_frame(p, place_of(p, c->function, c->file, c->line)), 1);
    }
}

void cg_give(struct cg_graph *g, struct import *im)
{
    struct cg_paths p = {.g = g, .im = im};

    prepare(&p);
    find_contexts(&p);
    find_more(&p);
    give_costs(&p);
    vec_deinit(&p.contexts);
    vec_deinit(&p.returns);
    map_deinit(&p.made);
    free(p.first_call);
    free(p.first_cost);
    free(p.incoming);
    free(p.inclusive);
    free(p.inner);
    free(p.reached);
}
