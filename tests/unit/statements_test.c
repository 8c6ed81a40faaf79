/* SPDX-License-Identifier: BSD-3-Clause */
/* Loop statements of C, Fortran and Ada: what is one, and where it begins and ends. */
#include "structure/source/statements.h"
#include "common/hash.h"
#include "common/str.h"
#include "tests/unit/test.h"

/* All loops as `above:first:head:end:told`, those in others behind `/`s. */
static void finds(statements_scan *scan, const char *text, const char *expected)
{
    struct statements s;
    AUTO_STR struct str got = {0};

    scan(text, strlen(text), &s);
    vec_foreach(l, &s.loops) {
        str_add(&got, got.len ? " " : "");
        for (uint32_t p = l->parent; p != STATEMENT_NONE; p = s.loops.data[p].parent)
            str_addc(&got, '/');
        str_addf(&got, "%u:%u:%u:%u:%u", l->above, l->first, l->head, l->end, l->told);
    }
    if (strcmp(str_cstr(&got), expected))
        printf("# %s\n# %s\n", text, str_cstr(&got));
    CHECK(!strcmp(str_cstr(&got), expected));
    statements_deinit(&s);
}

static void finds_c(const char *text, const char *expected)
{
    finds(statements_of_c, text, expected);
}

TEST(loops_of_c)
{
    finds_c("void f(void)\n{\nfor (int i = 0;\n i < n; i++)\n{\n a();\n}\n}\n", "3:3:4:7:3");
    finds_c("for (;;)\n while (x)\n  y();\nz();\n", "1:1:1:3:1 /2:2:2:3:2");
    finds_c("do\n{\n x--;\n}\nwhile (x\n > 1);\n", "1:1:1:6:5");
    finds_c("do x(); while (0);\nwhile (y) do z(); while ( false );\nfor (;;);", "2:2:2:2:2 3:3:3:3:3");
    finds_c("if (a)\n for (;;)\n  b();\nelse\n while (c)\n  d();\n", "2:2:2:3:2 5:5:5:6:5");
    finds_c("again: while (a)\n switch (b) {\n case 1: for (;;) { c(); }\n }\n", "1:1:1:4:1 /3:3:3:3:3");
    finds_c("for (auto x : y)\n try { a(x); }\n catch (...) { }\n", "1:1:1:2:1");
}

TEST(expressions_with_statements_in_them)
{
    finds_c("for (int i : v)\n g([&](int j) {\n  while (j--)\n   h();\n });\nw();\n", "1:1:1:5:1 /3:3:3:4:3");
    finds_c("int x = ({\n while (a)\n  b();\n 3; });\n", "2:2:2:3:2");
    finds_c("struct s t = {\n .a = 1,\n};\nfor (;;)\n {}\n", "4:4:4:5:4");
}

TEST(no_words_of_the_program)
{
    finds_c("/* for (;;) */ // while (1) \\\n for (;;)\n\"for (;;)\" 'w' \"\\\"while (\"; int form, whiled;\n", "");
    finds_c("auto s = R\"x(\nfor (;;) {\n)\" )x\";\nwhile (1'000 > n)\n;\n", "4:4:4:5:4");
    finds_c("#define EACH(x) for (x = 0; \\\n x < n; x++)\nEACH(i)\n a();\n", "");
    finds_c("int for_each = 0; do_it(); a.whilst = 1;", "");
}

TEST(conditionals_of_the_preprocessor)
{
    finds_c("#if A\nfor (;;) {\n#else\nwhile (b) {\n#endif\n c();\n}\nd();\n", "2:2:2:7:2");
    finds_c("#ifdef A\nfor (;;) a();\n#elif B\nwhile (b) c();\n#endif\n", "2:2:2:2:2 4:4:4:4:4");
    finds_c("#if 0\nfor (;;) {\n#else\nwhile (b) {\n#endif\n}\n", "4:4:4:6:4");
    finds_c("#if 0\n it's no code {\n#endif\nfor (;;) a();\n", "4:4:4:4:4");
}

TEST(directives_of_c)
{
    finds_c("a();\n#pragma omp parallel for \\\n schedule(static)\n// why\n\nfor (;;)\n b();\n", "2:6:6:7:6");
    finds_c("#pragma omp parallel\n{\n#pragma omp for\nfor (;;) b();\nfor (;;) c();\n}\n", "3:4:4:4:4 5:5:5:5:5");
}

