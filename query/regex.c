/* SPDX-License-Identifier: BSD-3-Clause */
/* Regular expressions by PCRE2, which only this file sees. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "common/mem.h"
#include "query/grammar/parse.h"
#include "query/pattern.h"
#include <pcre2.h>
#include <string.h>

struct regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

/* An expression that tries all ways through a long name would hang the query; real ones need a few hundred steps. */
#define MATCH_LIMIT 1000000

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
        free(r);
        pcre2_get_error_message(code, text, sizeof text);
        return place_error(&p->place, NULL, "this regular expression is not right: %s, at its character %zu",
                           (char *)text, where + 1);
    }
    pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE);
    r->data = pcre2_match_data_create(1, NULL);
    r->limits = pcre2_match_context_create(NULL);
    if (!r->data || !r->limits)
        mem_exhausted();
    pcre2_set_match_limit(r->limits, MATCH_LIMIT);
    *out = r;
    return NULL;
}

bool regex_matches(const struct regex *r, const char *text)
{
    return pcre2_match(r->code, (PCRE2_SPTR)text, strlen(text), 0, 0, r->data, r->limits) >= 0;
}

void regex_destroy(struct regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->code);
    pcre2_match_data_free(r->data);
    pcre2_match_context_free(r->limits);
    free(r);
}
