/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/lanes.h"

#include "common/mem.h"
#include "db/runtimes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MODULES = 1 << HQM_MODULE_BITS };
/* In lane_map.frames beside frames of the tree and TREE_NONE, which is the top. */
#define NOT_YET 0xfffffffeu
#define NOWHERE 0xfffffffdu

/* ---- modules ---- */

static void hexadecimal(const uint8_t *bytes, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
    out[2 * n] = 0;
}

static uint32_t whose(const char *path)
{
    const struct runtime *runtime = runtime_of_module(path);

    if (!runtime)
        return 0;
    return runtime->kind == RUNTIME_OPENMP ? TREE_OPENMP : runtime->kind == RUNTIME_SYSTEM ? TREE_SYSTEM : 0;
}

/* tree may be changed if directory is not NULL. */
static void read_modules(struct lanes *l, const struct measurement *m, const struct calltree *tree,
                         struct calltree *add, const char *directory)
{
    struct measured records = measured_records(m, HQM_MODULES, 0);

    while (measured_next(&records)) {
        if (records.number < MAX_MODULES && records.number >= l->module_count)
            l->module_count = records.number + 1;
    }
    l->modules = xmalloc((l->module_count + 1) * sizeof *l->modules);
    memset(l->modules, 0xff, (l->module_count + 1) * sizeof *l->modules);
    records = measured_records(m, HQM_MODULES, 0);
    for (const struct hqm_module *x; (x = measured_next(&records));) {
        char build_id[2 * sizeof x->build_id + 1];
        const char *path = measurement_string(m, x->path);

        if (records.number >= l->module_count)
            continue;
        hexadecimal(x->build_id, x->build_id_len <= sizeof x->build_id ? x->build_id_len : 0, build_id);
        l->modules[records.number] = add ? calltree_module(add, path, build_id, directory, x->flags | whose(path))
                                         : calltree_find_module(tree, path, build_id);
    }
}

/* ---- threads ---- */

static void read_threads(struct lanes *l, const struct measurement *m)
{
    VEC(struct hqm_thread) threads = {0};
    struct measured records = measured_records(m, HQM_THREADS, 0);

    for (const struct hqm_thread *t; (t = measured_next(&records));) {
        bool is_new;

        map_insert(&l->by_number, t->number, threads.len, &is_new);
        if (is_new)
            vec_push(&threads, *t);
    }
    l->threads = threads.data;
    l->thread_count = threads.len;
}

static const struct hqm_node *creator_node(const struct measurement *m, const struct hqm_thread *t)
{
    return t->creator_lane ? measurement_record(m, HQM_NODES, t->creator_lane, t->creator_node) : NULL;
}

static uint32_t module_of(const struct lanes *l, const struct hqm_node *n)
{
    uint32_t number = n->kind_module & (MAX_MODULES - 1);

    if (!number)
        return l->generated;
    return number <= l->module_count && l->modules[number - 1] != KEYMAP_NONE ? l->modules[number - 1] : TREE_NO_MODULE;
}

static struct tree_creator creator_path(const struct lanes *l, const struct measurement *m, const struct hqm_thread *t,
                                        const struct hqm_node *n)
{
    struct tree_creator c;
    uint32_t number = t->creator_node;

    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < TREE_CREATOR_SITES; i++) {
        bool is_frame = n && n->kind_module >> HQM_MODULE_BITS == HQM_NODE_FRAME;

        c.sites[i] = (struct tree_site){.offset = is_frame ? n->offset : 0,
                                        .module = is_frame ? module_of(l, n) : TREE_NONE};
        if (!is_frame || n->parent >= number)
            n = NULL;
        else
            n = measurement_record(m, HQM_NODES, t->creator_lane, number = n->parent);
    }
    return c;
}

/* The root of a created thread: what created it tells it apart. */
static struct tree_frame thread_root(const struct lanes *l, const struct measurement *m, const struct hqm_thread *t,
                                     const struct calltree *tree, struct calltree *add)
{
    struct tree_frame root = {.module = TREE_THREAD, .parent = TREE_NONE};
    const struct hqm_node *n = creator_node(m, t);

    if (n && n->kind_module >> HQM_MODULE_BITS == HQM_NODE_FRAME) {
        struct tree_creator c = creator_path(l, m, t, n);
        uint32_t creator = add ? keymap_add(&add->creators, &c, NULL) : keymap_find(&tree->creators, &c);

        if (creator != KEYMAP_NONE)
            root.offset = creator + 1u;
    }
    return root;
}

