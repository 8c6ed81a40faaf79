/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/table.h"
#include "query/picture/picture.h"
#include "common/mem.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

const char *scope_kind_name(enum scope_kind kind)
{
    static const char *const names[SCOPE_KINDS] = {
        [SCOPE_ROOT] = "root",       [SCOPE_THREAD] = "thread", [SCOPE_PROCEDURE] = "procedure",
        [SCOPE_INLINE] = "inline",   [SCOPE_LOOP] = "loop",     [SCOPE_LINE] = "line",
        [SCOPE_CALL] = "call",       [SCOPE_MODULE] = "module", [SCOPE_FILE] = "file",
        [SCOPE_PARTIAL] = "root",    [SCOPE_REGION] = "region", [SCOPE_WAIT] = "wait",
        [SCOPE_RUNTIME] = "runtime", [SCOPE_PHASE] = "phase",   [SCOPE_GROUP] = "group",
        [SCOPE_DEVICE] = "device",
    };

    return (unsigned)kind < SCOPE_KINDS ? names[kind] : "root";
}

struct table *table_create(void)
{
    struct table *t = xcalloc(1, sizeof *t);
    arena_init(&t->arena);
    return t;
}

void table_destroy(struct table *t)
{
    if (!t)
        return;
    picture_deinit(t->picture);
    arena_deinit(&t->arena);
    vec_deinit(&t->columns);
    vec_deinit(&t->rows);
    vec_deinit(&t->notes);
    free(t);
}

struct row *table_add_row(struct table *t)
{
    struct row *r = vec_add(&t->rows);

    r->name = "";
    r->profile = HQDB_NONE;
    r->cells = ARENA_ARRAY(&t->arena, t->columns.len, struct cell);
    for (size_t i = 0; i < t->columns.len; i++)
        r->cells[i] = (struct cell){.number = NAN, .base = NAN, .ci = NAN};
    return r;
}

/* ---- ids: 13 digits of 5 bits hold 65, so the first digit is 0 to f ---- */

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

void table_id_text(char text[TABLE_ID_TEXT], uint64_t id)
{
    for (int i = TABLE_ID_TEXT - 2; i >= 0; i--, id >>= 5)
        text[i] = digits[id & 31];
    text[TABLE_ID_TEXT - 1] = 0;
}

bool table_id_range(const char *text, uint64_t *first, uint64_t *last)
{
    size_t len = strlen(text);

    *first = 0;
    *last = 0;
    if (len == 0 || len >= TABLE_ID_TEXT)
        return false;
    for (size_t i = 0; i < TABLE_ID_TEXT - 1; i++) {
        const char *digit = i < len ? strchr(digits, tolower((unsigned char)text[i])) : digits;
        if (!digit || !*digit || (i == 0 && digit - digits > 15))
            return false;
        *first = *first << 5 | (uint64_t)(digit - digits);
        *last = *last << 5 | (i < len ? (uint64_t)(digit - digits) : 31);
    }
    return true;
}
