/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/perf_fuzz.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include "db/db.h"
#include "db/import/import.h"
#include "db/perf/convert.h"
#include "format/stream.h"
#include "tests/unit/mutate.h"
#include <elf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>

enum { RECORDS = 60, STACK = 512, PAGE = 4096, REGISTERS = 20 };
#define PROGRAM       "/bin/true"
#define BASE          0x555555554000u
#define ALL_REGISTERS 0xff0fffull /* of x86-64, without segments */
#define SAMPLE_TYPE \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

struct image {
    struct str bytes;
    uint64_t address, offset, size; /* of its code: link address, place in the file */
};

static uint64_t below(uint64_t *state, uint64_t n)
{
    return n ? mutate_random(state) % n : 0;
}

static bool save(const char *path, const struct str *s)
{
    FILE *f = fopen(path, "wb");
    bool well = f && fwrite(str_cstr(s), 1, s->len, f) == s->len;

    return (!f || !fclose(f)) && well;
}

/* ---- the program ---- */

static bool read_image(struct image *image)
{
    hq_error_free(file_read(PROGRAM, &image->bytes, 1 << 24));

    const Elf64_Ehdr *h = (const void *)str_cstr(&image->bytes);

    if (image->bytes.len < sizeof *h || h->e_phoff + h->e_phnum * sizeof(Elf64_Phdr) > image->bytes.len)
        return false;
    const Elf64_Phdr *p = (const void *)(str_cstr(&image->bytes) + h->e_phoff);

    for (int i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X) {
            image->address = p[i].p_vaddr;
            image->offset = p[i].p_offset;
            image->size = p[i].p_filesz;
        }
    return image->size > STACK;
}

/* What says where things lie, and what tells how to unwind, rather than any byte. */
static void damage_image(struct image *image, uint64_t *state)
{
    uint8_t *bytes = (uint8_t *)image->bytes.s;
    Elf64_Ehdr h;

    memcpy(&h, bytes, sizeof h);
    for (uint64_t n = 1 + below(state, 4); n; n--) {
        Elf64_Phdr p;
        uint64_t place = h.e_phoff + below(state, h.e_phnum) * sizeof p;

        if (place + sizeof p > image->bytes.len)
            return;
        memcpy(&p, bytes + place, sizeof p);
        if (below(state, 3) == 0) {
            mutate_once(bytes + place, sizeof p, state);
        } else if (below(state, 4) == 0) {
            mutate_once(bytes, sizeof h, state);
        } else if (below(state, 3) == 0 && h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize <= image->bytes.len) {
            mutate_once(bytes + h.e_shoff, (size_t)h.e_shnum * h.e_shentsize, state);
        } else {
            for (int i = 0; i < h.e_phnum; i++) {
                memcpy(&p, bytes + h.e_phoff + (uint64_t)i * sizeof p, sizeof p);
                /* .eh_frame mostly follows its search table */
                if (p.p_type == PT_GNU_EH_FRAME && p.p_offset < image->bytes.len)
                    mutate_once(bytes + p.p_offset,
                                below(state, 2) && p.p_filesz && p.p_filesz < image->bytes.len - p.p_offset
                                    ? p.p_filesz
                                    : image->bytes.len - p.p_offset,
                                state);
            }
        }
    }
}

/* ---- records ---- */

struct writer {
    struct str out;
    uint64_t *state, time;
    const struct image *image;
    const char *path;
    bool damage, as_made; /* chains begin as the kernel makes them */
    size_t begun;
};

static void word(struct writer *w, uint64_t value)
{
    str_addn(&w->out, (const char *)&value, 8);
}

static void halves(struct writer *w, uint32_t a, uint32_t b)
{
    word(w, a | (uint64_t)b << 32);
}

static void text(struct writer *w, const char *value)
{
    str_addn(&w->out, value, strlen(value) + 1);
    while (w->out.len % 8)
        str_addn(&w->out, "", 1);
}

static void begin(struct writer *w, uint32_t type, uint16_t misc)
{
    struct perf_event_header h = {.type = type, .misc = misc};

    w->begun = w->out.len;
    str_addn(&w->out, (const char *)&h, sizeof h);
}

