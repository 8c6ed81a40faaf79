/* SPDX-License-Identifier: BSD-3-Clause */
/* For functions that compare two records, field by field, the one that counts most first. */
#ifndef HQ_COMMON_COMPARE_H
#define HQ_COMMON_COMPARE_H

/* Returns from the function if the fields differ. */
#define COMPARE(a, b) \
    do { \
        if ((a) != (b)) \
            return (a) < (b) ? -1 : 1; \
    } while (0)

#endif
