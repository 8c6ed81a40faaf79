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
    case FAMILY_TEAMS: return "its regions are counted over the whole run; choose with ranks and threads";
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

struct foreign {
    const char *word, *here;
};

static const struct foreign foreign_statements[] = {
    {"top", "procedures limit 10"},
    {"functions", "procedures"},
    {"function", "procedures"},
    {"procs", "procedures"},
    {"hotspots", "procedures"},
    {"report", "procedures"},
    {"list", "source of PROCEDURE"},
    {"annotate", "source of PROCEDURE"},
    {"callees", "tree of PROCEDURE"},
    {"children", "tree of PROCEDURE"},
    {"peek", "callers of PROCEDURE, and tree of PROCEDURE"},
    {"parents", "callers of PROCEDURE"},
    {"cct", "tree"},
    {"graph", "tree as dot to FILE"},
    {"flamegraph", "tree as svg to FILE, or tree as folded"},
    {"libraries", "modules"},
    {"ranks", "profiles"},
    {"select", "procedures columns name, cputime where cputime > 1% sort by cputime"},
    {"show", "a view, such as procedures"},
    {"define", "let NAME = EXPR"},
    {"q", "quit"},
    {"bye", "quit"},
    {"use", "open DB"},
    {"load", "open DB"},
    {"diff", "procedures compare with DB"},
    {"compare", "procedures compare with DB"},
    {"check", "expect"},
    {"assert", "expect"},
    {"timeline", "trace"},
    {"flame", "tree as svg to FILE, or tree as folded"},
    {"callgraph", "tree, or tree as dot to FILE"},
    {"call", "tree, or callers of PROCEDURE"},
    {"bottom", "callers"},
    {"bottom-up", "callers"},
    {"top-down", "tree"},
    {"calltree", "tree"},
    {"overhead", "procedures sort by cputime.x"},
    {"self", "procedures sort by cputime.x"},
    {"wait", "procedures where waits, or run waiting"},
    {"mpi", "groups by runtime, messages, or run waiting"},
    {"openmp", "regions"},
    {"omp", "regions"},
    {"barriers", "regions, or run waiting"},
    {"events", "metrics"},
    {"counters", "metrics"},
    {"perf", "the question alone: procedures, callers of NAME, source of NAME"},
    {"html", "hq report DB in the shell; here tree as svg to FILE"},
    {"text", "procedures"},
    {"web", "tree as svg to FILE, or tree as dot to FILE"},
    {"svg", "tree as svg to FILE"},
    {"dot", "tree as dot to FILE"},
    {"weblist", "source of PROCEDURE"},
    {"disasm", "source of PROCEDURE: hq shows lines, not instructions"},
    {"disassemble", "source of PROCEDURE: hq shows lines, not instructions"},
    {"asm", "source of PROCEDURE: hq shows lines, not instructions"},
    {"tags", "metrics"},
    {"cum", "procedures limit 10"},
    {"focus", "procedures through PROCEDURE"},
    {"ignore", "procedures not through PROCEDURE"},
    {"hosts", "profiles"},
    {"processes", "profiles"},
    {"samples", "info"},
    {"count", "info"},
    {"statistics", "procedures columns mean(cputime), stddev(cputime)"},
    {"hot-path", "hot path"},
    {"json", "a view, such as procedures as json"},
    {"csv", "a view, such as procedures as csv"},
    {"folded", "tree as folded"},
    {"pprof", "tree as pprof to FILE"},
    {"speedscope", "tree as speedscope to FILE"},
    {"symbols", "procedures"},
    {"dso", "modules"},
    {"dsos", "modules"},
    {"describe", "metrics, or info"},
    {"summary", "info, or hot path"},
    {"stat", "metrics"},
    {"stats", "metrics"},
    {"clear", "Ctrl-L"},
    {"history", "the Up key, and Ctrl-R"},
    {"ls", "open, and Tab behind it"},
    {"hq", "the question alone, without the hq and the database before it"},
};