TEST(loops_of_free_fortran)
{
    finds(statements_of_free, "subroutine s\ndo i = 1, &\n  n ! do\n x(i) = 'do j = 1, 2'\nend do\nend subroutine\n",
          "2:2:3:5:2");
    finds(statements_of_free, "outer: DO j=1,n\n DO WHILE (a > 1)\n  do\n   exit\n  enddo\n ENDDO\nEND DO outer\n",
          "1:1:1:7:1 /2:2:2:6:2 //3:3:3:5:3");
    finds(statements_of_free, "do concurrent (i = 1:n)\n x(i) = 0\nend do\ndot(1) = 2; do10 = 3\ndouble = 1\n",
          "1:1:1:3:1");
    finds(statements_of_free,
          "!$omp parallel do &\n!$omp private(j)\ndo i = 1, n\n!$omp simd\n do j = 1, 3\n end do\nend do\n",
          "1:3:3:7:3 /4:5:5:6:5");
    finds(statements_of_free, "#ifdef A\ndo i = 1, n\n#else\ndo i = 1, m\n#endif\n x(i) = 1\nend do\n", "2:2:2:7:2");
    finds(statements_of_free, "forall (i = 1:n)\n x(i) = i\nend forall\nforall (i = 1:n) x(i) = i\n", "1:1:1:3:1");
}

TEST(loops_of_fixed_fortran)
{
    finds(statements_of_fixed,
          "c     do 5 i = 1, 2\n      DO 10 I = 1,\n     &  N\n      DO 10 J = 1, M\n      X(I, J) = 0\n   10 "
          "CONTINUE\n      Y = 1\n",
          "2:2:3:6:2 /4:4:4:6:4");
    finds(statements_of_fixed, "      do10i=1,n\n      do10i=1.5\n   10 enddo\n", "1:1:1:3:1");
    finds(statements_of_fixed, "c$omp parallel do\n      do i = 1, n\n      x(i) = 0\n      end do\n", "1:2:2:4:2");
}

/* A statement with its directive, as first-last. */
static void finds_atomic(statements_scan *scan, const char *text, uint32_t first, uint32_t last)
{
    struct statements s;

    scan(text, strlen(text), &s);
    CHECK(s.arrays.len == (first ? 1 : 0));
    if (s.arrays.len)
        CHECK(s.arrays.data[0].first == first && s.arrays.data[0].last == last);
    statements_deinit(&s);
}

TEST(atomic_statements_are_tried_again)
{
    finds_atomic(statements_of_c, "x();\n#pragma omp  atomic update\n  f[(i)] +=\n 2;\ny();\n", 2, 4);
    finds_atomic(statements_of_c, "#pragma omp atomic capture\n{\n v = x;\n x += 2;\n}\n{ y(); }\n", 1, 5);
    finds_atomic(statements_of_c, "#pragma omp parallel\n{ x(); }\n/* #pragma omp atomic */ y();\n", 0, 0);
    finds_atomic(statements_of_free, "b = 1\n!$OMP ATOMIC\n a(i) = a(i) + &\n 1\nb = 2\n", 2, 4);
    finds_atomic(statements_of_free, "!$omp end atomic\na = 1\n!$omp single\nb = 2\n", 0, 0);
}

TEST(arrays_short_loops_and_gotos)
{
    const char *text =
        "a(1:n) = 0\nb = c(i)\nreal :: d(:)\nwhere (a > 0)\ndo m = 1, 5\n if (m > 3) go to 7\nend do\n7 x = 1\n";
    struct statements s;

    statements_of_free(text, strlen(text), &s);
    CHECK_EQ_INT(s.arrays.len, 2);
    CHECK_EQ_INT(s.arrays.data[1].first, 4);
    CHECK(s.loops.len == 1 && s.loops.data[0].unrolled);
    CHECK(s.gotos.len == 1 && s.gotos.data[0].line == 6);
    statements_deinit(&s);
    text = "for (;;)\n { x: y(); goto x; }\n";
    statements_of_c(text, strlen(text), &s);
    CHECK(s.gotos.len == 1 && s.gotos.data[0].line == 2);
    statements_deinit(&s);
}

TEST(loops_of_goto)
{
    const char *text = "10 continue\n x = 1\n if (x > 2) goto 10\n go to 20\n20 y = 1\n"
                       "if (y) 20, 30, 40\n30 z = 1 + &\n  2\n40 goto (20, 50), i\nend\n"
                       "10 format (1x)\ngoto 10\n50 do i = 1, 2\ngoto 50\nend do\ncontains\ngoto 50\nif (a) x = 10\n";
    struct statements s;

    statements_of_free(text, strlen(text), &s);
    CHECK_EQ_INT(s.rounds.len, 3);
    CHECK(s.rounds.data[0].first == 1 && s.rounds.data[0].last == 3);
    CHECK(s.rounds.data[1].first == 5 && s.rounds.data[1].last == 9);
    CHECK(s.rounds.data[2].first == 13 && s.rounds.data[2].last == 14);
    CHECK(s.parts.len == 1 && s.parts.data[0].first == 7 && s.parts.data[0].last == 8);
    statements_deinit(&s);
}

