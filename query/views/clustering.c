/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/views/clustering.h"
#include "common/mem.h"
#include "common/shorten.h"
#include "query/grammar/parse.h"
#include "query/views/views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOOKED_AT = 200, AMONG = 20000, NAME_ROOM = 32 };
#define EPS_COUNTED 0.01 /* the reference's */
#define EPS_SAMPLED 0.05 /* shares of few samples spread further */
#define LEAST       10u

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* ---- dimensions ---- */

static double log_of(double x)
{
    return x > 0 ? log(x) : NAN;
}

/* By kind or, of PAPI, by name; SIZE_MAX none. */
static size_t counter(const struct db *db, const uint32_t *metrics, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(db_string(db, db->metrics[metrics[i]].name), name))
            return i;
    return SIZE_MAX;
}

static void by_counters(struct clustering *c, const double *values, size_t count, size_t instructions, size_t cycles)
{
    c->dimensions = 2;
    c->names[0] = "log(instructions)";
    c->names[1] = "ipc";
    for (size_t i = 0; i < c->bursts.len; i++) {
        const double *v = values + i * count;

        c->values[2 * i] = log_of(v[instructions]);
        c->values[2 * i + 1] = v[cycles] > 0 ? v[instructions] / v[cycles] : NAN;
    }
}

static uint32_t procedure_at(const struct tree *t, const struct entities *e, uint32_t context)
{
    for (; context != HQDB_NONE; context = tree_parent(t, context))
        if (e->of[tree_scope_of(t, context)] != HQDB_NONE)
            return e->of[tree_scope_of(t, context)];
    return HQDB_NONE;
}

/* Adds each burst's samples of time to all[burst], those in `wanted` also to own[burst]; HQDB_NONE: counts them by
 * procedure in sums. */
static struct hq_error *count_samples(struct clustering *c, uint32_t wanted, double *own, double *all, double *sums)
{
    const struct tree *t = c->run->tree;
    const struct entities *e = run_entities(c->run);
    uint32_t metric = timeline_metric(t->db);
    struct db_trace_record r;

    for (size_t i = 0, end; i < c->bursts.len; i = end) {
        uint32_t profile = c->bursts.data[i].profile;
        int64_t offset = timeline_offset(&c->trace.time, profile);
        struct db_trace_reader *reader;

        for (end = i; end < c->bursts.len && c->bursts.data[end].profile == profile;)
            end++;
        HQ_TRY(db_trace_open(t->db, profile, &reader));
        for (size_t at = i; at < end && db_trace_next(reader, &r);) {
            uint64_t us = timeline_shift(offset, r.time_us);

            while (at < end && c->bursts.data[at].to_us <= us)
                at++;
            if (at == end || r.metric != metric || c->bursts.data[at].from_us > us)
                continue;
            uint32_t procedure = procedure_at(t, e, selection_context(&c->run->selection, r.frame));

            if (sums && procedure != HQDB_NONE)
                sums[procedure] += r.weight;
            if (all)
                all[at] += r.weight;
            if (own && procedure == wanted)
                own[at] += r.weight;
        }
        db_trace_close(reader);
    }
    return NULL;
}

static struct hq_error *by_samples(struct clustering *c)
{
    const struct entities *e = run_entities(c->run);
    AUTO_FREE double *sums = xcalloc((size_t)e->count + 1, sizeof *sums);
    AUTO_FREE double *own = xcalloc(c->bursts.len + 1, sizeof *own), *all = xcalloc(c->bursts.len + 1, sizeof *all);
    uint32_t largest = 0;

    HQ_TRY(count_samples(c, HQDB_NONE, NULL, NULL, sums));
    for (uint32_t i = 1; i < e->count; i++)
        largest = sums[i] > sums[largest] ? i : largest;
    HQ_TRY(count_samples(c, largest, own, all, NULL));
    c->dimensions = 2;
    c->names[0] = "log(length)";
    c->names[1] = "share";
    if (e->count) {
        AUTO_STR struct str name = {0};

        name_shorten(&name, tree_scope_name(c->run->tree, e->scope[largest], &c->run->arena), NAME_ROOM, "...");
        c->names[1] = arena_printf(&c->run->arena, "share of %s", str_cstr(&name));
    }
    for (size_t i = 0; i < c->bursts.len; i++) {
        c->values[2 * i] = log_of((double)c->bursts.data[i].length_us / 1e6);
        c->values[2 * i + 1] = all[i] > 0 ? own[i] / all[i] : NAN;
    }
    return NULL;
}

