/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spmd DIRECTORY PROFILES [CONTEXTS [TRACE-RECORDS [SEED]]]: measurements as of an SPMD program, for the scale
 * benchmark.
 *
 * Writes DIRECTORY/measurements/node*.hqm, one a rank. All ranks share a random tree of call paths, drawn once from the
 * seed; each leaves out a tenth of the leaves, its load is up to 40 % above or below the mean, and its trace wanders
 * between neighbouring leaves every 5 ms or so. Code addresses are those of this program itself, so that there is
 * structure to recover. CONTEXTS is the number of values a profile has, about; nodes are a third more.
 */
#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include "format/measurement.h"
#include <stdio.h>

enum { ADDRESSES = 700, PERIOD = 5000000, MOST_DEPTH = 28 };

struct spmd {
    const char *directory;
    unsigned profiles, contexts, records;
    uint64_t seed;
    struct hqm_node *nodes; /* of the common tree */
    unsigned char *depth;
    unsigned *children;
    unsigned node_count;
    uint64_t offsets[ADDRESSES];
};

static uint64_t random_of(const struct spmd *s, uint64_t what, uint64_t i)
{
    return hash_combine(hash_combine(s->seed, what), i);
}

extern char __executable_start, etext, _start;

static void choose_addresses(struct spmd *s)
{
    uint64_t first = (uint64_t)(&_start - &__executable_start), last = (uint64_t)(&etext - &__executable_start);

    for (unsigned i = 0; i < ADDRESSES; i++)
        s->offsets[i] = first + random_of(s, 1, i) % (last - first);
}

static void grow_tree(struct spmd *s)
{
    unsigned n = s->contexts + s->contexts * 3 / 8 + 2;

    s->nodes = xcalloc(n, sizeof *s->nodes);
    s->depth = xcalloc(n, 1);
    s->children = xcalloc(n, sizeof *s->children);
    s->node_count = n;
    for (unsigned i = 1; i < n; i++) {
        uint64_t r = random_of(s, 2, i);
        unsigned near = i < 40 ? i : 40, parent = r % 4 ? i - 1 - (unsigned)(r >> 8) % near : (unsigned)(r >> 8) % i;

        if (s->depth[parent] >= MOST_DEPTH)
            parent = i > 2 ? 1 : 0;
        if (!parent && i > 3)
            parent = 1;
        s->nodes[i] = (struct hqm_node){
            .parent = parent,
            .kind_module = (uint32_t)HQM_NODE_FRAME << HQM_MODULE_BITS | 1,
            .offset = s->offsets[random_of(s, 3, i) % ADDRESSES],
        };
        s->depth[i] = s->depth[parent] + 1;
        s->children[parent]++;
    }
}

/* ---- one file ---- */

struct rank_file {
    FILE *file;
    uint64_t offset;
};

static void put_bytes(struct rank_file *f, const void *data, size_t bytes)
{
    f->offset += fwrite(data, 1, bytes, f->file);
}

static void pad(struct rank_file *f)
{
    static const char zeros[HQM_ALIGN];

    put_bytes(f, zeros, (HQM_ALIGN - f->offset % HQM_ALIGN) % HQM_ALIGN);
}

static void put_segment(struct rank_file *f, uint16_t kind, uint16_t size, uint32_t lane, const void *data,
                        size_t count)
{
    size_t bytes = (sizeof(struct hqm_segment) + count * size + HQM_ALIGN - 1) / HQM_ALIGN * HQM_ALIGN;
    struct hqm_segment s = {HQM_SEGMENT_MAGIC, kind, size, lane, 0, bytes, (uint32_t)count, (uint32_t)count, {0}};

    put_bytes(f, &s, sizeof s);
    put_bytes(f, data, count * size);
    pad(f);
}

static uint32_t add_text(struct str *texts, const char *text)
{
    uint32_t at = (uint32_t)texts->len;

    str_addn(texts, text, strlen(text) + 1);
    return at;
}

static void put_facts(struct rank_file *f, const char *host)
{
    AUTO_STR struct str texts = {0};
    char self[4096] = "";
    struct hqm_module module = {.flags = HQM_MODULE_MAIN, .start = 1, .end = 2};
    struct hqm_event event = {
        .dimension = HQM_DIM_SECONDS, .flags = HQM_EVENT_SAMPLED | HQM_EVENT_TRACED, .period = PERIOD, .scale = 1e-9};
    struct hqm_info info[3];

    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        self[0] = 0;
    add_text(&texts, "");
    module.path = add_text(&texts, self);
    event.name = add_text(&texts, "CPUTIME");
    info[0] = (struct hqm_info){add_text(&texts, "host"), add_text(&texts, host)};
    info[1] = (struct hqm_info){add_text(&texts, "command"), add_text(&texts, "spmd")};
    info[2] = (struct hqm_info){add_text(&texts, "executable"), module.path};
    put_segment(f, HQM_STRINGS, 1, 0, texts.s, texts.len);
    put_segment(f, HQM_INFO, sizeof *info, 0, info, 3);
    put_segment(f, HQM_EVENTS, sizeof event, 0, &event, 1);
    put_segment(f, HQM_MODULES, sizeof module, 0, &module, 1);
}

