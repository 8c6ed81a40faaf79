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
 *                                               counted elapsed
 *     module ID PATH [BUILD-ID]
 *     file ID MODULE PATH
 *     proc ID FILE NAME LINE [linkage=NAME] [ALIAS]...
 *     known MODULE all|symbols|exported NAME... the names of its procedures, sampled or not, ascending
 *     loop ID PARENT LINE                       in a proc, inline or loop; numbered within the procedure from 1
 *     inline ID PARENT NAME FILE LINE CALL-LINE [linkage=NAME]
 *                                               FILE is a path: where it is defined; called in its parent's file
 *     region ID PARENT NAME LINE                a parallel region; its work is paths on which it is called
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
 *     queue PROFILE DEVICE [unordered]          PROFILE (thread=2147483648 or more) is a queue of the device
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
#include "structure/known.h"
#include "structure/unpack.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include "common/vec.h"
#include "db/model.h"
#include "format/measurement.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 256 };

struct name {
    char *id;
    uint32_t value;
};
struct names {
    struct name *data;
    size_t len, cap;
};

struct scope_facts {
    uint32_t scope, module, proc;
    char *file;
};

struct fixture {
    struct model *model;
    const char *file;
    unsigned line;
    struct names modules, scopes, profiles, metrics;
    VEC(struct scope_facts) facts;
    VEC(uint32_t) loops; /* [scope number of a procedure] loops so far */
};

_Noreturn static void fail(const struct fixture *f, const char *what, const char *word)
{
    fprintf(stderr, "%s:%u: %s: %s\n", f->file, f->line, what, word ? word : "(nothing)");
    exit(2);
}

static void define(struct names *names, const char *id, uint32_t value)
{
    vec_push(names, (struct name){xstrdup(id), value});
}

static uint32_t look_up(const struct fixture *f, const struct names *names, const char *id)
{
    for (size_t i = 0; id && i < names->len; i++) {
        if (!strcmp(names->data[i].id, id))
            return names->data[i].value;
    }
    fail(f, "not defined", id);
}

static long long number(const struct fixture *f, const char *word)
{
    char *end = NULL;
    long long x = word ? strtoll(word, &end, 10) : 0;

    if (!word || !*word || *end)
        fail(f, "not a number", word);
    return x;
}

/* ---- words ---- */

static char *unquote(const struct fixture *f, char **at)
{
    char *p = *at + 1, *out = *at, *start = *at;

    while (*p && *p != '"') {
        if (*p == '\\' && p[1]) {
            p++;
            *out++ = *p == 'n' ? '\n' : *p;
            p++;
        } else {
            *out++ = *p++;
        }
    }
    if (!*p)
        fail(f, "no closing quote", start);
    *at = p + 1;
    *out = 0;
    return start;
}

static int split(const struct fixture *f, char *line, char **words)
{
    int n = 0;

    for (char *p = line + strspn(line, " \t"); *p && n < MAX_WORDS - 1; p += strspn(p, " \t")) {
        if (*p == '"') {
            words[n++] = unquote(f, &p);
        } else {
            words[n++] = p;
            p += strcspn(p, " \t");
            if (*p)
                *p++ = 0;
        }
    }
    words[n] = NULL;
    return n;
}

/* The word linkage=NAME, or NULL. */
static const char *linkage_name(const char *word)
{
    return word && !strncmp(word, "linkage=", 8) ? word + 8 : NULL;
}

/* ---- structure ---- */

static const struct scope_facts *facts_of(const struct fixture *f, uint32_t scope)
{
    for (size_t i = 0; i < f->facts.len; i++) {
        if (f->facts.data[i].scope == scope)
            return &f->facts.data[i];
    }
    fail(f, "no such scope", "");
}

static void add_scope(struct fixture *f, const char *id, const struct model_scope *s, uint32_t proc)
{
    uint32_t scope = model_scope(f->model, s);

    define(&f->scopes, id, scope);
    vec_push(&f->facts, (struct scope_facts){scope, s->module, proc == HQDB_NONE ? scope : proc, xstrdup(s->file)});
}

