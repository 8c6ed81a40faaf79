# SPDX-License-Identifier: BSD-3-Clause
"""
Ranks of known work under each MPI that is here: statistics are over ranks and find the imbalance that was made; elapsed time is that of the ranks, without
the launcher's and MPI's own threads, which `set helpers on` counts.
"""
from lib import *

RANKS = 3
WORK = [0.2 * (r + 1) for r in range(RANKS)]
for mpi in mpis("mpicc", "mpirun"):
    status, out, err = run(f"mpicc.{mpi}", "-O1", "-g", "-o", f"ranks.{mpi}", f"{os.environ['TOP']}/tests/e2e/ranks.c")
    check(status == 0, err)
    command = f"mpirun.{mpi}", "-n", RANKS, f"./ranks.{mpi}"

    # 0.6 s are 120 samples; shares of a tick of 4 ms make +-10 % of them.
    record(f"{mpi}.hq", *command, options=["--force", "-e", "CPUTIME"])
    result = ask(f"{mpi}.hq", "procedures of solve columns sum(cputime), max(cputime), mean(cputime), min(cputime), count(cputime)")
    values = result["rows"][0]["values"]
    for name, got, want in zip(("sum", "max", "mean", "min", "ranks"), values, (sum(WORK), max(WORK), sum(WORK) / RANKS, min(WORK), RANKS)):
        check(abs(got - want) < 0.15 * want + 0.02, f"{mpi}: the {name} of solve is {got}, and {want} was made")
    by_thread = ask(f"{mpi}.hq", "procedures of solve per thread columns max(cputime)")["rows"][0]["values"][0]
    check(abs(by_thread - values[1]) < 1e-9, f"{mpi}: one thread of each rank solves: {by_thread}")

    record(f"{mpi}-wall.hq", *command, options=["--force", "-e", "REALTIME@200/s"])
    listing = run(HQ, f"{mpi}-wall.hq", "profiles as csv")[1].splitlines()
    ranks = [line for line in listing[1:] if ",rank " in line and not line.rstrip('"').endswith("helper")]
    check(len(ranks) == RANKS, f"{mpi}: {len(ranks)} profiles are the ranks' own: {listing}")
    field = listing[0].split(",").index("realtime")
    elapsed = sum(float(line.split(",")[field]) for line in ranks)
    everybody = sum(float(line.split(",")[field]) for line in listing[1:])
    check(everybody > elapsed * 1.5, f"{mpi}: the others have as much: {everybody} of {elapsed}")
    status, out, err = run(HQ, f"{mpi}-wall.hq", "tree depth 1 as json")
    shown = sum(r["values"][0] for r in json.loads(out)["rows"])
    check(abs(shown - elapsed) < 1e-6, f"{mpi}: the total is {shown}, the ranks have {elapsed}")
    check("left out of realtime" in err and "set helpers on" in err, f"{mpi}: it is said: {err}")
    status, out, err = run(HQ, f"{mpi}-wall.hq", "set helpers on; tree depth 1 as json")
    check(abs(sum(r["values"][0] for r in json.loads(out)["rows"]) - everybody) < 1e-6, f"{mpi}: with helpers it is that of all")
    check("left out" not in err, err)
    parts = [sum(r["values"][0] for r in ask(f"{mpi}-wall.hq", f"tree depth 1 during {s}")["rows"]) for s in ("..40%", "40%..70%", "70%..")]
    check(abs(sum(parts) - elapsed) < 1e-6, f"{mpi}: slices {parts} add up to {elapsed}")
    result = ask(f"{mpi}-wall.hq", "procedures all columns realtime, max(realtime) - mean(realtime), 100 * (max(realtime) - mean(realtime)) / max(realtime)")
    for row in result["rows"]:
        time, saves, over = row["values"]
        check(saves is None or (0 <= saves <= elapsed and 0 <= over <= 100), f"{mpi}: {row['name']} would save {saves} s of {elapsed}, {over} %")
finish()
