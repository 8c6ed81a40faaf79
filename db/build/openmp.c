/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP as its programmer wrote it. A compiler makes a procedure of the body of a region (`smooth._omp_fn.0` by gcc,
 * `.omp_outlined.` by clang), which threads call from inside of a runtime. Here it becomes a part of the procedure that
 * it was written in, a region by its line, and calls into the runtime get the names of what they are for.
 */
#include "common/file.h"
#include "common/mem.h"
#include "common/names.h"
#include "db/build/attribution.h"
#include "db/fuse.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define TASK_ENTRY ".omp_task_entry" /* clang's */
#define REGION     "parallel region"

enum outlined_kind { NOT_KNOWN, NOT_OUTLINED, BODY_OF_REGION, BODY_OF_TASK };

struct outlined { /* of a procedure */
    enum outlined_kind kind;
    const char *file; /* of a region's body: where it is written; "" and 0 not known */
    uint32_t line;
    const char *call_file; /* and without a line where it is opened, likewise */
    uint32_t call_line;
    bool is_league;     /* of teams */
    bool is_task;       /* seen to be created as one: gcc gives regions and tasks the same names */
    const char *opener; /* the procedure that was seen to open it, NULL none */
};

static struct outlined *outlined_at(struct module_work *w, uint32_t procedure)
{
    const struct structure_scope *x = &w->structure.scopes.data[procedure];
    struct outlined *o;
    size_t base;

    if (!w->outlined)
        w->outlined = xcalloc(w->structure.scopes.len + 1, sizeof *w->outlined);
    o = &w->outlined[procedure];
    if (o->kind == NOT_KNOWN)
        *o = (struct outlined){
            .kind = x->kind == SCOPE_PROCEDURE && opener_split_name(opener_scope_name(w, procedure), &base)
                        ? BODY_OF_TASK
                        : NOT_OUTLINED,
            .file = intern_str(&w->structure.strings, x->file),
            .line = x->line,
        };
    return o;
}

void openmp_deinit(struct module_work *w)
{
    free(w->outlined);
}

/* ---- which procedures are bodies of regions ---- */

/* flang's bodies have no line. Those of the calls that open them are near the directive, rarely its own. */
static void note_call(struct attribution *a, uint32_t region, struct outlined *o)
{
    struct module_work *w;
    const struct structure_scope *call = o->line ? NULL : opener_call(a, region, &w);

    if (!call || !call->line || (o->call_line && o->call_line <= call->line))
        return;
    o->call_file = intern_str(&w->structure.strings, call->file);
    o->call_line = call->line;
}

/* Notes that a procedure is the body of a region. Several may open it: the first by name gives its name. */
static void note_body(struct attribution *a, uint32_t region, uint32_t module, uint32_t statement, bool at_entry)
{
    struct module_work *w = &a->modules[module];
    const struct structure_scope *x = &w->structure.scopes.data[statement];
    uint32_t procedure = procedure_of(&w->structure, statement);
    struct outlined *o = procedure == STRUCTURE_NONE ? NULL : outlined_at(w, procedure);
    const char *opener;

    if (!o || o->kind == NOT_OUTLINED || strstr(opener_scope_name(w, procedure), TASK_ENTRY))
        return;
    opener = opener_name(a, region, module, procedure);
    o->kind = BODY_OF_REGION;
    o->is_league = o->is_league || (opener_record(a, region) && opener_record(a, region)->runtime & HQM_RUNTIME_LEAGUE);
    if (at_entry && x->line && !o->line) {
        o->file = intern_str(&w->structure.strings, x->file);
        o->line = x->line;
    }
    note_call(a, region, o);
    if (opener && (!o->opener || strcmp(opener, o->opener) < 0))
        o->opener = opener;
    map_put(&a->bodies, region, (uint64_t)module << 32 | procedure);
}

