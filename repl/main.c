/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, and the start of hq. */
#include "repl/command.h"
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define COMMAND(name) extern const struct command cmd_##name;
#include "repl/commands.def"
#undef COMMAND

static const struct command *const table[] = {
#define COMMAND(name) &cmd_##name,
#include "repl/commands.def"
#undef COMMAND
    NULL,
};

static struct {
    int argc;
    char **argv;
    int status;
} given;

static void run(void)
{
    command_start();
    given.status = command_main(table, given.argc, given.argv);
}

/* A limit of the stack that some program gets along with (ulimit -s 16) is none of hq's, which would end by SIGSEGV:
 * the C library alone takes 8 KiB to write to standard error. What hq starts has the limit as it was. */
static void *own_stack(size_t bytes)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    void *stack;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= bytes)
        return NULL;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, bytes);
        pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
    stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    return stack == MAP_FAILED ? NULL : stack;
}

int main(int argc, char **argv)
{
    enum { STACK = 1 << 20 };
    static ucontext_t here, there;
    void *stack = own_stack(STACK);

    given.argc = argc;
    given.argv = argv;
    if (!stack || getcontext(&there) != 0) {
        run();
        return given.status;
    }
    there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
    there.uc_link = &here;
    makecontext(&there, run, 0);
    swapcontext(&here, &there);
    return given.status;
}
