/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/ways_jump.h"

#include <elf.h>
#include <string.h>

/* Does the instruction do the same at another place, and go on behind itself? *fix: where in it a distance lies. */
static bool is_movable(const struct image *image, const struct insn *insn, uint8_t *fix)
{
    size_t available;
    const uint8_t *code = elf_at(image->text, insn->address, &available);
    struct insn_detail d;

    *fix = 0;
    if ((insn->kind != INSN_OTHER && insn->kind != INSN_NOP) || !code || available < insn->length)
        return false;
    insn_decode_detail(EM_X86_64, code, insn->length, insn->address, &d);
    *fix = d.displacement_at;
    return !d.relative || d.displacement_at;
}

static bool is_within(uint64_t address, uint64_t low, uint64_t high)
{
    return address >= low && address < high;
}

/* Does a block of the procedure begin there? Blocks begin at all targets of jumps and at landing pads. */
static bool has_block(const struct cfg *g, uint64_t low, uint64_t high)
{
    vec_foreach(block, &g->blocks)
        if (is_within(g->insns.data[block->first].address, low, high))
            return true;
    return false;
}

/* Is there a jump of the procedure to it? */
static bool is_jumped_to(const struct cfg *g, uint64_t low, uint64_t high)
{
    vec_foreach(insn, &g->insns)
        if ((insn->kind == INSN_BRANCH || insn->kind == INSN_JUMP) && is_within(insn->target, low, high))
            return true;
    vec_foreach(block, &g->blocks) {
        if (g->insns.data[block->first + block->count - 1].kind != INSN_JUMP_INDIRECT)
            continue;
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t next = g->successors.data[block->first_successor + i];
            if (is_within(g->insns.data[g->blocks.data[next].first].address, low, high))
                return true;
        }
    }
    return false;
}

/* The bytes behind `address` that only fill, `most` at the most. */
static uint8_t padding(const struct image *image, uint64_t address, uint8_t most)
{
    const struct symbol *next = symbols_after(&image->symbols, address - 1);
    uint8_t bytes = 0;

    while (bytes < most) {
        uint64_t at = address + bytes;
        size_t available;
        const uint8_t *code = elf_at(image->text, at, &available);
        struct insn insn;

        if (!code || !available)
            break;
        insn_decode(EM_X86_64, code, available, at, &insn);
        bool fills = *code == 0xcc || (insn.kind == INSN_NOP && *code != 0xf3); /* endbr64 is where somebody comes */
        if (!fills)
            break;
        bytes = (uint8_t)(bytes + insn.length);
    }
    bytes = bytes < most ? bytes : most;
    return next && next->address < address + bytes ? (uint8_t)(next->address - address) : bytes;
}

/* Another procedure, by its unwind information, begins behind `low`. */
static bool has_other(const struct image *image, uint64_t entry, uint64_t low, uint64_t high)
{
    const struct frame *own = frames_find(&image->frames, entry);

    for (uint64_t at = low; at < high; at++) {
        const struct frame *frame = frames_find(&image->frames, at);
        if (frame && frame != own)
            return true;
    }
    return false;
}

static void set_jump(const struct image *image, struct hqp_place *p, uint64_t jump, uint8_t taken, uint8_t fix)
{
    size_t available;
    const uint8_t *code = elf_at(image->text, jump, &available);
    uint8_t over = taken < HQP_JUMP_BYTES ? HQP_JUMP_BYTES : taken;

    if (!code || available < over || over > sizeof p->moved)
        return;
    p->jump = jump;
    p->taken = taken;
    p->over = over;
    p->fix = fix;
    memcpy(p->moved, code, over);
}

static void find_at_entry(const struct image *image, const struct cfg *g, uint32_t i, struct hqp_place *p)
{
    uint8_t taken = 0, fix = 0;

    for (; taken < HQP_JUMP_BYTES; i++) {
        const struct insn *insn = &g->insns.data[i];
        uint8_t inner;

        if (i >= g->insns.len || insn->address != p->address + taken || !is_movable(image, insn, &inner))
            return;
        fix = inner ? (uint8_t)(taken + inner) : fix;
        taken = (uint8_t)(taken + insn->length);
    }
    if (!has_block(g, p->address + 1, p->address + taken))
        set_jump(image, p, p->address, taken, fix);
}

/* Takes as many instructions in front of the way out as are needed beside the padding behind it. */
static void find_at_exit(const struct image *image, const struct cfg *g, uint32_t i, struct hqp_place *p)
{
    uint64_t end = p->address + p->length, start = p->address;
    uint8_t length = p->length, fix = 0,
            behind = length < HQP_JUMP_BYTES ? padding(image, end, (uint8_t)(HQP_JUMP_BYTES - length)) : 0;

    if (behind && (is_jumped_to(g, end, end + behind) || has_other(image, p->address, end, end + behind)))
        behind = 0;
    while (length + behind < HQP_JUMP_BYTES) {
        const struct insn *insn = i ? &g->insns.data[--i] : NULL;

        if (!insn || insn->address + insn->length != start || !is_movable(image, insn, &fix))
            return;
        start = insn->address;
        length = (uint8_t)(length + insn->length);
    }
    if (!has_block(g, start + 1, p->address + 1))
        set_jump(image, p, start, length, fix);
}

void ways_find_jump(const struct image *image, const struct cfg *g, uint32_t i, struct hqp_place *place)
{
    /* Where a jump goes that nobody can follow, nobody knows. */
    if (g->unresolved)
        return;
    if (place->flags == HQP_ENTRY)
        find_at_entry(image, g, i, place);
    else if (place->flags == HQP_EXIT && (place->form == HQP_RETURN || place->form == HQP_JUMP))
        find_at_exit(image, g, i, place);
}

static uint64_t start_of(const struct hqp_place *p)
{
    return p->jump ? p->jump : p->address;
}

static uint64_t end_of(const struct hqp_place *p)
{
    return p->jump ? p->jump + p->over : p->address + 1;
}

void ways_part_jumps(struct hqp_place *places, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (end_of(&places[i - 1]) > start_of(&places[i]))
            places[i].jump = 0;
        if (end_of(&places[i - 1]) > start_of(&places[i]))
            places[i - 1].jump = 0;
    }
}
