/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/cfi.h"

#include "unwind/index.h"
#include "unwind/sections.h"

#include <string.h>

enum { ABSOLUTE_POINTER = 0x00, PC_RELATIVE = 0x10, DATA_RELATIVE = 0x30 };

LEARN uint64_t cfi_fixed(struct cfi_cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;

    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->bad = true;
        cursor->at = cursor->end;
        return 0;
    }
    memcpy(&value, cursor->at, bytes);
    cursor->at += bytes;
    return value;
}

LEARN uint64_t cfi_uleb(struct cfi_cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = cfi_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        /* More than 64 bits. */
        if (shift >= 63 && (byte & 0x7f) > (shift == 63))
            cursor->bad = true;
        if (!(byte & 0x80))
            return value;
    }
}

LEARN int64_t cfi_sleb(struct cfi_cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0;;) {
        uint64_t byte = cfi_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (shift >= 63 && (byte & 0x7f) != (value >> 63 ? 0x7f : 0))
            cursor->bad = true;
        shift += 7;
        if (!(byte & 0x80))
            return (int64_t)(byte & 0x40 && shift < 64 ? value | ~0ull << shift : value);
    }
}

LEARN uint64_t cfi_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint64_t data)
{
    uint64_t place = (uint64_t)cursor->at, value;

    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: value = cfi_fixed(cursor, 8); break;
    case 0x01: value = cfi_uleb(cursor); break;
    case 0x02: value = cfi_fixed(cursor, 2); break;
    case 0x03: value = cfi_fixed(cursor, 4); break;
    case 0x09: value = (uint64_t)cfi_sleb(cursor); break;
    case 0x0a: value = (uint64_t)(int16_t)cfi_fixed(cursor, 2); break;
    case 0x0b: value = (uint64_t)(int32_t)cfi_fixed(cursor, 4); break;
    default: cursor->bad = true; return 0;
    }
    switch (encoding & 0x70) {
    case ABSOLUTE_POINTER: return value;
    case PC_RELATIVE: return value + place;
    case DATA_RELATIVE: return value + data;
    default: cursor->bad = true; return 0;
    }
}

/* Enters an entry of .eh_frame: the cursor then spans its contents after the length. */
LEARN static bool enter(const uint8_t *entry, const struct code *code, struct cfi_cursor *cursor)
{
    uint64_t length;

    if ((uint64_t)entry < code->start || (uint64_t)entry >= code->end)
        return false;
    *cursor = (struct cfi_cursor){entry, (const uint8_t *)code->end, false};
    length = cfi_fixed(cursor, 4);
    if (length == 0xffffffff)
        length = cfi_fixed(cursor, 8);
    if (cursor->bad || !length || length > (uint64_t)(cursor->end - cursor->at))
        return false;
    cursor->end = cursor->at + length;
    return true;
}

static COLD bool read_common(const uint8_t *entry, const struct code *code, struct cfi_common *common,
                             struct cfi_cursor *instructions)
{
    struct cfi_cursor cursor;
    const char *augmentation;
    uint64_t version;

    if (!enter(entry, code, &cursor) || cfi_fixed(&cursor, 4) != 0)
        return false;
    version = cfi_fixed(&cursor, 1);
    augmentation = (const char *)cursor.at;
    while (cfi_fixed(&cursor, 1))
        ;
    common->code_align = cfi_uleb(&cursor);
    common->data_align = cfi_sleb(&cursor);
    if ((version == 1 ? cfi_fixed(&cursor, 1) : cfi_uleb(&cursor)) != CFI_RETURN || cursor.bad)
        return false;
    common->encoding = ABSOLUTE_POINTER;
    common->signal_frame = false;
    common->augmented = augmentation[0] == 'z';
    if (!common->augmented) {
        *instructions = cursor;
        return augmentation[0] == 0;
    }
    uint64_t length = cfi_uleb(&cursor);
    *instructions = cursor;
    if (cursor.bad || length > (uint64_t)(cursor.end - cursor.at))
        return false;
    instructions->at += length;
    for (const char *c = augmentation + 1; *c; c++) {
        if (*c == 'R')
            common->encoding = (uint8_t)cfi_fixed(&cursor, 1);
        else if (*c == 'P')
            cfi_pointer(&cursor, (uint8_t)cfi_fixed(&cursor, 1) & 0x7f, 0);
        else if (*c == 'L')
            cfi_fixed(&cursor, 1);
        else if (*c == 'S')
            common->signal_frame = true;
        else if (!CFI_SIGNS || (*c != 'B' && *c != 'G')) /* which key signs; tagged memory */
            break; /* what follows is unknown, but the length has told where the instructions start */
    }
    return !cursor.bad;
}

