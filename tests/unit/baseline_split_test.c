/* SPDX-License-Identifier: BSD-3-Clause */
/* Baselines: what computes apart from what is in the system, and what the machine of an hour may make of shares. */
#include "repl/baseline/baseline.h"
#include "tests/unit/baseline_values.h"
#include "tests/unit/test.h"

static struct baseline_value of(const char *metric, const char *path, double share, double seconds)
{
    return (struct baseline_value){.metric = metric,
                                   .path = path,
                                   .share = share,
                                   .samples = 1000,
                                   .value = seconds,
                                   .dim = DIM_SECONDS,
                                   .runs = 1};
}

static const struct baseline_value *find(const struct baseline_query *q, const char *metric, const char *path)
{
    vec_foreach(v, &q->values)
        if (!strcmp(v->metric, metric) && !strcmp(v->path, path))
            return v;
    return NULL;
}

/* 1 s: f computes 0.3, g calls MPI_Wait, which waits 0.6, and computes 0.1. */
TEST(what_computes_is_apart)
{
    AUTO(arena_deinit) struct arena arena = {0};
    struct baseline_query q = {0}, system = {0}, groups = {0};
    const struct baseline_value *v;

    vec_push(&q.values, of("cputime", "procedure f", 0.3, 0.3));
    vec_push(&q.values, of("cputime", "procedure g", 0.7, 0.7));
    vec_push(&q.values, of("cputime.x", "procedure g", 0.1, 0.1));
    vec_push(&q.values, of("cputime.x", "procedure MPI_Wait", 0.6, 0.6));
    vec_push(&q.values, exact("procedure f", 10));
    vec_push(&system.values, of("cputime", "procedure g", 0.6, 0.6));
    vec_push(&system.values, of("cputime.x", "procedure MPI_Wait", 0.6, 0.6));
    vec_push(&groups.values, of("cputime.x", "group user code", 0.4, 0.4));
    vec_push(&groups.values, of("cputime.x", "group MPI", 0.6, 0.6));
    baseline_split(&arena, &q, &system, &groups, 0.005);
    CHECK(q.computes);
    CHECK_NEAR(q.system, 0.6, 1e-12);
    v = find(&q, "cputime", "procedure f");
    CHECK(v && v->samples == 400);
    CHECK_NEAR(v->share, 0.75, 1e-12);
    CHECK_NEAR(v->value, 0.3, 1e-12);
    v = find(&q, "cputime", "procedure g");
    CHECK(v != NULL);
    CHECK_NEAR(v->share, 0.25, 1e-12);
    v = find(&q, "cputime.system", "procedure g");
    CHECK(v && v->samples == 1000 && baseline_is_system(v->metric));
    CHECK_NEAR(v->share, 0.6, 1e-12);
    CHECK(!find(&q, "cputime.x", "procedure MPI_Wait") && find(&q, "cputime.system.x", "procedure MPI_Wait"));
    v = find(&q, "alloc_bytes", "procedure f");
    CHECK(v && v->absolute && v->value == 10);
    CHECK_EQ_INT(q.values.len, 6);
    vec_deinit(&q.values);
    vec_deinit(&system.values);
    vec_deinit(&groups.values);
}

TEST(tolerances_beside_the_system)
{
    struct baseline_query q = {0};
    struct baseline_value v = runs("procedure f", 0.5, 0.01, 5), in = v;

    in.metric = "cputime.system.x";
    CHECK_NEAR(baseline_tolerance(&q, &v), 0.1, 1e-12);
    CHECK_NEAR(baseline_tolerance(&q, &in), 0.34, 1e-12); /* such time twice as long: 16.7 points, and twice that */
    in.share = 0.05;
    CHECK_NEAR(baseline_tolerance(&q, &in), 0.1, 1e-12);
    in.share = 0.1;
    in.runs = 1;
    CHECK_NEAR(baseline_tolerance(&q, &in), 0.2, 1e-12);
    /* Four points of all the time. */
    q.computes = true;
    q.system = 0.5;
    CHECK_NEAR(baseline_tolerance(&q, &v), 0.1, 1e-12);
    q.system = 0.75;
    CHECK_NEAR(baseline_tolerance(&q, &v), 0.16, 1e-12);
}

static struct baseline_value with_seconds(const char *path, double share, double seconds)
{
    struct baseline_value v = runs(path, share, 0.005, 5);

    v.value = seconds;
    v.value_sd = 0.01 * seconds;
    return v;
}

static void check_machine(struct baseline_value old, struct baseline_value now, enum check_outcome want)
{
    AUTO_FREE char *line = NULL;

    CHECK_EQ_INT(judge_all(&old, 1, &now, 1, 0.01 / 20, &line), want);
}

/* A row of 0.6 s of 1 s: what the rest tells of the machine. */
TEST(memory_of_another_hour)
{
    struct baseline_value old = with_seconds("procedure f", 0.6, 0.6), now = old;

    CHECK_NEAR(baseline_by_machine(&old, &now), 0, 1e-12);
    /* The rest takes half, the row a sixth less: its share rose, it did not become slower. */
    now = with_seconds("procedure f", 0.5 / 0.7, 0.5);
    CHECK(now.share - baseline_by_machine(&old, &now) < old.share);
    check_machine(old, now, CHECK_INCONCLUSIVE);
    /* The rest takes a quarter less, and the row half more: that it does. */
    now = with_seconds("procedure f", 0.9 / 1.2, 0.9);
    CHECK_NEAR(baseline_by_machine(&old, &now), 0.9 / 1.2 - 0.9 / 1.3, 1e-12);
    check_machine(old, now, CHECK_FAIL);
    /* All slower by a quarter, and the row by as much again: so does code that waits for memory. */
    now = with_seconds("procedure f", 0.9375 / 1.4375, 0.9375);
    CHECK_NEAR(baseline_by_machine(&old, &now), now.share - old.share, 1e-12);
    check_machine(old, now, CHECK_INCONCLUSIVE);
    /* The rest as before. */
    now = with_seconds("procedure f", 0.9 / 1.3, 0.9);
    CHECK_NEAR(baseline_by_machine(&old, &now), 0, 1e-9);
    check_machine(old, now, CHECK_FAIL);
}

TEST_MAIN
