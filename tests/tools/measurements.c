/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measurements DIR [paths | threads]: checks every rule of format/measurement.h on the files of a directory and prints
 * sums, for the collector's tests. It is written apart from the reader of db/, so that the two check each other.
 *
 * Output, one line each: `KEY VALUE`. With `paths`, one line per cell: COUNT EVENT symbol;symbol;... from the root,
 * named by the dynamic and static symbols of the modules. Exit status 1 and a sentence at the first broken rule.
 */
#include "format/measurement.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct column {
    char *data;
    uint32_t count, size;
};
struct lane {
    struct column kind[HQM_KINDS];
};

static const char *path;
static struct {
    uint64_t files, samples, partial, nodes, cells, trace, threads, modules, lanes, lost, bytes, written, created,
        ended, execed, running, signalled, maxlane, overruns, regions, entries, marks, counts, commands, device_ns,
        readings, clock[HQM_CLOCKS], timer_threads, slowed_threads;
    uint64_t sum[16], count[16], reason[HQM_PARTIAL_MAX], loss[HQM_LOSS_MAX];
    char event[16][64];
} total;

static void broken(const char *what)
{
    printf("broken %s: %s\n", path, what);
    exit(1);
}

static void check(bool holds, const char *what)
{
    if (!holds)
        broken(what);
}

/* ---- symbols, enough for test programs ---- */

struct symbols {
    char *data;
    size_t size;
    const Elf64_Sym *table[2];
    size_t count[2];
    const char *names[2];
    uint64_t first_load;
};

static void open_symbols(const char *file, struct symbols *s)
{
    int fd = open(file, O_RDONLY);
    struct stat st;

    memset(s, 0, sizeof *s);
    if (fd < 0)
        return;
    fstat(fd, &st);
    s->data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (s->data == MAP_FAILED) {
        s->data = NULL;
        return;
    }
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)s->data;
    const Elf64_Shdr *h = (const Elf64_Shdr *)(s->data + e->e_shoff);
    for (int i = 0; e->e_shoff && i < e->e_shnum; i++)
        if (h[i].sh_type == SHT_SYMTAB || h[i].sh_type == SHT_DYNSYM) {
            int k = h[i].sh_type == SHT_DYNSYM;
            s->table[k] = (const Elf64_Sym *)(s->data + h[i].sh_offset);
            s->count[k] = h[i].sh_size / sizeof(Elf64_Sym);
            s->names[k] = s->data + h[h[i].sh_link].sh_offset;
        }
}

static const char *symbol_at(const struct symbols *s, uint64_t offset)
{
    const char *best = NULL;
    uint64_t start = 0;

    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < s->count[k]; i++) {
            const Elf64_Sym *y = &s->table[k][i];
            if (ELF64_ST_TYPE(y->st_info) == STT_FUNC && y->st_shndx && offset >= y->st_value &&
                (offset < y->st_value + y->st_size || (!y->st_size && offset == y->st_value)) &&
                (!best || y->st_value > start)) {
                best = s->names[k] + y->st_name;
                start = y->st_value;
            }
        }
    return best;
}

/* ---- a file ---- */

struct reader {
    char *data;
    size_t size;
    const struct hqm_header *header;
    struct lane *lane;
    uint32_t lanes;
    const struct hqm_module *modules;
    struct symbols *symbols;
};

static void append(struct column *c, const struct hqm_segment *s)
{
    c->size = s->record_size;
    if (s->first + s->count > c->count) {
        c->data = realloc(c->data, (size_t)(s->first + s->count) * c->size);
        memset(c->data + (size_t)c->count * c->size, 0, (size_t)(s->first + s->count - c->count) * c->size);
        c->count = s->first + s->count;
    }
    memcpy(c->data + (size_t)s->first * c->size, s + 1, (size_t)s->count * c->size);
}

