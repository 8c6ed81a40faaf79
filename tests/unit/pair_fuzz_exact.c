/* SPDX-License-Identifier: BSD-3-Clause */
/* What the databases of the fuzzer hold beside samples: regions, phases, marks, messages, and what devices did. */
#include "format/measurement.h"
#include "tests/unit/mutate.h"
#include "tests/unit/pair_fuzz.h"

static uint64_t below(uint64_t *state, uint64_t n)
{
    return n ? mutate_random(state) % n : 0;
}

static uint32_t frame_without_code(struct model *m, enum scope_kind kind, uint32_t parent_scope, const char *name,
                                   uint32_t parent)
{
    uint32_t scope = model_scope(m, &(struct model_scope){.kind = kind,
                                                          .parent = parent_scope,
                                                          .name = name,
                                                          .file = kind == SCOPE_REGION ? "a.c" : "",
                                                          .line = kind == SCOPE_REGION ? 7 : 0,
                                                          .module = HQDB_NONE});

    return model_frame(m, parent, model_code(m, HQDB_NONE, 0, scope, scope));
}

void pair_fuzz_places(struct model *m, uint64_t *state, uint32_t procedure, uint32_t line,
                      uint32_t frames[PAIR_FUZZ_PLACES])
{
    static const char *const phases[] = {"phase step", "phase \x1b[31mred", "phase "};
    uint32_t outer = frames[0];

    for (uint32_t i = 0; i < PAIR_FUZZ_PLACES; i += 2) {
        uint32_t parent = i && below(state, 2) ? frames[i - 1] : outer;

        if (i < 4)
            frames[i] = frame_without_code(m, SCOPE_PHASE, MODEL_ROOT, phases[below(state, 3)], parent);
        else if (i < 8)
            frames[i] = frame_without_code(m, SCOPE_REGION, procedure, below(state, 2) ? "region" : "task", parent);
        else
            frames[i] = frame_without_code(m, SCOPE_DEVICE, MODEL_ROOT, below(state, 2) ? "[kernel add]" : "[copy]",
                                           parent);
        frames[i + 1] = model_frame(m, frames[i], model_code(m, 0, 0x10000 + i, line, line));
    }
}

static void add_marks(struct model *m, uint64_t *state, uint32_t profile, const uint32_t *places)
{
    uint64_t time = below(state, 5);

    for (uint64_t n = below(state, 30); n; n--) {
        uint32_t outer = places[2 * below(state, 4)], inner = places[2 * below(state, 4)];

        model_mark(m, profile, time += below(state, 4), outer, false);
        if (below(state, 2)) {
            model_mark(m, profile, time += below(state, 4), inner, false);
            if (below(state, 9))
                model_mark(m, profile, time += below(state, 9), inner, true);
        }
        if (below(state, 9))
            model_mark(m, profile, time += below(state, 9), outer, true);
    }
}

static void add_counts(struct model *m, uint64_t *state, uint32_t profile, const uint32_t *places)
{
    static const char *const groups[] = {"", "", "0-3,7", "1", "0-2147483647"};

    for (uint32_t i = 0; i < 8; i += 2)
        if (below(state, 3))
            model_region(m, &(struct hqdb_region){places[i], profile, 1 + below(state, 9), below(state, 9),
                                                  below(state, 1000000), 0, 0, 0});
    for (uint64_t n = below(state, 9); n; n--)
        model_message(m,
                      &(struct hqdb_message){.frame = places[below(state, PAIR_FUZZ_PLACES)],
                                             .profile = profile,
                                             .peer = (int32_t)below(state, 5) - 1,
                                             .count = below(state, 9),
                                             .bytes = below(state, 1 << 20),
                                             .time_ns = below(state, 1000000),
                                             .received = below(state, 3),
                                             .received_bytes = below(state, 1 << 20)},
                      groups[below(state, 5)]);
}

static void add_queue(struct model *m, uint64_t *state, uint32_t profiles, const uint32_t *places)
{
    uint32_t metric = model_metric(m, &(struct model_metric){.event = "GPU_TIME",
                                                             .dimension = HQM_DIM_SECONDS,
                                                             .flags = HQDB_METRIC_EXACT | HQDB_METRIC_DEVICE,
                                                             .scale = 1e-9});
    uint32_t queue = model_profile(m, &(struct model_profile){.rank = -1,
                                                              .host = "h",
                                                              .thread = HQDB_QUEUE,
                                                              .command = "/bin/alpha",
                                                              .creator_profile = below(state, 2) ? 0 : HQDB_NONE,
                                                              .creator_frame = HQDB_NONE,
                                                              .end_us = 300});
    uint64_t start = 0;

    model_queue(m, &(struct hqdb_queue){.profile = queue, .error_ns = below(state, 1000)}, "a device");
    for (uint64_t n = below(state, 20); n; n--) {
        struct hqdb_command c = {.frame = places[8 + below(state, PAIR_FUZZ_PLACES - 8)],
                                 .profile = queue,
                                 .host_profile = below(state, 5) ? (uint32_t)below(state, profiles) : HQDB_NONE,
                                 .kind = (uint16_t)(1 + below(state, 3)),
                                 .flags = (uint16_t)below(state, 8),
                                 .called_ns = start,
                                 .ready_ns = below(state, 2) ? start : 0,
                                 .start_ns = start + below(state, 100),
                                 .time_ns = below(state, 20000),
                                 .bytes = below(state, 1 << 20)};

        model_command(m, &c);
        model_value(m, queue, metric, c.frame, (int64_t)c.time_ns, 1);
        start = c.start_ns + below(state, 30000);
    }
}

void pair_fuzz_exact(struct model *m, uint64_t *state, uint32_t profiles, const uint32_t *places)
{
    for (uint32_t p = 0; p < profiles; p++) {
        add_marks(m, state, p, places);
        add_counts(m, state, p, places);
    }
    if (below(state, 2))
        add_queue(m, state, profiles, places);
}
