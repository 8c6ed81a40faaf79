/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loop statements of Fortran. Lines are put together into statements, in lower case and without comments, constants of
 * text and blanks; then DO and what ends it are found by how a statement begins.
 */
#include "structure/source/statements.h"
#include "common/str.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FEW = 16 }; /* rounds that compilers unroll at most */

struct open_do {
    uint32_t loop;
    unsigned long label; /* of the statement that ends it, 0: END DO does */
    bool forall;
};

struct label {
    unsigned long label;
    uint32_t line, round; /* round: in rounds, STATEMENT_NONE: nothing goes back to it yet */
};

struct branch {  /* of a conditional of the preprocessor, while it is open */
    size_t open; /* loops that were open in front of it */
    bool skip;
};

struct scanner {
    struct statements *out;
    bool fixed;
    struct str text; /* of the statement so far */
    uint32_t first, last;
    unsigned long label;
    char quote;      /* that is open */
    bool continues;  /* & ends the last line */
    uint32_t above;  /* line of the first directive behind the last statement, 0: none */
    uint32_t atomic; /* line of `!$omp atomic` behind it, 0: none */
    VEC(struct open_do) open;
    VEC(struct branch) branches;
    VEC(struct label) labels; /* of the procedure so far */
};

/* Goes behind what `(` at s opens; NULL: it is not closed. */
static const char *past_group(const char *s)
{
    int open = 0;

    for (; *s; s++) {
        open += (*s == '(') - (*s == ')');
        if (!open)
            return s + 1;
    }
    return NULL;
}

/* `i=1,n`: an assignment has no comma outside of parentheses. */
static bool is_range(const char *s)
{
    int open = 0;

    if (!isalpha((unsigned char)*s))
        return false;
    while (isalnum((unsigned char)*s) || *s == '_')
        s++;
    if (*s++ != '=')
        return false;
    for (; *s; s++) {
        open += (*s == '(') - (*s == ')');
        if (*s == ',' && !open)
            return true;
    }
    return false;
}

/* Whether a statement begins a DO construct; *label: of the statement that ends it. */
static bool is_do(const char *s, unsigned long *label)
{
    char *end;

    *label = 0;
    if (!str_begins(s, "do"))
        return false;
    s += 2;
    if (!*s)
        return true;
    if (isdigit((unsigned char)*s)) {
        *label = strtoul(s, &end, 10);
        s = *end == ',' ? end + 1 : end;
        return !*s || is_range(s) || str_begins(s, "while(");
    }
    if (str_begins(s, "while(") || str_begins(s, "concurrent("))
        return past_group(strchr(s, '(')) != NULL;
    return is_range(s);
}

/* Whether `doi=1,3` has few rounds. */
static bool is_short(const char *s)
{
    char *end;
    const char *at = strchr(s, '=');
    unsigned long first = at ? strtoul(at + 1, &end, 10) : 0, last;

    if (!at || end == at + 1 || *end != ',')
        return false;
    at = end + 1;
    last = strtoul(at, &end, 10);
    return end != at && !*end && last >= first && last - first < FEW;
}

/* The indices of DO CONCURRENT and FORALL: `(i=1:n,j=1:m,mod(i+j,2)==0)` has two. */
static uint32_t count_ranges(const char *s)
{
    uint32_t count = 0;
    int open = 0;

    for (s = strchr(s, '('); s && *s; s++) {
        open += (*s == '(') - (*s == ')');
        count += open == 1 && *s == '=' && s[1] != '=' && (isalnum((unsigned char)s[-1]) || s[-1] == '_');
    }
    return count ? count : 1;
}

static const char *without_name(const char *s)
{
    const char *at = s;

    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    return at > s && at[0] == ':' && at[1] != ':' && at[1] != '=' ? at + 1 : s;
}

/* END of a program unit ends all that is open. */
static bool ends_unit(const char *s)
{
    return !strcmp(s, "end") || str_begins(s, "endsubroutine") || str_begins(s, "endfunction") ||
           str_begins(s, "endprogram") || str_begins(s, "endprocedure") || str_begins(s, "endmodule") ||
           str_begins(s, "endsubmodule");
}

static void close_loop(struct scanner *s)
{
    s->out->loops.data[vec_pop(&s->open).loop].end = s->last;
}

static void open_loop(struct scanner *s, unsigned long label, bool forall)
{
    uint32_t number = (uint32_t)s->out->loops.len;

    vec_push(&s->out->loops, (struct loop_statement){
                                 .above = s->above ? s->above : s->first,
                                 .first = s->first,
                                 .head = s->last,
                                 .end = s->last,
                                 .told = s->first,
                                 .parent = s->open.len ? vec_last(&s->open).loop : STATEMENT_NONE,
                                 .ranges = 1,
                             });
    vec_push(&s->open, (struct open_do){number, label, forall});
}

