/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/loop_calls.h"
#include "common/mem.h"
#include <stdbool.h>

struct loop {
    uint32_t procedure, number;
};

struct call {
    struct loop loop;
    uint32_t callee;
};

struct called {
    uint32_t procedure, callee;
};

static void add(struct keymap *m, const void *key, size_t length)
{
    if (!m->key_len)
        keymap_init(m, length);
    keymap_add(m, key, NULL);
}

static uint32_t find(const struct keymap *m, const void *key)
{
    return m->key_len ? keymap_find(m, key) : KEYMAP_NONE;
}

void loop_calls_add(struct loop_calls *l, int side, uint32_t procedure, uint32_t loop, uint32_t callee)
{
    struct call call = {{procedure, loop}, callee};
    struct called called = {procedure, callee};

    add(&l->loops[side], &call.loop, sizeof call.loop);
    add(&l->calls[side], &call, sizeof call);
    add(&l->called[side], &called, sizeof called);
}

static void cross_side(const struct loop_calls *l, int side, struct map *crossed)
{
    AUTO_FREE bool *shares = xcalloc((size_t)l->loops[side].len + 1, sizeof *shares);

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < l->calls[side].len; i++) {
            const struct call *c = keymap_key(&l->calls[side], i);
            struct called called = {c->loop.procedure, c->callee};
            uint32_t loop = find(&l->loops[side], &c->loop);

            if (find(&l->loops[!side], &c->loop) == KEYMAP_NONE)
                continue;
            if (pass == 0)
                shares[loop] |= find(&l->calls[!side], c) != KEYMAP_NONE;
            else if (!shares[loop] && find(&l->called[!side], &called) != KEYMAP_NONE)
                map_put(crossed, c->loop.procedure, 1);
        }
}

void loop_calls_cross(const struct loop_calls *l, struct map *crossed)
{
    cross_side(l, 0, crossed);
    cross_side(l, 1, crossed);
}

void loop_calls_deinit(struct loop_calls *l)
{
    for (int side = 0; side < 2; side++) {
        keymap_deinit(&l->loops[side]);
        keymap_deinit(&l->calls[side]);
        keymap_deinit(&l->called[side]);
    }
}
