/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/db_tree.h"
#include "tests/unit/import_help.h"

#include "common/file.h"
#include "common/mem.h"
#include "db/import/import.h"
#include <stdlib.h>
#include <string.h>

static char *work_dir(void)
{
    const char *top = getenv("HQ_TEST_TMP");
    char *path = xasprintf("%s/hq-import.XXXXXX", top ? top : "/tmp");

    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
    return path;
}

/* What is imported stays open through its map, so the directory can go at once; after an error it must hold nothing but
 * inputs. */
static struct hq_error *import_in(const char *dir, const struct import_file *files, size_t count, struct db **out)
{
    AUTO_FREE char *database = xasprintf("%s/out.hq", dir);
    struct hq_error *error = import_files(files, count, database);

    *out = NULL;
    if (error && file_exists(database)) {
        hq_error_free(error);
        return hq_error_new(HQ_FAILED, "something half-imported is left");
    }
    if (!error)
        error = db_open(database, out);
    if (!error)
        error = db_verify(*out);
    return error;
}

struct hq_error *import_bytes(const char *format, const void *data, size_t size, struct db **out)
{
    AUTO_FREE char *dir = work_dir();
    AUTO_FREE char *input = xasprintf("%s/input", dir);
    FILE *f = fopen(input, "wb");

    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
        perror(input);
        exit(1);
    }
    struct import_file file = {.path = input, .format = format ? import_find(format) : NULL};
    struct hq_error *error = import_in(dir, &file, 1, out);

    hq_error_free(file_remove_tree(dir));
    return error;
}

struct hq_error *import_text(const char *format, const char *text, struct db **out)
{
    return import_bytes(format, text, strlen(text), out);
}

struct hq_error *import_paths(const char *const *paths, size_t count, struct db **out)
{
    AUTO_FREE char *dir = work_dir();
    AUTO_FREE struct import_file *files = xcalloc(count, sizeof *files);

    for (size_t i = 0; i < count; i++)
        files[i].path = paths[i];
    struct hq_error *error = import_in(dir, files, count, out);

    hq_error_free(file_remove_tree(dir));
    return error;
}

static bool has_value(const struct db *db, uint32_t c)
{
    for (uint32_t m = 0; m < db->metric_count; m++)
        if (db_tree_inclusive(db, m, c))
            return true;
    return false;
}

static void dump_context(const struct db *db, uint32_t c, int depth, struct str *out)
{
    const struct hqdb_context *x = db_context(db, c);
    const struct hqdb_scope *s = db_scope(db, x->scope);

    if (s->kind == SCOPE_LINE && (!s->line || !has_value(db, c)))
        return;
    str_repeat(out, ' ', (size_t)depth);
    if (s->kind == SCOPE_LINE || s->kind == SCOPE_LOOP)
        str_addf(out, "%s %s:%u", s->kind == SCOPE_LINE ? "line" : "loop", db_string(db, s->file), s->line);
    else
        str_addf(out, "%s%s", s->kind == SCOPE_INLINE ? "inlined " : "", db_string(db, s->name));
    if (s->kind == SCOPE_PROCEDURE && s->module != HQDB_NONE)
        str_addf(out, " [%s]", db_string(db, db->modules[s->module].path));
    if (x->call_line)
        str_addf(out, " (%s:%u)", db_string(db, x->call_file), x->call_line);
    for (uint32_t m = 0; m < db->metric_count; m++)
        str_addf(out, " %.10g", (double)db_tree_inclusive(db, m, c) * db->metrics[m].scale);
    str_addc(out, '\n');
}

void import_dump(const struct db *db, struct str *out)
{
    for (uint32_t m = 0; m < db->metric_count; m++)
        str_addf(out, "%s%s", m ? " " : "metrics: ", db_string(db, db->metrics[m].name));
    str_addc(out, '\n');
    for (uint32_t c = 1; c < db->context_count; c++) {
        int depth = -1;

        for (uint32_t p = db_parent_context(db, c); p != HQDB_NONE; p = db_parent_context(db, p))
            depth++;
        dump_context(db, c, depth, out);
    }
}
