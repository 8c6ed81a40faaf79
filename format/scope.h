/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of program scopes, as stored in databases and structure caches and as named by the query language. */
#ifndef HQ_FORMAT_SCOPE_H
#define HQ_FORMAT_SCOPE_H

enum scope_kind {
    SCOPE_ROOT,
    SCOPE_THREAD, /* start of a created thread, above its start routine */
    SCOPE_PROCEDURE,
    SCOPE_INLINE, /* a procedure inlined into another */
    SCOPE_LOOP,
    SCOPE_LINE, /* a statement: the leaf that samples belong to */
    SCOPE_CALL, /* a call site in the flat view; never stored */
    SCOPE_MODULE,
    SCOPE_FILE,
    SCOPE_PARTIAL, /* root of call paths whose outer end could not be found; shown as kind root */
    SCOPE_KINDS
};

#endif
