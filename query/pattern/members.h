/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which scopes of a tree a defined group (group.h) holds, itself and by the groups that it holds. Which contexts that
 * makes, and what counts as its cost, is a matter of query/measure/grouping.h.
 */
#ifndef HQ_QUERY_MEMBERS_H
#define HQ_QUERY_MEMBERS_H

#include "common/map.h"
#include "query/pattern/group.h"
#include "query/pattern/pattern.h"
#include "query/tree/tree.h"

/* How a scope belongs to a defined group: bits. A file or load module is a container. */
enum membership { MEMBER_SCOPE = 1, MEMBER_CONTAINER = 2 };

struct line_part { /* private: `lines A-B of PATTERN`, and the paths that were looked at */
    const struct group_part *part;
    struct regex *regex; /* NULL: a name */
    struct map files;    /* text -> whether it matches */
};

struct group_members {
    struct query_env *env;
    const struct tree *tree;
    const struct group *group;
    void (*note)(void *arg, const char *text); /* is told which parts match nothing */
    void *arg;
    uint8_t *scope; /* [scope] enum membership; owned */
    VEC(struct line_part) lines;
    bool found;             /* one of its parts names something that is known */
    char *unknown;          /* the first that does not: why; owned, NULL */
    char *unknown_name;     /* likewise, but of those that are one name, which is meant to be found; owned, NULL */
    struct group_list list; /* private */
    uint8_t *held;          /* private: [group] it was taken in already */
};

/* Fills `scope` and `lines`; the first fields are the caller's. Deinit in any case. */
struct hq_error *members_find(struct group_members *g);
void members_deinit(struct group_members *g);
/* Why nothing is to be expected of the group: one of its names, or all that it may hold, is not known; NULL. */
const char *members_unknown(const struct group_members *g);
/* Whether a place is one of the lines that are named; after the last question regex_failure is to be asked. */
bool members_have_line(struct group_members *g, uint32_t file, uint32_t line);

/* pattern_resolve() of PATTERN_GROUP: scopes of these kinds that the group holds; of its files and load modules the
 * procedures in them, too. */
struct hq_error *members_match(struct query_env *env, const struct tree *t, const struct pattern *p, unsigned kinds,
                               struct matches *out);

#endif
