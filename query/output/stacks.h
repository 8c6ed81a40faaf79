/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of a calling context tree as stacks of functions, for formats that know functions and lines but no loops:
 * what is in a loop belongs to the procedure around it, at the line of the loop.
 */
#ifndef HQ_QUERY_OUTPUT_STACKS_H
#define HQ_QUERY_OUTPUT_STACKS_H

#include "common/err.h"
#include "query/table.h"

struct stack_frame {
    const char *name;          /* never NULL */
    const char *module, *file; /* of the definition; "" unknown */
    uint32_t start_line;       /* of the definition; 0 unknown */
    uint32_t line;             /* where it is: the call of the next frame, or the cost itself; 0 unknown */
    bool inlined;              /* in the frame before it */
};

/* HQ_USAGE if the table is not one of call paths from the outermost inwards (views tree and hot path). */
struct hq_error *stacks_check(const struct table *t, const char *format);

/* Calls fn for each row in order, with the stack that leads to it, outermost first. */
void stacks_each(const struct table *t,
                 void (*fn)(void *arg, size_t row, const struct stack_frame *stack, size_t depth), void *arg);

/* Returns the factor that makes the numbers of a column whole units of such formats: nanoseconds for seconds, else 1.
 * *unit is the unit's name, as pprof has it. */
double stacks_unit(const struct column *c, const char **unit);
/* Is the column a measured or derived inclusive number? */
bool stacks_has(const struct column *c);

#endif
