/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph of a callgrind profile: its parts, and callees that are told by halves (callgrind.h). */
#include "db/import/callgrind.h"

#include "common/mem.h"

void cg_graph_init(struct cg_graph *g)
{
    *g = (struct cg_graph){0};
    keymap_init(&g->function_keys, 2 * sizeof(uint32_t));
    keymap_init(&g->symbol_keys, 2 * sizeof(uint32_t));
    keymap_init(&g->plain_keys, 3 * sizeof(uint32_t));
}

void cg_graph_clear(struct cg_graph *g)
{
    vec_clear(&g->functions);
    keymap_clear(&g->function_keys);
    keymap_clear(&g->symbol_keys);
    keymap_clear(&g->plain_keys);
    g->levels = 0;
    vec_clear(&g->costs);
    vec_clear(&g->calls);
    vec_clear(&g->numbers);
}

void cg_graph_deinit(struct cg_graph *g)
{
    vec_deinit(&g->functions);
    keymap_deinit(&g->function_keys);
    keymap_deinit(&g->symbol_keys);
    keymap_deinit(&g->plain_keys);
    vec_deinit(&g->costs);
    vec_deinit(&g->calls);
    vec_deinit(&g->numbers);
}

void cg_join_callees(struct cg_graph *g)
{
    enum { SEVERAL = HQDB_NONE - 1 };
    AUTO_FREE uint32_t *only = xcalloc(g->symbol_keys.len + 1, sizeof *only);

    for (size_t i = 0; i < g->symbol_keys.len; i++)
        only[i] = HQDB_NONE;
    vec_foreach(f, &g->functions)
        if (f->begun)
            only[f->symbol] = only[f->symbol] == HQDB_NONE ? (uint32_t)(f - g->functions.data) : (uint32_t)SEVERAL;
    vec_foreach(call, &g->calls) {
        const struct cg_function *callee = &g->functions.data[call->callee];

        if (!callee->begun && only[callee->symbol] < SEVERAL)
            call->callee = only[callee->symbol];
    }
}