static struct hq_error *by_expressions(struct clustering *c, const uint32_t *metrics, size_t count,
                                       const double *values)
{
    const struct view *view = &c->run->query->view;
    struct binding binding;
    struct program *program[DBSCAN_DIMENSIONS];
    struct hq_error *err = NULL;
    struct facts facts = {.rank = -1, .thread = -1, .name = ""};
    size_t slots = 2 * c->run->selection.measures.len;
    AUTO_FREE double *totals = xmalloc((slots + 1) * sizeof *totals);

    for (size_t i = 0; i < slots; i++)
        totals[i] = NAN;
    if (view->by.len > DBSCAN_DIMENSIONS)
        return place_error(&view->by.data[DBSCAN_DIMENSIONS]->place, NULL, "clusters have at most %d dimensions",
                           DBSCAN_DIMENSIONS);
    binding_init(&binding, c->run->env, &c->run->selection, &c->run->arena);
    binding.has_rows_of_profiles = true;
    binding.row_kinds = KIND_BIT(SCOPE_THREAD);
    c->dimensions = view->by.len;
    for (size_t k = 0; k < view->by.len && !err; k++) {
        c->names[k] = print_expr(&c->run->arena, view->by.data[k]);
        err = bind_expr(&binding, view->by.data[k], false, &program[k]);
        if (!err && program[k]->is_text)
            err = place_error(&view->by.data[k]->place, NULL, "this is a text, and a number is wanted here");
    }
    for (size_t i = 0; i < c->bursts.len && !err; i++) {
        struct point at = {point_number(),
                           stretch_slots(c->run, &c->bursts.data[i], metrics, count, values + i * count), totals, NULL,
                           &facts};

        for (size_t k = 0; k < c->dimensions; k++)
            c->values[i * c->dimensions + k] = program_number(program[k], &at);
    }
    binding_deinit(&binding);
    return err;
}

static struct hq_error *find_dimensions(struct clustering *c)
{
    const struct db *db = c->run->tree->db;
    size_t count;
    const uint32_t *metrics = stretches_metrics(c->run, &c->bursts, &count);
    size_t instructions = counter(db, metrics, count, "PAPI_TOT_INS"),
           cycles = counter(db, metrics, count, "PAPI_TOT_CYC");
    AUTO_FREE double *values = xcalloc(c->bursts.len * count + 1, sizeof *values);
    bool counted = instructions != SIZE_MAX && cycles != SIZE_MAX;

    c->values = xcalloc(c->bursts.len * DBSCAN_DIMENSIONS + 1, sizeof *c->values);
    HQ_TRY(stretches_measure(c->run, &c->trace, &c->bursts, metrics, count, values));
    stretches_set_measures(c->run, &c->bursts, metrics, count, values);
    c->eps = c->run->query->view.eps > 0 ? c->run->query->view.eps : counted ? EPS_COUNTED : EPS_SAMPLED;
    c->least = c->run->query->view.least ? c->run->query->view.least : LEAST;
    if (c->run->query->view.by.len)
        return by_expressions(c, metrics, count, values);
    if (counted)
        by_counters(c, values, count, instructions, cycles);
    return counted ? NULL : by_samples(c);
}

/* ---- clusters ---- */

