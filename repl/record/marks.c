/* SPDX-License-Identifier: BSD-3-Clause */
/* `hq record --mark`: looks for the procedures in the program and its libraries, and writes where they are entered and
 * left, for the collector (format/patches.h). */
#include "repl/record/record.h"

#include "common/file.h"
#include "common/mem.h"
#include "common/names.h"
#include "common/str.h"
#include "common/suggest.h"
#include "db/runtimes.h"
#include "structure/ways.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* As questions match: the whole name first, then its last part, then wildcards (query/pattern/pattern.h). */
enum stage { WHOLE, UNQUALIFIED, GLOB, STAGES };

struct pattern {
    const char *word;
    int stage; /* that it was found in, -1: not yet */
};

struct marks {
    VEC(char *) files;
    VEC(struct pattern) patterns;
    VEC(struct ways) ways; /* of each file */
    enum stage stage;      /* that is tried */
    struct arena arena;
    struct suggest near; /* to the first pattern */
};

static void deinit(struct marks *m)
{
    vec_foreach(file, &m->files)
        free(*file);
    vec_foreach(w, &m->ways)
        ways_deinit(w);
    vec_deinit(&m->files);
    vec_deinit(&m->patterns);
    vec_deinit(&m->ways);
    arena_deinit(&m->arena);
}

/* ---- which files ---- */

static void add_file(struct marks *m, const char *path)
{
    char *real = realpath(path, NULL);

    vec_foreach(file, &m->files)
        if (real && !strcmp(*file, real)) {
            free(real);
            return;
        }
    if (real)
        vec_push(&m->files, real);
}

/* Does it hold code for this machine? *loader: it says which loader it wants. */
static bool is_binary(const char *path, bool *loader)
{
    Elf64_Ehdr header;
    struct stat st;
    int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool is = fd >= 0 && read(fd, &header, sizeof header) == sizeof header &&
              memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_X86_64;

    *loader = false;
    for (int i = 0; is && i < header.e_phnum; i++) {
        Elf64_Phdr segment;

        *loader |= pread(fd, &segment, sizeof segment, (off_t)(header.e_phoff + i * sizeof segment)) ==
                       sizeof segment &&
                   segment.p_type == PT_INTERP;
    }
    if (fd >= 0)
        close(fd);
    return is;
}