static void read_segments(struct reader *r)
{
    static const uint16_t sizes[] = {0,
                                     1,
                                     sizeof(struct hqm_info),
                                     sizeof(struct hqm_event),
                                     sizeof(struct hqm_module),
                                     sizeof(struct hqm_thread),
                                     sizeof(struct hqm_node),
                                     sizeof(struct hqm_cell),
                                     sizeof(struct hqm_trace),
                                     sizeof(struct hqm_region),
                                     sizeof(struct hqm_message),
                                     sizeof(struct hqm_queue),
                                     sizeof(struct hqm_command),
                                     sizeof(struct hqm_host),
                                     sizeof(struct hqm_command_sum),
                                     sizeof(struct hqm_pair)};

    for (size_t at = r->header->header_bytes; at + HQM_ALIGN <= r->size;) {
        const struct hqm_segment *s = (const struct hqm_segment *)(r->data + at);
        if (s->magic != HQM_SEGMENT_MAGIC) {
            for (size_t i = 0; i < HQM_ALIGN; i++)
                check(((const char *)s)[i] == 0 || s->count == 0, "space without a segment is not zero");
            at += HQM_ALIGN;
            continue;
        }
        check(s->kind >= HQM_STRINGS && s->kind < HQM_KINDS, "unknown kind");
        check(s->record_size == sizes[s->kind], "record size");
        check(s->bytes >= HQM_ALIGN && s->bytes % HQM_ALIGN == 0 && s->bytes <= r->size - at, "segment bytes");
        check(s->capacity == (s->bytes - sizeof *s) / s->record_size, "capacity");
        check(s->count <= s->capacity, "count beyond capacity");
        check((s->lane == 0) == (s->kind <= HQM_THREADS || s->kind >= HQM_QUEUES), "lane of kind");
        if (s->lane >= r->lanes) {
            r->lane = realloc(r->lane, (s->lane + 1) * sizeof *r->lane);
            memset(r->lane + r->lanes, 0, (s->lane + 1 - r->lanes) * sizeof *r->lane);
            r->lanes = s->lane + 1;
        }
        append(&r->lane[s->lane].kind[s->kind], s);
        total.written += (sizeof *s + (uint64_t)s->count * s->record_size + 4095) / 4096 * 4096;
        at += s->bytes;
    }
}

static const char *text(const struct reader *r, uint32_t offset)
{
    const struct column *c = &r->lane[0].kind[HQM_STRINGS];

    check(offset < c->count && memchr(c->data + offset, 0, c->count - offset), "string offset");
    return c->data + offset;
}

static void print_node(const struct reader *r, const struct hqm_node *nodes, uint32_t n)
{
    if (nodes[n].kind_module >> HQM_MODULE_BITS == HQM_NODE_ROOT)
        return;
    if (nodes[n].parent) {
        print_node(r, nodes, nodes[n].parent);
        putchar(';');
    }
    uint32_t module = nodes[n].kind_module & ((1u << HQM_MODULE_BITS) - 1);
    if (nodes[n].kind_module >> HQM_MODULE_BITS == HQM_NODE_DEVICE) {
        printf("%s", text(r, (uint32_t)nodes[n].offset));
        return;
    }
    if (nodes[n].kind_module >> HQM_MODULE_BITS >= HQM_NODE_INSIDE) {
        static const char *const names[] = {"inside", "wait", "phase"};
        printf("%s:%llu.%llu", names[(nodes[n].kind_module >> HQM_MODULE_BITS) - HQM_NODE_INSIDE],
               (unsigned long long)nodes[n].offset >> 32, (unsigned long long)nodes[n].offset & 0xffffffff);
        return;
    }
    if (nodes[n].kind_module >> HQM_MODULE_BITS == HQM_NODE_PARTIAL) {
        printf("partial:%llu", (unsigned long long)nodes[n].offset);
        return;
    }
    const char *name = module ? symbol_at(&r->symbols[module - 1], nodes[n].offset) : NULL;
    const char *file = module ? strrchr(text(r, r->modules[module - 1].path), '/') : NULL;
    if (name)
        printf("%s", name);
    else
        printf("%s+0x%llx", file ? file + 1 : "?", (unsigned long long)nodes[n].offset);
}

/* What names a region is where it was opened. */
static void check_region_name(const struct reader *r, uint64_t name)
{
    uint64_t lane = name >> 32, node = name & 0xffffffff;

    check(lane && lane < r->lanes && node < r->lane[lane].kind[HQM_NODES].count, "region of node");
    check(((const struct hqm_node *)r->lane[lane].kind[HQM_NODES].data)[node].kind_module >> HQM_MODULE_BITS ==
              HQM_NODE_REGION,
          "region of node is none");
}

