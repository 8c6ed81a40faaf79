/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/mpi/abi.h"

#include "preload/lock.h"
#include "preload/sources/exact.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_BYTES = 8192 }; /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH, the largest known */

static const struct abi table[] = {
#define ABI(id, sign, ...) {.name = #id, .symbol = sign, .versions = __VA_ARGS__},
#include "preload/mpi/abi.def"
};

static struct mpi found;
static _Atomic bool is_known;
static _Atomic unsigned lock;

static bool is_version(const struct abi *abi, const char *version)
{
    for (size_t i = 0; i < sizeof abi->versions / sizeof *abi->versions && abi->versions[i]; i++)
        if (strstr(version, abi->versions[i]))
            return true;
    return false;
}

static const struct abi *recognise(const void *function)
{
    int (*get_version)(char *, int *) = hq_exact_symbol(function, "PMPI_Get_library_version");
    static char version[VERSION_BYTES + 1];
    int length = 0;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].symbol && hq_exact_symbol(function, table[i].symbol))
            return &table[i];
    if (get_version)
        get_version(version, &length);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (is_version(&table[i], version))
            return &table[i];
    return NULL;
}

static bool find_functions(struct mpi *m, const void *function)
{
    struct {
        void *where;
        const char *name;
    } wanted[] = {
        {&m->type_size, "PMPI_Type_size_x"},
        {&m->error_class, "PMPI_Error_class"},
        {&m->comm_rank, "PMPI_Comm_rank"},
        {&m->comm_test_inter, "PMPI_Comm_test_inter"},
        {&m->comm_group, "PMPI_Comm_group"},
        {&m->comm_remote_group, "PMPI_Comm_remote_group"},
        {&m->group_size, "PMPI_Group_size"},
        {&m->group_free, "PMPI_Group_free"},
        {&m->group_translate, "PMPI_Group_translate_ranks"},
        {&m->topo_test, "PMPI_Topo_test"},
        {&m->cartdim_get, "PMPI_Cartdim_get"},
        {&m->cart_shift, "PMPI_Cart_shift"},
        {&m->graph_neighbors_count, "PMPI_Graph_neighbors_count"},
        {&m->graph_neighbors, "PMPI_Graph_neighbors"},
        {&m->dist_graph_neighbors_count, "PMPI_Dist_graph_neighbors_count"},
        {&m->dist_graph_neighbors, "PMPI_Dist_graph_neighbors"},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *address = hq_exact_symbol(function, wanted[i].name);

        if (!address)
            return false;
        memcpy(wanted[i].where, &address, sizeof address);
    }
    return true;
}

/* Common blocks, as the Fortran compilers spell them. */
static void find_spellings(const void *function, const char *what, const void **addresses)
{
    static const char *const ends[] = {"_", "", "__"};
    char name[64];

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "mpi_fortran_%s%s", what, ends[i]);
        addresses[i] = hq_exact_symbol(function, name);
    }
    snprintf(name, sizeof name, "MPI_FORTRAN_%s", what);
    for (char *c = name; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    addresses[3] = hq_exact_symbol(function, name);
}

static void find_fortran(struct mpi *m, const void *function)
{
    if (m->abi->handle_bytes == 8) {
        m->comm_f2c = hq_exact_symbol(function, "PMPI_Comm_f2c");
        m->type_f2c = hq_exact_symbol(function, "PMPI_Type_f2c");
        m->request_f2c = hq_exact_symbol(function, "PMPI_Request_f2c");
        m->message_f2c = hq_exact_symbol(function, "PMPI_Message_f2c");
    }
    find_spellings(function, "status_ignore", m->fortran_ignore);
    find_spellings(function, "statuses_ignore", m->fortran_ignore + 4);
    m->fortran_ignore[8] = hq_exact_symbol(function, "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    m->fortran_ignore[9] = hq_exact_symbol(function, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
    find_spellings(function, "in_place", m->fortran_in_place);
}

static bool is_one_of(const void *const *addresses, size_t count, const void *address)
{
    for (size_t i = 0; i < count; i++)
        if (addresses[i] && addresses[i] == address)
            return true;
    return false;
}

bool mpi_is_fortran_ignore(const struct mpi *mpi, const void *status)
{
    return is_one_of(mpi->fortran_ignore, sizeof mpi->fortran_ignore / sizeof *mpi->fortran_ignore, status);
}

bool mpi_is_fortran_in_place(const struct mpi *mpi, const void *buffer)
{
    return is_one_of(mpi->fortran_in_place, 4, buffer);
}

static void find(const void *function)
{
    const struct abi *abi = recognise(function);

    if (!abi || !find_functions(&found, function)) {
        hq_exact_warn(
            "this MPI is neither Open MPI nor of the family of MPICH: its calls and their times are counted, but "
            "not what they move");
        return;
    }
    found.world = abi->world ? (uintptr_t)hq_exact_symbol(function, abi->world) : abi->world_handle;
    found.abi = abi;
    find_fortran(&found, function);
}

const struct mpi *mpi_of(const void *function)
{
    if (atomic_load_explicit(&is_known, memory_order_acquire))
        return &found;
    lock_take(&lock);
    if (!is_known)
        find(function);
    atomic_store_explicit(&is_known, true, memory_order_release);
    lock_release(&lock);
    return &found;
}
