/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf_oracle STREAM: unwinds every sample of a stream of `hq record --by=perf` twice, as hq does and by libunwind's
 * remote interface, which reads memory through functions of ours: the copy of the stack, and unwind information from
 * the files as structure/elf.h has it. Prints how many paths are equal; how many libunwind ended before (it knows no
 * code without unwind information, and no static program); and how many differ, with the first of them.
 */
#include "db/perf/stream.h"
#include "db/perf/tasks.h"
#include "structure/elf.h"

#include <libunwind.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int, void *);

static struct perf_tasks tasks;
static const struct perf_event *sample;
static uint64_t registers;
static struct elf *files[4096];

static struct elf *file_of(uint64_t address, struct perf_mapping **mapping)
{
    struct hq_error *err = NULL;

    *mapping = perf_tasks_mapping(tasks.walked, address);
    if (!*mapping || (*mapping)->module >= 4096 || !(*mapping)->placed)
        return NULL;
    struct elf **file = &files[(*mapping)->module];
    struct perf_module *m = &tasks.modules.data[(*mapping)->module];

    if (!*file && m->image)
        err = elf_open(m->is_vdso ? tasks.vdso : m->path, file);
    hq_error_free(err);
    return *file;
}

/* Any mapping of the file tells where its data is: only the executable ones are noted. */
static bool read_file(uint64_t address, unw_word_t *value)
{
    vec_foreach(m, &tasks.walked->mappings) {
        struct perf_mapping *same;
        struct elf *file = file_of(m->start, &same);
        size_t available;
        const uint8_t *data = file ? elf_at(file, address - same->bias, &available) : NULL;

        if (!data || available < 8)
            continue;
        memcpy(value, data, 8);
        return true;
    }
    return false;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write, void *arg)
{
    uint64_t at = address - tasks.walk.low;

    (void)as, (void)arg;
    if (write)
        return -UNW_EINVAL;
    if (address >= tasks.walk.low && at <= sample->stack_used && sample->stack_used - at >= 8) {
        memcpy(value, sample->stack + at, 8);
        return 0;
    }
    return read_file(address, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write, void *arg)
{
    /* The kernel's bits of DWARF's numbers. */
    static const int8_t bit[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

    (void)as, (void)arg;
    if (write || number < 0 || number > 16 || !(registers >> bit[number] & 1))
        return -UNW_EBADREG;
    *value = perf_word(sample->registers, (uint64_t)__builtin_popcountll(registers & ((1ull << bit[number]) - 1)));
    return 0;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need, void *arg)
{
    struct perf_mapping *m;
    struct elf *file = file_of(ip, &m);
    struct elf_section *s = file ? elf_find_section(file, ".eh_frame_hdr") : NULL;
    const uint8_t *data;
    size_t size;
    uint32_t rows;

    if (!s || !elf_section_data(file, s, &data, &size) || size < 12)
        return -UNW_ENOINFO;
    memcpy(&rows, data + 8, 4);
    unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE, .start_ip = m->start, .end_ip = m->end};

    table.u.rti.segbase = s->address + m->bias;
    table.u.rti.table_data = table.u.rti.segbase + 12;
    table.u.rti.table_len = rows;
    return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &table, info, need, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
    (void)as, (void)info, (void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *address, void *arg)
{
    (void)as, (void)address, (void)arg;
    return -UNW_ENOINFO;
}

static int no_fpreg(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write, void *arg)
{
    (void)as, (void)number, (void)value, (void)write, (void)arg;
    return -UNW_EINVAL;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
    (void)as, (void)cursor, (void)arg;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t address, char *name, size_t room, unw_word_t *offset, void *arg)
{
    (void)as, (void)address, (void)name, (void)room, (void)offset, (void)arg;
    return -UNW_EINVAL;
}

static unw_accessors_t accessors = {.find_proc_info = find_proc_info,
                                    .put_unwind_info = put_unwind_info,
                                    .get_dyn_info_list_addr = no_list,
                                    .access_mem = access_mem,
                                    .access_reg = access_reg,
                                    .access_fpreg = no_fpreg,
                                    .resume = no_resume,
                                    .get_proc_name = no_name};

enum { MOST = 8192 };
static uint64_t theirs[MOST];
static unsigned long equal, lost, partial, different;

static size_t walk(unw_addr_space_t as)
{
    unw_cursor_t cursor;
    unw_word_t ip;
    size_t count = 0;

    if (unw_init_remote(&cursor, as, NULL) < 0)
        return 0;
    do {
        struct perf_mapping *m;

        if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || !ip || count == MOST)
            break;
        ip -= count && unw_is_signal_frame(&cursor) <= 0; /* that is, one that a signal has interrupted */
        m = perf_tasks_mapping(tasks.walked, ip);
        if (!m)
            break;
        theirs[count++] = ip - (m->module == UINT32_MAX ? 0 : m->bias);
    } while (unw_step(&cursor) > 0);
    return count;
}

/* libunwind before 1.6 (Debian 11) gives the caller of the vDSO's clock_gettime twice at some of its instructions; the
 * C library's does not call itself. */
static size_t without_double(size_t count)
{
#if UNW_VERSION_MAJOR == 1 && UNW_VERSION_MINOR < 6
    unw_word_t ip = 0;
    const struct perf_mapping *first;

    access_reg(NULL, UNW_REG_IP, &ip, 0, NULL);
    first = perf_tasks_mapping(tasks.walked, ip);
    if (first && first->module != UINT32_MAX && tasks.modules.data[first->module].is_vdso && count > 2 &&
        theirs[1] == theirs[2]) {
        memmove(theirs + 1, theirs + 2, (count - 2) * sizeof *theirs);
        return count - 1;
    }
#endif
    return count;
}

static void compare(const struct perf_path *path, size_t count)
{
    size_t same = 0;

    while (same < count && same < path->frame_count && theirs[same] == path->frames[same].offset)
        same++;
    partial += path->partial != 0;
    if (same == count && same == path->frame_count)
        equal++;
    else if (same == count)
        lost++;
    else if (different++ < 3) {
        printf("ours (partial %u):", path->partial);
        for (size_t i = 0; i < path->frame_count && i < 24; i++)
            printf(" %s%llx", i == same ? "| " : "", (unsigned long long)path->frames[i].offset);
        printf("\ntheirs:");
        for (size_t i = 0; i < count && i < 24; i++)
            printf(" %s%llx", i == same ? "| " : "", (unsigned long long)theirs[i]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    struct perf_stream s;
    struct perf_path path = {0};
    struct perf_event e;
    unw_addr_space_t as = unw_create_addr_space(&accessors, 0);
    struct hq_error *err = argc > 1 ? perf_stream_open(argv[1], &s) : hq_error_new(HQ_USAGE, "perf_oracle STREAM");

    if (err || !as) {
        fprintf(stderr, "%s\n", err ? err->message : "libunwind has no remote interface");
        return 1;
    }
    unw_set_caching_policy(as, UNW_CACHE_NONE);
    perf_tasks_init(&tasks);
    registers = s.layout.registers;
    for (size_t i = 0; i < s.records.len; i++) {
        if (!perf_stream_record(&s, i, &e))
            continue;
        sample = &e;
        if (e.type != PERF_RECORD_SAMPLE) {
            perf_tasks_note(&tasks, &e);
        } else if (e.registers && e.stack_size) {
            perf_tasks_unwind(&tasks, &e, registers, &path);
            compare(&path, without_double(walk(as)));
        }
    }
    printf("equal %lu\nlost %lu\npartial %lu\ndifferent %lu\n", equal, lost, partial, different);
    return 0;
}