/* A reader of call frame instructions: where it is in the code, and its state. */
struct reader {
    struct cfi_cursor cursor;
    struct cfi *cfi;
    const struct cfi_common *common;
    uint64_t location, address; /* rows apply from `location`; the one of `address` is wanted */
    uint64_t row_start;         /* the location before the last instruction */
    unsigned remembered;
};

/* More than an offset on a stack can have is damage. */
LEARN static int32_t narrow(struct reader *r, int64_t value)
{
    r->cursor.bad |= value != (int32_t)value;
    return (int32_t)value;
}

/* A number of data alignments as bytes. */
LEARN static int64_t unfactored(struct reader *r, int64_t factored)
{
    int64_t bytes;

    return __builtin_mul_overflow(factored, r->common->data_align, &bytes) ? INT64_MAX : bytes;
}

LEARN static void set_rule(struct reader *r, uint64_t number, enum cfi_rule rule, int64_t value)
{
    if (number >= CFI_REGISTERS)
        return; /* a register that unwinding does not follow */
    r->cfi->row.rule[number] = (uint8_t)rule;
    r->cfi->row.value[number] = narrow(r, value);
}

LEARN static void set_offset(struct reader *r, uint64_t number, enum cfi_rule rule, int64_t factored)
{
    set_rule(r, number, rule, unfactored(r, factored));
}

static void set_expression(struct reader *r, uint64_t number, enum cfi_rule rule)
{
    set_rule(r, number, rule, r->cursor.at - r->cfi->text);
    uint64_t length = cfi_uleb(&r->cursor);
    if (length > (uint64_t)(r->cursor.end - r->cursor.at))
        r->cursor.bad = true;
    else
        r->cursor.at += length;
}

LEARN static void restore_initial(struct reader *r, uint64_t number)
{
    if (number < CFI_REGISTERS)
        set_rule(r, number, r->common->initial.rule[number], r->common->initial.value[number]);
}

LEARN static void set_cfa(struct reader *r, uint64_t number, int64_t value)
{
    struct cfi_row *row = &r->cfi->row;

    row->cfa_rule = number < CFI_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED;
    row->cfa_register = (uint8_t)number;
    row->cfa_value = narrow(r, value);
}

static void set_cfa_expression(struct reader *r)
{
    r->cfi->row.cfa_rule = CFI_EXPRESSION;
    r->cfi->row.cfa_value = (int32_t)(r->cursor.at - r->cfi->text);
    uint64_t length = cfi_uleb(&r->cursor);
    if (length > (uint64_t)(r->cursor.end - r->cursor.at))
        r->cursor.bad = true;
    else
        r->cursor.at += length;
}

LEARN static bool push(struct reader *r)
{
    if (r->remembered == CFI_NESTED)
        return false;
    r->cfi->remembered[r->remembered++] = r->cfi->row;
    return true;
}

LEARN static bool pop(struct reader *r)
{
    if (!r->remembered)
        return false;
    r->cfi->row = r->cfi->remembered[--r->remembered];
    return true;
}

/* Those that nearly all functions are described with, apart: a jump table would be one more place to read. */
LEARN static bool frequent(struct reader *r, unsigned operation, bool *done)
{
    struct cfi_cursor *c = &r->cursor;

    *done = true;
    if (operation == 0x0e) /* def_cfa_offset */
        set_cfa(r, r->cfi->row.cfa_register, (int64_t)cfi_uleb(c));
    else if (operation == 0x02) /* advance_loc1 */
        r->location += cfi_fixed(c, 1) * r->common->code_align;
    else if (operation == 0x0a) /* remember_state */
        return push(r);
    else if (operation == 0x0b) /* restore_state */
        return pop(r);
    else
        *done = operation == 0x00; /* nop */
    return true;
}

