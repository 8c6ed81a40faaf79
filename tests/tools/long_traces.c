/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * long_traces PROFILES RECORDS DB: makes a database directory whose traces are as long as you like, for benchmarks.
 * Every profile is a rank that works through phases of its own length; a record is a sample every 5 ms or so.
 *
 * The model keeps traces in memory, so it is written without them first; then its sections are copied and the traces
 * added.
 */
#include "common/hash.h"
#include "common/mem.h"
#include "common/units.h"
#include "db/coded.h"
#include "db/model/model.h"
#include "db/model/writer.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PROCEDURES = 40, PERIOD_US = 5000 };

static void fail_on(struct hq_error *err)
{
    if (!err)
        return;
    fprintf(stderr, "long_traces: %s\n", err->message);
    exit(1);
}

static uint32_t add_procedure(struct model *m, uint32_t module, uint32_t file, uint32_t number, uint32_t *line)
{
    char name[32];

    snprintf(name, sizeof name, number ? "phase_%u" : "main", number);
    uint32_t proc = model_scope(m, &(struct model_scope){.kind = SCOPE_PROCEDURE,
                                                         .parent = file,
                                                         .name = name,
                                                         .file = "long.c",
                                                         .line = number * 10 + 1,
                                                         .module = module,
                                                         .address = number * 4096u + 4096});
    *line = model_scope(
        m, &(struct model_scope){
               .kind = SCOPE_LINE, .parent = proc, .file = "long.c", .line = number * 10 + 2, .module = module});
    return proc;
}

static void write_model(uint32_t profiles, uint64_t records, const char *path)
{
    struct model *m = model_create();
    uint32_t metric = model_metric(m, &(struct model_metric){.event = "CPUTIME",
                                                             .dimension = DIM_SECONDS,
                                                             .flags = HQDB_METRIC_SAMPLED | HQDB_METRIC_TRACED,
                                                             .period = PERIOD_US * 1000,
                                                             .scale = 1e-9});
    uint32_t module = model_module(m, "/bin/long", "", HQDB_MODULE_MAIN, NULL);
    uint32_t file = model_scope(m, &(struct model_scope){.kind = SCOPE_FILE,
                                                         .parent = model_module_scope(m, module),
                                                         .name = "long.c",
                                                         .file = "long.c",
                                                         .module = module});
    uint32_t frames[PROCEDURES], line;

    add_procedure(m, module, file, 0, &line);
    frames[0] = model_frame(m, HQDB_NONE, model_code(m, module, 1, line, line));
    for (uint32_t i = 1; i < PROCEDURES; i++) {
        add_procedure(m, module, file, i, &line);
        frames[i] = model_frame(m, frames[i % 4 ? i - 1 : 0], model_code(m, module, i + 1, line, line));
    }
    for (uint32_t p = 0; p < profiles; p++) {
        uint32_t profile = model_profile(m, &(struct model_profile){.rank = (int32_t)p,
                                                                    .host = "node",
                                                                    .pid = p + 1,
                                                                    .tid = p + 1,
                                                                    .command = "/bin/long",
                                                                    .creator_profile = HQDB_NONE,
                                                                    .creator_frame = HQDB_NONE,
                                                                    .end_us = (records + 1) * PERIOD_US});
        for (uint32_t i = 0; i < PROCEDURES; i++)
            model_value(m, profile, metric, frames[i], (int64_t)(records / PROCEDURES * PERIOD_US) * 1000,
                        records / PROCEDURES);
    }
    fail_on(model_write(m, path, 0));
    model_destroy(m);
}

/* One block of a profile: phases of some hundreds of records, with a little noise. */
static void put_block(struct bytes *b, uint32_t profile, uint64_t first, uint32_t records, uint64_t first_us,
                      uint64_t *last_us)
{
    int64_t frame = 0;
    uint64_t time = first_us;

    for (uint32_t i = 0; i < records; i++) {
        uint64_t record = first + i, noise = hash_u64(record << 20 ^ profile);
        uint64_t step = i ? PERIOD_US - 32 + (noise & 63) : 0;
        int64_t next =
            (int64_t)((hash_u64((record / (200 + profile % 100)) * 131 + profile / 64) + (noise >> 8) % 8 / 7) %
                      PROCEDURES);
        put_coded(b, step << 1);
        put_signed(b, next - frame);
        frame = next;
        time += step;
    }
    *last_us = time;
}

static void add_traces(struct writer *w, uint32_t profiles, uint64_t records)
{
    VEC(struct hqdb_trace_block) index = {0};
    struct bytes b = {0};
    uint64_t offset = 0;

    writer_begin(w, HQDB_TRACE, 0, 1);
    for (uint32_t p = 0; p < profiles; p++) {
        uint64_t time = PERIOD_US;
        for (uint64_t first = 0; first < records; first += HQDB_TRACE_RECORDS) {
            uint32_t n = records - first < HQDB_TRACE_RECORDS ? (uint32_t)(records - first) : HQDB_TRACE_RECORDS;
            b.len = 0;
            vec_push(&index, (struct hqdb_trace_block){.offset = offset, .first_us = time, .profile = p, .records = n});
            put_block(&b, p, first, n, time, &time);
            vec_last(&index).last_us = time;
            time += PERIOD_US;
            offset += b.len;
            writer_append(w, b.data, b.len);
        }
    }
    writer_end(w);
    writer_section(w, HQDB_TRACE_INDEX, 0, sizeof *index.data, index.data, index.len);
    vec_deinit(&index);
    vec_deinit(&b);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: long_traces PROFILES RECORDS DB\n");
        return 2;
    }
    uint32_t profiles = (uint32_t)strtoul(argv[1], NULL, 10);
    uint64_t records = strtoull(argv[2], NULL, 10);
    AUTO_FREE char *path = xasprintf("%s/hq.db", argv[3]);
    struct writer *w;
    struct stat st;

    mkdir(argv[3], 0777);
    write_model(profiles, records, path);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return 1;
    const unsigned char *file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return 1;
    const struct hqdb_header *h = (const void *)file;
    const struct hqdb_section *sections = (const void *)(file + h->section_table);
    fail_on(writer_open(path, &w));
    for (uint32_t i = 0; i < h->section_count; i++)
        if (sections[i].tag != HQDB_TRACE && sections[i].tag != HQDB_TRACE_INDEX)
            writer_section(w, sections[i].tag, sections[i].index, sections[i].record_size, file + sections[i].offset,
                           sections[i].count);
    add_traces(w, profiles, records);
    fail_on(writer_commit(w, h->sources_key, h->files_key));
    return 0;
}
