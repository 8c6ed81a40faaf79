/* SPDX-License-Identifier: BSD-3-Clause */
#include "structure/image.h"
#include "structure/elf_kind.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/str.h"
#include <string.h>
#include <sys/auxv.h>

bool image_is_expected(const struct elf *text, const struct structure_options *options)
{
    if (!options->build_id || !options->build_id_len)
        return true;
    return text->build_id && text->build_id_size == options->build_id_len &&
           !memcmp(text->build_id, options->build_id, options->build_id_len);
}

static bool is_vdso(const char *path)
{
    const char *name = file_basename(path);

    return !strcmp(path, "[vdso]") || str_begins(name, "linux-vdso.so");
}

/* The kernel maps the whole file: the section headers at its end say how long it is. */
static struct hq_error *open_vdso(const char *path, struct elf **out)
{
    const uint8_t *base = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    Elf64_Ehdr header;

    *out = NULL;
    if (!base)
        return hq_error_new(HQ_DATA, "%s: this process has none", path);
    memcpy(&header, base, sizeof header);
    return elf_open_memory(path, base, header.e_shoff + (size_t)header.e_shnum * header.e_shentsize, out);
}

struct hq_error *image_open(const char *path, bool servers, struct image *out)
{
    *out = (struct image){0};
    HQ_TRY(is_vdso(path) ? open_vdso(path, &out->text) : elf_open(path, &out->text));
    struct hq_error *err = elf_changed(out->text) ? elf_changed_error(path) : elf_check_linked(out->text);
    if (err) {
        image_close(out);
        return err;
    }
    debug_file_find(out->text, servers, &out->files);
    out->sources = sources_open(path);
    return NULL;
}

void image_read_code(struct image *image)
{
    symbols_read(image->text, image->files.debug, &image->symbols);
    frames_read(image->text, &image->frames);
    image->gaps = xcalloc(1, sizeof *image->gaps);
    gaps_init(image->gaps, image->text);
}

void image_read(struct image *image)
{
    image_read_code(image);
    plt_read(image->text, &image->symbols, &image->plt);
    AUTO_ERROR struct hq_error *err = dwarf_open(image->text, image->files.debug, image->files.alt, &image->dwarf);

    if (err)
        image->problem = xstrdup(err->message);
}

void image_close(struct image *image)
{
    dwarf_close(image->dwarf);
    if (image->gaps)
        gaps_deinit(image->gaps);
    free(image->gaps);
    plt_deinit(&image->plt);
    frames_deinit(&image->frames);
    symbols_deinit(&image->symbols);
    if (image->text)
        debug_file_close(&image->files, image->text);
    elf_close(image->text);
    sources_close(image->sources);
    free(image->problem);
    *image = (struct image){0};
}

struct hq_error *image_changed(const struct image *image)
{
    const struct elf *files[] = {image->text, image->files.debug, image->files.alt,
                                 image->dwarf ? dwarf_changed(image->dwarf) : NULL};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] && elf_changed(files[i]))
            return elf_changed_error(files[i]->path);
    return NULL;
}

char *image_note(const struct image *image)
{
    const char *path = image->text->path;
    if (image->text->cut_short)
        return xasprintf("%s: cut short: its end, with the list of its sections, is missing", path);
    const char *broken = image->files.debug->unreadable ? image->files.debug->unreadable : image->text->unreadable;

    if (broken)
        return xasprintf("%s: section %s cannot be decompressed; procedures and lines are incomplete", path, broken);
    const char *beyond = image->files.debug->beyond ? image->files.debug->beyond : image->text->beyond;
    if (beyond)
        return xasprintf("%s: has more %s than linkers make; procedures and lines are incomplete", path, beyond);
    if (image->problem)
        return xstrdup(image->problem);
    if (image->dwarf && dwarf_problem(image->dwarf))
        return xasprintf("%s: %s", path, dwarf_problem(image->dwarf));
    if (image->files.problem)
        return xasprintf("%s: %s", path, image->files.problem);
    if (image->dwarf || is_vdso(path))
        return NULL;
    if (image->symbols.count)
        return xasprintf("%s: no debug information, so no lines and no inlined procedures", path);
    return xasprintf("%s: stripped, so procedures have no names", path);
}
