/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP as its programmer wrote it. A compiler makes a procedure of the body of a region (`smooth._omp_fn.0` by gcc,
 * `.omp_outlined.` by clang), which threads call from inside of a runtime. Here it becomes a part of the procedure that
 * it was written in, a region by its line, and calls into the runtime get the names of what they are for.
 */
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include "db/build/openmp_impl.h"
#include "db/fuse.h"
#include <stdlib.h>
#include <string.h>

enum made { REGION, REGION_CALLED, TEAMS, TEAMS_CALLED, TARGET };
static const char *const made_words[] = {[REGION] = "parallel region",
                                         [REGION_CALLED] = "parallel region called",
                                         [TEAMS] = "teams",
                                         [TEAMS_CALLED] = "teams called",
                                         [TARGET] = "target"};

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

/* `otherwise` is the procedure that it is in, for its name without a line. `apart` is 0, or tells it from others of its
 * name. */
static uint32_t region_scope(struct attribution *a, const struct module_work *w, uint32_t parent, const char *file,
                             uint32_t line, enum made made, const char *otherwise, uint64_t apart)
{
    AUTO_FREE char *name = line ? xasprintf("%s at %s:%u", made_words[made], *file ? file_basename(file) : "?", line)
                                : xasprintf("%s in %s", made_words[made], otherwise);

    return model_scope(a->model, &(struct model_scope){
                                     .kind = SCOPE_REGION,
                                     .parent = parent,
                                     .name = name,
                                     .file = file,
                                     .line = line,
                                     .module = w->module,
                                     .role = made == TARGET ? ROLE_TARGET : ROLE_NONE,
                                     .address = apart,
                                 });
}

/* A task: a procedure, by its place, which is found by the name of the one that it was written in too. gcc's name of it
 * begins with that. */
static uint32_t task_scope(struct attribution *a, struct module_work *w, uint32_t procedure, const struct outlined *o,
                           bool named)
{
    AUTO_FREE char *name = o->line ? xasprintf("task at %s:%u", *o->file ? file_basename(o->file) : "?", o->line)
                                   : xasprintf("task %s", opener_scope_name(w, procedure));

    const char *maker = named ? NULL : opener_taker(a, (uint32_t)(w - a->modules), procedure);
    const char *aliases[] = {opener_scope_name(w, procedure), maker, NULL};

    return model_scope(a->model, &(struct model_scope){
                                     .kind = SCOPE_PROCEDURE,
                                     .parent = convert_scope(a, w, w->structure.scopes.data[procedure].parent),
                                     .name = name,
                                     .file = o->file,
                                     .line = o->line,
                                     .module = w->module,
                                     .role = ROLE_TASK,
                                     .address = w->structure.scopes.data[procedure].address,
                                     .aliases = aliases,
                                 });
}

/* The name of the procedure that a body was made of; `base` is that of opener_split_name. */
static char *maker_of(const char *name, size_t base, const struct outlined *o)
{
    char *maker = base ? xstrndup(name, base) : xstrdup(o->is_target ? name : o->opener);
    struct opener_offloaded target;

    if (opener_split_offloaded(maker, &target)) {
        char *procedure = xstrndup(target.procedure, target.length);
        free(maker);
        maker = procedure;
    }
    return maker;
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
    if (o->kind == BODY_OF_TASK && !o->is_target && (!base || o->is_task))
        return task_scope(a, w, procedure, o, base != 0);
    if (!base && !o->opener && !o->is_target)
        return HQDB_NONE;

    AUTO_FREE char *made_of = maker_of(name, base, o);

    host = o->task ? convert_scope(a, w, o->task - 1) : procedure_named(a, w, made_of, procedure);
    if (o->is_target)
        return region_scope(a, w, host, o->file, o->line, TARGET, made_of, 0);
    if (o->kind == BODY_OF_TASK)
        return host;
    if (!o->line && o->call_line)
        return region_scope(a, w, host, o->call_file, o->call_line, o->is_league ? TEAMS_CALLED : REGION_CALLED, name,
                            w->structure.scopes.data[procedure].address);
    return region_scope(a, w, host, o->file, o->line, o->is_league ? TEAMS : REGION, name, 0);
}

