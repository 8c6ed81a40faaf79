/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats made of lines: folded stacks and perf script. */
#include "tests/unit/db_tree.h"
#include "tests/unit/test.h"

#include "common/mem.h"
#include "db/import/import.h"
#include "db/import/perf.h"
#include "tests/unit/import_help.h"

/* ---- folded ---- */

TEST(folded_paths_add_up)
{
    CHECK_IMPORT(NULL,
                 "main;solve;axpy 10\n"
                 "main;solve 2\n"
                 "main;solve;axpy 5\n"
                 "\n"
                 "main 1\r\n",
                 "metrics: samples\n"
                 "main 18\n"
                 " solve 17\n"
                 "  axpy 15\n");
}

TEST(folded_fractions_keep_their_digits)
{
    CHECK_IMPORT("folded", "a;b 0.125\na;c 2\n", "metrics: samples\na 2.125\n b 0.125\n c 2\n");
}

/* Beyond 2^53 the next number of floating point is 2 away. */
TEST(folded_large_values_add_up)
{
    struct db *db = NULL;

    CHECK_OK(import_text("folded", "a 9007199254740993\na 1\na 1\nb 0.5e1\n", &db));
    CHECK_OR_RETURN(db);
    CHECK_EQ_INT(db_tree_inclusive(db, 0, 0), 9007199254741000);
    db_close(db);
}

TEST(folded_names_may_hold_spaces)
{
    CHECK_IMPORT(NULL, "main;operator new(unsigned long) 3",
                 "metrics: samples\nmain 3\n operator new(unsigned long) 3\n");
}

TEST(the_runtime_above_main_is_left_out)
{
    CHECK_IMPORT(NULL,
                 "_start;__libc_start_main@@GLIBC_2.34;main;work 3\n"
                 "prog;_start;main;work 2\n"
                 "clone3;start_thread;worker 4\n"
                 "_start;other 1\n",
                 "metrics: samples\n"
                 "thread 4\n worker 4\n"
                 "_start 1\n other 1\n"
                 "main 3\n work 3\n"
                 "prog 2\n main 2\n  work 2\n");
}

TEST(folded_comments_are_no_stacks)
{
    CHECK_IMPORT(NULL, "# austin: 3.6.0\n# mode: wall\n\nP1;T0:7;main 3\n",
                 "metrics: samples\nP1 3\n T0:7 3\n  main 3\n");
}

TEST(folded_python)
{
    CHECK_IMPORT(NULL,
                 "<module> (app.py:30);run (app.py:12);work (lib/x.py:7) 40\n<module> (app.py:30);run (app.py:13) 10\n",
                 "metrics: samples\n"
                 "<module> 50\n"
                 " run (app.py:30) 50\n"
                 "  line app.py:13 10\n"
                 "  work (app.py:12) 40\n"
                 "   line lib/x.py:7 40\n");
    CHECK_IMPORT(NULL, "# austin: 3.6.0\nP1;T0:7;/a/app.py:run:12;/a/x.py:work:7 5\n",
                 "metrics: samples\n"
                 "P1 5\n"
                 " T0:7 5\n"
                 "  run 5\n"
                 "   work (/a/app.py:12) 5\n"
                 "    line /a/x.py:7 5\n");
    /* Not those: names as other tools write them. */
    CHECK_IMPORT(NULL, "f (int);g (a.c);h (:3);k():4;(x:5) 1\n",
                 "metrics: samples\nf (int) 1\n g (a.c) 1\n  h (:3) 1\n   k():4 1\n    (x:5) 1\n");
}

TEST(folded_errors_name_the_line)
{
    CHECK_REFUSED("folded", "main;a 1\nmain;b\n", "input:2: not a folded stack");
    CHECK_REFUSED("folded", "main;a 1\n;; 4\n", "input:2: there is no call path");
    CHECK_REFUSED("folded", "main -4\n", "input:1:");
    CHECK_REFUSED("folded", "main nan\n", "input:1:");
    CHECK_REFUSED("folded", "main 1e300\n", "more than can be counted");
    CHECK_REFUSED("folded", "", "holds no samples");
}

