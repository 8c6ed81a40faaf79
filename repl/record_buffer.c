/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurement files grow in a directory of this node, and are moved into the recording when their process has ended. */
#include "repl/record.h"

#include "common/file.h"
#include "common/mem.h"
#include "db/elsewhere.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The innermost directory on the way to `directory` that is there already; absolute. */
static char *find_existing(const char *directory)
{
    AUTO_FREE char *path = xstrdup(directory);

    while (!file_exists(path) && strcmp(path, ".")) {
        char *above = file_dirname(path);

        free(path);
        path = above;
    }
    return realpath(path, NULL);
}

struct hq_error *record_buffer_open(struct record_place *place, const char *directory)
{
    place->buffer_above = find_existing(directory);
    /* Another rank that has ended may remove the directory between the two steps. */
    for (int i = 0; i < 10 && !place->buffer; i++) {
        AUTO_FREE char *pattern = file_join(directory, ELSEWHERE_DIRECTORY "XXXXXX");

        HQ_TRY(file_make_dirs(directory));
        if (mkdtemp(pattern))
            place->buffer = realpath(pattern, NULL);
        else if (errno != ENOENT)
            break;
    }
    if (!place->buffer)
        return hq_error_errno(HQ_DATA, "--buffer %s", directory);
    return elsewhere_mark(place->measurements, place->buffer);
}

struct hq_error *record_buffer_choose(struct record_place *place, struct str *note)
{
    const char *temporary = getenv("TMPDIR"),
               *places[] = {temporary && *temporary ? temporary : "/tmp", "/tmp", "/dev/shm"};

    if (!record_probe_refuses(place->measurements))
        return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!record_probe_works(places[i]))
            continue;
        HQ_TRY(record_buffer_open(place, places[i]));
        if (place->rank <= 0)
            str_addf(
                note,
                "files in %s cannot be mapped, so the data is written to %s and moved there when the program has ended",
                place->database, place->buffer);
        return NULL;
    }
    return hq_error_new(HQ_DATA,
                        "files in %s cannot be mapped, and none of TMPDIR, /tmp and /dev/shm can be used instead; name "
                        "a local directory with "
                        "--buffer",
                        place->database);
}

void record_buffer_remove(const struct record_place *place)
{
    AUTO_FREE char *path = place->buffer ? xstrdup(place->buffer) : NULL;
    size_t kept = place->buffer_above ? strlen(place->buffer_above) : 0;

    while (path && rmdir(path) == 0) {
        char *above = file_dirname(path);

        if (!strcmp(path, place->buffer))
            elsewhere_unmark(place->measurements, path);
        free(path);
        path = above;
        if (!kept || strlen(path) <= kept || strncmp(path, place->buffer_above, kept))
            return;
    }
}

struct hq_error *record_buffer_collect(const struct record_place *place, unsigned *left)
{
    *left = 0;
    return place->buffer ? elsewhere_move(place->buffer, place->measurements, left) : NULL;
}
