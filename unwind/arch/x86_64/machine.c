/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/arch/x86_64/machine.h"

#include <string.h>

/* The bytes that follow an opcode, and the register operands that it writes. */
enum {
    NONE = 0,
    I8 = 1,
    I16 = 2,
    IZ = 3,
    IV = 4,
    R8 = 5,
    R32 = 6,
    IMMEDIATE = 7, /* IZ: 4 bytes, or 2; IV: 8 too; R: relative */
    M = 8,         /* a ModRM byte */
    G = 16,        /* its register operand is written */
    E = 32,        /* its other operand is, which may be memory */
    B = 64,        /* operands are bytes */
    X = 128,       /* not to be met, or not to be understood */
};

/* clang-format off */
static const uint8_t one_byte[256] = {
#define ARITHMETIC M | E | B, M | E, M | G | B, M | G, I8, IZ, X, X
    ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC, ARITHMETIC,
    M, M, M, M, I8, IZ, X, X,                                                   /* 38 cmp */
    X, X, X, X, X, X, X, X,  X, X, X, X, X, X, X, X,                            /* 40 prefixes */
    0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0,                            /* 50 push, pop */
    X, X, X, M | G, X, X, X, X,  IZ, M | G | IZ, I8, M | G | I8, X, X, X, X,    /* 60 movslq, push, imul */
    R8, R8, R8, R8, R8, R8, R8, R8,  R8, R8, R8, R8, R8, R8, R8, R8,            /* 70 jcc */
    M | E | B | I8, M | E | IZ, X, M | E | I8,  M, M, M | G | E | B, M | G | E, /* 80 arithmetic, test, xchg */
    M | E | B, M | E, M | G | B, M | G, M | E, M | G, M, M | E,                 /* 88 mov, lea, pop */
    0, 0, 0, 0, 0, 0, 0, 0,  0, 0, X, 0, 0, X, 0, 0,                            /* 90 xchg, sign extension, flags */
    X, X, X, X, 0, 0, 0, 0,  I8, IZ, 0, 0, 0, 0, 0, 0,                  /* a0 strings, test */
    I8, I8, I8, I8, I8, I8, I8, I8,  IV, IV, IV, IV, IV, IV, IV, IV,            /* b0 mov */
    M | E | B | I8, M | E | I8, I16, 0, X, X, M | E | B | I8, M | E | IZ,       /* c0 shifts, ret, mov */
    X, 0, X, X, 0, X, X, X,                                                     /* c8 leave, int3 */
    M | E | B, M | E, M | E | B, M | E, X, X, X, 0,  M, M, M, M, M, M, M, M,    /* d0 shifts, x87 */
    R8, R8, R8, R8, X, X, X, X,  R32, R32, X, R8, X, X, X, X,                   /* e0 loop, call, jmp */
    X, 0, X, X, 0, 0, M | B, M,  0, 0, X, X, 0, 0, M | E | B, M | E,            /* f0 flags, groups */
};
/* clang-format on */

/* After 0f. Vector registers are not followed: what has only these has neither G nor E. */
/* clang-format off */
static const uint8_t two_bytes[256] = {
    X, M, M | G, M | G, X, 0, X, X,  0, 0, X, 0, X, M, 0, M | I8,               /* 00 syscall, ud2, prefetch, 3DNow */
    M, M, M, M, M, M, M, M,  M, M, M, M, M, M, M | E, M,                        /* 10 moves, rdssp, nop */
    X, X, X, X, X, X, X, X,  M, M, M, M, M | G, M | G, M, M,                    /* 20 moves, conversions */
    X, 0, X, X, X, X, X, X,  X, X, X, X, X, X, X, X,                            /* 30 rdtsc */
#define EIGHT(x) x, x, x, x, x, x, x, x
    EIGHT(M | G), EIGHT(M | G),                                                 /* 40 cmov */
    M | G, M, M, M, M, M, M, M,  EIGHT(M),                                      /* 50 movmsk, vectors */
    EIGHT(M), EIGHT(M),
    M | I8, M | I8, M | I8, M | I8, M, M, M, 0,  M, M, M, M, M, M, M | E, M,    /* 70 shifts, emms, movd */
    EIGHT(R32), EIGHT(R32),                                                     /* 80 jcc */
    EIGHT(M | E | B), EIGHT(M | E | B),                                         /* 90 setcc */
    X, X, 0, M, M | E | I8, M | E, X, X,  X, X, X, M | E, M | E | I8, M | E, M, M | G, /* a0 cpuid, bits, shifts, fences, imul */
    M | E | B, M | E, X, M | E, X, X, M | G, M | G,  M | G, X, M | E | I8, M | E, M | G, M | G, M | G, M | G, /* b0 cmpxchg, bits, movz, movs */
    M | G | E | B, M | G | E, M | I8, M, M | I8, M | G | I8, M | I8, M | E,  0, 0, 0, 0, 0, 0, 0, 0, /* c0 xadd, shuffles, bswap */
    EIGHT(M), EIGHT(M),                                                         /* d0 vectors, pmovmskb: below */
    EIGHT(M), EIGHT(M),
    EIGHT(M), M, M, M, M, M, M, M, X,
};
/* clang-format on */