static void check_regions(const struct reader *r, const struct lane *l)
{
    for (uint32_t i = 0; i < l->kind[HQM_REGIONS].count; i++) {
        const struct hqm_region *x = (const struct hqm_region *)l->kind[HQM_REGIONS].data + i;

        check(x->node < l->kind[HQM_NODES].count, "node of region");
        check(((const struct hqm_node *)l->kind[HQM_NODES].data)[x->node].kind_module >> HQM_MODULE_BITS ==
                  HQM_NODE_REGION,
              "node of region is none");
        check(x->left <= x->entries, "region left more often than entered");
        check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count), "thread of region");
        check(x->runtime != HQM_RUNTIME_TASK || !x->entries, "tasks are counted");
        total.regions += x->runtime != HQM_RUNTIME_TASK;
        total.entries += x->entries;
    }
}

static void check_messages(const struct reader *r, const struct lane *l)
{
    for (uint32_t i = 0; i < l->kind[HQM_MESSAGES].count; i++) {
        const struct hqm_message *x = (const struct hqm_message *)l->kind[HQM_MESSAGES].data + i;

        check(x->node < l->kind[HQM_NODES].count, "node of message");
        check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count), "thread of message");
        check(x->peer >= -1 && (!x->group || !x->peer), "peer of message");
        check(x->group < r->lane[0].kind[HQM_STRINGS].count, "group of message");
        check(x->count || x->received, "no message");
    }
}

static void check_nodes(const struct reader *r, const struct lane *l)
{
    const struct column *nodes = &l->kind[HQM_NODES];
    const struct hqm_node *n = (const struct hqm_node *)nodes->data;
    uint32_t modules = r->lane[0].kind[HQM_MODULES].count;

    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t kind = n[i].kind_module >> HQM_MODULE_BITS, module = n[i].kind_module & ((1u << HQM_MODULE_BITS) - 1);
        check(i == 0 ? kind == HQM_NODE_ROOT : kind > HQM_NODE_ROOT && kind <= HQM_NODE_DEVICE, "node kind");
        if (kind == HQM_NODE_DEVICE)
            text(r, (uint32_t)n[i].offset);
        else if (kind >= HQM_NODE_INSIDE)
            check_region_name(r, n[i].offset);
        check(i == 0 || n[i].parent < i, "parent after child");
        check(module <= modules, "module number");
        bool based = n[i].parent == 0 || n[n[i].parent].kind_module >> HQM_MODULE_BITS == HQM_NODE_PHASE;
        check(kind != HQM_NODE_PARTIAL || (n[i].offset && n[i].offset < HQM_PARTIAL_MAX && based), "partial node");
        check(kind != HQM_NODE_PHASE || n[i].parent == 0, "phase node");
        if (kind == HQM_NODE_FRAME && module)
            check(n[i].offset < r->modules[module - 1].end - r->modules[module - 1].base, "offset beyond its module");
    }
}

static const struct hqm_event *event_of(const struct reader *r, uint32_t event)
{
    return (const struct hqm_event *)r->lane[0].kind[HQM_EVENTS].data + event;
}

static void print_path(const struct reader *r, const struct lane *l, const struct hqm_cell *c)
{
    uint64_t period = event_of(r, c->event)->period;

    printf("%llu %s ", (unsigned long long)(period ? c->sum / period : c->count), text(r, event_of(r, c->event)->name));
    print_node(r, (const struct hqm_node *)l->kind[HQM_NODES].data, c->node);
    putchar('\n');
}

/* Adds up the cells of each event. */
static void check_cells(const struct reader *r, const struct lane *l, bool paths, uint64_t sum[16])
{
    const struct column *cells = &l->kind[HQM_CELLS];

    for (uint32_t i = 0; i < cells->count; i++) {
        const struct hqm_cell *c = (const struct hqm_cell *)cells->data + i;
        check(c->node < l->kind[HQM_NODES].count, "node of cell");
        check(c->event < r->lane[0].kind[HQM_EVENTS].count, "event of cell");
        sum[c->event] += c->sum;
        total.sum[c->event] += c->sum;
        total.count[c->event] += c->count;
        if (paths)
            print_path(r, l, c);
    }
}

