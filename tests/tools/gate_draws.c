/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate_draws LIST [DRAWS]: draws pairs of sets of runs from a pool (tests/soak/gate_pool.py) and lets hq's own code
 * judge each, as `hq race` and a baseline do. A line of LIST is `PROGRAM ROUND SECONDS DATABASE`; NAME.a and NAME.b are
 * one program, NAME+N the same with its procedure `planted` N % slower.
 *
 * A set is of consecutive rounds that begin anywhere, so that drift stays in it. Of an unchanged pair which of the two
 * runs of a round is called old is drawn for each round. Draws overlap: an interval takes as many of them for
 * independent as there are separate stretches of rounds in the pool, times the programs in the line. Prints tables in
 * Markdown.
 */
#include "common/file.h"
#include "common/hash.h"
#include "repl/gate/gate.h"
#include "repl/gate/looks.h"
#include "tests/tools/gate_counts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pool_run {
    struct baseline_query values, groups, system; /* texts in the program's arena; system: only_system */
    double seconds;
    bool there;
};

struct program {
    char *name;
    struct baseline texts;
    VEC(struct pool_run) runs; /* by round */
};

static VEC(struct program) pool;
static uint64_t random_state = 1;

static size_t draw(size_t n)
{
    return hash_u64(++random_state) % n;
}

/* ---- the pool ---- */

static struct program *program_of(const char *name)
{
    vec_foreach(p, &pool)
        if (!strcmp(p->name, name))
            return p;
    vec_push(&pool, (struct program){.name = xstrdup(name)});
    return &vec_last(&pool);
}

struct reading {
    struct program *program;
    struct pool_run *run;
    struct session *session;
};

static struct hq_error *on_query(void *arg, const struct statement *st)
{
    struct reading *r = arg;
    struct table *t = NULL;

    HQ_TRY(gate_measure(&r->session->env, st, &t));
    struct baseline_query *to = r->session->env.only_system ? &r->run->system
                                : r->run->values.values.len ? &r->run->groups
                                                            : &r->run->values;

    if (t)
        baseline_measure(&r->program->texts, to, t, 0);
    table_destroy(t);
    return NULL;
}

static struct hq_error *read_run(struct program *p, struct pool_run *run, const char *path)
{
    struct session s;
    struct reading r = {p, run, &s};
    static const char text[] = "procedures; groups by runtime", again[] = "procedures";

    session_init(&s);
    s.quiet = true;
    s.on_query = on_query;
    s.on_arg = &r;
    struct hq_error *error = session_open(&s, path, NULL);

    if (!error)
        session_text(&s, &(struct source){.name = "query", .text = text, .length = sizeof text - 1});
    s.env.only_system = true;
    if (!error)
        session_text(&s, &(struct source){.name = "query", .text = again, .length = sizeof again - 1});
    session_deinit(&s);
    return error;
}

static struct hq_error *read_pool(const char *list)
{
    AUTO_FREE char *directory = file_dirname(list);
    FILE *f = fopen(list, "r");
    char name[100], db[200];
    unsigned round;
    double seconds;
    struct hq_error *error = f ? NULL : hq_error_errno(HQ_DATA, "%s", list);

    while (!error && fscanf(f, "%99s %u %lf %199s", name, &round, &seconds, db) == 4) {
        struct program *p = program_of(name);
        AUTO_FREE char *path = file_join(directory, db);

        while (p->runs.len <= round)
            vec_push(&p->runs, (struct pool_run){0});
        p->runs.data[round].seconds = seconds;
        p->runs.data[round].there = true;
        error = read_run(p, &p->runs.data[round], path);
    }
    if (f)
        fclose(f);
    return error;
}

static struct program *find(const char *base, const char *suffix)
{
    AUTO_FREE char *name = xasprintf("%s%s", base, suffix);

    vec_foreach(p, &pool)
        if (!strcmp(p->name, name))
            return p;
    return NULL;
}

/* ---- races ---- */

static bool names_planted(const struct check_lines *lines)
{
    for (size_t i = 0; i < lines->len; i++)
        if (!strncmp(lines->data[i], "rose:", 5) && strstr(lines->data[i], "planted"))
            return true;
    return false;
}