static void end(struct writer *w, uint32_t pid)
{
    uint8_t *at;
    struct perf_event_header h;

    memcpy(&h, w->out.s + w->begun, sizeof h);
    if (h.type != PERF_RECORD_SAMPLE && h.type < 64) {
        halves(w, pid, pid);
        word(w, w->time);
    }
    at = (uint8_t *)w->out.s + w->begun;
    h.size = (uint16_t)(w->out.len - w->begun);
    memcpy(at, &h, sizeof h);
    if (w->damage && below(w->state, 6) == 0)
        mutate_once(at + (below(w->state, 8) ? sizeof h : 0), h.size - sizeof h, w->state);
    w->time += below(w->state, 2000);
}

static uint64_t code_address(struct writer *w)
{
    return BASE + w->image->address + below(w->state, w->image->size);
}

static void add_map(struct writer *w, uint32_t pid)
{
    static const char *const other[] = {"[vdso]", "//anon", "/gone", "", "[kernel.kallsyms]_text"};
    bool ours = below(w->state, 4);

    begin(w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    halves(w, pid, pid);
    word(w, ours ? BASE + (w->image->address & ~(uint64_t)(PAGE - 1)) : BASE + below(w->state, 9) * PAGE);
    word(w, ours ? (w->image->size / PAGE + 1) * PAGE : below(w->state, 9) * PAGE);
    word(w, w->image->offset & ~(uint64_t)(PAGE - 1));
    for (int i = 0; i < 3; i++)
        word(w, 0);
    halves(w, 5, 2);
    text(w, ours ? w->path : other[below(w->state, sizeof other / sizeof *other)]);
    end(w, pid);
}

static void add_sample(struct writer *w, uint32_t pid)
{
    uint64_t chain = below(w->state, 4), copied = below(w->state, 3) ? STACK : 0, sp = 0x7ffffffde000;
    uint64_t ip = code_address(w);
    bool user = below(w->state, 5);

    begin(w, PERF_RECORD_SAMPLE, user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL);
    word(w, ip);
    halves(w, pid, pid + (uint32_t)below(w->state, 2));
    word(w, w->time);
    word(w, 1000000);
    word(w, chain);
    for (uint64_t i = 0; i < chain; i++)
        word(w, w->as_made && i == 0   ? (uint64_t)(user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL)
                : w->as_made && i == 1 ? ip
                : below(w->state, 3)   ? code_address(w)
                : below(w->state, 2)   ? (uint64_t)-128
                                       : HQS_PARTIAL(below(w->state, 40)));
    word(w, copied ? 2 : 0);
    for (int i = 0; i < REGISTERS && copied; i++)
        word(w, i == 8 ? code_address(w) : i == 7 ? sp : below(w->state, 2) ? sp + 8 * below(w->state, 60) : 0);
    word(w, copied);
    for (uint64_t i = 0; i < copied / 8; i++)
        word(w, below(w->state, 2) ? code_address(w) : sp + 8 * below(w->state, 60));
    if (copied)
        word(w, copied - 8 * below(w->state, 9));
    end(w, pid);
}

static void add_records(struct writer *w)
{
    for (int i = 0; i < RECORDS; i++) {
        uint32_t pid = 7 + (uint32_t)below(w->state, 3);

        if (i < 3) {
            add_map(w, 7 + (uint32_t)i);
            continue;
        }
        switch (below(w->state, 12)) {
        case 0: add_map(w, pid); break;
        case 1:
            begin(w, PERF_RECORD_COMM, below(w->state, 2) ? PERF_RECORD_MISC_COMM_EXEC : 0);
            halves(w, pid, pid);
            text(w, "prog");
            end(w, pid);
            break;
        case 2:
        case 3:
            begin(w, below(w->state, 2) ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0);
            halves(w, pid, below(w->state, 2) ? pid : 7);
            halves(w, pid + (uint32_t)below(w->state, 2), pid);
            word(w, w->time);
            end(w, pid);
            break;
        case 4:
            begin(w, below(w->state, 2) ? PERF_RECORD_LOST_SAMPLES : HQS_TEXT, 0);
            halves(w, 7, 0);
            text(w, "command");
            text(w, "kernel");
            end(w, pid);
            break;
        default: add_sample(w, pid);
        }
    }
}

/* ---- files ---- */

static void make_data(struct writer *w)
{
    struct {
        char magic[8];
        uint64_t size, attr_size, attrs[2], data[2], types[2], features[4];
    } header = {.magic = "PERFILE2", .size = 104, .attr_size = sizeof(struct perf_event_attr) + 16};
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = 1000000,
                                   .sample_type = SAMPLE_TYPE,
                                   .sample_id_all = 1,
                                   .sample_regs_user = ALL_REGISTERS,
                                   .sample_stack_user = STACK};

    w->as_made = below(w->state, 8);
    str_clear(&w->out);
    header.attrs[0] = 104;
    header.attrs[1] = header.attr_size;
    header.data[0] = 104 + header.attr_size;
    str_addn(&w->out, (const char *)&header, 104);
    str_addn(&w->out, (const char *)&attr, sizeof attr);
    word(w, 0);
    word(w, 0);
    add_records(w);
    header.data[1] = w->out.len - header.data[0];
    memcpy(w->out.s, &header, 104);
    if (w->damage && below(w->state, 4) == 0)
        mutate_once((uint8_t *)w->out.s, header.data[0], w->state);
}

