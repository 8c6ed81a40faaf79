/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/tasks.h"

#include "common/hash.h"
#include "common/mem.h"
#include "common/search.h"
#include "common/str.h"
#include "format/measurement.h"
#include "format/stream.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPINGS_MAX = 16 << 20 }; /* hundreds of thousands of processes of one run of make */

/* asm/perf_regs.h: the kernel's order of registers, as DWARF's numbers. Segments and flags are not followed. */
static const int8_t dwarf_of[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};

/* The number of the module of a path, a new one if need be. */
static uint32_t module_number(struct perf_tasks *t, const char *path, const uint8_t *build_id, size_t build_id_len)
{
    struct {
        uint64_t name;
        uint32_t length;
        uint8_t build_id[PERF_BUILD_ID];
    } key = {.name = hash_str(path), .length = (uint32_t)build_id_len}; /* paths are few: their hashes differ */
    bool is_new;

    if (build_id_len)
        memcpy(key.build_id, build_id, build_id_len);
    uint32_t number = keymap_add(&t->names, &key, &is_new);

    if (is_new) {
        struct perf_module m = {.path = xstrdup(path), .build_id_len = (uint8_t)build_id_len};

        memcpy(m.build_id, key.build_id, sizeof m.build_id);
        m.is_vdso = !strcmp(path, "[vdso]");
        vec_push(&t->modules, m);
    }
    return number;
}

void perf_tasks_init(struct perf_tasks *t)
{
    *t = (struct perf_tasks){.inherited_max = MAPPINGS_MAX};
    keymap_init(&t->names, 8 + 4 + PERF_BUILD_ID);
    module_number(t, "[kernel]", NULL, 0);
}

static void process_free(struct perf_process *p)
{
    map_deinit(&p->threads);
    vec_deinit(&p->mappings);
    free(p->name);
    free(p);
}

void perf_tasks_deinit(struct perf_tasks *t)
{
    vec_foreach(p, &t->processes)
        process_free(*p);
    vec_foreach(m, &t->modules) {
        perf_image_close(m->image);
        free(m->path);
    }
    vec_deinit(&t->processes);
    vec_deinit(&t->modules);
    keymap_deinit(&t->names);
    map_deinit(&t->current);
    map_deinit(&t->serials);
    perf_walk_deinit(&t->walk);
    free(t->vdso);
}

/* ---- modules ---- */

static struct perf_image *image_of(struct perf_tasks *t, uint32_t module)
{
    struct perf_module *m = &t->modules.data[module];

    if (!m->looked_for) {
        m->looked_for = true;
        if (m->is_vdso && t->vdso)
            m->image = perf_image_open(t->vdso, m->build_id, m->build_id_len);
        else if (m->path[0] == '/')
            m->image = perf_image_open(m->path, m->build_id, m->build_id_len);
    }
    return m->image;
}

/* ---- processes ---- */

static struct perf_process *current(const struct perf_tasks *t, uint32_t pid)
{
    uint64_t at = map_get(&t->current, pid, UINT64_MAX);

    return at == UINT64_MAX ? NULL : t->processes.data[at];
}

static struct perf_process *begin_process(struct perf_tasks *t, uint32_t pid)
{
    struct perf_process *p = xcalloc(1, sizeof *p);

    *p = (struct perf_process){.pid = pid, .begun = t->now, .executable = UINT32_MAX, .name = xstrdup("")};
    p->serial = (uint32_t)map_get(&t->serials, pid, 0);
    map_put(&t->serials, pid, p->serial + 1);
    map_put(&t->current, pid, t->processes.len);
    vec_push(&t->processes, p);
    return p;
}

/* The number of a thread, which begins if it is not known. */
static uint32_t thread_of(struct perf_tasks *t, struct perf_process *p, uint32_t tid, uint32_t creator)
{
    bool is_new;
    uint64_t *number;

    if (tid != p->pid && !p->thread_count)
        thread_of(t, p, p->pid, UINT32_MAX);
    number = map_insert(&p->threads, tid, UINT64_MAX, &is_new);
    if (*number == UINT64_MAX) { /* or one of that number has ended */
        uint32_t n = p->thread_count++;

        *number = n;
        if (t->begin)
            t->begin(t->user, p, n, tid, tid == p->pid ? n : creator == UINT32_MAX ? 0 : creator);
        return n;
    }
    return (uint32_t)*number;
}

struct perf_process *perf_tasks_process(struct perf_tasks *t, uint32_t pid)
{
    struct perf_process *p = current(t, pid);

    if (!p) {
        p = begin_process(t, pid);
        thread_of(t, p, pid, UINT32_MAX);
    }
    return p;
}

