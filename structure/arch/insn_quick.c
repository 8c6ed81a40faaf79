/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/arch/insn_quick.h"
#include <string.h>

/* The bytes that follow an opcode: a ModRM byte with what it asks for, and an immediate. */
enum {
    NOT = 0x80, /* none of ours */
    MODRM = 0x40,
    GROUP = 0x20, /* the ModRM byte tells more: see group() */
    NONE = 0,
    I8 = 1,
    IZ = 2,
    IV = 3,
    R8 = 4,
    R32 = 5, /* IZ: 2 or 4 bytes, IV: 2, 4 or 8 bytes; R: relative */
    IMMEDIATE = 7,
};
#define M  MODRM
#define MI (MODRM | I8)
#define MZ (MODRM | IZ)
#define MG (MODRM | GROUP)
#define X  NOT

/* clang-format off */
static const uint8_t one_byte[256] = {
    M, M, M, M, I8, IZ, X, X,  M, M, M, M, I8, IZ, X, X,        /* 00 add, or */
    M, M, M, M, I8, IZ, X, X,  M, M, M, M, I8, IZ, X, X,        /* 10 adc, sbb */
    M, M, M, M, I8, IZ, X, X,  M, M, M, M, I8, IZ, X, X,        /* 20 and, sub */
    M, M, M, M, I8, IZ, X, X,  M, M, M, M, I8, IZ, X, X,        /* 30 xor, cmp */
    X, X, X, X, X, X, X, X,  X, X, X, X, X, X, X, X,            /* 40 REX */
    NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,  NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,    /* 50 push, pop */
    X, X, X, M, X, X, X, X,  IZ, MZ, I8, MI, X, X, X, X,        /* 60 movslq, push, imul */
    R8, R8, R8, R8, R8, R8, R8, R8,  R8, R8, R8, R8, R8, R8, R8, R8,    /* 70 jcc */
    MI, MZ, X, MI, M, M, M, M,  M, M, M, M, X, MG, X, X,        /* 80 arithmetic, test, xchg, mov, lea */
    X, X, X, X, X, X, X, X,  NONE, NONE, X, X, X, X, X, X,      /* 90 */
    X, X, X, X, X, X, X, X,  I8, IZ, X, X, X, X, X, X,          /* a0 test */
    I8, I8, I8, I8, I8, I8, I8, I8,  IV, IV, IV, IV, IV, IV, IV, IV,    /* b0 mov */
    MI, MI, X, NONE, X, X, MG | I8, MG | IZ,  X, NONE, X, X, NONE, X, X, X,     /* c0 shifts, ret, mov, leave, int3 */
    M, M, M, M, X, X, X, X,  X, X, X, X, X, X, X, X,            /* d0 shifts */
    X, X, X, X, X, X, X, X,  R32, R32, X, R8, X, X, X, X,       /* e0 call, jmp */
    X, X, X, X, X, X, MG, MG,  X, X, X, X, X, X, MG, MG,        /* f0 */
};
/* clang-format on */

/* After 0f; with VEX and EVEX prefixes only what has a ModRM byte. */
/* clang-format off */
static const uint8_t two_byte[256] = {
    X, X, X, X, X, NONE, X, X,  X, X, X, NONE, X, X, X, X,      /* 00 syscall, ud2 */
    M, M, M, M, M, M, M, M,  X, X, X, X, X, X, X, M,            /* 10 moves, nop */
    X, X, X, X, X, X, X, X,  M, M, M, M, M, M, M, M,            /* 20 moves, conversions */
    X, X, X, X, X, X, X, X,  X, X, X, X, X, X, X, X,
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,            /* 40 cmov */
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,            /* 50 vectors */
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,
    MI, MI, MI, MI, M, M, M, X,  X, X, X, X, M, M, M, M,        /* 70 */
    R32, R32, R32, R32, R32, R32, R32, R32,  R32, R32, R32, R32, R32, R32, R32, R32,    /* 80 jcc */
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,            /* 90 setcc */
    X, X, NONE, M, MI, M, X, X,  X, X, X, M, MI, M, X, M,       /* a0 cpuid, bits, shifts, imul */
    M, M, X, M, X, X, M, M,  X, X, MI, M, M, M, M, M,           /* b0 cmpxchg, bits, movz, movs */
    M, M, MI, X, MI, MI, MI, X,  NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,        /* c0 xadd, shuffles, bswap */
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,            /* d0 vectors */
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M, M,
    X, M, M, M, M, M, M, X,  M, M, M, M, M, M, M, X,
};
/* clang-format on */

struct bytes {
    const uint8_t *p;
    size_t size, at;
    bool narrow, wide; /* operands of 16 bits, of 64 */
    bool plain;        /* no prefix but REX */
    uint8_t repeat;    /* f2 or f3, else 0 */
};

