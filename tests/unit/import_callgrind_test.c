/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/db_tree.h"
#include "tests/unit/test.h"

#include "common/mem.h"
#include "format/measurement.h"
#include "tests/unit/import_help.h"

/* main calls f (cost 30 there) and g directly (10) and through f (20); g's own cost is 30. */
static const char graph[] = "# callgrind format\n"
                            "version: 1\n"
                            "pid: 12\n"
                            "cmd: ./prog x\n"
                            "positions: line\n"
                            "events: Ir Dr\n"
                            "summary: 45 4\n"
                            "\n"
                            "ob=(1) /bin/prog\n"
                            "fl=(1) m.c\n"
                            "fn=(1) main\n"
                            "10 5 1\n"
                            "cfn=(2) f\n"
                            "calls=1 20\n"
                            "+2 30 2\n"
                            "cfn=(3) g\n"
                            "calls=1 30\n"
                            "* 10 1\n"
                            "\n"
                            "fn=(2)\n"
                            "20 10\n"
                            "cfn=(3)\n"
                            "calls=2 30\n"
                            "-1 20 2\n"
                            "\n"
                            "fn=(3)\n"
                            "30 27 3\n"
                            "fi=(2) inl.h\n"
                            "+1 3\n"
                            "fe=(1)\n"
                            "totals: 45 4\n";

TEST(costs_are_shared_out_to_callers)
{
    CHECK_IMPORT(NULL, graph,
                 "metrics: ir dr\n"
                 "main [/bin/prog] 45 4\n"
                 " line m.c:10 5 1\n"
                 " f [/bin/prog] (m.c:12) 30 2\n"
                 "  line m.c:20 10 0\n"
                 "  g [/bin/prog] (m.c:19) 20 2\n"
                 "   line inl.h:31 2 0\n"
                 "   line m.c:30 18 2\n"
                 " g [/bin/prog] (m.c:12) 10 1\n"
                 "  line inl.h:31 1 0\n"
                 "  line m.c:30 9 1\n");
}

/* Two procedures `help` of one program, in a.c and b.c; the call from ga is in what is inlined from in.h. */
TEST(procedures_of_one_name_in_several_files_are_several)
{
    CHECK_IMPORT(
        "callgrind",
        "events: Ir\nob=prog\nfl=(1) a.c\nfn=(1) ga\n1 1\nfi=(3) in.h\ncfi=(1)\ncfn=(2) help\ncalls=1 5\n2 10\n"
        "fl=(1)\nfn=(2)\n5 10\n"
        "fl=(2) b.c\nfn=(4) gb\n1 1\ncfn=(3) help\ncalls=1 7\n2 300\nfn=(3)\n7 300\n",
        "metrics: ir\n"
        "ga [prog] 11\n"
        " line a.c:1 1\n"
        " help [prog] (in.h:2) 10\n"
        "  line a.c:5 10\n"
        "gb [prog] 301\n"
        " line b.c:1 1\n"
        " help [prog] (b.c:2) 300\n"
        "  line b.c:7 300\n");
}

/* A writer that tells no file of a callee, which is in another one than the caller. */
TEST(a_callee_without_its_file_is_the_one_of_that_name)
{
    CHECK_IMPORT("callgrind", "events: Ir\nfl=a.c\nfn=main\n1 1\ncfn=g\ncalls=1 7\n2 20\nfl=b.c\nfn=g\n7 20\n",
                 "metrics: ir\n"
                 "main 21\n"
                 " line a.c:1 1\n"
                 " g (a.c:2) 20\n"
                 "  line b.c:7 20\n");
}

TEST(it_says_that_paths_are_estimates)
{
    struct db *db = NULL;
    bool said = false;

    CHECK_OK(import_text(NULL, graph, &db));
    CHECK_OR_RETURN(db);
    for (size_t i = 0; i < db->info_count; i++)
        said |= !strncmp(db_string(db, db->info[i].value), "estimates", 9);
    CHECK(said);
    CHECK_EQ_STR(db_string(db, db->profiles[0].command), "./prog x");
    CHECK_EQ_INT(db->profiles[0].pid, 12);
    db_close(db);
}

TEST(basic_blocks_have_a_position_too)
{
    CHECK_IMPORT("callgrind",
                 "events: Ir\npositions: instr bb line\nfl=a.c\nfn=main\n0x400 0x400 3 1\n+4 * +2 8\n"
                 "fn=f\n0x500 0x500 9 2\n",
                 "metrics: ir\n"
                 "f 2\n"
                 " line a.c:9 2\n"
                 "main 9\n"
                 " line a.c:3 1\n"
                 " line a.c:5 8\n");
    CHECK_IMPORT("callgrind", "events: Ir\npositions: bb\nfl=a.c\nfn=main\n0x400 7\n", "metrics: ir\nmain 7\n");
}

