/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of importers: a text or file in, the database as text out. */
#ifndef HQ_TESTS_UNIT_IMPORT_HELP_H
#define HQ_TESTS_UNIT_IMPORT_HELP_H

#include "common/err.h"
#include "common/str.h"
#include "db/db.h"
#include <stddef.h>

/* Imports one file of these bytes. format NULL: by looking. The database is to be closed. */
struct hq_error *import_bytes(const char *format, const void *data, size_t size, struct db **out);
struct hq_error *import_text(const char *format, const char *text, struct db **out);
/* Imports files that are there. */
struct hq_error *import_paths(const char *const *paths, size_t count, struct db **out);

/*
 * The tree, a line a context in preorder: indentation, name, for loops "loop", [module] and (call site) if known,
 * inclusive values in units. Lines of statements only if they have a number and a value.
 */
void import_dump(const struct db *db, struct str *out);

/* Checks that a text imports as the dump says. */
#define CHECK_IMPORT(format, text, want) \
    do { \
        struct db *import_db_ = NULL; \
        AUTO_STR struct str import_got_ = {0}; \
        CHECK_OK(import_text(format, text, &import_db_)); \
        if (import_db_) \
            import_dump(import_db_, &import_got_); \
        CHECK_EQ_STR(str_cstr(&import_got_), want); \
        db_close(import_db_); \
    } while (0)

/* Checks that a text is refused with HQ_DATA and a message that holds `want`. */
#define CHECK_REFUSED(format, text, want) \
    do { \
        struct db *import_db_ = NULL; \
        CHECK_ERROR(import_text(format, text, &import_db_), HQ_DATA, want); \
        db_close(import_db_); \
    } while (0)

#endif
