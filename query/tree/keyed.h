/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting contexts by a key, into the rows that they belong to. */
#ifndef HQ_QUERY_KEYED_H
#define HQ_QUERY_KEYED_H

#include "common/map.h"
#include "query/tree/node.h"

enum member_kind { MEMBER_BOTH, MEMBER_INCLUSIVE, MEMBER_KINDS };

struct members {
    struct member {
        uint32_t group, context;
    } * data;
    size_t len, cap;
};

struct keyed {
    struct keymap keys;
    struct members members[MEMBER_KINDS];
};

void keyed_init(struct keyed *g, size_t key_len);
void keyed_deinit(struct keyed *g);
/* Adds a context to the group of a key: to both of its sets, or only to the inclusive one. Returns the group. */
uint32_t keyed_add(struct keyed *g, const void *key, uint32_t context, enum member_kind kind);
/* Ends adding: inc[i] and exc[i] are the sets of group i, ascending, in the arena. */
void keyed_sets(struct keyed *g, struct arena *arena, struct set **inc, struct set **exc);

#endif
