/* SPDX-License-Identifier: BSD-3-Clause */
/* table and tree: exact texts. */
#include "tests/unit/output_help.h"

static const struct output_options plain, lines = {.utf8 = true};

TEST(example)
{
    struct table *t = example_tree();

    check_format(t, "tree", &lines,
                 "#          cputime        cputime.x  scope\n"
                 "   10.00 s  100.0%  10.00 s  100.0%  total\n"
                 "1  10.00 s  100.0%                   m\n"
                 "2   7.00 s   70.0%   1.00 s   10.0%  ├ f  [file1.c:2]\n"
                 "3   6.00 s   60.0%   1.00 s   10.0%  │   g  [file1.c:7]\n"
                 "4   5.00 s   50.0%   1.00 s   10.0%  │     g  [file2.c:3]\n"
                 "5   4.00 s   40.0%   4.00 s   40.0%  │       h  [file2.c:4]\n"
                 "6   4.00 s   40.0%                   │         loop at file2.c:8\n"
                 "7   4.00 s   40.0%   4.00 s   40.0%  │           loop at file2.c:9\n"
                 "8   3.00 s   30.0%   3.00 s   30.0%  └ g  [file1.c:8]\n");
    check_format(t, "TREE", &plain,
                 "#          cputime        cputime.x  scope\n"
                 "   10.00 s  100.0%  10.00 s  100.0%  total\n"
                 "1  10.00 s  100.0%                   m\n"
                 "2   7.00 s   70.0%   1.00 s   10.0%  |-f  [file1.c:2]\n"
                 "3   6.00 s   60.0%   1.00 s   10.0%  |   g  [file1.c:7]\n"
                 "4   5.00 s   50.0%   1.00 s   10.0%  |     g  [file2.c:3]\n"
                 "5   4.00 s   40.0%   4.00 s   40.0%  |       h  [file2.c:4]\n"
                 "6   4.00 s   40.0%                   |         loop at file2.c:8\n"
                 "7   4.00 s   40.0%   4.00 s   40.0%  |           loop at file2.c:9\n"
                 "8   3.00 s   30.0%   3.00 s   30.0%  `-g  [file1.c:8]\n");
    table_destroy(t);
}

