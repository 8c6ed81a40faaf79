/* SPDX-License-Identifier: BSD-3-Clause */
/* From addresses, or all of a binary, to its structure: puts the pieces of this room together (structure.h). */
#include "structure/recover_impl.h"
#include "structure/cache.h"
#include "structure/cfg.h"
#include "structure/given/given.h"
#include "structure/naming.h"
#include "structure/range.h"
#include "structure/tree.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

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

static void answer(struct work *w, struct structure *out)
{
    vec_reserve(&out->places, w->count);
    out->places.len = w->count;
    for (size_t i = 0; i < w->count; i++) {
        const struct book_segment *s = recover_segment_at(&w->book, &w->book.procedures.data[w->wanted[i].procedure],
                                                          w->wanted[i].address);

        out->places.data[w->wanted[i].index] = (struct structure_place){s->raw, s->normal};
    }
    book_take(&w->book, out);
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

/* Nothing is known but the addresses: each is a procedure of its own name. */
static void recover_nothing(const char *path, char *why, const uint64_t *addresses, size_t count, struct structure *out)
{
    struct book b;

    out->note = why;
    out->unread = true;
    book_init(&b);
    for (size_t i = 0; i < count; i++) {
        uint32_t unknown = intern_add(&b.strings, "<unknown file>");
        struct structure_scope file = {.kind = SCOPE_FILE, .parent = STRUCTURE_NONE, .name = unknown, .file = unknown};
        AUTO_FREE char *name = naming_unknown(path, addresses[i]);
        struct structure_scope procedure = {.kind = SCOPE_PROCEDURE,
                                            .parent = book_scope(&b, &file, NULL),
                                            .name = intern_add(&b.strings, name),
                                            .address = addresses[i]};
        struct structure_scope line = {.kind = SCOPE_LINE, .parent = book_scope(&b, &procedure, NULL)};
        uint32_t leaf = book_scope(&b, &line, NULL);

        vec_push(&out->places, (struct structure_place){leaf, leaf});
    }
    book_take(&b, out);
    book_deinit(&b);
}

static char *replaced_note(const char *path)
{
    return xasprintf(
        "%s: not the file that was measured (its build-id differs): record again, or put the old file back", path);
}

/* The cache knows binaries by their build-id, and keeps notes without the path that they begin with. */
static const char *without_path(const char *note, const char *path)
{
    size_t len = strlen(path);

    return note && !strncmp(note, path, len) && !strncmp(note + len, ": ", 2) ? note + len + 2 : note;
}

struct known_range { /* code of a procedure that the book had from the start */
    uint64_t low, high;
    uint32_t procedure;
};

/* Looks the wanted addresses up in the book; true if all are there. */
static bool find_known(struct work *w)
{
    VEC(struct known_range) known = {0};
    bool all = true;

    vec_foreach(p, &w->book.procedures)
        for (uint32_t i = 0; i < p->segment_count; i++) {
            const struct book_segment *s = &w->book.segments.data[p->first_segment + i];
            uint32_t number = (uint32_t)(p - w->book.procedures.data);

            if (i && vec_last(&known).high == s->low)
                vec_last(&known).high = s->high;
            else
                vec_push(&known, (struct known_range){s->low, s->high, number});
        }
    range_sort(&known);
    for (size_t i = 0; i < w->count; i++) {
        const struct known_range *range = range_find(&known, w->wanted[i].address);

        if (range)
            w->wanted[i].procedure = range->procedure;
        else
            all = false;
    }
    vec_deinit(&known);
    return all;
}

static size_t storable(const struct book *b)
{
    size_t n = 0;

    vec_foreach(p, &b->procedures)
        n += p->storable;
    return n;
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

static struct hq_error *recover_and_store(struct work *w, const struct cache *cache, struct structure *out)
{
    size_t before = storable(&w->book);

    image_read(&w->image);
    noreturn_init(&w->noreturn, &w->image);
    recover_all(w);
    HQ_TRY(image_changed(&w->image));
    out->note = recover_note(w);
    if (storable(&w->book) > before)
        cache_store(cache, &w->book, without_path(out->note, w->image.text->path));
    return NULL;
}

struct hq_error *structure_recover(const char *path, const struct structure_options *options, const uint64_t *addresses,
                                   size_t count, struct structure *out)
{
    struct work w = {.options = options, .count = count};
    AUTO_ERROR struct hq_error *err = NULL;
    struct cache cache;

    memset(out, 0, sizeof *out);
    if (options->given) {
        struct structure_options own = *options;

        own.given = NULL;
        return given_recover(options->given, path, &own, addresses, count, out);
    }
    err = image_open(path, true, &w.image);
    if (err || !image_is_expected(w.image.text, options)) {
        recover_nothing(path, err ? xstrdup(err->message) : replaced_note(path), addresses, count, out);
        recover_deinit(&w);
        return NULL;
    }
    book_init(&w.book);
    w.wanted = xcalloc(count + 1, sizeof *w.wanted);
    for (size_t i = 0; i < count; i++)
        w.wanted[i] = (struct wanted){.address = addresses[i], .index = (uint32_t)i, .procedure = STRUCTURE_NONE};
    cache_open(&cache, &w.image, options, &w.book);
    if (find_known(&w) && w.book.procedures.len)
        out->note = cache.note ? xasprintf("%s: %s", path, cache.note) : NULL;
    else
        err = recover_and_store(&w, &cache, out);
    cache_deinit(&cache);
    if (err)
        recover_nothing(path, xstrdup(err->message), addresses, count, out);
    else
        answer(&w, out);
    recover_deinit(&w);
    return NULL;
}

void structure_deinit(struct structure *s)
{
    intern_deinit(&s->strings);
    vec_deinit(&s->scopes);
    vec_deinit(&s->aliases);
    vec_deinit(&s->places);
    vec_deinit(&s->code);
    free(s->build_id);
    free(s->note);
    memset(s, 0, sizeof *s);
}
