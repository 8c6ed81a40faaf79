/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who opens a parallel region whose body tells no procedure by its name (clang's `.omp_outlined.`): whose code takes
 * the address of the body, to hand it to the runtime. On the stack it is not always: of a procedure that ends with a
 * region compilers make a jump. Where the file is not here, what is on the stack has to do.
 */
#include "db/build/attribution.h"

#include "common/mem.h"
#include "common/str.h"

#include <stdlib.h>
#include <string.h>

enum { NESTED_MOST = 16 };

const char *opener_scope_name(const struct module_work *w, uint32_t scope)
{
    return intern_str(&w->structure.strings, w->structure.scopes.data[scope].name);
}

bool opener_split_name(const char *name, size_t *base)
{
    /* gcc's, those of loops that it made parallel itself (-ftree-parallelize-loops), clang's, flang's, icx's */
    static const char *const marks[] = {"._omp_fn.", "._loopfn.", ".omp_outlined",    ".omp_task_entry",
                                        "..omp_par", ".DIR.OMP.", "__omp_offloading_"};
    static const char clone[] = " [clone "; /* where the name was demangled */
    const size_t n = sizeof clone - 1;

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(name, marks[i]);

        if (at) {
            *base = (size_t)(at - name);
            if (*base > n && !strncmp(at - n, clone, n))
                *base -= n;
            return true;
        }
    }
    return false;
}

bool opener_split_offloaded(const char *name, struct opener_offloaded *out)
{
    static const char begin[] = "__omp_offloading_"; /* device and file follow, in hexadecimal digits */
    const char *at = name + sizeof begin - 1, *last = NULL;

    if (strncmp(name, begin, sizeof begin - 1))
        return false;
    for (int i = 0; i < 2; i++) {
        size_t n = strspn(at, "0123456789abcdef");

        if (!n || at[n] != '_')
            return false;
        at += n + 1;
    }
    for (const char *l = at; (l = strstr(l, "_l")); l++)
        if (l > at && l[2] >= '0' && l[2] <= '9')
            last = l;
    if (!last || strchr(last, '.')) /* a region in it: clang 19 names those after it */
        return false;
    *out = (struct opener_offloaded){at, (size_t)(last - at), (uint32_t)strtoul(last + 2, NULL, 10)};
    return true;
}

uint32_t opener_statement(const struct attribution *a, uint32_t module, uint64_t offset)
{
    const struct module_work *w;

    if (module >= a->tree->modules.len || is_own_work(a, &(struct tree_frame){.module = module, .offset = offset}))
        return STRUCTURE_NONE;
    w = &a->modules[module];
    return w->structure.places.data[index_of(w, offset)].normal;
}

const struct tree_opening *opener_record(const struct attribution *a, uint32_t region)
{
    const struct tree_frame *f = calltree_frame(a->tree, region);

    return f->offset ? keymap_key(&a->tree->openings, (uint32_t)(f->offset - 1)) : NULL;
}

uint32_t opener_jumper(struct attribution *a, uint32_t region, struct module_work **w)
{
    const struct tree_opening *o = opener_record(a, region);
    uint32_t statement = o ? opener_statement(a, o->callee.module, o->callee.offset) : STRUCTURE_NONE, procedure;

    if (statement == STRUCTURE_NONE || a->modules[o->callee.module].runtime)
        return STRUCTURE_NONE;
    *w = &a->modules[o->callee.module];
    procedure = procedure_of(&(*w)->structure, statement);
    return procedure == STRUCTURE_NONE || strstr(opener_scope_name(*w, procedure), "@plt") ? STRUCTURE_NONE : procedure;
}

/* The name of the innermost procedure around a scope, inlined or not, that is no body of a region; NULL: none. */
static const char *host_name(const struct module_work *w, uint32_t scope)
{
    size_t base;

    for (; scope != STRUCTURE_NONE; scope = w->structure.scopes.data[scope].parent) {
        enum scope_kind kind = w->structure.scopes.data[scope].kind;

        if ((kind == SCOPE_PROCEDURE || kind == SCOPE_INLINE) && !opener_split_name(opener_scope_name(w, scope), &base))
            return opener_scope_name(w, scope);
    }
    return NULL;
}

struct numbers {
    uint64_t *data;
    size_t len, cap;
};

/* Of each load module the bodies that recordings name: libgomp's names tell who opens them. */
static void recorded_bodies(const struct attribution *a, struct numbers *bodies)
{
    for (uint32_t i = 0; i < a->tree->openings.len; i++) {
        const struct tree_opening *o = keymap_key(&a->tree->openings, i);

        if (hqm_seen_by(o->runtime) == HQM_RUNTIME_OMPT && o->body.module < a->tree->modules.len)
            vec_push(&bodies[o->body.module], o->body.offset);
    }
}

static bool has_tasks_without_body(const struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->openings.len; i++) {
        const struct tree_opening *o = keymap_key(&a->tree->openings, i);

        if (o->runtime == HQM_RUNTIME_TASK && o->body.module == TREE_NONE)
            return true;
    }
    return false;
}

