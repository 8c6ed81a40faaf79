/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record --by=perf`: a program, or a process that runs already, sampled through the kernel (perf_tap.h). */
#ifndef HQ_REPL_RECORD_PERF_H
#define HQ_REPL_RECORD_PERF_H

#include "common/opt.h"
#include "repl/record/record.h"

/* The options that it takes, checked. */
struct record_perf {
    uint64_t period_ns, max_bytes;
    uint32_t stack_bytes;
    double duration; /* seconds, 0: to the end */
    pid_t pid;       /* of -p, 0: a program is started */
};
struct hq_error *record_perf_options(const struct opt_args *args, const char *events, struct record_perf *out);

struct perf_told {
    uint64_t samples;
};

/* Runs the program; `status` is of waitpid. */
struct hq_error *record_perf_program(const struct record_perf *p, const struct record_place *place, const char *path,
                                     char *const *command, int *status, struct perf_told *told);

/* Until the process ends, the time is up, or a signal (INT, TERM, HUP) asks for the end. */
struct hq_error *record_perf_process(const struct record_perf *p, const struct record_place *place,
                                     struct perf_told *told);

/* Would it work here? NULL, or a sentence with the remedy. */
struct hq_error *record_perf_permitted(void);
bool record_perf_may(void);

#endif
