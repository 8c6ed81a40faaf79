/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completing DB TEXT...: what Tab and ? offer at the end of each text: a line each with what would be typed and, behind
 * a tab, what ? says of it; then what else may stand there, in parentheses; "more" if there is more. `completing -t DB
 * TEXT`: the milliseconds to the first offer, the opening of the database included. The lines of a text before its last
 * are statements, which run first.
 */
#include "repl/prompt/complete.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void print(const struct candidates *found)
{
    vec_foreach(c, found)
        printf("%s\t%s\n", c->text, c->help ? c->help : "");
    if (found->more)
        puts("more");
    if (found->sorts)
        printf("(%s)\n", found->sorts);
}

/* Runs all lines but the last, which it returns. */
static const char *behind_statements(struct session *s, char *text)
{
    char *last = strrchr(text, '\n');

    if (!last)
        return text;
    *last = 0;
    session_text(s, &(struct source){.name = "text", .text = text, .length = strlen(text)});
    return last + 1;
}

int main(int argc, char **argv)
{
    bool timing = argc > 1 && !strcmp(argv[1], "-t");
    double start = now();
    struct session s;

    session_init(&s);
    struct hq_error *error = argc > 2 + timing ? session_open(&s, argv[1 + timing], NULL)
                                               : hq_error_new(HQ_USAGE, "a text is missing");

    if (error) {
        fprintf(stderr, "completing: %s\n", error->message);
        return error->status;
    }
    for (int i = 2 + timing; i < argc; i++) {
        struct candidates found = {0};
        struct arena arena = {0};

        complete(&s, behind_statements(&s, argv[i]), &arena, &found);
        if (timing)
            printf("%.3f %zu\n", now() - start, found.len);
        else
            print(&found);
        vec_deinit(&found);
        arena_deinit(&arena);
    }
    session_deinit(&s);
    return 0;
}
