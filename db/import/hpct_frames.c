/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From HPCToolkit's contexts to call paths: a frame is a context from which a call was made, or that has values of its
 * own; what stands between it and its procedure (loops, inlined functions, the line) is the place of the frame.
 */
#include "common/hash.h"
#include "common/str.h"
#include "db/import/hpct.h"
#include <string.h>

static bool is_top(const struct hpct_node *n)
{
    return n->parent == HQDB_NONE || n->is_entry;
}

#define UNKNOWN "<unknown procedure>" /* so hpcrun says too */

/* Does a procedure begin here? */
static bool starts_procedure(const struct hpct *h, const struct hpct_node *n)
{
    return !is_top(n) && (n->relation == HPCT_CALLED || is_top(&h->nodes.data[n->parent]));
}

/* A file named [MODULE] is how HPCToolkit says that it knows none. */
static const char *known_file(const char *file)
{
    size_t n = file ? strlen(file) : 0;

    return n && !(file[0] == '[' && file[n - 1] == ']') ? file : NULL;
}

/* The line that encloses a node within the same scope, itself included; NULL none. */
static const struct hpct_node *statement_of(const struct hpct *h, const struct hpct_node *n)
{
    for (;; n = &h->nodes.data[n->parent]) {
        if (n->lexical == HPCT_LINE)
            return n;
        if (is_top(n) || n->lexical == HPCT_FUNCTION || n->lexical == HPCT_LOOP || starts_procedure(h, n))
            return NULL;
    }
}

/*
 * hpcrun's names of procedures that only the symbol table knows end with ` [MODULE]`, and with the symbol's version:
 * `memcpy@@GLIBC_2.14 [libc.so.6]` is memcpy.
 */
static const char *own_name(struct hpct *h, const char *name, const char *module)
{
    AUTO_FREE char *suffix = module ? xasprintf(" [%s]", file_basename(module)) : NULL;
    size_t n = strlen(name), k = suffix ? strlen(suffix) : 0, version = strcspn(name, "@");

    while (k && n > k && !strncmp(name + n - k, suffix, k))
        n -= k;
    if (version && version < n && strcspn(name, " (<") > version)
        n = version;
    AUTO_FREE char *own = xstrndup(name, n);

    return name[n] ? import_keep(h->im, own) : name;
}

/* Code without a name is called as in recordings of our own, so that they meet in comparisons. */
static const char *unnamed(struct hpct *h, const struct hpct_node *n, const struct hpct_function *f)
{
    const char *module = f && f->module ? f->module : n->module;
    AUTO_STR struct str own = {0};

    if (module)
        str_addf(&own, "%s+0x%llx", file_basename(module), (unsigned long long)(f ? f->offset : n->offset));
    else if (f && known_file(f->file))
        str_addf(&own, UNKNOWN " [%s:%u]", file_basename(f->file), f->line);
    else
        str_add(&own, UNKNOWN);
    return import_keep(h->im, str_cstr(&own));
}

static const char *function_name(struct hpct *h, const struct hpct_node *n, const struct hpct_function *f)
{
    if (f && f->name && *f->name && !str_begins(f->name, UNKNOWN))
        return own_name(h, f->name, f->module ? f->module : n->module);
    return unnamed(h, n, f);
}

static struct import_step function_step(struct hpct *h, const struct hpct_node *n, bool inlined)
{
    const struct hpct_function *f = hpct_function_of(h, n);
    struct import_step s = {.kind = inlined ? SCOPE_INLINE : SCOPE_PROCEDURE, .name = function_name(h, n, f)};

    if (f) {
        s.file = known_file(f->file);
        s.line = s.file ? f->line : 0;
    }
    const struct hpct_node *site = inlined ? statement_of(h, &h->nodes.data[n->parent]) : NULL;

    if (site && known_file(site->file)) {
        s.at_file = site->file;
        s.at_line = site->line;
    }
    return s;
}

struct steps {
    struct import_step *data;
    size_t len, cap;
};

/* The scopes from the node out to its procedure, innermost first; gives the node of the procedure. */
static const struct hpct_node *collect(struct hpct *h, const struct hpct_node *n, struct steps *steps)
{
    for (;; n = &h->nodes.data[n->parent]) {
        bool starts = starts_procedure(h, n);

        if (n->lexical == HPCT_LOOP)
            vec_push(steps,
                     (struct import_step){
                         .kind = SCOPE_LOOP, .file = known_file(n->file), .line = n->line, .ordinal = n->ordinal});
        if (starts || n->lexical == HPCT_FUNCTION)
            vec_push(steps, function_step(h, n, !starts));
        if (starts)
            return n;
    }
}

