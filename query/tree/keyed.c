/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/tree/keyed.h"

void keyed_init(struct keyed *g, size_t key_len)
{
    *g = (struct keyed){0};
    keymap_init(&g->keys, key_len);
}

void keyed_deinit(struct keyed *g)
{
    keymap_deinit(&g->keys);
    for (int i = 0; i < MEMBER_KINDS; i++)
        vec_deinit(&g->members[i]);
}

uint32_t keyed_add(struct keyed *g, const void *key, uint32_t context, enum member_kind kind)
{
    uint32_t group = keymap_add(&g->keys, key, NULL);

    vec_push(&g->members[kind], (struct member){group, context});
    return group;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void ascend(uint32_t *data, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (data[i] < data[i - 1]) {
            qsort(data, n, sizeof *data, by_number);
            return;
        }
}

/* Counting sort of the members of up to two lists by group. */
static struct set *sort_members(const struct members *a, const struct members *b, uint32_t groups, struct arena *arena)
{
    struct set *sets = ARENA_ARRAY(arena, groups, struct set);
    uint32_t *items = ARENA_ARRAY(arena, a->len + (b ? b->len : 0), uint32_t),
             **next = xcalloc(groups + 1, sizeof *next);
    const struct members *lists[2] = {a, b};

    for (int l = 0; l < 2 && lists[l]; l++)
        for (size_t i = 0; i < lists[l]->len; i++)
            sets[lists[l]->data[i].group].len++;
    for (uint32_t k = 0; k < groups; k++) {
        sets[k].data = next[k] = items;
        items += sets[k].len;
    }
    for (int l = 0; l < 2 && lists[l]; l++)
        for (size_t i = 0; i < lists[l]->len; i++)
            *next[lists[l]->data[i].group]++ = lists[l]->data[i].context;
    for (uint32_t k = 0; k < groups; k++)
        ascend((uint32_t *)sets[k].data, sets[k].len);
    free(next);
    return sets;
}

void keyed_sets(struct keyed *g, struct arena *arena, struct set **inc, struct set **exc)
{
    *exc = sort_members(&g->members[MEMBER_BOTH], NULL, g->keys.len, arena);
    *inc = g->members[MEMBER_INCLUSIVE].len
               ? sort_members(&g->members[MEMBER_BOTH], &g->members[MEMBER_INCLUSIVE], g->keys.len, arena)
               : *exc;
}
