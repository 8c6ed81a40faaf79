/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/known.h"
#include "common/kept.h"
#include "common/arena.h"
#include "common/cursor.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/names.h"
#include "structure/cache.h"
#include "structure/image.h"
#include "structure/unpack.h"
#include <assert.h>
#include <string.h>

#define MAGIC     0x4e51514bu /* KQQN */
#define VERSION   2u
#define MOST_INFO (256u << 20) /* bytes of debug information: a second or two */
#define MOST_TEXT (64u << 20)  /* bytes of names that are told apart: a million and a half of them */

struct name {
    const char *s;
    size_t len;
};

struct names {
    struct name *data;
    size_t len, cap;
};

/* ---- collecting ---- */

static void add(struct names *names, const char *s, size_t len)
{
    if (len)
        vec_push(names, (struct name){s, len});
}

static void add_symbol(struct names *names, const char *symbol)
{
    add(names, symbol, name_without_clone(symbol, symbol_name_length(symbol)));
}

/* A name that stands for one of several procedures is known where one of them is: without, nothing says whether any was
 * called. */
static void add_symbols(struct names *names, const struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->name_count; i++) {
        const char *name = symbols->names[i], *chosen;

        if (!symbols_is_chosen(symbols, name))
            add_symbol(names, name);
        for (size_t at = 0; (chosen = symbols_chosen(symbols, name, &at));)
            add_symbol(names, chosen);
    }
}

/* A name of C++ or Rust stands for that in the source. */
static void add_described(void *arg, const char *name, const char *linkage)
{
    if (linkage)
        add_symbol(arg, linkage);
    if (name && !(linkage && linkage[0] == '_' && (linkage[1] == 'Z' || linkage[1] == 'R')))
        add_symbol(arg, name);
}

static uint64_t info_size(struct elf *elf)
{
    const struct elf_section *s = elf_find_section(elf, ".debug_info");

    return s ? s->size : 0;
}

static enum known_names collect(struct image *image, struct dwarf **dwarf, struct names *out)
{
    struct elf *debug = image->files.debug;
    enum known_names by_symbols;

    symbols_read(image->text, debug, &image->symbols);
    by_symbols = image->symbols.exported ? KNOWN_EXPORTED : KNOWN_SYMBOLS;
    add_symbols(out, &image->symbols);
    if (info_size(debug) > MOST_INFO)
        return by_symbols;
    AUTO_ERROR struct hq_error *err = dwarf_open(image->text, debug, image->files.alt, dwarf);
    if (err || !*dwarf)
        return by_symbols;
    dwarf_names(*dwarf, add_described, out);
    return KNOWN_ALL;
}

