/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of known phases: pictures, call paths, slices, visits, imbalance. */
#include "tests/unit/trace_help.h"
#include "query/picture/picture.h"

/*
 * 6 s. Rank 0: init 1 s, four steps of 1 s (0.7 s compute, 0.3 s MPI_Wait) with 0.1 s of finish (standing for other
 * work) between them, then nothing. Rank 1: the same half a second later, but its second step waits three times as
 * long.
 */
static struct traced known_phases(void)
{
    struct traced t = {0};

    traced_structure(&t);
    for (int rank = 0; rank < 2; rank++) {
        uint64_t at = 1000000;
        uint32_t p = traced_profile(&t, rank, 1700000000000000u + 500000u * (uint32_t)rank, 6000000);
        traced_phase(&t, p, IN_INIT, 0, at);
        for (int step = 0; step < 4; step++) {
            uint64_t wait = rank == 1 && step == 1 ? 900000 : 300000;
            traced_phase(&t, p, IN_COMPUTE, at, at + 700000);
            traced_phase(&t, p, IN_WAIT, at + 700000, at + 700000 + wait);
            traced_phase(&t, p, IN_FINISH, at + 700000 + wait, at + 800000 + wait);
            at += 800000 + wait;
        }
    }
    traced_open(&t);
    return t;
}

