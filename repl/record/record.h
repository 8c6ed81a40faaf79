/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `hq record`: the program to run, the place of the data, the run itself, and the closing line. */
#ifndef HQ_REPL_RECORD_RECORD_H
#define HQ_REPL_RECORD_RECORD_H

#include "common/err.h"
#include "common/opt.h"
#include "common/str.h"
#include "common/vec.h"
#include "format/measurement.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* This hq records and nothing else (record_only.c), or all (dispatch.c). */
extern const bool record_only;

/* ---- target.c: what will be run ---- */

/*
 * Finds the command as execvp does; *path is malloc'ed. NULL path: there is none, and *status is 127 (not found) or 126
 * (not executable). `obstacle` gets a sentence if the loader will not load the collector into it (static, set-user-ID,
 * of another machine or C library): it can be run, but not measured. False: not even with LD_PRELOAD naming the
 * collector, for which such a loader ends the program, or writes a warning.
 */
char *record_find_command(const char *name, int *status);
/* Why it cannot be run, and what may have been meant. `database` is what -o names, or NULL. */
void record_explain_command(const char *name, int status, const char *database, struct str *why);
/* The mistake of errno, after exec has refused it: an interpreter or a loader that is not there has a name. */
struct hq_error *record_cannot_start(const char *path);
enum record_obstacle {
    RECORD_NO_OBSTACLE,
    RECORD_OTHER_LOADER, /* or none */
    RECORD_OTHER_MACHINE,
    RECORD_PRIVILEGED, /* set-user-ID and the like: the kernel takes its clocks away, too */
};
bool record_find_obstacle(const char *path, struct str *obstacle, enum record_obstacle *kind);

/* The collector's library: beside the hq binary, one directory up, or in ../lib/hq, by a path that LD_PRELOAD can name.
 * *path is malloc'ed. */
struct hq_error *record_find_library(char **path);

/* ---- events.c: what is measured ---- */

/* Adds the events of one -e option to the list for the collector: NAME@PERIOD,... */
struct hq_error *record_add_event(const char *text, struct str *list);

/* Timers of CPU time fire at the kernel's tick only: a sentence if the list asks for more, else nothing. */
void record_note_tick(const char *list, struct str *note);

/* Tells which libraries the list of events needs beside libhqpreload.so: libhqexact.so, libhqmpi.so, libhqgpu.so. */
struct record_libraries {
    bool exact, mpi, gpu;
};
struct record_libraries record_libraries(const char *list);

/* A table for people of all events of this machine. */
void record_list_events(struct str *out);

/* counters.c: events of the processor. `why` stays empty if there is the event. */
void record_counter_problem(const char *name, struct str *why);
void record_list_counters(struct str *out);

/* ---- marks.c: procedures whose visits are counted ---- */

/* Finds the places that --mark and --mark-in ask for, in the format of format/patches.h; nothing if they ask for
 * nothing. Names on standard error the procedures that cannot be marked. */
struct hq_error *record_find_marks(const struct opt_args *args, const char *program, struct str *places);

/* ---- place.c: where the data goes ---- */

struct record_place {
    char *database;     /* as the user named it */
    char *measurements; /* absolute */
    char *buffer;       /* absolute; where the data goes first, NULL: at once to its place */
    size_t buffer_made; /* so many directories above it are made for it */
    size_t made;        /* so many of measurements and the directories above it were not there before */
    bool begun;         /* the program has run: what is there stays */
    uint64_t launch;    /* the same in all processes of one launch */
    int rank;           /* -1: `hq record` was not started by a parallel launcher */
    bool once;          /* the rank may record once in its launch, */
    bool claimed;       /* and does now */
    int life;           /* descriptor of the lock that says that the recording is being made; -1 none */
};

/*
 * Makes DB/measurements, or joins it if another rank of this launch has made it. An older database is replaced with
 * `force` only, and never (HQ_USAGE) while a process that writes to it runs on this host.
 */
struct hq_error *record_place_open(const char *database, bool force, struct record_place *place);
/* NULL, or the limit of this process that leaves no room for any measurements. */
const char *record_place_limit(void);
/* Removes an empty buffer, too; and unless the program has begun, what record_place_open has made. */
void record_place_deinit(struct record_place *place);

/* ---- environment.c: what the program is told ---- */

/* --ranks, --delay, --duration, --max-size. */
struct hq_error *record_set_limits(const struct opt_args *args);
/* The places of record_find_marks go to the collector by a file in `directory` (absolute) and HQ_MARKS. */
struct hq_error *record_set_marks(const struct str *places, const char *directory);
/* LD_PRELOAD, and what else brings the libraries in that the events need. library: of record_find_library. */
void record_set_preload(const char *library, const char *events);
/* This host's processors and kernel: "AMD EPYC 7763, 2 processors, Linux 6.1.0". Added to `out`. */
void record_machine(struct str *out);
/* Where the data goes, and what is measured. */
void record_set_environment(const struct record_place *place, const char *events, const struct opt_args *args);

