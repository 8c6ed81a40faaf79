/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/import/floats.h"

#include <math.h>
#include <string.h>

struct float_key {
    uint32_t series, profile, frame;
};

void floats_init(struct floats *f)
{
    *f = (struct floats){0};
    keymap_init(&f->keys, sizeof(struct float_key));
}

void floats_deinit(struct floats *f)
{
    keymap_deinit(&f->keys);
    vec_deinit(&f->entries);
}

void floats_add(struct floats *f, uint32_t series, uint32_t profile, uint32_t frame, long double value, uint64_t count)
{
    struct float_key key = {series, profile, frame};
    bool is_new;
    uint32_t i = keymap_add(&f->keys, &key, &is_new);

    if (is_new)
        vec_push(&f->entries, (struct floats_entry){0});
    f->entries.data[i].sum += value;
    f->entries.data[i].count += count;
}

static struct float_key key_at(const struct floats *f, uint32_t i)
{
    struct float_key key;

    memcpy(&key, keymap_key(&f->keys, i), sizeof key);
    return key;
}

struct hq_error *floats_scale(const struct floats *f, uint32_t series, const char *path, double *scale)
{
    long double total = 0;
    bool whole = true;

    for (uint32_t i = 0; i < f->keys.len; i++) {
        long double x = f->entries.data[i].sum;

        if (key_at(f, i).series != series)
            continue;
        total += fabsl(x);
        whole &= x == floorl(x);
    }
    if (!(total < 0x1p60))
        return hq_error_new(HQ_DATA, "%s: the values add up to %Lg, more than can be counted", path, total);
    *scale = import_scale((double)total, whole);
    return NULL;
}

void floats_give(const struct floats *f, uint32_t series, struct import *im, uint32_t metric, double scale)
{
    for (uint32_t i = 0; i < f->keys.len; i++) {
        struct float_key key = key_at(f, i);

        if (key.series == series)
            import_value(im, key.profile, metric, key.frame, llroundl(f->entries.data[i].sum / scale),
                         f->entries.data[i].count);
    }
}
