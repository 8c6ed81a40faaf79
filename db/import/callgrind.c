/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callgrind.out files. The format knows callers and callees, not call paths: see cg_give for how paths are made of
 * them. A fact of the database says that they are estimates. A part with its own thread number becomes a profile of its
 * own.
 */
#include "db/import/callgrind.h"
#include "common/str.h"
#include "db/facts.h"
#include "db/import/formats.h"
#include <errno.h>
#include <string.h>

enum name_kind { NAMES_FILE, NAMES_FUNCTION, NAMES_OBJECT, NAME_KINDS };

struct callgrind {
    struct import *im;
    struct input in;
    struct cg_graph graph;
    struct map names[NAME_KINDS]; /* number in the file -> text */
    struct map long_names;        /* event -> text of its `event:` line */
    uint32_t metrics[CG_EVENTS_MAX];
    unsigned positions; /* numbers before the costs: of instruction, basic block and line those that were asked for */
    bool line_is_last;
    uint64_t position[3];
    uint32_t pid, thread;
    struct map profiles; /* pid and thread -> profile: parts of a thread are one */
    const char *command;
    /* where the reader is */
    uint32_t object, file, function; /* function: index, HQDB_NONE */
    uint32_t callee_object, callee_file, callee;
    bool in_call, has_calls; /* the next line is the cost of a call; there was one */
    bool loose;              /* recursions of which it does not tell the levels */
    bool by_callgrind;       /* and not by another writer of its format */
    bool summed;             /* there was a `summary:` of this part */
    uint32_t totals;         /* first number of its `totals:`, or HQDB_NONE */
};

bool callgrind_sniff(const struct import_probe *p)
{
    const char *events;

    if (p->is_dir || p->binary)
        return false;
    if (str_begins(p->text, "# callgrind format"))
        return true;
    events = strstr(p->text, "\nevents:");
    if (!events && str_begins(p->text, "events:"))
        events = p->text;
    return events && (strstr(events, "\nfn=") || strstr(events, "\nfl=") || strstr(events, "\nob="));
}

/* ---- names ---- */

/* "name", "(3) name" or "(3)" */
static struct hq_error *name_of(struct callgrind *c, enum name_kind kind, const char *text, uint32_t *out)
{
    char *end;

    if (text[0] == '(' && text[1] >= '0' && text[1] <= '9') {
        errno = 0;
        uint64_t number = strtoull(text + 1, &end, 10);

        if (errno)
            return input_bad_line(&c->in, "the number of a name is out of range");
        if (*end == ')') {
            end += 1 + strspn(end + 1, " \t");
            if (*end)
                map_put(&c->names[kind], number, intern_add(&c->im->names, end));
            uint64_t *known = map_find(&c->names[kind], number);

            if (!known)
                return input_bad_line(&c->in, "the name (%llu) was never given", (unsigned long long)number);
            *out = (uint32_t)*known;
            return NULL;
        }
    }
    *out = intern_add(&c->im->names, text);
    return NULL;
}

static uint32_t known(struct callgrind *c, uint32_t text)
{
    return !strcmp(intern_str(&c->im->names, text), "???") ? 0 : text;
}

/*
 * f'caller'its_caller of --separate-callers and f'2 of --separate-recs are f: they are functions of their own in the
 * graph, which makes the call paths surer, but rows of one name.
 */
static uint32_t plain_name(struct callgrind *c, uint32_t name)
{
    const char *text = intern_str(&c->im->names, name), *quote = strchr(text, '\'');

    return quote && quote > text ? intern_addn(&c->im->names, text, (size_t)(quote - text)) : name;
}

/* The 2 of f'2 and f'2'caller, 1 of f and f'caller. */
static uint32_t level_of(const char *name)
{
    const char *quote = strchr(name, '\'');
    size_t digits = quote && quote > name ? strspn(quote + 1, "0123456789") : 0;
    bool whole = digits && digits < 6 && (!quote[1 + digits] || quote[1 + digits] == '\'');
    unsigned long level = whole ? strtoul(quote + 1, NULL, 10) : 1;

    return level ? (uint32_t)level : 1;
}

static uint32_t function_of(struct callgrind *c, uint32_t object, uint32_t file, uint32_t name)
{
    struct cg_graph *g = &c->graph;
    bool is_new, plain_is_new;
    uint32_t symbol = keymap_add(&g->symbol_keys, (uint32_t[]){object, name}, &is_new);
    uint32_t i = keymap_add(&g->function_keys, (uint32_t[]){symbol, file}, &is_new);

    if (is_new) {
        uint32_t plain = plain_name(c, name), level = level_of(intern_str(&c->im->names, name));

        vec_push(
            &g->functions,
            (struct cg_function){.name = plain,
                                 .file = known(c, file),
                                 .object = known(c, object),
                                 .symbol = symbol,
                                 .plain = keymap_add(&g->plain_keys, (uint32_t[]){object, file, plain}, &plain_is_new),
                                 .level = level});
        g->levels = level > g->levels ? level : g->levels;
    }
    return i;
}