/* ---- probe.c ---- */

/*
 * Can measurement files live in this directory: be created, allocated, and mapped so that what is stored is in the
 * file? False too for what only looks as if it could. A full disk is no reason for `record_probe_refuses`, which asks
 * about the kind of file system.
 */
bool record_probe_works(const char *directory);
bool record_probe_refuses(const char *directory);

/* ---- buffer.c ---- */

/* Makes a directory of its own in `directory` for the data of this command, and marks it in the recording
 * (db/elsewhere.h). */
struct hq_error *record_buffer_open(struct record_place *place, const char *directory);

/*
 * If the recording lies where files cannot be mapped: the same in the first of TMPDIR, /tmp and /dev/shm where they
 * can. `note` gets a sentence that says so, if it is for this command to speak.
 */
struct hq_error *record_buffer_choose(struct record_place *place, struct str *note);

/* Moves the data into the recording. `left` counts the files of processes that still run, which stay where they are. */
struct hq_error *record_buffer_collect(const struct record_place *place, unsigned *left);

/* Removes the directories that record_buffer_open made, those that are empty, and the mark. */
void record_buffer_remove(const struct record_place *place);

/* ---- run.c ---- */

/*
 * Runs the program and waits for it; signals sent to this process go on to it. `status` is as of waitpid. An error
 * means that it could not be started. `start` may be NULL.
 */
struct record_start { /* called before the program is executed, with its process; an error means that it is not */
    struct hq_error *(*begin)(void *arg, pid_t pid);
    void *arg;
};
struct hq_error *record_run(const char *path, char *const *arguments, const struct record_start *start, int *status,
                            pid_t *pid);

/* Seconds of CPU time that the program and all its children took which have been waited for. */
double record_cpu_time(void);

/* Writing beyond the file-size limit fails from now on instead of ending this process; the program that record_run
 * starts is as it would be. */
void record_survive_size_limit(void);

/* Runs the program in the place of this process; comes back only with the error if that fails. */
struct hq_error *record_become(const char *path, char *const *arguments);

/* Ends this process as the program ended: returns its exit status, or dies of the same signal. */
int record_end_like(int status);

/* ---- sum.c ---- */

enum { RECORD_EVENTS = 16 };

/* Sums over the measurement files of this launch (of this rank if there is one). */
/* A sentence that processes have left for the end (HQM_TOLD), and how many. */
struct record_told {
    char *text;
    uint64_t processes;
};

struct record_sum {
    uint64_t files, samples, partial, counted /* by exact events */, threads, lost, lost_space;
    uint64_t execed, executed; /* files of images that called exec, and of images that exec has made */
    uint64_t commands, unended_commands, failed_commands; /* of devices */
    uint64_t queues;                                      /* of OpenCL, which was loaded: */
    bool opencl;
    unsigned unmeasured_devices;       /* record_device_runtimes that were loaded: a bit for each */
    uint64_t event_sum[RECORD_EVENTS]; /* of each event, in base units */
    uint64_t loading_ns,
        measured_ns; /* CPU time of processes before and after measuring began in them, as far as it is known */
    uint64_t unended_sum[RECORD_EVENTS]; /* the part of event_sum that is of processes of which it is not known */
    unsigned running;                    /* processes that still run */
    uint64_t clock[HQM_CLOCKS];          /* files by what sampled CPUTIME, and how many threads of them had a timer */
    uint64_t timer_threads;              /* though there was another clock */
    uint64_t slowed_threads;             /* that were sampled less often than asked for */
    int clock_error;                     /* why a file has no better one: the first errno value */
    VEC(struct record_told) told;
};
void record_sum_deinit(struct record_sum *sum);

/*
 * Adds up, notes that process `pid` has ended, by a signal unless that is 0, and what CPU time it had, and gives unused
 * space at the end of finished files back.
 */
struct hq_error *record_sum(const struct record_place *place, pid_t pid, int signal, struct record_sum *sum);

/* The interfaces to devices other than OpenCL, which hq does not measure (names of runtimes.def); NULL ends them. */
extern const char *const record_device_runtimes[];

/* ---- devices.c ---- */

/* The devices of OpenCL that are here, for --list. Their drivers are loaded in a process of their own. */
void record_list_devices(struct str *out);

/* ---- close.c ---- */

/*
 * Brings the data home and says what there is, what is missing, and why. Under a launcher only rank 0 speaks, of its
 * own part. `status` is of waitpid; `all`: every process was to be measured from its start to its end; `window`: why no
 * sample may have come where measuring was off for a time, or NULL. False: nothing was measured.
 */
bool record_close(const struct record_place *place, const char *events, pid_t pid, int status, bool all,
                  const char *window);

#endif
