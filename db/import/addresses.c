/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/addresses.h"

#include "common/file.h"
#include "common/mem.h"
#include "structure/structure.h"
#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct addresses_key {
    uint64_t offset;
    uint32_t module, zero;
};

void addresses_init(struct addresses *s)
{
    *s = (struct addresses){0};
    keymap_init(&s->keys, sizeof(struct addresses_key));
}

void addresses_deinit(struct addresses *s)
{
    vec_foreach(m, &s->modules) {
        free(m->path);
        free(m->file);
        vec_deinit(&m->build_id);
        vec_deinit(&m->offsets);
        vec_deinit(&m->places);
    }
    vec_deinit(&s->modules);
    keymap_deinit(&s->keys);
    vec_deinit(&s->places);
}

static uint32_t module_of(struct addresses *s, const char *path)
{
    for (size_t i = s->modules.len; i-- > 0;)
        if (!strcmp(s->modules.data[i].path, path))
            return (uint32_t)i;
    vec_push(&s->modules, (struct addresses_module){.path = xstrdup(path)});
    return (uint32_t)s->modules.len - 1;
}

uint32_t addresses_add(struct addresses *s, const char *path, uint64_t file_offset)
{
    struct addresses_key key = {.offset = file_offset, .module = module_of(s, path ? path : "")};

    return keymap_add(&s->keys, &key, NULL);
}

void addresses_read_from(struct addresses *s, const char *path, const char *file)
{
    uint32_t number = module_of(s, path); /* which may move them all */
    struct addresses_module *m = &s->modules.data[number];

    free(m->file);
    m->file = xstrdup(file);
}

void addresses_expect(struct addresses *s, const char *path, const char *hex, size_t len)
{
    uint32_t number = module_of(s, path);
    struct addresses_module *m = &s->modules.data[number];

    vec_clear(&m->build_id);
    for (size_t i = 0; i + 1 < len; i += 2) {
        char pair[] = {hex[i], hex[i + 1], '\0'};

        if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1])) {
            vec_clear(&m->build_id);
            return;
        }
        vec_push(&m->build_id, (uint8_t)strtoul(pair, NULL, 16));
    }
}

/* The link-time address of an offset in an ELF file; the offset itself for anything else. */
static uint64_t link_address(const struct file_map *map, uint64_t offset)
{
    Elf64_Ehdr h;

    if (map->size < sizeof h)
        return offset;
    memcpy(&h, map->data, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phoff > map->size)
        return offset;
    for (unsigned i = 0; i < h.e_phnum && (i + 1) * sizeof(Elf64_Phdr) <= map->size - h.e_phoff; i++) {
        Elf64_Phdr p;

        memcpy(&p, map->data + h.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && offset >= p.p_offset && offset - p.p_offset < p.p_filesz)
            return offset - p.p_offset + p.p_vaddr;
    }
    return offset;
}

static uint32_t unknown_place(struct import *im, const char *path, uint64_t address)
{
    AUTO_FREE char *name = *path ? xasprintf("%s+0x%llx", file_basename(path), (unsigned long long)address)
                                 : xasprintf("0x%llx", (unsigned long long)address);

    return import_named(im, name, *path ? path : NULL);
}

/* The other names of a procedure; NULL: none. */
static const char *const *aliases_of(const struct structure *st, const struct structure_scope *x)
{
    const char **texts = x->alias_count ? xcalloc((size_t)x->alias_count + 1, sizeof *texts) : NULL;

    for (uint32_t i = 0; i < x->alias_count; i++)
        texts[i] = intern_str(&st->strings, st->aliases.data[x->first_alias + i]);
    return texts;
}