static COLD bool extended(struct reader *r, unsigned operation)
{
    struct cfi_cursor *c = &r->cursor;
    uint64_t number;

    switch (operation) {
    case 0x01: r->location = cfi_pointer(c, r->common->encoding, 0); return true; /* set_loc */
    case 0x03: r->location += cfi_fixed(c, 2) * r->common->code_align; return true;
    case 0x04: r->location += cfi_fixed(c, 4) * r->common->code_align; return true;
    case 0x05:
        number = cfi_uleb(c);
        set_offset(r, number, CFI_OFFSET, (int64_t)cfi_uleb(c));
        return true;
    case 0x06: restore_initial(r, cfi_uleb(c)); return true;
    case 0x07: set_rule(r, cfi_uleb(c), CFI_UNDEFINED, 0); return true;
    case 0x08: set_rule(r, cfi_uleb(c), CFI_SAME, 0); return true;
    case 0x09:
        number = cfi_uleb(c);
        set_rule(r, number, CFI_REGISTER, (int64_t)cfi_uleb(c));
        return true;
    case 0x0c:
        number = cfi_uleb(c);
        set_cfa(r, number, (int64_t)cfi_uleb(c));
        return true;
    case 0x0d: set_cfa(r, cfi_uleb(c), r->cfi->row.cfa_value); return true;
    case 0x0f: set_cfa_expression(r); return true;
    case 0x10:
        number = cfi_uleb(c);
        set_expression(r, number, CFI_EXPRESSION);
        return true;
    case 0x11:
        number = cfi_uleb(c);
        set_offset(r, number, CFI_OFFSET, cfi_sleb(c));
        return true;
    case 0x12:
        number = cfi_uleb(c);
        set_cfa(r, number, unfactored(r, cfi_sleb(c)));
        return true;
    case 0x13: set_cfa(r, r->cfi->row.cfa_register, unfactored(r, cfi_sleb(c))); return true;
    case 0x14:
        number = cfi_uleb(c);
        set_offset(r, number, CFI_VALUE_OFFSET, (int64_t)cfi_uleb(c));
        return true;
    case 0x15:
        number = cfi_uleb(c);
        set_offset(r, number, CFI_VALUE_OFFSET, cfi_sleb(c));
        return true;
    case 0x16:
        number = cfi_uleb(c);
        set_expression(r, number, CFI_VALUE_EXPRESSION);
        return true;
    case 0x2c:
    case 0x2d: return CFI_SIGNS;         /* AARCH64_negate_ra_state: signatures are taken off all addresses alike */
    case 0x2e: cfi_uleb(c); return true; /* GNU_args_size */
    case 0x2f:
        number = cfi_uleb(c);
        set_offset(r, number, CFI_OFFSET, (int64_t)(0 - cfi_uleb(c)));
        return true;
    default: return false;
    }
}

/* Executes instructions until the row of the address is complete. */
LEARN static bool execute(struct reader *r)
{
    bool done;

    while (r->cursor.at < r->cursor.end && !r->cursor.bad && r->location <= r->address) {
        unsigned byte = (unsigned)cfi_fixed(&r->cursor, 1), low = byte & 0x3f;

        r->row_start = r->location;
        if (byte >> 6 == 1)
            r->location += low * r->common->code_align;
        else if (byte >> 6 == 2)
            set_offset(r, low, CFI_OFFSET, (int64_t)cfi_uleb(&r->cursor));
        else if (byte >> 6 == 3)
            restore_initial(r, low);
        else if (!frequent(r, low, &done) || (!done && !extended(r, low)))
            return false;
    }
    return !r->cursor.bad;
}

/* After the last instruction: either it led beyond the address, or the row holds to the end of the function. */
LEARN static void set_range(const struct reader *r, uint64_t end)
{
    struct cfi *cfi = r->cfi;

    cfi->row_start = r->location > r->address ? r->row_start : r->location;
    cfi->row_end = r->location > r->address ? r->location : end;
    if (cfi->row_start > r->address || cfi->row_end <= r->address) {
        cfi->row_start = r->address;
        cfi->row_end = r->address + 1;
    }
}

/* The entry of the function before, mostly, and then there is nothing to read. */
LEARN static bool know_common(const uint8_t *entry, const struct code *code, struct cfi *cfi)
{
    struct cfi_common *common = &cfi->common;
    struct reader reader = {.common = common, .cfi = cfi};

    if (common->entry == entry)
        return true;
    cfi_forget(cfi);
    if (!read_common(entry, code, common, &reader.cursor))
        return false;
    memset(&cfi->row, 0, sizeof cfi->row);
    common->initial = cfi->row;
    if (!execute(&reader))
        return false;
    common->initial = cfi->row;
    common->entry = entry;
    return true;
}

