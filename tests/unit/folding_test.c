/* SPDX-License-Identifier: BSD-3-Clause */
/* The insides of runtimes fold, in databases of other tools too; and unfolded they are what they were. */
#include "tests/unit/test.h"

#include "common/mem.h"
#include "db/folding.h"
#include "db/fuse.h"
#include "tests/unit/import_help.h"

static void check_name(const char *name, const char *want)
{
    AUTO_FREE char *got = mpi_name_in_c(name);

    CHECK_EQ_STR(got ? got : "none", want);
}

TEST(names_of_mpi)
{
    check_name("MPI_Recv", "MPI_Recv");
    check_name("PMPI_Recv", "MPI_Recv");
    check_name("mpi_recv_", "MPI_Recv");
    check_name("mpi_recv__", "MPI_Recv");
    check_name("mpi_recv", "MPI_Recv");
    check_name("MPI_RECV", "MPI_Recv");
    check_name("pmpi_recv_", "MPI_Recv");
    check_name("PMPI_RECV", "MPI_Recv");
    check_name("ompi_recv_f", "MPI_Recv");
    check_name("mpi_recv_f08_", "MPI_Recv");
    check_name("pmpi_recv_f08ts_", "MPI_Recv");
    check_name("MPI_Comm_create_errhandler", "MPI_Comm_create_errhandler");
    check_name("mpi_type_create_f90_integer_", "MPI_Type_create_f90_integer");
    check_name("MPI_T_pvar_start", "MPI_T_pvar_start");
    check_name("ompi_mpi_finalize", "MPI_Finalize");
    check_name("ompi_request_default_wait", "none");
    check_name("MPIR_Wait", "none");
    check_name("MPI_", "none");
    check_name("mpi__", "none");
    check_name("pm", "none");
    check_name("", "none");
}

TEST(whose_a_frame_is)
{
    const struct runtime *mpi = runtime_of_module("libmpi.so.40"), *event = runtime_of_module("libevent-2.1.so.7");
    const struct runtime *libc = runtime_of_module("libc.so.6"), *gomp = runtime_of_module("libgomp.so.1");
    const struct runtime *cuda = runtime_of_module("libcudart.so.11.0");

    CHECK_EQ_INT(inside_of(NULL, INSIDE_OF_MPI), OUTSIDE);
    CHECK_EQ_INT(inside_of(libc, OUTSIDE), OUTSIDE);
    CHECK_EQ_INT(inside_of(libc, ENTRY), INSIDE);
    CHECK_EQ_INT(inside_of(mpi, OUTSIDE), ENTRY_OF_MPI);
    CHECK_EQ_INT(inside_of(mpi, ENTRY_OF_MPI), INSIDE_OF_MPI);
    CHECK_EQ_INT(inside_of(libc, INSIDE_OF_MPI), INSIDE_OF_MPI);
    CHECK_EQ_INT(inside_of(event, OUTSIDE), OUTSIDE);
    CHECK_EQ_INT(inside_of(event, INSIDE), OUTSIDE);
    CHECK_EQ_INT(inside_of(event, INSIDE_OF_MPI), INSIDE_OF_MPI);
    CHECK_EQ_INT(inside_of(gomp, OUTSIDE), ENTRY);
    CHECK_EQ_INT(inside_of(cuda, OUTSIDE), ENTRY);
    CHECK_EQ_INT(inside_of(cuda, ENTRY), INSIDE);
}

/* One sample of `perf script`: words are frames, innermost first, PROCEDURE@MODULE. */
static void add_sample(struct str *s, unsigned long period, const char *const *frames)
{
    unsigned long address = 0x1000;

    str_addf(s, "app 7/7 [000] 1.5: %lu cycles:\n", period);
    for (; *frames; frames++, address += 16) {
        const char *at = strchr(*frames, '@');

        str_addf(s, "\t%lx %.*s+0x4 (%s)\n", address, (int)(at - *frames), *frames, at + 1);
    }
    str_add(s, "\n");
}
#define SAMPLE(s, period, ...) add_sample(s, period, (const char *const[]){__VA_ARGS__, NULL})

