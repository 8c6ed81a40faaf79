/* SPDX-License-Identifier: BSD-3-Clause */
/* Does what the instruction would do that a breakpoint replaces (patch.h). */
#include "preload/patch/patch.h"

#include "preload/hot.h"

static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static uint64_t value_of(const ucontext_t *context, uint8_t number)
{
    return number < 16 ? (uint64_t)context->uc_mcontext.gregs[order[number]] : 0;
}

/* Intel's manual, volume 1, appendix B: the condition is in bits 1 to 3, bit 0 turns it around. */
static HOT bool condition_holds(uint32_t condition, uint64_t flags)
{
    bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1, sign = flags >> 7 & 1,
         overflow = flags >> 11 & 1, holds;

    switch (condition >> 1) {
    case 0: holds = overflow; break;
    case 1: holds = carry; break;
    case 2: holds = zero; break;
    case 3: holds = carry || zero; break;
    case 4: holds = sign; break;
    case 5: holds = parity; break;
    case 6: holds = sign != overflow; break;
    default: holds = zero || sign != overflow; break;
    }
    return holds != (condition & 1);
}

/* Where the instruction goes on. */
static HOT uint64_t next_of(const struct patch *patch, const struct hqp_place *p, const ucontext_t *context)
{
    uint64_t behind = patch->address + p->length;

    switch ((enum hqp_form)p->form) {
    case HQP_COPY: return patch->slot;
    case HQP_SKIP: return behind;
    case HQP_RETURN: return *(const uint64_t *)value_of(context, 4);
    case HQP_JUMP:
    case HQP_CALL: return patch->base + p->target;
    case HQP_BRANCH:
        return condition_holds(p->operand, (uint64_t)context->uc_mcontext.gregs[REG_EFL]) ? patch->base + p->target
                                                                                          : behind;
    case HQP_JUMP_REGISTER: return value_of(context, p->base);
    case HQP_JUMP_MEMORY: {
        uint64_t at = p->target + value_of(context, p->base) + value_of(context, p->index) * p->scale;
        return *(const uint64_t *)(p->base == HQP_NO_REGISTER && p->index == HQP_NO_REGISTER ? at + patch->base : at);
    }
    }
    return behind;
}

HOT bool patch_leaves(const struct patch *patch, const ucontext_t *context)
{
    const struct hqp_place *p = patch->place;
    uint64_t next;

    if (!(p->flags & HQP_EXIT) || p->form == HQP_RETURN || p->form == HQP_JUMP)
        return p->flags & HQP_EXIT;
    next = next_of(patch, p, context) - patch->base;
    return p->form == HQP_BRANCH ? next != p->address + p->length : next < p->low || next >= p->high;
}

HOT void patch_go_on(const struct patch *patch, ucontext_t *context)
{
    const struct hqp_place *p = patch->place;
    greg_t *reg = context->uc_mcontext.gregs;
    uint64_t next = next_of(patch, p, context);

    if (p->form == HQP_RETURN)
        reg[REG_RSP] += 8 + (greg_t)p->operand;
    if (p->form == HQP_CALL) {
        reg[REG_RSP] -= 8;
        *(uint64_t *)reg[REG_RSP] = patch->address + p->length;
    }
    reg[REG_RIP] = (greg_t)next;
}
