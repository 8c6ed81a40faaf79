/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/row_names.h"

struct row_key {
    uint32_t metric, path;
};

uint32_t row_names_add(struct row_names *r, const char *metric, const char *path, bool *is_new)
{
    struct row_key key = {intern_add(&r->texts, metric), intern_add(&r->texts, path)};

    if (!r->keys.key_len)
        keymap_init(&r->keys, sizeof key);
    return keymap_add(&r->keys, &key, is_new);
}

uint32_t row_names_find(const struct row_names *r, const char *metric, const char *path)
{
    struct row_key key = {intern_find(&r->texts, metric), intern_find(&r->texts, path)};

    if (!r->keys.key_len || key.metric == INTERN_NONE || key.path == INTERN_NONE)
        return ROW_NAMES_NONE;
    return keymap_find(&r->keys, &key);
}

void row_names_deinit(struct row_names *r)
{
    intern_deinit(&r->texts);
    keymap_deinit(&r->keys);
}
