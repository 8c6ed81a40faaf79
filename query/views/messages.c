/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `messages`: who sent how much to whom, one row for each pair of ranks, exact. It is made of what senders sent; what
 * was received stands beside it where the calls of the receiver told (db/database.h, struct hqdb_message). A record of
 * a group stands for messages to each of its ranks but the sender's own.
 */
#include "common/hash.h"
#include "common/intern.h"
#include "common/map.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/choose/slices.h"
#include "query/views/views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES, MESSAGES, ELAPSED, RECEIVED, RECEIVED_BYTES, SENDER, RECEIVER, MEASURES };

static const struct {
    const char *name, *description;
    enum dim dim;
    double scale;
} measures[MEASURES] = {
    [BYTES] = {"bytes", "bytes sent, exact", DIM_BYTES, 1},
    [MESSAGES] = {"messages", "messages sent, exact", DIM_EVENTS, 1},
    [ELAPSED] = {"elapsed", "time in the calls that sent them", DIM_SECONDS, 1e-9},
    [RECEIVED] = {"received", "messages that calls of the receiver told to have come", DIM_EVENTS, 1},
    [RECEIVED_BYTES] = {"received_bytes", "bytes of these", DIM_BYTES, 1},
    [SENDER] = {"sender", "rank", DIM_NONE, 1},
    [RECEIVER] = {"receiver", "rank", DIM_NONE, 1},
};

struct pair {
    int32_t from, to; /* ranks, -1 not known */
    uint32_t profile; /* of the sender, or of the receiver where it did not tell */
    uint64_t count, bytes, received, received_bytes;
    double seconds;
};

struct pairs {
    VEC(struct pair) all;
    struct map numbers;
    struct map processes; /* of a rank that tells of messages: the first one */
    struct map several;   /* ranks that are more than one */
    bool any;             /* messages in the database, chosen or not */
    bool unranked;        /* one of them is sent by, or to, what has no rank */
    bool overflow, damaged;
};

static struct pair *pair_of(struct pairs *p, int32_t from, int32_t to, uint32_t profile)
{
    bool is_new;
    uint64_t *number = map_insert(&p->numbers, (uint64_t)(uint32_t)from << 32 | (uint32_t)to, p->all.len, &is_new);

    p->unranked |= from < 0 || to < 0;
    if (is_new)
        vec_push(&p->all, (struct pair){.from = from, .to = to, .profile = profile});
    return &p->all.data[*number];
}

static void add(struct pairs *p, uint64_t *sum, uint64_t x)
{
    p->overflow |= __builtin_add_overflow(*sum, x, sum);
}

static void add_sent(struct pairs *p, const struct hqdb_message *m, int32_t from, int32_t to, double seconds)
{
    struct pair *pair = pair_of(p, from, to, m->profile);

    pair->profile = m->profile;
    add(p, &pair->count, m->count);
    add(p, &pair->bytes, m->bytes);
    pair->seconds += seconds;
}

/* More than any machine has: a damaged group of 2^31 ranks would be as many rows. */
enum { RANKS_MOST = 1 << 24 };

/* The next range of a group's text: false at its end, or where it is none. They ascend: `*last` is that of the range
 * before, -1 at first. */
static bool next_range(const char **text, int32_t *first, int32_t *last)
{
    char *end;
    long a, b;

    if (**text < '0' || **text > '9')
        return false;
    a = b = strtol(*text, &end, 10);
    if (*end == '-')
        b = strtol(end + 1, &end, 10);
    if (a > b || a <= *last || b >= RANKS_MOST)
        return false;
    *first = (int32_t)a;
    *last = (int32_t)b;
    *text = *end == ',' ? end + 1 : end;
    return true;
}

static void add_group(const struct run *run, struct pairs *p, const struct hqdb_message *m, int32_t from)
{
    const char *group = db_string(run->tree->db, m->group);
    int32_t first, last = -1;
    uint64_t members = 0;
    const char *text = group;

    while (next_range(&text, &first, &last))
        members += (uint64_t)(last - first) + 1 - (from >= first && from <= last);
    p->damaged |= *text != 0;
    if (p->damaged)
        return;
    last = -1;
    for (text = group; next_range(&text, &first, &last);)
        for (int32_t to = first; to <= last && !run_interrupted((struct run *)run); to++)
            if (to != from)
                add_sent(p, m, from, to, (double)m->time_ns / 1e9 / (double)members);
}

