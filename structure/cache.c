/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/cache.h"
#include "common/kept.h"
#include "common/cursor.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/str.h"
#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#define VERSION    62u            /* of the file and of what recovery finds: change it with either */
#define MAGIC      0x53515148u    /* HQQS */
#define MOST_BYTES (256ull << 20) /* of all files */

struct cache_header {
    uint32_t magic, version;
    uint64_t checksum;
    uint64_t string_bytes;
    uint32_t strings, scopes, aliases, segments, procedures, note; /* note: string */
    uint32_t sources, reserved;
};
static_assert(sizeof(struct cache_header) == 56, "layout");

struct cache_scope {
    uint32_t kind, parent, name, file, line, call_file, call_line, ordinal;
    uint64_t address;
    uint32_t first_alias, alias_count, linkage, basis;
};
static_assert(sizeof(struct cache_scope) == 56, "layout");

struct cache_segment {
    uint64_t low, high;
    uint32_t raw, normal;
};
static_assert(sizeof(struct cache_segment) == 24, "layout");

struct cache_procedure {
    uint64_t entry;
    uint32_t scope, first_segment, segment_count, described;
};
static_assert(sizeof(struct cache_procedure) == 24, "layout");

struct cache_source {
    uint64_t state;
    uint32_t path, reserved;
};
static_assert(sizeof(struct cache_source) == 16, "layout");

static uint64_t add_file(uint64_t key, const struct elf *elf, bool *there)
{
    struct stat st = {0};

    *there = !stat(elf->path, &st);
    if (!*there)
        return key;
    key = hash_combine(key, hash_str(elf->path));
    key = hash_combine(key, (uint64_t)st.st_size);
    key = hash_combine(key, (uint64_t)st.st_mtim.tv_sec);
    key = hash_combine(key, (uint64_t)st.st_mtim.tv_nsec);
    /* The time of change is the kernel's and cannot be set back. */
    key = hash_combine(key, (uint64_t)st.st_ctim.tv_sec);
    key = hash_combine(key, (uint64_t)st.st_ctim.tv_nsec);
    return hash_combine(hash_combine(key, st.st_dev), st.st_ino);
}

/* Returns the path of the cache file for structure that is recovered in this way from these files; NULL if there can be
 * none. `what` ends its name. */
static char *cache_path(const struct image *image, const struct structure_options *options, const char *what)
{
    const struct elf *text = image->text;
    struct str path = {0};
    bool there = true;

    if (!options->cache_dir || text->build_id_size > 64)
        return NULL;
    uint64_t key = hash_combine(VERSION,
                                (uint64_t) !!image->sources << 2 | (uint64_t)options->inlines << 1 | options->loops);
    /* Names that are made of a module and an address hold the module's name. Stripping leaves the build-id. */
    key = hash_combine(hash_combine(key, hash_str(file_basename(text->path))), text->size);
    if (!text->build_id)
        key = add_file(key, text, &there);
    if (there && image->files.debug != text)
        key = add_file(key, image->files.debug, &there);
    if (there && image->files.alt)
        key = add_file(key, image->files.alt, &there);
    if (!there)
        return NULL;
    str_addf(&path, "%s/structure/", options->cache_dir);
    str_add_hex(&path, text->build_id, text->build_id_size);
    str_addf(&path, "%s%016llx%s.hqs", text->build_id ? "-" : "file-", (unsigned long long)key, what);
    return str_steal(&path);
}

char *cache_names_path(const struct image *image, const struct structure_options *options)
{
    return cache_path(image, options, "-names");
}

struct parts { /* of a file, in place */
    struct cache_header header;
    uint32_t *strings; /* number in the file -> in the book; owned */
    const uint8_t *scopes, *aliases, *segments, *procedures;
};

static bool read_strings(struct cursor *c, struct parts *p, struct book *b)
{
    struct cursor texts = cursor_make(c->file, "strings", cursor_bytes(c, p->header.string_bytes),
                                      p->header.string_bytes);

    /* Every string takes a byte at least, so the count cannot be more than there is. */
    if (!cursor_ok(c) || p->header.strings > p->header.string_bytes)
        return false;
    p->strings = xcalloc((size_t)p->header.strings + 1, sizeof *p->strings);
    for (uint32_t i = 0; i < p->header.strings; i++) {
        const char *s = cursor_str(&texts);

        if (!s)
            return false;
        p->strings[i] = intern_add(&b->strings, s);
    }
    return true;
}

static bool text_number(const struct parts *p, uint32_t in_file, uint32_t *out)
{
    if (in_file >= p->header.strings)
        return false;
    *out = p->strings[in_file];
    return true;
}

