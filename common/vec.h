/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Growable arrays of any type:
 *
 *     VEC(struct row) rows = {0};
 *     vec_push(&rows, (struct row){.id = 7});
 *     for (size_t i = 0; i < rows.len; i++) use(&rows.data[i]);
 *     vec_deinit(&rows);
 *
 * A zeroed vector is empty. Elements move when the vector grows, so pointers into it end there. The macros evaluate the
 * vector argument more than once. Every VEC(T) is a type of its own: to pass one to a function, name it
 * (`struct rows { struct row *data; size_t len, cap; }` works with every macro here).
 * Ends the process when memory ends (see mem.h).
 */
#ifndef HQ_COMMON_VEC_H
#define HQ_COMMON_VEC_H

#include "common/mem.h"
#include <stdint.h>
#include <string.h>

#define VEC(T) \
    struct { \
        T *data; \
        size_t len, cap; \
    }

/* Room for `more` elements beyond len. */
#define vec_reserve(v, more) ((v)->data = vec_grow_((v)->data, &(v)->cap, (v)->len, (more), sizeof *(v)->data))

/* Appends a value. The value is computed before the vector grows, so it may come from the vector itself. */
#define vec_push(v, ...) \
    do { \
        __typeof__(*(v)->data) vec_x_ = (__VA_ARGS__); \
        vec_reserve(v, 1); \
        (v)->data[(v)->len++] = vec_x_; \
    } while (0)

/* Appends a zeroed element and gives a pointer to it. */
#define vec_add(v) (vec_reserve(v, 1), (__typeof__((v)->data))memset(&(v)->data[(v)->len++], 0, sizeof *(v)->data))

/* Appends n elements from an array that is not part of the vector. */
#define vec_append(v, array, n) \
    do { \
        const __typeof__(*(v)->data) *vec_from_ = (array); \
        size_t vec_n_ = (n); \
        vec_reserve(v, vec_n_); \
        if (vec_n_) \
            memcpy((v)->data + (v)->len, vec_from_, vec_n_ * sizeof *(v)->data); \
        (v)->len += vec_n_; \
    } while (0)

/* The vector must not be empty for these two. */
#define vec_pop(v)  ((v)->data[--(v)->len])
#define vec_last(v) ((v)->data[(v)->len - 1])

/* Removes element i and keeps the order. */
#define vec_remove(v, i) \
    do { \
        size_t vec_i_ = (i); \
        memmove((v)->data + vec_i_, (v)->data + vec_i_ + 1, ((v)->len - vec_i_ - 1) * sizeof *(v)->data); \
        (v)->len--; \
    } while (0)

#define vec_clear(v) ((void)((v)->len = 0))

/* Frees the array; the vector is empty again. */
#define vec_deinit(v) (free((v)->data), (v)->data = NULL, (void)((v)->len = (v)->cap = 0))

/* cmp as for qsort, and as for qsort_r. The order of equal elements is not defined. */
#define vec_sort(v, cmp)        ((v)->len > 1 ? qsort((v)->data, (v)->len, sizeof *(v)->data, (cmp)) : (void)0)
#define vec_sort_r(v, cmp, arg) ((v)->len > 1 ? qsort_r((v)->data, (v)->len, sizeof *(v)->data, (cmp), (arg)) : (void)0)

/* How many elements have a `member` <= value, where the elements ascend by it: an array of `count`, or a vector. */
#define array_upto(array, count, member, value) \
    ({ \
        const __typeof__(*(array)) *upto_array_ = (array); \
        __typeof__(upto_array_->member) upto_value_ = (value); \
        size_t upto_low_ = 0, upto_high_ = (count); \
        while (upto_low_ < upto_high_) { \
            size_t upto_mid_ = upto_low_ + (upto_high_ - upto_low_) / 2; \
            if (upto_array_[upto_mid_].member <= upto_value_) \
                upto_low_ = upto_mid_ + 1; \
            else \
                upto_high_ = upto_mid_; \
        } \
        upto_low_; \
    })
#define vec_upto(v, member, value) array_upto((v)->data, (v)->len, member, value)

/* vec_foreach (p, &rows) use(p);   p is a pointer to the element */
#define vec_foreach(p, v) for (__typeof__(*(v)->data) *p = (v)->data; p && p < (v)->data + (v)->len; p++)

static inline void *vec_grow_(void *data, size_t *cap, size_t len, size_t more, size_t size)
{
    size_t need;

    if (__builtin_add_overflow(len, more, &need))
        mem_exhausted();
    if (need <= *cap)
        return data;
    size_t grown = *cap < 8 ? 8 : *cap + *cap / 2;

    if (grown < need)
        grown = need;
    data = xreallocarray(data, grown, size);
    *cap = grown;
    return data;
}

#endif