static void add_file(struct fixture *f, char **w)
{
    uint32_t module = look_up(f, &f->modules, w[2]);

    if (!w[3])
        fail(f, "no path", w[1]);
    add_scope(f, w[1],
              &(struct model_scope){
                  .kind = SCOPE_FILE,
                  .parent = model_module_scope(f->model, module),
                  .name = w[3],
                  .file = w[3],
                  .module = module,
              },
              HQDB_NONE);
}

static void add_state(struct fixture *f, char **w)
{
    uint32_t module = look_up(f, &f->modules, w[2]);

    add_scope(f, w[1],
              &(struct model_scope){
                  .kind = *w[3] == 'w' ? SCOPE_WAIT : SCOPE_RUNTIME,
                  .parent = model_module_scope(f->model, module),
                  .name = w[4],
                  .file = "",
                  .module = module,
              },
              HQDB_NONE);
}

static void add_proc(struct fixture *f, char **w)
{
    const struct scope_facts *file = facts_of(f, look_up(f, &f->scopes, w[2]));
    long long line = number(f, w[4]);
    const char *linkage = linkage_name(w[5]);

    add_scope(f, w[1],
              &(struct model_scope){
                  .kind = SCOPE_PROCEDURE,
                  .parent = file->scope,
                  .name = w[3],
                  .linkage = linkage,
                  .file = file->file,
                  .line = (uint32_t)line,
                  .module = file->module,
                  .address = 4096u * (uint64_t)(f->facts.len + 1),
                  .aliases = (const char *const *)w + 5 + (linkage != NULL),
              },
              HQDB_NONE);
}

static void add_known(struct fixture *f, char **w)
{
    static const char *const states[] = {
        [KNOWN_EXPORTED] = "exported", [KNOWN_SYMBOLS] = "symbols", [KNOWN_ALL] = "all"};
    AUTO_STR struct str text = {0};
    struct known k = {0};

    for (int i = KNOWN_EXPORTED; i < KNOWN_KINDS; i++)
        if (w[2] && !strcmp(w[2], states[i]))
            k.state = i;
    if (!k.state)
        fail(f, "neither all, symbols nor exported", w[2]);
    for (char **name = w + 3; *name; name++, k.count++) {
        str_addc(&text, '\0'); /* shares nothing with the one before */
        str_addn(&text, *name, strlen(*name) + 1);
    }
    k.unpacked = text.len;
    k.packed = pack(text.s, text.len, &k.bytes);
    model_known(f->model, look_up(f, &f->modules, w[1]), &k);
    free(k.packed);
}

static void add_loop(struct fixture *f, char **w)
{
    const struct scope_facts *parent = facts_of(f, look_up(f, &f->scopes, w[2]));
    uint32_t ordinal = 1;

    for (size_t i = 0; i < f->loops.len; i++)
        ordinal += f->loops.data[i] == parent->proc;
    vec_push(&f->loops, parent->proc);
    add_scope(f, w[1],
              &(struct model_scope){
                  .kind = SCOPE_LOOP,
                  .parent = parent->scope,
                  .file = parent->file,
                  .line = (uint32_t)number(f, w[3]),
                  .module = parent->module,
                  .ordinal = ordinal,
              },
              parent->proc);
}

static void add_region(struct fixture *f, char **w)
{
    const struct scope_facts *parent = facts_of(f, look_up(f, &f->scopes, w[2]));

    if (!w[3])
        fail(f, "no name", w[1]);
    add_scope(f, w[1],
              &(struct model_scope){
                  .kind = SCOPE_REGION,
                  .parent = parent->scope,
                  .name = w[3],
                  .file = parent->file,
                  .line = (uint32_t)number(f, w[4]),
                  .module = parent->module,
              },
              parent->proc);
}