TEST(what_is_no_profile_is_refused)
{
    CHECK_REFUSED(NULL, "", "is empty");
    CHECK_REFUSED(NULL, "Dear all,\nthe profile is attached.\n", "looks like no database");
    CHECK_REFUSED(NULL, "{\"a\": 1}", "looks like no database");
}

/* ---- perf ---- */

TEST(perf_header_fields)
{
    struct perf_header h;

    CHECK(perf_parse_header("lulesh 4711/4712 [001] 12345.678901:     250000 cpu-clock:u: ", &h));
    CHECK_EQ_INT(h.command_len, 6);
    CHECK_EQ_INT(h.pid, 4711);
    CHECK_EQ_INT(h.tid, 4712);
    CHECK_NEAR(h.time, 12345.678901, 1e-12);
    CHECK(h.has_period);
    CHECK_EQ_INT(h.period, 250000);
    CHECK_EQ_INT(h.event_len, 11);
    CHECK_EQ_STR(h.rest, "");
    CHECK(perf_parse_header("Web Content 7 12 1.5: cycles: ", &h));
    CHECK_EQ_INT(h.command_len, 13);
    CHECK_EQ_INT(h.tid, 12);
    CHECK_EQ_INT(h.pid, 0);
    CHECK(!h.has_period);
    CHECK(perf_parse_header(
        "        swapper     0 [000] 12.5:  1 cycles:  ffffffff81 native_halt+0xe ([kernel.kallsyms])", &h));
    CHECK_EQ_INT(h.tid, 0);
    CHECK_EQ_STR(h.rest, "ffffffff81 native_halt+0xe ([kernel.kallsyms])");
    /* Of threads whose names end in a number; a period is ten columns wide. */
    CHECK(perf_parse_header("my (th) 0 17739 ", &h));
    CHECK(h.has_ids && h.tid == 17739 && !h.has_period && h.command_len == 9);
    CHECK(perf_parse_header("my (th) 0 17739 cpu-clock: ", &h));
    CHECK(h.has_ids && h.tid == 17739 && !h.has_period && h.event_len == 9);
    CHECK(perf_parse_header("my (th) 0 17739    1001001 ", &h));
    CHECK(h.has_ids && h.tid == 17739 && h.has_period && h.period == 1001001);
    CHECK(perf_parse_header("my (th) 0 17739    1001001 cpu-clock: ", &h));
    CHECK(h.has_ids && h.tid == 17739 && h.has_period && h.period == 1001001 && h.event_len == 9);
    CHECK(!perf_parse_header("no sample at all", &h));
    CHECK(!perf_parse_header("", &h));
}

TEST(perf_frame_fields)
{
    struct perf_frame f;

    CHECK(perf_parse_frame("\t55d0 std::vector<int (*)(long)>::at(int) const+0x1e (/home/u/my prog (deleted))", &f));
    CHECK_EQ_INT(f.address, 0x55d0);
    CHECK_EQ_INT(f.name_len, (int)strlen("std::vector<int (*)(long)>::at(int) const"));
    CHECK_EQ_INT(f.module_len, (int)strlen("/home/u/my prog (deleted)"));
    CHECK(perf_parse_frame("\t55d0 f+0x1e (/bin/prog+0x115e)", &f));
    CHECK_EQ_INT(f.name_len, 1);
    CHECK_EQ_INT(f.module_len, (int)strlen("/bin/prog"));
    CHECK(perf_parse_frame("\t55d0 f+0x1e (/lib/libstdc++)", &f));
    CHECK_EQ_INT(f.module_len, (int)strlen("/lib/libstdc++"));
    CHECK(perf_parse_frame("  7f00 [unknown] ([unknown])", &f));
    CHECK(perf_parse_frame("  7f00 f(int) (inlined)", &f));
    CHECK(f.inlined);
    CHECK_EQ_INT(f.name_len, 6);
    CHECK(perf_parse_frame("  7f00 operator()(int)", &f));
    CHECK_EQ_INT(f.module_len, 0);
    CHECK(!perf_parse_frame("  zzz f (m)", &f));
    CHECK(!perf_parse_frame("  7f00", &f));
}

