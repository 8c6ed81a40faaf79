/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/file.h"

#include "preload/file/cut.h"
#include "preload/file/file_create.h"
#include "preload/hot.h"
#include "preload/file/image.h"
#include "preload/kernel.h"
#include "preload/options.h"
#include "preload/process.h"
#include "preload/raw.h"
#include "preload/walk/vdso.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

enum { CHUNKS = 16384, KINDS = HQM_KINDS };
enum { FIRST_CHUNK = 128 << 10, LARGEST_CHUNK = 4 << 20, SMALLEST_CHUNK = 16 << 10 };
enum { RETRY_AFTER = 256 }; /* a full disk is asked again after so many refusals */
enum { NONE, OPENING, OPEN, FAILED };

struct chunk {
    char *base;
    size_t bytes;
    _Atomic size_t used;
};

static struct {
    _Atomic int state;
    int error;
    struct hqm_header *header;
    char path[sizeof options.directory + 128];
    _Atomic uint32_t chunks;
    _Atomic(struct chunk *) current, next;
    _Atomic int growing, adding;
    _Atomic int mended;
    struct hqm_header instead; /* of the file's, when that is gone */
    _Atomic uint32_t refused;
    _Atomic uint64_t end, used;
    _Atomic(struct hqm_segment *) shared[KINDS];
    struct chunk chunk[CHUNKS]; /* last: a forked child clears those that were used, not a hundred pages */
} file;

static const struct {
    uint16_t record_size;
    uint32_t bytes;
} shared_kinds[KINDS] = {
    [HQM_STRINGS] = {1, 8192},
    [HQM_INFO] = {sizeof(struct hqm_info), 4096},
    [HQM_EVENTS] = {sizeof(struct hqm_event), 4096},
    [HQM_MODULES] = {sizeof(struct hqm_module), 12288},
    [HQM_THREADS] = {sizeof(struct hqm_thread), 4096},
    /* These are opened when there is something to store. */
    [HQM_QUEUES] = {sizeof(struct hqm_queue), 4096},
    [HQM_COMMANDS] = {sizeof(struct hqm_command), 65536},
    [HQM_HOST] = {sizeof(struct hqm_host), 16384},
    [HQM_PAIRS] = {sizeof(struct hqm_pair), 4096},
    [HQM_SUMS] = {sizeof(struct hqm_command_sum), 8192},
};

struct hqm_header *_Atomic file_current_header;

int file_error(void)
{
    return file.error;
}

/* Growing past the file-size limit would raise SIGXFSZ in the program. */
static bool within_size_limit(uint64_t end)
{
    struct rlimit limit;

    return raw_getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
}

/* Blocks on file systems that have no fallocate are allocated by writing zeros. */
static int allocate(int fd, uint64_t offset, uint64_t bytes)
{
    static const char zeros[4096];
    int error = raw_fallocate(fd, offset, bytes);

    if (error != -EOPNOTSUPP)
        return error;
    for (uint64_t at = 0; at < bytes; at += sizeof zeros) {
        long written = raw_syscall(SYS_pwrite64, fd, (long)zeros, sizeof zeros, (long)(offset + at), 0, 0);
        if (written != (long)sizeof zeros)
            return written < 0 ? (int)written : -ENOSPC;
    }
    return 0;
}

/* Allocates and maps [offset, offset + bytes) of the file. */
static int map_space(int fd, uint64_t offset, size_t bytes, char **base)
{
    int error = within_size_limit(offset + bytes) ? allocate(fd, offset, bytes) : -EFBIG;

    if (error < 0)
        return error;
    error = raw_mmap_at(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset, (void **)base);
    if (error < 0)
        return error;
    /* Without this the first touch of a fresh mapping reads ahead for milliseconds. */
    raw_madvise(*base, bytes, MADV_RANDOM);
    return 0;
}

static struct chunk *try_to_add(size_t bytes)
{
    uint32_t index = atomic_fetch_add(&file.chunks, 1);
    struct chunk *chunk = &file.chunk[index < CHUNKS ? index : 0];
    int fd = index < CHUNKS ? raw_open(file.path, O_RDWR | O_CLOEXEC, 0) : -ENOSPC;
    uint64_t offset = atomic_fetch_add(&file.end, bytes), after = offset + bytes, end;
    int error = fd < 0 ? fd : map_space(fd, offset, bytes, &chunk->base);

