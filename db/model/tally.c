/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/model/tally.h"

#include "common/mem.h"
#include "common/vec.h"
#include "db/model/batch.h"
#include "db/name_list.h"
#include <stdbool.h>
#include <string.h>

enum { SETS = 3 }; /* a context belongs to its scope, and a procedure to its file and module */

struct open { /* a context whose subtree is being added up */
    uint32_t context;
    int64_t inclusive;
    uint32_t set[SETS];    /* scopes of which this instance is exposed; HQDB_NONE */
    uint32_t member[SETS]; /* scopes it is an instance of */
};

/* Sums of all values of a metric, without their signs, and of their samples; UINT64_MAX stands for sums that do not
 * fit. */
struct volume {
    uint64_t values, samples;
};

struct tally {
    const struct canon *canon;
    int64_t **sums; /* [metric][frame] */
    uint64_t **counts;
    struct hqdb_statistics **contexts; /* [metric][context], NULL: of one profile alone, whose sums say it all */
    struct hqdb_statistics **scopes;   /* [metric][scope] */
    struct volume *volumes;            /* [metric] */
    /* Scratch for one profile. */
    VEC(struct open) stack;
    VEC(uint32_t) path;
    uint32_t *depth; /* [scope] open instances */
    int64_t *total;  /* [scope] of exposed instances */
    bool *touched;   /* [scope] */
    VEC(uint32_t) touched_list;
};

static struct hqdb_statistics *blank_statistics(size_t count)
{
    struct hqdb_statistics *s = xcalloc(count + 1, sizeof *s);

    for (size_t i = 0; i < count; i++) {
        s[i].min = INT64_MAX;
        s[i].max = INT64_MIN;
    }
    return s;
}

static size_t counted_profiles(const struct canon *c, size_t metric)
{
    size_t n = 0;

    for (uint32_t p = 0; p < c->profile_count; p++)
        n += profile_counts(c, p, (uint32_t)metric);
    return n;
}

static bool sums_say_all(const struct canon *c, size_t metric)
{
    return c->profile_count == 1 && counted_profiles(c, metric) == 1;
}

struct tally *tally_create(const struct canon *c)
{
    struct tally *t = xcalloc(1, sizeof *t);
    size_t n = c->metric_count + 1;

    t->canon = c;
    t->sums = xcalloc(n, sizeof *t->sums);
    t->counts = xcalloc(n, sizeof *t->counts);
    t->contexts = xcalloc(n, sizeof *t->contexts);
    t->scopes = xcalloc(n, sizeof *t->scopes);
    t->volumes = xcalloc(n, sizeof *t->volumes);
    for (size_t m = 0; m < c->metric_count; m++) {
        t->sums[m] = xcalloc(c->frame_count + 1, sizeof **t->sums);
        t->counts[m] = xcalloc(c->frame_count + 1, sizeof **t->counts);
        t->contexts[m] = sums_say_all(c, m) ? NULL : blank_statistics(c->context_count);
        t->scopes[m] = blank_statistics(c->scope_count);
    }
    t->depth = xcalloc(c->scope_count, sizeof *t->depth);
    t->total = xcalloc(c->scope_count, sizeof *t->total);
    t->touched = xcalloc(c->scope_count, sizeof *t->touched);
    return t;
}

void tally_destroy(struct tally *t)
{
    if (!t)
        return;
    for (size_t m = 0; m < t->canon->metric_count; m++) {
        free(t->sums[m]);
        free(t->counts[m]);
        free(t->contexts[m]);
        free(t->scopes[m]);
    }
    free(t->sums);
    free(t->counts);
    free(t->contexts);
    free(t->scopes);
    free(t->volumes);
    vec_deinit(&t->stack);
    vec_deinit(&t->path);
    vec_deinit(&t->touched_list);
    free(t->depth);
    free(t->total);
    free(t->touched);
    free(t);
}

static uint64_t add_volume(uint64_t a, uint64_t b)
{
    return a > INT64_MAX || b > INT64_MAX - a ? UINT64_MAX : a + b;
}

void tally_measure(struct tally *t, uint32_t metric, const struct db_value *values, size_t count)
{
    struct volume *v = &t->volumes[metric];

    for (size_t i = 0; i < count; i++) {
        v->values = add_volume(v->values, values[i].sum < 0 ? -(uint64_t)values[i].sum : (uint64_t)values[i].sum);
        v->samples = add_volume(v->samples, values[i].count);
    }
}

/* Sums of any of the values fit if that of their magnitudes does. */
struct hq_error *tally_check(const struct tally *t)
{
    for (size_t m = 0; m < t->canon->metric_count; m++)
        if (t->volumes[m].values > INT64_MAX || t->volumes[m].samples > HQDB_MOST_SAMPLES)
            return hq_error_new(HQ_DATA,
                                "the values of metric %zu (%s) add up to more than %s, which cannot be "
                                "counted: what it is made of is damaged",
                                m + 1, t->canon->strings + t->canon->metrics[m].name,
                                t->volumes[m].values > INT64_MAX ? "2^63" : "2^62 samples");
    return NULL;
}

