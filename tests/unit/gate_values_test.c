/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a race together: what is new is extra work only if the whole rose, and what sampling explains of a row.
 */
#include "repl/gate/gate.h"
#include "repl/gate/values.h"
#include "tests/unit/test.h"
#include "tests/unit/uniform.h"
#include <math.h>
#include <string.h>

enum { MANY = 24 };

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979323846 * uniform());
}

struct cost {
    const char *path;
    double seconds;
};

/* A run of these rows, all of whose values are `factor` times as large; what is exact has bytes. */
static void add_run(struct gate_values *v, enum run_side side, size_t run, const struct cost *rows, size_t n,
                    double factor, bool exact)
{
    struct baseline_query q = {0};
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += rows[i].seconds * factor;
    for (size_t i = 0; i < n; i++)
        vec_push(&q.values, (struct baseline_value){.metric = exact ? "alloc_bytes.x" : "cputime.x",
                                                    .path = rows[i].path,
                                                    .absolute = exact,
                                                    .share = rows[i].seconds * factor / sum,
                                                    .value = rows[i].seconds * factor,
                                                    .samples = exact ? INFINITY : 1000 * sum,
                                                    .dim = exact ? DIM_BYTES : DIM_SECONDS});
    gate_values_add(v, side, run, &q);
    vec_deinit(&q.values);
}

struct race {
    const struct cost *old, *now;
    size_t old_rows, now_rows, pairs;
    double scatter; /* of a run as a whole */
    bool exact;
};

/* *line becomes the first that has `text`, "" if none has. */
static enum check_outcome judge(const struct race *r, const char *text, struct arena *arena, const char **line)
{
    struct gate_values v = {.room = MANY};
    struct check_lines lines = {0};
    struct gate_tolerance t = gate_tolerance_of(GATE_TOLERANCE);
    size_t wanted;

    for (size_t i = 0; i < r->pairs; i++) {
        add_run(&v, RUN_OLD, i, r->old, r->old_rows, 1 + r->scatter * normal(), r->exact);
        add_run(&v, RUN_NEW, i, r->now, r->now_rows, 1 + r->scatter * normal(), r->exact);
    }
    v.runs[RUN_OLD] = v.runs[RUN_NEW] = r->pairs;
    enum check_outcome outcome = gate_values_judge(&v, &t, GATE_FAMILY, arena, &lines, &wanted);

    if (line)
        *line = "";
    for (size_t i = 0; line && i < lines.len; i++)
        if (!**line && strstr(lines.data[i], text))
            *line = lines.data[i];
    vec_deinit(&lines);
    gate_values_deinit(&v);
    return outcome;
}

#define RACE(OLD, NOW, ...) \
    { \
        .old = OLD, .now = NOW, .old_rows = sizeof(OLD) / sizeof *(OLD), .now_rows = sizeof(NOW) / sizeof *(NOW), \
        __VA_ARGS__ \
    }

static const struct cost before[] = {{"procedure words", 0.6}, {"procedure read", 0.4}};
static const struct cost split[] = {{"procedure words", 0.3}, {"procedure insert", 0.3}, {"procedure read", 0.4}};
static const struct cost extra[] = {{"procedure words", 0.6}, {"procedure insert", 0.3}, {"procedure read", 0.4}};

TEST(a_part_that_became_a_procedure_is_no_rise)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *line;
    struct race r = RACE(before, split, .pairs = 10, .scatter = 0.02);

    CHECK_EQ_INT(judge(&r, "moved: cputime.x of procedure insert: 0 s -> ", &arena, &line), CHECK_PASS);
    CHECK(strstr(line, "all of it rose by less, so others had this before"));
}

TEST(extra_work_of_a_new_procedure_is_a_rise)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *line;
    struct race r = RACE(before, extra, .pairs = 10, .scatter = 0.02);

    CHECK_EQ_INT(judge(&r, "rose: cputime.x of procedure insert: 0 s -> ", &arena, &line), CHECK_FAIL);
    CHECK(*line);
}

