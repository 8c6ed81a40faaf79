/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/run.h"
#include "common/str.h"
#include <stdarg.h>

bool run_interrupted(struct run *run)
{
    if (!run->interrupted && run->env->interrupted && *run->env->interrupted)
        run->interrupted = true;
    return run->interrupted;
}

static const char *add_note(struct run *run, const char *fmt, va_list ap)
{
    AUTO_STR struct str text = {0};

    str_vaddf(&text, fmt, ap);
    vec_push(&run->table->notes, (const char *)arena_strdup(&run->table->arena, str_cstr(&text)));
    return vec_last(&run->table->notes);
}

void run_note(struct run *run, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_note(run, fmt, ap);
    va_end(ap);
}

void run_unmeasured(struct run *run, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    run->unknown = add_note(run, fmt, ap);
    va_end(ap);
}

bool run_counted(const struct run *run, const char *events)
{
    const struct db *db = run->tree->db;

    for (size_t m = 0; m < db->metric_count; m++)
        if (str_begins(db_string(db, db->metrics[m].event), events))
            return true;
    return false;
}
