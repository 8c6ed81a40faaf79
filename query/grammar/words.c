/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/grammar/words.h"
#include <string.h>
#include <strings.h>

#define BIT(v) (1u << VIEW_##v)

enum {
    NESTED = BIT(TREE) | BIT(CALLERS) | BIT(FLAT),
    RANKED = BIT(PROCEDURES) | BIT(LOOPS) | BIT(LINES) | BIT(FILES) | BIT(MODULES),
    COSTS = NESTED | RANKED | BIT(HOT_PATH) | BIT(SOURCE) | BIT(THREADS),
    ALIGNED = NESTED | BIT(HOT_PATH) | BIT(PROCEDURES) | BIT(LOOPS) | BIT(FILES) | BIT(MODULES) | BIT(EXPLAIN),
    LISTS = BIT(PROFILES) | BIT(ITERATIONS),
    PICTURES = BIT(TRACE) | BIT(TRACE_DEPTH) | BIT(TRACE_SUMMARY) | BIT(TRACE_IMBALANCE),
    ANY = (1u << VIEW_KINDS) - 1,
};

static const char facts[] = "it tells what the database holds, and has no costs";
static const char picture[] = "a picture of a trace names what ran when; choose with ranks, threads and during";

const struct view_word view_words[VIEW_KINDS] = {
    [VIEW_TREE] = {"tree", {"calling context", "topdown"}, OF_OPTIONAL, NAMES_ANY, "tree [of PATTERN]",
        "calling context view: from main down to where the cost arises", true, NULL},
    [VIEW_CALLERS] = {"callers", {"bottomup"}, OF_OPTIONAL, NAMES_PROCEDURE, "callers [of PATTERN]",
        "each procedure with its callers below it, its cost apportioned among them", true, NULL},
    [VIEW_FLAT] = {"flat", {NULL}, OF_OPTIONAL, NAMES_ANY, "flat [of PATTERN]",
        "static structure: module, file, procedure, loop, line and call", true, NULL},
    [VIEW_HOT_PATH] = {"hot path", {"hotpath"}, OF_OPTIONAL, NAMES_ANY, "hot path [of PATTERN] [by EXPR] [threshold P%]",
        "from the top, the child with the largest share, as long as it has at least the threshold", true, NULL},
    [VIEW_PROCEDURES] = {"procedures", {NULL}, OF_OPTIONAL, NAMES_PROCEDURE, "procedures [of PATTERN]",
        "ranked list of procedures, inlined ones too", false, NULL},
    [VIEW_LOOPS] = {"loops", {NULL}, OF_OPTIONAL, NAMES_ANY, "loops [of PATTERN]", "ranked list of loops", false, NULL},
    [VIEW_LINES] = {"lines", {NULL}, OF_OPTIONAL, NAMES_ANY, "lines [of PATTERN]", "ranked list of source lines", false, NULL},
    [VIEW_FILES] = {"files", {NULL}, OF_OPTIONAL, NAMES_FILE, "files [of PATTERN]", "ranked list of source files", false, NULL},
    [VIEW_MODULES] = {"modules", {NULL}, OF_OPTIONAL, NAMES_MODULE, "modules [of PATTERN]",
        "ranked list of load modules: the program and its shared libraries", false, NULL},
    [VIEW_SOURCE] = {"source", {NULL}, OF_REQUIRED, NAMES_ANY, "source of PATTERN",
        "the source lines of a procedure or file with their costs", false, NULL},
    [VIEW_THREADS] = {"threads", {NULL}, OF_OPTIONAL, NAMES_ANY, "threads [of PATTERN]",
        "one row per profile: what the scope, or the whole, costs in it", false, NULL},
    [VIEW_EXPLAIN] = {"explain", {NULL}, OF_NONE, NAMES_ANY, "explain P% of EXPR",
        "the smallest set of disjoint contexts that covers the share of a metric or of a delta", false, NULL},
    [VIEW_METRICS] = {"metrics", {NULL}, OF_NONE, NAMES_ANY, "metrics", "the metrics, their numbers, units and totals", false, facts},
    [VIEW_PROFILES] = {"profiles", {NULL}, OF_NONE, NAMES_ANY, "profiles", "the profiles: ranks, processes and threads", false, facts},
    [VIEW_INFO] = {"info", {NULL}, OF_NONE, NAMES_ANY, "info", "what ran, where and when, how many samples, what was lost", false, facts},
    [VIEW_TRACE] = {"trace", {NULL}, OF_NONE, NAMES_ANY, "trace [level D] [width W] [height H]",
        "time from left to right, a row per profile: the procedure at a call path level", false, picture},
    [VIEW_TRACE_DEPTH] = {"trace depth", {NULL}, OF_NONE, NAMES_ANY, "trace depth of rank R",
        "time from left to right, a row per call path level, of one profile", false, picture},
    [VIEW_TRACE_AT] = {"trace at", {NULL}, OF_NONE, NAMES_ANY, "trace at TIME rank R", "the call path of one profile at an instant", false, picture},
    [VIEW_TRACE_SUMMARY] = {"trace summary", {NULL}, OF_NONE, NAMES_ANY, "trace summary",
        "the share of profiles in each procedure, over time", false, picture},
    [VIEW_TRACE_IMBALANCE] = {"trace imbalance", {NULL}, OF_OPTIONAL, NAMES_PROCEDURE, "trace imbalance [of PATTERN]",
        "the share of profiles that wait (or are in a procedure), over time", false, picture},
    [VIEW_ITERATIONS] = {"iterations", {NULL}, OF_REQUIRED, NAMES_ANY, "iterations of PATTERN",
        "one row per visit to a procedure or loop: start, length, largest child, deviation", false,
        "its rows are visits in time; choose with ranks, threads and during"},
};

