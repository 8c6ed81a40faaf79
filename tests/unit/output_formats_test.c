/* SPDX-License-Identifier: BSD-3-Clause */
/* csv, tsv, json, markdown, folded, dot, ids, notes: exact texts. */
#include "tests/unit/output_help.h"
#include "query/output/number.h"
#include <stdlib.h>

static const struct output_options plain;

TEST(example)
{
    struct table *t = example_tree();

    check_format(t, "csv", &plain,
                 "id,kind,name,module,file,line,callsite,depth,cputime,cputime.x\r\n"
                 "0000000000001,procedure,m,,,,,0,10,0\r\n"
                 "fzzzzzzzzzzzz,procedure,f,,,,/src/file1.c:2,1,7,1\r\n"
                 ",procedure,g,,,,/src/file1.c:7,2,6,1\r\n"
                 ",procedure,g,,,,/src/file2.c:3,3,5,1\r\n"
                 ",procedure,h,,,,/src/file2.c:4,4,4,4\r\n"
                 ",loop,loop at file2.c:8,,/src/file2.c,8,,5,4,0\r\n"
                 ",loop,loop at file2.c:9,,,,,6,4,4\r\n"
                 ",procedure,g,,,,/src/file1.c:8,1,3,3\r\n");
    check_format(t, "tsv", &plain,
                 "id\tkind\tname\tmodule\tfile\tline\tcallsite\tdepth\tcputime\tcputime.x\n"
                 "0000000000001\tprocedure\tm\t\t\t\t\t0\t10\t0\n"
                 "fzzzzzzzzzzzz\tprocedure\tf\t\t\t\t/src/file1.c:2\t1\t7\t1\n"
                 "\tprocedure\tg\t\t\t\t/src/file1.c:7\t2\t6\t1\n"
                 "\tprocedure\tg\t\t\t\t/src/file2.c:3\t3\t5\t1\n"
                 "\tprocedure\th\t\t\t\t/src/file2.c:4\t4\t4\t4\n"
                 "\tloop\tloop at file2.c:8\t\t/src/file2.c\t8\t\t5\t4\t0\n"
                 "\tloop\tloop at file2.c:9\t\t\t\t\t6\t4\t4\n"
                 "\tprocedure\tg\t\t\t\t/src/file1.c:8\t1\t3\t3\n");
    check_format(
        t, "json", &plain,
        "{\"hq\":1, \"query\":\"tree\", \"view\":\"tree\",\n"
        " \"columns\":[\n"
        "  {\"name\":\"cputime\",\"metric\":\"cputime\",\"scope\":\"inclusive\",\"unit\":\"s\"},\n"
        "  {\"name\":\"cputime.x\",\"metric\":\"cputime\",\"scope\":\"exclusive\",\"unit\":\"s\"}],\n"
        " \"total\":[10,10],\n"
        " \"rows\":[\n"
        "  "
        "{\"id\":\"0000000000001\",\"kind\":\"procedure\",\"name\":\"m\",\"module\":null,\"file\":null,\"line\":null,"
        "\"callsite\":null,\"depth\":0,\"values\":[10,0]},\n"
        "  "
        "{\"id\":\"fzzzzzzzzzzzz\",\"kind\":\"procedure\",\"name\":\"f\",\"module\":null,\"file\":null,\"line\":null,"
        "\"callsite\":\"/src/file1.c:2\",\"depth\":1,\"values\":[7,1]},\n"
        "  "
        "{\"id\":null,\"kind\":\"procedure\",\"name\":\"g\",\"module\":null,\"file\":null,\"line\":null,\"callsite\":"
        "\"/src/file1.c:7\",\"depth\":2,\"values\":[6,1]},\n"
        "  "
        "{\"id\":null,\"kind\":\"procedure\",\"name\":\"g\",\"module\":null,\"file\":null,\"line\":null,\"callsite\":"
        "\"/src/file2.c:3\",\"depth\":3,\"values\":[5,1]},\n"
        "  "
        "{\"id\":null,\"kind\":\"procedure\",\"name\":\"h\",\"module\":null,\"file\":null,\"line\":null,\"callsite\":"
        "\"/src/file2.c:4\",\"depth\":4,\"values\":[4,4]},\n"
        "  {\"id\":null,\"kind\":\"loop\",\"name\":\"loop at "
        "file2.c:8\",\"module\":null,\"file\":\"/src/"
        "file2.c\",\"line\":8,\"callsite\":null,\"depth\":5,\"values\":[4,0]},\n"
        "  {\"id\":null,\"kind\":\"loop\",\"name\":\"loop at "
        "file2.c:9\",\"module\":null,\"file\":null,\"line\":null,\"callsite\":null,\"depth\":6,\"values\":[4,4]},\n"
        "  "
        "{\"id\":null,\"kind\":\"procedure\",\"name\":\"g\",\"module\":null,\"file\":null,\"line\":null,\"callsite\":"
        "\"/src/file1.c:8\",\"depth\":1,\"values\":[3,3]}],\n"
        " \"coverage\":{\"samples\":1000,\"shown\":1000,\"filtered\":0,\"partial\":0}}\n");
    check_format(
        t, "markdown", &plain,
        "| cputime | cputime.x | scope |\n"
        "|---:|---:|---|\n"
        "| 10.00 s (100.0%) |  | m |\n"
        "| 7.00 s (70.0%) | 1.00 s (10.0%) | &nbsp;&nbsp;f \\[file1.c:2\\] |\n"
        "| 6.00 s (60.0%) | 1.00 s (10.0%) | &nbsp;&nbsp;&nbsp;&nbsp;g \\[file1.c:7\\] |\n"
        "| 5.00 s (50.0%) | 1.00 s (10.0%) | &nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;g \\[file2.c:3\\] |\n"
        "| 4.00 s (40.0%) | 4.00 s (40.0%) | &nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;h \\[file2.c:4\\] |\n"
        "| 4.00 s (40.0%) |  | &nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;loop at file2.c:8 |\n"
        "| 4.00 s (40.0%) | 4.00 s (40.0%) | "
        "&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;loop at file2.c:9 |\n"
        "| 3.00 s (30.0%) | 3.00 s (30.0%) | &nbsp;&nbsp;g \\[file1.c:8\\] |\n");
    check_format(t, "folded", &plain,
                 "m;f 1000000\n"
                 "m;f;g 1000000\n"
                 "m;f;g;g 1000000\n"
                 "m;f;g;g;h;loop at file2.c:8;loop at file2.c:9 4000000\n"
                 "m;g 3000000\n");
    check_format(t, "dot", &plain,
                 "digraph hq {\n"
                 "  label=\"tree\";\n"
                 "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
                 "  edge [fontname=\"sans-serif\", fontsize=10];\n"
                 "  n0 [label=\"m\\n10.00 s (100.0%)\", fillcolor=\"#ffffff\", fontsize=10];\n"
                 "  n1 [label=\"f\\n7.00 s (70.0%)\\nown 1.00 s (10.0%)\", fillcolor=\"#ffc0c0\", fontsize=14];\n"
                 "  n2 [label=\"g\\n9.00 s (90.0%)\\nown 5.00 s (50.0%)\", fillcolor=\"#ff7272\", fontsize=20];\n"
                 "  n3 [label=\"h\\n4.00 s (40.0%)\", fillcolor=\"#ffffff\", fontsize=10];\n"
                 "  n4 [label=\"loop at file2.c:8\\n4.00 s (40.0%)\", fillcolor=\"#ffffff\", fontsize=10];\n"
                 "  n5 [label=\"loop at file2.c:9\\n4.00 s (40.0%)\\nown 4.00 s (40.0%)\", fillcolor=\"#ff8181\", "
                 "fontsize=19];\n"
                 "  n0 -> n1 [label=\"7.00 s\", penwidth=3.8];\n"
                 "  n1 -> n2 [label=\"6.00 s\", penwidth=3.4];\n"
                 "  n2 -> n2 [label=\"5.00 s\", penwidth=3.0, style=dashed];\n"
                 "  n2 -> n3 [label=\"4.00 s\", penwidth=2.6];\n"
                 "  n3 -> n4 [label=\"4.00 s\", penwidth=2.6];\n"
                 "  n4 -> n5 [label=\"4.00 s\", penwidth=2.6];\n"
                 "  n0 -> n2 [label=\"3.00 s\", penwidth=2.2];\n"
                 "}\n");
    table_destroy(t);
}