static void end_process(struct perf_tasks *t, struct perf_process *p, bool execed)
{
    size_t at = 0;
    uint64_t tid, number;

    while (t->end && map_next(&p->threads, &at, &tid, &number))
        if (number != UINT64_MAX)
            t->end(t->user, p, (uint32_t)number);
    p->ended = t->now;
    p->execed = execed;
    map_clear(&p->threads);
}

static void note_fork(struct perf_tasks *t, const struct perf_event *e)
{
    struct perf_process *parent = current(t, e->parent_pid), *p;

    if (e->pid == e->parent_pid) { /* a thread */
        p = perf_tasks_process(t, e->pid);
        thread_of(t, p, e->tid, (uint32_t)map_get(&p->threads, e->parent_tid, 0));
        return;
    }
    p = begin_process(t, e->pid);
    p->parent = e->parent_pid;
    /* Records of a few bytes, each of which copies all that a process has. */
    if (parent && parent->mappings.len > t->inherited_max - t->inherited)
        t->crowded = true;
    if (parent && !t->crowded) {
        t->inherited += parent->mappings.len;
        vec_append(&p->mappings, parent->mappings.data, parent->mappings.len);
        p->executable = parent->executable;
        free(p->name);
        p->name = xstrdup(parent->name);
    }
    thread_of(t, p, e->tid, UINT32_MAX);
}

static void note_exit(struct perf_tasks *t, const struct perf_event *e)
{
    struct perf_process *p = current(t, e->pid);
    uint64_t *number = p ? map_find(&p->threads, e->tid) : NULL;

    if (!number || *number == UINT64_MAX || p->ended)
        return;
    if (t->end)
        t->end(t->user, p, (uint32_t)*number);
    *number = UINT64_MAX;
    size_t at = 0, left = 0;
    uint64_t tid, n;

    while (map_next(&p->threads, &at, &tid, &n))
        left += n != UINT64_MAX;
    if (!left) {
        end_process(t, p, false);
    }
}

static void note_comm(struct perf_tasks *t, const struct perf_event *e)
{
    struct perf_process *p = current(t, e->pid);

    if (e->exec) {
        uint32_t parent = p ? p->parent : 0;

        if (p && !p->ended)
            end_process(t, p, true);
        p = begin_process(t, e->pid);
        p->parent = parent;
        thread_of(t, p, e->pid, UINT32_MAX);
    }
    p = perf_tasks_process(t, e->pid);
    if (e->pid == e->tid) {
        free(p->name);
        p->name = xstrdup(e->name);
    }
}

/* ---- mappings ---- */

static size_t first_behind(const struct perf_process *p, uint64_t address)
{
    return SEARCH(i, p->mappings.len, p->mappings.data[i].end <= address);
}

struct perf_mapping *perf_tasks_mapping(struct perf_process *p, uint64_t address)
{
    size_t i = first_behind(p, address);

    return i < p->mappings.len && p->mappings.data[i].start <= address ? &p->mappings.data[i] : NULL;
}

/* Makes room for a new mapping: removes or cuts the mappings that were there before. */
static void make_room(struct perf_process *p, uint64_t start, uint64_t end)
{
    for (size_t i = first_behind(p, start); i < p->mappings.len && p->mappings.data[i].start < end;) {
        struct perf_mapping *m = &p->mappings.data[i], tail = *m;

        if (m->start < start && m->end > end) {
            m->end = start;
            tail.offset += end - tail.start;
            tail.start = end;
            vec_reserve(&p->mappings, 1);
            memmove(&p->mappings.data[i + 2], &p->mappings.data[i + 1],
                    (p->mappings.len - i - 1) * sizeof *p->mappings.data);
            p->mappings.data[i + 1] = tail;
            p->mappings.len++;
            return;
        }
        if (m->start < start) {
            m->end = start;
            i++;
        } else if (m->end > end) {
            m->offset += end - m->start;
            m->start = end;
            return;
        } else {
            vec_remove(&p->mappings, i);
        }
    }
}

