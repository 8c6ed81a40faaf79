# SPDX-License-Identifier: BSD-3-Clause
"""
What MPI does inside is folded into the call that the program made, in C and in Fortran, under each MPI that is here: what it calls back stays, one row has all
names of a call, and the whole is the same to the sample with `internals` on and off.
"""
from lib import *

SOURCES = f"{os.environ['TOP']}/tests/e2e/folding"
CALLS = {"MPI_Init", "MPI_Comm_rank", "MPI_Op_create", "MPI_Comm_create_errhandler", "MPI_Comm_set_errhandler", "MPI_Barrier", "MPI_Allreduce", "MPI_Send",
         "MPI_Recv", "MPI_Send_init", "MPI_Recv_init", "MPI_Startall", "MPI_Waitall", "MPI_Finalize"}


def totals(db):
    """The whole, as the sum of what load modules cost themselves, in nanoseconds, with internals off and on."""
    for setting in ("off", "on"):
        status, out, err = run(HQ, db, f"set internals {setting}; modules all columns cputime.x as json")
        check(status == 0, err)
        yield round(1e9 * sum(r["values"][0] or 0 for r in json.loads(out)["rows"]))


def look(db, what, own):
    off, on = totals(db)
    check(off == on > 0, f"{what}: {off} ns, and {on} with internals")
    check(run(HQ, "verify", db)[0] == 0, f"{what}: the verifier finds something")
    names = {r["name"] for r in ask(db, "tree of main all")["rows"] if r["kind"] == "procedure"}
    mpi = {n for n in names if "mpi" in n.lower() and not n.endswith("@plt")}
    check(mpi and mpi <= CALLS, f"{what}: rows of MPI are {mpi - CALLS or mpi}")
    # What MPI_Init and MPI_Finalize load and unload are libraries of others, which are no insides.
    inside = ask(db, "tree of MPI_* not through /^MPI_(Init|Finalize)$/ all")["rows"]
    below = {r["name"] for r in inside if r["depth"] and r["kind"] == "procedure"}
    check(below <= own, f"{what}: below calls of MPI are {below}")
    everything = ask(db, "set internals on; tree of main all")["rows"]
    check(len(everything) > len(ask(db, "tree of main all")["rows"]), f"{what}: internals shows no more")
    for name in ("MPI_Recv", "PMPI_Recv", "mpi_recv_", "MPI_RECV"):
        rows = ask(db, f"procedures of {name}")["rows"]
        check([r["name"] for r in rows] == ["MPI_Recv"], f"{what}: {name} is {[r['name'] for r in rows]}")


for mpi in mpis("mpicc", "mpif90"):
    for language, compiler in (("c", "mpicc"), ("f90", "mpif90")):
        program = f"{language}-{mpi}"
        status, out, err = run(f"{compiler}.{mpi}", "-O1", "-g", f"-I{os.environ['TOP']}/tests/programs", "-o", program, f"{SOURCES}.{language}")
        check(status == 0, err)
        status, out, err = run(f"mpirun.{mpi}", "-n", 2, HQ, "record", "--force", "-o", f"{program}.hq", "--", f"./{program}")
        check(status == 0, f"{program}: status {status}: {err[-500:]}")
        look(f"{program}.hq", program, {"my_operation", "my_handler", "burn", "thread_seconds", "clock_gettime"} if language == "c" else set())

    # 8 errors cost 0.03 s each: 6 samples, or 7 ticks where a thread is left to timers. The bound is that of chance beside other
    # programs: five times the root of 48.
    handled = value(r := ask(f"c-{mpi}.hq", "callers of my_handler"), r["rows"][0], "cputime")
    check(0.07 < handled < 0.42, f"{mpi}: the error handler has {handled} s of 0.24 s")
    above = {r["name"] for r in ask(f"c-{mpi}.hq", "callers of my_handler depth 2")["rows"] if r["depth"] == 1}
    check(above == {"MPI_Send"}, f"{mpi}: the error handler is called by {above}")
    # Of 0.4 s in both ranks MPI_Startall has a third, some 25 samples: none of them by chance in one run of 10^11.
    check(ask(f"c-{mpi}.hq", "procedures of MPI_Startall")["rows"], f"{mpi}: MPI_Startall is not there")
    above = {r["name"] for r in ask(f"c-{mpi}.hq", "callers of my_operation depth 2")["rows"] if r["depth"] == 1}
    check(above == {"MPI_Allreduce"}, f"{mpi}: the operation is called by {above}")
    above = {r["name"] for r in ask(f"f90-{mpi}.hq", "callers of MPI_Recv depth 2")["rows"] if r["depth"] == 1}
    check(above == {"folding"}, f"{mpi}: MPI_Recv is called by {above}")
    waits = {r["name"] for r in ask(f"c-{mpi}.hq", "procedures where waits")["rows"] if r["name"].startswith("MPI_") and not r["name"].endswith("@plt")}
    check({"MPI_Barrier", "MPI_Allreduce", "MPI_Recv"} <= waits <= CALLS, f"{mpi}: what waits is {waits}")
finish()