TEST(pictures)
{
    struct traced t = known_phases();

    check_answer(&t, "trace width 65 level 4", "table",
                 "trace: call path level 4, 2 profiles, a column is 100 ms\n"
                 "rank 0 ccccccccccaaaaaaabbbdaaaaaaabbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "rank 1      ccccccccccaaaaaaabbbdaaaaaaabbbbbbbbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "       +-------------------+-------------------+-------------------+----\n"
                 "       0 s                 2 s                 4 s                 6 s\n"
                 " a  43.1%  compute\n"
                 " b  23.1%  MPI_Wait\n"
                 " c  15.4%  init\n"
                 " d   6.2%  finish\n"
                 "    12.3%  no samples: idle, or not on a CPU\n");
    check_answer(&t, "trace width 65", "table",
                 "trace: call path level 3, 2 profiles, a column is 100 ms\n"
                 "rank 0 ccccccccccaaaaaaabbbdaaaaaaabbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "rank 1      ccccccccccaaaaaaabbbdaaaaaaabbbbbbbbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "       +-------------------+-------------------+-------------------+----\n"
                 "       0 s                 2 s                 4 s                 6 s\n"
                 " a  43.1%  compute\n"
                 " b  23.1%  exchange\n"
                 " c  15.4%  init\n"
                 " d   6.2%  finish\n"
                 "    12.3%  no samples: idle, or not on a CPU\n");
    check_answer(&t, "trace width 65 level 2 ranks 1", "table",
                 "trace: call path level 2, 1 profile, a column is 92.3 ms\n"
                 "rank 1 bbbbbbbbbbbaaaaaaaaaaacaaaaaaaaaaaaaaaaacaaaaaaaaaaacaaaaaaaaaaac\n"
                 "       ----------------+--------------------+---------------------+-----\n"
                 "                       2 s                  4 s                   6 s\n"
                 " a  76.9%  step\n"
                 " b  16.9%  init\n"
                 " c   6.2%  finish\n");
    check_answer(&t, "trace width 40 during 2s..4s", "table",
                 "trace: call path level 3, 2 profiles, a column is 50 ms\n"
                 "rank 0 ccaaaaaaaaaaaaaabbbbbbccaaaaaaaaaaaaaabb\n"
                 "rank 1 aaaabbbbbbccaaaaaaaaaaaaaabbbbbbbbbbbbbb\n"
                 "       +-------------------+-------------------\n"
                 "       2 s                 3 s\n"
                 " a  57.5%  compute\n"
                 " b  35.0%  exchange\n"
                 " c   7.5%  finish\n");
    check_answer(&t, "trace width 65 level 4 during compute", "table",
                 "trace: call path level 4, 2 profiles, a column is 78.5 ms\n"
                 "rank 0 aaaaaaaaa     aaaaaaaaa     aaaaaaaaa     aaaaaaaaa\n"
                 "rank 1       aaaaaaaaa     aaaaaaaaa             aaaaaaaaa     aaaaaaaaa\n"
                 "       ------------+-------------------------+------------------------+-\n"
                 "                   2 s                       4 s                     6 s\n"
                 " a  55.4%  compute\n"
                 "    44.6%  not in the slice, idle, or not on a CPU\n");
    check_answer(&t, "trace depth of rank 1 width 65", "table",
                 "trace depth: rank 1, a row is a call path level, a column is 92.3 ms\n"
                 "1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                 "2 fffffffffffbbbbbbbbbbbgbbbbbbbbbbbbbbbbbgbbbbbbbbbbbgbbbbbbbbbbbg\n"
                 "3            ccccccceeee ccccccceeeeeeeeee cccccccceee cccccccceee\n"
                 "4                   dddd        dddddddddd         ddd         ddd\n"
                 "  ----------------+--------------------+---------------------+-----\n"
                 "                  2 s                  4 s                   6 s\n"
                 " a 100.0%  main\n"
                 " b  76.9%  step\n"
                 " c  46.2%  compute\n"
                 " d  30.8%  MPI_Wait\n"
                 " e  30.8%  exchange\n"
                 " f  16.9%  init\n"
                 " g   6.2%  finish\n");
    check_answer(&t, "trace summary width 65 height 8 level 4", "table",
                 "trace summary: share of 2 profiles, call path level 4\n"
                 "100%      ccccccccccaabbbdabbbdaabbbdabbbbbbbbbdaaaaaaabbbd\n"
                 "          ccccccccccaabbbdabbbdaabbbdabbbbbbbbbdaaaaaaabbbd\n"
                 "          ccccccccccaabbbdabbbdaabbbdabbbbbbbbbdaaaaaaabbbd\n"
                 "          ccccccccccaabbbdabbbdaabbbdabbbbbbbbbdaaaaaaabbbd\n"
                 " 50% ccccccccccaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "     ccccccccccaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "     ccccccccccaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "  0% ccccccccccaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbdaaaaaaabbbdaaaaaaabbbd\n"
                 "     +-------------------+-------------------+-------------------+----\n"
                 "     0 s                 2 s                 4 s                 6 s\n"
                 " a  43.1%  compute\n"
                 " b  23.1%  MPI_Wait\n"
                 " c  15.4%  init\n"
                 " d   6.2%  finish\n"
                 "    12.3%  no samples: idle, or not on a CPU\n");
    check_answer(&t, "trace imbalance width 65 height 4", "table",
                 "trace imbalance: share of 2 profiles in what waits (MPI, barriers, locks, ...)\n"
                 "100%      aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbaaaaaaaabbba\n"
                 "          aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbaaaaaaaabbba\n"
                 "     aaaaaaaaaaaaaaaaabbbaabbbaaabbbaabbbbbbbbbaaaaaaaabbbaaaaaaaabbba\n"
                 "  0% aaaaaaaaaaaaaaaaabbbaabbbaaabbbaabbbbbbbbbaaaaaaaabbbaaaaaaaabbba\n"
                 "     +-------------------+-------------------+-------------------+----\n"
                 "     0 s                 2 s                 4 s                 6 s\n"
                 " a  64.6%  elsewhere\n"
                 " b  23.1%  what waits (MPI, barriers, locks, ...)\n"
                 "    12.3%  no samples: idle, or not on a CPU\n");
    query_set(&t.env, SETTING_WAITS, &(struct setting_value){.text = "^INIT$", .ignore_case = true});
    check_answer(&t, "trace imbalance width 65 height 2", "table",
                 "trace imbalance: share of 2 profiles in /^INIT$/i\n"
                 "100%      bbbbbaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                 "  0% bbbbbbbbbbbbbbbaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                 "     +-------------------+-------------------+-------------------+----\n"
                 "     0 s                 2 s                 4 s                 6 s\n"
                 " a  72.3%  elsewhere\n"
                 " b  15.4%  /^INIT$/i\n"
                 "    12.3%  no samples: idle, or not on a CPU\n");
    traced_close(&t);
}

