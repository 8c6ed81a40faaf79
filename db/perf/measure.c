/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/measure.h"

#include "common/file.h"
#include "common/mem.h"
#include <string.h>

void measure_init(struct measure *m)
{
    *m = (struct measure){
        .header = {.magic = HQM_MAGIC, .major = HQM_MAJOR, .minor = HQM_MINOR, .header_bytes = HQM_ALIGN, .rank = -1}};
    vec_push(&m->strings, 0);
}

void measure_deinit(struct measure *m)
{
    vec_foreach(l, &m->lanes) {
        vec_deinit(&(*l)->nodes);
        vec_deinit(&(*l)->cell);
        vec_deinit(&(*l)->trace);
        keymap_deinit(&(*l)->children);
        map_deinit(&(*l)->cells);
        free(*l);
    }
    vec_deinit(&m->lanes);
    vec_deinit(&m->strings);
    vec_deinit(&m->info);
    vec_deinit(&m->events);
    vec_deinit(&m->modules);
}

uint32_t measure_string(struct measure *m, const char *text)
{
    uint32_t offset = (uint32_t)m->strings.len;

    if (!*text)
        return 0;
    vec_append(&m->strings, (const uint8_t *)text, strlen(text) + 1);
    return offset;
}

void measure_info(struct measure *m, const char *key, const char *value)
{
    uint32_t k = measure_string(m, key);

    vec_push(&m->info, (struct hqm_info){k, measure_string(m, value)});
}

void measure_begin_thread(struct measure *m, uint32_t number, uint32_t tid, uint32_t creator, uint64_t time_us)
{
    struct measure_lane *l = xcalloc(1, sizeof *l);

    l->thread = (struct hqm_thread){
        .number = number, .tid = tid, .lane = number + 1, .creator = creator, .start_us = time_us};
    keymap_init(&l->children, 16);
    vec_push(&l->nodes, (struct hqm_node){0});
    vec_push(&m->lanes, l);
    m->header.threads++;
}

void measure_end_thread(struct measure *m, uint32_t number, uint64_t time_us)
{
    if (number < m->lanes.len)
        m->lanes.data[number]->thread.end_us = time_us;
}

uint32_t measure_child(struct measure *m, uint32_t thread, uint32_t parent, enum hqm_node_kind kind, uint32_t module,
                       uint64_t offset)
{
    struct measure_lane *l = m->lanes.data[thread];
    struct hqm_node node = {parent, (uint32_t)kind << HQM_MODULE_BITS | module, offset};
    bool is_new;
    uint32_t number = keymap_add(&l->children, &node, &is_new);

    if (is_new)
        vec_push(&l->nodes, node);
    return number + 1;
}

void measure_sample(struct measure *m, uint32_t thread, uint32_t node, uint64_t time_us)
{
    struct measure_lane *l = m->lanes.data[thread];
    bool is_new;
    uint64_t at = *map_insert(&l->cells, node, l->cell.len, &is_new);

    if (is_new)
        vec_push(&l->cell, (struct hqm_cell){.node = node, .thread = thread});
    l->cell.data[at].sum += m->events.data[0].period;
    l->cell.data[at].count++;
    if (!l->trace.len)
        vec_push(&l->trace, (struct hqm_trace){.node = thread,
                                               .time_low = (uint32_t)time_us,
                                               .time_high = (uint16_t)(time_us >> 32),
                                               .weight_event = HQM_TRACE_THREAD});
    vec_push(&l->trace, (struct hqm_trace){.node = node,
                                           .time_low = (uint32_t)time_us,
                                           .time_high = (uint16_t)(time_us >> 32),
                                           .weight_event = 1 << 4});
    l->thread.samples++;
    m->header.samples++;
}

static void write_segment(struct file_writer *w, enum hqm_kind kind, uint32_t lane, const void *records, size_t size,
                          size_t count)
{
    uint64_t bytes = (sizeof(struct hqm_segment) + size * count + HQM_ALIGN - 1) / HQM_ALIGN * HQM_ALIGN;
    struct hqm_segment s = {.magic = HQM_SEGMENT_MAGIC,
                            .kind = (uint16_t)kind,
                            .record_size = (uint16_t)size,
                            .lane = lane,
                            .bytes = bytes,
                            .capacity = (uint32_t)((bytes - sizeof s) / size),
                            .count = (uint32_t)count};

    if (!count)
        return;
    file_writer_write(w, &s, sizeof s);
    file_writer_write(w, records, size * count);
    file_writer_pad(w, HQM_ALIGN);
}

#define WRITE(kind, lane, v) write_segment(&w, kind, lane, (v).data, sizeof *(v).data, (v).len)

struct hq_error *measure_write(struct measure *m, const char *path)
{
    struct file_writer w;
    VEC(struct hqm_thread) threads = {0};

    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, &m->header, sizeof m->header);
    file_writer_pad(&w, HQM_ALIGN);
    vec_foreach(l, &m->lanes)
        if ((*l)->cell.len || !(*l)->thread.number)
            vec_push(&threads, (*l)->thread);
    WRITE(HQM_STRINGS, 0, m->strings);
    WRITE(HQM_INFO, 0, m->info);
    WRITE(HQM_EVENTS, 0, m->events);
    WRITE(HQM_MODULES, 0, m->modules);
    WRITE(HQM_THREADS, 0, threads);
    vec_deinit(&threads);
    vec_foreach(l, &m->lanes) {
        if (!(*l)->cell.len)
            continue;
        WRITE(HQM_NODES, (*l)->thread.lane, (*l)->nodes);
        WRITE(HQM_CELLS, (*l)->thread.lane, (*l)->cell);
        WRITE(HQM_TRACE, (*l)->thread.lane, (*l)->trace);
    }
    m->header.allocated = w.offset;
    file_writer_patch(&w, 0, &m->header, sizeof m->header);
    return file_writer_commit(&w);
}