/* One race from a round on; `mix`: which of the two is called old is drawn. False: the pool ended first. */
static bool race(const struct program *a, const struct program *b, size_t first, bool mix, const struct gate_looks *how,
                 struct counts *c)
{
    struct gate_looks looks = *how;
    struct gate_values v = {.room = LOOKS_PAIRS_MAX};
    AUTO(arena_deinit) struct arena arena = {0};
    struct check_lines lines = {0};
    enum check_outcome outcome = CHECK_INCONCLUSIVE;
    size_t pairs = 0, wanted, rounds = a->runs.len < b->runs.len ? a->runs.len : b->runs.len;
    struct gate_tolerance tolerance = gate_tolerance_of(GATE_TOLERANCE);
    double seconds = 0, family;
    bool ended = false;

    while (!ended && first + pairs < rounds) {
        const struct pool_run *old = &a->runs.data[first + pairs], *now = &b->runs.data[first + pairs];

        if (mix && draw(2)) {
            const struct pool_run *other = old;

            old = now;
            now = other;
        }
        if (!old->there || !now->there)
            break;
        gate_values_add(&v, RUN_OLD, pairs, &old->values);
        gate_values_add(&v, RUN_NEW, pairs, &now->values);
        pairs++;
        seconds += old->seconds + now->seconds;
        if (!gate_look(&looks, pairs, seconds, &family))
            continue;
        v.runs[RUN_OLD] = v.runs[RUN_NEW] = pairs;
        outcome = gate_values_judge(&v, &tolerance, family, &arena, NULL, &wanted);
        ended = looks.last || outcome != CHECK_INCONCLUSIVE;
        if (outcome == CHECK_FAIL)
            gate_values_judge(&v, &tolerance, family, &arena, &lines, &wanted);
    }
    if (ended) {
        c->draws++;
        c->fail += outcome == CHECK_FAIL;
        c->ok += outcome == CHECK_PASS;
        c->open += outcome == CHECK_INCONCLUSIVE;
        c->named += outcome == CHECK_FAIL && names_planted(&lines);
        c->seconds += seconds;
        c->rounds += (double)pairs;
    }
    vec_deinit(&lines);
    gate_values_deinit(&v);
    return ended;
}

static struct counts races(const struct program *a, const struct program *b, const struct program *other, bool mix,
                           size_t draws, const struct gate_looks *how)
{
    struct counts c = {0};

    for (size_t i = 0; i < 4 * draws && c.draws < draws; i++)
        race(other && draw(2) ? other : a, b, draw(a->runs.len), mix, how, &c);
    c.independent = c.draws ? fmax(1, (double)a->runs.len / (c.rounds / (double)c.draws)) : 0;
    return c;
}

/* ---- baselines ---- */

enum part { PART_ALL, PART_SYSTEM, PART_GROUPS };

static const struct baseline_query *part_of(const struct pool_run *run, enum part part)
{
    return part == PART_SYSTEM ? &run->system : part == PART_GROUPS ? &run->groups : &run->values;
}

/* The total of the one metric that all programs of the pool measure. */
static double whole_of(const struct pool_run *run)
{
    const struct baseline_query *q = &run->values;

    return q->values.len && q->values.data[0].share > 0 ? q->values.data[0].value / q->values.data[0].share : 0;
}

static bool are_there(const struct program *p, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        if (i >= p->runs.len || !p->runs.data[i].there)
            return false;
    return true;
}

/* Runs of `joined` rounds each, added up: a longer run of the same program. */
static void join(struct baseline_query *out, const struct program *p, size_t first, size_t joined, enum part part)
{
    AUTO(row_names_deinit) struct row_names names = {0};
    double whole = 0, samples = 0;

    for (size_t i = 0; i < joined; i++) {
        const struct pool_run *run = &p->runs.data[first + i];

        vec_foreach(v, &part_of(run, part)->values) {
            bool is_new;
            struct baseline_value *to = baseline_value_add(out, &names, v, &is_new);

            if (!is_new)
                to->value += v->value;
        }
        whole += whole_of(run);
        samples += run->values.values.len ? run->values.values.data[0].samples : 0;
    }
    vec_foreach(v, &out->values) {
        v->share = whole > 0 ? v->value / whole : 0;
        v->samples = samples;
    }
}

enum { BASELINE_RUNS = 5 };

