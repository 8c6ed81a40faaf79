/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/gate/gate.h"
#include "common/str.h"
#include "db/facts.h"
#include "query/grammar/words.h"
#include "repl/baseline/row_paths.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void gate_init(struct gate *g, const struct opt_args *args, size_t pairs)
{
    *g = (struct gate){.args = args, .pairs = pairs};
    for (int side = 0; side < RUN_SIDES; side++)
        g->elapsed[side] = xcalloc(pairs + 1, sizeof(double));
}

void gate_deinit(struct gate *g)
{
    vec_foreach(q, &g->queries)
        gate_values_deinit(&(*q)->values);
    vec_deinit(&g->queries);
    for (int side = 0; side < RUN_SIDES; side++)
        free(g->elapsed[side]);
    arena_deinit(&g->arena);
}

/* ---- one query ---- */

bool gate_compares(const struct statement *st)
{
    return st->kind == STATEMENT_QUERY && !st->query.samples.compare && view_has_costs(st->query.view.kind);
}

const char *gate_query_text(struct arena *arena, const struct statement *st)
{
    struct query q = st->query;

    q.expect.len = 0;
    q.limit = 0;
    q.as = NULL;
    return print_query(arena, &q);
}

struct hq_error *gate_measure(struct query_env *env, const struct statement *st, struct table **out)
{
    struct statement whole = *st;
    bool ci = query_setting(env, SETTING_CI);

    *out = NULL;
    whole.query.expect.len = 0;
    whole.query.as = NULL;
    whole.query.limit = 0;
    whole.query.all = true;
    query_switch(env, SETTING_CI, true);
    env->keep_all = true;
    struct hq_error *error = query_run(env, &whole, out);

    query_switch(env, SETTING_CI, ci);
    env->keep_all = false;
    if (!error && *out && ((*out)->facts || (*out)->picture)) {
        table_destroy(*out);
        *out = NULL;
    }
    return error;
}

/* ---- the queries of a run ---- */

struct asking {
    struct gate *gate;
    struct session session;
    const char *file;
    enum run_side side;
    size_t run;
    struct hq_error *error;
};

static struct gate_query *known_query(const struct asking *a, const struct statement *st)
{
    AUTO(arena_deinit) struct arena scratch = {0};
    const char *text = gate_query_text(&scratch, st);

    vec_foreach(q, &a->gate->queries)
        if (!strcmp((*q)->text, text) && !strcmp((*q)->file, a->file))
            return *q;
    return NULL;
}

static struct gate_query *add_query(const struct asking *a, const struct statement *st)
{
    AUTO(arena_deinit) struct arena scratch = {0};
    struct gate *g = a->gate;
    struct gate_query *q = ARENA_NEW(&g->arena, struct gate_query);

    *q = (struct gate_query){.file = arena_strdup(&g->arena, a->file),
                             .line = st->place.line,
                             .text = arena_strdup(&g->arena, gate_query_text(&scratch, st))};
    q->values.room = g->pairs;
    vec_push(&g->queries, q);
    return q;
}

/* Whether a query leaves something of the program out. */
static bool is_of_part(const struct query *q)
{
    return q->view.of || q->where.len || q->matching.len || q->samples.through.len;
}

static struct hq_error *on_query(void *arg, const struct statement *st)
{
    struct asking *a = arg;
    AUTO(baseline_deinit) struct baseline into = {0};
    struct baseline_query values = {0};
    struct table *t = NULL;

    if (!gate_compares(st))
        return NULL;
    /* A file has a query several times where it has several limits: its values are those of one. */
    struct gate_query *q = known_query(a, st);

    if (q && q->taken[a->side] == a->run + 1)
        return NULL;
    HQ_TRY(gate_measure(&a->session.env, st, &t));
    if (t) {
        baseline_measure(&into, &values, t, 0);
        q = q ? q : add_query(a, st);
        q->values.shown = query_setting(&a->session.env, SETTING_NAMES);
        q->values.part = is_of_part(&st->query);
        gate_values_add(&q->values, a->side, a->run, &values);
        q->taken[a->side] = a->run + 1;
    }
    vec_deinit(&values.values);
    table_destroy(t);
    return NULL;
}

static void on_error(void *arg, const struct hq_error *error)
{
    struct asking *a = arg;

    if (!a->error)
        a->error = hq_error_new(error->status, "%s", error->message);
}

static void run_text(struct session *s, const char *text)
{
    session_text(s, &(struct source){.name = "query", .text = text, .length = strlen(text)});
}

