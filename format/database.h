/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The database file, DB/hq.db: one file of tagged sections, mapped and used in place. doc/format-database.md
 * is the manual, with an example byte by byte.
 *
 * Rules for readers
 *  1. All numbers are little endian; every section starts at a multiple of 16. Check magic, major version,
 *     the checksum of the section table, and that each section lies in the file.
 *  2. Skip sections of an unknown tag. A section's record_size may be larger than the size known here
 *     (later minor versions append fields): step by record_size. Where it is smaller, refuse.
 *  3. A reader never believes an index, offset or count that it has not checked.
 *  4. Section checksums are checked by `hq verify`, not on opening: opening costs the same for any size.
 *     The checksum of n bytes is h = hash_u64(n), then h = hash_combine(h, hash_bytes(piece, 0)) for
 *     each piece of HQDB_PIECE bytes (the last one may be shorter).
 *  5. A coded number is unsigned LEB128; a signed one is zigzag coded first ((x << 1) ^ (x >> 63)).
 *
 * The calling context tree is kept at two levels. *Frames* are the call paths as addresses: a frame is an
 * address (code) reached through a parent frame (its call site). *Contexts* are the tree that people see, fused with
 * static structure, in preorder, so that the subtree of context c is the range c .. end-1.
 * Every frame falls into one context: the LINE context of its code, or the THREAD or PARTIAL context. Frames are
 * ordered by that context, so the frames below any context are a range too:
 * first_frame(c) .. first_frame(end(c)) - 1 (the last context's range ends with the table). Values belong to frames
 * and are kept as prefix sums, so an inclusive value is one subtraction.
 */
#ifndef HQ_FORMAT_DATABASE_H
#define HQ_FORMAT_DATABASE_H

#include <assert.h>
#include <stdint.h>

#define HQDB_FILE  "hq.db"
#define HQDB_MAGIC "HQDATA\r\n"
#define HQDB_MAJOR 1
#define HQDB_MINOR 1
#define HQDB_NONE  UINT32_MAX
#define HQDB_GENERATED \
    "[generated code]" /* load module of code that lies in no file; its procedures without a name are called so too */
#define HQDB_OWN_WORK "[hq: measuring]" /* scope of what measuring itself took */
#define HQDB_PIECE    65536u            /* bytes that one step of a section checksum covers */

struct hqdb_header {
    char magic[8];
    uint16_t major, minor;
    uint32_t section_count;
    uint64_t section_table; /* offset in the file */
    uint64_t file_size;
    uint64_t table_checksum; /* hash_bytes of the section table */
    uint64_t sources_key;    /* hash of the measurements it was built from: differs -> rebuild */
    uint64_t files_key; /* hash of the names, sizes and times of measurements that are complete; 0: there are others */
    uint64_t reserved;
};
static_assert(sizeof(struct hqdb_header) == 64, "layout");

struct hqdb_section {
    uint32_t tag;   /* enum hqdb_tag */
    uint32_t index; /* which one of several: the metric's number, or 0 */
    uint32_t record_size;
    uint32_t reserved;
    uint64_t offset, bytes; /* in the file */
    uint64_t count;         /* records */
    uint64_t checksum;      /* rule 4 */
};
static_assert(sizeof(struct hqdb_section) == 48, "layout");

enum hqdb_tag {
    HQDB_STRINGS = 1, /* NUL-terminated bytes; a string is named by its offset, 0 is "" */
    HQDB_INFO,        /* struct hqdb_info: facts about the run, in order of display */
    HQDB_METRICS,     /* struct hqdb_metric */
    HQDB_MODULES,     /* struct hqdb_module, by path and build-id */
    HQDB_SCOPES,      /* struct hqdb_scope, parents first; scope 0 is the root */
    HQDB_ALIASES,     /* uint32_t string: further names of procedures */
    HQDB_CODES,       /* struct hqdb_code, by module and offset */
    HQDB_FRAMES,      /* struct hqdb_frame */
    HQDB_CONTEXTS,    /* struct hqdb_context; context 0 is the root of all */
    HQDB_PROFILES,    /* struct hqdb_profile, by host, rank, pid, serial, thread */
    HQDB_SUMS,        /* index = metric: int64_t[frames + 1], prefix sums over all profiles, base units */
    HQDB_COUNTS,      /* index = metric: int64_t[frames + 1], prefix sums of sample counts */
    HQDB_VALUE_INDEX, /* struct hqdb_value_index[profiles * metrics + 1], profile-major: where (profile, metric) starts
                         in HQDB_VALUES */
    HQDB_VALUES,      /* coded bytes: the values of each (profile, metric), ordered by frame */
    HQDB_SCOPE_INDEX, /* uint64_t[scopes + 1]: start in HQDB_SCOPE_CONTEXTS */
    HQDB_SCOPE_CONTEXTS,    /* uint32_t contexts of each scope, ascending */
    HQDB_LOSSES,            /* struct hqdb_loss */
    HQDB_TRACE_INDEX,       /* struct hqdb_trace_block, by profile, then time */
    HQDB_TRACE,             /* coded bytes: trace blocks */
    HQDB_SOURCES,           /* struct hqdb_source: optional source files */
    HQDB_STATISTICS,        /* index = metric: struct hqdb_statistics[contexts], inclusive values over profiles */
    HQDB_SCOPE_STATISTICS,  /* index = metric: struct hqdb_statistics[scopes], of the exposed instances of a scope */
    HQDB_FRAME_VALUE_INDEX, /* index = metric: uint64_t[frames + 1]: where a frame starts in HQDB_FRAME_VALUES */
    HQDB_FRAME_VALUES,      /* index = metric: coded bytes: the values of each frame, ordered by profile */
    HQDB_SOURCE_TEXT,       /* bytes of the source files */
    HQDB_NAMES,             /* index = enum hqdb_names: struct hqdb_name, each name once, the costliest first */
    HQDB_KNOWN,             /* struct hqdb_known, by module; from minor version 1 on */
    HQDB_KNOWN_TEXT,        /* bytes: the names */
    HQDB_REGIONS,           /* struct hqdb_region, by profile and frame; from minor version 1 on */
    HQDB_MARK_INDEX,        /* struct hqdb_coded_index, by profile; from minor version 1 on */
    HQDB_MARKS,             /* coded bytes: when regions and phases were entered and left */
    HQDB_MESSAGES,          /* struct hqdb_message, by profile, frame, group and peer; from minor version 1 on */
    HQDB_QUEUES,            /* struct hqdb_queue, by profile; from minor version 1 on */
    HQDB_COMMANDS,          /* struct hqdb_command, by profile and start; from minor version 1 on */
    HQDB_HOST_WAITS,        /* struct hqdb_host_wait, by profile and time; from minor version 1 on */
    HQDB_GROWTH_INDEX,      /* struct hqdb_coded_index, by profile; from minor version 1 on */
    HQDB_GROWTH,            /* coded bytes: when counted metrics were seen to have grown, and by how much */
};

struct hqdb_info {
    uint32_t key, value;
};
static_assert(sizeof(struct hqdb_info) == 8, "layout");

enum {
    HQDB_METRIC_SAMPLED = 1,
    HQDB_METRIC_EXACT = 2,
    HQDB_METRIC_NO_COUNTS = 4,
    HQDB_METRIC_TRACED = 8,
    HQDB_METRIC_SPANS = 16,    /* a record of its traces holds all of the time since the one before; see below */
    HQDB_METRIC_WEIGHED = 32,  /* each record of its traces tells by its weight what its sample stood for */
    HQDB_METRIC_ELAPSED = 64,  /* a record of its traces stands for as many periods just before it as its weight says */
    HQDB_METRIC_DEVICE = 128,  /* only profiles that are queues of devices have it, and they have no other */
    HQDB_METRIC_COUNTED = 256, /* its value was noted at marks and samples: HQDB_GROWTH */
    HQDB_METRIC_SHARED = 512,  /* its samples are those of all metrics that say so: each has several values */
};
struct hqdb_metric {
    uint32_t name;  /* lower case, [a-z_][\w:]*: cputime */
    uint32_t event; /* as recorded: CPUTIME */
    uint32_t description;
    uint16_t dimension; /* enum hqm_dimension */
    uint16_t flags;
    uint64_t period; /* base units a sample stands for; 0 exact or unknown */
    double scale;    /* value in seconds, events, bytes = stored integer * scale */
};
static_assert(sizeof(struct hqdb_metric) == 32, "layout");

enum { HQDB_MODULE_MAIN = 1, HQDB_MODULE_VDSO = 2 };
struct hqdb_module {
    uint32_t path;
    uint32_t build_id; /* hexadecimal text, "" none */
    uint32_t flags;
    uint32_t note; /* what could not be read of its structure, "" nothing */
};
static_assert(sizeof(struct hqdb_module) == 16, "layout");

/* Static scopes of both structures, raw and normalised, in one table. */
struct hqdb_scope {
    uint32_t kind;   /* enum scope_kind */
    uint32_t parent; /* scope; root's is HQDB_NONE. module < root, file < module, procedure < file ... */
    uint32_t name;   /* whole (demangled); loop: ""; line: ""; file, module: path */
    uint32_t file;   /* string: path */
    uint32_t line;
    uint32_t module;    /* in HQDB_MODULES, HQDB_NONE */
    uint32_t call_file; /* inline: where it was inlined */
    union {
        uint32_t call_line;
        uint32_t basis; /* loop: enum loop_basis; 0 in files of earlier versions */
        uint32_t role;  /* procedure, region: enum scope_role; likewise */
    };
    uint32_t ordinal;                  /* loop: number within its procedure; procedure: how many it has, 0 none or not
                                          known, as in files of earlier versions */
    uint32_t first_alias, alias_count; /* in HQDB_ALIASES */
    uint32_t linkage; /* procedure, inline: name for the linker, without what compilers put behind it (.isra.0); "" not
                         known, as in every file of minor version 0 */
    uint64_t address; /* procedure: entry; loop: header */
};
static_assert(sizeof(struct hqdb_scope) == 56, "layout");

/*
 * INSIDE of a runtime: the frame falls into the context of its parent, which stands for the call that the program made.
 * ENTRY: it is that, a PROCEDURE; its child is the frame of the call, and only that has an address and values.
 */
enum { HQDB_CODE_INSIDE = 1, HQDB_CODE_ENTRY = 2 };
struct hqdb_code {        /* an address that was sampled or called from */
    uint64_t offset;      /* link-time address in the module */
    uint32_t module;      /* HQDB_NONE: in no module */
    uint32_t raw, normal; /* LINE scopes; of a root frame both the THREAD or PARTIAL scope, of other frames without code
                             both the REGION, WAIT, RUNTIME or (ENTRY) PROCEDURE scope */
    uint32_t flags;       /* HQDB_CODE_* */
};
static_assert(sizeof(struct hqdb_code) == 24, "layout");

struct hqdb_frame {
    uint32_t parent; /* frame of the call site, smaller than itself; HQDB_NONE: at the top */
    uint32_t code;
};
static_assert(sizeof(struct hqdb_frame) == 8, "layout");

struct hqdb_context {
    uint64_t id;          /* hash of the path, the same in every run of a build (`@id` of the language) */
    uint32_t scope;       /* kind and names: PROCEDURE, INLINE, LOOP, LINE, THREAD, PARTIAL, ROOT */
    uint32_t parent;      /* context; root's is HQDB_NONE */
    uint32_t end;         /* one past the last context of its subtree */
    uint32_t first_frame; /* first frame in its subtree; root of an empty tree: 0 */
    uint32_t call_file;   /* string; procedure, inline: the call site; loop, line: 0 */
    uint32_t call_line;
};
static_assert(sizeof(struct hqdb_context) == 32, "layout");

/* A profile is what a thread did, or what a device did of one queue of commands. */
#define HQDB_QUEUE 0x80000000u
struct hqdb_profile {
    int32_t rank;    /* -1: none */
    uint32_t thread; /* number within its process, 0 the initial thread; of a queue HQDB_QUEUE and its number */
    uint32_t host;   /* string */
    uint32_t pid, tid;
    uint32_t command;           /* string: the executable's path */
    uint32_t creator_profile;   /* HQDB_NONE: unknown or initial */
    uint32_t creator_frame;     /* the call path that created the thread; HQDB_NONE unknown */
    uint64_t start_realtime_ns; /* of its process: trace times count from there */
    uint64_t start_us, end_us;  /* of the thread, since start_realtime_ns */
    uint32_t serial;            /* image of the process: counts exec */
    uint32_t state;             /* enum hqm_state of its process */
};
static_assert(sizeof(struct hqdb_profile) == 64, "layout");

/*
 * The values of one profile and metric are a sequence of
 *     coded (frame - previous frame), the first one frame + 1
 *     coded (count << 2 | form)       count: samples
 *     form 0: sum = count * period    form 1: coded k, sum = (count + k) * period    form 2: coded signed sum
 * In HQDB_FRAME_VALUES the values of one frame and metric are the same with the profile's number instead of the
 * frame's.
 */
enum { HQDB_FORM_COUNT, HQDB_FORM_WEIGHT, HQDB_FORM_SUM };
#define HQDB_MOST_SAMPLES (UINT64_MAX >> 2) /* of a metric: no more fit beside the form */
struct hqdb_value_index {
    uint64_t offset; /* in HQDB_VALUES; the next record's is the end */
    int64_t sum;     /* total of this profile and metric, base units */
    uint64_t count;
};
static_assert(sizeof(struct hqdb_value_index) == 24, "layout");

/* Statistics of an inclusive value over profiles; only over those with a rank if any profile has one. */
struct hqdb_statistics {
    uint64_t count;        /* profiles in which the value is not zero */
    int64_t sum, min, max; /* min and max with absent profiles as zero */
    uint64_t squares[2];   /* sum of squares, a 128-bit number, low half first */
};
static_assert(sizeof(struct hqdb_statistics) == 48, "layout");

enum hqdb_names {
    HQDB_NAMES_PROCEDURES /* inlined ones too */,
    HQDB_NAMES_FILES,
    HQDB_NAMES_MODULES,
    HQDB_NAMES_SORTS
};
struct hqdb_name { /* for completion */
    int64_t sum;   /* of metric 0 in HQDB_SCOPE_STATISTICS: the largest of the scopes that have the name */
    uint32_t name; /* string, not "" */
    char part[12]; /* begin of the last part, filled up with zeros: push_back of std::vector<int>::push_back(int),
                      file.c of a/path/file.c; all zeros: it is the only part */
};
static_assert(sizeof(struct hqdb_name) == 24, "layout");

struct hqdb_known { /* the names of a load module's procedures, with or without samples; a module that is not here: not
                       known */
    uint32_t module;
    uint32_t state; /* enum known_names */
    uint32_t names; /* how many */
    uint32_t reserved;
    uint64_t offset, bytes; /* in HQDB_KNOWN_TEXT: packed as format/known.h says */
    uint64_t unpacked;      /* bytes */
};
static_assert(sizeof(struct hqdb_known) == 40, "layout");

struct hqdb_region {  /* a parallel region or phase as one profile has opened it by one call path; exact */
    uint32_t frame;   /* of the region */
    uint32_t profile; /* that opened it */
    uint64_t entries; /* times that it was opened */
    uint64_t left;    /* times that it was left again, which the time is of */
    uint64_t elapsed_ns;
    uint64_t threads; /* of the teams of all entries, added up, by the runtime's count */
    uint32_t largest; /* of these teams; 0: not known */
    uint32_t reserved;
};
static_assert(sizeof(struct hqdb_region) == 48, "layout");

/* Messages (MPI) that one profile has exchanged by one call path with a rank, or with each of a group of ranks other
 * than its own; exact. What was received is known only of some calls. */
struct hqdb_message {
    uint32_t frame, profile;
    int32_t peer;          /* rank, -1 not known; 0 where there is a group */
    uint32_t group;        /* string: ranks, ascending, as "0-3,7"; the empty one: it is just one */
    uint64_t count, bytes; /* sent: to each of the group */
    uint64_t time_ns;      /* in the calls that sent them: to all of the group together */
    uint64_t received, received_bytes;
};
static_assert(sizeof(struct hqdb_message) == 56, "layout");

/* A profile that is a queue of a device. */
struct hqdb_queue {
    uint32_t profile;
    uint32_t device; /* string: its name */
    uint32_t unit;   /* as in hqm_queue */
    uint32_t context;
    uint32_t flags; /* HQM_QUEUE_* */
    uint32_t reserved;
    uint64_t error_ns; /* how far the times of its commands may be off, on the clock of the host */
};
static_assert(sizeof(struct hqdb_queue) == 32, "layout");

/* A command that a device has completed. Times are nanoseconds since start_realtime_ns of its profile. */
struct hqdb_command {
    uint32_t frame, profile;
    uint32_t host_profile; /* the thread that gave it, HQDB_NONE unknown */
    uint16_t kind, flags;  /* enum hqm_command_kind, HQM_COMMAND_* */
    uint64_t called_ns;    /* when it was enqueued */
    uint64_t ready_ns;     /* when the last thing had come for which it had to wait; 0: there was none, or with
                              HQM_COMMAND_USER, which says that it was an event of the program's own, it is not known */
    uint64_t start_ns;
    uint64_t time_ns; /* from start to end, by the device's own clock; both 0 if it told no times */
    uint64_t bytes;
};
static_assert(sizeof(struct hqdb_command) == 56, "layout");

/* A thread waited for devices, nanoseconds since start_realtime_ns. */
struct hqdb_host_wait {
    uint32_t profile, reserved;
    uint64_t from_ns, to_ns;
};
static_assert(sizeof(struct hqdb_host_wait) == 24, "layout");

struct hqdb_loss {    /* what was lost or is incomplete, by reason */
    uint32_t reason;  /* string */
    uint32_t partial; /* 1: a partial call path, 0: a lost sample */
    uint64_t count;
};
static_assert(sizeof(struct hqdb_loss) == 16, "layout");

/*
 * A block of up to HQDB_TRACE_RECORDS records of one profile:
 *     coded (time - previous time) << 1 | changed    previous of the first: first_us
 *     if changed: coded metric, coded weight         else as in the record before; of the first: metric 0, weight 1
 *     coded signed (frame - previous frame)          previous of the first: 0
 *
 * Weights are in periods of the metric. A record is a sample at its time, unless the metric says SPANS: then it is what
 * the thread did since the time of the record before, and its value is spread evenly over that time. One of weight 0
 * with a frame at the top is a pause; the first one is such. One of weight 0 that takes no time tells that its frame
 * ended before: what called that frame went on, and what follows is another visit to it.
 */
#define HQDB_TRACE_RECORDS 256u
struct hqdb_trace_block {
    uint64_t offset;            /* in HQDB_TRACE; its end is the next block's, or the section's */
    uint64_t first_us, last_us; /* times of its first and last record, since the profile's start_realtime_ns */
    uint32_t profile;
    uint32_t records;
};
static_assert(sizeof(struct hqdb_trace_block) == 32, "layout");

/*
 * The marks of a profile, in the order of time: when it entered or left a region or phase. Only the thread that opens a
 * parallel region marks it.
 *     coded (time - previous time) << 1 | leaves     previous of the first: 0
 *     coded signed (frame - previous frame)          of the region or phase; previous of the first: 0
 */
struct hqdb_coded_index {
    uint64_t offset; /* in HQDB_MARKS; of growth in HQDB_GROWTH */
    uint64_t records;
    uint32_t profile; /* one without any has no record */
    uint32_t reserved;
};
static_assert(sizeof(struct hqdb_coded_index) == 24, "layout");

/*
 * The growth of a profile's counted metrics, in the order of time: by how much each has grown since it was noted last.
 * Its index has the records of that of marks.
 * All are read at each mark and each sample of a clock; a metric without a record there had not grown.
 *     coded step << 2 | at mark << 1 | changed       at mark: at the time of a mark of the profile, `step` marks behind
 *                                                    the one of the last such record (the first: before the first
 *                                                    mark, step 1 is that); else step is time - previous time
 *     if changed: coded metric                       else as in the record before; of the first: metric 0
 *     coded growth                                   in base units
 */

struct hqdb_source { /* a source file as it was when the database was built */
    uint32_t path;   /* as in scopes */
    uint32_t reserved;
    uint64_t offset, bytes; /* in HQDB_SOURCE_TEXT */
};
static_assert(sizeof(struct hqdb_source) == 24, "layout");

#endif
