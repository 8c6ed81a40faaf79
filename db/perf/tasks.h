/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes and their mappings as the records of perf tell them, one record after the other in the order of time, and
 * the call paths of their samples. A process image begins with fork or exec; numbers of processes may be used again.
 */
#ifndef HQ_DB_PERF_TASKS_H
#define HQ_DB_PERF_TASKS_H

#include "common/map.h"
#include "db/perf/event.h"
#include "db/perf/walk.h"

struct perf_module {
    char *path; /* "[kernel]" for that */
    uint8_t build_id[PERF_BUILD_ID], build_id_len;
    bool is_vdso, looked_for;
    struct perf_image *image; /* NULL: not there, or not looked for yet */
};

struct perf_mapping {
    uint64_t start, end, offset;
    uint32_t module;
    bool placed; /* bias is known */
    uint64_t bias;
};

struct perf_process {
    uint32_t pid, serial, parent; /* parent: the pid */
    uint64_t begun, ended;        /* times of its first record and of its end, 0: not ended */
    bool execed;                  /* ended by exec */
    char *name;                   /* what the kernel calls it */
    uint32_t executable;          /* module; UINT32_MAX: not known */
    struct map threads;           /* tid -> number of those that live */
    uint32_t thread_count;
    struct {
        struct perf_mapping *data;
        size_t len, cap;
    } mappings; /* executable ones, by start */
    void *user; /* the caller's */
};

struct perf_thread_of {
    struct perf_process *process;
    uint32_t number;
};

struct perf_tasks {
    char *vdso; /* path of the file with its image, NULL: none */
    struct {
        struct perf_module *data;
        size_t len, cap;
    } modules;                            /* 0 is the kernel */
    struct keymap names;                  /* of modules */
    VEC(struct perf_process *) processes; /* in the order of their beginning */
    struct map current;                   /* pid -> place of the last one in `processes` */
    struct map serials;                   /* pid -> images it has had */
    uint64_t inherited, inherited_max;    /* mappings of forked processes: of all that were, and how many may be */
    bool crowded; /* there were more: what came later is not believed, the file is to be refused */
    uint64_t now;
    /* Called for every thread, at its beginning (`creator`: number of the one that made it, itself if not known) and
     * end; may be NULL. */
    void (*begin)(void *user, struct perf_process *p, uint32_t number, uint32_t tid, uint32_t creator);
    void (*end)(void *user, struct perf_process *p, uint32_t number);
    void *user;
    struct perf_walk walk;
    struct perf_process *walked; /* whose stack */
};

/* A sample's path, innermost first: the kernel's part, then the program's. */
struct perf_path {
    struct perf_thread_of thread;
    VEC(uint64_t) kernel; /* addresses, ready for look-up */
    const struct perf_frame *frames;
    size_t frame_count;
    uint32_t partial; /* enum hqm_partial, 0: whole */
};

/* A sentence without the name of the file, for `crowded`. */
#define PERF_TASKS_CROWDED "its processes inherit more mappings from one another than those of any real run"

void perf_tasks_init(struct perf_tasks *t);
void perf_tasks_deinit(struct perf_tasks *t);

/* A record that is no sample. */
void perf_tasks_note(struct perf_tasks *t, const struct perf_event *e);

/* The process of a number as it is now, made if there is none. */
struct perf_process *perf_tasks_process(struct perf_tasks *t, uint32_t pid);

/* The path of a sample; `registers` is their mask in the kernel's order. Lives until the next one. */
void perf_tasks_unwind(struct perf_tasks *t, const struct perf_event *e, uint64_t registers, struct perf_path *out);

/* Where a mapping that holds the address is; NULL: none. */
struct perf_mapping *perf_tasks_mapping(struct perf_process *p, uint64_t address);

#endif