static struct hq_error *ask(struct asking *a, const char *db, const char *const *files, size_t count,
                            struct arena *arena)
{
    struct session *s = &a->session;

    if (a->gate->args)
        HQ_TRY(session_parameters(s, a->gate->args, arena));
    HQ_TRY(session_open(s, db, NULL));
    if (!count)
        run_text(s, "procedures");
    for (size_t i = 0; i < count && !a->error; i++) {
        a->file = files[i];
        session_file(s, files[i]);
    }
    return MEM_STEAL(a->error);
}

static void asking_init(struct asking *a)
{
    session_init(&a->session);
    a->session.quiet = a->session.keeps_files = true;
    a->session.on_error = on_error;
    a->session.on_arg = a;
    a->file = "";
}

struct hq_error *gate_ask(struct gate *g, const char *db, enum run_side side, size_t run, const char *const *files,
                          size_t count)
{
    struct asking a = {.gate = g, .side = side, .run = run};
    AUTO(arena_deinit) struct arena arena = {0};

    asking_init(&a);
    a.session.on_query = on_query;
    struct hq_error *error = ask(&a, db, files, count, &arena);
    const char *duration = error ? NULL : facts_text(a.session.env.db, "duration");

    g->elapsed[side][run] = duration ? strtod(duration, NULL) : 0;
    session_deinit(&a.session);
    return error;
}

enum check_outcome gate_judge_query(struct gate_query *q, size_t pairs, const struct gate_tolerance *tolerance,
                                    double family, struct arena *arena, struct check_lines *lines, size_t *wanted)
{
    q->values.runs[RUN_OLD] = q->values.runs[RUN_NEW] = pairs;
    return gate_values_judge(&q->values, tolerance, family, arena, lines, wanted);
}

unsigned gate_often_enough(const struct gate *g, size_t pairs)
{
    double least = INFINITY;

    vec_foreach(q, &g->queries)
        vec_foreach(row, &(*q)->values.rows)
            for (size_t i = 0; i < 2 * pairs; i++)
                if (!*row->path && row->dim == DIM_SECONDS && !baseline_waits(row->metric))
                    least = fmin(least, row->value[i % 2][i / 2]);
    return least < 0.25 ? (unsigned)fmin(100, ceil(0.5 / fmax(least, 0.005))) : 1;
}

/* Is it of CPU time, of the whole program, and of no other time? */
static bool is_blind_to_waiting(const struct gate_query *q)
{
    bool elapsed = false;

    vec_foreach(r, &q->values.rows)
        elapsed |= str_begins(r->metric, "realtime");
    return q->values.judged_time && !q->values.part && !elapsed;
}

/* Tells how much longer the program may take by the clock, where that is more than the tolerance. */
static const char *not_ruled_out(const struct gate_difference *d, struct arena *arena)
{
    double bound = gate_bound(d, GATE_MISSED);

    if (bound <= d->allowed)
        return "";
    return isfinite(bound)
               ? arena_printf(arena, ", of which a rise of up to %.0f%% is not ruled out", 100 * bound / d->old)
               : ", of which no rise is ruled out";
}

enum check_outcome gate_judge_elapsed(const struct gate *g, const struct gate_query *q, size_t pairs,
                                      const struct gate_tolerance *tolerance, struct arena *arena,
                                      struct check_lines *lines)
{
    AUTO_FREE double *room = xcalloc(pairs + 1, sizeof *room);
    char from[UNITS_TEXT], to[UNITS_TEXT];

    for (size_t i = 0; i < pairs; i++)
        if (!(g->elapsed[RUN_OLD][i] > 0) || !(g->elapsed[RUN_NEW][i] > 0))
            return CHECK_PASS;
    if (!is_blind_to_waiting(q))
        return CHECK_PASS;
    struct gate_difference d = gate_paired(g->elapsed[RUN_OLD], g->elapsed[RUN_NEW], pairs, room);

    d.allowed = tolerance->relative * d.old;
    bool longer = gate_judge(&d, GATE_FAMILY, GATE_MISSED) == GATE_FAIL;

    units_format(from, d.old, DIM_SECONDS);
    units_format(to, d.now, DIM_SECONDS);
    vec_push(lines,
             longer ? arena_printf(arena,
                                   "the new program takes longer: %s -> %s by the clock, %+.0f%%. What it waits for is "
                                   "in no CPU time: race it by -e REALTIME",
                                   from, to, 100 * d.rise / d.old)
                    : arena_printf(arena, "not judged is what is waited for: %s -> %s by the clock%s (-e REALTIME)",
                                   from, to, not_ruled_out(&d, arena)));
    return longer ? CHECK_INCONCLUSIVE : CHECK_PASS;
}