/* The places of bodies of tasks; those of regions have theirs already. */
static void note_tasks(struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->openings.len; i++) {
        const struct tree_opening *o = keymap_key(&a->tree->openings, i);
        uint32_t statement = opener_statement(a, o->body.module, o->body.offset), procedure;
        struct module_work *w;

        if (statement == STRUCTURE_NONE)
            continue;
        w = &a->modules[o->body.module];
        procedure = procedure_of(&w->structure, statement);

        const struct structure_scope *x = &w->structure.scopes.data[statement];
        struct outlined *of = procedure == STRUCTURE_NONE ? NULL : outlined_at(w, procedure);

        if (!of || of->kind != BODY_OF_TASK)
            continue;
        of->is_task = true;
        if (!of->line && x->line) {
            of->file = intern_str(&w->structure.strings, x->file);
            of->line = x->line;
        }
    }
}

/* Without optimisation, and for debuggers, clang puts what is written in a region into a second procedure, which the
 * body calls (.omp_outlined._debug__). */
static void note_debug_bodies(struct attribution *a)
{
    for (uint32_t i = 0; i < a->tree->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(a->tree, i);
        const struct tree_frame *call = f->parent == TREE_NONE ? NULL : calltree_frame(a->tree, f->parent);

        if (!call || call->module != f->module || f->module >= a->tree->modules.len || !a->modules[f->module].outlined)
            continue;
        struct module_work *w = &a->modules[f->module];
        uint32_t inner = procedure_of(&w->structure, opener_statement(a, f->module, f->offset));
        uint32_t outer = procedure_of(&w->structure, opener_statement(a, call->module, call->offset));
        size_t base;

        if (inner == STRUCTURE_NONE || outer == STRUCTURE_NONE || inner == outer ||
            outlined_at(w, outer)->kind != BODY_OF_REGION || !strstr(opener_scope_name(w, inner), "_debug__") ||
            !opener_split_name(opener_scope_name(w, inner), &base))
            continue;
        *outlined_at(w, inner) = *outlined_at(w, outer);
    }
}

void openmp_find_bodies(struct attribution *a)
{
    const struct calltree *t = a->tree;

    for (uint32_t i = 0; i < t->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(t, i);
        const struct tree_opening *o = f->module == TREE_REGION ? opener_record(a, i) : NULL;
        uint32_t statement = o ? opener_statement(a, o->body.module, o->body.offset) : STRUCTURE_NONE;

        if (statement != STRUCTURE_NONE)
            note_body(a, i, o->body.module, statement, true);
        if (f->parent == TREE_NONE || calltree_frame(t, f->parent)->module != TREE_REGION)
            continue;
        o = opener_record(a, f->parent);
        statement = opener_statement(a, f->module, f->offset);
        if (statement != STRUCTURE_NONE && (!o || o->body.module == TREE_NONE))
            note_body(a, f->parent, f->module, statement, false);
    }
    note_tasks(a);
    note_debug_bodies(a);
}

/* ---- runtimes that are linked statically ---- */

static bool knows(const struct known *known, const char *const *names, size_t count)
{
    struct known_walk *w = known->state ? known_open(known->packed, known->bytes, known->unpacked) : NULL;
    bool found = false;

    for (const char *name; w && !found && (name = known_next(w));)
        for (size_t i = 0; i < count; i++)
            found |= !strcmp(name, names[i]);
    if (w)
        known_close(w);
    return found;
}

void openmp_note_static(struct attribution *a)
{
    static const char *const names[] = {"GOMP_parallel", "GOMP_parallel_start", "__kmpc_fork_call"};

    for (size_t i = 0; i < a->tree->modules.len; i++) {
        const struct module_work *w = &a->modules[i];

        if (w->runtime || w->flags & (TREE_GENERATED | HQM_MODULE_COLLECTOR) ||
            !knows(&w->known, names, sizeof names / sizeof *names))
            continue;
        AUTO_FREE char *text = xasprintf(
            "%s holds its OpenMP runtime, linked statically: its parallel regions are not seen, "
            "and its threads have roots of their own",
            file_basename(w->path));

        model_info(a->model, "warning", text);
    }
}

/* ---- scopes ---- */

/* gfortran makes the name of a body of the symbol that the linker has (plain_, MAIN__). */
static bool is_named(const struct module_work *w, uint32_t scope, const char *name)
{
    const struct structure_scope *x = &w->structure.scopes.data[scope];

    return fuse_same_name(opener_scope_name(w, scope), name) ||
           !strcmp(intern_str(&w->structure.strings, x->linkage), name);
}

