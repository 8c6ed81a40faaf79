/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expectations with three outcomes: a comparison whose 95 % interval straddles its bound is undecided, and `and`, `or`,
 * `not` carry that on. An interval shrinks with the square root of the samples, which tells how many more would decide.
 */
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/measure/interval.h"
#include "query/output.h"
#include "common/apart.h"
#include "common/shorten.h"
#include "query/shape/rows.h"
#include <math.h>

enum outcome { NO, YES, UNDECIDED };

/* A comparison as the difference of what is measured and its bound, for the interval; valid where `args` is. */
static struct program difference_of(const struct program *p, struct program *args[2])
{
    bool turned = p->args[1]->kind == PROGRAM_SLOT;

    args[0] = p->args[turned];
    args[1] = p->args[!turned];
    return (struct program){.kind = PROGRAM_BINARY, .op = OP_SUB, .args = args, .arg_count = 2};
}

struct judged {
    enum outcome outcome;
    double more;
}; /* more: factor by which samples have to grow */

static struct judged judge(struct run *run, struct entry *e, const struct program *p, const struct point *at);

static struct judged judge_comparison(struct run *run, struct entry *e, const struct program *p, const struct point *at)
{
    struct program *args[2], difference = difference_of(p, args);
    int truth = program_truth(p, at);
    double value, width;

    if (truth < 0 || p->args[0]->is_text)
        return (struct judged){truth == 1 ? YES : NO, 0};
    value = program_number(&difference, at);
    width = interval_at_bound(run, e, &difference, value);
    value = fabs(value);
    if (!(width > value) || width == 0)
        return (struct judged){truth ? YES : NO, 0};
    return (struct judged){UNDECIDED, value > 0 ? width / value * (width / value) : INFINITY};
}

static struct judged judge_logic(struct run *run, struct entry *e, const struct program *p, const struct point *at)
{
    struct judged a = judge(run, e, p->args[0], at), b = judge(run, e, p->args[1], at);
    enum outcome decides = p->op == OP_AND ? NO : YES;

    if (a.outcome == decides || b.outcome == decides)
        return (struct judged){decides, 0};
    if (a.outcome == UNDECIDED || b.outcome == UNDECIDED)
        return (struct judged){UNDECIDED, fmax(a.more, b.more)};
    return a;
}

static struct judged judge(struct run *run, struct entry *e, const struct program *p, const struct point *at)
{
    if (p->kind == PROGRAM_NOT) {
        struct judged a = judge(run, e, p->args[0], at);

        a.outcome = a.outcome == UNDECIDED ? UNDECIDED : a.outcome == NO ? YES : NO;
        return a;
    }
    if (p->kind == PROGRAM_BINARY && (p->op == OP_AND || p->op == OP_OR))
        return judge_logic(run, e, p, at);
    if (p->kind == PROGRAM_BINARY && p->op >= OP_EQ && p->op <= OP_GE)
        return judge_comparison(run, e, p, at);
    return (struct judged){program_truth(p, at) == 1 ? YES : NO, 0};
}

/* ---- what was measured ---- */

static bool is_comparison(const struct program *p)
{
    return p->kind == PROGRAM_BINARY && p->op >= OP_EQ && p->op <= OP_GE && !p->args[0]->is_text;
}

/* The first comparison of numbers that came out so and makes the whole what it is; NULL if there is none. */
static const struct program *deciding(struct run *run, struct entry *e, const struct program *p, const struct point *at,
                                      enum outcome outcome)
{
    if (p->kind == PROGRAM_NOT)
        return deciding(run, e, p->args[0], at, outcome == UNDECIDED ? UNDECIDED : outcome == NO ? YES : NO);
    if (p->kind == PROGRAM_BINARY && (p->op == OP_AND || p->op == OP_OR)) {
        const struct program *first = deciding(run, e, p->args[0], at, outcome);

        return first ? first : deciding(run, e, p->args[1], at, outcome);
    }
    return is_comparison(p) && judge(run, e, p, at).outcome == outcome ? p : NULL;
}

