/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pty SCRIPT...: drives programs through a pseudo terminal, for tests of the prompt. A script holds one step a line:
 *
 *     # comment
 *     env NAME=VALUE        for the programs started afterwards; without `=` the variable is removed
 *     size ROWS COLUMNS     of the terminal, also while a program runs (it gets SIGWINCH)
 *     run COMMAND           starts it, by a shell, on a new terminal
 *     wait TEXT             until the program has written TEXT (after what earlier `wait`s matched)
 *     absent TEXT           TEXT is not in what the last `wait` passed over
 *     type TEXT             as keys
 *     bytes TEXT            the program has written exactly these bytes since it was started, \r and escape sequences
 * among them never TEXT            nor TEXT, matched as by `wait`, anywhere colours yes|no        whether the program
 * has written any since it was started hangup                closes the terminal exit N                the program ends
 * with status N (128 + N by signal N)
 *
 * TEXT may hold \r \n \t \e \\ and \xHH. Matching sees the output without carriage returns and escape sequences.
 * Nothing sleeps: `wait` and `exit` look until the text comes, or the program ends, or LIMIT seconds pass. The last
 * line is `N passed, N failed`.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 100, SHOWN = 2000 };

struct terminal {
    int fd;
    pid_t pid;
    struct winsize size;
    char *raw; /* what was written */
    size_t raw_len;
    char *text;             /* the same, stripped */
    size_t len, start, end; /* the last match passed over start .. end */
    int escape;             /* inside an escape sequence: 1 after ESC, 2 in CSI, 3 in OSC */
    bool coloured;
};

static int passed, failed;

static void feed(struct terminal *t, const char *bytes, size_t n)
{
    t->raw = realloc(t->raw, t->raw_len + n + 1);
    t->text = realloc(t->text, t->len + n + 1);
    if (!t->raw || !t->text)
        abort();
    memcpy(t->raw + t->raw_len, bytes, n);
    t->raw_len += n;
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];

        if (t->escape == 1)
            t->escape = c == '[' ? 2 : c == ']' ? 3 : 0;
        else if (t->escape == 2) {
            t->escape = c >= '@' && c <= '~' ? 0 : 2;
            t->coloured |= c == 'm';
        } else if (t->escape == 3)
            t->escape = c == '\a' ? 0 : 3;
        else if (c == '\033')
            t->escape = 1;
        else if (c && c != '\r' && c != '\a')
            t->text[t->len++] = c;
    }
    t->text[t->len] = '\0';
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Reads what there is, waiting until `deadline` for something; false at the end or when time is up. */
static bool pump(struct terminal *t, double deadline)
{
    struct pollfd p = {.fd = t->fd, .events = POLLIN};
    double left = deadline - now();
    char bytes[4096];

    if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) <= 0)
        return false;
    ssize_t n = read(t->fd, bytes, sizeof bytes);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    feed(t, bytes, (size_t)n);
    return true;
}

static bool wait_text(struct terminal *t, const char *text)
{
    double deadline = now() + LIMIT;

    for (;;) {
        char *found = t->text ? strstr(t->text + t->end, text) : NULL;

        if (found) {
            t->start = t->end;
            t->end = (size_t)(found - t->text) + strlen(text);
            return true;
        }
        if (!pump(t, deadline))
            return false;
    }
}

static bool absent(const struct terminal *t, const char *text)
{
    size_t len = strlen(text);

    for (size_t i = t->start; i + len <= t->end; i++)
        if (!memcmp(t->text + i, text, len))
            return false;
    return true;
}

static void start(struct terminal *t, const char *command)
{
    free(t->raw);
    free(t->text);
    *t = (struct terminal){.size = t->size};
    feed(t, "", 0);
    t->pid = forkpty(&t->fd, NULL, NULL, &t->size);
    if (t->pid == 0) {
        char *line;

        /* In place of the shell, which would take the keyboard's signals too. */
        if (asprintf(&line, "exec %s", command) > 0)
            execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
}

static int end(struct terminal *t)
{
    double deadline = now() + LIMIT;
    int status = 0;

    while (pump(t, deadline))
        ;
    if (now() >= deadline)
        kill(t->pid, SIGKILL);
    waitpid(t->pid, &status, 0);
    t->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Keys as written in a script; returns their number. */
static size_t keys(char *text)
{
    char *out = text;
    unsigned value;

    for (const char *p = text; *p; p++) {
        if (*p != '\\') {
            *out++ = *p;
            continue;
        }
        switch (*++p) {
        case 'r': *out++ = '\r'; break;
        case 'n': *out++ = '\n'; break;
        case 't': *out++ = '\t'; break;
        case 'e': *out++ = '\033'; break;
        case 'x':
            sscanf(p + 1, "%2x", &value);
            *out++ = (char)value;
            p += 2;
            break;
        default: *out++ = *p;
        }
    }
    return (size_t)(out - text);
}

static void send_keys(struct terminal *t, char *text)
{
    size_t len = keys(text), done = 0;

    while (done < len) {
        ssize_t n = write(t->fd, text + done, len - done);

        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

static void check(bool good, const char *where, int line, const char *text, const struct terminal *t)
{
    if (good) {
        passed++;
        return;
    }
    failed++;
    size_t from = t->len > t->end + SHOWN ? t->len - SHOWN : t->end;

    printf("%s:%d: %s\n--- the terminal since the last match:\n%s\n---\n", where, line, text,
           t->text ? t->text + from : "");
}

static bool step(struct terminal *t, const char *word, char *rest)
{
    if (!strcmp(word, "wait") || !strcmp(word, "absent")) {
        rest[keys(rest)] = '\0';
        return *word == 'w' ? wait_text(t, rest) : absent(t, rest);
    }
    if (!strcmp(word, "bytes"))
        return t->raw && memmem(t->raw, t->raw_len, rest, keys(rest));
    if (!strcmp(word, "never"))
        return t->text && !strstr(t->text, rest);
    if (!strcmp(word, "colours"))
        return t->coloured == (*rest == 'y');
    if (!strcmp(word, "exit"))
        return t->pid > 0 && end(t) == atoi(rest);
    if (!strcmp(word, "run"))
        start(t, rest);
    else if (!strcmp(word, "type"))
        send_keys(t, rest);
    else if (!strcmp(word, "hangup"))
        close(t->fd);
    else if (!strcmp(word, "env") && strchr(rest, '='))
        putenv(strdup(rest));
    else if (!strcmp(word, "env"))
        unsetenv(rest);
    else if (!strcmp(word, "size")) {
        sscanf(rest, "%hu %hu", &t->size.ws_row, &t->size.ws_col);
        if (t->pid)
            ioctl(t->fd, TIOCSWINSZ, &t->size);
    } else
        return false;
    passed--; /* an action, no check */
    return true;
}

static void play(const char *path)
{
    struct terminal t = {.size = {.ws_row = 24, .ws_col = 80}};
    FILE *script = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;

    if (!script) {
        perror(path);
        exit(2);
    }
    for (int number = 1; getline(&line, &cap, script) > 0; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (!*line || *line == '#')
            continue;
        char *shown = strdup(line), *rest = strchr(line, ' ');

        if (rest)
            *rest++ = '\0';
        check(step(&t, line, rest ? rest : line + strlen(line)), path, number, shown, &t);
        free(shown);
    }
    if (t.pid) {
        kill(t.pid, SIGKILL);
        waitpid(t.pid, NULL, 0);
    }
    free(t.raw);
    free(t.text);
    free(line);
    fclose(script);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++)
        play(argv[i]);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
