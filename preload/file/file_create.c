/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/file_create.h"

#include "preload/file/deliver.h"
#include "preload/options.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/sources/perf.h"
#include "preload/text.h"
#include "preload/thread.h"
#include "preload/walk/vdso.h"
#include "preload/window.h"

/* The CPU time, in nanoseconds, that the process used before it executed this program: the file of the image before has
 * the serial before. `number` is the place of the serial in `path`, which is as it was afterwards. */
static uint64_t cpu_time_before(const char *path, char *number, const char *end, const struct file_birth *birth)
{
    struct hqm_header before = {.state = HQM_RUNNING};

    if (birth->serial == 0)
        return 0;
    append(append_number(number, end, birth->serial - 1), end, HQM_SUFFIX);
    int fd = raw_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        raw_read(fd, &before, sizeof before);
        raw_close(fd);
    }
    append(append_number(number, end, birth->serial), end, HQM_SUFFIX);
    return before.pid == birth->pid && before.launch == options.launch && before.state == HQM_EXECED ? before.cpu_end_ns
                                                                                                     : 0;
}

/* HOST-PID-SERIAL.hqm: the serial is the first that is free, so an exec, or a pid used again, makes a new file. */
int file_create(char *path, size_t bytes, struct file_birth *birth)
{
    const char *end = path + bytes;
    char *stem = append(path, end, options.directory);
    uint32_t serial;
    int fd = -EEXIST;

    *birth = (struct file_birth){.pid = (uint32_t)raw_getpid()};
    stem = append(stem, end, "/");
    stem = append(stem, end, options.host);
    stem = append(stem, end, "-");
    stem = append_number(stem, end, birth->pid);
    stem = append(stem, end, "-");
    for (serial = 0; serial < 100000 && fd == -EEXIST; serial++) {
        append(append_number(stem, end, serial), end, HQM_SUFFIX);
        fd = raw_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd == -ENOENT && options.home[0]) {
            options.brings = true;
            deliver_prepare();
            fd = raw_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        }
    }
    birth->serial = serial - 1;
    birth->cpu_before_ns = cpu_time_before(path, stem, end, birth);
    return fd;
}

void file_begin_header(struct hqm_header *header, const struct file_birth *birth)
{
    struct stat namespace;

    header->major = HQM_MAJOR;
    header->minor = HQM_MINOR;
    header->header_bytes = HQM_ALIGN;
    header->pid = birth->pid;
    header->ppid = (uint32_t)raw_getppid();
    header->serial = birth->serial;
    header->rank = options.rank;
    header->state = HQM_RUNNING;
    header->start_realtime_ns = vdso_clock_ns(CLOCK_REALTIME);
    header->start_monotonic_ns = vdso_clock_ns(CLOCK_MONOTONIC);
    header->launch = options.launch;
    header->threads = thread_count();
    if (raw_stat("/proc/self/ns/pid", &namespace) == 0)
        header->pid_namespace = namespace.st_ino;
    header->cpu_clock = (uint32_t)perf_clock();
    header->cpu_clock_error = (uint32_t)perf_error();
    header->timer_threads = perf_refused();
    header->slowed_threads = perf_slowed();
    window_note(header);
    if (!process_epoch()) { /* a forked child is measured from its start, though its file is younger */
        header->cpu_image_ns = birth->cpu_before_ns;
        header->cpu_start_ns = (uint64_t)raw_cpu_time(CLOCK_PROCESS_CPUTIME_ID);
    }
}
