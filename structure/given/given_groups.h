/* SPDX-License-Identifier: BSD-3-Clause */
/* The groups of structure files: G elements and what lies directly in them, as parts of a group of the query language.
 */
#ifndef HQ_STRUCTURE_GIVEN_GIVEN_GROUPS_H
#define HQ_STRUCTURE_GIVEN_GIVEN_GROUPS_H

#include "structure/given/given.h"

/* The number of the group of a name, a new one if there is none. */
size_t given_group_at(struct given *g, const char *name, const char *file, unsigned long at);
/* Adds a member: a scope of the file, a load module by its path (`scope` NULL), or another group by its name. */
void given_group_scope(struct given *g, size_t group, const struct given_file *file, const struct given_scope *scope);
void given_group_module(struct given *g, size_t group, const char *path);
/* HQ_DATA, without a place: the other group is the group itself, or holds it. */
struct hq_error *given_group_hold(struct given *g, size_t group, size_t held);

#endif
