/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which unit describes an address. .debug_aranges answers most questions without touching a unit, but clang and Go
 * write none and Rust's covers part: for an address that it does not cover, every unit is asked for its own ranges,
 * once.
 */
#include "structure/dwarf/impl.h"
#include "common/compare.h"
#include <stdlib.h>
#include <string.h>

static int by_low_then_unit(const void *a, const void *b)
{
    const struct dwarf_claim *x = a, *y = b;

    COMPARE(x->low, y->low);
    COMPARE(x->unit, y->unit);
    return 0;
}

static void sort_claims(struct dwarf_claim *claims, size_t count)
{
    uint64_t reach = 0;

    if (count > 1)
        qsort(claims, count, sizeof *claims, by_low_then_unit);
    for (size_t i = 0; i < count; i++) {
        reach = claims[i].high > reach ? claims[i].high : reach;
        claims[i].reach = reach;
    }
}

/* The first unit in file order among those whose claim holds the address. */
static uint32_t find_claim(const struct dwarf_claim *claims, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    uint32_t best = DWARF_NONE;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (claims[mid].low <= address)
            low = mid + 1;
        else
            high = mid;
    }
    while (low-- > 0 && claims[low].reach > address)
        if (claims[low].high > address && claims[low].unit < best)
            best = claims[low].unit;
    return best;
}

static int by_die(const void *a, const void *b)
{
    const struct dwarf_cu *x = a, *y = b;

    return x->die < y->die ? -1 : x->die > y->die;
}

static uint32_t unit_of_die(const struct dwarf *d, Dwarf_Off die)
{
    struct dwarf_cu key = {.die = die};
    const struct dwarf_cu *found = d->units.len ? bsearch(&key, d->units.data, d->units.len, sizeof key, by_die) : NULL;

    return found ? (uint32_t)(found - d->units.data) : DWARF_NONE;
}

static void add_claim(struct dwarf *d, bool hint, uint64_t low, uint64_t high, uint32_t unit)
{
    uint64_t end = low ? elf_executable_end(d->text, low) : 0;

    if (high <= low || !end || high > end)
        return;
    struct dwarf_claim claim = {.low = low, .high = high, .unit = unit};
    if (hint)
        vec_push(&d->hints, claim);
    else
        vec_push(&d->claims, claim);
}

static void read_aranges(struct dwarf *d)
{
    Dwarf_Debug dbg = d->main.dbg;
    Dwarf_Error err = NULL;
    Dwarf_Arange *list;
    Dwarf_Signed count;

    if (!dwarf_ok(dbg, dwarf_get_aranges(dbg, &list, &count, &err), &err))
        return;
    for (Dwarf_Signed i = 0; i < count; i++) {
        Dwarf_Unsigned segment, segment_size, length;
        Dwarf_Addr start;
        Dwarf_Off die;

        if (dwarf_ok(dbg, dwarf_get_arange_info_b(list[i], &segment, &segment_size, &start, &length, &die, &err),
                     &err)) {
            uint32_t unit = unit_of_die(d, die);

            if (unit != DWARF_NONE)
                add_claim(d, true, start, start + length, unit);
        }
        dwarf_dealloc(dbg, list[i], DW_DLA_ARANGE);
    }
    dwarf_dealloc(dbg, list, DW_DLA_LIST);
    sort_claims(d->hints.data, d->hints.len);
}

uint64_t dwarf_signature(const Dwarf_Sig8 *signature)
{
    uint64_t id;

    memcpy(&id, signature, sizeof id);
    return id;
}

/* dwarf_next_cu_header_d keeps its place in the Dwarf_Debug, so all units are listed before anything else is read. */
void dwarf_units_collect(struct dwarf *d)
{
    Dwarf_Debug dbg = d->main.dbg;
    Dwarf_Error err = NULL;
    Dwarf_Off previous = 0;

    for (;;) {
        Dwarf_Unsigned length, abbrevs, type_offset, next;
        Dwarf_Half version, address_size, offset_size, extension, kind = 0;
        Dwarf_Sig8 signature;
        Dwarf_Die die = NULL;
        Dwarf_Off offset = 0;

        int rc = dwarf_next_cu_header_d(dbg, 1, &length, &version, &abbrevs, &address_size, &offset_size, &extension,
                                        &signature, &type_offset, &next, &kind, &err);
        if (rc == DW_DLV_ERROR)
            dwarf_set_problem(d, "part of the debug information is damaged");
        if (!dwarf_ok(dbg, rc, &err) || next <= previous)
            break;
        previous = next;
        if (!dwarf_ok(dbg, dwarf_siblingof_b(dbg, NULL, 1, &die, &err), &err))
            continue;
        if (dwarf_ok(dbg, dwarf_dieoffset(die, &offset, &err), &err) && kind != DW_UT_type && kind != DW_UT_split_type)
            vec_push(&d->units,
                     (struct dwarf_cu){.die = offset, .id = kind == DW_UT_skeleton ? dwarf_signature(&signature) : 0});
        dwarf_dealloc_die(die);
    }
    read_aranges(d);
}

/* Some compilers give a unit no ranges of its own; then its procedures' are taken. */
static void claim_by_procedures(struct dwarf *d, uint32_t unit)
{
    struct dwarf_unit u;

    dwarf_load_unit(d, unit, &u);
    for (size_t i = 0; i < u.procedure_count; i++)
        for (uint32_t r = 0; r < u.procedures[i].range_count; r++) {
            const struct dwarf_range *range = &u.ranges[u.procedures[i].first_range + r];

            add_claim(d, false, range->low, range->high, unit);
        }
    dwarf_unit_free(&u);
}

static void claim_unit(struct dwarf *d, uint32_t unit)
{
    Dwarf_Debug dbg = d->main.dbg;
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL;
    struct dwarf_attrs a;
    struct dwarf_ranges ranges = {0};

    if (!dwarf_ok(dbg, dwarf_offdie_b(dbg, d->units.data[unit].die, 1, &die, &err), &err))
        return;
    dwarf_attrs_read(d, &d->main, die, &a);
    bool partial = dwarf_tag_of(&d->main, die) == DW_TAG_partial_unit;
    dwarf_ranges_read(d, &d->main, die, &a, &a.bases, &ranges);
    for (size_t i = 0; i < ranges.len; i++)
        add_claim(d, false, ranges.data[i].low, ranges.data[i].high, unit);
    if (!ranges.len && !partial && !a.has_ranges && !a.has_high)
        claim_by_procedures(d, unit);
    vec_deinit(&ranges);
    dwarf_dealloc_die(die);
}

size_t dwarf_unit_count(struct dwarf *d)
{
    return d->units.len;
}

uint32_t dwarf_find_unit(struct dwarf *d, uint64_t address)
{
    uint32_t unit = find_claim(d->hints.data, d->hints.len, address);

    if (unit != DWARF_NONE)
        return unit;
    if (!d->claims_made) {
        d->claims_made = true;
        for (uint32_t i = 0; i < d->units.len; i++)
            claim_unit(d, i);
        sort_claims(d->claims.data, d->claims.len);
    }
    return find_claim(d->claims.data, d->claims.len, address);
}
