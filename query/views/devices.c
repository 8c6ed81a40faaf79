/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `devices`: one row for each device: how busy it was between the first command that it was given and the end of the
 * last one, what overlapped, why it was idle, and how long commands that could have begun did not. All of it follows
 * from the times of its commands (struct hqdb_command), of all queues and processes.
 */
#include "common/hash.h"
#include "common/map.h"
#include "format/measurement.h"
#include "query/choose/slices.h"
#include "query/views/views.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUSY,
    KERNELS,
    COPIES,
    OVERLAP,
    BOTH,
    HOST,
    BESIDE,
    IDLE,
    NOTHING,
    EVENT,
    USER,
    COPY,
    LAUNCH,
    LATENCY,
    SHARE,
    COMMANDS,
    BYTES,
    QUEUES,
    ERROR,
    MEASURES
};

static const struct {
    const char *name, *description;
    enum dim dim;
    double scale;
    bool plain;
} measures[MEASURES] = {
    [BUSY] = {"busy", "time in which the device ran any command", DIM_SECONDS, 1e-9, false},
    [KERNELS] = {"kernels", "time in which it ran kernels", DIM_SECONDS, 1e-9, false},
    [COPIES] = {"copies", "time in which it copied, filled or mapped", DIM_SECONDS, 1e-9, false},
    [OVERLAP] = {"overlap", "time in which it did both", DIM_SECONDS, 1e-9, false},
    [BOTH] = {"overlap_share", "overlap, as a part of the shorter of kernels and copies", DIM_NONE, 1, true},
    [HOST] = {"with_host", "busy while a process that gave it commands was in no call that waits for devices",
              DIM_SECONDS, 1e-9, false},
    [BESIDE] = {"with_host_share", "with_host, as a part of the shorter of busy and the time outside of such calls",
                DIM_NONE, 1, true},
    [IDLE] = {"idle", "time from the first command that it was given to the end of the last one, less busy",
              DIM_SECONDS, 1e-9, false},
    [NOTHING] = {"nothing", "idle: no command was enqueued", DIM_SECONDS, 1e-9, false},
    [EVENT] = {"event", "idle: all commands waited for others", DIM_SECONDS, 1e-9, false},
    [USER] = {"user_event", "idle: all commands waited, one for an event that the program itself sets", DIM_SECONDS,
              1e-9, false},
    [COPY] = {"copy", "idle: of those that could have begun all were copies", DIM_SECONDS, 1e-9, false},
    [LAUNCH] = {"launch", "idle: a command that is no copy could have begun", DIM_SECONDS, 1e-9, false},
    [LATENCY] = {"latency", "of a command, mean: from when it could have begun to its start", DIM_SECONDS, 1, true},
    [SHARE] = {"share", "busy, as a part of busy and idle", DIM_NONE, 1, true},
    [COMMANDS] = {"commands", "commands that have ended", DIM_EVENTS, 1, false},
    [BYTES] = {"bytes", "that commands have moved", DIM_BYTES, 1, false},
    [QUEUES] = {"queues", "queues of commands", DIM_NONE, 1, true},
    [ERROR] = {"error", "how far times may be off on the clock of the host", DIM_SECONDS, 1, true},
};

/* A command on the clock of the run. */
struct command {
    uint64_t called, ready, start, end; /* ready: when nothing that it waited for was left; before called: none */
    uint32_t queue;
    uint16_t kind;
    bool user; /* the last that it waited for was a user event */
};

struct span {
    uint64_t from, to;
    uint32_t process;
};

struct device {
    uint32_t host, name, unit, profile;
    uint64_t queues, error, commands, untimed, bytes, user;
    VEC(struct command) timed;
    VEC(uint32_t) processes; /* that gave it commands: the first profile of each */
    VEC(struct span) waits;  /* of these */
    double values[MEASURES];
};

struct devices {
    VEC(struct device) all;
    struct keymap keys;
    VEC(uint32_t) of_profile; /* number of the device + 1 of a queue; 0: another profile */
    VEC(uint32_t) flags;      /* HQM_QUEUE_* of it */
    VEC(uint32_t) process;    /* [profile] the first profile of its process */
};

/* ---- what there is ---- */

/* The first profile of the process of one that is not the first. */
static uint32_t first_of(const struct devices *d, const struct db *db, size_t profile)
{
    const struct hqdb_profile *p = &db->profiles[profile], *q;

    for (size_t i = profile; i-- > 0;) {
        q = &db->profiles[i];
        if (q->host == p->host && q->pid == p->pid && q->serial == p->serial)
            return d->process.data[i];
    }
    return (uint32_t)profile;
}

