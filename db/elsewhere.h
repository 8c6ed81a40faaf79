/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements that do not lie in their recording yet. Where files cannot be mapped, and with `hq record --buffer`,
 * processes write to a directory of their node first. A small file DB/measurements/elsewhere-HOST-NAME says where that
 * is, so that nothing is lost if `hq record` is killed: the next use of the recording on that host fetches what is
 * there.
 *
 * A mark is written by anybody who can write to the recording. So only files of measurements are ever taken, and only
 * from a directory that belongs to the user and is named as `hq record` names them.
 */
#ifndef HQ_DB_ELSEWHERE_H
#define HQ_DB_ELSEWHERE_H

#include "common/err.h"

#define ELSEWHERE_PREFIX    "elsewhere-"
#define ELSEWHERE_DIRECTORY "hq-record-" /* how the names of such directories begin */

/* Marks that `directory` of this host, an absolute path, holds measurements of the recording. */
struct hq_error *elsewhere_mark(const char *measurements, const char *directory);

/* Removes the mark, once the directory is gone. */
void elsewhere_unmark(const char *measurements, const char *directory);

/* Moves the measurements of processes that have ended. `left` counts the files of those that still run. */
struct hq_error *elsewhere_move(const char *directory, const char *measurements, unsigned *left);

/*
 * Before a recording is read: fetches all that its marks name on this host, and warns of what has to stay where it is.
 * `input` is a database directory, a directory of measurements, or anything else (then nothing happens).
 */
void elsewhere_fetch(const char *input);

/* Before a recording is replaced: HQ_USAGE if data elsewhere may still grow; `database` is its name for the sentence.
 */
struct hq_error *elsewhere_check(const char *measurements, const char *database);

/* Removes the measurements elsewhere on this host, and their marks. A mark that stayed would bring them into what is
 * recorded next. */
struct hq_error *elsewhere_discard(const char *measurements);

#endif
