/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/interrupt.h"
#include <stddef.h>

volatile sig_atomic_t interrupt_flag;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupt_flag = 1;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

bool interrupt_take(void)
{
    bool taken = interrupt_flag;

    interrupt_flag = 0;
    return taken;
}

void interrupt_ignore_pipe(void)
{
    signal(SIGPIPE, SIG_IGN);
}