static void make_stream(struct writer *w)
{
    struct hqs_header header = {.magic = HQS_MAGIC,
                                .major = HQS_MAJOR,
                                .minor = HQS_MINOR,
                                .header_bytes = sizeof header,
                                .state = HQS_ENDED,
                                .rank = -1,
                                .period_ns = 1000000,
                                .sample_type = SAMPLE_TYPE,
                                .registers = ALL_REGISTERS,
                                .stack_bytes = STACK,
                                .pid = 7};

    w->as_made = false;
    str_clear(&w->out);
    str_addn(&w->out, (const char *)&header, sizeof header);
    add_records(w);
    if (w->damage && below(w->state, 4) == 0)
        mutate_once((uint8_t *)w->out.s + 16, sizeof header - 16, w->state);
}

static char *examine(const char *path)
{
    struct db *db;
    struct hq_error *err = db_open(path, &db);

    if (!err) {
        err = db_verify(db);
        db_close(db);
    }
    char *problem = err ? xasprintf("what was imported is damaged: %s", err->message) : NULL;

    hq_error_free(err);
    return problem;
}

static char *import_one(const char *dir, struct writer *w, struct perf_fuzz_counts *counts)
{
    AUTO_FREE char *input = file_join(dir, "perf.data"), *output = file_join(dir, "out.db"), *problem = NULL;

    make_data(w);
    if (!save(input, &w->out))
        return xasprintf("%s cannot be written", input);
    struct hq_error *err = import_files(&(struct import_file){.path = input, .format = import_find("perfdata")}, 1,
                                        output);

    counts->imported += !err;
    counts->refused += err != NULL;
    if (!err)
        problem = examine(output);
    else if (strchr(err->message, '\n'))
        problem = xasprintf("the error has several lines: %s", err->message);
    hq_error_free(err);
    remove(output);
    return problem ? xstrdup(problem) : NULL;
}

static char *convert_one(const char *dir, struct writer *w, struct perf_fuzz_counts *counts)
{
    AUTO_FREE char *below_it = file_join(dir, "measurements"), *stream = file_join(below_it, "host-7" HQS_SUFFIX);

    make_stream(w);
    if (mkdir(below_it, 0755) || !save(stream, &w->out))
        return xasprintf("%s cannot be written", stream);
    struct hq_error *err = perf_convert(dir);

    counts->converted += !err;
    counts->refused += err != NULL;
    hq_error_free(err);
    perf_keep_kernel_names(stream);
    hq_error_free(file_remove_tree(below_it));
    return NULL;
}

char *perf_fuzz_round(const char *dir, uint64_t state, struct perf_fuzz_counts *counts)
{
    AUTO_FREE char *program = file_join(dir, "program");
    struct image image = {0};
    char *problem = NULL;
    uint64_t what = below(&state, 3); /* which is damaged: 0 the program, 1 the profile, 2 both */

    if (read_image(&image)) {
        struct writer w = {.state = &state, .image = &image, .path = program, .damage = what != 0, .time = 1000};

        if (what != 1)
            damage_image(&image, &state);
        if (!save(program, &image.bytes))
            problem = xasprintf("%s cannot be written", program);
        if (!problem)
            problem = below(&state, 2) ? import_one(dir, &w, counts) : convert_one(dir, &w, counts);
        str_deinit(&w.out);
    } else {
        problem = xstrdup(PROGRAM " is no program of 64 bits");
    }
    str_deinit(&image.bytes);
    return problem;
}
