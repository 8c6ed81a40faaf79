/* SPDX-License-Identifier: BSD-3-Clause */
/* From syntax to programs: operators, functions, attributes, dimensions, percentages. */
#include "query/bind/bind.h"
#include "query/grammar/parse.h"
#include "query/grammar/words.h"
#include "query/pattern/pattern.h"
#include <math.h>

void binding_init(struct binding *b, struct query_env *env, struct selection *s, struct arena *arena)
{
    *b = (struct binding){.env = env, .selection = s, .arena = arena};
    b->used = xcalloc(s->measures.len + 1, 1);
}

void binding_deinit(struct binding *b)
{
    for (size_t i = 0; i < b->regexes.len; i++)
        regex_destroy(b->regexes.data[i]);
    for (size_t i = 0; i < b->scripts.len; i++)
        script_destroy(b->scripts.data[i]);
    vec_deinit(&b->regexes);
    vec_deinit(&b->scripts);
    vec_deinit(&b->statistics);
    vec_deinit(&b->named);
    free(b->lets);
    free(b->used);
}

struct program *bind_new(struct binding *b, enum program_kind kind, unsigned args)
{
    struct program *p = ARENA_NEW(b->arena, struct program);

    p->kind = kind;
    p->arg_count = args;
    p->args = args ? ARENA_ARRAY(b->arena, args, struct program *) : NULL;
    p->number = NAN;
    return p;
}

static struct program *number_program(struct binding *b, double number, enum dim dim)
{
    struct program *p = bind_new(b, PROGRAM_NUMBER, 0);

    p->number = number;
    p->dim = dim;
    p->literal = dim == DIM_NONE;
    p->constant = true;
    return p;
}

/* ---- dimensions ---- */

static struct hq_error *mixed(const struct place *op, enum dim a, enum dim b, const char *what)
{
    return place_error(op, NULL, "this %s %s and %s", what, dim_name(a), dim_name(b));
}

/* The common dimension of two operands that must agree. */
static struct hq_error *agree(const struct place *op, const struct program *a, const struct program *b,
                              const char *what, enum dim *out)
{
    *out = a->literal ? b->dim : a->dim;
    if (a->dim != b->dim && !a->literal && !b->literal)
        return mixed(op, a->dim, b->dim, what);
    return NULL;
}

static struct hq_error *want_number(const struct expr *e, const struct program *p)
{
    if (p->is_text)
        return place_error(&e->place, NULL, "this is a text, and a number is wanted here");
    return NULL;
}

/* ---- operators ---- */

static bool bare_name(const struct expr *e)
{
    return e->kind == EXPR_METRIC && !e->metric.number && !e->metric.exclusive && !e->metric.quoted &&
           e->metric.side == SIDE_HERE;
}

/* `kind = loop`: a name without quotes beside an attribute that is a text is a text. */
static struct hq_error *bind_operand(struct binding *b, const struct expr *e, const struct expr *other, bool exclusive,
                                     struct program **out)
{
    const char *text = bare_name(e) && other->kind == EXPR_ATTRIBUTE && attribute_words[other->attribute].is_text
                           ? e->metric.name
                           : kinds_bare(e, other);

    if (text) {
        *out = bind_new(b, PROGRAM_TEXT, 0);
        (*out)->text = text;
        (*out)->is_text = (*out)->constant = true;
        return NULL;
    }
    return bind_expr(b, e, exclusive, out);
}

/* 5% beside a metric is a share of its total; beside a ratio, which has none, it is the number 0.05. */
static struct hq_error *bind_share(struct binding *b, const struct expr *percent, struct program *of,
                                   struct program **out)
{
    const struct measure *m = program_without_total(of, b->selection);

    if (m && of->dim == DIM_NONE)
        return NULL;
    if (m)
        return place_error(&percent->place, NULL,
                           "the values of %s add up to nothing that this could be a share of: compare them with an "
                           "amount, as `1.5s`",
                           m->name);
    *out = bind_new(b, PROGRAM_SHARE, 1);
    (*out)->number = percent->number / 100;
    (*out)->args[0] = of;
    (*out)->dim = of->dim;
    (*out)->constant = true;
    return NULL;
}

