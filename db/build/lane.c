/* SPDX-License-Identifier: BSD-3-Clause */
/* From the nodes of a lane to frames of the tree, and its trace (lanes.h). */
#include "db/build/lanes.h"

#include "common/mem.h"
#include <stdlib.h>

#define NOT_YET 0xfffffffeu /* in lane_map.frames */

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
    lane->base = xcalloc(nodes.len + 1, sizeof *lane->base);
    for (uint32_t i = 1; i < nodes.len; i++) {
        const struct hqm_node *n = &nodes.data[i];
        bool phase = n->kind_module >> HQM_MODULE_BITS == HQM_NODE_PHASE;

        lane->base[i] = phase ? i : n->parent < i ? lane->base[n->parent] : 0;
    }
}

void lane_init(struct lane *lane, struct lanes *lanes, const struct measurement *m, uint32_t number)
{
    *lane = (struct lane){.number = number, .lanes = lanes};
    read_nodes(lane, m);
}

void lane_deinit(struct lane *lane)
{
    for (size_t i = 0; i < lane->maps.len; i++) {
        free(lane->maps.data[i].frames);
        free(lane->maps.data[i].entered);
    }
    free(lane->base);
    vec_deinit(&lane->maps);
    vec_deinit(&lane->path);
    free(lane->nodes);
}

static struct lane_map map_of(struct lane *lane, uint32_t root)
{
    struct lane_map map = {.root = root};

    for (size_t i = 0; i < lane->maps.len; i++) {
        if (lane->maps.data[i].root == root)
            return lane->maps.data[i];
    }
    map.frames = xmalloc(((size_t)lane->node_count + 1) * sizeof *map.frames);
    for (uint32_t i = 0; i <= lane->node_count; i++)
        map.frames[i] = NOT_YET;
    map.frames[0] = root;
    map.entered = xcalloc((size_t)lane->node_count + 1, 1);
    vec_push(&lane->maps, map);
    return map;
}

static uint32_t enter(const struct calltree *tree, struct calltree *add, struct tree_frame f)
{
    uint32_t frame = add ? calltree_add(add, f) : calltree_find(tree, f);

    return frame == TREE_NONE ? LANES_NOWHERE : frame;
}

static uint32_t resolve(struct lane *lane, const struct calltree *tree, struct calltree *add, uint32_t thread,
                        uint32_t node);
static uint32_t phase_of(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name);

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
    struct tree_opening o = {site_in(l, r->body_module, r->body), site_in(l, r->callee_module, r->callee), r->runtime,
                             0};
    uint32_t found = add ? keymap_add(&add->openings, &o, NULL) : keymap_find(&tree->openings, &o);

    return found == KEYMAP_NONE ? 0 : found + 1u;
}

enum { NESTED_MOST = 64 }; /* regions; more only by damage */

static uint32_t module_flags(const struct calltree *tree, uint32_t module)
{
    return module < tree->modules.len ? tree->modules.data[module].flags : 0;
}

/* ---- phases ---- */

static struct lane_phase find_phase(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name)
{
    struct lane *lane = opener(l, (uint32_t)(name >> 32));
    const struct hqm_region *r = region_record(l, lane->number, (uint32_t)name);
    uint32_t thread = r ? lanes_thread(l, r->thread) : TREE_NONE, outer;
    struct lane_phase p = {.outer = TREE_NONE, .begun = TREE_NONE, .shown = TREE_NONE};
    const char *text = r ? measurement_string(l->measurement, (uint32_t)r->body) : "";

    if (!r || r->runtime != HQM_RUNTIME_PHASE || r->node >= lane->node_count || thread == TREE_NONE ||
        l->nested == NESTED_MOST || lane->nodes[r->node].parent >= r->node)
        return p;
    l->nested++;
    outer = lane->base[r->node];
    p.outer = outer ? phase_of(l, tree, add, lane->nodes[outer].offset) : TREE_NONE;
    p.begun = resolve(lane, tree, add, thread, lane->nodes[r->node].parent);
    l->nested--;
    p.depth = p.outer == TREE_NONE ? 0 : l->phases.data[p.outer].depth + 1;
    text = *text ? text : "(name lost)";
    if (p.begun != TREE_NONE && p.depth < NESTED_MOST)
        p.name = add ? intern_add(&add->strings, text) : intern_find(&tree->strings, text);
    return p;
}

/* Its number in lanes.phases. */
static uint32_t phase_of(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name)
{
    uint32_t at = (uint32_t)map_get(&l->phase_at, name, TREE_NONE);
    struct lane_phase found;

    if (at != TREE_NONE)
        return at;
    found = find_phase(l, tree, add, name);
    at = (uint32_t)l->phases.len;
    map_put(&l->phase_at, name, at);
    vec_push(&l->phases, found);
    return at;
}

/* Of `frame` or a caller of it, the one that `above` called; TREE_NONE: `above` is none of its callers. */
static uint32_t called_by(const struct calltree *tree, uint32_t frame, uint32_t above)
{
    while (frame != TREE_NONE && calltree_frame(tree, frame)->parent != above) {
        if (frame == above)
            return TREE_NONE;
        frame = calltree_frame(tree, frame)->parent;
    }
    return frame;
}

