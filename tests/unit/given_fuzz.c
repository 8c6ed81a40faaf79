/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/given_fuzz.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/str.h"
#include "structure/given/given.h"
#include "tests/unit/mutate.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char seed[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<PGM n=\"app\" version=\"1\">\n"
    "<LM n=\"/usr/bin/true\" id=\"00112233445566778899\" note=\"no lines\" v=\"0x1000-0x3000\">\n"
    "<K names=\"all\">\n"
    "<N n=\"alpha\"/>\n"
    "<N n=\"be\\x01ta\\\\\"/>\n"
    "</K>\n"
    "<F n=\"/src/solver.f90\" v=\"0x1000-0x1800\">\n"
    "<P n=\"solve\" k=\"solve_\" b=\"10\" e=\"90\" a=\"0x1000\" v=\"0x1000-0x1400 0x1600-0x1700\">\n"
    "<A n=\"solve__\"/>\n"
    "<S b=\"11\" e=\"11\" v=\"0x1000-0x1010\"/>\n"
    "<G n=\"hot\">\n"
    "<L b=\"12\" e=\"40\" l=\"12\" o=\"1\" a=\"0x1010\" v=\"0x1010-0x1200 0x1600-0x1680\">\n"
    "<I n=\"dot\" k=\"_Z3dotv\" b=\"13\" df=\"/src/dot.h\" dl=\"3\" v=\"0x1020-0x1100\">\n"
    "<L b=\"4\" e=\"5\" l=\"4\" o=\"2\" a=\"0x1030\" v=\"0x1030-0x10f0\">\n"
    "<S b=\"4\" e=\"4\" v=\"0x1030-0x1040\"/>\n"
    "<S b=\"5\" e=\"7\" v=\"0x1040-0x10f0\"/>\n"
    "</L>\n"
    "</I>\n"
    "<S b=\"14\" e=\"14\" v=\"0x1100-0x1200\"/>\n"
    "</L>\n"
    "</G>\n"
    "<L b=\"50\" e=\"60\">\n"
    "<L b=\"51\" e=\"55\">\n"
    "<S b=\"52\" e=\"53\"/>\n"
    "</L>\n"
    "</L>\n"
    "</P>\n"
    "<P n=\"bare\" b=\"100\" e=\"120\"><L b=\"101\" e=\"110\"><S b=\"102\"/></L></P>\n"
    "</F>\n"
    "<G n=\"all\"><F n=\"&lt;unknown file>\"><P n=\"app+0x2000\" a=\"0x2000\" v=\"0x2000-0x2100\"/></F><G "
    "n=\"hot\"/></G>\n"
    "<RAW>\n"
    "<F n=\"/src/solver.f90\">\n"
    "<P n=\"solve\" a=\"0x1000\" v=\"0x1000-0x1400\">\n"
    "<L b=\"12\" e=\"40\" l=\"0\" o=\"1\" a=\"0x1010\" v=\"0x1010-0x1200\"/>\n"
    "</P>\n"
    "</F>\n"
    "</RAW>\n"
    "</LM>\n"
    "</PGM>\n";

static uint64_t below(uint64_t *state, uint64_t n)
{
    return mutate_random(state) % n;
}

static size_t line_at(const struct str *s, uint64_t *state, size_t *len)
{
    size_t at = below(state, s->len);

    while (at && s->s[at - 1] != '\n')
        at--;
    *len = strcspn(s->s + at, "\n") + 1;
    *len = *len > s->len - at ? s->len - at : *len;
    return at;
}

static void replace(struct str *s, size_t at, size_t n, const char *by, size_t by_len)
{
    AUTO_STR struct str all = {0};

    str_addn(&all, str_cstr(s), at);
    str_addn(&all, by, by_len);
    str_addn(&all, s->s + at + n, s->len - at - n);
    str_clear(s);
    str_addn(s, all.s, all.len);
}

static void change_number(struct str *s, uint64_t *state)
{
    static const char *const odd[] = {"0",      "1",          "4294967295", "4294967294",         "0x0",
                                      "0x1010", "0x2000",     "0x10000000", "0xffffffffffffffff", "-1",
                                      "0x10",   "99999999999"};
    size_t at = below(state, s->len);

    at += strcspn(s->s + at, "0123456789");
    size_t n = strspn(s->s + at, "0123456789xabcdef");
    const char *by = odd[below(state, sizeof odd / sizeof *odd)];

    if (n)
        replace(s, at, n, by, strlen(by));
}