/* Runs that differ by as much as the new row has cannot tell, and say so. */
TEST(new_rows_are_open_where_the_whole_may_have_risen)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const char *line;
    struct race r = RACE(before, split, .pairs = 4, .scatter = 0.3);

    CHECK_EQ_INT(judge(&r, "or moved from others", &arena, &line), CHECK_INCONCLUSIVE);
    CHECK(*line);
}

TEST(exact_values_that_moved_are_no_rise)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct cost some[] = {{"procedure words", 600}, {"procedure read", 400}},
                             same[] = {{"procedure words", 500}, {"procedure read", 400}, {"procedure f", 100}},
                             more[] = {{"procedure words", 600}, {"procedure read", 400}, {"procedure f", 10}};
    const char *line;
    struct race moved = RACE(some, same, .pairs = 2, .exact = true), rose = RACE(some, more, .pairs = 2, .exact = true);

    CHECK_EQ_INT(judge(&moved, "moved: alloc_bytes.x of procedure f", &arena, &line), CHECK_PASS);
    CHECK(*line);
    CHECK_EQ_INT(judge(&rose, "rose: alloc_bytes.x of procedure f", &arena, &line), CHECK_FAIL);
    CHECK(*line);
}

/*
 * 400 races each. Of a program of which a part became a procedure one in a hundred may fail, four; the bound is five
 * standard errors above. By the row alone all 400 did. Of 10 % extra nine in ten are found.
 */
TEST(what_moved_fails_once_in_a_hundred_and_what_is_extra_is_found)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct cost tenth[] = {{"procedure words", 0.6}, {"procedure f", 0.1}, {"procedure read", 0.4}};
    struct race moved = RACE(before, split, .pairs = MANY, .scatter = 0.05),
                found = RACE(before, tenth, .pairs = MANY, .scatter = 0.05);
    int failed = 0, seen = 0;

    for (int i = 0; i < 400; i++) {
        failed += judge(&moved, "", &arena, NULL) == CHECK_FAIL;
        seen += judge(&found, "", &arena, NULL) == CHECK_FAIL;
    }
    CHECK(failed <= 4 + 10);
    CHECK(seen >= 360);
}

/* 250 samples in four runs, 98 of 100 of one row: by the root of its count a rise of 10 % would not be ruled out. */
TEST(sampling_hardly_moves_what_is_nearly_all)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct cost most[] = {{"procedure solve", 0.0612}, {"procedure read", 0.0013}};
    struct race r = RACE(most, most, .pairs = 4, .scatter = 0.001);

    CHECK_EQ_INT(judge(&r, "", &arena, NULL), CHECK_PASS);
}

/* Two runs decide what is counted, and hardly tell of time that waits for others: beside it that is told. */
TEST(time_in_calls_that_wait_is_told_beside_what_is_counted)
{
    const double waited[] = {1, 2.5};
    struct gate_tolerance t = gate_tolerance_of(GATE_TOLERANCE);

    for (int alone = 0; alone < 2; alone++) {
        AUTO(arena_deinit) struct arena arena = {0};
        struct gate_values v = {.room = 2, .runs = {2, 2}};
        struct check_lines lines = {0};
        size_t wanted;

        for (size_t run = 0; run < 4; run++) {
            struct baseline_query q = {0};

            vec_push(&q.values, (struct baseline_value){.metric = "mpi_time",
                                                        .path = "procedure MPI_Wait",
                                                        .share = 1,
                                                        .value = waited[run % 2],
                                                        .samples = INFINITY,
                                                        .dim = DIM_SECONDS});
            if (!alone)
                vec_push(&q.values, (struct baseline_value){.metric = "mpi_calls",
                                                            .path = "procedure MPI_Wait",
                                                            .absolute = true,
                                                            .share = 1,
                                                            .value = 100,
                                                            .samples = INFINITY,
                                                            .dim = DIM_EVENTS});
            gate_values_add(&v, run < 2 ? RUN_OLD : RUN_NEW, run % 2, &q);
            vec_deinit(&q.values);
        }
        /* The waiting of the new runs comes in the other order, so that pairs differ. */
        vec_foreach(r, &v.rows)
            if (!strcmp(r->metric, "mpi_time")) {
                r->value[RUN_NEW][0] = waited[1];
                r->value[RUN_NEW][1] = waited[0];
            }
        CHECK_EQ_INT(gate_values_judge(&v, &t, GATE_FAMILY, &arena, &lines, &wanted),
                     alone ? CHECK_INCONCLUSIVE : CHECK_PASS);
        CHECK_EQ_INT(!strncmp(lines.data[lines.len - 1], "not judged is mpi_time", 22), !alone);
        vec_deinit(&lines);
        gate_values_deinit(&v);
    }
}

