/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a query by metric and path, numbered from 0 in the order in which they come. Zeroed is empty. */
#ifndef HQ_REPL_GATE_ROW_NAMES_H
#define HQ_REPL_GATE_ROW_NAMES_H

#include "common/intern.h"
#include "common/map.h"

#define ROW_NAMES_NONE KEYMAP_NONE

struct row_names {
    struct intern texts; /* private */
    struct keymap keys;  /* private */
};

/* The number of a row, the next free one if it is new; *is_new may be NULL. */
uint32_t row_names_add(struct row_names *r, const char *metric, const char *path, bool *is_new);
/* ROW_NAMES_NONE if it is absent. */
uint32_t row_names_find(const struct row_names *r, const char *metric, const char *path);
void row_names_deinit(struct row_names *r);

#endif
