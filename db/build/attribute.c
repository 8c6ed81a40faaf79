/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/attribution.h"

#include "common/mem.h"
#include "common/names.h"
#include "common/numbers.h"
#include "db/build/devices.h"
#include <stdlib.h>

static enum role role_in(const char *name)
{
    return name_is_address(name) ? ROLE_UNNAMED : role_of(name);
}

static const char **alias_texts(const struct structure *s, const struct structure_scope *x)
{
    const char **texts = xcalloc((size_t)x->alias_count + 1, sizeof *texts);

    for (uint32_t i = 0; i < x->alias_count; i++)
        texts[i] = intern_str(&s->strings, s->aliases.data[x->first_alias + i]);
    return texts;
}

uint32_t convert_scope(struct attribution *a, struct module_work *w, uint32_t scope)
{
    const struct structure *s = &w->structure;
    const struct structure_scope *x;
    AUTO_FREE const char **aliases = NULL;
    uint32_t parent;

    if (scope == STRUCTURE_NONE)
        return model_module_scope(a->model, w->module);
    if (w->scopes[scope] == HQDB_NONE)
        w->scopes[scope] = openmp_scope(a, w, scope);
    if (w->scopes[scope] != HQDB_NONE)
        return w->scopes[scope];
    x = &s->scopes.data[scope];
    aliases = alias_texts(s, x);
    parent = convert_scope(a, w, x->parent);
    w->scopes[scope] = model_scope(a->model, &(struct model_scope){
                                                 .kind = x->kind,
                                                 .parent = parent,
                                                 .name = intern_str(&s->strings, x->name),
                                                 .linkage = intern_str(&s->strings, x->linkage),
                                                 .file = intern_str(&s->strings, x->file),
                                                 .line = x->line,
                                                 .module = w->module,
                                                 .call_file = intern_str(&s->strings, x->call_file),
                                                 .call_line = x->call_line,
                                                 .ordinal = x->ordinal,
                                                 .basis = x->basis,
                                                 .address = x->address,
                                                 .aliases = aliases,
                                             });
    return w->scopes[scope];
}

uint32_t procedure_of(const struct structure *s, uint32_t scope)
{
    while (scope != STRUCTURE_NONE && s->scopes.data[scope].kind != SCOPE_PROCEDURE)
        scope = s->scopes.data[scope].parent;
    return scope;
}

static void place_addresses(struct attribution *a, struct module_work *w)
{
    const struct structure *s = &w->structure;
    uint32_t flags = (w->flags & HQM_MODULE_MAIN ? HQDB_MODULE_MAIN : 0) |
                     (w->flags & HQM_MODULE_VDSO ? HQDB_MODULE_VDSO : 0);

    /* Nobody can do anything about what the kernel's own library lacks. */
    w->module = w->flags & TREE_GENERATED
                    ? model_module(a->model, HQDB_GENERATED, "", 0, NULL)
                    : model_module(a->model, w->path, w->build_id, flags, flags & HQDB_MODULE_VDSO ? NULL : s->note);
    if (w->known.state)
        model_known(a->model, w->module, &w->known);
    w->scopes = xmalloc((s->scopes.len + 1) * sizeof *w->scopes);
    for (size_t i = 0; i < s->scopes.len; i++)
        w->scopes[i] = HQDB_NONE;
    for (size_t i = 0; i < w->offsets.len; i++) {
        uint32_t procedure = procedure_of(s, s->places.data[i].normal);

        w->places[i] = (struct place){
            .role = procedure == STRUCTURE_NONE || w->flags & TREE_GENERATED
                        ? ROLE_PLAIN
                        : role_in(intern_str(&s->strings, s->scopes.data[procedure].name)),
            .procedure = procedure,
        };
    }
}

size_t index_of(const struct module_work *w, uint64_t offset)
{
    const uint64_t *found = bsearch(&offset, w->offsets.data, w->offsets.len, sizeof offset, compare_u64);

    return (size_t)(found - w->offsets.data);
}