TEST(rows)
{
    struct traced t = known_phases();

    check_answer(&t, "trace width 4 level 4 as csv", "csv",
                 "id,kind,name,module,file,line,callsite,depth,rank,thread,time\r\n"
                 "03c1jsnwk5hye,procedure,init,steps,step.c,40,,0,0,0,0.8125\r\n"
                 "cnz6fmy81c5c2,procedure,compute,steps,step.c,50,,0,0,0,2.4375\r\n"
                 "7re25r1ztbt85,procedure,MPI_Wait,steps,step.c,60,,0,0,0,4.0625\r\n"
                 "03c1jsnwk5hye,procedure,init,steps,step.c,40,,0,1,0,0.8125\r\n"
                 "7re25r1ztbt85,procedure,MPI_Wait,steps,step.c,60,,0,1,0,2.4375\r\n"
                 "7re25r1ztbt85,procedure,MPI_Wait,steps,step.c,60,,0,1,0,4.0625\r\n"
                 "cnz6fmy81c5c2,procedure,compute,steps,step.c,50,,0,1,0,5.6875\r\n");
    check_answer(&t, "trace summary width 3 level 4 as csv", "csv",
                 "id,kind,name,module,file,line,callsite,depth,time,share\r\n"
                 ",procedure,compute,,,,,0,1.083333,0.5\r\n"
                 ",procedure,init,,,,,0,1.083333,0.5\r\n"
                 ",procedure,compute,,,,,0,3.25,1\r\n"
                 ",procedure,compute,,,,,0,5.416666,0.5\r\n");
    check_answer(&t, "trace at 2.9s rank 0", "tree",
                 "#  scope\n"
                 "1  main\n"
                 "2    loop at step.c:12\n"
                 "3      step  [step.c:13]\n"
                 "4        exchange  [step.c:23]\n"
                 "5          MPI_Wait  [step.c:31]\n"
                 "6            step.c:61\n");
    check_answer(&t, "trace at 6.2s rank 0", "tree",
                 "scope\n"
                 "(no rows)\n");
    check_answer(&t, "iterations of step", "table",
                 "#    start           length         deviation  name       largest child\n"
                 "            8.600 s  100.0%                    total\n"
                 "1  1.002 s  1.000 s   11.6%                    rank 0 #1  compute 70%\n"
                 "2  2.103 s  1.000 s   11.6%                    rank 0 #2  compute 70%\n"
                 "3  3.203 s  1.000 s   11.6%                    rank 0 #3  compute 70%\n"
                 "4  4.303 s  1.000 s   11.6%                    rank 0 #4  compute 70%\n"
                 "5  1.502 s  1.000 s   11.6%                    rank 1 #1  compute 70%\n"
                 "6  2.603 s  1.600 s   18.6%  +0.600 s  +60.0%  rank 1 #2  exchange 56%\n"
                 "7  4.303 s  1.000 s   11.6%                    rank 1 #3  compute 70%\n"
                 "8  5.402 s  1.000 s   11.6%                    rank 1 #4  compute 70%\n");
    check_answer(&t, "iterations of exchange ranks 1 during 2s..4s", "table",
                 "#    start            length  deviation  name             largest child\n"
                 "            997.5 ms  100.0%             total\n"
                 "1  2.203 s  300.0 ms   30.1%             rank 1 #1        MPI_Wait 100%\n"
                 "2  3.303 s  697.5 ms   69.9%             rank 1 #2 (cut)  MPI_Wait 100%\n");
    check_answer(&t, "iterations of step ranks 1 during 2s..4.5s", "table",
                 "#    start           length  deviation  name             largest child\n"
                 "            2.300 s  100.0%             total\n"
                 "1  2.000 s  0.503 s   21.8%             rank 1 #1 (cut)  exchange 59%\n"
                 "2  2.603 s  1.600 s   69.6%             rank 1 #2        exchange 56%\n"
                 "3  4.303 s  0.198 s    8.6%             rank 1 #3 (cut)  compute 100%\n");
    check_answer(&t, "iterations of exchange ranks 0 during iteration 2 of step", "table",
                 "#    start            length  deviation  name       largest child\n"
                 "            300.0 ms  100.0%             total\n"
                 "1  2.803 s  300.0 ms  100.0%             rank 0 #2  MPI_Wait 100%\n");
    check_answer(&t, "iterations of step where length > 1.2s or rank = 0 sort by deviation desc, start limit 2",
                 "table",
                 "#    start           length         deviation  name             largest child\n"
                 "            8.600 s  100.0%                    total\n"
                 "1  2.603 s  1.600 s   18.6%  +0.600 s  +60.0%  rank 1 #2        exchange 56%\n"
                 "2  4.303 s  1.000 s   11.6%                    rank 0 #4        compute 70%\n"
                 "                                               ... 3 more rows\n");
    traced_close(&t);
}

