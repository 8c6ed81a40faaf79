/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/given/given_attributes.h"
#include "structure/given/spelling.h"
#include "structure/range.h"
#include <stdlib.h>
#include <string.h>

const char *given_attribute(const struct xml_element *e, const char *name)
{
    for (const char *const *a = e->attributes; *a; a += 2)
        if (!strcmp(a[0], name))
            return a[1];
    return NULL;
}

static bool is_listed(const char *list, const char *name, size_t n, bool *must)
{
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " *");

        *must = at[len] == '*';
        if (len == n && !memcmp(at, name, n))
            return true;
        at += len + *must;
    }
    return false;
}

struct hq_error *given_check_attributes(const struct xml_element *e, const char *list)
{
    bool must;

    for (const char *const *a = e->attributes; *a; a += 2)
        if (!is_listed(list, a[0], strlen(a[0]), &must))
            return hq_error_new(HQ_DATA, "%s has no attribute %s (it has: %s)", e->name, a[0], *list ? list : "none");
    for (const char *at = list; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        AUTO_FREE char *name = xstrndup(at, strcspn(at, " *"));

        if (at[strlen(name)] == '*' && !given_attribute(e, name))
            return hq_error_new(HQ_DATA, "%s needs the attribute %s", e->name, name);
    }
    return NULL;
}

struct hq_error *given_text(struct intern *strings, const struct xml_element *e, const char *name, uint32_t *out)
{
    AUTO_STR struct str text = {0};
    const char *value = given_attribute(e, name);

    *out = 0;
    if (!value)
        return NULL;
    if (!spelling_read(&text, value))
        return hq_error_new(HQ_DATA, "%s=\"%.200s\": behind a backslash stands another one, or x and two digits", name,
                            value);
    *out = intern_add(strings, str_cstr(&text));
    return NULL;
}

struct hq_error *given_number(const struct xml_element *e, const char *name, uint32_t otherwise, uint32_t *out)
{
    const char *value = given_attribute(e, name);
    uint64_t x = 0;

    *out = otherwise;
    if (!value)
        return NULL;
    for (const char *c = value; *c; c++) {
        if (*c < '0' || *c > '9' || c - value > 9)
            return hq_error_new(HQ_DATA, "%s=\"%.200s\" is no number up to 4294967294", name, value);
        x = x * 10 + (uint64_t)(*c - '0');
    }
    if (!*value || x >= UINT32_MAX)
        return hq_error_new(HQ_DATA, "%s=\"%.200s\" is no number up to 4294967294", name, value);
    *out = (uint32_t)x;
    return NULL;
}

const char *const given_basis_words[LOOP_BASES] = {
    [LOOP_UNKNOWN] = "unknown",    [LOOP_BY_SOURCE] = "source",     [LOOP_SOURCE_GONE] = "gone",
    [LOOP_SOURCE_NEWER] = "newer", [LOOP_SOURCE_UNREAD] = "unread", [LOOP_UNLIKE_SOURCE] = "unlike",
};

struct hq_error *given_basis(const struct xml_element *e, uint32_t *out)
{
    const char *value = given_attribute(e, "s");

    for (*out = LOOP_UNKNOWN; value && *out < LOOP_BASES; ++*out)
        if (!strcmp(value, given_basis_words[*out]))
            return NULL;
    return value ? hq_error_new(HQ_DATA, "s=\"%.200s\" is none of unknown, source, gone, newer, unread, unlike", value)
                 : NULL;
}

/* 0x and up to 16 digits; NULL: it is none. */
static const char *read_address(const char *s, uint64_t *out)
{
    char *end;

    if (s[0] != '0' || s[1] != 'x' || !s[2] || !strchr("0123456789abcdefABCDEF", s[2]))
        return NULL;
    *out = strtoull(s + 2, &end, 16);
    return end - s - 2 > 16 ? NULL : end;
}

struct hq_error *given_address(const struct xml_element *e, const char *name, uint64_t *out)
{
    const char *value = given_attribute(e, name), *end;

    *out = 0;
    if (!value)
        return NULL;
    end = read_address(value, out);
    return end && !*end ? NULL : hq_error_new(HQ_DATA, "%s=\"%.200s\" is no address such as 0x12ab", name, value);
}

/* v="0x1000-0x1020 0x1040-0x1050": sorted, what adjoins or overlaps is one. */
struct hq_error *given_ranges(struct given_tree *tree, const struct xml_element *e, struct given_scope *s)
{
    const char *value = given_attribute(e, "v"), *at = value;
    VEC(struct given_range) all = {0};
    struct hq_error *error = NULL;

    for (; at && *(at += strspn(at, " \t\r\n")) && !error;) {
        struct given_range x;
        const char *end = read_address(at, &x.low);

        end = end && *end == '-' ? read_address(end + 1, &x.high) : NULL;
        if (!end || (*end && !strchr(" \t\r\n", *end)))
            error = hq_error_new(HQ_DATA, "v: \"%.60s\" is no range of addresses such as 0x1000-0x10ff", at);
        else if (x.low >= x.high)
            error = hq_error_new(HQ_DATA, "v: the range %.*s is empty: its end is behind its last byte",
                                 (int)(end - at), at);
        vec_push(&all, x);
        at = end;
    }
    if (!error) {
        range_sort(&all);
        s->first_range = (uint32_t)tree->ranges.len;
        vec_foreach(x, &all) {
            if (s->ranges && vec_last(&tree->ranges).high >= x->low) {
                if (vec_last(&tree->ranges).high < x->high)
                    vec_last(&tree->ranges).high = x->high;
                continue;
            }
            vec_push(&tree->ranges, *x);
            s->ranges++;
        }
    }
    vec_deinit(&all);
    return error;
}