static uint32_t place_of(struct hpct *h, const struct hpct_node *n, const struct hpct_node **procedure)
{
    struct steps steps = {0};
    const struct hpct_node *line = statement_of(h, n);

    *procedure = collect(h, n, &steps);
    for (size_t i = 0, j = steps.len; i + 1 < j; i++) {
        struct import_step swapped = steps.data[i];

        steps.data[i] = steps.data[--j];
        steps.data[j] = swapped;
    }
    const struct hpct_function *f = hpct_function_of(h, *procedure);
    const char *file = line ? known_file(line->file) : NULL;
    uint32_t place = import_place(h->im,
                                  &(struct import_place){.module = f && f->module ? f->module : (*procedure)->module,
                                                         .steps = steps.data,
                                                         .count = steps.len,
                                                         .file = file,
                                                         .line = file ? line->line : 0});

    vec_deinit(&steps);
    return place;
}

static uint32_t top_frame(struct hpct *h, const struct hpct_node *n, bool has_parent)
{
    struct model *m = h->im->model;

    if (!n->is_entry || n->entry == 1)
        return has_parent ? HQDB_NONE : model_root_frame(m, SCOPE_PARTIAL, "partial: no call path");
    if (n->entry)
        return model_root_frame(m, SCOPE_THREAD, n->name ? n->name : "thread");
    return model_root_frame(m, SCOPE_PARTIAL, "partial: unknown entry");
}

/* One stretch of the way up: from a node to the place that called its procedure. */
struct stretch {
    uint32_t node, place;
};

uint32_t hpct_frame(struct hpct *h, uint32_t node)
{
    VEC(struct stretch) way = {0};
    uint32_t frame = HQDB_NONE, at = node;

    if (!h->frames)
        h->frames = xcalloc(h->nodes.len, sizeof *h->frames);
    while (!h->frames[at] && !is_top(&h->nodes.data[at])) {
        const struct hpct_node *procedure;
        uint32_t place = place_of(h, &h->nodes.data[at], &procedure);

        vec_push(&way, (struct stretch){at, place});
        at = procedure->parent;
    }
    frame = h->frames[at] ? h->frames[at] - 1 : top_frame(h, &h->nodes.data[at], way.len > 0);
    while (way.len) {
        struct stretch s = vec_pop(&way);

        frame = import_frame(h->im, frame, s.place);
        h->frames[s.node] = frame + 1;
    }
    vec_deinit(&way);
    return frame;
}

uint32_t hpct_outermost(struct hpct *h, uint32_t node)
{
    const struct hpct_node *n = &h->nodes.data[node];
    uint32_t outer = node;

    while (!is_top(n)) {
        outer = (uint32_t)(n - h->nodes.data);
        while (!starts_procedure(h, n))
            n = &h->nodes.data[n->parent];
        n = &h->nodes.data[n->parent];
    }
    uint32_t root = top_frame(h, n, true);

    return root == HQDB_NONE ? hpct_frame(h, outer) : root;
}

/* ---- loops ---- */

struct loop_key {
    uint64_t procedure, chain;
    const char *file;
    uint32_t line, node;
};

static int compare_loops(const void *pa, const void *pb)
{
    const struct loop_key *a = pa, *b = pb;
    int c = (a->procedure > b->procedure) - (a->procedure < b->procedure);

    c = c ? c : strcmp(a->file ? a->file : "", b->file ? b->file : "");
    c = c ? c : (a->line > b->line) - (a->line < b->line);
    c = c ? c : (a->chain > b->chain) - (a->chain < b->chain);
    return c ? c : (a->node > b->node) - (a->node < b->node);
}

/* Numbers loops: a loop has one number in all calling contexts. It is identified by its procedure and the scopes that
 * enclose it there. */
void hpct_number_loops(struct hpct *h)
{
    VEC(struct loop_key) loops = {0};
    AUTO_FREE struct loop_key *chains = xcalloc(h->nodes.len, sizeof *chains);

    for (uint32_t i = 1; i < h->nodes.len; i++) {
        const struct hpct_node *n = &h->nodes.data[i];
        struct loop_key *k = &chains[i];

        if (is_top(n))
            continue;
        *k = starts_procedure(h, n) ? (struct loop_key){.procedure = n->function} : chains[n->parent];
        if (n->lexical == HPCT_FUNCTION)
            k->chain = hash_combine(k->chain, n->function);
        if (n->lexical != HPCT_LOOP)
            continue;
        k->chain = hash_combine(hash_combine(k->chain, hash_str(n->file ? n->file : "")), n->line);
        vec_push(&loops, (struct loop_key){k->procedure, k->chain, n->file, n->line, i});
    }
    vec_sort(&loops, compare_loops);
    for (size_t i = 0; i < loops.len; i++) {
        const struct loop_key *k = &loops.data[i], *before = i ? k - 1 : NULL;
        bool same_procedure = before && before->procedure == k->procedure;
        uint32_t ordinal = same_procedure ? h->nodes.data[before->node].ordinal : 0;

        h->nodes.data[k->node].ordinal = ordinal + !(same_procedure && before->chain == k->chain);
    }
    vec_deinit(&loops);
}
