/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What machine code says about the stack is what the compiler's call frame information says, wherever there is both: in
 * this program and its libraries, every procedure is read as if it had none.
 */
#include "preload/arch/x86_64/rule.h"
#include "preload/walk/modules.h"
#include "preload/walk/recipe.h"
#include "preload/raw.h"
#include "tests/unit/test.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

/* A directory of modules for the library's parts that are linked here. */
enum { MOST = 64 };
static struct module modules[MOST];
static struct index indices[MOST];
static uint32_t count;
volatile int raw_frozen;
struct modules_unloading modules_unloading;

const struct module *modules_get(uint32_t number)
{
    return &modules[number - 1];
}

bool modules_is_text(uint32_t number, uint64_t address)
{
    const struct module *m = modules_get(number);

    return address >= m->text[0].start && address < m->text[0].end;
}

bool modules_may_go(uint32_t number)
{
    (void)number;
    return false;
}

uint32_t modules_copy(uint64_t address)
{
    (void)address;
    return 0;
}

bool modules_find(uint64_t address, struct code *code)
{
    uint32_t i = 0;

    while (i < count && (address < modules[i].start || address >= modules[i].end))
        i++;
    if (i == count)
        return false;
    *code = (struct code){i + 1, modules[i].eh_frame_hdr, &indices[i], modules[i].start, modules[i].end};
    return true;
}

/* By the program headers, as any C library gives them. */
static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module *m = &modules[count];

    (void)size, (void)data;
    if (count == MOST)
        return 1;
    *m = (struct module){.start = UINT64_MAX, .path = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *h = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + h->p_vaddr, end = start + h->p_memsz;

        if (h->p_type == PT_GNU_EH_FRAME)
            m->eh_frame_hdr = (const uint8_t *)start;
        if (h->p_type != PT_LOAD)
            continue;
        m->start = start < m->start ? start : m->start;
        m->end = end > m->end ? end : m->end;
        if (h->p_flags & PF_X && !m->text[0].end) {
            m->text[0].start = start;
            m->text[0].end = end;
        }
    }
    count += m->text[0].end != 0;
    return 0;
}

/* Registers far from each other, and nothing in memory. */
enum { SP = 0x70000000, BP = 0x60000000, WRONG_MAX = 10 };

static bool no_memory(void *where, uint64_t address, uint64_t *value)
{
    (void)where, (void)address, (void)value;
    return false;
}

static struct cfi cfi, scratch;
static struct follow follow = {.load = no_memory, .rule = recipe_rule, .scratch = &scratch};
static struct {
    unsigned long all, certain, uncertain, wrong_certain, wrong_uncertain;
} tally;

static bool has_simple_row(void)
{
    const struct cfi_row *row = &cfi.row;

    return row->cfa_rule == CFI_REGISTER && (row->cfa_register == CFI_SP || row->cfa_register == CFI_FP) &&
           row->rule[CFI_PC] == CFI_OFFSET;
}

/* In an epilogue the rule of a register that was popped may still stand. */
static bool same_rbp(const struct follow_value *value, uint64_t cfa)
{
    uint64_t saved = cfa + (uint64_t)(int64_t)cfi.row.value[CFI_FP];

    if (cfi.row.rule[CFI_FP] == CFI_OFFSET && value->kind == FOLLOW_AT)
        return value->word == saved;
    return value->kind == FOLLOW_VALUE && value->origin == MACHINE_RBP &&
           (cfi.row.rule[CFI_FP] == CFI_SAME || saved < SP);
}

static void compare(uint64_t address, uint64_t start, uint64_t end)
{
    uint64_t reg[CFI_REGISTERS], cfa;
    const struct follow_exit *exit = follow.exit;

    for (int i = 0; i < CFI_REGISTERS; i++)
        reg[i] = 0x100000000ull * (uint64_t)(i + 1);
    reg[CFI_SP] = SP;
    reg[CFI_FP] = BP;
    reg[CFI_PC] = address;
    follow.start = start;
    follow.end = end;
    tally.all++;
    if (!follow_out(&follow, reg, (1u << CFI_REGISTERS) - 1) || follow.disagree || follow.exits > 1 ||
        follow.doubts > 1)
        return;
    if (exit->at.origin != (cfi.row.cfa_register == CFI_SP ? MACHINE_RSP : MACHINE_RBP))
        return; /* a frame that has a frame pointer can be told by either */
    cfa = reg[cfi.row.cfa_register] + (uint64_t)(int64_t)cfi.row.cfa_value;
    bool same = exit->at.word == cfa - 8 && same_rbp(&exit->reg[MACHINE_RBP], cfa);
    if (follow.doubts)
        tally.uncertain++, tally.wrong_uncertain += !same;
    else
        tally.certain++, tally.wrong_certain += !same;
    if (!same && tally.wrong_certain + tally.wrong_uncertain < WRONG_MAX)
        fprintf(stderr, "# %#lx in %#lx..%#lx: %lx, not %lx; doubts %u\n", address, start, end, exit->at.word, cfa - 8,
                follow.doubts);
}

/* Never reached behind a jump, and so of no height. */
static bool is_padding(uint64_t address, uint64_t end)
{
    const uint8_t *code = (const uint8_t *)address;

    return address + 1 < end && (*code == 0x90 || *code == 0x66 || *code == 0x2e || (*code == 0x0f && code[1] == 0x1f));
}