static const char two_threads[] = "# ========\n"
                                  "prog 10/10 [000] 100.000000:     250000 cpu-clock:u: \n"
                                  "\t  5501 CBRT+0x1 (inlined)\n"
                                  "  /src/l.h:49\n"
                                  "\t  5501 work+0x1 (/bin/prog)\n"
                                  "  /src/l.cc:12\n"
                                  "\t  5402 main+0x2 (/bin/prog)\n"
                                  "  /src/l.cc:30\n"
                                  "\t  7f02 __libc_start_call_main+0x7a (/lib/libc.so.6)\n"
                                  "\t  7f03 __libc_start_main@@GLIBC_2.34+0x85 (/lib/libc.so.6)\n"
                                  "\t  5400 _start+0x21 (/bin/prog)\n"
                                  "\n"
                                  "prog 10/11 [001] 100.001000:     500000 cpu-clock:u: \n"
                                  "\t  5601 helper+0x1 (/bin/prog)\n"
                                  "  /src/l.cc:40\n"
                                  "\t  7f08 start_thread+0x2ea (/lib/libc.so.6)\n"
                                  "\t  7f09 __clone3+0x30 (/lib/libc.so.6)\n"
                                  "\n"
                                  "prog 10/10 [000] 100.002000:     250000 cpu-clock:u: \n"
                                  "\n";

TEST(perf_threads_times_and_inlined_frames)
{
    struct db *db = NULL;
    struct db_trace_reader *trace;
    uint64_t records, first, last;
    AUTO_STR struct str got = {0};

    CHECK_OK(import_text(NULL, two_threads, &db));
    CHECK_OR_RETURN(db);
    import_dump(db, &got);
    CHECK_EQ_STR(str_cstr(&got), "metrics: cpu_clock:u\n"
                                 "thread 0.0005\n"
                                 " helper [/bin/prog] 0.0005\n"
                                 "  line /src/l.cc:40 0.0005\n"
                                 "partial: no call path 0.00025\n"
                                 "main [/bin/prog] 0.00025\n"
                                 " work [/bin/prog] (/src/l.cc:30) 0.00025\n"
                                 "  inlined CBRT (/src/l.cc:12) 0.00025\n"
                                 "   line /src/l.h:49 0.00025\n");
    CHECK_EQ_INT(db->profile_count, 2);
    CHECK_EQ_INT(db->profiles[0].tid, 10);
    CHECK_EQ_INT(db->profiles[0].thread, 0);
    CHECK_EQ_INT(db->profiles[1].tid, 11);
    CHECK_EQ_INT(db->profiles[0].rank, -1);
    CHECK_EQ_INT(db_tree_count(db, 0, 0), 3);
    CHECK_OK(db_trace_open(db, 0, &trace));
    CHECK(db_trace_extent(trace, &records, &first, &last));
    CHECK_EQ_INT(records, 2);
    CHECK_EQ_INT(first, 0);
    CHECK_EQ_INT(last, 2000);
    db_trace_close(trace);
    db_close(db);
}

TEST(perf_without_periods_counts_samples)
{
    CHECK_IMPORT(NULL,
                 "a 1 2.0: cycles: \n\t55 f+0x1 (/bin/a)\n\t56 g+0x1 (/bin/a)\n\n"
                 "a 1 2.1: cycles: \n\t57 f+0x2 (/bin/a)\n\t58 g+0x2 (/bin/a)\n\n",
                 "metrics: cycles_samples\n"
                 "g [/bin/a] 2\n"
                 " f [/bin/a] 2\n");
}

TEST(perf_without_call_chains)
{
    CHECK_IMPORT(NULL,
                 "         prog    10 [000] 12.5:     1000 cycles:      5501 f+0x1 (/bin/a)\n"
                 "         prog    10 [000] 12.6:     1000 cycles:      5601 g+0x1 (/bin/a)\n",
                 "metrics: cycles\n"
                 "f [/bin/a] 1000\n"
                 "g [/bin/a] 1000\n");
}