static void find_roots(struct lanes *l, const struct measurement *m, const struct calltree *tree, struct calltree *add)
{
    l->roots = xcalloc(l->thread_count + 1, sizeof *l->roots);
    for (size_t i = 0; i < l->thread_count; i++) {
        const struct hqm_thread *t = &l->threads[i];

        l->roots[i] = TREE_NONE;
        if (t->number && t->creator != t->number) {
            struct tree_frame root = thread_root(l, m, t, tree, add);

            l->roots[i] = add ? calltree_add(add, root) : calltree_find(tree, root);
            if (l->roots[i] == TREE_NONE)
                l->roots[i] = NOWHERE;
        }
    }
}

void lanes_init(struct lanes *l, const struct measurement *m, struct calltree *tree, const char *directory,
                const char *names)
{
    *l = (struct lanes){.generated = names ? calltree_module(tree, names, "", directory, TREE_GENERATED)
                                           : TREE_NO_MODULE,
                        .measurement = m};
    read_modules(l, m, tree, tree, directory);
    read_threads(l, m);
    find_roots(l, m, tree, tree);
}

void lanes_find(struct lanes *l, const struct measurement *m, const struct calltree *tree, const char *names)
{
    *l = (struct lanes){.generated = calltree_find_module(tree, names, ""), .measurement = m};
    read_modules(l, m, tree, NULL, NULL);
    read_threads(l, m);
    find_roots(l, m, tree, NULL);
}

void lanes_deinit(struct lanes *l)
{
    free(l->threads);
    free(l->roots);
    free(l->modules);
    vec_foreach(lane, &l->openers) {
        lane_deinit(*lane);
        free(*lane);
    }
    vec_deinit(&l->openers);
    map_deinit(&l->regions);
    map_deinit(&l->by_number);
}

uint32_t lanes_thread(const struct lanes *l, uint32_t number)
{
    return (uint32_t)map_get(&l->by_number, number, TREE_NONE);
}

void lanes_limit(struct lanes *l, const uint32_t *keep)
{
    for (size_t i = 0; i < l->thread_count; i++) {
        if (keep[i] == TREE_NONE)
            map_put(&l->by_number, l->threads[i].number, TREE_NONE);
    }
}

uint32_t lanes_creator_frame(struct lanes *l, const struct measurement *m, struct calltree *tree, size_t thread)
{
    const struct hqm_thread *t = &l->threads[thread];
    uint32_t creator = lanes_thread(l, t->creator), frame;
    struct lane lane;

    if (creator == TREE_NONE || creator == thread || !creator_node(m, t))
        return TREE_NONE;
    lane_init(&lane, l, m, t->creator_lane);
    frame = lane_add(&lane, tree, creator, t->creator_node);
    lane_deinit(&lane);
    return frame;
}

bool lanes_creator_is_lost(const struct lanes *l, const struct measurement *m, size_t thread)
{
    return l->threads[thread].creator_lane && !creator_node(m, &l->threads[thread]);
}

/* ---- nodes ---- */

/* Nodes lie one after another in their segments; what comes after a gap has lost its parents. */
static void read_nodes(struct lane *lane, const struct measurement *m)
{
    struct measured records = measured_records(m, HQM_NODES, lane->number);
    VEC(struct hqm_node) nodes = {0};

    for (const struct hqm_node *n; (n = measured_next(&records));) {
        if (records.number != nodes.len) {
            lane->damaged = true;
            break;
        }
        vec_push(&nodes, *n);
    }
    lane->nodes = nodes.data;
    lane->node_count = (uint32_t)nodes.len;
}

void lane_init(struct lane *lane, struct lanes *lanes, const struct measurement *m, uint32_t number)
{
    *lane = (struct lane){.number = number, .lanes = lanes};
    read_nodes(lane, m);
}

void lane_deinit(struct lane *lane)
{
    for (size_t i = 0; i < lane->maps.len; i++)
        free(lane->maps.data[i].frames);
    vec_deinit(&lane->maps);
    vec_deinit(&lane->path);
    free(lane->nodes);
}

static uint32_t *map_of(struct lane *lane, uint32_t root)
{
    struct lane_map map = {.root = root};

    for (size_t i = 0; i < lane->maps.len; i++) {
        if (lane->maps.data[i].root == root)
            return lane->maps.data[i].frames;
    }
    map.frames = xmalloc(((size_t)lane->node_count + 1) * sizeof *map.frames);
    for (uint32_t i = 0; i <= lane->node_count; i++)
        map.frames[i] = NOT_YET;
    map.frames[0] = root;
    vec_push(&lane->maps, map);
    return map.frames;
}

