/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * structure_places [--normal] BINARY < ADDRESSES: the chain of scopes of each hexadecimal address, one line for each,
 * innermost first:
 *
 *     ADDRESS  line FILE:LINE  loop FILE:LINE@HEADER  inline NAME@CALLFILE:CALLLINE  procedure NAME
 *
 * with tabs between.
 */
#include "structure/structure.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct structure *s, uint32_t id)
{
    return intern_str(&s->strings, id);
}

static void print_scope(const struct structure *s, const struct structure_scope *c)
{
    switch (c->kind) {
    case SCOPE_LINE: printf("\tline %s:%u", text(s, c->file), c->line); break;
    case SCOPE_LOOP: printf("\tloop %s:%u@%llx", text(s, c->file), c->line, (unsigned long long)c->address); break;
    case SCOPE_INLINE: printf("\tinline %s@%s:%u", text(s, c->name), text(s, c->call_file), c->call_line); break;
    case SCOPE_PROCEDURE: printf("\tprocedure %s", text(s, c->name)); break;
    default: break;
    }
}

int main(int argc, char **argv)
{
    bool normal = argc > 2 && !strcmp(argv[1], "--normal");
    struct structure_options options = {.inlines = true, .loops = true};
    VEC(uint64_t) addresses = {0};
    unsigned long long address;
    struct structure s;

    if (argc != 2 + normal)
        return 2;
    while (scanf("%llx", &address) == 1)
        vec_push(&addresses, address);
    AUTO_ERROR struct hq_error *err = structure_recover(argv[1 + normal], &options, addresses.data, addresses.len, &s);
    if (err) {
        fprintf(stderr, "%s\n", err->message);
        return err->status;
    }
    if (s.note)
        fprintf(stderr, "%s\n", s.note);
    for (size_t i = 0; i < addresses.len; i++) {
        printf("%llx", (unsigned long long)addresses.data[i]);
        for (uint32_t at = normal ? s.places.data[i].normal : s.places.data[i].raw; at != STRUCTURE_NONE;
             at = s.scopes.data[at].parent)
            print_scope(&s, &s.scopes.data[at]);
        putchar('\n');
    }
    structure_deinit(&s);
    vec_deinit(&addresses);
    return 0;
}
