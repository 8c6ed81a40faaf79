/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `iterations of PATTERN`: the visits of each profile to a procedure or loop (query/slices.h tells what a visit is), with what
 * took most of each and how far its length is from the median of all that are shown.
 */
#include "query/views/trace.h"
#include "common/str.h"
#include <math.h>

struct children {               /* of one visit: child context -> samples */
    struct map samples;
    uint64_t all;
};

/* The row below the matching scope on the way to a context: the outermost one inside that is not marked itself; HQDB_NONE: the scope's own. */
static uint32_t child_on_path(const struct tree *tree, const uint8_t *mark, uint32_t c)
{
    uint32_t child = HQDB_NONE;

    for (uint32_t at = c; at != HQDB_NONE && !mark[at]; at = tree_parent(tree, at))
        if (tree_kind(tree, at) != SCOPE_LINE)
            child = at;
    return child;
}

/* Where the samples of a visit fell. */
static struct hq_error *count_children(struct run *run, const struct timeline *time, const struct visit *v, const uint8_t *mark,
                                       struct children *out)
{
    int64_t offset = timeline_offset(time, v->profile), from = (int64_t)v->from_us - offset;
    struct db_trace_reader *reader;
    struct db_trace_record r;

    map_clear(&out->samples);
    out->all = 0;
    HQ_TRY(db_trace_open(time->db, v->profile, &reader));
    db_trace_seek(reader, from > 0 ? (uint64_t)from : 0);
    while (db_trace_next(reader, &r)) {
        int64_t at = offset + (int64_t)r.time_us;
        if (at >= (int64_t)v->to_us)
            break;
        if (at < (int64_t)v->from_us)
            continue;
        uint32_t child = child_on_path(run->tree, mark, selection_context(&run->selection, r.frame));
        uint32_t scope = child == HQDB_NONE ? HQDB_NONE : tree_scope_of(run->tree, child);
        *map_insert(&out->samples, scope, 0, NULL) += r.weight;
        out->all += r.weight;
    }
    db_trace_close(reader);
    return NULL;
}

static const char *largest_child(const struct run *run, const struct children *c, struct arena *arena)
{
    uint64_t scope, samples, most = 0, best = HQDB_NONE;

    for (size_t pos = 0; map_next(&c->samples, &pos, &scope, &samples);)
        if (samples > most || (samples == most && scope < best)) {
            most = samples;
            best = scope;
        }
    const char *name = best == HQDB_NONE ? "itself" : tree_scope_name(run->tree, (uint32_t)best, arena);
    return arena_printf(arena, "%s %.0f%%", name, c->all ? 100.0 * (double)most / (double)c->all : 0);
}

static int compare_lengths(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_length(const struct visits *v)
{
    AUTO_FREE double *lengths = xcalloc(v->len + 1, sizeof *lengths);

    for (size_t i = 0; i < v->len; i++)
        lengths[i] = (double)(v->data[i].to_us - v->data[i].from_us) / 1e6;
    qsort(lengths, v->len, sizeof *lengths, compare_lengths);
    return v->len ? (lengths[v->len / 2] + lengths[(v->len - 1) / 2]) / 2 : 0;
}

static void add_columns(struct table *table)
{
    trace_column(table, "rank", DIM_NONE);
    trace_column(table, "thread", DIM_NONE);
    trace_column(table, "iteration", DIM_NONE);
    trace_column(table, "start", DIM_SECONDS);
    trace_column(table, "length", DIM_SECONDS);
    trace_column(table, "deviation", DIM_SECONDS);
    vec_last(&table->columns).marks_sign = true;
    vec_push(&table->columns, (struct column){ .name = "largest child", .type = COLUMN_TEXT, .scope = SCOPED_NONE, .total = NAN });
}

static struct hq_error *add_row(struct run *run, struct table *table, const struct trace *t, const struct visit *v, double median,
                                const uint8_t *mark, struct children *children)
{
    const struct hqdb_profile *p = &t->time.db->profiles[v->profile];
    double length = (double)(v->to_us - v->from_us) / 1e6;

    HQ_TRY(count_children(run, &t->time, v, mark, children));
    struct row *r = table_add_row(table);
    r->name = arena_printf(&table->arena, "%s #%u", trace_label(t, v->profile, &table->arena), v->number);
    if (p->rank >= 0)
        r->cells[0].number = p->rank;
    r->cells[1].number = p->thread;
    r->cells[2].number = v->number;
    r->cells[3].number = (double)v->from_us / 1e6;
    r->cells[4].number = length;
    r->cells[5].number = length - median;
    r->cells[6].text = largest_child(run, children, &table->arena);
    return NULL;
}

struct hq_error *iterations_fill(struct run *run, struct table *table)
{
    struct trace t;
    struct visits visits = { 0 };
    struct children children = { 0 };
    struct hq_error *err = trace_init(&t, run, 1, 0);
    AUTO_FREE uint8_t *mark = matches_mark(&run->of, run->tree), *within = contexts_within(run->tree, mark);

    for (uint32_t i = 0; i < t.profile_count && !err; i++)
        err = run_interrupted(run) ? hq_error_new(QUERY_INTERRUPTED, "interrupted")
                                   : visits_add(&run->selection, &t.time, t.profiles[i], within, &visits);
    add_columns(table);
    double median = median_length(&visits);
    for (size_t i = 0; i < visits.len && !err; i++)
        err = add_row(run, table, &t, &visits.data[i], median, mark, &children);
    if (!err && visits.len) {
        char text[UNITS_TEXT];
        run_note(run, "%zu visits, median length %s", visits.len, units_format(text, median, DIM_SECONDS));
    }
    map_deinit(&children.samples);
    vec_deinit(&visits);
    trace_deinit(&t);
    return err;
}
