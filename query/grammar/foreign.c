/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of other tools and languages, and what they are here. */
#include "query/grammar/parser.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

struct foreign {
    const char *word, *here;
};

/* Words that stand apart are one here, with a dash: `top down`. */
static const struct foreign foreign_statements[] = {
    {"top", "procedures limit 10"},
    {"functions", "procedures"},
    {"function", "procedures"},
    {"procs", "procedures"},
    {"hotspots", "procedures"},
    {"report", "procedures"},
    {"list", "source of PROCEDURE"},
    {"annotate", "source of PROCEDURE"},
    {"hottest", "procedures sort by cputime.x limit 10"},
    {"hot-loops", "loops sort by cputime.x"},
    {"hot-loop", "loops sort by cputime.x"},
    {"hot-spots", "procedures sort by cputime.x"},
    {"hot-procedures", "procedures sort by cputime.x"},
    {"hot-functions", "procedures sort by cputime.x"},
    {"hot-lines", "lines sort by cputime.x"},
    {"critical-path", "hot path"},
    {"flat-profile", "procedures sort by cputime.x"},
    {"callee", "tree of PROCEDURE"},
    {"callees", "tree of PROCEDURE"},
    {"who-calls", "callers of PROCEDURE"},
    {"what-calls", "callers of PROCEDURE"},
    {"who-waits", "run waiting"},
    {"load-balance", "threads per rank, or run imbalance"},
    {"load-imbalance", "threads per rank, or run imbalance"},
    {"balance", "threads per rank, or run imbalance"},
    {"imbalance", "threads per rank, or run imbalance"},
    {"children", "tree of PROCEDURE"},
    {"peek", "callers of PROCEDURE, and tree of PROCEDURE"},
    {"parents", "callers of PROCEDURE"},
    {"cct", "tree"},
    {"graph", "tree as dot to FILE"},
    {"flamegraph", "tree as svg to FILE, or tree as folded"},
    {"libraries", "modules"},
    {"ranks", "profiles"},
    {"rank", "a clause: procedures ranks 0; threads per rank has a row for each"},
    {"histogram", "threads of PROCEDURE as plot"},
    {"plot", "threads of PROCEDURE as plot"},
    {"gantt", "trace"},
    {"script", "tree as folded, or in the shell hq export"},
    {"exclude", "procedures not through PROCEDURE"},
    {"list-metrics", "metrics"},
    {"list-events", "metrics"},
    {"list-functions", "procedures"},
    {"list-procedures", "procedures"},
    {"show-metrics", "metrics"},
    {"group-by", "flat by module, or groups by module|directory|runtime"},
    {"gprof", "procedures sort by cputime.x, or callers"},
    {"callgrind", "the question alone: procedures, callers of NAME, source of NAME"},
    {"cachegrind", "the question alone: procedures, callers of NAME, source of NAME"},
    {"select", "procedures columns name, cputime where cputime > 1% sort by cputime"},
    {"show", "a view, such as procedures"},
    {"print", "a view, such as procedures"},
    {"gpu", "devices, of a recording with -e GPU"},
    {"page", "hq report DB in the shell"},
    {"idle", "run waiting"},
    {"define", "let NAME = EXPR"},
    {"q", "quit"},
    {"bye", "quit"},
    {"use", "open DATABASE"},
    {"load", "open DATABASE"},
    {"diff", "procedures compare with DATABASE"},
    {"compare", "procedures compare with DATABASE"},
    {"check", "expect"},
    {"assert", "expect"},
    {"timeline", "trace"},
    {"flame", "tree as svg to FILE, or tree as folded"},
    {"callgraph", "tree, or tree as dot to FILE"},
    {"call", "tree, or callers of PROCEDURE"},
    {"call-tree", "tree"},
    {"call-graph", "tree, or tree as dot to FILE"},
    {"call-stacks", "tree as folded"},
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
    {"stat", "metrics"},
    {"stats", "metrics"},
    {"clear", "Ctrl-L"},
    {"history", "the Up key, and Ctrl-R"},
    {"why", "summary"},
    {"what", "summary"},
    {"how", "summary, or info"},
    {"number", "info"},
    {"who-is", "run waiting"},
    {"slow", "procedures sort by cputime.x limit 10"},
    {"slowest", "procedures sort by cputime.x limit 10"},
    {"expensive", "procedures sort by cputime.x limit 10"},
    {"bottleneck", "summary, or hot path"},
    {"bottlenecks", "summary, or hot path"},
    {"memory", "procedures columns alloc_bytes.x sort by alloc_bytes.x, of a recording with -e ALLOC"},
    {"allocations", "procedures columns alloc_calls.x sort by alloc_calls.x, of a recording with -e ALLOC"},
    {"leaks", "procedures columns alloc_leaked.x sort by alloc_leaked.x, of a recording with -e ALLOC"},
    {"leak", "procedures columns alloc_leaked.x sort by alloc_leaked.x, of a recording with -e ALLOC"},
    {"lock", "procedures columns lock_wait.x sort by lock_wait.x, of a recording with -e LOCK; or run waiting"},
    {"locks", "procedures columns lock_wait.x sort by lock_wait.x, of a recording with -e LOCK; or run waiting"},
    {"contention", "procedures columns lock_wait.x sort by lock_wait.x, of a recording with -e LOCK; or run waiting"},
    {"io", "procedures columns io_read.x, io_write.x, of a recording with -e IO; or groups by runtime"},
    {"waiting", "procedures where waits, or run waiting"},
    {"barrier", "regions, or run waiting"},
    {"communication", "messages, or groups by runtime"},
    {"backtrace", "callers of PROCEDURE"},
    {"stack", "callers of PROCEDURE"},
    {"stacktrace", "callers of PROCEDURE"},
    {"thread", "threads; behind a view the clause threads N"},
    {"library", "modules, or procedures of LIBRARY"},
    {"iteration", "iterations of PROCEDURE"},
    {"total", "metrics"},
    {"totals", "metrics"},
    {"time", "metrics, or info"},
    {"duration", "info"},
    {"elapsed", "info"},
    {"cputime", "a metric: procedures columns cputime sort by cputime"},
    {"realtime", "a metric: procedures columns realtime sort by realtime"},
    {"mark", "hq record --mark PROCEDURE in the shell, before; then iterations of PROCEDURE"},
    {"save", "a view, such as procedures as csv to FILE"},
    {"export", "a view, such as procedures as csv to FILE"},
    {"write", "a view, such as procedures as csv to FILE"},
    {"icicle", "tree as svg to FILE"},
    {"ls", "open, and Tab behind it"},
    {"hq", "the question alone, without the hq and the database before it"},
    {"of", "behind a view, such as tree of PROCEDURE"},
};

