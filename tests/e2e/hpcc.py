# SPDX-License-Identifier: BSD-3-Clause
"""hpcc under an MPI launcher with two ranks, recorded from outside and from inside each rank."""

import subprocess

from lib import *

top = os.environ["TOP"]
hpcc = shutil.which("hpcc")
if not hpcc:
    offered = subprocess.run("apt-cache policy hpcc | grep -q 'Candidate: [0-9]'", shell=True, check=False, capture_output=True).returncode == 0
    print("skipped: hpcc is not installed" if offered else "skipped: hpcc is not in this release")
    raise SystemExit(77)
libraries = subprocess.run(["ldd", hpcc], capture_output=True, text=True).stdout
launcher = "mpirun.mpich" if "libmpich" in libraries else "mpirun.openmpi"
with open(f"{top}/tests/hpccinf.txt") as f, open(f"{TMP}/hpccinf.txt", "w") as g:
    g.write(f.read().replace("2500 ", "1500 "))


def judge(db, what):
    full_paths(db, 0.99, what)
    nothing_above_total(db, what)
    whole = total(db)
    ranks = {r["name"] for r in ask(db, "profiles")["rows"]}
    check(len(ranks) >= 2, f"{what}: profiles of both ranks are there: {sorted(ranks)[:6]}")
    procedures = ask(db, "procedures")
    row = find(procedures, "main")
    check(row is not None and value(procedures, row, "cputime") > 0.7 * whole, f"{what}: main has most of the cost")
    mpi = ask(db, 'callers of "*MPI_*"')
    check(any(r["depth"] == 0 and "MPI_" in r["name"] for r in mpi["rows"]), f"{what}: MPI procedures have callers")
    # Debian's hpcc is stripped: what is known of HPL is that it lives on its matrix product. On a busy machine most time
    # goes into waiting for the other rank, so the product is compared with the program's own work. A part of that waits, too: it asks
    # MPI again and again, and has most of it then. At a load of 20 on two processors the product had 20 and 24 %; where its name is lost it has nothing. OpenBLAS, if
    # it is the machine's BLAS, has entries of its own and is ten times as fast as the reference.
    dgemm = find(procedures, "dgemm_") or find(procedures, "cblas_dgemm")
    own = sum(value(procedures, r, "cputime.x") for r in procedures["rows"] if "mpi" not in r["name"].lower() and r["module"] and ("hpcc" in r["module"] or "blas" in r["module"]))
    least = 0.02 if "openblas" in libraries else 0.05
    share = value(procedures, dgemm, "cputime") / own if dgemm and own else 0
    check(share > least, f"{what}: dgemm has {share:.3f} of the program's own cost")


status, out, err = run(HQ, "record", "-o", "outside.hq", "--", launcher, "-n", "2", hpcc)
check(status == 0, f"hq record -- {launcher}: {status} {err[-500:]}")
judge("outside.hq", "recorded from outside")

status, out, err = run(launcher, "-n", "2", HQ, "record", "-o", "inside.hq", "--", hpcc)
check(status == 0, f"{launcher} hq record: {status} {err[-500:]}")
judge("inside.hq", "recorded in each rank")
finish()
