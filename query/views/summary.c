/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `summary`: the first minute. What ran and how well it was measured, where the time goes, how parallel it was; beside
 * each fact the question that tells more. The numbers are the answers to those questions, asked here. What is fine is
 * not mentioned: a row about waiting, imbalance or losses stands there only if it is worth a look.
 */
#include "common/shorten.h"
#include "common/units.h"
#include "db/facts.h"
#include "db/runtimes.h"
#include "query/choose/profiles.h"
#include "query/output/number.h"
#include "query/views/views.h"
#include "query/pattern/waits.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Names are shortened to so many columns: it is one screen. */
enum { TOP_ROWS = 5, PATH_NAMES = 6, NAME_COLUMNS = 72, PATH_COLUMNS = 48 };
#define WORTH_SAVING  0.05 /* of the whole */
#define WORTH_TELLING 0.01
#define CROWDED       0.05 /* of the time for which threads wanted a processor */
#define HOT           0.05 /* where a path goes on into less, nothing of it is hot */

enum { QUESTIONS_MOST = 12 };

struct summary {
    struct query_env *env; /* its own, so that nothing is remembered of the questions */
    struct run *run;
    struct table *table;
    const struct measure *metric; /* the first that has a value; if none has one, the first */
    const char *inclusive, *own;  /* how it is written */
    const char *path;             /* the question for its hot path */
    double total;
    const char *questions[QUESTIONS_MOST]; /* that tell more */
    size_t question_count;
};

/* number: what the row is about, in the unit of the metric; NaN if that is no cost. */
static void add(struct summary *s, const char *name, const char *value, double number)
{
    struct row *row = table_add_row(s->table);

    row->name = arena_strdup(&s->table->arena, name);
    row->cells[0].text = arena_strdup(&s->table->arena, value);
    row->cells[1].number = number;
}

static void ask_next(struct summary *s, const char *question)
{
    if (s->question_count < QUESTIONS_MOST)
        s->questions[s->question_count++] = arena_strdup(&s->table->arena, question);
}

static const char *share(const struct summary *s, double value)
{
    char text[NUMBER_MAX];

    percent_text(text, value, s->total, false);
    return arena_strdup(&s->table->arena, *text ? text : "0.0%");
}

static const char *amount(const struct summary *s, double value)
{
    char text[UNITS_TEXT];

    return arena_strdup(&s->table->arena, units_format(text, value, s->metric->dim));
}

/* ---- what ran, and how well it was measured ---- */

static size_t count_threads(const struct db *db)
{
    size_t n = 0;

    for (uint32_t p = 0; p < db->profile_count; p++)
        n += !db_is_queue(db, p);
    return n;
}

static void tell_run(struct summary *s)
{
    const struct db *db = s->run->tree->db;
    const char *command = facts_text(db, "command"), *duration = facts_text(db, "duration");
    uint32_t ranks = 0, working = 0;
    size_t threads = count_threads(db), told = 0;
    const char *all = facts_text(db, "threads"); /* those without a sample have no profile, but are counted */

    for (uint32_t p = 0; p < db->profile_count; p++) {
        bool seen = db->profiles[p].rank < 0;

        if (db_is_queue(db, p))
            continue;

        for (uint32_t q = 0; q < p && !seen; q++)
            seen = db->profiles[q].rank == db->profiles[p].rank;
        ranks += !seen;
        working += s->metric && db_profile_total(db, p, s->metric->metric).sum != 0;
    }
    AUTO_STR struct str text = {0};

    told = all ? strtoul(all, NULL, 10) : 0;
    threads = told > threads ? told : threads;
    if (duration)
        str_addf(&text, "%s, ", duration);
    if (ranks)
        str_addf(&text, "%u rank%s, ", ranks, ranks == 1 ? "" : "s");
    str_addf(&text, "%zu thread%s", threads, threads == 1 ? "" : "s");
    if (s->metric && working < threads)
        str_addf(&text, ", %u of them with %s", working, s->metric->name);
    if (command)
        add(s, "command", command, NAN);
    add(s, "run", str_cstr(&text), NAN);
}

