/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines that say what became of the values of a query, in their order (baseline.h). */
#include "repl/baseline/judge_impl.h"
#include "repl/gate/judge.h"
#include <math.h>

enum { ROSE_MAX = 8, REST_MAX = 8, OPEN_MAX = 3 };

static int by_size(const void *a, const void *b)
{
    const struct told *x = a, *y = b;

    return x->size < y->size ? 1 : x->size > y->size ? -1 : strcmp(x->line, y->line);
}

static void tell_some(struct judge *j, struct told *list, size_t n, size_t most, const char *of)
{
    if (n)
        qsort(list, n, sizeof *list, by_size);
    for (size_t i = 0; i < n && i < most; i++)
        vec_push(j->lines, list[i].line);
    if (n > most)
        vec_push(j->lines, arena_printf(j->arena, "      and %zu more%s", n - most, of));
}

/* How many values are open, what to do about it, and those that are open widest. */
static void tell_open(struct judge *j)
{
    const char *more = j->sampling ? ", or longer runs, or a higher rate" : "",
               *values = arena_printf(j->arena, "cannot tell: %zu value%s", j->open.len, j->open.len == 1 ? "" : "s");

    if (!j->open.len)
        return;
    vec_sort(&j->open, by_size);
    if (j->wanted >= GATE_RUNS_MOST)
        vec_push(j->lines, arena_printf(j->arena, "%s: they differ too much from run to run for %d runs of both%s",
                                        values, GATE_RUNS_MOST, more));
    else if (j->wanted)
        vec_push(j->lines, arena_printf(j->arena,
                                        "%s: about %zu runs of both would decide (hq record --runs %zu, for the "
                                        "baseline too)%s",
                                        values, j->wanted, j->wanted, more));
    else
        vec_push(j->lines, arena_printf(j->arena, "%s: record several runs%s (hq record --runs 5)%s", values,
                                        j->one_run ? ", for the baseline too" : "", more));
    /* Beside what failed they are of no interest. */
    for (size_t i = 0; j->outcome != CHECK_FAIL && i < j->open.len && i < OPEN_MAX; i++)
        vec_push(j->lines, arena_printf(j->arena, "  %s", j->open.data[i].line));
}

/* Tells of new values that may be none. */
static void tell_unsure(struct judge *j, struct told *list, size_t n, const char *may_be)
{
    if (!n)
        return;
    qsort(list, n, sizeof *list, by_size);
    vec_push(j->lines, arena_printf(j->arena, "cannot tell: %zu new value%s may be %s", n, n == 1 ? "" : "s", may_be));
    for (size_t i = 0; j->outcome != CHECK_FAIL && i < n && i < OPEN_MAX; i++)
        vec_push(j->lines, list[i].line);
}

/* Tells which rises a check that found nothing rules out, and what it does not know. */
static void tell_power(struct judge *j)
{
    if (j->outcome == CHECK_PASS && j->least_sure > 0)
        vec_push(j->lines, arena_printf(j->arena,
                                        "ruled out in 19 of 20 cases: a rise of %.1f points%s; one of %.1f would fail "
                                        "in 9 of 10",
                                        100 * j->least_sure, j->computes ? " of what computes" : "", 100 * j->seen));
    if (j->outcome == CHECK_PASS && (j->wide > j->least_sure || (j->computes && j->wide > 0)))
        vec_push(j->lines, arena_printf(j->arena,
                                        "ruled out where the tolerance is wider: a rise of %.1f points (%s; hq race "
                                        "finds smaller ones); in 9 of 10 is seen one of %.1f",
                                        100 * j->wide, j->widest, 100 * j->wide_seen));
    if (j->computes)
        vec_push(j->lines,
                 arena_printf(j->arena,
                              "shares are of what computes, %.0f%% of the time; cputime.system is the part of "
                              "all that is in the system, or waits in MPI or OpenMP",
                              100 * (1 - j->system)));
    if (j->waited)
        vec_push(j->lines,
                 arena_printf(j->arena, "not judged is %s, in calls that wait for others (hq race)", j->waited));
    if (j->outcome == CHECK_PASS && j->scattered > 0)
        vec_push(j->lines, arena_printf(j->arena,
                                        "ruled out in 19 of 20 cases: a rise of %.3g%% of what is counted and differs "
                                        "from run to run",
                                        100 * j->scattered));
    if (j->outcome == CHECK_PASS && j->exact > 0)
        vec_push(j->lines, arena_printf(j->arena, "seen always: a rise of more than %.3g%%", 100 * j->exact));
    if (j->outcome == CHECK_PASS && j->nearest)
        vec_push(j->lines, j->nearest);
    if (j->one_run)
        vec_push(j->lines, "of one run each: nothing is known of how runs differ; shares are taken to differ by 4 "
                           "points of a half, which is no promise (hq record --runs 5)");
    else if (j->one_side)
        vec_push(j->lines,
                 "one side is of one run: it is taken to differ from others as the runs of the other side do");
}

/* Tells the seconds of what did not fail: first, where they decide. */
static void tell_seconds(struct judge *j)
{
    struct check_lines seconds = {0};

    if (j->outcome != CHECK_FAIL)
        judge_comes_to(j, baseline_seconds(j->before, j->now, j->arena, &seconds));
    if (j->outcome == CHECK_PASS)
        tell_power(j);
    vec_foreach(line, &seconds)
        vec_push(j->lines, *line);
    if (j->outcome != CHECK_PASS)
        tell_power(j);
    vec_deinit(&seconds);
}

/* Tells why some rose and yet nothing fails. */
static void tell_excuses(struct judge *j)
{
    if (j->by_hours > 0 && j->outcome != CHECK_FAIL)
        vec_push(j->lines, arena_printf(j->arena,
                                        "cannot tell: %.0f%% of the time is in the system, or waits in MPI or OpenMP. "
                                        "How long that takes depends on what else runs in an hour, which may raise a "
                                        "share by %.1f points: race it (hq race)",
                                        100 * j->system, 100 * j->by_hours));
    if (j->by_machine && j->outcome != CHECK_FAIL)
        vec_push(j->lines,
                 "cannot tell: the rest of the program takes other seconds than in the baseline, and memory that is "
                 "busier, or less busy, changes shares, too: race it (hq race), or write the baseline again if "
                 "the rest is another by intention");
    if (j->changed_places)
        vec_push(j->lines,
                 "cannot tell: loops are known by their numbers, and some have what others of their procedure "
                 "had: if they changed places, write the baseline again: hq check --update");
    if (j->waits && j->rose.len)
        vec_push(j->lines,
                 "cannot tell: how long calls wait for others depends on what else runs in an hour: race it (hq race)");
}

void judge_tell(struct judge *j)
{
    tell_some(j, j->rose.data, j->rose.len, ROSE_MAX, "");
    tell_excuses(j);
    tell_some(j, j->rest.data, j->rest.len, REST_MAX, " that fell or are gone");
    tell_unsure(j, j->renamed.data, j->renamed.len,
                j->nameless
                    ? "of what is gone, under an address for a name: is the program stripped? Record it with "
                      "symbols"
                    : "of what is gone, under another name; if so, write the baseline again: hq check --update");
    tell_unsure(j, j->moved.data, j->moved.len,
                "no extra work: others had as much before, or the baseline has lost a line. Race it (hq race), or "
                "write the baseline again: hq check --update");
    tell_open(j);
    tell_seconds(j);
}
