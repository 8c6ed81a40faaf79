/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/calltree.h"

#include "common/mem.h"

struct module_key {
    uint32_t path, build_id;
};

void calltree_init(struct calltree *t)
{
    *t = (struct calltree){0};
    keymap_init(&t->module_keys, sizeof(struct module_key));
    keymap_init(&t->frames, sizeof(struct tree_frame));
    keymap_init(&t->creators, sizeof(struct tree_creator));
    keymap_init(&t->openings, sizeof(struct tree_opening));
}

void calltree_deinit(struct calltree *t)
{
    intern_deinit(&t->strings);
    keymap_deinit(&t->module_keys);
    vec_deinit(&t->modules);
    keymap_deinit(&t->frames);
    keymap_deinit(&t->creators);
    keymap_deinit(&t->openings);
    vec_deinit(&t->sampled);
}

uint32_t calltree_module(struct calltree *t, const char *path, const char *build_id, const char *directory,
                         uint32_t flags)
{
    struct module_key key = {intern_add(&t->strings, path), intern_add(&t->strings, build_id)};
    bool is_new;
    uint32_t module = keymap_add(&t->module_keys, &key, &is_new);

    if (is_new)
        vec_push(&t->modules, (struct tree_module){key.path, key.build_id, intern_add(&t->strings, directory), 0});
    t->modules.data[module].flags |= flags;
    return module;
}

uint32_t calltree_find_module(const struct calltree *t, const char *path, const char *build_id)
{
    struct module_key key = {intern_find(&t->strings, path), intern_find(&t->strings, build_id)};

    return keymap_find(&t->module_keys, &key);
}

uint32_t calltree_add(struct calltree *t, struct tree_frame f)
{
    bool is_new;
    uint32_t frame = keymap_add(&t->frames, &f, &is_new);

    if (is_new)
        vec_push(&t->sampled, false);
    return frame;
}

static uint32_t *merge_modules(struct calltree *into, const struct calltree *from)
{
    uint32_t *remap = xcalloc(from->modules.len + 1, sizeof *remap);

    for (size_t i = 0; i < from->modules.len; i++) {
        const struct tree_module *m = &from->modules.data[i];

        remap[i] = calltree_module(into, intern_str(&from->strings, m->path), intern_str(&from->strings, m->build_id),
                                   intern_str(&from->strings, m->directory), m->flags);
    }
    return remap;
}

uint32_t *calltree_merge(struct calltree *into, const struct calltree *from)
{
    AUTO_FREE uint32_t *modules = merge_modules(into, from);
    AUTO_FREE uint32_t *creators = xcalloc(from->creators.len + 1, sizeof *creators);
    AUTO_FREE uint32_t *openings = xcalloc(from->openings.len + 1, sizeof *openings);
    uint32_t *remap = xcalloc(from->frames.len + 1, sizeof *remap);

    for (uint32_t i = 0; i < from->creators.len; i++) {
        struct tree_creator c = *(const struct tree_creator *)keymap_key(&from->creators, i);

        for (size_t j = 0; j < TREE_CREATOR_SITES; j++) {
            if (c.sites[j].module < from->modules.len)
                c.sites[j].module = modules[c.sites[j].module];
        }
        creators[i] = keymap_add(&into->creators, &c, NULL);
    }
    for (uint32_t i = 0; i < from->openings.len; i++) {
        struct tree_opening o = *(const struct tree_opening *)keymap_key(&from->openings, i);

        o.body.module = o.body.module < from->modules.len ? modules[o.body.module] : o.body.module;
        o.callee.module = o.callee.module < from->modules.len ? modules[o.callee.module] : o.callee.module;
        openings[i] = keymap_add(&into->openings, &o, NULL);
    }
    for (uint32_t i = 0; i < from->frames.len; i++) {
        struct tree_frame f = *calltree_frame(from, i);

        if (f.module < from->modules.len)
            f.module = modules[f.module];
        else if (f.module == TREE_THREAD && f.offset)
            f.offset = creators[f.offset - 1] + 1u;
        else if (f.module == TREE_REGION && f.offset)
            f.offset = openings[f.offset - 1] + 1u;
        else if (f.module == TREE_PHASE || f.module == TREE_DEVICE)
            f.offset = (uint64_t)intern_add(&into->strings, intern_str(&from->strings, (uint32_t)(f.offset >> 32)))
                           << 32 |
                       intern_add(&into->strings, intern_str(&from->strings, (uint32_t)f.offset));
        if (f.parent != TREE_NONE)
            f.parent = remap[f.parent];
        remap[i] = calltree_add(into, f);
        if (from->sampled.data[i])
            into->sampled.data[remap[i]] = true;
    }
    return remap;
}
