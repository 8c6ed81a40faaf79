/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `summary`: the first minute. What ran and how well it was measured, where the time goes, how parallel it was; beside
 * each fact the question that tells more. The numbers are the answers to those questions, asked here. What is fine is
 * not mentioned: a row about waiting, imbalance or losses stands there only if it is worth a look.
 */
#include "query/views/summary_impl.h"
#include "common/shorten.h"
#include "common/units.h"
#include "db/facts.h"
#include "query/choose/profiles.h"
#include "query/output/number.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* It is one screen: names are shortened to so many columns, and questions left out whose answers stand there. */
enum {
    TOP_ROWS = 5,
    PATH_NAMES = 6,
    NAME_COLUMNS = 48,
    PATH_COLUMNS = 48,
    PATH_ROOM = 60, /* of a line, beside its heading and the share */
    SAMPLES_LEAST = 4,
    SCREEN_LINES = 22, /* of 24: the command and the next prompt */
    SCREEN_COLUMNS = 80,
    NAME_ROOM = 12, /* of the name of a row */
};
#define CROWDED 0.05 /* of the time for which threads wanted a processor */
#define HOT     0.05 /* where a path goes on into less, nothing of it is hot */

void summary_add(struct summary *s, const char *name, const char *value, double number)
{
    struct row *row = table_add_row(s->table);

    row->name = arena_strdup(&s->table->arena, name);
    row->cells[0].text = arena_strdup(&s->table->arena, value);
    row->cells[1].number = number;
}

void summary_ask(struct summary *s, const char *question)
{
    if (s->question_count < QUESTIONS_MOST)
        s->questions[s->question_count++].text = arena_strdup(&s->table->arena, question);
}

bool summary_is_sure(const struct summary *s, double value)
{
    const struct measure *m = s->metric;

    if (m->flags & (HQDB_METRIC_EXACT | HQDB_METRIC_NO_COUNTS) || m->total_count <= 0)
        return true;
    return measure_samples(m, m->total_count, (double)m->total) * value >= (SAMPLES_LEAST - 0.5) * s->total;
}

const char *summary_share(const struct summary *s, double value)
{
    char text[NUMBER_MAX];

    percent_text(text, value, s->total, false);
    return arena_strdup(&s->table->arena, *text ? text : "0.0%");
}

const char *summary_amount(const struct summary *s, double value)
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
    uint32_t working = 0;
    size_t threads = count_threads(db), told = 0;
    const char *all = facts_text(db, "threads"); /* those without a sample have no profile, but are counted */

    for (uint32_t p = 0; p < db->profile_count; p++) {
        bool seen = db->profiles[p].rank < 0;

        if (db_is_queue(db, p))
            continue;

        for (uint32_t q = 0; q < p && !seen; q++)
            seen = db->profiles[q].rank == db->profiles[p].rank;
        s->ranks += !seen;
        if (s->metric) {
            struct db_total total = db_profile_total(db, p, s->metric->metric);

            working += total.sum != 0 || total.count != 0; /* which may add up to nothing */
        }
    }
    AUTO_STR struct str text = {0};

    told = all ? strtoul(all, NULL, 10) : 0;
    threads = told ? told : threads;
    if (duration)
        str_addf(&text, "%s, ", duration);
    if (s->ranks)
        str_addf(&text, "%u rank%s, ", s->ranks, s->ranks == 1 ? "" : "s");
    str_addf(&text, "%zu thread%s", threads, threads == 1 ? "" : "s");
    if (s->metric && working < threads)
        str_addf(&text, ", %u of them with %s", working, s->metric->name);
    if (command)
        summary_add(s, "command", command, NAN);
    summary_add(s, "run", str_cstr(&text), NAN);
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
    str_addf(out, ", %s of it by launchers", summary_amount(s, cost));
    if (last >= 0) /* what MPI starts for a program that nothing has launched gives it no rank */
        str_addf(out,
                 last > first ? " (`ranks %" PRId32 "-%" PRId32 "` is without)" : " (`ranks %" PRId32 "` is without)",
                 first, last);
}

