/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file: what the collector (preload/) writes and db/ reads.
 *
 * One file per process image (a new one after exec), DB/measurements/HOST-PID-SERIAL.hqm.
 * It is a mapped file that is valid after every single store: a record is written first,
 * then the count that publishes it. A killed process leaves a file that reads as far as it got.
 *
 * Rules for readers
 *  1. All numbers are little endian. Check magic and version; a larger minor version is readable.
 *  2. Segments follow the file header, each `bytes` long. Where the magic is wrong there is space that was
 *     allocated but not (or not yet) opened, all zeros: go on at the next multiple of HQM_ALIGN, up to the
 *     end of the file. A file that is empty or begins with zeros is of a process that was killed before it had begun.
 *  3. Skip segments of an unknown kind. Believe `count` only up to `capacity`, `record_size` only if it
 *     is at least the size known here (later versions may append fields), `bytes` only inside the file.
 *  4. Records of one (kind, lane) are numbered through all its segments: segment.first + position.
 *     Segments of a kind and lane may be out of order in the file; order them by `first`.
 *  5. A lane is one calling context tree with its values and trace, used by one thread at a time.
 *     When a thread ends its lane may pass to the next thread, which goes on in the same tree.
 *     Cells name their thread; in a trace a record with event HQM_TRACE_THREAD switches to another.
 *     Every lane's trace starts with such a record, and so does each thread that takes the lane over.
 *  6. Parents come before children: a node whose parent is not smaller than itself is damage.
 *  7. In segments of lane 0 a record that is all zeros was claimed but not written when the process died:
 *     skip it. Only threads that were sampled have a record, so thread numbers may have gaps. A string lies
 *     in one segment; offset 0 is the empty string. The same file may be noted as a module twice.
 *  8. Frames of the collector's own library are not in call paths, though it is among the modules.
 */
#ifndef HQ_FORMAT_MEASUREMENT_H
#define HQ_FORMAT_MEASUREMENT_H

#include <assert.h>
#include <stdint.h>

#define HQM_SUFFIX    ".hqm"
#define HQM_DIRECTORY "measurements" /* below the database directory */
#define HQM_UNMEASURED \
    ".unmeasured" /* HOST.unmeasured: lines PATH, tab, reason: programs started there that could not be measured */
#define HQM_NAMES \
    ".map" /* HOST-PID-SERIAL.map: lines START SIZE NAME of code that lies in no module, numbers in hexadecimal; the \
              last line that holds an address names it */
#define HQM_MAGIC "HQMEAS\r\n"
#define HQM_MAJOR 1
#define HQM_MINOR 2
#define HQM_ALIGN 4096u /* header and segments start at multiples of this */

enum hqm_state {
    HQM_RUNNING = 1, /* still so after the process is gone: it was killed */
    HQM_ENDED = 2,   /* ended through exit, _exit, or a signal that was seen */
    HQM_EXECED = 3,  /* replaced itself by another program */
};

/* The clock that samples CPUTIME. Files before minor version 2 do not record it: there it is the timer. */
enum hqm_clock {
    HQM_CLOCK_UNKNOWN,
    HQM_CLOCK_TIMER,     /* POSIX timers, which fire at the kernel's tick */
    HQM_CLOCK_PERF,      /* the kernel's software clock, also in the kernel */
    HQM_CLOCK_PERF_USER, /* the same in user mode; time in the kernel has no place */
    HQM_CLOCKS
};
/*
 * ns, of CPUTIME and REALTIME: no clock has a shorter period. Those of 10 to 20 us can take a virtual processor all its
 * time, so that the program stands still.
 */
#define HQM_SHORTEST_PERIOD 50000

/* Why a sample, or a part of one, is missing. db/build/attribute.h has the names that are shown. */
enum hqm_loss {
    HQM_LOSS_NO_SPACE,  /* no room for another segment: disk full, file-size limit, no memory */
    HQM_LOSS_REENTRY,   /* the signal came while the collector was at work in this thread */
    HQM_LOSS_NO_THREAD, /* the thread was not known to the collector */
    HQM_LOSS_TRACE,     /* sample counted in the profile, trace record lost */
    HQM_LOSS_MODULES,   /* a load module could not be noted */
    HQM_LOSS_BUFFER,    /* the kernel's buffer was full (format/stream.h) */
    HQM_LOSS_COMMANDS,  /* commands of devices that had not ended: those under way as long as the process runs */
    HQM_LOSS_FAILED,    /* commands of devices that failed */
    HQM_LOSS_MAX = 16
};

