/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/perf_tap.h"

#include "common/mem.h"
#include "common/vec.h"
#include "db/perf/live.h"
#include "repl/perf_attributes.h"

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

enum { RING_MOST = 4 << 20, RING_LEAST = 64 << 10, OUT_BYTES = 1 << 20, RECORD_MOST = 1 << 16 };
enum { WAIT_MS = 500, WAIT_ORPHANED_MS = 20 };

struct ring { /* of one processor */
    int cpu, fd;
    struct perf_event_mmap_page *page;
    size_t bytes;
};

struct tap {
    int fd, stop;
    struct hqs_header header;
    struct tap_options options;
    VEC(struct ring) rings;
    size_t ring_bytes; /* of each; less where that much may not be had */
    VEC(int) others;   /* events that write to another one's ring */
    struct tap_sum sum;
    uint8_t *out, *record;
    size_t out_len;
    /* Beyond max_bytes stacks are unwound at once. Until then it is known where in the stream the records are of which
     * that needs to know. */
    struct perf_live *live;
    VEC(uint64_t) notes;
    uint64_t drained_ns; /* when the rings were emptied the last time */
    pthread_t thread;
    bool running, no_build_id;
};

/* ---- the stream ---- */

static void flush(struct tap *s)
{
    for (size_t at = 0; at < s->out_len && !s->sum.error;) {
        ssize_t n = write(s->fd, s->out + at, s->out_len - at);

        if (n < 0 && errno != EINTR)
            s->sum.error = errno;
        at += n > 0 ? (size_t)n : 0;
    }
    s->sum.bytes += s->out_len;
    s->out_len = 0;
}

static void append(struct tap *s, const void *data, size_t bytes)
{
    if (s->out_len + bytes > OUT_BYTES)
        flush(s);
    memcpy(s->out + s->out_len, data, bytes);
    s->out_len += bytes;
}

/* Appends a sample. The kernel fills the copy of a stack as far as there is one, and the rest is left out: one word of
 * it says that the copy is shorter than it might be. */
static void append_sample(struct tap *s, uint8_t *record, size_t size)
{
    struct perf_event_header h;
    uint64_t chain, abi, stack, used, kept;
    size_t at = sizeof h + 24;

    memcpy(&h, record, sizeof h);
    memcpy(&chain, record + at, 8);
    at += 8 + 8 * chain;
    memcpy(&abi, record + at, 8);
    at += 8 + (abi ? 8 * (size_t)__builtin_popcountll(s->header.registers) : 0);
    memcpy(&stack, record + at, 8);
    if (at + 8 + stack + (stack ? 8 : 0) > size || !stack) {
        append(s, record, size);
        return;
    }
    memcpy(&used, record + at + 8 + stack, 8);
    kept = (used + 7) & ~7ull;
    if (kept < stack)
        kept += 8;
    if (kept > stack)
        kept = stack;
    memcpy(record + at, &kept, 8);
    memcpy(record + at + 8 + kept, &used, 8);
    h.size = (uint16_t)(at + 16 + kept);
    memcpy(record, &h, sizeof h);
    append(s, record, h.size);
}

/* All that was said of processes and mappings so far is in the stream. */
static void begin_live(struct tap *s)
{
    const struct perf_layout layout = {
        .sample_type = s->header.sample_type, .registers = s->header.registers, .sample_id_all = true};
    AUTO_FREE uint8_t *record = xmalloc(RECORD_MOST);
    struct perf_event_header h;

    flush(s);
    s->live = perf_live_begin(&layout, s->options.vdso);
    vec_foreach(at, &s->notes)
        if (pread(s->fd, record, RECORD_MOST, (off_t)*at) >= (ssize_t)sizeof h) {
            memcpy(&h, record, sizeof h);
            perf_live_add(s->live, record, h.size);
        }
    vec_deinit(&s->notes);
}

static void put_path(void *arg, const uint8_t *record, size_t size)
{
    struct tap *s = arg;

    append(s, record, size);
    s->sum.samples++;
    s->sum.unwound++;
}

static void take_other(struct tap *s, const uint8_t *record, const struct perf_event_header *h)
{
    uint64_t lost;

    if (h->type == PERF_RECORD_LOST) {
        memcpy(&lost, record + sizeof *h + 8, 8);
        s->sum.lost += lost;
    }
    if (s->live)
        perf_live_add(s->live, record, h->size);
    else if (s->options.stack_bytes)
        vec_push(&s->notes, s->sum.bytes + s->out_len);
    append(s, record, h->size);
}

