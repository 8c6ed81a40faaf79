/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/symbols.h"
#include "common/hash.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include <stdlib.h>
#include <string.h>

enum {
    COMPARED = 16,      /* names of one address, one with another */
    CHOSEN_MOST = 1000, /* indirect functions, which are looked through for each procedure: libc has some 200 */
};

size_t symbol_name_length(const char *name)
{
    return name[0] == '@' ? strlen(name) : strcspn(name, "@");
}

/* A table of GHC stands in front of the code of an entry, a return or an update, which has its name and type. */
static bool is_entry_of_ghc(const struct elf_symbol *s)
{
    static const char END[] = "_info";
    size_t n = symbol_name_length(s->name);

    return s->type == STT_OBJECT && n >= sizeof END && !memcmp(s->name + n - (sizeof END - 1), END, sizeof END - 1);
}

/* Labels of assembly code have no type: only the global ones can be procedures. */
static bool is_procedure(const struct elf *text, const struct elf_symbol *s)
{
    if (s->section == SHN_UNDEF || s->section == SHN_ABS || !s->value || !elf_executable_end(text, s->value))
        return false;
    if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC || is_entry_of_ghc(s))
        return true;
    return s->type == STT_NOTYPE && (s->binding == STB_GLOBAL || s->binding == STB_WEAK);
}

static size_t underscores(const char *name)
{
    return strspn(name, "_");
}

/* Orders two names of one address by how likely a person knows them: first those without leading underscores, visible
 * from outside, shorter. */
