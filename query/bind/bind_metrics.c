/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics in expressions: measured ones by name or number, derived ones by what `let` says. */
#include "query/bind/bind.h"
#include "query/choose/metrics.h"
#include "query/grammar/parse.h"
#include <strings.h>

enum { LETS_NESTED = 1000 };

static struct program *slot_program(struct binding *b, size_t measure, bool exclusive)
{
    struct program *p = bind_new(b, PROGRAM_SLOT, 0);

    p->slot = (unsigned)(2 * measure + exclusive);
    p->dim = b->selection->measures.data[measure].dim;
    p->linear = !b->selection->measures.data[measure].plain;
    b->used[measure] = 1;
    if (b->selection->measures.data[measure].side == SIDE_DELTA) {
        struct measure *m = &b->selection->measures.data[measure];

        if (m->here_measure != SIZE_MAX)
            b->used[m->here_measure] = 1;
        if (m->old_measure != SIZE_MAX)
            b->used[m->old_measure] = 1;
    }
    return p;
}

static void share_let(struct binding *b, const struct let *let, bool exclusive, struct program *p)
{
    if (!p->memo)
        p->memo = ARENA_NEW(b->arena, struct memo);
    if (b->let_count == b->let_room) {
        b->let_room = b->let_room ? 2 * b->let_room : 8;
        b->lets = xreallocarray(b->lets, b->let_room, sizeof *b->lets);
    }
    b->lets[b->let_count++] = (struct bound_let){let, exclusive, p};
}

static struct hq_error *bind_let(struct binding *b, const struct let *let, const struct place *place, bool exclusive,
                                 struct program **out)
{
    struct script *script;
    struct source source = {.name = "let", .text = let->text, .length = strlen(let->text)};
    struct hq_error *err;

    for (size_t i = 0; i < b->let_count; i++)
        if (b->lets[i].let == let && b->lets[i].exclusive == exclusive) {
            *out = b->lets[i].program;
            return NULL;
        }
    if (b->let_depth >= LETS_NESTED)
        return place_error(place, NULL, "`%s` names more than %d other metrics one within the other", let->name,
                           LETS_NESTED);
    err = parse_script(&source, NULL, &script);
    vec_push(&b->scripts, script);
    if (err)
        return err;
    if (script->statements.len != 1 || script->statements.data[0].kind != STATEMENT_LET)
        return place_error(place, NULL, "`%s` has no definition", let->name);
    b->let_depth++;
    err = bind_expr(b, script->statements.data[0].let.expr, exclusive, out);
    b->let_depth--;
    if (!err)
        share_let(b, let, exclusive, *out);
    return err;
}

static const struct let *find_let(const struct binding *b, const char *name)
{
    for (size_t i = 0; i < b->env->lets.len; i++)
        if (!strcasecmp(b->env->lets.data[i].name, name))
            return &b->env->lets.data[i];
    return NULL;
}

static struct hq_error *no_such_side(const struct binding *b, const struct metric_ref *r, const char *name)
{
    if (b->selection->tree.old)
        return place_error(&r->place, NULL, "only this database has the metric %s", name);
    return place_error(&r->place, NULL, "`%s` compares: the query needs `compare with DB`",
                       r->side == SIDE_OLD ? "old." : "delta");
}

/* Returns the number of this side's first metric for which the other side has one to compare with. */
static unsigned first_compared(const struct binding *b)
{
    for (size_t i = 0; i < b->selection->measures.len; i++) {
        const struct measure *m = &b->selection->measures.data[i];

        if (m->side == SIDE_DELTA && m->here_measure != SIZE_MAX && m->old_measure != SIZE_MAX)
            return (unsigned)m->here_measure;
    }
    return 0;
}

/* A metric that was not measured is not zero: neither in a slice of time, where there is no trace, nor on the other
 * side. */
static struct hq_error *check_known(struct binding *b, const struct metric_ref *r, const struct program *p)
{
    const struct measure *m = p->kind == PROGRAM_SLOT ? &b->selection->measures.data[p->slot / 2] : NULL;

    if (!m)
        return NULL;
    if (m->side == SIDE_DELTA && (m->here_measure == SIZE_MAX || m->old_measure == SIZE_MAX))
        return place_error(&r->place, NULL, "only %s database has the metric %s, so there is no difference to tell",
                           m->old_measure == SIZE_MAX ? "this" : "the other", m->name);
    if (!selection_knows_nothing_of(b->selection, p->slot / 2))
        return NULL;
    b->untimed = true;
    return place_error(&r->place, NULL, "%s was recorded without a trace, so unknown in a slice of time (during)",
                       m->name);
}

static struct hq_error *bind_number(struct binding *b, const struct metric_ref *r, bool exclusive, struct program **out)
{
    unsigned columns = binding_columns(b), metric = (r->number - 1) / 2;
    bool x = exclusive || r->number % 2 == 0;

    if (r->number > columns)
        return place_error(&r->place, NULL, "there is no metric $%u: %s", r->number,
                           columns ? arena_printf(b->arena, "the last one is $%u", columns)
                                   : "the database holds none");
    if (metric >= b->selection->here_count) {
        if (r->side != SIDE_HERE)
            return place_error(&r->place, NULL, "only measured metrics have an old value");
        return bind_let(b, &b->env->lets.data[metric - b->selection->here_count], &r->place, x, out);
    }
    if (r->side != SIDE_HERE) {
        const char *name = b->selection->measures.data[r->alone ? first_compared(b) : metric].name;
        size_t m = metrics_find(b->selection, name, r->side);

        if (m == SIZE_MAX)
            return no_such_side(b, r, name);
        metric = (unsigned)m;
    }
    *out = slot_program(b, metric, x);
    return check_known(b, r, *out);
}

struct hq_error *bind_metric(struct binding *b, const struct metric_ref *r, bool exclusive, struct program **out)
{
    const struct let *let;
    size_t measure;

    if (r->number)
        return bind_number(b, r, exclusive, out);
    measure = metrics_find(b->selection, r->name, r->side);
    if (measure != SIZE_MAX) {
        *out = slot_program(b, measure, exclusive || r->exclusive);
        return check_known(b, r, *out);
    }
    let = r->side == SIDE_HERE ? find_let(b, r->name) : NULL;
    if (let)
        return bind_let(b, let, &r->place, exclusive || r->exclusive, out);
    if (r->side != SIDE_HERE && metrics_find(b->selection, r->name, SIDE_HERE) != SIZE_MAX)
        return no_such_side(b, r, r->name);
    return metrics_unknown(b->selection, b->env, r);
}

unsigned binding_columns(const struct binding *b)
{
    return (unsigned)(2 * (b->selection->here_count + b->env->lets.len));
}

struct hq_error *bind_column(struct binding *b, unsigned number, const struct place *place, struct program **out,
                             const char **name)
{
    unsigned metric = (number - 1) / 2;
    bool x = number % 2 == 0;
    const char *base;

    if (metric < b->selection->here_count) {
        *out = slot_program(b, metric, x);
        base = b->selection->measures.data[metric].name;
    } else {
        const struct let *let = &b->env->lets.data[metric - b->selection->here_count];

        HQ_TRY(bind_let(b, let, place, x, out));
        base = let->name;
    }
    *name = x ? arena_printf(b->arena, "%s.x", base) : base;
    return NULL;
}
