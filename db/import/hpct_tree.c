/* SPDX-License-Identifier: BSD-3-Clause */
/* HPCToolkit's meta.db: the calling context tree (hpct.h). */
#include "db/import/hpct.h"
#include <string.h>

enum { SECTION_CONTEXT = 3, CONTEXT_BYTES = 0x20, ENTRY_BYTES = 0x20 };
/* More than any program nests; it bounds the work that a damaged file can make. */
enum { DEPTH_MAX = 10000, SCOPES_MAX = 1000 };
enum { HAS_FUNCTION = 1, HAS_SOURCE = 2, HAS_POINT = 4 };

/* A range of contexts that are still to be read. */
struct hpct_range {
    uint64_t start, bytes;
    uint32_t parent;
};
struct hpct_ranges {
    struct hpct_range *data;
    size_t len, cap;
};

/* A page that a disk has lost reads as zeros. In a table of texts there is one that is empty at most, so behind it
 * another begins.
 */
static bool is_lost(const struct hpct *h, const char *text)
{
    size_t at = text ? (size_t)((const uint8_t *)text - h->meta.map.data) : 0;

    return text && !*text && at + 1 < h->meta.map.size && !text[1];
}

/* Files and modules are structures of flags and a path. */
static const char *path_at(const struct hpct *h, struct cursor *c, uint64_t offset)
{
    struct cursor s = hpct_at(&h->meta, c->section, offset);

    if (!offset)
        return NULL;
    cursor_skip(&s, 8);
    const char *path = hpct_text(&s, cursor_u64(&s));

    if (!cursor_ok(&s))
        cursor_fail(c, "points to a file or module that is not there");
    else if (!path || is_lost(h, path))
        cursor_fail(c, "points to a file or module that has zeros for its name");
    return path;
}

static void read_function(struct hpct *h, struct cursor *c, uint64_t offset)
{
    struct hpct_function f = {0};
    bool is_new;

    map_insert(&h->function_at, offset, h->functions.len, &is_new);
    if (!is_new)
        return;
    struct cursor s = hpct_at(&h->meta, "Functions", offset);

    f.name = hpct_text(&s, cursor_u64(&s));
    f.module = path_at(h, &s, cursor_u64(&s));
    f.offset = cursor_u64(&s);
    f.file = path_at(h, &s, cursor_u64(&s));
    f.line = cursor_u32(&s);
    if (!cursor_ok(&s))
        cursor_fail(c, "points to a function that is not there");
    else if (is_lost(h, f.name) || (!f.name && !f.module && !f.file && !f.offset))
        cursor_fail(c, "points to a function of zeros");
    vec_push(&h->functions, f);
}

const struct hpct_function *hpct_function_of(const struct hpct *h, const struct hpct_node *n)
{
    return n->function ? &h->functions.data[map_get(&h->function_at, n->function - 1, 0)] : NULL;
}

/* Fields are packed: a u32 shares its word with the next u32, and a u64 in between takes the next word. */
struct flex {
    struct cursor *c;
    uint64_t base;
    unsigned words, used;
    int half;
};

static uint64_t flex_u64(struct flex *f)
{
    if (f->used >= f->words)
        cursor_fail(f->c, "has a context whose fields do not fit into it");
    cursor_seek(f->c, f->base + 8ull * f->used++);
    return cursor_u64(f->c);
}

static uint32_t flex_u32(struct flex *f)
{
    if (f->half < 0) {
        f->half = (int)f->used;
        return (uint32_t)flex_u64(f);
    }
    cursor_seek(f->c, f->base + 8ull * (unsigned)f->half + 4);
    f->half = -1;
    return cursor_u32(f->c);
}

static void read_flex(struct hpct *h, struct cursor *c, struct hpct_node *n, unsigned flags, uint64_t base,
                      unsigned words)
{
    struct flex f = {.c = c, .base = base, .words = words, .half = -1};

    if (flags & HAS_FUNCTION) {
        uint64_t offset = flex_u64(&f);

        if (offset && cursor_ok(c)) {
            n->function = offset + 1;
            read_function(h, c, offset);
        }
    }
    if (flags & HAS_SOURCE) {
        n->file = path_at(h, c, flex_u64(&f));
        n->line = flex_u32(&f);
    }
    if (flags & HAS_POINT) {
        n->module = path_at(h, c, flex_u64(&f));
        n->offset = flex_u64(&f);
    }
}

/* Returns the most likely lexical type for an unknown one, from the fields that it carries. */
static uint8_t lexical_of(unsigned type, unsigned flags)
{
    if (type <= HPCT_INSTRUCTION)
        return (uint8_t)type;
    return flags & HAS_FUNCTION ? HPCT_FUNCTION
           : flags & HAS_SOURCE ? HPCT_LINE
           : flags & HAS_POINT  ? HPCT_INSTRUCTION
                                : HPCT_UNKNOWN_LEXICAL;
}