TEST(marks)
{
    struct table *t = example_tree();

    t->rows.data[0].flags = ROW_ANCESTOR;
    t->rows.data[1].flags = ROW_HOT;
    t->rows.data[2].flags = ROW_HOT | ROW_NEW;
    t->rows.data[3].kind = SCOPE_INLINE;
    t->rows.data[3].flags = ROW_GONE;
    t->rows.data[4].flags = ROW_RECURSIVE;
    add_costs(t, 1, SCOPE_ROOT, "37 more", NULL, 0, 0.004, 0.00004)->number = 0;
    vec_last(&t->rows).flags = ROW_FOLDED;
    t->rows.data[7].cells[1].ci = 0.25;
    check_format(t, "tree", &lines,
                 "#          cputime              cputime.x    scope\n"
                 "   10.00 s  100.0%  10.00 s        100.0%    total\n"
                 "1  10.00 s  100.0%                           (m)\n"
                 "2   7.00 s   70.0%   1.00 s         10.0%  * ├ f  [file1.c:2]\n"
                 "3   6.00 s   60.0%   1.00 s         10.0%  * │   g (new)  [file1.c:7]\n"
                 "4   5.00 s   50.0%   1.00 s         10.0%    │     [I] g (gone)  [file2.c:3]\n"
                 "5   4.00 s   40.0%   4.00 s         40.0%    │       h (recursive)  [file2.c:4]\n"
                 "6   4.00 s   40.0%                           │         loop at file2.c:8\n"
                 "7   4.00 s   40.0%   4.00 s         40.0%    │           loop at file2.c:9\n"
                 "8   3.00 s   30.0%   3.00 s ±0.25   30.0%    ├ g  [file1.c:8]\n"
                 "   0.004 s   <0.1%  4e-05 s         <0.1%    └ ... 37 more\n");
    check_format(
        t, "tree", &(struct output_options){.utf8 = true, .colours = COLOURS_BASIC, .width = 80},
        "\033[1m#          cputime              cputime.x    scope\033[0m\n"
        "\033[2m   10.00 s  100.0%  10.00 s        100.0%    total\033[0m\n"
        "\033[2m1  10.00 s  100.0%                         \033[0m  \033[2m(m)\033[0m\n"
        "2   7.00 s   \033[31m70.0%\033[0m   1.00 s         \033[33m10.0%\033[0m  * \033[2m├\033[0m\033[1mf\033[0m  "
        "\033[36m[file1.c:2]\033[0m\n"
        "3   6.00 s   \033[31m60.0%\033[0m   1.00 s         \033[33m10.0%\033[0m  * \033[2m│ \033[0m\033[1mg "
        "(new)\033[0m  \033[36m[file1.c:7]\033[0m\n"
        "4   5.00 s   \033[31m50.0%\033[0m   1.00 s         \033[33m10.0%\033[0m    \033[2m│  \033[0m\033[35m[I] g "
        "(gone)\033[0m  \033[36m[file2.c:3]\033[0m\n"
        "5   4.00 s   \033[31m40.0%\033[0m   4.00 s         \033[31m40.0%\033[0m    \033[2m│   \033[0mh (recursive)  "
        "\033[36m[file2.c:4]\033[0m\n"
        "6   4.00 s   \033[31m40.0%\033[0m                           \033[2m│    \033[0mloop at file2.c:8\n"
        "7   4.00 s   \033[31m40.0%\033[0m   4.00 s         \033[31m40.0%\033[0m    \033[2m│     \033[0mloop at "
        "file2.c:9\n"
        "8   3.00 s   \033[31m30.0%\033[0m   3.00 s ±0.25   \033[31m30.0%\033[0m    \033[2m├\033[0mg  "
        "\033[36m[file1.c:8]\033[0m\n"
        "\033[2m   0.004 s   <0.1%  4e-05 s         <0.1%  \033[0m  \033[2m└\033[0m\033[2m... 37 more\033[0m\n");
    table_destroy(t);
}

/* Columns of every dimension, with values that are missing, zero, negative, huge, and no numbers at all. */
TEST(numbers)
{
    struct table *t = table_create();
    static const double values[][5] = {
        {1e9, 123456789012.0, 5e9, -1.5, 0.25},
        {0.001, 1, 1024, 2.25, 1.0 / 3},
        {NAN, INFINITY, -INFINITY, 0, 1e-9},
        {0, 0, 0, 1e300, 0},
        {-2, -3, -4, -0.0001, -0.5},
    };

    add_column(t, "time", "time", SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    add_column(t, "instructions", "instructions", SCOPED_INCLUSIVE, DIM_EVENTS, 123456789012.0);
    add_column(t, "malloc", "malloc", SCOPED_INCLUSIVE, DIM_BYTES, 5e9);
    add_column(t, "delta", "delta", SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    t->columns.data[3].marks_sign = true;
    add_column(t, "ipc", NULL, SCOPED_NONE, DIM_NONE, NAN);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct row *r = add_row(t, 0, SCOPE_PROCEDURE, "p", NULL, 0);
        for (size_t c = 0; c < 5; c++)
            r->cells[c].number = values[i][c];
    }
    t->rows.data[1].cells[1].base = 2;
    check_format(t, "table", &plain,
                 "#          time     instructions             malloc          delta      ipc  name\n"
                 "                 123.5 G  100.0%  4.657 GiB  100.0%                          total\n"
                 "1   1.000e+09 s  123.5 G  100.0%  4.657 GiB  100.0%   -1.500e+00 s   0.2500  p\n"
                 "2   1.000e-03 s      1     50.0%   1024 B     <0.1%   +2.250e+00 s   0.3333  p\n"
                 "3                                                                     1e-09  p\n"
                 "4                                                    +1.000e+300 s        0  p\n"
                 "5  -2.000e+00 s     -3    >-0.1%     -4 B    >-0.1%   -1.000e-04 s  -0.5000  p\n");
    table_destroy(t);
}

/* Two rows of a second each, the first with a path. */
static struct table *paths_table(const char *first, const char *path, enum scope_kind kind, const char *second)
{
    struct table *t = table_create();

    add_column(t, "time", "time", SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    vec_push(&t->columns,
             (struct column){.name = "path", .type = COLUMN_TEXT, .total = NAN, .beside = true, .is_path = true});
    add_row(t, 0, SCOPE_PROCEDURE, first, NULL, 0);
    add_row(t, 0, kind, second, NULL, 0);
    t->rows.data[0].cells[0].number = t->rows.data[1].cells[0].number = 1;
    t->rows.data[0].cells[1].text = path;
    return t;
}

/* A text that belongs to the name stands behind it, where it may be long; a terminal's line cuts it, and names that
 * take more than half. */
TEST(texts_beside_names)
{
    struct table *t = paths_table("axpy", "main > iterate > solve > smooth > axpy", SCOPE_PROCEDURE,
                                  "a_name_of_rather_many_letters_that_goes_on");

    check_format(t, "table", &plain,
                 "#     time  name                                        path\n"
                 "1  1.000 s  axpy                                        main > iterate > solve > smooth > axpy\n"
                 "2  1.000 s  a_name_of_rather_many_letters_that_goes_on\n");
    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 66},
                 "#     time  name                         path\n"
                 "1  1.000 s  axpy                         … > solve > smooth > axpy\n"
                 "2  1.000 s  a_name_o…tters_that_goes_on\n");
    check_format(t, "table", &(struct output_options){.width = 66, .names = NAMES_FULL},
                 "#     time  name                                        path\n"
                 "1  1.000 s  axpy                                        main > iterate > solve > smooth > axpy\n"
                 "2  1.000 s  a_name_of_rather_many_letters_that_goes_on\n");
    t->columns.data[1].is_path = false;
    check_format(t, "table", &(struct output_options){.width = 66},
                 "#     time  name                         path\n"
                 "1  1.000 s  axpy                         main > iterate > solve...\n"
                 "2  1.000 s  a_name_o...ers_that_goes_on\n");
    table_destroy(t);
}

