/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluation of bound expressions. */
#include "query/bind/expr.h"
#include "query/grammar/words.h"
#include "common/names.h"
#include "query/pattern/pattern.h"
#include <math.h>
#include <strings.h>

static double arithmetic(enum operator op, double a, double b)
{
    double x = op == OP_ADD ? a + b : op == OP_SUB ? a - b : op == OP_MUL ? a * b : b == 0 ? NAN : a / b;

    return isfinite(x) ? x : NAN;
}

static double compare(enum operator op, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    switch (op) {
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    default: return a >= b;
    }
}

/* "krylov, solver"; NULL: it is in none. */
static const char *group_text(const struct group_names *groups, char buffer[PROGRAM_TEXT_ROOM])
{
    size_t n = 0;

    for (size_t i = 0; groups && i < groups->len && n < PROGRAM_TEXT_ROOM; i++)
        n += (size_t)snprintf(buffer + n, PROGRAM_TEXT_ROOM - n, "%s%s", i ? ", " : "", groups->data[i]);
    return n ? buffer : NULL;
}

static bool is_group(const struct program *p)
{
    return p->kind == PROGRAM_ATTRIBUTE && p->attribute == ATTRIBUTE_GROUP;
}

/* The shown text of an attribute; NULL if the row has none. */
static const char *attribute_text(enum attribute attribute, const struct facts *f, char buffer[PROGRAM_TEXT_ROOM])
{
    switch (attribute) {
    case ATTRIBUTE_KIND: return scope_kind_name(f->kind);
    case ATTRIBUTE_NAME: return f->name;
    case ATTRIBUTE_FILE: return f->file;
    case ATTRIBUTE_MODULE: return f->module;
    case ATTRIBUTE_HOST: return f->host;
    case ATTRIBUTE_GROUP: return group_text(f->groups, buffer);
    case ATTRIBUTE_ID:
        if (!f->id)
            return NULL;
        table_id_text(buffer, f->id);
        return buffer;
    case ATTRIBUTE_CALLSITE:
        if (!f->call_file)
            return NULL;
        snprintf(buffer, PROGRAM_TEXT_ROOM, "%.4096s:%u", f->call_file, f->call_line);
        return buffer;
    default: return NULL;
    }
}

static double attribute_number(enum attribute attribute, const struct facts *f)
{
    switch (attribute) {
    case ATTRIBUTE_LINE: return f->line ? f->line : NAN;
    case ATTRIBUTE_DEPTH: return f->depth;
    case ATTRIBUTE_WAITS: return f->waits;
    case ATTRIBUTE_RANK: return f->rank >= 0 ? (double)f->rank : NAN;
    case ATTRIBUTE_THREAD: return f->thread >= 0 ? (double)f->thread : NAN;
    default: return NAN;
    }
}

const char *program_text(const struct program *p, const struct point *at, char buffer[PROGRAM_TEXT_ROOM])
{
    if (p->kind == PROGRAM_TEXT)
        return p->text;
    if (p->kind == PROGRAM_BESIDE)
        return at->facts ? at->facts->beside : NULL;
    if (p->kind == PROGRAM_ATTRIBUTE)
        return at->facts ? attribute_text(p->attribute, at->facts, buffer) : NULL;
    return NULL;
}

/* Whether a text of an attribute is the one that was written: files and load modules by the end of their path. */
static bool same_text(const struct program *attribute, const char *text, const char *written)
{
    if (attribute->kind != PROGRAM_ATTRIBUTE)
        return !strcmp(text, written);
    switch (attribute->attribute) {
    case ATTRIBUTE_KIND: return !strcasecmp(text, written);
    case ATTRIBUTE_NAME: return name_is(text, written);
    case ATTRIBUTE_FILE:
    case ATTRIBUTE_MODULE:
    case ATTRIBUTE_CALLSITE: return path_ends(text, written);
    case ATTRIBUTE_ID: return !strncasecmp(text, written, strlen(written)) && strlen(written) >= 6;
    default: return !strcmp(text, written);
    }
}

/* `group = NAME` holds if the row is in the group, in others too or not. */
static double compare_group(const struct program *p, const struct point *at, const char *name)
{
    const struct group_names *groups = at->facts ? at->facts->groups : NULL;
    bool in = false;

    if (!groups || !name)
        return NAN;
    for (size_t i = 0; i < groups->len && !in; i++)
        in = !strcmp(groups->data[i], name);
    return in == (p->op == OP_EQ);
}

static double compare_texts(const struct program *p, const struct point *at)
{
    char one[PROGRAM_TEXT_ROOM], two[PROGRAM_TEXT_ROOM];
    const struct program *left = p->args[0], *right = p->args[1];
    bool same;
    int order;

    if (p->op <= OP_NE && (is_group(left) || is_group(right)))
        return compare_group(p, at, program_text(is_group(left) ? right : left, at, one));
    const char *a = program_text(left, at, one), *b = program_text(right, at, two);

    if (!a || !b)
        return NAN;
    if (p->op == OP_EQ || p->op == OP_NE) {
        same = left->kind == PROGRAM_ATTRIBUTE ? same_text(left, a, b) : same_text(right, b, a);
        return same == (p->op == OP_EQ);
    }
    order = strcmp(a, b);
    return compare(p->op, order, 0);
}