/* An unknown relation to a function is some kind of call, to anything else it is nesting. */
static uint8_t relation_of(unsigned relation, unsigned lexical)
{
    if (relation <= HPCT_INLINED)
        return (uint8_t)relation;
    return lexical == HPCT_FUNCTION ? HPCT_CALLED : HPCT_ENCLOSED;
}

/* Values are by the number: of two contexts that have one, only one could have them. */
static void add_node(struct hpct *h, struct cursor *c, const struct hpct_node *n, uint64_t children, uint64_t bytes,
                     struct hpct_ranges *todo)
{
    bool is_new;

    map_insert(&h->node_of, n->id, h->nodes.len, &is_new);
    if (!is_new) {
        cursor_fail(c, "has two contexts of one number");
        return;
    }
    if (bytes)
        vec_push(todo, (struct hpct_range){children, bytes, (uint32_t)h->nodes.len});
    vec_push(&h->nodes, *n);
}

/* Reads the context at the cursor and goes to the one behind it. */
static void read_context(struct hpct *h, struct cursor *c, uint32_t parent, struct hpct_ranges *todo)
{
    struct hpct_node n = {.parent = parent};
    uint64_t bytes = cursor_u64(c), children = cursor_u64(c);

    n.id = cursor_u32(c);
    unsigned flags = cursor_u8(c), relation = cursor_u8(c), lexical = cursor_u8(c), words = cursor_u8(c);

    n.propagation = cursor_u16(c);
    cursor_skip(c, 6);
    uint64_t base = cursor_offset(c);

    n.lexical = lexical_of(lexical, flags);
    n.relation = relation_of(relation, n.lexical);
    n.depth = h->nodes.data[parent].depth + 1;
    n.scopes = n.relation == HPCT_CALLED ? 0 : h->nodes.data[parent].scopes + 1;
    if (n.depth > DEPTH_MAX || n.scopes > SCOPES_MAX)
        cursor_fail(c, "has contexts that are nested too deep");
    read_flex(h, c, &n, flags, base, words);
    cursor_seek(c, base + 8ull * words);
    if (cursor_ok(c))
        add_node(h, c, &n, children, bytes, todo);
}

static struct hq_error *read_ranges(struct hpct *h, struct hpct_ranges *todo)
{
    /* A context takes at least CONTEXT_BYTES of the file, unless ranges overlap or go in circles. */
    size_t most = h->meta.map.size / CONTEXT_BYTES + 1;

    while (todo->len) {
        struct hpct_range r = vec_pop(todo);
        struct cursor c = hpct_at(&h->meta, "Context", r.start);

        while (cursor_ok(&c) && cursor_offset(&c) - r.start < r.bytes) {
            read_context(h, &c, r.parent, todo);
            if (h->nodes.len > most)
                cursor_fail(&c, "has contexts that overlap");
        }
        HQ_TRY(cursor_error(&c));
    }
    return NULL;
}

static struct hq_error *read_entries(struct hpct *h, struct hpct_ranges *todo)
{
    struct cursor c;

    HQ_TRY(hpct_section(&h->meta, SECTION_CONTEXT, "Context", 0x0b, &c));
    uint64_t entries = cursor_u64(&c);
    unsigned count = cursor_u16(&c), stride = cursor_u8(&c);

    if (!count)
        cursor_fail(&c, "has no entry points, or zeros");
    if (count && stride < ENTRY_BYTES)
        cursor_fail(&c, "has entry points smaller than version 4.0 has them");
    for (unsigned i = 0; i < count && cursor_ok(&c); i++) {
        struct hpct_node n = {.is_entry = true, .lexical = HPCT_UNKNOWN_LEXICAL};

        cursor_seek(&c, entries + (uint64_t)i * stride);
        uint64_t bytes = cursor_u64(&c), children = cursor_u64(&c);

        n.id = cursor_u32(&c);
        n.entry = cursor_u16(&c);
        cursor_skip(&c, 2);
        n.name = hpct_text(&c, cursor_u64(&c));
        if (cursor_ok(&c))
            add_node(h, &c, &n, children, bytes, todo);
    }
    return cursor_error(&c);
}

struct hq_error *hpct_read_tree(struct hpct *h)
{
    struct hpct_ranges todo = {0};

    add_node(h, NULL, &(struct hpct_node){.parent = HQDB_NONE, .lexical = HPCT_UNKNOWN_LEXICAL}, 0, 0, &todo);
    struct hq_error *error = read_entries(h, &todo);

    if (!error)
        error = read_ranges(h, &todo);
    vec_deinit(&todo);
    return error;
}