TEST(perf_errors_name_the_line)
{
    CHECK_REFUSED("perf", "a 1 2.0: cycles: \n\t55 f (/bin/a)\n\nwhat is this?\n", "input:4: neither");
    CHECK_REFUSED("perf", "a 1 2.0: cycles: \n\n\t55 f (/bin/a)\n", "input:3: neither");
    CHECK_REFUSED("perf", "a 1 2.0: cycles: \n\t55 f (/bin/a)\n\t56\n", "input:3: neither");
    CHECK_REFUSED("perf", "a 1 2.0: cycles: \n\t55 f (/bin/a)\n\na 1 2.0: \n", "input:4: neither");
    CHECK_REFUSED("perf", " stray\n", "input:1: neither");
    CHECK_REFUSED("perf", "a 1 2.0: cycles: \n\t55 f (/bin/a)\n\t56 mai", "input:3: the file is cut off in this line");
    CHECK_REFUSED("perf", "a 1 2.0: cycles: \n\t55 f (/bin/a)\n\na 1 2.5: cycl", "input:4: ");
}

/* Every set of -F that leaves frames: the fields that are left out are unknown. */
TEST(perf_heads_with_few_fields)
{
    static const char frames[] = "\t55 f (/bin/a)\n\t56 main (/bin/a)\n\n";
    static const struct {
        const char *head, *metric, *value;
    } rows[] = {
        {"cycles: \n", "cycles_samples", "1"},
        {"7 2.5: cycles: \n", "cycles_samples", "1"},
        {" 7 cycles: \n", "cycles_samples", "1"},
        {"2.5:   10 cycles: \n", "cycles", "10"},
        {"a 7 \n", "samples", "1"},
        {"a b 2.5: \n", "samples", "1"},
        {"a b \n", "samples", "1"},
        {"\n", "samples", "1"},
        {"a 7 K     2.5:  10 cycles: \n", "cycles", "10"},
        {"a -1 [003] 2.5:  10 cycles/u: \n", "cycles_u", "10"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO_STR struct str text = {0}, want = {0};

        str_addf(&text, "%s%s", rows[i].head, frames);
        str_addf(&want, "metrics: %s\nmain [/bin/a] %s\n f [/bin/a] %s\n", rows[i].metric, rows[i].value,
                 rows[i].value);
        CHECK_IMPORT(NULL, str_cstr(&text), str_cstr(&want));
    }
}

/* What is printed for an event that hq has no use for is no frame and no damage. */
TEST(perf_fields_of_no_use)
{
    static const char want[] = "metrics: cycles\nmain [/bin/a] 10\n f [/bin/a] 10\n";

    CHECK_IMPORT(
        NULL, "a 7 2.5: 10 cycles:     55c06c15b0d8 data+0x8 (/bin/a)\n\t55 f (/bin/a)\n\t56 main (/bin/a)\n\n", want);
    CHECK_IMPORT(NULL, "a 7 2.5: 10 cycles:  call \n\t55 f (/bin/a)\n\t56 main (/bin/a)\n insn: 48 89 05\n\n", want);
    CHECK_IMPORT(NULL,
                 "a 7 2.5: PERF_RECORD_COMM: a:7/7\na 7 2.5: 10 cycles: \n\t55 f (/bin/a)\n\t56 main (/bin/a)\n "
                 "/user.slice\na 7 2.6: 0 cycles: \n\n",
                 "metrics: cycles\npartial: no call path 0\nmain [/bin/a] 10\n f [/bin/a] 10\n");
    CHECK_IMPORT(NULL,
                 "a 7 2.5: 10 cycles: \n\t55 f+0x1 (/bin/a)\n  [kernel.kallsyms][55]\n\t56 main+0x2 (/bin/a)\n  "
                 "a.c:3\n\n|3    text\n",
                 "metrics: cycles\nmain [/bin/a] 10\n f [/bin/a] (a.c:3) 10\n");
    CHECK_IMPORT(NULL,
                 "a 7 2.5: 10 sched:sched_switch: prev_comm=a prev_pid=7 ==> next_comm=fade\n\t55 f (/bin/a)\n\t56 "
                 "main (/bin/a)\n\n",
                 "metrics: sched:sched_switch\nmain [/bin/a] 10\n f [/bin/a] 10\n");
    /* Of -F +phys_addr,+data_page_size,+code_page_size; frames may have lost their tabs in an editor. */
    CHECK_IMPORT(NULL,
                 "a 7 2.5: 10 cycles:                0\n\t55 f (/bin/a)\n\t56 main (/bin/a)\n               0 N/A 4K\n",
                 want);
    CHECK_IMPORT(NULL, "a 7 2.5: 10 cycles: \n        55 f (/bin/a)\n        56 main (/bin/a)\n\n", want);
    CHECK_IMPORT(NULL, "a 7 2.5: 10 cycles:     55c06c15b0d8             5501 f+0x1 (/bin/a)\n",
                 "metrics: cycles\nf [/bin/a] 10\n");
}

/* Damage after which a line is still one of perf's. The first rows are of no damage. */
TEST(perf_lines_that_damage_left)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"a 7 2.5: 10 c: \n\t5 f+0x1 (/b)\n\na 7 2.6: s:s: x\n\t5 f+0x1 (/b)\n\n", NULL}, /* of a tracepoint */
        {"a 7 2.5: 10 c: \n\t5 f+0x1 (/b)\n\t6 g+0x1 (/b(c)\n\t7 h (inlined)\n\n", NULL},
        {"a 7 2.5: 10 c: \n\t5 f(int) const+0x1\n\t6 g(int)+0x2\n\n", NULL}, /* -F -dso */
        {"a 7 2.5: 10 c: \n\t5 f (/b)\n\na 7 2.6: c: \n\t5 f (/b)\n\n", "input:4: the head has other fields"},
        {"a 7 2.5: 10 c: \n\t5 f (/b)\n\na 7 10 c: \n\t5 f (/b)\n\n", "input:4: the head has other fields"},
        {"a 7 2.5: 10 c: \n\t5 f (/b)\n\t6 g (/\n\n", "input:3: the frame is not whole"},
        {"a 7 2.5: 10 c: \n\t5 f+0x1 (/b\n\n", "input:2: the frame is not whole"},
        {"a 7 2.5: 10 c: \n\t5 f+0x1 (/lib8a main+0x2 (/b)\n\n", "input:2: the frame is not whole"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct db *db = NULL;
        struct hq_error *error = import_text("perf", rows[i].text, &db);

        CHECK(rows[i].error ? error && strstr(error->message, rows[i].error) : !error);
        hq_error_free(error);
        db_close(db);
    }
}