/* As a check measures a set: `computes` splits its runs. */
static void average(struct baseline *b, const struct program *p, size_t first, size_t joined, bool computes)
{
    struct baseline_query runs[BASELINE_RUNS] = {0}, *q;
    const struct baseline_query *list[BASELINE_RUNS];

    for (size_t i = 0; i < BASELINE_RUNS; i++) {
        struct baseline_query system = {0}, groups = {0};

        list[i] = &runs[i];
        join(&runs[i], p, first + i * joined, joined, PART_ALL);
        join(&system, p, first + i * joined, joined, PART_SYSTEM);
        join(&groups, p, first + i * joined, joined, PART_GROUPS);
        if (computes)
            baseline_split(&b->arena, &runs[i], &system, &groups, 0);
        vec_deinit(&system.values);
        vec_deinit(&groups.values);
    }
    q = baseline_add(b, "procedures");
    baseline_average(q, list, BASELINE_RUNS, 0.005);
    q->computes = computes;
    for (size_t i = 0; i < BASELINE_RUNS; i++) {
        q->system += runs[i].system / BASELINE_RUNS;
        vec_deinit(&runs[i].values);
    }
}

static double system_in(const struct program *p, size_t first, size_t length)
{
    double sum = 0;

    for (size_t i = 0; i < length; i++)
        sum += baseline_system(&p->runs.data[first + i].groups);
    return sum / (double)length;
}

/* HQ_TELL=N: of the first checks that are not ok. */
static void tell(const struct program *a, const struct program *b, size_t first, size_t second,
                 const struct check_lines *lines)
{
    static long told;
    const char *most = getenv("HQ_TELL");

    if (!most || told++ >= atol(most))
        return;
    printf("%s from %zu on, %s from %zu on:\n", a->name, first, b->name, second);
    vec_foreach(line, lines)
        printf("    %s\n", *line);
}

static bool check(const struct program *a, const struct program *b, size_t joined, struct counts *c)
{
    AUTO(baseline_deinit) struct baseline before = {0}, now = {0};
    AUTO(arena_deinit) struct arena arena = {0};
    struct check_lines lines = {0};
    size_t length = BASELINE_RUNS * joined, first = draw(a->runs.len);
    /* The new runs come soon or late after the old ones, or before them: hours become busier and calmer. */
    size_t second = first + length + draw(a->runs.len);

    if (draw(2)) {
        size_t swapped = first;

        first = second;
        second = swapped;
    }

    if (!are_there(a, first, length) || !are_there(b, second, length))
        return false;
    double system = system_in(a, first, length);
    bool computes = system >= BASELINE_SYSTEM;

    average(&before, a, first, joined, computes);
    average(&now, b, second, joined, computes);
    baseline_renew(&before.queries.data[0], NULL, false, 0, 0.005);
    double alpha = baseline_alpha(&before, &now.queries.data[0]);

    /* As the file keeps it. */
    now.queries.data[0].system_before = round(20 * system) / 20;
    enum check_outcome outcome = baseline_judge(&before.queries.data[0], &now.queries.data[0], alpha, &arena, &lines,
                                                NULL);

    if (outcome != CHECK_PASS)
        tell(a, b, first, second, &lines);
    c->draws++;
    c->fail += outcome == CHECK_FAIL;
    c->ok += outcome == CHECK_PASS;
    c->open += outcome == CHECK_INCONCLUSIVE;
    c->named += outcome == CHECK_FAIL && names_planted(&lines);
    c->rounds += 2 * (double)length;
    for (size_t i = 0; i < length; i++)
        c->seconds += a->runs.data[first + i].seconds + b->runs.data[second + i].seconds;
    vec_deinit(&lines);
    return true;
}

static struct counts checks(const struct program *a, const struct program *b, size_t joined, size_t draws)
{
    struct counts c = {0};

    if (a->runs.len >= 2 * BASELINE_RUNS * joined)
        for (size_t i = 0; i < 40 * draws && c.draws < draws; i++)
            check(a, b, joined, &c);
    c.independent = c.draws ? fmax(1, (double)a->runs.len / (c.rounds / (double)c.draws)) : 0;
    return c;
}

/* ---- how far runs differ ---- */

/* The seconds of `planted`, or of the whole, by round; their deviation from run to run in percent. */
static double value_of(const struct pool_run *run, bool planted)
{
    double largest = 0;

    vec_foreach(v, &run->values.values) {
        if (planted && strstr(v->path, "planted(") && !strstr(v->metric, ".x"))
            return v->value;
        if (!planted && v->share > 0)
            largest = fmax(largest, v->value / v->share);
    }
    return planted ? 0 : largest;
}

