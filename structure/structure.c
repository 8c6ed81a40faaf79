/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers for addresses: from what is given, from what the cache has, or from the binary (structure.h). */
#include "structure/structure.h"
#include "structure/cache.h"
#include "structure/given/given.h"
#include "structure/naming.h"
#include "structure/range.h"
#include "structure/recover_impl.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

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

    return note && !strncmp(note, path, len) && str_begins(note + len, ": ") ? note + len + 2 : note;
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
    /* Names are missing then as if there was no file. */
    out->unread |= w.image.text->cut_short && w.image.files.debug == w.image.text;
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
