/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines from tables. A command is described once, in a struct opt_command; the parser, help, the manual page
 * and shell completion read the same rows.
 *
 *   --name, --name=VALUE, --name VALUE, -n, -nVALUE, -n VALUE, -abc (flags), --no-name for negatable flags, -- ends the
 * options.
 *
 * "-" is an operand, and so is a word in which white space follows the dashes ("-- a comment of a query"). A value
 * option given twice is an error unless its row says that it repeats. Errors are HQ_USAGE.
 */
#ifndef HQ_COMMON_OPT_H
#define HQ_COMMON_OPT_H

#include "common/err.h"
#include "common/str.h"
#include "common/vec.h"
#include <stdbool.h>
#include <stddef.h>

struct opt {
    const char *name;           /* long name without dashes; NULL ends a table */
    char letter;                /* 0 none */
    const char *value;          /* what help calls the value (FILE); NULL: a flag */
    const char *help;           /* a sentence or two without a full stop at the end */
    bool repeats;               /* a value option that may be given several times */
    bool negatable;             /* a flag that has --no-NAME */
    const char *const *choices; /* the only values allowed, NULL-terminated; NULL: any */
    bool hidden;                /* left out of help */
};

/* An option of another tool and what to do here instead, a clause that completes "hq record has no option -g: ...". */
struct opt_foreign {
    const char *name; /* without dashes; a single character is a letter. NULL ends a table */
    const char *advice;
};

struct opt_command {
    const char *name;                  /* record */
    const char *usage;                 /* [OPTIONS] [--] COMMAND [ARG]... */
    const char *summary;               /* one line without a full stop */
    const char *description;           /* paragraphs for help and the manual, separated by empty lines; NULL none */
    const char *examples;              /* lines as they are typed, for help and the manual; NULL none */
    const struct opt *options;         /* ended by a row without name; NULL none */
    const struct opt *shared;          /* a second table, shared by several commands; NULL none */
    const struct opt_foreign *foreign; /* ended by a row without name; NULL none */
    bool stops_at_operand;             /* everything from the first operand on is an operand */
};

struct opt_given {
    const struct opt *opt;
    const char *value; /* NULL for a flag */
    bool on;           /* false for --no-NAME */
};

struct opt_args {
    VEC(struct opt_given) given; /* in the order of the command line */
    VEC(const char *) operands;
};

/* argv holds the words after the command's name; the texts in *out point into it. *out is to be deinited in any case.
 */
struct hq_error *opt_parse(const struct opt_command *cmd, int argc, char *const *argv, struct opt_args *out);
void opt_args_deinit(struct opt_args *args);

/* By long name. A flag not given is `otherwise`; the last one counts. */
bool opt_flag(const struct opt_args *args, const char *name, bool otherwise);
/* The (last) value, or NULL if it was not given. */
const char *opt_value(const struct opt_args *args, const char *name);
/* How often it was given, and the i-th value (i below the count). */
size_t opt_count(const struct opt_args *args, const char *name);
const char *opt_value_at(const struct opt_args *args, const char *name, size_t i);

/* Steps through both tables: opt_next(cmd, NULL) is the first row, NULL the end. */
const struct opt *opt_next(const struct opt_command *cmd, const struct opt *prev);

/* Adds the help text: usage, summary, description, options; width columns wide (at least 40). program is `hq`. */
void opt_help(const struct opt_command *cmd, const char *program, size_t width, struct str *out); /* opt_help.c */
/* Adds text in lines of at most width columns, all but the first behind `indent` spaces; the first starts at column
 * `at`. */
void opt_wrap(struct str *out, const char *text, size_t at, size_t indent, size_t width);

#endif