/* Says that a bare number is one of seconds: who writes `cputime > 10` may mean a share, or milliseconds. */
static void note_seconds(struct binding *b, const struct expr *number, const struct program *other)
{
    if (b->binds != BINDS_VALUES && number->kind == EXPR_NUMBER && number->dim == DIM_NONE && number->number >= 1 &&
        !other->literal && other->dim == DIM_SECONDS)
        vec_push(&b->selection->notes,
                 xasprintf("`%.15g` is %.15g s here: %.15g%% is a share, %.15gms are milliseconds", number->number,
                           number->number, number->number, number->number));
}

static struct hq_error *bind_compare(struct binding *b, const struct expr *e, struct program *p)
{
    struct program **a = p->args;
    enum dim dim;

    p->expr = e;
    if (a[0]->is_text != a[1]->is_text)
        return place_error(&e->op_place, NULL, "this compares a text with a number");
    for (int i = 0; i < 2; i++) {
        const struct expr *side = i ? e->right : e->left;
        struct program *other = a[1 - i];

        if (side->kind == EXPR_PERCENT && other->linear)
            HQ_TRY(bind_share(b, side, other, &a[i]));
        note_seconds(b, side, other);
    }
    if (!a[0]->is_text)
        HQ_TRY(agree(&e->op_place, a[0], a[1], "compares", &dim));
    return NULL;
}

static struct hq_error *bind_sum(const struct expr *e, struct program *p)
{
    const struct program *a = p->args[0], *b = p->args[1];

    HQ_TRY(agree(&e->op_place, a, b, e->op == OP_ADD ? "adds" : "subtracts", &p->dim));
    p->linear = a->linear && b->linear;
    p->literal = a->literal && b->literal;
    return NULL;
}

static struct hq_error *bind_product(const struct expr *e, struct program *p)
{
    const struct program *a = p->args[0], *b = p->args[1];

    p->literal = a->literal && b->literal;
    if (e->op == OP_MUL) {
        if (a->dim != DIM_NONE && b->dim != DIM_NONE)
            return mixed(&e->op_place, a->dim, b->dim, "multiplies");
        p->dim = a->dim != DIM_NONE ? a->dim : b->dim;
        p->linear = (a->linear && b->constant) || (a->constant && b->linear);
        return NULL;
    }
    if (b->dim != DIM_NONE && a->dim != b->dim) {
        char advice[64];

        snprintf(advice, sizeof advice, "divide by 1%s first to strip the unit", dim_unit(b->dim));
        return place_error(&e->op_place, b->dim == DIM_EVENTS ? NULL : advice,
                           "this divides %s by %s, and there is no unit for that", dim_name(a->dim), dim_name(b->dim));
    }
    p->dim = b->dim == DIM_NONE ? a->dim : DIM_NONE;
    p->linear = a->linear && b->constant;
    return NULL;
}

static struct hq_error *bind_binary(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    struct program *p = bind_new(b, PROGRAM_BINARY, 2);

    *out = p;
    p->op = e->op;
    HQ_TRY(bind_operand(b, e->left, e->right, exclusive, &p->args[0]));
    HQ_TRY(bind_operand(b, e->right, e->left, exclusive, &p->args[1]));
    p->constant = p->args[0]->constant && p->args[1]->constant;
    if (e->op >= OP_EQ && e->op <= OP_GE)
        return bind_compare(b, e, p);
    HQ_TRY(want_number(e->left, p->args[0]));
    HQ_TRY(want_number(e->right, p->args[1]));
    if (e->op == OP_AND || e->op == OP_OR)
        return NULL;
    return e->op == OP_ADD || e->op == OP_SUB ? bind_sum(e, p) : bind_product(e, p);
}

static struct hq_error *bind_unary(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    struct program *p = bind_new(b, e->kind == EXPR_NOT ? PROGRAM_NOT : PROGRAM_NEGATE, 1);

    *out = p;
    HQ_TRY(bind_expr(b, e->left, exclusive, &p->args[0]));
    HQ_TRY(want_number(e->left, p->args[0]));
    p->constant = p->args[0]->constant;
    if (e->kind == EXPR_NEGATE) {
        p->dim = p->args[0]->dim;
        p->linear = p->args[0]->linear;
        p->literal = p->args[0]->literal;
    }
    return NULL;
}

static struct hq_error *bind_match(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    struct program *p = bind_new(b, PROGRAM_MATCH, 1);

    *out = p;
    p->expr = e;
    p->negated = e->negated;
    p->text = e->regex.text;
    HQ_TRY(bind_expr(b, e->left, exclusive, &p->args[0]));
    if (!p->args[0]->is_text)
        return place_error(&e->left->place, NULL,
                           "a regular expression needs a text on its left: name, file, module, kind, callsite ...");
    HQ_TRY(regex_compile(&e->regex, &p->regex));
    vec_push(&b->regexes, p->regex);
    return NULL;
}

