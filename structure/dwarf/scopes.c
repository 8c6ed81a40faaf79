/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the scopes around a C++ procedure that has no symbol name. gcc gives none to what cannot be named from outside
 * (lambdas, members of local classes, templates over them, static procedures): the description has only `operator()`.
 * The namespaces, classes and procedures around it are found by the offsets that they span, and make a name as
 * demangling would: `main::{lambda(int)#1}::operator()(int) const`.
 *
 * The spans in a unit are listed once, without what is in its outer classes: that makes a list of its own if it is
 * asked for.
 */
#include "structure/dwarf/impl.h"
#include "structure/structure.h"
#include "common/mem.h"
#include "common/str.h"
#include <string.h>

#define MAX_DEPTH 200 /* of nested DIEs */
#define NONE      UINT32_MAX

struct scope {
    Dwarf_Off start, end; /* of the DIE with all that is in it */
    uint32_t parent;      /* NONE: the root of the list */
    Dwarf_Half tag;
    bool unnamed;
    uint64_t place; /* of a class without a name: line and column */
};

struct dwarf_scopes { /* below one DIE; in the order of the file, so parents come first */
    VEC(struct scope) list;
};

struct lister {
    const struct dwarf_file *f;
    struct dwarf_scopes *out;
    uint32_t parent, last; /* last: the one just listed on this level, whose end is not known yet */
    bool outer_classes;    /* are not looked into */
    int depth;
};

static bool is_class(Dwarf_Half tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static void list_child(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    struct lister *l = arg;
    Dwarf_Debug dbg = l->f->dbg;
    Dwarf_Error err = NULL;
    Dwarf_Half tag = dwarf_tag_of(l->f, die);
    char *name;

    if (l->last != NONE)
        l->out->list.data[l->last].end = offset;
    l->last = NONE;
    if (l->depth >= MAX_DEPTH || !(is_class(tag) || tag == DW_TAG_subprogram || tag == DW_TAG_namespace ||
                                   tag == DW_TAG_module || tag == DW_TAG_lexical_block))
        return;
    struct scope scope = {.start = offset,
                          .parent = l->parent,
                          .tag = tag,
                          .unnamed = !dwarf_ok(dbg, dwarf_diename(die, &name, &err), &err)};
    if (is_class(tag) && scope.unnamed)
        scope.place = dwarf_number(l->f, die, DW_AT_decl_line) << 16 | dwarf_number(l->f, die, DW_AT_decl_column);
    l->last = (uint32_t)l->out->list.len;
    vec_push(&l->out->list, scope);
    if (is_class(tag) && l->outer_classes)
        return;
    struct lister below = {.f = l->f,
                           .out = l->out,
                           .parent = l->last,
                           .last = NONE,
                           .depth = l->depth + 1,
                           .outer_classes = l->outer_classes && tag == DW_TAG_namespace};
    dwarf_children(l->f, die, list_child, &below);
}

/* Returns the scopes of a unit, or of a class. */
static const struct dwarf_scopes *scopes_below(struct dwarf *d, const struct dwarf_file *f, Dwarf_Off root)
{
    struct dwarf_key key = {.file = f->number, .offset = root};
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL;
    bool is_new;
    uint32_t index = keymap_add(&d->scope_keys, &key, &is_new);

    if (!is_new)
        return d->scopes.data[index];
    struct dwarf_scopes *s = xcalloc(1, sizeof *s);
    vec_push(&d->scopes, s);
    if (!dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, root, 1, &die, &err), &err))
        return s;
    dwarf_children(
        f, die, list_child,
        &(struct lister){
            .f = f, .out = s, .parent = NONE, .last = NONE, .outer_classes = !is_class(dwarf_tag_of(f, die))});
    dwarf_dealloc_die(die);
    vec_foreach(scope, &s->list)
        if (!scope->end)
            scope->end = scope->parent == NONE ? UINT64_MAX : s->list.data[scope->parent].end;
    return s;
}

void dwarf_scopes_free(struct dwarf *d)
{
    vec_foreach(s, &d->scopes) {
        vec_deinit(&(*s)->list);
        free(*s);
    }
    vec_deinit(&d->scopes);
    keymap_deinit(&d->scope_keys);
}

/* The innermost scope around an offset that is not that of the scope itself; NONE. */
static uint32_t scope_around(const struct dwarf_scopes *s, Dwarf_Off offset)
{
    size_t n = vec_upto(&s->list, start, offset);
    uint32_t at = n ? (uint32_t)n - 1 : NONE;

    while (at != NONE && (s->list.data[at].start == offset || s->list.data[at].end <= offset))
        at = s->list.data[at].parent;
    return at;
}

/* The procedure (or namespace, class) around it, in which classes without a name are counted. */
static uint32_t host_of(const struct dwarf_scopes *s, uint32_t at)
{
    do
        at = s->list.data[at].parent;
    while (at != NONE && s->list.data[at].tag == DW_TAG_lexical_block);
    return at;
}

