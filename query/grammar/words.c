/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/words.h"
#include "common/str.h"
#include <math.h>
#include <string.h>
#include <strings.h>

#define BIT(family) (1u << FAMILY_##family)

/* Families that clauses have in common. */
enum {
    COSTS = BIT(NESTED) | BIT(RANKED) | BIT(UNALIGNED) | BIT(HOT_PATH),
    ALIGNED = BIT(NESTED) | BIT(RANKED) | BIT(HOT_PATH) | BIT(EXPLAIN),
    LISTS = BIT(PROFILES) | BIT(VISITS) | BIT(TEAMS) | BIT(STRETCHES) | BIT(FOLD) | BIT(MESSAGES),
    PICTURES = BIT(PICTURE) | BIT(LEVEL),
    ANY = (1u << FAMILIES) - 1,
};

const struct view_word view_words[VIEW_KINDS] = {
#define VIEW(kind, row, of_family, ...) [VIEW_##kind] = {.family = of_family, __VA_ARGS__},
#include "query/grammar/views.def"
#undef VIEW
};

#define CLAUSE_BIT(clause) (1u << CLAUSE_##clause)

const struct clause_word clause_words[CLAUSE_KINDS] = {
#define CLAUSE(kind, clause, ...) [CLAUSE_##kind] = {__VA_ARGS__},
#include "query/grammar/clauses.def"
#undef CLAUSE
};

const char *const grouped_words[GROUPED_KINDS] = {
    [GROUPED_NOT] = "",          [GROUPED_DEFINED] = "group",   [GROUPED_DIRECTORY] = "directory",
    [GROUPED_MODULE] = "module", [GROUPED_RUNTIME] = "runtime",
};

const struct statement_word statement_words[STATEMENT_KINDS] = {
#define STATEMENT(kind, ...) [STATEMENT_##kind] = {__VA_ARGS__},
#include "query/grammar/statements.def"
#undef STATEMENT
};

const struct function_word function_words[FUNCTION_KINDS] = {
#define FUNCTION(kind, ...) [FUNCTION_##kind] = {__VA_ARGS__},
#include "query/grammar/functions.def"
#undef FUNCTION
};

const struct attribute_word attribute_words[ATTRIBUTE_KINDS] = {
#define ATTRIBUTE(kind, ...) [ATTRIBUTE_##kind] = {__VA_ARGS__},
#include "query/grammar/attributes.def"
#undef ATTRIBUTE
};

const struct setting_word setting_words[SETTING_KINDS] = {
#define SETTING(kind, ...) [SETTING_##kind] = {__VA_ARGS__},
#include "query/grammar/settings.def"
#undef SETTING
};

/* Why a family takes none of the clauses about costs; NULL if it takes them. */
static const char *bare(enum view_family family)
{
    switch (family) {
    case FAMILY_FACTS:
    case FAMILY_PROFILES: return "it tells what the database holds, and has no costs";
    case FAMILY_PICTURE:
    case FAMILY_LEVEL:
    case FAMILY_INSTANT: return "a picture of a trace names what ran when; choose with ranks, threads and during";
    case FAMILY_TEAMS: return "its rows are whole regions; choose with ranks, threads, during and through";
    case FAMILY_MESSAGES:
        return "its messages, or commands, are counted over the whole run; choose with ranks, threads and through";
    case FAMILY_STRETCHES:
    case FAMILY_FOLD:
    case FAMILY_VISITS: return "its rows are visits in time; choose with ranks, threads and during";
    default: return NULL;
    }
}

bool clause_allowed(enum view_kind view, enum clause_kind clause, const char **why)
{
    const struct clause_word *c = &clause_words[clause];
    enum view_family family = view_words[view].family;
    const char *own = c->why[family], *of_family = bare(family);

    if (why)
        *why = own            ? own
               : c->why_first ? c->why_not
               : of_family    ? of_family
               : c->why_not   ? c->why_not
                              : "it has no costs";
    return c->families >> family & 1;
}

bool view_has_costs(enum view_kind view)
{
    return COSTS >> view_words[view].family & 1;
}

const char *operator_text(enum operator op)
{
    static const char *const texts[] = {
        [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_EQ] = "==",   [OP_NE] = "!=",
        [OP_LT] = "<",  [OP_LE] = "<=", [OP_GT] = ">",  [OP_GE] = ">=", [OP_AND] = "and", [OP_OR] = "or",
    };

    return texts[op];
}

#define FIND(table, same) \
    do { \
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) \
            if (same) \
                return (int)i; \
        return -1; \
    } while (0)

int find_function(const char *name)
{
    FIND(function_words, !strcasecmp(function_words[i].name, name));
}

int find_attribute(const char *name)
{
    FIND(attribute_words, !strcasecmp(attribute_words[i].name, name));
}

bool view_known(const char *word)
{
    for (size_t i = 0; i < VIEW_KINDS; i++) {
        if (!strcasecmp(view_words[i].name, word))
            return true;
        for (size_t k = 0; k < 3 && view_words[i].others[k]; k++)
            if (!strcasecmp(view_words[i].others[k], word))
                return true;
    }
    return false;
}

int find_setting(const char *name)
{
    FIND(setting_words, !strcasecmp(setting_words[i].name, name) ||
                            (setting_words[i].other && !strcasecmp(setting_words[i].other, name)));
}

bool is_switch(enum setting setting)
{
    return setting_words[setting].words[1] && !strcmp(setting_words[setting].words[1], "on");
}

int find_setting_word(enum setting setting, const char *word)
{
    const char *const *words = setting_words[setting].words;

    for (int i = 0; words[i]; i++)
        if (!strcasecmp(words[i], word))
            return i;
    return -1;
}

const char *setting_choice(enum setting setting, int i)
{
    const char *const *words = setting_words[setting].words;

    return is_switch(setting) && i < 2 ? words[1 - i] : words[i];
}

void setting_usage(enum setting setting, struct str *out)
{
    const struct setting_word *w = &setting_words[setting];
    const char *between = "";

    str_addf(out, "set %s ", w->name);
    if (w->type != TAKES_WORD) {
        str_add(out, w->type == TAKES_REGEX ? "/REGEX/" : "FILE");
        between = "|";
    }
    for (int i = 0; setting_choice(setting, i); i++, between = "|")
        str_addf(out, "%s%s", between, setting_choice(setting, i));
}