TEST(one_statement_may_be_several_loops)
{
    const char *text = "do concurrent (i = 1:n, j = 1:m(2), mod(i, j) == 0)\nend do\nforall (i = 1:n, j = 1:n)\n"
                       "end forall\ndo concurrent (i = 1:n, i >= 3)\nend do\ndo i = 1, n\nend do\n";
    struct statements s;

    statements_of_free(text, strlen(text), &s);
    CHECK(s.loops.len == 4 && s.loops.data[0].ranges == 2 && s.loops.data[1].ranges == 2 &&
          s.loops.data[2].ranges == 1 && s.loops.data[3].ranges == 1);
    statements_deinit(&s);
}

TEST(a_scanner_is_chosen_by_the_name)
{
    CHECK(statements_scanner("/a/b.cc") == statements_of_c && statements_scanner("x.F90") == statements_of_free);
    CHECK(statements_scanner("x.f") == statements_of_fixed && !statements_scanner("lib.rs") &&
          !statements_scanner("Makefile"));
}

/* Lines stay in their order, and parents in front of children and around them, whatever the text is. */
static void holds_together(statements_scan *scan, const char *text, size_t size)
{
    struct statements s;
    bool good = true;

    scan(text, size, &s);
    for (size_t i = 0; i < s.loops.len; i++) {
        const struct loop_statement *l = &s.loops.data[i];

        good &= l->above && l->above <= l->first && l->first <= l->head && l->head <= l->end && l->told <= l->end;
        good &= l->parent == STATEMENT_NONE || (l->parent < i && s.loops.data[l->parent].first <= l->first);
        good &= !i || s.loops.data[i - 1].above <= l->above;
    }
    CHECK(good);
    statements_deinit(&s);
}

TEST(any_text_is_read)
{
    static const char *const words[] = {"for (",
                                        ";;)",
                                        "{",
                                        "}",
                                        "(",
                                        ")",
                                        "while (0)",
                                        "do",
                                        "if",
                                        "else",
                                        "#if 0\n",
                                        "#else\n",
                                        "#endif\n",
                                        "\n",
                                        "/*",
                                        "*/",
                                        "\"",
                                        "'",
                                        "R\"(",
                                        "//",
                                        "\\\n",
                                        "end do",
                                        "do 10 i = 1, 2",
                                        "10 x",
                                        "&\n",
                                        "!$omp do\n",
                                        ";",
                                        "goto a",
                                        "#pragma x\n",
                                        "forall (i=1:2)",
                                        "      ",
                                        "try {",
                                        "\0"};
    uint64_t state = 7;

    for (int round = 0; round < 3000; round++) {
        AUTO_STR struct str text = {0};

        for (int i = 0; i < 60; i++) {
            state = hash_u64(state + 1);
            str_add(&text, words[state % (sizeof words / sizeof *words)]);
            str_addc(&text, state & 1024 ? ' ' : '\n');
        }
        holds_together(statements_of_c, str_cstr(&text), text.len);
        holds_together(statements_of_free, str_cstr(&text), text.len);
        holds_together(statements_of_fixed, str_cstr(&text), text.len);
        holds_together(statements_of_ada, str_cstr(&text), text.len);
    }
}

TEST(loops_of_ada)
{
    finds(statements_of_ada, "for I in A'Range\nloop\n while X /= 1 loop\n  Y;\n end loop;\nEND LOOP;\n",
          "1:1:2:6:1 /3:3:3:5:3");
    finds(statements_of_ada, "Outer :\nloop\n exit Outer when C; -- for all loop\nend\nloop Outer;\n", "2:2:2:5:2");
    finds(statements_of_ada,
          "for A'Size use 32;\nif (for all I in 1 .. 3 => F (I)) then\nloop null; end loop;\nend if;", "3:3:3:3:3");
    finds(statements_of_ada, "P (\"loop \"\" while\"); Q ('\"');\nfor I of V loop R (Character'('\"')); end loop;\n",
          "2:2:2:2:2");
    finds(statements_of_ada, "end loop; loop\n a;\n", "1:1:1:3:1");
}

TEST(nests_of_any_depth_end)
{
    AUTO_STR struct str text = {0};

    for (int i = 0; i < 100000; i++)
        str_add(&text, "for (;;) {");
    finds_c(str_cstr(&text), "");
    str_clear(&text);
    for (int i = 0; i < 100000; i++)
        str_add(&text, "else if (");
    finds_c(str_cstr(&text), "");
}

TEST_MAIN
