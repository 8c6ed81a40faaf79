/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: exact text on a terminal and off it, and svg. */
#include "tests/unit/output_help.h"
#include "query/picture/chart.h"
#include "query/picture/picture.h"

/* Two profiles, 48 instants: init, then two procedures in turn, then nothing in the second. */
static struct table *small_picture(void)
{
    struct table *t = table_create();
    struct picture *p = picture_create(&t->arena, 48, 2);
    uint32_t init = picture_item(p, picture_name(p, "init", (struct tint){FAMILY_PROGRAM, 0}), "main > init");
    uint32_t solve = picture_item(p, picture_name(p, "solve<int>", (struct tint){FAMILY_PROGRAM, 0}),
                                  "main > run > solve<int>");
    uint32_t wait = picture_item(p, picture_name(p, "MPI_Wait", (struct tint){FAMILY_MPI, 0}),
                                 "main > run > exchange > MPI_Wait");

    t->picture = p;
    t->view = "trace";
    p->title = "trace at call path level 3, 2 profiles";
    p->from = 0;
    p->to = 12;
    p->labels[0] = "rank 0";
    p->labels[1] = "rank 1 thread 1";
    p->blank = "no samples";
    for (uint32_t x = 0; x < 48; x++) {
        *picture_cell(p, x, 0) = x < 8 ? init : x % 8 < 5 ? solve : wait;
        *picture_cell(p, x, 1) = x < 6 ? init : x > 40 ? 0 : x % 8 < 5 ? solve : wait;
    }
    picture_finish(p);
    return t;
}

TEST(terminal)
{
    struct table *t = small_picture();

    check_format(t, "table", &(struct output_options){0},
                 "trace at call path level 3, 2 profiles\n"
                 "         rank 0 ccccccccaaaaabbbaaaaabbbaaaaabbbaaaaabbbaaaaabbb\n"
                 "rank 1 thread 1 ccccccbbaaaaabbbaaaaabbbaaaaabbbaaaaabbba\n"
                 "                +-------------------+-------------------+-------\n"
                 "                0 s                 5 s                 10 s\n"
                 " a  47.9%  solve<int>\n"
                 " b  30.2%  MPI_Wait\n"
                 " c  14.6%  init\n"
                 "     7.3%  no samples\n");
    check_format(
        t, "tree", &(struct output_options){.colours = COLOURS_256, .width = 80, .utf8 = true},
        "\033[1mtrace at call path level 3, 2 profiles\033[0m\n"
        "         rank 0 \033[48;5;80m        \033[48;5;110m     \033[48;5;180m   \033[48;5;110m     "
        "\033[48;5;180m   \033[48;5;110m     \033[48;5;180m   \033[48;5;110m     \033[48;5;180m   \033[48;5;110m "
        "    \033[48;5;180m   \033[0m\n"
        "rank 1 thread 1 \033[48;5;80m      \033[48;5;180m  \033[48;5;110m     \033[48;5;180m   \033[48;5;110m  "
        "   \033[48;5;180m   \033[48;5;110m     \033[48;5;180m   \033[48;5;110m     \033[48;5;180m   "
        "\033[48;5;110m \033[0m       \n"
        "                +-------------------+-------------------+-------\n"
        "                0 s                 5 s                 10 s\n"
        "\033[48;5;110m  \033[0m  47.9%  solve<int>\n"
        "\033[48;5;180m  \033[0m  30.2%  MPI_Wait\n"
        "\033[48;5;80m  \033[0m  14.6%  init\n"
        "     7.3%  no samples\n");
    check_format(
        t, "table", &(struct output_options){.colours = COLOURS_TRUE, .width = 80, .utf8 = true},
        "\033[1mtrace at call path level 3, 2 profiles\033[0m\n"
        "         rank 0 \033[48;2;90;195;211m        \033[48;2;154;158;228m     \033[48;2;234;162;138m   "
        "\033[48;2;154;158;228m     \033[48;2;234;162;138m   \033[48;2;154;158;228m     \033[48;2;234;162;138m   "
        "\033[48;2;154;158;228m     \033[48;2;234;162;138m   \033[48;2;154;158;228m     \033[48;2;234;162;138m   "
        "\033[0m\n"
        "rank 1 thread 1 \033[48;2;90;195;211m      \033[48;2;234;162;138m  \033[48;2;154;158;228m     "
        "\033[48;2;234;162;138m   \033[48;2;154;158;228m     \033[48;2;234;162;138m   \033[48;2;154;158;228m     "
        "\033[48;2;234;162;138m   \033[48;2;154;158;228m     \033[48;2;234;162;138m   \033[48;2;154;158;228m \033[0m   "
        "    \n"
        "                +-------------------+-------------------+-------\n"
        "                0 s                 5 s                 10 s\n"
        "\033[48;2;154;158;228m  \033[0m  47.9%  solve<int>\n"
        "\033[48;2;234;162;138m  \033[0m  30.2%  MPI_Wait\n"
        "\033[48;2;90;195;211m  \033[0m  14.6%  init\n"
        "     7.3%  no samples\n");
    table_destroy(t);
}

