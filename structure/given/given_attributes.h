/* SPDX-License-Identifier: BSD-3-Clause */
/* The attributes of one element of a structure file. Errors say what is wrong with them, without a place. */
#ifndef HQ_STRUCTURE_GIVEN_GIVEN_ATTRIBUTES_H
#define HQ_STRUCTURE_GIVEN_GIVEN_ATTRIBUTES_H

#include "structure/given/given.h"
#include "structure/given/xml.h"

/* Whether an element has what it must have, and nothing but what is in the list: "n* b e", a * for must. */
struct hq_error *given_check_attributes(const struct xml_element *e, const char *list);

/* As it stands there; NULL: it is not there. */
const char *given_attribute(const struct xml_element *e, const char *name);
/* The text that it spells, 0 if it is not there. */
struct hq_error *given_text(struct intern *strings, const struct xml_element *e, const char *name, uint32_t *out);
struct hq_error *given_number(const struct xml_element *e, const char *name, uint32_t otherwise, uint32_t *out);
struct hq_error *given_address(const struct xml_element *e, const char *name, uint64_t *out);
/* s="source": enum loop_basis. */
extern const char *const given_basis_words[LOOP_BASES];
struct hq_error *given_basis(const struct xml_element *e, uint32_t *out);
/* v="0x1000-0x1020 0x1040-0x1050": sorted, what adjoins or overlaps is one. */
struct hq_error *given_ranges(struct given_tree *tree, const struct xml_element *e, struct given_scope *s);

#endif