/* ---- header ---- */

/* "event: sum = a + b : All of it" or "event: cputime : cputime (nanoseconds)" */
static void take_long_name(struct callgrind *c, const char *text)
{
    const char *colon = strchr(text, ':');

    if (colon)
        map_put(&c->long_names, intern_addn(&c->im->names, text, strcspn(text, " \t:=")),
                intern_add(&c->im->names, colon + 1 + strspn(colon + 1, " \t")));
}

/* The unit may stand behind the long name, as hq writes it; then that name is what the metric is called. */
static uint32_t metric_of(struct callgrind *c, const char *event)
{
    static const struct {
        const char *unit;
        enum hqm_dimension dimension;
        double scale;
    } units[] = {
        {" (nanoseconds)", HQM_DIM_SECONDS, 1e-9},
        {" (microseconds)", HQM_DIM_SECONDS, 1e-6},
        {" (milliseconds)", HQM_DIM_SECONDS, 1e-3},
        {" (seconds)", HQM_DIM_SECONDS, 1},
        {" (bytes)", HQM_DIM_BYTES, 1},
        {" (elapsed ms)", HQM_DIM_SECONDS, 1e-3},
        {" (elapsed us)", HQM_DIM_SECONDS, 1e-6},
        {" (elapsed ns)", HQM_DIM_SECONDS, 1e-9},
        {" (system CPU ns)", HQM_DIM_SECONDS, 1e-9},
        {" (none)", HQM_DIM_NONE, 1},
        {"", HQM_DIM_EVENTS, 1},
    };
    uint64_t text = map_get(&c->long_names, intern_add(&c->im->names, event), 0);
    const char *long_name = intern_str(&c->im->names, (uint32_t)text);
    size_t len = strlen(long_name), u = 0, n;

    while (n = strlen(units[u].unit), n && (len <= n || strcmp(long_name + len - n, units[u].unit)))
        u++;
    AUTO_FREE char *name = n ? xstrndup(long_name, len - n) : xstrdup(event);

    return import_metric(c->im, name, "counted by callgrind", units[u].dimension,
                         HQDB_METRIC_EXACT | HQDB_METRIC_NO_COUNTS, 0, units[u].scale);
}

static struct hq_error *take_events(struct callgrind *c, const char *text)
{
    size_t count = 0;

    while (*(text += strspn(text, " \t"))) {
        size_t n = strcspn(text, " \t");
        AUTO_FREE char *name = xstrndup(text, n);

        if (count == CG_EVENTS_MAX)
            return input_bad_line(&c->in, "there are more than %d events", CG_EVENTS_MAX);
        c->metrics[count++] = metric_of(c, name);
        text += n;
    }
    if (c->graph.event_count && c->graph.event_count != count)
        return input_bad_line(&c->in, "the events change within the file");
    c->graph.event_count = count;
    return NULL;
}

static struct hq_error *take_numbers(struct callgrind *c, const char *at, uint32_t *costs)
{
    *costs = (uint32_t)c->graph.numbers.len;
    for (size_t e = 0; e < c->graph.event_count; e++) {
        char *end;

        at += strspn(at, " \t");
        errno = 0;
        unsigned long long x = strtoull(at, &end, 10);

        if (*at == '-' || errno || x >> 60)
            return input_bad_line(&c->in, "a cost is out of range");
        if (end == at && *at)
            return input_bad_line(&c->in, "a cost is no number");
        vec_push(&c->graph.numbers, (int64_t)x);
        at = end;
    }
    return at[strspn(at, " \t")] ? input_bad_line(&c->in, "there are more costs than events") : NULL;
}

/* callgrind ends each part with the sums of its costs; without them the rest of the file is missing. */
static struct hq_error *check_totals(struct callgrind *c)
{
    const struct cg_graph *g = &c->graph;

    if (!c->by_callgrind || !c->summed)
        return NULL;
    if (c->totals == HQDB_NONE)
        return input_bad_line(&c->in, "the file is cut off: there is no `totals:` behind the costs");
    for (size_t e = 0; e < g->event_count; e++) {
        uint64_t sum = 0, total = (uint64_t)g->numbers.data[c->totals + e];

        vec_foreach(cost, &g->costs)
            if (__builtin_add_overflow(sum, (uint64_t)g->numbers.data[cost->costs + e], &sum))
                return NULL; /* That is said when they are added up. */
        if (sum != total)
            return input_bad_line(&c->in, "the costs before this line add up to %llu, their `totals:` are %llu",
                                  (unsigned long long)sum, (unsigned long long)total);
    }
    return NULL;
}