static uint32_t phase_frame(const struct calltree *tree, struct calltree *add, const struct lane_phase *p,
                            uint32_t below)
{
    uint32_t host = below == TREE_NONE ? TREE_NONE : called_by(tree, p->begun, below);

    return enter(tree, add, (struct tree_frame){p->name, TREE_PHASE, host == TREE_NONE ? below : host});
}

/* Returns the frame that the visits of a phase are counted for. A phase without samples lies right below the call that
 * began it. LANES_NOWHERE if the phase has no name. */
static uint32_t phase_itself(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name)
{
    uint32_t at = phase_of(l, tree, add, name);
    struct lane_phase p = l->phases.data[at];

    if (p.shown != TREE_NONE)
        return p.shown;
    return p.name ? enter(tree, add, (struct tree_frame){p.name, TREE_PHASE, p.begun}) : LANES_NOWHERE;
}

/*
 * As long as a path goes along the one that began a phase, its frames are around the phase; the rest is in it. So a
 * phase hangs below the last call that both have in common, also where that was left before the phase ended. Becomes
 * the frame that the node's hangs below.
 */
static uint32_t enter_phases(struct lane *lane, const struct calltree *tree, struct calltree *add,
                             const struct hqm_node *n, uint32_t parent, uint8_t *entered)
{
    struct lanes *l = lane->lanes;
    uint32_t base = lane->base[n - lane->nodes], innermost, chain[NESTED_MOST], count = 0;

    if (!base)
        return parent;
    innermost = phase_of(l, tree, add, lane->nodes[base].offset);
    for (uint32_t i = innermost; i != TREE_NONE && count < NESTED_MOST; i = l->phases.data[i].outer)
        chain[count++] = i;
    while (*entered < count && parent != LANES_NOWHERE) {
        struct lane_phase *p = &l->phases.data[chain[count - 1 - *entered]];
        uint32_t here = calltree_find(tree, (struct tree_frame){n->offset, lanes_module(l, n), parent});

        if (p->name && here != TREE_NONE && (here == p->begun || called_by(tree, p->begun, here) != TREE_NONE))
            break;
        if (p->name)
            parent = phase_frame(tree, add, p, parent);
        if (p->name && p->shown == TREE_NONE && parent != LANES_NOWHERE)
            p->shown = parent;
        ++*entered;
    }
    return parent;
}

/* The frame at the first instruction of a marked procedure. */
static uint32_t procedure_entry(struct lane *lane, const struct calltree *tree, struct calltree *add, uint32_t thread,
                                uint32_t node)
{
    uint32_t frame;

    lane->lanes->nested++;
    frame = resolve(lane, tree, add, thread, lane->nodes[node].parent);
    lane->lanes->nested--;
    return frame;
}