struct signature {
    struct dwarf *d;
    const struct dwarf_file *f;
    struct str text;
    bool found, constant;
    bool whole; /* with what it is called with */
    bool cut;   /* which is not known: names would lie in one another too deep, or be too many */
};

static void add_parameter(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    struct signature *g = arg;

    (void)offset;
    if (dwarf_tag_of(g->f, die) != DW_TAG_formal_parameter)
        return;
    if (dwarf_has(g->f, die, DW_AT_artificial)) {
        g->constant = dwarf_points_to_const(g->f, die);
        return;
    }
    if (g->text.len)
        str_add(&g->text, ", ");
    size_t before = g->text.len;
    dwarf_add_type(g->d, g->f, die, &g->text);
    /* A const that qualifies an argument passed by value is no part of the signature. */
    if (g->text.len >= before + 6 && !strcmp(str_cstr(&g->text) + g->text.len - 6, " const"))
        str_truncate(&g->text, g->text.len - 6);
}

static void find_call(void *arg, Dwarf_Die die, Dwarf_Off offset)
{
    struct signature *g = arg;
    Dwarf_Error err = NULL;
    char *name;

    (void)offset;
    /* The call operator of a lambda is made by the compiler. */
    if (g->found || dwarf_tag_of(g->f, die) != DW_TAG_subprogram || !dwarf_has(g->f, die, DW_AT_artificial) ||
        !dwarf_ok(g->f->dbg, dwarf_diename(die, &name, &err), &err) || !str_begins(name, "operator()"))
        return;
    g->found = true;
    if (!g->whole)
        return;
    if (!dwarf_name_begin(g->d)) {
        g->cut = true;
        return;
    }
    dwarf_children(g->f, die, add_parameter, g);
    g->d->naming--;
}

/* Returns the call operator of a lambda's class, with its signature if `whole`; not found if it is another class. */
static struct signature call_of(struct dwarf *d, const struct dwarf_file *f, Dwarf_Off class, bool whole)
{
    struct signature g = {.d = d, .f = f, .whole = whole};
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL;

    if (!dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, class, 1, &die, &err), &err))
        return g;
    dwarf_children(f, die, find_call, &g);
    dwarf_dealloc_die(die);
    return g;
}

/* Is it counted with a lambda of this signature, or, like that, no lambda? That may not be known. */
static bool counts_with(struct dwarf *d, const struct dwarf_file *f, Dwarf_Off class, struct signature *call)
{
    struct signature g = call_of(d, f, class, d->lambdas_by_signature);
    call->cut |= g.cut;
    bool same = g.found == call->found &&
                (!g.found || !d->lambdas_by_signature || !strcmp(str_cstr(&g.text), str_cstr(&call->text)));

    str_deinit(&g.text);
    return same;
}

/* "{lambda(int)#2}": gcc counts all lambdas of a procedure, in the order of the source; since version 14, as the C++
 * ABI has it, those that are called with the same. */
static void add_unnamed(struct dwarf *d, const struct dwarf_file *f, const struct dwarf_scopes *s, uint32_t at,
                        struct str *out)
{
    struct signature call = call_of(d, f, s->list.data[at].start, true);
    unsigned number = 1;

    vec_foreach(other, &s->list)
        number += is_class(other->tag) && other->unnamed && other->place < s->list.data[at].place &&
                  host_of(s, (uint32_t)(other - s->list.data)) == host_of(s, at) &&
                  counts_with(d, f, other->start, &call);
    if (call.cut)
        str_add(out, "{lambda(?)#?}");
    else if (call.found)
        str_addf(out, "{lambda(%s)#%u}", str_cstr(&call.text), number);
    else
        str_addf(out, "{unnamed type#%u}", number);
    str_deinit(&call.text);
}

static void add_procedure_name(struct dwarf *d, const struct dwarf_file *f, Dwarf_Off offset, struct str *out)
{
    const struct dwarf_origin *o = dwarf_origin_at(d, f, offset);
    AUTO_FREE char *whole = o->linkage ? structure_demangle(o->linkage) : NULL;

    str_add(out, whole ? whole : o->qualified ? o->qualified : o->name ? o->name : "?");
}

/* The names of a scope and all around it, each with "::" behind it. */
static void add_scope(struct dwarf *d, const struct dwarf_file *f, const struct dwarf_scopes *s, uint32_t at,
                      struct str *out)
{
    if (at == NONE)
        return;
    const struct scope *scope = &s->list.data[at];
    Dwarf_Error err = NULL;
    Dwarf_Die die = NULL;
    char *name = NULL;

    /* The name of a procedure is whole already. */
    if (scope->tag != DW_TAG_subprogram)
        add_scope(d, f, s, scope->parent, out);
    if (scope->tag == DW_TAG_lexical_block ||
        !dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, scope->start, 1, &die, &err), &err))
        return;
    if (scope->tag == DW_TAG_subprogram)
        add_procedure_name(d, f, scope->start, out);
    else if (is_class(scope->tag) && scope->unnamed)
        add_unnamed(d, f, s, at, out);
    else if (dwarf_ok(f->dbg, dwarf_diename(die, &name, &err), &err))
        dwarf_add_instance(d, f, die, name, out);
    else
        str_add(out, "(anonymous namespace)");
    str_add(out, "::");
    dwarf_dealloc_die(die);
}