/* Another compiler gives the lines of a procedure to other inlined ones: only with the whole did one become slower. */
TEST(an_inlined_row_rises_with_a_procedure_or_the_whole)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct cost inlined[] = {{"procedure words", 0.5}, {"procedure a > inline swap", 0.1}},
                             other[] = {{"procedure words", 0.4}, {"procedure a > inline swap", 0.2}},
                             slower[] = {{"procedure words", 0.5}, {"procedure a > inline swap", 0.2}};
    const char *line;
    struct race moved = RACE(inlined, other, .pairs = MANY, .scatter = 0.02),
                rose = RACE(inlined, slower, .pairs = MANY, .scatter = 0.02),
                open = RACE(inlined, other, .pairs = 4, .scatter = 0.3);

    CHECK_EQ_INT(judge(&moved, "moved: cputime.x of procedure a > inline swap: ", &arena, &line), CHECK_PASS);
    CHECK(strstr(line, "all of it rose by less"));
    CHECK_EQ_INT(judge(&rose, "rose: cputime.x of procedure a > inline swap", &arena, &line), CHECK_FAIL);
    CHECK(*line);
    CHECK_EQ_INT(judge(&open, "", &arena, NULL), CHECK_INCONCLUSIVE);
}

/* A part that is slower fails, and the whole stands beside it. */
TEST(a_part_that_rose_is_told_beside_the_whole)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct cost now[] = {{"procedure words", 0.3}, {"procedure read", 0.5}};
    const char *line;
    struct race r = RACE(before, now, .pairs = MANY, .scatter = 0.02);

    CHECK_EQ_INT(judge(&r, "the whole: all cputime: ", &arena, &line), CHECK_FAIL);
    CHECK(*line);
}

/* Two loops that changed places are known by what they call, and become one row each with what their procedure has. */
TEST(loops_that_call_what_others_called_are_judged_as_a_whole)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct cost placed[] = {{"procedure work > loop 1/2 of work > procedure take", 0.4},
                                         {"procedure work > loop 2/2 of work > procedure give", 0.6}},
                             swapped[] = {{"procedure work > loop 1/2 of work > procedure give", 0.6},
                                          {"procedure work > loop 2/2 of work > procedure take", 0.4}},
                             slower[] = {{"procedure work > loop 1/2 of work > procedure give", 0.6},
                                         {"procedure work > loop 2/2 of work > procedure take", 0.6}},
                             another[] = {{"procedure work > loop 1/2 of work > procedure take", 0.4},
                                          {"procedure work > loop 1/2 of work > procedure give", 0.3},
                                          {"procedure work > loop 2/2 of work > procedure give", 0.3}};
    static const char text[] = "judged as a whole are the loops of work: they call";
    const char *line;
    struct race same = RACE(placed, swapped, .pairs = MANY, .scatter = 0.02),
                rose = RACE(placed, slower, .pairs = MANY, .scatter = 0.02),
                more = RACE(placed, another, .pairs = MANY, .scatter = 0.02);

    CHECK_EQ_INT(judge(&same, text, &arena, &line), CHECK_PASS);
    CHECK(*line);
    CHECK_EQ_INT(judge(&rose, "cputime.x of procedure work > procedure take", &arena, &line), CHECK_FAIL);
    CHECK(strstr(line, "rose: "));
    judge(&more, text, &arena, &line);
    CHECK(!*line);
}

