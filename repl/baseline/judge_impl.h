/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the two files that judge the values of a query: judge.c finds what they come to, judge_lines.c says it. */
#ifndef HQ_REPL_BASELINE_JUDGE_IMPL_H
#define HQ_REPL_BASELINE_JUDGE_IMPL_H

#include "repl/baseline/baseline.h"
#include "repl/baseline/row_paths.h"

/* A value of the baseline that the run has not; one that is new may be it. */
struct gone {
    const struct baseline_value *value;
    bool whole; /* no other value of that row is left */
    bool taken;
};

/* A line, and how much there is behind it. */
struct told {
    const char *line;
    double size;
};

struct judge {
    struct arena *arena;
    struct check_lines *lines;
    double level;                        /* of one value */
    double scatter;                      /* of runs: baseline_scatter */
    enum check_outcome outcome;          /* the gravest */
    double least_sure;                   /* of the shares that passed: the rise from which on all are ruled out */
    double wide, tolerance;              /* the same where the tolerance is wider than the narrowest, which is that:
                                            of what computes, where that is judged apart */
    const char *widest;                  /* that row, with its tolerance */
    double seen, wide_seen;              /* the rises that are seen in nine of ten cases, of both */
    double exact;                        /* the same of exact values, as a part of them */
    double scattered;                    /* and of those that differ from run to run */
    enum baseline_elsewhere elsewhere;   /* of what is judged */
    double system, system_before;        /* baseline_system of this run and of the baseline */
    bool computes;                       /* shares are of what computes (baseline_split) */
    double by_hours;                     /* of what rose by no more than hours may explain: the most that they may */
    bool changed_places;                 /* some rose that may be other loops (baseline_changed_places) */
    bool by_machine;                     /* some rose by what the machine may have made (baseline_by_machine) */
    bool is_new;                         /* the value that is judged is not in the baseline */
    bool waits;                          /* all of it is time in calls that wait for others (baseline_waits) */
    const char *waited;                  /* else the metric that is, of which rises are told alone */
    bool one_run;                        /* some were of one run on either side */
    bool one_side;                       /* some were of one run on one of them */
    const char *nearest;                 /* of what passed: the row that rose most of its tolerance, and by how much */
    double near;                         /* of that */
    const struct baseline_value *failed; /* the one that rose most */
    double most;                         /* how much: its rise in tolerances */
    VEC(struct told) rose, open, renamed, moved, rest;
    VEC(struct gone) gone;
    struct row_paths paths;
    const struct baseline_query *before, *now;
    struct row_names old_rows; /* of the baseline */
    size_t wanted;             /* runs that would decide all that is open; 0: some are of one run */
    bool sampling, nameless;   /* most of what is open is sampling; of what may be renamed some is an address now */
};

/* The graver of what it was and `outcome`. */
void judge_comes_to(struct judge *j, enum check_outcome outcome);

/* Says what was found, in the order in which it is of interest. The seconds of what did not fail may still make the
 * outcome graver. */
void judge_tell(struct judge *j); /* judge_lines.c */

#endif
