/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/map.h"
#include "common/hash.h"
#include "common/mem.h"

enum { SLOTS_MIN = 16 };

/* ---- map ---- */

/* The slot of a key that is not 0: its own, or the free one where it belongs. */
static struct map_slot *map_slot_of(const struct map *m, uint64_t key)
{
    size_t mask = m->slot_count - 1;
    size_t i = hash_u64(key) & mask;

    while (m->slots[i].key && m->slots[i].key != key)
        i = (i + 1) & mask;
    return &m->slots[i];
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
    if (key == 0)
        return m->has_zero ? (uint64_t *)&m->zero_value : NULL;
    if (!m->slot_count)
        return NULL;
    struct map_slot *s = map_slot_of(m, key);

    return s->key ? &s->value : NULL;
}

uint64_t map_get(const struct map *m, uint64_t key, uint64_t missing)
{
    const uint64_t *v = map_find(m, key);

    return v ? *v : missing;
}

/* At most two thirds full. */
void map_reserve(struct map *m, size_t entries)
{
    size_t count = m->slot_count ? m->slot_count : SLOTS_MIN;
    struct map old = *m;

    if (entries > SIZE_MAX / 64)
        mem_exhausted();
    while (count / 3 * 2 < entries)
        count *= 2;
    if (count == m->slot_count)
        return;
    m->slots = xcalloc(count, sizeof *m->slots);
    m->slot_count = count;
    for (size_t i = 0; i < old.slot_count; i++)
        if (old.slots[i].key)
            *map_slot_of(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

static uint64_t *insert_zero(struct map *m, uint64_t value, bool *is_new)
{
    *is_new = !m->has_zero;
    if (*is_new) {
        m->has_zero = true;
        m->zero_value = value;
        m->len++;
    }
    return &m->zero_value;
}

uint64_t *map_insert(struct map *m, uint64_t key, uint64_t value, bool *is_new)
{
    bool ignored;

    if (!is_new)
        is_new = &ignored;
    if (key == 0)
        return insert_zero(m, value, is_new);
    map_reserve(m, m->len + 1);
    struct map_slot *s = map_slot_of(m, key);

    *is_new = !s->key;
    if (*is_new) {
        *s = (struct map_slot){key, value};
        m->len++;
    }
    return &s->value;
}

void map_put(struct map *m, uint64_t key, uint64_t value)
{
    *map_insert(m, key, value, NULL) = value;
}

/* Position 0 is the entry of key 0, position i + 1 is slot i. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t *value)
{
    if (*pos == 0) {
        *pos = 1;
        if (m->has_zero) {
            *key = 0;
            *value = m->zero_value;
            return true;
        }
    }
    while (*pos <= m->slot_count) {
        const struct map_slot *s = &m->slots[(*pos)++ - 1];

        if (s->key) {
            *key = s->key;
            *value = s->value;
            return true;
        }
    }
    return false;
}

void map_clear(struct map *m)
{
    if (m->slots)
        memset(m->slots, 0, m->slot_count * sizeof *m->slots);
    m->len = 0;
    m->has_zero = false;
}

void map_deinit(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}

/* ---- keymap ---- */

void keymap_init(struct keymap *m, size_t key_len)
{
    *m = (struct keymap){.key_len = key_len};
}

static size_t keymap_slot_of(const struct keymap *m, const void *key)
{
    size_t mask = m->slot_count - 1;
    size_t i = hash_bytes(key, m->key_len, 0) & mask;

    while (m->slots[i] && memcmp(keymap_key(m, m->slots[i] - 1), key, m->key_len) != 0)
        i = (i + 1) & mask;
    return i;
}

static void keymap_grow_slots(struct keymap *m)
{
    if (m->slot_count && m->len < m->slot_count / 3 * 2)
        return;
    free(m->slots);
    m->slot_count = m->slot_count ? m->slot_count * 2 : SLOTS_MIN;
    m->slots = xcalloc(m->slot_count, sizeof *m->slots);
    for (uint32_t i = 0; i < m->len; i++)
        m->slots[keymap_slot_of(m, keymap_key(m, i))] = i + 1;
}

static void keymap_grow_keys(struct keymap *m)
{
    if (m->len < m->key_cap)
        return;
    if (m->len >= KEYMAP_NONE - 1)
        mem_exhausted();
    m->key_cap = m->key_cap ? m->key_cap * 2 : SLOTS_MIN;
    m->keys = xreallocarray(m->keys, m->key_cap, m->key_len);
}

uint32_t keymap_add(struct keymap *m, const void *key, bool *is_new)
{
    keymap_grow_slots(m);
    size_t slot = keymap_slot_of(m, key);

    if (is_new)
        *is_new = !m->slots[slot];
    if (m->slots[slot])
        return m->slots[slot] - 1;
    keymap_grow_keys(m);
    memcpy(m->keys + m->len * m->key_len, key, m->key_len);
    m->slots[slot] = m->len + 1;
    return m->len++;
}

uint32_t keymap_find(const struct keymap *m, const void *key)
{
    return m->slot_count ? m->slots[keymap_slot_of(m, key)] - 1 : KEYMAP_NONE;
}

const void *keymap_key(const struct keymap *m, uint32_t index)
{
    return m->keys + (size_t)index * m->key_len;
}

void keymap_clear(struct keymap *m)
{
    if (m->slots)
        memset(m->slots, 0, m->slot_count * sizeof *m->slots);
    m->len = 0;
}

void keymap_deinit(struct keymap *m)
{
    free(m->keys);
    free(m->slots);
    keymap_init(m, m->key_len);
}