static uint32_t profile_of(struct callgrind *c)
{
    uint64_t key = (uint64_t)c->pid << 32 | c->thread, *known = map_find(&c->profiles, key);

    if (known)
        return (uint32_t)*known;
    uint32_t profile = import_profile(c->im, c->pid, c->thread, c->thread, c->command);

    map_put(&c->profiles, key, profile);
    return profile;
}

/* Gives the costs that were read so far, and starts anew. */
static struct hq_error *give_graph(struct callgrind *c)
{
    HQ_TRY(check_totals(c));
    if (c->graph.costs.len) {
        c->graph.metrics = c->metrics;
        c->graph.profile = profile_of(c);
        cg_join_callees(&c->graph);
        c->loose |= !cg_give(&c->graph, c->im);
    }
    cg_graph_clear(&c->graph);
    c->function = c->callee = HQDB_NONE;
    c->in_call = false;
    c->summed = false;
    c->totals = HQDB_NONE;
    return NULL;
}

static const char *after(const char *line, const char *key)
{
    size_t n = strlen(key);

    return !strncmp(line, key, n) ? line + n + strspn(line + n, " \t") : NULL;
}

/* *taken: it was a line of the header. Unknown ones of the form "word: ..." are skipped, as the format says. */
static struct hq_error *take_header(struct callgrind *c, const char *line, bool *taken)
{
    const char *text, *colon = strchr(line, ':'), *equals = strchr(line, '=');

    *taken = colon && (!equals || colon < equals) && line[0] >= 'a' && line[0] <= 'z';
    if (!*taken)
        return NULL;
    if ((text = after(line, "events:")))
        return take_events(c, text);
    if ((text = after(line, "event:"))) {
        take_long_name(c, text);
    } else if ((text = after(line, "positions:"))) {
        unsigned addresses = !!strstr(text, "instr") + !!strstr(text, "bb");

        c->line_is_last = strstr(text, "line") || !addresses;
        c->positions = addresses + c->line_is_last;
    } else if ((text = after(line, "pid:"))) {
        c->pid = (uint32_t)strtoul(text, NULL, 10);
    } else if ((text = after(line, "cmd:"))) {
        c->command = import_keep(c->im, text);
    } else if ((text = after(line, "creator:"))) {
        c->by_callgrind = str_begins(text, "callgrind-");
    } else if (after(line, "summary:")) {
        c->summed = true;
    } else if (c->by_callgrind && (text = after(line, "totals:"))) {
        return take_numbers(c, text, &c->totals);
    } else if ((text = after(line, "part:"))) {
        HQ_TRY(give_graph(c));
    } else if ((text = after(line, "thread:"))) {
        HQ_TRY(give_graph(c));
        c->thread = (uint32_t)strtoul(text, NULL, 10);
    }
    return NULL;
}

/* ---- body ---- */

/* False where there is none, or one that does not fit. NUMBER, 0xNUMBER, +NUMBER, -NUMBER or *, relative to the line
 * before. */
static bool take_position(uint64_t *position, char **at)
{
    uint64_t before = *position;

    char *p = *at + strspn(*at, " \t"), *end;
    char sign = *p;

    if (sign == '*') {
        *at = p + 1;
        return true;
    }
    p += sign == '+' || sign == '-';
    if (*p < '0' || *p > '9')
        return false;
    errno = 0;
    uint64_t x = strtoull(p, &end, p[0] == '0' && p[1] == 'x' ? 16 : 10);

    *at = end;
    *position = x;
    return !errno && !(sign == '+' && __builtin_add_overflow(before, x, position)) &&
           !(sign == '-' && __builtin_sub_overflow(before, x, position));
}

static struct hq_error *take_cost(struct callgrind *c, char *line)
{
    uint32_t costs;
    char *at = line;

    for (unsigned i = 0; i < c->positions; i++)
        if (!take_position(&c->position[i], &at))
            return input_bad_line(&c->in, "neither a line of the header, a name, nor a position with costs");
    if (!c->graph.event_count)
        return input_bad_line(&c->in, "there are costs, but no `events:` before them");
    if (c->function == HQDB_NONE)
        return input_bad_line(&c->in, "there are costs, but no `fn=` before them");
    HQ_TRY(take_numbers(c, at, &costs));
    uint64_t number = c->line_is_last ? c->position[c->positions - 1] : 0;
    uint32_t source_line = number < UINT32_MAX ? (uint32_t)number : 0, file = known(c, c->file);

