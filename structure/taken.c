/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/taken.h"
#include "common/map.h"
#include "structure/arch/arch.h"
#include "structure/debugfile.h"
#include "structure/image.h"
#include "structure/symbols.h"

#include <string.h>

enum { REGISTERS = 32, MOST_APART = 16, LONGEST_OPCODE = 3 };

struct search {
    const struct elf *text;
    struct map procedures;
    uint64_t low, high; /* of them */
    struct taken_list *out;
};

static bool is_sought(const struct search *s, uint64_t address)
{
    return address >= s->low && address <= s->high && map_find(&s->procedures, address);
}

/* Whether the instruction that begins there and ends behind `end` computes the address. */
static bool computes(const struct search *s, const uint8_t *code, const uint8_t *end, uint64_t address,
                     uint64_t procedure)
{
    struct insn insn;
    struct insn_detail detail;

    insn_decode(s->text->machine, code, (size_t)(end - code), address, &insn);
    if (insn.length != end - code)
        return false;
    insn_decode_detail(s->text->machine, code, insn.length, address, &detail);
    return detail.form == INSN_FORM_ADDRESS && detail.value == procedure;
}

/* Instructions of any length: the four bytes of the address, or of the distance to it, are what is rare. */
static void search_bytes(const struct search *s, const uint8_t *code, uint64_t low, uint64_t high)
{
    for (uint64_t at = low + LONGEST_OPCODE; at + 4 <= high; at++) {
        const uint8_t *p = code + (at - low);
        int32_t value;

        memcpy(&value, p, sizeof value);
        uint64_t near = at + 4 + (uint64_t)(int64_t)value, procedure = is_sought(s, near) ? near : (uint32_t)value;

        if (!is_sought(s, procedure))
            continue;
        for (int opcode = LONGEST_OPCODE; opcode >= 1; opcode--)
            if (computes(s, p - opcode, p + 4, at - (uint64_t)opcode, procedure)) {
                vec_push(s->out, (struct taken){procedure, at - (uint64_t)opcode});
                break;
            }
    }
}

/* Instructions of one length, which compute the page first, and then what lies in it. */
static void search_pairs(const struct search *s, const uint8_t *code, uint64_t low, uint64_t high, uint8_t unit)
{
    struct {
        uint64_t value, at;
    } held[REGISTERS] = {0};

    for (uint64_t at = low; at + unit <= high; at += unit) {
        struct insn_detail d;
        uint64_t value;

        insn_decode_detail(s->text->machine, code + (at - low), unit, at, &d);
        if (d.form == INSN_FORM_ADDRESS)
            value = d.value;
        else if (d.form == INSN_FORM_ADD_VALUE && d.source < REGISTERS && held[d.source].at &&
                 at - held[d.source].at <= (uint64_t)MOST_APART * unit)
            value = held[d.source].value + d.value;
        else
            continue;
        if (is_sought(s, value))
            vec_push(s->out, (struct taken){value, at});
        else if (d.reg < REGISTERS)
            held[d.reg].value = value, held[d.reg].at = at;
    }
}

/* Returns the first byte of the symbol that holds the address, UINT64_MAX if none does. */
static uint64_t begin_of(const struct symbols *symbols, uint64_t inside)
{
    const struct symbol *x = symbols_find(symbols, inside);

    return x && inside < x->end ? x->address : UINT64_MAX;
}

static void search(struct search *s)
{
    uint8_t unit = arch_of(s->text->machine)->unit;

    for (size_t i = 0; i < s->text->code_count; i++) {
        const struct elf_span *span = &s->text->code[i];
        size_t available;
        const uint8_t *code = elf_at(s->text, span->low, &available);
        uint64_t high = code && span->high - span->low > available ? span->low + available : span->high;

        if (code && unit == 1)
            search_bytes(s, code, span->low, high);
        else if (code)
            search_pairs(s, code, span->low, high, unit);
    }
}

/* Addresses as they were linked; zeros, which are none, where a linker leaves them to relocations. */
static void read_offloaded(struct elf *text, struct offloaded_list *out)
{
    const uint8_t *data;
    size_t size;
    uint64_t address;

    if (!elf_read_section(text, ".gnu.offload_funcs", &data, &size))
        return;
    for (size_t at = 0; at + sizeof address <= size; at += sizeof address) {
        memcpy(&address, data + at, sizeof address);
        if (address)
            vec_push(out, address);
    }
}

void taken_find(const char *path, const struct structure_options *options, const uint64_t *inside, size_t count,
                struct taken_list *out, struct offloaded_list *offloaded)
{
    struct elf *text = NULL;
    AUTO_ERROR struct hq_error *err = elf_open(path, &text);
    struct debug_file files;
    struct symbols symbols;
    struct search s = {.text = text, .low = UINT64_MAX, .out = out};

    if (err || !image_is_expected(text, options)) {
        elf_close(text);
        return;
    }
    debug_file_find(text, false, &files);
    symbols_read(text, files.debug, &symbols);
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = begin_of(&symbols, inside[i]);

        if (begin == UINT64_MAX)
            continue;
        map_put(&s.procedures, begin, 1);
        s.low = begin < s.low ? begin : s.low;
        s.high = begin > s.high ? begin : s.high;
    }
    if (s.procedures.len)
        search(&s);
    read_offloaded(text, offloaded);
    map_deinit(&s.procedures);
    symbols_deinit(&symbols);
    debug_file_close(&files, text);
    elf_close(text);
}