static void add_message(const struct run *run, struct pairs *p, const struct hqdb_message *m)
{
    int32_t rank = run->tree->db->profiles[m->profile].rank;

    if (m->count && m->group)
        add_group(run, p, m, rank);
    else if (m->count)
        add_sent(p, m, rank, m->peer, (double)m->time_ns / 1e9);
    if (m->received) {
        struct pair *pair = pair_of(p, m->peer, rank, m->profile);

        add(p, &pair->received, m->received);
        add(p, &pair->received_bytes, m->received_bytes);
    }
}

/* Worlds that MPI_Comm_spawn or another launch made count their ranks from 0 again. */
static void note_process(struct pairs *p, const struct hqdb_profile *f)
{
    uint64_t process = hash_combine(hash_combine(f->host, f->pid), f->start_realtime_ns);
    bool is_new;

    if (f->rank >= 0 && *map_insert(&p->processes, (uint64_t)f->rank, process, &is_new) != process)
        map_put(&p->several, (uint64_t)f->rank, 1);
}

static void collect(struct run *run, struct pairs *p)
{
    const struct selection *s = &run->selection;
    const struct db *db = run->tree->db;
    AUTO_FREE uint8_t *mark = run->query->view.of ? matches_mark(&run->of, run->tree) : NULL;
    AUTO_FREE uint8_t *within = mark ? contexts_within(run->tree, mark) : NULL;

    for (size_t i = 0; i < db->message_count && !run_interrupted(run); i++) {
        const struct hqdb_message *m = &db->messages[i];
        uint32_t context = m->frame < db->frame_count ? db_frame_context(db, m->frame) : HQDB_NONE;

        if (m->profile >= db->profile_count)
            continue;
        p->any = true;
        if ((s->profiles && !s->profiles[m->profile]) ||
            (s->keep && (m->frame >= db->frame_count || !s->keep[m->frame])) ||
            (within && (context >= run->tree->context_count || !within[context])))
            continue;
        note_process(p, &db->profiles[m->profile]);
        add_message(run, p, m);
    }
}

/* Calls that move data without a message that is counted (doc/collector.md). */
static bool moves_untold(const char *name)
{
    static const char *const names[] = {"MPI_Put",
                                        "MPI_Rput",
                                        "MPI_Get",
                                        "MPI_Rget",
                                        "MPI_Accumulate",
                                        "MPI_Raccumulate",
                                        "MPI_Fetch_and_op",
                                        "MPI_Get_accumulate",
                                        "MPI_Rget_accumulate",
                                        "MPI_Compare_and_swap"};
    size_t length = strlen(name);

    if (length > 2 && !strcmp(name + length - 2, "_c")) /* those of large counts */
        length -= 2;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !strncmp(names[i], name, length))
            return true;
    return false;
}

/* Where the program moves more than its messages: whoever reads their sum shall know. */
static void note_untold(struct run *run)
{
    AUTO(intern_deinit) struct intern seen = {0};
    AUTO_STR struct str names = {0};

    for (uint32_t s = 0; s < run->tree->scope_count; s++) {
        const char *name = tree_text(run->tree, tree_scope(run->tree, s)->name);

        if (tree_scope(run->tree, s)->kind != SCOPE_PROCEDURE || !moves_untold(name) ||
            intern_find(&seen, name) != INTERN_NONE)
            continue;
        intern_add(&seen, name);
        str_addf(&names, "%s%s", names.len ? ", " : "", name);
    }
    if (names.len)
        run_note(run, "not among the messages is what is moved by %s: of these only calls and time are counted",
                 str_cstr(&names));
}

