/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/help/shells.h"
#include "common/str.h"
#include "query/output.h"
#include "repl/help/help.h"
#include "repl/saved.h"
#include <stdbool.h>
#include <string.h>

/* ---- what the scripts ask hq for while a word is being typed: `hq --completion saved` ---- */

static void add_saved(void *arg, const char *name, const char *path)
{
    (void)path;
    str_addf(arg, "%s\n", name);
}

static void add_word(void *arg, const char *word)
{
    str_addf(arg, "%s\n", word);
}

static bool list(const char *what, struct str *out)
{
    if (!strcmp(what, "saved"))
        hq_error_free(saved_each(add_saved, out));
    else if (!strcmp(what, "words"))
        help_each(add_word, out);
    else if (!strcmp(what, "formats"))
        for (const struct output_format *f = output_formats; f->name; f++)
            add_word(out, f->name);
    else
        return false;
    return true;
}

/* A command that lists the values of an option, by what help calls them; NULL: they are files. */
static const char *lister(const struct opt *o)
{
    if (str_begins(o->value, "EVENT"))
        return "hq record --list 2>/dev/null | sed -n \"s/^\\([A-Z][A-Z_0-9]*\\) .*/\\1/p\"";
    return str_begins(o->value, "QUERY") ? "hq --completion saved 2>/dev/null" : NULL;
}

/* ---- bash ---- */

static void bash_options(struct str *out, const struct opt_command *c)
{
    str_addf(out, "    %s) options='--help", c->name);
    for (const struct opt *o = opt_next(c, NULL); o; o = opt_next(c, o)) {
        if (o->hidden)
            continue;
        if (o->letter)
            str_addf(out, " -%c", o->letter);
        str_addf(out, " --%s", o->name);
        if (o->negatable)
            str_addf(out, " --no-%s", o->name);
    }
    str_add(out, "' ;;\n");
}

/* After an option with a list of values: those. */
static void bash_choices(struct str *out, const struct opt_command *c)
{
    for (const struct opt *o = opt_next(c, NULL); o; o = opt_next(c, o)) {
        const char *command = o->value && !o->hidden ? lister(o) : NULL;

        if (o->hidden || (!o->choices && !command))
            continue;
        str_addf(out, "    %s:--%s", c->name, o->name);
        if (o->letter)
            str_addf(out, "|%s:-%c", c->name, o->letter);
        if (command) {
            str_addf(out, ") _hq_words \"$(%s)\"; return ;;\n", command);
            continue;
        }
        str_add(out, ") _hq_words '");
        for (const char *const *choice = o->choices; *choice; choice++)
            str_addf(out, "%s%s", choice == o->choices ? "" : " ", *choice);
        str_add(out, "'; return ;;\n");
    }
}

static void bash(struct str *out, const struct command *const *table)
{
    str_add(out,
            "# bash completion for hq, written by `hq --completion bash`\n"
            "_hq_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n"
            "_hq_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); }\n"
            "_hq() {\n"
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} "
            "options=\n"
            "    local commands='help");
    for (const struct command *const *c = table; *c; c++)
        str_addf(out, " %s", (*c)->cmd.name);
    str_add(out, "'\n"
                 "    # --name=value comes as three words\n"
                 "    [ \"$word\" != = ] || word=\n"
                 "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                 "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                 "        compopt -o filenames 2>/dev/null\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$commands --help --version\" -- \"$word\"; compgen -f "
                 "-- \"$word\")\n"
                 "        return\n"
                 "    fi\n"
                 "    case \" $commands \" in *\" $command \"*) ;; *) command=query ;; esac\n"
                 "    case $command:$before in\n"
                 "    help:help) _hq_words \"$commands $(hq --completion words 2>/dev/null)\"; return ;;\n"
                 "    export:export) _hq_words \"$(hq --completion formats 2>/dev/null)\"; return ;;\n"
                 "    record:--) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -c -- \"$word\"; "
                 "compgen -d -- \"$word\"); return ;;\n");
    for (const struct command *const *c = table; *c; c++)
        bash_choices(out, &(*c)->cmd);
    str_add(out, "    esac\n    case $command in\n");
    for (const struct command *const *c = table; *c; c++)
        bash_options(out, &(*c)->cmd);
    str_add(out, "    esac\n"
                 "    case $word in\n"
                 "    -*) _hq_words \"$options\" ;;\n"
                 "    *) _hq_files ;;\n"
                 "    esac\n"
                 "}\n"
                 "complete -o bashdefault -F _hq hq\n");
}