TEST(different_formats_are_aligned_by_name)
{
    AUTO_STR struct str got = {0};
    AUTO_FREE char *dir = test_tmpdir();
    AUTO_FREE char *a = NULL, *b = NULL;
    struct db *db = NULL;

    CHECK(asprintf(&a, "%s/a", dir) > 0 && asprintf(&b, "%s/b", dir) > 0);
    FILE *f = fopen(a, "w");

    fputs(two_threads, f);
    fclose(f);
    f = fopen(b, "w");
    fputs("main;work;CBRT 7\nmain;work 1\nmain;idle 2\n", f);
    fclose(f);
    CHECK_OK(import_paths((const char *const[]){a, b}, 2, &db));
    CHECK_OR_RETURN(db);
    import_dump(db, &got);
    CHECK_EQ_STR(str_cstr(&got), "metrics: cpu_clock:u samples\n"
                                 "thread 0.0005 0\n"
                                 " helper [/bin/prog] 0.0005 0\n"
                                 "partial: no call path 0.00025 0\n"
                                 "main [/bin/prog] 0.00025 10\n"
                                 " idle 0 2\n"
                                 " work [/bin/prog] 0.00025 8\n"
                                 "  CBRT [/bin/prog] 0.00025 7\n");
    db_close(db);
    unlink(a);
    unlink(b);
    rmdir(dir);
}

TEST_MAIN