static void find_devices(const struct db *db, struct devices *d)
{
    keymap_init(&d->keys, 3 * sizeof(uint32_t));
    struct keymap processes;

    keymap_init(&processes, 3 * sizeof(uint32_t));
    for (size_t i = 0; i < db->profile_count; i++) {
        const struct hqdb_profile *p = &db->profiles[i];
        uint32_t key[3] = {p->host, p->pid, p->serial}, known = (uint32_t)processes.len;
        uint32_t at = keymap_add(&processes, key, NULL);

        vec_push(&d->of_profile, 0);
        vec_push(&d->flags, 0);
        vec_push(&d->process, at == known ? (uint32_t)i : first_of(d, db, i));
    }
    keymap_deinit(&processes);
    for (size_t i = 0; i < db->queue_count; i++) {
        const struct hqdb_queue *q = &db->queues[i];
        bool is_new;

        if (q->profile >= db->profile_count)
            continue;
        uint32_t key[3] = {db->profiles[q->profile].host, q->device, q->unit};
        uint32_t at = keymap_add(&d->keys, key, &is_new);

        if (is_new)
            vec_push(&d->all, (struct device){.host = key[0], .name = key[1], .unit = key[2], .profile = q->profile});
        d->all.data[at].queues++;
        d->all.data[at].error = q->error_ns > d->all.data[at].error ? q->error_ns : d->all.data[at].error;
        d->of_profile.data[q->profile] = at + 1;
        d->flags.data[q->profile] = q->flags;
    }
}

static void note_process(struct device *d, uint32_t process)
{
    vec_foreach(p, &d->processes)
        if (*p == process)
            return;
    vec_push(&d->processes, process);
}

/* When the processes that gave a device commands waited for devices. */
static void collect_waits(const struct db *db, struct devices *d)
{
    for (size_t i = 0; i < db->host_wait_count; i++) {
        const struct hqdb_host_wait *w = &db->host_waits[i];

        if (w->profile >= db->profile_count)
            continue;
        uint64_t origin = db->profiles[w->profile].start_realtime_ns;

        vec_foreach(x, &d->all)
            vec_foreach(p, &x->processes)
                if (*p == d->process.data[w->profile])
                    vec_push(&x->waits, (struct span){origin + w->from_ns, origin + w->to_ns, *p});
    }
}

static void collect(struct run *run, struct devices *d)
{
    const struct selection *s = &run->selection;
    const struct db *db = run->tree->db;
    AUTO_FREE uint8_t *mark = run->query->view.of ? matches_mark(&run->of, run->tree) : NULL;
    AUTO_FREE uint8_t *within = mark ? contexts_within(run->tree, mark) : NULL;

    for (size_t i = 0; i < db->command_count && !run_interrupted(run); i++) {
        const struct hqdb_command *c = &db->commands[i];
        uint32_t context = c->frame < db->frame_count ? db_frame_context(db, c->frame) : HQDB_NONE;

        if (c->profile >= db->profile_count || !d->of_profile.data[c->profile] ||
            (s->profiles && !s->profiles[c->profile]) ||
            (s->keep && (c->frame >= db->frame_count || !s->keep[c->frame])) ||
            (within && (context >= run->tree->context_count || !within[context])))
            continue;

        struct device *to = &d->all.data[d->of_profile.data[c->profile] - 1];
        uint64_t origin = db->profiles[c->profile].start_realtime_ns;

        note_process(to, d->process.data[c->profile]);
        to->commands++;
        to->bytes += c->bytes;
        to->untimed += (c->flags & HQM_COMMAND_UNTIMED) != 0;
        if (c->flags & HQM_COMMAND_UNTIMED)
            continue;
        to->user += (c->flags & HQM_COMMAND_USER) != 0;
        vec_push(&to->timed, (struct command){.called = origin + c->called_ns,
                                              .ready = c->ready_ns ? origin + c->ready_ns : 0,
                                              .start = origin + c->start_ns,
                                              .end = origin + c->start_ns + c->time_ns,
                                              .queue = c->profile,
                                              .kind = c->kind,
                                              .user = c->flags & HQM_COMMAND_USER});
    }
}

/* ---- one device ---- */

static int by_queue(const void *pa, const void *pb)
{
    const struct command *a = pa, *b = pb;

    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    return (a->called > b->called) - (a->called < b->called);
}

/* In an ordered queue a command waits for the one before it, too. Adds up the latencies. */
static double settle(struct device *d, const uint32_t *flags)
{
    double latency = 0;
    size_t counted = 0;

    vec_sort(&d->timed, by_queue);
    for (size_t i = 0; i < d->timed.len; i++) {
        struct command *c = &d->timed.data[i];
        const struct command *before = i && c[-1].queue == c->queue && !(flags[c->queue] & HQM_QUEUE_UNORDERED) ? c - 1
                                                                                                                : NULL;
        uint64_t could;

        bool unknown = c->user && !c->ready;

        c->ready = unknown ? c->start : c->ready;
        if (before && before->end > c->ready) {
            c->ready = before->end;
            c->user = false;
        }
        c->ready = c->ready > c->start ? c->start : c->ready;
        could = c->ready > c->called ? c->ready : c->called;
        could = before && before->end > could ? before->end : could;
        if (unknown)
            continue;
        counted++;
        latency += c->start > could ? (double)(c->start - could) : 0;
    }
    return counted ? latency / (double)counted / 1e9 : NAN;
}

