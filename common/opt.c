/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/opt.h"
#include "common/suggest.h"
#include <string.h>

const struct opt *opt_next(const struct opt_command *cmd, const struct opt *prev)
{
    const struct opt *next = prev ? prev + 1 : cmd->options ? cmd->options : cmd->shared;

    if (!next || next->name)
        return next;
    /* At the end of a table: of the second one if walking back from here does not meet the first. */
    for (const struct opt *o = cmd->options; o; o++) {
        if (o == next)
            return cmd->shared && cmd->shared->name ? cmd->shared : NULL;
        if (!o->name)
            break;
    }
    return NULL;
}

/* The row of an option, or NULL: by long name (n bytes, without dashes or "no-"), by letter. */
static const struct opt *opt_find(const struct opt_command *cmd, const char *name, size_t n)
{
    for (const struct opt *o = opt_next(cmd, NULL); o; o = opt_next(cmd, o))
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            return o;
    return NULL;
}

static const struct opt *opt_find_letter(const struct opt_command *cmd, char letter)
{
    for (const struct opt *o = opt_next(cmd, NULL); o; o = opt_next(cmd, o))
        if (o->letter == letter && letter)
            return o;
    return NULL;
}

static const char *foreign_advice(const struct opt_command *cmd, const char *name)
{
    for (const struct opt_foreign *f = cmd->foreign; f && f->name; f++)
        if (!strcmp(f->name, name))
            return f->advice;
    return NULL;
}

static struct hq_error *unknown_option(const struct opt_command *cmd, const char *word, size_t n)
{
    AUTO_FREE char *name = xstrndup(word, n);
    AUTO_STR struct str text = {0};
    const char *advice = foreign_advice(cmd, name);
    struct suggest s;

    if (advice)
        return hq_error_new(HQ_USAGE, "%s has no option --%s: %s", cmd->name, name, advice);
    suggest_init(&s, name, 1);
    for (const struct opt *o = opt_next(cmd, NULL); o; o = opt_next(cmd, o))
        if (!o->hidden)
            suggest_add(&s, o->name);
    suggest_add(&s, "help");
    str_addf(&text, "%s has no option --%s", cmd->name, name);
    if (s.count)
        str_addf(&text, "; did you mean --%s?", s.best[0]);
    else
        str_addf(&text, "; `hq help %s` lists what there is", cmd->name);
    return hq_error_new(HQ_USAGE, "%s", text.s);
}

static struct hq_error *check_choice(const struct opt *o, const char *value)
{
    AUTO_STR struct str list = {0};
    size_t n = 0;

    for (; o->choices && o->choices[n]; n++) {
        if (!strcmp(o->choices[n], value))
            return NULL;
        str_addf(&list, "%s%s", n ? ", " : "", o->choices[n]);
    }
    if (!o->choices)
        return NULL;
    const char *near = suggest_nearest(value, o->choices, n);

    if (near)
        return hq_error_new(HQ_USAGE, "--%s does not know \"%s\"; did you mean %s?", o->name, value, near);
    return hq_error_new(HQ_USAGE, "--%s does not know \"%s\"; it is one of %s", o->name, value, str_cstr(&list));
}

static struct hq_error *give(struct opt_args *out, const struct opt *o, const char *value, bool on)
{
    if (o->value && !o->repeats && opt_count(out, o->name))
        return hq_error_new(HQ_USAGE, "--%s is given twice; give it once", o->name);
    if (o->value)
        HQ_TRY(check_choice(o, value));
    vec_push(&out->given, (struct opt_given){o, value, on});
    return NULL;
}

/* The rest of the command line. */
struct words {
    const struct opt_command *cmd;
    char *const *at, *const *end;
    struct opt_args *out;
};

/* `-o -- PROGRAM`, `-o --force`: the value was forgotten. */
static bool is_option(const struct opt_command *cmd, const char *word)
{
    if (word[0] != '-' || !word[1])
        return false;
    return word[1] == '-' ? !word[2] || opt_find(cmd, word + 2, strcspn(word + 2, "="))
                          : !word[2] && opt_find_letter(cmd, word[1]);
}

