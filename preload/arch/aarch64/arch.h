/* SPDX-License-Identifier: BSD-3-Clause */
/* aarch64 in the collector (preload/arch/arch.h). */
#ifndef HQ_PRELOAD_ARCH_AARCH64_ARCH_H
#define HQ_PRELOAD_ARCH_AARCH64_ARCH_H

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#define ARCH_NAME       "aarch64"
#define ARCH_LOADER     "ld-linux-aarch64.so.1"
#define ARCH_VDSO_CLOCK "__kernel_clock_gettime"
#define ARCH_HANDLER
enum { ARCH_MACHINE = EM_AARCH64, ARCH_RED_ZONE = 0, ARCH_CALL_BYTES = 4, ARCH_SCRATCH_BYTES = 0 };
#define ARCH_AUDIT AUDIT_ARCH_AARCH64

static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

static inline uint64_t arch_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uint64_t arch_sp(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

static inline void arch_registers(const ucontext_t *context, uint64_t reg[CFI_REGISTERS])
{
    for (int i = 0; i <= CFI_LINK; i++)
        reg[i] = context->uc_mcontext.regs[i];
    reg[CFI_SP] = context->uc_mcontext.sp;
    reg[CFI_PC] = context->uc_mcontext.pc;
}

static inline __attribute__((always_inline)) void arch_registers_here(uint64_t reg[CFI_REGISTERS])
{
    __asm__ volatile("stp x19, x20, [%0, #152]\n stp x21, x22, [%0, #168]\n stp x23, x24, [%0, #184]\n"
                     "stp x25, x26, [%0, #200]\n stp x27, x28, [%0, #216]\n stp x29, x30, [%0, #232]\n"
                     "mov x9, sp\n adr x10, .\n stp x9, x10, [%0, #248]\n"
                     :
                     : "r"(reg)
                     : "x9", "x10", "memory");
}

/* XPACLRI: takes the signature off x30. An address without one stays what it is, and a processor that cannot sign
 * passes over the instruction. */
static inline uint64_t arch_code_address(uint64_t address)
{
    register uint64_t x30 __asm__("x30") = address;

    __asm__("hint #7" : "+r"(x30));
    return x30;
}

enum { ARCH_SVC = (int)0xd4000001, ARCH_SYSTEM_CALLS = 512 };

static inline int arch_word(uint64_t address)
{
    int word;

    memcpy(&word, (const void *)address, sizeof word);
    return word;
}

/* The number of the call is in x8, and its first argument back in x0 when it is made again. */
static inline enum arch_call arch_call_at(const ucontext_t *context, long *number)
{
    uint64_t pc = arch_pc(context);

    *number = (long)context->uc_mcontext.regs[8];
    if ((uint64_t)*number >= ARCH_SYSTEM_CALLS)
        return ARCH_NO_CALL;
    if ((long)context->uc_mcontext.regs[0] == -EINTR && pc & 4095 && arch_word(pc - 4) == ARCH_SVC)
        return ARCH_ENDED;
    return arch_word(pc) == ARCH_SVC ? ARCH_REPEATS : ARCH_NO_CALL;
}

static inline bool arch_has_called(const ucontext_t *context)
{
    uint64_t pc = arch_pc(context);

    return (long)context->uc_mcontext.regs[0] > 0 && pc & 4095 && arch_word(pc - 4) == ARCH_SVC;
}

static inline void arch_end_repetition(ucontext_t *context)
{
    context->uc_mcontext.regs[0] = (uint64_t)-EINTR;
    context->uc_mcontext.pc += 4;
}

/* A frame record is the caller's frame pointer and, behind it, the return address. Without the former the recipe says
 * where the latter is. */
#define arch_return_of(recipe) ((recipe)->rbp + ((recipe)->kind == RECIPE_LINK ? 0 : 8))
#define arch_return_at(how)    (((how) & ~7) + ((how)&FRAME_BP ? 8 : 0))

/* bl. */
static inline bool arch_names_callee(uint64_t address)
{
    return address % 4 == 0 && (uint32_t)arch_word(address - 4) >> 26 == 0x25;
}

/* bl; blr, also those that authenticate the address. */
static inline bool arch_is_call_before(uint64_t address)
{
    uint32_t word = address % 4 ? 0 : (uint32_t)arch_word(address - 4);

    return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800;
}

/* ret, retaa, retab; before them perhaps the check of the signature. */
static inline bool arch_is_return(uint64_t address)
{
    uint32_t word = (uint32_t)arch_word(address);

    if ((word == 0xd50323bf || word == 0xd50323ff) && (address & 4095) < 4092) /* autiasp, autibsp */
        word = (uint32_t)arch_word(address + 4);
    return word == 0xd65f03c0 || word == 0xd65f0bff || word == 0xd65f0fff;
}

/* Its programs do not change the base of a thread, and rights to pages are not looked after. */
static inline bool arch_gives_base(void)
{
    return false;
}

static inline bool arch_has_rights(void)
{
    return false;
}

static inline uint64_t arch_base(void)
{
    return 0;
}

static inline void arch_set_base(uint64_t base)
{
    (void)base;
}

static inline uint32_t arch_rights(void)
{
    return 0;
}

static inline void arch_set_rights(uint32_t rights)
{
    (void)rights;
}

static inline void arch_pause(void)
{
    __asm__ volatile("yield");
}

#endif