/* ---- functions ---- */

static bool is_statistic(const struct expr *e)
{
    return function_words[e->function].statistic && e->args.len == 1;
}

struct looked_at { /* by refuse_unknown: a metric that is not known of each profile */
    const struct selection *selection;
    const struct measure *found;
};

static void look_at_slot(void *arg, unsigned slot)
{
    struct looked_at *l = arg;
    const struct measure *m = &l->selection->measures.data[slot / 2];

    if (m->of_view || m->side != SIDE_HERE)
        l->found = m;
}

/* Statistics are over the profiles of this database: what a view has measured itself it knows of its rows alone. */
static struct hq_error *refuse_unknown(const struct binding *b, const struct expr *e, const struct program *arg)
{
    struct looked_at l = {.selection = b->selection};

    program_slots(arg, look_at_slot, &l);
    if (!l.found || e->function == FUNCTION_CI)
        return NULL;
    if (l.found->of_view)
        return place_error(&e->place, NULL,
                           "%s is known of each row of this view, not of each profile in it, so it has no statistics",
                           l.found->name);
    return place_error(&e->place, "ask the other database by itself",
                       "statistics are over the profiles of this database");
}

static struct hq_error *bind_statistic(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    struct program *arg, *p;
    bool attributes = b->uses_attributes;

    b->uses_attributes = false;
    HQ_TRY(bind_expr(b, e->args.data[0], exclusive, &arg));
    HQ_TRY(want_number(e->args.data[0], arg));
    if (b->uses_attributes)
        return place_error(&e->args.data[0]->place, NULL,
                           "names, places and depth are of the row: a statistic needs metrics");
    b->uses_attributes = attributes;
    if (arg->has_statistic)
        return place_error(&e->args.data[0]->place, NULL, "a statistic of a statistic has no meaning");
    if (arg->constant)
        return place_error(&e->args.data[0]->place, NULL,
                           "this is the same in every profile: a statistic needs a metric");
    if (e->function == FUNCTION_SUM && arg->linear) {
        *out = arg;
        return NULL;
    }
    HQ_TRY(refuse_unknown(b, e, arg));
    p = bind_new(b, PROGRAM_STATISTIC, 0);
    p->statistic = (unsigned)b->statistics.len;
    p->dim = function_words[e->function].plain_result ? DIM_NONE : arg->dim;
    vec_push(&b->statistics, (struct statistic){e->function, arg});
    *out = p;
    return NULL;
}

/* Arguments that must agree: those of min and max, and the branches of if. */
static struct hq_error *agree_all(const struct expr *e, struct program *p, unsigned from)
{
    p->dim = p->args[from]->dim;
    p->literal = p->args[from]->literal;
    for (unsigned i = from + 1; i < p->arg_count; i++) {
        struct program so_far = *p;

        HQ_TRY(agree(&e->args.data[i]->place, &so_far, p->args[i],
                     e->function == FUNCTION_IF ? "chooses between" : "compares", &p->dim));
        p->literal = p->literal && p->args[i]->literal;
    }
    return NULL;
}

static struct hq_error *bind_function(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    struct program *p;

    if (is_statistic(e))
        return bind_statistic(b, e, exclusive, out);
    *out = p = bind_new(b, PROGRAM_FUNCTION, (unsigned)e->args.len);
    p->function = e->function;
    p->constant = true;
    for (unsigned i = 0; i < p->arg_count; i++) {
        HQ_TRY(bind_expr(b, e->args.data[i], exclusive, &p->args[i]));
        HQ_TRY(want_number(e->args.data[i], p->args[i]));
        p->constant = p->constant && p->args[i]->constant;
    }
    if (e->function == FUNCTION_MIN || e->function == FUNCTION_MAX || e->function == FUNCTION_IF)
        return agree_all(e, p, e->function == FUNCTION_IF);
    if (function_words[e->function].plain_argument && p->args[0]->dim != DIM_NONE)
        return place_error(&e->args.data[0]->place, NULL, "%s needs a plain number, and this is in %s",
                           function_words[e->function].name, dim_name(p->args[0]->dim));
    p->dim = p->args[0]->dim;
    p->literal = p->args[0]->literal;
    return NULL;
}