/* A section of an array (or of a text, which is none), or a construct that goes over arrays; no declaration. */
static bool is_array(const char *s)
{
    int open = 0;

    if (strstr(s, "::") || str_begins(s, "case("))
        return false;
    if (str_begins(s, "where(") || str_begins(s, "forall("))
        return true;
    for (; *s; s++) {
        open += (*s == '(') - (*s == ')');
        if (*s == ':' && open > 0)
            return true;
    }
    return false;
}

/* The labels of `goto10`, `if(x)goto10`, `goto(10,20),i` and `if(x)10,20,30`; NULL: it is none of these. */
static const char *labels_of(const char *s)
{
    const char *behind = str_begins(s, "if(") ? past_group(s + strlen("if")) : s;

    if (behind && str_begins(behind, "goto") && behind[strlen("goto")] != '=')
        return behind + strlen("goto");
    return behind && behind != s && isdigit((unsigned char)*behind) ? behind : NULL;
}

/* A statement that goes back to one above it closes a loop. */
static void go_back(struct scanner *s, const char *labels)
{
    labels += *labels == '(';
    while (isdigit((unsigned char)*labels)) {
        char *end;
        unsigned long label = strtoul(labels, &end, 10);
        size_t i = s->labels.len;

        while (i && s->labels.data[i - 1].label != label)
            i--;
        if (i && s->labels.data[i - 1].round == STATEMENT_NONE) {
            s->labels.data[i - 1].round = (uint32_t)s->out->rounds.len;
            vec_push(&s->out->rounds, (struct line_span){s->labels.data[i - 1].line, s->last});
        } else if (i) {
            s->out->rounds.data[s->labels.data[i - 1].round].last = s->last;
        }
        labels = *end == ',' ? end + 1 : end;
    }
}

static int by_first(const void *x, const void *y)
{
    const struct line_span *a = x, *b = y;

    return a->first != b->first ? (a->first < b->first ? -1 : 1) : (a->last > b->last) - (a->last < b->last);
}

static void statement(struct scanner *s)
{
    const char *text = without_name(str_cstr(&s->text)), *behind;
    unsigned long label;

    if (!*text)
        return;
    if (s->label && !str_begins(text, "format("))
        vec_push(&s->labels, (struct label){s->label, s->first, STATEMENT_NONE});
    if (is_do(text, &label)) {
        open_loop(s, label, false);
        vec_last(&s->out->loops).unrolled = is_short(text);
        if (str_begins(text, "doconcurrent("))
            vec_last(&s->out->loops).ranges = count_ranges(text);
    } else if (str_begins(text, "enddo")) {
        if (s->open.len && !vec_last(&s->open).forall && !vec_last(&s->open).label)
            close_loop(s);
    } else if (str_begins(text, "endforall")) {
        if (s->open.len && vec_last(&s->open).forall)
            close_loop(s);
    } else if (str_begins(text, "forall(") && (behind = past_group(text + strlen("forall"))) && !*behind) {
        open_loop(s, 0, true);
        vec_last(&s->out->loops).ranges = count_ranges(text);
    } else if (ends_unit(text) || !strcmp(text, "contains")) {
        s->open.len = 0;
        s->labels.len = 0;
    } else if ((behind = labels_of(text))) {
        vec_push(&s->out->gotos, (struct plain_line){s->first});
        go_back(s, behind);
    } else if (s->atomic || is_array(text)) {
        vec_push(&s->out->arrays, (struct line_span){s->atomic ? s->atomic : s->first, s->last});
    } else if (s->first != s->last) {
        vec_push(&s->out->parts, (struct line_span){s->first, s->last});
    }
    /* Several loops may end in one labelled statement, ENDDO or not. */
    while (s->label && s->open.len && vec_last(&s->open).label == s->label)
        close_loop(s);
    s->above = s->atomic = 0;
}

static void finish(struct scanner *s)
{
    if (!(s->branches.len && vec_last(&s->branches).skip) && s->first)
        statement(s);
    str_clear(&s->text);
    s->first = 0;
    s->label = 0;
    s->quote = 0;
    s->continues = false;
}

static void preprocessor(struct scanner *s, const char *at, const char *end)
{
    struct branch *b = s->branches.len ? &vec_last(&s->branches) : NULL;

    for (at++; at < end && isblank((unsigned char)*at); at++)
        ;
    if (end - at >= 2 && !memcmp(at, "if", 2)) {
        vec_push(&s->branches, (struct branch){s->open.len, b && b->skip});
    } else if (b && end - at >= 4 && (!memcmp(at, "else", 4) || !memcmp(at, "elif", 4))) {
        /* A branch that opens loops without closing them is one of several beginnings: the first one counts. */
        b->skip |= s->open.len != b->open;
    } else if (b && end - at >= 5 && !memcmp(at, "endif", 5)) {
        (void)vec_pop(&s->branches);
    }
}

