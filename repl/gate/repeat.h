/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording a program again and again: each run is a `hq record` of its own, so that one is as another. */
#ifndef HQ_REPL_GATE_REPEAT_H
#define HQ_REPL_GATE_REPEAT_H

#include "common/arena.h"
#include "common/err.h"
#include "common/opt.h"
#include "repl/gate/watch.h"

struct repeat_words {
    const char **data;
    size_t len, cap;
};

/* The words of a command as for a shell. One with nothing for a shell in it is run as it is, so that the shell is not
 * measured. */
void repeat_command(const char *text, struct arena *arena, struct repeat_words *out);

/* Collects the options of this command line that every run gets: all but those named in `skip`, which NULL ends. In the
 * arena. */
void repeat_options(const struct opt_args *args, const char *const *skip, struct arena *arena,
                    struct repeat_words *out);

struct repeat_end {
    struct watched watched; /* its status is what `hq record` ended with: the program's, or 128 and its signal */
    bool ran;               /* false: it did not come to the program's end, and the status is that of hq itself */
};

/*
 * Records one run into `path`, which takes `most` seconds at most (0: as long as it takes). With `log` all that the
 * program and hq print goes to that file. A file that is standard input is read from where it stands by every run. An
 * error: hq itself could not be started.
 */
struct hq_error *repeat_record(const struct repeat_words *options, const struct repeat_words *command, const char *path,
                               const char *log, double most, struct repeat_end *out);
/* The last line of such a log, malloc'ed; "" if there is none. */
char *repeat_last_line(const char *log);
/* Whether a process of the run still runs: nobody measures how long it takes from now on. */
bool repeat_leaves_behind(const char *path);

/* Of a race or a set: where standard input can be read once alone, the first run would have what the others miss. The
 * runs get an empty one then, and a note says so. */
struct hq_error *repeat_prepare_input(void);

/* In the `hq record` that repeat_record has started, before the program is: whom to tell. */
void repeat_begin(void);
/* And when the program has ended, by itself or by a signal: what follows is its status. */
void repeat_tell_ran(void);

#endif