/* Enters a description of a function, to behind its length. */
LEARN static bool enter_description(const uint8_t *entry, const struct code *code, struct cfi *cfi,
                                    struct cfi_cursor *cursor, uint64_t *length)
{
    const uint8_t *place;
    uint64_t back;

    if (!entry || !enter(entry, code, cursor))
        return false;
    cfi->text = (const uint8_t *)code->start;
    cfi->end = (const uint8_t *)code->end;
    place = cursor->at;
    back = cfi_fixed(cursor, 4);
    if (!back || !know_common(place - back, code, cfi))
        return false;
    cfi->signal_frame = cfi->common.signal_frame;
    cfi->start = cfi_pointer(cursor, cfi->common.encoding, 0);
    *length = cfi_pointer(cursor, cfi->common.encoding & 0x0f, 0);
    return !cursor->bad;
}

COLD bool cfi_extent(const uint8_t *entry, const struct code *code, struct cfi *cfi, uint64_t *start, uint64_t *length)
{
    struct cfi_cursor cursor;

    if (!enter_description(entry, code, cfi, &cursor, length))
        return false;
    *start = cfi->start;
    return true;
}

COLD void cfi_gap(uint64_t address, const struct code *code, struct cfi *cfi, uint64_t *start, uint64_t *end)
{
    struct cfi_cursor cursor;
    const uint8_t *before;
    uint64_t next, length;

    if (!code->eh_frame_hdr)
        return;
    before = index_find(code->index, code->eh_frame_hdr, code->end, address);
    next = index_next(code->index, code->eh_frame_hdr, code->end, address);
    if (enter_description(before, code, cfi, &cursor, &length) && cfi->start + length <= address &&
        cfi->start + length > *start)
        *start = cfi->start + length;
    if (next && next < *end)
        *end = next;
}

/*
 * The loader's code for a first call is entered with the return address on the stack, of which its information takes no
 * account: the address is above what is said to be the frame (glibc's sysdeps/aarch64/dl-trampoline.S). It is at the
 * top of the frame, and the last instruction has taken it off.
 */
LEARN static void account_for_pushed_link(struct cfi_row *row)
{
    int32_t up = row->value[CFI_RETURN] + 8;

    if (row->cfa_rule != CFI_REGISTER || row->cfa_register != CFI_SP || row->rule[CFI_RETURN] != CFI_OFFSET || up < 8)
        return;
    row->cfa_value += up;
    for (unsigned i = 0; i < CFI_REGISTERS; i++)
        if (row->rule[i] == CFI_OFFSET || row->rule[i] == CFI_VALUE_OFFSET)
            row->value[i] -= up;
    if (!row->cfa_value)
        row->rule[CFI_RETURN] = CFI_SAME;
}

LEARN bool cfi_find(uint64_t address, const struct code *code, struct cfi *cfi)
{
    const uint8_t *entry = code->eh_frame_hdr ? index_find(code->index, code->eh_frame_hdr, code->end, address) : NULL;
    struct reader reader = {.cfi = cfi, .common = &cfi->common, .address = address};
    struct cfi_cursor *cursor = &reader.cursor;
    uint64_t length;

    if (!enter_description(entry, code, cfi, cursor, &length) || address < cfi->start || address - cfi->start >= length)
        return false;
    reader.location = cfi->start;
    if (cfi->common.augmented) {
        uint64_t skipped = cfi_uleb(cursor);
        if (skipped > (uint64_t)(cursor->end - cursor->at))
            return false;
        cursor->at += skipped;
    }
    cfi->row = cfi->common.initial;
    /* A first instruction that does nothing: the row behind it holds before it, too. */
    bool idle = address == cfi->start && length > CFI_WORD && cfi_does_nothing(address);
    reader.address += idle ? CFI_WORD : 0;
    if (!execute(&reader))
        return false;
    set_range(&reader, cfi->start + length);
    if (idle)
        cfi->row_start = address;
    if (CFI_LINKS && !cfi->signal_frame)
        account_for_pushed_link(&cfi->row);
    return true;
}
