/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/runs.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define LIST "runs.txt"
static const char head[] = "hq runs 1", ended[] = "# ended";
static const char *const names[RUN_SIDES] = {"old", "new"};

enum { LIST_MAX = 1 << 20 };

bool run_set_is(const char *path)
{
    AUTO_FREE char *list = file_join(path, LIST);

    return file_is_dir(path) && file_exists(list);
}

void run_set_deinit(struct run_set *set)
{
    vec_foreach(r, &set->runs)
        free(r->path);
    vec_deinit(&set->runs);
    free(set->directory);
    *set = (struct run_set){0};
}

void run_set_add(struct run_set *set, enum run_side side, const char *path)
{
    vec_push(&set->runs, (struct run_entry){.side = side, .path = xstrdup(path)});
}

static bool read_comment(struct run_set *set, const char *line)
{
    double family;

    if (sscanf(line, "# family %lf", &family) == 1 && family > 0 && family <= 1)
        set->family = family;
    set->ended |= !strcmp(line, ended);
    return *line == '#';
}

static bool read_entry(struct run_set *set, const char *line)
{
    for (enum run_side side = RUN_OLD; side < RUN_SIDES; side++) {
        size_t n = strlen(names[side]);

        if (!strncmp(line, names[side], n) && line[n] == ' ' && line[n + 1] && !strchr(line + n + 1, '/')) {
            AUTO_FREE char *path = file_join(set->directory, line + n + 1);

            run_set_add(set, side, path);
            return true;
        }
    }
    return false;
}

static struct hq_error *read_list(const char *list, struct run_set *out)
{
    AUTO_STR struct str text = {0};
    unsigned number = 0;
    char *rest;

    HQ_TRY(file_read(list, &text, LIST_MAX));
    str_addc(&text, '\n');
    rest = text.s;
    for (char *line; (line = strsep(&rest, "\n"));) {
        bool fine = ++number == 1 ? !strcmp(line, head) : !*line || read_comment(out, line) || read_entry(out, line);

        if (!fine)
            return hq_error_new(HQ_DATA, "%s:%u: the line is not as `hq race` and `hq record --runs` write it", list,
                                number);
    }
    size_t old = run_set_count(out, RUN_OLD), now = run_set_count(out, RUN_NEW);

    if (!out->runs.len)
        return hq_error_new(HQ_DATA, "%s lists no runs: what was to make them did not get to its end", list);
    if (!now || (old && old != now))
        return hq_error_new(HQ_DATA, "%s lists %zu old and %zu new runs; a race has as many of each", list, old, now);
    return NULL;
}

struct hq_error *run_set_read(const char *path, struct run_set *out)
{
    AUTO_FREE char *list = file_join(path, LIST);
    struct hq_error *err;

    *out = (struct run_set){.directory = xstrdup(path)};
    err = read_list(list, out);
    if (err)
        run_set_deinit(out);
    return err;
}

size_t run_set_count(const struct run_set *set, enum run_side side)
{
    size_t n = 0;

    vec_foreach(r, &set->runs)
        n += r->side == side;
    return n;
}

const char *run_set_path(const struct run_set *set, enum run_side side, size_t i)
{
    vec_foreach(r, &set->runs)
        if (r->side == side && !i--)
            return r->path;
    return NULL;
}

char *run_set_joined(const char *directory, enum run_side side)
{
    AUTO_FREE char *name = xasprintf("%s.hq", names[side]);

    return file_join(directory, name);
}

struct hq_error *run_set_of(const char *path, struct run_set *out, enum run_side *side)
{
    AUTO_FREE char *above = file_dirname(path), *old = run_set_joined(above, RUN_OLD);
    AUTO_FREE char *now = run_set_joined(above, RUN_NEW);
    bool is_old = !strcmp(path, old), is_side = is_old || !strcmp(path, now);
    const char *directory = run_set_is(path) ? path : is_side && run_set_is(above) ? above : NULL;

    *out = (struct run_set){0};
    *side = is_old ? RUN_OLD : RUN_NEW;
    return directory ? run_set_read(directory, out) : NULL;
}

size_t run_set_joins(const char *path)
{
    AUTO(run_set_deinit) struct run_set set;
    enum run_side side;
    AUTO_ERROR struct hq_error *error = run_set_of(path, &set, &side);

    return error || !set.directory ? 1 : run_set_count(&set, side);
}

/* Did it come to its end without a run? */
static bool has_ended(const char *path)
{
    AUTO(run_set_deinit) struct run_set set = {.directory = xstrdup(path)};
    AUTO_FREE char *list = file_join(path, LIST);

    hq_error_free(read_list(list, &set));
    return set.ended && !set.runs.len;
}

struct hq_error *run_set_create(const char *path, bool force, struct run_set *out)
{
    *out = (struct run_set){.directory = xstrdup(path)};
    if (run_set_is(path) && (force || has_ended(path)))
        HQ_TRY(file_remove_tree(path));
    if (!file_is_absent(path)) {
        bool empty = false;

        if (!file_is_dir(path))
            return hq_error_new(HQ_USAGE, "%s is a file; -o names a directory for the runs", path);
        HQ_TRY(file_dir_is_empty(path, &empty));
        if (!empty)
            return hq_error_new(HQ_USAGE, "%s %s; choose another directory%s", path,
                                run_set_is(path) ? "holds runs already" : "is not empty and holds no runs",
                                run_set_is(path) ? ", or replace them by --force" : "");
    }
    HQ_TRY(file_make_dirs(path));
    /* A directory with the list is a set: one of which no run succeeded can be replaced, too. */
    HQ_TRY(run_set_write(out));
    out->made = true;
    return NULL;
}

char *run_set_next(const struct run_set *set)
{
    AUTO_FREE char *name = xasprintf("%03zu.hq", set->runs.len + 1);

    return file_join(set->directory, name);
}

struct hq_error *run_set_write(const struct run_set *set)
{
    AUTO_FREE char *list = file_join(set->directory, LIST);
    struct file_writer w;

    HQ_TRY(file_writer_open(&w, list));
    fprintf(w.file, "%s\n", head);
    if (set->family > 0)
        fprintf(w.file, "# family %.6g\n", set->family);
    if (set->ended && !set->runs.len)
        fprintf(w.file, "%s\n", ended);
    vec_foreach(r, &set->runs)
        fprintf(w.file, "%s %s\n", names[r->side], file_basename(r->path));
    return file_writer_commit(&w);
}

void run_set_end(struct run_set *set)
{
    if (!set->made || set->runs.len)
        return;
    set->ended = true;
    hq_error_free(run_set_write(set));
}