static int by_goodness(const struct elf_symbol *x, const struct elf_symbol *y)
{
    bool x_hidden = x->name[0] == '_' && x->name[1] != 'Z' && x->name[1] != 'R';
    bool y_hidden = y->name[0] == '_' && y->name[1] != 'Z' && y->name[1] != 'R';
    size_t x_len = symbol_name_length(x->name), y_len = symbol_name_length(y->name);

    if (x_hidden != y_hidden)
        return x_hidden ? 1 : -1;
    if (x_hidden && underscores(x->name) != underscores(y->name))
        return underscores(x->name) < underscores(y->name) ? -1 : 1;
    if ((x->binding == STB_LOCAL) != (y->binding == STB_LOCAL))
        return x->binding == STB_LOCAL ? 1 : -1;
    /* MPI_Wait and PMPI_Wait are one procedure, and people call the first. */
    if (x_len != y_len)
        return x_len < y_len ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_address(const void *a, const void *b)
{
    const struct elf_symbol *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return by_goodness(x, y);
}

static bool same_name(const char *a, const char *b)
{
    size_t n = symbol_name_length(a);

    return n == symbol_name_length(b) && !memcmp(a, b, n);
}

/* Few names are compared; of many (code that the linker found equal) `seen` knows the hashes. */
static bool is_known(const struct symbols *out, const struct symbol *s, const char *name, struct map *seen)
{
    bool is_new = true;

    for (uint32_t i = 0; i < s->count && i < COMPARED; i++)
        if (same_name(out->names[s->first + i], name))
            return true;
    if (s->count >= COMPARED)
        map_insert(seen, hash_bytes(name, symbol_name_length(name), 0), 1, &is_new);
    return !is_new;
}

static void add_name(struct symbols *out, struct symbol *s, const char *name, struct map *seen)
{
    if (is_known(out, s, name, seen))
        return;
    out->names[s->first + s->count++] = name;
    out->name_count++;
}

static void group(const struct elf *text, const struct elf_symbols *all, struct symbols *out)
{
    struct map seen = {0};
    uint64_t reach = 0;

    out->list = xcalloc(all->len + 1, sizeof *out->list);
    out->names = xcalloc(all->len + 1, sizeof *out->names);
    for (size_t i = 0; i < all->len;) {
        struct symbol *s = &out->list[out->count++];

        *s = (struct symbol){
            .address = all->data[i].value, .end = all->data[i].value, .first = (uint32_t)out->name_count};
        for (; i < all->len && all->data[i].value == s->address; i++) {
            uint64_t end = s->address + all->data[i].size;

            if (end > s->end && end <= elf_executable_end(text, s->address))
                s->end = end;
            add_name(out, s, all->data[i].name, &seen);
        }
        map_clear(&seen);
        reach = s->end > reach ? s->end : reach;
        s->reach = reach;
    }
    map_deinit(&seen);
}

/* Names differ inside of the C library in what they begin with. */
static const char *bare(const char *name, size_t *len)
{
    size_t n = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') ? 0 : underscores(name);

    n += str_begins(name + n, "ieee754_") ? 8 : 0;
    n = n < *len ? n : 0;
    *len -= n;
    return name + n;
}

static void keep_chosen(struct elf *text, const struct elf_symbols *all, struct symbols *out)
{
    VEC(struct symbol_chosen) chosen = {0};

    vec_foreach(s, all) {
        if (chosen.len == CHOSEN_MOST) {
            text->beyond = "indirect functions";
            break;
        }
        if (s->type == STT_GNU_IFUNC && !(chosen.len && same_name(vec_last(&chosen).name, s->name))) {
            struct symbol_chosen c = {.address = s->value, .name = s->name, .bare_len = symbol_name_length(s->name)};

            c.bare = bare(s->name, &c.bare_len);
            vec_push(&chosen, c);
        }
    }
    out->chosen = chosen.data;
    out->chosen_count = chosen.len;
}

void symbols_read(struct elf *text, struct elf *debug, struct symbols *out)
{
    struct elf_symbols all = {0};
    size_t kept = 0;

    *out = (struct symbols){.exported = !elf_find_section(debug, ".symtab") && !elf_find_section(text, ".symtab")};
    elf_read_symbols(debug, ".symtab", &all);
    if (debug != text)
        elf_read_symbols(text, ".symtab", &all);
    elf_read_symbols(text, ".dynsym", &all);
    for (size_t i = 0; i < all.len; i++)
        if (is_procedure(text, &all.data[i]))
            all.data[kept++] = all.data[i];
    all.len = kept;
    vec_sort(&all, by_address);
    group(text, &all, out);
    keep_chosen(text, &all, out);
    vec_deinit(&all);
}

void symbols_deinit(struct symbols *s)
{
    free(s->list);
    free(s->names);
    free(s->chosen);
    *s = (struct symbols){0};
}

/* How many symbols start at or before an address. */
static size_t upto(const struct symbols *s, uint64_t address)
{
    return array_upto(s->list, s->count, address, address);
}

const struct symbol *symbols_at(const struct symbols *s, uint64_t address)
{
    size_t n = upto(s, address);

    return n && s->list[n - 1].address == address ? &s->list[n - 1] : NULL;
}

const struct symbol *symbols_after(const struct symbols *s, uint64_t address)
{
    size_t n = upto(s, address);

    return n < s->count ? &s->list[n] : NULL;
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
    size_t n = upto(s, address);

    if (n && s->list[n - 1].end == s->list[n - 1].address)
        return &s->list[n - 1];
    while (n-- > 0 && s->list[n].reach > address)
        if (s->list[n].end > address)
            return &s->list[n];
    return NULL;
}

/* ---- one of several ---- */

/* Endings of the names of procedures that are for some processors only, in the C library of x86-64 and aarch64. */
static const char *const variants[] = {
    "_sse2", "_ssse3",         "_sse41",      "_sse42",   "_sse4_1", "_sse4_2", "_avx",     "_avx2",     "_avx512",
    "_evex", "_evex512",       "_erms",       "_movbe",   "_rtm",    "_fma",    "_fma4",    "_pminub",   "_unaligned",
    "_back", "_no_vzeroupper", "_vzeroupper", "_generic", "_c",      "_asimd",  "_advsimd", "_simd",     "_sve",
    "_mops", "_mte",           "_a64fx",      "_zva64",   "_emag",   "_falkor", "_kunpeng", "_thunderx", "_thunderx2"};

/* The length without one such word at the end, or without what compilers put behind a dot (`.avx2`, `.arch_haswell.0`);
 * 0: there is none. */
static size_t without_variant(const char *name, size_t len)
{
    const char *dot = memchr(name, '.', len);

    if (dot)
        return !str_begins(dot, ".resolver") ? (size_t)(dot - name) : 0;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        size_t n = strlen(variants[i]);

        if (len > n && !memcmp(name + len - n, variants[i], n))
            return len - n;
    }
    return 0;
}

/* Whether a procedure, bare, is one of those that the name may stand for. */
static bool stands_for(const struct symbol_chosen *chosen, const char *name, size_t len)
{
    if (len < chosen->bare_len || memcmp(name, chosen->bare, chosen->bare_len) != 0)
        return false;
    while (len > chosen->bare_len)
        len = without_variant(name, len);
    return len == chosen->bare_len;
}

const char *symbols_chosen(const struct symbols *s, const char *procedure, size_t *at)
{
    size_t len = symbol_name_length(procedure);

    if (!s->chosen_count || !without_variant(procedure, len))
        return NULL;
    procedure = bare(procedure, &len);
    for (; *at < s->chosen_count; ++*at) {
        uint64_t address = s->chosen[*at].address;
        size_t i = *at;

        while (i && s->chosen[i - 1].address == address)
            i--;
        for (; i < s->chosen_count && s->chosen[i].address == address; i++)
            if (stands_for(&s->chosen[i], procedure, len))
                return s->chosen[(*at)++].name;
    }
    return NULL;
}

bool symbols_is_chosen(const struct symbols *s, const char *name)
{
    for (size_t i = 0; i < s->chosen_count; i++)
        if (s->chosen[i].name[0] == name[0] && same_name(s->chosen[i].name, name))
            return true;
    return false;
}
