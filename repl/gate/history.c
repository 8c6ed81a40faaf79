/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/history.h"
#include "repl/gate/loop_rows.h"
#include "common/file.h"
#include "common/temporary.h"
#include "db/import/json.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static const char ending[] = ".json";

/* ---- reading ---- */

struct reading {
    struct history *history;
    struct history_commit commit;
    struct history_value value;
    double version;
};

static enum dim dim_of(const char *unit)
{
    return !strcmp(unit, "s")        ? DIM_SECONDS
           : !strcmp(unit, "B")      ? DIM_BYTES
           : !strcmp(unit, "events") ? DIM_EVENTS
                                     : DIM_NONE;
}

static void take_field(struct reading *r, const char *key, const struct json_value *v)
{
    struct history_value *to = &r->value;
    const struct {
        const char *key;
        const char **to;
    } texts[] = {{"query", &to->query}, {"metric", &to->metric}, {"path", &to->path}};

    for (size_t i = 0; v->kind == JSON_STRING && i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(key, texts[i].key))
            *texts[i].to = arena_strdup(&r->history->arena, v->text);
    if (!strcmp(key, "unit") && v->kind == JSON_STRING)
        to->dim = dim_of(v->text);
    else if (!strcmp(key, "share"))
        to->share = v->number;
    else if (!strcmp(key, "value"))
        to->value = v->number;
    else if (!strcmp(key, "samples"))
        to->samples = v->number;
    else if (!strcmp(key, "exact"))
        to->exact = v->number != 0;
}

static struct hq_error *on_value(void *arg, const struct json_path *path, const struct json_value *v)
{
    struct reading *r = arg;

    if (path->depth == 1 && json_key(path, 0, "hq_history"))
        r->version = v->number;
    else if (path->depth == 1 && json_key(path, 0, "commit") && v->kind == JSON_STRING)
        r->commit.name = arena_strdup(&r->history->arena, v->text);
    else if (path->depth == 1 && json_key(path, 0, "machine") && v->kind == JSON_STRING)
        r->commit.machine = arena_strdup(&r->history->arena, v->text);
    else if (path->depth == 1 && json_key(path, 0, "order"))
        r->commit.place.order = v->number;
    else if (path->depth == 1 && json_key(path, 0, "number"))
        r->commit.place.number = v->number;
    else if (path->depth == 3 && json_key(path, 0, "values") && !path->steps[2].in_array)
        take_field(r, str_cstr(&path->steps[2].key), v);
    return NULL;
}

static struct hq_error *on_end(void *arg, const struct json_path *path)
{
    struct reading *r = arg;

    if (path->depth != 2 || !json_key(path, 0, "values"))
        return NULL;
    if (r->value.query && r->value.metric && r->value.path)
        vec_push(&r->commit.values, r->value);
    r->value = (struct history_value){0};
    return NULL;
}

static struct hq_error *read_file(struct history *h, const char *path)
{
    static const struct json_handler handler = {on_value, on_end};
    struct reading r = {.history = h};
    struct hq_error *error = json_walk(path, false, &handler, &r);

    if (!error && (r.version < 1 || !r.commit.name))
        error = hq_error_new(HQ_DATA, "%s is no file of a history as hq check --history writes it", path);
    if (!error && r.version > 1)
        error = hq_error_new(HQ_USAGE, "%s is of a later version of hq", path);
    if (error)
        vec_deinit(&r.commit.values);
    else
        vec_push(&h->commits, r.commit);
    return error;
}

static int compare(double x, double y)
{
    return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b, void *numbered)
{
    const struct history_commit *x = a, *y = b;
    int time = compare(x->place.order, y->place.order), number = compare(x->place.number, y->place.number),
        first = *(bool *)numbered ? number : time, second = *(bool *)numbered ? time : number;

    return first ? first : second ? second : strcmp(x->name, y->name);
}

/* Sets the order of commits, and counts those that stand in it by their names alone. */
static void put_in_order(struct history *h)
{
    bool numbered = true;

    vec_foreach(c, &h->commits)
        numbered = numbered && c->place.number > 0;
    vec_sort_r(&h->commits, by_place, &numbered);
    for (size_t i = 0; i + 1 < h->commits.len; i++) {
        const struct history_place *x = &h->commits.data[i].place, *y = &h->commits.data[i + 1].place;

        h->apart += x->number > 0 && x->number == y->number;
        h->untold += x->order == y->order && (!(x->number > 0) || !(y->number > 0));
    }
}

