/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/repeat.h"
#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/vec.h"
#include "db/sources.h"
#include "format/measurement.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

void repeat_command(const char *text, struct arena *arena, struct repeat_words *out)
{
    if (text[strcspn(text, "|&;<>()$`\\\"'*?[#~=%\n{}!")]) {
        vec_push(out, "sh");
        vec_push(out, "-c");
        vec_push(out, text);
        return;
    }
    char *copy = arena_strdup(arena, text), *rest = copy;

    for (char *word; (word = strsep(&rest, " \t"));)
        if (*word)
            vec_push(out, word);
}

/* Standard output and standard error go to the file. */
static int redirect(posix_spawn_file_actions_t *actions, const char *log)
{
    int why = posix_spawn_file_actions_addopen(actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    return why ? why : posix_spawn_file_actions_adddup2(actions, 1, 2);
}

/* ---- standard input ---- */

static off_t input_from = -1; /* where every run begins to read; -1: it is no file */

struct hq_error *repeat_prepare_input(void)
{
    struct stat st;

    if (fstat(STDIN_FILENO, &st) != 0)
        return NULL;
    if (S_ISREG(st.st_mode))
        input_from = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
        return NULL;
    int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (empty < 0 || dup2(empty, STDIN_FILENO) < 0)
        return hq_error_errno(HQ_DATA, "cannot open /dev/null");
    close(empty);
    log_note("standard input is a pipe, which can be read once: the programs get an empty one; give them a file: "
             "< FILE");
    return NULL;
}

/* ---- whether the program ran ---- */

static const char variable[] = "HQ_REPEAT"; /* the number of a descriptor that is open for writing */
static int tell_to = -1;

void repeat_begin(void)
{
    const char *text = getenv(variable);
    struct stat st;

    if (text && sscanf(text, "%d", &tell_to) == 1 &&
        (fstat(tell_to, &st) != 0 || !S_ISFIFO(st.st_mode) || fcntl(tell_to, F_SETFD, FD_CLOEXEC) != 0))
        tell_to = -1;
    unsetenv(variable);
}

void repeat_tell_ran(void)
{
    if (tell_to >= 0 && write(tell_to, "", 1) < 0)
        tell_to = -1;
}

static int spawn(const struct repeat_words *words, const char *log, int told, const sigset_t *mask, pid_t *pid)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int why = posix_spawn_file_actions_init(&actions);

    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

    /* To itself: it stays open there. */
    if (!why)
        why = posix_spawn_file_actions_adddup2(&actions, told, told);
    if (!why && log)
        why = redirect(&actions, log);
    if (!why)
        why = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, (char **)words->data, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return why;
}

struct hq_error *repeat_record(const struct repeat_words *options, const struct repeat_words *command, const char *path,
                               const char *log, double most, struct repeat_end *out)
{
    struct repeat_words words = {0};
    int ends[2];
    sigset_t mask;
    pid_t pid = 0;
    char byte;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return hq_error_errno(HQ_DATA, "cannot start hq record");
    vec_push(&words, "hq");
    vec_push(&words, "record");
    vec_append(&words, options->data, options->len);
    vec_push(&words, "-o");
    vec_push(&words, path);
    vec_push(&words, "--");
    vec_append(&words, command->data, command->len);
    vec_push(&words, NULL);
    if (input_from >= 0)
        lseek(STDIN_FILENO, input_from, SEEK_SET);
    AUTO_FREE char *number = xasprintf("%d", ends[1]);

    setenv(variable, number, 1);
    watch_begin(&mask);
    int why = spawn(&words, log, ends[1], &mask, &pid);

    unsetenv(variable);
    close(ends[1]);
    vec_deinit(&words);
    if (why) {
        sigprocmask(SIG_SETMASK, &mask, NULL);
        close(ends[0]);
        errno = why;
        return hq_error_errno(HQ_DATA, "cannot start hq record");
    }
    out->watched = watch_end(pid, most, &mask);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    out->ran = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    return NULL;
}

char *repeat_last_line(const char *log)
{
    enum { LOG_MAX = 1 << 20 };
    AUTO_STR struct str text = {0};

    hq_error_free(file_read(log, &text, LOG_MAX));
    while (text.len && text.s[text.len - 1] == '\n')
        text.s[--text.len] = '\0';
    const char *line = text.len ? strrchr(text.s, '\n') : NULL;

    return xstrdup(line ? line + 1 : str_cstr(&text));
}

bool repeat_leaves_behind(const char *path)
{
    AUTO_FREE char *measurements = file_join(path, HQM_DIRECTORY);
    AUTO(sources_deinit) struct source_files files = {0};
    const char *input = measurements;
    AUTO_ERROR struct hq_error *error = sources_find(&input, 1, &files);

    return !error && sources_look(&files).running;
}
