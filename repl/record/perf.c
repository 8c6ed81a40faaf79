/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/record/perf.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/units.h"
#include "db/perf/convert.h"
#include "db/perf/vdso.h"
#include "repl/record/perf_tap.h"
#include "structure/elf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STACK_BYTES = 16384, STACK_MOST = 65528 };
#define MAX_BYTES ((uint64_t)2 << 30)

struct hq_error *record_perf_permitted(void)
{
    bool kernel;

#ifndef __x86_64__
    return hq_error_new(HQ_USAGE, "--by=perf reads the registers and stacks of x86-64 only; record without it");
#endif
    return tap_permitted(&kernel);
}

bool record_perf_may(void)
{
    struct hq_error *err = record_perf_permitted();
    bool may = !err;

    hq_error_free(err);
    return may;
}

/* ---- options ---- */

static struct hq_error *parse_stack(const char *text, uint32_t *bytes)
{
    uint64_t size;

    if (!strcmp(text, "fp")) {
        *bytes = 0;
        return NULL;
    }
    HQ_TRY(hq_error_prefix(units_parse_count(text, &size), "--stack"));
    if (size < 64 || size > STACK_MOST || size % 8)
        return hq_error_new(HQ_USAGE,
                            "--stack %s: a copy has a multiple of 8 bytes, from 64 to %d; or fp, for frame pointers",
                            text, STACK_MOST);
    *bytes = (uint32_t)size;
    return NULL;
}

struct hq_error *record_perf_options(const struct opt_args *args, const char *events, struct record_perf *out)
{
    static const char *const others[] = {"clock", "buffer", "ranks", "delay", "runs", "stopped", NULL};
    const char *pid = opt_value(args, "pid"), *size = opt_value(args, "max-size");
    char *end;

    *out = (struct record_perf){.stack_bytes = STACK_BYTES, .max_bytes = MAX_BYTES};
    for (int i = 0; others[i]; i++)
        if (opt_value(args, others[i]) || opt_flag(args, others[i], false))
            return hq_error_new(HQ_USAGE, "--%s is for the collector, which --by=perf does without", others[i]);
    if (!opt_flag(args, "trace", true))
        return hq_error_new(HQ_USAGE, "--no-trace is for the collector, which --by=perf does without");
    if (!str_begins(events, "CPUTIME@") || strchr(events, ','))
        return hq_error_new(HQ_USAGE, "--by=perf measures CPUTIME and nothing else: -e CPUTIME@RATE");
    out->period_ns = strtoull(events + 8, NULL, 10);
    if (opt_value(args, "stack"))
        HQ_TRY(parse_stack(opt_value(args, "stack"), &out->stack_bytes));
    if (size)
        HQ_TRY(hq_error_prefix(units_parse_count(size, &out->max_bytes), "--max-size"));
    if (opt_value(args, "duration"))
        HQ_TRY(hq_error_prefix(units_parse_seconds(opt_value(args, "duration"), &out->duration), "--duration"));
    if (!pid)
        return NULL;
    long number = strtol(pid, &end, 10);

    if (!*pid || *end || number <= 0 || number > INT32_MAX)
        return hq_error_new(HQ_USAGE, "-p takes the number of a process, not `%s`", pid);
    out->pid = (pid_t)number;
    return NULL;
}

