/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/fuse.h"

#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

/* A context while the tree grows, numbered by arrival; also the key that tells children apart. */
struct node {
    uint32_t parent, scope, call_file, call_line;
};

struct fusing {
    const struct fuse_input *in;
    struct fuse_settings settings;
    struct keymap nodes;
    uint32_t *frame_node; /* [frames] in input order */
    VEC(uint32_t) chain;  /* scratch: scopes of one frame, innermost first */
};

static const struct hqdb_scope *scope_at(const struct fuse_input *in, uint32_t scope)
{
    return &in->scopes[scope < in->scope_count ? scope : 0];
}

static const struct node *node_at(const struct fusing *f, uint32_t node)
{
    return keymap_key(&f->nodes, node);
}

static uint32_t add_node(struct fusing *f, struct node n)
{
    return keymap_add(&f->nodes, &n, NULL);
}

bool fuse_same_name(const char *a, const char *b)
{
    size_t same = 0;

    while (a[same] && a[same] == b[same])
        same++;
    return (!a[same] && (!b[same] || b[same] == '(')) || (!b[same] && a[same] == '(');
}

/* Scopes that have no rows of their own. */
static bool is_left_out(const struct fuse_settings *how, uint32_t kind)
{
    return (kind == SCOPE_INLINE && how->no_inline) || (kind == SCOPE_LOOP && how->no_loops);
}

static uint32_t leaf_scope(const struct fusing *f, uint32_t frame)
{
    uint32_t code = f->in->frames[frame].code;
    uint32_t scope;

    if (code >= f->in->code_count)
        return 0;
    scope = f->settings.raw ? f->in->codes[code].raw : f->in->codes[code].normal;
    return scope < f->in->scope_count ? scope : 0;
}

static const char *scope_name(const struct fusing *f, uint32_t scope)
{
    uint32_t name = scope_at(f->in, scope)->name;

    return name < f->in->string_bytes ? f->in->strings + name : "";
}

/* Is a node, or what it is called from within the same procedure, a scope of this name? */
static bool is_within(const struct fusing *f, uint32_t at, uint32_t scope)
{
    for (; at; at = node_at(f, at)->parent) {
        const struct hqdb_scope *s = scope_at(f->in, node_at(f, at)->scope);

        if (node_at(f, at)->scope == scope ||
            ((s->kind == SCOPE_PROCEDURE || s->kind == SCOPE_INLINE) &&
             fuse_same_name(scope_name(f, node_at(f, at)->scope), scope_name(f, scope))))
            return true;
        if (s->kind == SCOPE_PROCEDURE)
            return false;
    }
    return false;
}

/* Is a node that a phase is in, or one around it in the same procedure, of this scope? */
static bool goes_on(const struct fusing *f, uint32_t at, uint32_t scope)
{
    for (; at; at = node_at(f, at)->parent) {
        enum scope_kind kind = scope_at(f->in, node_at(f, at)->scope)->kind;

        if (node_at(f, at)->scope == scope)
            return true;
        if (scope_is_called(kind))
            return false;
    }
    return false;
}

/*
 * The scopes of a frame up to its procedure, or up to the one it lies in already: `at` is where it hangs, which a
 * parallel region and what is in it, and what is in a phase, take as the continuation of the procedure they are written
 * in. A task that a region within it runs again is another one.
 */
static void collect_chain(struct fusing *f, uint32_t scope, uint32_t at, enum scope_kind from)
{
    uint32_t region = scope_at(f->in, node_at(f, at)->scope)->kind == SCOPE_REGION ? node_at(f, at)->scope : HQDB_NONE;

    vec_clear(&f->chain);
    for (;;) {
        const struct hqdb_scope *s = scope_at(f->in, scope);

        if (s->kind == SCOPE_ROOT || s->kind == SCOPE_MODULE || s->kind == SCOPE_FILE)
            return;
        if (from == SCOPE_PHASE && s->kind != SCOPE_LINE && goes_on(f, at, scope))
            return;
        if ((scope == region && f->chain.len) ||
            (from == SCOPE_REGION && s->kind == SCOPE_PROCEDURE && s->role != ROLE_TASK && is_within(f, at, scope)))
            return;
        if (!is_left_out(&f->settings, s->kind))
            vec_push(&f->chain, scope);
        if (s->kind == SCOPE_PROCEDURE || s->parent >= scope)
            return;
        if (s->kind == SCOPE_REGION && is_within(f, at, s->parent))
            return;
        scope = s->parent;
    }
}