const struct clause_word clause_words[CLAUSE_KINDS] = {
    [CLAUSE_RANKS] = {"ranks", "rank", "ranks 0-3,7", "only these ranks", false,
        COSTS | BIT(EXPLAIN) | BIT(PROFILES) | BIT(ITERATIONS) | PICTURES | BIT(TRACE_AT), NULL},
    [CLAUSE_THREADS] = {"threads", "thread", "threads 0-3,7", "only these threads of each process", false,
        COSTS | BIT(EXPLAIN) | BIT(PROFILES) | BIT(ITERATIONS) | PICTURES | BIT(TRACE_AT), NULL},
    [CLAUSE_PER] = {"per", NULL, "per rank|host|thread", "what is summed before statistics are taken (default thread)", false,
        COSTS | BIT(EXPLAIN), "there are no statistics in it"},
    [CLAUSE_DURING] = {"during", NULL, "during FROM..TO | iteration N of PATTERN | PATTERN",
        "only this slice of the trace: times, shares of the run, a visit, or while a procedure is on the stack", false,
        COSTS | BIT(EXPLAIN) | BIT(ITERATIONS) | PICTURES, "it shows one instant"},
    [CLAUSE_THROUGH] = {"through", "not through", "[not] through A > B >> C",
        "only samples whose call path matches (> a direct call, >> any frames between, * one frame)", true,
        COSTS | BIT(EXPLAIN), NULL},
    [CLAUSE_PRUNE] = {"prune", NULL, "prune PATTERN", "what is below the scope disappears, its cost becomes the scope's own", true,
        COSTS | BIT(EXPLAIN), NULL},
    [CLAUSE_HIDE] = {"hide", NULL, "hide PATTERN", "the scope disappears, its children move up, its own cost goes to its parent", true,
        COSTS | BIT(EXPLAIN), NULL},
    [CLAUSE_COMPARE] = {"compare with", NULL, "compare with DB", "beside each value the one of another database, and the difference", false,
        ALIGNED, "two builds are aligned by the names of scopes, never by lines or profiles"},
    [CLAUSE_SCALED] = {"scaled by", NULL, "scaled by X", "multiplies the values of the database that is compared with", false,
        ALIGNED, "two builds are aligned by the names of scopes, never by lines or profiles"},
    [CLAUSE_FLATTEN] = {"flatten", NULL, "flatten [N]", "replaces each top row by its children, N times", false,
        NESTED, "its rows have no children to take their place"},
    [CLAUSE_COLUMNS] = {"columns", NULL, "columns [NAME =] EXPR, ...", "what is shown", false,
        COSTS | BIT(EXPLAIN), "its columns are fixed"},
    [CLAUSE_WHERE] = {"where", NULL, "where EXPR", "keeps the rows for which it holds; in a tree their ancestors stay", true,
        COSTS | LISTS, NULL},
    [CLAUSE_MATCHING] = {"matching", NULL, "matching /REGEX/", "keeps the rows whose name matches", true,
        COSTS | LISTS, NULL},
    [CLAUSE_EXPECT] = {"expect", NULL, "expect [all|any|no] EXPR | rows OP N | no rows", "a check: the exit status tells whether it holds", true,
        COSTS | BIT(EXPLAIN) | LISTS, NULL},
    [CLAUSE_SORT] = {"sort by", NULL, "sort by EXPR [asc|desc], ...", "order of the rows (default: the first metric, largest first)", false,
        (COSTS & ~BIT(HOT_PATH)) | LISTS, "it follows one child at a time: choose it with by"},
    [CLAUSE_LIMIT] = {"limit", NULL, "limit N", "at most N rows below each parent", false,
        (COSTS & ~BIT(HOT_PATH)) | BIT(EXPLAIN) | LISTS, "it has one row below each parent: use depth"},
    [CLAUSE_DEPTH] = {"depth", NULL, "depth N", "at most N levels", false, NESTED | BIT(HOT_PATH), "its rows have one level"},
    [CLAUSE_ALL] = {"all", NULL, "all", "nothing is folded away, however small", false, COSTS | BIT(EXPLAIN) | LISTS, NULL},
    [CLAUSE_BY] = {"by", NULL, "by EXPR", "the metric that the hot path follows", false, BIT(HOT_PATH), "only a hot path follows one metric; to order rows use sort by"},
    [CLAUSE_THRESHOLD] = {"threshold", NULL, "threshold P%", "the share of its parent that a child on the hot path has at least", false,
        BIT(HOT_PATH), "only a hot path has a threshold; to drop small rows use where"},
    [CLAUSE_PERCENT] = {"percent of", NULL, "percent of total|shown|parent", "what percentages are of", false,
        COSTS | BIT(EXPLAIN), NULL},
    [CLAUSE_LEVEL] = {"level", NULL, "level D", "the call path level that is shown", false, BIT(TRACE) | BIT(TRACE_SUMMARY),
        "only trace and trace summary show one level"},
    [CLAUSE_WIDTH] = {"width", NULL, "width W", "columns (pixels in svg) of a picture", false, PICTURES, "only pictures of traces have a width"},
    [CLAUSE_HEIGHT] = {"height", NULL, "height H", "rows (pixels in svg) of a picture", false, PICTURES, "only pictures of traces have a height"},
    [CLAUSE_AS] = {"as", NULL, "as FORMAT [to FILE]", "output format, and a file instead of standard output", false, ANY, NULL},
};