static void tell_measured(struct summary *s)
{
    const struct measure *m = s->metric;
    AUTO_STR struct str text = {0};

    str_addf(&text, "%s %s", summary_amount(s, s->total), m->name);
    if (!(m->flags & HQDB_METRIC_NO_COUNTS))
        str_addf(&text, " in %" PRId64 " %s%s", m->total_count, m->flags & HQDB_METRIC_EXACT ? "count" : "sample",
                 m->total_count == 1 ? "" : "s");
    tell_launchers(s, &text);
    /* 1.96 sqrt(p (1 - p) / n) is largest at p = 1/2 */
    if (!(m->flags & (HQDB_METRIC_NO_COUNTS | HQDB_METRIC_EXACT)) && m->total_count > 0 && s->total > 0) {
        double percent = 98 / sqrt(measure_samples(m, m->total_count, (double)m->total));

        str_addf(&text,
                 percent < 0.095 ? "; a share of half of it is known to +-%.1g %%"
                                 : "; a share of half of it is known to +-%.1f %%",
                 percent);
    }
    summary_add(s, "measured", str_cstr(&text), s->total);
    if (selection_leaves_out(&s->run->selection, false, m->metric))
        helpers_note(s->run, m->name, m->metric, false);
}

static void tell_losses(struct summary *s)
{
    const struct db *db = s->run->tree->db;
    uint64_t lost[2] = {0};

    for (size_t i = 0; i < db->loss_count; i++)
        lost[db->losses[i].partial != 0] += db->losses[i].count;
    double all = s->metric ? (double)s->metric->total_count + (double)lost[0] : 0;

    if (lost[0])
        summary_add(s, "lost", arena_printf(&s->table->arena, "%" PRIu64 " samples", lost[0]), NAN);
    if (all > 0 && (double)lost[1] > WORTH_TELLING * all)
        summary_add(
            s, "partial",
            arena_printf(&s->table->arena, "%.1f %% of the call paths have no outer end", 100 * (double)lost[1] / all),
            NAN);
    if (lost[0] || lost[1])
        summary_ask(s, "info");
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

    if (!(own > WORTH_SAVING * s->total) || !summary_is_sure(s, own))
        return;
    bool asked = false; /* for what costs at every call */

    for (uint32_t i = 0; i < t->scope_count; i++)
        asked |= tree_scope(t, i)->kind == SCOPE_PHASE;
    for (size_t i = 0; i < s->run->selection.here_count; i++)
        asked |= (s->run->selection.measures.data[i].flags & HQDB_METRIC_EXACT) != 0;
    summary_add(s, "measuring",
                arena_printf(&s->table->arena, "%s is what hq itself did (%s)%s", summary_share(s, own), HQDB_OWN_WORK,
                             asked ? "; with fewer of -e and --mark it is less" : ""),
                own);
    summary_ask(s, "callers of \"" HQDB_OWN_WORK "\" depth 1 limit 5");
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
    summary_add(s, "processors",
                arena_printf(&s->table->arena, "for %s of the %s for which threads wanted one they had none", had, all),
                delay);
}

/* ---- where it goes ---- */

/* Asks for all of what stands above in short. */
static void ask_above(struct summary *s, const char *question)
{
    if (s->question_count < QUESTIONS_MOST)
        s->questions[s->question_count].is_above = true;
    summary_ask(s, question);
}

static struct hq_error *tell_path(struct summary *s)
{
    struct table *t;
    AUTO_STR struct str text = {0};

    HQ_TRY(query_ask(s->env, s->path, &t));
    size_t n = 0;

    /* Rows below a recursion are of its innermost round, and have nothing of what the others do. */
    while (n < t->rows.len && (!n || t->rows.data[n - 1].times < 2))
        n++;
    while (n > 1 && t->columns.len &&
           !(t->rows.data[n - 1].cells[0].number >= HOT * s->total &&
             summary_is_sure(s, t->rows.data[n - 1].cells[0].number)))
        n--;
    size_t from = n > PATH_NAMES ? n - PATH_NAMES : 0;

