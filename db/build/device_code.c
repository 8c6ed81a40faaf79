/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes scopes of the work of devices: kernels, with the programs that they are from and the lines of their sources in
 * which they begin. */
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include "db/build/devices.h"

#include <ctype.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind what is no code: a comment, a text. */
static const char *skip(const char *p, uint32_t *line)
{
    const char *from = p, *end = p + 1;

    if (str_begins(p, "/*"))
        end = strstr(p + 2, "*/") ? strstr(p + 2, "*/") + 2 : p + strlen(p);
    else if (str_begins(p, "//"))
        end = p + strcspn(p, "\n");
    else if (*p == '"')
        for (; *end && *end != '\n' && end[-1] != '"'; end++)
            end += *end == '\\' && end[1];
    for (; from < end; from++)
        *line += *from == '\n';
    return end;
}

/* The line in which a kernel is defined in OpenCL C; 0: it is not there by that name, as where a macro makes it. */
static uint32_t line_of(const char *text, const char *kernel)
{
    size_t length = strlen(kernel);
    uint32_t line = 1, found = 0;
    bool announced = false; /* by `kernel` in this declaration */

    for (const char *p = text; *p;) {
        if (!is_of_name(*p)) {
            if (*p == ';' || *p == '{' || *p == '}') {
                if (found && *p == '{')
                    return found;
                announced = false;
                found = 0;
            }
            p = skip(p, &line);
            continue;
        }
        const char *end = p;

        while (is_of_name(*end))
            end++;
        size_t n = (size_t)(end - p);

        if ((n == 6 && !strncmp(p, "kernel", n)) || (n == 8 && !strncmp(p, "__kernel", n)))
            announced = true;
        else if (announced && n == length && !strncmp(p, kernel, n) && end[strspn(end, " \t\r\n")] == '(')
            found = line;
        p = end;
    }
    return 0;
}

/* The source of a program beside the measurements that the tree is of, or in the model already. */
static const char *source_of(struct model *m, const struct calltree *tree, const char *file, struct str *text)
{
    const char *last = "";

    for (size_t i = 0; i < tree->modules.len; i++) {
        const char *directory = intern_str(&tree->strings, tree->modules.data[i].directory);
        AUTO_FREE char *path = file_join(directory, file);

        if (!*directory || !strcmp(directory, last) || !file_exists(path))
            continue;
        last = directory;
        AUTO_ERROR struct hq_error *error = file_read_regular(path, text, MOST_BYTES);

        if (!error && !memchr(str_cstr(text), 0, text->len)) {
            model_source_once(m, file, str_cstr(text), text->len);
            return str_cstr(text);
        }
        str_clear(text);
    }
    return NULL;
}

uint32_t devices_code(struct model *m, const struct calltree *tree, const struct tree_frame *f)
{
    static const char kernel[] = "[kernel ";
    const char *name = intern_str(&tree->strings, (uint32_t)f->offset);
    const char *program = intern_str(&tree->strings, (uint32_t)(f->offset >> 32)), *text = NULL;
    bool is_kernel = !strncmp(name, kernel, sizeof kernel - 1);
    AUTO_FREE char *own = is_kernel ? xstrndup(name + sizeof kernel - 1, strlen(name) - sizeof kernel) : NULL;
    AUTO_FREE char *file = xstrndup(program, strcspn(program, " "));
    const char *aliases[] = {own, NULL}; /* a kernel is found by its own name too */
    AUTO_STR struct str source = {0};
    uint32_t scope, line;

    if (is_kernel && *file && !strchr(file, '/'))
        text = source_of(m, tree, file, &source);
    line = text ? line_of(text, own) : 0;
    scope = model_scope(m, &(struct model_scope){.kind = SCOPE_DEVICE,
                                                 .parent = MODEL_ROOT,
                                                 .name = name,
                                                 .linkage = program,
                                                 .file = text ? file : "",
                                                 .line = line,
                                                 .module = HQDB_NONE,
                                                 .aliases = aliases});
    if (line)
        scope = model_scope(m,
                            &(struct model_scope){
                                .kind = SCOPE_LINE, .parent = scope, .file = file, .line = line, .module = HQDB_NONE});
    return model_code(m, HQDB_NONE, 0, scope, scope);
}