/* Where it is short it is whole, and names have the rest; numbers leave room for both. */
TEST(short_texts_beside_names)
{
    struct table *t = table_create();

    for (const char *name = "abcd"; *name; name++)
        add_column(t, name, name, SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    vec_push(&t->columns, (struct column){.name = "procedure", .type = COLUMN_TEXT, .total = NAN, .beside = true});
    struct row *r = add_row(t, 0, SCOPE_REGION, "parallel region at lulesh.cc:2022", NULL, 0);

    for (int c = 0; c < 4; c++)
        r->cells[c].number = 1;
    r->cells[4].text = "react";
    check_format(t, "table", &(struct output_options){.width = 65},
                 "#     abcd      bcd  name                               procedure\n"
                 "1  1.000 s  1.000 s  parallel region at lulesh.cc:2022  react\n"
                 "(left out: for lack of room cd, d; `columns` chooses)\n");
    table_destroy(t);
}

/* Those that their view can spare go first, and those that it cannot stay before long names. */
TEST(spare_columns_go_first)
{
    struct table *t = table_create();

    for (const char *name = "abcd"; *name; name++)
        add_column(t, name, name, SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    t->columns.data[1].spare = true;
    vec_push(&t->columns, (struct column){.name = "procedure", .type = COLUMN_TEXT, .total = NAN, .beside = true});
    struct row *r = add_row(t, 0, SCOPE_REGION, "parallel region at lulesh.cc:2022", NULL, 0);

    for (int c = 0; c < 4; c++)
        r->cells[c].number = 1;
    r->cells[4].text = "CalcKinematicsForElems(Domain&)";
    check_format(t, "table", &(struct output_options){.width = 76},
                 "#     abcd       cd        d  name                      procedure\n"
                 "1  1.000 s  1.000 s  1.000 s  region at lulesh.cc:2022  CalcKinematicsFor...\n"
                 "(left out: for lack of room bcd; `columns` chooses)\n");
    table_destroy(t);
}

TEST(tabs_go_to_columns_of_eight)
{
    struct table *t = paths_table("axpy", "\tx\t= y;\t// z", SCOPE_PROCEDURE, "solve");

    t->columns.data[1].is_path = false;
    check_format(t, "table", &plain,
                 "#     time  name   path\n"
                 "1  1.000 s  axpy           x       = y;    // z\n"
                 "2  1.000 s  solve\n");
    table_destroy(t);
}

/* In a path that is cut, names are shortened one by one: ` > ` also stands in template arguments. A thread keeps what
 * says that it is one. */
TEST(paths_and_threads_on_a_terminal)
{
    struct table *t = paths_table("malloc",
                                  "main > std::map<int, std::vector<int, std::allocator<int> > >::operator[](int "
                                  "const&) > operator new(unsigned long) > malloc",
                                  SCOPE_THREAD,
                                  "thread created by std::thread::_M_start_thread(std::unique_ptr<std::thread::_State, "
                                  "std::default_delete<std::thread::_State> >)");

    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 114},
                 "#     time  name                                                 path\n"
                 "1  1.000 s  malloc                                               …ator[](…) > operator new(unsigned "
                 "long) > malloc\n"
                 "2  1.000 s  thread created by std::thread::_M_start_thread(…)\n");
    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 142},
                 "#     time  name                                                               path\n"
                 "1  1.000 s  malloc                                                             "
                 "…::map<…>::operator[](…) > operator new(unsigned long) > malloc\n"
                 "2  1.000 s  thread created by std::thread::_M_start_thread(…)\n");
    table_destroy(t);
}

