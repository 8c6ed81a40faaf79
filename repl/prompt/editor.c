/* SPDX-License-Identifier: BSD-3-Clause */
#include "repl/prompt/editor.h"
#include "common/file.h"
#include "common/mem.h"
#include "repl/pager.h"
#include <string.h>

enum { QUERY_MAX = 1 << 20 };

static const char *editor_command(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

static struct hq_error *edit_file(const char *path, const char *text, struct str *out)
{
    AUTO_FREE char *command = xasprintf("%s '%s'", editor_command(), path);
    AUTO_FCLOSE FILE *f = fopen(path, "w");

    if (!f || fprintf(f, "%s\n", text) < 0 || fflush(f))
        return hq_error_errno(HQ_DATA, "cannot write %s", path);
    HQ_TRY(pager_run(command));
    str_clear(out);
    if (file_is_other(path))
        return hq_error_new(HQ_DATA, "%s: what the editor has left there is no file to be read", path);
    return file_read(path, out, QUERY_MAX);
}

struct hq_error *editor_run(const char *text, struct str *out)
{
    char dir[] = "/tmp/hq-edit-XXXXXX";

    /* A directory of our own, so that the file can have a name by which editors know what it is. */
    if (!mkdtemp(dir))
        return hq_error_errno(HQ_DATA, "no place for the text to be edited");
    AUTO_FREE char *path = file_join(dir, "query.hq");
    struct hq_error *error = edit_file(path, text, out);

    hq_error_free(file_remove_tree(dir));
    return error;
}
