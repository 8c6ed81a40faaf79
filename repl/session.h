/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: open databases, settings, derived metrics and the last result, and the running of texts in it. The prompt,
 * a script and the queries of a command line are all texts that run here.
 *
 * Results go to standard output; errors, hints and notes to standard error. session.status gathers the gravest
 * exit status so far.
 */
#ifndef HQ_REPL_SESSION_H
#define HQ_REPL_SESSION_H

#include "common/arena.h"
#include "common/err.h"
#include "common/opt.h"
#include "query/grammar/parse.h"
#include "query/query.h"
#include <stdbool.h>

struct named_db {
    char *path;  /* as it was given */
    char *alias; /* what `open` called it, or the last part of the path */
    struct db *db;
    bool told; /* that its file has gone, or is another one now */
};

struct session {
    struct query_env env;
    VEC(struct named_db) databases;   /* env.db is one of them */
    VEC(struct db *) replaced;        /* the files of before of some of these */
    VEC(struct parameter) parameters; /* -D NAME=VALUE; not owned */
    VEC(bool) parameter_used;         /* of each: some text has named it */
    VEC(char *) changes;              /* let, set and open statements, in order: what `undo` takes back */
    bool prompt;                      /* a person is there: results may be paged, ^C cancels */
    bool keep_going;                  /* after an error go on with the next statement */
    bool quiet;                       /* no hints and no coverage line */
    bool keeps_files;                 /* files are asked again by others of this process: see session_file */
    bool quit;
    bool in_file;        /* the present text is a file: its errors name the line */
    int inconclusive;    /* the status that an inconclusive expectation counts as */
    int status;          /* the gravest so far */
    bool strict, timing; /* asked for on the command line: `undo` does not take them back */
    const char *source_path, *groups;
    int nesting; /* of include and run */
    /* `hq check`: queries and expectations run here, and errors are told here, instead of being printed; NULL
     * otherwise. */
    struct hq_error *(*on_query)(void *arg, const struct statement *st);
    void (*on_error)(void *arg, const struct hq_error *error);
    void *on_arg;
};

#define GROUPS_OPTION \
    { \
        .name = "groups", .value = "FILE", \
        .help = "what `groups`, `flat by group` and `where group = NAME` mean: a file of `group NAME = ...`, or " \
                "directory, " \
                "module or runtime" \
    }

void session_init(struct session *s);
void session_deinit(struct session *s);

/* Takes the parameters of every -D NAME=VALUE; their names go into the arena, which has to outlive the session. */
struct hq_error *session_parameters(struct session *s, const struct opt_args *args, struct arena *arena);

/* A hint for each parameter that no text has named so far. */
void session_unused_parameters(const struct session *s);

/*
 * Runs the statements of a text. Errors are printed. False if one of them is to end what is running: after the first
 * error without keep_going. A failed expectation is no error: what follows runs, the status tells.
 */
bool session_text(struct session *s, const struct source *source);

/* Like session_text, for a file ("-" is standard input) and for a saved query (repl/saved.h). A pipe can be read once:
 * with keeps_files its text is kept for the next session that asks it. */
bool session_file(struct session *s, const char *path);
bool session_saved(struct session *s, const char *name);

/* Whether a text is a question, or several. */
bool session_parses(const char *text);

/* Prints an error, frees it and counts its status; NULL does nothing. Returns whether to go on. */
bool session_error(struct session *s, struct hq_error *error);

/* ---- databases (repl/databases.c) ---- */

/* Opens, building it if need be, and makes it the current one. alias may be NULL. An alias that is known switches to
 * it, if its file is as it was. */
struct hq_error *session_open(struct session *s, const char *path, const char *alias);
/* Whether a directory is a recording or holds a database. */
bool looks_like_database(const char *directory);
/* Refuses what would be answered from a file that somebody writes into, and tells once of one that has gone or been
 * replaced since it was opened: opened again it is the new one. */
struct hq_error *session_unchanged(struct session *s);
/* The database that env.db is. */
const struct named_db *session_current(const struct session *s);

/* ---- settings (repl/settings.c) ---- */

/* Sets what the command line asked for; the file of --groups may be wrong. */
struct hq_error *session_options(struct session *s);
/* `NAME VALUE` of each setting that is not as at the start, for a list; false if that is none of them. */
bool session_changed(const struct session *s, enum setting setting, struct str *out);
/* The statements that lead here, as one line: what `state` prints. */
void session_state(const struct session *s, struct str *out);
/* The names and values of all settings, for `set` alone. */
void session_settings(const struct session *s, struct str *out);

#endif
