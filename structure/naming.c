/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/naming.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "structure/start.h"
#include <string.h>

static char *demangled(struct book *b, const char *symbol)
{
    bool gave_up;
    char *text = structure_demangle_within(symbol, &gave_up);

    b->long_names += gave_up;
    return text;
}

/* DW_AT_name of a C++ member is unqualified and without arguments: the symbol says more, if it can be demangled. */
uint32_t naming_origin(struct book *b, const struct dwarf_origin *origin)
{
    AUTO_FREE char *whole = origin->linkage ? demangled(b, origin->linkage) : NULL;

    if (whole)
        return intern_add(&b->strings, whole);
    /* gcc gives bodies of parallel regions a symbol for a name: _Z5inneri._omp_fn.0 */
    whole = origin->name ? demangled(b, origin->name) : NULL;
    if (whole)
        return intern_add(&b->strings, whole);
    if (origin->name)
        return intern_add(&b->strings, origin->qualified ? origin->qualified : origin->name);
    return origin->linkage ? intern_add(&b->strings, origin->linkage) : 0;
}

static uint32_t symbol_text(struct book *b, const char *symbol)
{
    AUTO_FREE char *plain = xstrndup(symbol, symbol_name_length(symbol));
    AUTO_FREE char *whole = demangled(b, plain);

    return intern_add(&b->strings, whole ? whole : plain);
}

char *naming_unknown(const char *path, uint64_t address)
{
    return xasprintf("%s+0x%llx", file_basename(path), (unsigned long long)address);
}

uint32_t naming_procedure(struct book *b, const struct image *image, const struct procedure *p)
{
    uint32_t name = p->dwarf ? naming_origin(b, &p->dwarf->origin) : 0;
    const char *symbol = p->symbol ? image->symbols.names[p->symbol->first] : NULL;

    /* Members of what has no name outside (lambdas, local classes) have no linkage name, but a symbol that says whose
     * they are. */
    if (name && symbol && !p->dwarf->origin.linkage &&
        (str_begins(symbol, "_ZN") || str_begins(symbol, "_ZZ") || str_begins(symbol, "_ZS"))) {
        AUTO_FREE char *plain = xstrndup(symbol, symbol_name_length(symbol));
        AUTO_FREE char *whole = demangled(b, plain);

        if (whole && strstr(whole, "::"))
            return intern_add(&b->strings, whole);
    }
    /* gcc makes two more procedures of a coroutine, which have its name in the source. */
    const char *part = name && symbol && !p->dwarf->origin.linkage ? strrchr(symbol, '.') : NULL;
    if (part && (!strcmp(part, ".actor") || !strcmp(part, ".destroy"))) {
        AUTO_FREE char *whole = xasprintf("%s [clone %s]", intern_str(&b->strings, name), part);

        return intern_add(&b->strings, whole);
    }
    /* The C library's sources say __libc_malloc where callers say malloc. */
    if (name && !(*intern_str(&b->strings, name) == '_' && symbol && *symbol != '_'))
        return name;
    if (symbol)
        return symbol_text(b, symbol);
    if (p->stub)
        return intern_add(&b->strings, p->stub);
    const char *start = start_name(image->text, p->entry);
    if (start)
        return intern_add(&b->strings, start);
    AUTO_FREE char *made = naming_unknown(image->text->path, p->entry);
    return intern_add(&b->strings, made);
}

uint32_t naming_origin_linkage(struct book *b, const struct dwarf_origin *origin)
{
    return origin->linkage ? intern_add(&b->strings, origin->linkage) : 0;
}

uint32_t naming_linkage(struct book *b, const struct image *image, const struct procedure *p)
{
    const char *symbol = p->symbol ? image->symbols.names[p->symbol->first] : NULL;

    if (p->dwarf && p->dwarf->origin.linkage)
        return naming_origin_linkage(b, &p->dwarf->origin);
    return symbol ? intern_addn(&b->strings, symbol, name_without_clone(symbol, symbol_name_length(symbol))) : 0;
}

static void add_alias(struct book *b, struct structure_scope *s, const char *name, size_t len)
{
    uint32_t text = intern_addn(&b->strings, name, len);

    if (!text || text == s->name)
        return;
    for (uint32_t i = 0; i < s->alias_count; i++)
        if (b->aliases.data[s->first_alias + i] == text)
            return;
    vec_push(&b->aliases, text);
    s->alias_count++;
}

void naming_aliases(struct book *b, const struct image *image, const struct procedure *p, uint32_t scope)
{
    struct structure_scope *s = &b->scopes.data[scope];
    const char *linkage = p->dwarf ? p->dwarf->origin.linkage : NULL, *chosen;

    s->first_alias = (uint32_t)b->aliases.len;
    if (linkage)
        add_alias(b, s, linkage, strlen(linkage));
    if (p->dwarf && p->dwarf->origin.name)
        add_alias(b, s, p->dwarf->origin.name, strlen(p->dwarf->origin.name));
    for (uint32_t i = 0; p->symbol && i < p->symbol->count; i++) {
        const char *name = image->symbols.names[p->symbol->first + i];

        add_alias(b, s, name, symbol_name_length(name));
        for (size_t at = 0; (chosen = symbols_chosen(&image->symbols, name, &at));)
            add_alias(b, s, chosen, symbol_name_length(chosen));
    }
}