/* Where the callees of a frame hang. */
static uint32_t host_node(const struct fusing *f, uint32_t frame)
{
    const struct node *n = node_at(f, f->frame_node[frame]);

    return scope_at(f->in, n->scope)->kind == SCOPE_LINE ? n->parent : f->frame_node[frame];
}

static bool has_flag(const struct fusing *f, uint32_t frame, uint32_t flag)
{
    uint32_t code = f->in->frames[frame].code;

    return code < f->in->code_count && f->in->codes[code].flags & flag;
}

/* The frame that made a call, HQDB_NONE if there is none: what stands for an entry is none where the entry is seen. */
static uint32_t caller_of(const struct fusing *f, uint32_t frame)
{
    uint32_t caller = f->in->frames[frame].parent;

    while (caller < frame && f->settings.internals && has_flag(f, caller, HQDB_CODE_ENTRY)) {
        frame = caller;
        caller = f->in->frames[frame].parent;
    }
    return caller < frame ? caller : HQDB_NONE;
}

/* Phases are begun by inlined procedures of hq.h, which are no part of the program. */
static uint32_t phase_host(const struct fusing *f, uint32_t at)
{
    while (scope_at(f->in, node_at(f, at)->scope)->kind == SCOPE_INLINE &&
           str_begins(scope_name(f, node_at(f, at)->scope), "hq_phase"))
        at = node_at(f, at)->parent;
    return at;
}

static void place_frame(struct fusing *f, uint32_t frame)
{
    uint32_t caller = caller_of(f, frame);
    const struct hqdb_scope *site = scope_at(f->in, 0);
    uint32_t at = 0;

    if (has_flag(f, frame, f->settings.internals ? HQDB_CODE_ENTRY : HQDB_CODE_INSIDE) &&
        (caller != HQDB_NONE || f->settings.internals)) {
        f->frame_node[frame] = caller == HQDB_NONE ? 0 : f->frame_node[caller];
        return;
    }
    if (caller != HQDB_NONE) {
        at = host_node(f, caller);
        /* Where in a runtime a call back was made is not shown. */
        if (f->settings.internals || !has_flag(f, caller, HQDB_CODE_INSIDE))
            site = scope_at(f->in, leaf_scope(f, caller));
    }
    if (scope_at(f->in, leaf_scope(f, frame))->kind == SCOPE_PHASE)
        at = phase_host(f, at);
    collect_chain(f, leaf_scope(f, frame), at, site->kind);
    for (size_t i = f->chain.len; i-- > 0;) {
        const struct hqdb_scope *s = scope_at(f->in, f->chain.data[i]);
        struct node n = {.parent = at, .scope = f->chain.data[i]};

        if ((scope_is_called(s->kind) || s->kind == SCOPE_REGION) && site->kind == SCOPE_LINE) {
            n.call_file = site->file;
            n.call_line = site->line;
        } else if (s->kind == SCOPE_INLINE) {
            n.call_file = s->call_file;
            n.call_line = s->call_line;
        }
        at = add_node(f, n);
    }
    f->frame_node[frame] = at;
}

/* ---- numbering in preorder ---- */

struct child {
    uint32_t parent, group, scope, call_file, call_line, node;
};

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_children(const void *pa, const void *pb)
{
    const struct child *a = pa, *b = pb;
    int c = compare_u32(a->parent, b->parent);

    c = c ? c : compare_u32(a->group, b->group);
    c = c ? c : compare_u32(a->scope, b->scope);
    c = c ? c : compare_u32(a->call_file, b->call_file);
    return c ? c : compare_u32(a->call_line, b->call_line);
}

/* The call that begins a phase may lie in an inlined procedure beside it, and comes before what it is the parent of. */
static uint32_t group_of(enum scope_kind kind)
{
    return kind == SCOPE_LINE ? 0 : kind == SCOPE_PHASE ? 2 : 1;
}

