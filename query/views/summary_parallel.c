/* SPDX-License-Identifier: BSD-3-Clause */
/* `summary`: how parallel it was. Runtimes, waiting, and what perfect balance would save. */
#include "common/numbers.h"
#include "common/str.h"
#include "db/runtimes.h"
#include "query/choose/helpers.h"
#include "query/choose/timeline.h"
#include "query/output/number.h"
#include "query/pattern/waits.h"
#include "query/views/summary_impl.h"
#include <math.h>
#include <string.h>

#define ROLE 0.8 /* of what a thread does */

struct hq_error *summary_tell_runtimes(struct summary *s)
{
    double in[RUNTIME_SYSTEM + 1] = {0};
    struct table *t;

    HQ_TRY(query_ask(s->env, arena_printf(&s->table->arena, "modules columns %s", s->own), &t));
    vec_foreach(r, &t->rows) {
        const struct runtime *known = runtime_of_module(r->name);

        if (known && r->cells[0].number > 0)
            in[known->kind] += r->cells[0].number;
    }
    table_destroy(t);
    s->openmp = in[RUNTIME_OPENMP];
    double both = in[RUNTIME_MPI] + in[RUNTIME_OPENMP];

    if (both < WORTH_SAVING * s->total || !summary_is_sure(s, both))
        return NULL;
    const char *mpi = arena_printf(&s->table->arena, "%s in MPI", summary_share(s, in[RUNTIME_MPI]));
    const char *openmp = arena_printf(&s->table->arena, "%s in OpenMP", summary_share(s, in[RUNTIME_OPENMP]));

    summary_add(s, "runtimes",
                in[RUNTIME_MPI] > 0 && in[RUNTIME_OPENMP] > 0 ? arena_printf(&s->table->arena, "%s, %s", mpi, openmp)
                : in[RUNTIME_MPI] > 0                         ? mpi
                                                              : openmp,
                both);
    summary_ask(s, arena_printf(&s->table->arena, "modules sort by %s", s->own));
    return NULL;
}

/* Tells how much is spent waiting, by what is waited for. */
void summary_tell_waiting(struct summary *s)
{
    const struct tree *t = s->run->tree;
    AUTO_FREE uint8_t *waits = waits_of_contexts(s->env, t);
    int64_t by[WAITINGS] = {0}, all = 0;
    AUTO_STR struct str text = {0};

    for (uint32_t c = 0; c < t->context_count; c++) {
        uint32_t end = c + 1 < t->context_count ? tree_first(t, c + 1) : t->position_count;

        if (waits[c])
            by[waits[c]] += s->metric->sums[end] - s->metric->sums[tree_first(t, c)];
    }
    for (int i = 1; i < WAITINGS; i++)
        all += by[i];

    double waited = scaled_value(all, s->metric->scale);

    if (!(waited > WORTH_SAVING * s->total) || !summary_is_sure(s, waited))
        return;
    str_addf(&text, "%s", summary_share(s, waited));
    double rest = waited;
    int told = 0;
    for (int i = 1; i < WAITINGS; i++) {
        double x = scaled_value(by[i], s->metric->scale);

        if (x > WORTH_TELLING * s->total) {
            str_addf(&text, "%s %s in %s", told++ ? "," : ":", summary_share(s, x), waiting_name((enum waiting)i));
            rest -= x;
        }
    }
    if (told && rest >= 0.001 * s->total)
        str_addf(&text, ", %s elsewhere", summary_share(s, rest));
    summary_add(s, "waiting", str_cstr(&text), waited);
    summary_ask(s, "procedures where waits");
}

/*
 * How far the largest of n equal values lies above their mean by the chance of sampling: the expected maximum of n
 * normal deviations is below sqrt(2 ln n) of them, and two more make it improbable.
 */
static double chance(const struct summary *s, double mean, size_t n)
{
    const struct measure *m = s->metric;

    if (m->flags & HQDB_METRIC_EXACT || m->total_count <= 0)
        return 0;
    return (sqrt(2 * log((double)n)) + 2) * sqrt(mean * s->total / (double)m->total_count);
}

