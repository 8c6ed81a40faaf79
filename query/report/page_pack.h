/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Columns of whole numbers as bytes: each is coded as unsigned LEB128 (signed ones zigzag first), as in the database.
 * A pack is the bytes of all columns and, as the members of a JSON object, where each one lies: "NAME":[OFFSET,BYTES].
 */
#ifndef HQ_QUERY_REPORT_PAGE_PACK_H
#define HQ_QUERY_REPORT_PAGE_PACK_H

#include "common/str.h"
#include <stdint.h>

struct pack {
    struct str bytes, index;
    size_t start;
};

void pack_deinit(struct pack *p);
/* A column begins; its name needs no quoting. */
void pack_begin(struct pack *p, const char *name);
void pack_end(struct pack *p);
void pack_add(struct pack *p, uint64_t number);
void pack_add_signed(struct pack *p, int64_t number);

/* All of a pack behind its head: magic, the length of the JSON text as 4 bytes, the text, the columns. */
void pack_join(const struct pack *p, const char *json, struct str *out);

/* The bytes that gzip and base 64 make of it, about. */
uint64_t pack_size(const struct str *data);

/* `data` (not empty) compressed as gzip does, in base 64. */
void pack_base64(const struct str *data, struct str *out);

#endif