/* Tells what launchers cost, for it stays in all that the summary says but balance and elapsed time. */
static void tell_launchers(const struct summary *s, struct str *out)
{
    struct selection *sel = &s->run->selection;
    const struct db *db = s->run->tree->db;
    int32_t first = INT32_MAX, last = -1;
    double cost = 0;

    selection_find_helpers(sel);
    if (!sel->helpers.of || selection_leaves_out(sel, false, s->metric->metric))
        return;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        int32_t rank = db->profiles[p].rank;

        first = rank >= 0 && rank < first ? rank : first;
        last = rank > last ? rank : last;
        if (sel->helpers.of[p] == STANDS_LAUNCHER)
            cost += scaled_value(db_profile_total(db, p, s->metric->metric).sum, db->metrics[s->metric->metric].scale);
    }
    if (cost < WORTH_TELLING * s->total)
        return;
    str_addf(out, ", %s of it by launchers (`ranks %" PRId32, amount(s, cost), first);
    if (last > first)
        str_addf(out, "-%" PRId32, last);
    str_add(out, "` is without)");
}

static void tell_measured(struct summary *s)
{
    const struct measure *m = s->metric;
    AUTO_STR struct str text = {0};

    str_addf(&text, "%s %s", amount(s, s->total), m->name);
    if (!(m->flags & HQDB_METRIC_NO_COUNTS))
        str_addf(&text, " in %" PRId64 " sample%s", m->total_count, m->total_count == 1 ? "" : "s");
    tell_launchers(s, &text);
    /* 1.96 sqrt(p (1 - p) / n) is largest at p = 1/2 */
    if (!(m->flags & (HQDB_METRIC_NO_COUNTS | HQDB_METRIC_EXACT)) && m->total_count > 0) {
        double percent = 98 / sqrt(measure_samples(m, m->total_count, (double)m->total));

        str_addf(&text,
                 percent < 0.095 ? "; a share of half of it is known to +-%.1g %%"
                                 : "; a share of half of it is known to +-%.1f %%",
                 percent);
    }
    add(s, "measured", str_cstr(&text), s->total);
    if (selection_leaves_out(&s->run->selection, false, m->metric))
        helpers_note(s->run, m->name, m->metric);
}

static void tell_losses(struct summary *s)
{
    const struct db *db = s->run->tree->db;
    uint64_t lost[2] = {0};

    for (size_t i = 0; i < db->loss_count; i++)
        lost[db->losses[i].partial != 0] += db->losses[i].count;
    double all = s->metric ? (double)s->metric->total_count + (double)lost[0] : 0;

    if (lost[0])
        add(s, "lost", arena_printf(&s->table->arena, "%" PRIu64 " samples", lost[0]), NAN);
    if (all > 0 && (double)lost[1] > WORTH_TELLING * all)
        add(s, "partial",
            arena_printf(&s->table->arena, "%.1f %% of the call paths have no outer end", 100 * (double)lost[1] / all),
            NAN);
    if (lost[0] || lost[1])
        ask_next(s, "info");
}

/* Tells how much of it measuring took: without that, the shares of the program are larger. */
static void tell_own_work(struct summary *s)
{
    const struct tree *t = s->run->tree;
    int64_t sum = 0;

    for (uint32_t c = 0; c < t->context_count; c++)
        if (tree_is_own_work(t, c)) {
            struct db_range r = tree_range(t, c);

            sum += s->metric->sums[r.last] - s->metric->sums[r.first];
        }

    double own = scaled_value(sum, s->metric->scale);

    if (!(own > WORTH_SAVING * s->total))
        return;
    add(s, "measuring",
        arena_printf(&s->table->arena,
                     "%s is what hq itself did (%s): record with fewer of -e and --mark to see the program without it",
                     share(s, own), HQDB_OWN_WORK),
        own);
    ask_next(s, "callers of \"" HQDB_OWN_WORK "\" depth 1 limit 5");
}

/* Whether there were more threads than processors for them. Under CPU time a little of it is nobody's question. */
static void tell_delay(struct summary *s)
{
    double delay, wanted;
    char had[UNITS_TEXT], all[UNITS_TEXT];

    bool counts = s->metric->flags & HQDB_METRIC_ELAPSED;

    if (!facts_delay(s->run->tree->db, &delay, &wanted) ||
        !(delay > (counts ? WORTH_TELLING * s->total : CROWDED * wanted)))
        return;
    units_format(had, delay, DIM_SECONDS);
    units_format(all, wanted, DIM_SECONDS);
    add(s, "processors",
        arena_printf(&s->table->arena, "for %s of the %s for which threads wanted one they had none", had, all), delay);
}

/* ---- where it goes ---- */

static struct hq_error *tell_path(struct summary *s)
{
    struct table *t;
    AUTO_STR struct str text = {0};

    HQ_TRY(query_ask(s->env, s->path, &t));
    size_t n = t->rows.len;

