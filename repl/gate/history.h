/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a program's queries over its commits: a directory with a small JSON file for each,
 *
 *     {"hq_history":1,"commit":"1a2b3c4","order":1731234567.250000,"number":34,"machine":"EPYC, ...","values":[
 *     {"query":"procedures","metric":"cputime","path":"procedure
 * solve","share":0.41,"value":1.25,"samples":1250,"unit":"s","exact":false},
 *     ...]}
 *
 * a value a line, in the order of their keys. `order` says which commit came after which: seconds since 1970. `number`
 * says it better: how many commits git knows from the first one to this, which grows from each commit to the next where
 * the times of many are the same (a rebase) or go back. It is not there where git is not, or has not all commits. If
 * all commits of a history have numbers, these are their order; else it is their times, and numbers tell apart what is
 * of one time. Where the machine (baseline_machine) became another one beside a step, that is told. Fields that are not
 * known are passed over; what would be wrong without them needs another number behind hq_history.
 */
#ifndef HQ_REPL_GATE_HISTORY_H
#define HQ_REPL_GATE_HISTORY_H

#include "repl/baseline/baseline.h"
#include "query/table.h"
#include "repl/gate/steps.h"

struct history_value {
    const char *query, *metric, *path;
    double share, value; /* of the total; in base units */
    double samples;      /* of the whole; 0: not known, or no sampling error */
    enum dim dim;
    bool exact; /* the value has no sampling error: it counts, and not the share */
};

/* Which commit came after which. */
struct history_place {
    double order;  /* seconds since 1970 */
    double number; /* of commits up to this one; 0: not known */
};

struct history_commit {
    const char *name;
    const char *machine; /* NULL: not known */
    struct history_place place;
    VEC(struct history_value) values;
};

/* Zeroed is empty; texts are in the arena. */
struct history {
    struct arena arena;
    VEC(struct history_commit) commits; /* in their order */
    size_t apart;                       /* commits with as many before them as the one behind: none is in the other */
    size_t untold;                      /* commits of which nothing tells whether they came before the one behind */
};

/* Reads all files of a directory, or one commit's if `only` is not NULL. A directory that is not there is empty. */
struct hq_error *history_read(const char *directory, const char *only, struct history *out);
void history_deinit(struct history *h);

/*
 * The name of a commit: `name`, else what git says of the directory in which hq runs. git shortens names as far as a
 * clone allows: a commit that the history has under a shorter or longer one keeps that. *place has the commit's time
 * and number by git; the present time where `name` is given. HQ_USAGE if there is neither, or the name cannot be one of
 * a file.
 */
struct hq_error *history_commit_name(const char *directory, const char *name, struct arena *arena, const char **out,
                                     struct history_place *place);

/*
 * Writes the values of queries as those of a commit. What the file of that commit has of other queries stays, also of
 * those that another process writes at the same time, and so does its order, unless git now knows its number; values
 * are shares that are at least `least`; `machine` is where they were measured, NULL: not known.
 */
struct hq_error *history_write(const char *directory, const char *commit, const char *machine,
                               struct history_place place, const struct baseline_query *const *queries, size_t count,
                               double least);

/* ---- courses ---- */

/* A row of a query over the commits that asked it. */
struct course {
    const char *query, *metric, *path;
    enum dim dim;
    bool exact;         /* in units of dim; else shares, 0 to 1 */
    double samples;     /* of the commit that has the fewest; 0: not known */
    VEC(double) y;      /* 0 where the row was not there */
    VEC(size_t) commit; /* which each is of */
    VEC(struct gate_step) steps;
};

typedef VEC(struct course) courses;

/* All rows, with their steps: those that an unchanged history has in one of a hundred. */
void history_courses(const struct history *h, courses *out); /* course.c */
void courses_deinit(courses *c);

/* "cputime of procedure solve: 41.2% -> 48.0% between 1a2b and 5e6f": of a step, in the arena. */
const char *course_step_text(const struct history *h, const struct course *c, const struct gate_step *s,
                             struct arena *arena);
/* How large a step is beside what was there: for putting them into an order. */
double course_step_size(const struct gate_step *s);
/* "cputime of procedure solve" */
const char *course_name(const struct course *c, struct arena *arena);

/* One row a commit, its steps as notes; the caller destroys it. */
struct table *course_table(const struct history *h, const struct course *c);
/* As bars on a terminal; as a picture in svg. */
struct hq_error *course_plot(const struct history *h, const struct course *c, FILE *out);
void course_svg(const struct history *h, const struct course *c, struct str *out);

#endif