/* `set waits /REGEX/` names procedures, as `name =~ /REGEX/` does. */
static struct hq_error *check_waits(struct binding *b, const struct place *place)
{
    const struct setting_value *set = &b->env->settings.of[SETTING_WAITS];
    struct pattern p = {.place = *place, .kind = PATTERN_REGEX, .text = set->text, .ignore_case = set->ignore_case};

    return set->text && b->binds == BINDS_ROWS ? names_check(b, &p, &b->unknown_name) : NULL;
}

static struct hq_error *bind_attribute(struct binding *b, const struct expr *e, struct program **out)
{
    struct program *p = bind_new(b, PROGRAM_ATTRIBUTE, 0);
    bool of_profile = e->attribute == ATTRIBUTE_RANK || e->attribute == ATTRIBUTE_THREAD ||
                      e->attribute == ATTRIBUTE_HOST;

    *out = p;
    if (of_profile && !b->has_rows_of_profiles)
        return place_error(&e->place, "to choose threads write the clause threads 2, or ranks 0-3",
                           "only the rows of `threads` and `profiles` have a rank, thread and host");
    p->attribute = e->attribute;
    p->is_text = attribute_words[e->attribute].is_text;
    b->uses_attributes = true;
    b->uses_waits |= e->attribute == ATTRIBUTE_WAITS;
    b->uses_groups |= e->attribute == ATTRIBUTE_GROUP;
    return e->attribute == ATTRIBUTE_WAITS ? check_waits(b, &e->place) : NULL;
}

static struct hq_error *bind_total(struct binding *b, const struct expr *e, struct program **out)
{
    struct metric_ref r = e->metric;

    *out = bind_new(b, PROGRAM_TOTAL, 1);
    r.place = e->place;
    if (r.number && r.number % 2 == 0)
        r.number--;
    r.exclusive = false;
    HQ_TRY(bind_metric(b, &r, false, &(*out)->args[0]));
    const struct measure *m = program_without_total((*out)->args[0], b->selection);
    if (m)
        return place_error(&e->place, NULL, "%s has no total: its values add up to nothing", m->name);
    (*out)->dim = (*out)->args[0]->dim;
    (*out)->constant = true;
    return NULL;
}

static struct hq_error *bind_any(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    switch (e->kind) {
    case EXPR_NUMBER: *out = number_program(b, e->number, e->dim); return NULL;
    case EXPR_PERCENT: *out = number_program(b, e->number / 100, DIM_NONE); return NULL;
    case EXPR_STRING:
        *out = bind_new(b, PROGRAM_TEXT, 0);
        (*out)->text = e->string;
        (*out)->is_text = (*out)->constant = true;
        return NULL;
    case EXPR_METRIC: return bind_metric(b, &e->metric, exclusive, out);
    case EXPR_TOTAL: return bind_total(b, e, out);
    case EXPR_ATTRIBUTE: return bind_attribute(b, e, out);
    case EXPR_NEGATE:
    case EXPR_NOT: return bind_unary(b, e, exclusive, out);
    case EXPR_BINARY: return bind_binary(b, e, exclusive, out);
    case EXPR_MATCH: return bind_match(b, e, exclusive, out);
    default: return bind_function(b, e, exclusive, out);
    }
}

struct hq_error *bind_expr(struct binding *b, const struct expr *e, bool exclusive, struct program **out)
{
    HQ_TRY(bind_any(b, e, exclusive, out));
    for (unsigned i = 0; i < (*out)->arg_count; i++)
        (*out)->has_statistic |= (*out)->args[i]->has_statistic;
    (*out)->has_statistic |= (*out)->kind == PROGRAM_STATISTIC;
    return NULL;
}

/* `expect 5` holds always, `expect cputime` nearly: neither is meant. */
struct hq_error *bind_expectation(struct binding *b, const struct expr *e, struct program **out)
{
    bool amount = e->kind == EXPR_NUMBER || e->kind == EXPR_PERCENT || e->kind == EXPR_METRIC ||
                  e->kind == EXPR_TOTAL || e->kind == EXPR_NEGATE || e->kind == EXPR_ATTRIBUTE ||
                  (e->kind == EXPR_BINARY && e->op < OP_EQ);

    if (amount)
        return place_error(&e->place, "compare it, as in expect cputime < 20%",
                           "an expectation is a condition, and this is an amount");
    return bind_condition(b, e, out);
}

struct hq_error *bind_condition(struct binding *b, const struct expr *e, struct program **out)
{
    HQ_TRY(bind_expr(b, e, false, out));
    return want_number(e, *out);
}
