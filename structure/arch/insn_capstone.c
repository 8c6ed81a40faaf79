/* SPDX-License-Identifier: BSD-3-Clause */
/* The decoder of x86-64's instructions (x86_64.h) where there is no Zydis: the only file that knows Capstone, 4 and 5.
 */
#include "structure/arch/x86_64.h"
#include "structure/arch/insn_quick.h"
#include "common/mem.h"

#include <capstone/capstone.h>
#include <pthread.h>
#include <stdlib.h>

/* A handle must not be used by two threads at once. */
struct decoder {
    csh handle;
    cs_insn *insn;
};
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void close_decoder(void *data)
{
    struct decoder *decoder = data;

    cs_free(decoder->insn, 1);
    cs_close(&decoder->handle);
    free(decoder);
}

static void init(void)
{
    pthread_key_create(&key, close_decoder);
}

/* Decodes an instruction; NULL if there is no decoder, or the bytes are no instruction that it knows. */
static const cs_insn *decode(const uint8_t *code, size_t size, uint64_t address)
{
    struct decoder *decoder;

    pthread_once(&once, init);
    decoder = pthread_getspecific(key);
    if (!decoder) {
        decoder = xcalloc(1, sizeof *decoder);
        cs_err code = cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle);
        if (code == CS_ERR_MEM)
            mem_exhausted();
        if (code != CS_ERR_OK) {
            free(decoder);
            return NULL;
        }
        cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
        decoder->insn = cs_malloc(decoder->handle);
        if (!decoder->insn)
            mem_exhausted();
        pthread_setspecific(key, decoder);
    }
    size = size < 15 ? size : 15;
    return decoder->insn && cs_disasm_iter(decoder->handle, &code, &size, &address, decoder->insn) ? decoder->insn
                                                                                                   : NULL;
}

static enum insn_kind kind_of(unsigned id, bool direct)
{
    switch (id) {
    /* clang-format off */
    case X86_INS_JA: case X86_INS_JAE: case X86_INS_JB: case X86_INS_JBE: case X86_INS_JCXZ: case X86_INS_JE:
    case X86_INS_JECXZ: case X86_INS_JG: case X86_INS_JGE: case X86_INS_JL: case X86_INS_JLE: case X86_INS_JNE:
    case X86_INS_JNO: case X86_INS_JNP: case X86_INS_JNS: case X86_INS_JO: case X86_INS_JP: case X86_INS_JRCXZ:
    case X86_INS_JS: case X86_INS_LOOP: case X86_INS_LOOPE: case X86_INS_LOOPNE: case X86_INS_XBEGIN:
        /* clang-format on */
        return INSN_BRANCH;
    case X86_INS_JMP: return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
    case X86_INS_LJMP: return INSN_JUMP_INDIRECT;
    case X86_INS_CALL: return direct ? INSN_CALL : INSN_CALL_INDIRECT;
    case X86_INS_LCALL: return INSN_CALL_INDIRECT;
    case X86_INS_RET:
    case X86_INS_RETF:
    case X86_INS_RETFQ:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ: return INSN_RETURN;
    case X86_INS_UD0:
    case X86_INS_UD2:
    case X86_INS_HLT:
    case X86_INS_INT3: return INSN_STOP;
    case X86_INS_NOP: return INSN_NOP;
    default: return INSN_OTHER;
    }
}

/* 0f ff and 0f b9 trap whatever follows; versions differ in what they call them. */
static bool is_undefined(const uint8_t *code, size_t size)
{
    return size > 1 && code[0] == 0x0f && (code[1] == 0xff || code[1] == 0xb9);
}

static bool is_landing_pad(const uint8_t *code, size_t size)
{
    return size > 3 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && (code[3] & 0xfe) == 0xfa;
}

void x86_64_decode(const uint8_t *code, size_t size, uint64_t address, struct insn *out)
{
    if (insn_quick(code, size, address, out))
        return;
    *out = (struct insn){.address = address, .length = 1, .kind = INSN_STOP};
    if (is_landing_pad(code, size)) {
        *out = (struct insn){.address = address, .length = 4, .kind = INSN_OTHER};
        return;
    }
    const cs_insn *in = decode(code, size, address);
    if (!in)
        return;
    const cs_x86 *x86 = &in->detail->x86;
    bool immediate = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
    out->length = (uint8_t)in->size;
    out->kind = is_undefined(code, size) ? INSN_STOP : (uint8_t)kind_of(in->id, immediate);
    if (immediate && (out->kind == INSN_BRANCH || out->kind == INSN_JUMP || out->kind == INSN_CALL))
        out->target = (uint64_t)x86->operands[0].imm;
}

static uint8_t number(x86_reg reg)
{
    switch (reg) {
        /* clang-format off */
#define REGISTER(n, a, b, c, d) case X86_REG_##a: case X86_REG_##b: case X86_REG_##c: case X86_REG_##d: return n;
    REGISTER(0, RAX, EAX, AX, AL)     REGISTER(1, RCX, ECX, CX, CL)     REGISTER(2, RDX, EDX, DX, DL)
    REGISTER(3, RBX, EBX, BX, BL)     REGISTER(4, RSP, ESP, SP, SPL)    REGISTER(5, RBP, EBP, BP, BPL)
    REGISTER(6, RSI, ESI, SI, SIL)    REGISTER(7, RDI, EDI, DI, DIL)    REGISTER(8, R8, R8D, R8W, R8B)
    REGISTER(9, R9, R9D, R9W, R9B)    REGISTER(10, R10, R10D, R10W, R10B) REGISTER(11, R11, R11D, R11W, R11B)
    REGISTER(12, R12, R12D, R12W, R12B) REGISTER(13, R13, R13D, R13W, R13B) REGISTER(14, R14, R14D, R14W, R14B)
    REGISTER(15, R15, R15D, R15W, R15B)
#undef REGISTER
    case X86_REG_AH: return 0;
    case X86_REG_CH: return 1;
    case X86_REG_DH: return 2;
    case X86_REG_BH: return 3;
    default: return INSN_NO_REGISTER;
        /* clang-format on */
    }
}