TEST(instructions_recursion_and_threads)
{
    CHECK_IMPORT(
        "callgrind",
        "events: Ir\npositions: instr line\nthread: 1\nfl=a.c\nfn=main\n0x400 3 1\ncfn=r\ncalls=1 0x500 7\n+0x10 +1 8\n"
        "fn=r\n0x500 7 8\ncfn=r\ncalls=3 0x500 7\n* * 6\njump=2 0x4 +1\n"
        "thread: 2\nfl=a.c\nfn=start_thread\n0x900 1 0\ncfn=w\ncalls=1 0x950 9\n* * 4\nfn=w\n0x950 9 4\n",
        "metrics: ir\n"
        "thread 4\n"
        " w 4\n"
        "  line a.c:9 4\n"
        "main 9\n"
        " line a.c:3 1\n"
        " r (a.c:4) 8\n"
        "  line a.c:7 8\n");
}

/* What lies below a recursive call counts for the call above: nobody else has more below it than the file says. */
TEST(recursion_costs_others_nothing)
{
    CHECK_IMPORT("callgrind",
                 "events: Ir\nfl=a.c\nfn=main\n1 5\ncfn=r\ncalls=1 2\n1 110\ncfn=dear\ncalls=1 5\n1 15\n"
                 "fn=r\n2 10\ncfn=q\ncalls=4 3\n2 100\n"
                 "fn=q\n3 10\ncfn=r\ncalls=3 2\n3 60\ncfn=leaf\ncalls=4 4\n3 90\n"
                 "fn=leaf\n4 100\nfn=dear\n5 5\ncfn=leaf\ncalls=1 4\n5 10\n",
                 "metrics: ir\n"
                 "main 130\n"
                 " line a.c:1 5\n"
                 " dear (a.c:1) 15\n"
                 "  line a.c:5 5\n"
                 "  leaf (a.c:5) 10\n"
                 "   line a.c:4 10\n"
                 " r (a.c:1) 110\n"
                 "  line a.c:2 10\n"
                 "  q (a.c:2) 100\n"
                 "   line a.c:3 10\n"
                 "   leaf (a.c:3) 90\n"
                 "    line a.c:4 90\n");
}

/*
 * By default callgrind tells the second level of a recursion by its name. `sort` is called by two paths, once within
 * the recursion, and costs 69 + 47, as its own line and call in the file say.
 */
TEST(recursion_by_levels_keeps_inclusive_costs)
{
    CHECK_IMPORT("callgrind",
                 "events: Ir\nfl=a.c\nfn=main\n1 1\ncfn=call\ncalls=1 2\n1 154\n"
                 "fn=call\n2 2\ncfn=exec\ncalls=1 3\n2 152\n"
                 "fn=exec\n3 3\ncfn=sort\ncalls=1 4\n3 69\ncfn=pcall\ncalls=1 5\n3 80\n"
                 "fn=sort\n4 12\ncfn=call'2\ncalls=2 2\n4 104\nfn=pcall\n5 6\ncfn=call'2\ncalls=1 2\n5 74\n"
                 "fn=call'2\n2 21\ncfn=exec'2\ncalls=3 3\n2 157\nfn=exec'2\n3 110\ncfn=sort\ncalls=1 4\n3 47\n",
                 "metrics: ir\n"
                 "main 155\n"
                 " line a.c:1 1\n"
                 " call (a.c:1) 154\n"
                 "  line a.c:2 2\n"
                 "  exec (a.c:2) 152\n"
                 "   line a.c:3 3\n"
                 "   pcall (a.c:3) 80\n"
                 "    line a.c:5 6\n"
                 "    call (a.c:5) 74\n"
                 "     line a.c:2 9\n"
                 "     exec (a.c:2) 65\n"
                 "      line a.c:3 18\n"
                 "      sort (a.c:3) 47\n"
                 "       line a.c:4 5\n"
                 "       call (a.c:4) 42\n"
                 "        line a.c:2 5\n"
                 "        exec (a.c:2) 37\n"
                 "         line a.c:3 37\n"
                 "   sort (a.c:3) 69\n"
                 "    line a.c:4 7\n"
                 "    call (a.c:4) 62\n"
                 "     line a.c:2 7\n"
                 "     exec (a.c:2) 55\n"
                 "      line a.c:3 55\n");
}

TEST(functions_with_nothing_of_the_first_event_have_paths)
{
    CHECK_IMPORT("callgrind", "events: Ir Dr\nfl=a.c\nfn=main\n1 0 4\n",
                 "metrics: ir dr\n"
                 "main 0 4\n"
                 " line a.c:1 0 4\n");
}