    if (fd >= 0)
        raw_close(fd);
    if (error < 0) {
        /* Give the range back if nobody has gone beyond it; otherwise it stays a hole of zeros. */
        atomic_compare_exchange_strong(&file.end, &after, offset);
        index++;
        atomic_compare_exchange_strong(&file.chunks, &index, index - 1);
        return NULL;
    }
    chunk->bytes = bytes;
    atomic_store(&chunk->used, 0);
    end = __atomic_load_n(&file.header->allocated, __ATOMIC_RELAXED);
    while (end < after &&
           !__atomic_compare_exchange_n(&file.header->allocated, &end, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return chunk;
}

/* One at a time, as a rule: where two grow the file at once and the first finds the disk full, a hole stays, in which a
 * reader on a full file system gets SIGBUS. Nobody waits for longer than a millisecond or two. */
static void wait_to_add(void)
{
    for (int i = 0; i < 20000 && atomic_exchange(&file.adding, 1); i++)
        arch_pause();
}

static struct chunk *add_chunk(size_t bytes)
{
    wait_to_add();
    struct chunk *chunk = try_to_add(bytes);
    atomic_store(&file.adding, 0);
    return chunk;
}

/* A chunk that holds at least `needed`: a large one as the file grows, a small one when the disk is nearly full. */
static struct chunk *grow(size_t needed)
{
    size_t bytes = 2 * FIRST_CHUNK;
    uint64_t end = atomic_load(&file.end);

    if (raw_frozen || atomic_load(&file.mended))
        return NULL;
    if (atomic_load(&file.refused) && atomic_fetch_add(&file.refused, 1) % RETRY_AFTER)
        return NULL;
    while (bytes < end / 2 && bytes < LARGEST_CHUNK)
        bytes *= 2;
    if (options.max_size && end + bytes > options.max_size)
        bytes = end + SMALLEST_CHUNK < options.max_size ? (options.max_size - end) / HQM_ALIGN * HQM_ALIGN
                                                        : 2 * SMALLEST_CHUNK;
    if (bytes < needed)
        bytes = (needed + HQM_ALIGN - 1) / HQM_ALIGN * HQM_ALIGN;
    for (; bytes >= needed; bytes /= 2) {
        struct chunk *chunk = add_chunk(bytes);
        if (chunk) {
            atomic_store(&file.refused, 0);
            return chunk;
        }
        if (bytes <= SMALLEST_CHUNK)
            break;
    }
    atomic_fetch_add(&file.refused, 1);
    return NULL;
}

static void *carve(struct chunk *chunk, size_t bytes)
{
    size_t at = atomic_load(&chunk->used);

    do {
        if (at + bytes > chunk->bytes)
            return NULL;
    } while (!atomic_compare_exchange_weak(&chunk->used, &at, at + bytes));
    return chunk->base + at;
}

/* The next chunk is made by whoever finds the current one nearly used up; others go on meanwhile. */
static void grow_ahead(struct chunk *chunk)
{
    if (chunk->bytes - atomic_load(&chunk->used) > chunk->bytes / 4 || atomic_load(&file.next))
        return;
    if (atomic_exchange(&file.growing, 1))
        return;
    if (!atomic_load(&file.next))
        atomic_store(&file.next, grow(SMALLEST_CHUNK));
    atomic_store(&file.growing, 0);
}

static void *take_space(size_t bytes)
{
    for (;;) {
        struct chunk *chunk = atomic_load(&file.current), *next;

        if (!chunk)
            return NULL; /* a forked child before its first sample */
        void *space = carve(chunk, bytes);

        if (space) {
            atomic_fetch_add(&file.used, bytes);
            grow_ahead(chunk);
            return space;
        }
        next = atomic_exchange(&file.next, NULL);
        if (!next)
            next = grow(bytes);
        if (!next)
            return NULL;
        /* Whoever loses this exchange has a chunk of its own, and keeps the rest of it for later. */
        if (!atomic_compare_exchange_strong(&file.current, &chunk, next)) {
            space = carve(next, bytes);
            atomic_store(&file.next, next);
            if (space) {
                atomic_fetch_add(&file.used, bytes);
                return space;
            }
        }
    }
}

uint64_t file_used(void)
{
    return atomic_load_explicit(&file.used, memory_order_relaxed);
}

static bool has_room(struct chunk *chunk, uint64_t bytes)
{
    return chunk && chunk->bytes - atomic_load(&chunk->used) >= bytes;
}

void file_reserve(uint64_t bytes)
{
    if (!file_header() || has_room(atomic_load(&file.current), bytes) || has_room(atomic_load(&file.next), bytes))
        return;
    struct chunk *chunk = grow(bytes);

    if (chunk)
        atomic_store(&file.next, chunk);
}

static struct hqm_segment *make_segment(void *space, enum hqm_kind kind, uint16_t record_size, uint32_t lane,
                                        uint32_t first, uint64_t bytes)
{
    struct hqm_segment *segment = space;

    segment->kind = (uint16_t)kind;
    segment->record_size = record_size;
    segment->lane = lane;
    segment->first = first;
    segment->bytes = bytes;
    segment->capacity = (uint32_t)((bytes - sizeof *segment) / record_size);
    return segment;
}

static void open_segment(struct hqm_segment *segment)
{
    __atomic_store_n(&segment->magic, HQM_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

struct hqm_segment *file_segment(enum hqm_kind kind, uint16_t record_size, uint32_t lane, uint32_t first,
                                 uint64_t bytes)
{
    void *space = file_header() ? take_space(bytes) : NULL;

    if (!space)
        return NULL;
    open_segment(make_segment(space, kind, record_size, lane, first, bytes));
    return space;
}

/* reserved[0] of a shared segment counts what was claimed; `count` follows when it is filled. */
void *file_claim(enum hqm_kind kind, uint32_t records, struct claim *claim)
{
    for (;;) {
        struct hqm_segment *segment = atomic_load(&file.shared[kind]), *more;
        uint64_t at = segment ? __atomic_load_n(&segment->reserved[0], __ATOMIC_RELAXED) : 0;
        void *space;

        if (segment && records > segment->capacity)
            return NULL;
        while (segment && at + records <= segment->capacity)
            if (__atomic_compare_exchange_n(&segment->reserved[0], &at, at + records, true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
                *claim = (struct claim){segment, (uint32_t)at, records};
                return (char *)(segment + 1) + at * segment->record_size;
            }
        space = take_space(shared_kinds[kind].bytes);
        if (!space)
            return NULL;
        more = make_segment(space, kind, shared_kinds[kind].record_size, 0,
                            segment ? segment->first + segment->capacity : 0, shared_kinds[kind].bytes);
        /* The loser's space is never opened: it stays zeros. */
        if (atomic_compare_exchange_strong(&file.shared[kind], &segment, more)) {
            /* They come by the million: to fault in one page after the other takes a sixth of what a command costs. */
            if (kind == HQM_COMMANDS)
                raw_madvise(more, shared_kinds[kind].bytes, MADV_POPULATE_WRITE);
            open_segment(more);
        }
    }
}

void file_publish(const struct claim *claim)
{
    uint32_t count = __atomic_load_n(&claim->segment->count, __ATOMIC_RELAXED), to = claim->position + claim->records;

    while (count < to &&
           !__atomic_compare_exchange_n(&claim->segment->count, &count, to, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

uint32_t file_string(const char *text)
{
    struct claim claim;
    size_t length = strlen(text);
    char *copy = length && length < 8000 ? file_claim(HQM_STRINGS, (uint32_t)length + 1, &claim) : NULL;

    if (!copy)
        return 0;
    memcpy(copy, text, length + 1);
    file_publish(&claim);
    return claim_number(&claim);
}

void file_lost(enum hqm_loss reason, uint64_t samples)
{
    struct hqm_header *header = file_header();

    if (header)
        __atomic_fetch_add(&header->loss[reason], samples, __ATOMIC_RELAXED);
}

HOT uint64_t file_now_us(void)
{
    const struct hqm_header *header = file_header();

    return header ? (vdso_clock_ns(CLOCK_MONOTONIC) - header->start_monotonic_ns) / 1000 : 0;
}

void file_state(enum hqm_state state)
{
    struct hqm_header *header = file_header();

    if (!header)
        return;
    bool opened = cut_open();
    header->end_us = file_now_us();
    file_note_cpu_time();
    header->state = state;
    cut_close(opened);
}

void file_note_cpu_time(void)
{
    struct hqm_header *header = file_header();

    if (header && !raw_frozen)
        header->cpu_end_ns = (uint64_t)raw_cpu_time(CLOCK_PROCESS_CPUTIME_ID);
}

static int open_file(void)
{
    struct file_birth birth;
    struct chunk *chunk = &file.chunk[0];
    size_t at = HQM_ALIGN;
    int fd = file_create(file.path, sizeof file.path, &birth), error;

    if (fd < 0)
        return -fd;
    error = map_space(fd, 0, FIRST_CHUNK, &chunk->base);
    raw_close(fd);
    if (error < 0) {
        raw_unlink(file.path);
        return -error;
    }
    chunk->bytes = FIRST_CHUNK;
    atomic_store(&file.chunks, 1);
    atomic_store(&file.end, FIRST_CHUNK);
    atomic_store(&file.used, 0);
    atomic_store(&file.growing, 0); /* another thread of the parent may have been at it */
    atomic_store(&file.adding, 0);
    file.header = (struct hqm_header *)chunk->base;
    file.header->allocated = FIRST_CHUNK;
    file_begin_header(file.header, &birth);
    for (int kind = HQM_STRINGS; kind <= HQM_THREADS; kind++) {
        struct hqm_segment *segment = make_segment(chunk->base + at, (enum hqm_kind)kind,
                                                   shared_kinds[kind].record_size, 0, 0, shared_kinds[kind].bytes);
        open_segment(segment);
        atomic_store(&file.shared[kind], segment);
        at += segment->bytes;
    }
    /* Offset 0 of the strings is the empty one. */
    file.shared[HQM_STRINGS]->reserved[0] = file.shared[HQM_STRINGS]->count = 1;
    atomic_store(&chunk->used, at);
    atomic_store(&file.current, chunk);
    memcpy(file.header->magic, HQM_MAGIC, sizeof file.header->magic);
    file.instead = *file.header;
    return 0;
}

/* Shared with all that are forked from this process: the first that cannot make its file says so. NULL: none does. */
static atomic_int *told;

static const char *reason(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "there is no room";
    case ENOENT:
    case ENOTDIR: return "it is not there";
    case EACCES:
    case EPERM:
    case EROFS: return "they may not write there";
    case EMFILE:
    case ENFILE: return "they may open no file";
    default: return "the file cannot be made";
    }
}

static void complain_of_forked(void)
{
    if (process_forks > 0 && told && atomic_exchange(told, 1) == 0)
        say("forked processes cannot write measurements in ", options.directory, ": ", reason(file.error),
            "; they run unmeasured", NULL);
}

bool file_ready(void)
{
    int state = NONE;

    if (file_header())
        return true;
    if (raw_frozen || !atomic_compare_exchange_strong(&file.state, &state, OPENING))
        return state == OPEN;
    file.error = open_file();
    if (!file.error)
        atomic_store_explicit(&file_current_header, file.header, memory_order_release);
    atomic_store_explicit(&file.state, file.error ? FAILED : OPEN, memory_order_release);
    if (file.error) {
        complain_of_forked();
        return false;
    }
    if (!told)
        told = raw_mmap(sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    image_describe();
    return true;
}

/* From now on all is written to memory. What was in the page is gone: counts are read here, but only to know when there
 * is no more space, and the header, of which there is another. */
bool file_mend(uint64_t address)
{
    uint64_t page_bytes = __getauxval(AT_PAGESZ), page = address & ~(page_bytes - 1);
    uint32_t chunks = atomic_load(&file.chunks), at = 0;

    while (at < chunks && at < CHUNKS && address - (uint64_t)file.chunk[at].base >= file.chunk[at].bytes)
        at++;
    if (at >= chunks || at >= CHUNKS || raw_frozen)
        return false;
    if ((uint64_t)raw_syscall(SYS_mmap, (long)page, (long)page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
        return false;
    if (atomic_exchange(&file.mended, 1) == 0)
        say("the measurement file cannot be written any more (it was made shorter, or its file system failed), so this "
            "process is measured only up to here",
            NULL);
    if (atomic_load(&file.state) == OPEN)
        atomic_store(&file_current_header, &file.instead);
    return true;
}

void file_forget(void)
{
    uint32_t chunks = atomic_load(&file.chunks);

    atomic_store(&file_current_header, NULL);
    for (uint32_t i = 0; i < chunks && i < CHUNKS; i++) {
        if (file.chunk[i].base)
            raw_munmap(file.chunk[i].base, file.chunk[i].bytes);
        memset(&file.chunk[i], 0, sizeof file.chunk[i]);
    }
    memset(&file, 0, offsetof(__typeof__(file), chunk));
}
