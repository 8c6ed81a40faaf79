/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/saved.h"
#include "common/arena.h"
#include "common/file.h"
#include "common/log.h"
#include "common/str.h"
#include "common/suggest.h"
#include "common/vec.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".hq";

struct directories {
    char **data;
    size_t len, cap;
};

/* Where the queries that come with hq are; NULL unless the directory is there. */
static char *shipped(void)
{
    AUTO_FREE char *program = file_program();

    if (!program)
        return NULL;
    AUTO_FREE char *here = file_dirname(program);
    static const char *const places[] = {"examples/queries", "../examples/queries", "../share/hq/queries"};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        AUTO_FREE char *path = file_join(here, places[i]);

        if (file_is_dir(path))
            return MEM_STEAL(path);
    }
    return NULL;
}

static void directories(struct directories *d)
{
    AUTO_FREE char *own = getenv("HQ_QUERIES") ? xstrdup(getenv("HQ_QUERIES")) : NULL;
    AUTO_FREE char *config = file_config_dir();
    char *state = NULL, *with_hq = shipped();

    for (char *p = own ? strtok_r(own, ":", &state) : NULL; p; p = strtok_r(NULL, ":", &state))
        vec_push(d, xstrdup(p));
    vec_push(d, xstrdup("queries"));
    if (config)
        vec_push(d, file_join(config, "queries"));
    if (with_hq)
        vec_push(d, with_hq);
}

static void directories_deinit(struct directories *d)
{
    vec_foreach(p, d)
        free(*p);
    vec_deinit(d);
}

static int is_query(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > strlen(suffix) && !strcmp(e->d_name + n - strlen(suffix), suffix);
}

/* Below a home that is somebody else's: whether there is such a directory nobody here can know. */
static bool is_out_of_reach(const char *dir)
{
    struct stat st;

    return stat(dir, &st) && errno == EACCES;
}

struct hq_error *saved_each(void (*each)(void *arg, const char *name, const char *path), void *arg)
{
    AUTO(directories_deinit) struct directories all = {0};

    directories(&all);
    vec_foreach(dir, &all) {
        struct dirent **entries;
        int n = scandir(*dir, &entries, is_query, alphasort);

        if (n < 0 && errno != ENOENT && errno != ENOTDIR) {
            struct hq_error *err = hq_error_errno(HQ_DATA, "%s: its queries cannot be listed", *dir);

            if (!is_out_of_reach(*dir))
                return err;
            log_warn("%s", err->message);
            hq_error_free(err);
        }
        for (int i = 0; i < n; i++) {
            AUTO_FREE char *path = file_join(*dir, entries[i]->d_name);
            AUTO_FREE char *name = xstrndup(entries[i]->d_name, strlen(entries[i]->d_name) - strlen(suffix));

            each(arg, name, path);
            free(entries[i]);
        }
        if (n >= 0)
            free(entries);
    }
    return NULL;
}

struct search {
    const char *name;
    char *path;
    struct suggest near;
    struct arena arena;
};

static void look(void *arg, const char *name, const char *path)
{
    struct search *s = arg;

    suggest_add(&s->near, arena_strdup(&s->arena, name));
    if (!s->path && !strcmp(name, s->name))
        s->path = xstrdup(path);
}

struct hq_error *saved_find(const char *name, char **path)
{
    struct search s = {.name = name};
    struct hq_error *error = NULL;

    if (strchr(name, '/')) {
        *path = xstrdup(name);
        return NULL;
    }
    suggest_init(&s.near, name, 3);
    error = saved_each(look, &s);
    if (s.path) {
        hq_error_free(error);
        error = NULL;
    } else if (!error) {
        AUTO_STR struct str text = {0};

        suggest_text(&s.near, &text);
        error = hq_error_new(HQ_USAGE, "there is no saved query `%s`%s", name,
                             text.len ? text.s : "; `help queries` lists what there is");
    }
    *path = s.path;
    arena_deinit(&s.arena);
    return error;
}

bool saved_exists(const char *name)
{
    AUTO_FREE char *path = NULL;
    struct hq_error *error = saved_find(name, &path);

    hq_error_free(error);
    return !error && file_exists(path);
}

char *saved_summary(const char *path)
{
    AUTO_STR struct str text = {0};
    struct hq_error *error = file_read(path, &text, 1 << 20);

    hq_error_free(error);
    if (error || !str_begins(str_cstr(&text), "-- "))
        return NULL;
    return xstrndup(text.s + 3, strcspn(text.s + 3, "\n"));
}
