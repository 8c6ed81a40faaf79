/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of load modules as distributions, vendors and wheels of Python spell them. */
#include "db/runtimes.h"
#include "tests/unit/test.h"
#include <stdlib.h>

TEST(modules)
{
    static const struct {
        const char *path, *name; /* NULL: not a runtime */
        enum runtime_kind kind;
    } all[] = {
        {"/usr/lib/x86_64-linux-gnu/libc.so.6", "C library", RUNTIME_SYSTEM},
        {"/lib64/libc-2.31.so", "C library", RUNTIME_SYSTEM},
        {"/lib64/libpthread-2.28.so", "C library", RUNTIME_SYSTEM},
        {"/lib/ld-musl-x86_64.so.1", "loader", RUNTIME_SYSTEM},
        {"/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "loader", RUNTIME_SYSTEM},
        {"[kernel.kallsyms]", "kernel", RUNTIME_SYSTEM},
        {"[vdso]", "kernel", RUNTIME_SYSTEM},
        {"/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0", "libgomp", RUNTIME_OPENMP},
        {"/venv/numpy.libs/libgomp-a34b3233.so.1.0.0", "libgomp", RUNTIME_OPENMP},
        {"/usr/lib/llvm-14/lib/libomp.so.5", "libomp", RUNTIME_OPENMP},
        {"/opt/intel/lib/libiomp5.so", "libiomp5", RUNTIME_OPENMP},
        {"/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.2", "MPICH", RUNTIME_MPI},
        {"libmpich.so.12", "MPICH", RUNTIME_MPI},
        {"/opt/mpich/lib/libmpi.so.12.1.8", "MPICH", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/libmpichfort.so.12", "MPICH", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", "Open MPI", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/libmpi_mpifh.so.40", "Open MPI", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/libopen-pal.so.40.30.2", "Open MPI", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_btl_vader.so", "Open MPI", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/libmca_common_ompio.so.41.29.4", "Open MPI", RUNTIME_MPI},
        {"/usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0.0.0", "UCX", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/libucp.so.0.0.0", "UCX", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/libfabric.so.1.20.0", "libfabric", RUNTIME_SUPPORT},
        {"/usr/lib/libfabric/libverbs-fi.so", "libfabric", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/libpsm2.so.2", "PSM", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so.2.6.2", "PMIx", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/libevent_core-2.1.so.7.0.1", "libevent", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/libhwloc.so.15.6.1", "hwloc", RUNTIME_SUPPORT},
        {"/usr/lib/x86_64-linux-gnu/libcuda.so.525.85.12", "CUDA", RUNTIME_GPU},
        {"/usr/lib/x86_64-linux-gnu/libpocl-devices-pthread.so", "OpenCL", RUNTIME_GPU},
        {"/opt/rocm/lib/libamdhip64.so.5", "HIP", RUNTIME_GPU},
        {"/home/me/solver", NULL, 0},
        {"/usr/lib/x86_64-linux-gnu/libm.so.6", NULL, 0},
        {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", NULL, 0},
        {"/usr/lib/libmpi_free/solver", NULL, 0},
        {"/usr/lib/x86_64-linux-gnu/libcurl.so.4", NULL, 0},
        {"/usr/lib/libompression.so", NULL, 0},
        {"/opt/mpirun", NULL, 0},
        {"[generated code]", NULL, 0},
        {"", NULL, 0},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct runtime *r = runtime_of_module(all[i].path);

        CHECK_EQ_STR(r ? r->name : "none", all[i].name ? all[i].name : "none");
        if (r && all[i].name)
            CHECK_EQ_INT(r->kind, all[i].kind);
    }
}

TEST(programs_that_start_others)
{
    CHECK(is_launcher("/usr/bin/mpirun.openmpi"));
    CHECK(is_launcher("mpiexec.hydra"));
    CHECK(is_launcher("/usr/bin/hydra_pmi_proxy"));
    CHECK(is_launcher("/usr/bin/srun"));
    CHECK(!is_launcher("/home/me/mpi/solver"));
    CHECK(!is_launcher("/bin/sh"));
    CHECK(!is_launcher(""));
}

TEST_MAIN