/* Adds up the samples of each event. */
static void check_trace(const struct reader *r, const struct lane *l, uint64_t weight[16])
{
    const struct column *trace = &l->kind[HQM_TRACE];
    const struct hqm_node *n = (const struct hqm_node *)l->kind[HQM_NODES].data;
    uint32_t events = r->lane[0].kind[HQM_EVENTS].count, start = 0;
    uint64_t last = 0;

    /* With a bounded size the oldest records are gone. */
    while (r->header->trace_dropped && start < trace->count &&
           !((const struct hqm_trace *)trace->data)[start].weight_event)
        start++;
    for (uint32_t i = start; i < trace->count; i++) {
        const struct hqm_trace *t = (const struct hqm_trace *)trace->data + i;
        uint32_t event = t->weight_event & 15;
        uint64_t time = (uint64_t)t->time_high << 32 | t->time_low;
        check(i > start || event == HQM_TRACE_THREAD, "a trace starts with its thread");
        check(time >= last, "time goes back");
        last = time;
        if (event == HQM_TRACE_THREAD)
            continue;
        if (event == HQM_TRACE_MARK && events <= HQM_TRACE_MARK && t->weight_event >> 4 >= HQM_MARK_COUNT) {
            check((t->weight_event >> 4) - HQM_MARK_COUNT < (int)events, "count of an event");
            total.counts++;
            continue;
        }
        check(t->node < l->kind[HQM_NODES].count, "node of trace");
        if (event == HQM_TRACE_MARK && events <= HQM_TRACE_MARK) {
            check(n[t->node].kind_module >> HQM_MODULE_BITS == HQM_NODE_REGION, "mark of no region");
            check(t->weight_event >> 4 == HQM_MARK_ENTER || t->weight_event >> 4 == HQM_MARK_LEAVE, "mark");
            total.marks++;
            continue;
        }
        check(event < events, "event of trace");
        weight[event] += t->weight_event >> 4;
    }
}

static void check_lane(struct reader *r, uint32_t number, bool paths)
{
    const struct lane *l = &r->lane[number];
    uint64_t weight[16] = {0}, sum[16] = {0};

    check_nodes(r, l);
    check_cells(r, l, paths, sum);
    check_regions(r, l);
    check_messages(r, l);
    check_trace(r, l, weight);
    /* Every sample is added to its cell before it goes into the trace; a killed process may have one more there. */
    for (uint32_t e = 0; e < r->lane[0].kind[HQM_EVENTS].count; e++) {
        const struct hqm_event *event = event_of(r, e);
        if (!(event->flags & HQM_EVENT_TRACED) || r->header->loss[HQM_LOSS_TRACE] || r->header->trace_dropped)
            continue;
        uint64_t traced = weight[e] * event->period;
        bool killed = r->header->state == HQM_RUNNING || r->header->exit_signal;
        check(sum[e] == traced || (killed && sum[e] > traced), "the trace does not add up to the profile");
    }
    total.nodes += l->kind[HQM_NODES].count;
    total.cells += l->kind[HQM_CELLS].count;
    total.trace += l->kind[HQM_TRACE].count;
    if (l->kind[HQM_NODES].count)
        total.lanes++;
}

static void check_commands(const struct reader *r)
{
    const struct column *commands = &r->lane[0].kind[HQM_COMMANDS];

    for (uint32_t i = 0; i < commands->count; i++) {
        const struct hqm_command *x = (const struct hqm_command *)commands->data + i;
        bool timed = !(x->flags & HQM_COMMAND_UNTIMED);

        if (!x->number)
            continue; /* claimed, and its process was killed */
        check(x->lane && x->lane < r->lanes && x->node < r->lane[x->lane].kind[HQM_NODES].count, "node of command");
        check(((const struct hqm_node *)r->lane[x->lane].kind[HQM_NODES].data)[x->node].kind_module >>
                      HQM_MODULE_BITS ==
                  HQM_NODE_DEVICE,
              "node of command is none");
        check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count), "thread of command");
        check(x->queue && x->queue <= r->lane[0].kind[HQM_QUEUES].count, "queue of command");
        check(x->kind >= HQM_COMMAND_KERNEL && x->kind <= HQM_COMMAND_OTHER, "kind of command");
        check(x->called_ns <= x->returned_ns && x->called_ns <= x->seen_ns, "times of the host");
        check(timed || !x->end_ns, "times of a command without");
        total.commands++;
        total.device_ns += x->end_ns - x->start_ns;
    }
}

