/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of a region of libomp. OMPT does not tell it, and where a procedure has left for the runtime by a jump
 * nothing else does: regions that one call opens by several jumps would be one, of a procedure that is not known. So
 * the calls that clang makes of `#pragma omp parallel` pass through here (preload/arch/), which notes the body for
 * what OMPT says next, and go on to the runtime with the registers and the stack as they were.
 */
#include "preload/openmp/fork.h"

#include "preload/openmp/runtime.h"
#include "preload/options.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

static __thread struct {
    const void *body;           /* NULL: none */
    const void *call, *outmost; /* where the noted call returns to; the same of one that made it */
} forking __attribute__((tls_model("initial-exec")));

enum { ARGUMENTS_MOST = 32 };

/* The arguments are addresses, or integers as wide as one. Those that the body does not have are passed, too. */
static void run_alone(void *place, int count, region_body *body, ...)
{
    void *a[ARGUMENTS_MOST] = {NULL};
    int thread = 0;
    va_list more;

    (void)place;
    va_start(more, body);
    for (int i = 0; i < count && i < ARGUMENTS_MOST; i++)
        a[i] = va_arg(more, void *);
    va_end(more);
    body(&thread, &thread, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
         a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], a[26], a[27], a[28], a[29],
         a[30], a[31]);
}

static void run_alone_if(void *place, int count, region_body *body, int condition, void *arguments)
{
    (void)condition;
    run_alone(place, count ? 1 : 0, body, arguments);
}

static const struct {
    const char *name;
    void *alone; /* for a weak reference where there is no runtime */
} forks[] = {
    [FORK_CALL] = {"__kmpc_fork_call", (void *)run_alone},
    [FORK_CALL_IF] = {"__kmpc_fork_call_if", (void *)run_alone_if},
    [FORK_TEAMS] = {"__kmpc_fork_teams", (void *)run_alone},
};

/* libomp then asks nobody for a tool (ompt.c), and there is no other word of regions. It compares likewise. */
static __attribute__((noinline, cold)) void look_for_tool(void)
{
    static const char disabled[] = "disabled";
    const char *tool = getenv("OMP_TOOL");
    size_t i = 0;

    while (tool && i < sizeof disabled - 1 && (tool[i] | 0x20) == disabled[i])
        i++;
    if (options.active && tool && !disabled[i] && !tool[i])
        say("OMP_TOOL=", tool, " keeps tools out of libomp, so its parallel regions are not joined", NULL);
}

void *fork_noted(const void *call, const void *body, unsigned which)
{
    static _Atomic bool looked;
    void *function = runtime_find(forks[which].name, body);

    if (!atomic_load_explicit(&looked, memory_order_relaxed) && !atomic_exchange(&looked, true))
        look_for_tool();
    forking.outmost = forking.body == body && which == FORK_CALL ? forking.call : NULL;
    forking.call = call;
    forking.body = body;
    return function ? function : forks[which].alone;
}

const void *fork_body(const void *call)
{
    const void *body = forking.body;

    forking.body = NULL;
    return call == forking.call || call == forking.outmost ? body : NULL;
}