struct bytes {
    const uint8_t *at, *end;
    bool narrow, wide, segment, byte_rex; /* operands of 16 bits, of 64; addresses of another segment; any REX */
    uint8_t repeat;                       /* f2 or f3, else 0 */
    uint8_t rex_reg, rex_index, rex_base; /* 8 or 0 */
    uint8_t mod, reg, rm;                 /* of ModRM, extended */
    uint8_t base;                         /* of the memory operand: RIP, or NOWHERE if it has an index too, or none */
    int32_t distance;
};

static bool prefixes(struct bytes *b)
{
    for (; b->at < b->end; b->at++)
        switch (*b->at) {
        case 0x66: b->narrow = true; break;
        case 0xf2:
        case 0xf3: b->repeat = *b->at; break;
        case 0x64:
        case 0x65: b->segment = true; break;
        case 0x67: b->segment = true; break; /* 32 bits of an address: as little to be followed */
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x26:
        case 0xf0: break;
        default:
            if ((*b->at & 0xf0) == 0x40) {
                b->wide = *b->at & 8;
                b->rex_reg = (uint8_t)(*b->at << 1 & 8);
                b->rex_index = (uint8_t)(*b->at << 2 & 8);
                b->rex_base = (uint8_t)(*b->at << 3 & 8);
                b->byte_rex = true;
                b->at++;
            }
            return b->at < b->end;
        }
    return false;
}

static bool read_distance(struct bytes *b, unsigned bytes)
{
    int8_t small;

    if ((size_t)(b->end - b->at) < bytes)
        return false;
    if (bytes == 4) {
        memcpy(&b->distance, b->at, 4);
    } else if (bytes == 1) {
        memcpy(&small, b->at, 1);
        b->distance = small;
    }
    b->at += bytes;
    return true;
}

/* ModRM, SIB and displacement. */
static bool operands(struct bytes *b)
{
    uint8_t modrm, sib;

    if (b->at == b->end)
        return false;
    modrm = *b->at++;
    b->mod = modrm >> 6;
    b->reg = (modrm >> 3 & 7) | b->rex_reg;
    b->rm = (modrm & 7) | b->rex_base;
    b->base = b->rm;
    if (b->mod == 3)
        return true;
    if ((modrm & 7) == 4) {
        if (b->at == b->end)
            return false;
        sib = *b->at++;
        b->base = (sib & 7) | b->rex_base;
        if ((sib >> 3 & 7) != 4 || b->rex_index)
            b->segment = true;
        if (b->mod == 0 && (sib & 7) == 5) {
            b->base = MACHINE_NOWHERE;
            return read_distance(b, 4);
        }
    } else if (b->mod == 0 && (modrm & 7) == 5) {
        b->base = MACHINE_RIP;
        return read_distance(b, 4);
    }
    return read_distance(b, b->mod == 1 ? 1 : b->mod == 2 ? 4 : 0);
}

static bool immediate(struct bytes *b, uint8_t what, struct machine *out)
{
    static const uint8_t length[8] = {0, 1, 2, 4, 4, 1, 4, 0};
    unsigned bytes = length[what & IMMEDIATE];
    uint64_t value = 0;

    if ((what & IMMEDIATE) == IZ || (what & IMMEDIATE) == IV) {
        if (b->narrow && !b->wide)
            bytes = 2;
        else if ((what & IMMEDIATE) == IV && b->wide)
            bytes = 8;
    }
    if ((size_t)(b->end - b->at) < bytes)
        return false;
    if (!bytes)
        return true;
    memcpy(&value, b->at, bytes);
    b->at += bytes;
    out->value = bytes == 1   ? (int8_t)value
                 : bytes == 2 ? (int16_t)value
                 : bytes == 4 ? (int32_t)value
                              : (int64_t)value;
    if ((what & IMMEDIATE) >= R8)
        out->target = (uint64_t)b->at + (uint64_t)out->value;
    return true;
}