static void add_inline(struct fixture *f, char **w)
{
    const struct scope_facts *parent = facts_of(f, look_up(f, &f->scopes, w[2]));

    if (!w[3] || !w[4])
        fail(f, "name and file are missing", w[1]);
    add_scope(f, w[1],
              &(struct model_scope){
                  .kind = SCOPE_INLINE,
                  .parent = parent->scope,
                  .name = w[3],
                  .linkage = w[6] ? linkage_name(w[7]) : NULL,
                  .file = w[4],
                  .line = (uint32_t)number(f, w[5]),
                  .module = parent->module,
                  .call_file = parent->file,
                  .call_line = (uint32_t)number(f, w[6]),
              },
              parent->proc);
}

/* ---- call paths ---- */

static uint32_t line_scope(struct fixture *f, char *text, uint64_t *offset, uint32_t *module)
{
    char *colon = strchr(text, ':');
    const struct scope_facts *s;
    uint32_t line;

    if (colon)
        *colon = 0;
    s = facts_of(f, look_up(f, &f->scopes, text));
    line = colon ? (uint32_t)number(f, colon + 1) : 0;
    *module = s->module;
    *offset = 4096u * (uint64_t)(s - f->facts.data + 1) + line;
    if (!colon)
        return s->scope;
    return model_scope(f->model, &(struct model_scope){
                                     .kind = SCOPE_LINE,
                                     .parent = s->scope,
                                     .file = s->file,
                                     .line = line,
                                     .module = s->module,
                                 });
}

static uint32_t add_frame(struct fixture *f, uint32_t parent, char *text)
{
    char *tilde = strchr(text, '~'), *equals = strchr(text, '=');
    uint64_t offset, raw_offset;
    uint32_t module, raw, normal;

    if (equals && *text == 'p' && text[1] == 'h') {
        AUTO_FREE char *name = xasprintf("phase %s", equals + 1);

        normal = model_scope(
            f->model, &(struct model_scope){
                          .kind = SCOPE_PHASE, .parent = MODEL_ROOT, .name = name, .file = "", .module = HQDB_NONE});
        return model_frame(f->model, parent, model_code(f->model, HQDB_NONE, 0, normal, normal));
    }
    if (equals)
        return model_root_frame(f->model, *text == 't' ? SCOPE_THREAD : SCOPE_PARTIAL, equals + 1);
    if (tilde)
        *tilde = 0;
    normal = line_scope(f, text, &offset, &module);
    raw = tilde ? line_scope(f, tilde + 1, &raw_offset, &module) : normal;
    return model_frame(f->model, parent, model_code(f->model, module, offset, raw, normal));
}

static uint32_t add_path(struct fixture *f, char **words)
{
    uint32_t frame = HQDB_NONE;

    for (; *words; words++) {
        if (strcmp(*words, ">"))
            frame = add_frame(f, frame, *words);
    }
    if (frame == HQDB_NONE)
        fail(f, "no call path", NULL);
    return frame;
}

/* ---- the rest ---- */

static void add_message(struct fixture *f, char **w)
{
    bool is_group = strpbrk(w[2], "-,") != NULL;
    struct hqdb_message m = {
        .frame = add_path(f, w + 8),
        .profile = look_up(f, &f->profiles, w[1]),
        .peer = is_group             ? 0
                : !strcmp(w[2], "?") ? -1
                                     : (int32_t)number(f, w[2]),
        .count = (uint64_t)number(f, w[3]),
        .bytes = (uint64_t)number(f, w[4]),
        .time_ns = (uint64_t)number(f, w[5]),
        .received = (uint64_t)number(f, w[6]),
        .received_bytes = (uint64_t)number(f, w[7]),
    };

    model_message(f->model, &m, is_group ? w[2] : "");
}

static void add_queue(struct fixture *f, char **w)
{
    struct hqdb_queue q = {.profile = look_up(f, &f->profiles, w[1]), .flags = w[3] ? HQM_QUEUE_UNORDERED : 0};

    model_queue(f->model, &q, w[2]);
}