/*
 * Nearly the most that n threads of each process lose to the busiest by the chance of sampling, where all work as much:
 * what their expected maximum makes (chance() above), and two deviations of the sum.
 */
static double chance_of_loss(const struct summary *s, double work, double threads, double n)
{
    const struct measure *m = s->metric;
    double sample = m->total_count > 0 ? s->total / (double)m->total_count : 0;

    return sqrt(2 * log(n) * threads * work * sample) + 2 * sqrt((n - 1) * work * sample);
}

struct hq_error *summary_tell_regions(struct summary *s)
{
    enum { LOST, BALANCE, WORK, TEAM };
    bool told = false, any = false;
    struct table *t;

    if (s->metric->dim != DIM_SECONDS || s->metric->flags & HQDB_METRIC_EXACT)
        return NULL;
    HQ_TRY(query_ask(s->env, "regions columns imbalance, balance, work, team sort by imbalance desc limit 1", &t));
    vec_foreach(r, &t->rows) {
        double lost = r->cells[LOST].number, threads = r->cells[TEAM].number;
        double n = s->ranks ? threads / s->ranks : threads;

        any |= r->kind == SCOPE_REGION;
        if (r->kind != SCOPE_REGION || !(n > 1 && lost > WORTH_SAVING * s->total) ||
            lost <= chance_of_loss(s, r->cells[WORK].number, threads, n))
            continue;
        summary_add(s, "regions",
                    arena_printf(&s->table->arena, "%s: balance %.2f, its threads lose %s to the busiest, %s", r->name,
                                 r->cells[BALANCE].number, summary_amount(s, lost), summary_share(s, lost)),
                    lost);
        summary_ask(s, "regions sort by imbalance desc limit 5");
        told = true;
    }
    if (any && !told && s->openmp > WORTH_SAVING * s->total)
        summary_ask(s, "regions sort by waiting desc limit 5");
    table_destroy(t);
    return NULL;
}

static bool is_balanced(const struct row *thread)
{
    return thread->profile != HQDB_NONE && !(thread->flags & ROW_ASIDE) && !isnan(thread->cells[0].number);
}

/* Whether the threads that are balanced, rows without a number left out, all lived at one time: of such as took turns,
 * nobody waits for the busiest. */
static bool lived_at_once(const struct summary *s, const struct table *threads)
{
    struct timeline line = timeline_of(s->run->tree->db);
    uint64_t last_begin = 0, first_end = UINT64_MAX;

    vec_foreach(r, &threads->rows) {
        if (!is_balanced(r))
            continue;
        uint64_t begin = timeline_start(&line, r->profile);
        uint64_t end = line.db->profiles[r->profile].end_us ? timeline_end(&line, r->profile) : UINT64_MAX;

        last_begin = begin > last_begin ? begin : last_begin;
        first_end = end < first_end ? end : first_end;
    }
    return last_begin < first_end;
}

/* How much of what the threads of its number did, of all processes, the busiest one did, in percent. */
static double share_of(const struct table *threads, const struct row *busiest, const char *number)
{
    double sum = 0;

    vec_foreach(r, &threads->rows) {
        const char *own = strrchr(r->name, ' ');

        if (own && !strcmp(own, number) && r->cells[0].number > 0)
            sum += r->cells[0].number;
    }
    return 100 * busiest->cells[0].number / sum;
}

/*
 * The call path that has most of what a thread does, as deep as it goes: others that are there too do the like, and
 * could share its work. Its id, 0 if there is none; and its name.
 */
static struct hq_error *find_role(struct summary *s, const struct table *threads, const struct row *busiest,
                                  uint64_t *id, const char **name)
{
    const char *number = strrchr(busiest->name, ' ');
    struct table *t;

    *id = 0;
    if (!number || number[1 + strspn(number + 1, "0123456789")])
        return NULL;
    HQ_TRY(query_ask(s->env,
                     arena_printf(&s->table->arena, "hot path by %s threshold %.3f%% threads%s columns %s",
                                  s->inclusive, ROLE * share_of(threads, busiest, number), number, s->inclusive),
                     &t));
    vec_foreach(r, &t->rows) {
        if (!(r->cells[0].number >= ROLE * busiest->cells[0].number))
            break;
        *id = r->id;
        if (r->kind == SCOPE_PROCEDURE || r->kind == SCOPE_INLINE)
            *name = arena_strdup(&s->table->arena, r->name);
    }
    table_destroy(t);
    return NULL;
}

