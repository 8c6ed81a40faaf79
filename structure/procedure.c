/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/procedure.h"
#include "structure/range.h"
#include "common/mem.h"
#include <stdlib.h>
#include <string.h>

void procedure_set_ranges(struct procedure *p, const struct dwarf_range *from, size_t count)
{
    size_t kept = 0;

    free(p->ranges);
    p->ranges = xcalloc(count, sizeof *p->ranges);
    memcpy(p->ranges, from, count * sizeof *from);
    qsort(p->ranges, count, sizeof *p->ranges, range_by_low);
    for (size_t i = 0; i < count; i++) {
        if (kept && p->ranges[i].low <= p->ranges[kept - 1].high) {
            if (p->ranges[i].high > p->ranges[kept - 1].high)
                p->ranges[kept - 1].high = p->ranges[i].high;
        } else {
            p->ranges[kept++] = p->ranges[i];
        }
    }
    p->range_count = kept;
}

void procedure_of_unit(const struct image *image, const struct dwarf_unit *unit, size_t index, struct procedure *out)
{
    const struct dwarf_procedure *d = &unit->procedures[index];

    *out = (struct procedure){.source = PROCEDURE_DWARF,
                              .entry = d->entry,
                              .unit = unit,
                              .dwarf = d,
                              .symbol = symbols_at(&image->symbols, d->entry)};
    procedure_set_ranges(out, unit->ranges + d->first_range, d->range_count);
}

bool procedure_in_unit(const struct image *image, const struct dwarf_unit *unit, uint64_t address,
                       struct procedure *out)
{
    for (size_t i = 0; i < unit->procedure_count; i++) {
        const struct dwarf_procedure *d = &unit->procedures[i];

        for (uint32_t r = 0; r < d->range_count; r++) {
            const struct dwarf_range *range = &unit->ranges[d->first_range + r];

            if (address >= range->low && address < range->high) {
                procedure_of_unit(image, unit, i, out);
                return true;
            }
        }
    }
    return false;
}

/* The end of what begins at `low` and has no size of its own: the next thing that is known to begin. */
static uint64_t next_start(const struct image *image, uint64_t low, uint64_t address)
{
    const struct elf_section *section = elf_section_at(image->text, address);
    const struct symbol *after = symbols_after(&image->symbols, address);
    uint64_t code_end = elf_executable_end(image->text, address);
    uint64_t end = section ? section->address + section->size : code_end;
    const struct frames *f = &image->frames;
    size_t at = vec_upto(f, low, address);

    if (after && (!end || after->address < end))
        end = after->address;
    if (at < f->len && f->data[at].low < end)
        end = f->data[at].low;
    if (end > code_end)
        end = code_end;
    return end > low ? end : low + 1;
}

/* Where the code around an address that nobody describes begins. */
static uint64_t gap_start(const struct image *image, uint64_t address)
{
    const struct elf_section *section = elf_section_at(image->text, address);
    uint64_t start = section ? section->address : address;
    const struct frames *f = &image->frames;
    const struct symbols *s = &image->symbols;
    size_t frames = vec_upto(f, high, address), symbols = array_upto(s->list, s->count, reach, address);

    if (frames && f->data[frames - 1].high > start)
        start = f->data[frames - 1].high;
    if (symbols && s->list[symbols - 1].reach > start)
        start = s->list[symbols - 1].reach;
    return start;
}

/* The unwind information of the C library's return from a signal handler begins a byte before it, since who unwinds
 * looks for the byte before the address where the handler returns to: that byte is the procedure's, too. */
static const struct symbol *begins_late(const struct image *image, const struct frame *frame)
{
    return frame && !symbols_at(&image->symbols, frame->low) ? symbols_at(&image->symbols, frame->low + 1) : NULL;
}

static bool from_symbol(const struct image *image, uint64_t address, struct procedure *out)
{
    const struct symbol *s = symbols_find(&image->symbols, address);
    const struct frame *frame = frames_find(&image->frames, address);
    const struct symbol *late = begins_late(image, frame);

    if (late && (address == frame->low || s == late)) {
        uint64_t high = late->end > late->address ? late->end : frame->high;

        if (address >= high)
            return false;
        *out = (struct procedure){.source = PROCEDURE_SYMBOL, .entry = late->address, .symbol = late};
        procedure_set_ranges(out, &(struct dwarf_range){frame->low, high}, 1);
        return true;
    }
    if (!s || elf_section_at(image->text, s->address) != elf_section_at(image->text, address))
        return false;
    uint64_t end = s->end;
    /* A label without a size reaches to what comes next, but not out of the frame it began in. */
    if (end == s->address) {
        const struct frame *own = frames_find(&image->frames, s->address);

        end = next_start(image, s->address, s->address);
        if (own && own->high < end)
            end = own->high;
        /* In a stripped file others may follow, which are not exported. */
        if (!own && image->symbols.exported)
            end = gap_procedure(image->gaps, s->address, end, s->address).high;
    }
    if (address >= end || (frame && frame->low > s->address))
        return false;
    *out = (struct procedure){.source = PROCEDURE_SYMBOL, .entry = s->address, .symbol = s};
    procedure_set_ranges(out, &(struct dwarf_range){s->address, end}, 1);
    return true;
}

void procedure_region(const struct image *image, uint64_t address, struct procedure *out)
{
    if (from_symbol(image, address, out))
        return;
    const struct stub *stub = plt_find(&image->plt, address);
    if (stub) {
        *out = (struct procedure){.source = PROCEDURE_STUB, .entry = stub->low, .stub = stub->name};
        procedure_set_ranges(out, &(struct dwarf_range){stub->low, stub->high}, 1);
        return;
    }
    const struct frame *frame = frames_find(&image->frames, address);
    if (frame) {
        *out = (struct procedure){.source = PROCEDURE_FRAME, .entry = frame->low};
        procedure_set_ranges(out, &(struct dwarf_range){frame->low, frame->high}, 1);
        return;
    }
    bool code = elf_executable_end(image->text, address);
    address -= address == UINT64_MAX;
    uint64_t start = code ? gap_start(image, address) : address;
    uint64_t end = code ? next_start(image, address, address) : address + 1;
    struct dwarf_range range = code ? gap_procedure(image->gaps, start, end, address)
                                    : (struct dwarf_range){start, end};
    *out = (struct procedure){.source = PROCEDURE_GAP, .entry = range.low};
    procedure_set_ranges(out, &range, 1);
}

bool procedure_is_alone(const struct image *image, const struct procedure *p)
{
    if (p->source == PROCEDURE_DWARF)
        return true;
    if (p->source == PROCEDURE_GAP)
        return false;
    for (size_t i = 0; i < p->range_count; i++) {
        const struct symbol *inner = symbols_after(&image->symbols, p->ranges[i].low);

        if (inner && inner->address < p->ranges[i].high)
            return false;
    }
    return !image->dwarf || dwarf_find_unit(image->dwarf, p->entry) == DWARF_NONE;
}

void procedure_decode(const struct image *image, uint64_t low, uint64_t high, struct insns *out)
{
    size_t available;
    const uint8_t *code = elf_at(image->text, low, &available);

    if (!code)
        return;
    if (high - low > available)
        high = low + available;
    vec_reserve(out, (high - low) / 4 + 4);
    for (uint64_t at = low; at < high; at += vec_last(out).length)
        plt_decode(&image->plt, image->text->machine, code + (at - low), high - at, at, vec_add(out));
}

void procedure_deinit(struct procedure *p)
{
    free(p->ranges);
    vec_deinit(&p->decoded);
    *p = (struct procedure){0};
}