/* A bit for a register; that of ah..bh is that of rax..rbx. */
static uint16_t bit(const struct bytes *b, uint8_t number, uint8_t what)
{
    if (what & B && !b->byte_rex && number >= 4)
        number -= 4;
    return (uint16_t)(1u << number);
}

static void note_written(const struct bytes *b, uint8_t what, struct machine *out)
{
    if (what & G)
        out->written |= bit(b, b->reg, what);
    if (what & E && b->mod == 3)
        out->written |= bit(b, b->rm, what);
}

static void set(struct machine *out, enum machine_kind kind, uint8_t reg, uint8_t base, int64_t value)
{
    out->kind = (uint8_t)kind;
    out->reg = reg;
    out->base = base;
    out->value = value;
}

/* Moves of 64 bits between registers, and between register and memory. */
static void move(const struct bytes *b, uint8_t opcode, struct machine *out)
{
    uint8_t base = b->segment ? MACHINE_NOWHERE : b->base;

    if (!b->wide)
        return;
    if (opcode == 0x89 && b->mod == 3)
        set(out, MACHINE_MOVE, b->rm, b->reg, 0);
    else if (opcode == 0x8b && b->mod == 3)
        set(out, MACHINE_MOVE, b->reg, b->rm, 0);
    else if (opcode == 0x87 && b->mod == 3)
        set(out, MACHINE_EXCHANGE, b->reg, b->rm, 0);
    else if (b->mod == 3)
        return;
    else if (opcode == 0x89)
        set(out, MACHINE_STORE, b->reg, base, b->distance);
    else if (opcode == 0x8b)
        set(out, MACHINE_LOAD, b->reg, base, b->distance);
    else if (opcode == 0x8d)
        set(out, MACHINE_MOVE, b->reg, base, b->distance);
}

/* Opcodes whose meaning is in the middle of the ModRM byte. */
static bool group(struct bytes *b, uint8_t opcode, uint8_t *what, struct machine *out)
{
    unsigned number = b->reg & 7;

    switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
        if (number == 7)
            *what &= (uint8_t)~E;
        return true;
    case 0x8f: set(out, MACHINE_POP, b->mod == 3 ? b->rm : MACHINE_NOWHERE, 0, 0); return number == 0 && !b->narrow;
    case 0xc6:
    case 0xc7: return number == 0;
    case 0xf6:
    case 0xf7:
        if (number < 2)
            *what |= opcode == 0xf6 ? I8 : IZ;
        else if (number < 4)
            *what |= E;
        else
            out->written |= 1u << MACHINE_RAX | 1u << MACHINE_RDX;
        return true;
    case 0xfe: return number < 2;
    case 0xff:
        if (number == 2)
            out->kind = MACHINE_CALL;
        else if (number == 4)
            set(out, MACHINE_JUMP, 0, b->mod == 0 && !b->segment ? b->base : MACHINE_NOWHERE, b->distance);
        else if (number == 6)
            set(out, MACHINE_PUSH, b->mod == 3 ? b->rm : MACHINE_NOWHERE, 0, 0);
        if (number >= 2)
            *what &= (uint8_t)~E;
        return number < 3 || number == 4 || (number == 6 && !b->narrow);
    default: return true;
    }
}

static const uint16_t strings = 1u << MACHINE_RCX | 1u << MACHINE_RSI | 1u << MACHINE_RDI;