TEST(lists)
{
    struct table *t = table_create();

    add_column(t, "misses", "misses", SCOPED_EXCLUSIVE, DIM_EVENTS, 400);
    vec_push(&t->columns, (struct column){.name = "host", .type = COLUMN_TEXT, .total = NAN});
    check_format(t, "table", &plain,
                 "misses  host  name\n"
                 "(no rows)\n");
    struct row *r = add_row(t, 0, SCOPE_PROCEDURE, "数値計算\x1b[2J\xff", NULL, 0);
    r->cells[0].number = 300;
    r->cells[1].text = "ノード1";
    r->file = "/src/a.c";
    r->line = 12;
    r = add_row(t, 0, SCOPE_PROCEDURE, "memcpy", NULL, 0);
    r->cells[0].number = 100;
    r->cells[1].text = "n";
    r->module = "/lib/libc.so.6";
    check_format(t, "table", &lines,
                 "#       misses  host     name\n"
                 "   400  100.0%           total\n"
                 "1  300   75.0%  ノード1  数値計算?[2J�  a.c:12\n"
                 "2  100   25.0%  n        memcpy  (libc.so.6)\n");
    check_format(t, "table", &plain,
                 "#       misses  host     name\n"
                 "   400  100.0%           total\n"
                 "1  300   75.0%  ??????1  ?????????[2J?  a.c:12\n"
                 "2  100   25.0%  n        memcpy  (libc.so.6)\n");
    table_destroy(t);
}

/* Off a terminal and with columns that the query names all of them are shown. */
TEST(columns_that_do_not_fit)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct table *t = table_create();

    for (size_t i = 0; i < 4; i++) {
        add_column(t, names[i], names[i], SCOPED_INCLUSIVE, DIM_SECONDS, 10);
        add_column(t, names[i], names[i], SCOPED_EXCLUSIVE, DIM_SECONDS, 10);
    }
    add_row(t, 0, SCOPE_PROCEDURE, "main", NULL, 0);
    for (size_t i = 0; i < 8; i++)
        t->rows.data[0].cells[i].number = i % 2 ? 0 : 10;
    t->columns.data[6].orders = true;
    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 100},
                 "#                a                b                d  name\n"
                 "   10.00 s  100.0%  10.00 s  100.0%  10.00 s  100.0%  total\n"
                 "1  10.00 s  100.0%  10.00 s  100.0%  10.00 s  100.0%  main\n"
                 "(left out: 4 columns without a value; for lack of room c; `columns` chooses)\n");
    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 108},
                 "#                a                b                c                d  name\n"
                 "   10.00 s  100.0%  10.00 s  100.0%  10.00 s  100.0%  10.00 s  100.0%  total\n"
                 "1  10.00 s  100.0%  10.00 s  100.0%  10.00 s  100.0%  10.00 s  100.0%  main\n"
                 "(left out: 4 columns without a value; `columns` chooses)\n");
    static const char *const whole =
        "#                a  a                b  b                c  c                d  d  name\n"
        "   10.00 s  100.0%     10.00 s  100.0%     10.00 s  100.0%     10.00 s  100.0%     total\n"
        "1  10.00 s  100.0%     10.00 s  100.0%     10.00 s  100.0%     10.00 s  100.0%     main\n";
    check_format(t, "table", &plain, whole);
    t->chosen_columns = true;
    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 40}, whole);
    table_destroy(t);
}

