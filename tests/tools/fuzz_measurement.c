/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_measurement SECONDS [SEED [FIRST]]: damaged measurement files (fuzz_files.h) through both passes of the build,
 * up to coded values. */
#include "common/mem.h"
#include "db/build/process.h"
#include "tests/unit/fuzz_files.h"
#include "tests/unit/mutate.h"
#include <string.h>

enum { CAP = 1 << 17 };

struct sample {
    uint8_t data[CAP];
    size_t size;
};

static void put(struct sample *s, uint16_t kind, uint16_t record_size, uint32_t lane, uint32_t first, const void *data,
                uint32_t count)
{
    struct hqm_segment h = {HQM_SEGMENT_MAGIC, kind, record_size, lane, first, HQM_ALIGN, count, count, {0}};

    memcpy(s->data + s->size, &h, sizeof h);
    memcpy(s->data + s->size + sizeof h, data, (size_t)count * record_size);
    s->size += HQM_ALIGN;
}

static void put_lane(struct sample *s, uint32_t lane, uint32_t threads)
{
    struct hqm_node nodes[12] = {{0}};
    struct hqm_cell cells[20];
    struct hqm_trace trace[20] = {{.node = lane - 1, .weight_event = HQM_TRACE_THREAD}};

    for (uint32_t i = 1; i < 12; i++)
        nodes[i] = (struct hqm_node){i / 2,
                                     i == 5 ? (uint32_t)HQM_NODE_PARTIAL << HQM_MODULE_BITS
                                            : (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | i % 3,
                                     i * 16};
    for (uint32_t i = 0; i < 20; i++)
        cells[i] = (struct hqm_cell){i % 12, (lane - 1 + i % threads), i % 2, 0, i * 1000, i};
    for (uint32_t i = 1; i < 20; i++)
        trace[i] = (struct hqm_trace){i % 12, i * 5000, 0, (uint16_t)(1 << 4 | (i % 2))};
    trace[10] = (struct hqm_trace){.node = lane, .weight_event = HQM_TRACE_THREAD};
    put(s, HQM_NODES, sizeof *nodes, lane, 0, nodes, 7);
    put(s, HQM_NODES, sizeof *nodes, lane, 7, nodes + 7, 5);
    put(s, HQM_CELLS, sizeof *cells, lane, 0, cells, 20);
    put(s, HQM_TRACE, sizeof *trace, lane, 0, trace, 20);
}

static void make_sample(struct sample *s)
{
    static const char texts[] = "\0host\0h\0command\0a b\0warning\0w\0CPUTIME\0REALTIME\0/bin/a\0/lib/b";
    struct hqm_header h = {.magic = HQM_MAGIC,
                           .major = HQM_MAJOR,
                           .header_bytes = HQM_ALIGN,
                           .pid = 7,
                           .rank = 1,
                           .state = HQM_ENDED,
                           .samples = 40,
                           .end_us = 900};
    struct hqm_info info[3] = {{1, 6}, {8, 16}, {20, 28}};
    struct hqm_event events[2] = {{.name = 30, .dimension = HQM_DIM_SECONDS, .flags = 5, .period = 1000, .scale = 1e-9},
                                  {.name = 38, .scale = 1}};
    struct hqm_module modules[2] = {{.path = 47, .flags = HQM_MODULE_MAIN, .build_id_len = 4}, {.path = 54}};
    struct hqm_thread threads[4] = {{.tid = 7, .lane = 1},
                                    {1, 8, 1, 0, 1, 3, 5, 0, 1, 0, 0, 0},
                                    {2, 9, 2, 1, 1, 4, 6, 0, 1, 3, 1, 7},
                                    {3, 10, 2, 9, 9, 9, 6, 0, 1, 2, 2, 1}};

    memcpy(s->data, &h, sizeof h);
    s->size = HQM_ALIGN;
    put(s, HQM_STRINGS, 1, 0, 0, texts, sizeof texts);
    put(s, HQM_INFO, sizeof *info, 0, 0, info, 3);
    put(s, HQM_EVENTS, sizeof *events, 0, 0, events, 2);
    put(s, HQM_MODULES, sizeof *modules, 0, 0, modules, 2);
    put(s, HQM_THREADS, sizeof *threads, 0, 0, threads, 4);
    put_lane(s, 1, 2);
    put_lane(s, 2, 3);
}

/* Changes fall where there is something: in the headers and the first records of a segment. */
static size_t damage(uint8_t *data, size_t size, uint64_t *state)
{
    for (uint64_t n = 1 + mutate_random(state) % 6; n; n--) {
        size_t page = mutate_random(state) % (size / HQM_ALIGN) * HQM_ALIGN;

        mutate_once(data + page, mutate_random(state) % 4 ? 64 + mutate_random(state) % 700 : 64, state);
    }
    return mutate_random(state) % 16 ? size : mutate_random(state) % (size + 1);
}

static bool read_file(const char *path, uint64_t *state)
{
    static volatile uint64_t sink;
    struct calltree tree;
    struct process p;
    struct process_data data = {0};
    struct hq_error *err;

    calltree_init(&tree);
    err = process_scan(path, &tree, &p);
    if (!err) {
        AUTO_FREE uint32_t *frames = xcalloc(tree.frames.len + 1, sizeof *frames);
        AUTO_FREE uint32_t *metrics = xcalloc(p.event_count + 1, sizeof *metrics);
        struct hqdb_metric metric = {.flags = mutate_random(state) % 2 ? HQDB_METRIC_WEIGHED : 0,
                                     .period = mutate_random(state) % 100000,
                                     .scale = 1e-9};
        struct process_places places = {&tree, frames, metrics, &metric, 1};

        err = process_fill(&p, &places, &data);
        for (size_t t = 0; t < data.thread_count; t++)
            sink += data.values[t].len + data.traces[t].len;
        process_data_deinit(&data);
    }
    bool opened = !err;

    process_deinit(&p);
    calltree_deinit(&tree);
    (void)sink, (void)state;
    hq_error_free(err);
    return opened;
}

int main(int argc, char **argv)
{
    static struct sample original;

    make_sample(&original);
    return fuzz_files(&(struct fuzz_files){"fuzz_measurement", original.data, original.size, damage, read_file}, argc,
                      argv);
}
