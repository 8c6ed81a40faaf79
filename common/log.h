/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the command's warnings, notes and hints to standard error, one line a message: `hq: warning: ...`. Give the
 * sentence without prefix and newline. A message is written in one piece, so lines of several threads do not mix. The
 * level holds for the whole process and is set once at start.
 */
#ifndef HQ_COMMON_LOG_H
#define HQ_COMMON_LOG_H

enum log_level {
    LEVEL_QUIET,   /* warnings only */
    LEVEL_NORMAL,  /* and notes and hints */
    LEVEL_VERBOSE, /* and what is being done */
};

/* LEVEL_NORMAL until it is set. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* A warning is always written, a note and a hint from LEVEL_NORMAL on, log_verbose at LEVEL_VERBOSE alone. */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
