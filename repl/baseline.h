/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Baselines: values of queries, kept in a small text file beside the queries and compared with those of later runs.
 *
 *     hq baseline 1
 *     query: procedures where cputime.x > 5%
 *     cputime.x 41.2% +-2% of 2310: procedure solve
 *     cputime 1.25s +-5% of 4 runs, sd 0.02s: procedure main > loop 1 of main
 *
 * One value a line, in the order of their keys, so that changes merge: metric; its share of the total, or a mean in
 * seconds, events or bytes; what it may grow by (percentage points for a share, percent otherwise); how many samples or
 * runs it was measured with (`of exact`: no uncertainty); and what compare with aligns by: kinds, names and numbers of
 * loops, from the outermost scope. Comments begin with #, empty lines are skipped.
 *
 * The judgement. A share rises if it exceeds the baseline by more than the tolerance, and by more than z standard
 * errors of the difference of two proportions; z is taken so that of all values in the file together one in a hundred
 * unchanged runs is called a rise. A value that the tolerance alone keeps from that takes no part of the hundredth, and
 * rows of the same share (a procedure in two views, a chain of callers) take one together; so z is smaller than the
 * number of rows (Bonferroni) makes it. A mean over runs is judged by Student's t in the same way. What exceeds the
 * tolerance and not the error passes if the comparison could have told a rise of twenty points (or of a quarter of a
 * mean), and is inconclusive otherwise, as is a run of fewer than 100 samples.
 */
#ifndef HQ_REPL_BASELINE_H
#define HQ_REPL_BASELINE_H

#include "common/arena.h"
#include "common/err.h"
#include "common/units.h"
#include "common/vec.h"
#include "query/table.h"
#include "repl/check.h"

struct baseline_value {
    const char *metric, *path;
    bool outside;     /* `where` leaves it out: known, not judged; not kept in the file */
    bool absolute;    /* value, sd and runs count; else share and samples */
    double share;     /* 0 to 1 */
    double samples;   /* of the whole; INFINITY: exact; NAN: not known */
    double value, sd; /* in base units */
    unsigned runs;
    enum dim dim;
    double tolerance; /* 0.02: two points of a share, two percent of a value */
};

struct baseline_query {
    const char *text; /* canonical */
    bool asked;       /* by the file that is checked */
    VEC(struct baseline_value) values;
};

/* Zeroed is empty; texts are in the arena. */
struct baseline {
    struct arena arena;
    VEC(struct baseline_query) queries;
};

void baseline_deinit(struct baseline *b);

/* queries/waste.hq -> queries/waste.baseline; free it. */
char *baseline_path(const char *query_file);
/*
 * A file that is not there is an empty baseline. HQ_DATA names the line that is wrong; `forgiving` passes over it, for
 * an update, which wants the tolerances of what it replaces.
 */
struct hq_error *baseline_read(const char *path, bool forgiving, struct baseline *b);
struct hq_error *baseline_write(const char *path, const struct baseline *b);
/* NULL if the query has none. */
struct baseline_query *baseline_find(const struct baseline *b, const char *text);
struct baseline_query *baseline_add(struct baseline *b, const char *text);
/* The value of the same metric and path; NULL if there is none, or no query. */
const struct baseline_value *baseline_value_find(const struct baseline_query *q, const struct baseline_value *like);
size_t baseline_size(const struct baseline *b);

/*
 * The values of a table that was made with `set ci on`: shares of metrics that have a total, of rows that are something
 * in another build, at least `least` large. Rows of the same path are added up; those that all are ROW_ANCESTOR are
 * outside.
 */
void baseline_measure(struct baseline *b, struct baseline_query *q, const struct table *t, double least);

/* The means of several runs as absolute values. Rows that are not in all runs are left out. */
void baseline_average(struct baseline *b, struct baseline_query *q, const struct baseline_query *const *runs, size_t n);

/*
 * Gives the values of a new baseline their tolerances: those of `before` (NULL: there is none), else `tolerance`. A
 * share that chance may have made of the old one stays as it was, unless the new run is much longer; so an update
 * changes few lines, and drifts add up until they are seen. Without an old value, those below `least` go.
 */
void baseline_renew(struct baseline_query *q, const struct baseline_query *before, double tolerance, double least);

/*
 * How likely chance may call one value a rise, so that of all in the file together it does in one unchanged run of a
 * hundred. `now`: the values of any query of the run, which tell how many samples it has.
 */
double baseline_alpha(const struct baseline *before, const struct baseline_query *now);

/*
 * Judges `now` by `before`, telling why in lines. Rows below the least share
 * are not kept: what is new is judged against the smallest that is. Values outside of the filter are not judged.
 */
enum check_outcome baseline_judge(const struct baseline_query *before, const struct baseline_query *now, double alpha,
                                  struct arena *arena, struct check_lines *lines);

#endif
