/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/elf_kind.h"

#include "common/mem.h"
#include "common/str.h"
#include <string.h>

#ifndef EM_LOONGARCH /* glibc before 2.33 */
#define EM_LOONGARCH 258
#endif

static const struct {
    const char *magic;
    size_t len;
    const char *what;
} kinds[] = {
    {"#!", 2, "a script; what runs is its interpreter"},
    {"!<arch>\n", 8, "an archive of object files; link it into a program first"},
    {"!<thin>\n", 8, "an archive of object files; link it into a program first"},
    {"MZ", 2, "a program for Windows"},
    {"\xcf\xfa\xed\xfe", 4, "a program for macOS"},
    {"\xca\xfe\xba\xbe", 4, "Java bytecode or a program for macOS"},
    {"BC\xc0\xde", 4, "LLVM bitcode; compile and link it first"},
    {"\0asm", 4, "WebAssembly"},
    {"\x1f\x8b", 2, "a file compressed by gzip; decompress it first"},
    {"\xfd"
     "7zXZ",
     5, "a file compressed by xz; decompress it first"},
    {"\x28\xb5\x2f\xfd", 4, "a file compressed by zstd; decompress it first"},
};

struct machine {
    uint16_t number; /* EM_* */
    const char *name;
};

static const struct machine known[] = {
#define MACHINE(number, file, name) {number, name},
#include "structure/arch/machines.def"
#undef MACHINE
};

static const struct machine others[] = {
    {EM_386, "32-bit x86"}, {EM_ARM, "32-bit Arm"},  {EM_RISCV, "RISC-V"},        {EM_PPC64, "PowerPC"},
    {EM_S390, "IBM Z"},     {EM_MIPS, "MIPS"},       {EM_LOONGARCH, "LoongArch"}, {EM_BPF, "BPF"},
    {EM_CUDA, "CUDA"},      {EM_AMDGPU, "AMD GPUs"},
};

static struct hq_error *not_elf(const char *path, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size >= kinds[i].len && !memcmp(data, kinds[i].magic, kinds[i].len))
            return hq_error_new(HQ_DATA, "%s: not an ELF file but %s", path, kinds[i].what);
    return hq_error_new(HQ_DATA, "%s: not an ELF file", path);
}

/* Appends their names, the last one behind `last`: "x86-64 and aarch64". */
static void add_known(struct str *s, const char *last)
{
    const size_t count = sizeof known / sizeof *known;

    for (size_t i = 0; i < count; i++)
        str_addf(s, "%s%s", !i ? "" : i + 1 < count ? ", " : last, known[i].name);
}

static struct hq_error *other_machine(const char *path, const uint8_t *data, const Elf64_Ehdr *header)
{
    AUTO_STR struct str all = {0}, any = {0};

    add_known(&all, " and ");
    add_known(&any, " or ");
    if (data[EI_DATA] == ELFDATA2LSB)
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (others[i].number == header->e_machine)
                return hq_error_new(HQ_DATA, "%s: an ELF file for %s; hq knows the code of %s only", path,
                                    others[i].name, str_cstr(&all));
    return hq_error_new(HQ_DATA, "%s: an ELF file, but not for %s", path, str_cstr(&any));
}

static bool is_known(uint16_t machine)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == machine)
            return true;
    return false;
}

struct hq_error *elf_check_kind(const char *path, const uint8_t *data, size_t size, Elf64_Ehdr *header)
{
    if (!size)
        return hq_error_new(HQ_DATA, "%s: an empty file", path);
    if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG))
        return not_elf(path, data, size);
    if (size < sizeof *header)
        return hq_error_new(HQ_DATA, "%s: an ELF file that is cut short (only %zu bytes)", path, size);
    memcpy(header, data, sizeof *header);
    if (data[EI_CLASS] != ELFCLASS64 || data[EI_DATA] != ELFDATA2LSB || !is_known(header->e_machine))
        return other_machine(path, data, header);
    return NULL;
}

struct hq_error *elf_check_linked(const struct elf *elf)
{
    if (elf->type == ET_CORE)
        return hq_error_new(HQ_DATA, "%s: a core file; ask for the program that dumped it", elf->path);
    /* Addresses in it are not decided yet: every section starts at 0. */
    if (elf->type == ET_REL)
        return hq_error_new(
            HQ_DATA,
            "%s: an object file or kernel module, which gets its addresses only when it is linked or loaded; "
            "ask for a linked program or library",
            elf->path);
    return NULL;
}
