/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where marked procedures are entered and left (`hq record --mark`): what repl/ writes beside the measurement files and
 * the collector (preload/) reads. So the collector patches code whose symbols it has never read, also of libraries that
 * are opened later.
 *
 * The header, then the modules, then the places, all little endian. Addresses are link-time virtual ones. Places of a
 * module ascend by address. Who reads it checks magic and sizes, and of each place that the code in memory is what the
 * file was made from (`code`).
 */
#ifndef HQ_FORMAT_PATCHES_H
#define HQ_FORMAT_PATCHES_H

#include <assert.h>
#include <stdint.h>

#define HQP_MAGIC "HQPATCH2"
#define HQP_NAME  "patches.map" /* below the measurements */

struct hqp_header {
    char magic[8];
    uint32_t modules, places;
};
static_assert(sizeof(struct hqp_header) == 16, "layout");

struct hqp_module {
    uint8_t build_id_len; /* never 0 */
    uint8_t build_id[31];
    uint32_t first, count; /* places */
};
static_assert(sizeof(struct hqp_module) == 40, "layout");

/* The kind of a place, as bits: in a procedure of one instruction it is both entry and exit. LANDING: the first
 * instruction of what C++ calls when it has come to a handler of an exception, so all that lies below its caller on the
 * stack has been left. JUMPING: that of longjmp, which is about to leave all that lies below the place in its argument.
 */
enum { HQP_ENTRY = 1, HQP_EXIT = 2, HQP_LANDING = 4, HQP_JUMPING = 8 };

/*
 * The instruction there, by what is done in its stead. It is an exit if it leaves `low` to `high`, the procedure's main
 * part, with the stack pointer that it was entered with.
 */
enum hqp_form {
    HQP_COPY,   /* it does the same at another place; `operand`: where in it a distance from itself lies, 0 none */
    HQP_SKIP,   /* it does nothing */
    HQP_RETURN, /* `operand`: bytes of arguments that it takes from the stack */
    HQP_JUMP,   /* to target */
    HQP_BRANCH, /* to target, if condition `operand` holds (the low four bits of its opcode) */
    HQP_CALL,   /* of target */
    HQP_JUMP_REGISTER, /* to what register `base` holds */
    HQP_JUMP_MEMORY, /* to what stands at target + base + index * scale; HQP_NO_REGISTER: none. With neither, target is
                        an address of the module */
};
enum { HQP_NO_REGISTER = 255, HQP_CODE = 16, HQP_JUMP_BYTES = 5, HQP_MOVED = 28 };

struct hqp_place {
    uint64_t address, target;
    uint64_t low, high;
    uint32_t operand;
    uint8_t flags, form, length;
    uint8_t base, index, scale;
    uint8_t code[HQP_CODE]; /* `length` bytes */
    uint8_t reserved[6];
    /* A jump of five bytes may do what the breakpoint does, if no thread has been in the code yet: from address `jump`
     * on, 0: it may not. It lies on `over` bytes, `moved`, of which the first `taken` are instructions that run
     * elsewhere, those before the place first (jump <= address); the rest is padding. `fix`: where in `moved` a
     * distance of memory lies, 0 none does. */
    uint64_t jump;
    uint8_t taken, over, fix, reserved_too;
    uint8_t moved[HQP_MOVED];
};
static_assert(sizeof(struct hqp_place) == 104, "layout");

#endif
