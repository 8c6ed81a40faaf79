/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The groups of a session: what `group` statements say, those that were asked, those of the file that `set groups`
 * names, and those that the database brings. What they are in a tree is a matter of grouping.h.
 *
 * A group may hold others, in a file also those defined further down; one that holds itself is an error.
 */
#ifndef HQ_QUERY_GROUP_H
#define HQ_QUERY_GROUP_H

#include "query/query.h"

struct group {
    const char *name;
    const char *origin;    /* where it is defined: solver.groups:3 */
    const char *statement; /* its text; NULL: it stands in the file */
    const struct group_part *parts;
    size_t part_count;
};

/* The definitions in force, those of the file first; they hold until the next `group` or `set groups`. */
struct group_list {
    const struct group *data;
    size_t len;
};
struct group_list groups_defined(const struct query_env *env);
/* By its name; NULL. */
const struct group *group_find(struct group_list list, const char *name);

/* Adds what a `group` statement says. */
struct hq_error *groups_add_statement(struct query_env *env, const struct statement *st);
/* Reads the file of the setting (a text), or leaves the one that was read (a word); nothing changes with an error. */
struct hq_error *groups_set(struct query_env *env, const struct setting_value *v);

/* After env->db has changed: the groups of the structure files that it was built with take the place of those of the
 * one before. A definition of the session goes before one of the same name. */
void groups_follow(struct query_env *env);

/* Frees all of them. */
void groups_forget(struct query_env *env);

#endif