static bool has_value(const struct spmd *s, unsigned rank, unsigned node)
{
    return node && !(s->children[node] && random_of(s, 4, node) % 5 < 2) &&
           (s->children[node] || random_of(s, 5 + rank, node) % 10);
}

static uint64_t put_cells(struct rank_file *f, const struct spmd *s, unsigned rank)
{
    VEC(struct hqm_cell) cells = {0};
    uint64_t load = 600 + random_of(s, 6, rank) % 800, samples = 0;

    for (unsigned i = 1; i < s->node_count; i++) {
        uint64_t count = 1 + (random_of(s, 7, i) % 20) * load / 1000, late = random_of(s, 8 + rank, i) % 50 == 0;

        if (!has_value(s, rank, i))
            continue;
        vec_push(&cells, (struct hqm_cell){.node = i, .sum = (count + late) * PERIOD, .count = count});
        samples += count;
    }
    put_segment(f, HQM_CELLS, sizeof *cells.data, 1, cells.data, cells.len);
    vec_deinit(&cells);
    return samples;
}

static uint64_t put_trace(struct rank_file *f, const struct spmd *s, unsigned rank)
{
    VEC(struct hqm_trace) trace = {0};
    uint64_t time = 1000 + rank % 977;
    unsigned node = s->node_count / 2;

    vec_push(&trace, (struct hqm_trace){.weight_event = HQM_TRACE_THREAD});
    for (unsigned i = 0; i < s->records; i++) {
        uint64_t r = random_of(s, 9 + rank, i);

        time += 4800 + r % 400;
        node = r >> 32 & 15 ? (node + (unsigned)(r >> 40) % 64) % s->node_count : (unsigned)(r >> 36) % s->node_count;
        while (!has_value(s, rank, node))
            node = (node + 1) % s->node_count;
        vec_push(&trace, (struct hqm_trace){node, (uint32_t)time, (uint16_t)(time >> 32), 1 << 4});
    }
    put_segment(f, HQM_TRACE, sizeof *trace.data, 1, trace.data, trace.len);
    vec_deinit(&trace);
    return time;
}

static struct hq_error *write_rank(const struct spmd *s, unsigned rank)
{
    struct rank_file f = {.offset = 0};
    struct hqm_header h = {
        .magic = HQM_MAGIC,
        .major = HQM_MAJOR,
        .header_bytes = HQM_ALIGN,
        .pid = 1000 + rank,
        .ppid = 1,
        .rank = (int32_t)rank,
        .state = HQM_ENDED,
        .start_realtime_ns = 1700000000ull * 1000000000 + rank,
        .launch = s->seed,
    };
    AUTO_FREE char *host = xasprintf("node%04u", rank / 128);
    AUTO_FREE char *path = xasprintf("%s/measurements/%s-%u-0.hqm", s->directory, host, h.pid);
    struct hqm_thread thread = {.tid = h.pid, .lane = 1, .start_us = 100};

    f.file = fopen(path, "wb");
    if (!f.file)
        return hq_error_errno(HQ_DATA, "%s", path);
    put_bytes(&f, &h, sizeof h);
    pad(&f);
    put_facts(&f, host);
    put_segment(&f, HQM_NODES, sizeof *s->nodes, 1, s->nodes, s->node_count);
    h.samples = thread.samples = put_cells(&f, s, rank);
    h.end_us = thread.end_us = put_trace(&f, s, rank);
    put_segment(&f, HQM_THREADS, sizeof thread, 0, &thread, 1);
    h.allocated = f.offset;
    rewind(f.file);
    put_bytes(&f, &h, sizeof h);
    return fclose(f.file) ? hq_error_errno(HQ_DATA, "%s", path) : NULL;
}

int main(int argc, char **argv)
{
    struct spmd s = {.contexts = 3600, .records = 4100, .seed = 1};
    struct hq_error *err = NULL;
    AUTO_FREE char *directory = NULL;

    if (argc < 3 || argc > 6) {
        fprintf(stderr, "usage: spmd DIRECTORY PROFILES [CONTEXTS [TRACE-RECORDS [SEED]]]\n");
        return HQ_USAGE;
    }
    s.directory = argv[1];
    s.profiles = (unsigned)atoi(argv[2]);
    s.contexts = argc > 3 ? (unsigned)atoi(argv[3]) : s.contexts;
    s.records = argc > 4 ? (unsigned)atoi(argv[4]) : s.records;
    s.seed = argc > 5 ? (uint64_t)atoll(argv[5]) : s.seed;
    directory = file_join(s.directory, HQM_DIRECTORY);
    err = file_make_dirs(directory);
    choose_addresses(&s);
    grow_tree(&s);
    for (unsigned rank = 0; !err && rank < s.profiles; rank++)
        err = write_rank(&s, rank);
    if (err)
        fprintf(stderr, "spmd: %s\n", err->message);
    free(s.nodes);
    free(s.depth);
    free(s.children);
    return err ? err->status : 0;
}