/* Calls of one function by another that are rare each, and together are not. */
TEST(rare_calls_of_one_function_are_one)
{
    AUTO_STR struct str text = {0};

    str_add(&text, "events: Ir\nfl=a.c\nfn=main\n1 1\ncfn=table\ncalls=1 2\n1 600000\ncfn=enter\ncalls=1 3\n1 400000\n"
                   "fn=table\n");
    for (int i = 0; i < 300000; i++)
        str_addf(&text, "cfn=enter\ncalls=1 3\n%d 2\n", 100 + i);
    str_add(&text, "fn=enter\n3 1000000\n");
    CHECK_IMPORT("callgrind", str_cstr(&text),
                 "metrics: ir\n"
                 "main 1000001\n"
                 " line a.c:1 1\n"
                 " enter (a.c:1) 400000\n"
                 "  line a.c:3 400000\n"
                 " table (a.c:1) 600000\n"
                 "  enter 600000\n"
                 "   line a.c:3 600000\n");
}

/* Functions of --separate-callers and --separate-recs are nodes of their own under one name; jumps give names, too. */
TEST(contexts_in_names_and_names_in_jumps)
{
    CHECK_IMPORT(
        NULL,
        "# callgrind format\nevents: Ir\nfl=a.c\nfn=main\n1 1\ncfn=f'main\ncalls=1 2\n1 8\ncfn=g\ncalls=1 3\n1 4\n"
        "fn=f'main\n2 3\njfi=(7) b.c\njfn=(8) h\njcnd=1/2 +1\ncfn=f'2\ncalls=1 2\n2 5\nfn=f'2\nfi=(7)\n9 5\n"
        "fl=a.c\nfn=g\n3 1\ncfn=f'g\ncalls=1 2\n3 3\nfn=f'g\n2 3\n",
        "metrics: ir\n"
        "main 13\n"
        " line a.c:1 1\n"
        " f (a.c:1) 8\n"
        "  line a.c:2 3\n"
        "  f (a.c:2) 5\n"
        "   line b.c:9 5\n"
        " g (a.c:1) 4\n"
        "  line a.c:3 1\n"
        "  f (a.c:3) 3\n"
        "   line a.c:2 3\n");
}

/* --combine-dumps=yes puts a thread's parts into one file. */
TEST(parts_of_a_thread_are_one_profile)
{
    struct db *db = NULL;

    CHECK_OK(import_text("callgrind",
                         "# callgrind format\npid: 7\npart: 1\nthread: 1\nevents: Ir\nfn=main\n1 5\n"
                         "part: 2\nthread: 2\nfn=f\n1 7\npart: 2\nthread: 1\nfn=main\n1 6\n",
                         &db));
    CHECK_OR_RETURN(db);
    CHECK_EQ_INT(db->profile_count, 2);
    db_close(db);
}

TEST(a_part_that_is_cut_off_is_refused)
{
#define OF_CALLGRIND "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir Dr\nsummary: 12 1\n\nfn=main\n1 5 1\n"
    CHECK_REFUSED("callgrind", OF_CALLGRIND, "input:7: the file is cut off: there is no `totals:` behind the costs");
    CHECK_REFUSED("callgrind", OF_CALLGRIND "part: 2\n", "input:8: the file is cut off");
    CHECK_REFUSED("callgrind", OF_CALLGRIND "totals: 12 1\n",
                  "input:8: the costs before this line add up to 5, their `totals:` are 12");
    CHECK_IMPORT("callgrind", OF_CALLGRIND "2 7\n\ntotals: 12 1\n",
                 "metrics: ir dr\n"
                 "main 12 1\n");
    /* Other writers mean other things by these. */
    CHECK_IMPORT("callgrind", "creator: xdebug 3\nevents: Ir\nsummary: 12\nfn=main\n1 5\n", "metrics: ir\nmain 5\n");
#undef OF_CALLGRIND
}

TEST(units_of_events)
{
    struct db *db = NULL;

    CHECK_OK(import_text(
        NULL,
        "event: t_u : t:u (nanoseconds)\nevent: sysTime : sysTime (elapsed ms)\nevent: sum = t_u + n : Sum\n"
        "events: t_u sysTime n\nfn=main\n1 2000 3 4\n",
        &db));
    CHECK_OR_RETURN(db);
    CHECK_EQ_STR(db_string(db, db->metrics[0].event), "t:u");
    CHECK_EQ_INT(db->metrics[0].dimension, HQM_DIM_SECONDS);
    CHECK_NEAR(db->metrics[0].scale, 1e-9, 1e-18);
    CHECK_NEAR(db->metrics[1].scale, 1e-3, 1e-12);
    CHECK_EQ_INT(db->metrics[2].dimension, HQM_DIM_EVENTS);
    CHECK_EQ_STR(db_string(db, db->metrics[2].event), "n");
    db_close(db);
}

