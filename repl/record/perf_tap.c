/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/record/perf_tap.h"

#include "common/mem.h"
#include "db/perf/live.h"
#include "repl/record/perf_attributes.h"
#include "repl/record/perf_tap_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RING_MOST = 4 << 20, RING_LEAST = 64 << 10 };
enum { WAIT_MS = 500, WAIT_ORPHANED_MS = 20 };

/* ---- the kernel's buffers ---- */

static void copy_out(const struct ring *r, uint64_t from, void *to, size_t bytes)
{
    const uint8_t *data = (const uint8_t *)r->page + r->page->data_offset;
    size_t at = from & (r->bytes - 1), first = r->bytes - at < bytes ? r->bytes - at : bytes;

    memcpy(to, data + at, first);
    memcpy((uint8_t *)to + first, data, bytes - first);
}

static void drain(struct tap *s, struct ring *r)
{
    uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), tail = r->page->data_tail;

    while (tail < head) {
        struct perf_event_header h;

        copy_out(r, tail, &h, sizeof h);
        if (h.size < sizeof h || h.size > head - tail)
            break;
        copy_out(r, tail, s->record, h.size);
        tail += h.size;
        tap_take(s, s->record, &h);
    }
    __atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Drains all rings. Records that a processor wrote before the last time have arrived by now, unless it was held up for
 * longer than HELD_UP_NS. */
static void drain_all(struct tap *s, bool last)
{
    enum { HELD_UP_NS = 50000000 };
    uint64_t now = now_ns(), before = now - HELD_UP_NS < s->drained_ns ? now - HELD_UP_NS : s->drained_ns;

    vec_foreach(r, &s->rings)
        drain(s, r);
    if (s->live)
        perf_live_take(s->live, last ? UINT64_MAX : before, tap_put_path, s);
    s->drained_ns = now;
    tap_flush(s);
}

