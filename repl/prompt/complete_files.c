/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of what lies in the file system: files, databases, programs; and of escapes. */
#include "common/file.h"
#include "common/str.h"
#include "repl/prompt/complete_add.h"
#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A directory goes on; one that is a database may end there. */
static void add_file(struct completion *c, const char *path)
{
    size_t length = strlen(path);
    bool directory = length && path[length - 1] == '/';
    bool quoted = !c->quote && strpbrk(path, " ;\"'#");

    if (directory && looks_like_database(path)) {
        path = arena_strndup(c->arena, path, length - 1);
        directory = false;
    }
    c->out->open |= directory;
    completion_push(c,
                    arena_printf(c->arena, "%s%s%.1s", quoted ? "\"" : "", path,
                                 directory  ? ""
                                 : c->quote ? &c->quote
                                 : quoted   ? "\""
                                            : ""),
                    NULL);
}

/* Files of which the beginning is known; what is special to glob is text here. */
static void add_files(struct completion *c, bool databases)
{
    AUTO_STR struct str pattern = {0};
    glob_t found;

    for (size_t i = 0; i < c->length; i++)
        str_addf(&pattern, "%s%c", strchr("*?[\\", c->word[i]) ? "\\" : "", c->word[i]);
    str_addc(&pattern, '*');
    if (glob(pattern.s, GLOB_MARK | GLOB_TILDE, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc && !c->out->more; i++)
        if (!databases || looks_like_database(found.gl_pathv[i]))
            add_file(c, found.gl_pathv[i]);
    globfree(&found);
}

void completion_files(struct completion *c)
{
    add_files(c, false);
}

void completion_databases(struct completion *c)
{
    vec_foreach(d, &c->session->databases)
        completion_add(c, arena_printf(c->arena, "%s%.1s", d->alias, c->quote ? &c->quote : ""), d->path);
    add_files(c, true);
    add_files(c, false);
}

static void add_programs(struct completion *c, const char *directory)
{
    DIR *d = opendir(directory);

    for (struct dirent *entry; d && (entry = readdir(d)) && !c->out->more;) {
        if (strncmp(entry->d_name, c->word, c->length) || entry->d_name[0] == '.')
            continue;
        AUTO_FREE char *path = file_join(directory, entry->d_name);

        if (!access(path, X_OK) && !file_is_dir(path))
            completion_push(c, entry->d_name, NULL);
    }
    if (d)
        closedir(d);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->text, ((const struct candidate *)b)->text);
}

void completion_commands(struct completion *c)
{
    const char *path = getenv("PATH");

    if (!c->length) {
        c->out->sorts = "a command";
        return;
    }
    if (strchr(c->word, '/')) {
        add_files(c, false);
        return;
    }
    while (path && *path) {
        size_t n = strcspn(path, ":");
        AUTO_FREE char *directory = xstrndup(path, n);

        add_programs(c, n ? directory : ".");
        path += n + (path[n] == ':');
    }
    vec_sort(c->out, by_text);
}

bool completion_shell(struct completion *c)
{
    size_t start = strspn(c->text, " \t"), word;

    start += str_begins(c->text + start, "\\!");
    if (c->text[start] != '!')
        return false;
    for (word = strlen(c->text); word > start + 1 && !strchr(" \t", c->text[word - 1]); word--)
        continue;
    c->word = c->text + word;
    c->length = strlen(c->word);
    c->out->start = word;
    if (word == start + 1 + strspn(c->text + start + 1, " \t"))
        completion_commands(c);
    else
        add_files(c, false);
    return true;
}

bool completion_escapes(struct completion *c)
{
    static const char *const escapes[][2] = {
        {"\\e", "edit the last query in $VISUAL or $EDITOR, and run it"},
        {"\\!", "a command of the shell: \\!ls"},
        {"\\?", "help"},
        {"\\q", "quit"},
    };
    size_t start = strspn(c->text, " \t");

    if (c->text[start] != '\\')
        return false;
    c->word = c->text + start;
    c->length = strlen(c->word);
    c->out->start = start;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        completion_add(c, escapes[i][0], escapes[i][1]);
    c->out->open = true;
    return true;
}