static const struct place *place_of(const struct attribution *a, uint32_t module, uint64_t offset)
{
    return &a->modules[module].places[index_of(&a->modules[module], offset)];
}

/* ---- frames ---- */

/* The line of the procedure that stands for code that no file describes, in a module of its own. */
static uint32_t generated_line(struct attribution *a)
{
    uint32_t module = model_module(a->model, HQDB_GENERATED, "", 0,
                                   "code that was made while the program ran has no names; many just-in-time "
                                   "compilers can tell them in /tmp/perf-PID.map"),
             file, procedure;

    file = model_scope(a->model, &(struct model_scope){.kind = SCOPE_FILE,
                                                       .parent = model_module_scope(a->model, module),
                                                       .name = "<unknown file>",
                                                       .file = "",
                                                       .module = module});
    procedure = model_scope(
        a->model, &(struct model_scope){
                      .kind = SCOPE_PROCEDURE, .parent = file, .name = HQDB_GENERATED, .file = "", .module = module});
    return model_scope(a->model,
                       &(struct model_scope){.kind = SCOPE_LINE, .parent = procedure, .file = "", .module = module});
}

static uint32_t nowhere_scope(struct attribution *a)
{
    if (a->nowhere == HQDB_NONE)
        a->nowhere = generated_line(a);
    return a->nowhere;
}

/* Returns a frame for what is no work of the program's. */
static uint32_t runtime_frame(struct attribution *a, uint32_t parent, uint32_t module, const char *name)
{
    uint32_t scope = model_scope(a->model, &(struct model_scope){.kind = SCOPE_RUNTIME,
                                                                 .parent = model_module_scope(a->model, module),
                                                                 .name = name,
                                                                 .file = "",
                                                                 .module = module});

    return model_frame(a->model, parent, model_code(a->model, module, 0, scope, scope));
}

/* Returns a frame for samples in the kernel of which it is not known what called it, at the top or in a region. */
static uint32_t kernel_frame(struct attribution *a, uint32_t parent)
{
    uint32_t module = model_module(a->model, "[kernel]", "", 0,
                                   "changes of threads, and, where a user may not count what the kernel does "
                                   "(kernel.perf_event_paranoid), all else there: what called it is not known");

    return runtime_frame(a, parent, module, "[kernel, place unknown]");
}

/* Returns a frame for the collector's own work below a place of the program. */
static uint32_t own_frame(struct attribution *a, const struct module_work *w, uint32_t parent)
{
    return runtime_frame(a, parent, model_module(a->model, w->path, w->build_id, 0, NULL), HQDB_OWN_WORK);
}

/* The procedure at a call site, NULL if it is in no module. */
static const char *procedure_name(const struct attribution *a, const struct tree_site *site)
{
    const struct structure *s;
    uint32_t procedure;

    if (site->module >= a->tree->modules.len)
        return NULL;
    s = &a->modules[site->module].structure;
    procedure = place_of(a, site->module, site->offset)->procedure;
    return procedure == STRUCTURE_NONE ? NULL : intern_str(&s->strings, s->scopes.data[procedure].name);
}

const char *frame_name(const struct attribution *a, const struct tree_frame *f)
{
    return procedure_name(a, &(struct tree_site){f->offset, f->module, 0});
}

static bool is_thread_root(const struct attribution *a, uint32_t frame)
{
    return frame != TREE_NONE && calltree_frame(a->tree, frame)->module == TREE_THREAD;
}

uint32_t chain_top(const struct attribution *a, uint32_t frame)
{
    while (frame != TREE_NONE && !is_thread_root(a, frame))
        frame = calltree_frame(a->tree, frame)->parent;
    return frame;
}

bool begins_thread(const struct attribution *a, const struct tree_frame *f)
{
    return is_thread_root(a, f->parent) ||
           (f->parent != TREE_NONE && a->elidable[f->parent] && chain_top(a, f->parent) != TREE_NONE);
}

