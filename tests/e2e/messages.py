# SPDX-License-Identifier: BSD-3-Clause
"""
`-e MPI` and `messages` against the program's own arithmetic, exactly: calls by name, messages and bytes from rank to rank, bytes sent and received by each
rank; point to point, persistent, collective, in threads, in sub-communicators, under each MPI that is here.
"""
from lib import *

SOURCES = f"{os.environ['TOP']}/tests/e2e/messages"
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


TOOL = """#include <mpi.h>
int MPI_Barrier(MPI_Comm c) { return PMPI_Barrier(c); }
"""
BARRIER = """#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""

# A library that calls a function of its own as Fortran without underscores would call MPI's (Rmpi does).
OWN = """int mpi_send(double x) { return (int)x; }
int own(void) { return mpi_send(42.5); }
"""
CALLS_OWN = """#include <mpi.h>
int own(void);
int main(int argc, char **argv)
{
    int mine;
    MPI_Init(&argc, &argv);
    mine = own();
    MPI_Finalize();
    return mine != 42;
}
"""
PLAIN = """program plain
  include 'mpif.h'
  integer :: ierr
  call mpi_init(ierr)
  call mpi_barrier(MPI_COMM_WORLD, ierr)
  call mpi_finalize(ierr)
end program
"""

# Receives of which nothing comes, for they fail, too: what they are for is longer than they are. Legal programs that a look at what they gave back would end: communicators that are freed before a receive is
# complete, and no types of no elements (which MPICH takes).
LEFT = """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, in = 0, counts[8], zeros[8] = {0};
    MPI_Datatype types[8];
    MPI_Message message;
    MPI_Request r;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv_init(&in, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE); /* it was not started */
    MPI_Request_free(&r);
    for (int i = 0; i < 6; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        if (rank == 1)
            MPI_Send(&i, 1, MPI_INT, size - 1, 0, comm);
        if (rank == 0 && i < 3)
            MPI_Irecv(&in, 1, MPI_INT, size - 2, 0, comm, &r);
        else if (rank == 0)
            MPI_Mprobe(size - 2, 0, comm, &message, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comm);
        if (rank == 0 && i < 3)
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        else if (rank == 0)
            MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
#ifndef OPEN_MPI
    for (int i = 0; i < size; i++) {
        counts[i] = i == rank;
        types[i] = i == rank ? MPI_INT : MPI_DATATYPE_NULL;
    }
    MPI_Alltoallw(&rank, counts, zeros, types, &in, counts, zeros, types, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &comm);
    MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, rank == 0, 0, &comm);
    if (rank == 0)
        MPI_Scatter(0, 0, MPI_DATATYPE_NULL, &in, 1, MPI_INT, 0, comm);
    else
        MPI_Scatter(&rank, 1, MPI_INT, 0, 0, MPI_DATATYPE_NULL, rank == 1 ? MPI_ROOT : MPI_PROC_NULL, comm);
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3 && rank < 2; i++) {
        int sent[2] = {0};
        MPI_Request two[2];
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 2, &in, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            MPI_Send(sent, 2, MPI_INT, 0, 3, MPI_COMM_WORLD);
            MPI_Send(sent, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
            continue;
        }
        if (i == 2)
            MPI_Recv_init(&in, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &two[0]), MPI_Start(&two[0]);
        else
            MPI_Irecv(&in, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(&in, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &two[1]);
        if (i == 0)
            MPI_Waitall(2, two, MPI_STATUSES_IGNORE); /* MPICH leaves the other one */
        else
            MPI_Wait(&two[0], MPI_STATUS_IGNORE);
        MPI_Wait(&two[1], MPI_STATUS_IGNORE);
        if (i == 2) {
            MPI_Wait(&two[0], MPI_STATUS_IGNORE); /* it is not started any more */
            MPI_Request_free(&two[0]);
        }
        MPI_Comm_idup(MPI_COMM_SELF, &comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
"""

# A launcher that does not tell the ranks in the environment: here they are back before MPI looks.
HIDDEN = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    int one = 1, sum;
    for (int i = 0; i < 3 && getenv("HIDDEN"); i++)
        setenv(names[i], getenv("HIDDEN"), 1);
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""
HIDES = 'HIDDEN=${PMI_RANK:-$PMIX_RANK} exec env -u PMI_RANK -u PMIX_RANK -u OMPI_COMM_WORLD_RANK "$0"'


def count(x):
    return int(x or 0)


def told(out):
    """What the program says: {(kind, name or ranks): numbers}; what several ranks say is added up."""
    kinds = {"call": 1, "message": 2, "sent": 1, "received": 1}
    found = {}
    for w in map(str.split, out.splitlines()):
        if w and w[0] in kinds:
            key, numbers = tuple(w[:1 + kinds[w[0]]]), map(int, w[1 + kinds[w[0]]:])
            found[key] = tuple(x + y for x, y in zip(numbers, found.get(key, (0, 0))))
    return found


def measured(db):
    found = {}
    calls = ask(db, "procedures of /^mpix?_/i columns mpi_calls.x")
    for r in calls["rows"]:
        found["call", r["name"]] = (count(r["values"][0]),)
    for r in ask(db, "messages columns messages, bytes, sender, receiver")["rows"]:
        messages, sent, sender, receiver = map(count, r["values"])
        if messages:
            found["message", str(sender), str(receiver)] = (messages, sent)
    for r in ask(db, "threads per rank where rank >= 0 columns mpi_sent, mpi_received, rank")["rows"]:
        sent, received, rank = map(count, r["values"])
        found["sent", str(rank)] = (sent,)
        found["received", str(rank)] = (received,)
    return found


def compare(what, db, out):
    program, hq = told(out), measured(db)
    check(len(program) > 20, f"{what}: the program says {out[:200]}")
    for key in sorted(program.keys() | hq.keys()):
        check(program.get(key) == hq.get(key), f"{what}: {' '.join(key)}: the program says {program.get(key)}, hq {hq.get(key)}")
    check(run(HQ, "verify", db)[0] == 0, f"{what}: the verifier finds something")


def look_at_marks(what, db, out):
    """Each call is a visit, and between them lie the computing bursts, for sure."""
    for (kind, name, *_), numbers in told(out).items():
        visits = len(ask(db, f"iterations of {name}")["rows"]) if kind == "call" else 0
        check(kind != "call" or visits == numbers[0], f"{what}: {name} has {visits} visits of {numbers[0]}")
    bursts = [r["name"] for r in ask(db, "phases")["rows"]]
    check(bursts and not any("uncertain" in n for n in bursts), f"{what}: computing bursts are {bursts[:3]}")


def look_closer(what, db):
    """What the context and the ranks choose adds up; each call is a row of the program's own context."""
    for r in ask(db, "messages columns messages, received")["rows"]:
        check(count(r["values"][1]) <= count(r["values"][0]), f"{what}: more came than was sent, {r}")
    whole = {r["name"]: r["values"] for r in ask(db, "messages columns messages, bytes")["rows"]}
    parts = {}
    for context in ("point_to_point", "blocking", "persistent", "collectives", "neighbours", "threads"):
        for r in ask(db, f"messages of {context if context != 'threads' else 'in_thread'} columns messages, bytes")["rows"]:
            old = parts.setdefault(r["name"], [0, 0])
            parts[r["name"]] = [old[i] + count(r["values"][i]) for i in range(2)]
    check({n: [count(x) for x in v] for n, v in whole.items()} == parts, f"{what}: contexts add up to {parts}, not {whole}")
    through = ask(db, "messages through collectives columns messages")["rows"]
    check(through == ask(db, "messages of collectives columns messages")["rows"], f"{what}: through and of differ")
    rows = ask(db, "messages ranks 0 where messages > 0 columns sender")["rows"]
    check(rows and all(r["values"] == [0] for r in rows), f"{what}: messages of rank 0 are {rows}")
    above = {r["name"] for r in ask(db, "callers of MPI_Alltoallv depth 2")["rows"] if r["depth"] == 1}
    check(above == {"collectives"}, f"{what}: MPI_Alltoallv is called by {above}")
    status, out, err = run(HQ, db, "messages as svg")
    check(status == 0 and out.count("<title>") == len(whole), f"{what}: a heat map of {len(whole)} pairs has {out.count('<title>')}")


def in_2008(text):
    """The same by mpi_f08: handles and statuses have types, and the error may be left out. Under MPICH what has no buffer called the profiling interface, and
    was not counted."""
    for old, new in (
        ("use mpi\n", "use mpi_f08\n"),
        ("integer :: right, left, r(4), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4), ",
         "type(MPI_Request) :: r(4)\n  type(MPI_Status) :: status, statuses(4)\n  integer :: right, left, "),
        ("integer :: half, ", "type(MPI_Comm) :: half\n  integer :: "),
        ("ranks, 0, MPI_COMM_WORLD, ierr)", "ranks, 0, MPI_COMM_WORLD)"),
        ("MPI_STATUS_IGNORE, ierr)", "MPI_STATUS_IGNORE)"),
        ("MPI_STATUSES_IGNORE, ierr)", "MPI_STATUSES_IGNORE)"),
    ):
        check(old in text, f"messages.f90 has no {old}")
        text = text.replace(old, new)
    return text


tried = 0
# Ranks of MPICH wait by spinning, and there may be fewer processors than ranks.
for mpi, rounds in (("openmpi", 2), ("mpich", 1)):
    if not shutil.which(f"mpicc.{mpi}"):
        print(f"skipped: there is no {mpi}")
        continue
    tried += 1
    program, db = f"messages-{mpi}", f"{mpi}.hq"
    status, out, err = run(f"mpicc.{mpi}", "-O2", "-g", "-w", "-pthread", "-o", program, f"{SOURCES}.c")
    check(status == 0, err)
    status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 3, f"./{program}", rounds, env=ENVIRONMENT)
    check(status == 0, f"{program}: status {status}: {err[-500:]}")
    compare(f"C, {mpi}", db, out)
    look_closer(f"C, {mpi}", db)
    look_at_marks(f"C, {mpi}", db, out)

    # Linked into the program, or preloaded before the collector, a tool takes the place of MPI, and of the wrappers too: that calls are missing is told. In
    # a library behind these it does not.
    for where, more in (("static", (f"{TMP}/tool.c",)), ("shared", ("-L.", "-ltool", "-Wl,-rpath,.")), ("front", ()), ("behind", ())):
        with open(f"{TMP}/tool.c", "w") as f:
            f.write(TOOL)
        with open(f"{TMP}/barrier.c", "w") as f:
            f.write(BARRIER)
        program, db = f"{where}-{mpi}", f"{where}-{mpi}.hq"
        run(f"mpicc.{mpi}", "-w", "-shared", "-fPIC", "-o", "libtool.so", f"{TMP}/tool.c")
        status, out, err = run(f"mpicc.{mpi}", "-w", "-o", program, f"{TMP}/barrier.c", *more)
        check(status == 0, err)
        loads = {"front": "LD_PRELOAD=./libtool.so:$LD_PRELOAD; ", "behind": "LD_PRELOAD=$LD_PRELOAD:./libtool.so; "}.get(where, "")
        status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 1, "sh", "-c", f"{loads}exec ./{program}", env=ENVIRONMENT)
        barriers = [count(r["values"][0]) for r in ask(db, "procedures of MPI_Barrier columns mpi_calls.x")["rows"]]
        said = [i for i, whose in enumerate(("the program has MPI_Barrier of its own", "libtool.so, which is preloaded before the collector, has MPI_Barrier"))
                if f"{whose}: calls of these are not counted" in err]
        hides = {"static": [0], "front": [1]}.get(where, [])
        check((said, barriers) == (hides, [] if hides else [3]), f"{program}: {barriers} barriers: {err[-300:]}")

    for name, text in (("own.c", OWN), ("calls_own.c", CALLS_OWN)):
        with open(f"{TMP}/{name}", "w") as f:
            f.write(text)
    program, db = f"own-{mpi}", f"own-{mpi}.hq"
    run("gcc", "-O1", "-w", "-shared", "-fPIC", "-fno-inline", "-o", "libown.so", f"{TMP}/own.c")
    status, out, err = run(f"mpicc.{mpi}", "-w", "-o", program, f"{TMP}/calls_own.c", "-L.", "-lown", "-Wl,-rpath,.")
    check(status == 0, err)
    status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 1, f"./{program}", env=ENVIRONMENT)
    check(status == 0, f"a library's own mpi_send, {mpi}: status {status}: {err[-500:]}")
    called = [r["name"] for r in ask(db, "procedures of /^mpi_/i columns mpi_calls.x")["rows"] if count(r["values"][0])]
    check(sorted(called) == ["MPI_Finalize", "MPI_Init"], f"a library's own mpi_send, {mpi}: MPI's calls are {called}")

    with open(f"{TMP}/left.c", "w") as f:
        f.write(LEFT)
    program, db = f"left-{mpi}", f"left-{mpi}.hq"
    status, out, err = run(f"mpicc.{mpi}", "-w", "-o", program, f"{TMP}/left.c")
    check(status == 0, err)
    status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 3, f"./{program}", env=ENVIRONMENT)
    check(status == 0, f"{program}: status {status}: {err[-500:]}")
    rows = {r["name"]: r["values"] for r in ask(db, "messages where received > 0 columns messages, bytes, received, received_bytes")["rows"]}
    more = mpi != "openmpi"
    check(rows == {"1 -> 0": [15 + 2 * more, 72 + 4 * more, 12, 48], "0 -> 1": [3 + more, 12, 3, 12]}, f"{program}: what was received is {rows}")

    # Calls in callbacks count for themselves, and what they free is forgotten: up the ranks go 3 + 3 of the rounds of communicators in order, 5 of MPI_Isend,
    # 3 at the end and 1 of the error handler, down those of the 2 other rounds.
    program, db = f"callbacks-{mpi}", f"callbacks-{mpi}.hq"
    status, out, err = run(f"mpicc.{mpi}", "-O2", "-w", "-o", program, f"{SOURCES}_callbacks.c")
    check(status == 0, err)
    status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 3, f"./{program}", env=ENVIRONMENT)
    check(status == 0, f"{program}: status {status}: {err[-500:]}")
    rows = {r["name"]: r["values"] for r in ask(db, "messages columns messages, bytes, received, received_bytes")["rows"]}
    up, down = [15, 60, 15, 60], [4, 16, 4, 16]
    check(rows == {"0 -> 1": up, "1 -> 2": up, "2 -> 0": up, "0 -> 2": down, "2 -> 1": down, "1 -> 0": down}, f"{program}: messages are {rows}")
    calls = {r["name"]: count(r["values"][0]) for r in ask(db, "procedures where mpi_calls.x > 0 columns mpi_calls.x")["rows"]}
    freed = calls.pop("MPI_Comm_free")
    check((sum(calls.values()), freed) == (3 * (2 + 5 * 9 + 1 + 4), 3 * 5 * 2), f"{program}: calls are {calls}, of MPI_Comm_free {freed}")
    (took,), = (r["values"] for r in ask(db, "procedures of MPI_Comm_free columns mpi_time")["rows"])
    own = sum(float(line.split()[1]) for line in out.splitlines() if line.startswith("freeing "))
    check(0 < took <= own, f"{program}: MPI_Comm_free and what it calls back took {took} s, by the program's clock {own}")

    # Between two halves all send 24 bytes by 4 calls, and each root its own; MPI_Scan goes from rank to rank above.
    program, db = f"between-{mpi}", f"between-{mpi}.hq"
    status, out, err = run(f"mpicc.{mpi}", "-w", "-o", program, f"{SOURCES}_between.c")
    check(status == 0, err)
    status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 4, f"./{program}", env=ENVIRONMENT)
    check(status == 0, f"{program}: status {status}: {err[-500:]}")
    parts = [({(a, b) for a in range(4) for b in range(4) if a // 2 != b // 2}, 4, 24), ({(a, b) for b in range(4) for a in range(b)}, 1, 12),
             ({(0, 2), (0, 3)}, 1, 20), ({(0, 3), (1, 3)}, 2, 16), ({(2, 0), (3, 0)}, 1, 28)]
    parts += [({(a, b)}, 2, 4 * (1 + (a ^ b)) + (8 if (a + b) % 2 else 4)) for a in range(4) for b in range(4) if a != b]       # in place
    want = {(a, b): [sum(n * ((a, b) in pairs) for pairs, n, _ in parts), sum(size * ((a, b) in pairs) for pairs, _, size in parts)]
            for a in range(4) for b in range(4) if a != b}
    rows = {r["name"]: r["values"] for r in ask(db, "messages columns messages, bytes")["rows"]}
    check(rows == {f"{a} -> {b}": v for (a, b), v in want.items() if v[0]}, f"{program}: messages are {rows}")
    rows = {int(rank): [sent, came] for sent, came, rank in
            (r["values"] for r in ask(db, "threads per rank where rank >= 0 columns mpi_sent, mpi_received, rank")["rows"])}
    sums = {rank: [sum(v[1] for (a, b), v in want.items() if pair(a, b) == rank) for pair in (lambda a, b: a, lambda a, b: b)] for rank in range(4)}
    check(rows == sums, f"{program}: sent and received are {rows}, not {sums}")

    with open(f"{TMP}/hidden.c", "w") as f:
        f.write(HIDDEN)
    program, db = f"./hidden-{mpi}", f"hidden-{mpi}.hq"
    status, out, err = run(f"mpicc.{mpi}", "-w", "-o", program, f"{TMP}/hidden.c")
    check(status == 0, err)
    status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 3, "sh", "-c", HIDES, program, env=ENVIRONMENT)
    rows = {r["name"]: r["values"] for r in ask(db, "messages columns messages, bytes")["rows"]}
    pairs = {f"{a} -> {b}": [1, 4] for a in range(3) for b in range(3) if a != b}
    check((status, rows) == (0, pairs), f"{program}: status {status}, messages are {rows}: {err[-300:]}")

    if not shutil.which(f"mpif90.{mpi}"):
        print(f"skipped: there is no Fortran of {mpi}")
        continue
    with open(f"{TMP}/plain.f90", "w") as f:
        f.write(PLAIN)
    status, out, err = run(f"mpif90.{mpi}", "-w", "-fno-underscoring", "-o", f"plain-{mpi}", f"{TMP}/plain.f90")
    if "undefined reference to `mpi_init'" not in err:      # MPICH 4.2 has no such names, and no program of them
        check(status == 0, err)
        status, out, err = run(HQ, "record", "-e", "MPI", "-o", f"plain-{mpi}.hq", "--", f"mpirun.{mpi}", "-n", 1, f"./plain-{mpi}", env=ENVIRONMENT)
        check(status == 0 and "Fortran's names without underscores" in err, f"names without underscores, {mpi}: {err[-500:]}")

    with open(f"{SOURCES}.f90") as old, open(f"{TMP}/fortran08.f90", "w") as new:
        new.write(in_2008(old.read()))
    for language, source in (("Fortran", f"{SOURCES}.f90"), ("Fortran 2008", f"{TMP}/fortran08.f90")):
        name = language.lower().replace(" ", "")
        program, db = f"{name}-{mpi}", f"{name}-{mpi}.hq"
        status, out, err = run(f"mpif90.{mpi}", "-O1", "-g", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none", "-o", program, source)
        check(status == 0, err)
        status, out, err = run(HQ, "record", "-e", "MPI", "-o", db, "--", f"mpirun.{mpi}", "-n", 3, f"./{program}", env=ENVIRONMENT)
        check(status == 0, f"{program}: status {status}: {err[-500:]}")
        out = "".join(open(f"{TMP}/sums.{rank}").read() for rank in range(3))
        compare(f"{language}, {mpi}", db, out)
        look_at_marks(f"{language}, {mpi}", db, out)
finish() if tried else exit(77)
