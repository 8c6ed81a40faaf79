/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a PATTERN to what it matches in a tree: scopes, or single contexts for `#3` and `@id`.
 *
 * A name is looked up exactly first (whole, with and without arguments, among all names of a scope), then unqualified;
 * only if nothing matches are * and ? wildcards. Every distinct name is looked at once, not every context.
 */
#ifndef HQ_QUERY_PATTERN_H
#define HQ_QUERY_PATTERN_H

#include "common/err.h"
#include "common/vec.h"
#include "query/grammar/ast.h"
#include "query/tree/tree.h"

struct query_env;

/* No bit for a kind that a damaged file makes up. */
#define KIND_BIT(k) ((unsigned)(k) < SCOPE_KINDS ? 1u << ((k)&31) : 0u)
/* The kinds of scopes on a call path; loops and inlined procedures match where they are named. */
#define KINDS_PATH \
    (KIND_BIT(SCOPE_PROCEDURE) | KIND_BIT(SCOPE_INLINE) | KIND_BIT(SCOPE_LOOP) | KIND_BIT(SCOPE_THREAD) | \
     KIND_BIT(SCOPE_PARTIAL) | KIND_BIT(SCOPE_REGION) | KIND_BIT(SCOPE_WAIT) | KIND_BIT(SCOPE_RUNTIME) | \
     KIND_BIT(SCOPE_PHASE) | KIND_BIT(SCOPE_DEVICE))
/* The rows of call paths; `set lines on` adds lines. */
#define KINDS_TREE (KINDS_PATH | KIND_BIT(SCOPE_ROOT))
#define KINDS_PROCEDURE \
    (KIND_BIT(SCOPE_PROCEDURE) | KIND_BIT(SCOPE_INLINE) | KIND_BIT(SCOPE_WAIT) | KIND_BIT(SCOPE_RUNTIME) | \
     KIND_BIT(SCOPE_DEVICE))
#define KINDS_STATIC \
    (KINDS_PROCEDURE | KIND_BIT(SCOPE_REGION) | KIND_BIT(SCOPE_LOOP) | KIND_BIT(SCOPE_FILE) | KIND_BIT(SCOPE_MODULE) | \
     KIND_BIT(SCOPE_LINE))

struct matches {
    uint8_t *scopes;    /* [scope_count] 1: matches; NULL: by contexts */
    size_t scope_count; /* how many match */
    uint32_t *contexts; /* ascending, if scopes is NULL */
    size_t context_count;
    char *problem; /* it, or a name of a list that it is (listed.h), matched nothing: the warning; NULL otherwise */
    /* Nor is a procedure or load module without samples called so: the sentence; NULL. */
    char *unknown;
};

void matches_deinit(struct matches *m);

/*
 * `kinds` is a set of KIND_BIT. Nothing that matches is no error but `problem`, unless `set strict on` (and
 * then what is known without samples is none, either). Where
 * procedures but no files are asked for, a file or load module that matches when nothing else does stands for its
 * procedures.
 */
struct hq_error *pattern_resolve(struct query_env *env, const struct tree *t, const struct pattern *p, unsigned kinds,
                                 struct matches *out);

static inline bool matches_nothing(const struct matches *m)
{
    return m->scopes ? m->scope_count == 0 : m->context_count == 0;
}

/* All contexts that match, ascending; the caller frees. */
uint32_t *matches_contexts(const struct matches *m, const struct tree *t, size_t *count);
/* Per context: 1 if it matches; the caller frees. */
uint8_t *matches_mark(const struct matches *m, const struct tree *t);

/*
 * Whether a pattern that matches no scope names a procedure or a load module of the recorded program all the same
 * (query/pattern/known.c). `test` says whether a name, or else a path, matches; `near` (may be NULL) is offered the
 * names. *partly: the program, if not all of its procedures are known, for a sentence; else NULL.
 */
struct suggest;
bool pattern_known(const struct tree *t, bool (*test)(const void *arg, const char *text, bool is_path), const void *arg,
                   struct arena *arena, struct suggest *near, const char **partly);

/*
 * A compiled regular expression. A match that the library stops at one of its limits is no answer: regex_matches then
 * says false from there on, and regex_failure, which is asked before anything is shown, names pattern, name and limit.
 */
struct regex;
/* p outlives the result. */
struct hq_error *regex_compile(const struct pattern *p, struct regex **out); /* regex.c */
bool regex_matches(struct regex *r, const char *text);
struct hq_error *regex_failure(const struct regex *r);
void regex_destroy(struct regex *r);

#endif