static bool read_scope(const struct parts *p, uint32_t i, const uint32_t *numbers, struct book *b, uint32_t *out)
{
    struct cache_scope from;
    struct structure_scope s;
    bool is_new;

    memcpy(&from, p->scopes + (size_t)i * sizeof from, sizeof from);
    s = (struct structure_scope){.kind = from.kind,
                                 .parent = STRUCTURE_NONE,
                                 .line = from.line,
                                 .call_line = from.call_line,
                                 .ordinal = from.ordinal,
                                 .basis = from.basis,
                                 .address = from.address};
    if (from.kind >= SCOPE_GROUP || from.basis >= LOOP_BASES || !text_number(p, from.name, &s.name) ||
        !text_number(p, from.linkage, &s.linkage) || !text_number(p, from.file, &s.file) ||
        !text_number(p, from.call_file, &s.call_file))
        return false;
    if (from.parent != STRUCTURE_NONE) {
        if (from.parent >= i)
            return false;
        s.parent = numbers[from.parent];
    }
    if (from.first_alias > p->header.aliases || from.alias_count > p->header.aliases - from.first_alias)
        return false;
    *out = book_scope(b, &s, &is_new);
    if (!is_new)
        return true;
    b->scopes.data[*out].first_alias = (uint32_t)b->aliases.len;
    b->scopes.data[*out].alias_count = from.alias_count;
    for (uint32_t k = 0; k < from.alias_count; k++) {
        uint32_t alias, text;

        memcpy(&alias, p->aliases + ((size_t)from.first_alias + k) * 4, 4);
        if (!text_number(p, alias, &text))
            return false;
        vec_push(&b->aliases, text);
    }
    return true;
}

static bool read_segments(const struct parts *p, const struct cache_procedure *from, const uint32_t *numbers,
                          struct book *b)
{
    uint64_t last = 0;

    if (from->first_segment > p->header.segments || from->segment_count > p->header.segments - from->first_segment ||
        !from->segment_count)
        return false;
    for (uint32_t k = 0; k < from->segment_count; k++) {
        struct cache_segment s;

        memcpy(&s, p->segments + ((size_t)from->first_segment + k) * sizeof s, sizeof s);
        if (s.raw >= p->header.scopes || s.normal >= p->header.scopes || s.low < last || s.high <= s.low)
            return false;
        last = s.high;
        vec_push(&b->segments, (struct book_segment){s.low, s.high, numbers[s.raw], numbers[s.normal]});
    }
    return true;
}

/* The lines of loops come from the sources as they were: if one of them is another now, nothing of the file holds. */
static bool read_sources(struct cursor *c, const struct parts *p, struct sources *sources, struct book *b)
{
    const uint8_t *list = cursor_array(c, p->header.sources, sizeof(struct cache_source));

    for (uint32_t i = 0; list && i < p->header.sources; i++) {
        struct cache_source from;
        uint32_t path;

        memcpy(&from, list + (size_t)i * sizeof from, sizeof from);
        if (!sources || !text_number(p, from.path, &path) ||
            sources_state(sources, intern_str(&b->strings, path)) != from.state)
            return false;
        book_source(b, intern_str(&b->strings, path), from.state);
    }
    return list;
}

static bool is_there(const struct map *entries, const struct cache_procedure *p)
{
    return map_find(entries, p->entry << 1 | p->described);
}

static bool read_procedures(const struct parts *p, const uint32_t *numbers, const struct map *entries, struct book *b)
{
    for (uint32_t i = 0; i < p->header.procedures; i++) {
        struct cache_procedure from;
        uint32_t first = (uint32_t)b->segments.len;

        memcpy(&from, p->procedures + (size_t)i * sizeof from, sizeof from);
        if (from.scope >= p->header.scopes || from.described > 1)
            return false;
        if (is_there(entries, &from))
            continue;
        if (!read_segments(p, &from, numbers, b))
            return false;
        vec_push(&b->procedures, (struct book_procedure){.entry = from.entry,
                                                         .scope = numbers[from.scope],
                                                         .first_segment = first,
                                                         .segment_count = from.segment_count,
                                                         .described = from.described,
                                                         .storable = true});
    }
    return true;
}

static bool read_parts(struct cursor *c, struct parts *p, struct sources *sources, const struct map *entries,
                       struct book *b)
{
    const void *header = cursor_bytes(c, sizeof p->header);

    if (!header)
        return false;
    memcpy(&p->header, header, sizeof p->header);
    if (p->header.magic != MAGIC || p->header.version != VERSION ||
        p->header.checksum != hash_bytes(c->at, cursor_left(c), 0) || !read_strings(c, p, b))
        return false;
    p->scopes = cursor_array(c, p->header.scopes, sizeof(struct cache_scope));
    p->aliases = cursor_array(c, p->header.aliases, 4);
    p->segments = cursor_array(c, p->header.segments, sizeof(struct cache_segment));
    p->procedures = cursor_array(c, p->header.procedures, sizeof(struct cache_procedure));
    if (!cursor_ok(c) || !read_sources(c, p, sources, b))
        return false;
    uint32_t *numbers = xcalloc((size_t)p->header.scopes + 1, sizeof *numbers);
    bool good = true;
    for (uint32_t i = 0; i < p->header.scopes && good; i++)
        good = read_scope(p, i, numbers, b, &numbers[i]);
    good = good && read_procedures(p, numbers, entries, b);
    free(numbers);
    return good;
}

