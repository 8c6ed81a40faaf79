/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fixture TEXT DB: makes the database directory DB (DB/hq.db) from a text, for tests. TEXT may be -.
 *
 * One thing a line; words are separated by blanks; a word with blanks stands in double quotes, in which \n, \" and
 * \\ mean what they do in C. A # at the start of a line makes a comment. ID is a name used in this file only; things
 * are defined before use.
 *
 *     info KEY VALUE                            command, host, ... as `info` shows them
 *     metric EVENT DIMENSION SCALE PERIOD [FLAG]...
 *                                               seconds|events|bytes|none; sampled exact no_counts traced
 *                                               counted elapsed device spans
 *     module ID PATH [BUILD-ID]
 *     file ID MODULE PATH
 *     proc ID FILE NAME LINE [linkage=NAME] [ALIAS]...
 *     known MODULE all|symbols|exported NAME... the names of its procedures, sampled or not, ascending
 *     loop ID PARENT LINE [FROM]                in a proc, inline or loop; numbered within the procedure from 1
 *                                               FROM: source gone newer unread unlike, where its line is from
 *     inline ID PARENT NAME FILE LINE CALL-LINE [linkage=NAME]
 *                                               FILE is a path: where it is defined; called in its parent's file
 *     region ID PARENT NAME LINE [target]       a parallel region; its work is paths on which it is called
 *     state ID MODULE wait|runtime NAME         what a runtime does, at the end of paths
 *     profile ID [KEY=VALUE]...                 rank host pid tid thread command serial state start end realtime
 *                                               (start, end in us), creator=PROFILE
 *     opened PROFILE ENTRIES NS [team=LARGEST[/SUM]] PATH
 *                                               the region at the end of PATH, how long it was open in all, and the
 *                                               teams of its entries
 *     value PROFILE EVENT SUM COUNT PATH        adds to a leaf: SUM in base units, COUNT samples
 *     trace PROFILE TIME-US EVENT WEIGHT PATH   a sample in time
 *     mark PROFILE TIME-US enter|leave PATH     of the phase at the end of PATH
 *     growth PROFILE TIME-US EVENT AMOUNT       of a counted metric, behind a mark or sample of that time
 *     message PROFILE TO COUNT BYTES NS RECEIVED RECEIVED-BYTES PATH
 *                                               TO is a rank, ? if it is not known, or a group as "0-3" or "1,2"; COUNT
 *                                               and BYTES to each of it
 *     queue PROFILE DEVICE [unordered] [ERROR]  PROFILE (thread=2147483648 or more) is a queue of the device, whose
 *                                               clock may be off by ERROR ns
 *     host-wait PROFILE FROM TO                 the thread waited for devices; times in ns
 *     command PROFILE kernel|copy|other[,user] CALLED READY START TIME BYTES PATH
 *                                               that it has run; times in ns, READY 0: it waited for no other
 *     loss REASON COUNT, partial REASON COUNT
 *     source PATH TEXT
 *
 * PATH is frames from the outermost, separated by > : each is SCOPE:LINE, a statement directly in that scope (the
 * call site, and at the end the sampled statement), in the file of the scope. SCOPE:LINE~SCOPE2:LINE2 gives another
 * place before normalisation. SCOPE alone, at the end, is the scope itself, as a region is opened. thread=NAME and
 * partial=NAME, only at the start, are roots; phase=NAME hangs below the call that begins it.
 */
#include "tests/tools/fixture/fixture.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_info(struct fixture *f, char **w)
{
    model_info(f->model, w[1], w[2]);
}

static void add_loss(struct fixture *f, char **w)
{
    model_loss(f->model, w[1], *w[0] == 'p', (uint64_t)fixture_number(f, w[2]));
}

static void add_source(struct fixture *f, char **w)
{
    model_source(f->model, w[1], w[2], strlen(w[2]));
}

static void add_module(struct fixture *f, char **w)
{
    fixture_define(&f->modules, w[1], model_module(f->model, w[2], w[3], f->modules.len ? 0 : HQDB_MODULE_MAIN, NULL));
}

static const struct {
    const char *word;
    int least, most; /* words of the line, with the first */
    void (*add)(struct fixture *, char **);
} lines[] = {
    {"info", 3, 3, add_info},
    {"loss", 3, 3, add_loss},
    {"partial", 3, 3, add_loss},
    {"source", 3, 3, add_source},
    {"module", 3, INT_MAX, add_module},
    {"metric", 1, INT_MAX, fixture_metric},
    {"file", 3, INT_MAX, fixture_file},
    {"proc", 5, INT_MAX, fixture_proc},
    {"known", 4, INT_MAX, fixture_known},
    {"loop", 3, INT_MAX, fixture_loop},
    {"inline", 3, INT_MAX, fixture_inline},
    {"region", 3, INT_MAX, fixture_region},
    {"state", 5, INT_MAX, fixture_state},
    {"profile", 1, INT_MAX, fixture_profile},
    {"value", 6, INT_MAX, fixture_value},
    {"opened", 5, INT_MAX, fixture_opened},
    {"message", 9, INT_MAX, fixture_message},
    {"queue", 3, INT_MAX, fixture_queue},
    {"host-wait", 4, 4, fixture_host_wait},
    {"command", 9, INT_MAX, fixture_command},
    {"trace", 6, INT_MAX, fixture_trace},
    {"mark", 5, INT_MAX, fixture_mark},
    {"growth", 5, 5, fixture_growth},
};

static void add_line(struct fixture *f, char **words, int n)
{
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strcmp(words[0], lines[i].word) && n >= lines[i].least && n <= lines[i].most) {
            lines[i].add(f, words);
            return;
        }
    }
    fixture_fail(f, "not understood", words[0]);
}

static void read_text(struct fixture *f, char *text)
{
    char *words[FIXTURE_MAX_WORDS];

    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        f->line++;
        if (line[strspn(line, " \t")] && *line != '#')
            add_line(f, words, fixture_split(f, line, words));
    }
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->len; i++)
        free(names->data[i].id);
    vec_deinit(names);
}

static void deinit(struct fixture *f)
{
    model_destroy(f->model);
    free_names(&f->modules);
    free_names(&f->scopes);
    free_names(&f->profiles);
    free_names(&f->metrics);
    for (size_t i = 0; i < f->facts.len; i++)
        free(f->facts.data[i].file);
    vec_deinit(&f->facts);
    vec_deinit(&f->loops);
}

static struct hq_error *run(struct fixture *f, const char *text, const char *directory)
{
    AUTO_STR struct str content = {0};
    AUTO_FREE char *copy = NULL;
    AUTO_FREE char *path = file_join(directory, HQDB_FILE);

    HQ_TRY(file_read(strcmp(text, "-") ? text : "/dev/stdin", &content, 1u << 30));
    copy = xstrdup(str_cstr(&content));
    read_text(f, copy);
    HQ_TRY(file_make_dirs(directory));
    return model_write(f->model, path, 0);
}

int main(int argc, char **argv)
{
    struct fixture f = {0};
    struct hq_error *err;
    int status = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: fixture TEXT DB\n");
        return 2;
    }
    f.model = model_create();
    f.file = argv[1];
    err = run(&f, argv[1], argv[2]);
    if (err) {
        fprintf(stderr, "fixture: %s\n", err->message);
        status = err->status;
        hq_error_free(err);
    }
    deinit(&f);
    return status;
}