const struct statement_word statement_words[STATEMENT_KINDS] = {
    [STATEMENT_LET] = {"let", NULL, "let NAME = EXPR", "defines a derived metric"},
    [STATEMENT_SET] = {"set", NULL, "set [NAME on|off]", "changes a setting, or lists them"},
    [STATEMENT_EXPECT] = {"expect", NULL, "expect [all|any|no] EXPR | rows OP N | no rows", "checks the previous result"},
    [STATEMENT_RUN] = {"run", NULL, "run NAME", "runs a saved query"},
    [STATEMENT_INCLUDE] = {"include", NULL, "include FILE", "runs the statements of a file"},
    [STATEMENT_OPEN] = {"open", NULL, "open DB [as NAME]", "opens another database"},
    [STATEMENT_HELP] = {"help", NULL, "help [WORD]", "tells about a word, or lists them all"},
    [STATEMENT_STATE] = {"state", NULL, "state", "the present state as one line of statements"},
    [STATEMENT_UNDO] = {"undo", NULL, "undo", "takes back the last let, set or open"},
    [STATEMENT_LAST] = {"last", NULL, "last [as FORMAT [to FILE]]", "shows the last result again, whole"},
    [STATEMENT_QUIT] = {"quit", "exit", "quit", "leaves (so does the end of input, Ctrl-D)"},
};