/* Opcodes without a ModRM byte. */
static bool alone(struct bytes *b, uint8_t opcode, struct machine *out)
{
    uint8_t reg = (opcode & 7) | b->rex_base;

    switch (opcode) {
    case 0x50 ... 0x57: set(out, MACHINE_PUSH, reg, 0, 0); return !b->narrow;
    case 0x58 ... 0x5f: set(out, MACHINE_POP, reg, 0, 0); return !b->narrow;
    case 0x68:
    case 0x6a: set(out, MACHINE_PUSH, MACHINE_NOWHERE, 0, 0); return !b->narrow;
    case 0x70 ... 0x7f: out->kind = MACHINE_BRANCH; return true;
    case 0x90 ... 0x97:
        if (reg != MACHINE_RAX && b->wide)
            set(out, MACHINE_EXCHANGE, reg, MACHINE_RAX, 0);
        else if (reg != MACHINE_RAX)
            out->written = (uint16_t)(1u << reg | 1u << MACHINE_RAX);
        return true;
    case 0x99: out->written = 1u << MACHINE_RDX; return true;
    case 0x9c: set(out, MACHINE_PUSH, MACHINE_NOWHERE, 0, 0); return !b->narrow;
    case 0xa4 ... 0xa7:
    case 0xaa ... 0xab:
    case 0xae ... 0xaf: out->written = strings; return true;
    case 0xac:
    case 0xad: out->written = strings | 1u << MACHINE_RAX; return true;
    case 0xb0 ... 0xb7: out->written = bit(b, reg, B); return true;
    case 0xb8 ... 0xbf: set(out, MACHINE_MOVE, reg, MACHINE_NOWHERE, 0); return true;
    case 0xc2:
    case 0xc3: out->kind = MACHINE_RETURN; return !b->narrow;
    case 0xc9: out->kind = MACHINE_LEAVE; return !b->narrow;
    case 0xcc:
    case 0xf1:
    case 0xf4: out->kind = MACHINE_STOP; return true;
    case 0xe0 ... 0xe3:
        out->kind = MACHINE_BRANCH;
        out->written = 1u << MACHINE_RCX;
        return true;
    case 0xe8: out->kind = MACHINE_CALL; return true;
    case 0xe9:
    case 0xeb:
        out->kind = MACHINE_JUMP;
        out->base = MACHINE_NOWHERE;
        return true;
    case 0x98:
    case 0x9f:
    case 0xd7: out->written = 1u << MACHINE_RAX; return true;
    default:
        if (opcode < 0x38) /* arithmetic with rax */
            out->written = 1u << MACHINE_RAX;
        return true;
    }
}

static bool take_one_byte(struct bytes *b, struct machine *out)
{
    uint8_t opcode = *b->at++, what = one_byte[opcode];

    /* A branch behind 66 is read differently by different makers' processors. */
    if (what & X || ((what & IMMEDIATE) >= R8 && b->narrow && !b->wide))
        return false;
    if (!(what & M))
        return immediate(b, what, out) && alone(b, opcode, out);
    if (!operands(b) || !group(b, opcode, &what, out))
        return false;
    if (out->kind == MACHINE_OTHER)
        move(b, opcode, out);
    if (opcode == 0xdf && b->mod == 3)
        out->written = 1u << MACHINE_RAX; /* fnstsw */
    if (out->kind == MACHINE_OTHER)
        note_written(b, what, out);
    if (!immediate(b, what, out))
        return false;
    if ((opcode == 0x81 || opcode == 0x83) && b->wide && b->mod == 3 &&
        ((b->reg & 7) == 0 || (b->reg & 7) == 5 || (b->reg & 7) == 4)) {
        out->written = 0; /* add, sub, and */
        set(out, (b->reg & 7) == 4 ? MACHINE_MASK : MACHINE_MOVE, b->rm, b->rm,
            (b->reg & 7) == 5 ? -out->value : out->value);
    }
    return true;
}

static bool take_two_bytes(struct bytes *b, struct machine *out)
{
    uint8_t opcode, what;

    if (b->at == b->end)
        return false;
    opcode = *b->at++;
    if (opcode == 0x38 || opcode == 0x3a) {
        if (b->at == b->end)
            return false;
        uint8_t second = *b->at++;
        /* movbe, crc32, adcx; pextr */
        what = M | (opcode == 0x3a ? (second >= 0x14 && second <= 0x17 ? E | I8 : I8) : second >= 0xf0 ? G : 0);
        if (opcode == 0x3a && (second == 0x61 || second == 0x63))
            out->written = 1u << MACHINE_RCX;
    } else {
        what = two_bytes[opcode];
        if (opcode == 0xd7)
            what |= G;
        if (opcode == 0x7e && b->repeat == 0xf3)
            what &= (uint8_t)~E;
    }
    if (what & X || ((what & IMMEDIATE) >= R8 && b->narrow && !b->wide))
        return false;
    if (what & M && !operands(b))
        return false;
    if (opcode == 0xba && (b->reg & 7) == 4)
        what &= (uint8_t)~E; /* bt */
    if (opcode == 0xb0 || opcode == 0xb1 || opcode == 0x01 || opcode == 0xc7)
        out->written = 1u << MACHINE_RAX | 1u << MACHINE_RDX | 1u << MACHINE_RCX;
    if (what & M)
        note_written(b, what, out);
    if (opcode >= 0x80 && opcode < 0x90)
        out->kind = MACHINE_BRANCH;
    else if (opcode == 0x0b)
        out->kind = MACHINE_STOP;
    else if (opcode == 0x05 || opcode == 0x31)
        out->written = 1u << MACHINE_RAX | 1u << MACHINE_RCX | 1u << MACHINE_RDX | 1u << 11;
    else if (opcode == 0xa2)
        out->written = 1u << MACHINE_RAX | 1u << MACHINE_RBX | 1u << MACHINE_RCX | 1u << MACHINE_RDX;
    else if (opcode >= 0xc8 && opcode <= 0xcf)
        out->written = (uint16_t)(1u << ((opcode & 7) | b->rex_base));
    return immediate(b, what, out);
}

