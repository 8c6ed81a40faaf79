/* SPDX-License-Identifier: BSD-3-Clause */
/* DWARF expressions as call frame information uses them (DWARF 5 section 2.5): a small stack machine. */
#include "unwind/cfi.h"

enum { STACK = 32, STEPS = 1000 };

struct machine {
    struct cfi_cursor cursor;
    const struct cfi_machine *host;
    const uint8_t *start;
    uint64_t stack[STACK];
    unsigned depth;
    bool bad;
};

static void push(struct machine *m, uint64_t value)
{
    if (m->depth == STACK)
        m->bad = true;
    else
        m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
    if (!m->depth) {
        m->bad = true;
        return 0;
    }
    return m->stack[--m->depth];
}

static uint64_t pick(struct machine *m, uint64_t from_top)
{
    if (from_top >= m->depth) {
        m->bad = true;
        return 0;
    }
    return m->stack[m->depth - 1 - from_top];
}

static uint64_t register_value(struct machine *m, uint64_t number)
{
    if (number >= CFI_REGISTERS || !(m->host->known >> number & 1)) {
        m->bad = true;
        return 0;
    }
    return m->host->reg[number];
}

static uint64_t load(struct machine *m, uint64_t address, unsigned bytes)
{
    uint64_t value = 0;

    if (bytes == 0 || bytes > 8 || !m->host->load(m->host->where, address, &value)) {
        m->bad = true;
        return 0;
    }
    return bytes == 8 ? value : value & ((1ull << bytes * 8) - 1);
}

static void jump(struct machine *m, int16_t distance)
{
    if (distance > m->cursor.end - m->cursor.at || -distance > m->cursor.at - m->start)
        m->bad = true;
    else
        m->cursor.at += distance;
}

static void binary(struct machine *m, unsigned operation)
{
    uint64_t b = pop(m), a = pop(m);

    switch (operation) {
    case 0x1a: push(m, a & b); break;
    case 0x1b:
        if (b && !(b == ~0ull))
            push(m, (uint64_t)((int64_t)a / (int64_t)b));
        else
            push(m, b ? -a : 0);
        break;
    case 0x1c: push(m, a - b); break;
    case 0x1d: push(m, b ? a % b : 0); break;
    case 0x1e: push(m, a * b); break;
    case 0x21: push(m, a | b); break;
    case 0x22: push(m, a + b); break;
    case 0x24: push(m, b < 64 ? a << b : 0); break;
    case 0x25: push(m, b < 64 ? a >> b : 0); break;
    case 0x26: push(m, (uint64_t)((int64_t)a >> (b < 64 ? b : 63))); break;
    case 0x27: push(m, a ^ b); break;
    case 0x29: push(m, a == b); break;
    case 0x2a: push(m, (int64_t)a >= (int64_t)b); break;
    case 0x2b: push(m, (int64_t)a > (int64_t)b); break;
    case 0x2c: push(m, (int64_t)a <= (int64_t)b); break;
    case 0x2d: push(m, (int64_t)a < (int64_t)b); break;
    case 0x2e: push(m, a != b); break;
    default: m->bad = true;
    }
}

/* clang-format off */
static void stack_operation(struct machine *m, unsigned operation)
{
    uint64_t a, b, c;

    switch (operation) {
    case 0x12: push(m, pick(m, 0)); break;                              /* dup */
    case 0x13: pop(m); break;                                           /* drop */
    case 0x14: push(m, pick(m, 1)); break;                              /* over */
    case 0x15: push(m, pick(m, cfi_fixed(&m->cursor, 1))); break;       /* pick */
    case 0x16: b = pop(m); a = pop(m); push(m, b); push(m, a); break;   /* swap */
    case 0x17: c = pop(m); b = pop(m); a = pop(m); push(m, c); push(m, a); push(m, b); break;   /* rot */
    case 0x19: a = pop(m); push(m, (int64_t)a < 0 ? -a : a); break;     /* abs */
    case 0x1f: push(m, -pop(m)); break;                                 /* neg */
    case 0x20: push(m, ~pop(m)); break;                                 /* not */
    case 0x23: a = pop(m); push(m, a + cfi_uleb(&m->cursor)); break;    /* plus_uconst */
    default: m->bad = true;
    }
}
/* clang-format on */

static void constant(struct machine *m, unsigned operation)
{
    struct cfi_cursor *c = &m->cursor;

    switch (operation) {
    case 0x03: push(m, cfi_fixed(c, 8)); break;
    case 0x08: push(m, cfi_fixed(c, 1)); break;
    case 0x09: push(m, (uint64_t)(int8_t)cfi_fixed(c, 1)); break;
    case 0x0a: push(m, cfi_fixed(c, 2)); break;
    case 0x0b: push(m, (uint64_t)(int16_t)cfi_fixed(c, 2)); break;
    case 0x0c: push(m, cfi_fixed(c, 4)); break;
    case 0x0d: push(m, (uint64_t)(int32_t)cfi_fixed(c, 4)); break;
    case 0x0e:
    case 0x0f: push(m, cfi_fixed(c, 8)); break;
    case 0x10: push(m, cfi_uleb(c)); break;
    case 0x11: push(m, (uint64_t)cfi_sleb(c)); break;
    default: m->bad = true;
    }
}

static void step(struct machine *m)
{
    unsigned operation = (unsigned)cfi_fixed(&m->cursor, 1);
    uint64_t number;

    if (operation >= 0x30 && operation <= 0x4f)
        push(m, operation - 0x30);
    else if (operation >= 0x50 && operation <= 0x6f)
        push(m, register_value(m, operation - 0x50));
    else if (operation >= 0x70 && operation <= 0x8f)
        push(m, register_value(m, operation - 0x70) + (uint64_t)cfi_sleb(&m->cursor));
    else if (operation == 0x92)
        number = cfi_uleb(&m->cursor), push(m, register_value(m, number) + (uint64_t)cfi_sleb(&m->cursor));
    else if (operation == 0x06)
        push(m, load(m, pop(m), 8));
    else if (operation == 0x94)
        number = cfi_fixed(&m->cursor, 1), push(m, load(m, pop(m), (unsigned)number));
    else if (operation == 0x2f)
        jump(m, (int16_t)cfi_fixed(&m->cursor, 2));
    else if (operation == 0x28)
        number = cfi_fixed(&m->cursor, 2), pop(m) ? jump(m, (int16_t)number) : (void)0;
    else if (operation == 0x03 || (operation >= 0x08 && operation <= 0x11))
        constant(m, operation);
    else if ((operation >= 0x12 && operation <= 0x17) || operation == 0x19 || operation == 0x1f || operation == 0x20 ||
             operation == 0x23)
        stack_operation(m, operation);
    else if (operation != 0x96)
        binary(m, operation);
}

bool cfi_evaluate(const struct cfi *cfi, int32_t expression, const struct cfi_machine *host, const uint64_t *cfa,
                  uint64_t *result)
{
    struct machine m = {.cursor = {cfi->text + expression, cfi->end, false}, .host = host};
    uint64_t length = cfi_uleb(&m.cursor);

    if (m.cursor.bad || length > (uint64_t)(m.cursor.end - m.cursor.at))
        return false;
    m.start = m.cursor.at;
    m.cursor.end = m.cursor.at + length;
    if (cfa)
        push(&m, *cfa);
    for (int steps = 0; m.cursor.at < m.cursor.end; steps++) {
        step(&m);
        if (m.bad || m.cursor.bad || steps == STEPS)
            return false;
    }
    *result = pop(&m);
    return !m.bad;
}
