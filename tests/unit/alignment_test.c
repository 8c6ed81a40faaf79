/* SPDX-License-Identifier: BSD-3-Clause */
/* Short pieces of call stacks put at one height: the paper's example, what its printed algorithm gets wrong, and pieces
 * of random call trees, of which the whole stacks are known. */
#include "common/hash.h"
#include "common/mem.h"
#include "query/folding/alignment.h"
#include "tests/unit/test.h"
#include <stdio.h>
#include <string.h>

/* Each routine is a letter: "abc" is a called by nobody known, which called b, which called c. */
static uint32_t *piece(const char *text, struct arena *arena)
{
    size_t n = strlen(text);
    uint32_t *levels = ARENA_ARRAY(arena, n + 1, uint32_t);

    for (size_t i = 0; i < n; i++)
        levels[i] = (uint32_t)text[i];
    return levels;
}

static size_t align(const char *const *pieces, struct routine_sample *samples, size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++)
        samples[i] = (struct routine_sample){((double)i + 0.5) / (double)count, piece(pieces[i], arena),
                                             (uint32_t)strlen(pieces[i]), 0, 1};
    return alignment_make(samples, count, arena);
}

static const char *text_of(const struct routine_sample *s, struct arena *arena)
{
    char *text = arena_array(arena, s->depth + 1, 1);

    for (uint32_t i = 0; i < s->depth; i++)
        text[i] = s->levels[i] == ROUTINE_NONE ? '?' : (char)s->levels[i];
    text[s->depth] = '\0';
    return text;
}

#define CHECK_ALIGNED(pieces, ...) \
    do { \
        struct arena arena_ = {0}; \
        const char *wanted_[] = {__VA_ARGS__}; \
        enum { N_ = sizeof wanted_ / sizeof *wanted_ }; \
        struct routine_sample samples_[N_]; \
        align(pieces, samples_, N_, &arena_); \
        for (size_t i_ = 0; i_ < N_; i_++) \
            CHECK_EQ_STR(text_of(&samples_[i_], &arena_), wanted_[i_]); \
        arena_deinit(&arena_); \
    } while (0)

/* Figure 2, three frames of each of six samples; m is main. */
static const char *const figure[] = {"bcd", "cde", "abc", "mab", "cdf", "cde"};

TEST(the_figure_of_the_paper)
{
    CHECK_ALIGNED(figure, "mabcd", "mabcde", "mabc", "mab", "mabcdf", "mabcde");
}

/* Figure 3: what is representative of it, with a threshold of two samples. */
TEST(routines_of_the_figure)
{
    static const struct {
        char routine;
        uint32_t level, first, end;
    } wanted[] = {{'m', 0, 0, 6}, {'a', 1, 0, 6}, {'b', 2, 0, 6}, {'c', 3, 0, 3},
                  {'d', 4, 0, 2}, {'c', 3, 4, 6}, {'d', 4, 4, 6}};
    struct arena arena = {0};
    struct routine_sample samples[6];
    struct routine_runs runs = {0};

    CHECK_EQ_INT(align(figure, samples, 6, &arena), 6);
    routines_find(samples, 6, (struct routine_limits){.samples = 2}, &runs);
    CHECK_EQ_INT(runs.len, 7);
    for (size_t i = 0; i < 7; i++) {
        bool found = false;

        for (size_t k = 0; k < runs.len; k++)
            found |= runs.data[k].routine == (uint32_t)wanted[i].routine && runs.data[k].level == wanted[i].level &&
                     runs.data[k].first == wanted[i].first && runs.data[k].end == wanted[i].end;
        CHECK(found);
    }
    vec_deinit(&runs);
    arena_deinit(&arena);
}

/* As printed, the algorithm keeps no column where the pivot is as high as before, or higher. */
TEST(no_sample_with_the_pivot_is_lost)
{
    static const char *const same[] = {"ap", "ap", "ap"}, *const higher[] = {"p", "ap", "map"};

    CHECK_ALIGNED(same, "ap", "ap", "ap");
    CHECK_ALIGNED(higher, "map", "map", "map");
}

/* And looks up samples in the list of all where those with the pivot are meant. */
TEST(samples_without_the_pivot_lie_between)
{
    static const char *const mixed[] = {"xy", "ap", "p", "p", "xy", "map"};

    CHECK_ALIGNED(mixed, "", "map", "map", "map", "", "map");
}

TEST(what_shares_a_routine_comes_one_after_the_other)
{
    /* p is the pivot; sp has s of it, ts has s of that, and uv nothing. */
    static const char *const chain[] = {"pq", "pq", "sp", "ts", "uv", "rt"};

    CHECK_ALIGNED(chain, "rtspq", "rtspq", "rtsp", "rts", "", "rt");
}

TEST(the_last_that_knows_counts)
{
    static const char *const callers[] = {"apx", "px", "bpx", "px", "px"};

    CHECK_ALIGNED(callers, "apx", "apx", "bpx", "bpx", "bpx");
}

TEST(odd_pieces)
{
    static const char *const none[] = {"", "", ""}, *const one[] = {"a"}, *const recursive[] = {"rr", "ar", "rrr"};

    CHECK_ALIGNED(none, "", "", "");
    CHECK_ALIGNED(one, "a");
    CHECK_ALIGNED(recursive, "arr", "ar", "arrr");
}

/* A program in which each routine has one caller: whatever is known of it, what is put together is a stack that there
 * was; and with pieces of two frames all of it, if each call was seen while the caller itself ran. */
TEST(random_call_trees)
{
    enum { ROUTINES = 20, SAMPLES = 400, ROUNDS = 200 };
    size_t wrong = 0, placed = 0;
    uint64_t state = 1;

    for (int round = 0; round < ROUNDS; round++) {
        struct arena arena = {0};
        struct routine_sample samples[SAMPLES];
        uint32_t caller[ROUTINES] = {0}, leaf[SAMPLES];
        uint32_t keep = 2 + (uint32_t)(round % 3);

        for (uint32_t r = 1; r < ROUTINES; r++)
            caller[r] = (uint32_t)(hash_u64(++state) % r);
        for (size_t i = 0; i < SAMPLES; i++) {
            uint32_t *levels = ARENA_ARRAY(&arena, keep, uint32_t), n = 0;

            leaf[i] = i < ROUTINES ? (uint32_t)i : (uint32_t)(hash_u64(++state) % ROUTINES);
            for (uint32_t r = leaf[i], k = 0; k < keep; k++, r = caller[r]) {
                n++;
                if (!r)
                    break;
            }
            for (uint32_t r = leaf[i], k = n; k-- > 0; r = caller[r])
                levels[k] = r;
            samples[i] = (struct routine_sample){(double)i / SAMPLES, levels, n, 0, 1};
        }
        placed += alignment_make(samples, SAMPLES, &arena);
        for (size_t i = 0; i < SAMPLES; i++) {
            uint32_t r = leaf[i], k = samples[i].depth;

            while (k > 0 && samples[i].levels[k - 1] == r && k-- > 1)
                r = caller[r];
            wrong += k || r;
        }
        arena_deinit(&arena);
    }
    CHECK_EQ_INT(placed, (size_t)SAMPLES * ROUNDS);
    CHECK_EQ_INT(wrong, 0);
}
TEST_MAIN