/* !$omp, c$omp, !dir$, !$acc; not !$ alone, which is code for some compilers. */
static bool is_directive(const char *at, const char *end)
{
    return end - at > 4 && ((at[1] == '$' && isalpha((unsigned char)at[2])) ||
                            (isalpha((unsigned char)at[1]) && isalpha((unsigned char)at[2]) && at[4] == '$'));
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

/* !$omp atomic */
static bool is_atomic(const char *at, const char *end)
{
    size_t n = strlen("$omp"), word = strlen("atomic");

    if (end - at < 6 || strncasecmp(at + 1, "$omp", n))
        return false;
    at = skip_blanks(at + 1 + n, end);
    return (size_t)(end - at) >= word && !strncasecmp(at, "atomic", word);
}

/* Adds the text of a line to the statement; a semicolon ends it. */
static void add_text(struct scanner *s, const char *at, const char *end, uint32_t line)
{
    s->continues = false;
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;

        if (s->quote) {
            s->quote = *at == s->quote ? 0 : s->quote;
            if (!isspace(c))
                s->continues = s->quote && c == '&' && !s->fixed;
            continue;
        }
        if (c == '!')
            break;
        if (isspace(c))
            continue;
        if (c == '&' && !s->fixed) {
            s->continues = true;
            continue;
        }
        if (c == ';') {
            s->last = line;
            finish(s);
            continue;
        }
        s->continues = false;
        if (!s->first)
            s->first = line;
        if (c == '\'' || c == '"')
            s->quote = *at;
        else
            str_addc(&s->text, (char)tolower(c));
    }
    s->last = line;
}

static void take_label(struct scanner *s, const char **at, const char *end)
{
    unsigned long label = 0;
    const char *digit = *at;

    for (; digit < end && isdigit((unsigned char)*digit) && digit - *at < 6; digit++)
        label = label * 10 + (unsigned long)(*digit - '0');
    if (digit > *at && (digit == end || isspace((unsigned char)*digit))) {
        s->label = label;
        *at = digit;
    }
}

static void line_of_free(struct scanner *s, const char *at, const char *end, uint32_t line)
{
    if (!s->continues) {
        finish(s);
        take_label(s, &at, end);
    }
    add_text(s, at, end, line);
}

/* Columns 1 to 5 hold a label, column 6 what continues. */
static void line_of_fixed(struct scanner *s, const char *at, const char *end, uint32_t line)
{
    const char *tab = memchr(at, '\t', (size_t)(end - at < 6 ? end - at : 6));
    const char *text = tab ? tab + 1 : end - at > 6 ? at + 6 : end;
    bool more = tab ? text < end && *text >= '1' && *text <= '9' : end - at > 5 && at[5] != ' ' && at[5] != '0';

    if (!more) {
        finish(s);
        at = skip_blanks(at, text);
        take_label(s, &at, text);
    } else if (tab) {
        text++;
    }
    add_text(s, text, end, line);
}

static void scan_line(struct scanner *s, const char *at, const char *end, uint32_t line)
{
    const char *first = skip_blanks(at, end);
    bool comment;

    if (first == end)
        return;
    if (*at == '#') {
        if (!s->continues)
            finish(s);
        preprocessor(s, at, end);
        return;
    }
    comment = *first == '!' && !(s->fixed && first == at + 5);
    comment |= s->fixed && (*at == 'c' || *at == 'C' || *at == '*');
    if (!comment && s->fixed) {
        line_of_fixed(s, at, end, line);
    } else if (!comment) {
        line_of_free(s, first, end, line);
    } else if (is_directive(first, end) && !s->continues) {
        finish(s);
        s->above = s->above ? s->above : line;
        s->atomic = is_atomic(first, end) ? line : s->atomic;
    }
}

static void scan(const char *text, size_t size, bool fixed, struct statements *out)
{
    struct scanner s = {.out = out, .fixed = fixed};
    const char *end = text + size;

    *out = (struct statements){0};
    for (uint32_t line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        stop = stop ? stop : end;
        scan_line(&s, text, stop > text && stop[-1] == '\r' ? stop - 1 : stop, line);
        text = stop + 1;
    }
    finish(&s);
    vec_sort(&out->rounds, by_first);
    str_deinit(&s.text);
    vec_deinit(&s.labels);
    vec_deinit(&s.open);
    vec_deinit(&s.branches);
}

void statements_of_free(const char *text, size_t size, struct statements *out)
{
    scan(text, size, false, out);
}

void statements_of_fixed(const char *text, size_t size, struct statements *out)
{
    scan(text, size, true, out);
}