/* Why the outer end of a call path is missing (offset of a HQM_NODE_PARTIAL node). */
enum hqm_partial {
    HQM_PARTIAL_NO_CFI = 1,   /* code without unwind information and without frame pointer */
    HQM_PARTIAL_BAD_ADDRESS,  /* a return address that lies in no executable code */
    HQM_PARTIAL_STACK_BOUNDS, /* the walk left the known stack */
    HQM_PARTIAL_TOO_DEEP,     /* more frames than the collector keeps */
    HQM_PARTIAL_NO_SPACE,     /* no room for more nodes */
    HQM_PARTIAL_KERNEL,       /* time in the kernel, of which only how much is known: such a node has no children */
    HQM_PARTIAL_COPY,         /* the copy of the stack ended (format/stream.h) */
    HQM_PARTIAL_MAX = 16
};

struct hqm_header {
    char magic[8];
    uint16_t major, minor;
    uint32_t header_bytes; /* where the first segment starts, HQM_ALIGN */
    uint32_t pid, ppid;
    uint32_t serial;            /* counts the images of this pid: exec makes a new one */
    int32_t rank;               /* -1: not started by a parallel launcher */
    uint32_t state;             /* enum hqm_state */
    uint32_t exit_signal;       /* the signal that ended the process, if seen */
    uint64_t start_realtime_ns; /* CLOCK_REALTIME at start: trace times are microseconds since then */
    uint64_t start_monotonic_ns;
    uint64_t end_us;    /* last time noted: at the end, and every now and then before */
    uint64_t launch;    /* identity of the `hq record` launch, the same in all its processes */
    uint64_t allocated; /* bytes of this file in use: the next segment starts here */
    uint64_t samples;   /* samples taken in this process */
    uint64_t partial;   /* of these, with an incomplete call path */
    uint64_t loss[HQM_LOSS_MAX];
    uint64_t partial_by_reason[HQM_PARTIAL_MAX];
    /* Since minor version 1; 0: not known. CPU time of the process as its clock shows it, which exec does not set back.
     */
    uint64_t cpu_image_ns;  /* when this image began: what the one before it, which has a file too, had used when it
                               called exec */
    uint64_t cpu_start_ns;  /* when measuring began: between the two the program was loaded and linked */
    uint64_t cpu_end_ns;    /* when it ended, or called exec */
    uint64_t threads;       /* that have begun to be measured, whether sampled or not */
    uint64_t pid_namespace; /* in which pid is its number: the inode of /proc/self/ns/pid */
    /* Since minor version 2. */
    uint32_t cpu_clock;       /* enum hqm_clock: what samples CPUTIME */
    uint32_t cpu_clock_error; /* why it is not a better one, as an errno value; 0: it was not asked for */
    uint64_t timer_threads;   /* threads that had a timer though cpu_clock is another */
    /* When nothing is measured (hq_stop, --until); of what happens then nothing is in waits under way. */
    uint64_t closed_us;       /* how long that was, all together, */
    uint64_t closed_since_us; /* and from when on it is so; 0: it is not */
    /* Where the size is bounded, the oldest segment of a lane's trace is used again: the first of a lane does not begin
     * with record 0, and each begins with HQM_TRACE_THREAD. Likewise those of HQM_COMMANDS and HQM_HOST. */
    uint64_t trace_dropped; /* records that made room, of all of these */
    uint64_t trace_from_us; /* from here on none is missing */
    /* Threads whose samples the software clock took less often than asked for, since they change often: those weigh
     * more. */
    uint64_t slowed_threads;
    uint64_t weights, weight_squares; /* of all samples of CPUTIME by the software clock, in periods: sums */
    /* How long threads could run and had no processor, as the kernel says, and how long these threads lasted; noted
     * when the process ends. 0, 0: not known. */
    uint64_t delay_ns, delay_of_us;
    /* In the first image of the command that was recorded: CPU time that it and all its children had which were waited
     * for, by the kernel's count; noted by `hq record` when it has ended. 0: not known. */
    uint64_t command_cpu_ns;
};
static_assert(sizeof(struct hqm_header) == 232 + 8 * (HQM_LOSS_MAX + HQM_PARTIAL_MAX), "layout");

