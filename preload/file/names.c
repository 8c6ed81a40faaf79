/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/file/names.h"

#include "common/hash.h"
#include "preload/file/file.h"

#include <string.h>

uint32_t names_string(struct names *names, const char *text)
{
    uint64_t hash = hash_str(text) | 1, found;
    uint32_t string;

    for (uint32_t i = 0; i < NAMES_MAX; i++) {
        struct name *n = &names->name[(hash + i) % NAMES_MAX];

        found = 0;
        if (atomic_compare_exchange_strong(&n->hash, &found, hash)) {
            string = file_string(text);
            atomic_store(&n->string, string);
            return string;
        }
        if (found != hash)
            continue;
        string = atomic_load(&n->string);
        return string ? string : file_string(text);
    }
    return 0;
}

void names_forget(struct names *names)
{
    memset(names, 0, sizeof *names);
}
