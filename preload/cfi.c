/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/cfi.h"

#include <string.h>

enum { ABSOLUTE_POINTER = 0x00, PC_RELATIVE = 0x10, DATA_RELATIVE = 0x30, INDIRECT = 0x80, OMITTED = 0xff };

uint64_t cfi_fixed(struct cfi_cursor *cursor, unsigned bytes)
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

uint64_t cfi_uleb(struct cfi_cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = cfi_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

int64_t cfi_sleb(struct cfi_cursor *cursor)
{
    uint64_t value = 0;

    for (unsigned shift = 0;;) {
        uint64_t byte = cfi_fixed(cursor, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            return (int64_t)(byte & 0x40 && shift < 64 ? value | ~0ull << shift : value);
    }
}

/* An address in one of the encodings of the Linux Standard Base; `data` is where data-relative ones start. */
static uint64_t read_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint64_t data)
{
    uint64_t place = (uint64_t)cursor->at, value;

    switch (encoding & 0x0f) {
    case 0x00: case 0x04: case 0x0c: value = cfi_fixed(cursor, 8); break;
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

/*
 * The last row of a sorted table whose first number is not above `wanted`; there is one. Every probe is likely to miss the caches, and to be the first in
 * its page: where addresses are spread evenly a guess by proportion needs a third of the probes that halving does. It takes turns with halving,
 * since they may not be.
 */
static uint64_t find_row(const int32_t (*table)[2], uint64_t high, int64_t wanted)
{
    uint64_t low = 0, middle;
    int64_t first = table[0][0], last = table[high - 1][0];

    if (wanted >= last)
        return high - 1;
    high--;
    for (bool guess = true; high - low > 1; guess = !guess) {
        middle = (low + high) / 2;
        if (guess && last > first)
            middle = low + (uint64_t)(wanted - first) * (high - low) / (uint64_t)(last - first);
        middle = middle <= low ? low + 1 : middle >= high ? high - 1 : middle;
        if (wanted < table[middle][0]) {
            high = middle;
            last = table[middle][0];
        } else {
            low = middle;
            first = table[middle][0];
        }
    }
    return low;
}

/* .eh_frame_hdr ends in a table of (function, description) sorted by function: the last one not above the address. */
static const uint8_t *find_description(uint64_t address, const struct code *code)
{
    const uint8_t *header = code->eh_frame_hdr;
    struct cfi_cursor cursor = { header, (const uint8_t *)code->end, false };
    uint64_t base = (uint64_t)header, rows, version = cfi_fixed(&cursor, 1);
    uint8_t frame_encoding = (uint8_t)cfi_fixed(&cursor, 1), count_encoding = (uint8_t)cfi_fixed(&cursor, 1),
            table_encoding = (uint8_t)cfi_fixed(&cursor, 1);
    const int32_t (*table)[2];

    if (version != 1 || frame_encoding == OMITTED || count_encoding == OMITTED || table_encoding != 0x3b)
        return NULL;
    read_pointer(&cursor, frame_encoding, base);
    rows = read_pointer(&cursor, count_encoding, base);
    table = (const int32_t (*)[2])cursor.at;
    if (cursor.bad || rows == 0 || rows > (uint64_t)(cursor.end - cursor.at) / 8)
        return NULL;
    if (address < base + (uint64_t)(int64_t)table[0][0])
        return NULL;
    return header + table[find_row(table, rows, (int64_t)(address - base))][1];
}

/* Enters an entry of .eh_frame: the cursor then spans its contents after the length. */
static bool enter(const uint8_t *entry, const struct code *code, struct cfi_cursor *cursor)
{
    uint64_t length;

    if ((uint64_t)entry < code->start || (uint64_t)entry >= code->end)
        return false;
    *cursor = (struct cfi_cursor){ entry, (const uint8_t *)code->end, false };
    length = cfi_fixed(cursor, 4);
    if (length == 0xffffffff)
        length = cfi_fixed(cursor, 8);
    if (cursor->bad || !length || length > (uint64_t)(cursor->end - cursor->at))
        return false;
    cursor->end = cursor->at + length;
    return true;
}

/* What a common information entry says. */
struct common {
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding;
    bool augmented, signal_frame;
    struct cfi_cursor instructions;
};

static bool read_common(const uint8_t *entry, const struct code *code, struct common *common)
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
    if ((version == 1 ? cfi_fixed(&cursor, 1) : cfi_uleb(&cursor)) != CFI_RIP || cursor.bad)
        return false;
    common->encoding = ABSOLUTE_POINTER;
    common->signal_frame = false;
    common->augmented = augmentation[0] == 'z';
    if (!common->augmented) {
        common->instructions = cursor;
        return augmentation[0] == 0;
    }
    uint64_t length = cfi_uleb(&cursor);
    common->instructions = cursor;
    if (cursor.bad || length > (uint64_t)(cursor.end - cursor.at))
        return false;
    common->instructions.at += length;
    for (const char *c = augmentation + 1; *c; c++) {
        if (*c == 'R')
            common->encoding = (uint8_t)cfi_fixed(&cursor, 1);
        else if (*c == 'P')
            read_pointer(&cursor, (uint8_t)cfi_fixed(&cursor, 1) & 0x7f, 0);
        else if (*c == 'L')
            cfi_fixed(&cursor, 1);
        else if (*c == 'S')
            common->signal_frame = true;
        else
            break;      /* what follows is unknown, but the length has told where the instructions start */
    }
    return !cursor.bad;
}

/* A reader of call frame instructions: where it is in the code, and its state. */
struct reader {
    struct cfi_cursor cursor;
    const struct common *common;
    struct cfi *cfi;
    uint64_t location, address;     /* rows apply from `location`; the one of `address` is wanted */
    uint64_t row_start;             /* the location before the last instruction */
    unsigned remembered;
};

static void set_rule(struct reader *r, uint64_t number, enum cfi_rule rule, int64_t value)
{
    if (number >= CFI_REGISTERS)
        return;     /* a register that unwinding does not follow */
    r->cfi->row.rule[number] = (uint8_t)rule;
    r->cfi->row.value[number] = (int32_t)value;
}

static void set_offset(struct reader *r, uint64_t number, enum cfi_rule rule, int64_t factored)
{
    set_rule(r, number, rule, factored * r->common->data_align);
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

static void restore_initial(struct reader *r, uint64_t number)
{
    if (number < CFI_REGISTERS)
        set_rule(r, number, r->cfi->initial.rule[number], r->cfi->initial.value[number]);
}

static void set_cfa(struct reader *r, uint64_t number, int64_t value)
{
    struct cfi_row *row = &r->cfi->row;

    row->cfa_rule = number < CFI_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED;
    row->cfa_register = (uint8_t)number;
    row->cfa_value = (int32_t)value;
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

static bool push(struct reader *r)
{
    if (r->remembered == CFI_NESTED)
        return false;
    r->cfi->remembered[r->remembered++] = r->cfi->row;
    return true;
}

static bool pop(struct reader *r)
{
    if (!r->remembered)
        return false;
    r->cfi->row = r->cfi->remembered[--r->remembered];
    return true;
}

static bool extended(struct reader *r, unsigned operation)
{
    struct cfi_cursor *c = &r->cursor;
    uint64_t number;

    switch (operation) {
    case 0x00: return true;                                                     /* nop */
    case 0x01: r->location = read_pointer(c, r->common->encoding, 0); return true;  /* set_loc */
    case 0x02: r->location += cfi_fixed(c, 1) * r->common->code_align; return true;
    case 0x03: r->location += cfi_fixed(c, 2) * r->common->code_align; return true;
    case 0x04: r->location += cfi_fixed(c, 4) * r->common->code_align; return true;
    case 0x05: number = cfi_uleb(c); set_offset(r, number, CFI_OFFSET, (int64_t)cfi_uleb(c)); return true;
    case 0x06: restore_initial(r, cfi_uleb(c)); return true;
    case 0x07: set_rule(r, cfi_uleb(c), CFI_UNDEFINED, 0); return true;
    case 0x08: set_rule(r, cfi_uleb(c), CFI_SAME, 0); return true;
    case 0x09: number = cfi_uleb(c); set_rule(r, number, CFI_REGISTER, (int64_t)cfi_uleb(c)); return true;
    case 0x0a: return push(r);
    case 0x0b: return pop(r);
    case 0x0c: number = cfi_uleb(c); set_cfa(r, number, (int64_t)cfi_uleb(c)); return true;
    case 0x0d: set_cfa(r, cfi_uleb(c), r->cfi->row.cfa_value); return true;
    case 0x0e: set_cfa(r, r->cfi->row.cfa_register, (int64_t)cfi_uleb(c)); return true;
    case 0x0f: set_cfa_expression(r); return true;
    case 0x10: number = cfi_uleb(c); set_expression(r, number, CFI_EXPRESSION); return true;
    case 0x11: number = cfi_uleb(c); set_offset(r, number, CFI_OFFSET, cfi_sleb(c)); return true;
    case 0x12: number = cfi_uleb(c); set_cfa(r, number, cfi_sleb(c) * r->common->data_align); return true;
    case 0x13: set_cfa(r, r->cfi->row.cfa_register, cfi_sleb(c) * r->common->data_align); return true;
    case 0x14: number = cfi_uleb(c); set_offset(r, number, CFI_VALUE_OFFSET, (int64_t)cfi_uleb(c)); return true;
    case 0x15: number = cfi_uleb(c); set_offset(r, number, CFI_VALUE_OFFSET, cfi_sleb(c)); return true;
    case 0x16: number = cfi_uleb(c); set_expression(r, number, CFI_VALUE_EXPRESSION); return true;
    case 0x2e: cfi_uleb(c); return true;                                        /* GNU_args_size */
    case 0x2f: number = cfi_uleb(c); set_offset(r, number, CFI_OFFSET, -(int64_t)cfi_uleb(c)); return true;
    default: return false;
    }
}

/* Executes instructions until the row of the address is complete. */
static bool execute(struct reader *r, struct cfi_cursor instructions)
{
    r->cursor = instructions;
    while (r->cursor.at < r->cursor.end && !r->cursor.bad && r->location <= r->address) {
        unsigned byte = (unsigned)cfi_fixed(&r->cursor, 1), low = byte & 0x3f;

        r->row_start = r->location;
        if (byte >> 6 == 1)
            r->location += low * r->common->code_align;
        else if (byte >> 6 == 2)
            set_offset(r, low, CFI_OFFSET, (int64_t)cfi_uleb(&r->cursor));
        else if (byte >> 6 == 3)
            restore_initial(r, low);
        else if (!extended(r, low))
            return false;
    }
    return !r->cursor.bad;
}

/* After the last instruction: either it led beyond the address, or the row holds to the end of the function. */
static void set_range(const struct reader *r, uint64_t end)
{
    struct cfi *cfi = r->cfi;

    cfi->row_start = r->location > r->address ? r->row_start : r->location;
    cfi->row_end = r->location > r->address ? r->location : end;
    if (cfi->row_start > r->address || cfi->row_end <= r->address) {
        cfi->row_start = r->address;
        cfi->row_end = r->address + 1;
    }
}

bool cfi_find(uint64_t address, const struct code *code, struct cfi *cfi)
{
    const uint8_t *entry = code->eh_frame_hdr ? find_description(address, code) : NULL, *place;
    struct cfi_cursor cursor;
    struct common common;
    struct reader reader;
    uint64_t start, length, back;

    if (!entry || !enter(entry, code, &cursor))
        return false;
    place = cursor.at;
    back = cfi_fixed(&cursor, 4);
    if (!back || !read_common(place - back, code, &common))
        return false;
    start = read_pointer(&cursor, common.encoding, 0);
    length = read_pointer(&cursor, common.encoding & 0x0f, 0);
    if (cursor.bad || address < start || address - start >= length)
        return false;
    if (common.augmented) {
        uint64_t skipped = cfi_uleb(&cursor);
        if (skipped > (uint64_t)(cursor.end - cursor.at))
            return false;
        cursor.at += skipped;
    }
    memset(&cfi->row, 0, sizeof cfi->row);
    cfi->text = (const uint8_t *)code->start;
    cfi->end = (const uint8_t *)code->end;
    cfi->start = start;
    cfi->signal_frame = common.signal_frame;
    reader = (struct reader){ .common = &common, .cfi = cfi, .location = start, .address = address };
    if (!execute(&reader, common.instructions))
        return false;
    cfi->initial = cfi->row;
    if (!execute(&reader, cursor))
        return false;
    set_range(&reader, start + length);
    return true;
}