/* Where something changes. */
struct change {
    uint64_t at;
    int8_t pending, blocked, user, transfers; /* given and not begun; of these: that wait, some for a user event; copies
                                                 that do not wait */
    int8_t kernels, copies, others;
};

static int by_time(const void *pa, const void *pb)
{
    const struct change *a = pa, *b = pb;

    return (a->at > b->at) - (a->at < b->at);
}

struct changes {
    struct change *data;
    size_t len, cap;
};

static void add_changes(struct changes *changes, const struct command *c)
{
    bool waits = c->ready > c->called;
    int8_t copy = c->kind == HQM_COMMAND_COPY, user = waits && c->user;
    struct change run = {.at = c->start,
                         .pending = -1,
                         .transfers = (int8_t)-copy,
                         .kernels = c->kind == HQM_COMMAND_KERNEL,
                         .copies = copy,
                         .others = c->kind == HQM_COMMAND_OTHER};

    vec_push(changes, (struct change){.at = c->called < c->start ? c->called : c->start,
                                      .pending = 1,
                                      .blocked = waits,
                                      .user = user,
                                      .transfers = waits ? 0 : copy});
    if (waits)
        vec_push(changes, (struct change){.at = c->ready, .blocked = -1, .user = (int8_t)-user, .transfers = copy});
    vec_push(changes, run);
    vec_push(changes, (struct change){.at = c->end,
                                      .kernels = (int8_t)-run.kernels,
                                      .copies = (int8_t)-run.copies,
                                      .others = (int8_t)-run.others});
}