static void note(struct hqdb_statistics *s, int64_t x)
{
    unsigned __int128 squares = (unsigned __int128)s->squares[1] << 64 | s->squares[0];

    if (!x)
        return;
    squares += (unsigned __int128)((__int128)x * x);
    s->squares[0] = (uint64_t)squares;
    s->squares[1] = (uint64_t)(squares >> 64);
    s->count++;
    s->sum = (int64_t)((uint64_t)s->sum + (uint64_t)x);
    s->min = x < s->min ? x : s->min;
    s->max = x > s->max ? x : s->max;
}

static void find_sets(const struct canon *c, uint32_t scope, uint32_t member[SETS])
{
    uint32_t up;

    member[0] = member[1] = member[2] = HQDB_NONE;
    if (c->scopes[scope].kind == SCOPE_LINE)
        return;
    member[0] = scope;
    if (!scope_is_called(c->scopes[scope].kind))
        return;
    up = c->scopes[scope].parent;
    if (c->scopes[up].kind == SCOPE_FILE) {
        member[1] = up;
        up = c->scopes[up].parent;
    }
    if (c->scopes[up].kind == SCOPE_MODULE)
        member[2] = up;
}

static void open_context(struct tally *t, uint32_t context)
{
    struct open o = {.context = context};

    find_sets(t->canon, t->canon->contexts[context].scope, o.member);
    for (int i = 0; i < SETS; i++)
        o.set[i] = o.member[i] != HQDB_NONE && !t->depth[o.member[i]]++ ? o.member[i] : HQDB_NONE;
    vec_push(&t->stack, o);
}

static void close_context(struct tally *t, uint32_t metric)
{
    struct open o = vec_pop(&t->stack);

    if (t->contexts[metric])
        note(&t->contexts[metric][o.context], o.inclusive);
    if (t->stack.len)
        vec_last(&t->stack).inclusive = (int64_t)((uint64_t)vec_last(&t->stack).inclusive + (uint64_t)o.inclusive);
    for (int i = 0; i < SETS; i++) {
        if (o.member[i] != HQDB_NONE)
            t->depth[o.member[i]]--;
        if (o.set[i] == HQDB_NONE)
            continue;
        t->total[o.set[i]] = (int64_t)((uint64_t)t->total[o.set[i]] + (uint64_t)o.inclusive);
        if (!t->touched[o.set[i]]) {
            t->touched[o.set[i]] = true;
            vec_push(&t->touched_list, o.set[i]);
        }
    }
}

/* Closes what does not hold the context, then opens what lies between. */
static void go_to(struct tally *t, uint32_t metric, uint32_t context)
{
    const struct hqdb_context *contexts = t->canon->contexts;

    while (t->stack.len && contexts[vec_last(&t->stack).context].end <= context)
        close_context(t, metric);
    vec_clear(&t->path);
    for (uint32_t c = context; c != HQDB_NONE && (!t->stack.len || c != vec_last(&t->stack).context);
         c = contexts[c].parent)
        vec_push(&t->path, c);
    while (t->path.len)
        open_context(t, vec_pop(&t->path));
}

static void tally_inclusive(struct tally *t, uint32_t metric, const struct db_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct open *top;

        go_to(t, metric, t->canon->frame_context[values[i].frame]);
        top = &vec_last(&t->stack);
        top->inclusive = (int64_t)((uint64_t)top->inclusive + (uint64_t)values[i].sum);
    }
    while (t->stack.len)
        close_context(t, metric);
    vec_foreach(scope, &t->touched_list) {
        note(&t->scopes[metric][*scope], t->total[*scope]);
        t->total[*scope] = 0;
        t->touched[*scope] = false;
    }
    vec_clear(&t->touched_list);
}

void tally_add(struct tally *t, uint32_t metric, const struct db_value *values, size_t count, bool counted)
{
    for (size_t i = 0; i < count; i++) {
        int64_t *sum = &t->sums[metric][values[i].frame];

        *sum = (int64_t)((uint64_t)*sum + (uint64_t)values[i].sum);
        t->counts[metric][values[i].frame] += values[i].count;
    }
    if (counted)
        tally_inclusive(t, metric, values, count);
}