/* A line tells which rise by the clock an `ok` of CPU time does not rule out. */
TEST(elapsed_time_tells_what_it_does_not_rule_out)
{
    AUTO(arena_deinit) struct arena arena = {0};
    enum { PAIRS = 6 };
    static const struct {
        double new_runs[PAIRS];
        enum check_outcome outcome;
        const char *line;
    } cases[] = {
        {{1, 1.01, 0.99, 1, 1.01, 0.99}, CHECK_PASS, "by the clock (-e REALTIME)"},
        {{1, 2, 0.5, 1.5, 0.6, 1}, CHECK_PASS, "by the clock, of which a rise of up to"},
        {{1.5, 1.51, 1.49, 1.5, 1.51, 1.5}, CHECK_INCONCLUSIVE, "by the clock, +50%"},
    };
    struct gate_tolerance t = gate_tolerance_of(GATE_TOLERANCE);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct check_lines lines = {0};
        struct gate_query q = {.values.judged_time = true};
        struct gate g;

        gate_init(&g, NULL, PAIRS);
        for (int k = 0; k < PAIRS; k++) {
            g.elapsed[RUN_OLD][k] = 1;
            g.elapsed[RUN_NEW][k] = cases[i].new_runs[k];
        }
        CHECK_EQ_INT(gate_judge_elapsed(&g, &q, PAIRS, &t, &arena, &lines), cases[i].outcome);
        CHECK_EQ_INT(lines.len, 1);
        CHECK(lines.len && strstr(lines.data[0], cases[i].line));
        vec_deinit(&lines);
        gate_deinit(&g);
    }
}

/* Runs of rows that are given one by one, of a part of a program or of all of it; *line as in judge(). */
struct given {
    const char *metric, *path;
    double old[4], now[4];
};

static enum check_outcome judge_given(const struct given *rows, size_t n, size_t pairs, double tolerance, bool part,
                                      bool exact, const char *text, struct arena *arena, const char **line)
{
    struct gate_values v = {.room = 4, .runs = {pairs, pairs}, .part = part};
    struct check_lines lines = {0};
    struct gate_tolerance t = gate_tolerance_of(tolerance);
    size_t wanted;

    t.exact = tolerance == GATE_TOLERANCE ? t.exact : tolerance;
    for (int side = 0; side < RUN_SIDES; side++)
        for (size_t run = 0; run < pairs; run++) {
            struct baseline_query q = {0};

            for (size_t i = 0; i < n; i++) {
                const double *values = side == RUN_OLD ? rows[i].old : rows[i].now;
                double sum = 0;

                for (size_t k = 0; k < n; k++)
                    if (!strcmp(rows[k].metric, rows[i].metric))
                        sum += (side == RUN_OLD ? rows[k].old : rows[k].now)[run];
                if (values[run] > 0)
                    vec_push(&q.values, (struct baseline_value){.metric = rows[i].metric,
                                                                .path = rows[i].path,
                                                                .absolute = exact,
                                                                .share = values[run] / sum,
                                                                .value = values[run],
                                                                .samples = INFINITY,
                                                                .dim = exact ? DIM_BYTES : DIM_SECONDS});
            }
            gate_values_add(&v, side, run, &q);
            vec_deinit(&q.values);
        }
    enum check_outcome outcome = gate_values_judge(&v, &t, GATE_FAMILY, arena, &lines, &wanted);

    CHECK_EQ_INT(v.judged_time, !exact);
    CHECK(!v.slower || (!exact && outcome == CHECK_FAIL));
    *line = "";
    for (size_t i = 0; i < lines.len; i++)
        if (!**line && strstr(lines.data[i], text))
            *line = lines.data[i];
    vec_deinit(&lines);
    gate_values_deinit(&v);
    return outcome;
}

#define GIVEN(ROWS, PAIRS, TOLERANCE, PART, EXACT, TEXT) \
    judge_given(ROWS, sizeof(ROWS) / sizeof *(ROWS), PAIRS, TOLERANCE, PART, EXACT, TEXT, &arena, &line)

