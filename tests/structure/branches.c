/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what `objdump -d` prints of aarch64 code, and holds the decoder against it: kinds and targets of every
 * instruction. Prints how many there were, of control flow, and that differ. */
#include "structure/arch/arch.h"

#include <stdio.h>
#include <string.h>

const struct arch arch_x86_64;

/* By the mnemonics of binutils. */
static enum insn_kind kind_of(const char *name)
{
    static const struct {
        const char *name;
        enum insn_kind kind;
    } whole[] = {{"b", INSN_JUMP},           {"b.al", INSN_JUMP},   {"b.nv", INSN_JUMP},
                 {"cbz", INSN_BRANCH},       {"cbnz", INSN_BRANCH}, {"tbz", INSN_BRANCH},
                 {"tbnz", INSN_BRANCH},      {"bl", INSN_CALL},     {"blr", INSN_CALL_INDIRECT},
                 {"br", INSN_JUMP_INDIRECT}, {"eret", INSN_RETURN}, {"drps", INSN_RETURN},
                 {"nop", INSN_NOP},          {"brk", INSN_STOP},    {"hlt", INSN_STOP},
                 {"udf", INSN_STOP}},
      begins[] = {{"b.", INSN_BRANCH},
                  {"bc.", INSN_BRANCH},
                  {"blra", INSN_CALL_INDIRECT},
                  {"braa", INSN_JUMP_INDIRECT},
                  {"brab", INSN_JUMP_INDIRECT},
                  {"ret", INSN_RETURN},
                  {".", INSN_STOP}};

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(name, whole[i].name))
            return whole[i].kind;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(name, begins[i].name, strlen(begins[i].name)))
            return begins[i].kind;
    return INSN_OTHER;
}

/* The last operand, before a symbol or a comment. */
static unsigned long target_of(char *operands)
{
    unsigned long target = 0;
    char *last;

    operands[strcspn(operands, "</")] = 0;
    last = strrchr(operands, ',');
    sscanf(last ? last + 1 : operands, "%lx", &target);
    return target;
}

int main(void)
{
    unsigned long address, all = 0, control = 0, different = 0;
    char line[512], name[64], operands[256];
    unsigned word;

    while (fgets(line, sizeof line, stdin)) {
        struct insn insn;
        uint8_t bytes[4];

        operands[0] = 0;
        if (line[0] != ' ' || sscanf(line, " %lx:\t%x %63s %255[^\n]", &address, &word, name, operands) < 3)
            continue;
        memcpy(bytes, &word, sizeof bytes);
        arch_aarch64.decode(bytes, sizeof bytes, address, &insn);
        enum insn_kind kind = kind_of(name);
        bool direct = kind == INSN_JUMP || kind == INSN_BRANCH || kind == INSN_CALL;
        all++;
        control += kind != INSN_OTHER;
        if (insn.kind == kind && (!direct || insn.target == target_of(operands)))
            continue;
        if (different++ < 5)
            printf("kind %d, target %lx: %s", insn.kind, (unsigned long)insn.target, line);
    }
    printf("%lu instructions, %lu of control flow, %lu differ\n", all, control, different);
    return different || control < 10000;
}