    if (!file)
        source_line = 0;
    bool any = false;

    for (size_t e = 0; e < c->graph.event_count; e++)
        any |= c->graph.numbers.data[costs + e] != 0;
    if (c->in_call)
        vec_push(&c->graph.calls, (struct cg_call){c->function, c->callee, file, source_line, costs});
    else if (any)
        vec_push(&c->graph.costs, (struct cg_cost){c->function, file, source_line, costs});
    c->in_call = false;
    return NULL;
}

static struct hq_error *take_call(struct callgrind *c)
{
    if (c->callee == HQDB_NONE || c->function == HQDB_NONE)
        return input_bad_line(&c->in, "there is a call, but no `fn=` and `cfn=` before it");
    c->in_call = c->has_calls = true;
    return NULL;
}

static struct hq_error *take_name(struct callgrind *c, const char *line)
{
    const char *text;
    uint32_t name;

    if ((text = after(line, "fn="))) {
        HQ_TRY(name_of(c, NAMES_FUNCTION, text, &name));
        c->function = function_of(c, c->object, c->file, name);
        c->graph.functions.data[c->function].begun = true;
        c->callee_object = c->object;
        c->callee_file = c->file;
    } else if ((text = after(line, "cfn="))) {
        HQ_TRY(name_of(c, NAMES_FUNCTION, text, &name));
        c->callee = function_of(c, c->callee_object, c->callee_file, name);
        c->callee_object = c->object;
        c->callee_file = c->file;
    } else if ((text = after(line, "fl=")) || (text = after(line, "fi=")) || (text = after(line, "fe="))) {
        HQ_TRY(name_of(c, NAMES_FILE, text, &c->file));
        c->callee_file = c->file;
    } else if ((text = after(line, "cfl=")) || (text = after(line, "cfi="))) {
        return name_of(c, NAMES_FILE, text, &c->callee_file);
    } else if ((text = after(line, "ob="))) {
        HQ_TRY(name_of(c, NAMES_OBJECT, text, &c->object));
        c->callee_object = c->object;
    } else if ((text = after(line, "cob="))) {
        return name_of(c, NAMES_OBJECT, text, &c->callee_object);
    } else if ((text = after(line, "calls="))) {
        return take_call(c);
    } else if ((text = after(line, "jfi=")) || (text = after(line, "jfn="))) {
        /* Jumps are of no use here, but a name may be given where one leads to. */
        return name_of(c, line[2] == 'i' ? NAMES_FILE : NAMES_FUNCTION, text, &name);
    } else if (!after(line, "jump=") && !after(line, "jcnd=")) {
        return input_bad_line(&c->in, "this kind of line is not known");
    }
    return NULL;
}

static struct hq_error *take_line(struct callgrind *c, char *line)
{
    bool taken;

    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return NULL;
    if (strchr("0123456789+-*", *line))
        return take_cost(c, line);
    HQ_TRY(take_header(c, line, &taken));
    return taken ? NULL : take_name(c, line);
}

static struct hq_error *take_all(struct callgrind *c, const char *path)
{
    char *line;
    size_t len;

    HQ_TRY(input_open(&c->in, path));
    while (input_line(&c->in, &line, &len)) {
        HQ_TRY(take_line(c, line));
        if (import_problem(c->im))
            return input_bad_line(&c->in, "the costs before this line: %s", import_problem(c->im));
    }
    HQ_TRY(input_error(&c->in));
    HQ_TRY(give_graph(c));
    import_fact(c->im, FACT_CALL_PATHS,
                !c->has_calls ? "none: the file holds no calls"
                : c->loose    ? "estimates: callgrind knows callers and callees, costs are shared out in proportion; "
                                "the exclusive costs of functions and lines are exact"
                              : FACT_AS_FILED ": callgrind knows callers and callees; the exclusive costs of functions "
                                              "and lines are exact");
    return NULL;
}

struct hq_error *callgrind_read(struct import *im, const char *path)
{
    struct callgrind c = {.im = im,
                          .positions = 1,
                          .line_is_last = true,
                          .function = HQDB_NONE,
                          .callee = HQDB_NONE,
                          .totals = HQDB_NONE};

    cg_graph_init(&c.graph);
    struct hq_error *error = take_all(&c, path);

    input_close(&c.in);
    cg_graph_deinit(&c.graph);
    for (int i = 0; i < NAME_KINDS; i++)
        map_deinit(&c.names[i]);
    map_deinit(&c.long_names);
    map_deinit(&c.profiles);
    return error;
}
