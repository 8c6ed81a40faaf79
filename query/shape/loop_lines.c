/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/shape/loop_lines.h"

enum loop_basis loop_lines_basis(const struct tree *t, uint32_t scope)
{
    const struct hqdb_scope *s = scope == HQDB_NONE ? NULL : tree_scope(t, scope);

    return s && s->kind == SCOPE_LOOP && s->line && s->basis < LOOP_BASES ? (enum loop_basis)s->basis : LOOP_UNKNOWN;
}

unsigned loop_lines_inferred(const struct loop_lines *n)
{
    unsigned inferred = 0;

    for (unsigned k = 0; k < LOOP_BASES; k++)
        inferred += loop_lines_is_inferred(k) ? n->of[k] : 0;
    return inferred;
}

void loop_lines_add_why(const struct loop_lines *n, struct str *out)
{
    static const char *const why[LOOP_BASES] = {
        [LOOP_SOURCE_GONE] = "source not found",
        [LOOP_SOURCE_NEWER] = "source newer than the program",
        [LOOP_SOURCE_UNREAD] = "source not read",
        [LOOP_UNLIKE_SOURCE] = "no loop statement there in the source",
    };
    const char *between = "";

    for (unsigned k = 0; k < LOOP_BASES; k++) {
        if (!loop_lines_is_inferred(k) || !n->of[k])
            continue;
        str_addf(out, "%s%s (%u)", between, why[k], n->of[k]);
        between = ", ";
    }
}

void note_loop_lines(struct run *run)
{
    struct loop_lines n = {0};
    AUTO_STR struct str why = {0};
    unsigned all = 0;

    vec_foreach(r, &run->table->rows) {
        if (r->kind != SCOPE_LOOP || !r->line)
            continue;
        n.of[r->basis]++;
        all++;
    }
    if (!loop_lines_inferred(&n))
        return;
    loop_lines_add_why(&n, &why);
    run_note(run, "loops: the lines of %u of %u are inferred from debug information and can be some lines off: %s",
             loop_lines_inferred(&n), all, str_cstr(&why));
}