TEST(what_is_counted_has_half_a_percent)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct given less[] = {{"b", "procedure f", {1000, 1000}, {1004, 1004}}},
                              more[] = {{"b", "procedure f", {1000, 1000}, {1006, 1006}}},
                              small[] = {{"b", "procedure f", {4, 4}, {4.9, 4.9}},
                                         {"b", "procedure g", {1000, 1000}, {999, 999}}},
                              scattered[] = {{"b", "procedure f", {100, 110}, {110, 102}}},
                              seldom[] = {{"b", "procedure f", {12, 0}, {24, 0}},
                                          {"b", "procedure g", {988, 1000}, {976, 1000}}};
    const char *line;

    /* A verdict that is ok says what was measured, too: where there is no whole of its largest row. */
    CHECK_EQ_INT(GIVEN(less, 2, GATE_TOLERANCE, false, true, "the largest: b of procedure f: 1000 B -> 1004 B, +0.4%"),
                 CHECK_PASS);
    CHECK(*line);
    CHECK_EQ_INT(GIVEN(small, 2, GATE_TOLERANCE, false, true, "the whole: all b: 1004 B -> "), CHECK_PASS);
    CHECK(*line);
    CHECK_EQ_INT(GIVEN(more, 2, GATE_TOLERANCE, false, true, ""), CHECK_FAIL);
    /* Less than half a percent of all on both sides is not judged, by the means of the runs. */
    CHECK_EQ_INT(GIVEN(small, 2, GATE_TOLERANCE, false, true, ""), CHECK_PASS);
    CHECK_EQ_INT(GIVEN(seldom, 2, GATE_TOLERANCE, false, true, ""), CHECK_INCONCLUSIVE);
    /* What differs from run to run is not compared to the byte. */
    CHECK_EQ_INT(GIVEN(scattered, 2, GATE_TOLERANCE, false, true, ""), CHECK_INCONCLUSIVE);
}

/* Of ten seconds: half a tenth of a row, and no less than a hundredth of all; and of a small row it is enough if one of
 * 4 % of all is ruled out. */
TEST(tolerances_are_of_the_row_and_of_all)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct given less[] = {{"s", "procedure f", {0.3, 0.3}, {0.36, 0.36}},
                                        {"s", "procedure g", {9.7, 9.7}, {9.64, 9.64}}},
                              more[] = {{"s", "procedure f", {0.3, 0.3}, {0.55, 0.55}},
                                        {"s", "procedure g", {9.7, 9.7}, {9.45, 9.45}}},
                              wide[] = {{"s", "procedure f", {1, 1.08, 0.84, 1.1}, {1.08, 0.84, 1.16, 0.94}},
                                        {"s", "procedure g", {9, 8.92, 9.16, 8.9}, {8.92, 9.16, 8.84, 9.06}}};
    const char *line;

    CHECK_EQ_INT(GIVEN(less, 2, GATE_TOLERANCE, false, false, ""), CHECK_PASS);
    CHECK_EQ_INT(GIVEN(more, 2, GATE_TOLERANCE, false, false, ""), CHECK_FAIL);
    CHECK_EQ_INT(GIVEN(wide, 4, GATE_TOLERANCE, false, false, ""), CHECK_PASS);
}

TEST(a_program_that_did_not_run_is_not_faster)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct given gone[] = {{"s", "procedure f", {1, 1}, {0.009, 0.009}}},
                              fast[] = {{"s", "procedure f", {1, 1}, {0.011, 0.011}}},
                              waits[] = {{"r", "procedure f", {1, 1}, {1, 1}},
                                         {"s", "procedure f", {1, 1}, {0.001, 0.001}}},
                              first[] = {{"s", "procedure f", {1, 1}, {0.001, 0.001}},
                                         {"r", "procedure f", {1, 1}, {1, 1}}};
    const char *line;

    CHECK_EQ_INT(GIVEN(gone, 2, GATE_TOLERANCE, false, false, "does it run at all"), CHECK_INCONCLUSIVE);
    CHECK(*line);
    CHECK_EQ_INT(GIVEN(fast, 2, GATE_TOLERANCE, false, false, ""), CHECK_PASS);
    /* One that sleeps ran all the same, and so did one of which bytes are counted. */
    CHECK_EQ_INT(GIVEN(waits, 2, GATE_TOLERANCE, false, false, ""), CHECK_PASS);
    CHECK_EQ_INT(GIVEN(first, 2, GATE_TOLERANCE, false, false, ""), CHECK_PASS);
    CHECK_EQ_INT(GIVEN(gone, 2, GATE_TOLERANCE, false, true, ""), CHECK_PASS);
}

