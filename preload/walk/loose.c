/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/walk/loose.h"

#include "preload/raw.h"

#include <stdatomic.h>

enum { RANGES = 1024, SHARE = 256 };

struct range {
    uint64_t start, end, image;
    uint64_t device, inode, offset; /* of the file; inode 0: of none */
};
struct table {
    uint32_t count;
    struct range range[RANGES];
};

/* One is read by everybody while the other is filled: who is interrupted for as long as two fillings take may see a
 * mixture, and err. */
static struct table tables[2];
static _Atomic(struct table *) current = &tables[0];
static atomic_flag filling = ATOMIC_FLAG_INIT;
static _Atomic uint64_t not_before;
static _Atomic bool stale; /* what the list says of files may be about those that were closed */

static uint64_t now_ns(void)
{
    return (uint64_t)raw_cpu_time(CLOCK_MONOTONIC);
}

static const struct range *known(uint64_t address)
{
    const struct table *table = atomic_load_explicit(&current, memory_order_acquire);
    uint32_t low = 0, high = table->count < RANGES ? table->count : RANGES;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (address >= table->range[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && low < RANGES && address >= table->range[low].start ? &table->range[low] : NULL;
}

/*
 * A line is START-END PERMISSIONS OFFSET DEVICE INODE PATH; numbers are hexadecimal but for the inode, addresses
 * ascend, and a path of a file begins with a slash. The vDSO is no file, but looks like one in memory.
 */
enum field { START, END, PERMISSIONS, OFFSET, DEVICE, INODE, PATH };
struct line {
    uint64_t number[PATH];
    enum field field;
    int column;
    bool executable, vdso;
};

struct reading {
    struct line line;
    uint64_t image, device, inode; /* the latest mapping of a file's beginning */
    struct table *table;           /* NULL: only the path at `wanted` is asked for */
    uint64_t wanted;
    char *path;
    size_t used, room;
};

static void add(struct table *table, struct range range)
{
    struct range *last = table->count ? &table->range[table->count - 1] : NULL;

    if (last && last->end == range.start && last->image == range.image && !last->inode && !range.inode)
        last->end = range.end;
    else if (table->count < RANGES)
        table->range[table->count++] = range;
}

static void end_line(struct reading *r)
{
    const struct line *line = &r->line;
    bool is_file = line->number[INODE] != 0;

    if ((is_file && line->number[OFFSET] == 0) || line->vdso) {
        r->image = line->number[START];
        r->device = line->number[DEVICE];
        r->inode = line->number[INODE];
    }
    bool of_image = (is_file || line->vdso) && line->number[INODE] == r->inode && line->number[DEVICE] == r->device;
    if (r->table && line->executable)
        add(r->table, (struct range){.start = line->number[START],
                                     .end = line->number[END],
                                     .image = of_image ? r->image : 0,
                                     .device = line->number[DEVICE],
                                     .inode = line->number[INODE],
                                     .offset = line->number[OFFSET]});
    r->line = (struct line){.field = START};
}

static void read_character(struct reading *r, char c)
{
    struct line *line = &r->line;

    if (c == '\n') {
        end_line(r);
    } else if (line->field == PATH) {
        if (line->column++ == 0)
            line->vdso = false;
        if (c == '[' && line->column == 1)
            line->vdso = true;
        else if (line->vdso && line->column <= 6)
            line->vdso = c == "[vdso]"[line->column - 1];
        if (r->path && line->number[START] == r->wanted && r->used + 1 < r->room)
            r->path[r->used++] = c;
    } else if (c == ' ') {
        if (line->field != INODE)
            line->field++;
        else
            line->column = 0; /* the path follows after more spaces */
    } else if (line->field == START && c == '-') {
        line->field = END;
    } else if (line->field == PERMISSIONS) {
        if (++line->column == 3)
            line->executable = c == 'x';
    } else if (line->field == INODE && (c == '/' || c == '[')) {
        line->field = PATH;
        line->column = 0;
        read_character(r, c);
    } else if (c != ':') {
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        line->number[line->field] = line->number[line->field] << 4 | (digit & 15);
    }
}

static void read_list(struct reading *r, char *buffer, size_t room)
{
    int fd = raw_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    long bytes;

    while (fd >= 0 && (bytes = raw_read(fd, buffer, room)) > 0)
        for (long i = 0; i < bytes; i++)
            read_character(r, buffer[i]);
    if (fd >= 0)
        raw_close(fd);
}

static void fill(struct table *table)
{
    static char buffer[4096];
    struct reading r = {.table = table};

    table->count = 0;
    read_list(&r, buffer, sizeof buffer);
}

/* False if it is too early to look again. */
static bool look(void)
{
    uint64_t begin = now_ns();

    if (raw_frozen || begin < atomic_load_explicit(&not_before, memory_order_relaxed) ||
        atomic_flag_test_and_set(&filling))
        return false;
    struct table *spare = &tables[atomic_load(&current) == &tables[0]];
    atomic_store(&stale, false);
    fill(spare);
    atomic_store_explicit(&current, spare, memory_order_release);
    uint64_t end = now_ns();
    atomic_store(&not_before, end + SHARE * (end - begin));
    atomic_flag_clear(&filling);
    return true;
}

bool loose_is_code(uint64_t address)
{
    return known(address) || (look() && known(address));
}

uint64_t loose_image(uint64_t address)
{
    const struct range *range = atomic_load(&stale) ? NULL : known(address);

    if (!range && look())
        range = known(address);
    return range ? range->image : 0;
}

uint64_t loose_copy(uint64_t address, uint64_t *offset)
{
    const struct table *table = atomic_load_explicit(&current, memory_order_acquire);
    const struct range *range = known(address);

    for (uint32_t i = 0; range && range->inode && i < table->count && i < RANGES; i++) {
        const struct range *other = &table->range[i];

        if (other->image && other->inode == range->inode && other->device == range->device && other != range) {
            *offset = range->offset + (address - range->start);
            return other->image;
        }
    }
    return 0;
}

bool loose_path(uint64_t image, char *path, size_t room)
{
    char buffer[2048]; /* on the handler's own stack */
    struct reading r = {.wanted = image, .path = path, .room = room};

    if (raw_frozen)
        return false;
    read_list(&r, buffer, sizeof buffer);
    path[r.used] = 0;
    return r.used > 0 && r.used + 1 < room;
}

void loose_stale(void)
{
    atomic_store(&stale, true);
    atomic_store(&not_before, 0);
}

void loose_forget(void)
{
    atomic_flag_clear(&filling);
}
