/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/limits.h"
#include "common/mem.h"
#include "common/temporary.h"
#include "common/units.h"
#include "repl/interrupt.h"
#include <string.h>
#include <sys/time.h>

#define DEFAULT_SECONDS 3600.0
#define MOST_SECONDS    1e8

static double limit_seconds = DEFAULT_SECONDS;
static volatile sig_atomic_t over;

static const char too_long[] = "takes longer than its limit; ask for less, or allow more with --limit-time";

static void set_timer(double seconds)
{
    struct itimerval t = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};

    if (seconds > 0 && !t.it_value.tv_sec && !t.it_value.tv_usec)
        t.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &t, NULL);
}

/* The question is asked to stop; one that cannot be made to after as long again ends with the process. */
static void on_timer(int signal)
{
    (void)signal;
    if (over) {
        static const char text[] = "hq: this question ";

        temporary_remove_all();
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0 ||
            write(STDERR_FILENO, too_long, sizeof too_long - 1) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
            _exit(HQ_DATA);
        _exit(HQ_DATA);
    }
    over = interrupt_flag = 1;
    set_timer(limit_seconds < 5 ? 5 : limit_seconds);
}

static struct hq_error *take_memory(const char *text)
{
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 10 * 9;

    if (text)
        HQ_TRY(hq_error_prefix(units_parse_count(text, &bytes), "--limit-memory"));
    mem_limit(bytes);
    return NULL;
}

struct hq_error *limits_take(const struct opt_args *args)
{
    const char *time = opt_value(args, "limit-time");
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};

    if (time)
        HQ_TRY(hq_error_prefix(units_parse_seconds(time, &limit_seconds), "--limit-time"));
    if (limit_seconds <= 0 || limit_seconds > MOST_SECONDS)
        return hq_error_new(HQ_USAGE, "--limit-time: a time is more than 0 and less than %g s, not '%s'", MOST_SECONDS,
                            time);
    sigaction(SIGALRM, &action, NULL);
    return take_memory(opt_value(args, "limit-memory"));
}

struct hq_error *limits_query(struct query_env *env, const struct statement *st, struct table **out)
{
    const volatile sig_atomic_t *before = env->interrupted;

    over = 0;
    env->interrupted = &interrupt_flag;
    set_timer(limit_seconds);
    struct hq_error *error = query_run(env, st, out);

    set_timer(0);
    env->interrupted = before;
    if (!over)
        return error;
    interrupt_flag = 0;
    if (error && error->status == QUERY_INTERRUPTED) {
        hq_error_free(error);
        error = hq_error_new(HQ_DATA, "this question %s (now %g s)", too_long, limit_seconds);
    }
    return error;
}