/* Threads that were never sampled have no record, and files of minor version 0 do not count them; but every process has
 * one. */
static inline uint64_t hqm_thread_count(const struct hqm_header *header, uint64_t records)
{
    uint64_t least = records ? records : 1;

    return header->threads > least ? header->threads : least;
}

enum hqm_kind {
    HQM_STRINGS = 1, /* bytes: NUL-terminated texts, named by their offset; lane 0 */
    HQM_INFO,        /* struct hqm_info, lane 0 */
    HQM_EVENTS,      /* struct hqm_event, lane 0 */
    HQM_MODULES,     /* struct hqm_module, lane 0 */
    HQM_THREADS,     /* struct hqm_thread, lane 0 */
    HQM_NODES,       /* struct hqm_node */
    HQM_CELLS,       /* struct hqm_cell */
    HQM_TRACE,       /* struct hqm_trace */
    HQM_REGIONS,     /* struct hqm_region; since minor version 2 */
    HQM_MESSAGES,    /* struct hqm_message; since minor version 2 */
    HQM_QUEUES,      /* struct hqm_queue, lane 0; since minor version 2 */
    HQM_COMMANDS,    /* struct hqm_command, lane 0; since minor version 2 */
    HQM_HOST,        /* struct hqm_host, lane 0; since minor version 2 */
    HQM_SUMS,        /* struct hqm_command_sum, lane 0; since minor version 2 */
    HQM_PAIRS,       /* struct hqm_pair, lane 0; since minor version 2 */
    HQM_KINDS
};

#define HQM_SEGMENT_MAGIC 0x4753514du
struct hqm_segment {
    uint32_t magic; /* written last when a segment is opened */
    uint16_t kind;
    uint16_t record_size;
    uint32_t lane;     /* 0: of the process; threads use lanes from 1 */
    uint32_t first;    /* number of the first record */
    uint64_t bytes;    /* length with this header, a multiple of HQM_ALIGN */
    uint32_t capacity; /* records that fit */
    uint32_t count;    /* records that are valid */
    uint64_t reserved[4];
};
static_assert(sizeof(struct hqm_segment) == 64, "layout");

/*
 * Facts about the process, as pairs of texts. Keys: command (arguments, each quoted for a shell where it needs to be),
 * host, directory, executable, started as (the path of a link to it by which it was started), launcher (openmpi, mpich,
 * slurm, ...), collector (its version), warning (may occur several times: what could not be measured and why),
 * HQM_TOLD.
 */
struct hqm_info {
    uint32_t key, value;
}; /* offsets into the strings */
static_assert(sizeof(struct hqm_info) == 8, "layout");

/* A warning that `hq record` tells at the end, once for all processes that have it. */
#define HQM_TOLD "told at the end"

enum hqm_dimension { HQM_DIM_NONE, HQM_DIM_SECONDS, HQM_DIM_EVENTS, HQM_DIM_BYTES };
/* DEVICE: its values are those of the commands of devices (struct hqm_command), no cell has any. */
enum {
    HQM_EVENT_SAMPLED = 1,
    HQM_EVENT_EXACT = 2,
    HQM_EVENT_TRACED = 4,
    HQM_EVENT_ELAPSED = 8,
    HQM_EVENT_DEVICE = 16,
    HQM_EVENT_COUNTED = 32 /* what each thread has had so far is in its trace (HQM_MARK_COUNT) */
};
struct hqm_event {
    uint32_t name; /* as the user gave it, without the rate: CPUTIME, PAPI_TOT_CYC */
    uint32_t description;
    uint16_t dimension; /* enum hqm_dimension */
    uint16_t flags;
    uint32_t reserved;
    uint64_t period; /* of one sample, in base units; 0 for exact events */
    double scale;    /* one base unit in seconds, events or bytes: 1e-9 for nanoseconds */
    uint64_t reserved2;
};
static_assert(sizeof(struct hqm_event) == 40, "layout");