const struct function_word function_words[FUNCTION_KINDS] = {
    [FUNCTION_SUM] = {"sum", 1, 1, true, "sum($1)", "sum over profiles: what a bare $1 is"},
    [FUNCTION_MEAN] = {"mean", 1, 1, true, "mean($1)", "mean over profiles"},
    [FUNCTION_STDDEV] = {"stddev", 1, 1, true, "stddev($1)", "standard deviation over profiles"},
    [FUNCTION_COV] = {"cov", 1, 1, true, "cov($1)", "coefficient of variation: stddev / mean"},
    [FUNCTION_COUNT] = {"count", 1, 1, true, "count($1)", "number of profiles with a value"},
    [FUNCTION_P50] = {"p50", 1, 1, true, "p50($1)", "median over profiles"},
    [FUNCTION_P90] = {"p90", 1, 1, true, "p90($1)", "90th percentile over profiles"},
    [FUNCTION_P99] = {"p99", 1, 1, true, "p99($1)", "99th percentile over profiles"},
    [FUNCTION_IMBALANCE] = {"imbalance", 1, 1, true, "imbalance($1)", "(max - mean) x profiles: what perfect balance could save"},
    [FUNCTION_CI] = {"ci", 1, 1, true, "ci($1)", "half width of the 95 % confidence interval"},
    [FUNCTION_MIN] = {"min", 1, 64, true, "min($1)  min(a, b, ...)", "least over profiles; of several values: the least"},
    [FUNCTION_MAX] = {"max", 1, 64, true, "max($1)  max(a, b, ...)", "largest over profiles; of several values: the largest"},
    [FUNCTION_IF] = {"if", 3, 3, false, "if(c, a, b)", "a where c holds, else b"},
    [FUNCTION_ABS] = {"abs", 1, 1, false, "abs(x)", "absolute value"},
    [FUNCTION_SQRT] = {"sqrt", 1, 1, false, "sqrt(x)", "square root"},
    [FUNCTION_LOG] = {"log", 1, 1, false, "log(x)", "natural logarithm"},
    [FUNCTION_FLOOR] = {"floor", 1, 1, false, "floor(x)", "largest whole number not above"},
    [FUNCTION_CEIL] = {"ceil", 1, 1, false, "ceil(x)", "least whole number not below"},
};

const struct attribute_word attribute_words[ATTRIBUTE_KINDS] = {
    [ATTRIBUTE_KIND] = {"kind", "root, thread, procedure, inline, loop, line, call, module or file"},
    [ATTRIBUTE_NAME] = {"name", "name of the scope"},
    [ATTRIBUTE_FILE] = {"file", "path of its source file"},
    [ATTRIBUTE_LINE] = {"line", "its line"},
    [ATTRIBUTE_MODULE] = {"module", "load module"},
    [ATTRIBUTE_DEPTH] = {"depth", "nesting depth of the row, from 0"},
    [ATTRIBUTE_ID] = {"id", "identity of the context, the same in every run of a build"},
    [ATTRIBUTE_CALLSITE] = {"callsite", "file:line of the call"},
    [ATTRIBUTE_RANK] = {"rank", "rank of the profile (views threads, profiles, iterations)"},
    [ATTRIBUTE_THREAD] = {"thread", "thread of the profile (views threads, profiles, iterations)"},
    [ATTRIBUTE_HOST] = {"host", "host of the profile (views threads, profiles, iterations)"},
};

const struct setting_word setting_words[SETTING_KINDS] = {
    [SETTING_LINES] = {"lines", NULL, false, "statement rows in tree and callers"},
    [SETTING_INLINE] = {"inline", NULL, true, "inlined procedures as scopes of their own; off: folded into their host"},
    [SETTING_NORMALISE] = {"normalise", "normalize", true, "loops of one source loop merged; off: as the compiler left them"},
    [SETTING_CI] = {"ci", NULL, false, "the 95 % confidence interval beside every value"},
    [SETTING_STRICT] = {"strict", NULL, false, "a pattern that matches nothing is an error"},
    [SETTING_TIMING] = {"timing", NULL, false, "how long each query took"},
    [SETTING_PAGER] = {"pager", NULL, true, "a pager for results taller than the terminal"},
    [SETTING_COLOUR] = {"colour", "color", true, "colour on a terminal"},
};

