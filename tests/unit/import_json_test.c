/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats that are JSON: speedscope and Chrome traces. */
#include "tests/unit/test.h"

#include "common/mem.h"
#include "db/import/json.h"
#include "tests/unit/import_help.h"

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""
#define FRAMES \
    "\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"m.c\",\"line\":3},{\"name\":\"work\"},{\"name\":\"idle\"," \
    "\"col\":4}]}"

/* ---- speedscope ---- */

TEST(speedscope_samples)
{
    CHECK_IMPORT(NULL,
                 "{" SCHEMA "," FRAMES
                 ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"one\",\"unit\":\"milliseconds\",\"startValue\":0,"
                 "\"endValue\":10,\"samples\":[[0],[0,1],[0,1],[]],\"weights\":[1,2.5,2.5,4]}]}",
                 "metrics: time\n"
                 "main 0.006\n"
                 " line m.c:3 0.001\n"
                 " work (m.c:3) 0.005\n");
}

TEST(speedscope_profiles_before_frames)
{
    CHECK_IMPORT(
        "speedscope",
        "{\"profiles\":[{\"type\":\"sampled\",\"name\":\"a\",\"unit\":\"none\",\"samples\":[[1]],\"weights\":[3]},"
        "{\"type\":\"sampled\",\"name\":\"b\",\"unit\":\"bytes\",\"samples\":[[1,2]],\"weights\":[64]}]," FRAMES "}",
        "metrics: weight bytes\n"
        "work 3 64\n"
        " idle 0 64\n");
}

TEST(speedscope_of_hq)
{
    CHECK_IMPORT(NULL,
                 "{" SCHEMA ",\"exporter\":\"hq\"," FRAMES
                 ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"cputime\",\"unit\":\"seconds\","
                 "\"samples\":[[0,1]],\"weights\":[0.5]},{\"type\":\"sampled\",\"name\":\"realtime\",\"unit\":"
                 "\"seconds\",\"samples\":[[0,1],[0]],\"weights\":[2,1]}]}",
                 "metrics: cputime realtime\n"
                 "main 0.5 3\n"
                 " line m.c:3 0 1\n"
                 " work (m.c:3) 0.5 2\n");
}

TEST(speedscope_events)
{
    CHECK_IMPORT(
        NULL,
        "{" SCHEMA "," FRAMES
        ",\"profiles\":[{\"type\":\"evented\",\"name\":\"one\",\"unit\":\"microseconds\",\"startValue\":5,"
        "\"endValue\":100,\"events\":[{\"type\":\"O\",\"frame\":1,\"at\":10},{\"type\":\"O\",\"frame\":2,\"at\":20},"
        "{\"type\":\"C\",\"frame\":2,\"at\":50},{\"type\":\"C\",\"frame\":1,\"at\":60}]}]}",
        "metrics: time\n"
        "work 5e-05\n"
        " idle 3e-05\n");
}

/* A tracer that is killed closes nothing. */
TEST(speedscope_frames_that_stay_open)
{
    CHECK_IMPORT(
        NULL,
        "{" SCHEMA "," FRAMES
        ",\"profiles\":[{\"type\":\"evented\",\"name\":\"one\",\"unit\":\"microseconds\",\"startValue\":5,"
        "\"endValue\":100,\"events\":[{\"type\":\"O\",\"frame\":1,\"at\":10},{\"type\":\"O\",\"frame\":2,\"at\":20}]},"
        "{\"type\":\"evented\",\"name\":\"two\",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":3,"
        "\"events\":[{\"type\":\"O\",\"frame\":1,\"at\":7}]}]}",
        "metrics: time\n"
        "work 9e-05\n"
        " idle 8e-05\n");
}

TEST(speedscope_errors)
{
    CHECK_REFUSED("speedscope",
                  "{" FRAMES
                  ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[7]],\"weights\":[3]}]}",
                  "profile 0 names frame 7, but there are 3 frames");
    CHECK_REFUSED("speedscope",
                  "{" FRAMES
                  ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[1]],\"weights\":[3,4]}]}",
                  "profile 0 has 1 samples and 2 weights");
    CHECK_REFUSED("speedscope", "{" FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"samples\":[[-1]]}]}",
                  "byte 145: a sample holds");
    CHECK_REFUSED(
        "speedscope",
        "{" FRAMES
        ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\",\"events\":[{\"type\":\"C\",\"frame\":1,\"at\":1}]}]}",
        "closes frame 1 at 1");
    CHECK_REFUSED(
        "speedscope",
        "{" FRAMES
        ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\",\"events\":[{\"type\":\"X\",\"frame\":1,\"at\":1}]}]}",
        "an event neither opens nor closes a frame");
    CHECK_REFUSED("speedscope", "{" FRAMES ",\"profiles\":[", "the data is cut off");
    CHECK_REFUSED("speedscope", "{" FRAMES ",\"profiles\":[}", "no JSON");
    CHECK_REFUSED("speedscope", "{" FRAMES "}", "holds no samples");
}

