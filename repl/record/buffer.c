/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurement files grow in a directory of this node, and are moved into the recording when their process has ended. */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/mem.h"
#include "db/elsewhere.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hq_error *record_buffer_open(struct record_place *place, const char *directory)
{
    place->buffer_made = file_count_missing(directory);
    /* Another rank that has ended may remove the directory between the two steps. */
    for (int i = 0; i < 10 && !place->buffer; i++) {
        AUTO_FREE char *pattern = file_join(directory, ELSEWHERE_DIRECTORY "XXXXXX");

        HQ_TRY(file_make_dirs(directory));
        if (mkdtemp(pattern))
            place->buffer = realpath(pattern, NULL);
        else if (errno != ENOENT)
            break;
    }
    if (!place->buffer) {
        struct hq_error *error = hq_error_errno(HQ_DATA, "--buffer %s", directory);
        file_remove_empty(directory, place->buffer_made);
        return error;
    }
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
    if (!place->buffer || rmdir(place->buffer) != 0)
        return;
    elsewhere_unmark(place->measurements, place->buffer);
    AUTO_FREE char *above = file_dirname(place->buffer);
    file_remove_empty(above, place->buffer_made);
}

struct hq_error *record_buffer_collect(const struct record_place *place, unsigned *left)
{
    *left = 0;
    return place->buffer ? elsewhere_move(place->buffer, place->measurements, left) : NULL;
}
