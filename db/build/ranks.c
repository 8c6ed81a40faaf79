/* SPDX-License-Identifier: BSD-3-Clause */
#include "db/build/ranks.h"

#include "common/file.h"
#include "common/log.h"
#include "common/mem.h"
#include "db/mpi/shim.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static long number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? strtol(text, NULL, 10) : 0;
}

/* The MPI whose launcher started us with others; NULL: none. */
static const char *launcher(void)
{
    if (number_of("OMPI_COMM_WORLD_SIZE") > 1)
        return "openmpi";
    return number_of("PMI_SIZE") > 1 ? "mpich" : NULL;
}

static const struct hq_mpi *load(const char *name)
{
    static const char *const places[] = {"", "../", "../lib/hq/"};
    AUTO_FREE char *self = file_program();
    AUTO_FREE char *directory = self ? file_dirname(self) : xstrdup(".");

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        AUTO_FREE char *path = xasprintf("%s/%slibhqmpi-%s.so", directory, places[i], name);
        void *library;

        if (file_is_absent(path))
            continue;
        /* MPI libraries load parts of themselves that look for the first one's symbols. */
        library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (library)
            return dlsym(library, HQ_MPI_SYMBOL);
        log_warn("%s cannot be loaded (%s); every rank works alone", path, dlerror());
        return NULL;
    }
    log_warn("this hq was built without %s; one rank builds and the others wait", name);
    return NULL;
}

void ranks_start(struct ranks *r)
{
    const char *name = launcher();

    *r = (struct ranks){.size = 1};
    r->mpi = name ? load(name) : NULL;
    if (r->mpi)
        r->mpi->start(&r->rank, &r->size);
}

void ranks_end(struct ranks *r)
{
    if (r->mpi)
        r->mpi->end();
    r->mpi = NULL;
}

void ranks_send(const struct ranks *r, const struct bytes *b, int to)
{
    r->mpi->send(b->data, b->len, to);
}

void ranks_receive(const struct ranks *r, struct bytes *b, int from)
{
    vec_clear(b);
    b->len = 0;
    uint64_t bytes = r->mpi->next_size(from);

    vec_reserve(b, bytes);
    r->mpi->receive(b->data, bytes, from);
    b->len = bytes;
}

void ranks_broadcast(const struct ranks *r, struct bytes *b)
{
    uint64_t bytes = b->len;

    if (!r->mpi)
        return;
    r->mpi->broadcast(&bytes, sizeof bytes);
    if (r->rank) {
        vec_clear(b);
        vec_reserve(b, bytes);
        b->len = bytes;
    }
    r->mpi->broadcast(b->data, bytes);
}

void ranks_abort(const struct ranks *r, int status)
{
    if (r->mpi)
        r->mpi->abort(status);
}