/* The body of a task of libomp's goes on at the call that creates it. */
static bool creates_task(struct attribution *a, const struct tree_frame *call, const struct tree_frame *body)
{
    const char *called = call->module == body->module ? modules_callee(a, call->module, call->offset) : NULL;

    return called && (str_begins(called, "__kmpc_omp_task") || str_begins(called, "__kmpc_taskloop"));
}

/* Where they do not name them, bodies are met as what the runtime calls. */
void openers_find(struct attribution *a)
{
    const struct calltree *t = a->tree;
    struct numbers *bodies = xcalloc(t->modules.len + 1, sizeof *bodies);
    bool tasks = has_tasks_without_body(a);

    recorded_bodies(a, bodies);
    for (uint32_t i = 0; i < t->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(t, i);
        const struct tree_opening *o;

        if (f->module >= t->modules.len || f->parent == TREE_NONE || a->modules[f->module].runtime || is_own_work(a, f))
            continue;
        if (is_openmp_code(a, calltree_frame(t, f->parent)) ||
            (tasks && creates_task(a, calltree_frame(t, f->parent), f))) {
            vec_push(&bodies[f->module], f->offset);
            continue;
        }
        if (calltree_frame(t, f->parent)->module != TREE_REGION)
            continue;
        o = opener_record(a, f->parent);
        if (!o || o->body.module == TREE_NONE)
            vec_push(&bodies[f->module], f->offset);
    }
    for (size_t m = 0; m < t->modules.len; m++) {
        struct module_work *w = &a->modules[m];

        if (bodies[m].len)
            modules_taken(w, bodies[m].data, bodies[m].len);
        for (size_t i = 0; i < w->taken.len; i++)
            vec_push(&w->offsets, w->taken.data[i].at);
        vec_deinit(&bodies[m]);
    }
    free(bodies);
}

/* The name of who takes the address of a body; of several that one which is on the stack, else the first by name. What
 * is written in another region is taken by that one's body. NULL: nobody known does. */
static const char *taker(struct attribution *a, uint32_t module, uint32_t body, const char *on_stack, int nested)
{
    const struct module_work *w = &a->modules[module];
    const struct structure *s = &w->structure;
    const char *first = NULL;

    for (size_t i = 0; i < w->taken.len && nested < NESTED_MOST; i++) {
        uint32_t statement, procedure;
        const char *name;

        if (w->taken.data[i].procedure != s->scopes.data[body].address)
            continue;
        statement = opener_statement(a, module, w->taken.data[i].at);
        procedure = statement == STRUCTURE_NONE ? STRUCTURE_NONE : procedure_of(s, statement);
        if (procedure == STRUCTURE_NONE || procedure == body)
            continue;
        name = host_name(w, statement);
        if (!name)
            name = taker(a, module, procedure, on_stack, nested + 1);
        if (name && on_stack && !strcmp(name, on_stack))
            return name;
        if (name && (!first || strcmp(name, first) < 0))
            first = name;
    }
    return first;
}

const char *opener_taker(struct attribution *a, uint32_t module, uint32_t body)
{
    return taker(a, module, body, NULL, 0);
}

/* Of a region that is written in another one, whose body opens it, the procedure stands at the call that opens the
 * outer one. */
static const char *name_on_stack(struct attribution *a, uint32_t region)
{
    const char *name = NULL;

    for (uint32_t frame = region; !name && frame != TREE_NONE; frame = calltree_frame(a->tree, frame)->parent) {
        const struct tree_frame *f = calltree_frame(a->tree, frame);
        struct module_work *w = f->module == TREE_REGION ? NULL : &a->modules[f->module];
        uint32_t scope = w ? opener_statement(a, f->module, f->offset) : opener_jumper(a, frame, &w);

        if (is_openmp_code(a, f)) /* it calls the body of the region around */
            continue;
        if (f->module != TREE_REGION && scope == STRUCTURE_NONE)
            return NULL;
        if (scope != STRUCTURE_NONE)
            name = host_name(w, scope);
    }
    return name;
}

const char *opener_name(struct attribution *a, uint32_t region, uint32_t module, uint32_t body)
{
    const char *on_stack = name_on_stack(a, region), *name = taker(a, module, body, on_stack, 0);

    return name ? name : on_stack;
}

bool opener_is_unknown(struct attribution *a, uint32_t region, const struct tree_frame *call)
{
    const struct tree_opening *o = opener_record(a, region);

    return o && o->callee.module == TREE_NONE && !modules_callee(a, call->module, call->offset) &&
           a->modules[call->module].callees;
}

const struct structure_scope *opener_call(struct attribution *a, uint32_t region, struct module_work **w)
{
    const struct tree_frame *f = calltree_frame(a->tree, region), *call;
    uint32_t statement;

    call = f->parent == TREE_NONE ? NULL : calltree_frame(a->tree, f->parent);
    if (!call || call->module >= a->tree->modules.len || opener_is_unknown(a, region, call) ||
        opener_jumper(a, region, w) != STRUCTURE_NONE)
        return NULL;
    *w = &a->modules[call->module];
    statement = opener_statement(a, call->module, call->offset);
    return statement == STRUCTURE_NONE ? NULL : &(*w)->structure.scopes.data[statement];
}
