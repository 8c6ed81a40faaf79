/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's decoder agrees with a whole one on lengths, branches and written registers, in this program, its
 * libraries and libraries of hand assembly. */
#include "unwind/arch/x86_64/machine.h"
#include "structure/elf.h"
#include "tests/unit/test.h"

#include <Zydis/Zydis.h>
#include <link.h>

static ZydisDecoder decoder;

static int number(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    return whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15 ? -1 : (int)(whole - ZYDIS_REGISTER_RAX);
}

/* A bit for each register that the whole decoder says is written. */
static unsigned written_by(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
    unsigned written = 0;

    for (int i = 0; i < in->operand_count; i++)
        if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER && op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
            number(op[i].reg.value) >= 0)
            written |= 1u << number(op[i].reg.value);
    return written;
}

static unsigned changed_by(const struct machine *m)
{
    switch (m->kind) {
    case MACHINE_PUSH:
    case MACHINE_CALL:
    case MACHINE_RETURN: return 1u << MACHINE_RSP;
    case MACHINE_POP: return 1u << MACHINE_RSP | (m->reg < MACHINE_REGISTERS ? 1u << m->reg : 0);
    case MACHINE_MOVE:
    case MACHINE_MASK:
    case MACHINE_LOAD: return 1u << m->reg;
    case MACHINE_EXCHANGE: return 1u << m->reg | 1u << m->base;
    case MACHINE_LEAVE: return 1u << MACHINE_RSP | 1u << MACHINE_RBP;
    default: return m->written;
    }
}

static bool goes_elsewhere(unsigned kind)
{
    return kind == MACHINE_CALL || kind == MACHINE_JUMP || kind == MACHINE_BRANCH || kind == MACHINE_RETURN;
}

static bool agree(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op, const struct machine *m,
                  const uint8_t *code)
{
    enum { STACK = 1u << MACHINE_RSP | 1u << MACHINE_RBP };
    unsigned category = in->meta.category, written = written_by(in, op), changed = changed_by(m);
    bool elsewhere = (category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR ||
                      category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET) &&
                     in->mnemonic != ZYDIS_MNEMONIC_XEND;

    if (m->length != in->length || goes_elsewhere(m->kind) != elsewhere)
        return false;
    if (in->raw.imm[0].is_relative && elsewhere &&
        m->target != (uint64_t)code + in->length + (uint64_t)in->raw.imm[0].value.s)
        return false;
    /* No write may be missed; of the stack and frame pointer none may be invented either. */
    return !(written & ~changed) && (written & STACK) == (changed & STACK);
}

struct tally {
    uint64_t all, known, wrong;
};

static void sweep(const uint8_t *code, size_t size, struct tally *t)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    struct machine m;

    for (size_t at = 0; at < size && t->wrong < 20; at += in.length) {
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &in, op))) {
            in.length = 1;
            continue;
        }
        t->all++;
        if (!machine_decode(code + at, code + size, &m))
            continue;
        t->known++;
        if (agree(&in, op, &m, code + at))
            continue;
        t->wrong++;
        fprintf(stderr, "#");
        for (size_t i = 0; i < in.length; i++)
            fprintf(stderr, " %02x", code[at + i]);
        fprintf(stderr, ": %s, %u bytes, writes %x; taken for %u bytes, kind %u, writing %x\n",
                ZydisMnemonicGetString(in.mnemonic), in.length, written_by(&in, op), m.length, m.kind, changed_by(&m));
    }
}

static void sweep_file(const char *path, struct tally *t)
{
    AUTO_ERROR struct hq_error *err = NULL;
    struct elf *elf = NULL;
    const uint8_t *data;
    size_t size;

    err = elf_open(path, &elf);
    if (!err && elf_read_section(elf, ".text", &data, &size))
        sweep(data, size, t);
    elf_close(elf);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *tally)
{
    (void)size;
    sweep_file(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", tally);
    return 0;
}

TEST(agrees_with_a_whole_decoder_on_real_code)
{
    static const char *const assembly[] = {"libx264.so.164", "libdav1d.so.6", "libgmp.so.10", "libcrypto.so.3",
                                           "libnettle.so.8"};
    struct tally t = {0};
    char path[256];

    CHECK(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
    dl_iterate_phdr(add_module, &t);
    for (size_t i = 0; i < sizeof assembly / sizeof *assembly; i++) {
        snprintf(path, sizeof path, "/usr/lib/x86_64-linux-gnu/%s", assembly[i]);
        sweep_file(path, &t);
    }
    CHECK(!t.wrong);
    CHECK(t.all > 500000);
    CHECK(t.known > t.all / 1000 * 995);
    fprintf(stderr, "# %lu of %lu instructions are known\n", (unsigned long)t.known, (unsigned long)t.all);
}

TEST(never_reads_behind_the_end)
{
    static const uint8_t code[] = {0x66, 0x48, 0xc7, 0x84, 0x85, 1, 2, 3, 4, 5, 6, 7, 8};
    struct machine out;

    /* The sanitizers see a byte too much. */
    for (size_t n = 1; n <= sizeof code; n++) {
        uint8_t *copy = malloc(n);

        memcpy(copy, code, n);
        CHECK(machine_decode(copy, copy + n, &out) == (n == sizeof code));
        free(copy);
    }
}

TEST_MAIN
