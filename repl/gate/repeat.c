/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/repeat.h"
#include "common/mem.h"
#include "common/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(*list, name))
            return true;
    return false;
}

void repeat_options(const struct opt_args *args, const char *const *skip, struct arena *arena, struct repeat_words *out)
{
    vec_foreach(g, &args->given) {
        if (is_one_of(g->opt->name, skip))
            continue;
        if (g->opt->value)
            vec_push(out, arena_printf(arena, "--%s=%s", g->opt->name, g->value));
        else
            vec_push(out, arena_printf(arena, "--%s%s", g->on ? "" : "no-", g->opt->name));
    }
}

/* Standard output and standard error go to the file. */
static int redirect(posix_spawn_file_actions_t *actions, const char *log)
{
    int why = posix_spawn_file_actions_addopen(actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    return why ? why : posix_spawn_file_actions_adddup2(actions, 1, 2);
}

/* ^C is for the program: its end ends this as well. */
static int wait_for(pid_t pid)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int ended = 0;

    sigaction(SIGINT, &ignore, &before);
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    sigaction(SIGINT, &before, NULL);
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
}

struct hq_error *repeat_record(const struct repeat_words *options, const struct repeat_words *command, const char *path,
                               const char *log, int *status)
{
    extern char **environ;
    VEC(const char *) words = {0};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int why;

    vec_push(&words, "hq");
    vec_push(&words, "record");
    vec_append(&words, options->data, options->len);
    vec_push(&words, "-o");
    vec_push(&words, path);
    vec_push(&words, "--");
    vec_append(&words, command->data, command->len);
    vec_push(&words, NULL);
    why = posix_spawn_file_actions_init(&actions);
    if (!why && log)
        why = redirect(&actions, log);
    if (!why)
        why = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, (char **)words.data, environ);
    posix_spawn_file_actions_destroy(&actions);
    vec_deinit(&words);
    if (why) {
        errno = why;
        return hq_error_errno(HQ_DATA, "cannot start hq record");
    }
    *status = wait_for(pid);
    return NULL;
}