static uint32_t enter(const struct calltree *tree, struct calltree *add, struct tree_frame f)
{
    uint32_t frame = add ? calltree_add(add, f) : calltree_find(tree, f);

    return frame == TREE_NONE ? NOWHERE : frame;
}

static uint32_t resolve(struct lane *lane, const struct calltree *tree, struct calltree *add, uint32_t thread,
                        uint32_t node);

/* The lane of this number, read once. */
static struct lane *opener(struct lanes *l, uint32_t number)
{
    struct lane *lane;

    vec_foreach(known, &l->openers) {
        if ((*known)->number == number)
            return *known;
    }
    lane = xcalloc(1, sizeof *lane);
    lane_init(lane, l, l->measurement, number);
    vec_push(&l->openers, lane);
    return lane;
}

static const struct hqm_region *region_record(const struct lanes *l, uint32_t lane, uint32_t node)
{
    struct measured records = measured_records(l->measurement, HQM_REGIONS, lane);

    for (const struct hqm_region *r; (r = measured_next(&records));) {
        if (r->node == node)
            return r;
    }
    return NULL;
}

static struct tree_site site_in(const struct lanes *l, uint32_t module, uint64_t offset)
{
    if (!module || module > l->module_count || l->modules[module - 1] == KEYMAP_NONE)
        return (struct tree_site){.module = TREE_NONE};
    return (struct tree_site){.offset = offset, .module = l->modules[module - 1]};
}

static uint64_t opening_of(const struct lanes *l, const struct calltree *tree, struct calltree *add,
                           const struct hqm_region *r)
{
    struct tree_opening o = {site_in(l, r->body_module, r->body), site_in(l, r->callee_module, r->callee)};
    uint32_t found = add ? keymap_add(&add->openings, &o, NULL) : keymap_find(&tree->openings, &o);

    return found == KEYMAP_NONE ? 0 : found + 1u;
}

enum { NESTED_MOST = 64 }; /* regions; more only by damage */

static uint32_t module_flags(const struct calltree *tree, uint32_t module)
{
    return module < tree->modules.len ? tree->modules.data[module].flags : 0;
}

static uint32_t find_region(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name)
{
    struct lane *lane = opener(l, (uint32_t)(name >> 32));
    const struct hqm_region *r = region_record(l, lane->number, (uint32_t)name);
    uint32_t thread = r ? lanes_thread(l, r->thread) : TREE_NONE, call, node;

    if (!r || r->node >= lane->node_count || thread == TREE_NONE || l->nested == NESTED_MOST)
        return NOWHERE;
    /* The runtime's own frames below the call are not part of the path. */
    node = r->node;
    do {
        if (lane->nodes[node].parent >= node)
            return NOWHERE;
        node = lane->nodes[node].parent;
    } while (module_flags(tree, module_of(l, &lane->nodes[node])) & TREE_OPENMP);
    l->nested++;
    call = resolve(lane, tree, add, thread, node);
    l->nested--;
    if (call == TREE_NONE)
        return NOWHERE;
    /* A region's body that has left by a jump for the runtime, which opens another. */
    if (calltree_frame(tree, call)->module == TREE_WAIT)
        call = calltree_frame(tree, call)->parent;
    return enter(tree, add, (struct tree_frame){opening_of(l, tree, add, r), TREE_REGION, call});
}

/* The frame of a region by its name in the file. */
static uint32_t region(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name)
{
    uint32_t frame = (uint32_t)map_get(&l->regions, name, NOT_YET);

    if (frame == NOT_YET) {
        frame = find_region(l, tree, add, name);
        map_put(&l->regions, name, frame);
    }
    return frame;
}

uint32_t lanes_region(struct lanes *l, struct calltree *tree, uint64_t name)
{
    uint32_t frame = region(l, tree, tree, name);

    return frame == NOWHERE ? TREE_NONE : frame;
}

/*
 * What an OpenMP runtime calls of the program while it waits is a task, or, where nothing tells more of a thread than
 * its region, the thread's share of that: both hang below the region. TREE_NONE: it was called by somebody else, or
 * there is none.
 */
static uint32_t region_of_callback(const struct calltree *tree, uint32_t caller)
{
    bool by_openmp = false;

    for (uint32_t i = caller; i != TREE_NONE; i = calltree_frame(tree, i)->parent) {
        const struct tree_frame *f = calltree_frame(tree, i);
        uint32_t flags = module_flags(tree, f->module);

        if (f->module == TREE_WAIT)
            return f->parent;
        if (f->module == TREE_REGION)
            return by_openmp ? i : TREE_NONE;
        by_openmp |= (flags & TREE_OPENMP) != 0;
        if (!by_openmp && !(flags & TREE_SYSTEM))
            return TREE_NONE;
    }
    return TREE_NONE;
}

