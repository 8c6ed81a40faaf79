/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64 in the collector (preload/arch/arch.h). */
#ifndef HQ_PRELOAD_ARCH_X86_64_ARCH_H
#define HQ_PRELOAD_ARCH_X86_64_ARCH_H

#include "unwind/arch/x86_64/returns.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <ucontext.h>

#define ARCH_NAME       "x86-64"
#define ARCH_LOADER     "ld-linux-x86-64.so.2"
#define ARCH_VDSO_CLOCK "__vdso_clock_gettime"
/* Some emulators (QEMU 7) call handlers with a stack that is not aligned. */
#define ARCH_HANDLER    __attribute__((force_align_arg_pointer))
enum { ARCH_MACHINE = EM_X86_64, ARCH_RED_ZONE = 128, ARCH_CALL_BYTES = RETURN_CALL_BYTES };
enum { ARCH_SCRATCH_BYTES = 24 << 10 }; /* struct follow */
#define ARCH_AUDIT AUDIT_ARCH_X86_64

static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint64_t arch_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t arch_sp(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline void arch_registers(const ucontext_t *context, uint64_t reg[CFI_REGISTERS])
{
    static const uint8_t order[CFI_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

    for (int i = 0; i < CFI_REGISTERS; i++)
        reg[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
}

static inline __attribute__((always_inline)) void arch_registers_here(uint64_t reg[CFI_REGISTERS])
{
    __asm__ volatile("movq %%rbx, 24(%0)\n movq %%rbp, 48(%0)\n movq %%rsp, 56(%0)\n"
                     "movq %%r12, 96(%0)\n movq %%r13, 104(%0)\n movq %%r14, 112(%0)\n movq %%r15, 120(%0)\n"
                     "leaq 0(%%rip), %%rdx\n movq %%rdx, 128(%0)\n"
                     :
                     : "r"(reg)
                     : "rdx", "memory");
}

static inline uint64_t arch_code_address(uint64_t address)
{
    return address;
}

enum { ARCH_SYSTEM_CALLS = 512 }; /* more than there are numbers */

/* The number of a call that is made again stands where its result does. */
static inline enum arch_call arch_call_at(const ucontext_t *context, long *number)
{
    greg_t result = context->uc_mcontext.gregs[REG_RAX];
    const uint8_t *code = (const uint8_t *)arch_pc(context);
    uint64_t place = (uint64_t)code & 4095;

    *number = result;
    if (result == -EINTR)
        return place >= 2 && code[-2] == 0x0f && code[-1] == 0x05 ? ARCH_ENDED : ARCH_NO_CALL;
    return result >= 0 && result < ARCH_SYSTEM_CALLS && place <= 4094 && code[0] == 0x0f && code[1] == 0x05
               ? ARCH_REPEATS
               : ARCH_NO_CALL;
}

static inline bool arch_has_called(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)arch_pc(context);

    return context->uc_mcontext.gregs[REG_RAX] > 0 && ((uint64_t)code & 4095) >= 2 && code[-2] == 0x0f &&
           code[-1] == 0x05;
}

static inline void arch_end_repetition(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_RAX] = -EINTR;
    context->uc_mcontext.gregs[REG_RIP] += 2;
}

/* Always the word below the CFA. */
#define arch_return_of(recipe) (-8)
#define arch_return_at(how)    (-8)

static inline bool arch_is_call_before(uint64_t address)
{
    return return_is_after_call((const uint8_t *)address);
}

/* call, also through a slot of the global offset table. */
static inline bool arch_names_callee(uint64_t address)
{
    const uint8_t *code = (const uint8_t *)address;

    return code[-5] == 0xe8 || (code[-6] == 0xff && code[-5] == 0x15);
}

static inline bool arch_is_return(uint64_t address)
{
    (void)address;
    return false;
}

enum { ARCH_LETS_BASE = 2 }; /* HWCAP2_FSGSBASE */

static inline bool arch_gives_base(void)
{
    return __getauxval(AT_HWCAP2) & ARCH_LETS_BASE;
}

static inline bool arch_has_rights(void)
{
    unsigned a, b, c = 0, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && c & bit_OSPKE;
}

static inline __attribute__((always_inline)) uint64_t arch_base(void)
{
    uint64_t base;

    __asm__ volatile("rdfsbase %0" : "=r"(base)::"memory");
    return base;
}

static inline __attribute__((always_inline)) void arch_set_base(uint64_t base)
{
    __asm__ volatile("wrfsbase %0" ::"r"(base) : "memory");
}

static inline __attribute__((always_inline)) uint32_t arch_rights(void)
{
    uint32_t rights, zero;

    __asm__ volatile("rdpkru" : "=a"(rights), "=d"(zero) : "c"(0) : "memory");
    return rights;
}

static inline __attribute__((always_inline)) void arch_set_rights(uint32_t rights)
{
    __asm__ volatile("wrpkru" ::"a"(rights), "c"(0), "d"(0) : "memory");
}

static inline void arch_pause(void)
{
    __builtin_ia32_pause();
}

#endif