/* The chain of a line, which structure gives innermost first. */
static uint32_t place_of(struct import *im, const struct structure *st, uint32_t line, const char *path,
                         uint64_t address)
{
    VEC(struct import_step) steps = {0};
    const struct structure_scope *leaf = &st->scopes.data[line];

    for (uint32_t i = leaf->parent; i != STRUCTURE_NONE; i = st->scopes.data[i].parent) {
        const struct structure_scope *x = &st->scopes.data[i];

        if (x->kind == SCOPE_FILE)
            break;
        vec_reserve(&steps, 1);
        memmove(steps.data + 1, steps.data, steps.len++ * sizeof *steps.data);
        steps.data[0] = (struct import_step){.kind = x->kind,
                                             .name = intern_str(&st->strings, x->name),
                                             .linkage = intern_str(&st->strings, x->linkage),
                                             .aliases = aliases_of(st, x),
                                             .file = intern_str(&st->strings, x->file),
                                             .line = x->line,
                                             .at_file = intern_str(&st->strings, x->call_file),
                                             .at_line = x->call_line,
                                             .ordinal = x->ordinal,
                                             .basis = x->basis};
    }
    uint32_t place =
        steps.len && steps.data[0].kind == SCOPE_PROCEDURE
            ? import_place(im, &(struct import_place){.module = path,
                                                      .offset = address,
                                                      .steps = steps.data,
                                                      .count = steps.len,
                                                      .file = leaf->line ? intern_str(&st->strings, leaf->file) : NULL,
                                                      .line = leaf->line})
            : unknown_place(im, path, address);

    vec_foreach(s, &steps)
        free((void *)s->aliases);
    vec_deinit(&steps);
    return place;
}

/* Without a build-id a file of another build is not known as such. */
static void tell_changed(const struct addresses_module *m, const char *file, int64_t recorded, struct import *im)
{
    struct stat st;

    if (m->build_id.len || !recorded || stat(file, &st) || st.st_mtime <= recorded)
        return;
    AUTO_FREE char *text = xasprintf(
        "%s was changed after the profile was recorded: names may be those of another build", file);
    import_fact(im, "binary", text);
}

static struct hq_error *resolve_module(struct addresses_module *m, int64_t recorded, struct import *im)
{
    AUTO_FREE char *cache = file_cache_dir();
    struct structure_options options = {.cache_dir = cache,
                                        .build_id = m->build_id.data,
                                        .build_id_len = m->build_id.len,
                                        .inlines = true,
                                        .loops = true};
    struct structure st;
    struct file_map map;
    const char *file = m->file ? m->file : m->path;

    AUTO_ERROR struct hq_error *missing = file_map_open(file, &map);

    if (missing) {
        if (*m->path)
            import_fact(im, "not found", m->path);
        for (size_t i = 0; i < m->offsets.len; i++)
            vec_push(&m->places, unknown_place(im, m->path, m->offsets.data[i]));
        return NULL;
    }
    for (size_t i = 0; i < m->offsets.len; i++)
        m->offsets.data[i] = link_address(&map, m->offsets.data[i]);
    file_map_close(&map);
    HQ_TRY(structure_recover(file, &options, m->offsets.data, m->offsets.len, &st));
    if (st.unread && st.note)
        import_fact(im, "binary", st.note);
    tell_changed(m, file, recorded, im);
    for (size_t i = 0; i < m->offsets.len; i++)
        vec_push(&m->places, place_of(im, &st, st.places.data[i].normal, m->path, m->offsets.data[i]));
    structure_deinit(&st);
    return NULL;
}

struct hq_error *addresses_resolve(struct addresses *s, struct import *im)
{
    struct addresses_key key;

    for (uint32_t i = 0; i < s->keys.len; i++) {
        memcpy(&key, keymap_key(&s->keys, i), sizeof key);
        vec_push(&s->modules.data[key.module].offsets, key.offset);
    }
    vec_foreach(m, &s->modules)
        HQ_TRY(resolve_module(m, s->recorded, im));
    AUTO_FREE size_t *taken = xcalloc(s->modules.len + 1, sizeof *taken);

    for (uint32_t i = 0; i < s->keys.len; i++) {
        memcpy(&key, keymap_key(&s->keys, i), sizeof key);
        vec_push(&s->places, s->modules.data[key.module].places.data[taken[key.module]++]);
    }
    return NULL;
}