/* Where it was inlined, its symbol is told nowhere: the main program's copy is in C's main, that of a contained
 * procedure (`inner.0`) is of the last one of its name that begins above the body. */
static bool is_copy_of(const struct module_work *w, uint32_t scope, const char *name,
                       const struct structure_scope *body)
{
    const struct structure_scope *x = &w->structure.scopes.data[scope];
    const char *dot = strrchr(name, '.'), *own = opener_scope_name(w, scope), *within = strrchr(own, ':');

    own = within ? within + 1 : own; /* it has the names of what it lies in before it */
    if (!strcmp(name, "MAIN__"))
        return x->parent != STRUCTURE_NONE && w->structure.scopes.data[x->parent].kind == SCOPE_PROCEDURE &&
               !strcmp(opener_scope_name(w, x->parent), "main");
    return dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")] && strlen(own) == (size_t)(dot - name) &&
           !strncmp(own, name, (size_t)(dot - name)) && x->file == body->file && x->line <= body->line;
}

/* The procedure of a name; where only inlined copies of it are known, one more like them. `neighbour` is in its file.
 */
static uint32_t procedure_named(struct attribution *a, struct module_work *w, const char *name, uint32_t neighbour)
{
    const struct structure *s = &w->structure;
    uint32_t file = s->scopes.data[neighbour].parent;
    struct model_scope made = {.kind = SCOPE_PROCEDURE, .name = name, .module = w->module};
    const struct structure_scope *body = &s->scopes.data[neighbour], *copy = NULL, *likely = NULL;

    for (uint32_t i = 0; i < s->scopes.len; i++) {
        const struct structure_scope *x = &s->scopes.data[i];

        if (x->kind == SCOPE_PROCEDURE && is_named(w, i, name))
            return convert_scope(a, w, i);
        if (x->kind == SCOPE_INLINE && !copy && is_named(w, i, name))
            copy = x;
        else if (x->kind == SCOPE_INLINE && (!likely || x->line > likely->line) && is_copy_of(w, i, name, body))
            likely = x;
    }
    copy = copy ? copy : likely;
    made.parent = convert_scope(a, w, file);
    made.file = file == STRUCTURE_NONE ? "" : opener_scope_name(w, file);
    if (copy) {
        made.name = intern_str(&s->strings, copy->name);
        made.file = intern_str(&s->strings, copy->file);
        made.line = copy->line;
        made.linkage = intern_str(&s->strings, copy->linkage);
    }
    return model_scope(a->model, &made);
}

/* `what` it is: as a rule a parallel region. `otherwise` is the procedure that it is in. `apart` is 0, or tells it from
 * others of its name. */
static uint32_t region_scope(struct attribution *a, const struct module_work *w, uint32_t parent, const char *file,
                             uint32_t line, const char *what, const char *otherwise, uint64_t apart)
{
    AUTO_FREE char *name = line ? xasprintf("%s at %s:%u", what, *file ? file_basename(file) : "?", line)
                                : xasprintf("%s in %s", what, otherwise);

    return model_scope(a->model, &(struct model_scope){
                                     .kind = SCOPE_REGION,
                                     .parent = parent,
                                     .name = name,
                                     .file = file,
                                     .line = line,
                                     .module = w->module,
                                     .address = apart,
                                 });
}

/* A task: a procedure, by its place, which is found by the name of the one that it was written in too. */
static uint32_t task_scope(struct attribution *a, struct module_work *w, uint32_t procedure, const struct outlined *o)
{
    AUTO_FREE char *name = o->line ? xasprintf("task at %s:%u", *o->file ? file_basename(o->file) : "?", o->line)
                                   : xasprintf("task %s", opener_scope_name(w, procedure));

    const char *aliases[] = {opener_scope_name(w, procedure), NULL};

    return model_scope(a->model, &(struct model_scope){
                                     .kind = SCOPE_PROCEDURE,
                                     .parent = convert_scope(a, w, w->structure.scopes.data[procedure].parent),
                                     .name = name,
                                     .file = o->file,
                                     .line = o->line,
                                     .module = w->module,
                                     .address = w->structure.scopes.data[procedure].address,
                                     .aliases = aliases,
                                 });
}

