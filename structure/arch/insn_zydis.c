/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder of x86-64's instructions (x86_64.h): the only file that knows Zydis. */
#include "structure/arch/x86_64.h"
#include "structure/arch/insn_quick.h"
#include <Zydis/Zydis.h>
#include <pthread.h>

static ZydisDecoder quick, full;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    ZydisDecoderInit(&quick, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&quick, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    ZydisDecoderInit(&full, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static enum insn_kind kind_of(ZydisMnemonic mnemonic, bool direct)
{
    switch (mnemonic) {
    /* clang-format off */
    case ZYDIS_MNEMONIC_JB: case ZYDIS_MNEMONIC_JBE: case ZYDIS_MNEMONIC_JCXZ: case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JL: case ZYDIS_MNEMONIC_JLE: case ZYDIS_MNEMONIC_JNB: case ZYDIS_MNEMONIC_JNBE:
    case ZYDIS_MNEMONIC_JNL: case ZYDIS_MNEMONIC_JNLE: case ZYDIS_MNEMONIC_JNO: case ZYDIS_MNEMONIC_JNP:
    case ZYDIS_MNEMONIC_JNS: case ZYDIS_MNEMONIC_JNZ: case ZYDIS_MNEMONIC_JO: case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JRCXZ: case ZYDIS_MNEMONIC_JS: case ZYDIS_MNEMONIC_JZ: case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE: case ZYDIS_MNEMONIC_LOOPNE: case ZYDIS_MNEMONIC_XBEGIN:
        /* clang-format on */
        return INSN_BRANCH;
    case ZYDIS_MNEMONIC_JMP: return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
    case ZYDIS_MNEMONIC_CALL: return direct ? INSN_CALL : INSN_CALL_INDIRECT;
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ: return INSN_RETURN;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3: return INSN_STOP;
    case ZYDIS_MNEMONIC_NOP: return INSN_NOP;
    default: return INSN_OTHER;
    }
}

void x86_64_decode(const uint8_t *code, size_t size, uint64_t address, struct insn *out)
{
    ZydisDecodedInstruction in;

    if (insn_quick(code, size, address, out))
        return;
    pthread_once(&once, init);
    *out = (struct insn){.address = address, .length = 1, .kind = INSN_STOP};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&quick, NULL, code, size, &in)))
        return;
    bool direct = in.raw.imm[0].size && in.raw.imm[0].is_relative;
    out->length = in.length;
    out->kind = kind_of(in.mnemonic, direct);
    if (direct)
        out->target = address + in.length + (uint64_t)in.raw.imm[0].value.s;
}

static uint8_t number(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return INSN_NO_REGISTER;
    return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

static void read_memory(const ZydisDecodedOperand *m, uint64_t next, struct insn_detail *out)
{
    out->base = number(m->mem.base);
    out->index = number(m->mem.index);
    out->scale = m->mem.scale;
    out->width = (uint8_t)(m->size / 8);
    out->value = out->displacement = (uint64_t)m->mem.disp.value;
    if (m->mem.base == ZYDIS_REGISTER_RIP)
        out->value += next;
}

static enum insn_form form_of(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
    bool to_register = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
    bool wide = to_register && op[0].size >= 32, by_value = op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
        if (op[1].mem.base == ZYDIS_REGISTER_NONE && !op[1].mem.disp.value)
            return INSN_FORM_ADD_SCALED;
        return op[1].mem.base == ZYDIS_REGISTER_RIP ? INSN_FORM_ADDRESS : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVZX:
        if (wide && op[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return INSN_FORM_LOAD;
        if (wide && by_value && in->mnemonic == ZYDIS_MNEMONIC_MOV)
            return INSN_FORM_ADDRESS;
        if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            return INSN_FORM_STORE;
        return wide && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? INSN_FORM_COPY : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_ADD: return wide && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? INSN_FORM_ADD : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_CMP: return by_value ? INSN_FORM_COMPARE : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_SUB: return wide && by_value ? INSN_FORM_SUBTRACT : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_AND: return to_register && by_value ? INSN_FORM_MASK : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_JMP:
        if (op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return INSN_FORM_JUMP_MEMORY;
        return to_register ? INSN_FORM_JUMP_REGISTER : INSN_FORM_OTHER;
    case ZYDIS_MNEMONIC_CALL: return to_register ? INSN_FORM_JUMP_REGISTER : INSN_FORM_OTHER;
    default: return INSN_FORM_OTHER;
    }
}

static void read_operands(const ZydisDecodedOperand *op, size_t count, uint64_t next, struct insn_detail *out)
{
    for (size_t i = 0; i < count; i++) {
        if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            read_memory(&op[i], next, out);
        else if (op[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            out->value = op[i].imm.is_signed ? (uint64_t)op[i].imm.value.s : op[i].imm.value.u;
    }
    if (count && op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        out->reg = number(op[0].reg.value);
    if (count > 1 && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
        out->source = number(op[1].reg.value);
    if (out->form == INSN_FORM_ADD_SCALED)
        out->source = out->index;
}

void x86_64_decode_detail(const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

    pthread_once(&once, init);
    *out = (struct insn_detail){.form = INSN_FORM_OTHER,
                                .reg = INSN_NO_REGISTER,
                                .source = INSN_NO_REGISTER,
                                .base = INSN_NO_REGISTER,
                                .index = INSN_NO_REGISTER};
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&full, code, size, &in, op)))
        return;
    if (in.operand_count_visible)
        out->form = form_of(&in, op);
    read_operands(op, in.operand_count_visible, address + in.length, out);
    out->clobbers = in.mnemonic == ZYDIS_MNEMONIC_CALL;
    out->relative = in.attributes & ZYDIS_ATTRIB_IS_RELATIVE;
    for (size_t i = 0; i < in.operand_count; i++)
        if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.base == ZYDIS_REGISTER_RIP && in.raw.disp.size == 32)
            out->displacement_at = in.raw.disp.offset;
    for (size_t i = 0; i < in.operand_count; i++) {
        uint8_t reg = op[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? number(op[i].reg.value) : INSN_NO_REGISTER;

        if (reg != INSN_NO_REGISTER && (op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            out->writes |= 1u << reg;
    }
    bool writes = in.operand_count_visible && (op[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
    if (out->form == INSN_FORM_OTHER && !writes)
        out->reg = INSN_NO_REGISTER;
}
