/* SPDX-License-Identifier: BSD-3-Clause */
/* Help text from the rows of opt.h. */
#include "common/opt.h"
#include <string.h>

enum { WIDTH_MIN = 40, COLUMN_MAX = 30 };

void opt_wrap(struct str *out, const char *text, size_t at, size_t indent, size_t width)
{
    bool start = true;

    while (*text) {
        size_t n = strcspn(text, " \n"), columns = utf8_width_n(text, n);

        if (n && !start && at + 1 + columns > width) {
            str_addc(out, '\n');
            str_repeat(out, ' ', indent);
            at = indent;
            start = true;
        }
        if (n && !start) {
            str_addc(out, ' ');
            at++;
        }
        str_addn(out, text, n);
        at += columns;
        start = start && n == 0;
        text += n;
        if (*text == '\n' && text[1] == '\n') {
            str_addc(out, '\n');
            str_addc(out, '\n');
            str_repeat(out, ' ', indent);
            at = indent;
            start = true;
            text++;
        }
        text += *text != '\0';
    }
}

/* `  -o, --output=FILE` */
static void add_spelling(const struct opt *o, struct str *out)
{
    if (o->letter)
        str_addf(out, "  -%c, ", o->letter);
    else
        str_add(out, "      ");
    str_addf(out, "--%s%s", o->negatable ? "[no-]" : "", o->name);
    if (o->value)
        str_addf(out, " %s", o->value);
}

/* Where the explanations start: behind the longest spelling that is not extravagant. */
static size_t help_column(const struct opt_command *cmd)
{
    size_t column = 0;

    for (const struct opt *o = opt_next(cmd, NULL); o; o = opt_next(cmd, o)) {
        AUTO_STR struct str s = {0};

        if (o->hidden)
            continue;
        add_spelling(o, &s);
        size_t n = utf8_width(s.s) + 2;

        if (n > column && n <= COLUMN_MAX)
            column = n;
    }
    return column ? column : COLUMN_MAX;
}

static void add_option(const struct opt *o, size_t column, size_t width, struct str *out)
{
    AUTO_STR struct str s = {0};

    add_spelling(o, &s);
    str_add(out, s.s);
    size_t at = utf8_width(s.s);

    if (at + 2 > column) {
        str_addc(out, '\n');
        at = 0;
    }
    str_repeat(out, ' ', column - at);
    opt_wrap(out, o->help ? o->help : "", column, column, width);
    str_addc(out, '\n');
}

void opt_help(const struct opt_command *cmd, const char *program, size_t width, struct str *out)
{
    size_t column = help_column(cmd);
    bool first = true;

    if (width < WIDTH_MIN)
        width = WIDTH_MIN;
    str_addf(out, "usage: %s %s%s%s\n\n", program, cmd->name, cmd->usage && *cmd->usage ? " " : "",
             cmd->usage ? cmd->usage : "");
    opt_wrap(out, cmd->summary, 0, 0, width);
    str_add(out, ".\n");
    if (cmd->description) {
        str_addc(out, '\n');
        opt_wrap(out, cmd->description, 0, 0, width);
        str_addc(out, '\n');
    }
    for (const struct opt *o = opt_next(cmd, NULL); o; o = opt_next(cmd, o)) {
        if (o->hidden)
            continue;
        if (first)
            str_add(out, "\noptions:\n");
        first = false;
        add_option(o, column, width, out);
    }
    if (cmd->examples)
        str_addf(out, "\nexamples:\n%s", cmd->examples);
}