    do {
        str_clear(&text);
        for (size_t i = from; i < n; i++) {
            str_add(&text, i > from ? " > " : from ? "... > " : "");
            name_shorten(&text, t->rows.data[i].name, PATH_COLUMNS, "...");
            if (t->rows.data[i].times > 1)
                str_addf(&text, " (x %u)", t->rows.data[i].times);
        }
    } while (text.len > PATH_ROOM && ++from < n);
    if (n && t->columns.len)
        str_addf(&text, ": %s", summary_share(s, t->rows.data[n - 1].cells[0].number));
    if (n)
        summary_add(s, "hot path", str_cstr(&text), t->columns.len ? t->rows.data[n - 1].cells[0].number : NAN);
    ask_above(s, s->path);
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
        if (!summary_is_sure(s, r->cells[0].number)) {
            s->unsure = true;
            break;
        }
        str_addf(&text, "%-5s  ", summary_share(s, r->cells[0].number));
        name_shorten(&text, r->name, NAME_COLUMNS, "...");
        if (r->file && r->line && r->kind != SCOPE_LOOP)
            str_addf(&text, "  [%s:%u]", path_base(r->file), r->line);
        if (r->apart)
            str_addf(&text, "  (%s)", r->apart);
        summary_add(s, name, str_cstr(&text), r->cells[0].number);
        if (!i)
            ask_above(s, question);
    }
    table_destroy(t);
    return NULL;
}

/* A sum that is nothing, or less, of values of both signs is no whole that shares are of. */
static void tell_nothing(struct summary *s)
{
    const struct measure *m = s->metric;
    bool values = false;

    for (uint32_t i = 0; m && i < s->run->tree->position_count && !values; i++)
        values = m->sums[i + 1] != m->sums[i];
    if (!values) {
        summary_add(s, "nothing", "no metric has a value: the program did nothing that was measured", NAN);
        return;
    }
    summary_add(s, "signs",
                arena_printf(&s->table->arena,
                             "values of %s are below zero and add up to %s: shares of that tell nothing", m->name,
                             summary_amount(s, s->total)),
                s->total);
    summary_ask(s, arena_printf(&s->table->arena, "procedures all columns %s sort by %s", s->own, s->own));
}

/* ---- all of it ---- */

static size_t lines_of(const char *text)
{
    return (NAME_ROOM + utf8_width(text) + SCREEN_COLUMNS - 1) / SCREEN_COLUMNS;
}

static void tell_questions(struct summary *s)
{
    size_t lines = 0;

    vec_foreach(row, &s->table->rows)
        lines += lines_of(row->cells[0].text);
    for (size_t i = 0; i < s->question_count; i++)
        lines += lines_of(s->questions[i].text);
    for (size_t i = 0; i < s->question_count; i++) {
        const struct summary_question *q = &s->questions[i];

        if (q->is_above && lines > SCREEN_LINES)
            lines -= lines_of(q->text);
        else
            summary_add(s, "ask next", q->text, NAN);
    }
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
        tell_nothing(s);
        tell_questions(s);
        return NULL;
    }
    tell_own_work(s);
    HQ_TRY(tell_path(s));
    HQ_TRY(tell_list(s, "procedures", arena_printf(a, "procedures columns %s sort by %s limit 5", s->own, s->own)));
    HQ_TRY(tell_list(s, "loops", arena_printf(a, "loops columns %s sort by %s limit 5", s->own, s->own)));
    if (s->unsure)
        run_note(s->run, "procedures and loops of fewer than %d samples are left out: that they have any is chance",
                 SAMPLES_LEAST);
    HQ_TRY(summary_tell_runtimes(s));
    if (!(s->metric->flags & HQDB_METRIC_EXACT) || s->metric->dim == DIM_SECONDS) /* bytes do not wait */
        summary_tell_waiting(s);
    HQ_TRY(summary_tell_regions(s));
    if (profiles_usual(&s->run->selection) == PER_RANK)
        HQ_TRY(summary_tell_balance(s, true));
    else if (count_threads(db) > 1 && !(s->metric->flags & HQDB_METRIC_ELAPSED)) /* which is how long a thread lived */
        HQ_TRY(summary_tell_balance(s, false));
    tell_questions(s);
    return NULL;
}

/* Finds the metric to tell about: sampled time if there is any, a device's if there is no other, none without
 * values. */
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