/* Names and values that formats have to quote, escape, or leave out. */
TEST(nasty)
{
    struct table *t = table_create();

    t->view = "procedures";
    t->query = "procedures matching /\"x\"/";
    add_column(t, "cputime", "cputime", SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    vec_push(&t->columns, (struct column){.name = "a,b", .type = COLUMN_TEXT, .total = NAN});
    struct row *r = add_row(t, 0, SCOPE_PROCEDURE, "f<int, \"x\">(a|b);\t_z\xff\xe6\x95\xb0", "/s/a.c", 0);
    r->cells[0].number = 0.1;
    r->cells[0].ci = 0.01;
    r->cells[1].text = "line\nbreak";
    r = add_row(t, 0, SCOPE_PARTIAL, "", NULL, 0);
    r->cells[0].number = -1e9;
    r = add_row(t, 0, SCOPE_LOOP, "", NULL, 0);
    r->file = "/s/x;y.c";
    r->cells[0].number = 1.0 / 3;
    r = add_row(t, 0, SCOPE_ROOT, "5 more", NULL, 0);
    r->flags = ROW_FOLDED;
    r->cells[0].number = 1;
    check_format(t, "csv", &plain,
                 "id,kind,name,module,file,line,callsite,depth,cputime,cputime.ci,\"a,b\"\r\n"
                 ",procedure,\"f<int, \"\"x\"\">(a|b);\t_z\377数\",,,,/s/a.c,0,0.1,0.01,\"line\n"
                 "break\"\r\n"
                 ",root,root,,,,,0,-1000000000,,\r\n"
                 ",loop,loop at x;y.c,,/s/x;y.c,,,0,0.3333333333333333,,\r\n");
    check_format(t, "tsv", &plain,
                 "id\tkind\tname\tmodule\tfile\tline\tcallsite\tdepth\tcputime\tcputime.ci\ta,b\n"
                 "\tprocedure\tf<int, \"x\">(a|b);\\t_z�数\t\t\t\t/s/a.c\t0\t0.1\t0.01\tline\\nbreak\n"
                 "\troot\troot\t\t\t\t\t0\t-1000000000\t\t\n"
                 "\tloop\tloop at x;y.c\t\t/s/x;y.c\t\t\t0\t0.3333333333333333\t\t\n");
    check_format(t, "json", &plain,
                 "{\"hq\":1, \"query\":\"procedures matching /\\\"x\\\"/\", \"view\":\"procedures\",\n"
                 " \"columns\":[\n"
                 "  {\"name\":\"cputime\",\"metric\":\"cputime\",\"scope\":\"inclusive\",\"unit\":\"s\"},\n"
                 "  {\"name\":\"a,b\",\"metric\":null,\"scope\":null,\"unit\":null}],\n"
                 " \"total\":[null,null],\n"
                 " \"rows\":[\n"
                 "  {\"id\":null,\"kind\":\"procedure\",\"name\":\"f<int, "
                 "\\\"x\\\">(a|b);\\t_z\\ufffd数\",\"module\":null,\"file\":null,\"line\":null,\"callsite\":\"/s/"
                 "a.c\",\"depth\":0,\"values\":[0.1,\"line\\nbreak\"],\"ci\":[0.01,null]},\n"
                 "  "
                 "{\"id\":null,\"kind\":\"root\",\"name\":\"root\",\"module\":null,\"file\":null,\"line\":null,"
                 "\"callsite\":null,\"depth\":0,\"values\":[-1000000000,null]},\n"
                 "  {\"id\":null,\"kind\":\"loop\",\"name\":\"loop at "
                 "x;y.c\",\"module\":null,\"file\":\"/s/"
                 "x;y.c\",\"line\":null,\"callsite\":null,\"depth\":0,\"values\":[0.3333333333333333,null]}],\n"
                 " \"coverage\":null}\n");
    check_format(t, "markdown", &plain,
                 "| cputime | a,b | name |\n"
                 "|---:|---|---|\n"
                 "| 1.000e-01 s ±1.000e-02 | line break | f&lt;int, \"x\">(a\\|b); \\_z�数 \\[a.c\\] |\n"
                 "| -1.000e+09 s |  | root |\n"
                 "| 3.333e-01 s |  | loop at x;y.c |\n"
                 "| 1.000e+00 s |  | ... 5 more |\n");
    check_format(t, "folded", &plain,
                 "f<int, \"x\">(a|b): _z�数 100000\n"
                 "loop at x:y.c 333333\n");
    check_format(t, "dot", &plain,
                 "digraph hq {\n"
                 "  label=\"procedures matching /\\\"x\\\"/\";\n"
                 "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
                 "  edge [fontname=\"sans-serif\", fontsize=10];\n"
                 "  n0 [label=\"f<int, \\\"x\\\">(a|b); _z�数\\n1.000e-01 s (>-0.1%)\\nown 1.000e-01 s (>-0.1%)\", "
                 "fillcolor=\"#ffffff\", fontsize=10];\n"
                 "  n1 [label=\"root\\n-1.000e+09 s (100.0%)\\nown -1.000e+09 s (100.0%)\", fillcolor=\"#ffffff\", "
                 "fontsize=10];\n"
                 "  n2 [label=\"loop at x;y.c\\n3.333e-01 s (>-0.1%)\\nown 3.333e-01 s (>-0.1%)\", "
                 "fillcolor=\"#ffffff\", fontsize=10];\n"
                 "}\n");
    table_destroy(t);
}

TEST(empty)
{
    struct table *t = table_create();

    t->view = "tree";
    check_format(t, "csv", &plain, "id,kind,name,module,file,line,callsite,depth\r\n");
    check_format(t, "json", &plain,
                 "{\"hq\":1, \"query\":null, \"view\":\"tree\",\n \"columns\":[],\n \"total\":[],\n \"rows\":[],\n "
                 "\"coverage\":null}\n");
    check_format(t, "folded", &plain, "as folded needs a column of numbers: ask for a view with a metric");
    check_format(t, "dot", &plain, "as dot needs a column of numbers: ask for a view with a metric");
    table_destroy(t);
}

/* Rows kept as ancestors carry nothing of their own in stacks: what `where` removed is not theirs. */
TEST(ancestors)
{
    struct table *t = example_tree();

    t->rows.data[0].flags = t->rows.data[1].flags = ROW_ANCESTOR;
    check_format(t, "folded", &plain,
                 "m;f;g 1000000\n"
                 "m;f;g;g 1000000\n"
                 "m;f;g;g;h;loop at file2.c:8;loop at file2.c:9 4000000\n"
                 "m;g 3000000\n");
    table_destroy(t);
}

/* Stacks of the example add up to the whole: 10 s. */
TEST(folded_sum)
{
    struct table *t = example_tree();
    AUTO_FREE char *text = text_of(t, "folded", &plain);
    long sum = 0;

    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        char *end = strchr(line, '\n');
        while (*end != ' ')
            end--;
        sum += strtol(end, NULL, 10);
    }
    CHECK(sum == 10000000);
    table_destroy(t);
}

