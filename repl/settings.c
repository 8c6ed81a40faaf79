/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a session and how they print (session.h). */
#include "query/grammar/words.h"
#include "query/pattern/group.h"
#include "repl/command.h"
#include "repl/session.h"

static struct hq_error *take_groups(struct session *s)
{
    int word = find_setting_word(SETTING_GROUPS, s->groups);
    struct setting_value v = {.word = word < 0 ? 0 : (unsigned)word, .text = word < 0 ? s->groups : NULL};

    HQ_TRY(groups_set(&s->env, &v));
    query_set(&s->env, SETTING_GROUPS, &v);
    return NULL;
}

struct hq_error *session_options(struct session *s)
{
    query_switch(&s->env, SETTING_STRICT, s->strict);
    query_switch(&s->env, SETTING_TIMING, s->timing);
    HQ_TRY(query_source_path(&s->env, &(struct setting_value){.text = s->source_path}));
    return s->groups ? take_groups(s) : NULL;
}

static bool is_at_start(const struct session *s, enum setting setting)
{
    return !query_setting_text(&s->env, setting) && query_setting(&s->env, setting) == setting_words[setting].start;
}

bool session_changed(const struct session *s, enum setting setting, struct str *out)
{
    if (is_at_start(s, setting))
        return false;
    str_addf(out, "%s ", setting_words[setting].name);
    print_setting(out, setting, &s->env.settings.of[setting]);
    return true;
}

enum { SUMMARY_AT = 22 };

void session_settings(const struct session *s, struct str *out)
{
    for (int i = 0; i < SETTING_KINDS; i++) {
        AUTO_STR struct str value = {0};

        print_setting(&value, i, &s->env.settings.of[i]);
        str_addf(out, "  %-11s %-7s ", setting_words[i].name, str_cstr(&value));
        opt_wrap(out, setting_words[i].summary, SUMMARY_AT, SUMMARY_AT, command_width());
        str_addc(out, '\n');
    }
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
    for (int i = 0; i < SETTING_KINDS; i++) {
        AUTO_STR struct str change = {0};

        if (session_changed(s, i, &change)) {
            str_addf(out, "%sset %s", between, str_cstr(&change));
            between = "; ";
        }
    }
    vec_foreach(l, &s->env.lets) {
        str_addf(out, "%s%s", between, l->text);
        between = "; ";
    }
    struct group_list groups = groups_defined(&s->env);

    for (size_t i = 0; i < groups.len; i++)
        if (groups.data[i].statement) {
            str_addf(out, "%s%s", between, groups.data[i].statement);
            between = "; ";
        }
    AUTO(arena_deinit) struct arena arena = {0};
    const struct query *last = query_last(&s->env);

    if (last)
        str_addf(out, "%s%s", between, print_query(&arena, last));
}