/* Phases of one name are one scope, wherever they were begun. */
static uint32_t phase_code(struct attribution *a, const char *called)
{
    AUTO_FREE char *name = xasprintf("phase %s", called);
    uint32_t scope = model_scope(
        a->model, &(struct model_scope){
                      .kind = SCOPE_PHASE, .parent = MODEL_ROOT, .name = name, .file = "", .module = HQDB_NONE});

    return model_code(a->model, HQDB_NONE, 0, scope, scope);
}

static enum inside inside_at(const struct attribution *a, const struct tree_frame *f)
{
    return inside_of(a->modules[f->module].runtime, f->parent == TREE_NONE ? OUTSIDE : a->inside[f->parent]);
}

static bool is_called_by_entry(const struct attribution *a, const struct tree_frame *f)
{
    return f->parent != TREE_NONE && a->inside[f->parent] == ENTRY;
}

/* The function that the program called, where the frame has no name of MPI's: it may have gone on by a jump to one of
 * its insides (MPICH: MPI_Startall). NULL: the frame is the procedure's, or it is not known. */
static const char *called_of_mpi(struct attribution *a, const struct tree_frame *f)
{
    const char *name = frame_name(a, f);
    AUTO_FREE char *own = name ? mpi_name_in_c(name) : NULL;

    return own ? NULL : modules_called(a, f);
}

/* The model's frame below which a frame hangs that is called from inside of an OpenMP runtime. */
static uint32_t outside_frame(const struct attribution *a, uint32_t frame, uint32_t parent)
{
    uint32_t outside = openmp_outside(a, frame);

    return outside == calltree_frame(a->tree, frame)->parent || outside == TREE_NONE || a->frames[outside] == HQDB_NONE
               ? parent
               : a->frames[outside];
}

/* Returns the model's frame for a frame in a load module. */
static uint32_t frame_of_code(struct attribution *a, uint32_t frame, uint32_t parent)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);
    struct module_work *w = &a->modules[f->module];
    struct structure_place p = w->structure.places.data[index_of(w, f->offset)];
    uint32_t code = HQDB_NONE;
    enum inside inside = a->inside[frame] = inside_at(a, f);

    if ((inside == ENTRY || is_called_by_entry(a, f)) && is_openmp_module(w)) {
        const char *name = frame_name(a, f);

        code = inside == ENTRY ? openmp_state_code(a, f, name, begins_thread(a, f))
                               : openmp_inner_wait(a, f, name, frame_name(a, calltree_frame(a->tree, f->parent)));
    }
    if (code != HQDB_NONE)
        return model_frame(a->model, parent, code);
    if (inside == OUTSIDE && openmp_is_idle_call(a, frame))
        parent = outside_frame(a, frame, parent);
    code = openmp_body_code(a, frame);
    if (code != HQDB_NONE)
        parent = model_frame(a->model, outside_frame(a, frame, parent), code);
    code = model_code(a->model, w->module, f->offset, convert_scope(a, w, p.raw), convert_scope(a, w, p.normal));
    return folding_frame(a->model, parent, code, inside, inside == ENTRY_OF_MPI ? called_of_mpi(a, f) : NULL);
}

static uint32_t add_frame(struct attribution *a, uint32_t frame, uint32_t parent)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);

    if (is_own_work(a, f))
        return own_frame(a, &a->modules[f->module], parent);
    if (f->module < a->tree->modules.len)
        return frame_of_code(a, frame, parent);
    if (f->module == TREE_REGION)
        return model_frame(a->model, outside_frame(a, frame, parent), openmp_region_code(a, frame));
    if (f->module == TREE_PHASE)
        return model_frame(a->model, parent, phase_code(a, intern_str(&a->tree->strings, (uint32_t)f->offset)));
    if (f->module == TREE_DEVICE)
        return model_frame(a->model, parent, devices_code(a->model, a->tree, f));
    if (f->module == TREE_WAIT) {
        a->inside[frame] = ENTRY;
        return model_frame(a->model, parent, openmp_wait_code(a));
    }
    return model_frame(a->model, parent,
                       model_code(a->model, HQDB_NONE, f->offset, nowhere_scope(a), nowhere_scope(a)));
}

