/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking apart the names of procedures as demanglers write them, so that `push_back` finds
 * `void std::vector<int>::push_back<A>(int) const [clone .isra.0]`, and `smooth` what OpenMP made of its loops,
 * `smooth._omp_fn.0`. Pure functions.
 */
#ifndef HQ_COMMON_NAMES_H
#define HQ_COMMON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct name_parts {
    const char *name; /* without return type */
    size_t length; /* of name, arguments and what follows them included; of `void (*f(int))(double)` it is `f(int)` */
    size_t no_arguments; /* length of name without arguments and what follows them: ` const`, ` [clone .isra.0]`,
                            `._omp_fn.0` */
};

/* The length of a symbol without what compilers put behind it in copies and parts of a procedure: .isra.0, .cold,
 * .llvm.123. The bodies of parallel regions (._omp_fn.0, .omp_outlined) are procedures of their own. */
size_t name_without_clone(const char *symbol, size_t length);

/* Returns where in `name` the name is without its return type, and how long with its arguments and without. */
struct name_parts name_split(const char *name);

/* True if `word` is the whole name, with or without arguments or return type. */
bool name_is(const char *name, const char *word);
/* True if `word` is the end of the name after a `::` outside of brackets, with or without arguments or template
 * arguments. */
bool name_ends(const char *name, const char *word);
/* The last component without arguments: push_back. *length is its length. */
const char *name_last(const char *name, size_t *length);

/* True if the name, or a name in a path of several, is an address in a file: libgomp.so.1+0x1cfd0, as code without
 * symbols is called. */
bool name_is_address(const char *name);

/* True for constructors and destructors, which have several names for the linker each: `A<int>::A(int)`, `A::~A()`. */
bool name_is_structor(const char *name);

/* The shell's * and ? (nothing else), against the whole text of `length` bytes. */
bool glob_matches(const char *glob, const char *text, size_t length);
/* A name without its arguments, in lower case; the caller frees it. */
char *name_folded(const char *name);
/* A glob against that, whatever the glob's case. */
bool name_matches_folded(const char *glob, const char *folded);
/* A glob against the name whole, without arguments, and its last component. */
bool name_matches_glob(const char *name, const char *glob);

/* True if `word` is the path or its end after a '/'; ./ and ../ at its start count for nothing. */
bool path_ends(const char *path, const char *word);
bool path_matches_glob(const char *path, const char *glob);

#endif
