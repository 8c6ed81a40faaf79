/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: values of queries, kept in a small text file beside the queries and compared with those of later runs.
 *
 *     hq baseline 3
 *     names: linkage
 *     clock: the kernel's software clock
 *     machine: AMD EPYC 7763, 2 processors, Linux 6.1.0
 *     ranks: 4
 *     system: 55%
 *     last-line: # end
 *     set inline on
 *     set loops on
 *     set normalise on
 *
 *     query: procedures where cputime.x > 5%
 *     set inline off
 *     cputime.x 41.2% +-20% of 2310: procedure apply [_Z5applyI4GridEvT_]
 *     cputime 90% +-10% of 9240 in 5 runs, sd 1.2%, mean 1.25s, spread 0.02s: procedure main > loop 1 of main
 *     alloc_bytes 1.05MB +-0.5% of exact: procedure main
 *
 *     # end
 *
 * The head says how procedures are told apart: by their names for the linker, in brackets where those do not say the
 * same, or by those of the `source` alone, as a database of another tool has them. The clock is what sampled CPUTIME,
 * of which a check says if its own was another. So it does of the machine: what rises on another
 * processor, or on more or fewer of them, or with more or fewer ranks of MPI, does not fail. How much of the time is
 * the system's, or waits (baseline_system), is rounded to 5 %, and not said below: then the shares are of all the time,
 * and the first line has a 2. With a 3 they are of what computes (baseline_split). Then a line for each setting that a
 * cost depends on (words.h), as it was when the file of queries began; behind a query those that the file had changed.
 * A check asks under these settings, and where only one side has names for the linker, by those of the source
 * (baseline_fold).
 *
 * One value a line, in the order of their keys, so that changes merge: metric; its share of the total, or, without
 * sampling error, its value; what it may grow by (percentage points for a share, percent of a value); how many samples
 * it was measured with (`of exact`: no uncertainty), in how many runs, how far the shares of these differ, and their
 * mean value, of several runs with its spread; and what compare with aligns by: kinds, names and numbers of
 * loops, from the outermost scope. Comments begin with #, empty lines are skipped. What a later version adds to a value
 * stands before its path as `, WORD VALUE` (`of 2310, mean 1.2s: procedure solve`) and to the head as `WORD: TEXT`;
 * both are passed over where they are not known. What would be wrong without them needs another number behind `hq
 * baseline`.
 *
 * The judgement is that of repl/gate/judge.h: a rise fails if it exceeds half the tolerance, and what chance explains,
 * at one unchanged run in a hundred for all values of the file together; it passes if a rise as large as the tolerance
 * is ruled out, wrongly in one case of twenty; everything else is inconclusive. What chance explains: of several runs
 * how far they differ (Welch's t) and how far hours may (baseline_scatter), and never less than sampling makes them
 * differ. Of one run on either side that is
 * not known. Then shares are taken to differ by eight hundredths of the root of p(1-p) between two runs (four points
 * for a half) besides sampling: more than benchmarks were found to do, less than programs that wait for disks may; the
 * verdict says so. Values without sampling error are compared as they are, unless the runs of a side differ in them:
 * then by Welch's t, too.
 */
#ifndef HQ_REPL_BASELINE_BASELINE_H
#define HQ_REPL_BASELINE_BASELINE_H

#include "common/arena.h"
#include "common/err.h"
#include "common/units.h"
#include "common/vec.h"
#include "query/output.h"
#include "query/query.h"
#include "query/table.h"
#include "repl/gate/judge.h"
#include "repl/gate/loop_rows.h"
#include "repl/check/check.h"
#include "repl/gate/row_names.h"

struct baseline_value {
    const char *metric, *path;
    bool outside;    /* `where` leaves it out: known, not judged; not kept in the file */
    bool absolute;   /* no sampling error, and in the unit of the metric: value counts; else share and samples */
    double share;    /* 0 to 1; of several runs the mean */
    double samples;  /* of the whole, all runs together; INFINITY: exact; NAN: not known */
    double value;    /* in base units; of several runs the mean; 0: not known */
    unsigned runs;   /* 0 counts as 1 */
    double share_sd; /* over the runs; of one run 0 */
    double value_sd;
    enum dim dim;
    double tolerance; /* 0.1: ten points of a share, ten percent of a value */
};

/*
 * The amounts by which a value may rise unless the user sets others. Time in the system takes up to twice as long in
 * most hours as in another: a share K of it may rise by K(1-K)/(1+K), and so its tolerance is no less than twice that.
 * Of what computes beside it no less than four points of all the time are one (baseline_tolerance).
 */
#define BASELINE_TOLERANCE_EXACT 0.005
#define BASELINE_TOLERANCE_RUNS  0.1 /* shares over several runs */
#define BASELINE_TOLERANCE_ONE   0.2 /* shares of one run */

#define BASELINE_LEAST 0.005 /* the smallest share that comes into a baseline */

typedef VEC(const char *) baseline_settings; /* `set NAME VALUE` each */

/* How far a machine is from another. Shares depend on the processor; exact values on how many there are. */
enum baseline_elsewhere { MACHINE_SAME, MACHINE_UNKNOWN, MACHINE_KERNEL, MACHINE_PROCESSOR, MACHINE_COUNT };

struct baseline_query {
    const char *text;                  /* canonical */
    baseline_settings settings;        /* `set NAME VALUE` where it is another than in the head */
    bool asked;                        /* by the file that is checked */
    const char *unknown;               /* of values that are compared: a name in the query that nothing has; NULL */
    const char *odd;                   /* of several runs: what is said of one that is far from all others; NULL */
    const char *summed;                /* what is said of a row that stands for procedures of several programs; NULL */
    enum baseline_elsewhere elsewhere; /* of values that are compared: whether their machine is the baseline's */
    enum output_names names;           /* how its rows are called in what is said of them */
    bool computes;                     /* shares are of what computes (baseline_split) */
    double system, system_before; /* where that is so: baseline_system of the run, and of what it is compared with */
    struct loop_rows loops;       /* of a baseline: those of its rows, and of what was compared with it */
    VEC(struct baseline_value) values;
};

/* Zeroed is empty; texts are in the arena. */
struct baseline {
    struct arena arena;
    bool by_source;             /* `names: source`, and version 1 */
    const char *clock;          /* that sampled CPUTIME; NULL: not known, or none did */
    const char *machine;        /* NULL: not known */
    unsigned ranks;             /* of MPI; 0: none, or not known */
    double system;              /* baseline_system; 0 also where it is not known */
    baseline_settings settings; /* `set NAME VALUE` */
    VEC(struct baseline_query) queries;
};

void baseline_deinit(struct baseline *b);

/* queries/waste.hq -> queries/waste.baseline; free it. */
char *baseline_path(const char *query_file);
/*
 * A file that is not there is an empty baseline. HQ_DATA names the line that is wrong, HQ_USAGE another version of the
 * format; `forgiving` passes over both, for an update, which wants the tolerances of what it replaces.
 */
struct hq_error *baseline_read(const char *path, bool forgiving, struct baseline *b);
struct hq_error *baseline_write(const char *path, const struct baseline *b);
/* NULL if the query has none. */
struct baseline_query *baseline_find(const struct baseline *b, const char *text);
struct baseline_query *baseline_add(struct baseline *b, const char *text);
size_t baseline_size(const struct baseline *b);

/* ---- values (measure.c) ---- */

/*
 * Values are looked up by names that are as many, in the same order: made of all values that there are, or kept while
 * values are added. A file has each metric and path once; of more the first counts.
 */
void baseline_value_names(const struct baseline_query *q, struct row_names *names);
/* NULL if there is none, or no query. */
const struct baseline_value *baseline_value_find(const struct baseline_query *q, const struct row_names *names,
                                                 const char *metric, const char *path);
/* The value of the metric and path of `fresh`, which is added if there is none; valid until the next is added. *is_new
 * may be NULL. */
struct baseline_value *baseline_value_add(struct baseline_query *q, struct row_names *names,
                                          const struct baseline_value *fresh, bool *is_new);

/*
 * The values of a table that was made with `set ci on`: shares of metrics that have a total, of rows that are something
 * in another build, at least `least` large. Rows of the same path are added up; those that all are ROW_ANCESTOR are
 * outside.
 */
void baseline_measure(struct baseline *b, struct baseline_query *q, const struct table *t, double least);

/* The means of several runs and how far they differ, of rows of which the mean is at least `least`; a row that a run
 * has not is nothing there. */
void baseline_average(struct baseline_query *q, const struct baseline_query *const *runs, size_t n, double least);

/* How many runs a value is of, at least one. */
unsigned baseline_runs(const struct baseline_value *v);

struct baseline_odd {
    size_t run;
    const struct baseline_value *row; /* of the means */
    double share;                     /* in that run */
    double least, most;               /* in the others */
};

/*
 * Is one of at least four runs far from all others? Looked for in the row whose shares scatter most: that run lies by
 * eight deviations of the others, and by five points, apart from them. Such a run makes a set blind, since it tells
 * that runs differ by as much.
 */
bool baseline_odd_run(const struct baseline_query *means, const struct baseline_query *const *runs, size_t n,
                      struct baseline_odd *out);

/* ---- under which terms (terms.c) ---- */

/* The settings that a cost depends on, as statements in the arena: all, or those that are not in `head`. */
void baseline_settings_now(const struct query_env *env, const struct baseline *head, struct arena *arena,
                           baseline_settings *out);
/* The clock that sampled CPUTIME, in a few words, in the arena: "timers". NULL if that is not known. */
const char *baseline_clock(const struct db *db, struct arena *arena);
/* The machine of a run, in the arena; NULL if that is not known. */
const char *baseline_machine(const struct db *db, struct arena *arena);
/* How many ranks of MPI there are; 0: none. */
unsigned baseline_ranks(const struct db *db);
/* How far one is from another; either may be NULL. Of two that are not known, as of files of other tools, nothing is
 * said. */
enum baseline_elsewhere baseline_elsewhere(const char *here, const char *there);
/* Sets what the statements say; HQ_USAGE if one of them is none of this version. */
struct hq_error *baseline_settings_apply(const char *const *settings, size_t n, struct query_env *env);
/* The key of a row without the name for the linker, if the name says the same: `procedure f(int)`. */
const char *baseline_shorten(struct arena *arena, const char *key);
/* `procedure f(int) [_Z1fi]` without the name for the linker; in the arena. */
const char *baseline_fold_path(struct arena *arena, const char *path);
/* How long the name of the inclusive metric is: of cputime.x that of cputime. */
size_t baseline_metric_length(const char *metric);
/* The next scope of a path behind s; NULL if there is none. */
const char *baseline_next_scope(const char *s);
/* The last scope of a path: the one whose values they are. */
const char *baseline_own_scope(const char *path);
/* A scope of a path begins with its kind. */
bool baseline_begins_scope(const char *s);
/* All paths by the names of the source; values that become one are added up. */
void baseline_fold(struct baseline *b);

/*
 * Gives the values of a new baseline their tolerances: those of `before` (NULL: there is none), else `tolerance` (0: by
 * what the value is). A share that chance may have made of the old one stays as it was, unless the new run is much
 * longer; so an update changes few lines, and drifts add up until they are seen; of another machine all are written.
 * Without an old value, those below `least` go. `by_source`: the old values are by the names of the source.
 */
void baseline_renew(struct baseline_query *q, const struct baseline_query *before, bool by_source, double tolerance,
                    double least); /* measure.c */

/* ---- what computes (split.c) ---- */

/*
 * The part of the time in which the program is in the system, or waits for others while it takes CPU time (I/O, kernel,
 * MPI, OpenMP), of the values of `groups by runtime`. How long that takes depends on what else runs there, and is the
 * same in all runs of one sitting: their scatter does not show it.
 */
double baseline_system(const struct baseline_query *groups);
#define BASELINE_SYSTEM 0.05 /* from which part on what computes is judged apart from it */

/*
 * Such time moves the shares of everything. So the sampled values of a run become two: what a row computes, as a share
 * of all that computes, and what of it is in the system or waits, as a share of all, under a metric of its own
 * (cputime.system, cputime.system.x). `system` has that part of the rows, `groups` are by runtime, both of the same
 * samples. Values below `least` go.
 */
void baseline_split(struct arena *arena, struct baseline_query *q, const struct baseline_query *system,
                    const struct baseline_query *groups, double least);
/* cputime.system, cputime.system.x */
bool baseline_is_system(const char *metric);

/* ---- chance (chance.c) ---- */

/*
 * The runs of either side were made one after the other, in an hour of their own, and do not tell how far hours differ.
 * Where they differ by no more than sampling explains, hours hardly do; where they do by more, as system calls beside
 * other programs, hours do too. How much more is the ratio of the variances over all rows together (overdispersion),
 * since that of one row over five runs is known to a factor of two; at least 1.
 */
double baseline_scatter(const struct baseline_query *old, const struct baseline_query *now);
/*
 * The rise that hours alone may make of a share that is in the system, where `before` of the baseline's time and `now`
 * of this run's is; 0 of all others. Such time of the row takes at most four times as long in one hour as in another,
 * and rises by no more than if all of it, of both sides, took twice as long, and the second half were this row's.
 */
double baseline_hours(const struct baseline_value *v, double before, double now);
/*
 * The part of a rise that the machine alone may have made, as the rest of the program, without this row, tells of it.
 * Code that waits for memory suffers most from what else runs there, and gains most where less does. So if the rest
 * became faster, a row counts as risen only as far as its own seconds did: by what its share would be of the rest of
 * before. If it became slower, the row may have done so twice as much (as the square), and by half as much again at
 * most. 0 where the rest takes what it took, and for what is in the system (baseline_hours).
 */
double baseline_by_machine(const struct baseline_value *old, const struct baseline_value *now);
/* The tolerance of a value of a new baseline, by what it is, of how many runs, and how much of the time is in the
 * system. */
double baseline_tolerance(const struct baseline_query *q, const struct baseline_value *v);
/* How many shares have a wider one than others, for they are in the system; *most is the widest. */
size_t baseline_wider(const struct baseline_query *q, double *most);
/* How many exact values have a wider one, for they differ from run to run. */
size_t baseline_scattered(const struct baseline_query *q, double *most);
/* Is a metric time in calls that wait for others (mpi_time, lock_wait)? It depends on the hour as time in the system
 * does. */
bool baseline_waits(const char *metric);
/* The difference of two values with its standard errors. */
struct gate_difference baseline_difference(const struct baseline_value *old, const struct baseline_value *now,
                                           double scatter);
/* The standard error that sampling alone gives to the difference of shares a and b, of n and m samples. */
double baseline_sampling(double a, double n, double b, double m);

/*
 * How likely chance may call one value a rise, so that of all in the file together it does in one unchanged run of a
 * hundred. `now`: the values of any query of the run, which tell how many samples and runs it has.
 */
double baseline_alpha(const struct baseline *before, const struct baseline_query *now);

/* Makes the rows of loops meet that both sides know alike, and of the others one (loop_rows.h): (terms.c) */
void baseline_match_loops(struct baseline_query *before, struct arena *before_arena, struct baseline_query *now,
                          struct arena *arena);

/* ---- the verdict (judge.c) ---- */

/*
 * Judges `now` by `before`, telling why in lines. Rows below BASELINE_LEAST are not kept: what is new is judged as if
 * it had been as large, unless it may be a row that is gone under another name, or what others had (baseline_moved):
 * that is inconclusive. Values outside of the filter are not judged. *failed (may be NULL) becomes the metric of the
 * first value that failed; NULL if none did.
 */
enum check_outcome baseline_judge(const struct baseline_query *before, const struct baseline_query *now, double alpha,
                                  struct arena *arena, struct check_lines *lines, const struct baseline_value **failed);

/* The largest of what a baseline does not keep of a metric: no row below BASELINE_LEAST of the whole is in it. False:
 * it has nothing of the metric. (moved.c) */
bool baseline_least(const struct baseline_query *before, const struct baseline_value *now,
                    struct baseline_value *least);

/*
 * A row that the baseline has not, and that cannot be one that is gone under another name: may others have had its cost
 * before? So it may be of a wrapper, which costs little itself, and where what is the rows' own says so: one of them
 * fell by nearly as much (a part became a procedure of its own), or none did (a line was taken out of the file), where
 * extra work takes from all. Of exact values the whole tells: extra work is in it. (moved.c)
 */
bool baseline_moved(const struct baseline_query *before, const struct baseline_query *now,
                    const struct baseline_value *v);

/* Did a loop that rose change places with another one of its procedure? They are known by their numbers, and each has
 * about what the other had. (moved.c) */
bool baseline_changed_places(const struct baseline_query *before, const struct baseline_query *now,
                             const struct baseline_value *old, const struct baseline_value *v);

/*
 * Is so little of the baseline left in the run, by the costs of the scopes alone, that it is of another program? Of one
 * nothing can be said.
 */
bool baseline_is_another(const struct baseline_query *before, const struct baseline_query *now);

/* ---- seconds (seconds.c) ---- */

/* The seconds of a metric in a run: the mean over the runs. */
struct baseline_whole {
    double seconds; /* 0: not known */
    double spread;  /* deviation of the runs as a part of the mean; 0 of one run */
    unsigned runs;
};

/*
 * The rise of the whole, as a part of it, up to which neither how runs differ nor how hours do is exceeded. Hours are
 * taken to differ as much as runs of one of them. Between BASELINE_ALIKE_LEAST and BASELINE_ALIKE_MOST, which it is
 * also where both sides are of one run.
 */
double baseline_alike(const struct baseline_whole *old, const struct baseline_whole *now);
#define BASELINE_ALIKE_LEAST 0.25 /* beside other programs CPU seconds rise by a fifth from hour to hour */
#define BASELINE_ALIKE_MOST  0.5

/*
 * A program that became slower in all of its parts alike has the shares that it had. Seconds belong to the machine of
 * that hour, so they fail nothing; but runs that take longer than their scatter and hours explain are no runs of which
 * shares tell that all is well: CHECK_INCONCLUSIVE. Tells the seconds of each sampled metric, and which rise is seen.
 */
enum check_outcome baseline_seconds(const struct baseline_query *before, const struct baseline_query *now,
                                    struct arena *arena, struct check_lines *lines);

/* ---- in words (texts.c) ---- */

/* The amounts behind two shares, " (1.25 s -> 1.4 s)"; "" where they are not known. */
const char *baseline_times(struct arena *arena, const struct baseline_value *old, const struct baseline_value *now);
/* A rise in the unit of tolerances: points of a share, percent of an exact value. */
double baseline_percent(const struct baseline_value *old, double rise);
/* "9.7 points", "0.6%" */
const char *baseline_points(struct arena *arena, const struct baseline_value *old, double rise);
/* "+9.7 points [+7.9, +11.5]": with its 95 % interval. */
const char *baseline_rise_text(struct arena *arena, const struct baseline_value *old, const struct gate_difference *d);

/* ---- why (explain.c) ---- */

/* Are its rows call paths, as those of a tree are? */
bool baseline_has_paths(const struct baseline_query *q);
/*
 * Up to three lines: the scopes whose own part of a metric, without those of their callees that are known, rose most.
 * Both sides are values with call paths. Without those of the baseline (`before` is NULL): in which call paths the row
 * is now.
 */
void baseline_explain(const struct baseline_query *before, const struct baseline_query *now,
                      const struct baseline_value *failed, enum output_names setting, struct arena *arena,
                      struct check_lines *lines);

#endif