/* A name that is an address says less than the caller's name. */
static const char *creator_name(const struct attribution *a, const struct tree_creator *c)
{
    for (size_t i = 0; i < TREE_CREATOR_SITES; i++) {
        const char *name = procedure_name(a, &c->sites[i]);

        if (name && !name_is_address(name))
            return name;
    }
    return procedure_name(a, &c->sites[0]);
}

static uint32_t thread_frame(struct attribution *a, const struct tree_frame *f)
{
    const char *creator = f->offset ? creator_name(a, keymap_key(&a->tree->creators, (uint32_t)(f->offset - 1))) : NULL;
    AUTO_FREE char *name = creator ? xasprintf("thread created by %s", creator) : xstrdup("thread");

    return model_root_frame(a->model, SCOPE_THREAD, name);
}

enum { MOST_ELIDED = 4 }; /* frames above main: _start and two or three of libc */

/* Depth + 1 below the top, or below the thread's row, of a frame that may be left out. */
static uint8_t elidable_depth(const struct attribution *a, const struct tree_frame *f)
{
    bool at_top = f->parent == TREE_NONE || is_thread_root(a, f->parent);
    uint8_t above = at_top ? 0 : a->elidable[f->parent];
    const struct module_work *w;
    enum role role;

    if (f->module >= a->tree->modules.len || is_own_work(a, f) || (!at_top && !above) || above >= MOST_ELIDED)
        return 0;
    w = &a->modules[f->module];
    role = place_of(a, f->module, f->offset)->role;
    return role == ROLE_START || role == ROLE_THREAD_START || w->is_libc ||
                   (f->parent == TREE_NONE && (w->flags & HQM_MODULE_MAIN) && role == ROLE_UNNAMED)
               ? above + 1
               : 0;
}

/* Is it one of those in libc that call main? The one that does has a name only with debug information. */
static bool calls_main(const struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);
    enum role role = place_of(a, f->module, f->offset)->role;

    return a->modules[f->module].is_libc && a->elidable[frame] > 1 && (role == ROLE_START || role == ROLE_UNNAMED);
}

/* Does a frame make what is above it dispensable? `parent` is elidable. */
static bool is_outermost(const struct attribution *a, const struct tree_frame *f)
{
    if (chain_top(a, f->parent) != TREE_NONE)
        return true;
    if (f->module >= a->tree->modules.len || is_own_work(a, f))
        return false;
    /* main has no name in a stripped program, and no frame where it ended in a jump, as python's does. */
    return place_of(a, f->module, f->offset)->role == ROLE_MAIN || calls_main(a, f->parent);
}

static uint32_t parent_frame(struct attribution *a, uint32_t parent);

static uint32_t make_frame(struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);

    if (a->frames[frame] == HQDB_NONE)
        a->frames[frame] = add_frame(a, frame, parent_frame(a, f->parent));
    return a->frames[frame];
}

/* Recursion ends after MOST_ELIDED steps: any other parent was made before its children. */
static uint32_t parent_frame(struct attribution *a, uint32_t parent)
{
    return parent == TREE_NONE ? HQDB_NONE : make_frame(a, parent);
}

static void place_frame(struct attribution *a, uint32_t frame)
{
    const struct tree_frame *f = calltree_frame(a->tree, frame);

    if (f->module == TREE_THREAD) {
        a->frames[frame] = thread_frame(a, f);
    } else if (f->module == TREE_PARTIAL && f->offset == HQM_PARTIAL_KERNEL) {
        a->frames[frame] = kernel_frame(a, parent_frame(a, f->parent));
    } else if (f->module == TREE_PARTIAL) {
        a->frames[frame] = model_root_frame(a->model, SCOPE_PARTIAL, partial_reason(f->offset));
    } else if (a->elidable[frame]) {
        if (a->tree->sampled.data[frame])
            make_frame(a, frame);
    } else if (f->parent != TREE_NONE && a->elidable[f->parent] && is_outermost(a, f)) {
        a->frames[frame] = add_frame(a, frame, parent_frame(a, chain_top(a, f->parent)));
    } else {
        make_frame(a, frame);
    }
}

