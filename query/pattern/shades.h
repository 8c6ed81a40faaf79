/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which shades the large procedures of a database are drawn in. A name alone chooses a shade (query/picture/palette.h),
 * and two names may choose nearly the same one. So those of each family that cost most take, one after the other, the
 * first shade of their name that is far enough from those before them; all others have the shade 0. It is the whole
 * database that decides, whatever a query chooses of it, so that a procedure has one colour in all pictures of it. They
 * take their turns by name, so that a run in which others of them cost most has the same colours.
 */
#ifndef HQ_QUERY_SHADES_H
#define HQ_QUERY_SHADES_H

#include "common/map.h"
#include "db/db.h"
#include "query/picture/palette.h"
#include "query/tree/tree.h"

struct shades {
    struct map of; /* private: name and family -> shade, where it is not 0 */
};

/* own: the database's own tree; families: of its scopes. */
void shades_choose(struct shades *s, const struct tree *own, const uint8_t *families);
/* Of a scope of any tree of that database; names: scratch. */
unsigned shades_of(const struct shades *s, const struct tree *t, uint32_t scope, enum family family,
                   struct arena *names);
void shades_deinit(struct shades *s);

#endif
