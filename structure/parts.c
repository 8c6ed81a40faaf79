/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of procedures that compilers place elsewhere ("cold" code), where no debug information tells of them. A piece
 * of code belongs to the procedure into whose middle it jumps back; failing that, NAME.cold belongs to the only NAME.
 * Only symbols named so are looked at, and code without a symbol whose unwind information begins in the middle of a
 * procedure.
 */
#include "structure/procedure.h"
#include "common/vec.h"
#include "structure/insn.h"
#include <string.h>

struct targets { /* of jumps and branches that leave a piece of code */
    uint64_t *data;
    size_t len, cap;
};

static void outside_targets(const struct image *image, struct procedure *p, struct targets *out)
{
    const struct dwarf_range *r = &p->ranges[0];

    procedure_decode(image, r->low, r->high, &p->decoded);
    vec_foreach(in, &p->decoded)
        if ((in->kind == INSN_JUMP || in->kind == INSN_BRANCH) && (in->target < r->low || in->target >= r->high))
            vec_push(out, in->target);
}

/* The length of NAME in NAME.cold or NAME.cold.0, 0 if it is no such name. */
static size_t cold_base(const char *name)
{
    const char *mark = strstr(name, ".cold");

    return mark && (!mark[5] || mark[5] == '.') ? (size_t)(mark - name) : 0;
}

static const char *name_of(const struct image *image, const struct symbol *s)
{
    return image->symbols.names[s->first];
}

static bool may_be_part(const struct image *image, const struct procedure *p)
{
    if (p->source == PROCEDURE_FRAME) {
        const struct frame *frame = frames_find(&image->frames, p->entry);

        return frame && frame->continues;
    }
    return p->source == PROCEDURE_SYMBOL && p->symbol && cold_base(name_of(image, p->symbol));
}

static bool is_named(const struct image *image, const struct symbol *s, const char *name, size_t len)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const char *other = image->symbols.names[s->first + i];

        if (symbol_name_length(other) == len && !memcmp(other, name, len))
            return true;
    }
    return false;
}

/* 0 if there is none, or several. */
static uint64_t only_symbol_named(const struct image *image, const char *name, size_t len)
{
    uint64_t found = 0;

    for (size_t i = 0; i < image->symbols.count; i++) {
        if (!is_named(image, &image->symbols.list[i], name, len))
            continue;
        if (found)
            return 0;
        found = image->symbols.list[i].address;
    }
    return found;
}

/* The entry of the procedure that a piece of code is a part of, 0 if it is one of its own. */
static uint64_t owner(const struct image *image, struct procedure *p)
{
    struct targets out = {0};
    uint64_t found = 0;

    if (!may_be_part(image, p))
        return 0;
    outside_targets(image, p, &out);
    for (size_t i = 0; i < out.len && !found; i++) {
        struct procedure other;

        procedure_region(image, out.data[i], &other);
        bool middle = out.data[i] != other.entry && other.entry != p->entry &&
                      (other.source == PROCEDURE_SYMBOL || other.source == PROCEDURE_FRAME);
        if (middle && !(other.symbol && cold_base(name_of(image, other.symbol))))
            found = other.entry;
        procedure_deinit(&other);
    }
    vec_deinit(&out);
    if (!found && p->symbol)
        found = only_symbol_named(image, name_of(image, p->symbol), cold_base(name_of(image, p->symbol)));
    return found;
}

static void add_parts(const struct image *image, struct procedure *p)
{
    struct targets out = {0};
    struct map looked_at = {0}; /* starts of pieces: many branches lead into one */
    VEC(struct dwarf_range) ranges = {0};

    vec_push(&ranges, p->ranges[0]);
    outside_targets(image, p, &out);
    for (size_t i = 0; i < out.len; i++) {
        struct procedure part;
        bool is_new;

        procedure_region(image, out.data[i], &part);
        map_insert(&looked_at, part.entry, 1, &is_new);
        if (is_new && owner(image, &part) == p->entry)
            vec_push(&ranges, part.ranges[0]);
        procedure_deinit(&part);
    }
    if (ranges.len > 1)
        procedure_set_ranges(p, ranges.data, ranges.len);
    map_deinit(&looked_at);
    vec_deinit(&ranges);
    vec_deinit(&out);
}

static bool holds(const struct procedure *p, uint64_t address)
{
    for (size_t i = 0; i < p->range_count; i++)
        if (address >= p->ranges[i].low && address < p->ranges[i].high)
            return true;
    return false;
}

void procedure_plain(const struct image *image, uint64_t address, struct procedure *out)
{
    struct procedure whole;

    procedure_region(image, address, out);
    if (out->source != PROCEDURE_SYMBOL && out->source != PROCEDURE_FRAME)
        return;
    if (image->dwarf && dwarf_find_unit(image->dwarf, out->entry) != DWARF_NONE)
        return;
    uint64_t entry = owner(image, out);
    procedure_region(image, entry ? entry : out->entry, &whole);
    /* A part of a part stays what it is. */
    if (whole.source != PROCEDURE_SYMBOL && whole.source != PROCEDURE_FRAME) {
        procedure_deinit(&whole);
        return;
    }
    add_parts(image, &whole);
    if (!holds(&whole, address)) {
        procedure_deinit(&whole);
        return;
    }
    procedure_deinit(out);
    *out = whole;
}
