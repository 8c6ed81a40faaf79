/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables with open addressing. Zeroed structs are empty tables (a keymap wants its key length first). Nothing is
 * ever removed singly. Not thread-safe. They end the process when memory ends (see mem.h).
 */
#ifndef HQ_COMMON_MAP_H
#define HQ_COMMON_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- 64-bit keys to 64-bit values; every key is allowed ---- */

struct map_slot {
    uint64_t key, value;
};

struct map {
    size_t len;             /* entries */
    struct map_slot *slots; /* private: key 0 is a free slot */
    size_t slot_count;      /* private: a power of two */
    bool has_zero;          /* private: the entry of key 0 lives outside the slots */
    uint64_t zero_value;
};

/* Pointer to the value of a key, or NULL; it ends with the next insertion. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* The value, or `missing`. */
uint64_t map_get(const struct map *m, uint64_t key, uint64_t missing);
void map_put(struct map *m, uint64_t key, uint64_t value);
/* The value of a key, which is inserted with `value` if it is absent; *is_new (may be NULL) tells which. */
uint64_t *map_insert(struct map *m, uint64_t key, uint64_t value, bool *is_new);
void map_reserve(struct map *m, size_t entries);
/* Steps through the entries in no useful order, while nothing is inserted: start with *pos = 0; false at the end. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t *value);
/* Forgets the entries and keeps the memory. */
void map_clear(struct map *m);
void map_deinit(struct map *m);

/* ---- keys of a fixed number of bytes to dense indices, in the order of insertion ---- */

#define KEYMAP_NONE UINT32_MAX

struct keymap {
    size_t key_len;      /* bytes of a key, at least 1 */
    uint32_t len;        /* entries: indices are below it */
    unsigned char *keys; /* private: len * key_len bytes */
    size_t key_cap;      /* private: keys that fit */
    uint32_t *slots;     /* private: index + 1, 0 free */
    size_t slot_count;   /* private: a power of two */
};

/* Padding bytes of a struct used as a key count: zero them. */
void keymap_init(struct keymap *m, size_t key_len);
/* The index of a key, the next free one if it is new; *is_new may be NULL. */
uint32_t keymap_add(struct keymap *m, const void *key, bool *is_new);
/* KEYMAP_NONE if it is absent. */
uint32_t keymap_find(const struct keymap *m, const void *key);
/* The key of an index below len; valid until the next keymap_add. Aligned like key_len bytes in an array. */
const void *keymap_key(const struct keymap *m, uint32_t index);
void keymap_clear(struct keymap *m);
void keymap_deinit(struct keymap *m);

#endif