static struct hq_error *give_with_value(struct words *w, const struct opt *o, const char *attached)
{
    if (attached)
        return give(w->out, o, attached, true);
    if (w->at == w->end || is_option(w->cmd, *w->at))
        return hq_error_new(HQ_USAGE, "--%s needs a value: --%s %s", o->name, o->name, o->value);
    return give(w->out, o, *w->at++, true);
}

/* word is without its dashes */
static struct hq_error *parse_long(struct words *w, const char *word)
{
    const char *equals = strchr(word, '=');
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    const struct opt *o = opt_find(w->cmd, word, n);
    bool on = true;

    if (!o && n > 3 && memcmp(word, "no-", 3) == 0) {
        o = opt_find(w->cmd, word + 3, n - 3);
        if (o && !o->negatable)
            o = NULL;
        on = false;
    }
    if (!o)
        return unknown_option(w->cmd, word, n);
    if (o->value)
        return give_with_value(w, o, equals ? equals + 1 : NULL);
    if (equals)
        return hq_error_new(HQ_USAGE, "--%.*s takes no value; leave \"%s\" out", (int)n, word, equals);
    return give(w->out, o, NULL, on);
}

static struct hq_error *unknown_letter(const struct opt_command *cmd, const char *letters)
{
    AUTO_FREE char *letter = xstrndup(letters, utf8_fit(letters, 1));
    const char *advice = foreign_advice(cmd, letter);

    if (advice)
        return hq_error_new(HQ_USAGE, "%s has no option -%s: %s", cmd->name, letter, advice);
    return hq_error_new(HQ_USAGE, "%s has no option -%s; `hq help %s` lists what there is", cmd->name, letter,
                        cmd->name);
}

static struct hq_error *parse_letters(struct words *w, const char *letters)
{
    for (; *letters; letters++) {
        const struct opt *o = opt_find_letter(w->cmd, *letters);

        if (!o)
            return unknown_letter(w->cmd, letters);
        if (o->value)
            return give_with_value(w, o, letters[1] ? letters + 1 : NULL);
        HQ_TRY(give(w->out, o, NULL, true));
    }
    return NULL;
}

struct hq_error *opt_parse(const struct opt_command *cmd, int argc, char *const *argv, struct opt_args *out)
{
    struct words w = {cmd, argv, argv + argc, out};
    bool options = true;

    *out = (struct opt_args){0};
    while (w.at != w.end) {
        const char *word = *w.at++;

        if (!options || word[0] != '-' || !word[1] || (word[1] == '-' && word[2] && strchr(" \t\n", word[2]))) {
            vec_push(&out->operands, word);
            options = options && !cmd->stops_at_operand;
        } else if (!strcmp(word, "--")) {
            options = false;
        } else {
            HQ_TRY(word[1] == '-' ? parse_long(&w, word + 2) : parse_letters(&w, word + 1));
        }
    }
    return NULL;
}

void opt_args_deinit(struct opt_args *args)
{
    vec_deinit(&args->given);
    vec_deinit(&args->operands);
}

bool opt_flag(const struct opt_args *args, const char *name, bool otherwise)
{
    vec_foreach(g, &args->given)
        if (!strcmp(g->opt->name, name))
            otherwise = g->on;
    return otherwise;
}

const char *opt_value(const struct opt_args *args, const char *name)
{
    size_t n = opt_count(args, name);

    return n ? opt_value_at(args, name, n - 1) : NULL;
}

size_t opt_count(const struct opt_args *args, const char *name)
{
    size_t n = 0;

    vec_foreach(g, &args->given)
        n += !strcmp(g->opt->name, name);
    return n;
}

const char *opt_value_at(const struct opt_args *args, const char *name, size_t i)
{
    vec_foreach(g, &args->given)
        if (!strcmp(g->opt->name, name) && i-- == 0)
            return g->value;
    return NULL;
}