/* Every `step`th instruction that can be reached. */
static uint64_t sweep_procedure(const struct code *code, unsigned step)
{
    static unsigned number;
    uint64_t start = cfi.start, end = cfi.row_end, address;
    struct machine m;

    if (cfi.signal_frame)
        return end;

    while (cfi_find(end, code, &cfi) && cfi.start == start)
        end = cfi.row_end;
    for (address = start; address < end && machine_decode((const uint8_t *)address, (const uint8_t *)end, &m);
         address += m.length) {
        if (number++ % step == 0 && cfi_find(address, code, &cfi) && has_simple_row())
            compare(address, start, end);
        bool on = m.kind != MACHINE_RETURN && m.kind != MACHINE_JUMP && m.kind != MACHINE_STOP &&
                  m.kind != MACHINE_CALL;
        while (!on && is_padding(address + m.length, end)) {
            address += m.length;
            if (!machine_decode((const uint8_t *)address, (const uint8_t *)end, &m))
                return end;
        }
    }
    return end;
}

/* A frame of nine pages, each of which is touched first: gcc -fstack-clash-protection. */
void probing(void);
__asm__(".text\n.type probing, @function\nprobing: .cfi_startproc\n"
        "push %rbx\n.cfi_def_cfa_offset 16\n.cfi_offset 3, -16\n"
        "lea -0x8000(%rsp), %r11\n.cfi_def_cfa 11, 0x8010\n"
        "1: sub $0x1000, %rsp\norq $0, (%rsp)\ncmp %r11, %rsp\njne 1b\n.cfi_def_cfa_register 7\n"
        "sub $0x98, %rsp\n.cfi_def_cfa_offset 0x80a8\nxor %eax, %eax\n"
        "add $0x8098, %rsp\n.cfi_def_cfa_offset 16\npop %rbx\n.cfi_def_cfa_offset 8\nret\n"
        ".cfi_endproc\n.size probing, . - probing\n");

TEST(frames_whose_pages_are_touched_first)
{
    struct code code;

    dl_iterate_phdr(add_module, NULL);
    memset(&tally, 0, sizeof tally);
    CHECK_OR_RETURN(modules_find((uint64_t)probing, &code) && cfi_find((uint64_t)probing, &code, &cfi));
    sweep_procedure(&code, 1);
    CHECK(tally.certain == 7);
    CHECK(tally.wrong_certain + tally.wrong_uncertain == 0);
    memset(&tally, 0, sizeof tally);
    count = 0;
}

/* A procedure at `code` that calls one of many jumps, which does not come back, and then returns; what it pops is 24
 * bytes. Its way out was missed, or not, by where the loader had put it. */
enum { JUMPS = 150, FRAME = 24, CODE_BYTES = 1024 };

static void write_caller(uint8_t *code)
{
    static const uint8_t caller[] = {0xe8, 6, 0, 0, 0, 0x48, 0x83, 0xc4, FRAME, 0xc3, 0xcc}; /* call; add; ret; int3 */
    uint8_t *at = code + sizeof caller;

    memcpy(code, caller, sizeof caller);
    for (int i = 0; i < JUMPS; i++, at += 2)
        memcpy(at, (uint8_t[]){0xeb, 0}, 2);
    memcpy(at, (uint8_t[]){0x0f, 0x0b}, 2); /* ud2 */
}

TEST(way_out_behind_a_call_of_much_code_wherever_it_lies)
{
    static uint8_t memory[64 * CODE_BYTES];
    struct follow f = {.load = no_memory, .rule = recipe_rule, .scratch = &scratch};
    unsigned found = 0;

    for (uint8_t *code = memory; code < memory + sizeof memory; code += CODE_BYTES + 16) {
        uint64_t reg[CFI_REGISTERS] = {[CFI_SP] = SP, [CFI_PC] = (uint64_t)code};

        if (code + CODE_BYTES > memory + sizeof memory)
            break;
        write_caller(code);
        f.start = (uint64_t)code;
        f.end = f.start + CODE_BYTES;
        found += follow_out(&f, reg, 1u << CFI_SP | 1u << CFI_PC) && f.exits == 1 && f.exit[0].at.word == SP + FRAME;
    }
    CHECK_EQ_INT(found, 63);
}

TEST(agrees_with_call_frame_information)
{
    static const char *const libraries[] = {"libzstd.so.1", "libpcre2-8.so.0", "libz.so.1", "libreadline.so.8",
                                            "libgmp.so.10"};
    struct code code;

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        dlopen(libraries[i], RTLD_LAZY);
    dl_iterate_phdr(add_module, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const struct module *m = &modules[i];

        /* The assembly of the C library and of OpenSSL has wrong call frame information in places, and procedures that
         * do not return where they were called. */
        if (strstr(m->path, "libc.so") || strstr(m->path, "libcrypto") || strstr(m->path, "ld-linux") ||
            strstr(m->path, "san.so") || !modules_find(m->text[0].start, &code))
            continue;
        for (uint64_t at = m->text[0].start; at < m->text[0].end;) {
            uint64_t from = m->text[0].start, to = m->text[0].end;

            if (cfi_find(at, &code, &cfi)) {
                at = sweep_procedure(&code, 40);
            } else {
                cfi_gap(at, &code, &scratch, &from, &to);
                CHECK_OR_RETURN(from <= at && to > at);
                at = to;
            }
        }
    }
    fprintf(stderr, "# %lu places: %lu certain, %lu of them wrong; %lu uncertain, %lu of them wrong\n", tally.all,
            tally.certain, tally.wrong_certain, tally.uncertain, tally.wrong_uncertain);
    CHECK(tally.all > 5000);
    CHECK(tally.certain + tally.uncertain > tally.all / 100 * 85);
    CHECK(tally.wrong_certain * 10000 <= tally.certain);
    CHECK(tally.wrong_uncertain * 1000 <= tally.uncertain);
}

TEST_MAIN
