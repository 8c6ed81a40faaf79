/* SPDX-License-Identifier: BSD-3-Clause */
/* A process as a whole, as /proc tells it. */
#ifndef HQ_COMMON_PROCESS_H
#define HQ_COMMON_PROCESS_H

#include "common/str.h"
#include <sys/types.h>

/* By their numbers in proc(5), "/proc/[pid]/stat". */
enum process_field { PROCESS_STATE = 3, PROCESS_PARENT = 4, PROCESS_START = 22 };

/*
 * A field and all behind it, in `text`, which the caller frees; NULL: there is no such process, or none may be seen.
 * Fields stand behind the name of the program, in brackets, which may hold any character, brackets too.
 */
const char *process_field(pid_t pid, enum process_field field, struct str *text);
/* A field as a number, 0: it is not known. */
unsigned long long process_number(pid_t pid, enum process_field field);

#endif