/* ---- why ---- */

struct explaining {
    struct asking asking; /* first: on_error takes it */
    struct arena *arena;
    struct check_lines *lines;
    enum output_names names;
    double runs; /* of each side: the joined databases hold their sum */
};

/* The number of the column with the difference of the first metric. */
static size_t delta_column(const struct table *t)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (t->columns.data[c].marks_sign && t->columns.data[c].type == COLUMN_NUMBER)
            return c;
    return SIZE_MAX;
}

/* The call path of a row, where the view shows one; else its name. */
static const char *place_of(const struct table *t, const struct row *r)
{
    for (size_t c = 0; c < t->columns.len; c++)
        if (t->columns.data[c].is_path && r->cells[c].text)
            return r->cells[c].text;
    return r->name;
}

/* Where the next scope of `main > f<A> > g` begins behind s; NULL if it is the last. Marks inside of brackets are parts
 * of names. */
static const char *next_place(const char *s)
{
    int depth = 0;

    for (; *s; s++) {
        if (depth == 0 && str_begins(s, " > "))
            return s + 3;
        depth += *s == '<' || *s == '(';
        depth -= (*s == ')' || (*s == '>' && s[-1] != '-')) && depth > 0;
    }
    return NULL;
}

static char *place_name(const char *at, const char *next)
{
    return next ? xstrndup(at, (size_t)(next - 3 - at)) : xstrdup(at);
}

static void add_place(struct row_paths *paths, const char *path)
{
    for (const char *at = path, *next; at; at = next) {
        next = next_place(at);
        AUTO_FREE char *name = place_name(at, next);

        row_paths_add_name(paths, name);
    }
}

/* The path as `set names` has it. */
static const char *place_text(struct row_paths *paths, struct arena *arena, const char *path)
{
    AUTO_STR struct str out = {0};
    size_t count = 0, i = 0;

    for (const char *at = path; at; at = next_place(at))
        count++;
    for (const char *at = path, *next; at; at = next) {
        next = next_place(at);
        enum row_paths_place place = row_paths_place(paths, i++, count);
        AUTO_FREE char *name = place_name(at, next);

        if (place != ROW_PATHS_LEFT_OUT)
            str_addf(&out, "%s%s", at == path ? "" : " > ",
                     place == ROW_PATHS_DOTS ? "..." : row_paths_name(paths, name));
    }
    return arena_strdup(arena, str_cstr(&out));
}

static struct hq_error *on_explain(void *arg, const struct statement *st)
{
    enum { LINES = 3 };
    struct explaining *e = arg;
    AUTO(row_paths_deinit) struct row_paths paths = {.setting = e->names};
    struct table *t = NULL;
    size_t told = 0;

    HQ_TRY(query_run(&e->asking.session.env, st, &t));
    size_t c = t ? delta_column(t) : SIZE_MAX;

    for (size_t i = 0; c != SIZE_MAX && i < t->rows.len; i++)
        add_place(&paths, place_of(t, &t->rows.data[i]));

    for (size_t i = 0; c != SIZE_MAX && i < t->rows.len && told < LINES; i++) {
        const struct row *r = &t->rows.data[i];
        char text[UNITS_TEXT];

        if (r->flags & ROW_FOLDED || !(r->cells[c].number > 0))
            continue;
        units_format(text, r->cells[c].number / e->runs, t->columns.data[c].dim);
        vec_push(e->lines, arena_printf(e->arena, "%s +%s in %s", told++ ? "        " : "because:", text,
                                        place_text(&paths, e->arena, place_of(t, r))));
    }
    table_destroy(t);
    return NULL;
}

void gate_explain(const char *set, enum output_names names, struct arena *arena, struct check_lines *lines)
{
    AUTO_FREE char *old = run_set_joined(set, RUN_OLD), *now = run_set_joined(set, RUN_NEW);
    AUTO_FREE char *text = xasprintf("explain 80%% of delta compare with \"%s\" all", old);
    struct explaining e = {.arena = arena, .lines = lines, .names = names, .runs = (double)run_set_joins(set)};

    asking_init(&e.asking);
    e.asking.session.on_query = on_explain;
    struct hq_error *error = session_open(&e.asking.session, now, NULL);

    /* A compiler that unrolled a loop would make all that is called in it new. */
    query_switch(&e.asking.session.env, SETTING_LOOPS, false);
    if (!error)
        run_text(&e.asking.session, text);
    hq_error_free(error);
    hq_error_free(e.asking.error);
    session_deinit(&e.asking.session);
}
