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
    IDLE,
    NOTHING,
    EVENT,
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
    [IDLE] = {"idle", "time from the first command that it was given to the end of the last one, less busy",
              DIM_SECONDS, 1e-9, false},
    [NOTHING] = {"nothing", "idle: no command was enqueued", DIM_SECONDS, 1e-9, false},
    [EVENT] = {"event", "idle: all commands waited for others or for a user event", DIM_SECONDS, 1e-9, false},
    [LAUNCH] = {"launch", "idle: a command could have begun", DIM_SECONDS, 1e-9, false},
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
    bool user; /* it waited for a user event: when that came is not known */
};

struct device {
    uint32_t host, name, unit, profile;
    uint64_t queues, error, commands, bytes, user;
    VEC(struct command) timed;
    double values[MEASURES];
};

struct devices {
    VEC(struct device) all;
    struct keymap keys;
    VEC(uint32_t) of_profile; /* number of the device + 1 of a queue; 0: another profile */
    VEC(uint32_t) flags;      /* HQM_QUEUE_* of it */
};

/* ---- what there is ---- */

static void find_devices(const struct db *db, struct devices *d)
{
    keymap_init(&d->keys, 3 * sizeof(uint32_t));
    for (size_t i = 0; i < db->profile_count; i++) {
        vec_push(&d->of_profile, 0);
        vec_push(&d->flags, 0);
    }
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

        to->commands++;
        to->bytes += c->bytes;
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

/* In an ordered queue a command waits for what those before it wait for, too. Adds up the latencies. */
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

        c->ready = c->user ? c->start : c->ready;
        c->ready = before && before->ready > c->ready ? before->ready : c->ready;
        c->ready = c->ready > c->start ? c->start : c->ready;
        could = c->ready > c->called ? c->ready : c->called;
        could = before && before->end > could ? before->end : could;
        if (c->user)
            continue;
        counted++;
        latency += c->start > could ? (double)(c->start - could) : 0;
    }
    return counted ? latency / (double)counted / 1e9 : NAN;
}

/* Where something changes. */
struct change {
    uint64_t at;
    int8_t pending, blocked, kernels, copies, others;
};

static int by_time(const void *pa, const void *pb)
{
    const struct change *a = pa, *b = pb;

    return (a->at > b->at) - (a->at < b->at);
}

static void measure(struct device *d, const uint32_t *flags)
{
    VEC(struct change) changes = {0};
    int64_t pending = 0, blocked = 0, kernels = 0, copies = 0, others = 0;
    double *v = d->values;

    v[LATENCY] = settle(d, flags);
    vec_foreach(c, &d->timed) {
        bool waits = c->ready > c->called;
        struct change run = {.at = c->start,
                             .pending = -1,
                             .kernels = c->kind == HQM_COMMAND_KERNEL,
                             .copies = c->kind == HQM_COMMAND_COPY,
                             .others = c->kind == HQM_COMMAND_OTHER};

        vec_push(&changes,
                 (struct change){.at = c->called < c->start ? c->called : c->start, .pending = 1, .blocked = waits});
        if (waits)
            vec_push(&changes, (struct change){.at = c->ready, .blocked = -1});
        vec_push(&changes, run);
        vec_push(&changes, (struct change){.at = c->end,
                                           .kernels = (int8_t)-run.kernels,
                                           .copies = (int8_t)-run.copies,
                                           .others = (int8_t)-run.others});
    }
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
            v[!pending ? NOTHING : blocked >= pending ? EVENT : LAUNCH] += since;
        pending += c->pending;
        blocked += c->blocked;
        kernels += c->kernels;
        copies += c->copies;
        others += c->others;
    }
    vec_deinit(&changes);
    v[SHARE] = v[BUSY] + v[IDLE] > 0 ? v[BUSY] / (v[BUSY] + v[IDLE]) : NAN;
    v[COMMANDS] = (double)d->commands;
    v[BYTES] = (double)d->bytes;
    v[QUEUES] = (double)d->queues;
    v[ERROR] = d->timed.len ? (double)d->error / 1e9 : NAN;
}

/* ---- rows ---- */

static struct node node_of_device(struct run *run, const struct device *d, bool hosts)
{
    const struct db *db = run->tree->db;
    double *slots = ARENA_ARRAY(&run->arena, 2 * MEASURES, double);
    struct node n;

    for (size_t i = 0; i < MEASURES; i++)
        slots[2 * i] = measures[i].plain ? d->values[i] : d->values[i] * measures[i].scale;
    n = node_of_slots(slots_same(slots, MEASURES));
    n.profile = d->profile;
    n.name = arena_printf(&run->arena, "%s%sdevice %u: %s", hosts ? db_string(db, d->host) : "", hosts ? " " : "",
                          d->unit, db_string(db, d->name));
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
    uint64_t user = 0;

    find_devices(run->tree->db, &d);
    collect(run, &d);
    run->prepared.data = ARENA_ARRAY(&run->arena, d.all.len, struct node);
    vec_foreach(x, &d.all) {
        measure(x, d.flags.data);
        hosts |= x->host != d.all.data[0].host;
        user += x->user;
    }
    vec_foreach(x, &d.all)
        if (x->commands)
            run->prepared.data[run->prepared.len++] = node_of_device(run, x, hosts);
    if (!d.all.len)
        run_note(run, "no device was given a command: record a program that uses OpenCL with `hq record -e GPU`");
    if (user)
        run_note(run, "%" PRIu64 " command%s waited for a user event, which the program itself sets", user,
                 user == 1 ? "" : "s");
    set_measures(run, &d);
    vec_foreach(x, &d.all)
        vec_deinit(&x->timed);
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
    .adds_up = true,
    .prepare = devices_prepare,
    .roots = roots_prepared,
};
