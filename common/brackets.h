/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brackets in names of procedures as demanglers write them, in which < and > are operators too: `operator<<`,
 * `f<(3 > 2)>`, `enable_if<((sizeof (int))>(2))>`, `<dyn Fn() -> R as A>::b`, `Foo<'<'>`. Pure functions.
 */
#ifndef HQ_COMMON_BRACKETS_H
#define HQ_COMMON_BRACKETS_H

#include <stddef.h>

/* The length of an operator's symbol if s, within name, stands right after the word "operator": < and ( in it are not
 * brackets. Otherwise 0. */
size_t name_operator(const char *name, const char *s);

/* The bracket that closes the one at s, within name; NULL if s opens none or nothing closes it. */
const char *name_bracket_end(const char *name, const char *s);

#endif