/* The scopes around a DIE, in one or two lists: the inner one begins at an outer class. */
struct around {
    const struct dwarf_scopes *outer, *inner; /* inner: NULL */
    uint32_t outer_at, inner_at;
};

static bool find_around(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct around *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Off unit, offset;

    *out = (struct around){.outer_at = NONE, .inner_at = NONE};
    if (!dwarf_ok(f->dbg, dwarf_CU_dieoffset_given_die(die, &unit, &err), &err) ||
        !dwarf_ok(f->dbg, dwarf_dieoffset(die, &offset, &err), &err))
        return false;
    out->outer = scopes_below(d, f, unit);
    out->outer_at = scope_around(out->outer, offset);
    if (out->outer_at == NONE)
        return false;
    if (is_class(out->outer->list.data[out->outer_at].tag)) {
        out->inner = scopes_below(d, f, out->outer->list.data[out->outer_at].start);
        out->inner_at = scope_around(out->inner, offset);
    }
    return true;
}

static const struct scope *innermost(const struct around *a)
{
    return a->inner_at != NONE ? &a->inner->list.data[a->inner_at] : &a->outer->list.data[a->outer_at];
}

void dwarf_class_place(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, uint32_t *file, uint32_t *line)
{
    Dwarf_Error err = NULL;
    Dwarf_Die class = NULL;
    struct around a;

    if (!find_around(d, f, die, &a) || !is_class(innermost(&a)->tag) || !innermost(&a)->unnamed ||
        !dwarf_ok(f->dbg, dwarf_offdie_b(f->dbg, innermost(&a)->start, 1, &class, &err), &err))
        return;
    *line = (uint32_t)(innermost(&a)->place >> 16);
    *file = dwarf_file_number(d, f, class, dwarf_number(f, class, DW_AT_decl_file));
    dwarf_dealloc_die(class);
}

void dwarf_add_scopes(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct str *out)
{
    struct around a;

    if (!find_around(d, f, die, &a))
        return;
    add_scope(d, f, a.outer, a.outer_at, out);
    if (a.inner)
        add_scope(d, f, a.inner, a.inner_at, out);
}

/* The place of a DIE itself in a list; NONE. */
static uint32_t scope_at(const struct dwarf_scopes *s, Dwarf_Off offset)
{
    size_t n = s ? vec_upto(&s->list, start, offset) : 0;

    return n && s->list.data[n - 1].start == offset ? (uint32_t)n - 1 : NONE;
}

bool dwarf_add_unnamed(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, struct str *out)
{
    Dwarf_Error err = NULL;
    Dwarf_Off offset;
    struct around a;

    if (!is_class(dwarf_tag_of(f, die)) || !dwarf_ok(f->dbg, dwarf_dieoffset(die, &offset, &err), &err) ||
        !find_around(d, f, die, &a))
        return false;
    const struct dwarf_scopes *s = scope_at(a.inner, offset) != NONE ? a.inner : a.outer;
    uint32_t at = scope_at(s, offset);
    if (at == NONE || !dwarf_name_begin(d))
        return false;
    dwarf_add_scopes(d, f, die, out);
    add_unnamed(d, f, s, at, out);
    d->naming--;
    return true;
}

const char *dwarf_qualified(struct dwarf *d, const struct dwarf_file *f, Dwarf_Die die, const char *name)
{
    AUTO_STR struct str out = {0};
    struct around a;

    /* The body of a parallel region stands in its procedure and has that one's symbol already. */
    if (strstr(name, "._omp_"))
        return NULL;
    if (!find_around(d, f, die, &a)) {
        dwarf_add_instance(d, f, die, name, &out);
        return strcmp(str_cstr(&out), name) ? arena_strdup(&d->arena, str_cstr(&out)) : NULL;
    }
    add_scope(d, f, a.outer, a.outer_at, &out);
    if (a.inner)
        add_scope(d, f, a.inner, a.inner_at, &out);
    if (!out.len)
        return NULL;
    const struct scope *class = innermost(&a);
    dwarf_add_instance(d, f, die, name, &out);
    if (is_class(class->tag) && !strchr(name, '<')) {
        struct signature own = {.d = d, .f = f};

        dwarf_children(f, die, add_parameter, &own);
        str_addf(&out, "(%s)%s", str_cstr(&own.text), own.constant ? " const" : "");
        str_deinit(&own.text);
    }
    if (out.len > NAME_MOST) {
        dwarf_set_problem(d, "names stand for more text than is written out, and lack what they lie in");
        return NULL;
    }
    return arena_strdup(&d->arena, str_cstr(&out));
}
