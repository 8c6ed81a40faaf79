/* SPDX-License-Identifier: BSD-3-Clause */
/* From the addresses of scopes to the innermost scope of an address. */
#include "structure/given/given.h"
#include "structure/range.h"

struct interval {
    uint64_t low, high;
    uint32_t scope, depth;
};

struct sweep {
    const char *path;
    struct given_tree *tree;
    VEC(struct interval) open; /* each lies in the one before it */
    uint64_t at;               /* all code below has its spans */
};

static int by_place(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;

    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high > y->high ? -1 : 1;
    return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static const struct given_scope *scope(const struct given_tree *t, uint32_t i)
{
    return &t->scopes.data[i];
}

/* Load modules and files may say what they hold; that says nothing of what lies where. */
static bool counts(const struct given_scope *s)
{
    return s->ranges && s->of.kind != SCOPE_FILE;
}

/* The innermost scope around another that has addresses. */
static uint32_t around(const struct given_tree *t, uint32_t i)
{
    do
        i = scope(t, i)->of.parent;
    while (i != STRUCTURE_NONE && !counts(scope(t, i)));
    return i;
}

static void add_span(struct sweep *w, uint64_t high)
{
    struct given_tree *t = w->tree;
    uint32_t inner = w->open.len ? vec_last(&w->open).scope : GIVEN_NONE;
    struct given_span *last = t->spans.len ? &vec_last(&t->spans) : NULL;

    if (inner != GIVEN_NONE && w->at < high) {
        if (last && last->high == w->at && last->scope == inner)
            last->high = high;
        else
            vec_push(&t->spans, (struct given_span){w->at, high, inner});
    }
    w->at = high;
}

static void go_to(struct sweep *w, uint64_t address)
{
    while (w->open.len && vec_last(&w->open).high <= address) {
        add_span(w, vec_last(&w->open).high);
        w->open.len--;
    }
    add_span(w, address);
}

static bool lies_in(const struct given_tree *t, uint32_t i, uint32_t outer)
{
    while (i != STRUCTURE_NONE && i != outer)
        i = scope(t, i)->of.parent;
    return i == outer;
}

static struct hq_error *wrong(const struct sweep *w, const struct interval *it, uint32_t expected)
{
    const struct given_tree *t = w->tree;
    uint32_t top = w->open.len ? vec_last(&w->open).scope : GIVEN_NONE;
    unsigned long long low = it->low, high = it->high;

    if (top != GIVEN_NONE && !lies_in(t, it->scope, top))
        return hq_error_new(HQ_DATA, "%s:%lu: the addresses 0x%llx-0x%llx are, or lie among, those of line %lu",
                            w->path, scope(t, it->scope)->at, low, high, scope(t, top)->at);
    return hq_error_new(HQ_DATA, "%s:%lu: the addresses 0x%llx-0x%llx do not lie within those of line %lu", w->path,
                        scope(t, it->scope)->at, low, high, scope(t, expected == GIVEN_NONE ? top : expected)->at);
}

static struct hq_error *take(struct sweep *w, const struct interval *it)
{
    uint32_t expected = around(w->tree, it->scope);

    go_to(w, it->low);
    const struct interval *top = w->open.len ? &vec_last(&w->open) : NULL;

    if ((top ? top->scope : GIVEN_NONE) != expected || (top && top->high < it->high))
        return wrong(w, it, expected);
    vec_push(&w->open, *it);
    return NULL;
}

struct hq_error *given_spans(const char *path, struct given_tree *tree)
{
    struct sweep w = {.path = path, .tree = tree};
    AUTO_FREE uint32_t *depth = xcalloc(tree->scopes.len + 1, sizeof *depth);
    VEC(struct interval) all = {0};
    struct hq_error *error = NULL;

    for (uint32_t i = 0; i < tree->scopes.len; i++) {
        const struct given_scope *s = scope(tree, i);

        depth[i] = s->of.parent == STRUCTURE_NONE ? 0 : depth[s->of.parent] + 1;
        for (uint32_t k = 0; counts(s) && k < s->ranges; k++) {
            const struct given_range *r = &tree->ranges.data[s->first_range + k];

            vec_push(&all, (struct interval){r->low, r->high, i, depth[i]});
        }
    }
    vec_sort(&all, by_place);
    for (size_t i = 0; i < all.len && !error; i++)
        error = take(&w, &all.data[i]);
    go_to(&w, UINT64_MAX);
    vec_deinit(&w.open);
    vec_deinit(&all);
    return error;
}

uint32_t given_at(const struct given_tree *tree, uint64_t address)
{
    const struct given_span *span = range_find(&tree->spans, address);

    return span ? span->scope : GIVEN_NONE;
}
