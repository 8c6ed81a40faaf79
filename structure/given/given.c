/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/given/given.h"
#include "common/file.h"
#include <stdlib.h>
#include <string.h>

static void free_module(struct given_module *m)
{
    for (int i = 0; i < GIVEN_TREES; i++) {
        vec_deinit(&m->trees[i].scopes);
        vec_deinit(&m->trees[i].ranges);
        vec_deinit(&m->trees[i].spans);
    }
    known_deinit(&m->known);
    free(m->path);
    free(m->note);
    free(m);
}

static void free_file(struct given_file *f)
{
    vec_foreach(m, &f->modules)
        free_module(*m);
    vec_deinit(&f->modules);
    vec_deinit(&f->aliases);
    intern_deinit(&f->strings);
    free(f->path);
    free(f);
}

void given_close(struct given *g)
{
    if (!g)
        return;
    vec_foreach(f, &g->files)
        free_file(*f);
    vec_foreach(group, &g->groups) {
        free(group->name);
        free(group->parts);
    }
    vec_deinit(&g->files);
    vec_deinit(&g->groups);
    free(g);
}

struct hq_error *given_open(const char *const *paths, size_t count, bool by_name, struct given **out)
{
    struct given *g = xcalloc(1, sizeof *g);
    struct hq_error *error = NULL;

    *out = NULL;
    g->by_name = by_name;
    for (size_t i = 0; i < count && !error; i++) {
        struct given_file *f = xcalloc(1, sizeof *f);

        f->path = xstrdup(paths[i]);
        vec_push(&g->files, f);
        error = given_read(g, f);
    }
    if (error)
        given_close(g);
    else
        *out = g;
    return error;
}

/* 0: it is not; the greater the better. */
static int fits(const struct given *g, const struct given_module *m, const char *path, const uint8_t *id, size_t len)
{
    if (len && m->build_id_len == len && !memcmp(m->build_id, id, len))
        return 3;
    if (!g->by_name)
        return 0;
    return !strcmp(m->path, path) ? 2 : !strcmp(file_basename(m->path), file_basename(path)) ? 1 : 0;
}

const struct given_module *given_find(const struct given *g, const char *path, const uint8_t *build_id, size_t len)
{
    const struct given_module *best = NULL;
    int most = 0;

    vec_foreach(f, &g->files)
        vec_foreach(m, &(*f)->modules) {
            int how = fits(g, *m, path, build_id, len);

            if (how > most) {
                most = how;
                best = *m;
            }
        }
    return best;
}
