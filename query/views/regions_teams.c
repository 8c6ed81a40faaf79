/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The teams of a region. A runtime may end threads and make others in their place (libgomp, when a team is smaller than
 * the one before, and for each nested one). So where more threads were sampled than the team has, those that lived one
 * after the other count as one.
 */
#include "query/views/regions.h"
#include "query/choose/helpers.h"

/* So many samples a thread, and one that has none is improbable: e^-5. */
enum { ENOUGH = 5 };

struct team *team_of(struct teams *t, const struct hqdb_profile *p)
{
    bool is_new;
    uint64_t *at = map_insert(&t->of, helpers_process(p), t->data.len, &is_new);

    if (is_new)
        vec_push(&t->data, (struct team){0});
    return &t->data.data[*at];
}

/* Threads that lived one after the other. */
struct seat {
    uint64_t end_us;
    int64_t work;     /* of all */
    uint32_t largest; /* team that one of them opened */
};
struct seats {
    VEC(struct seat) data;
};

/* The seat that a thread takes. One whose thread ended while this one began is free, too: runtimes do not wait for
 * that. Where all threads are of one team, there are no more seats than it has. */
static struct seat *seat_for(struct seats *seats, const struct hqdb_profile *p, int64_t team, bool one_team)
{
    uint64_t end = p->end_us ? p->end_us : UINT64_MAX, start = p->start_us < end ? p->start_us : end;
    struct seat *first = NULL;

    if ((int64_t)seats->data.len >= team)
        vec_foreach(seat, &seats->data) {
            if (seat->end_us <= start + (end - start) / 10)
                return seat;
            first = first && first->end_us <= seat->end_us ? first : seat;
        }
    if (first && one_team)
        return first;
    vec_push(&seats->data, (struct seat){0});
    return &vec_last(&seats->data);
}

/* Counts the threads of a process by their seats: there are more of them than its team has. */
static void join_threads(struct team *team, const struct sums *s, struct teams *teams, const struct db *db,
                         bool one_team)
{
    struct seats seats = {0};

    for (uint32_t p = 0; p < db->profile_count; p++) {
        const struct hqdb_profile *profile = &db->profiles[p];

        if (s->seen[p] != SEEN || team_of(teams, profile) != team)
            continue;
        struct seat *seat = seat_for(&seats, profile, team->largest, one_team);

        seat->end_us = profile->end_us ? profile->end_us : UINT64_MAX;
        sum_add(&seat->work, s->work[p]);
        team->most = seat->work > team->most ? seat->work : team->most;
    }
    team->threads = (int64_t)seats.data.len;
    vec_deinit(&seats.data);
}

struct team_sums teams_sum(struct teams *t, const struct sums *s, const struct db *db)
{
    struct team_sums all = {0};

    for (uint32_t p = 0; p < db->profile_count; p++)
        if (s->seen[p] == SEEN) {
            struct team *team = team_of(t, &db->profiles[p]);

            team->threads++;
            team->most = s->work[p] > team->most ? s->work[p] : team->most;
        } else if (s->seen[p] == SEEN_UNASKED)
            team_of(t, &db->profiles[p])->unknown = true;
    vec_foreach(team, &t->data) {
        if (t->sampled_only && !team->threads)
            continue;
        if (!team->unknown && team->largest && team->largest < team->threads)
            join_threads(team, s, t, db, !s->nested && team->openers == 1);
        team->unknown |= team->largest < team->threads;
        if (team->unknown) {
            team->largest = team->threads;
            team->time_ns = team->openers ? (double)team->threads * (double)team->elapsed_ns / (double)team->openers
                                          : 0;
        }
        all.threads += team->largest;
        sum_add(&all.work_of_busiest, sum_times(team->most, team->largest));
        all.time_ns += team->time_ns;
    }
    return all;
}

/* Counts the teams of a process: of threads that lived one after the other, and opened the region, the largest one. */
static void seat_openers(struct team *team, struct teams *teams, const struct db *db)
{
    struct seats seats = {0};

    for (uint32_t p = 0; p < db->profile_count; p++) {
        const struct hqdb_profile *profile = &db->profiles[p];

        if (!teams->opened[p] || team_of(teams, profile) != team)
            continue;
        struct seat *seat = seat_for(&seats, profile, 0, false);

        seat->end_us = profile->end_us ? profile->end_us : UINT64_MAX;
        seat->largest = teams->largest[p] > seat->largest ? teams->largest[p] : seat->largest;
    }
    team->openers = seats.data.len;
    team->largest = 0;
    vec_foreach(seat, &seats.data)
        team->largest += seat->largest;
    vec_deinit(&seats.data);
}

void teams_seat_openers(struct teams *t, const struct db *db)
{
    vec_foreach(team, &t->data)
        seat_openers(team, t, db);
}

bool teams_may_miss_threads(struct teams *t, const struct sums *s, const struct db *db, double team)
{
    if ((double)s->samples >= ENOUGH * team)
        return false;
    for (uint32_t p = 0; p < db->profile_count; p++) {
        const uint64_t *at = map_find(&t->of, helpers_process(&db->profiles[p]));

        if (!s->seen[p] && !db_is_queue(db, p) && at && t->data.data[*at].unknown)
            return true;
    }
    return false;
}

bool teams_are_known(const struct teams *t)
{
    for (size_t i = 0; i < t->data.len; i++)
        if (t->data.data[i].unknown)
            return false;
    return t->data.len;
}
