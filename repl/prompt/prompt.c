/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/prompt/prompt.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include "query/grammar/words.h"
#include "repl/prompt/editor.h"
#include "repl/prompt/line_history.h"
#include "repl/interrupt.h"
#include "repl/prompt/readline.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hq my.hq [inline off]> */
static char *prompt_of(const struct session *s)
{
    const struct named_db *d = session_current(s);
    AUTO_STR struct str text = {0};
    const char *between = " [";

    str_addf(&text, "hq %s", d ? d->alias : "(no database)");
    for (int i = 0; i < SETTING_KINDS; i++) {
        AUTO_STR struct str change = {0};

        if (session_changed(s, i, &change)) {
            str_addf(&text, "%s%s", between, str_cstr(&change));
            between = ", ";
        }
    }
    str_add(&text, *between == ',' ? "]> " : "> ");
    return str_steal(&text);
}

static void complete_line(void *arg, const char *text, struct arena *arena, struct candidates *out)
{
    complete(arg, text, arena, out);
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

static bool is_incomplete(const struct session *s, const char *text)
{
    struct parse_options options = {
        .parameters = s->parameters.data,
        .parameter_count = s->parameters.len,
        .prompt = true,
    };

    return parse_is_incomplete(text, &options);
}

/* Reads a whole query into text; false at the end of input. Empty after Ctrl-C. */
static bool read_query(const struct session *s, struct str *text)
{
    AUTO_FREE char *first = prompt_of(s);
    const char *prompt = first;

    str_clear(text);
    for (;;) {
        char *line;
        enum line_result result = line_read(prompt, str_cstr(text), &line);

        if (result == LINE_INTERRUPTED) {
            str_clear(text);
            return true;
        }
        if (result == LINE_END && !text->len)
            return false;
        if (line)
            str_add(text, line);
        bool empty = !line || is_blank(line);

        free(line);
        /* An empty line ends the query whatever is missing, so that nobody is caught in it. */
        if (empty || !is_incomplete(s, str_cstr(text)))
            return true;
        str_add(text, "\n  ");
        prompt = "  ... ";
    }
}

/* `\e`: what is left in the editor is run; true if the text is to be run now. */
static bool edit(struct session *s, struct str *text)
{
    AUTO(arena_deinit) struct arena arena = {0};
    const struct query *last = query_last(&s->env);
    struct hq_error *error = editor_run(last ? print_query(&arena, last) : "", text);

    bool failed = error, empty = is_blank(str_cstr(text));

    session_error(s, error);
    if (!failed && !empty) {
        AUTO_FREE char *shown = xstrdup(str_cstr(text));
        size_t end = strlen(shown) - 1;

        if (shown[end] == '\n')
            shown[end] = 0;
        utf8_put_line(shown, stderr);
    }
    return !failed && !empty;
}

/* `!COMMAND` and `\! COMMAND`, as in other prompts: a shell. Ctrl-C is the command's. */
static bool run_shell(const char *text)
{
    text += strspn(text, " \t");
    if (str_begins(text, "\\!"))
        text++;
    if (*text != '!')
        return false;
    line_remember(text);
    fflush(NULL);
    signal(SIGPIPE, SIG_DFL);
    if (system(text + 1) < 0)
        fprintf(stderr, "hq: no shell can be started\n");
    interrupt_ignore_pipe();
    return true;
}

/* Translates commands that users of other prompts type. */
static void translate(struct str *text)
{
    static const struct {
        const char *there, *here;
    } words[] = {{"\\q", "quit"}, {"\\?", "help"}, {"\\h", "help"}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(str_cstr(text), words[i].there)) {
            str_clear(text);
            str_add(text, words[i].here);
        }
}

static void run_one(struct session *s, struct str *text)
{
    AUTO_FREE char *command = xstrdup(str_cstr(text));

    command[strcspn(command, "\n")] = '\0';
    if (run_shell(command) || (!strcmp(command + strspn(command, " \t"), "\\e") && !edit(s, text)))
        return;
    translate(text);
    struct source source = {.name = "prompt", .text = str_cstr(text), .length = text->len};

    line_remember(str_cstr(text));
    session_text(s, &source);
    interrupt_take();
}

void prompt_run(struct session *s)
{
    AUTO_FREE char *history = history_path();
    struct line_editor editor = {.complete = complete_line, .arg = s, .history = history};
    AUTO_STR struct str text = {0};

    s->prompt = true;
    s->env.interrupted = &interrupt_flag;
    interrupt_catch();
    interrupt_ignore_pipe();
    line_open(&editor);
    if (!s->quiet)
        fputs(line_completes ? "`help` tells what can be asked, Tab completes, ? lists what may stand where you are, "
                               "Ctrl-D leaves.\n"
                             : "`help` tells what can be asked, Ctrl-D leaves.\n",
              stderr);
    while (!s->quit) {
        if (!read_query(s, &text)) {
            fputc('\n', stdout);
            break;
        }
        if (!is_blank(str_cstr(&text)))
            run_one(s, &text);
    }
    line_close();
    /* Mistakes at a prompt were seen and answered there. */
    s->status = HQ_OK;
}