/* Of a comparison the change stays, even where nothing has changed; the old values go. */
TEST(changes_that_do_not_fit)
{
    struct table *t = table_create();

    add_column(t, "a", "a", SCOPED_INCLUSIVE, DIM_SECONDS, 10);
    add_column(t, "old.a", "old.a", SCOPED_INCLUSIVE, DIM_SECONDS, 10);
    add_column(t, "delta.a", "delta.a", SCOPED_INCLUSIVE, DIM_SECONDS, 0);
    t->columns.data[2].marks_sign = t->columns.data[2].orders = true;
    t->columns.data[2].base = 10;
    add_row(t, 0, SCOPE_PROCEDURE, "main", NULL, 0);
    t->rows.data[0].cells[0].number = t->rows.data[0].cells[1].number = 10;
    check_format(t, "table", &(struct output_options){.utf8 = true, .width = 66},
                 "#                a  delta.a  name\n"
                 "   10.00 s  100.0%           total\n"
                 "1  10.00 s  100.0%           main\n"
                 "(left out: for lack of room old.a; `columns` chooses)\n");
    table_destroy(t);
}

TEST(long_commands_are_cut)
{
    struct table *t = table_create();
    char command[2002], want[400];

    for (size_t i = 0; i < sizeof command - 1; i++)
        command[i] = i % 2 ? ' ' : 'x';
    command[sizeof command - 1] = 0;
    t->facts = true;
    vec_push(&t->columns, (struct column){.name = "value", .type = COLUMN_TEXT, .total = NAN});
    add_row(t, 0, SCOPE_ROOT, "command", NULL, 0)->cells[0].text = command;
    snprintf(want, sizeof want, "command  %.299s ... (1001 words)\n", command);
    check_format(t, "table", &plain, want);
    table_destroy(t);
}

/* What a shell would need to make it again: no control character, no `?`. */
TEST(commands_of_several_lines)
{
    struct table *t = table_create();
    char cut[400] = "cut";

    t->facts = true;
    vec_push(&t->columns, (struct column){.name = "value", .type = COLUMN_TEXT, .total = NAN});
    add_row(t, 0, SCOPE_ROOT, "command", NULL, 0)->cells[0].text = "bash -c 'a \\\n\tb' 'it'\\''s' c";
    check_format(t, "table", &plain, "command  bash -c $'a \\\\\\n\\tb' 'it'\\''s' c\n");
    /* A recording keeps the beginning of a long one: how many words it has is not known then. */
    for (size_t i = 0; i < 170; i++)
        strcat(cut, i < 169 ? " x" : " ...");
    t->rows.data[0].cells[0].text = cut;
    char want[400];
    snprintf(want, sizeof want, "command  %.299s ... (at least 170 words)\n", cut);
    check_format(t, "table", &plain, want);
    table_destroy(t);
}

TEST(facts)
{
    struct table *t = table_create();

    t->facts = true;
    vec_push(&t->columns, (struct column){.name = "value", .type = COLUMN_TEXT, .total = NAN});
    add_row(t, 0, SCOPE_ROOT, "host", NULL, 0)->cells[0].text = "node1";
    add_row(t, 1, SCOPE_ROOT, "start of ranks", NULL, 0)->cells[0].text = "within 2 ms";
    add_row(t, 0, SCOPE_ROOT, "nothing", NULL, 0);
    check_format(t, "table", &plain,
                 "host            node1\n"
                 "  start of ranks  within 2 ms\n"
                 "nothing\n");
    table_destroy(t);
}

