/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks: what `hq check` found out, and the reports of it (TAP, JUnit XML, Markdown). */
#ifndef HQ_REPL_CHECK_CHECK_H
#define HQ_REPL_CHECK_CHECK_H

#include "common/arena.h"
#include "common/err.h"
#include "common/vec.h"
#include <stdio.h>
#include <time.h>

enum check_outcome { CHECK_PASS, CHECK_FAIL, CHECK_INCONCLUSIVE, CHECK_ERROR, CHECK_OUTCOMES };

struct check {
    enum check_outcome outcome;
    const char *file; /* of queries */
    unsigned line;    /* 0: of the file as a whole */
    const char *name; /* the query, or what went wrong */
    double seconds;
    struct check_lines {
        const char **data;
        size_t len, cap;
    } lines; /* why: whole lines */
};

/* Zeroed is empty. All texts are in the arena. */
struct checks {
    struct arena arena;
    VEC(struct check) all;
    time_t began; /* the command */
};

void checks_deinit(struct checks *c); /* report.c */
size_t checks_count(const struct checks *c, enum check_outcome outcome);

/* TAP version 13: the head, a point (number counts from 1), the plan at the end. */
void tap_begin(FILE *out);
void tap_point(const struct check *c, size_t number, FILE *out);
void tap_end(const struct checks *c, FILE *out);
void tap_bail_out(const char *why, FILE *out);

/* Whole reports into a file; "-" is standard output. */
struct hq_error *check_junit_write(const struct checks *c, const char *path);
struct hq_error *check_markdown_write(const struct checks *c, const char *path);

#endif