static int by_bytes(const void *pa, const void *pb)
{
    const struct name *a = pa, *b = pb;
    int order = memcmp(a->s, b->s, a->len < b->len ? a->len : b->len);

    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static size_t shared(const struct name *a, const struct name *b)
{
    size_t n = 0;

    while (n < 255 && n < a->len && n < b->len && a->s[n] == b->s[n])
        n++;
    return n;
}

static void pack_names(struct names *names, struct known *out)
{
    AUTO_STR struct str text = {0};
    struct name before = {0};

    vec_sort(names, by_bytes);
    vec_foreach(n, names) {
        if (before.s && !by_bytes(n, &before))
            continue;
        size_t k = shared(n, &before);

        str_addc(&text, (char)k);
        str_addn(&text, n->s + k, n->len - k);
        str_addc(&text, '\0');
        before = *n;
        out->count++;
    }
    if (text.len > MOST_TEXT)
        return;
    out->unpacked = text.len;
    out->packed = pack(text.s, text.len, &out->bytes);
}

void known_make(enum known_names state, const char *const *list, size_t count, struct known *out)
{
    struct names names = {0};

    *out = (struct known){.state = state};
    for (size_t i = 0; i < count; i++)
        add(&names, list[i], strlen(list[i]));
    pack_names(&names, out);
    vec_deinit(&names);
    if (!out->packed)
        known_deinit(out);
}

/* ---- in the cache ---- */

struct header {
    uint32_t magic, version, state, count;
    uint64_t unpacked, bytes, checksum;
};
static_assert(sizeof(struct header) == 40, "layout");

static bool load(const char *path, struct known *out)
{
    struct file_map file = {0};
    AUTO_ERROR struct hq_error *err = path && file_exists(path) ? file_map_open(path, &file) : NULL;
    struct header h = {0};

    if (err || !file.data)
        return false;
    if (file.size >= sizeof h)
        memcpy(&h, file.data, sizeof h);
    bool good = h.magic == MAGIC && h.version == VERSION && h.state < KNOWN_KINDS && h.bytes == file.size - sizeof h &&
                h.checksum == hash_bytes(file.data + sizeof h, h.bytes, h.unpacked);
    if (good) {
        *out = (struct known){.state = h.state, .count = h.count, .bytes = h.bytes, .unpacked = h.unpacked};
        out->packed = xmalloc(h.bytes + 1);
        memcpy(out->packed, file.data + sizeof h, h.bytes);
        kept_note_use(path);
    }
    file_map_close(&file);
    return good;
}

/* Failure is no error: the next run does the work again. */
static void store(const char *path, const struct known *k)
{
    AUTO_FREE char *directory = path ? file_dirname(path) : NULL;
    struct header h = {
        MAGIC, VERSION, k->state, k->count, k->unpacked, k->bytes, hash_bytes(k->packed, k->bytes, k->unpacked)};
    struct file_writer w;
    AUTO_ERROR struct hq_error *err = path ? file_make_dirs(directory) : NULL;

    if (!path || err)
        return;
    err = file_writer_open(&w, path);
    if (err)
        return;
    file_writer_write(&w, &h, sizeof h);
    file_writer_write(&w, k->packed, k->bytes);
    err = file_writer_commit(&w);
}

static void find_anew(struct image *image, struct known *out)
{
    struct names names = {0};
    struct dwarf *dwarf = NULL;

    out->state = collect(image, &dwarf, &names);
    pack_names(&names, out);
    vec_deinit(&names);
    dwarf_close(dwarf);
    AUTO_ERROR struct hq_error *changed = image_changed(image);

    if (changed || !out->packed)
        known_deinit(out);
}

void known_find(const char *path, const struct structure_options *options, bool servers, struct known *out)
{
    struct image image;
    AUTO_ERROR struct hq_error *err = image_open(path, servers, &image);

    *out = (struct known){0};
    if (err)
        return;
    if (image_is_expected(image.text, options)) {
        AUTO_FREE char *file = cache_names_path(&image, options);

        if (!load(file, out)) {
            find_anew(&image, out);
            if (out->packed)
                store(file, out);
        }
    }
    image_close(&image);
}

void known_copy(const struct known *from, struct known *out)
{
    *out = *from;
    out->packed = from->packed ? memcpy(xmalloc(from->bytes + 1), from->packed, from->bytes) : NULL;
}

void known_deinit(struct known *k)
{
    free(k->packed);
    *k = (struct known){0};
}

/* ---- reading ---- */

struct known_walk *known_open(const void *packed, size_t bytes, uint64_t unpacked)
{
    uint8_t *data = unpacked ? unpack(UNPACK_ZSTD, packed, bytes, unpacked) : NULL;

    if (unpacked && !data)
        return NULL;
    struct known_walk *w = xcalloc(1, sizeof *w);
    w->data = data;
    w->size = unpacked;
    return w;
}

const char *known_next(struct known_walk *w)
{
    if (w->at >= w->size)
        return NULL;
    size_t k = w->data[w->at++], left = w->size - w->at;
    const uint8_t *rest = w->data + w->at, *end = left ? memchr(rest, 0, left) : NULL;

    if (!end || k > strlen(w->name)) {
        w->at = w->size;
        return NULL;
    }
    size_t n = (size_t)(end - rest), room = sizeof w->name - 1 - k;

    w->at += n + 1;
    memcpy(w->name + k, rest, n < room ? n : room);
    w->name[k + (n < room ? n : room)] = 0;
    return w->name;
}

void known_close(struct known_walk *w)
{
    if (!w)
        return;
    unpack_free(w->data, w->size);
    free(w);
}
