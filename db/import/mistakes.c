/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/mistakes.h"

#include "common/file.h"
#include "common/mem.h"
#include <string.h>

#define NSYS "a report of Nsight Systems, whose format is not public"
#define NSYS_ADVICE \
    "make Chrome trace events of it (of what nsys export --type sqlite writes there are converters) and import those"

/* The beginning of a file, texts that are within what was read of it, or the end of its name; all that a row has. %s in
 * the advice is the file. */
static const struct mistake {
    const char *magic;
    size_t magic_len;
    const char *has, *and, *suffix;
    const char *what, *advice;
} mistakes[] = {
#define MAGIC(text) .magic = text, .magic_len = sizeof text - 1
    {MAGIC("2ELIFREP"), .what = "what perf recorded",
     .advice = "make text of it with perf script -i %s > perf.txt and import that"},
    {MAGIC("\xfd"
           "7zXZ"),
     .what = "compressed by xz", .advice = "xz -dc %s | hq import FORMAT - -o DB"},
    {MAGIC("\x28\xb5\x2f\xfd"), .what = "compressed by zstd", .advice = "zstd -dc %s | hq import FORMAT - -o DB"},
    {MAGIC("BZh"), .what = "compressed by bzip2", .advice = "bzip2 -dc %s | hq import FORMAT - -o DB"},
    {MAGIC("PK\3\4"), .what = "a zip archive", .advice = "unpack it and import what is in it"},
    {MAGIC("\177ELF"), .what = "a program or library", .advice = "record it with hq record -o DB -- %s"},
    {MAGIC("gmon"), .what = "what gprof recorded", .advice = "it has no call paths; record the program with hq record"},
    {.suffix = ".nsys-rep", .what = NSYS, .advice = NSYS_ADVICE},
    {.suffix = ".qdrep", .what = NSYS, .advice = NSYS_ADVICE},
    {MAGIC("SQLite format 3"), .has = "CUPTI_ACTIVITY_KIND", .what = NSYS, .advice = NSYS_ADVICE},
    {MAGIC("SQLite format 3"), .what = "an SQLite database",
     .advice = "export it from the tool that made it to one of hq import --formats"},
    {MAGIC("\xff\xfe"), .what = "text in UTF-16", .advice = "iconv -f UTF-16 -t UTF-8 %s > FILE and import that"},
    {MAGIC("\xfe\xff"), .what = "text in UTF-16", .advice = "iconv -f UTF-16 -t UTF-8 %s > FILE and import that"},
    {.has = "# Event count (approx.)",
     .what = "what perf report prints",
     .advice = "perf script > perf.txt, where its perf.data is, prints what can be imported"},
    {.has = "Performance counter stats for",
     .what = "what perf stat prints",
     .advice = "it has no call paths; use perf record -g and perf script"},
    {.has = "\"callFrame\"",
     .and = "\"hitCount\"",
     .what = "a CPU profile of V8 (.cpuprofile)",
     .advice = "open it in speedscope.app and import what that exports"},
    {.has = "\"callFrame\"",
     .and = "\"selfSize\"",
     .what = "a heap profile of V8 (.heapprofile)",
     .advice = "open it in speedscope.app and import what that exports"},
    {MAGIC("v8-version,"), .what = "a log of V8 (--prof)",
     .advice = "record with perf record -g node --perf-basic-prof, and import what perf script prints"},
    {MAGIC("--- symbol\nbinary="), .what = "a profile of google-pprof --raw",
     .advice = "google-pprof --callgrind %s > callgrind.out and import that"},
    {.has = "<HPCToolkitExperiment",
     .what = "an experiment.xml of an HPCToolkit before 2022",
     .advice =
         "run its measurements through hpcprof of HPCToolkit 2022 or later, which makes a directory with meta.db"},
    {MAGIC("HPCTOOLKIT"), .what = "one of the files of an HPCToolkit database",
     .advice = "import the directory that it is in"},
    {MAGIC("HPCRUN"), .what = "a measurement file of hpcrun",
     .advice = "run hpcprof on the directory that it is in and import what that makes"},
    {MAGIC("heap profile:"), .what = "a heap profile of gperftools",
     .advice = "google-pprof --callgrind PROGRAM %s > callgrind.out and import that"},
    {.has = "desc: --massif", .what = "a profile of massif", .advice = "ms_print shows it; it cannot be imported"},
    {.has = "Flat profile:",
     .and = "Each sample counts as",
     .what = "what gprof prints",
     .advice = "it has no call paths; record the program with hq record"},
    {.has = "<svg", .what = "a picture", .advice = "import the profile that it was made from"},
#undef MAGIC
};

static bool fits(const struct mistake *m, const struct import_probe *p)
{
    size_t path = strlen(p->path), end = m->suffix ? strlen(m->suffix) : 0;

    return (!m->magic || (p->len >= m->magic_len && memcmp(p->text, m->magic, m->magic_len) == 0)) &&
           (!m->has || memmem(p->text, p->len, m->has, strlen(m->has))) && (!m->and || strstr(p->text, m->and)) &&
           (!m->suffix || (path > end && !strcmp(p->path + path - end, m->suffix)));
}

static bool has_file(const struct import_probe *p, const char *name)
{
    AUTO_FREE char *path = file_join(p->path, name);

    return file_exists(path);
}

static struct hq_error *of_directory(const struct import_probe *p)
{
    if (has_file(p, "experiment.xml"))
        return hq_error_new(
            HQ_DATA,
            "%s is a database of an HPCToolkit before 2022 (experiment.xml): run its measurements through hpcprof of "
            "HPCToolkit 2022 or later, which makes a directory with meta.db",
            p->path);
    if (has_file(p, "profile.db") || has_file(p, "cct.db"))
        return hq_error_new(
            HQ_DATA,
            "%s is an HPCToolkit database without its meta.db, which names what was measured: copy it as a whole",
            p->path);
    if (has_file(p, "perf.data"))
        return hq_error_new(HQ_DATA, "%s is a directory: import the perf.data in it", p->path);
    return NULL;
}

/* A recording, its database, or the file of one. */
static bool is_ours(const struct import_probe *p)
{
    return p->is_dir ? has_file(p, HQDB_FILE) || has_file(p, "measurements")
                     : p->len >= strlen(HQDB_MAGIC) && !memcmp(p->text, HQDB_MAGIC, strlen(HQDB_MAGIC));
}

struct hq_error *mistake_of(const struct import_probe *p)
{
    AUTO_STR struct str advice = {0};

    if (is_ours(p))
        return hq_error_new(HQ_DATA, "%s is a database of hq, which is asked as it is: hq %s QUERY", p->path, p->path);
    if (p->is_dir)
        return of_directory(p);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        const char *file = strstr(m->advice, "%s");

        if (!fits(m, p))
            continue;
        str_addn(&advice, m->advice, file ? (size_t)(file - m->advice) : strlen(m->advice));
        if (file)
            str_addf(&advice, "%s%s", p->path, file + 2);
        return hq_error_new(HQ_DATA, "%s is %s, which is not read: %s", p->path, m->what, str_cstr(&advice));
    }
    return NULL;
}
