/* SPDX-License-Identifier: BSD-3-Clause */
/* From addresses, or all of a binary, to its structure: puts the pieces of this room together (structure.h). */
#include "structure/structure.h"
#include "structure/book.h"
#include "structure/cache.h"
#include "structure/cfg.h"
#include "structure/image.h"
#include "structure/procedure.h"
#include "structure/naming.h"
#include "structure/tree.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

struct wanted {
    uint64_t address;
    uint32_t index;     /* in the caller's array */
    uint32_t unit;      /* that describes it, DWARF_NONE */
    uint32_t procedure; /* of the book, STRUCTURE_NONE: not yet recovered */
};

struct work {
    struct image image;
    struct noreturn noreturn;
    const struct structure_options *options;
    struct book book;
    struct wanted *wanted;
    size_t count;
    struct map done[2];  /* entry -> procedure of the book; described by debug information, or not */
    struct map regions;  /* of code that it does not describe (see region_key) -> procedure of the book */
    VEC(uint32_t) plain; /* wanted that the debug information does not describe */
};

/* Recovers a procedure unless it is there already. */
static uint32_t add_procedure(struct work *w, const struct procedure *p)
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

static uint32_t find_unit(struct work *w, uint64_t address)
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

/* What is wanted of one unit; what it has lines for but no procedure (assembly code) is described by symbols. */
static void recover_unit(struct work *w, uint32_t unit, struct wanted *first, const struct wanted *end)
{
    struct dwarf_unit u;

    dwarf_load_unit(w->image.dwarf, unit, &u);
    for (struct wanted *at = first; at < end; at++) {
        struct procedure p;

        if (procedure_in_unit(&w->image, &u, at->address, &p)) {
            at->procedure = add_procedure(w, &p);
        } else {
            procedure_plain(&w->image, at->address, &p);
            p.unit = &u;
            if (find_unit(w, p.entry) == unit)
                at->procedure = add_procedure(w, &p);
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

static void recover_plain(struct work *w, struct wanted *at)
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
    uint32_t unit = find_unit(w, p.entry);
    if (unit != DWARF_NONE && !map_find(&w->done[0], p.entry)) {
        dwarf_load_unit(w->image.dwarf, unit, &u);
        p.unit = &u;
    }
    at->procedure = add_procedure(w, &p);
    map_put(&w->regions, key, at->procedure);
    procedure_deinit(&p);
    dwarf_unit_free(&u);
}

static void recover_all(struct work *w)
{
    for (size_t i = 0; i < w->book.procedures.len; i++)
        map_put(&w->done[w->book.procedures.data[i].described], w->book.procedures.data[i].entry, i);
    for (size_t i = 0; i < w->count; i++)
        w->wanted[i].unit = w->wanted[i].procedure == STRUCTURE_NONE ? find_unit(w, w->wanted[i].address) : DWARF_NONE;
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

static const struct book_segment *segment_at(const struct book *b, const struct book_procedure *p, uint64_t address)
{
    const struct book_segment *first = b->segments.data + p->first_segment;
    size_t n = array_upto(first, p->segment_count, low, address);

    return &first[n ? n - 1 : 0];
}

/* Only the scopes that the places need, in the order of the book; parents stay before children. */
static void take_scopes(struct book *b, struct structure *out)
{
    uint32_t *renumbered = xcalloc(b->scopes.len + 1, sizeof *renumbered);

    vec_foreach(place, &out->places)
        for (int k = 0; k < 2; k++)
            for (uint32_t s = k ? place->raw : place->normal; s != STRUCTURE_NONE && !renumbered[s];
                 s = b->scopes.data[s].parent)
                renumbered[s] = 1;
    for (size_t i = 0; i < b->scopes.len; i++) {
        struct structure_scope s = b->scopes.data[i];

        if (!renumbered[i])
            continue;
        renumbered[i] = (uint32_t)out->scopes.len;
        if (s.parent != STRUCTURE_NONE)
            s.parent = renumbered[s.parent];
        vec_push(&out->scopes, s);
    }
    vec_foreach(place, &out->places)
        *place = (struct structure_place){.raw = renumbered[place->raw], .normal = renumbered[place->normal]};
    free(renumbered);
    out->strings = b->strings;
    b->strings = (struct intern){0};
    out->aliases.data = b->aliases.data;
    out->aliases.len = b->aliases.len;
    out->aliases.cap = b->aliases.cap;
    b->aliases.data = NULL;
    b->aliases.len = b->aliases.cap = 0;
}

static void answer(struct work *w, struct structure *out)
{
    vec_reserve(&out->places, w->count);
    out->places.len = w->count;
    for (size_t i = 0; i < w->count; i++) {
        const struct book_segment *s = segment_at(&w->book, &w->book.procedures.data[w->wanted[i].procedure],
                                                  w->wanted[i].address);

        out->places.data[w->wanted[i].index] = (struct structure_place){s->raw, s->normal};
    }
    take_scopes(&w->book, out);
}

static void work_deinit(struct work *w)
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
    take_scopes(&b, out);
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

static int by_range(const void *a, const void *b)
{
    const struct known_range *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}

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
    vec_sort(&known, by_range);
    for (size_t i = 0; i < w->count; i++) {
        size_t n = vec_upto(&known, low, w->wanted[i].address);

        if (n && known.data[n - 1].high > w->wanted[i].address)
            w->wanted[i].procedure = known.data[n - 1].procedure;
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

static char *note_of(const struct work *w)
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
    out->note = note_of(w);
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
    err = image_open(path, true, &w.image);
    if (err || !image_is_expected(w.image.text, options)) {
        recover_nothing(path, err ? xstrdup(err->message) : replaced_note(path), addresses, count, out);
        work_deinit(&w);
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
    work_deinit(&w);
    return NULL;
}

static int by_low(const void *a, const void *b)
{
    const struct dwarf_range *x = a, *y = b;

    return x->low < y->low ? -1 : x->low > y->low;
}

struct covered { /* ranges of the procedures that the debug information describes */
    struct dwarf_range *data;
    size_t len, cap;
};

static void whole_units(struct work *w, struct covered *covered)
{
    size_t units = w->image.dwarf ? dwarf_unit_count(w->image.dwarf) : 0;

    for (uint32_t i = 0; i < units; i++) {
        struct dwarf_unit u;

        dwarf_load_unit(w->image.dwarf, i, &u);
        for (size_t k = 0; k < u.procedure_count; k++) {
            struct procedure p;

            /* The same code may be described by several units: the one that is asked for its addresses counts. */
            if (find_unit(w, u.procedures[k].entry) != i)
                continue;
            procedure_of_unit(&w->image, &u, k, &p);
            add_procedure(w, &p);
            vec_append(covered, p.ranges, p.range_count);
            procedure_deinit(&p);
        }
        dwarf_unit_free(&u);
    }
    vec_sort(covered, by_low);
}

/* The end of what covers an address, 0 if nothing does. */
static uint64_t covered_to(const struct covered *c, uint64_t address)
{
    size_t n = vec_upto(c, low, address);

    return n && c->data[n - 1].high > address ? c->data[n - 1].high : 0;
}

static void whole_rest(struct work *w, const struct covered *covered)
{
    const struct image *image = &w->image;
    VEC(uint64_t) starts = {0};

    for (size_t i = 0; i < image->symbols.count; i++)
        vec_push(&starts, image->symbols.list[i].address);
    for (size_t i = 0; i < image->frames.len; i++)
        vec_push(&starts, image->frames.data[i].low);
    for (size_t i = 0; i < image->plt.len; i++)
        vec_push(&starts, image->plt.data[i].low);
    vec_foreach(at, &starts)
        if (!covered_to(covered, *at))
            recover_plain(w, &(struct wanted){.address = *at});
    vec_deinit(&starts);
}

static struct hq_error *no_code(struct elf *text)
{
    if (text->cut_short)
        return hq_error_new(HQ_DATA, "%s: cut short: no code is left of it", text->path);
    if (elf_find_section(text, ".debug_info"))
        return hq_error_new(
            HQ_DATA, "%s: a separate debug file, which has no code; ask for the binary that it belongs to", text->path);
    return hq_error_new(HQ_DATA, "%s has no code", text->path);
}

/* Code that nothing describes. */
static void whole_gaps(struct work *w, const struct covered *covered)
{
    const struct elf *text = w->image.text;

    for (size_t i = 0; i < text->code_count; i++)
        for (uint64_t at = text->code[i].low, next; at<text->code[i].high; at = next> at ? next : at + 1) {
            struct procedure p;

            next = covered_to(covered, at);
            if (next)
                continue;
            procedure_region(&w->image, at, &p);
            next = p.ranges[0].high;
            if (p.source == PROCEDURE_GAP && gap_is_code(w->image.gaps, p.ranges[0]))
                recover_plain(w, &(struct wanted){.address = at});
            procedure_deinit(&p);
        }
}

struct hq_error *structure_whole(const char *path, const struct structure_options *options, struct structure *out)
{
    struct work w = {.options = options};
    struct covered covered = {0};

    memset(out, 0, sizeof *out);
    HQ_TRY(image_open(path, true, &w.image));
    if (!w.image.text->code_count) {
        struct hq_error *err = no_code(w.image.text);

        work_deinit(&w);
        return err;
    }
    image_read(&w.image);
    book_init(&w.book);
    noreturn_init(&w.noreturn, &w.image);
    whole_units(&w, &covered);
    whole_rest(&w, &covered);
    whole_gaps(&w, &covered);
    vec_deinit(&covered);
    vec_reserve(&out->places, w.book.segments.len);
    vec_foreach(s, &w.book.segments)
        vec_push(&out->places, (struct structure_place){s->raw, s->normal});
    struct hq_error *err = image_changed(&w.image);
    if (!err) {
        take_scopes(&w.book, out);
        out->note = note_of(&w);
    }
    work_deinit(&w);
    if (err)
        structure_deinit(out);
    return err;
}

void structure_deinit(struct structure *s)
{
    intern_deinit(&s->strings);
    vec_deinit(&s->scopes);
    vec_deinit(&s->aliases);
    vec_deinit(&s->places);
    free(s->note);
    memset(s, 0, sizeof *s);
}
