/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/image.h"

#include "common/mem.h"
#include "common/search.h"
#include "structure/elf.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HEADER = 12 };
#define SPAN_MAX (1ull << 31) /* the distances in a search table have 31 bits */

void *index_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void index_give_back(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

static uint64_t page_up(uint64_t n)
{
    return (n + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* ---- a search table, where there is none ---- */

struct row {
    int32_t at, entry;
};

struct table { /* made behind the segments */
    struct perf_image *image;
    struct cfi *scratch;
    uint8_t *at, *end;
    VEC(struct row) rows;
};

static int compare_rows(const void *pa, const void *pb)
{
    const struct row *a = pa, *b = pb;

    return (a->at > b->at) - (a->at < b->at);
}

static uint32_t half_at(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, 4);
    return value;
}

/* Entries as those of .eh_frame, which lie in the image. Distances are from its beginning, at first. */
static void add_entries(struct table *t, const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 8) {
        uint64_t length = half_at(at), start, bytes;
        const uint8_t *next = at + 4 + length;

        if (length == 0xffffffff || length > (uint64_t)(end - at) - 4)
            break;
        if (length > 4 && half_at(at + 4) != 0 && cfi_extent(at, &t->image->code, t->scratch, &start, &bytes) &&
            bytes && start - t->image->code.start < SPAN_MAX)
            vec_push(&t->rows, (struct row){(int32_t)(start - t->image->code.start),
                                            (int32_t)((uint64_t)at - t->image->code.start)});
        at = next;
    }
}

static void put(struct table *t, const void *bytes, size_t n)
{
    memcpy(t->at, bytes, n);
    t->at += n;
}

static void put_half(struct table *t, uint32_t value)
{
    put(t, &value, 4);
}

/* A common entry of .debug_frame as one of .eh_frame. False: it is of a kind that is not read. */
static bool convert_common(struct table *t, const uint8_t *at, uint64_t length)
{
    const uint8_t *body = at + 10; /* behind version and an empty augmentation */
    uint8_t version = at[8];

    if (length < 12 || at[9] != 0 || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4) {
        if (body[0] != 8 || body[1] != 0)
            return false;
        body += 2;
    }
    size_t rest = (size_t)(at + 4 + length - body);
    uint8_t head[2] = {version == 1 ? 1 : 3, 0};

    put_half(t, (uint32_t)(4 + 2 + rest));
    put_half(t, 0);
    put(t, head, 2);
    put(t, body, rest);
    return true;
}

struct common {
    uint64_t offset; /* they ascend */
    uint8_t *made;
};

/* Addresses in .debug_frame are link addresses of eight bytes; in our memory they are ours. */
static void convert(struct table *t, const uint8_t *data, size_t size)
{
    VEC(struct common) known = {0};
    uint64_t start;

    for (size_t at = 0; size - at >= 24;) {
        const uint8_t *entry = data + at;
        uint64_t length = half_at(entry);

        if (length > size - at - 4 || length < 8 || (uint64_t)(t->end - t->at) < length + 16)
            break;
        uint32_t common = half_at(entry + 4);

        if (common == 0xffffffff) {
            uint8_t *made = t->at;

            if (convert_common(t, entry, length))
                vec_push(&known, (struct common){at, made});
        } else if (known.len && length >= 20) {
            size_t i = SEARCH(k, known.len, known.data[k].offset < common);

            if (i < known.len && known.data[i].offset == common) {
                memcpy(&start, entry + 8, 8);
                start = perf_image_here(t->image, start);
                put_half(t, (uint32_t)length);
                put_half(t, (uint32_t)(t->at - known.data[i].made));
                put(t, &start, 8);
                put(t, entry + 16, length - 12);
            }
        }
        at += 4 + length;
    }
    vec_deinit(&known);
}

/* Do these addresses lie in what the segments span? */
static bool is_within(const struct perf_image *image, uint64_t address, uint64_t size)
{
    return address >= image->low && address - image->low <= image->span && size <= image->span - (address - image->low);
}

static void make_table(struct perf_image *image, struct elf *elf, uint8_t *from, uint8_t *end)
{
    struct table t = {.image = image, .at = from, .end = end, .scratch = xcalloc(1, sizeof *t.scratch)};
    struct elf_section *frames = elf_find_section(elf, ".eh_frame");
    const uint8_t *data;
    size_t size;

    if (frames && is_within(image, frames->address, frames->size)) {
        const uint8_t *at = (const uint8_t *)perf_image_here(image, frames->address);

        add_entries(&t, at, at + frames->size);
    }
    if (elf_read_section(elf, ".debug_frame", &data, &size)) {
        uint8_t *made = t.at;

        convert(&t, data, size);
        add_entries(&t, made, t.at);
    }
    t.at = (uint8_t *)(((uint64_t)t.at + 7) & ~7ull);
    if (t.rows.len && (uint64_t)(end - t.at) >= HEADER + t.rows.len * sizeof(struct row)) {
        int32_t back = (int32_t)(t.at - (uint8_t *)image->code.start);
        const uint8_t header[4] = {1, 0x1b, 0x03, 0x3b};

        image->code.eh_frame_hdr = t.at;
        vec_sort(&t.rows, compare_rows);
        put(&t, header, 4);
        put_half(&t, 0);
        put_half(&t, (uint32_t)t.rows.len);
        vec_foreach(r, &t.rows) {
            put_half(&t, (uint32_t)(r->at - back));
            put_half(&t, (uint32_t)(r->entry - back));
        }
    }
    vec_deinit(&t.rows);
    free(t.scratch);
}

/* ---- layout ---- */

static bool read_headers(int fd, Elf64_Phdr **out, size_t *count)
{
    Elf64_Ehdr h;

    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.e_phentsize != sizeof **out || !h.e_phnum)
        return false;
    *count = h.e_phnum;
    *out = xcalloc(*count, sizeof **out);
    return pread(fd, *out, *count * sizeof **out, (off_t)h.e_phoff) == (ssize_t)(*count * sizeof **out);
}

