/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/opt.h"
#include "tests/unit/test.h"

static const char *const formats[] = {"text", "json", NULL};
static const struct opt shared[] = {
    {.name = "quiet", .letter = 'q', .help = "Say less"},
    {0},
};
static const struct opt options[] = {
    {.name = "output", .letter = 'o', .value = "FILE", .help = "Write to FILE"},
    {.name = "event", .letter = 'e', .value = "EVENT", .help = "Sample this", .repeats = true},
    {.name = "as", .value = "FORMAT", .help = "How it looks", .choices = formats},
    {.name = "inline",
     .help = "Show inlined procedures as rows of their own, which takes a second line in a narrow window",
     .negatable = true},
    {.name = "all", .letter = 'a', .help = "Everything"},
    {.name = "secret", .help = "Nothing", .hidden = true},
    {0},
};
static const struct opt_command record = {
    .name = "record",
    .usage = "[OPTIONS] COMMAND [ARG]...",
    .summary = "Run a command and sample it",
    .options = options,
    .shared = shared,
    .stops_at_operand = true,
};
static const struct opt_command query = {.name = "query", .options = options, .shared = shared};

static struct hq_error *parse(const struct opt_command *cmd, struct opt_args *out, const char *line)
{
    static char text[256];
    char *argv[16];
    int argc = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
        argv[argc++] = w;
    return opt_parse(cmd, argc, argv, out);
}

TEST(spellings)
{
    struct opt_args a;

    CHECK_OK(parse(&query, &a, "--output=x db -e cycles -einstr --event time -aq --no-inline - -- --all"));
    CHECK_EQ_STR(opt_value(&a, "output"), "x");
    CHECK_EQ_INT(opt_count(&a, "event"), 3);
    CHECK_EQ_STR(opt_value_at(&a, "event", 0), "cycles");
    CHECK_EQ_STR(opt_value_at(&a, "event", 1), "instr");
    CHECK_EQ_STR(opt_value(&a, "event"), "time");
    CHECK(opt_flag(&a, "all", false) && opt_flag(&a, "quiet", false));
    CHECK(!opt_flag(&a, "inline", true));
    CHECK(opt_value(&a, "as") == NULL);
    CHECK_EQ_INT(a.operands.len, 3);
    CHECK_EQ_STR(a.operands.data[0], "db");
    CHECK_EQ_STR(a.operands.data[1], "-");
    CHECK_EQ_STR(a.operands.data[2], "--all");
    opt_args_deinit(&a);
    CHECK_OK(parse(&query, &a, "--no-inline --inline x --output="));
    opt_args_deinit(&a);
}

TEST(stops_at_the_command)
{
    struct opt_args a;

    CHECK_OK(parse(&record, &a, "-o x ./prog -o y --bogus"));
    CHECK_EQ_STR(opt_value(&a, "output"), "x");
    CHECK_EQ_INT(a.operands.len, 4);
    CHECK_EQ_STR(a.operands.data[3], "--bogus");
    opt_args_deinit(&a);
    CHECK_OK(parse(&record, &a, "-- -odd --all"));
    CHECK_EQ_INT(a.operands.len, 2);
    opt_args_deinit(&a);
}

#define CHECK_REFUSED(line, text) \
    do { \
        struct opt_args a_; \
        CHECK_ERROR(parse(&query, &a_, (line)), HQ_USAGE, text); \
        opt_args_deinit(&a_); \
    } while (0)

TEST(mistakes)
{
    CHECK_REFUSED("--ouput x", "query has no option --ouput; did you mean --output?");
    CHECK_REFUSED("--zzzz", "query has no option --zzzz; `hq help query`");
    CHECK_REFUSED("--no-all", "has no option --no-all");
    CHECK_REFUSED("-z", "query has no option -z");
    CHECK_REFUSED("--output", "--output needs a value: --output FILE");
    CHECK_REFUSED("-o", "--output needs a value");
    CHECK_REFUSED("--all=1", "--all takes no value");
    CHECK_REFUSED("-o a -o b", "--output is given twice");
    CHECK_REFUSED("--as jsn", "--as does not know \"jsn\"; did you mean json?");
    CHECK_REFUSED("--as=", "--as does not know \"\"; it is one of text, json");
    CHECK_REFUSED("--as xxxxxx", "it is one of text, json");
    CHECK_REFUSED("--=x", "has no option --");
}

TEST(help)
{
    AUTO_STR struct str out = {0};

    opt_help(&record, "hq", 60, &out);
    CHECK_EQ_STR(out.s, "usage: hq record [OPTIONS] COMMAND [ARG]...\n\n"
                        "Run a command and sample it.\n\n"
                        "options:\n"
                        "  -o, --output FILE  Write to FILE\n"
                        "  -e, --event EVENT  Sample this\n"
                        "      --as FORMAT    How it looks\n"
                        "      --[no-]inline  Show inlined procedures as rows of\n"
                        "                     their own, which takes a second line in\n"
                        "                     a narrow window\n"
                        "  -a, --all          Everything\n"
                        "  -q, --quiet        Say less\n");
}

TEST(wraps_paragraphs)
{
    AUTO_STR struct str out = {0};

    opt_wrap(&out, "one two\nthree\n\nfour averylongwordthatdoesnotfit", 2, 2, 12);
    CHECK_EQ_STR(out.s, "one two\n  three\n\n  four\n  averylongwordthatdoesnotfit");
}

TEST_MAIN
