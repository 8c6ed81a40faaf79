/* SPDX-License-Identifier: BSD-3-Clause */
/* Every instruction in this program and its libraries, and in every single mutation of some, is what the whole decoder
 * says it is. */
#include "tests/unit/test.h"
#include "structure/elf.h"
#include "structure/arch/insn_quick.h"
#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <link.h>

static ZydisDecoder decoder;

static enum insn_kind kind_of(const ZydisDecodedInstruction *in)
{
    bool direct = in->raw.imm[0].size && in->raw.imm[0].is_relative;

    switch (in->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return INSN_BRANCH;
    case ZYDIS_CATEGORY_UNCOND_BR: return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
    case ZYDIS_CATEGORY_CALL: return direct ? INSN_CALL : INSN_CALL_INDIRECT;
    case ZYDIS_CATEGORY_RET: return INSN_RETURN;
    default: break;
    }
    if (in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_INT3)
        return INSN_STOP;
    return in->mnemonic == ZYDIS_MNEMONIC_NOP ? INSN_NOP : INSN_OTHER;
}

/* 1 if both know the instruction and agree, 0 if one of them does not know it, -1 if they differ. */
static int compare(const uint8_t *code, size_t size)
{
    ZydisDecodedInstruction in;
    struct insn quick;

    if (!insn_quick(code, size, 0x1000, &quick) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, size, &in)))
        return 0;
    bool direct = in.raw.imm[0].size && in.raw.imm[0].is_relative;
    uint64_t target = direct ? 0x1000 + in.length + (uint64_t)in.raw.imm[0].value.s : 0;
    if (quick.length == in.length && quick.kind == kind_of(&in) && quick.target == target)
        return 1;
    fprintf(stderr, "#");
    for (size_t i = 0; i < 15 && i < size; i++)
        fprintf(stderr, " %02x", code[i]);
    fprintf(stderr, ": %u bytes, kind %u, is %u bytes, kind %u\n", quick.length, quick.kind, in.length, kind_of(&in));
    return -1;
}

struct tally {
    uint64_t all, quick, wrong;
};

static void sweep(const uint8_t *code, size_t size, struct tally *t)
{
    ZydisDecodedInstruction in;

    for (size_t at = 0; at < size && t->wrong < 10;) {
        int result = compare(code + at, size - at);

        t->all++;
        t->quick += result == 1;
        t->wrong += result < 0;
        at += ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at, &in)) ? in.length : 1;
    }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    AUTO_ERROR struct hq_error *err = NULL;
    struct elf *elf;
    const uint8_t *data;

    (void)size;
    err = elf_open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", &elf);
    if (!err && elf_read_section(elf, ".text", &data, &size))
        sweep(data, size, arg);
    elf_close(elf);
    return 0;
}

TEST(agrees_with_the_decoder_on_real_code)
{
    struct tally t = {0};

    CHECK(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
    dl_iterate_phdr(add_module, &t);
    CHECK(!t.wrong);
    CHECK(t.all > 500000);
    /* It is there to be asked. */
    CHECK(t.quick > t.all * 9 / 10);
}

TEST(agrees_on_mutations)
{
    static const char *const bases[] = {
        "\x48\x8b\x44\x24\x08\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90",
        "\x66\x0f\x6f\x05\x01\x02\x03\x04\x90\x90\x90\x90\x90\x90\x90",
        "\xc5\xf8\x28\x04\x24\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90",
        "\x62\xf1\x7c\x48\x10\x44\x24\x01\x90\x90\x90\x90\x90\x90\x90",
        "\xc4\xe3\x7d\x19\xc1\x01\x90\x90\x90\x90\x90\x90\x90\x90\x90",
        "\x0f\x84\x01\x02\x03\x04\x90\x90\x90\x90\x90\x90\x90\x90\x90",
        "\xf2\x41\xff\xe2\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90",
        "\x66\x48\xc7\x84\x85\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a",
    };
    int wrong = 0;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        for (int first = 0; first < 256; first++)
            for (int place = 0; place < 4; place++)
                for (int second = 0; second < 256; second++) {
                    uint8_t code[15];

                    memcpy(code, bases[i], sizeof code);
                    code[place] = (uint8_t)first;
                    code[place + 1] = (uint8_t)second;
                    wrong += wrong < 10 && compare(code, sizeof code) < 0;
                }
    CHECK(!wrong);
}

TEST(never_reads_behind_the_end)
{
    static const uint8_t code[] = {0x66, 0x48, 0xc7, 0x84, 0x85, 1, 2, 3, 4, 5, 6, 7, 8};
    struct insn out;

    /* The sanitizers see a byte too much. */
    for (size_t n = 1; n <= sizeof code; n++) {
        uint8_t *copy = malloc(n);

        memcpy(copy, code, n);
        CHECK(!insn_quick(copy, n, 0, &out) || out.length <= n);
        free(copy);
    }
}

TEST_MAIN
