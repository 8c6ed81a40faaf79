/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/loose.h"

#include "preload/raw.h"

#include <stdatomic.h>

enum { RANGES = 1024, SHARE = 256 };

struct range {
    uint64_t start, end;
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

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_known(uint64_t address)
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
    return low < table->count && low < RANGES && address >= table->range[low].start;
}

static void add(struct table *table, uint64_t start, uint64_t end)
{
    if (table->count && table->range[table->count - 1].end == start)
        table->range[table->count - 1].end = end;
    else if (table->count < RANGES)
        table->range[table->count++] = (struct range){start, end};
}

/* A line is START-END PERMISSIONS and more; numbers are hexadecimal, addresses ascend. */
struct line {
    uint64_t number[2];
    int field, column;
    bool executable;
};

static void read_character(struct line *line, char c, struct table *table)
{
    if (c == '\n') {
        if (line->executable)
            add(table, line->number[0], line->number[1]);
        *line = (struct line){.field = 0};
    } else if (c == '-' && line->field == 0) {
        line->field = 1;
    } else if (c == ' ') {
        line->field = line->field < 2 ? 2 : 3;
    } else if (line->field < 2) {
        line->number[line->field] = line->number[line->field] << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    } else if (line->field == 2 && ++line->column == 3) {
        line->executable = c == 'x';
    }
}

static void fill(struct table *table)
{
    static char buffer[4096];
    struct line line = {.field = 0};
    int fd = raw_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    long bytes;

    table->count = 0;
    while (fd >= 0 && (bytes = raw_read(fd, buffer, sizeof buffer)) > 0)
        for (long i = 0; i < bytes; i++)
            read_character(&line, buffer[i], table);
    if (fd >= 0)
        raw_close(fd);
}

/* False if it is too early to look again. */
static bool look(void)
{
    uint64_t begin = now_ns();

    if (raw_frozen || begin < atomic_load_explicit(&not_before, memory_order_relaxed) ||
        atomic_flag_test_and_set(&filling))
        return false;
    struct table *spare = &tables[atomic_load(&current) == &tables[0]];
    fill(spare);
    atomic_store_explicit(&current, spare, memory_order_release);
    uint64_t end = now_ns();
    atomic_store(&not_before, end + SHARE * (end - begin));
    atomic_flag_clear(&filling);
    return true;
}

bool loose_is_code(uint64_t address)
{
    return is_known(address) || (look() && is_known(address));
}
