/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The procedure linkage table: short stubs without symbols, through which code calls what other modules define. Each is
 * named after the relocation of the slot that it jumps through: memcpy@plt. Code that is made without stubs (-fno-plt)
 * calls through the slots themselves.
 */
#ifndef HQ_STRUCTURE_PLT_H
#define HQ_STRUCTURE_PLT_H

#include "common/arena.h"
#include "structure/elf.h"
#include "structure/insn.h"
#include "structure/symbols.h"

struct stub {
    uint64_t low, high;
    const char *target; /* memcpy, without a version; "" for the stub that calls the dynamic linker */
    const char *name;   /* memcpy@plt */
};

struct stubs {
    struct stub *data; /* ascending */
    size_t len, cap;
};

struct plt {
    struct stubs stubs;
    struct stubs slots; /* the places in memory that the loader puts addresses of procedures into */
    struct arena arena;
    uint64_t named; /* bytes of their names */
};

/* symbols name the resolvers of indirect functions in static binaries. */
void plt_read(struct elf *text, const struct symbols *symbols, struct plt *out);
void plt_deinit(struct plt *p);
/* The stub, or the slot, that an address lies in; NULL: none. */
const struct stub *plt_find(const struct plt *p, uint64_t address);

/* insn_decode, by which an indirect call or jump through a slot is a direct one, with the slot as its target. */
void plt_decode(const struct plt *p, uint16_t machine, const uint8_t *code, size_t size, uint64_t address,
                struct insn *out);
/* The function of another module that a call of `target` calls, as in stub.target; NULL: none of a known name. */
const char *plt_callee(const struct plt *p, uint64_t target);

#endif
