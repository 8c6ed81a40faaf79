/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/command.h"
#include "common/progress.h"
#include "common/str.h"
#include "common/suggest.h"
#include "common/temporary.h"
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void do_nothing(int signal)
{
    (void)signal;
}

void command_start(void)
{
    /* A file that grows beyond the limit of the shell (ulimit -f) is an error of its write. Not SIG_IGN, which programs
     * that are started would inherit. */
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

    sigaction(SIGXFSZ, &action, NULL);
    temporary_catch_signals();
    /*
     * For the characters of the terminal and their width only: numbers are written and read with a point, and letters
     * are compared as everywhere. In Turkish `LIMIT` is not `limit`.
     */
    setlocale(LC_CTYPE, "");
    setlocale(LC_CTYPE, !strcmp(nl_langinfo(CODESET), "UTF-8") ? "C.UTF-8" : "C");
}

int exit_worse(int a, int b)
{
    static const char order[] = {HQ_OK, HQ_INCONCLUSIVE, HQ_FAILED, HQ_USAGE, HQ_DATA};
    const char *x = memchr(order, a, sizeof order), *y = memchr(order, b, sizeof order);

    if (!x || !y)
        return x ? b : a;
    return x > y ? a : b;
}

static void print_error(const char *name, const char *message)
{
    progress_hide();
    fflush(stdout);
    AUTO_FREE char *line = xasprintf("hq%s%s: %s", *name ? " " : "", name, message);

    utf8_put_line(line, stderr);
}

int command_fail(const char *name, struct hq_error *error)
{
    if (!error)
        return HQ_OK;
    int status = error->status;

    print_error(name, error->message);
    hq_error_free(error);
    return status;
}

int command_usage(const char *name, const char *fmt, ...)
{
    AUTO_STR struct str text = {0};
    va_list ap;

    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    str_addf(&text, "; `hq %s --help` shows how it is used", name);
    print_error(name, text.s);
    return HQ_USAGE;
}

size_t command_width(void)
{
    struct winsize size;

    return isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

int command_help(const struct command *c)
{
    AUTO_STR struct str text = {0};

    opt_help(&c->cmd, "hq", command_width(), &text);
    fputs(str_cstr(&text), stdout);
    return HQ_OK;
}

bool command_asks_for_help(const char *word)
{
    return suggest_lists(" --help -h -help -? ", word);
}

/* Whether help is asked for: not in the words of a program that a command starts. */
static bool wants_help(const struct command *c, int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++) {
        if (command_asks_for_help(argv[i]))
            return true;
        if (c->cmd.stops_at_operand && argv[i][0] != '-')
            return false;
    }
    return false;
}

int command_run(const struct command *c, int argc, char **argv)
{
    struct opt_args args;
    struct hq_error *error;

    if (wants_help(c, argc, argv))
        return command_help(c);
    error = opt_parse(&c->cmd, argc, argv, &args);
    int status = error ? command_fail(c->cmd.name, error) : c->run(&args);

    opt_args_deinit(&args);
    return status;
}

int command_end(int status)
{
    /* All output must have been written; results of queries have complained already. */
    if ((fflush(stdout) || ferror(stdout)) && status != HQ_DATA)
        return command_fail("", hq_error_errno(HQ_DATA, "cannot write to standard output"));
    return status;
}