static void merge_statistics(struct hqdb_statistics *a, const struct hqdb_statistics *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned __int128 squares = (unsigned __int128)a[i].squares[1] << 64 | a[i].squares[0];

        squares += (unsigned __int128)b[i].squares[1] << 64 | b[i].squares[0];
        a[i].squares[0] = (uint64_t)squares;
        a[i].squares[1] = (uint64_t)(squares >> 64);
        a[i].count += b[i].count;
        a[i].sum = (int64_t)((uint64_t)a[i].sum + (uint64_t)b[i].sum);
        a[i].min = b[i].min < a[i].min ? b[i].min : a[i].min;
        a[i].max = b[i].max > a[i].max ? b[i].max : a[i].max;
    }
}

void tally_merge(struct tally *into, const struct tally *from)
{
    const struct canon *c = into->canon;

    for (size_t m = 0; m < c->metric_count; m++) {
        for (size_t f = 0; f < c->frame_count; f++) {
            into->sums[m][f] = (int64_t)((uint64_t)into->sums[m][f] + (uint64_t)from->sums[m][f]);
            into->counts[m][f] += from->counts[m][f];
        }
        into->volumes[m].values = add_volume(into->volumes[m].values, from->volumes[m].values);
        into->volumes[m].samples = add_volume(into->volumes[m].samples, from->volumes[m].samples);
        if (into->contexts[m])
            merge_statistics(into->contexts[m], from->contexts[m], c->context_count);
        merge_statistics(into->scopes[m], from->scopes[m], c->scope_count);
    }
}

/* The arrays of a metric, in the order in which they travel. */
struct piece {
    void *data;
    size_t bytes;
};
enum { PIECES = 5 };

static void pieces_of(const struct tally *t, size_t m, struct piece pieces[PIECES])
{
    pieces[0] = (struct piece){t->sums[m], t->canon->frame_count * sizeof **t->sums};
    pieces[1] = (struct piece){t->counts[m], t->canon->frame_count * sizeof **t->counts};
    pieces[2] = (struct piece){t->contexts[m], t->contexts[m] ? t->canon->context_count * sizeof **t->contexts : 0};
    pieces[4] = (struct piece){&t->volumes[m], sizeof *t->volumes};
    pieces[3] = (struct piece){t->scopes[m], t->canon->scope_count * sizeof **t->scopes};
}

void tally_pack(const struct tally *t, struct bytes *b)
{
    struct piece pieces[PIECES];

    for (size_t m = 0; m < t->canon->metric_count; m++) {
        pieces_of(t, m, pieces);
        for (size_t i = 0; i < PIECES; i++)
            vec_append(b, (const uint8_t *)pieces[i].data, pieces[i].bytes);
    }
}

void tally_merge_packed(struct tally *into, struct cursor *c)
{
    struct tally *other = tally_create(into->canon);
    struct piece pieces[PIECES];

    for (size_t m = 0; m < into->canon->metric_count; m++) {
        pieces_of(other, m, pieces);
        for (size_t i = 0; i < PIECES; i++) {
            const void *p = cursor_bytes(c, pieces[i].bytes);

            if (p)
                memcpy(pieces[i].data, p, pieces[i].bytes);
        }
    }
    tally_merge(into, other);
    tally_destroy(other);
}

/* x[0..n) -> x[0..n] of prefix sums. */
static void prefix_sums(uint64_t *x, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i <= n; i++) {
        uint64_t own = i < n ? x[i] : 0;

        x[i] = sum;
        sum += own;
    }
}

/* Profiles without a value count as zero. */
static void finish_statistics(struct hqdb_statistics *s, size_t count, size_t profiles)
{
    for (size_t i = 0; i < count; i++) {
        if (s[i].count >= profiles && s[i].count)
            continue;
        s[i].min = s[i].min > 0 ? 0 : s[i].min;
        s[i].max = s[i].max < 0 ? 0 : s[i].max;
    }
}

void tally_write(struct tally *t, struct writer *w)
{
    const struct canon *c = t->canon;

    for (size_t m = 0; m < c->metric_count; m++) {
        size_t profiles = counted_profiles(c, m);

        prefix_sums((uint64_t *)t->sums[m], c->frame_count);
        prefix_sums(t->counts[m], c->frame_count);
        writer_section(w, HQDB_SUMS, (uint32_t)m, sizeof **t->sums, t->sums[m], c->frame_count + 1);
        writer_section(w, HQDB_COUNTS, (uint32_t)m, sizeof **t->counts, t->counts[m], c->frame_count + 1);
        finish_statistics(t->scopes[m], c->scope_count, profiles);
        if (t->contexts[m]) {
            finish_statistics(t->contexts[m], c->context_count, profiles);
            writer_section(w, HQDB_STATISTICS, (uint32_t)m, sizeof **t->contexts, t->contexts[m], c->context_count);
        }
        writer_section(w, HQDB_SCOPE_STATISTICS, (uint32_t)m, sizeof **t->scopes, t->scopes[m], c->scope_count);
    }
    names_write(c, c->metric_count ? t->scopes[0] : NULL, w);
}