static int by_start(const void *pa, const void *pb)
{
    const struct span *a = pa, *b = pb;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* The waits of a process as stretches that do not overlap, as changes of how many processes wait: in `user`. */
static void add_waits(struct device *d, struct changes *changes)
{
    vec_sort(&d->waits, by_start);
    for (size_t i = 0, j; i < d->waits.len; i = j) {
        uint64_t to = d->waits.data[i].to;

        for (j = i + 1;
             j < d->waits.len && d->waits.data[j].process == d->waits.data[i].process && d->waits.data[j].from <= to;
             j++)
            to = d->waits.data[j].to > to ? d->waits.data[j].to : to;
        vec_push(changes, (struct change){.at = d->waits.data[i].from, .user = 1});
        vec_push(changes, (struct change){.at = to, .user = -1});
    }
}

/* How long the device was busy while a process that gave it commands did something else than to wait. */
static void measure_host(struct device *d, uint64_t first, uint64_t last)
{
    struct changes changes = {0};
    int64_t waiting = 0, running = 0;
    double *v = d->values, host = 0, shorter;

    add_waits(d, &changes);
    vec_foreach(c, &d->timed) {
        vec_push(&changes, (struct change){.at = c->start, .kernels = 1});
        vec_push(&changes, (struct change){.at = c->end, .kernels = -1});
    }
    vec_push(&changes, (struct change){.at = first});
    vec_push(&changes, (struct change){.at = last});
    vec_sort(&changes, by_time);
    for (size_t i = 0; i < changes.len; i++) {
        const struct change *c = &changes.data[i];
        double since = i && c[-1].at >= first && c->at <= last ? (double)(c->at - c[-1].at) : 0;

        if (waiting < (int64_t)d->processes.len) {
            host += since;
            v[HOST] += running ? since : 0;
        }
        waiting += c->user;
        running += c->kernels;
    }
    vec_deinit(&changes);
    shorter = host < v[BUSY] ? host : v[BUSY];
    v[BESIDE] = shorter > 0 ? v[HOST] / shorter : NAN;
    shorter = v[KERNELS] < v[COPIES] ? v[KERNELS] : v[COPIES];
    v[BOTH] = shorter > 0 ? v[OVERLAP] / shorter : NAN;
}

static void measure(struct device *d, const uint32_t *flags)
{
    struct changes changes = {0};
    int64_t pending = 0, blocked = 0, user = 0, transfers = 0, kernels = 0, copies = 0, others = 0;
    double *v = d->values;

    v[LATENCY] = settle(d, flags);
    vec_foreach(c, &d->timed)
        add_changes(&changes, c);
    vec_sort(&changes, by_time);
    for (size_t i = 0; i < changes.len; i++) {
        const struct change *c = &changes.data[i];
        double since = i ? (double)(c->at - c[-1].at) : 0;
        bool busy = kernels || copies || others;

        v[BUSY] += busy ? since : 0;
        v[KERNELS] += kernels ? since : 0;
        v[COPIES] += copies ? since : 0;
        v[OVERLAP] += kernels && copies ? since : 0;
        v[busy ? BUSY : IDLE] += busy ? 0 : since;
        if (!busy)
            v[!pending                         ? NOTHING
              : blocked >= pending             ? user ? USER : EVENT
              : pending - blocked <= transfers ? COPY
                                               : LAUNCH] += since;
        pending += c->pending;
        blocked += c->blocked;
        user += c->user;
        transfers += c->transfers;
        kernels += c->kernels;
        copies += c->copies;
        others += c->others;
    }
    if (changes.len)
        measure_host(d, changes.data[0].at, vec_last(&changes).at);
    vec_deinit(&changes);
    v[SHARE] = v[BUSY] + v[IDLE] > 0 ? v[BUSY] / (v[BUSY] + v[IDLE]) : NAN;
    v[COMMANDS] = (double)d->commands;
    v[BYTES] = (double)d->bytes;
    v[QUEUES] = (double)d->queues;
    v[ERROR] = d->timed.len ? (double)d->error / 1e9 : NAN;
}

/* ---- rows ---- */

/* " of platform 1" where the same device of another platform has the same name; else "". */
static const char *platform_of(struct run *run, const struct devices *all, const struct device *d)
{
    vec_foreach(x, &all->all)
        if (x->host == d->host && x->name == d->name && x->unit < d->unit && (uint16_t)x->unit == (uint16_t)d->unit)
            return arena_printf(&run->arena, " of platform %u", d->unit >> 16);
    return "";
}

static struct node node_of_device(struct run *run, const struct devices *all, const struct device *d, bool hosts)
{
    const struct db *db = run->tree->db;
    double *slots = ARENA_ARRAY(&run->arena, 2 * MEASURES, double);
    struct node n;

    for (size_t i = 0; i < MEASURES; i++)
        slots[2 * i] = measures[i].plain ? d->values[i] : d->values[i] * measures[i].scale;
    n = node_of_slots(slots_same(slots, MEASURES));
    n.profile = d->profile;
    n.name = arena_printf(&run->arena, "%s%sdevice %u%s: %s", hosts ? db_string(db, d->host) : "", hosts ? " " : "",
                          d->unit & 0xffff, platform_of(run, all, d), db_string(db, d->name));
    n.id = hash_combine(hash_str("device"), hash_str(n.name));
    return n;
}

static void set_measures(struct run *run, const struct devices *d)
{
    struct selection *s = &run->selection;

    vec_clear(&s->measures);
    for (size_t i = 0; i < MEASURES; i++) {
        vec_push(&s->measures,
                 measure_of_view(measures[i].name, measures[i].description, measures[i].dim, measures[i].scale));
        s->measures.data[i].plain = measures[i].plain;
        vec_foreach(x, &d->all)
            if (!measures[i].plain)
                sum_add(&s->measures.data[i].total, llround(x->values[i]));
    }
    s->here_count = MEASURES;
}

static struct hq_error *devices_prepare(struct run *run)
{
    struct devices d = {0};
    bool hosts = false;
    uint64_t user = 0, untimed = 0, commands = 0;

    find_devices(run->tree->db, &d);
    collect(run, &d);
    collect_waits(run->tree->db, &d);
    run->prepared.data = ARENA_ARRAY(&run->arena, d.all.len, struct node);
    vec_foreach(x, &d.all) {
        measure(x, d.flags.data);
        hosts |= x->host != d.all.data[0].host;
        user += x->user;
        untimed += x->untimed;
        commands += x->commands;
    }
    vec_foreach(x, &d.all)
        if (x->commands)
            run->prepared.data[run->prepared.len++] = node_of_device(run, &d, x, hosts);
    if (!d.all.len)
        run_unmeasured(run, "no device was given a command: record a program that uses OpenCL with `hq record -e GPU`");
    if (untimed)
        run_note(run, "%" PRIu64 " of %" PRIu64 " commands count without time: none was told for them", untimed,
                 commands);
    if (user)
        run_note(run, "%" PRIu64 " command%s waited for a user event, which the program itself sets", user,
                 user == 1 ? "" : "s");
    set_measures(run, &d);
    vec_foreach(x, &d.all) {
        vec_deinit(&x->timed);
        vec_deinit(&x->processes);
        vec_deinit(&x->waits);
    }
    vec_deinit(&d.process);
    vec_deinit(&d.all);
    vec_deinit(&d.of_profile);
    vec_deinit(&d.flags);
    keymap_deinit(&d.keys);
    return NULL;
}

const struct view_row view_devices = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_profiles = true,
    .of_traces = true,
    .adds_up = true,
    .prepare = devices_prepare,
    .roots = roots_prepared,
};