TEST(ids)
{
    static const uint64_t some[] = {0, 1, 31, 32, 0x123456789abcdef0, UINT64_MAX};
    char text[TABLE_ID_TEXT];
    uint64_t first, last;

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        table_id_text(text, some[i]);
        CHECK(strlen(text) == 13 && table_id_range(text, &first, &last) && first == some[i] && last == some[i]);
        text[6] = 0;
        CHECK(table_id_range(text, &first, &last) && first <= some[i] && some[i] <= last &&
              last - first == (1ull << 35) - 1);
    }
    CHECK(table_id_range("FZZZZZZZZZZZZ", &first, &last) && first == UINT64_MAX);
    CHECK(!table_id_range("g", &first, &last));
    CHECK(!table_id_range("0u", &first, &last));
    CHECK(!table_id_range("00000000000000", &first, &last));
    CHECK(!table_id_range("", &first, &last));
}

TEST(exact)
{
    static const double some[] = {
        0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 9007199254740993.0, -2.5, 123456789012345678.0};
    char text[NUMBER_MAX];

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        exact_text(text, some[i]);
        CHECK(strtod(text, NULL) == some[i]);
    }
    exact_text(text, 0.1);
    CHECK_EQ_STR(text, "0.1");
    exact_text(text, -0.0);
    CHECK_EQ_STR(text, "0");
}

TEST(notes)
{
    struct table *t = example_tree();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    vec_push(&t->notes, "a hint");
    t->coverage = (struct coverage){.samples = 12345, .shown = 12001, .filtered = 344, .partial = 3, .known = true};
    output_notes(t, out);
    fclose(out);
    CHECK_EQ_STR(text, "a hint\n12001 of 12345 samples shown, 344 filtered, 3 with a partial call path\n");
    free(text);
    CHECK(!output_find("xml") && output_find("JSON"));
    table_destroy(t);
}

TEST(full_disk)
{
    struct table *t = example_tree();
    AUTO_FCLOSE FILE *out = fopen("/dev/full", "w");
    struct hq_error *err = out ? output_write(output_find("json"), t, &plain, out) : NULL;

    CHECK(!out || (err && err->status == HQ_DATA));
    hq_error_free(err);
    table_destroy(t);
}

TEST_MAIN