static const struct foreign foreign_clauses[] = {
    {"in-rank", "ranks N"},
    {"in-ranks", "ranks N"},
    {"on-rank", "ranks N"},
    {"on-ranks", "ranks N"},
    {"for-rank", "ranks N"},
    {"for-ranks", "ranks N"},
    {"of-rank", "ranks N"},
    {"in-thread", "threads N"},
    {"on-thread", "threads N"},
    {"for-thread", "threads N"},
    {"in-json", "as json"},
    {"in-csv", "as csv"},
    {"in-percent", "percent of total, shown or parent"},
    {"group-by", "flat by module, or groups by module|directory|runtime"},
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
    {"and", "of /A|B/ for several names; clauses stand beside each other without a word"},
    {"at", "during FROM..TO"},
    {"line", "lines of FILE:LINE, or source of FILE:LINE"},
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
    {"matches", "=~ /REGEX/"},
    {"seconds", "a unit right behind the number: 5s"},
    {"second", "a unit right behind the number: 5s"},
    {"sec", "a unit right behind the number: 5s"},
    {"minutes", "a unit right behind the number: 5min"},
    {"bytes", "a unit right behind the number: 5B, 5KiB, 5MB"},
};

static const struct foreign foreign_functions[] = {
    {"avg", "mean"},
    {"average", "mean"},
    {"median", "p50"},
    {"std", "stddev"},
    {"sd", "stddev"},
    {"stdev", "stddev"},
    {"total", "sum, or @cputime for the total of the run"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"percent", "cputime / @cputime"},
    {"share", "cputime / @cputime"},
    {"ratio", "a / b"},
    {"ln", "log"},
    {"log10", "log(x) / log(10)"},
    {"round", "floor(x + 0.5)"},
    {"iff", "if(c, a, b)"},
    {"case", "if(c, a, b)"},
    {"coalesce", "if(c, a, b)"},
    {"exclusive", "cputime.x"},
    {"self", "cputime.x"},
};