/* Cells are the phases that were written, and blank where there was nothing. */
/* A profile of 10 s that runs for a period of 5 ms every `every_us`. */
static struct traced runs_now_and_then(uint64_t every_us)
{
    struct traced t = {0};

    traced_structure(&t);
    uint32_t p = traced_profile(&t, 0, 1700000000000000u, 10000000);
    for (uint64_t us = 0; us + PERIOD_US < 10000000; us += every_us)
        traced_phase(&t, p, IN_COMPUTE, us, us + PERIOD_US);
    traced_open(&t);
    return t;
}

/* How many of 5,000 cells are filled; *notes: what is said beside them. */
static size_t filled(struct traced *t, size_t *notes)
{
    struct table *table = ask(t, "trace width 5000 as csv");
    size_t n = table ? table->rows.len : 0;

    *notes = table ? table->notes.len : 0;
    table_destroy(table);
    return n;
}

TEST(now_and_then)
{
    size_t notes;
    struct traced t = runs_now_and_then(33717); /* 14.8 % */

    CHECK_NEAR(filled(&t, &notes), 742, 0.01);
    CHECK_EQ_INT(notes, 0);
    traced_close(&t);
    t = runs_now_and_then(15000); /* a third; gaps so short are taken for delays, which is said */
    CHECK_NEAR(filled(&t, &notes), 5000, 0.01);
    CHECK_EQ_INT(notes, 1);
    traced_close(&t);
}

TEST(cells)
{
    struct traced t = known_phases();
    struct table *table = ask(&t, "trace width 650 level 4");
    const struct picture *p = table ? table->picture : NULL;

    CHECK_OR_RETURN(p && p->width == 650 && p->height == 2);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < 650; x++) {
            double at = (x + 0.5) * 0.01 - 0.5 * y, end = y ? 6.0 : 5.4;
            uint32_t cell = p->cells[y * 650 + x];
            const char *name = cell ? picture_shown(p, cell)->name : "";
            double in_step = at < 1 ? -1 : at - 1;
            while (in_step > (y == 1 && at > 2.1 && at < 3.8 ? 1e9 : 1.1))
                in_step -= 1.1;
            if (at < -0.01 || at > end + 0.01)
                CHECK_EQ_STR(name, "");
            else if (at > 0.01 && at < 0.99)
                CHECK_EQ_STR(name, "init");
            else if (at > 1.01 && at < 1.69)
                CHECK_EQ_STR(name, "compute");
            else if (at > 1.71 && at < 1.99)
                CHECK_EQ_STR(name, "MPI_Wait");
        }
    table_destroy(table);
    traced_close(&t);
}

static double value_of(const struct table *table, uint64_t id)
{
    for (size_t i = 0; table && i < table->rows.len; i++)
        if (table->rows.data[i].id == id) {
            double v = table->rows.data[i].cells[0].number;
            return isnan(v) ? 0 : v;
        }
    return 0;
}