bool clause_allowed(enum view_kind view, enum clause_kind clause, const char **why)
{
    const struct clause_word *c = &clause_words[clause];
    const struct view_word *v = &view_words[view];
    const char *reason = v->bare ? v->bare : c->why_not ? c->why_not : "it has no costs";

    if (clause == CLAUSE_DURING && view == VIEW_TRACE_AT)
        reason = c->why_not;
    if (clause == CLAUSE_SORT && view == VIEW_EXPLAIN)
        reason = "it orders its contexts by what they contribute";
    if ((clause == CLAUSE_WHERE || clause == CLAUSE_MATCHING) && view == VIEW_EXPLAIN)
        reason = "it must cover a share of the whole; restrict the samples with through";
    if (clause >= CLAUSE_BY && clause != CLAUSE_PERCENT && c->why_not)
        reason = c->why_not;
    if (why)
        *why = reason;
    return c->views >> view & 1;
}

const char *operator_text(enum operator op)
{
    static const char *const texts[] = {
        [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_EQ] = "==", [OP_NE] = "!=", [OP_LT] = "<",
        [OP_LE] = "<=", [OP_GT] = ">", [OP_GE] = ">=", [OP_AND] = "and", [OP_OR] = "or",
    };

    return texts[op];
}

struct foreign { const char *word, *here; };

static const struct foreign foreign_statements[] = {
    {"top", "procedures limit 10"}, {"functions", "procedures"}, {"function", "procedures"}, {"procs", "procedures"}, {"hotspots", "procedures"},
    {"report", "procedures"}, {"list", "source of PROCEDURE"}, {"annotate", "source of PROCEDURE"}, {"callees", "tree of PROCEDURE"},
    {"children", "tree of PROCEDURE"}, {"peek", "callers of PROCEDURE"}, {"parents", "callers of PROCEDURE"}, {"cct", "tree"},
    {"graph", "tree as dot to FILE"}, {"flamegraph", "tree as svg to FILE, or tree as folded"}, {"libraries", "modules"}, {"ranks", "profiles"},
    {"select", "procedures columns EXPR, ..."}, {"show", "a view, such as procedures"}, {"define", "let NAME = EXPR"},
    {"q", "quit"}, {"bye", "quit"}, {"use", "open DB"}, {"load", "open DB"}, {"diff", "procedures compare with DB"},
    {"compare", "procedures compare with DB"}, {"check", "expect"}, {"assert", "expect"},
};

static const struct foreign foreign_clauses[] = {
    {"order", "sort by EXPR"}, {"having", "where EXPR"}, {"filter", "where EXPR"}, {"if", "where EXPR"}, {"focus", "through PATTERN"},
    {"ignore", "not through PATTERN"}, {"exclude", "not through PATTERN"}, {"under", "through PATTERN"}, {"below", "through PATTERN"},
    {"select", "columns EXPR, ..."}, {"show", "columns EXPR, ..."}, {"top", "limit N"}, {"head", "limit N"}, {"first", "limit N"}, {"levels", "depth N"},
    {"between", "during FROM..TO"}, {"time", "during FROM..TO"}, {"vs", "compare with DB"}, {"against", "compare with DB"}, {"diff", "compare with DB"},
    {"format", "as FORMAT"}, {"into", "as FORMAT to FILE"}, {"output", "as FORMAT to FILE"}, {"group", "per rank, host or thread"},
    {"in", "of NAME"}, {"for", "of NAME"}, {"on", "of NAME"}, {"assert", "expect EXPR"}, {"drop", "hide PATTERN, or not through PATTERN"},
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

#define FIND(table, same)                                           \
    do {                                                            \
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)   \
            if (same)                                               \
                return (int)i;                                      \
        return -1;                                                  \
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