static const char *find_foreign(const struct foreign *table, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!strcasecmp(table[i].word, word))
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

static const char *foreign_operator(const char *word)
{
    return find_foreign(foreign_operators, sizeof foreign_operators / sizeof *foreign_operators, word);
}

const char *foreign_function(const char *word)
{
    return find_foreign(foreign_functions, sizeof foreign_functions / sizeof *foreign_functions, word);
}

/* ---- where one stands ---- */

static const char *replaced(struct parser *p, const char *text, const char *what, const char *by)
{
    const char *at = strstr(text, what);

    return at ? arena_printf(p->arena, "%.*s%s%s", (int)(at - text), text, by, replaced(p, at + strlen(what), what, by))
              : text;
}

/* The token behind the next one, or behind `of` there: what a view is asked of. */
static struct token peek_name(struct parser *p)
{
    struct token second = peek_second(p);
    struct lexer l = p->after;

    if (p->error || second.kind != TOKEN_WORD || (strcasecmp(second.text, "of") && strcasecmp(second.text, "from")))
        return second;
    lex(&l, LEX_PLAIN, p->arena);
    return lex(&l, LEX_PATTERN, p->arena);
}

const char *whole_word(struct parser *p, const struct token *t)
{
    const struct source *s = t->place.source;
    struct token whole = *t;

    if (t->kind == TOKEN_WORD || t->kind == TOKEN_NUMBER)
        for (size_t end = t->place.offset; end < s->length && !strchr(" \t\r\n;\"'", s->text[end]); end++)
            whole.place.length = (uint32_t)(end + 1) - t->place.offset;
    return shown(p, &whole);
}

/* `top down` and `top-down`, which are no word of hq's, as foreign finds them; *behind: the lexer behind both. */
static const char *foreign_pair(struct parser *p, const struct token *t, const char *(*foreign)(const char *),
                                struct lexer *behind)
{
    struct token second;

    *behind = p->after;
    second = lex(behind, LEX_PLAIN, p->arena);
    if (is_mark(&second, "-"))
        second = lex(behind, LEX_PLAIN, p->arena);
    return second.kind == TOKEN_WORD ? foreign(arena_printf(p->arena, "%s-%s", t->text, second.text)) : NULL;
}

const char *foreign_here(struct parser *p, const struct token *t)
{
    size_t len = t->kind == TOKEN_WORD ? strlen(t->text) : 0;
    const char *here, *number = NULL;
    struct token second;
    struct lexer behind;

    if (!len)
        return NULL;
    here = expects(p, EXPECTED_OPERATOR) ? foreign_operator(t->text) : NULL;
    if (here)
        return here;
    if (expects(p, EXPECTED_CLAUSE)) {
        here = foreign_pair(p, t, foreign_clause, &behind);
        second = lex(&behind, LEX_PLAIN, p->arena);
        if (here && second.kind == TOKEN_NUMBER)
            here = replaced(p, here, " N", arena_printf(p->arena, " %s", whole_word(p, &second)));
        return here ? here : foreign_clause(t->text);
    }
    if (!expects(p, EXPECTED_VIEW))
        return NULL;
    here = foreign_pair(p, t, foreign_statement, &behind);
    second = peek_second(p);
    if (here) {
        second = lex(&behind, LEX_PATTERN, p->arena);
        return second.kind == TOKEN_WORD || second.kind == TOKEN_STRING
                   ? replaced(p, here, "PROCEDURE", whole_word(p, &second))
                   : here;
    }
    here = foreign_statement(t->text);
    while (!here && len > 1 && isdigit((unsigned char)t->text[len - 1]))
        here = foreign_statement(arena_strndup(p->arena, t->text, --len));
    if (!here)
        return NULL;
    number = t->text[len] ? t->text + len : second.kind == TOKEN_NUMBER ? second.text : NULL;
    if (number)
        here = replaced(p, here, "limit 10", arena_printf(p->arena, "limit %s", number));
    second = peek_name(p);
    if (second.kind == TOKEN_WORD || second.kind == TOKEN_STRING)
        for (size_t i = 0; i < 2; i++)
            here = replaced(p, here, i ? "DATABASE" : "PROCEDURE", whole_word(p, &second));
    return here;
}
