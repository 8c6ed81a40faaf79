/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * structure_given BINARY FILE N SEED: asks the binary and a structure file of it for the same addresses, N random ones
 * of the code that the file has, and compares both chains of each with all that is said of every scope. The file must
 * tell all of it alone: it is asked for a path that is not there. The last line has `N addresses, N differ`.
 */
#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "structure/given/given.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 5 };

static void describe(const struct structure *s, uint32_t at, struct str *out)
{
    for (; at != STRUCTURE_NONE; at = s->scopes.data[at].parent) {
        const struct structure_scope *c = &s->scopes.data[at];

        str_addf(out, "[%d %s %s %s:%u from %s:%u #%u %llx", (int)c->kind, intern_str(&s->strings, c->name),
                 intern_str(&s->strings, c->linkage), intern_str(&s->strings, c->file), c->line,
                 intern_str(&s->strings, c->call_file), c->call_line, c->ordinal, (unsigned long long)c->address);
        for (uint32_t i = 0; i < c->alias_count; i++)
            str_addf(out, " =%s", intern_str(&s->strings, s->aliases.data[c->first_alias + i]));
        str_add(out, "] ");
    }
}

static bool differs(const struct structure *a, const struct structure *b, size_t i, bool normal, uint64_t address)
{
    static int shown;
    AUTO_STR struct str x = {0}, y = {0};

    describe(a, normal ? a->places.data[i].normal : a->places.data[i].raw, &x);
    describe(b, normal ? b->places.data[i].normal : b->places.data[i].raw, &y);
    if (!strcmp(str_cstr(&x), str_cstr(&y)))
        return false;
    if (shown++ < SHOWN)
        printf("%llx, %s:\n  binary %s\n  file   %s\n", (unsigned long long)address, normal ? "normal" : "raw",
               str_cstr(&x), str_cstr(&y));
    return true;
}

static uint64_t pick(const struct given_tree *t, uint64_t *state)
{
    const struct given_span *s = &t->spans.data[hash_u64((*state)++) % t->spans.len];

    return s->low + hash_u64((*state)++) % (s->high - s->low);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    struct structure_options options = {.inlines = true, .loops = true}, given_options = options;
    uint64_t state = strtoull(argv[4], NULL, 0);
    size_t n = strtoul(argv[3], NULL, 0), wrong = 0;
    AUTO_FREE uint64_t *addresses = xcalloc(n + 1, sizeof *addresses);
    AUTO_FREE char *nowhere = xasprintf("/nowhere/%s", file_basename(argv[1]));
    const char *path = argv[2];
    struct structure binary, file;
    struct given *given;
    AUTO_ERROR struct hq_error *error = given_open(&path, 1, false, &given);

    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return error->status;
    }
    const struct given_module *m = given->files.data[0]->modules.data[0];

    for (size_t i = 0; i < n; i++)
        addresses[i] = pick(&m->trees[GIVEN_NORMAL], &state);
    given_options.given = m;
    hq_error_free(structure_recover(argv[1], &options, addresses, n, &binary));
    hq_error_free(structure_recover(nowhere, &given_options, addresses, n, &file));
    for (size_t i = 0; i < n; i++) {
        bool one = differs(&binary, &file, i, false, addresses[i]),
             other = differs(&binary, &file, i, true, addresses[i]);

        wrong += one || other;
    }
    printf("%zu addresses, %zu differ\n", n, wrong);
    structure_deinit(&binary);
    structure_deinit(&file);
    given_close(given);
    return wrong ? 1 : 0;
}