static bool is_file_of_history(const char *name)
{
    size_t n = strlen(name), e = sizeof ending - 1;

    return n > e && *name != '.' && !strcmp(name + n - e, ending);
}

/* Commits of earlier versions do not say of how many loops one is: as many as in the next commit that does. */
static void count_loops(struct history *h)
{
    AUTO(loop_rows_deinit) struct loop_rows loops = {0};

    for (size_t i = h->commits.len; i-- > 0;) {
        struct history_commit *c = &h->commits.data[i];

        vec_foreach(v, &c->values)
            loop_rows_note(&loops, 0, v->path);
        vec_foreach(v, &c->values)
            v->path = loop_rows_complete(&loops, &h->arena, v->path);
    }
}

struct hq_error *history_read(const char *directory, const char *only, struct history *out)
{
    AUTO_FREE char *one = only ? xasprintf("%s%s", only, ending) : NULL;
    DIR *d = opendir(directory);
    struct hq_error *error = NULL;

    *out = (struct history){0};
    if (!d && !file_is_absent(directory))
        return hq_error_errno(HQ_DATA, "%s: cannot be opened as a directory", directory);
    for (const struct dirent *e; d && !error && (e = file_dir_next(d, directory, &error));) {
        AUTO_FREE char *path = file_join(directory, e->d_name);

        if (is_file_of_history(e->d_name) && (!one || !strcmp(one, e->d_name)))
            error = read_file(out, path);
    }
    if (d)
        closedir(d);
    put_in_order(out);
    if (!only)
        count_loops(out);
    return error;
}

void history_deinit(struct history *h)
{
    vec_foreach(c, &h->commits)
        vec_deinit(&c->values);
    vec_deinit(&h->commits);
    arena_deinit(&h->arena);
}

/* ---- which commit ---- */

static bool is_good_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-");

    return n && !name[n] && n <= 100 && *name != '.' && *name != '-';
}

enum { GIT_NAME = 100 };

/* Asks git about the directory in which hq runs; a clone that has not all commits cannot count them. */
static bool ask_git(char name[GIT_NAME], char whole[GIT_NAME], struct history_place *place)
{
    FILE *git = popen("exec 2>/dev/null; git log -1 --format='%ct %h %H' && "
                      "test \"$(git rev-parse --is-shallow-repository)\" = false && git rev-list --count HEAD",
                      "r");
    int read = git ? fscanf(git, "%lf %99s %99s %lf", &place->order, name, whole, &place->number) : 0;

    if (git)
        pclose(git);
    return read >= 3;
}

/* The name under which the history has a commit; else the short one. */
static struct hq_error *known_name(const char *directory, const char *name, const char *whole, struct arena *arena,
                                   const char **out)
{
    enum { SHORTEST = 7, ENDING = sizeof ending - 1 };
    struct hq_error *error = NULL;
    DIR *d = file_dir_open(directory, &error);

    for (const struct dirent *e; d && (e = file_dir_next(d, directory, &error));) {
        size_t n = strlen(e->d_name);

        if (is_file_of_history(e->d_name) && n >= SHORTEST + ENDING && !strncmp(e->d_name, whole, n - ENDING))
            name = arena_strndup(arena, whole, n - ENDING);
    }
    if (d)
        closedir(d);
    *out = arena_strdup(arena, name);
    return error;
}

struct hq_error *history_commit_name(const char *directory, const char *name, struct arena *arena, const char **out,
                                     struct history_place *place)
{
    char of_git[GIT_NAME] = "", whole[GIT_NAME] = "";
    struct timespec now;

    if (name && !is_good_name(name))
        return hq_error_new(HQ_USAGE, "--commit takes a name of letters, digits and . _ + -, not `%s`", name);
    *place = (struct history_place){0};
    *out = name;
    if (!name && (!ask_git(of_git, whole, place) || !is_good_name(of_git)))
        return hq_error_new(HQ_USAGE, "--history wants to know which commit this is: there is no git here that could "
                                      "tell, so say --commit NAME");
    if (!name)
        return known_name(directory, of_git, whole, arena, out);
    clock_gettime(CLOCK_REALTIME, &now);
    /* Commits that a script checks one after the other come in one second. */
    place->order = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    return NULL;
}