/* Adds the procedures of a file that `entries` does not have. False if the file is no good; then the book may hold part
 * of it. */
static bool load(const struct cache *c, const struct map *entries, struct book *b, char **note)
{
    struct file_map file = {0};
    struct parts p = {0};
    AUTO_ERROR struct hq_error *err = file_exists(c->path) ? file_map_open(c->path, &file) : NULL;

    if (err || !file.data)
        return false;
    struct cursor content = cursor_make(c->path, "structure", file.data, file.size);
    bool good = read_parts(&content, &p, c->sources, entries, b);
    uint32_t text;
    if (good && note && text_number(&p, p.header.note, &text) && text)
        *note = xstrdup(intern_str(&b->strings, text));
    free(p.strings);
    file_map_close(&file);
    return good;
}

void cache_open(struct cache *c, const struct image *image, const struct structure_options *options, struct book *b)
{
    struct map none = {0};

    *c = (struct cache){.path = cache_path(image, options, ""), .sources = image->sources};
    if (!c->path)
        return;
    if (load(c, &none, b, &c->note)) {
        kept_note_use(c->path);
        return;
    }
    book_deinit(b);
    book_init(b);
}

static void write_book(struct str *out, const struct book *b, const char *note)
{
    struct cache_header h = {.magic = MAGIC, .version = VERSION};

    str_addn(out, (const char *)&h, sizeof h);
    h.strings = intern_count(&b->strings);
    for (uint32_t i = 0; i < h.strings; i++)
        str_addn(out, intern_str(&b->strings, i), intern_strlen(&b->strings, i) + 1);
    if (note) {
        h.note = h.strings++;
        str_addn(out, note, strlen(note) + 1);
    }
    h.string_bytes = out->len - sizeof h;
    vec_foreach(s, &b->scopes) {
        struct cache_scope to = {s->kind,        s->parent,    s->name,    s->file,    s->line,
                                 s->call_file,   s->call_line, s->ordinal, s->address, s->first_alias,
                                 s->alias_count, s->linkage,   s->basis};
        str_addn(out, (const char *)&to, sizeof to);
    }
    str_addn(out, (const char *)b->aliases.data, b->aliases.len * 4);
    vec_foreach(s, &b->segments) {
        struct cache_segment to = {s->low, s->high, s->raw, s->normal};
        str_addn(out, (const char *)&to, sizeof to);
    }
    vec_foreach(p, &b->procedures) {
        struct cache_procedure to = {p->entry, p->scope, p->first_segment, p->segment_count, p->described};

        h.procedures += p->storable;
        if (p->storable)
            str_addn(out, (const char *)&to, sizeof to);
    }
    vec_foreach(s, &b->sources) {
        struct cache_source to = {s->state, s->path, 0};

        str_addn(out, (const char *)&to, sizeof to);
    }
    h.sources = (uint32_t)b->sources.len;
    h.scopes = (uint32_t)b->scopes.len;
    h.aliases = (uint32_t)b->aliases.len;
    h.segments = (uint32_t)b->segments.len;
    h.checksum = hash_bytes(out->s + sizeof h, out->len - sizeof h, 0);
    memcpy(out->s, &h, sizeof h);
}

/* Stores a book in the cache file, and keeps what another hq has stored there since this one read it. Stores nothing
 * while another process holds the lock. */
static struct hq_error *store(const struct cache *c, const struct book *b, const char *note)
{
    AUTO_FREE char *directory = file_dirname(c->path);
    AUTO_FREE char *lock_path = file_join(directory, "lock");
    struct file_lock lock;
    struct file_writer w;
    struct map entries = {0};
    struct book merged;
    struct str out = {0};
    bool got;

    HQ_TRY(file_make_dirs(directory));
    HQ_TRY(file_lock_try(lock_path, &lock, &got));
    if (!got)
        return NULL;
    write_book(&out, b, note);
    book_init(&merged);
    struct cursor own = cursor_make(c->path, "structure", out.s, out.len);
    struct parts p = {0};
    bool good = read_parts(&own, &p, c->sources, &entries, &merged);
    free(p.strings);
    vec_foreach(q, &merged.procedures)
        map_put(&entries, q->entry << 1 | q->described, 1);
    good = good && load(c, &entries, &merged, NULL);
    if (good) {
        str_clear(&out);
        write_book(&out, &merged, note);
    }
    struct hq_error *err = file_writer_open(&w, c->path);
    if (!err) {
        file_writer_write(&w, out.s, out.len);
        err = file_writer_commit(&w);
    }
    kept_trim(directory, ".hqs", MOST_BYTES);
    map_deinit(&entries);
    book_deinit(&merged);
    str_deinit(&out);
    file_unlock(&lock);
    return err;
}

void cache_store(const struct cache *c, const struct book *b, const char *note)
{
    AUTO_ERROR struct hq_error *err = c->path ? store(c, b, note) : NULL;

    if (err)
        log_verbose("the structure cache is not written: %s", err->message);
}

void cache_deinit(struct cache *c)
{
    free(c->path);
    free(c->note);
    *c = (struct cache){0};
}
