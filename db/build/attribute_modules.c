/* SPDX-License-Identifier: BSD-3-Clause */
/* The load modules of an attribution: which file each is read from, and the structure at the addresses that were met.
 */
#include "db/build/attribution.h"
#include "db/binaries.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/numbers.h"
#include "common/parallel.h"
#include "common/str.h"
#include "db/generated.h"
#include "format/stream.h"
#include "structure/callee.h"
#include <stdlib.h>
#include <string.h>

static void collect_addresses(struct attribution *a)
{
    const struct calltree *t = a->tree;

    for (uint32_t i = 0; i < t->frames.len; i++) {
        const struct tree_frame *f = calltree_frame(t, i);

        if (f->module < t->modules.len && !is_own_work(a, f))
            vec_push(&a->modules[f->module].offsets, f->offset);
    }
    for (uint32_t i = 0; i < t->creators.len; i++) {
        const struct tree_creator *c = keymap_key(&t->creators, i);

        for (size_t j = 0; j < TREE_CREATOR_SITES; j++) {
            if (c->sites[j].module < t->modules.len)
                vec_push(&a->modules[c->sites[j].module].offsets, c->sites[j].offset);
        }
    }
    for (uint32_t i = 0; i < t->openings.len; i++) {
        const struct tree_opening *o = keymap_key(&t->openings, i);

        if (o->body.module < t->modules.len)
            vec_push(&a->modules[o->body.module].offsets, o->body.offset);
        if (o->callee.module < t->modules.len)
            vec_push(&a->modules[o->callee.module].offsets, o->callee.offset);
    }
    openers_find(a);
    for (size_t m = 0; m < t->modules.len; m++) {
        struct module_work *w = &a->modules[m];

        w->offsets.len = numbers_sort(w->offsets.data, w->offsets.len);
    }
}

/* The copy of a load module that the recording brought along (binaries.h), NULL if it has none. */
static char *kept_copy(const char *measurements, const struct module_work *w)
{
    char *copy = w->path[0] == '/' ? binaries_place(measurements, w->build_id, w->path) : NULL;

    if (copy && !file_exists(copy)) {
        free(copy);
        copy = NULL;
    }
    return copy;
}

static void open_modules(struct attribution *a)
{
    const struct calltree *t = a->tree;

    a->modules = xcalloc(t->modules.len + 1, sizeof *a->modules);
    for (size_t i = 0; i < t->modules.len; i++) {
        const struct tree_module *m = &t->modules.data[i];
        struct module_work *w = &a->modules[i];
        const char *base;

        w->path = intern_str(&t->strings, m->path);
        w->build_id = intern_str(&t->strings, m->build_id);
        w->flags = m->flags;
        base = file_basename(w->path);
        w->runtime = m->flags & TREE_GENERATED ? NULL : runtime_of_module(w->path);
        w->is_libc = str_begins(base, "libc.so.") || str_begins(base, "libc-2.") || str_begins(base, "libpthread");
        if (m->flags & HQM_MODULE_KERNEL)
            w->file = xasprintf("%s/" HQS_KERNEL, intern_str(&t->strings, m->directory), w->build_id);
        if (m->flags & HQM_MODULE_VDSO)
            w->file = xasprintf("%s/vdso-%s.so", intern_str(&t->strings, m->directory), w->build_id);
        if (!w->file && !(m->flags & TREE_GENERATED))
            w->file = kept_copy(intern_str(&t->strings, m->directory), w);
    }
}