static void set_measures(struct run *run, const struct pairs *p)
{
    struct selection *s = &run->selection;

    vec_clear(&s->measures);
    for (size_t i = 0; i < MEASURES; i++)
        vec_push(&s->measures,
                 measure_of_view(measures[i].name, measures[i].description, measures[i].dim, measures[i].scale));
    s->here_count = MEASURES;
    s->measures.data[SENDER].plain = s->measures.data[RECEIVER].plain = true;
    for (size_t i = 0; i < p->all.len; i++) {
        const struct pair *pair = &p->all.data[i];

        measure_add(&s->measures.data[BYTES], (int64_t)pair->bytes);
        measure_add(&s->measures.data[MESSAGES], (int64_t)pair->count);
        measure_add(&s->measures.data[RECEIVED], (int64_t)pair->received);
        measure_add(&s->measures.data[RECEIVED_BYTES], (int64_t)pair->received_bytes);
        measure_add(&s->measures.data[ELAPSED], (int64_t)llround(pair->seconds * 1e9));
    }
}

static const char *rank_text(struct run *run, int32_t rank)
{
    return rank < 0 ? "?" : arena_printf(&run->arena, "%d", rank);
}

static struct node node_of_pair(struct run *run, const struct pair *p)
{
    double *slots = ARENA_ARRAY(&run->arena, 2 * MEASURES, double);
    const double values[MEASURES] = {
        [BYTES] = p->count ? (double)p->bytes : NAN,
        [MESSAGES] = p->count ? (double)p->count : NAN,
        [ELAPSED] = p->count ? p->seconds : NAN,
        [RECEIVED] = p->received ? (double)p->received : NAN,
        [RECEIVED_BYTES] = p->received ? (double)p->received_bytes : NAN,
        [SENDER] = p->from < 0 ? NAN : p->from,
        [RECEIVER] = p->to < 0 ? NAN : p->to,
    };
    struct node n;

    for (size_t i = 0; i < MEASURES; i++)
        slots[2 * i] = values[i];
    n = node_of_slots(slots_same(slots, MEASURES));
    n.profile = p->profile;
    n.id = hash_combine(hash_combine(hash_str("message"), (uint64_t)p->from), (uint64_t)p->to);
    n.name = arena_printf(&run->arena, "%s -> %s", rank_text(run, p->from), rank_text(run, p->to));
    return n;
}

static struct hq_error *messages_prepare(struct run *run)
{
    struct pairs pairs = {0};
    struct hq_error *err = NULL;

    collect(run, &pairs);
    note_untold(run);
    if (pairs.several.len)
        run_note(run,
                 "%zu of the ranks %s several processes, of MPI_Comm_spawn or of several launches: their messages are "
                 "added up",
                 pairs.several.len, pairs.several.len == 1 ? "is" : "are");
    if (pairs.unranked)
        run_note(run, "? has no rank: a process that no launcher has started, or one of another world");
    if (pairs.overflow)
        err = hq_error_new(HQ_DATA, "the messages of this database add up to more than 64 bits hold: it is damaged; "
                                    "`hq verify` says more");
    if (pairs.damaged && !err)
        err = hq_error_new(HQ_DATA, "messages went to what is no list of ranks; the database is damaged");
    run->prepared.data = ARENA_ARRAY(&run->arena, pairs.all.len, struct node);
    for (size_t i = 0; i < pairs.all.len && !err; i++)
        run->prepared.data[i] = node_of_pair(run, &pairs.all.data[i]);
    run->prepared.len = pairs.all.len;
    if (!pairs.any && run_counted(run, "MPI_"))
        run_note(run, "the MPI calls of this run sent no message to a rank");
    else if (!pairs.any)
        run_unmeasured(run, "no message was counted: record an MPI program with `hq record -e MPI`");
    set_measures(run, &pairs);
    map_deinit(&pairs.numbers);
    map_deinit(&pairs.processes);
    map_deinit(&pairs.several);
    vec_deinit(&pairs.all);
    return err;
}

const struct view_row view_messages = {
    .shape = SHAPE_LIST,
    .of_kinds = KINDS_PATH,
    .row_kinds = KIND_BIT(SCOPE_THREAD),
    .of_profiles = true,
    .adds_up = true,
    .prepare = messages_prepare,
    .roots = roots_prepared,
};