/* All nodes but the root, siblings together and in order. */
static struct child *sorted_children(const struct fusing *f)
{
    uint32_t count = f->nodes.len;
    struct child *children = xcalloc(count, sizeof *children);

    for (uint32_t i = 1; i < count; i++) {
        const struct node *n = node_at(f, i);

        children[i - 1] = (struct child){
            .parent = n->parent,
            .group = group_of(scope_at(f->in, n->scope)->kind),
            .scope = n->scope,
            .call_file = n->call_file,
            .call_line = n->call_line,
            .node = i,
        };
    }
    qsort(children, count - 1, sizeof *children, compare_children);
    return children;
}

/* number[node] = its place in preorder. Children of a node are a run in `children`. */
static uint32_t *number_nodes(const struct fusing *f, const struct child *children)
{
    uint32_t count = f->nodes.len, next = 0;
    AUTO_FREE uint32_t *first = xcalloc((size_t)count + 1, sizeof *first);
    uint32_t *number = xcalloc(count, sizeof *number);
    VEC(uint32_t) stack = {0};

    for (uint32_t i = 0; i + 1 < count; i++)
        first[children[i].parent + 1]++;
    for (uint32_t i = 0; i < count; i++)
        first[i + 1] += first[i];
    vec_push(&stack, 0);
    while (stack.len) {
        uint32_t node = vec_pop(&stack);

        number[node] = next++;
        for (uint32_t i = first[node + 1]; i-- > first[node];)
            vec_push(&stack, children[i].node);
    }
    vec_deinit(&stack);
    return number;
}

/* ---- identities ---- */

static uint64_t text_hash(const struct fuse_input *in, uint32_t text)
{
    return hash_str(text < in->string_bytes ? in->strings + text : "");
}

static uint64_t own_hash(const struct fuse_input *in, const struct hqdb_context *c)
{
    const struct hqdb_scope *s = scope_at(in, c->scope);
    uint64_t h = hash_combine(s->kind, text_hash(in, s->name));

    if (s->kind == SCOPE_LOOP)
        return hash_combine(h, s->ordinal);
    if (s->kind == SCOPE_LINE)
        return hash_combine(hash_combine(h, text_hash(in, s->file)), s->line);
    return hash_combine(hash_combine(h, text_hash(in, c->call_file)), c->call_line);
}

enum { MOVED_ON = 10 };

/* Two static procedures of one name called from one line would share an identity: the later one moves on. */
static void set_ids(const struct fuse_input *in, struct fuse *out)
{
    struct map seen = {0};

    map_reserve(&seen, out->context_count);
    for (size_t i = 0; i < out->context_count; i++) {
        struct hqdb_context *c = &out->contexts[i];
        bool is_new = false;

        c->id = i ? hash_combine(out->contexts[c->parent].id, own_hash(in, c)) : hash_u64(SCOPE_ROOT);
        for (;;) {
            map_insert(&seen, c->id, i, &is_new);
            if (is_new)
                break;
            c->id = hash_combine(c->id, MOVED_ON);
        }
    }
    map_deinit(&seen);
}

static void make_contexts(const struct fusing *f, const uint32_t *number, struct fuse *out)
{
    out->context_count = f->nodes.len;
    out->contexts = xcalloc(out->context_count, sizeof *out->contexts);
    for (uint32_t i = 0; i < f->nodes.len; i++) {
        const struct node *n = node_at(f, i);

        out->contexts[number[i]] = (struct hqdb_context){
            .scope = n->scope,
            .parent = i ? number[n->parent] : HQDB_NONE,
            .end = number[i] + 1,
            .call_file = n->call_file,
            .call_line = n->call_line,
        };
    }
    for (size_t i = out->context_count; i-- > 1;) {
        struct hqdb_context *c = &out->contexts[i], *p = &out->contexts[c->parent];

        if (p->end < c->end)
            p->end = c->end;
    }
}

/* ---- order of frames ---- */

struct place {
    uint32_t depth, parent_rank, code, frame; /* depth: callers in the same context */
};

static int compare_places(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    int c = compare_u32(a->depth, b->depth);

    c = c ? c : compare_u32(a->parent_rank, b->parent_rank);
    c = c ? c : compare_u32(a->code, b->code);
    return c ? c : compare_u32(a->frame, b->frame);
}