/* Each dimension to 0 .. 1. */
static void scale(struct clustering *c)
{
    size_t d = c->dimensions;
    double low[DBSCAN_DIMENSIONS], high[DBSCAN_DIMENSIONS];

    c->points = xcalloc(c->bursts.len * d + 1, sizeof *c->points);
    c->burst_of = xcalloc(c->bursts.len + 1, sizeof *c->burst_of);
    for (size_t i = 0; i < c->bursts.len; i++) {
        bool whole = true;

        for (size_t k = 0; k < d; k++)
            whole &= isfinite(c->values[i * d + k]) != 0;
        if (!whole)
            continue;
        for (size_t k = 0; k < d; k++) {
            double x = c->points[c->point_count * d + k] = c->values[i * d + k];

            low[k] = c->point_count ? fmin(low[k], x) : x;
            high[k] = c->point_count ? fmax(high[k], x) : x;
        }
        c->burst_of[c->point_count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < c->point_count; i++)
        for (size_t k = 0; k < d; k++)
            c->points[i * d + k] = high[k] > low[k] ? (c->points[i * d + k] - low[k]) / (high[k] - low[k]) : 0;
}

struct largest {
    uint64_t time;
    uint32_t cluster;
};

static int compare_largest(const void *a, const void *b)
{
    const struct largest *x = a, *y = b;

    return x->time != y->time ? (x->time < y->time ? 1 : -1) : (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* The costliest is the first. */
static void find_clusters(struct clustering *c)
{
    AUTO_FREE uint32_t *found = xcalloc(c->point_count + 1, sizeof *found);

    c->count = dbscan(c->points, c->point_count, (unsigned)c->dimensions, c->eps, c->least, found);
    AUTO_FREE struct largest *order = xcalloc((size_t)c->count + 1, sizeof *order);
    AUTO_FREE uint32_t *number = xcalloc((size_t)c->count + 1, sizeof *number);

    c->cluster = xmalloc((c->bursts.len + 1) * sizeof *c->cluster);
    for (size_t i = 0; i < c->bursts.len; i++)
        c->cluster[i] = DBSCAN_NOISE;
    for (uint32_t k = 0; k < c->count; k++)
        order[k].cluster = k;
    for (size_t i = 0; i < c->point_count; i++)
        if (found[i] != DBSCAN_NOISE)
            order[found[i]].time += c->bursts.data[c->burst_of[i]].length_us;
    qsort(order, c->count, sizeof *order, compare_largest);
    for (uint32_t k = 0; k < c->count; k++)
        number[order[k].cluster] = k;
    for (size_t i = 0; i < c->point_count; i++)
        if (found[i] != DBSCAN_NOISE)
            c->cluster[c->burst_of[i]] = number[found[i]];
}

double clustering_distance(const struct clustering *c)
{
    size_t d = c->dimensions, step = c->point_count / AMONG + 1, looked = c->point_count / LOOKED_AT + 1, n = 0;
    size_t k = (c->least + step - 1) / step;
    AUTO_FREE double *distance = xcalloc(c->point_count / step + 2, sizeof *distance);
    AUTO_FREE double *kth = xcalloc(LOOKED_AT + 2, sizeof *kth);

    for (size_t i = 0; i < c->point_count && n <= LOOKED_AT; i += looked) {
        size_t m = 0;

        for (size_t j = 0; j < c->point_count; j += step) {
            double sum = 0;
            for (size_t q = 0; q < d; q++)
                sum += pow(c->points[i * d + q] - c->points[j * d + q], 2);
            distance[m++] = sqrt(sum);
        }
        qsort(distance, m, sizeof *distance, compare_numbers);
        kth[n++] = distance[k < m ? k : m - 1];
    }
    qsort(kth, n, sizeof *kth, compare_numbers);
    return n ? kth[n / 2] : 0;
}

/* ---- the whole ---- */

struct hq_error *clustering_make(struct clustering *c)
{
    char *doubt = NULL;

    HQ_TRY(stretches_find(c->run, &c->trace, &c->bursts, &doubt));
    c->doubt = doubt ? arena_strdup(&c->run->table->arena, doubt) : NULL;
    free(doubt);
    HQ_TRY(find_dimensions(c));
    scale(c);
    find_clusters(c);
    return NULL;
}

void clustering_deinit(struct clustering *c)
{
    vec_deinit(&c->bursts);
    trace_deinit(&c->trace);
    free(c->values);
    free(c->points);
    free(c->burst_of);
    free(c->cluster);
}

const char *clustering_name(const struct clustering *c, uint32_t cluster, struct arena *arena)
{
    if (cluster == DBSCAN_NOISE)
        return c->count > CLUSTERING_NAMED ? "others, noise" : "noise";
    return cluster < CLUSTERING_NAMED ? arena_printf(arena, "cluster %u", cluster + 1) : "others, noise";
}

uint32_t clustering_colour(uint32_t cluster)
{
    return cluster < CLUSTERING_NAMED ? palette_number(cluster) : 0xb4b4b4;
}
