/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of procedures that are longer than the line of a terminal has room for. Pure functions.
 */
#ifndef HQ_COMMON_SHORTEN_H
#define HQ_COMMON_SHORTEN_H

#include "common/str.h"

/*
 * Adds to `out` the name in at most `width` columns if it can be had by leaving out what says least, in this order: the
 * long spelling of std::string, the return type, the parameters, then template arguments from the innermost outwards,
 * `std::map<...>::operator[](...)`, and the scopes between the outermost and the last name that says something:
 * `std::...::operator[]`, and for a lambda's code `ns::...::matvec::{lambda#1}`. Otherwise what is left
 * then, which is still too wide. Of `parallel region at lulesh.cc:782` the first word goes. `dots` stands for what is
 * left out.
 */
void name_shorten(struct str *out, const char *name, size_t width, const char *dots);

#endif