static void note_map(struct perf_tasks *t, const struct perf_event *e)
{
    struct perf_process *p;

    if (!e->executable || e->length == 0 || e->start + e->length < e->start || e->pid == UINT32_MAX ||
        (e->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
        return;
    p = perf_tasks_process(t, e->pid);
    make_room(p, e->start, e->start + e->length);

    bool file = e->path[0] == '/' && !str_begins(e->path, "//anon");
    bool vdso = !strcmp(e->path, "[vdso]");
    struct perf_mapping m = {.start = e->start, .end = e->start + e->length, .offset = e->offset};
    size_t at = first_behind(p, m.start);

    m.module = file || vdso ? module_number(t, e->path, e->build_id, e->build_id_len) : UINT32_MAX;
    vec_reserve(&p->mappings, 1);
    memmove(&p->mappings.data[at + 1], &p->mappings.data[at], (p->mappings.len - at) * sizeof m);
    p->mappings.data[at] = m;
    p->mappings.len++;
    if (file && p->executable == UINT32_MAX)
        p->executable = m.module;
}

void perf_tasks_note(struct perf_tasks *t, const struct perf_event *e)
{
    if (e->time > t->now)
        t->now = e->time;
    switch (e->type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2: note_map(t, e); break;
    case PERF_RECORD_COMM: note_comm(t, e); break;
    case PERF_RECORD_FORK: note_fork(t, e); break;
    case PERF_RECORD_EXIT: note_exit(t, e); break;
    default: break;
    }
}

/* ---- samples ---- */

static bool look_up(void *where, uint64_t address, struct perf_place *out)
{
    struct perf_tasks *t = where;
    struct perf_mapping *m = perf_tasks_mapping(t->walked, address);

    if (!m)
        return false;
    *out = (struct perf_place){.module = m->module};
    if (m->module == UINT32_MAX)
        return true;
    out->image = image_of(t, m->module);
    if (!m->placed) {
        m->bias = out->image ? perf_image_bias(out->image, m->start, m->offset) : m->start - m->offset;
        m->placed = true;
    }
    /* A page that is executable in memory and not in the file, or beyond it, is no code of the file. */
    if (out->image && !perf_image_text(out->image, perf_image_here(out->image, address - m->bias)))
        out->image = NULL;
    out->bias = m->bias;
    return true;
}

/* The callers of a chain: those of the kernel, and with `frames` those of the program. */
static void read_chain(struct perf_tasks *t, const struct perf_event *e, struct perf_path *out, bool user)
{
    struct perf_walk *w = &t->walk;
    bool kernel = false, first = true;

    for (uint64_t i = 0; i < e->chain_len; i++) {
        uint64_t ip = perf_word(e->chain, i);
        struct perf_place place;

        if (ip <= HQS_PARTIAL(0) && ip > HQS_PARTIAL(HQM_PARTIAL_MAX)) {
            w->partial = (uint32_t)(HQS_PARTIAL(0) - ip);
            continue;
        }
        if (ip >= (uint64_t)-4095) {
            kernel = ip == (uint64_t)PERF_CONTEXT_KERNEL;
            first = true;
            continue;
        }
        ip -= !first;
        first = false;
        if (kernel)
            vec_push(&out->kernel, ip);
        else if (user && look_up(t, ip, &place))
            vec_push(&w->frames, (struct perf_frame){ip - place.bias, place.module, ip});
        else if (user)
            vec_push(&w->frames, (struct perf_frame){ip, UINT32_MAX, ip});
    }
    if (!e->chain && (e->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
        vec_push(&out->kernel, e->ip);
}

static void walk_copy(struct perf_tasks *t, const struct perf_event *e, uint64_t registers)
{
    struct perf_walk *w = &t->walk;
    uint64_t at = 0;

    memset(w->reg, 0, sizeof w->reg);
    w->known = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(registers >> bit & 1))
            continue;
        if (bit < sizeof dwarf_of && dwarf_of[bit] >= 0) {
            w->reg[dwarf_of[bit]] = perf_word(e->registers, at);
            w->known |= 1u << dwarf_of[bit];
        }
        at++;
    }
    w->lookup = look_up;
    w->where = t;
    w->stack = e->stack;
    w->bytes = e->stack_used;
    w->all = e->stack_used < e->stack_size;
    perf_walk(w);
}

void perf_tasks_unwind(struct perf_tasks *t, const struct perf_event *e, uint64_t registers, struct perf_path *out)
{
    struct perf_process *p;

    if (e->time > t->now)
        t->now = e->time;
    p = perf_tasks_process(t, e->pid);
    out->thread = (struct perf_thread_of){p, thread_of(t, p, e->tid, UINT32_MAX)};
    vec_clear(&out->kernel);
    vec_clear(&t->walk.frames);
    t->walked = p;
    t->walk.partial = 0;
    read_chain(t, e, out, !e->stack_size);
    if (e->stack_size && e->registers && e->abi == 2)
        walk_copy(t, e, registers);
    else if (!t->walk.frames.len && (e->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER) {
        struct perf_place place = {.module = UINT32_MAX};
        look_up(t, e->ip, &place);
        vec_push(&t->walk.frames, (struct perf_frame){e->ip - place.bias, place.module, e->ip});
        t->walk.partial = HQM_PARTIAL_NO_CFI;
    }
    out->frames = t->walk.frames.data;
    out->frame_count = t->walk.frames.len;
    out->partial = t->walk.partial;
}