/* A share of less than 0.1 % does not break the markup. */
TEST(small_share)
{
    struct table *t = table_create();
    struct picture *p = picture_create(&t->arena, 4000, 1);
    uint32_t some = picture_item(p, picture_name(p, "some", (struct tint){FAMILY_PROGRAM, 0}), NULL),
             rare = picture_item(p, picture_name(p, "a & b", (struct tint){FAMILY_SYSTEM, 0}), NULL);

    t->picture = p;
    p->title = "<title>";
    p->to = 1;
    for (uint32_t x = 0; x < 4000; x++)
        *picture_cell(p, x, 0) = x ? some : rare;
    picture_finish(p);
    AUTO_FREE char *text = text_of(t, "svg", &(struct output_options){0});
    CHECK(strstr(text, ">&lt;0.1%</text>") && strstr(text, ">a &amp; b</text>") &&
          strstr(text, ">&lt;title&gt;</text>"));
    table_destroy(t);
}

/* Takes the embedded picture out of the text (how well it is packed is zlib's business) and looks at its head. */
static bool take_image(char *text)
{
    static const char head[] = "base64,iVBORw0KGgoAAAANSUhEUgAAA5AAAAAwCAYA"; /* RGBA, 912 x 48 */
    char *from = strstr(text, head), *to = from ? strchr(from, '"') : NULL;

    if (!to)
        return false;
    memmove(from, to, strlen(to) + 1);
    return true;
}