/* ---- writing ---- */

static int by_key(const void *a, const void *b)
{
    const struct history_value *x = a, *y = b;
    int order = strcmp(x->query, y->query);

    order = order ? order : strcmp(x->path, y->path);
    return order ? order : strcmp(x->metric, y->metric);
}

static void add_value(struct str *out, const struct history_value *v)
{
    str_add(out, "{\"query\":");
    json_quote(out, v->query);
    str_add(out, ",\"metric\":");
    json_quote(out, v->metric);
    str_add(out, ",\"path\":");
    json_quote(out, v->path);
    str_addf(out, ",\"share\":%.5g,\"value\":%.9g", v->share, v->value);
    if (v->samples > 0)
        str_addf(out, ",\"samples\":%.0f", v->samples);
    str_add(out, ",\"unit\":");
    json_quote(out, v->dim == DIM_EVENTS ? "events" : dim_unit(v->dim));
    str_addf(out, ",\"exact\":%s}", v->exact ? "true" : "false");
}

static bool is_asked(const char *text, const struct baseline_query *const *queries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(queries[i]->text, text))
            return true;
    return false;
}

static struct hq_error *write_commit(const char *directory, const char *commit, const char *machine,
                                     struct history_place place, const struct baseline_query *const *queries,
                                     size_t count, double least)
{
    AUTO(history_deinit) struct history before = {0};
    AUTO_FREE char *name = xasprintf("%s%s", commit, ending), *path = file_join(directory, name);
    AUTO_STR struct str out = {0};
    struct history_commit c = {.name = commit, .place = place};
    struct file_writer w;

    HQ_TRY(history_read(directory, commit, &before));
    vec_foreach(old, &before.commits) {
        c.place.order = old->place.order;
        if (!(place.number > 0))
            c.place.number = old->place.number;
        vec_foreach(v, &old->values)
            if (!is_asked(v->query, queries, count))
                vec_push(&c.values, *v);
    }
    for (size_t i = 0; i < count; i++)
        vec_foreach(v, &queries[i]->values)
            if (v->share >= least && !v->outside)
                vec_push(&c.values, (struct history_value){.query = queries[i]->text,
                                                           .metric = v->metric,
                                                           .path = v->path,
                                                           .share = v->share,
                                                           .value = v->value,
                                                           .samples = isfinite(v->samples) ? v->samples : 0,
                                                           .dim = v->dim,
                                                           .exact = v->absolute});
    vec_sort(&c.values, by_key);
    str_add(&out, "{\"hq_history\":1,\"commit\":");
    json_quote(&out, commit);
    str_addf(&out, ",\"order\":%.6f", c.place.order);
    if (c.place.number > 0)
        str_addf(&out, ",\"number\":%.0f", c.place.number);
    if (machine) {
        str_add(&out, ",\"machine\":");
        json_quote(&out, machine);
    }
    str_add(&out, ",\"values\":[");
    vec_foreach(v, &c.values) {
        str_add(&out, v == c.values.data ? "\n" : ",\n");
        add_value(&out, v);
    }
    str_add(&out, "]}\n");
    vec_deinit(&c.values);
    temporary_remove_left_in(directory, ending);
    HQ_TRY(file_writer_open(&w, path));
    file_writer_write(&w, str_cstr(&out), out.len);
    return file_writer_commit(&w);
}

struct hq_error *history_write(const char *directory, const char *commit, const char *machine,
                               struct history_place place, const struct baseline_query *const *queries, size_t count,
                               double least)
{
    HQ_TRY(file_make_dirs(directory));
    /* Who reads a commit's file to write it again must be alone in that; a file system without locks is none of many
     * processes. The directory itself is locked, so that nothing comes into it that is not of the history. */
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
        ;
    struct hq_error *error = write_commit(directory, commit, machine, place, queries, count, least);

    if (fd >= 0)
        close(fd);
    return error;
}
