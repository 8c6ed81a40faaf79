/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Temporary files of writers (common/file.h): none of them is to outlive its process. Those under way are removed where
 * a process ends itself in the middle and where a signal ends it; what one that was killed has left is removed by the
 * next writer of the same file.
 */
#ifndef HQ_COMMON_TEMPORARY_H
#define HQ_COMMON_TEMPORARY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Stands behind the name of the file in that of its temporary file; then come the process, a number and the host. */
#define FILE_TEMPORARY ".tmp."

struct temporary; /* the name of one that is being written */

/* Makes the file TARGET.tmp.PID.NUMBER.HOST for reading and writing. Returns its descriptor, -1 with errno. */
int temporary_open(const char *target, struct temporary **out);
/* As rename(2), removes it otherwise; NULL is allowed. Both forget it. */
int temporary_rename(struct temporary *t, const char *target);
void temporary_remove(struct temporary *t);

/* Removes all that this process writes. Safe in signal handlers; what it writes after this it cannot commit. */
void temporary_remove_all(void);
/* Hang-ups, interrupts, requests to end and limits of CPU time do so first, unless they are ignored or handled. */
void temporary_catch_signals(void);

/*
 * Whether `rest` is the end "PID.NUMBER.HOST" of a temporary file's name whose writer is gone: a process of this host
 * that is not there, or one that has not written for a day.
 */
bool temporary_is_left(const char *rest, const struct stat *st);
/* Removes such of the file `target`; and of all files of a directory whose names end in `suffix`. */
void temporary_remove_left(const char *target);
void temporary_remove_left_in(const char *directory, const char *suffix);

#endif