/* The image of the vDSO, which is no file, is kept beside the measurements as vdso-BUILDID.so; its path is "[vdso]". */
enum { HQM_MODULE_MAIN = 1, HQM_MODULE_VDSO = 2, HQM_MODULE_COLLECTOR = 4, HQM_MODULE_KERNEL = 8 };
struct hqm_module { /* record number + 1 is the module's number in nodes; 0 is "in no module" */
    uint32_t path;  /* offset into the strings */
    uint32_t flags;
    uint64_t base;               /* load address minus link address: node offset = address - base */
    uint64_t start, end;         /* mapped range */
    uint64_t load_us, unload_us; /* unload 0: never */
    uint8_t build_id_len;        /* 0: none */
    uint8_t build_id[31];
    uint64_t file_size, file_mtime_ns; /* of the file when it was loaded, 0 unknown */
};
static_assert(sizeof(struct hqm_module) == 96, "layout");

struct hqm_thread {
    uint32_t number; /* counts the threads of the process from 0, the initial thread */
    uint32_t tid;
    uint32_t lane;
    uint32_t creator;      /* number of the thread that created it, itself for the initial one */
    uint32_t creator_lane; /* the call path that created it: a node of that lane; 0, 0 unknown */
    uint32_t creator_node;
    uint64_t start_us;
    uint64_t end_us;  /* 0: was alive at the end */
    uint64_t samples; /* written when the thread ends; until then its cells tell */
    /* Since minor version 2: a wait that is under way. */
    uint32_t wait_node;  /* of the thread's lane: where it waits */
    uint32_t wait_event; /* record number of the event + 1; 0: it does not wait, or its samples come in time */
    uint64_t wait_us;    /* counted up to here, in microseconds since the start in which the window was open */
};
static_assert(sizeof(struct hqm_thread) == 64, "layout");

/*
 * A node of a lane's calling context tree. Node 0 of every lane is its root.
 * HQM_NODE_FRAME: offset is ready for look-up: the sampled pc of a leaf, or for a call site an address
 * inside the call instruction (return address - 1), minus the module's base.
 * HQM_NODE_PARTIAL: child of the root, or of a HQM_NODE_PHASE; the frames below it were found, those above were not;
 * offset is the reason (enum hqm_partial). One of HQM_PARTIAL_KERNEL may be a child of a HQM_NODE_INSIDE below these.
 *
 * Since minor version 2, of parallel regions (OpenMP), which are named by where they were opened: lane << 32 | node.
 * HQM_NODE_REGION: child of the call that opens a region, in the tree of the thread that does; offset tells several
 * apart and has no other meaning; nothing lies in it. Its record in HQM_REGIONS says more.
 * HQM_NODE_INSIDE: what is below ran in the region that `offset` names, in whichever thread: the call path goes on
 * above at the parent of that region's node. The frames above it in its own tree are those of the runtime and, in the
 * thread that opened the region, the same call path again.
 * HQM_NODE_WAIT: likewise, but the thread had done its share of the region and waited for the others at its end. In
 * threads of the runtime it is a child of the root.
 *
 * Likewise of phases (hq.h). A HQM_NODE_REGION below the call that began one names it; its record has the runtime
 * HQM_RUNTIME_PHASE. HQM_NODE_PHASE: child of the root; what is below it ran while the thread was in the phase that
 * `offset` names (lane << 32 | node), the innermost one; those around it follow from where it was begun. The paths
 * below are whole, from the outermost frame on.
 *
 * Of devices. HQM_NODE_DEVICE: child of the function that was called to give a device a command; offset is program <<
 * 32 | the command's name in the strings ("[kernel axpy]"). program: the name of the kernel's program in the strings, 0
 * not known: that of a file beside the measurement file with its source, if there is one, and behind a space what else
 * tells it from others, as options of its compiler do. No cell has values there: see HQM_COMMANDS.
 */
enum hqm_node_kind {
    HQM_NODE_ROOT,
    HQM_NODE_FRAME,
    HQM_NODE_PARTIAL,
    HQM_NODE_REGION,
    HQM_NODE_INSIDE,
    HQM_NODE_WAIT,
    HQM_NODE_PHASE,
    HQM_NODE_DEVICE
};
#define HQM_MODULE_BITS 24
struct hqm_node {
    uint32_t parent;
    uint32_t kind_module; /* enum hqm_node_kind << HQM_MODULE_BITS | module */
    uint64_t offset;
};
static_assert(sizeof(struct hqm_node) == 16, "layout");

