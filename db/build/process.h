/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One measurement file, one process, on its way into the database, in two passes. process_scan notes facts and
 * threads and adds the call paths to a tree. process_fill, when the tree is final, reads the values and traces again.
 * Reading twice keeps the memory of a build independent of the number of processes.
 */
#ifndef HQ_DB_BUILD_PROCESS_H
#define HQ_DB_BUILD_PROCESS_H

#include "common/arena.h"
#include "db/model/batch.h"
#include "db/build/calltree.h"
#include "format/database.h"

struct process_event {
    const char *name, *description;
    uint16_t dimension, flags;
    uint64_t period;
    double scale;
};

struct process_thread {
    uint32_t number, tid, creator; /* creator: number of a thread */
    uint32_t creator_frame;        /* in the tree, TREE_NONE unknown */
    uint64_t start_us, end_us;
};

struct process_region { /* as a thread has opened it by one call path */
    uint32_t frame;     /* of the region, in the tree */
    uint32_t thread;    /* number */
    uint64_t entries, left, elapsed_ns, threads;
    uint32_t largest; /* of its teams, 0: not known */
};

struct process_message { /* as a thread has exchanged them with a rank or group by one call path */
    uint32_t frame;      /* in the tree */
    uint32_t thread;     /* number */
    const char *group;
    struct hqdb_message message; /* the rest of it */
};

struct process_queue { /* of a device */
    const char *device;
    struct hqdb_queue queue; /* the rest of it */
};

struct process_command {
    uint32_t frame;  /* in the tree */
    uint32_t thread; /* number of the thread that gave it, HQDB_NONE unknown */
    uint32_t queue;  /* in process.queues */
    uint64_t items;
    struct hqdb_command command; /* the rest of it */
};

struct process_command_sum { /* of commands that are not there one by one */
    uint32_t frame, queue;   /* as in struct process_command */
    struct hqm_command_sum sum;
};

struct process_host_wait { /* for devices, since the start */
    uint32_t thread;       /* number */
    uint64_t from_ns, to_ns;
};

struct process { /* texts and arrays live in `arena` */
    struct arena arena;
    const char *path;      /* of the file */
    const char *directory; /* of the file */
    struct hqm_header header;
    const char *host, *machine, *command, *executable, *working_directory, *launcher, *collector;
    const char **warnings;
    size_t warning_count;
    struct process_event *events;
    size_t event_count; /* by record number; without a name: not there */
    struct process_thread *threads;
    size_t thread_count; /* by number */
    struct process_region *regions;
    size_t region_count;
    struct process_message *messages;
    size_t message_count;
    struct process_queue *queues; /* each is a thread too, number HQDB_QUEUE + its place here */
    size_t queue_count;
    struct process_command *commands;
    size_t command_count;
    struct process_command_sum *command_sums;
    size_t command_sum_count;
    struct process_host_wait *host_waits;
    size_t host_wait_count;
    bool damaged;     /* parts of the file could not be read */
    uint64_t missing; /* samples that the header counts and the file has not */
};

/*
 * The first pass over the file at `path`: adds its modules and call paths to `tree`, and fills `out`, which is ended
 * with process_deinit, after an error too. Errors: HQ_DATA, the file cannot be read or its values are beyond what can
 * be. What is damaged without being wrong is left out, and `damaged` or `missing` says so.
 */
struct hq_error *process_scan(const char *path, struct calltree *tree, struct process *out);
void process_deinit(struct process *p);

/* The place in p->threads of the thread of this number; TREE_NONE: there is none. */
uint32_t process_thread(const struct process *p, uint32_t number);

/* Is a trace record of this event a mark (HQM_TRACE_MARK), not a sample? */
bool process_is_mark(const struct process *p, uint32_t event);

/* The tree has become part of another one: remap[frame] is what its frames are there. */
void process_move_frames(struct process *p, const uint32_t *remap);

/* The name that the program was started by, without directories: its argv[0], which may be a link's; that of the file
 * if it has none. The caller frees. */
char *process_called(const struct process *p);

/* Where things went: from the tree and the file to the database. */
struct process_places {
    const struct calltree *tree;
    const uint32_t *frames;           /* tree's frame -> canonical frame, HQDB_NONE: none */
    const uint32_t *metrics;          /* event -> metric, HQDB_NONE: none */
    const struct hqdb_metric *metric; /* [metric_count] */
    size_t metric_count;
};

/* The values, trace and marks of every thread, ready for batch_add; ended with process_data_deinit. */
struct process_data {
    struct value_list *values;  /* [thread * metric_count + metric] */
    struct trace_list *traces;  /* [thread] */
    struct mark_list *marks;    /* [thread] */
    struct growth_list *growth; /* [thread] of counted metrics */
    size_t thread_count, metric_count;
};

/* The second pass over p's file (process_fill.c). Errors: HQ_DATA, the file can no longer be read; `out` is ended then,
 * too. */
struct hq_error *process_fill(const struct process *p, const struct process_places *places, struct process_data *out);
void process_data_deinit(struct process_data *d);

#endif
