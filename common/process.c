/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/process.h"
#include "common/file.h"
#include <stdlib.h>
#include <string.h>

const char *process_field(pid_t pid, enum process_field field, struct str *text)
{
    AUTO_STR struct str path = {0};

    str_addf(&path, "/proc/%d/stat", (int)pid);
    hq_error_free(file_read_regular(str_cstr(&path), text, 1 << 16));
    const char *at = text->len ? strrchr(str_cstr(text), ')') : NULL;

    for (int i = PROCESS_STATE - 1; at && i < (int)field; i++)
        at = strchr(at + 1, ' ');
    return at ? at + 1 : NULL;
}

unsigned long long process_number(pid_t pid, enum process_field field)
{
    AUTO_STR struct str text = {0};
    const char *at = process_field(pid, field, &text);

    return at ? strtoull(at, NULL, 10) : 0;
}
