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
    SCOPE_REGION,  /* a parallel region: what all threads of a team do in it, below the procedure it is written in */
    SCOPE_WAIT,    /* a thread waits for others, in a runtime */
    SCOPE_RUNTIME, /* a runtime's own work */
    SCOPE_PHASE,  /* what a thread does between two calls of hq.h, below the scope that makes the first; no static place
                   */
    SCOPE_DEVICE, /* what a device did, below the call that gave it the command; no static place */
    SCOPE_GROUP,  /* scopes that belong together, in views of groups; never stored */
    SCOPE_KINDS
};

/* Where the line of a loop is from. */
enum loop_basis {
    LOOP_UNKNOWN,       /* nobody has said: older databases, other tools, loops without a line */
    LOOP_BY_SOURCE,     /* its statement stands there in the source, as it was when the program was linked */
    LOOP_SOURCE_GONE,   /* from here on inferred from debug information: the source was not there, */
    LOOP_SOURCE_NEWER,  /* was changed after the program was linked, */
    LOOP_SOURCE_UNREAD, /* is in a language that is not read, is too large, cannot be opened, or nobody wanted to, */
    LOOP_UNLIKE_SOURCE, /* or has no loop statement there: a macro, goto, a whole array, or another text */
    LOOP_BASES
};

/* The directive of OpenMP that a scope was made for, where its kind does not say it. */
enum scope_role {
    ROLE_NONE,   /* nothing of these; also in files of earlier versions */
    ROLE_TASK,   /* procedure: the body of a task, which is another one each time that it runs */
    ROLE_TARGET, /* region: of `target`, run on the host by one thread */
};

/* Does a context of this kind begin with a call: of a procedure, or of a runtime for what the kind says? */
static inline int scope_is_called(enum scope_kind kind)
{
    return kind == SCOPE_PROCEDURE || kind == SCOPE_WAIT || kind == SCOPE_RUNTIME || kind == SCOPE_DEVICE;
}

#endif