static void print_spread(const char *base, bool planted)
{
    const struct program *a = find(base, ".a"), *b = find(base, ".b");
    double n = 0, sum = 0, squares = 0, apart = 0;

    for (size_t i = 0; i < a->runs.len && i < b->runs.len; i++) {
        if (!a->runs.data[i].there || !b->runs.data[i].there)
            continue;
        double x = value_of(&a->runs.data[i], planted), y = value_of(&b->runs.data[i], planted);

        n++;
        sum += x + y;
        squares += x * x + y * y;
        apart += (x - y) * (x - y);
    }
    double mean = sum / (2 * n), sd = sqrt((squares - 2 * n * mean * mean) / (2 * n - 1));

    printf("| %s, %s | %.0f | %.3f s | %.1f %% | %.1f %% |\n", base, planted ? "`planted`" : "all", n, mean,
           100 * sd / mean, 100 * sqrt(apart / (2 * n)) / mean);
}

/* ---- tables ---- */

static VEC(const char *) unchanged; /* what NAME.a and NAME.b are runs of, in the order of their names */
static const char *const slower[] = {"5", "10", "20", "50"};
enum { SLOWER = sizeof slower / sizeof *slower };

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_unchanged(void)
{
    vec_foreach(p, &pool) {
        size_t n = strlen(p->name);
        char *name = n > 2 && !strcmp(p->name + n - 2, ".a") ? xstrndup(p->name, n - 2) : NULL;

        if (name && find(name, ".b"))
            vec_push(&unchanged, name);
        else
            free(name);
    }
    vec_sort(&unchanged, by_name);
}

/* A line for each program and one for all together; which of them failed more often than once in a hundred beyond
 * chance. */
static struct counts print_unchanged(size_t draws, const struct gate_looks *how, size_t joined)
{
    struct counts all = {0};

    vec_foreach(name, &unchanged) {
        const struct program *a = find(*name, ".a"), *b = find(*name, ".b");
        struct counts c = joined ? checks(a, b, joined, draws) : races(a, b, NULL, true, draws, how);

        print_counts(*name, &c, false);
        add(&all, &c);
    }
    print_counts("**all**", &all, false);
    return all;
}

static void print_slower(size_t draws, const struct gate_looks *how, size_t joined)
{
    vec_foreach(base, &unchanged)
        for (size_t k = 0; k < SLOWER; k++) {
            AUTO_FREE char *suffix = xasprintf("+%s", slower[k]), *name = xasprintf("%s %s %%", *base, suffix);
            const struct program *a = find(*base, ".a"), *b = find(*base, suffix);

            if (!a || !b)
                continue;
            struct counts c = joined ? checks(a, b, joined, draws) : races(a, b, find(*base, ".b"), false, draws, how);

            print_counts(name, &c, true);
        }
}

int main(int argc, char **argv)
{
    static const struct gate_looks patient = {.budget = 120}, short_ones[] = {{.fixed = 6}, {.fixed = 10}};
    size_t draws = argc > 2 ? (size_t)atol(argv[2]) : 1000;
    struct hq_error *error = argc > 1 ? read_pool(argv[1]) : hq_error_new(HQ_USAGE, "gate_draws LIST [DRAWS]");

    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return 2;
    }
    printf("| program | rounds | mean | sd of all runs | sd of neighbours |\n|---|---|---|---|---|\n");
    find_unchanged();
    vec_foreach(name, &unchanged) {
        print_spread(*name, false);
        if (value_of(&find(*name, ".a")->runs.data[0], true) > 0)
            print_spread(*name, true);
    }
    print_heading("Races of unchanged programs", false, "pairs");
    struct counts race_all = print_unchanged(draws, &patient, 0);

    print_heading("Races with a slower one", true, "pairs");
    print_slower(draws, &patient, 0);
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
        print_heading(short_ones[i].fixed == 6 ? "Races by -n 6, unchanged" : "Races by -n 10, unchanged", false,
                      "pairs");
        print_unchanged(draws, &short_ones[i], 0);
    }
    for (size_t joined = 1; joined <= 3; joined += 2) {
        AUTO_FREE char *title = xasprintf("Baselines of five runs, each of %zu rounds, unchanged", joined);

        print_heading(title, false, "rounds");
        print_unchanged(draws, NULL, joined);
        print_heading("the same, slower", true, "rounds");
        print_slower(draws, NULL, joined);
    }
    /* What the method promises, three standard errors of an independent draw away. */
    double n = fmin((double)race_all.draws, race_all.independent);
    bool fine = (double)race_all.fail / (double)race_all.draws <= 0.01 + 3 * sqrt(0.01 * 0.99 / n);

    return !fine;
}