/* A procedure that is gone is one new one under another name, and not two. */
TEST(one_that_is_gone_was_renamed_once)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct given one[] = {{"s", "procedure a", {3, 3}, {0, 0}},
                                       {"s", "procedure b", {0, 0}, {3, 3}},
                                       {"s", "procedure c", {7, 7}, {7, 7}}},
                              two[] = {{"s", "procedure a", {3, 3}, {0, 0}},
                                       {"s", "procedure b", {0, 0}, {3, 3}},
                                       {"s", "procedure d", {0, 0}, {3.1, 3.1}},
                                       {"s", "procedure c", {7, 7}, {7, 7}}};
    const char *line;

    CHECK_EQ_INT(GIVEN(one, 2, GATE_TOLERANCE, true, false,
                       "renamed? s of procedure a (3 s) is gone, and s of procedure b (3 s) is new: "
                       "taken for one, +0.0%"),
                 CHECK_PASS);
    CHECK(*line);
    CHECK_EQ_INT(GIVEN(two, 2, GATE_TOLERANCE, true, false, "rose: s of procedure d"), CHECK_FAIL);
    CHECK(*line);
}

/* A new row of two hundredths of all keeps nothing open, of a part of the program whose whole is not judged. */
TEST(small_new_rows_keep_nothing_open)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct given small[] = {{"s", "procedure f", {0, 0}, {0.2, 0.2}},
                                         {"s", "procedure g", {6, 6}, {6, 6}},
                                         {"s", "file h", {4, 5}, {5, 4}}},
                              large[] = {{"s", "procedure f", {0, 0}, {0.7, 0.7}},
                                         {"s", "procedure g", {6, 6}, {6, 6}},
                                         {"s", "file h", {0.01, 0.03}, {0.03, 0.01}}};
    const char *line;

    judge_given(small, 3, 2, GATE_TOLERANCE, true, false, "procedure f: extra, if all of it rose", &arena, &line);
    CHECK(!*line);
    CHECK_EQ_INT(GIVEN(large, 2, GATE_TOLERANCE, true, false, ""), CHECK_FAIL);
}

/* Loops that one side has more of are one row with what is called in them, all of it. */
TEST(loops_of_other_numbers_are_added_up)
{
    AUTO(arena_deinit) struct arena arena = {0};
    static const struct given same[] = {{"s", "procedure work > loop 1/2 of work > procedure take", {4, 4}, {0, 0}},
                                        {"s", "procedure work > loop 2/2 of work > procedure take", {6, 6}, {0, 0}},
                                        {"s", "procedure work > loop 1/3 of work > procedure take", {0, 0}, {4, 4}},
                                        {"s", "procedure work > loop 2/3 of work > procedure take", {0, 0}, {3, 3}},
                                        {"s", "procedure work > loop 3/3 of work > procedure take", {0, 0}, {3, 3}}},
                              more[] = {{"s", "procedure work > loop 1/2 of work > procedure take", {4, 4}, {0, 0}},
                                        {"s", "procedure work > loop 2/2 of work > procedure take", {6, 6}, {0, 0}},
                                        {"s", "procedure work > loop 1/3 of work > procedure take", {0, 0}, {4, 4}},
                                        {"s", "procedure work > loop 2/3 of work > procedure take", {0, 0}, {3, 3}},
                                        {"s", "procedure work > loop 3/3 of work > procedure take", {0, 0}, {6, 6}}};
    const char *line;

    CHECK_EQ_INT(GIVEN(same, 2, GATE_TOLERANCE, true, false, "judged as a whole are the loops of work (2, now 3)"),
                 CHECK_PASS);
    CHECK(*line);
    CHECK_EQ_INT(
        GIVEN(more, 2, GATE_TOLERANCE, true, false, "rose: s of procedure work > procedure take: 10 s -> 13 s"),
        CHECK_FAIL);
    CHECK(*line);
}

TEST_MAIN
