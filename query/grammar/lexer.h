/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens. What a character means depends on the place (`/` divides or opens a regex, `*` multiplies or is a wildcard),
 * so the parser asks for the next token in a mode, and may ask again for the same one in another mode.
 */
#ifndef HQ_QUERY_GRAMMAR_LEXER_H
#define HQ_QUERY_GRAMMAR_LEXER_H

#include "common/arena.h"
#include "query/grammar/ast.h"

enum lex_mode {
    LEX_PLAIN,   /* keywords and expressions */
    LEX_PATTERN, /* names with wildcards, regexes, #3, @id */
    LEX_REGEX,   /* a regex or a string */
    LEX_FILE,    /* a run of characters up to white space or ';' */
    LEX_REST,    /* everything up to the end of the line or ';' */
    LEX_WORDS,   /* the same, or up to '|' or '>' */
};

enum token_kind {
    TOKEN_END,       /* of the text */
    TOKEN_WORD,      /* text: name, pattern, file or rest of a line, as it stands */
    TOKEN_NUMBER,    /* with its unit */
    TOKEN_STRING,    /* text: decoded */
    TOKEN_REGEX,     /* text: without slashes, \/ decoded; ignore_case */
    TOKEN_PARAMETER, /* {{text}} or {{text=value}} */
    TOKEN_ROW,       /* #3; number */
    TOKEN_ID,        /* @id; text */
    TOKEN_MARK,      /* punctuation and operators; text */
    TOKEN_BAD,       /* text: what is wrong, a whole sentence */
};

struct token {
    enum token_kind kind;
    struct place place;
    const char *text;
    const char *value; /* TOKEN_PARAMETER: its default, or NULL */
    bool ignore_case;
    bool margin; /* the first thing on its line and not indented, and not the first of the text */
    bool spaced; /* there is white space (or the start of the text) before it */
};

/* A position in a text; copied freely. */
struct lexer {
    const struct source *source;
    uint32_t offset, line, column;
};

/* At the source's first token, behind a byte order mark. The source is not copied. */
struct lexer lexer_start(const struct source *source);

/* Skips white space and comments and reads one token; *lexer is behind it afterwards. Texts of tokens are in the arena.
 */
struct token lex(struct lexer *lexer, enum lex_mode mode, struct arena *arena);

/* The place from the start of one token to the end of another. */
struct place place_join(const struct place *from, const struct place *to);

/* True if a name needs no quotes where a PATTERN stands. */
bool is_bare_pattern(const char *name);
/* True for a name with an ending, or a path from a certain place: behind `>`, nothing that could be compared with
 * (parse_expr.c). */
bool is_file_name(const char *text);
/* True if it can be written without metric("..."). */
bool is_bare_name(const char *name);

#endif
