/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/generated.h"
#include "db/perf_map.h"
#include "tests/unit/test.h"
#include <stdlib.h>
#include <string.h>

static const char *name_at(const struct perf_map *m, size_t i)
{
    return m->entry_of[i] == PERF_MAP_NONE ? NULL : intern_str(&m->texts, m->entries.data[m->entry_of[i]].name);
}

TEST(later_lines_hold)
{
    static const char text[] = "1000 100 old\n1040 10 new name\n2000 10 apart\r\n";
    static const uint64_t addresses[] = {0xfff, 0x1000, 0x103f, 0x1040, 0x104f, 0x1050, 0x10ff, 0x1100, 0x200f};
    static const char *const expected[] = {NULL, "old", "old", "new name", "new name", "old", "old", NULL, "apart"};
    AUTO(perf_map_deinit) struct perf_map m;

    perf_map_parse(text, strlen(text), addresses, 9, &m);
    for (size_t i = 0; i < 9; i++) {
        CHECK(!name_at(&m, i) == !expected[i]);
        if (expected[i])
            CHECK_EQ_STR(name_at(&m, i), expected[i]);
    }
    CHECK_EQ_INT(m.entries.len, 3);
}

/* Every line holds every address: this must not take lines times addresses. */
TEST(many_overlaps)
{
    enum { COUNT = 200000 };
    struct str text = {0};
    uint64_t *addresses = malloc(COUNT * sizeof *addresses);
    AUTO(perf_map_deinit) struct perf_map m;

    for (int i = 0; i < COUNT; i++) {
        str_addf(&text, "0 ffffffffffffffff f%d\n", i);
        addresses[i] = (uint64_t)i * 16;
    }
    perf_map_parse(text.s, text.len, addresses, COUNT, &m);
    CHECK_EQ_INT(m.entries.len, 1);
    CHECK_EQ_STR(name_at(&m, 0), "f199999");
    CHECK_EQ_STR(name_at(&m, COUNT - 1), "f199999");
    free(addresses);
    str_deinit(&text);
}

TEST(nonsense)
{
    static const char *const texts[] = {
        "",
        "\n",
        "\n\n",
        " \n",
        "1000\n",
        "1000 \n",
        "1000 10\n",
        "1000 10 \n",
        "1000 0 f\n",
        "x 10 f\n",
        "1000 x f\n",
        "0x 10 f\n",
        "-1000 10 f\n",
        "00000000000001000 10 f\n",
        "1000 10 f",
        "1010 10 f\n1000 8 held\n",
        "1008 ffffffffffffffff f\n",
        "1000\t10\tf\n",
    };
    static const uint64_t address[] = {0x1007};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        AUTO(perf_map_deinit) struct perf_map m;
        bool held = strstr(texts[i], "held");

        perf_map_parse(texts[i], strlen(texts[i]), address, 1, &m);
        CHECK_EQ_INT(m.entries.len, held);
    }
    AUTO(perf_map_deinit) struct perf_map none;
    perf_map_parse("1000 10 f\n", 10, address, 0, &none);
    CHECK_EQ_INT(none.entries.len, 0);
}

TEST(names)
{
    static const struct {
        const char *text, *name, *file;
        unsigned line;
    } cases[] = {
        {"JS:*fib /src/my app.js:3:14", "fib", "/src/my app.js", 3},
        {"LazyCompile:~get size node:internal/url:40:9", "get size", "node:internal/url", 40},
        {"Function:^f file:///src/a.mjs:1:2", "f", "/src/a.mjs", 1},
        {"JS:+ /src/app.js:5:61", "(anonymous app.js:5:61)", "/src/app.js", 5},
        {"Script:~ evalmachine.<anonymous>:1:1", "(anonymous evalmachine.<anonymous>:1:1)", "evalmachine.<anonymous>",
         1},
        {"py::A.run:/src/a.py", "A.run", "/src/a.py", 0},
        {"Builtin:ArrayMap", "Builtin:ArrayMap", NULL, 0},
        {"RegExp:(a+)+b:1:2", "RegExp:(a+)+b:1:2", NULL, 0},
        {"Lcom/example/Main;::run", "Lcom/example/Main;::run", NULL, 0},
        {"int [lib] Ns.C::M(int)[Optimized]", "int [lib] Ns.C::M(int)[Optimized]", NULL, 0},
        {"JS:*f", "JS:*f", NULL, 0},
        {"JS:*:1:2", "JS:*:1:2", NULL, 0},
        {"JS:*f /a:1", "JS:*f /a:1", NULL, 0},
        {"py::", "py::", NULL, 0},
        {"py::f:", "py::f:", NULL, 0},
        {":", ":", NULL, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct generated_name n = generated_name(cases[i].text);

        CHECK_EQ_STR(n.name, cases[i].name);
        CHECK(!n.file == !cases[i].file);
        if (n.file)
            CHECK_EQ_STR(n.file, cases[i].file);
        CHECK_EQ_INT(n.line, cases[i].line);
        free(n.name);
        free(n.file);
    }
}

TEST_MAIN
