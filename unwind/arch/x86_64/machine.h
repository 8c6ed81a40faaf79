/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One machine instruction (x86-64): its length, and what it does to the stack pointer and to the registers that may
 * hold it for a while. Reads only the bytes it is given; safe in signal handlers.
 */
#ifndef HQ_UNWIND_MACHINE_H
#define HQ_UNWIND_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The processor's numbers, up to 15. */
enum {
    MACHINE_RAX,
    MACHINE_RCX,
    MACHINE_RDX,
    MACHINE_RBX,
    MACHINE_RSP,
    MACHINE_RBP,
    MACHINE_RSI,
    MACHINE_RDI,
    MACHINE_REGISTERS = 16,
    MACHINE_RIP,
    MACHINE_NOWHERE
};

enum machine_kind {
    MACHINE_OTHER,    /* writes the registers of `written` and no other, and goes on */
    MACHINE_PUSH,     /* reg, if it is one; otherwise something else */
    MACHINE_POP,      /* to reg, if it is one */
    MACHINE_MOVE,     /* reg = base + value: mov, lea, add, sub; base may be RIP or NOWHERE */
    MACHINE_MASK,     /* reg &= value */
    MACHINE_LOAD,     /* reg = 64 bits at base + value */
    MACHINE_STORE,    /* 64 bits at base + value = reg */
    MACHINE_EXCHANGE, /* reg, base */
    MACHINE_LEAVE,
    MACHINE_CALL,   /* target, 0 if it is computed */
    MACHINE_JUMP,   /* likewise; base + value if it is read from behind RIP */
    MACHINE_BRANCH, /* target, or the next */
    MACHINE_RETURN, /* takes `value` bytes more from the stack */
    MACHINE_STOP,   /* never goes on */
};

struct machine {
    uint64_t target;
    int64_t value;
    uint8_t length, kind, reg, base;
    uint16_t written; /* a bit for each register whose value is lost; kinds that set reg do not count it */
};

/* False if it is none that is known, or does not end before `end`. */
bool machine_decode(const uint8_t *code, const uint8_t *end, struct machine *out);

#endif