/* Of the start of a thread that waits nothing is kept. */
static uint32_t add_frame(const struct lanes *l, const struct calltree *tree, struct calltree *add,
                          const struct hqm_node *n, uint32_t parent)
{
    struct tree_frame f = {n->offset, module_of(l, n), parent};
    uint32_t above = parent == TREE_NONE ? TREE_NO_MODULE : calltree_frame(tree, parent)->module, flags, region;

    flags = module_flags(tree, f.module);
    if (above == TREE_WAIT && flags & TREE_SYSTEM)
        return parent;
    if (!(flags & (TREE_OPENMP | TREE_SYSTEM)) &&
        (above == TREE_WAIT || module_flags(tree, above) & (TREE_OPENMP | TREE_SYSTEM))) {
        region = region_of_callback(tree, parent);
        f.parent = region == TREE_NONE ? parent : region;
    }
    return enter(tree, add, f);
}

static uint32_t step(struct lane *lane, const struct calltree *tree, struct calltree *add, const struct hqm_node *n,
                     uint32_t parent)
{
    uint32_t inside;

    switch (n->kind_module >> HQM_MODULE_BITS) {
    case HQM_NODE_FRAME: return parent == NOWHERE ? NOWHERE : add_frame(lane->lanes, tree, add, n, parent);
    case HQM_NODE_INSIDE:
        inside = region(lane->lanes, tree, add, n->offset);
        return inside == NOWHERE ? parent : inside; /* of a damaged file: better in its thread than nowhere */
    case HQM_NODE_WAIT:
        inside = region(lane->lanes, tree, add, n->offset);
        return inside == NOWHERE ? parent : enter(tree, add, (struct tree_frame){0, TREE_WAIT, inside});
    case HQM_NODE_PARTIAL: return enter(tree, add, (struct tree_frame){n->offset, TREE_PARTIAL, TREE_NONE});
    default: return NOWHERE;
    }
}

static uint32_t resolve(struct lane *lane, const struct calltree *tree, struct calltree *add, uint32_t thread,
                        uint32_t node)
{
    uint32_t *frames = map_of(lane, lane->lanes->roots[thread]), frame;
    size_t waiting = lane->path.len; /* a region's opening may lie in this lane too */

    if (node >= lane->node_count) {
        lane->damaged = true;
        return TREE_NONE;
    }
    while (frames[node] == NOT_YET) {
        if (lane->nodes[node].parent >= node) {
            frames[node] = NOWHERE;
            lane->damaged = true;
            break;
        }
        vec_push(&lane->path, node);
        node = lane->nodes[node].parent;
    }
    frame = frames[node];
    while (lane->path.len > waiting) {
        node = vec_pop(&lane->path);
        frame = frames[node] = step(lane, tree, add, &lane->nodes[node], frame);
    }
    /* A sample without any frame has lost its whole path. */
    if (frame == TREE_NONE)
        frame = enter(tree, add, (struct tree_frame){0, TREE_PARTIAL, TREE_NONE});
    return frame == NOWHERE ? TREE_NONE : frame;
}

uint32_t lane_add(struct lane *lane, struct calltree *tree, uint32_t thread, uint32_t node)
{
    return resolve(lane, tree, tree, thread, node);
}

uint32_t lane_find(struct lane *lane, const struct calltree *tree, uint32_t thread, uint32_t node)
{
    return resolve(lane, tree, NULL, thread, node);
}

/* ---- traces ---- */

struct lane_trace lane_trace_start(const struct measurement *m, const struct lane *lane)
{
    return (struct lane_trace){
        .lanes = lane->lanes, .records = measured_records(m, HQM_TRACE, lane->number), .thread = TREE_NONE};
}

bool lane_trace_next(struct lane_trace *t, struct lane_record *out)
{
    for (const struct hqm_trace *r; (r = measured_next(&t->records));) {
        uint32_t event = r->weight_event & 15u;

        if (event == HQM_TRACE_THREAD) {
            t->thread = lanes_thread(t->lanes, r->node);
            continue;
        }
        if (t->thread == TREE_NONE)
            continue;
        *out = (struct lane_record){
            .time_us = (uint64_t)r->time_high << 32 | r->time_low,
            .thread = t->thread,
            .node = r->node,
            .event = event,
            .weight = r->weight_event >> 4,
        };
        return true;
    }
    return false;
}
