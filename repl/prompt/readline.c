/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/prompt/readline.h"
#include "common/opt.h"
#include "repl/prompt/line_history.h"
#include "repl/interrupt.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <readline/history.h>
#include <readline/readline.h>

const bool line_completes = true;

/* readline keeps its state in globals and calls back without an argument, so this file has some too. */
static const struct line_editor *editor;
static const char *before; /* earlier lines of the query that is being typed */
static char *accepted;     /* the line, NULL at the end of input */
static bool done;
static sigset_t outside; /* the signal mask while we wait, and outside of line_read */
static volatile sig_atomic_t resized, suspended;

static void on_resize(int signal)
{
    (void)signal;
    resized = 1;
}

static void on_suspend(int signal)
{
    (void)signal;
    suspended = 1;
}

/* ---- completion ---- */

/* The candidates for the end of the text before the cursor; start counts in the present line. */
static void candidates_here(struct arena *arena, struct candidates *out)
{
    AUTO_STR struct str text = {0};

    str_add(&text, before);
    size_t earlier = text.len;

    str_addn(&text, rl_line_buffer, (size_t)rl_point);
    editor->complete(editor->arg, str_cstr(&text), arena, out);
    out->start = out->start > earlier ? out->start - earlier : 0;
}

static size_t common_prefix(const struct candidates *c)
{
    size_t n = strlen(c->data[0].text);

    for (size_t i = 1; i < c->len; i++) {
        size_t k = 0;

        while (k < n && c->data[i].text[k] == c->data[0].text[k])
            k++;
        n = k;
    }
    return n;
}

static void insert(const struct candidates *c, size_t len)
{
    AUTO_FREE char *text = xstrndup(c->data[0].text, len);

    rl_begin_undo_group();
    rl_delete_text((int)c->start, rl_point);
    rl_point = (int)c->start;
    rl_insert_text(text);
    if (c->len == 1 && !c->open)
        rl_insert_text(" ");
    rl_end_undo_group();
}

/* readline's own list, in columns: an array whose first element is not shown. */
static void show_columns(const struct candidates *c)
{
    AUTO_FREE char **list = xcalloc(c->len + 2, sizeof *list);
    size_t widest = 0;

    for (size_t i = 0; i < c->len; i++) {
        list[i + 1] = (char *)c->data[i].text;
        widest = strlen(list[i + 1]) > widest ? strlen(list[i + 1]) : widest;
    }
    list[0] = list[1];
    rl_display_match_list(list, (int)c->len, (int)widest);
    if (c->more)
        fprintf(rl_outstream, "... and more: go on typing\n");
}

static void redraw(void)
{
    rl_on_new_line();
    rl_redisplay();
}

static void show_help(const struct candidates *c)
{
    enum { COLUMN = 25 };
    AUTO_STR struct str out = {0};
    int rows, columns;

    rl_get_screen_size(&rows, &columns);
    str_addc(&out, '\n');
    for (size_t i = 0; i < c->len; i++) {
        str_add(&out, "  ");
        str_pad(&out, c->data[i].text, COLUMN - 3);
        str_addc(&out, ' ');
        opt_wrap(&out, c->data[i].help ? c->data[i].help : "", COLUMN, COLUMN,
                 columns > COLUMN + 20 ? (size_t)columns - 1 : 80);
        str_addc(&out, '\n');
    }
    if (c->more)
        str_add(&out, "  ... and more: go on typing\n");
    if (c->sorts)
        str_addf(&out, "  %s\n", c->sorts);
    if (!c->len && !c->sorts)
        str_add(&out, "  nothing more\n");
    fputs(out.s, rl_outstream);
}

static int complete_key(int count, int key)
{
    struct arena arena = {0};
    struct candidates found = {0};

    (void)count;
    (void)key;
    candidates_here(&arena, &found);
    /* The prefix that all share is not known if there are more candidates than were found. */
    size_t common = found.len && !found.more ? common_prefix(&found) : 0;

    if (!found.len && !found.sorts) {
        rl_ding();
    } else if (!found.len) {
        show_help(&found);
        redraw();
    } else if (found.len == 1 || common > (size_t)rl_point - found.start) {
        insert(&found, common);
    } else {
        show_columns(&found);
        redraw();
    }
    vec_deinit(&found);
    arena_deinit(&arena);
    return 0;
}

/* After a word a question mark may be a wildcard, and inside quotes or slashes it is text: there it is just typed. */
static bool is_question(void)
{
    char quote = 0;

    for (int i = 0; i < rl_point; i++) {
        char c = rl_line_buffer[i];

        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
    }
    return !quote && (!rl_point || strchr(" \t(,", rl_line_buffer[rl_point - 1]));
}

static int question_key(int count, int key)
{
    struct arena arena = {0};
    struct candidates found = {0};

    if (!is_question())
        return rl_insert(count, key);
    candidates_here(&arena, &found);
    show_help(&found);
    redraw();
    vec_deinit(&found);
    arena_deinit(&arena);
    return 0;
}

/* ---- history ---- */