static uint32_t find_region(struct lanes *l, const struct calltree *tree, struct calltree *add, uint64_t name)
{
    struct lane *lane = opener(l, (uint32_t)(name >> 32));
    const struct hqm_region *r = region_record(l, lane->number, (uint32_t)name);
    uint32_t thread = r ? lanes_thread(l, r->thread) : TREE_NONE, call, node;

    if (!r || r->node >= lane->node_count || thread == TREE_NONE || l->nested == NESTED_MOST)
        return LANES_NOWHERE;
    if (r->runtime == HQM_RUNTIME_PHASE)
        return phase_itself(l, tree, add, name);
    if (r->runtime == HQM_RUNTIME_PROCEDURE) {
        call = lane->nodes[r->node].parent < r->node ? procedure_entry(lane, tree, add, thread, r->node) : TREE_NONE;
        return call == TREE_NONE ? LANES_NOWHERE : call;
    }
    /* The runtime's own frames below the call are not part of the path. */
    node = r->node;
    do {
        if (lane->nodes[node].parent >= node)
            return LANES_NOWHERE;
        node = lane->nodes[node].parent;
    } while (module_flags(tree, lanes_module(l, &lane->nodes[node])) & TREE_OPENMP);
    l->nested++;
    call = resolve(lane, tree, add, thread, node);
    l->nested--;
    if (call == TREE_NONE)
        return LANES_NOWHERE;
    /* A region's body that has left by a jump for the runtime, which opens another. */
    if (calltree_frame(tree, call)->module == TREE_WAIT)
        call = calltree_frame(tree, call)->parent;
    uint64_t opening = opening_of(l, tree, add, r);

    return r->runtime == HQM_RUNTIME_TASK ? call : enter(tree, add, (struct tree_frame){opening, TREE_REGION, call});
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

uint32_t lanes_find_region(struct lanes *l, const struct calltree *tree, uint64_t name)
{
    uint32_t frame = region(l, tree, NULL, name);

    return frame == LANES_NOWHERE ? TREE_NONE : frame;
}

uint32_t lanes_region(struct lanes *l, struct calltree *tree, uint64_t name)
{
    uint32_t frame = region(l, tree, tree, name);

    return frame == LANES_NOWHERE ? TREE_NONE : frame;
}

/*
 * Returns the region that a call from an OpenMP runtime into the program belongs to. While the runtime waits, it calls
 * a task or, where of a thread nothing but its region is known, the thread's share of that: both hang below the region.
 * TREE_NONE if somebody else called it, or there is no region.
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
    struct tree_frame f = {n->offset, lanes_module(l, n), parent};
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

/* How many of the phases that a node lies in are around the opening of a region: what that one's frame is below. */
static uint8_t entered_by_region(struct lane *lane, const struct calltree *tree, struct calltree *add,
                                 const struct hqm_node *n)
{
    struct lanes *l = lane->lanes;
    struct lane *by = opener(l, (uint32_t)(n->offset >> 32));
    uint32_t node = (uint32_t)n->offset, self = lane->base[n - lane->nodes], other, inner;

    other = node < by->node_count ? by->base[node] : 0;
    if (!self || !other)
        return 0;
    other = phase_of(l, tree, add, by->nodes[other].offset);
    inner = phase_of(l, tree, add, lane->nodes[self].offset);
    for (; inner != TREE_NONE; inner = l->phases.data[inner].outer)
        if (inner == other)
            return (uint8_t)(l->phases.data[inner].depth + 1);
    return 0;
}

/* Returns the frame of a device's command, below the function that gave the command to it. */
static uint32_t device_frame(struct lanes *l, const struct calltree *tree, struct calltree *add,
                             const struct hqm_node *n, uint32_t parent)
{
    const char *name = measurement_string(l->measurement, (uint32_t)n->offset);
    const char *program = measurement_string(l->measurement, (uint32_t)(n->offset >> 32));
    uint64_t texts;

    if (parent == LANES_NOWHERE)
        return LANES_NOWHERE;
    name = *name ? name : "[name lost]";
    texts = add ? (uint64_t)intern_add(&add->strings, program) << 32 | intern_add(&add->strings, name)
                : (uint64_t)intern_find(&tree->strings, program) << 32 | intern_find(&tree->strings, name);
    return enter(tree, add, (struct tree_frame){texts, TREE_DEVICE, parent});
}

/* The frame of a node below that of its parent; *entered is the parent's number of phases, and becomes the node's. */
static uint32_t step(struct lane *lane, const struct calltree *tree, struct calltree *add, const struct hqm_node *n,
                     uint32_t parent, uint8_t *entered)
{
    uint32_t inside;

    switch (n->kind_module >> HQM_MODULE_BITS) {
    case HQM_NODE_FRAME:
        if (parent == LANES_NOWHERE)
            return LANES_NOWHERE;
        parent = enter_phases(lane, tree, add, n, parent, entered);
        return parent == LANES_NOWHERE ? LANES_NOWHERE : add_frame(lane->lanes, tree, add, n, parent);
    case HQM_NODE_INSIDE:
        inside = region(lane->lanes, tree, add, n->offset);
        if (inside == LANES_NOWHERE)
            return parent; /* of a damaged file: better in its thread than nowhere */
        *entered = entered_by_region(lane, tree, add, n);
        return inside;
    case HQM_NODE_PHASE: *entered = 0; return parent;
    case HQM_NODE_DEVICE: return device_frame(lane->lanes, tree, add, n, parent);
    case HQM_NODE_WAIT:
        *entered = UINT8_MAX; /* what waits is in no phase of its own */
        inside = region(lane->lanes, tree, add, n->offset);
        return inside == LANES_NOWHERE ? parent : enter(tree, add, (struct tree_frame){0, TREE_WAIT, inside});
    case HQM_NODE_PARTIAL:
        if (n->offset != HQM_PARTIAL_KERNEL || parent == LANES_NOWHERE)
            parent = TREE_NONE;
        return enter(tree, add, (struct tree_frame){n->offset, TREE_PARTIAL, parent});
    default: return LANES_NOWHERE;
    }
}

static uint32_t resolve(struct lane *lane, const struct calltree *tree, struct calltree *add, uint32_t thread,
                        uint32_t node)
{
    struct lane_map map = map_of(lane, lane->lanes->roots[thread]);
    uint32_t *frames = map.frames, frame;
    uint8_t entered;
    size_t waiting = lane->path.len; /* a region's opening may lie in this lane too */

    if (node >= lane->node_count) {
        lane->damaged = true;
        return TREE_NONE;
    }
    while (frames[node] == NOT_YET) {
        if (lane->nodes[node].parent >= node) {
            frames[node] = LANES_NOWHERE;
            lane->damaged = true;
            break;
        }
        vec_push(&lane->path, node);
        node = lane->nodes[node].parent;
    }
    frame = frames[node];
    entered = map.entered[node];
    while (lane->path.len > waiting) {
        node = vec_pop(&lane->path);
        frame = frames[node] = step(lane, tree, add, &lane->nodes[node], frame, &entered);
        map.entered[node] = entered;
    }
    /* A sample without any frame has lost its whole path. */
    if (frame == TREE_NONE)
        frame = enter(tree, add, (struct tree_frame){0, TREE_PARTIAL, TREE_NONE});
    return frame == LANES_NOWHERE ? TREE_NONE : frame;
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