static uint32_t bit_of(x86_reg reg)
{
    uint8_t n = number(reg);

    return n == INSN_NO_REGISTER ? 0 : 1u << n;
}

static enum insn_form form_of(unsigned id, const cs_x86_op *op, int count)
{
    bool to_register = op[0].type == X86_OP_REG, wide = to_register && op[0].size >= 4;
    x86_op_type second = count > 1 ? op[1].type : X86_OP_INVALID;

    switch (id) {
    case X86_INS_LEA:
        if (second == X86_OP_MEM && op[1].mem.base == X86_REG_INVALID && !op[1].mem.disp)
            return INSN_FORM_ADD_SCALED;
        return second == X86_OP_MEM && op[1].mem.base == X86_REG_RIP ? INSN_FORM_ADDRESS : INSN_FORM_OTHER;
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVSXD:
    case X86_INS_MOVZX:
        if (wide && second == X86_OP_MEM)
            return INSN_FORM_LOAD;
        if (wide && second == X86_OP_IMM && (id == X86_INS_MOV || id == X86_INS_MOVABS))
            return INSN_FORM_ADDRESS;
        if (op[0].type == X86_OP_MEM && second == X86_OP_REG)
            return INSN_FORM_STORE;
        return wide && second == X86_OP_REG ? INSN_FORM_COPY : INSN_FORM_OTHER;
    case X86_INS_ADD: return wide && second == X86_OP_REG ? INSN_FORM_ADD : INSN_FORM_OTHER;
    case X86_INS_CMP: return second == X86_OP_IMM ? INSN_FORM_COMPARE : INSN_FORM_OTHER;
    case X86_INS_SUB: return wide && second == X86_OP_IMM ? INSN_FORM_SUBTRACT : INSN_FORM_OTHER;
    case X86_INS_AND: return to_register && second == X86_OP_IMM ? INSN_FORM_MASK : INSN_FORM_OTHER;
    case X86_INS_JMP:
        if (op[0].type == X86_OP_MEM)
            return INSN_FORM_JUMP_MEMORY;
        return to_register ? INSN_FORM_JUMP_REGISTER : INSN_FORM_OTHER;
    case X86_INS_CALL: return to_register ? INSN_FORM_JUMP_REGISTER : INSN_FORM_OTHER;
    default: return INSN_FORM_OTHER;
    }
}

static void read_memory(const cs_x86_op *op, uint64_t next, struct insn_detail *out)
{
    out->base = number(op->mem.base);
    out->index = number(op->mem.index);
    out->scale = op->mem.index == X86_REG_INVALID ? 0 : (uint8_t)op->mem.scale;
    out->width = op->size;
    out->value = out->displacement = (uint64_t)op->mem.disp;
    if (op->mem.base == X86_REG_RIP)
        out->value += next;
}

void x86_64_decode_detail(const uint8_t *code, size_t size, uint64_t address, struct insn_detail *out)
{
    const cs_insn *in = decode(code, size, address);

    *out = (struct insn_detail){.form = INSN_FORM_OTHER,
                                .reg = INSN_NO_REGISTER,
                                .source = INSN_NO_REGISTER,
                                .base = INSN_NO_REGISTER,
                                .index = INSN_NO_REGISTER};
    if (!in)
        return;
    const cs_x86_op *op = in->detail->x86.operands;
    int count = in->detail->x86.op_count;
    if (count)
        out->form = form_of(in->id, op, count);
    for (int i = 0; i < count; i++)
        if (op[i].type == X86_OP_MEM)
            read_memory(&op[i], address + in->size, out);
        else if (op[i].type == X86_OP_IMM)
            out->value = (uint64_t)op[i].imm;
    if (count && op[0].type == X86_OP_REG)
        out->reg = number(op[0].reg);
    if (count > 1 && op[1].type == X86_OP_REG)
        out->source = number(op[1].reg);
    if (out->form == INSN_FORM_ADD_SCALED)
        out->source = out->index;
    out->clobbers = in->id == X86_INS_CALL || in->id == X86_INS_LCALL;
    enum insn_kind kind = kind_of(in->id, true);
    out->relative = count && op[0].type == X86_OP_IMM &&
                    (kind == INSN_BRANCH || kind == INSN_JUMP || kind == INSN_CALL);
    for (int i = 0; i < count; i++)
        if (op[i].type == X86_OP_MEM && (op[i].mem.base == X86_REG_RIP || op[i].mem.base == X86_REG_EIP)) {
            out->relative = true;
            if (op[i].mem.base == X86_REG_RIP && in->detail->x86.encoding.disp_size == 4)
                out->displacement_at = in->detail->x86.encoding.disp_offset;
        }
    for (int i = 0; i < count; i++)
        if (op[i].type == X86_OP_REG && (op[i].access & CS_AC_WRITE))
            out->writes |= bit_of(op[i].reg);
    for (int i = 0; i < in->detail->regs_write_count; i++)
        out->writes |= bit_of((x86_reg)in->detail->regs_write[i]);
    if (out->form == INSN_FORM_OTHER && !(count && op[0].access & CS_AC_WRITE))
        out->reg = INSN_NO_REGISTER;
}