static void change_word(struct str *s, uint64_t *state)
{
    static const char *const words[] = {"PGM",
                                        "LM",
                                        "RAW",
                                        "K",
                                        "N",
                                        "F",
                                        "P",
                                        "A",
                                        "I",
                                        "L",
                                        "S",
                                        "G",
                                        "n",
                                        "v",
                                        "e",
                                        "X",
                                        "&amp;",
                                        "<!DOCTYPE x>",
                                        "<!-- c -->",
                                        "<?p?>",
                                        "\\x41",
                                        "\\",
                                        "&#0;",
                                        "\xff",
                                        "text",
                                        "<G n=\"hot\"><G n=\"all\"/></G>",
                                        "<S b=\"1\"/>",
                                        "v=\"0x1000-0x1001\""};
    size_t at = below(state, s->len), n = strspn(s->s + at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *by = words[below(state, sizeof words / sizeof *words)];

    replace(s, at, n, by, strlen(by));
}

static void move_line(struct str *s, uint64_t *state)
{
    size_t n, m, from = line_at(s, state, &n);
    AUTO_FREE char *line = xstrndup(s->s + from, n);

    if (below(state, 2))
        replace(s, from, n, "", 0);
    if (!s->len)
        return;
    replace(s, line_at(s, state, &m), 0, line, strlen(line));
}

static void damage(struct str *s, uint64_t *state)
{
    for (uint64_t n = 1 + below(state, 4); n && s->len > 1; n--)
        switch (below(state, 8)) {
        case 0: str_truncate(s, mutate((uint8_t *)s->s, s->len, state)); break;
        case 1:
        case 2: move_line(s, state); break;
        case 3:
        case 4: change_word(s, state); break;
        default: change_number(s, state);
        }
}

static char *check_chain(const struct structure *s, uint32_t at)
{
    uint32_t last = at;

    if (at >= s->scopes.len || s->scopes.data[at].kind != SCOPE_LINE)
        return xstrdup("a chain does not begin with a statement");
    for (; at != STRUCTURE_NONE; at = s->scopes.data[at].parent) {
        if (at >= s->scopes.len || (at != last && at >= last))
            return xstrdup("parents do not come before children");
        last = at;
    }
    return s->scopes.data[last].kind == SCOPE_FILE ? NULL : xstrdup("a chain does not end with a file");
}

static char *check_answers(const struct given *g, const char *path)
{
    struct structure_options options = {.inlines = true, .loops = true};
    uint64_t addresses[32];
    char *problem = NULL;

    vec_foreach(f, &g->files)
        vec_foreach(m, &(*f)->modules) {
            struct structure s;

            for (size_t i = 0; i < 32; i++)
                addresses[i] = i < 28 ? 0x1000 + i * 0x40 : 0x2000 + (i - 28) * 0x50;
            options.given = *m;
            AUTO_ERROR struct hq_error *error = structure_recover(path, &options, addresses, 32, &s);

            if (error)
                return xasprintf("an error for addresses: %s", error->message);
            for (size_t i = 0; i < s.places.len && !problem; i++) {
                problem = check_chain(&s, s.places.data[i].raw);
                if (!problem)
                    problem = check_chain(&s, s.places.data[i].normal);
            }
            structure_deinit(&s);
        }
    return problem;
}

char *given_fuzz_round(uint64_t *state, bool *read)
{
    AUTO_STR struct str text = {0};
    char name[64];
    const char *path = name;
    struct given *g = NULL;
    char *problem = NULL;

    str_addn(&text, seed, sizeof seed - 1);
    if (state)
        damage(&text, state);
    int fd = memfd_create("structure", MFD_CLOEXEC);

    if (fd < 0 || write(fd, text.s, text.len) != (ssize_t)text.len)
        return xstrdup("no file can be made");
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    struct hq_error *error = given_open(&path, 1, state && *state % 2, &g);

    *read = !error;
    if (!error)
        problem = check_answers(g, "/nowhere/app");
    else if (strncmp(error->message, name, strlen(name)) || error->message[strlen(name)] != ':' ||
             error->message[strlen(name) + 1] < '0' || error->message[strlen(name) + 1] > '9')
        problem = xasprintf("no place is named: %s", error->message);
    hq_error_free(error);
    given_close(g);
    close(fd);
    return problem;
}
