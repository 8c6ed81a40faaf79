/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information: the row of the unwind table of .eh_frame that holds at an address (DWARF 5 section 6.4, with
 * the encodings of the Linux Standard Base). Reads only the module's own mapped memory, within its bounds; takes no
 * lock, allocates nothing, and may be used in signal handlers.
 */
#ifndef HQ_UNWIND_CFI_H
#define HQ_UNWIND_CFI_H

#include "unwind/arch/arch.h"
#include "unwind/index.h"

#include <stdbool.h>
#include <stdint.h>

/* The load module of a code address, as far as unwinding needs it. */
struct code {
    uint32_t module;             /* number, from 1 */
    const uint8_t *eh_frame_hdr; /* NULL: none */
    struct index *index;
    uint64_t start, end; /* of the module, as it is mapped: all that is read lies in there */
};

enum { CFI_NESTED = 8 };     /* remembered states */
enum { CFI_OMITTED = 0xff }; /* an encoding: there is no pointer */

enum cfi_rule {
    CFI_SAME, /* and what is not mentioned */
    CFI_UNDEFINED,
    CFI_OFFSET,       /* saved at CFA + value */
    CFI_VALUE_OFFSET, /* is CFA + value */
    CFI_REGISTER,     /* is in register `value` */
    CFI_EXPRESSION,   /* saved where the expression says: value is its distance from struct cfi.text */
    CFI_VALUE_EXPRESSION,
};

struct cfi_row {
    uint8_t cfa_rule; /* CFI_REGISTER: register + value; CFI_EXPRESSION */
    uint8_t cfa_register;
    uint8_t rule[CFI_REGISTERS];
    int32_t cfa_value;
    int32_t value[CFI_REGISTERS];
};

/* Reads a number; the cursor stays within its bounds and `bad` is set if it would leave them. */
struct cfi_cursor {
    const uint8_t *at, *end;
    bool bad;
};
uint64_t cfi_fixed(struct cfi_cursor *cursor, unsigned bytes);
uint64_t cfi_uleb(struct cfi_cursor *cursor);
int64_t cfi_sleb(struct cfi_cursor *cursor);

/* An address in one of the encodings of the Linux Standard Base; `data` is where data-relative ones start. */
uint64_t cfi_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint64_t data);

/* A common information entry, decoded; nearly all functions of a module share one. */
struct cfi_common {
    const uint8_t *entry; /* NULL: not read */
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding;
    bool augmented, signal_frame;
    struct cfi_row initial;
};

struct cfi {
    struct cfi_row row;
    const uint8_t *text, *end;   /* bounds of the frame information; expressions are in there */
    uint64_t start;              /* of the function, or the part of it, that the information describes */
    uint64_t row_start, row_end; /* where the row holds; at least at the address */
    bool signal_frame;           /* the frame is a signal handler's caller: its address is exact, no return address */
    struct cfi_common common;    /* the last one; must be forgotten when code was unloaded */
    struct cfi_row remembered[CFI_NESTED]; /* while reading */
};

/*
 * False if the module has no information for the address, or information that cannot be understood. `cfi` is to be all
 * zeros at first.
 */
bool cfi_find(uint64_t address, const struct code *code, struct cfi *cfi);

/* Which code an entry of .eh_frame describes. False if it describes none, or cannot be understood. */
bool cfi_extent(const uint8_t *entry, const struct code *code, struct cfi *cfi, uint64_t *start, uint64_t *length);

/* Narrows [*start, *end), which the address is in, to what around it has no information. */
void cfi_gap(uint64_t address, const struct code *code, struct cfi *cfi, uint64_t *start, uint64_t *end);

static inline void cfi_forget(struct cfi *cfi)
{
    cfi->common.entry = NULL;
}

/* An expression (its length stands before it). `reg` are register values, of which `known` has a bit each. */
struct cfi_machine {
    const uint64_t *reg;
    uint64_t known;
    bool (*load)(void *where, uint64_t address, uint64_t *value);
    void *where;
};
bool cfi_evaluate(const struct cfi *cfi, int32_t expression, const struct cfi_machine *machine, const uint64_t *cfa,
                  uint64_t *result); /* expression.c */

#endif
