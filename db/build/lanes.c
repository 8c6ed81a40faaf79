/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/lanes.h"

#include "common/mem.h"
#include "db/runtimes.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_MODULES = 1 << HQM_MODULE_BITS };

/* ---- modules ---- */

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
        const char *path = measurement_module_path(m, x);
        AUTO_STR struct str build_id = {0};

        if (records.number >= l->module_count)
            continue;
        measurement_build_id(x, &build_id);
        l->modules[records.number] = add ? calltree_module(add, path, str_cstr(&build_id), directory,
                                                           x->flags | whose(path))
                                         : calltree_find_module(tree, path, str_cstr(&build_id));
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

static struct tree_creator creator_path(const struct lanes *l, const struct measurement *m, const struct hqm_thread *t,
                                        const struct hqm_node *n)
{
    struct tree_creator c;
    uint32_t number = t->creator_node;

    memset(&c, 0, sizeof c);
    for (size_t i = 0; i < TREE_CREATOR_SITES; i++) {
        bool is_frame = n && n->kind_module >> HQM_MODULE_BITS == HQM_NODE_FRAME;

        c.sites[i] = (struct tree_site){.offset = is_frame ? n->offset : 0,
                                        .module = is_frame ? lanes_module(l, n) : TREE_NONE};
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
                l->roots[i] = LANES_NOWHERE;
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
    map_deinit(&l->phase_at);
    vec_deinit(&l->phases);
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