static void check_both(const char *text, const char *folded, const char *unfolded)
{
    struct db *db = NULL, *all = NULL;
    AUTO_STR struct str got = {0}, got_all = {0};

    CHECK_OK(import_text("perf", text, &db));
    import_dump(db, &got);
    CHECK_EQ_STR(str_cstr(&got), folded);
    CHECK_OK(db_verify(db));
    CHECK_OK(db_derive(db, (struct fuse_settings){.internals = true}, &all));
    import_dump(all, &got_all);
    CHECK_EQ_STR(str_cstr(&got_all), unfolded);
    db_close(all);
    db_close(db);
}

TEST(what_mpi_calls_back_stays)
{
    AUTO_STR struct str s = {0};

    SAMPLE(&s, 5, "__poll@libc.so.6", "event_base_loop@libevent_core-2.1.so.7", "opal_progress@libopen-pal.so.40",
           "PMPI_Recv@libmpi.so.40", "main@app");
    SAMPLE(&s, 3, "add@app", "ompi_op@libmpi.so.40", "MPI_Recv@libmpi.so.40", "main@app");
    SAMPLE(&s, 1, "qsort@libc.so.6", "add@app", "ompi_op@libmpi.so.40", "MPI_Recv@libmpi.so.40", "main@app");
    check_both(str_cstr(&s),
               "metrics: cycles\nmain [app] 9\n MPI_Recv [libmpi.so.40] 9\n  add [app] 4\n   qsort [libc.so.6] 1\n",
               "metrics: cycles\nmain [app] 9\n MPI_Recv [libmpi.so.40] 4\n  ompi_op [libmpi.so.40] 4\n   add [app] 4\n"
               "    qsort [libc.so.6] 1\n PMPI_Recv [libmpi.so.40] 5\n  opal_progress [libopen-pal.so.40] 5\n"
               "   event_base_loop [libevent_core-2.1.so.7] 5\n    __poll [libc.so.6] 5\n");
}

TEST(fortran_and_c_are_one_row)
{
    AUTO_STR struct str s = {0};

    SAMPLE(&s, 5, "mca_recv@mca_pml_ob1.so", "PMPI_Recv@libmpi.so.40", "mpi_recv_@libmpi_mpifh.so.40", "main@app");
    SAMPLE(&s, 2, "MPI_Recv@libmpi.so.40", "main@app");
    SAMPLE(&s, 1, "mpi_recv_@libmpi_mpifh.so.40", "main@app");
    check_both(str_cstr(&s), "metrics: cycles\nmain [app] 8\n MPI_Recv [libmpi.so.40] 8\n",
               "metrics: cycles\nmain [app] 8\n MPI_Recv [libmpi.so.40] 2\n mpi_recv_ [libmpi_mpifh.so.40] 6\n"
               "  PMPI_Recv [libmpi.so.40] 5\n   mca_recv [mca_pml_ob1.so] 5\n");
}

TEST(an_event_loop_of_the_program_is_none_of_mpi)
{
    AUTO_STR struct str s = {0};

    SAMPLE(&s, 5, "serve@app", "event_process@libevent-2.1.so.7", "event_base_loop@libevent-2.1.so.7", "main@app");
    SAMPLE(&s, 2, "epoll_wait@libc.so.6", "event_base_loop@libevent-2.1.so.7", "main@app");
    const char *same =
        "metrics: cycles\nmain [app] 7\n event_base_loop [libevent-2.1.so.7] 7\n  epoll_wait [libc.so.6] 2\n"
        "  event_process [libevent-2.1.so.7] 5\n   serve [app] 5\n";
    check_both(str_cstr(&s), same, same);
}

TEST(without_load_modules_nothing_folds)
{
    CHECK_IMPORT("folded", "main;MPI_Recv;opal_progress 3\n",
                 "metrics: samples\nmain 3\n MPI_Recv 3\n  opal_progress 3\n");
}

TEST_MAIN