struct hqm_cell { /* one metric of one node in one thread; grows in place */
    uint32_t node;
    uint32_t thread; /* hqm_thread.number */
    uint32_t event;  /* record number in HQM_EVENTS */
    uint32_t reserved;
    uint64_t sum;   /* base units: weight times period, or the exact amount */
    uint64_t count; /* samples (signals), or calls for an exact event */
};
static_assert(sizeof(struct hqm_cell) == 32, "layout");

/*
 * A parallel region as one thread has opened it from one call path, or a phase; counted exactly, grows in place. Of a
 * phase `body` is its name in the strings, and nothing else about procedures is known. HQM_RUNTIME_TASK: it is neither,
 * but a place where tasks are created; what is inside of it goes on above at the call that creates them, and nothing is
 * counted. HQM_RUNTIME_PROCEDURE: a marked procedure (`hq record --mark`), whose first instruction the parent of its
 * node is; nothing lies in it. HQM_RUNTIME_LEAGUE is added to the first two where the region is a league: its threads
 * are the first ones of its teams.
 */
enum hqm_runtime {
    HQM_RUNTIME_GOMP = 1,
    HQM_RUNTIME_OMPT = 2,
    HQM_RUNTIME_PHASE = 3,
    HQM_RUNTIME_TASK = 4,
    HQM_RUNTIME_PROCEDURE = 5,
    HQM_RUNTIME_LEAGUE = 16
};
/* Returns how it was seen, of a league as of other regions. */
static inline uint32_t hqm_seen_by(uint32_t runtime)
{
    return runtime & ~(uint32_t)HQM_RUNTIME_LEAGUE;
}
struct hqm_region {
    uint32_t node;          /* of kind HQM_NODE_REGION in this lane */
    uint32_t thread;        /* hqm_thread.number of the thread that opened it */
    uint32_t runtime;       /* enum hqm_runtime: how it was seen */
    uint32_t body_module;   /* of the procedure that the threads run, 0: not known */
    uint64_t body;          /* its address, less the module's base; of a phase: its name */
    uint64_t entries;       /* times that it was opened */
    uint64_t left;          /* times that it was left again: elapsed_ns is of these */
    uint64_t elapsed_ns;    /* from before the runtime is called to after it has returned */
    uint64_t callee;        /* what the call that the region's node hangs below calls, likewise: the runtime, or a
                               procedure that has left for it by a jump and is not on the stack */
    uint32_t callee_module; /* 0: not known */
    uint32_t largest;       /* team of an entry, by the runtime's count; 0: not known */
    uint64_t threads;       /* of the teams of all entries, added up */
};
static_assert(sizeof(struct hqm_region) == 72, "layout");

/*
 * Messages (MPI) between one call path of a thread and one rank, or each of a group of ranks other than its own;
 * counted exactly, grows in place. Ranks are those of MPI_COMM_WORLD. What was received is known only of some calls.
 */
struct hqm_message {
    uint32_t node;
    uint32_t thread;       /* hqm_thread.number */
    int32_t peer;          /* the rank, -1 not known; with a group: 0 */
    uint32_t group;        /* string: ranks, ascending, as "0-3,7"; 0: there is just one */
    uint64_t count, bytes; /* sent: to each of the group */
    uint64_t time_ns;      /* in the calls that sent them: to all of the group together */
    uint64_t received, received_bytes;
};
static_assert(sizeof(struct hqm_message) == 56, "layout");

/* A queue of commands of a device (OpenCL: command queue), numbered by its record. */
struct hqm_queue {
    uint32_t device;  /* string: the device's name */
    uint32_t unit;    /* HQM_UNIT: which of the platform's devices it is, both from 0 */
    uint32_t context; /* what the program made it in: contexts of one process are numbered from 1 */
    uint32_t flags;   /* HQM_QUEUE_* */
    uint64_t start_us;
    uint64_t reserved;
};
static_assert(sizeof(struct hqm_queue) == 32, "layout");
#define HQM_UNIT(platform, device) ((uint32_t)(platform) << 16 | (uint32_t)(device))
enum { HQM_QUEUE_UNTIMED = 1 /* the device tells no times */, HQM_QUEUE_UNORDERED = 2 /* commands may overlap */ };