static void disable(struct tap *s)
{
    vec_foreach(r, &s->rings)
        ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0);
    vec_foreach(fd, &s->others)
        ioctl(*fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Milliseconds to wait; sampling that is to end by now does. */
static int until_stop(struct tap *s, int wait)
{
    uint64_t now = s->options.stop_ns ? now_ns() : 0;

    if (!s->options.stop_ns)
        return wait;
    if (now >= s->options.stop_ns) {
        disable(s);
        s->options.stop_ns = 0;
        return wait;
    }
    uint64_t left = (s->options.stop_ns - now) / 1000000 + 1;

    return left < (uint64_t)wait ? (int)left : wait;
}

static void *empty_rings(void *arg)
{
    struct tap *s = arg;
    AUTO_FREE struct pollfd *polled = xcalloc(s->rings.len + 1, sizeof *polled);
    int wait = WAIT_MS;

    polled[0] = (struct pollfd){.fd = s->stop, .events = POLLIN};
    for (size_t i = 0; i < s->rings.len; i++)
        polled[i + 1] = (struct pollfd){.fd = s->rings.data[i].fd, .events = POLLIN};
    while (!(polled[0].revents & POLLIN)) {
        poll(polled, s->rings.len + 1, until_stop(s, wait));
        /* The task that a buffer was made for has ended; others may still write to it, and nobody tells when. */
        for (size_t i = 1; i <= s->rings.len; i++)
            if (polled[i].revents & (POLLHUP | POLLERR)) {
                polled[i].fd = -1;
                wait = s->others.len ? WAIT_ORPHANED_MS : WAIT_MS;
            }
        drain_all(s, false);
    }
    return NULL;
}

/* ---- events ---- */

static void *map_ring(int fd, size_t bytes)
{
    return mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* Is there memory for a ring of this size on each processor? What a user may lock is one amount for all of them. */
static bool may_have(struct tap *s, size_t bytes)
{
    struct perf_event_attr attr = perf_attributes(&s->options, s->header.kernel);
    VEC(struct ring) tried = {0};
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    bool all = true;

    for (int cpu = 0; cpu < cpus && all; cpu++) {
        struct ring r = {.cpu = cpu, .fd = perf_event_begin(&attr, 0, cpu)};

        if (r.fd < 0)
            continue; /* whoever opens the real ones says why */
        r.page = map_ring(r.fd, bytes);
        all = r.page != MAP_FAILED;
        vec_push(&tried, r);
    }
    vec_foreach(r, &tried) {
        if (r->page != MAP_FAILED)
            munmap(r->page, bytes + 4096);
        close(r->fd);
    }
    vec_deinit(&tried);
    return all;
}

static struct hq_error *choose_ring(struct tap *s)
{
    size_t least = RING_LEAST;

    /* The kernel makes room for a whole copy before it knows how much of it there is. */
    while (least < 3 * (size_t)s->options.stack_bytes)
        least *= 2;
    s->ring_bytes = RING_MOST;
    while (!may_have(s, s->ring_bytes)) {
        if (s->ring_bytes == least)
            return hq_error_new(HQ_DATA, "there is no memory for the kernel's buffers: raise the limit of memory that "
                                         "may be locked (ulimit -l), or kernel.perf_event_mlock_kb (sysctl)");
        s->ring_bytes /= 2;
    }
    return NULL;
}

struct hq_error *tap_open(const char *path, const struct hqs_header *header, const struct tap_options *options,
                          struct tap **out)
{
    struct tap *s = xcalloc(1, sizeof *s);
    struct perf_event_attr attr = perf_attributes(options, header->kernel);

    *s = (struct tap){.header = *header, .options = *options, .stop = -1};
    s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    s->stop = eventfd(0, EFD_CLOEXEC);
    s->out = xmalloc(TAP_OUT_BYTES);
    s->record = xmalloc(TAP_RECORD_MOST);
    memcpy(s->header.magic, HQS_MAGIC, sizeof s->header.magic);
    s->header.major = HQS_MAJOR;
    s->header.minor = HQS_MINOR;
    s->header.header_bytes = sizeof s->header;
    s->header.state = HQS_RUNNING;
    s->header.period_ns = options->period_ns;
    s->header.sample_type = attr.sample_type;
    s->header.registers = attr.sample_regs_user;
    s->header.stack_bytes = options->stack_bytes;
    tap_append(s, &s->header, sizeof s->header);
    tap_flush(s);
    *out = s;
    if (s->fd < 0 || s->stop < 0 || s->sum.error)
        return hq_error_errno(HQ_DATA, "%s", path);
    return choose_ring(s);
}

static struct ring *ring_of(struct tap *s, int cpu)
{
    vec_foreach(r, &s->rings)
        if (r->cpu == cpu)
            return r;
    return NULL;
}

/* Returns the descriptor of an event of the task on that processor; -1, with errno. */
static int begin_event(struct tap *s, pid_t task, int cpu, bool at_exec)
{
    struct perf_event_attr attr = perf_attributes(&s->options, s->header.kernel);
    int fd;

    attr.enable_on_exec = at_exec;
    attr.disabled = at_exec;
    attr.wakeup_watermark = (uint32_t)(s->ring_bytes / 4 < RING_MOST / 16 ? s->ring_bytes / 4 : RING_MOST / 16);
    perf_ask_build_ids(&attr, !s->no_build_id);
    fd = perf_event_begin(&attr, task, cpu);
    if (fd < 0 && errno == EINVAL && !s->no_build_id) { /* Linux before 5.12 */
        s->no_build_id = true;
        perf_ask_build_ids(&attr, false);
        fd = perf_event_begin(&attr, task, cpu);
    }
    return fd;
}

/* Of a begin_event that failed. */
static struct hq_error *why_not(pid_t task, bool *gone)
{
    *gone = errno == ESRCH;
    if (*gone || errno == ENODEV) /* a processor that is switched off */
        return NULL;
    if (errno == EACCES || errno == EPERM)
        return tap_refused(task);
    if (errno == EMFILE)
        return hq_error_new(HQ_DATA, "too many threads for the limit of open files (ulimit -n)");
    return hq_error_errno(HQ_DATA, "process %d cannot be sampled", (int)task);
}

/* The first event of a processor has a buffer, which the others write to. */
static struct hq_error *attach_on(struct tap *s, pid_t task, int cpu, bool at_exec, bool *gone)
{
    struct ring *ring = ring_of(s, cpu);
    int fd = begin_event(s, task, cpu, at_exec);

    if (fd < 0)
        return why_not(task, gone);
    if (ring) {
        vec_push(&s->others, fd);
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0)
            return hq_error_errno(HQ_DATA, "process %d cannot be sampled", (int)task);
        return NULL;
    }
    struct ring fresh = {cpu, fd, map_ring(fd, s->ring_bytes), s->ring_bytes};

    if (fresh.page == MAP_FAILED) {
        close(fd);
        return hq_error_errno(HQ_DATA, "the kernel's buffers");
    }
    vec_push(&s->rings, fresh);
    return NULL;
}

struct hq_error *tap_attach(struct tap *s, pid_t task, bool at_exec, bool *gone)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);

    *gone = false;
    for (int cpu = 0; cpu < cpus && !*gone; cpu++)
        HQ_TRY(attach_on(s, task, cpu, at_exec, gone));
    return NULL;
}

struct hq_error *tap_run(struct tap *s)
{
    int error = pthread_create(&s->thread, NULL, empty_rings, s);

    if (error)
        return hq_error_new(HQ_DATA, "no thread can be started: %s", strerror(error));
    s->running = true;
    return NULL;
}

struct tap_sum tap_close(struct tap *s)
{
    uint64_t one = 1;

    disable(s);
    if (s->running && write(s->stop, &one, sizeof one) == sizeof one)
        pthread_join(s->thread, NULL);
    drain_all(s, true);
    perf_live_end(s->live);
    vec_foreach(r, &s->rings) {
        munmap(r->page, r->bytes + 4096);
        close(r->fd);
    }
    vec_foreach(fd, &s->others)
        close(*fd);
    s->header.end_monotonic_ns = now_ns();
    s->header.state = HQS_ENDED;
    s->header.dropped = s->sum.dropped;
    s->header.unwound = s->sum.unwound;
    if (s->fd >= 0 && pwrite(s->fd, &s->header, sizeof s->header, 0) != (ssize_t)sizeof s->header)
        s->sum.error = errno;
    struct tap_sum sum = s->sum;

    if (s->fd >= 0)
        close(s->fd);
    if (s->stop >= 0)
        close(s->stop);
    vec_deinit(&s->rings);
    vec_deinit(&s->others);
    vec_deinit(&s->notes);
    free(s->out);
    free(s->record);
    free(s);
    return sum;
}