/* ---- zsh ---- */

/* Help between the brackets of an _arguments specification, inside single quotes. */
static void zsh_text(struct str *out, const char *text)
{
    for (; text && *text; text++) {
        if (strchr("[]:\\", *text))
            str_addc(out, '\\');
        str_add(out, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
    }
}

static void zsh_spec(struct str *out, const struct opt *o, const char *spelling)
{
    str_addf(out, " \\\n            '%s%s[", o->repeats ? "*" : "", spelling);
    zsh_text(out, o->help);
    str_addc(out, ']');
    if (o->value) {
        str_addc(out, ':');
        zsh_text(out, o->value);
        str_addc(out, ':');
        const char *command = lister(o);

        if (command)
            str_addf(out, "{compadd -- ${(f)\"$(%s)\"}}", command);
        else if (!o->choices)
            str_add(out, "_files");
        for (const char *const *choice = o->choices; choice && *choice; choice++)
            str_addf(out, "%s%s%s", choice == o->choices ? "(" : " ", *choice, choice[1] ? "" : ")");
    }
    str_addc(out, '\'');
}

static void zsh_command(struct str *out, const struct opt_command *c)
{
    str_addf(out, "    %s)\n        _arguments '--help[explain the command]'", c->name);
    for (const struct opt *o = opt_next(c, NULL); o; o = opt_next(c, o)) {
        AUTO_STR struct str name = {0};

        if (o->hidden)
            continue;
        str_addf(&name, "--%s", o->name);
        zsh_spec(out, o, name.s);
        if (o->letter)
            zsh_spec(out, o, (char[]){'-', o->letter, '\0'});
        if (o->negatable) {
            str_clear(&name);
            str_addf(&name, "--no-%s", o->name);
            zsh_spec(out, o, name.s);
        }
    }
    if (!strcmp(c->name, "record"))
        str_add(out, " \\\n            '(-)1:command: _command_names -e' '*::argument:_normal' ;;\n");
    else if (!strcmp(c->name, "export"))
        str_add(out,
                " \\\n            '1:format:{compadd -- ${(f)\"$(hq --completion formats)\"}}' '*:file:_files' ;;\n");
    else
        str_add(out, " \\\n            '*:file:_files' ;;\n");
}

static void zsh(struct str *out, const struct command *const *table)
{
    str_add(out, "#compdef hq\n# zsh completion for hq, written by `hq --completion zsh`\n"
                 "_hq() {\n    local -a commands\n    commands=(\n");
    for (const struct command *const *c = table; *c; c++) {
        str_addf(out, "        '%s:", (*c)->cmd.name);
        zsh_text(out, (*c)->cmd.summary);
        str_add(out, "'\n");
    }
    str_add(out, "        'help:explain a command or a word of the query language'\n    )\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        _describe command commands\n"
                 "        _files\n"
                 "        return\n"
                 "    fi\n"
                 "    local command=$words[2]\n"
                 "    (( ${commands[(I)$command:*]} )) || command=query\n"
                 "    shift words\n"
                 "    (( CURRENT-- ))\n"
                 "    case $command in\n");
    for (const struct command *const *c = table; *c; c++)
        zsh_command(out, &(*c)->cmd);
    str_add(out, "    help) _describe command commands; compadd -- ${(f)\"$(hq --completion words)\"} ;;\n"
                 "    esac\n}\n_hq \"$@\"\n");
}

struct hq_error *shell_completion(const struct command *const *table, const char *shell, struct str *out)
{
    if (!strcmp(shell, "bash"))
        bash(out, table);
    else if (!strcmp(shell, "zsh"))
        zsh(out, table);
    else if (!list(shell, out))
        return hq_error_new(HQ_USAGE, "completion is made for bash and zsh, not for '%s'", shell);
    return NULL;
}