    while (n > 1 && t->columns.len && !(t->rows.data[n - 1].cells[0].number >= HOT * s->total))
        n--;
    size_t from = n > PATH_NAMES ? n - PATH_NAMES : 0;

    for (size_t i = from; i < n; i++) {
        str_add(&text, i > from ? " > " : from ? "... > " : "");
        name_shorten(&text, t->rows.data[i].name, PATH_COLUMNS, "...");
    }
    if (n && t->columns.len)
        str_addf(&text, ": %s", share(s, t->rows.data[n - 1].cells[0].number));
    if (n)
        add(s, "hot path", str_cstr(&text), t->columns.len ? t->rows.data[n - 1].cells[0].number : NAN);
    ask_next(s, s->path);
    table_destroy(t);
    return NULL;
}

/* The first rows of a ranked list, as long as they have a hundredth of the whole. */
static struct hq_error *tell_list(struct summary *s, const char *name, const char *question)
{
    struct table *t;

    HQ_TRY(query_ask(s->env, question, &t));
    for (size_t i = 0; i < t->rows.len && i < TOP_ROWS; i++) {
        const struct row *r = &t->rows.data[i];
        AUTO_STR struct str text = {0};

        if (!(r->cells[0].number >= WORTH_TELLING * s->total))
            break;
        str_addf(&text, "%-5s  ", share(s, r->cells[0].number));
        name_shorten(&text, r->name, NAME_COLUMNS, "...");
        if (r->file && r->line && r->kind != SCOPE_LOOP)
            str_addf(&text, "  [%s:%u]", path_base(r->file), r->line);
        if (r->apart)
            str_addf(&text, "  (%s)", r->apart);
        add(s, name, str_cstr(&text), r->cells[0].number);
        if (!i)
            ask_next(s, question);
    }
    table_destroy(t);
    return NULL;
}

/* ---- how parallel it was ---- */

static struct hq_error *tell_runtimes(struct summary *s)
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
    if (in[RUNTIME_MPI] + in[RUNTIME_OPENMP] < WORTH_SAVING * s->total)
        return NULL;
    if (in[RUNTIME_MPI] > 0)
        add(s, "runtimes", arena_printf(&s->table->arena, "%s in MPI", share(s, in[RUNTIME_MPI])), in[RUNTIME_MPI]);
    if (in[RUNTIME_OPENMP] > 0)
        add(s, "runtimes", arena_printf(&s->table->arena, "%s in OpenMP", share(s, in[RUNTIME_OPENMP])),
            in[RUNTIME_OPENMP]);
    ask_next(s, arena_printf(&s->table->arena, "modules sort by %s", s->own));
    return NULL;
}

/* Tells how much is spent waiting, by what is waited for. */
static void tell_waiting(struct summary *s)
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

    if (!(waited > WORTH_SAVING * s->total))
        return;
    str_addf(&text, "%s", share(s, waited));
    double rest = waited;
    int told = 0;
    for (int i = 1; i < WAITINGS; i++) {
        double x = scaled_value(by[i], s->metric->scale);

        if (x > WORTH_TELLING * s->total) {
            str_addf(&text, "%s %s in %s", told++ ? "," : ":", share(s, x), waiting_name((enum waiting)i));
            rest -= x;
        }
    }
    if (told && rest >= 0.001 * s->total)
        str_addf(&text, ", %s elsewhere", share(s, rest));
    add(s, "waiting", str_cstr(&text), waited);
    ask_next(s, "procedures where waits");
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

/* The work of each rank (or thread) without what is spent inside of MPI, where those wait that have less of it. */
static struct hq_error *tell_balance(struct summary *s, const char *question, const char *who)
{
    double most = 0, least = INFINITY, sum = 0;
    const char *at_most = "", *at_least = "";
    size_t n = 0, aside = 0;
    struct table *t;

    HQ_TRY(query_ask(s->env, question, &t));
    vec_foreach(r, &t->rows) {
        double x = r->cells[0].number;

        if (r->flags & ROW_ASIDE)
            aside++;
        if (isnan(x) || r->flags & ROW_ASIDE || strncmp(r->name, who, strlen(who)))
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

    if (n > 1 && saved * (double)n > WORTH_SAVING * s->total && saved > chance(s, mean, n)) {
        char part[NUMBER_MAX];

        percent_text(part, saved, most, false);
        add(s, "balance",
            arena_printf(&s->table->arena,
                         "%s%s has %s, %s %s, the mean of %zu %s is %s; perfect balance would save the busiest "
                         "%s of its %s, %s",
                         strcmp(who, "rank") ? "" : "outside of MPI ", at_most, amount(s, most), at_least,
                         amount(s, least), n, strcmp(who, "rank") ? "threads" : "ranks", amount(s, mean),
                         amount(s, saved), amount(s, most), part),
            saved);
        ask_next(s, question);
        if (aside) {
            selection_find_helpers(&s->run->selection);
            helpers_note(s->run, "balance", s->metric->metric);
        }
    }
    table_destroy(t);
    return NULL;
}

static struct hq_error *tell_all(struct summary *s)
{
    const struct db *db = s->run->tree->db;
    struct arena *a = &s->table->arena;

