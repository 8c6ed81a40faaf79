/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/suggest.h"
#include "common/mem.h"
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 255, SCORE_NONE = 1u << 30 };

static unsigned char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : (unsigned char)c;
}

static size_t min2(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool suggest_lists(const char *list, const char *word)
{
    AUTO_FREE char *whole = xasprintf(" %s ", word);

    return strcasestr(list, whole);
}

/* Rows i-2, i-1 and i of the table of distances between prefixes. */
size_t suggest_distance(const char *a, const char *b, size_t limit)
{
    size_t n = strnlen(a, WORD_MAX + 1), m = strnlen(b, WORD_MAX + 1);
    uint16_t rows[3][WORD_MAX + 1];

    if (n > WORD_MAX || m > WORD_MAX || (n > m ? n - m : m - n) > limit)
        return limit + 1;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (uint16_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint16_t *row = rows[i % 3];
        const uint16_t *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        size_t least = row[0] = (uint16_t)i;

        for (size_t j = 1; j <= m; j++) {
            unsigned char x = lower(a[i - 1]), y = lower(b[j - 1]);
            size_t d = min2(min2(up[j] + 1u, row[j - 1] + 1u), up[j - 1] + (x != y));

            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                d = min2(d, up2[j - 2] + 1u);
            row[j] = (uint16_t)d;
            least = min2(least, d);
        }
        if (least > limit) /* distances never shrink from row to row by more than a swap gives back */
            return limit + 1;
    }
    return min2(rows[n % 3][m], limit + 1);
}

/* Two points an edit, so that a pure difference in case still loses to an equal word; a prefix is as near as one edit.
 */
static unsigned score(const struct suggest *s, const char *candidate)
{
    size_t len = strlen(candidate), longer = len > s->len ? len : s->len;
    size_t limit = longer >= 3 ? longer / 3 : 0;
    size_t d = suggest_distance(s->word, candidate, limit);
    unsigned edits = d <= limit ? (unsigned)d * 2 : SCORE_NONE;

    if (d == 0)
        return !!strcmp(s->word, candidate);
    if (s->len >= 2 && !strncasecmp(s->word, candidate, s->len) && edits > 3)
        return 3;
    return edits;
}

void suggest_init(struct suggest *s, const char *word, size_t want)
{
    *s = (struct suggest){.word = word, .len = strlen(word), .want = min2(want, SUGGEST_MAX)};
}

void suggest_add(struct suggest *s, const char *candidate)
{
    unsigned points = score(s, candidate);
    size_t at = s->count;

    if (points == SCORE_NONE)
        return;
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->best[i], candidate))
            return;
    while (at > 0 && s->scores[at - 1] > points)
        at--;
    if (at >= s->want)
        return;
    if (s->count < s->want)
        s->count++;
    for (size_t i = s->count - 1; i > at; i--) {
        s->best[i] = s->best[i - 1];
        s->scores[i] = s->scores[i - 1];
    }
    s->best[at] = candidate;
    s->scores[at] = points;
}

size_t suggest_top(const char *word, const char *const *words, size_t n, const char **out, size_t k)
{
    struct suggest s;

    suggest_init(&s, word, k);
    for (size_t i = 0; i < n; i++)
        suggest_add(&s, words[i]);
    for (size_t i = 0; i < s.count; i++)
        out[i] = s.best[i];
    return s.count;
}

const char *suggest_nearest(const char *word, const char *const *words, size_t n)
{
    const char *best;

    return suggest_top(word, words, n, &best, 1) ? best : NULL;
}

void suggest_text(const struct suggest *s, struct str *out)
{
    for (size_t i = 0; i < s->count; i++)
        str_addf(out, "%s%s", i == 0 ? "; did you mean " : i + 1 == s->count ? " or " : ", ", s->best[i]);
    if (s->count)
        str_addc(out, '?');
}