TEST(callgrind_errors_name_the_line)
{
    CHECK_REFUSED("callgrind", "events: Ir\nfn=main\n1 2 3\n", "input:3: there are more costs than events");
    CHECK_REFUSED("callgrind", "events: Ir\n1 2\n", "input:2: there are costs, but no `fn=`");
    CHECK_REFUSED("callgrind", "fn=main\n1 2\n", "input:2: there are costs, but no `events:`");
    CHECK_REFUSED("callgrind", "events: Ir\nfn=(4)\n", "input:2: the name (4) was never given");
    CHECK_REFUSED("callgrind", "events: Ir\nfn=main\n1 x\n", "input:3: a cost is no number");
    CHECK_REFUSED("callgrind", "events: Ir\nfn=main\n1 -5\n", "input:3: a cost is out of range");
    CHECK_REFUSED("callgrind", "events: Ir\nfn=main\n1 99999999999999999999\n", "input:3: a cost is out of range");
    CHECK_REFUSED("callgrind", "events: Ir\ncalls=1 2\n", "input:2: there is a call");
    /* Another thread's functions are others. */
    CHECK_REFUSED("callgrind", "events: Ir\nfn=a\n1 2\ncfn=b\nthread: 2\nfn=a\ncalls=1 2\n* 3\n",
                  "input:7: there is a call");
    CHECK_REFUSED("callgrind", "events: Ir\nwhat=1\n", "input:2: this kind of line is not known");
}

/* ---- gperftools ---- */

static struct hq_error *import_words(const uint64_t *words, size_t count, const char *maps, struct db **out)
{
    char file[1024];
    size_t n = count * sizeof *words;

    memcpy(file, words, n);
    memcpy(file + n, maps, strlen(maps));
    return import_bytes(NULL, file, n + strlen(maps), out);
}

TEST(gperftools_addresses_without_binary)
{
    static const uint64_t words[] = {0,      3, 0,        10000,  0, /**/ 3, 2,      0x400100, 0x400201,
                                     /**/ 1, 1, 0x400201, /**/ 2, 1, 0x77,   /**/ 0, 1,        0};
    struct db *db = NULL;
    AUTO_STR struct str got = {0};

    CHECK_OK(import_words(
        words, sizeof words / sizeof *words,
        "build=x\n00400000-00500000 r-xp 00001000 08:01 99  /gone/prog\n7f0000-7f1000 rw-p 0 00:00 0\n", &db));
    CHECK_OR_RETURN(db);
    import_dump(db, &got);
    /* The caller is a return address: one before it is in the call. */
    CHECK_EQ_STR(str_cstr(&got), "metrics: cputime\n"
                                 "0x77 0.02\n"
                                 "prog+0x1200 [/gone/prog] 0.03\n"
                                 " prog+0x1100 [/gone/prog] 0.03\n"
                                 "prog+0x1201 [/gone/prog] 0.01\n");
    CHECK_EQ_INT(db_tree_count(db, 0, 0), 6);
    CHECK_EQ_INT(db->metrics[0].period, 10000000);
    db_close(db);
}

TEST(gperftools_record_without_addresses)
{
    static const uint64_t words[] = {0, 3, 0, 10000, 0, /**/ 3, 0, /**/ 1, 1, 0x400201, /**/ 0, 1, 0};
    struct db *db = NULL;
    AUTO_STR struct str got = {0};

    CHECK_OK(import_words(words, sizeof words / sizeof *words, "", &db));
    CHECK_OR_RETURN(db);
    import_dump(db, &got);
    CHECK_EQ_STR(str_cstr(&got), "metrics: cputime\n0x400201 0.01\npartial: no call path 0.03\n");
    db_close(db);
}

TEST(gperftools_errors)
{
    static const uint64_t cut[] = {0, 3, 0, 10000, 0, 3, 2, 0x400100};
    static const uint64_t deep[] = {0, 3, 0, 10000, 0, 3, 1ull << 60, 0x400100};
    static const uint64_t many[] = {0, 3, 0, 10000, 0, 1ull << 63, 1, 5, 0, 1, 0};
    struct db *db;

    CHECK_ERROR(import_words(cut, 8, "", &db), HQ_DATA, "records is cut off at offset 56");
    CHECK_ERROR(import_words(deep, 8, "", &db), HQ_DATA, "too many addresses");
    CHECK_ERROR(import_words(many, 11, "", &db), HQ_DATA, "a count that is out of range");
}

TEST_MAIN