static double logic(const struct program *p, const struct point *at)
{
    int a = program_truth(p->args[0], at), b;

    if (p->op == OP_AND ? a == 0 : a == 1)
        return a;
    b = program_truth(p->args[1], at);
    if (p->op == OP_AND ? b == 0 : b == 1)
        return b;
    return a < 0 || b < 0 ? NAN : a;
}

static double binary(const struct program *p, const struct point *at)
{
    if (p->op == OP_AND || p->op == OP_OR)
        return logic(p, at);
    if (p->op >= OP_EQ && p->args[0]->is_text)
        return compare_texts(p, at);
    double a = program_number(p->args[0], at), b = program_number(p->args[1], at);

    return p->op >= OP_EQ ? compare(p->op, a, b) : arithmetic(p->op, a, b);
}

static double extreme(const struct program *p, const struct point *at)
{
    double best = program_number(p->args[0], at);

    for (unsigned i = 1; i < p->arg_count && !isnan(best); i++) {
        double x = program_number(p->args[i], at);

        if (isnan(x) || (p->function == FUNCTION_MIN ? x < best : x > best))
            best = x;
    }
    return best;
}

static double function(const struct program *p, const struct point *at)
{
    double (*of_number)(double) = function_words[p->function].of_number, x;
    int truth;

    if (of_number) {
        x = of_number(program_number(p->args[0], at));
        return isfinite(x) ? x : NAN;
    }
    switch (p->function) {
    case FUNCTION_MIN:
    case FUNCTION_MAX: return extreme(p, at);
    case FUNCTION_IF:
        truth = program_truth(p->args[0], at);
        return truth < 0 ? NAN : program_number(p->args[truth ? 1 : 2], at);
    default: return NAN;
    }
}

uint64_t point_number(void)
{
    static _Thread_local uint64_t last;

    return ++last;
}

double program_total(const struct program *p, const double *totals)
{
    return program_number(p, &(struct point){.number = point_number(), .slots = totals, .totals = totals});
}

/* Totals of totals are the same point. */
static double total_at(const struct program *p, const struct point *at)
{
    return at->slots == at->totals ? program_number(p, at) : program_total(p, at->totals);
}

static double match(const struct program *p, const struct point *at)
{
    char buffer[PROGRAM_TEXT_ROOM];
    const struct group_names *groups = is_group(p->args[0]) && at->facts ? at->facts->groups : NULL;
    bool any = false;

    for (size_t i = 0; groups && i < groups->len && !any; i++)
        any = regex_matches(p->regex, groups->data[i]);
    if (groups)
        return any != p->negated;
    const char *text = program_text(p->args[0], at, buffer);

    return text ? regex_matches(p->regex, text) != p->negated : NAN;
}

static double compute(const struct program *p, const struct point *at)
{
    switch (p->kind) {
    case PROGRAM_NUMBER: return p->number;
    case PROGRAM_SLOT: return at->slots[p->slot];
    case PROGRAM_TOTAL: return total_at(p->args[0], at);
    case PROGRAM_SHARE: return p->number * total_at(p->args[0], at);
    case PROGRAM_ATTRIBUTE: return at->facts ? attribute_number(p->attribute, at->facts) : NAN;
    case PROGRAM_STATISTIC: return at->statistics ? at->statistics[p->statistic] : NAN;
    case PROGRAM_NEGATE: return -program_number(p->args[0], at);
    case PROGRAM_NOT: {
        int truth = program_truth(p->args[0], at);
        return truth < 0 ? NAN : !truth;
    }
    case PROGRAM_BINARY: return binary(p, at);
    case PROGRAM_MATCH: return match(p, at);
    case PROGRAM_FUNCTION: return function(p, at);
    default: return NAN;
    }
}

double program_number(const struct program *p, const struct point *at)
{
    if (!p->memo || !at->number)
        return compute(p, at);
    if (p->memo->point != at->number) {
        double value = compute(p, at);

        *p->memo = (struct memo){.point = at->number, .walk = p->memo->walk, .value = value};
    }
    return p->memo->value;
}

int program_truth(const struct program *p, const struct point *at)
{
    double x = program_number(p, at);

    return isnan(x) ? -1 : x != 0;
}

static void walk_slots(const struct program *p, uint64_t walk, void (*visit)(void *arg, unsigned slot), void *arg)
{
    if (p->memo && p->memo->walk == walk)
        return;
    if (p->memo)
        p->memo->walk = walk;
    if (p->kind == PROGRAM_SLOT)
        visit(arg, p->slot);
    for (unsigned i = 0; i < p->arg_count; i++)
        walk_slots(p->args[i], walk, visit, arg);
}

void program_slots(const struct program *p, void (*visit)(void *arg, unsigned slot), void *arg)
{
    walk_slots(p, point_number(), visit, arg);
}

const struct measure *program_without_total(const struct program *p, const struct selection *s)
{
    const struct measure *m = NULL;

    if (p->kind == PROGRAM_SLOT)
        return s->measures.data[p->slot / 2].no_total ? &s->measures.data[p->slot / 2] : NULL;
    for (unsigned i = 0; i < p->arg_count && !m; i++)
        m = program_without_total(p->args[i], s);
    return m;
}