static bool map_segments(struct perf_image *image, int fd, const Elf64_Phdr *headers, size_t count, uint64_t file_size)
{
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *p = &headers[i];
        uint64_t page = p->p_vaddr & ~(uint64_t)(PAGE - 1), lead = p->p_vaddr - page;

        if (p->p_type == PT_GNU_EH_FRAME && p->p_filesz && is_within(image, p->p_vaddr, p->p_filesz))
            image->code.eh_frame_hdr = (const uint8_t *)perf_image_here(image, p->p_vaddr);
        if (p->p_type != PT_LOAD || !p->p_filesz || !p->p_memsz)
            continue;
        if (p->p_offset > file_size || p->p_filesz > file_size - p->p_offset || p->p_offset < lead ||
            (p->p_offset - lead) % PAGE)
            return false;
        if (mmap((void *)perf_image_here(image, page), lead + p->p_filesz, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
                 (off_t)(p->p_offset - lead)) == MAP_FAILED)
            return false;
        vec_push(&image->loads, (struct perf_load){p->p_offset, p->p_filesz, p->p_vaddr, p->p_flags & PF_X});
        if (p->p_flags & PF_X)
            vec_push(&image->texts, (struct perf_text){perf_image_here(image, p->p_vaddr),
                                                       perf_image_here(image, p->p_vaddr) + p->p_filesz});
    }
    return image->texts.len > 0;
}

static uint64_t section_bytes(struct elf *elf, const char *name)
{
    const uint8_t *data;
    size_t size;

    return elf_read_section(elf, name, &data, &size) ? size : 0;
}

/* Is it one of those by which Go leaves a goroutine's stack? They write no unwind information that says so. */
static bool changes_stack(const char *name)
{
    static const char *const names[] = {"runtime.systemstack", "runtime.mcall", "runtime.morestack"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);

        if (!strncmp(name, names[i], n) && (!name[n] || !strcmp(name + n, ".abi0")))
            return true;
    }
    return false;
}

