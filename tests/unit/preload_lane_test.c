/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's tree: every node and every cell is made once, however the table grows and whatever thread comes by.
 */
#include "preload/file/lane.h"
#include "preload/options.h"
#include "tests/unit/test.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 20000, FRAME = HQM_NODE_FRAME << HQM_MODULE_BITS | 1, THREADS = 3, EVENTS = 2 };

static struct lane *fresh_lane(char *directory)
{
    strcpy(directory, "/tmp/hq-lane-XXXXXX");
    CHECK(mkdtemp(directory));
    strcpy(options.directory, directory);
    strcpy(options.host, "host");
    options.launcher = "";
    return file_ready() ? lane_take() : NULL;
}

static void clean(const char *directory)
{
    DIR *entries = opendir(directory);

    for (struct dirent *e; entries && (e = readdir(entries));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        unlink(path);
    }
    closedir(entries);
    rmdir(directory);
}

/* A random tree: child i hangs below an earlier node, one in ten below one of the last. */
static void grow(struct lane *lane, struct place *place, uint32_t (*numbers)[2], int turn)
{
    unsigned random = 1;

    place[0] = (struct place){0, 0};
    for (uint32_t i = 1; i < NODES; i++) {
        random = random * 1664525 + 1013904223;
        struct place parent = place[random >> 28 ? (random >> 8) % i : i - 1];
        uint64_t offset = random % 97;
        place[i].path = lane_path(parent.path, FRAME, offset);
        place[i].node = lane_child(lane, parent.node, place[i].path, FRAME, offset);
        numbers[i][turn] = place[i].node;
    }
}

TEST(nodes_and_cells_are_made_once)
{
    static struct place place[NODES];
    static uint32_t numbers[NODES][2];
    static struct hqm_cell *cells[NODES][THREADS][EVENTS];
    static const uint32_t comes[] = {1, 1, 2, 1, 3, 2, 3, 3, 1};
    char directory[64];
    struct lane *lane = fresh_lane(directory);
    int wrong = 0;

    CHECK(lane);
    grow(lane, place, numbers, 0);
    grow(lane, place, numbers, 1);
    for (uint32_t i = 1; i < NODES; i++)
        wrong += numbers[i][0] != numbers[i][1] || numbers[i][0] == NO_NODE;
    CHECK(wrong == 0);
    for (size_t turn = 0; turn < sizeof comes / sizeof *comes; turn++)
        for (uint32_t i = 0; i < NODES; i += 1 + i % 3) {
            uint32_t event = i % 5 == 0 ? 1 : 0;
            struct hqm_cell *cell = lane_cell(lane, place[i], event, comes[turn]),
                            **known = &cells[place[i].node][comes[turn] - 1][event];
            wrong += !cell || cell->node != place[i].node || cell->thread != comes[turn] || cell->event != event ||
                     (*known && *known != cell);
            *known = cell;
        }
    CHECK(wrong == 0);
    lane_return(lane);
    clean(directory);
}

/* A region is told apart by its place, its name and its thread, and has one record each. */
TEST(regions_are_made_once)
{
    char directory[64];
    struct lane *lane = fresh_lane(directory);
    struct hqm_region *regions[2][2][2];

    CHECK_OR_RETURN(lane);
    struct place place[2] = {{0, 0}, {.path = lane_path(0, FRAME, 16)}};

    place[1].node = lane_child(lane, 0, place[1].path, FRAME, 16);
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 8; i++) {
            uint32_t thread = 1 + (uint32_t)(i & 1);
            struct hqm_region *r = lane_region(lane, place[i >> 2], 0x401000 + 16 * (uint64_t)(i >> 1 & 1), thread),
                              **known = &regions[i >> 2][i >> 1 & 1][i & 1];

            CHECK(r && r->thread == thread && (!turn || r == *known));
            for (int other = 0; other < i && !turn; other++)
                CHECK(r != regions[other >> 2][other >> 1 & 1][other & 1]);
            *known = r;
        }
    lane_return(lane);
    clean(directory);
}

TEST_MAIN