static const struct foreign foreign_clauses[] = {
    {"order", "sort by EXPR"},
    {"sorted", "sort by EXPR"},
    {"orderby", "sort by EXPR"},
    {"like", "matching /REGEX/"},
    {"contains", "matching /REGEX/"},
    {"containing", "matching /REGEX/"},
    {"except", "not through PATTERN, or where name != NAME"},
    {"without", "not through PATTERN, or where name != NAME"},
    {"limited", "limit N"},
    {"last", "sort by EXPR asc limit N"},
    {"versus", "compare with DB"},
    {"having", "where EXPR"},
    {"filter", "where EXPR"},
    {"if", "where EXPR"},
    {"focus", "through PATTERN"},
    {"ignore", "not through PATTERN"},
    {"exclude", "not through PATTERN"},
    {"under", "through PATTERN"},
    {"below", "through PATTERN"},
    {"select", "columns EXPR, ..."},
    {"show", "columns EXPR, ..."},
    {"top", "limit N"},
    {"head", "limit N"},
    {"first", "limit N"},
    {"levels", "depth N"},
    {"between", "during FROM..TO"},
    {"time", "during FROM..TO"},
    {"vs", "compare with DB"},
    {"against", "compare with DB"},
    {"diff", "compare with DB"},
    {"format", "as FORMAT"},
    {"into", "as FORMAT to FILE"},
    {"output", "as FORMAT to FILE"},
    {"group", "flat by group, groups, or where group = NAME; modules, files, loops and lines are views"},
    {"to", "as FORMAT to FILE"},
    {"offset", "limit N, which begins at the first row"},
    {"skip", "limit N, which begins at the first row"},
    {"in", "of NAME"},
    {"from", "of NAME"},
    {"descending", "desc, which is the default for costs"},
    {"ascending", "asc"},
    {"reverse", "asc or desc behind sort by EXPR"},
    {"for", "of NAME"},
    {"on", "of NAME"},
    {"assert", "expect EXPR"},
    {"drop", "hide PATTERN, or not through PATTERN"},
};

/* Behind an operand. */
static const struct foreign foreign_operators[] = {
    {"between", "X >= LOW and X <= HIGH"},
    {"in", "X = A or X = B"},
    {"is", "= or !="},
    {"like", "=~ /REGEX/, or matching /REGEX/"},
    {"ilike", "=~ /REGEX/i"},
    {"regexp", "=~ /REGEX/"},
    {"contains", "=~ /REGEX/"},
};

static const char *find_foreign(const struct foreign *table, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(table[i].word, word) == 0)
            return table[i].here;
    return NULL;
}

const char *foreign_statement(const char *word)
{
    return find_foreign(foreign_statements, sizeof foreign_statements / sizeof *foreign_statements, word);
}

const char *foreign_clause(const char *word)
{
    return find_foreign(foreign_clauses, sizeof foreign_clauses / sizeof *foreign_clauses, word);
}

const char *foreign_operator(const char *word)
{
    return find_foreign(foreign_operators, sizeof foreign_operators / sizeof *foreign_operators, word);
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
    FIND(function_words, strcasecmp(function_words[i].name, name) == 0);
}

int find_attribute(const char *name)
{
    FIND(attribute_words, strcasecmp(attribute_words[i].name, name) == 0);
}

int find_setting(const char *name)
{
    FIND(setting_words, strcasecmp(setting_words[i].name, name) == 0 ||
                            (setting_words[i].other && strcasecmp(setting_words[i].other, name) == 0));
}

bool is_switch(enum setting setting)
{
    return setting_words[setting].words[1] && strcmp(setting_words[setting].words[1], "on") == 0;
}

int find_setting_word(enum setting setting, const char *word)
{
    const char *const *words = setting_words[setting].words;

    for (int i = 0; words[i]; i++)
        if (strcasecmp(words[i], word) == 0)
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
