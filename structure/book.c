/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/book.h"
#include "common/mem.h"
#include <stdlib.h>
#include <string.h>

struct scope_key { /* no padding: compared as bytes */
    uint32_t kind, parent, name, linkage, file, line, call_file, call_line, ordinal, zero;
    uint64_t address;
};

void book_init(struct book *b)
{
    memset(b, 0, sizeof *b);
    intern_init(&b->strings);
    keymap_init(&b->keys, sizeof(struct scope_key));
}

void book_deinit(struct book *b)
{
    intern_deinit(&b->strings);
    vec_deinit(&b->scopes);
    vec_deinit(&b->aliases);
    vec_deinit(&b->segments);
    vec_deinit(&b->procedures);
    vec_deinit(&b->sources);
    map_deinit(&b->source_of);
    keymap_deinit(&b->keys);
}

uint32_t book_scope(struct book *b, const struct structure_scope *s, bool *is_new)
{
    struct scope_key key = {s->kind,      s->parent,    s->name, s->linkage, s->file,   s->line,
                            s->call_file, s->call_line, 0,       0,          s->address};
    bool added;

    key.ordinal = s->kind == SCOPE_PROCEDURE ? 0 : s->ordinal;
    uint32_t index = keymap_add(&b->keys, &key, &added);

    if (added) {
        vec_push(&b->scopes, *s);
        vec_last(&b->scopes).first_alias = 0;
        vec_last(&b->scopes).alias_count = 0;
    }
    if (is_new)
        *is_new = added;
    return index;
}

void book_source(struct book *b, const char *path, uint64_t state)
{
    uint32_t number = intern_add(&b->strings, path);
    bool is_new;

    map_insert(&b->source_of, number, b->sources.len, &is_new);
    if (is_new)
        vec_push(&b->sources, (struct book_source){number, state});
}

void book_take(struct book *b, struct structure *out)
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