void line_remember(const char *text)
{
    HIST_ENTRY *latest = history_length ? history_get(history_base + history_length - 1) : NULL;
    AUTO_FREE char *line = xstrdup(text);

    /* One line an entry: a line end that goes on with the query is white space, unless a comment stands before it; one
     * that was pasted ends it. */
    for (char *p = line; *p; p++)
        if (*p == '\n')
            *p = strchr(" \t\n", p[1]) ? ' ' : ';';
    if (strstr(text, "--") && strchr(text, '\n'))
        return;
    if (!*line || (latest && !strcmp(latest->line, line)))
        return;
    add_history(line);
    if (editor->history && append_history(1, editor->history))
        write_history(editor->history);
}

static void read_old_history(void)
{
    using_history();
    stifle_history(HISTORY_LENGTH);
    if (editor->history)
        read_history(editor->history);
}

/* ---- reading ---- */

/*
 * Ctrl-C makes the terminal forget the keys that were typed before it, also after poll has told of them. So a read must
 * never wait: the terminal gives what it has (VMIN 0), and only poll waits, with the signals let in.
 */
static void prepare_terminal(int meta)
{
    struct termios t;

    rl_prep_terminal(meta);
    if (tcgetattr(STDIN_FILENO, &t))
        return;
    t.c_cc[VMIN] = 0;
    t.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
}

static bool wait_for_key(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    return ppoll(&input, 1, NULL, &outside) > 0;
}

static int read_key(FILE *unused)
{
    unsigned char key;

    (void)unused;
    for (;;) {
        if (interrupt_flag)
            return EOF;
        ssize_t n = read(STDIN_FILENO, &key, 1);

        if (n == 1)
            return key;
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

        if ((n < 0 && errno != EINTR && errno != EAGAIN) || (poll(&input, 1, 0) > 0 && input.revents & POLLHUP))
            return EOF;
        wait_for_key();
    }
}

static void accept_line(char *line)
{
    accepted = line;
    done = true;
    rl_callback_handler_remove();
}

static void catch (int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

/* readline divides by zero in two columns or less, of which it takes one where the terminal does not wrap by itself. */
static void stay_wide(void)
{
    enum { NARROWEST = 8 };
    int rows, columns;

    rl_get_screen_size(&rows, &columns);
    if (columns < NARROWEST)
        rl_set_screen_size(rows, NARROWEST);
}

void line_open(const struct line_editor *e)
{
    editor = e;
    rl_readline_name = "hq";
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    /* A result that goes to a file should not have the prompt in it. */
    rl_outstream = isatty(STDOUT_FILENO) ? stdout : stderr;
    rl_prep_term_function = prepare_terminal;
    rl_getc_function = read_key;
    rl_initialize();
    stay_wide();
    rl_bind_key('\t', complete_key);
    rl_bind_key('?', question_key);
    rl_variable_bind("page-completions", "off");
    read_old_history();
    catch (SIGWINCH, on_resize);
    catch (SIGTSTP, on_suspend);
}

void line_close(void)
{
    if (editor->history)
        history_truncate_file(editor->history, HISTORY_LENGTH);
    clear_history();
    catch (SIGWINCH, SIG_DFL);
    catch (SIGTSTP, SIG_DFL);
}

/* Gives the terminal back to the shell while we are stopped. */
static void suspend(void)
{
    sigset_t ours;

    suspended = 0;
    rl_deprep_terminal();
    catch (SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    sigprocmask(SIG_SETMASK, &outside, &ours);
    sigprocmask(SIG_SETMASK, &ours, NULL);
    catch (SIGTSTP, on_suspend);
    rl_prep_term_function(1);
    rl_forced_update_display();
}

/* As shells do: what was typed stays to be read, and a fresh line begins. */
static void abandon(void)
{
    if (!done) {
        rl_point = rl_end;
        rl_redisplay();
        fputs("^C\n", rl_outstream);
        rl_callback_sigcleanup();
        rl_free_line_state();
        rl_callback_handler_remove();
    } else {
        fputs("^C\n", rl_outstream);
    }
    free(accepted);
    fflush(rl_outstream);
}

static void edit_line(void)
{
    while (!done && !interrupt_flag) {
        if (resized) {
            resized = 0;
            rl_resize_terminal();
            stay_wide();
        }
        if (suspended)
            suspend();
        if (wait_for_key())
            rl_callback_read_char();
    }
}

enum line_result line_read(const char *prompt, const char *earlier, char **line)
{
    sigset_t ours;

    before = earlier;
    done = false;
    accepted = NULL;
    *line = NULL;
    /* Signals come only while we wait, so that none slips in between looking at its flag and waiting. */
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGWINCH);
    sigaddset(&ours, SIGTSTP);
    sigprocmask(SIG_BLOCK, &ours, &outside);
    rl_callback_handler_install(prompt, accept_line);
    edit_line();
    bool interrupted = interrupt_take();

    if (interrupted)
        abandon();
    sigprocmask(SIG_SETMASK, &outside, NULL);
    if (interrupted)
        return LINE_INTERRUPTED;
    *line = accepted;
    return accepted ? LINE_TEXT : LINE_END;
}