/* Adjoining slices add up to the whole for every context, wherever the cuts are. */
TEST(adjoining_slices)
{
    struct traced t = known_phases();
    struct table *whole = ask(&t, "tree all");
    uint64_t seed = 12345;

    for (int round = 0; round < 20 && whole; round++) {
        double cuts[4] = {0, 0, 0, 100};
        struct table *parts[3];
        char text[128];
        for (int i = 1; i < 3; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            cuts[i] = (double)(seed >> 40) / (1 << 24) * 100;
        }
        if (cuts[1] > cuts[2]) {
            double swap = cuts[1];
            cuts[1] = cuts[2];
            cuts[2] = swap;
        }
        for (int i = 0; i < 3; i++) {
            snprintf(text, sizeof text, "tree during %.17g%%..%.17g%% all", cuts[i], cuts[i + 1]);
            parts[i] = ask(&t, text);
        }
        for (size_t i = 0; i < whole->rows.len; i++) {
            uint64_t id = whole->rows.data[i].id;
            double sum = value_of(parts[0], id) + value_of(parts[1], id) + value_of(parts[2], id);
            if (fabs(sum - whole->rows.data[i].cells[0].number) > 1e-9)
                TEST_FAIL("%s: %.9f, not %.9f", whole->rows.data[i].name, sum, whole->rows.data[i].cells[0].number);
        }
        for (int i = 0; i < 3; i++)
            table_destroy(parts[i]);
    }
    table_destroy(whole);
    traced_close(&t);
}

/* While a procedure is on the stack, the slice holds all of its cost and nothing else. */
TEST(during_a_procedure)
{
    struct traced t = known_phases();

    check_answer(&t, "procedures during step columns cputime", "csv",
                 "id,kind,name,module,file,line,callsite,depth,cputime\r\n"
                 "7j8egxkp1qhev,procedure,main,steps,step.c,10,,0,8.6\r\n"
                 "1t2vhpxxn1rbw,procedure,step,steps,step.c,20,,0,8.6\r\n"
                 "1jyy1b0337wvk,procedure,compute,steps,step.c,50,,0,5.6\r\n"
                 "8fbk8rk9670an,procedure,MPI_Wait,steps,step.c,60,,0,3\r\n"
                 "0p5s13tzn1d4m,procedure,exchange,steps,step.c,30,,0,3\r\n");
    check_answer(&t, "procedures during iteration 2 of step columns cputime", "csv",
                 "id,kind,name,module,file,line,callsite,depth,cputime\r\n"
                 "7j8egxkp1qhev,procedure,main,steps,step.c,10,,0,2.6\r\n"
                 "1t2vhpxxn1rbw,procedure,step,steps,step.c,20,,0,2.6\r\n"
                 "1jyy1b0337wvk,procedure,compute,steps,step.c,50,,0,1.4\r\n"
                 "8fbk8rk9670an,procedure,MPI_Wait,steps,step.c,60,,0,1.2\r\n"
                 "0p5s13tzn1d4m,procedure,exchange,steps,step.c,30,,0,1.2\r\n");
    check_answer(&t, "procedures during iteration 2 of step ranks 1 columns cputime", "csv",
                 "id,kind,name,module,file,line,callsite,depth,cputime\r\n"
                 "7j8egxkp1qhev,procedure,main,steps,step.c,10,,0,1.6\r\n"
                 "1t2vhpxxn1rbw,procedure,step,steps,step.c,20,,0,1.6\r\n"
                 "8fbk8rk9670an,procedure,MPI_Wait,steps,step.c,60,,0,0.9\r\n"
                 "0p5s13tzn1d4m,procedure,exchange,steps,step.c,30,,0,0.9\r\n"
                 "1jyy1b0337wvk,procedure,compute,steps,step.c,50,,0,0.7\r\n");
    traced_close(&t);
}

TEST_MAIN
