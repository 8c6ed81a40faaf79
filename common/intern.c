/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/intern.h"
#include "common/hash.h"

void intern_init(struct intern *in)
{
    *in = (struct intern){0};
}

void intern_deinit(struct intern *in)
{
    arena_deinit(&in->arena);
    vec_deinit(&in->texts);
    free(in->slots);
    intern_init(in);
}

/* The slot of a text: its own, or the free one where it belongs. */
static size_t find_slot(const struct intern *in, const char *s, size_t n)
{
    size_t mask = in->slot_count - 1;
    size_t i = hash_bytes(s, n, 0) & mask;

    for (; in->slots[i]; i = (i + 1) & mask) {
        const struct intern_text *t = &in->texts.data[in->slots[i] - 1];

        if (t->len == n && memcmp(t->s, s, n) == 0)
            break;
    }
    return i;
}

static void grow(struct intern *in)
{
    if ((in->texts.len + 1) * 2 <= in->slot_count)
        return;
    free(in->slots);
    in->slot_count = in->slot_count ? in->slot_count * 2 : 64;
    in->slots = xcalloc(in->slot_count, sizeof *in->slots);
    for (size_t i = 0; i < in->texts.len; i++)
        in->slots[find_slot(in, in->texts.data[i].s, in->texts.data[i].len)] = (uint32_t)(i + 1);
}

uint32_t intern_addn(struct intern *in, const char *s, size_t n)
{
    if (n == 0)
        return 0;
    grow(in);
    size_t slot = find_slot(in, s, n);

    if (in->slots[slot])
        return in->slots[slot];
    if (in->texts.len >= INTERN_NONE - 1)
        mem_exhausted();
    vec_push(&in->texts, (struct intern_text){arena_strndup(&in->arena, s, n), n});
    return in->slots[slot] = (uint32_t)in->texts.len;
}

uint32_t intern_add(struct intern *in, const char *s)
{
    return s ? intern_addn(in, s, strlen(s)) : 0;
}

static uint32_t intern_findn(const struct intern *in, const char *s, size_t n)
{
    if (n == 0)
        return 0;
    if (!in->slot_count)
        return INTERN_NONE;
    uint32_t id = in->slots[find_slot(in, s, n)];

    return id ? id : INTERN_NONE;
}

uint32_t intern_find(const struct intern *in, const char *s)
{
    return s ? intern_findn(in, s, strlen(s)) : 0;
}

const char *intern_str(const struct intern *in, uint32_t id)
{
    return id == 0 || id > in->texts.len ? "" : in->texts.data[id - 1].s;
}

size_t intern_strlen(const struct intern *in, uint32_t id)
{
    return id == 0 || id > in->texts.len ? 0 : in->texts.data[id - 1].len;
}
