/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/import_fuzz.h"

#include "common/file.h"
#include "common/hash.h"
#include "common/mem.h"
#include "db/db.h"
#include "db/import/import.h"
#include "tests/unit/import_seeds.h"
#include <stdio.h>
#include <string.h>

const struct fuzz_seed *import_fuzz_seed(const char *format, size_t i)
{
    for (const struct fuzz_seed *s = import_seeds; s->format; s++)
        if (!strcmp(s->format, format) && i-- == 0)
            return s;
    return NULL;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    *state += HASH_K0;
    return n ? hash_u64(*state) % n : 0;
}

/* Numbers that are at the edge of something. */
static uint64_t edge(uint64_t *state)
{
    static const uint64_t edges[] = {0,          1,          0x7f,       0x80,      0xff,      0xffff,
                                     0x7fffffff, 0xffffffff, 1ull << 40, INT64_MAX, UINT64_MAX};

    return edges[below(state, sizeof edges / sizeof *edges)];
}

static void damage_once(uint64_t *state, struct str *s)
{
    static const char *const words[] = {"-1",
                                        "99999999999999999999",
                                        "1e308",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "\"",
                                        "\n",
                                        "\n\n",
                                        " ",
                                        ":",
                                        ";",
                                        "+0x",
                                        "calls=1 2\n",
                                        "fn=(9)\n",
                                        "cfn=x\n",
                                        "\\ud800",
                                        ",",
                                        "(inlined)",
                                        "\t7f f (m)\n",
                                        "\xff",
                                        "null"};
    size_t at = (size_t)below(state, s->len + 1);
    uint64_t x = edge(state);
    size_t width = (size_t)1 << below(state, 4);

    switch (below(state, 6)) {
    case 0:
        if (at < s->len)
            s->s[at] = (char)below(state, 256);
        break;
    case 1: str_truncate(s, at); break;
    case 2: /* a number, in place and aligned as in binary formats */
        at -= at % width;
        if (at + width <= s->len)
            memcpy(s->s + at, &x, width);
        break;
    case 3: { /* a word put in */
        size_t n = s->len - at;
        AUTO_FREE char *bytes = xmalloc(n + 1);

        memcpy(bytes, s->s ? s->s + at : "", n);
        str_truncate(s, at);
        str_add(s, words[below(state, sizeof words / sizeof *words)]);
        str_addn(s, bytes, n);
        break;
    }
    case 4: { /* a piece twice */
        size_t n = (size_t)below(state, s->len - at + 1);
        AUTO_FREE char *bytes = xmalloc(n + 1);

        memcpy(bytes, s->s ? s->s + at : "", n);
        str_addn(s, bytes, n);
        break;
    }
    default: /* a piece gone */
        if (at < s->len) {
            size_t n = (size_t)below(state, s->len - at < 64 ? s->len - at + 1 : 64);

            memmove(s->s + at, s->s + at + n, s->len - at - n);
            str_truncate(s, s->len - n);
        }
    }
}

void import_fuzz_damage(uint64_t *state, const char *data, size_t len, struct str *out)
{
    str_clear(out);
    str_addn(out, data, len);
    for (uint64_t n = below(state, 5); n--;)
        damage_once(state, out);
}

static void save(const char *dir, const char *name, const struct str *s)
{
    AUTO_FREE char *path = file_join(dir, name);
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(str_cstr(s), 1, s->len, f) != s->len || fclose(f)) {
        perror(path);
        exit(1);
    }
}

static char *examine(const char *database)
{
    struct db *db;
    struct hq_error *error = db_open(database, &db);

    if (!error) {
        error = db_verify(db);
        db_close(db);
    }
    char *problem = error ? xasprintf("what was imported is damaged: %s", error->message) : NULL;

    hq_error_free(error);
    return problem;
}

char *import_fuzz_round(const char *format, size_t seed, uint64_t *state, const char *dir)
{
    const struct fuzz_seed *s = import_fuzz_seed(format, seed);
    AUTO_STR struct str damaged = {0};
    AUTO_FREE char *input = file_join(dir, s->parts > 1 ? "" : "input");
    AUTO_FREE char *output = file_join(dir, "out.db");
    uint64_t victim = state ? below(state, s->parts) : s->parts;

    for (size_t i = 0; i < s->parts; i++) {
        str_clear(&damaged);
        if (i == victim)
            import_fuzz_damage(state, s->part[i].data, s->part[i].len, &damaged);
        else
            str_addn(&damaged, s->part[i].data, s->part[i].len);
        save(dir, s->parts > 1 ? s->part[i].name : "input", &damaged);
    }
    struct hq_error *error = import_files(
        &(struct import_file){.path = s->parts > 1 ? dir : input, .format = import_find(format)}, 1, output);
    char *problem = NULL;

    if (!error)
        problem = examine(output);
    else if (!state)
        problem = xstrdup(error->message);
    else if (file_exists(output))
        problem = xstrdup("something half-imported is left");
    else if (strchr(error->message, '\n'))
        problem = xasprintf("the error has several lines: %s", error->message);
    hq_error_free(error);
    remove(output);
    return problem;
}
