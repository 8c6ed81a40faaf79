/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the place of readline.c where the build found no readline, or was asked to go without (READLINE=no): lines as the
 * terminal gives them, without history and completion. `rlwrap hq DB` brings both from outside.
 */
#include "repl/interrupt.h"
#include "repl/prompt/readline.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const bool line_completes = false;

void line_open(const struct line_editor *editor)
{
    (void)editor;
}

void line_close(void)
{
}

void line_remember(const char *text)
{
    (void)text;
}

/* Until something can be read, with the signal let in only here, so that none slips by before the wait. */
static bool wait_for_input(const sigset_t *outside)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!interrupt_flag)
        if (ppoll(&input, 1, NULL, outside) > 0)
            return true;
    return false;
}

enum line_result line_read(const char *prompt, const char *before, char **line)
{
    sigset_t ours, outside;
    size_t room = 0;

    (void)before;
    *line = NULL;
    fputs(prompt, stdout);
    fflush(stdout);
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigprocmask(SIG_BLOCK, &ours, &outside);
    bool ready = wait_for_input(&outside);

    sigprocmask(SIG_SETMASK, &outside, NULL);
    if (!ready) {
        interrupt_take();
        putchar('\n');
        return LINE_INTERRUPTED;
    }
    ssize_t n = getline(line, &room, stdin);

    if (n < 0) {
        free(*line);
        *line = NULL;
        return LINE_END;
    }
    if (n && (*line)[n - 1] == '\n')
        (*line)[n - 1] = 0;
    return LINE_TEXT;
}