/* VEX (c4, c5), EVEX (62) and XOP (8f): a map of opcodes, all with a ModRM byte but vzeroupper, and few with other
 * registers than vectors. */
static bool take_vector(struct bytes *b, uint8_t first, struct machine *out)
{
    size_t head = first == 0xc5 ? 2 : first == 0x62 ? 4 : 3;
    const uint8_t *p = b->at;
    uint8_t map, opcode, what;

    if ((size_t)(b->end - p) < head + 1)
        return false;
    map = first == 0xc5 ? 1 : p[1] & (first == 0x62 ? 7 : 31);
    opcode = p[head];
    b->rex_reg = p[1] & 0x80 ? 0 : 8;
    b->rex_index = first == 0xc5 || p[1] & 0x40 ? 0 : 8;
    b->rex_base = first == 0xc5 || p[1] & 0x20 ? 0 : 8;
    b->byte_rex = true;
    uint8_t second = p[head - (first == 0x62 ? 2 : 1)]; /* vvvv, pp */
    b->at += head + 1;
    switch (map) {
    case 1:
        if (opcode == 0x77 && first != 0x62)
            return true;
        what = two_bytes[opcode] & (M | IMMEDIATE);
        if (opcode == 0x50 || opcode == 0x2c || opcode == 0x2d || opcode == 0xc5 || opcode == 0xd7 || opcode == 0x93 ||
            opcode == 0x78 || opcode == 0x79)
            what |= G;
        else if (opcode == 0x7e && (second & 3) != 2)
            what |= E;
        break;
    case 2: what = M | (opcode >= 0xf0 && first != 0x62 ? G : 0); break;
    case 3: what = M | I8 | (opcode >= 0x14 && opcode <= 0x17 ? E : opcode == 0xf0 ? G : 0); break;
    case 5: what = M | G | E; break;
    case 6: what = M; break;
    case 8: what = M | I8; break;
    case 9: what = M | (opcode < 0x80 ? E : 0); break;
    case 10: what = M | G | IZ; break;
    default: return false;
    }
    if (!(what & M) || !operands(b))
        return false;
    note_written(b, what, out);
    if ((map == 2 && (opcode == 0xf3 || opcode == 0xf6) && first != 0x62) ||
        (map == 9 && opcode < 0x80)) /* blsr, mulx: vvvv names another */
        out->written |= (uint16_t)(1u << (~second >> 3 & 15));
    if (map == 3 && (opcode == 0x61 || opcode == 0x63)) /* pcmpistri */
        out->written |= 1u << MACHINE_RCX;
    b->narrow = false;
    return immediate(b, what, out);
}

bool machine_decode(const uint8_t *code, const uint8_t *end, struct machine *out)
{
    struct bytes b = {.at = code, .end = end - code > 15 ? code + 15 : end};
    bool known;

    *out = (struct machine){.kind = MACHINE_OTHER, .base = MACHINE_NOWHERE};
    if (!prefixes(&b))
        return false;
    if (*b.at == 0x0f) {
        b.at++;
        known = take_two_bytes(&b, out);
    } else if (*b.at == 0xc4 || *b.at == 0xc5 || *b.at == 0x62 ||
               (*b.at == 0x8f && b.end - b.at > 1 && (b.at[1] & 31) >= 8)) {
        known = take_vector(&b, *b.at, out);
    } else {
        known = take_one_byte(&b, out);
    }
    out->length = (uint8_t)(b.at - code);
    return known;
}