/* Sets aside the threads that do something else than the busiest: one that only writes what another computes takes
 * none of its work. `where`: what the others do, as text for a sentence; "" if all do it. */
static struct hq_error *set_roles_aside(struct summary *s, struct table *threads, const char **where)
{
    const char *name = "";
    const struct row *busiest = NULL;
    struct table *t;
    uint64_t role;
    char id[TABLE_ID_TEXT];
    bool found = false;

    *where = "";
    vec_foreach(r, &threads->rows)
        if (!(r->flags & ROW_ASIDE) && r->cells[0].number > (busiest ? busiest->cells[0].number : 0))
            busiest = r;
    if (!busiest)
        return NULL;
    HQ_TRY(find_role(s, threads, busiest, &role, &name));
    if (!role)
        return NULL;
    table_id_text(id, role);
    HQ_TRY(query_ask(s->env, arena_printf(&s->table->arena, "threads of @%s columns %s", id, s->inclusive), &t));
    vec_foreach(r, &threads->rows) {
        bool in = false;

        vec_foreach(q, &t->rows)
            in |= q->profile == r->profile && q->cells[0].number > 0;
        found |= in && r == busiest;
        if (in || r->flags & ROW_ASIDE)
            continue;
        r->cells[0].number = NAN;
        *where = name;
    }
    table_destroy(t);
    if (!found) /* another process has a thread of that number, and more */
        vec_foreach(r, &threads->rows)
            r->cells[0].number = NAN;
    if (**where)
        *where = arena_printf(&s->table->arena, " in %s", *where);
    return NULL;
}

/* Of ranks without what is spent inside of MPI, where those wait that have less of it. */
struct hq_error *summary_tell_balance(struct summary *s, bool of_ranks)
{
    const char *who = of_ranks ? "rank" : "";
    const char *question = arena_printf(&s->table->arena, "threads%s columns %s",
                                        of_ranks ? " not through /^P?MPI_/ per rank" : "", s->inclusive);
    double most = 0, least = INFINITY, sum = 0;
    const char *at_most = "", *at_least = "", *where = "";
    size_t n = 0, aside = 0;
    struct table *t;

    HQ_TRY(query_ask(s->env, question, &t));
    if (!of_ranks)
        HQ_TRY(set_roles_aside(s, t, &where));
    vec_foreach(r, &t->rows) {
        double x = r->cells[0].number;

        if (r->flags & ROW_ASIDE)
            aside++;
        if (!is_balanced(r) || !str_begins(r->name, who))
            continue;
        n++;
        sum += x;
        if (x > most) {
            most = x;
            at_most = r->name;
        }
        if (x < least) {
            least = x;
            at_least = r->name;
        }
    }
    /* imbalance() of the question: what the one with the most would have less, never more than it has. */
    double mean = n ? sum / (double)n : 0, saved = most - mean;

    if (n > 1 && saved * (double)n > WORTH_SAVING * s->total && saved > chance(s, mean, n) &&
        (of_ranks || lived_at_once(s, t))) {
        char part[NUMBER_MAX];

        percent_text(part, saved, most, false);
        summary_add(
            s, "balance",
            arena_printf(&s->table->arena,
                         "%s%s has %s, %s %s, the mean of %zu %s%s is %s; perfect balance would save the busiest "
                         "%s of its %s, %s",
                         of_ranks ? "outside of MPI " : "", at_most, summary_amount(s, most), at_least,
                         summary_amount(s, least), n, of_ranks ? "ranks" : "threads", where, summary_amount(s, mean),
                         summary_amount(s, saved), summary_amount(s, most), part),
            saved);
        summary_ask(s, question);
        if (aside) {
            selection_find_helpers(&s->run->selection);
            helpers_note(s->run, "balance", s->metric->metric, false);
        }
    }
    table_destroy(t);
    return NULL;
}