/* ---- what the stream needs to know ---- */

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add_word(struct str *line, const char *word)
{
    bool plain = *word && !word[strcspn(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!")];

    str_add(line, line->len ? " " : "");
    if (plain) {
        str_add(line, word);
        return;
    }
    str_add(line, "'");
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            str_add(line, "'\\''");
        else
            str_addn(line, c, 1);
    str_add(line, "'");
}

/* The path of the file that our own vDSO is kept in; NULL: there is none. */
static char *keep_vdso(const char *directory)
{
    AUTO_STR struct str name = {0};
    struct perf_vdso own;

    if (!perf_vdso_own(&own))
        return NULL;
    str_addf(&name, "%s/vdso-", directory);
    str_add_hex(&name, own.build_id, own.build_id_len);
    str_add(&name, ".so");
    int fd = open(str_cstr(&name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd >= 0 && write(fd, own.image, own.size) != (ssize_t)own.size)
        unlink(str_cstr(&name));
    if (fd >= 0)
        close(fd);
    return str_steal(&name);
}

static void tell_machine(struct tap *s, pid_t pid, const char *host)
{
    AUTO_STR struct str boot = {0}, id = {0}, machine = {0};

    hq_error_free(file_read("/proc/sys/kernel/random/boot_id", &boot, 256));
    str_addf(&boot, "%s", host);
    str_addf(&id, "%016llx", (unsigned long long)hash_bytes(str_cstr(&boot), boot.len, 0));
    tap_text(s, pid, "host", host);
    tap_text(s, pid, "kernel", str_cstr(&id));
    record_machine(&machine);
    tap_text(s, pid, "machine", str_cstr(&machine));
}

struct recording {
    const struct record_perf *options;
    const struct record_place *place;
    char *path, *vdso; /* of the stream, and of the image (NULL: none) */
    struct tap *tap;
    bool kernel;
};

static struct hq_error *open_stream(struct recording *r, pid_t pid, bool attached)
{
    char host[256] = "localhost";
    struct stat st;
    struct hqs_header header = {.rank = r->place->rank,
                                .launch = r->place->launch,
                                .start_realtime_ns = now_ns(CLOCK_REALTIME),
                                .start_monotonic_ns = now_ns(CLOCK_MONOTONIC),
                                .kernel = r->kernel,
                                .pid = (uint32_t)pid,
                                .attached = attached};
    struct tap_options options = {.period_ns = r->options->period_ns,
                                  .stack_bytes = r->options->stack_bytes,
                                  .max_bytes = r->options->max_bytes,
                                  .stop_ns = attached || !(r->options->duration > 0)
                                                 ? 0
                                                 : header.start_monotonic_ns + (uint64_t)(r->options->duration * 1e9)};

    if (stat("/proc/self/ns/pid", &st) == 0)
        header.pid_namespace = st.st_ino;
    gethostname(host, sizeof host - 1);
    r->path = xasprintf("%s/%s-%d" HQS_SUFFIX, r->place->measurements, host, (int)pid);
    r->vdso = keep_vdso(r->place->measurements);
    options.vdso = r->vdso;
    HQ_TRY(tap_open(r->path, &header, &options, &r->tap));
    tell_machine(r->tap, pid, host);
    return NULL;
}

static uint64_t finish(struct recording *r)
{
    struct tap_sum sum = {0};

    if (r->tap) {
        sum = tap_close(r->tap);
        if (r->kernel && sum.samples)
            perf_keep_kernel_names(r->path);
    }
    fprintf(stderr, "hq: %llu %s, %.1f MiB in %s, CPUTIME by perf_event%s", (unsigned long long)sum.samples,
            sum.samples == 1 ? "sample" : "samples", (double)sum.bytes / (1 << 20), r->place->database,
            r->kernel ? "" : " in user mode");
    if (sum.lost)
        fprintf(stderr, "; %llu were lost, the kernel's buffer was full", (unsigned long long)sum.lost);
    if (sum.unwound)
        fprintf(stderr, "; of %llu beyond --max-size only the call paths are kept", (unsigned long long)sum.unwound);
    if (sum.dropped)
        fprintf(stderr, "; %llu were left out, for want of space", (unsigned long long)sum.dropped);
    fprintf(stderr, "\n");
    free(r->path);
    free(r->vdso);
    return sum.samples;
}

/* It has not begun. */
static void abandon(struct recording *r)
{
    if (r->tap)
        tap_close(r->tap);
    if (r->path)
        unlink(r->path);
    free(r->path);
    free(r->vdso);
}

/* ---- a program ---- */

struct start {
    struct recording *recording;
    char *const *command;
};

static struct hq_error *start(void *arg, pid_t pid)
{
    struct start *s = arg;
    AUTO_STR struct str line = {0};
    char directory[4096];
    bool gone;

    HQ_TRY(open_stream(s->recording, pid, false));
    for (char *const *word = s->command; *word; word++)
        add_word(&line, *word);
    tap_text(s->recording->tap, pid, "command", str_cstr(&line));
    if (getcwd(directory, sizeof directory))
        tap_text(s->recording->tap, pid, "directory", directory);
    HQ_TRY(tap_attach(s->recording->tap, pid, true, &gone));
    return tap_run(s->recording->tap);
}

struct hq_error *record_perf_program(const struct record_perf *p, const struct record_place *place, const char *path,
                                     char *const *command, int *status, struct perf_told *told)
{
    struct recording r = {.options = p, .place = place};
    struct start s = {&r, command};
    pid_t pid;

    HQ_TRY(tap_permitted(&r.kernel));
    struct hq_error *err = record_run(path, command, &(struct record_start){start, &s}, status, &pid);

    if (err)
        abandon(&r);
    else
        told->samples = finish(&r);
    return err;
}

/* ---- a process ---- */

/* /proc may hide the processes of others (hidepid). */
static struct hq_error *not_found(pid_t pid)
{
    if (kill(pid, 0) && errno == ESRCH)
        return hq_error_new(HQ_DATA, "there is no process %d here", (int)pid);
    return tap_refused(pid);
}

/* Threads begin others while they are listed: again, until there is no new one. */
static struct hq_error *attach_tasks(struct recording *r, pid_t pid)
{
    AUTO_FREE char *directory = xasprintf("/proc/%d/task", (int)pid);
    AUTO(map_deinit) struct map known = {0};
    bool any_new = true, gone;

    while (any_new) {
        DIR *tasks = opendir(directory);
        struct hq_error *err = NULL;

        any_new = false;
        if (!tasks)
            return known.len ? NULL : not_found(pid);
        for (const struct dirent *e; !err && (e = readdir(tasks));) {
            pid_t task = (pid_t)atoi(e->d_name);

            if (task <= 0 || map_find(&known, (uint64_t)task))
                continue;
            err = tap_attach(r->tap, task, false, &gone);
            if (!err && !gone) {
                any_new = true;
                map_put(&known, (uint64_t)task, 1);
                if (task != pid)
                    tap_thread(r->tap, pid, task);
            }
        }
        closedir(tasks);
        HQ_TRY(err);
    }
    return known.len ? NULL : not_found(pid);
}

/* "7f00-7f10 r-xp 00001000 08:01 123   /lib/libc.so.6" */
static void tell_mapping(struct recording *r, pid_t pid, const char *line)
{
    unsigned long long start, end, offset;
    char rights[5] = "";
    int at = 0;

    if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, rights, &offset, &at) < 4 || rights[2] != 'x' ||
        (long long)start < 0)
        return;
    const char *path = at && line[at] ? line + at : "//anon";
    AUTO_FREE char *file = xasprintf("/proc/%d/root%s", (int)pid, path);
    struct elf *elf = NULL;
    struct hq_error *err = path[0] == '/' && path[1] != '/' ? elf_open(file, &elf) : NULL;
    bool known = elf && !err && elf->build_id;

    tap_mapping(r->tap, pid, start, end, offset, path, known ? elf->build_id : NULL, known ? elf->build_id_size : 0);
    if (elf && !err)
        elf_close(elf);
    hq_error_free(err);
}

static void tell_process(struct recording *r, pid_t pid)
{
    AUTO_FREE char *maps = xasprintf("/proc/%d/maps", (int)pid), *cmdline = xasprintf("/proc/%d/cmdline", (int)pid),
                   *cwd = xasprintf("/proc/%d/cwd", (int)pid);
    AUTO_STR struct str text = {0}, words = {0}, line = {0};
    char directory[4096];
    ssize_t bytes = readlink(cwd, directory, sizeof directory - 1);

    hq_error_free(file_read(maps, &text, 64 << 20));
    if (text.len)
        for (char *at = text.s, *rest = NULL; (at = strtok_r(at, "\n", &rest)); at = NULL)
            tell_mapping(r, pid, at);
    hq_error_free(file_read(cmdline, &words, 1 << 20));
    for (size_t at = 0; at < words.len; at += strlen(words.s + at) + 1)
        add_word(&line, words.s + at);
    if (line.len)
        tap_text(r->tap, pid, "command", str_cstr(&line));
    if (bytes > 0) {
        directory[bytes] = 0;
        tap_text(r->tap, pid, "directory", directory);
    }
}

/* The process cannot be waited for, but a descriptor of it becomes readable when it ends. */
static void wait_for_end(pid_t pid, double seconds, const sigset_t *ends)
{
    uint64_t until = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
    struct pollfd waits[2] = {{.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN},
                              {.fd = signalfd(-1, ends, SFD_CLOEXEC), .events = POLLIN}};

    for (;;) {
        uint64_t now = now_ns(CLOCK_MONOTONIC), left = until > now ? (until - now + 999999) / 1000000 : 0;
        int timeout = seconds > 0 ? (int)(left < 3600000 ? left : 3600000) : waits[0].fd >= 0 ? -1 : 200;

        if (seconds > 0 && !left)
            break;
        if (poll(waits, 2, timeout) > 0 && (waits[0].revents || waits[1].revents))
            break;
        if (waits[0].fd < 0 && kill(pid, 0) != 0 && errno == ESRCH)
            break;
    }
    for (int i = 0; i < 2; i++)
        if (waits[i].fd >= 0)
            close(waits[i].fd);
}

struct hq_error *record_perf_process(const struct record_perf *p, const struct record_place *place,
                                     struct perf_told *told)
{
    struct recording r = {.options = p, .place = place};
    sigset_t ends, old;

    HQ_TRY(tap_permitted(&r.kernel));
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &old);
    struct hq_error *err = open_stream(&r, p->pid, true);

    if (!err)
        err = attach_tasks(&r, p->pid);
    if (!err) {
        tell_process(&r, p->pid);
        err = tap_run(r.tap);
    }
    if (!err)
        wait_for_end(p->pid, p->duration, &ends);
    if (err)
        abandon(&r);
    else
        told->samples = finish(&r);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return err;
}