TEST(json_depth_is_bounded)
{
    AUTO_STR struct str deep = {0};

    for (int i = 0; i < 100000; i++)
        str_addc(&deep, '[');
    CHECK_REFUSED("chrome", str_cstr(&deep), "byte 65: the data is nested deeper than 64 levels");
}

/* ---- chrome ---- */

TEST(chrome_complete_events_nest_by_time)
{
    CHECK_IMPORT(
        NULL,
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"name\":\"inner\",\"ts\":1020,\"dur\":30,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"X\",\"name\":\"outer\",\"ts\":1000,\"dur\":100,\"pid\":1,\"tid\":1,\"args\":{\"name\":\"no\"}},"
        "{\"ph\":\"X\",\"name\":\"inner\",\"ts\":1060,\"dur\":10.5,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"C\",\"name\":\"counter\",\"ts\":1060,\"pid\":1,\"args\":{\"x\":3}}]}",
        "metrics: walltime\n"
        "outer 0.0001\n"
        " inner 4.05e-05\n");
}

/* What clang's -ftime-trace adds up in threads of their own is no time. */
TEST(chrome_sums_are_no_events)
{
    CHECK_IMPORT(
        NULL,
        "[{\"ph\":\"X\",\"name\":\"Source\",\"ts\":0,\"dur\":30,\"pid\":1,\"tid\":1},"
        "{\"ph\":\"X\",\"name\":\"Total Source\",\"ts\":0,\"dur\":30,\"pid\":1,\"tid\":2,\"args\":{\"count\":1,\"avg "
        "ms\":30}},"
        "{\"ph\":\"X\",\"name\":\"Total work\",\"ts\":40,\"dur\":5,\"pid\":1,\"tid\":1,\"args\":{\"count\":1}}]",
        "metrics: walltime\n"
        "Source 3e-05\n"
        "Total work 5e-06\n");
}

TEST(chrome_begin_and_end)
{
    struct db *db = NULL;
    AUTO_STR struct str got = {0};

    CHECK_OK(import_text(NULL,
                         "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"prog\"}},"
                         "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":9,\"args\":{\"name\":\"io\"}},"
                         "{\"ph\":\"B\",\"name\":\"a\",\"ts\":0,\"pid\":7,\"tid\":7},{\"ph\":\"B\",\"name\":\"b\","
                         "\"ts\":5,\"pid\":7,\"tid\":7},"
                         "{\"ph\":\"E\",\"ts\":8,\"pid\":7,\"tid\":7},{\"ph\":\"E\",\"ts\":10,\"pid\":7,\"tid\":7},"
                         "{\"ph\":\"E\",\"ts\":11,\"pid\":7,\"tid\":7},"
                         "{\"ph\":\"B\",\"name\":\"c\",\"ts\":2,\"pid\":7,\"tid\":9},{\"ph\":\"B\",\"name\":\"d\","
                         "\"ts\":4,\"pid\":7,\"tid\":9},",
                         &db));
    CHECK_OR_RETURN(db);
    import_dump(db, &got);
    CHECK_EQ_STR(str_cstr(&got), "metrics: walltime\na 1e-05\n b 3e-06\nc 2e-06\n d 0\n");
    CHECK_EQ_INT(db->profile_count, 2);
    CHECK_EQ_STR(db_string(db, db->profiles[1].command), "prog: io");
    struct db_trace_reader *r;
    struct db_trace_record x;
    uint64_t want[] = {0, 0, 5, 5, 8, 3, 10, 2}; /* spans, behind a pause */

    CHECK_OK(db_trace_open(db, 0, &r));
    for (int i = 0; i < 4 && db_trace_next(r, &x); i++) {
        CHECK_EQ_INT(x.time_us, want[2 * i]);
        CHECK_EQ_INT(x.weight, want[2 * i + 1]);
    }
    db_trace_close(r);
    db_close(db);
}

TEST(chrome_errors)
{
    CHECK_REFUSED("chrome", "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e300,\"dur\":1}]", "the time 1e300 is out of range");
    CHECK_REFUSED("chrome", "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1e400,\"dur\":1}]", "too large");
    CHECK_REFUSED("chrome", "[{\"ph\":}]", "byte 8: no JSON");
    CHECK_REFUSED("chrome", "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"ts\":2}]", "an event has its \"ts\" twice");
    CHECK_REFUSED("chrome", "{\"traceEvents\":[{\"ph\":\"X\",", "is cut off");
    CHECK_REFUSED("chrome", "[]", "holds no samples");
}

TEST_MAIN
