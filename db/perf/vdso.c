/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/perf/vdso.h"

#include "common/mem.h"
#include "common/str.h"
#include "structure/elf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

bool perf_vdso_own(struct perf_vdso *out)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: the kernel maps it there */
    struct elf *elf = NULL;

    *out = (struct perf_vdso){.image = h};
    if (!h)
        return false;
    /* The section headers at its end say how long it is. */
    out->size = h->e_shoff + (size_t)h->e_shentsize * h->e_shnum;
    AUTO_ERROR struct hq_error *err = elf_open_memory("[vdso]", h, out->size, &elf);
    if (err)
        return false;
    out->build_id_len = (uint8_t)(elf->build_id_size < PERF_BUILD_ID ? elf->build_id_size : PERF_BUILD_ID);
    if (out->build_id_len)
        memcpy(out->build_id, elf->build_id, out->build_id_len);
    elf_close(elf);
    return true;
}

static int open_own(const uint8_t *build_id)
{
    struct perf_vdso own;

    if (!perf_vdso_own(&own) || own.build_id_len != PERF_BUILD_ID || memcmp(own.build_id, build_id, PERF_BUILD_ID) != 0)
        return -1;
    int fd = memfd_create("hq-vdso", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, own.image, own.size) != (ssize_t)own.size) {
        close(fd);
        return -1;
    }
    return fd;
}

/* As perf buildid-cache(1) has it: the first byte of the build-id is a directory, the others one in it. */
static int open_kept(const uint8_t *build_id)
{
    const char *home = getenv("HOME");
    AUTO_STR struct str path = {0};

    if (!home)
        return -1;
    str_addf(&path, "%s/.debug/.build-id/", home);
    str_add_hex(&path, build_id, 1);
    str_add(&path, "/");
    str_add_hex(&path, build_id + 1, PERF_BUILD_ID - 1);
    str_add(&path, "/vdso");
    return open(str_cstr(&path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int perf_vdso_open(const uint8_t *build_id)
{
    int fd = open_own(build_id);

    return fd >= 0 ? fd : open_kept(build_id);
}