static void add_command(struct fixture *f, char **w)
{
    struct hqdb_command c = {
        .frame = add_path(f, w + 8),
        .profile = look_up(f, &f->profiles, w[1]),
        .host_profile = HQDB_NONE,
        .kind = *w[2] == 'k'   ? HQM_COMMAND_KERNEL
                : *w[2] == 'c' ? HQM_COMMAND_COPY
                               : HQM_COMMAND_OTHER,
        .flags = strchr(w[2], ',') ? HQM_COMMAND_USER : 0,
        .called_ns = (uint64_t)number(f, w[3]),
        .ready_ns = (uint64_t)number(f, w[4]),
        .start_ns = (uint64_t)number(f, w[5]),
        .time_ns = (uint64_t)number(f, w[6]),
        .bytes = (uint64_t)number(f, w[7]),
    };

    model_command(f->model, &c);
}

static void add_host_wait(struct fixture *f, char **w)
{
    model_host_wait(f->model, &(struct hqdb_host_wait){.profile = look_up(f, &f->profiles, w[1]),
                                                       .from_ns = (uint64_t)number(f, w[2]),
                                                       .to_ns = (uint64_t)number(f, w[3])});
}

static void add_opened(struct fixture *f, char **w)
{
    uint64_t entries = (uint64_t)number(f, w[2]), threads = 0;
    uint32_t largest = 0;
    bool sized = w[4] && sscanf(w[4], "team=%" SCNu32 "/%" SCNu64, &largest, &threads);

    if (sized && !threads)
        threads = largest * entries;
    model_region(f->model, &(struct hqdb_region){.frame = add_path(f, w + 4 + sized),
                                                 .profile = look_up(f, &f->profiles, w[1]),
                                                 .entries = entries,
                                                 .left = entries,
                                                 .elapsed_ns = (uint64_t)number(f, w[3]),
                                                 .threads = threads,
                                                 .largest = largest});
}

static void add_metric(struct fixture *f, char **w)
{
    static const char *const dimensions[] = {"none", "seconds", "events", "bytes"};
    static const struct {
        const char *name;
        uint16_t flag;
    } flags[] = {{"sampled", HQDB_METRIC_SAMPLED},     {"exact", HQDB_METRIC_EXACT},
                 {"no_counts", HQDB_METRIC_NO_COUNTS}, {"traced", HQDB_METRIC_TRACED},
                 {"counted", HQDB_METRIC_COUNTED},     {"elapsed", HQDB_METRIC_ELAPSED}};
    struct model_metric m = {.event = w[1]};

    for (uint16_t i = 0; i < 4; i++)
        m.dimension = w[1] && w[2] && !strcmp(w[2], dimensions[i]) ? i : m.dimension;
    m.scale = w[2] && w[3] ? strtod(w[3], NULL) : 0;
    m.period = (uint64_t)number(f, w[2] && w[3] ? w[4] : NULL);
    for (char **flag = w + 5; *flag; flag++) {
        for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
            m.flags |= !strcmp(*flag, flags[i].name) ? flags[i].flag : 0;
    }
    define(&f->metrics, w[1], model_metric(f->model, &m));
}

static void add_profile(struct fixture *f, char **w)
{
    struct model_profile p = {.rank = -1, .state = HQM_ENDED, .creator_profile = HQDB_NONE, .creator_frame = HQDB_NONE};

    for (char **word = w + 2; w[1] && *word; word++) {
        char *value = strchr(*word, '=');

        if (!value)
            fail(f, "a fact of a profile is KEY=VALUE", *word);
        *value++ = 0;
        if (!strcmp(*word, "host"))
            p.host = value;
        else if (!strcmp(*word, "command"))
            p.command = value;
        else if (!strcmp(*word, "creator"))
            p.creator_profile = look_up(f, &f->profiles, value);
        else if (!strcmp(*word, "rank"))
            p.rank = (int32_t)number(f, value);
        else if (!strcmp(*word, "pid"))
            p.pid = (uint32_t)number(f, value);
        else if (!strcmp(*word, "tid"))
            p.tid = (uint32_t)number(f, value);
        else if (!strcmp(*word, "thread"))
            p.thread = (uint32_t)number(f, value);
        else if (!strcmp(*word, "serial"))
            p.serial = (uint32_t)number(f, value);
        else if (!strcmp(*word, "state"))
            p.state = (uint32_t)number(f, value);
        else if (!strcmp(*word, "start"))
            p.start_us = (uint64_t)number(f, value);
        else if (!strcmp(*word, "end"))
            p.end_us = (uint64_t)number(f, value);
        else if (!strcmp(*word, "realtime"))
            p.start_realtime_ns = (uint64_t)number(f, value);
        else
            fail(f, "unknown fact of a profile", *word);
    }
    if (!w[1])
        fail(f, "no name", "profile");
    define(&f->profiles, w[1], model_profile(f->model, &p));
}

