/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/run.h"
#include <stdarg.h>

bool run_interrupted(struct run *run)
{
    if (!run->interrupted && run->env->interrupted && *run->env->interrupted)
        run->interrupted = true;
    return run->interrupted;
}

void run_note(struct run *run, const char *fmt, ...)
{
    va_list ap;
    AUTO_STR struct str text = {0};

    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    vec_push(&run->table->notes, (const char *)arena_strdup(&run->table->arena, str_cstr(&text)));
}