static const char *amount(char text[UNITS_TEXT], double value, double whole, enum dim dim)
{
    if (isnan(value))
        return "no value";
    if (!(whole > 0))
        return units_format(text, value, dim);
    snprintf(text, UNITS_TEXT, "%.1f%%", 100 * value / whole);
    return text;
}

/* "51.6% [48.4, 54.8], limit 48%" of the row that decides; in percent where the bound is. */
static void say_measured(struct run *run, struct entry *e, const struct program *p, enum outcome outcome,
                         struct str *out)
{
    struct facts facts = entry_facts(run, e);
    struct point at = entry_point(run, e, &facts);
    const struct program *c = p ? deciding(run, e, p, &at, outcome) : NULL;

    if (!c)
        return;
    struct program *args[2], difference = difference_of(c, args);
    bool percent = args[1]->kind == PROGRAM_SHARE;
    double whole = percent ? program_total(args[1]->args[0], run->totals) : 0, low, high;
    double value = program_number(args[0], &at), bound = program_number(args[1], &at);
    enum dim dim = args[0]->dim;
    char text[UNITS_TEXT];

    str_addf(out, ": %s", amount(text, value, whole, dim));
    if (interval_ends(run, e, &difference, value, &low, &high)) {
        str_addf(out, " [%s, ", amount(text, low, whole, dim));
        str_addf(out, "%s]", amount(text, high, whole, dim));
    }
    if (percent)
        str_addf(out, ", limit %.4g%%", 100 * args[1]->number);
    else
        str_addf(out, ", limit %s", amount(text, bound, 0, dim));
}

/* ---- over the rows ---- */

struct tally {
    size_t rows, yes, no, undecided;
    bool unseen; /* there are no rows, and too few samples to say that there is nothing */
    double more;
    struct entry *first_no, *first_yes, *first_undecided, *costliest;
};

static struct tally count(struct run *run, struct entry **entries, size_t n, const struct program *p)
{
    struct tally t = {0};

    for (size_t i = 0; i < n; i++) {
        struct entry *e = entries[i];
        struct facts facts = entry_facts(run, e);
        struct point at = entry_point(run, e, &facts);
        struct judged j;

        if (run_interrupted(run))
            break;
        if (!e->match || e->folded)
            continue;
        t.rows++;
        if (!t.costliest || (run->selection.measures.len && e->slots[0] > t.costliest->slots[0]))
            t.costliest = e;
        if (!p)
            continue;
        j = judge(run, e, p, &at);
        t.yes += j.outcome == YES;
        t.no += j.outcome == NO;
        t.undecided += j.outcome == UNDECIDED;
        t.more = fmax(t.more, j.more);
        if (j.outcome == NO && !t.first_no)
            t.first_no = e;
        if (j.outcome == YES && !t.first_yes)
            t.first_yes = e;
        if (j.outcome == UNDECIDED && !t.first_undecided)
            t.first_undecided = e;
    }
    return t;
}

/*
 * A procedure without a sample is no row, but it may have taken time all the same: no sample of n. It is judged like a
 * row of zeros; what that leaves open is open. What is on the bound then stays there for any n, and is left to the rule
 * for no rows.
 */
static void judge_unseen(struct run *run, const struct program *p, struct tally *t)
{
    struct node nothing = {.scope = HQDB_NONE, .name = "", .context = HQDB_NONE, .profile = HQDB_NONE};
    struct entry *e = entry_new(run, &nothing, NULL, 0);
    struct facts facts = entry_facts(run, e);
    struct point at = entry_point(run, e, &facts);
    struct judged j = judge(run, e, p, &at);

    t->unseen = j.outcome == UNDECIDED && isfinite(j.more);
    t->more = j.more;
}

static enum verdict_kind decide(enum expect_kind kind, const struct tally *t)
{
    size_t deciding = kind == EXPECT_ALL ? t->no : t->yes;

    if (deciding)
        return kind == EXPECT_ANY ? VERDICT_PASS : VERDICT_FAIL;
    if (t->undecided || t->unseen)
        return VERDICT_INCONCLUSIVE;
    return kind == EXPECT_ANY ? VERDICT_FAIL : VERDICT_PASS;
}