/* Runs the loader, which tells what it would load: lines `libm.so.6 => /lib/libm.so.6 (0x...)`. */
static void add_libraries(struct marks *m, const char *path)
{
    static const char loader[] = "/lib64/ld-linux-x86-64.so.2";
    int ends[2];
    pid_t pid = pipe(ends) == 0 ? fork() : -1;
    char line[4096];

    if (pid == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(2);
        execl(loader, loader, "--list", path, (char *)NULL);
        _exit(127);
    }
    if (pid < 0)
        return;
    close(ends[1]);
    FILE *list = fdopen(ends[0], "r");
    while (list && fgets(line, sizeof line, list)) {
        char *name = strstr(line, "=> /");

        name = name ? name + 3 : NULL;
        if (name && strstr(name, " (0x"))
            *strstr(name, " (0x") = 0;
        if (name)
            add_file(m, name);
    }
    if (list)
        fclose(list);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static bool can_be_marked(const char *path)
{
    const struct runtime *runtime = runtime_of_module(path);

    return !(runtime && runtime->kind == RUNTIME_SYSTEM) && !str_begins(file_basename(path), "libhq") &&
           !str_begins(file_basename(path), "libpapi");
}

/* Adds what a launcher is told to run: words that are paths of programs; if none is, those that PATH finds. */
static void add_launched(struct marks *m, const struct opt_args *args)
{
    bool loader, any = false;
    int status;

    for (size_t i = 1; i < args->operands.len; i++)
        if (is_binary(args->operands.data[i], &loader) && loader) {
            add_file(m, args->operands.data[i]);
            any = true;
        }
    for (size_t i = 1; i < args->operands.len && !any; i++) {
        AUTO_FREE char *found = record_find_command(args->operands.data[i], &status);

        if (found && is_binary(found, &loader) && loader)
            add_file(m, found);
    }
}

/* The program, and what a launcher is told to run; the libraries of each; what was named besides. */
static struct hq_error *find_files(const struct opt_args *args, const char *program, struct marks *m)
{
    size_t programs;
    bool loader;

    for (size_t i = 0; i < opt_count(args, "mark-in"); i++) {
        const char *path = opt_value_at(args, "mark-in", i);

        if (!is_binary(path, &loader))
            return hq_error_new(HQ_USAGE, "--mark-in %s: there is no such program or library", path);
        if (!can_be_marked(path))
            return hq_error_new(HQ_USAGE, "--mark-in %s: procedures of the C library and of hq cannot be marked", path);
        add_file(m, path);
    }
    if (is_binary(program, &loader))
        add_file(m, program);
    add_launched(m, args);
    programs = m->files.len;
    for (size_t i = 0; i < programs; i++)
        if (is_binary(m->files.data[i], &loader))
            add_libraries(m, m->files.data[i]);
    return NULL;
}

/* ---- which procedures ---- */

static bool test(const struct pattern *p, enum stage stage, const char *name)
{
    switch (stage) {
    case WHOLE: return name_is(name, p->word);
    case UNQUALIFIED: return strchr(name, ':') && name_ends(name, p->word);
    default: return strpbrk(p->word, "*?") && name_matches_glob(name, p->word);
    }
}

static bool wanted(void *arg, const char *name)
{
    struct marks *m = arg;
    bool any = false;
    size_t length;

    vec_foreach(p, &m->patterns)
        if (test(p, p->stage < 0 ? m->stage : (enum stage)p->stage, name)) {
            p->stage = p->stage < 0 ? (int)m->stage : p->stage;
            any = true;
        }
    if (m->stage == WHOLE && !any) {
        const char *last = name_last(name, &length);
        suggest_add(&m->near, arena_strndup(&m->arena, last, length));
    }
    return any;
}

static const struct pattern *missing(const struct marks *m)
{
    vec_foreach(p, &m->patterns)
        if (p->stage < 0)
            return p;
    return NULL;
}

/* Nothing in the C library can be marked, but visits are left by its longjmp. Before 2.34 its file is libc-2.31.so. */
static void look_for_others(const char *file, struct ways *out)
{
    const char *name = file_basename(file);

    if (str_begins(name, "libc.so") || str_begins(name, "libc-2."))
        hq_error_free(ways_find(file, NULL, NULL, out));
}

static struct hq_error *look(struct marks *m)
{
    vec_foreach(w, &m->ways)
        ways_deinit(w);
    vec_clear(&m->ways);
    vec_foreach(file, &m->files)
        if (can_be_marked(*file)) {
            struct hq_error *error = ways_find(*file, wanted, m, vec_add(&m->ways));

            if (error && missing(m) && vec_last(&m->ways).procedures.len == 0)
                hq_error_free(error); /* perhaps it is in another one */
            else if (error)
                return error;
        } else {
            look_for_others(*file, vec_add(&m->ways));
        }
    return NULL;
}

static struct hq_error *find(struct marks *m)
{
    AUTO_STR struct str near = {0};

    suggest_init(&m->near, m->patterns.data[0].word, 3);
    for (m->stage = WHOLE; m->stage < STAGES && (m->stage == WHOLE || missing(m)); m->stage++)
        HQ_TRY(look(m));
    const struct pattern *p = missing(m);
    if (!p)
        return NULL;
    if (p == m->patterns.data)
        suggest_text(&m->near, &near);
    return hq_error_new(HQ_USAGE,
                        "--mark %s: there is no such procedure in the program and the libraries that it is linked "
                        "with%s; --mark-in FILE looks in another program or library, and those of the C library cannot "
                        "be marked",
                        p->word, str_cstr(&near));
}

/* ---- what is said and written ---- */

/* A pattern such as * means hundreds that nobody thinks of. */
static struct hq_error *report(const struct marks *m)
{
    enum { TOLD = 20 };
    size_t marked = 0, told = 0;

    for (size_t i = 0; i < m->ways.len; i++)
        vec_foreach(p, &m->ways.data[i].procedures) {
            const char *file = file_basename(m->files.data[i]);

            marked += !p->refused;
            if ((p->refused || p->inlined) && told++ >= TOLD)
                continue;
            if (p->refused)
                fprintf(stderr, "hq: %s in %s is not marked: %s\n", p->name, file, p->refused);
            else if (p->inlined)
                fprintf(stderr, "hq: %s in %s is also inlined at %u places, whose visits are not marked\n", p->name,
                        file, p->inlined);
        }
    if (told > TOLD)
        fprintf(stderr, "hq: %zu more are not marked, or inlined at some places\n", told - TOLD);
    return marked ? NULL : hq_error_new(HQ_USAGE, "--mark: none of the procedures can be marked");
}

static void write_places(const struct marks *m, struct str *out)
{
    struct hqp_header header = {.magic = HQP_MAGIC};
    uint32_t first = 0;

    vec_foreach(x, &m->ways) {
        header.modules += x->places.len > 0;
        header.places += (uint32_t)x->places.len;
    }
    str_addn(out, (const char *)&header, sizeof header);
    vec_foreach(x, &m->ways) {
        struct hqp_module module = {.build_id_len = x->build_id_len, .first = first, .count = (uint32_t)x->places.len};

        memcpy(module.build_id, x->build_id, sizeof module.build_id);
        first += module.count;
        if (module.count)
            str_addn(out, (const char *)&module, sizeof module);
    }
    vec_foreach(x, &m->ways)
        str_addn(out, (const char *)x->places.data, x->places.len * sizeof *x->places.data);
}

struct hq_error *record_find_marks(const struct opt_args *args, const char *program, struct str *places)
{
    AUTO(deinit) struct marks m = {0};

    if (!opt_count(args, "mark"))
        return opt_count(args, "mark-in") ? hq_error_new(HQ_USAGE, "--mark-in says where to look; --mark says for what")
                                          : NULL;
    for (size_t i = 0; i < opt_count(args, "mark"); i++)
        vec_push(&m.patterns, (struct pattern){opt_value_at(args, "mark", i), -1});
    HQ_TRY(find_files(args, program, &m));
    HQ_TRY(find(&m));
    HQ_TRY(report(&m));
    write_places(&m, places);
    return NULL;
}
