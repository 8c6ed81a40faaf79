/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a seccomp filter, a program for the classic Berkeley packet filter, on a system call of ours (seccomp(2),
 * linux/filter.h). */
#include "preload/seccomp.h"

#include "preload/arch/arch.h"

#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct machine {
    uint32_t a, x, memory[BPF_MEMWORDS];
};

static bool load(struct machine *m, const struct sock_filter *i, const struct seccomp_data *data)
{
    uint32_t value;

    switch (BPF_MODE(i->code)) {
    case BPF_IMM: value = i->k; break;
    case BPF_LEN: value = sizeof *data; break;
    case BPF_MEM:
        if (i->k >= BPF_MEMWORDS)
            return false;
        value = m->memory[i->k];
        break;
    case BPF_ABS:
        if (i->k >= offsetof(struct seccomp_data, instruction_pointer))
            return false;
        memcpy(&value, (const char *)data + i->k, 4);
        break;
    default: return false;
    }
    *(BPF_CLASS(i->code) == BPF_LD ? &m->a : &m->x) = value;
    return true;
}

static bool compute(struct machine *m, const struct sock_filter *i)
{
    uint32_t operand = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

    switch (BPF_OP(i->code)) {
    case BPF_ADD: m->a += operand; return true;
    case BPF_SUB: m->a -= operand; return true;
    case BPF_MUL: m->a *= operand; return true;
    case BPF_DIV: m->a = operand ? m->a / operand : 0; return operand != 0;
    case BPF_AND: m->a &= operand; return true;
    case BPF_OR: m->a |= operand; return true;
    case BPF_XOR: m->a ^= operand; return true;
    case BPF_LSH: m->a = operand < 32 ? m->a << operand : 0; return true;
    case BPF_RSH: m->a = operand < 32 ? m->a >> operand : 0; return true;
    case BPF_NEG: m->a = -m->a; return true;
    default: return false;
    }
}

static uint32_t distance(const struct machine *m, const struct sock_filter *i)
{
    uint32_t operand = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

    switch (BPF_OP(i->code)) {
    case BPF_JA: return i->k;
    case BPF_JEQ: return m->a == operand ? i->jt : i->jf;
    case BPF_JGT: return m->a > operand ? i->jt : i->jf;
    case BPF_JGE: return m->a >= operand ? i->jt : i->jf;
    case BPF_JSET: return m->a & operand ? i->jt : i->jf;
    default: return UINT32_MAX / 2;
    }
}

static enum seccomp_verdict action_verdict(uint32_t action)
{
    switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG: return SECCOMP_PASSES;
    case SECCOMP_RET_ERRNO: return SECCOMP_FAILS;
    default: return SECCOMP_ENDS;
    }
}

/* The worst that it does with any call. */
static enum seccomp_verdict worst(const struct sock_fprog *filter)
{
    enum seccomp_verdict worst = SECCOMP_FAILS;

    for (uint64_t at = 0; at < filter->len; at++) {
        const struct sock_filter *i = &filter->filter[at];
        if (BPF_CLASS(i->code) == BPF_RET && (BPF_RVAL(i->code) == BPF_A || action_verdict(i->k) == SECCOMP_ENDS))
            worst = SECCOMP_ENDS;
    }
    return worst;
}

enum seccomp_verdict seccomp_verdict(const struct sock_fprog *filter, int number)
{
    struct seccomp_data data = {.nr = number, .arch = ARCH_AUDIT};
    struct machine m = {0};

    /* Jumps only go forward, so this ends. */
    for (uint64_t at = 0; at < filter->len; at++) {
        const struct sock_filter *i = &filter->filter[at];
        switch (BPF_CLASS(i->code)) {
        case BPF_LD:
        case BPF_LDX:
            if (!load(&m, i, &data))
                return worst(filter);
            break;
        case BPF_ST:
        case BPF_STX:
            if (i->k >= BPF_MEMWORDS)
                return worst(filter);
            m.memory[i->k] = BPF_CLASS(i->code) == BPF_ST ? m.a : m.x;
            break;
        case BPF_ALU:
            if (!compute(&m, i))
                return worst(filter);
            break;
        case BPF_JMP: at += distance(&m, i); break;
        case BPF_MISC:
            if (BPF_MISCOP(i->code) == BPF_TAX)
                m.x = m.a;
            else
                m.a = m.x;
            break;
        case BPF_RET: return action_verdict(BPF_RVAL(i->code) == BPF_A ? m.a : i->k);
        }
    }
    return worst(filter);
}