/* Finds main, and the procedures that change stacks. */
static void find_procedures(struct perf_image *image, struct elf *elf)
{
    struct elf_symbols symbols = {0};

    if (elf->entry)
        elf_read_symbols(elf, ".symtab", &symbols);
    vec_foreach(s, &symbols)
        if (s->type != STT_FUNC)
            continue;
        else if (!strcmp(s->name, "main"))
            image->main = s->value;
        else if (changes_stack(s->name))
            vec_push(&image->switches, (struct perf_text){s->value, s->value + s->size});
    vec_deinit(&symbols);
}

static bool lay_out(struct perf_image *image, struct elf *elf, int fd)
{
    AUTO_FREE Elf64_Phdr *headers = NULL;
    size_t count = 0;
    uint64_t high = 0, room = 0;
    bool has_table = false;

    if (!read_headers(fd, &headers, &count))
        return false;
    image->low = UINT64_MAX;
    image->entry = elf->entry;
    find_procedures(image, elf);
    for (size_t i = 0; i < count; i++) {
        const Elf64_Phdr *p = &headers[i];

        has_table |= p->p_type == PT_GNU_EH_FRAME && p->p_filesz;
        if (p->p_type != PT_LOAD || !p->p_memsz)
            continue;
        if (p->p_filesz > p->p_memsz || p->p_memsz > UINT64_MAX - p->p_vaddr)
            return false;
        if ((p->p_vaddr & ~(uint64_t)(PAGE - 1)) < image->low)
            image->low = p->p_vaddr & ~(uint64_t)(PAGE - 1);
        if (p->p_vaddr + p->p_memsz > high)
            high = p->p_vaddr + p->p_memsz;
    }
    if (image->low >= high || high - image->low >= SPAN_MAX / 2)
        return false;
    image->span = page_up(high - image->low);
    if (!has_table)
        room = page_up(section_bytes(elf, ".eh_frame") + 3 * section_bytes(elf, ".debug_frame") + PAGE);
    if (room > SPAN_MAX / 2)
        return false;
    image->reserved = image->span + room;
    void *memory = mmap(NULL, image->reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    image->code = (struct code){
        .index = &image->index, .start = (uint64_t)memory, .end = (uint64_t)memory + image->reserved, .module = 1};
    if (!map_segments(image, fd, headers, count, elf->size))
        return false;
    if (room && mprotect((uint8_t *)memory + image->span, room, PROT_READ | PROT_WRITE) == 0)
        make_table(image, elf, (uint8_t *)memory + image->span, (uint8_t *)memory + image->reserved);
    return true;
}

struct perf_image *perf_image_open(const char *path, const uint8_t *build_id, size_t build_id_len)
{
    struct perf_image *image = xcalloc(1, sizeof *image);
    struct elf *elf = NULL;
    AUTO_ERROR struct hq_error *err = elf_open(path, &elf);
    AUTO_CLOSE int fd = err ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool other = !err && build_id_len && elf->build_id &&
                 (elf->build_id_size != build_id_len || memcmp(elf->build_id, build_id, build_id_len) != 0);

    if (fd < 0 || other || !lay_out(image, elf, fd)) {
        perf_image_close(image);
        image = NULL;
    }
    if (!err)
        elf_close(elf);
    return image;
}

void perf_image_close(struct perf_image *image)
{
    if (!image)
        return;
    if (image->code.start)
        munmap((void *)image->code.start, image->reserved);
    vec_deinit(&image->texts);
    vec_deinit(&image->switches);
    vec_deinit(&image->loads);
    free(image);
}

uint64_t perf_image_bias(const struct perf_image *image, uint64_t start, uint64_t offset)
{
    const struct perf_load *of = NULL;

    vec_foreach(l, &image->loads)
        if (offset >= (l->offset & ~(uint64_t)(PAGE - 1)) && offset < l->offset + l->bytes && (!of || l->text))
            of = l;
    return start - offset + (of ? of->offset - of->address : -image->low);
}

uint64_t perf_image_file_offset(const struct perf_image *image, uint64_t address)
{
    vec_foreach(l, &image->loads)
        if (address >= l->address && address - l->address < l->bytes)
            return address - l->address + l->offset;
    return address;
}