/* The kinds of commands that sums tell apart. */
enum hqm_command_kind { HQM_COMMAND_KERNEL = 1, HQM_COMMAND_COPY, HQM_COMMAND_OTHER };
enum {
    HQM_COMMAND_UNTIMED = 1, /* its times are not known */
    HQM_COMMAND_USER = 2,    /* it had to wait for an event that the program itself sets (OpenCL: user event) */
    HQM_COMMAND_MORE = 4,    /* it had to wait for more commands than `after` names */
    HQM_COMMAND_ALL = 8,     /* it had to wait for all that was given to its queue before it */
    HQM_COMMAND_FENCE = 16,  /* all that is given to its queue after it has to wait for it */
    HQM_COMMAND_AFTER = 4
};

/*
 * A command that a device has completed, one record each, in the order in which that was seen. Times of the device are
 * those of its own clock, of which it is known that `queued` lies between `called` and `returned` and `end` before
 * `seen`, which are CLOCK_MONOTONIC.
 */
struct hqm_command {
    uint32_t lane, node; /* of kind HQM_NODE_DEVICE: where it was enqueued */
    uint32_t thread;     /* hqm_thread.number: by whom */
    uint32_t queue;      /* record number in HQM_QUEUES + 1 */
    uint16_t kind, flags;
    uint32_t number;                                 /* of the commands of the process, from 1, as they were enqueued */
    uint64_t queued_ns, submit_ns, start_ns, end_ns; /* of the device's clock */
    uint64_t called_ns, returned_ns, seen_ns;        /* of the host's */
    uint64_t bytes, items;                           /* that it moves; work-items of a kernel */
    uint32_t after[HQM_COMMAND_AFTER]; /* numbers of commands, under way then, for whose ends it had to wait, and of
                                          events that the program sets; 0: none */
};
static_assert(sizeof(struct hqm_command) == 112, "layout");

/*
 * Where the size is bounded: what all the commands were that made room for later ones, of one place, thread, queue and
 * kind, as in struct hqm_command; grows in place. So a command is in HQM_COMMANDS or here.
 */
struct hqm_command_sum {
    uint32_t lane, node, thread, queue;
    uint16_t kind, reserved;
    uint32_t reserved2;
    uint64_t commands;
    uint64_t timed, moving, working; /* of these, with a time, bytes, items that are not 0 */
    uint64_t time_ns, bytes, items;
};
static_assert(sizeof(struct hqm_command_sum) == 80, "layout");

/* When a thread waited for devices; or, with a number, when it set the event of the program's own that
 * hqm_command.after knows by that. CLOCK_MONOTONIC. */
struct hqm_host {
    uint32_t thread, number;
    uint64_t from_ns, to_ns;
};
static_assert(sizeof(struct hqm_host) == 24, "layout");

/* The clock of a queue's device was read between two instants of the host's (CLOCK_MONOTONIC). */
struct hqm_pair {
    uint32_t queue; /* record number in HQM_QUEUES + 1 */
    uint32_t reserved;
    uint64_t before_ns, after_ns, device_ns;
};
static_assert(sizeof(struct hqm_pair) == 32, "layout");

/* A sample in time. Weight is in periods (1 + timer overruns); more than 4095 makes further records. */
#define HQM_WEIGHT_MAX   4095u
#define HQM_TRACE_THREAD 15u /* event number of a record that switches to the thread in `node` */
/* Event number of a mark, since minor version 2, in files of at most so many events: the thread has entered (weight
 * HQM_MARK_ENTER) or left the region or phase whose HQM_NODE_REGION is `node`. One that was entered before measuring
 * began, or by a damaged stack, may be left without having been entered. A weight of HQM_MARK_COUNT + event is no mark:
 * `node` is what the thread has had of that event, in base units, since the record like it before, or since it began.
 * One for each counted event that has grown stands behind each mark, and behind each sample of a clock. */
#define HQM_TRACE_MARK   14u
enum { HQM_MARK_ENTER = 1, HQM_MARK_LEAVE = 2, HQM_MARK_COUNT = 16 };
struct hqm_trace {
    uint32_t node;
    uint32_t time_low;     /* microseconds since start_realtime_ns, bits 0-31 */
    uint16_t time_high;    /* bits 32-47 */
    uint16_t weight_event; /* weight << 4 | event */
};
static_assert(sizeof(struct hqm_trace) == 12, "layout");

#endif