    tell_run(s);
    if (s->metric)
        tell_measured(s);
    tell_losses(s);
    if (s->metric)
        tell_delay(s);
    if (!s->metric || !(s->total > 0)) {
        add(s, "nothing", "no metric has a value: the program did nothing that was measured", NAN);
        return NULL;
    }
    tell_own_work(s);
    HQ_TRY(tell_path(s));
    HQ_TRY(tell_list(s, "procedures", arena_printf(a, "procedures columns %s sort by %s limit 5", s->own, s->own)));
    HQ_TRY(tell_list(s, "loops", arena_printf(a, "loops columns %s sort by %s limit 5", s->own, s->own)));
    HQ_TRY(tell_runtimes(s));
    if (!(s->metric->flags & HQDB_METRIC_EXACT) || s->metric->dim == DIM_SECONDS) /* bytes do not wait */
        tell_waiting(s);
    if (profiles_usual(&s->run->selection) == PER_RANK)
        HQ_TRY(tell_balance(s, arena_printf(a, "threads not through /^P?MPI_/ per rank columns %s", s->inclusive),
                            "rank"));
    else if (count_threads(db) > 1 && !(s->metric->flags & HQDB_METRIC_ELAPSED)) /* which is how long a thread lived */
        HQ_TRY(tell_balance(s, arena_printf(a, "threads columns %s", s->inclusive), ""));
    for (size_t i = 0; i < s->question_count; i++)
        add(s, "ask next", s->questions[i], NAN);
    return NULL;
}

/* Finds the metric to tell about: sampled time if there is any, a device's if there is no other, none without values.
 */
static struct hq_error *find_metric(struct selection *s, size_t *out)
{
    int best = 3;

    for (size_t i = *out = 0; best && i < s->here_count; i++) {
        const struct measure *m = &s->measures.data[i];
        int choice = m->flags & HQDB_METRIC_DEVICE ? 2 : m->dim != DIM_SECONDS || m->flags & HQDB_METRIC_EXACT;

        HQ_TRY(selection_load(s, i));
        if (m->total && choice < best) {
            best = choice;
            *out = i;
        }
    }
    return selection_load(s, *out);
}

static struct hq_error *summary_fill(struct run *run, struct table *table)
{
    struct query_env env;
    struct summary s = {.env = &env, .run = run, .table = table};

    table->facts = true;
    vec_push(&table->columns,
             (struct column){.name = "value", .type = COLUMN_TEXT, .scope = SCOPED_NONE, .total = NAN});
    vec_push(&table->columns,
             (struct column){.name = "number", .type = COLUMN_NUMBER, .scope = SCOPED_NONE, .total = NAN});
    if (run->selection.here_count) {
        size_t first;

        HQ_TRY(find_metric(&run->selection, &first));
        s.metric = &run->selection.measures.data[first];
        s.total = scaled_value(s.metric->total, s.metric->scale);
        table->columns.data[1].dim = s.metric->dim;
        table->columns.data[1].total = s.total;
        /* A name that needs quotes is written by its number. */
        bool plain = !s.metric->name[strspn(s.metric->name, "abcdefghijklmnopqrstuvwxyz_0123456789:")];

        s.inclusive = plain ? s.metric->name : arena_printf(&table->arena, "$%zu", 2 * first + 1);
        s.path = first
                     ? arena_printf(&table->arena, "hot path threshold 25%% by %s columns %s", s.inclusive, s.inclusive)
                     : "hot path threshold 25%";
        s.own = arena_printf(&table->arena, "%s.x", s.inclusive);
    }
    query_env_init(&env, run->env->db);
    env.interrupted = run->env->interrupted;
    for (int i = 0; i < SETTING_KINDS; i++)
        query_set(&env, i, &run->env->settings.of[i]);
    struct hq_error *error = tell_all(&s);

    query_env_deinit(&env);
    return error;
}

const struct view_row view_summary = {.shape = SHAPE_FACTS, .fill = summary_fill};