static void deinit(struct attribution *a)
{
    for (size_t i = 0; i < a->tree->modules.len; i++) {
        if (a->modules[i].places)
            structure_deinit(&a->modules[i].structure);
        known_deinit(&a->modules[i].known);
        vec_deinit(&a->modules[i].offsets);
        vec_deinit(&a->modules[i].taken);
        vec_deinit(&a->modules[i].offloaded);
        free(a->modules[i].places);
        openmp_deinit(&a->modules[i]);
        callees_close(a->modules[i].callees);
        free(a->modules[i].scopes);
        free(a->modules[i].file);
    }
    free(a->modules);
    free(a->elidable);
    free(a->inside);
    map_deinit(&a->bodies);
    free(a->frames);
}

struct hq_error *attribute(const struct calltree *tree, const struct attribute_options *options, struct model *m,
                           uint32_t **frames)
{
    AUTO(deinit) struct attribution a = {.tree = tree, .options = options, .model = m, .nowhere = HQDB_NONE};

    HQ_TRY(modules_recover(&a));
    for (size_t i = 0; i < tree->modules.len; i++) {
        if (a.modules[i].offsets.len || !(a.modules[i].flags & HQM_MODULE_COLLECTOR))
            place_addresses(&a, &a.modules[i]);
    }
    a.frames = xmalloc(((size_t)tree->frames.len + 1) * sizeof *a.frames);
    a.inside = xcalloc((size_t)tree->frames.len + 1, 1);
    a.elidable = xcalloc((size_t)tree->frames.len + 1, 1);
    for (uint32_t i = 0; i < tree->frames.len; i++) {
        a.frames[i] = HQDB_NONE;
        a.elidable[i] = elidable_depth(&a, calltree_frame(tree, i));
    }
    openmp_note_static(&a);
    openmp_find_bodies(&a);
    for (uint32_t i = 0; i < tree->frames.len; i++)
        place_frame(&a, i);
    *frames = MEM_STEAL(a.frames);
    return NULL;
}

const char *partial_reason(uint64_t reason)
{
    static const char *const names[] = {
        [0] = "partial: no call path",
        [HQM_PARTIAL_NO_CFI] = "partial: no unwind information",
        [HQM_PARTIAL_BAD_ADDRESS] = "partial: return address outside code",
        [HQM_PARTIAL_STACK_BOUNDS] = "partial: left the known stack",
        [HQM_PARTIAL_TOO_DEEP] = "partial: too many frames",
        [HQM_PARTIAL_NO_SPACE] = "partial: no room for more call paths",
        [HQM_PARTIAL_COPY] = "partial: the copy of the stack ended",
    };

    return reason < sizeof names / sizeof *names ? names[reason] : "partial: unknown reason";
}

const char *loss_reason(unsigned reason)
{
    static const char *const names[] = {
        [HQM_LOSS_NO_SPACE] = "no room for more data",
        [HQM_LOSS_REENTRY] = "the collector was at work in the thread",
        [HQM_LOSS_NO_THREAD] = "thread unknown to the collector",
        [HQM_LOSS_TRACE] = "trace record lost, sample counted",
        [HQM_LOSS_MODULES] = "load module not noted",
        [HQM_LOSS_BUFFER] = "the kernel's buffer was full",
        [HQM_LOSS_COMMANDS] = "commands of devices that had not ended",
        [HQM_LOSS_FAILED] = "commands of devices that failed",
    };

    return reason < sizeof names / sizeof *names ? names[reason] : "unknown reason";
}
