/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings to dense numbers and back: the first new string gets 1, the next 2, ...; 0 is the empty string. A zeroed
 * struct intern is ready. Not thread-safe. Ends the process when memory ends (see mem.h).
 */
#ifndef HQ_COMMON_INTERN_H
#define HQ_COMMON_INTERN_H

#include "common/arena.h"
#include "common/vec.h"
#include <stdint.h>

#define INTERN_NONE UINT32_MAX

struct intern_text {
    const char *s;
    size_t len;
};

struct intern {
    struct arena arena;            /* private: the texts */
    VEC(struct intern_text) texts; /* private: texts.data[id - 1] */
    uint32_t *slots;               /* private: id, 0 free */
    size_t slot_count;             /* private: a power of two */
};

void intern_init(struct intern *in);
void intern_deinit(struct intern *in);

/* The number of a string, a new one if need be. NULL is the empty string. */
uint32_t intern_add(struct intern *in, const char *s);
uint32_t intern_addn(struct intern *in, const char *s, size_t n);

/* INTERN_NONE if the string is not there. */
uint32_t intern_find(const struct intern *in, const char *s);

/* The text, NUL-terminated, valid until intern_deinit; "" for an unknown number. */
const char *intern_str(const struct intern *in, uint32_t id);
size_t intern_strlen(const struct intern *in, uint32_t id);

/* How many strings there are, the empty one included: ids are below it. */
static inline uint32_t intern_count(const struct intern *in)
{
    return (uint32_t)in->texts.len + 1;
}

#endif
