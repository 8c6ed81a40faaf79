/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of outlines: the order of the rows, which the indented tree (outline.c) and XML (outline_xml.c) share. */
#ifndef HQ_STRUCTURE_OUTLINE_IMPL_H
#define HQ_STRUCTURE_OUTLINE_IMPL_H

#include "structure/outline.h"

struct outline {
    const struct structure *s;
    const struct outline_options *options;
    FILE *out;
    uint32_t *order;         /* scopes, grouped by parent; children of i are order[start[i]] .. */
    uint32_t *start, *count; /* [scopes] is the top */
};

static inline const char *outline_text(const struct outline *o, uint32_t id)
{
    return intern_str(&o->s->strings, id);
}

static inline const struct structure_scope *outline_scope(const struct outline *o, uint32_t i)
{
    return &o->s->scopes.data[i];
}

/* Fills order, start and count with what options->raw asks for. */
void outline_arrange(struct outline *o);
void outline_deinit(struct outline *o);
bool outline_is_wanted(const struct outline *o, const struct structure_scope *procedure);
bool outline_file_is_wanted(const struct outline *o, uint32_t file);
void outline_indent(struct outline *o, int depth);

#endif
