/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/unmeasured.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/vec.h"
#include "format/measurement.h"

#include <dirent.h>
#include <string.h>

enum { LARGEST = 16 << 20 };

static void add_line(char *line, struct unmeasured_list *out)
{
    char *tab = strrchr(line, '\t');

    if (!tab)
        return;
    *tab = 0;
    vec_push(out, (struct unmeasured){xasprintf("%s (%s)", line, tab + 1), 1});
}

static struct hq_error *read_file(const char *path, struct unmeasured_list *out)
{
    AUTO_STR struct str text = {0};
    char *rest = NULL;

    HQ_TRY(file_read_regular(path, &text, LARGEST));
    for (char *line = text.len ? strtok_r(text.s, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        add_line(line, out);
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct unmeasured *)a)->text, ((const struct unmeasured *)b)->text);
}

static int by_times(const void *pa, const void *pb)
{
    const struct unmeasured *a = pa, *b = pb;

    return a->times != b->times ? (a->times < b->times ? 1 : -1) : strcmp(a->text, b->text);
}

static void merge(struct unmeasured_list *list)
{
    size_t n = 0;

    vec_sort(list, by_text);
    for (size_t i = 0; i < list->len; i++) {
        if (n && !strcmp(list->data[n - 1].text, list->data[i].text)) {
            list->data[n - 1].times++;
            free(list->data[i].text);
        } else {
            list->data[n++] = list->data[i];
        }
    }
    list->len = n;
    vec_sort(list, by_times);
}

struct hq_error *unmeasured_read(const char *measurements, struct unmeasured_list *out)
{
    size_t ending = strlen(HQM_UNMEASURED);
    struct hq_error *err = NULL, *unread = NULL;
    DIR *dir = file_dir_open(measurements, &err);

    *out = (struct unmeasured_list){0};
    for (const struct dirent *e; dir && !err && (e = file_dir_next(dir, measurements, &err));) {
        size_t length = strlen(e->d_name);
        AUTO_FREE char *path = file_join(measurements, e->d_name);

        if (length <= ending || strcmp(e->d_name + length - ending, HQM_UNMEASURED))
            continue;
        struct hq_error *one = read_file(path, out);

        if (unread) /* the first is told */
            hq_error_free(one);
        else
            unread = one;
    }
    if (dir)
        closedir(dir);
    merge(out);
    if (!err)
        return unread;
    hq_error_free(unread);
    return err;
}

void unmeasured_deinit(struct unmeasured_list *list)
{
    vec_foreach(u, list)
        free(u->text);
    vec_deinit(list);
}