/* How long ModRM, SIB and displacement are. */
static size_t operand_length(const struct bytes *b)
{
    uint8_t modrm = b->p[b->at], mod = modrm >> 6, rm = modrm & 7;

    if (mod == 3)
        return 1;
    size_t n = 1 + (rm == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
    if (mod == 0 && (rm == 5 || (rm == 4 && b->at + 1 < b->size && (b->p[b->at + 1] & 7) == 5)))
        n += 4;
    return n;
}

static size_t immediate_length(const struct bytes *b, uint8_t what)
{
    switch (what & IMMEDIATE) {
    case I8:
    case R8: return 1;
    case R32: return 4;
    case IZ: return b->narrow && !b->wide ? 2 : 4;
    case IV: return b->wide ? 8 : b->narrow ? 2 : 4;
    default: return 0;
    }
}

static bool prefixes(struct bytes *b)
{
    b->plain = true;
    for (; b->at < b->size; b->at++) {
        uint8_t c = b->p[b->at];

        if (c == 0x66)
            b->narrow = true;
        else if (c == 0xf2 || c == 0xf3)
            b->repeat = c;
        else if (c != 0x2e && c != 0x3e && c != 0x64 && c != 0x65)
            break;
        b->plain = false;
    }
    if (b->at < b->size && (b->p[b->at] & 0xf0) == 0x40)
        b->wide = b->p[b->at++] & 8;
    return b->at < b->size;
}

/* Opcodes whose meaning is in the middle of the ModRM byte. */
static bool group(const struct bytes *b, uint8_t opcode, uint8_t *what, enum insn_kind *kind)
{
    uint8_t modrm = b->p[b->at], number = modrm >> 3 & 7;

    switch (opcode) {
    case 0x8d: return modrm >> 6 != 3;
    case 0xc6:
    case 0xc7:
    case 0xfe: return number == 0 || (opcode == 0xfe && number == 1);
    case 0xf6:
    case 0xf7:
        if (number < 2)
            *what |= opcode == 0xf6 ? I8 : IZ;
        return number != 1;
    default:
        *kind = number == 2 ? INSN_CALL_INDIRECT : number == 4 ? INSN_JUMP_INDIRECT : INSN_OTHER;
        return number < 3 || number == 4 || number == 6;
    }
}

static bool take_one_byte(struct bytes *b, uint8_t *what, enum insn_kind *kind)
{
    uint8_t opcode = b->p[b->at++];

    *what = one_byte[opcode];
    /* A branch behind 66 is read differently by different makers' processors. */
    if ((*what & IMMEDIATE) >= R8 && b->narrow)
        return false;
    if (opcode >= 0x70 && opcode < 0x80)
        *kind = INSN_BRANCH;
    else if (opcode == 0xe8)
        *kind = INSN_CALL;
    else if (opcode == 0xe9 || opcode == 0xeb)
        *kind = INSN_JUMP;
    else if (opcode == 0xc3)
        *kind = INSN_RETURN;
    else if (opcode == 0xcc)
        *kind = INSN_STOP;
    return !(*what & NOT) && (!(*what & GROUP) || (b->at < b->size && group(b, opcode, what, kind)));
}

static bool take_two_bytes(struct bytes *b, uint8_t *what, enum insn_kind *kind)
{
    uint8_t opcode = b->at < b->size ? b->p[b->at++] : 0;

    *what = two_byte[opcode];
    if (opcode >= 0x80 && opcode < 0x90)
        *kind = INSN_BRANCH;
    else if (opcode == 0x1f)
        *kind = INSN_NOP;
    else if (opcode == 0x0b)
        *kind = INSN_STOP;
    return !(*what & NOT) && ((*what & IMMEDIATE) < R8 || !b->narrow);
}

/* VEX (c4, c5) and EVEX (62): the map says what follows, and everything has a ModRM byte. */
static bool take_vector(struct bytes *b, uint8_t first, uint8_t *what)
{
    size_t head = first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4;

    if (!b->plain || (b->at && (b->p[b->at - 1] & 0xf0) == 0x40) || b->size - b->at < head + 2)
        return false;
    uint8_t map = first == 0xc5 ? 1 : b->p[b->at + 1] & (first == 0x62 ? 7 : 31), opcode = b->p[b->at + head];
    b->at += head + 1;
    *what = map == 1 ? two_byte[opcode] : map == 2 ? MODRM : MODRM | I8;
    return map >= 1 && map <= 3 && *what & MODRM && !(*what & NOT);
}

bool insn_quick(const uint8_t *code, size_t size, uint64_t address, struct insn *out)
{
    struct bytes b = {.p = code, .size = size < 15 ? size : 15};
    enum insn_kind kind = INSN_OTHER;
    uint8_t what, first;
    bool known;

    if (!prefixes(&b))
        return false;
    first = b.p[b.at];
    if (first == 0x0f) {
        b.at++;
        known = take_two_bytes(&b, &what, &kind);
    } else if (first == 0xc4 || first == 0xc5 || first == 0x62) {
        known = take_vector(&b, first, &what);
    } else {
        known = take_one_byte(&b, &what, &kind);
    }
    if (!known || ((what & MODRM) && b.at >= b.size))
        return false;
    size_t immediate = immediate_length(&b, what), length = b.at + (what & MODRM ? operand_length(&b) : 0) + immediate;
    if (length > b.size)
        return false;
    *out = (struct insn){.address = address, .length = (uint8_t)length, .kind = (uint8_t)kind};
    if ((what & IMMEDIATE) == R8) {
        out->target = address + length + (uint64_t)(int64_t)(int8_t)code[length - 1];
    } else if ((what & IMMEDIATE) == R32) {
        int32_t distance;

        memcpy(&distance, code + length - 4, sizeof distance);
        out->target = address + length + (uint64_t)(int64_t)distance;
    }
    return true;
}
