/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a session: where each lives, and how they print (session.h). */
#include "query/grammar/words.h"
#include "repl/session.h"

/*
 * Where a setting lives, and whether the flag there says the opposite (`no_pager`): zeroed flags are what a
 * session starts with.
 */
static bool *flag_of(struct session *s, enum setting setting, bool *negative)
{
    *negative = false;
    switch (setting) {
    case SETTING_LINES: return &s->env.lines;
    case SETTING_CI: return &s->env.ci;
    case SETTING_STRICT: return &s->env.strict;
    case SETTING_TIMING: return &s->timing;
    case SETTING_INLINE: *negative = true; return &s->env.no_inline;
    case SETTING_NORMALISE: *negative = true; return &s->env.raw;
    case SETTING_PAGER: *negative = true; return &s->no_pager;
    case SETTING_COLOUR: *negative = true; return &s->no_colour;
    case SETTING_KINDS: break;
    }
    return NULL;
}

bool session_setting(const struct session *s, enum setting setting)
{
    bool negative;
    const bool *flag = flag_of((struct session *)s, setting, &negative);

    return flag && *flag != negative;
}

void session_set(struct session *s, enum setting setting, bool on)
{
    bool negative;
    bool *flag = flag_of(s, setting, &negative);

    if (flag)
        *flag = on != negative;
}

void session_settings(const struct session *s, struct str *out)
{
    for (int i = 0; i < SETTING_KINDS; i++)
        str_addf(out, "  %-10s %-4s %s\n", setting_words[i].name, session_setting(s, i) ? "on" : "off",
                 setting_words[i].summary);
}

void session_state(const struct session *s, struct str *out)
{
    const char *between = "";

    for (size_t i = 1; i < s->databases.len; i++, between = "; ") {
        const struct named_db *d = &s->databases.data[i];

        str_addf(out, "%sopen \"%s\" as %s", between, d->path, d->alias);
    }
    if (s->databases.len > 1 && session_current(s) != &vec_last(&s->databases)) {
        str_addf(out, "%sopen %s", between, session_current(s)->alias);
        between = "; ";
    }
    for (int i = 0; i < SETTING_KINDS; i++)
        if (session_setting(s, i) != setting_words[i].on) {
            str_addf(out, "%sset %s %s", between, setting_words[i].name, session_setting(s, i) ? "on" : "off");
            between = "; ";
        }
    vec_foreach(l, &s->env.lets) {
        str_addf(out, "%s%s", between, l->text);
        between = "; ";
    }
    if (s->env.last_query)
        str_addf(out, "%s%s", between, s->env.last_query);
}