static const char svg_text[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1067\" height=\"198\" viewBox=\"0 0 1067 198\" "
    "font-family=\"sans-serif\" font-size=\"12\">\n"
    "<style>.r rect{fill:none;pointer-events:all}.r rect:hover{stroke:#000;vector-effect:non-scaling-stroke}</style>\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    "<text x=\"8\" y=\"20\" font-size=\"14\">trace at call path level 3, 2 profiles</text>\n"
    "<image x=\"115\" y=\"34\" width=\"912\" height=\"48\" preserveAspectRatio=\"none\" "
    "style=\"image-rendering:pixelated\" href=\"data:image/png;\"/>\n"
    "<g text-anchor=\"end\">\n"
    "<text x=\"109\" y=\"50\">rank 0</text>\n"
    "<text x=\"109\" y=\"74\">rank 1 thread 1</text>\n"
    "</g>\n"
    "<path d=\"M115 82.5h912\" stroke=\"#888\"/>\n"
    "<g text-anchor=\"middle\">\n"
    "<path d=\"M115.0 82v5\" stroke=\"#888\"/><text x=\"115.0\" y=\"100\">0 s</text>\n"
    "<path d=\"M267.0 82v5\" stroke=\"#888\"/><text x=\"267.0\" y=\"100\">2 s</text>\n"
    "<path d=\"M419.0 82v5\" stroke=\"#888\"/><text x=\"419.0\" y=\"100\">4 s</text>\n"
    "<path d=\"M571.0 82v5\" stroke=\"#888\"/><text x=\"571.0\" y=\"100\">6 s</text>\n"
    "<path d=\"M723.0 82v5\" stroke=\"#888\"/><text x=\"723.0\" y=\"100\">8 s</text>\n"
    "<path d=\"M875.0 82v5\" stroke=\"#888\"/><text x=\"875.0\" y=\"100\">10 s</text>\n"
    "<path d=\"M1027.0 82v5\" stroke=\"#888\"/><text x=\"1027.0\" y=\"100\">12 s</text>\n"
    "</g>\n"
    "<g class=\"r\" transform=\"translate(115 34) scale(19 24)\">\n"
    "<g><title>main &gt; init</title><rect x=\"0\" y=\"0\" width=\"8\" height=\"1\"/><rect x=\"0\" y=\"1\" width=\"6\" "
    "height=\"1\"/></g>\n"
    "<g><title>main &gt; run &gt; solve&lt;int&gt;</title><rect x=\"8\" y=\"0\" width=\"5\" height=\"2\"/><rect "
    "x=\"16\" y=\"0\" width=\"5\" height=\"2\"/><rect x=\"24\" y=\"0\" width=\"5\" height=\"2\"/><rect x=\"32\" "
    "y=\"0\" width=\"5\" height=\"2\"/><rect x=\"40\" y=\"0\" width=\"5\" height=\"1\"/><rect x=\"40\" y=\"1\" "
    "width=\"1\" height=\"1\"/></g>\n"
    "<g><title>main &gt; run &gt; exchange &gt; MPI_Wait</title><rect x=\"13\" y=\"0\" width=\"3\" height=\"2\"/><rect "
    "x=\"21\" y=\"0\" width=\"3\" height=\"2\"/><rect x=\"29\" y=\"0\" width=\"3\" height=\"2\"/><rect x=\"37\" "
    "y=\"0\" width=\"3\" height=\"2\"/><rect x=\"45\" y=\"0\" width=\"3\" height=\"1\"/><rect x=\"6\" y=\"1\" "
    "width=\"2\" height=\"1\"/></g>\n"
    "</g>\n"
    "<rect x=\"115\" y=\"116\" width=\"14\" height=\"12\" fill=\"#9a9ee4\"/><text x=\"179\" y=\"126\" "
    "text-anchor=\"end\">47.9%</text><text x=\"189\" y=\"126\">solve&lt;int&gt;</text>\n"
    "<rect x=\"115\" y=\"134\" width=\"14\" height=\"12\" fill=\"#eaa28a\"/><text x=\"179\" y=\"144\" "
    "text-anchor=\"end\">30.2%</text><text x=\"189\" y=\"144\">MPI_Wait</text>\n"
    "<rect x=\"115\" y=\"152\" width=\"14\" height=\"12\" fill=\"#5ac3d3\"/><text x=\"179\" y=\"162\" "
    "text-anchor=\"end\">14.6%</text><text x=\"189\" y=\"162\">init</text>\n"
    "<rect x=\"115\" y=\"170\" width=\"14\" height=\"12\" fill=\"none\" stroke=\"#999\"/><text x=\"179\" y=\"180\" "
    "text-anchor=\"end\">7.3%</text><text x=\"189\" y=\"180\">no samples</text>\n"
    "</svg>\n";

TEST(svg)
{
    struct table *t = small_picture(), *none = example_tree();

    none->tree = false;
    none->facts = true;
    none->view = "info";
    AUTO_FREE char *text = text_of(t, "svg", &(struct output_options){0});
    CHECK(text && take_image(text));
    if (strcmp(text, svg_text))
        TEST_FAIL("wanted\n%s\ngot\n%s\n", svg_text, text);
    check_format(none, "svg", &(struct output_options){0},
                 "svg is for rows with numbers and for pictures of traces: `info` has none");
    table_destroy(t);
    table_destroy(none);
}

TEST(lines_have_whole_numbers_on_the_axis)
{
    static const double x[] = {0, 1}, lines[] = {9, 10};
    struct chart_series series = {.name = "line", .x = x, .y = lines, .count = 2};
    struct chart_panel panel = {.title = "lines", .series = &series, .series_count = 1};
    struct chart chart = {.title = "two lines", .x_name = "x", .panels = &panel, .panel_count = 1};
    struct table *t = table_create();

    t->chart = &chart;
    for (int whole = 0; whole < 2; whole++) {
        panel.whole = whole;
        AUTO_FREE char *text = text_of(t, "svg", &(struct output_options){0});
        CHECK(text && strstr(text, ">9</text>") && strstr(text, ">10</text>"));
        CHECK(text && (whole || strstr(text, ">9.2</text>")));
        CHECK(text && (!whole || !strstr(text, ">9.")));
    }
    table_destroy(t);
}

TEST_MAIN