/* What is not kept one by one. */
static void check_command_sums(const struct reader *r)
{
    const struct column *sums = &r->lane[0].kind[HQM_SUMS];

    for (uint32_t i = 0; i < sums->count; i++) {
        const struct hqm_command_sum *x = (const struct hqm_command_sum *)sums->data + i;

        check(x->lane && x->lane < r->lanes && x->node < r->lane[x->lane].kind[HQM_NODES].count, "node of a sum");
        check(x->queue && x->queue <= r->lane[0].kind[HQM_QUEUES].count, "queue of a sum");
        check(x->timed <= x->commands && x->moving <= x->commands && x->working <= x->commands, "counts of a sum");
        total.commands += x->commands;
        total.device_ns += x->time_ns;
    }
}

static void check_pairs(const struct reader *r)
{
    const struct column *pairs = &r->lane[0].kind[HQM_PAIRS];

    for (uint32_t i = 0; i < pairs->count; i++) {
        const struct hqm_pair *x = (const struct hqm_pair *)pairs->data + i;

        check(x->queue && x->queue <= r->lane[0].kind[HQM_QUEUES].count, "queue of a reading");
        check(x->before_ns <= x->after_ns, "times around a reading");
        total.readings++;
    }
}

static void check_host(const struct reader *r)
{
    const struct column *host = &r->lane[0].kind[HQM_HOST];

    for (uint32_t i = 0; i < host->count; i++) {
        const struct hqm_host *x = (const struct hqm_host *)host->data + i;

        check(x->thread < hqm_thread_count(r->header, r->lane[0].kind[HQM_THREADS].count), "thread that waited");
        check(x->from_ns <= x->to_ns, "times of a wait");
    }
}

static void check_file(struct reader *r, bool paths, bool threads)
{
    const struct hqm_header *h = r->header = (const struct hqm_header *)r->data;

    check(r->size >= HQM_ALIGN && memcmp(h->magic, HQM_MAGIC, 8) == 0 && h->major == HQM_MAJOR, "header");
    read_segments(r);
    check(r->lanes > 0, "no segments");
    struct column *modules = &r->lane[0].kind[HQM_MODULES], *events = &r->lane[0].kind[HQM_EVENTS],
                  *info = &r->lane[0].kind[HQM_INFO];
    r->modules = (const struct hqm_module *)modules->data;
    r->symbols = calloc(modules->count + 1, sizeof *r->symbols);
    for (uint32_t i = 0; i < modules->count; i++) {
        text(r, r->modules[i].path);
        if (paths)
            open_symbols(text(r, r->modules[i].path), &r->symbols[i]);
    }
    for (uint32_t i = 0; i < events->count && i < 16; i++)
        snprintf(total.event[i], sizeof total.event[i], "%s",
                 text(r, ((const struct hqm_event *)events->data)[i].name));
    for (uint32_t i = 0; i < info->count; i++)
        text(r, ((const struct hqm_info *)info->data)[i].key), text(r, ((const struct hqm_info *)info->data)[i].value);
    for (uint32_t i = 1; i < r->lanes; i++)
        check_lane(r, i, paths);
    check_commands(r);
    check_command_sums(r);
    check_host(r);
    check_pairs(r);
    const struct hqm_thread *t = (const struct hqm_thread *)r->lane[0].kind[HQM_THREADS].data;
    for (uint32_t i = 0; i < r->lane[0].kind[HQM_THREADS].count; i++) {
        if (!t[i].lane)
            continue;
        check(t[i].lane < r->lanes, "lane of thread");
        check(!t[i].creator_lane || (t[i].creator_lane < r->lanes &&
                                     t[i].creator_node < r->lane[t[i].creator_lane].kind[HQM_NODES].count),
              "creator");
        total.threads++;
        total.created += t[i].creator_lane != 0;
        if (threads) {
            printf("thread %u of %u samples %llu: ", t[i].number, h->pid, (unsigned long long)t[i].samples);
            if (t[i].creator_lane && paths)
                print_node(r, (const struct hqm_node *)r->lane[t[i].creator_lane].kind[HQM_NODES].data,
                           t[i].creator_node);
            putchar('\n');
        }
    }
    total.files++;
    total.bytes += h->allocated;
    total.written += h->header_bytes;
    total.samples += h->samples;
    total.partial += h->partial;
    total.modules += modules->count;
    total.maxlane = r->lanes - 1 > total.maxlane ? r->lanes - 1 : total.maxlane;
    total.running += h->state == HQM_RUNNING;
    total.ended += h->state == HQM_ENDED;
    total.execed += h->state == HQM_EXECED;
    total.signalled += h->exit_signal != 0;
    total.clock[h->cpu_clock < HQM_CLOCKS ? h->cpu_clock : 0]++;
    total.timer_threads += h->timer_threads;
    total.slowed_threads += h->slowed_threads;
    for (int i = 0; i < HQM_PARTIAL_MAX; i++)
        total.reason[i] += h->partial_by_reason[i];
    for (int i = 0; i < HQM_LOSS_MAX; i++)
        total.loss[i] += h->loss[i];
}