static void take_record(struct tap *s, uint8_t *record, const struct perf_event_header *h)
{
    if (h->type != PERF_RECORD_SAMPLE) {
        take_other(s, record, h);
    } else if (s->sum.error) {
        s->sum.dropped++;
    } else if (!s->options.stack_bytes) {
        s->sum.samples++;
        append(s, record, h->size);
    } else if (!s->live && s->sum.bytes + s->out_len + h->size <= s->options.max_bytes) {
        s->sum.samples++;
        append_sample(s, record, h->size);
    } else {
        if (!s->live)
            begin_live(s);
        perf_live_add(s->live, record, h->size);
    }
}

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
        take_record(s, s->record, &h);
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
        perf_live_take(s->live, last ? UINT64_MAX : before, put_path, s);
    s->drained_ns = now;
    flush(s);
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
    s->out = xmalloc(OUT_BYTES);
    s->record = xmalloc(RECORD_MOST);
    memcpy(s->header.magic, HQS_MAGIC, sizeof s->header.magic);
    s->header.major = HQS_MAJOR;
    s->header.minor = HQS_MINOR;
    s->header.header_bytes = sizeof s->header;
    s->header.state = HQS_RUNNING;
    s->header.period_ns = options->period_ns;
    s->header.sample_type = attr.sample_type;
    s->header.registers = attr.sample_regs_user;
    s->header.stack_bytes = options->stack_bytes;
    append(s, &s->header, sizeof s->header);
    flush(s);
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

static struct hq_error *attach_on(struct tap *s, pid_t task, int cpu, bool at_exec, bool *gone)
{
    struct perf_event_attr attr = perf_attributes(&s->options, s->header.kernel);
    struct ring *ring = ring_of(s, cpu);
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
    if (fd < 0 && errno == ENODEV)
        return NULL; /* a processor that is switched off */
    *gone = fd < 0 && errno == ESRCH;
    if (*gone)
        return NULL;
    if (fd < 0 && (errno == EACCES || errno == EPERM))
        return hq_error_errno(HQ_DATA, "process %d may not be sampled: it takes root, or that it is one's own",
                              (int)task);
    if (fd < 0 && errno == EMFILE)
        return hq_error_new(HQ_DATA, "too many threads for the limit of open files (ulimit -n)");
    if (fd < 0)
        return hq_error_errno(HQ_DATA, "process %d cannot be sampled", (int)task);
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

/* ---- records of our own ---- */

/* Writes the end of a record that is no sample: pid, tid, time. The time is that of the start, so the kernel's own
 * records are later. */
static void put_end(const struct tap *s, uint8_t *at, pid_t pid, pid_t tid)
{
    uint32_t ids[2] = {(uint32_t)pid, (uint32_t)tid};

    memcpy(at, ids, 8);
    memcpy(at + 8, &s->header.start_monotonic_ns, 8);
}

static void put(struct tap *s, uint32_t type, uint16_t misc, size_t size)
{
    struct perf_event_header h = {.type = type, .misc = misc, .size = (uint16_t)size};

    memcpy(s->record, &h, sizeof h);
    if (type == HQS_TEXT)
        append(s, s->record, size);
    else
        take_other(s, s->record, &h);
}

void tap_text(struct tap *s, pid_t pid, const char *key, const char *value)
{
    size_t k = strlen(key) + 1, v = strlen(value) + 1, size = (16 + k + v + 7) & ~(size_t)7;
    uint32_t id = (uint32_t)pid;

    if (size > RECORD_MOST / 2)
        return;
    memset(s->record, 0, size);
    memcpy(s->record + 8, &id, 4);
    memcpy(s->record + 16, key, k);
    memcpy(s->record + 16 + k, value, v);
    put(s, HQS_TEXT, 0, size);
}

void tap_thread(struct tap *s, pid_t pid, pid_t tid)
{
    uint32_t ids[4] = {(uint32_t)pid, (uint32_t)pid, (uint32_t)tid, (uint32_t)pid};
    size_t size = 8 + 24 + 16;

    memset(s->record, 0, size);
    memcpy(s->record + 8, ids, sizeof ids);
    put_end(s, s->record + 32, pid, tid);
    put(s, PERF_RECORD_FORK, 0, size);
}

void tap_mapping(struct tap *s, pid_t pid, uint64_t start, uint64_t end, uint64_t offset, const char *path,
                 const uint8_t *build_id, size_t build_id_len)
{
    size_t name = (strlen(path) + 8) & ~(size_t)7, size = 8 + 8 + 24 + 24 + 8 + name + 16;
    uint32_t ids[2] = {(uint32_t)pid, (uint32_t)pid}, protection[2] = {5, 2};
    uint64_t range[3] = {start, end - start, offset};
    uint16_t misc = PERF_RECORD_MISC_USER;

    if (size > RECORD_MOST / 2)
        return;
    memset(s->record, 0, size);
    memcpy(s->record + 8, ids, 8);
    memcpy(s->record + 16, range, 24);
    if (build_id_len && build_id_len <= 20) {
        s->record[40] = (uint8_t)build_id_len;
        memcpy(s->record + 44, build_id, build_id_len);
        misc |= PERF_MISC_BUILD_ID;
    }
    memcpy(s->record + 64, protection, 8);
    memcpy(s->record + 72, path, strlen(path));
    put_end(s, s->record + 72 + name, pid, pid);
    put(s, PERF_RECORD_MMAP2, misc, size);
}
