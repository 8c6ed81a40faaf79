/* SPDX-License-Identifier: BSD-3-Clause */
#include "query/pattern/system.h"

#include "common/names.h"
#include "common/str.h"
#include "db/runtimes.h"
#include <ctype.h>
#include <string.h>

enum { GLOB_MOST = 64, NAME_MOST = 256 };

static bool is_one_of(const char *text, size_t length, const char *const *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(of[i]) == length && !strncmp(of[i], text, length))
            return true;
    return false;
}

static bool begins_with_one_of(const char *text, const char *const *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_begins(text, of[i]))
            return true;
    return false;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Tells whether this may stand in place of a leading star. */
static bool prefix_fits(const char *name, size_t length, bool known)
{
    static const char *const letters[] = {"f",  "p",  "l",  "s",   "m",  "d",  "e",  "v",  "w",   "c",
                                          "fd", "as", "sn", "fre", "vs", "vf", "vd", "ep", "vas", "vsn"};
    static const char *const theirs[] = {"_", "sys_", "ksys_", "vfs_", "do_sys_", "aio_", "posix_", "clock_"};
    size_t base = length;

    while (base && name[base - 1] != '_')
        base--;
    if (base < length && !is_one_of(name + base, length - base, letters, COUNT(letters)))
        return false;
    return !base || known || begins_with_one_of(name, theirs, COUNT(theirs));
}

/* Tells whether this may stand in place of a trailing star, behind a word that programs use too. */
static bool ending_fits(const char *text)
{
    static const char *const theirs[] = {"@",    "_nocancel", "_time64", "_unlocked", "_chk",         "_avx",
                                         "_sse", "_ssse3",    "_evex",   "_erms",     "_unaligned",   "_internal",
                                         "_v2",  "_wait",     "_wake",   "array",     "_consolidate", "_c"};

    return !*text || isdigit((unsigned char)*text) || begins_with_one_of(text, theirs, COUNT(theirs));
}

/* Whether the core of the glob stands at `at` and the rest is an ending. */
static bool core_fits(const char *core, bool open, const char *at, bool strict)
{
    size_t length = strlen(at);

    if (!open)
        return glob_matches(core, at, length);
    for (size_t n = 0; n <= length; n++)
        if (glob_matches(core, at, n) && (!strict || ending_fits(at + n)))
            return true;
    return false;
}

bool system_name(const char *glob, const char *folded, bool known)
{
    char core[GLOB_MOST];
    size_t length = strlen(glob), name = strlen(folded), n = 0;
    bool begins = *glob == '*', open = length > 1 && glob[length - 1] == '*';

    if (!name_matches_folded(glob, folded) || length >= GLOB_MOST || name > NAME_MOST)
        return false;
    for (size_t i = begins; i < length - open; i++)
        core[n++] = (char)tolower((unsigned char)glob[i]);
    core[n] = 0;
    bool common = !strchr(core, '_'); /* a word that programs use too */

    for (size_t at = 0; at <= name && (begins || !at); at++) {
        bool strict = !known && common && *folded != '_';

        if (prefix_fits(folded, at, known) && core_fits(core, open, folded + at, strict))
            return true;
    }
    return false;
}

struct standing standing_of(const struct runtime *runtime, bool known)
{
    return (struct standing){
        .known = known, .runtime = runtime != NULL, .system = !known || (runtime && runtime->kind == RUNTIME_SYSTEM)};
}

bool system_row(const char *glob, enum where where, const char *folded, struct standing standing)
{
    if (where == SYSTEM)
        return standing.system && system_name(glob, folded, standing.known);
    return (where == ANYWHERE || standing.runtime) && name_matches_folded(glob, folded);
}