static void print_totals(void)
{
    printf("files %llu\nsamples %llu\npartial %llu\n", (unsigned long long)total.files,
           (unsigned long long)total.samples, (unsigned long long)total.partial);
    printf("nodes %llu\ncells %llu\ntrace %llu\n", (unsigned long long)total.nodes, (unsigned long long)total.cells,
           (unsigned long long)total.trace);
    printf("threads %llu\ncreated %llu\nlanes %llu\nmodules %llu\nbytes %llu\nwritten %llu\n",
           (unsigned long long)total.threads, (unsigned long long)total.created, (unsigned long long)total.lanes,
           (unsigned long long)total.modules, (unsigned long long)total.bytes, (unsigned long long)total.written);
    printf("running %llu\nended %llu\nexeced %llu\nsignalled %llu\n", (unsigned long long)total.running,
           (unsigned long long)total.ended, (unsigned long long)total.execed, (unsigned long long)total.signalled);
    printf("regions %llu\nentries %llu\nmarks %llu\ncounts %llu\n", (unsigned long long)total.regions,
           (unsigned long long)total.entries, (unsigned long long)total.marks, (unsigned long long)total.counts);
    printf("commands %llu\ndevice-ns %llu\nreadings %llu\n", (unsigned long long)total.commands,
           (unsigned long long)total.device_ns, (unsigned long long)total.readings);
    printf("timer-clock %llu\nperf-clock %llu\nuser-clock %llu\ntimer-threads %llu\nslowed-threads %llu\n",
           (unsigned long long)total.clock[HQM_CLOCK_TIMER], (unsigned long long)total.clock[HQM_CLOCK_PERF],
           (unsigned long long)total.clock[HQM_CLOCK_PERF_USER], (unsigned long long)total.timer_threads,
           (unsigned long long)total.slowed_threads);
    for (int i = 0; i < 16; i++)
        if (total.event[i][0])
            printf("sum %s %llu\ncount %s %llu\n", total.event[i], (unsigned long long)total.sum[i], total.event[i],
                   (unsigned long long)total.count[i]);
    for (int i = 0; i < HQM_PARTIAL_MAX; i++)
        if (total.reason[i])
            printf("reason %d %llu\n", i, (unsigned long long)total.reason[i]);
    for (int i = 0; i < HQM_LOSS_MAX; i++)
        if (total.loss[i])
            printf("loss %d %llu\n", i, (unsigned long long)total.loss[i]);
}

int main(int argc, char **argv)
{
    bool paths = argc > 2 && strcmp(argv[2], "paths") == 0, threads = argc > 2 && strcmp(argv[2], "threads") == 0;
    DIR *directory = argc > 1 ? opendir(argv[1]) : NULL;
    struct dirent *entry;
    static char name[4096];

    path = argc > 1 ? argv[1] : "?";
    check(directory, "no such directory");
    while ((entry = readdir(directory))) {
        struct reader r = {0};
        struct stat st;
        if (!strstr(entry->d_name, HQM_SUFFIX))
            continue;
        snprintf(name, sizeof name, "%s/%s", argv[1], entry->d_name);
        path = name;
        int fd = open(name, O_RDONLY);
        check(fd >= 0 && fstat(fd, &st) == 0, "cannot be opened");
        r.size = (size_t)st.st_size;
        r.data = mmap(NULL, r.size ? r.size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        check(r.data != MAP_FAILED, "cannot be mapped");
        /* Killed before it had begun: the magic is written last. */
        if (r.size == 0 || (r.size >= 8 && memcmp(r.data, "\0\0\0\0\0\0\0", 8) == 0))
            continue;
        check_file(&r, paths || threads, threads);
        munmap(r.data, r.size);
    }
    if (!paths && !threads)
        print_totals();
    return 0;
}
