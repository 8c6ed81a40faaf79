/* SPDX-License-Identifier: BSD-3-Clause */
/* Regular expressions by PCRE2, which only this file sees. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/mem.h"
#include "common/str.h"
#include "query/grammar/parse.h"
#include "query/pattern/pattern.h"
#include <pcre2.h>
#include <string.h>

struct regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack;
    const struct place *place; /* of the pattern, for the mistake */
    char *pattern;
    char *failure; /* what stopped a match; NULL: none was stopped */
};

/*
 * An expression that tries all ways through a long name would hang the query. Real ones need some steps for each
 * character and some hundred bytes of stack: a name of 10,000 characters is far within these limits.
 */
enum { MATCH_LIMIT = 10000000, STACK_FIRST = 64 << 10, STACK_MOST = 64 << 20, HEAP_LIMIT_KIB = 64 << 10 };

struct hq_error *regex_compile(const struct pattern *p, struct regex **out)
{
    struct regex *r = xcalloc(1, sizeof *r);
    PCRE2_SIZE where;
    PCRE2_UCHAR text[256];
    int code;

    *out = NULL;
    r->code = pcre2_compile((PCRE2_SPTR)p->text, PCRE2_ZERO_TERMINATED, p->ignore_case ? PCRE2_CASELESS : 0, &code,
                            &where, NULL);
    if (!r->code) {
        if (code == PCRE2_ERROR_HEAP_FAILED)
            mem_exhausted();
        free(r);
        pcre2_get_error_message(code, text, sizeof text);
        return place_error(&p->place, NULL, "this regular expression is not right: %s, at its character %zu",
                           (char *)text, where + 1);
    }
    r->place = &p->place;
    r->pattern = xstrdup(p->text);
    r->data = pcre2_match_data_create(1, NULL);
    r->limits = pcre2_match_context_create(NULL);
    if (!r->data || !r->limits)
        mem_exhausted();
    pcre2_set_match_limit(r->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(r->limits, HEAP_LIMIT_KIB);
    /* Without it the library interprets the expression: slower, with the same answer. */
    if (pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE) == 0 &&
        (r->stack = pcre2_jit_stack_create(STACK_FIRST, STACK_MOST, NULL)))
        pcre2_jit_stack_assign(r->limits, NULL, r->stack);
    *out = r;
    return NULL;
}

enum { NAME_SHOWN = 60 };

static void remember_failure(struct regex *r, int code, const char *text)
{
    size_t length = strlen(text);
    PCRE2_UCHAR why[256];

    pcre2_get_error_message(code, why, sizeof why);
    r->failure = xasprintf("/%s/ cannot be decided for the name `%.*s%s` of %zu characters: %s; write it with fewer "
                           "repetitions inside of repetitions",
                           r->pattern, (int)(length > NAME_SHOWN ? utf8_fit(text, NAME_SHOWN) : length), text,
                           length > NAME_SHOWN ? "..." : "", length, (const char *)why);
}

bool regex_matches(struct regex *r, const char *text)
{
    int code;

    if (r->failure)
        return false;
    code = pcre2_match(r->code, (PCRE2_SPTR)text, strlen(text), 0, 0, r->data, r->limits);
    if (code < 0 && code != PCRE2_ERROR_NOMATCH)
        remember_failure(r, code, text);
    return code >= 0;
}

struct hq_error *regex_failure(const struct regex *r)
{
    return r->failure ? place_error(r->place, NULL, "%s", r->failure) : NULL;
}

void regex_destroy(struct regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->code);
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->limits);
    pcre2_jit_stack_free(r->stack);
    free(r->pattern);
    free(r->failure);
    free(r);
}