static uint32_t outlined_scope(struct attribution *a, struct module_work *w, uint32_t procedure)
{
    const struct outlined *o = outlined_at(w, procedure);
    const char *name = opener_scope_name(w, procedure);
    size_t base = 0;
    uint32_t host;

    if (o->kind == NOT_OUTLINED)
        return HQDB_NONE;
    opener_split_name(name, &base);
    if (o->kind == BODY_OF_TASK && (!base || o->is_task))
        return task_scope(a, w, procedure, o);
    if (!base && !o->opener)
        return HQDB_NONE;
    AUTO_FREE char *made_of = base ? xstrndup(name, base) : xstrdup(o->opener);

    host = procedure_named(a, w, made_of, procedure);
    if (o->kind == BODY_OF_TASK)
        return host;
    if (!o->line && o->call_line)
        return region_scope(a, w, host, o->call_file, o->call_line, o->is_league ? "teams called" : REGION " called",
                            name, w->structure.scopes.data[procedure].address);
    return region_scope(a, w, host, o->file, o->line, o->is_league ? "teams" : REGION, name, 0);
}

uint32_t openmp_scope(struct attribution *a, struct module_work *w, uint32_t scope)
{
    const struct structure_scope *x = &w->structure.scopes.data[scope];
    size_t base;

    if (x->kind == SCOPE_PROCEDURE)
        return outlined_scope(a, w, scope);
    /* clang puts what is written in the region into a procedure of its own, inlined into the one that is called. */
    if (x->kind == SCOPE_INLINE && x->parent != STRUCTURE_NONE && opener_split_name(opener_scope_name(w, scope), &base))
        return convert_scope(a, w, x->parent);
    return HQDB_NONE;
}

/* ---- frames that are no addresses ---- */

static uint32_t code_of_scope(struct attribution *a, uint32_t module, uint64_t offset, uint32_t scope)
{
    return model_code(a->model, module, offset, scope, scope);
}

/* The procedure that a statement is written in: where its code was inlined into another, that of its name. */
static uint32_t host_scope(struct attribution *a, struct module_work *w, uint32_t statement, uint32_t procedure)
{
    const struct structure *s = &w->structure;
    uint32_t scope = statement;
    size_t base;

    while (scope != procedure && s->scopes.data[scope].kind != SCOPE_INLINE)
        scope = s->scopes.data[scope].parent;
    if (scope == procedure || opener_split_name(opener_scope_name(w, scope), &base))
        return convert_scope(a, w, procedure);
    return procedure_named(a, w, opener_scope_name(w, scope), procedure);
}

/* A region in the code of a procedure, or of a body of one. */
static uint32_t region_without_line(struct attribution *a, struct module_work *w, uint32_t procedure)
{
    const struct structure *s = &w->structure;
    const char *name = opener_scope_name(w, procedure), *opener = NULL;
    size_t base = strlen(name);

    if (opener_split_name(name, &base) && !base)
        opener = outlined_at(w, procedure)->opener;
    AUTO_FREE char *host = opener ? xstrdup(opener) : xstrndup(name, base ? base : strlen(name));

    return region_scope(a, w, convert_scope(a, w, procedure), intern_str(&s->strings, s->scopes.data[procedure].file),
                        0, REGION, host, 0);
}

/* The region that is opened in another one by nobody on the stack: by that one's body, which ended with a jump. */
static uint32_t region_in_region(struct attribution *a, uint32_t outer)
{
    uint64_t body = map_get(&a->bodies, outer, UINT64_MAX);
    struct module_work *w;

    if (body == UINT64_MAX)
        return HQDB_NONE;
    w = &a->modules[body >> 32];
    return region_without_line(a, w, (uint32_t)body);
}

/* The region that is opened at a call, if nothing is known of its body. */
static uint32_t region_at_call(struct attribution *a, uint32_t region, const struct tree_frame *call)
{
    struct module_work *w = &a->modules[call->module];
    uint32_t statement = opener_statement(a, call->module, call->offset), procedure = opener_jumper(a, region, &w);

    const struct structure *s = &w->structure;

    if (procedure != STRUCTURE_NONE) /* the line of the call is not the region's */
        return region_without_line(a, w, procedure);
    procedure = procedure_of(s, statement);
    if (procedure == STRUCTURE_NONE)
        return region_scope(a, w, model_module_scope(a->model, w->module), "", 0, REGION, file_basename(w->path), 0);
    return region_scope(a, w, host_scope(a, w, statement, procedure),
                        intern_str(&s->strings, s->scopes.data[statement].file), s->scopes.data[statement].line,
                        opener_is_unknown(a, region, call) ? REGION " called" : REGION, opener_scope_name(w, procedure),
                        0);
}