static bool rows_hold(enum operator op, size_t rows, uint64_t n)
{
    switch (op) {
    case OP_EQ: return rows == n;
    case OP_NE: return rows != n;
    case OP_LT: return rows < n;
    case OP_LE: return rows <= n;
    case OP_GT: return rows > n;
    default: return rows >= n;
    }
}

/* Returns the name of a row for a verdict, as `set names` wants it. */
static const char *told_name(struct run *run, struct entry *e)
{
    AUTO_STR struct str text = {0};

    if (query_setting(run->env, SETTING_NAMES) != NAMES_SHORT)
        return entry_name(run, e);
    name_shorten(&text, entry_name(run, e), NAME_SHORT, "...");
    return arena_strdup(&run->arena, str_cstr(&text));
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

struct sampled {
    const struct selection *s;
    const struct measure *first;
};

static void find_sampled(void *arg, unsigned slot)
{
    struct sampled *f = arg;
    const struct measure *m = &f->s->measures.data[slot / 2];

    if (!f->first && m->side != SIDE_DELTA && !(m->flags & (HQDB_METRIC_EXACT | HQDB_METRIC_NO_COUNTS)))
        f->first = m;
}

/* "about 1200 more samples would decide": of the metric that the condition is about. */
static void say_more(const struct run *run, const struct program *p, double factor, struct str *out)
{
    struct sampled f = {&run->selection, NULL};

    program_slots(p, find_sampled, &f);
    const struct measure *m = f.first ? f.first : run->selection.here_count ? &run->selection.measures.data[0] : NULL;
    double more = m ? ceil((double)m->total_count * (factor - 1)) : INFINITY;

    if (isfinite(more) && more < 1e12)
        str_addf(out, "; about %.0f more samples would decide", more);
    else
        str_add(out, "; the value is on the bound, so no number of samples would decide");
}

/* The comparison that is undecided, of a condition that may have several. */
static const struct program *undecided(struct run *run, struct entry *e, const struct program *p)
{
    struct facts facts = entry_facts(run, e);
    struct point at = entry_point(run, e, &facts);
    const struct program *c = deciding(run, e, p, &at, UNDECIDED);

    return c ? c : p;
}

static void say_row(struct run *run, struct entry *e, bool one_of_many, const struct program *p, enum outcome outcome,
                    struct str *out)
{
    if (!e)
        return;
    str_addf(out, "%s%s", one_of_many ? ", the first: " : ": ", told_name(run, e));
    say_measured(run, e, p, outcome, out);
}

static void say_tally(struct run *run, const struct expectation *x, const struct program *p, const struct tally *t,
                      enum verdict_kind verdict, struct str *out)
{
    struct entry *e = x->kind == EXPECT_ALL ? t->first_no : t->first_yes;
    size_t bad = x->kind == EXPECT_ALL ? t->no : t->yes;

    if (t->unseen) {
        str_add(out, "0 rows, in a run that is too short to tell");
        say_more(run, p, t->more, out);
    } else if (verdict == VERDICT_INCONCLUSIVE) {
        str_addf(out, "%zu of %zu row%s undecided", t->undecided, t->rows, plural(t->rows));
        say_row(run, t->first_undecided, t->undecided > 1, p, UNDECIDED, out);
        say_more(run, undecided(run, t->first_undecided, p), t->more, out);
    } else if (verdict == VERDICT_FAIL && x->kind == EXPECT_ANY) {
        str_addf(out, "%s of %zu row%s holds", t->rows ? "none" : "0", t->rows, plural(t->rows));
        if (t->rows == 1)
            say_row(run, t->first_no, false, p, NO, out);
    } else if (verdict == VERDICT_FAIL) {
        str_addf(out, "%zu of %zu row%s %s", bad, t->rows, plural(t->rows),
                 x->kind == EXPECT_ALL ? bad == 1 ? "fails" : "fail"
                 : bad == 1            ? "holds"
                                       : "hold");
        say_row(run, e, bad > 1, p, x->kind == EXPECT_ALL ? NO : YES, out);
    } else {
        str_addf(out, "%zu row%s", t->rows, plural(t->rows));
    }
}

static enum verdict_kind evaluate(struct run *run, const struct expectation *x, const struct program *p,
                                  struct entry **entries, size_t n, struct str *why)
{
    struct tally t = count(run, entries, n, p);
    enum verdict_kind verdict;

    if (x->kind == EXPECT_ROWS) {
        bool holds = rows_hold(x->op, t.rows, x->rows);

        str_addf(why, "%zu row%s", t.rows, plural(t.rows));
        if (!holds && t.costliest && x->op == OP_EQ && !x->rows)
            str_addf(why, "%s: %s", t.rows > 1 ? ", the costliest" : "", told_name(run, t.costliest));
        if (!holds && (run->query->limit || run->query->depth))
            str_addf(why, "; an expectation counts rows before %s", run->query->limit ? "limit" : "depth");
        return holds ? VERDICT_PASS : VERDICT_FAIL;
    }
    if (!t.rows && run->query->view.of && !rows_filtered(run))
        judge_unseen(run, p, &t);
    verdict = decide(x->kind, &t);
    say_tally(run, x, p, &t, verdict, why);
    return verdict;
}

static const char *expectation_text(struct run *run, const struct expectation *x)
{
    static const char *const words[] = {[EXPECT_ALL] = "", [EXPECT_ANY] = "any ", [EXPECT_NO] = "no "};

    if (x->kind == EXPECT_ROWS)
        return x->op == OP_EQ && x->rows == 0
                   ? "no rows"
                   : arena_printf(&run->arena, "rows %s %llu", operator_text(x->op), (unsigned long long)x->rows);
    return arena_printf(&run->arena, "%s%s", words[x->kind], print_expr(&run->arena, x->expr));
}

/* A run that was sampled and ended before the first sample: whatever is expected of no rows, nothing is known. */
static bool nothing_sampled(const struct db *db)
{
    bool sampled = false;

    for (size_t m = 0; m < db->metric_count; m++) {
        sampled |= (db->metrics[m].flags & HQDB_METRIC_SAMPLED) && !(db->metrics[m].flags & HQDB_METRIC_NO_COUNTS);
        if (db->counts[m][db->frame_count] != db->counts[m][0] || db->sums[m][db->frame_count] != db->sums[m][0])
            return false;
    }
    return sampled;
}

struct hq_error *expect_evaluate(struct run *run, struct entry **entries, size_t n)
{
    static const char *const names[] = {
        [VERDICT_PASS] = "pass", [VERDICT_FAIL] = "FAIL", [VERDICT_INCONCLUSIVE] = "inconclusive"};
    struct table *t = run->table;
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any |= entries[i]->match && !entries[i]->folded;
    for (size_t i = 0; i < run->query->expect.len; i++) {
        const struct expectation *x = &run->query->expect.data[i];
        AUTO_STR struct str why = {0};
        enum verdict_kind verdict = evaluate(run, x, run->expect.data[i], entries, n, &why);

        if (nothing_sampled(run->env->db)) {
            verdict = VERDICT_INCONCLUSIVE;
            str_clear(&why);
            str_add(&why, "the run has no samples; let it run longer, or sample faster");
        }
        const char *unknown = run->of.unknown          ? run->of.unknown
                              : run->selection.unknown ? run->selection.unknown
                              : run->binding.unknown   ? run->binding.unknown
                              : any || run->unknown    ? run->unknown
                                                       : run->binding.unknown_name;

        /* The check would pass because nothing has that name: perhaps it is misspelt, or has another name by now. */
        if (unknown && verdict != VERDICT_FAIL) {
            verdict = VERDICT_INCONCLUSIVE;
            str_clear(&why);
            str_add(&why, unknown);
        }
        if (run->doubt) {
            verdict = VERDICT_INCONCLUSIVE;
            str_clear(&why);
            str_add(&why, run->doubt);
        }
        const char *text = arena_printf(&t->arena, "%s: expect %s: %s", names[verdict], expectation_text(run, x),
                                        str_cstr(&why));

        if (t->verdict.kind == VERDICT_NONE || (verdict == VERDICT_FAIL && t->verdict.kind != VERDICT_FAIL) ||
            (verdict == VERDICT_INCONCLUSIVE && t->verdict.kind == VERDICT_PASS))
            t->verdict = (struct verdict){verdict, text};
        run_note(run, "%s", text);
    }
    return NULL;
}