/* Of what nothing was measured there are no columns, but where the query names them. A change of something that did not
 * change stays. */
TEST(silent_columns)
{
    struct table *t = table_create();

    add_column(t, "a", "a", SCOPED_INCLUSIVE, DIM_EVENTS, 10);
    add_column(t, "io", "io", SCOPED_INCLUSIVE, DIM_BYTES, 0);
    add_column(t, "io.x", "io", SCOPED_EXCLUSIVE, DIM_BYTES, 0);
    add_column(t, "b", "b", SCOPED_INCLUSIVE, DIM_EVENTS, 10);
    add_column(t, "rate", "rate", SCOPED_NONE, DIM_NONE, NAN);
    add_column(t, "delta.a", "delta.a", SCOPED_INCLUSIVE, DIM_EVENTS, 0);
    add_column(t, "delta.io", "delta.io", SCOPED_INCLUSIVE, DIM_BYTES, 0);
    t->columns.data[5].marks_sign = t->columns.data[6].marks_sign = true;
    t->columns.data[5].base = 10;
    add_row(t, 0, SCOPE_PROCEDURE, "main", NULL, 0)->cells[0].number = 10;
    check_format(t, "table", &plain,
                 "#           a  b  delta.a  name\n"
                 "   10  100.0%              total\n"
                 "1  10  100.0%              main\n"
                 "(without a value: io, rate; `columns` shows them)\n");
    check_format(t, "markdown", &plain,
                 "| a | b | delta.a | name |\n"
                 "|---:|---:|---:|---|\n"
                 "| 10 (100.0%) |  |  | main |\n");
    t->chosen_columns = true;
    AUTO_FREE char *all = text_of(t, "table", &plain);
    CHECK(strstr(all, "io.x") != NULL);
    table_destroy(t);
}

/* Of more rows than a screen has, the ends of the axis share a line of the terminal, however long their names are. */
TEST(columns_of_a_plot_fit_the_terminal)
{
    struct table *t = table_create();

    add_column(t, "time", "time", SCOPED_INCLUSIVE, DIM_SECONDS, NAN);
    for (int i = 0; i < 100; i++)
        add_row(t, 0, SCOPE_PROCEDURE, "a_name_of_rather_many_letters_that_goes_on_and_on", NULL, 0)->cells[0].number =
            1 + i;

    AUTO_FREE char *text = text_of(t, "plot", &(struct output_options){.width = 80, .utf8 = true});
    AUTO_FREE char *whole = text_of(t, "plot", &plain);

    CHECK(strstr(text, " a column is the largest of up to 2 rows\n") != NULL);
    CHECK(strstr(whole, "goes_on_and_on to a_name_of_rather_many_letters_that_goes_on_and_on\n") != NULL);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        CHECK(utf8_width(line) <= 80);
    table_destroy(t);
}

/* 60 levels: off a terminal all of the indentation, on a narrow one a count of levels. */
TEST(deep)
{
    struct table *t = table_create();
    size_t longest = 0;

    t->tree = true;
    add_column(t, "n", "n", SCOPED_INCLUSIVE, DIM_EVENTS, NAN);
    for (int i = 0; i < 60; i++)
        add_row(t, i, SCOPE_PROCEDURE, i == 59 ? "a_name_that_is_much_longer_than_what_is_left_of_the_line" : "step",
                "a.c", 7)
            ->cells[0]
            .number = 60;
    AUTO_FREE char *wide = text_of(t, "tree", &plain);
    CHECK(strstr(wide, "60  60  "
                       "                                                           "
                       "a_name_that") != NULL);
    AUTO_FREE char *narrow = text_of(t, "tree", &(struct output_options){.width = 80, .utf8 = true});
    CHECK(strstr(narrow, "+27 a_name_t") != NULL);
    CHECK(strstr(narrow, "left_of_the_line\n") != NULL);
    for (const char *line = narrow; *line;) {
        size_t len = strcspn(line, "\n"), width = utf8_width_n(line, len);
        longest = width > longest ? width : longest;
        line += len + (line[len] == '\n');
    }
    CHECK(longest <= 80);
    table_destroy(t);
}

TEST_MAIN