uint32_t openmp_region_code(struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame), *call;
    uint64_t body = map_get(&a->bodies, frame, UINT64_MAX);
    uint32_t scope = HQDB_NONE;

    call = f->parent == TREE_NONE ? NULL : calltree_frame(a->tree, f->parent);
    if (body != UINT64_MAX)
        scope = convert_scope(a, &a->modules[body >> 32], (uint32_t)body);
    else if (call && call->module < a->tree->modules.len)
        scope = region_at_call(a, frame, call);
    else if (call && call->module == TREE_REGION)
        scope = region_in_region(a, f->parent);
    if (scope == HQDB_NONE)
        scope = model_scope(
            a->model, &(struct model_scope){
                          .kind = SCOPE_REGION, .parent = MODEL_ROOT, .name = REGION, .file = "", .module = HQDB_NONE});
    return code_of_scope(a, HQDB_NONE, 0, scope);
}

static uint32_t state_scope(struct attribution *a, uint32_t module, enum scope_kind kind, const char *name)
{
    return model_scope(a->model, &(struct model_scope){
                                     .kind = kind,
                                     .parent = module == HQDB_NONE ? MODEL_ROOT : model_module_scope(a->model, module),
                                     .name = name,
                                     .file = "",
                                     .module = module,
                                 });
}

uint32_t openmp_wait_code(struct attribution *a)
{
    const struct module_work *w = NULL;

    for (size_t i = 0; i < a->tree->modules.len; i++) {
        const struct module_work *x = &a->modules[i];

        if (x->runtime && x->runtime->kind == RUNTIME_OPENMP && x->offsets.len && (!w || strcmp(x->path, w->path) < 0))
            w = x;
    }
    return code_of_scope(a, HQDB_NONE, 0,
                         state_scope(a, w ? w->module : HQDB_NONE, SCOPE_WAIT, "[wait at the region's end]"));
}

static const struct state {
    const char *match, *name;
    enum scope_kind kind;
} states[] = {
#define STATE(match, name, kind) {match, name, SCOPE_##kind},
#include "db/states.def"
};

static const struct state *state_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof states / sizeof *states; i++)
        if (!fnmatch(states[i].match, name, 0))
            return &states[i];
    return NULL;
}

static uint32_t state_code(struct attribution *a, const struct tree_frame *f, const char *name, enum scope_kind kind)
{
    uint32_t module = a->modules[f->module].module;

    return code_of_scope(a, module, f->offset, state_scope(a, module, kind, name));
}

/* The runtimes' own functions have names where they are not stripped; in C++ such names begin with a type. */
static bool is_inside(const char *name)
{
    return name_is_address(name) || !strncmp(name, "gomp_", 5) || !strncmp(name, "__kmp_", 6) ||
           strstr(name, " __kmp_") || strstr(name, "kmp_flag");
}

uint32_t openmp_state_code(struct attribution *a, const struct tree_frame *f, const char *name, bool idle)
{
    bool inside = name && is_inside(name);
    const struct state *state;

    if (idle)
        return state_code(a, f, "[idle: no region]", SCOPE_WAIT);
    state = state_of(inside ? modules_called(a, f) : name);
    if (!state && inside)
        state = state_of(name);
    if (state)
        return state_code(a, f, state->name, state->kind);
    return inside ? state_code(a, f, "[fork, join, scheduling]", SCOPE_RUNTIME) : HQDB_NONE;
}

uint32_t openmp_inner_wait(struct attribution *a, const struct tree_frame *f, const char *name, const char *caller)
{
    const struct state *outer = state_of(caller),
                       *inner = outer && outer->kind == SCOPE_RUNTIME ? state_of(name) : NULL;

    return inner && inner->kind == SCOPE_WAIT ? state_code(a, f, inner->name, SCOPE_WAIT) : HQDB_NONE;
}
