/* SPDX-License-Identifier: BSD-3-Clause */
/* Recovers the procedures that hold the wanted addresses, and puts them into the book (recover_impl.h). */
#include "structure/recover_impl.h"
#include "structure/cfg.h"
#include "structure/tree.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include <stdlib.h>

/* Recovers a procedure unless it is there already. */
uint32_t recover_procedure(struct work *w, const struct procedure *p)
{
    bool is_new;
    uint64_t *slot = map_insert(&w->done[p->dwarf != NULL], p->entry, w->book.procedures.len, &is_new);
    uint32_t index = (uint32_t)*slot;

    if (!is_new)
        return index;
    struct loops loops = {0};
    if (w->options->loops) {
        struct cfg cfg;

        cfg_build(&w->image, p, &w->noreturn, &cfg);
        loops_find(&cfg, &loops);
        cfg_deinit(&cfg);
    }
    index = tree_add(&w->book, &w->image, p, &loops, w->options->inlines);
    loops_deinit(&loops);
    return index;
}

uint32_t recover_find_unit(struct work *w, uint64_t address)
{
    return w->image.dwarf ? dwarf_find_unit(w->image.dwarf, address) : DWARF_NONE;
}

static int by_unit(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;

    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Recovers the wanted procedures of one unit. Code that has lines in the unit but no procedure (assembly code) is
 * described by symbols. */
static void recover_unit(struct work *w, uint32_t unit, struct wanted *first, const struct wanted *end)
{
    struct dwarf_unit u;

    dwarf_load_unit(w->image.dwarf, unit, &u);
    for (struct wanted *at = first; at < end; at++) {
        struct procedure p;

        if (procedure_in_unit(&w->image, &u, at->address, &p)) {
            at->procedure = recover_procedure(w, &p);
        } else {
            procedure_plain(&w->image, at->address, &p);
            p.unit = &u;
            if (recover_find_unit(w, p.entry) == unit)
                at->procedure = recover_procedure(w, &p);
            else
                vec_push(&w->plain, (uint32_t)(at - w->wanted));
        }
        procedure_deinit(&p);
    }
    dwarf_unit_free(&u);
}

/* Which procedure a piece of code belongs to follows from the piece alone: it is worked out once. */
static uint64_t region_key(const struct work *w, uint64_t address)
{
    struct procedure p;

    procedure_region(&w->image, address, &p);
    uint64_t key = hash_bytes(p.ranges, sizeof *p.ranges, p.source);
    procedure_deinit(&p);
    return key;
}

void recover_plain(struct work *w, struct wanted *at)
{
    struct procedure p;
    struct dwarf_unit u = {0};
    bool is_new;
    uint64_t key = region_key(w, at->address), *known = map_insert(&w->regions, key, STRUCTURE_NONE, &is_new);

    if (!is_new) {
        at->procedure = (uint32_t)*known;
        return;
    }
    procedure_plain(&w->image, at->address, &p);
    uint32_t unit = recover_find_unit(w, p.entry);
    if (unit != DWARF_NONE && !map_find(&w->done[0], p.entry)) {
        dwarf_load_unit(w->image.dwarf, unit, &u);
        p.unit = &u;
    }
    at->procedure = recover_procedure(w, &p);
    map_put(&w->regions, key, at->procedure);
    procedure_deinit(&p);
    dwarf_unit_free(&u);
}

void recover_all(struct work *w)
{
    for (size_t i = 0; i < w->book.procedures.len; i++)
        map_put(&w->done[w->book.procedures.data[i].described], w->book.procedures.data[i].entry, i);
    for (size_t i = 0; i < w->count; i++)
        w->wanted[i].unit = w->wanted[i].procedure == STRUCTURE_NONE ? recover_find_unit(w, w->wanted[i].address)
                                                                     : DWARF_NONE;
    if (w->count > 1)
        qsort(w->wanted, w->count, sizeof *w->wanted, by_unit);
    for (size_t i = 0, end; i < w->count; i = end) {
        uint32_t unit = w->wanted[i].unit;

        for (end = i; end < w->count && w->wanted[end].unit == unit; end++)
            if (unit == DWARF_NONE && w->wanted[end].procedure == STRUCTURE_NONE)
                vec_push(&w->plain, (uint32_t)end);
        if (unit != DWARF_NONE)
            recover_unit(w, unit, w->wanted + i, w->wanted + end);
    }
    for (size_t i = 0; i < w->plain.len; i++)
        recover_plain(w, &w->wanted[w->plain.data[i]]);
}

const struct book_segment *recover_segment_at(const struct book *b, const struct book_procedure *p, uint64_t address)
{
    const struct book_segment *first = b->segments.data + p->first_segment;
    size_t n = array_upto(first, p->segment_count, low, address);

    return &first[n ? n - 1 : 0];
}

char *recover_note(const struct work *w)
{
    AUTO_FREE char *note = image_note(&w->image);

    if (!w->book.long_names)
        return MEM_STEAL(note);
    return xasprintf("%s%s%u name%s for more text than is written out, and stay%s as the linker has %s",
                     note ? note : w->image.text->path, note ? "; " : ": ", w->book.long_names,
                     w->book.long_names == 1 ? " stands" : "s stand", w->book.long_names == 1 ? "s" : "",
                     w->book.long_names == 1 ? "it" : "them");
}

void recover_deinit(struct work *w)
{
    noreturn_deinit(&w->noreturn);
    image_close(&w->image);
    book_deinit(&w->book);
    map_deinit(&w->done[0]);
    map_deinit(&w->done[1]);
    map_deinit(&w->regions);
    vec_deinit(&w->plain);
    free(w->wanted);
}