/* clang calls the body of a target region that runs on the host, and inlines it as a rule. */
static uint32_t target_inlined(struct attribution *a, struct module_work *w, uint32_t scope)
{
    const struct structure_scope *x = &w->structure.scopes.data[scope];
    const char *outer = opener_scope_name(w, x->parent), *name = opener_scope_name(w, scope);
    uint32_t parent = convert_scope(a, w, x->parent);
    struct opener_offloaded target, around;

    if (!opener_split_offloaded(name, &target) || opener_split_offloaded(outer, &around))
        return parent;
    return region_scope(a, w, parent, intern_str(&w->structure.strings, x->file), target.line, TARGET, name, 0);
}

uint32_t openmp_scope(struct attribution *a, struct module_work *w, uint32_t scope)
{
    const struct structure_scope *x = &w->structure.scopes.data[scope];
    size_t base;

    if (x->kind == SCOPE_PROCEDURE)
        return outlined_scope(a, w, scope);
    /* clang puts what is written in the region into a procedure of its own, inlined into the one that is called. */
    if (x->kind == SCOPE_INLINE && x->parent != STRUCTURE_NONE && opener_split_name(opener_scope_name(w, scope), &base))
        return target_inlined(a, w, scope);
    return HQDB_NONE;
}

/* ---- frames that are no addresses ---- */

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
                        opener_is_unknown(a, region, call) ? REGION_CALLED : REGION, opener_scope_name(w, procedure),
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
        scope = model_scope(a->model, &(struct model_scope){.kind = SCOPE_REGION,
                                                            .parent = MODEL_ROOT,
                                                            .name = made_words[REGION],
                                                            .file = "",
                                                            .module = HQDB_NONE});
    return code_of_scope(a, HQDB_NONE, 0, scope);
}

uint32_t openmp_outside(const struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);
    uint32_t entry;

    if (f->parent == TREE_NONE || !is_openmp_code(a, calltree_frame(a->tree, f->parent)))
        return f->parent;
    entry = entry_above(a, frame);
    if (begins_thread(a, calltree_frame(a->tree, entry)))
        return chain_top(a, entry);
    return calltree_frame(a->tree, entry)->parent;
}

bool openmp_is_idle_call(const struct attribution *a, uint32_t frame)
{
    return is_called_by_runtime(a, calltree_frame(a->tree, frame)) &&
           begins_thread(a, calltree_frame(a->tree, entry_above(a, frame)));
}

/* A region of what GOMP_target has called, if its body ended with a jump: gcc's call has the directive's line. */
static uint32_t target_at_call(struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame), *call;
    uint32_t outside = openmp_outside(a, frame), statement, procedure;
    const char *called;

    if (a->inside[frame] != OUTSIDE || !is_called_by_runtime(a, f) || outside == TREE_NONE)
        return HQDB_NONE;
    called = frame_name(a, calltree_frame(a->tree, entry_above(a, frame)));
    call = calltree_frame(a->tree, outside);
    statement = opener_statement(a, call->module, call->offset);
    if (!called || !str_begins(called, "GOMP_target") || statement == STRUCTURE_NONE)
        return HQDB_NONE;

    struct module_work *w = &a->modules[call->module];
    const struct structure *s = &w->structure;

    procedure = procedure_of(s, statement);
    if (procedure == STRUCTURE_NONE)
        return HQDB_NONE;
    return region_scope(a, w, host_scope(a, w, statement, procedure),
                        intern_str(&s->strings, s->scopes.data[statement].file), s->scopes.data[statement].line, TARGET,
                        opener_scope_name(w, procedure), 0);
}

uint32_t openmp_body_code(struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);
    const struct tree_frame *caller = f->parent == TREE_NONE ? NULL : calltree_frame(a->tree, f->parent);
    struct module_work *w = &a->modules[f->module];
    uint32_t procedure = w->runtime ? STRUCTURE_NONE : procedure_at(a, f), outer;
    const struct outlined *o = procedure == STRUCTURE_NONE ? NULL : outlined_at(w, procedure);

    if (!o || !(o->is_target || (o->kind == BODY_OF_REGION && is_called_by_runtime(a, f)))) {
        uint32_t target = target_at_call(a, frame);

        return target == HQDB_NONE ? HQDB_NONE : code_of_scope(a, HQDB_NONE, 0, target);
    }
    outer = caller && caller->module == f->module ? procedure_at(a, caller) : STRUCTURE_NONE;
    if (outer != STRUCTURE_NONE && outlined_at(w, outer)->is_target) /* it has two, for debuggers */
        return HQDB_NONE;
    return code_of_scope(a, HQDB_NONE, 0, convert_scope(a, w, procedure));
}
