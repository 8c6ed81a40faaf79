/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol buffers as bytes: the fields of a message, one after the other, with the bounds of common/cursor.h. */
#ifndef HQ_DB_IMPORT_WIRE_H
#define HQ_DB_IMPORT_WIRE_H

#include "common/cursor.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;      /* of a number */
    struct cursor bytes; /* of WIRE_BYTES: a message, text or packed numbers; offsets are those of the file */
};

/* The next field; false at the end and when the message is damaged. */
static inline bool wire_next(struct cursor *c, struct wire_field *f)
{
    *f = (struct wire_field){0};
    if (!cursor_ok(c) || !cursor_left(c))
        return false;
    uint64_t tag = cursor_uleb(c);

    f->number = tag >> 3 < 1u << 29 ? (uint32_t)(tag >> 3) : 0;
    f->type = (enum wire_type)(tag & 7);
    if (f->type == WIRE_VARINT) {
        f->value = cursor_uleb(c);
    } else if (f->type == WIRE_FIXED64) {
        f->value = cursor_u64(c);
    } else if (f->type == WIRE_FIXED32) {
        f->value = cursor_u32(c);
    } else if (f->type == WIRE_BYTES) {
        uint64_t size = cursor_uleb(c);

        f->bytes = *c;
        cursor_skip(c, size);
        f->bytes.end = c->at;
    } else {
        cursor_fail(c, "has a field of a kind that does not exist");
    }
    if (cursor_ok(c) && !f->number)
        cursor_fail(c, "has a field without a number");
    return cursor_ok(c);
}

#endif