/* How many callers of a frame, one after the other, are in its context: those inside of a runtime. */
static uint32_t *depths_in_context(const struct fusing *f)
{
    uint32_t *depth = xcalloc(f->in->frame_count + 1, sizeof *depth);

    for (uint32_t i = 0; i < f->in->frame_count; i++) {
        uint32_t parent = f->in->frames[i].parent;

        if (parent < i && f->frame_node[parent] == f->frame_node[i])
            depth[i] = depth[parent] + 1;
    }
    return depth;
}

/* Those of one context and depth, whose parents have their ranks: by parent and code. */
static void order_places(const struct fusing *f, struct place *places, size_t count, const struct fuse *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t frame = places[i].frame, parent = f->in->frames[frame].parent;

        places[i].parent_rank = parent < frame ? out->frame_rank[parent] + 1 : 0;
        places[i].code = f->in->frames[frame].code;
    }
    if (count > 1)
        qsort(places, count, sizeof *places, compare_places);
}

static void order_context(const struct fusing *f, struct place *places, size_t first, size_t end, uint32_t context,
                          struct fuse *out)
{
    if (end - first > 1)
        qsort(places + first, end - first, sizeof *places, compare_places); /* by depth */
    for (size_t i = first, last; i < end; i = last) {
        for (last = i + 1; last < end && places[last].depth == places[i].depth;)
            last++;
        order_places(f, places + i, last - i, out);
        for (size_t k = i; k < last; k++) {
            out->frame_at[k] = places[k].frame;
            out->frame_rank[places[k].frame] = (uint32_t)k;
            out->frame_context[k] = context;
        }
    }
}

/*
 * Frames by context, within one by parent and code. A parent's context comes before that of its callees, or is the
 * same, so its rank is known when it is needed.
 */
static void order_frames(const struct fusing *f, const uint32_t *number, struct fuse *out)
{
    size_t count = f->in->frame_count;
    AUTO_FREE struct place *places = xcalloc(count + 1, sizeof *places);
    AUTO_FREE uint32_t *fill = xcalloc(out->context_count + 1, sizeof *fill);
    AUTO_FREE uint32_t *depth = depths_in_context(f);

    out->frame_at = xcalloc(count + 1, sizeof *out->frame_at);
    out->frame_rank = xcalloc(count + 1, sizeof *out->frame_rank);
    out->frame_context = xcalloc(count + 1, sizeof *out->frame_context);
    for (size_t i = 0; i < count; i++)
        fill[number[f->frame_node[i]] + 1]++;
    for (size_t c = 0; c < out->context_count; c++) {
        fill[c + 1] += fill[c];
        out->contexts[c].first_frame = fill[c];
    }
    for (size_t i = 0; i < count; i++)
        places[fill[number[f->frame_node[i]]]++] = (struct place){.depth = depth[i], .frame = (uint32_t)i};
    for (size_t c = 0, first = 0; c < out->context_count; first = fill[c++])
        order_context(f, places, first, fill[c], (uint32_t)c, out);
}

void fuse_run(const struct fuse_input *in, struct fuse_settings settings, struct fuse *out)
{
    struct fusing f = {.in = in, .settings = settings};
    AUTO_FREE struct child *children = NULL;
    AUTO_FREE uint32_t *number = NULL;

    *out = (struct fuse){0};
    keymap_init(&f.nodes, sizeof(struct node));
    f.frame_node = xcalloc(in->frame_count + 1, sizeof *f.frame_node);
    add_node(&f, (struct node){.parent = HQDB_NONE});
    for (size_t i = 0; i < in->frame_count; i++)
        place_frame(&f, (uint32_t)i);
    children = sorted_children(&f);
    number = number_nodes(&f, children);
    make_contexts(&f, number, out);
    order_frames(&f, number, out);
    set_ids(in, out);
    keymap_deinit(&f.nodes);
    vec_deinit(&f.chain);
    free(f.frame_node);
}

void fuse_deinit(struct fuse *f)
{
    free(f->contexts);
    free(f->frame_at);
    free(f->frame_rank);
    free(f->frame_context);
    *f = (struct fuse){0};
}