static void add_line(struct fixture *f, char **w, int n)
{
    const char *what = w[0];

    if (!strcmp(what, "info") && n == 3)
        model_info(f->model, w[1], w[2]);
    else if (!strcmp(what, "loss") && n == 3)
        model_loss(f->model, w[1], false, (uint64_t)number(f, w[2]));
    else if (!strcmp(what, "partial") && n == 3)
        model_loss(f->model, w[1], true, (uint64_t)number(f, w[2]));
    else if (!strcmp(what, "source") && n == 3)
        model_source(f->model, w[1], w[2], strlen(w[2]));
    else if (!strcmp(what, "module") && n >= 3)
        define(&f->modules, w[1], model_module(f->model, w[2], w[3], f->modules.len ? 0 : HQDB_MODULE_MAIN, NULL));
    else if (!strcmp(what, "metric"))
        add_metric(f, w);
    else if (!strcmp(what, "file"))
        add_file(f, w);
    else if (!strcmp(what, "proc") && n >= 5)
        add_proc(f, w);
    else if (!strcmp(what, "known") && n >= 4)
        add_known(f, w);
    else if (!strcmp(what, "loop"))
        add_loop(f, w);
    else if (!strcmp(what, "inline"))
        add_inline(f, w);
    else if (!strcmp(what, "region"))
        add_region(f, w);
    else if (!strcmp(what, "state") && n >= 5)
        add_state(f, w);
    else if (!strcmp(what, "profile"))
        add_profile(f, w);
    else if (!strcmp(what, "value") && n >= 6)
        model_value(f->model, look_up(f, &f->profiles, w[1]), look_up(f, &f->metrics, w[2]), add_path(f, w + 5),
                    number(f, w[3]), (uint64_t)number(f, w[4]));
    else if (!strcmp(what, "opened") && n >= 5)
        add_opened(f, w);
    else if (!strcmp(what, "message") && n >= 9)
        add_message(f, w);
    else if (!strcmp(what, "queue") && n >= 3)
        add_queue(f, w);
    else if (!strcmp(what, "host-wait") && n == 4)
        add_host_wait(f, w);
    else if (!strcmp(what, "command") && n >= 9)
        add_command(f, w);
    else if (!strcmp(what, "trace") && n >= 6)
        model_trace(f->model, look_up(f, &f->profiles, w[1]), (uint64_t)number(f, w[2]), add_path(f, w + 5),
                    look_up(f, &f->metrics, w[3]), (uint32_t)number(f, w[4]));
    else if (!strcmp(what, "mark") && n >= 5)
        model_mark(f->model, look_up(f, &f->profiles, w[1]), (uint64_t)number(f, w[2]), add_path(f, w + 4),
                   !strcmp(w[3], "leave"));
    else if (!strcmp(what, "growth") && n == 5)
        model_growth(f->model, look_up(f, &f->profiles, w[1]), (uint64_t)number(f, w[2]), look_up(f, &f->metrics, w[3]),
                     (uint64_t)number(f, w[4]));
    else
        fail(f, "not understood", what);
}

static void read_text(struct fixture *f, char *text)
{
    char *words[MAX_WORDS];

    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        f->line++;
        if (line[strspn(line, " \t")] && *line != '#')
            add_line(f, words, split(f, line, words));
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
