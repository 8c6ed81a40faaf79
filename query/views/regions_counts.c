/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of what regions were opened, as far as they were chosen. A slice of time has the entries that begin in it
 * and the time that lies in it, if traces hold all entries of the region, and its own ends are no samples. Of call
 * paths (`through`) the counts hold where all of the region, as it was opened by one path, was chosen.
 */
#include "query/views/regions.h"
#include "common/mem.h"
#include "common/search.h"
#include "query/choose/slices.h"

struct records {
    size_t first, end;
};

/* Those of one profile in db->regions. */
static struct records records_of(const struct db *db, uint32_t profile)
{
    size_t n = db->region_count;

    return (struct records){SEARCH(i, n, db->regions[i].profile < profile),
                            SEARCH(i, n, db->regions[i].profile <= profile)};
}

/* A region as one profile has entered it: as long as it is inside, `since` is when it came. */
struct open {
    uint64_t since_us, marked;
    bool inside;
};

static void leave(const struct slices *slices, struct open *o, uint64_t us, struct entered *e)
{
    size_t at = 0;

    if (o->inside)
        e->elapsed_ns += 1000 * slices_overlap(slices, o->since_us, us, &at);
    o->inside = false;
}

static void enter(const struct slices *slices, struct open *o, uint64_t us, struct entered *e)
{
    size_t at = 0;

    *o = (struct open){us, o->marked + 1, true};
    e->entries += slices_hold(slices, us, &at);
}

static bool all_exact(const struct slices *slices)
{
    for (size_t i = 0; i < slices->len; i++)
        if (!slices->data[i].exact)
            return false;
    return true;
}

static void read_marks(const struct selection *s, uint32_t profile, struct records r, struct entered *all)
{
    const struct db *db = s->tree.db;
    struct timeline time = timeline_of(db);
    int64_t offset = timeline_offset(&time, profile);
    struct db_marks marks = db_marks_of(db, profile);
    struct slice whole;
    struct slices slices = slices_of(s, profile, &whole);
    AUTO_FREE struct open *open = xcalloc(r.end - r.first + 1, sizeof *open);
    struct db_mark m;

    while (db_mark_next(&marks, &m)) {
        size_t i = r.first + SEARCH(k, r.end - r.first, db->regions[r.first + k].frame < m.frame);
        uint64_t us = timeline_shift(offset, m.time_us);

        if (i < r.end && db->regions[i].frame == m.frame)
            (m.leaves ? leave : enter)(&slices, &open[i - r.first], us, &all[i]);
    }
    for (size_t i = r.first; i < r.end; i++) {
        leave(&slices, &open[i - r.first], timeline_end(&time, profile), &all[i]);
        all[i].known = open[i - r.first].marked == db->regions[i].entries && all_exact(&slices);
    }
}

struct entered *regions_entered(const struct run *run)
{
    const struct selection *s = &run->selection;
    const struct db *db = s->tree.db;
    struct entered *all = xcalloc(db->region_count + 1, sizeof *all);

    for (size_t i = 0; i < db->region_count && !s->sliced; i++)
        all[i] = (struct entered){db->regions[i].entries, db->regions[i].elapsed_ns, true};
    for (uint32_t p = 0; p < db->profile_count && s->sliced; p++) {
        struct records r = records_of(db, p);

        if (r.end > r.first && selection_has_profile(s, p))
            read_marks(s, p, r, all);
    }
    return all;
}

enum kept { KEPT_NONE, KEPT_PART, KEPT_ALL };

/* How much of a region, as it was opened by one path, is on the paths that were chosen. */
static enum kept kept_of(const struct selection *s, uint32_t context)
{
    struct db_range r = tree_range(&s->tree, context);

    if (!s->keep || !memchr(s->keep + r.first, 0, r.last - r.first))
        return KEPT_ALL;
    return memchr(s->keep + r.first, 1, r.last - r.first) ? KEPT_PART : KEPT_NONE;
}

static void note_team(const struct hqdb_region *r, const struct entered *e, bool sliced, const struct db *db,
                      struct teams *teams)
{
    struct team *team = team_of(teams, &db->profiles[r->profile]);
    double mean = r->entries ? (double)r->threads / (double)r->entries : 0;

    team->elapsed_ns += e->elapsed_ns;
    team->openers += !teams->opened[r->profile];
    teams->opened[r->profile] = 1;
    /* Of entries in a slice the teams are known only where all are alike. */
    team->unknown |= !r->largest || (sliced && r->threads != r->entries * r->largest);
    team->time_ns += (double)e->elapsed_ns * mean;
    if (r->largest > teams->largest[r->profile])
        teams->largest[r->profile] = r->largest;
}

struct region_counts regions_count(const struct run *run, const struct entered *entered, uint32_t scope,
                                   struct teams *teams)
{
    const struct selection *s = &run->selection;
    const struct db *db = run->tree->db;
    struct region_counts all = {0};

    for (size_t i = 0; i < db->region_count; i++) {
        const struct hqdb_region *r = &db->regions[i];
        const struct entered *e = &entered[i];

        if (r->frame >= db->frame_count || r->profile >= db->profile_count || !selection_has_profile(s, r->profile) ||
            tree_scope_of(run->tree, db_frame_context(db, r->frame)) != scope)
            continue;
        enum kept kept = kept_of(s, db_frame_context(db, r->frame));

        all.any = true;
        if (kept == KEPT_NONE)
            continue;
        all.partly |= kept == KEPT_PART;
        all.untimed |= !e->known;
        all.entries += e->entries;
        all.elapsed_ns += e->elapsed_ns;
        if (!e->known || !s->sliced || e->entries || e->elapsed_ns)
            note_team(r, e, s->sliced, db, teams);
    }
    teams->sampled_only = all.untimed;
    teams_seat_openers(teams, db);
    vec_foreach(team, &teams->data)
        team->unknown |= all.untimed && team->openers > 1;
    return all;
}