static size_t parse_hex(const char *text, uint8_t *out, size_t cap)
{
    size_t n = 0;

    for (; n < cap && text[0] && text[1]; text += 2, n++) {
        char pair[3] = {text[0], text[1], 0};

        out[n] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

static struct hq_error *recover(size_t index, unsigned worker, void *arg)
{
    struct attribution *a = arg;
    struct module_work *w = &a->modules[index];
    uint8_t build_id[32];
    struct structure_options options = {
        .cache_dir = a->options->cache_dir, .inlines = true, .loops = !a->options->no_loops};
    struct hq_error *err = NULL;

    (void)worker;
    options.build_id_len = parse_hex(w->build_id, build_id, sizeof build_id);
    options.build_id = options.build_id_len ? build_id : NULL;
    if (a->options->given && !(w->flags & (TREE_GENERATED | HQM_MODULE_KERNEL)))
        w->given = options.given = given_find(a->options->given, w->path, build_id, options.build_id_len);
    if (w->given && w->given->known.state)
        known_copy(&w->given->known, &w->known);
    else if (!(w->flags & (TREE_GENERATED | HQM_MODULE_COLLECTOR | HQM_MODULE_VDSO | HQM_MODULE_KERNEL)))
        known_find(w->file ? w->file : w->path, &options, w->offsets.len > 0, &w->known);
    if (!w->offsets.len)
        return NULL;
    w->places = xcalloc(w->offsets.len, sizeof *w->places);
    if (w->flags & TREE_GENERATED)
        generated_recover(w->path, w->offsets.data, w->offsets.len, &w->structure);
    else if (w->flags & HQM_MODULE_KERNEL)
        generated_recover_names(w->file, w->offsets.data, w->offsets.len, &w->structure);
    else
        err = structure_recover(w->file ? w->file : w->path, &options, w->offsets.data, w->offsets.len, &w->structure);
    progress_add(&a->progress, 1);
    return hq_error_prefix(err, "%s", w->path);
}

const char *modules_callee(struct attribution *a, uint32_t module, uint64_t offset)
{
    struct module_work *w = &a->modules[module];
    uint8_t build_id[32];
    struct structure_options options = {.build_id = build_id};

    if (!w->callees_sought && !(w->flags & (TREE_GENERATED | HQM_MODULE_KERNEL | HQM_MODULE_VDSO))) {
        options.build_id_len = parse_hex(w->build_id, build_id, sizeof build_id);
        w->callees = callees_open(w->file ? w->file : w->path, &options);
    }
    w->callees_sought = true;
    return w->callees ? callee_before(w->callees, offset + 1) : NULL;
}

const char *modules_called(struct attribution *a, const struct tree_frame *f)
{
    const struct tree_frame *call = f->parent == TREE_NONE ? NULL : calltree_frame(a->tree, f->parent);

    return call && call->module < a->tree->modules.len && !is_own_work(a, call)
               ? modules_callee(a, call->module, call->offset)
               : NULL;
}

void modules_taken(struct module_work *w, const uint64_t *inside, size_t count)
{
    uint8_t build_id[32];
    struct structure_options options = {.build_id = build_id};

    if (w->flags & (TREE_GENERATED | HQM_MODULE_KERNEL | HQM_MODULE_VDSO))
        return;
    options.build_id_len = parse_hex(w->build_id, build_id, sizeof build_id);
    taken_find(w->file ? w->file : w->path, &options, inside, count, &w->taken, &w->offloaded);
}

enum { NAMES_TOLD = 4 };

/* Whoever moved the database to another machine, or built the program anew, sees addresses for names: why, is said when
 * it happens. */
static void warn_of_unread(const struct attribution *a)
{
    AUTO_STR struct str names = {0};
    const char *note = NULL;
    size_t count = 0;

    for (size_t i = 0; i < a->tree->modules.len; i++) {
        const struct module_work *w = &a->modules[i];

        if (!w->offsets.len || !w->structure.unread || w->flags & HQM_MODULE_VDSO)
            continue;
        note = w->structure.note;
        if (count++ < NAMES_TOLD)
            str_addf(&names, "%s%s", names.len ? ", " : "", file_basename(w->path));
    }
    if (count > NAMES_TOLD)
        str_addf(&names, " and %zu more", count - NAMES_TOLD);
    if (count == 1)
        log_warn("%s; its procedures are shown by their addresses, until `hq build --force` finds it", note);
    else if (count)
        log_warn("%zu of the files that were measured are not here, or are others now: %s; their procedures are shown "
                 "by their addresses, until `hq build --force` finds them; `info` says more",
                 count, str_cstr(&names));
}

static bool is_used(const struct attribution *a, const struct given_module *m)
{
    for (size_t i = 0; i < a->tree->modules.len; i++)
        if (a->modules[i].given == m)
            return true;
    return false;
}

/* A load module of a name, which was not taken. */
static const char *namesake(const struct attribution *a, const struct given_module *m)
{
    for (size_t i = 0; i < a->tree->modules.len; i++)
        if (!strcmp(file_basename(a->modules[i].path), file_basename(m->path)))
            return a->modules[i].build_id;
    return NULL;
}

/* Who gives structure means it to be seen. */
static struct hq_error *check_given(const struct attribution *a)
{
    size_t used = 0, unused = 0;
    const struct given_module *first = NULL;

    vec_foreach(f, &a->options->given->files)
        vec_foreach(m, &(*f)->modules) {
            bool is = is_used(a, *m);

            used += is;
            unused += !is;
            first = is || first ? first : *m;
        }
    if (!first)
        return NULL;
    const char *id = namesake(a, first);
    AUTO_FREE char *why =
        id && *id ? xasprintf("the %s that was measured has another build-id, %s; --structure-by-name takes the "
                              "structure all the same",
                              file_basename(first->path), id)
        : id
            ? xasprintf("the %s that was measured has no build-id; --structure-by-name takes the structure by its name",
                        file_basename(first->path))
            : xstrdup("the recording has no such load module");

    if (!used)
        return hq_error_new(HQ_DATA, "%s:%lu: %s is not used: %s", first->file->path, first->at, first->path, why);
    log_warn("%s:%lu: %s%s is not used: %s", first->file->path, first->at, first->path,
             unused > 1 ? ", as others," : "", why);
    return NULL;
}

struct hq_error *modules_recover(struct attribution *a)
{
    struct hq_error *err;

    open_modules(a);
    collect_addresses(a);
    progress_start(&a->progress, "recovering structure", a->tree->modules.len, false);
    err = parallel_try(a->tree->modules.len, a->options->threads, recover, a);
    progress_finish(&a->progress);
    if (!err && a->options->given)
        err = check_given(a);
    if (!err)
        warn_of_unread(a);
    return err;
}
