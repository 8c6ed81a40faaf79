# SPDX-License-Identifier: BSD-3-Clause
"""Loops are known by their numbers, which one that is added before them shifts: comparisons, races, baselines and
histories never take one loop for another without a word. Amounts are exact, so that nothing is left to chance."""

import glob
import os
import re
import shutil
import subprocess

from lib import *

SOURCE = """
#include <stdlib.h>
static void *volatile kept;
static volatile int few = 2;
__attribute__((noinline)) static void take(int n) { kept = malloc(n); free(kept); }
__attribute__((noinline)) static void give(int n) { kept = malloc(n); free(kept); }
__attribute__((noinline)) static void work(int first, int second)
{
    int i;
#ifdef MORE
    for (i = 0; i < few; i++)
        kept = malloc(100), free(kept);
#endif
#ifndef SWAPPED
    for (i = 0; i < first; i++)
        take(1000);
#endif
    for (i = 0; i < second; i++)
        give(1000);
#ifdef SWAPPED
    for (i = 0; i < first; i++)
        take(1000);
#endif
}
int main(int c, char **v) { (void)c; work(atoi(v[1]), atoi(v[2])); return 0; }
"""
with open(f"{TMP}/work.c", "w") as f:
    f.write(SOURCE)
for name, text in (("loops", "loops\n"), ("tree", "tree\n"), ("both", "procedures\nloops\ntree\n")):
    with open(f"{TMP}/{name}.hq", "w") as f:
        f.write(text)


def race(old, new, file, want, what):
    status, out, err = run(HQ, "race", "--force", "-o", "set", "-n", "2", "-e", "ALLOC", "--old", old, "--new", new, f"{file}.hq")
    check(status == want, f"{what}: exit status {status}, not {want}: {out[-900:]}{err[-500:]}")
    return out


def measured(out, kind="rose"):
    return [line for line in out.splitlines() if line.strip().startswith(kind + ":")]


for compiler in ("gcc", "clang"):
    for name, flags in (("old", []), ("more", ["-DMORE"]), ("swapped", ["-DSWAPPED"])):
        subprocess.run([compiler, "-g", "-O1", *flags, "-o", f"{TMP}/{name}", f"{TMP}/work.c"], check=True)
    for db, program in (("old.db", ["./old", "6000", "4000"]), ("more.db", ["./more", "6000", "4000"]), ("slow.db", ["./more", "6000", "5000"]), ("swapped.db", ["./swapped", "6000", "4000"])):
        record(db, *program, options=["--force", "-e", "ALLOC"])

    # A comparison: what they take is their procedure's on both sides, and nothing is new or gone.
    status, out, err = run(HQ, "slow.db", "tree compare with old.db columns alloc_bytes, old.alloc_bytes, delta.alloc_bytes")
    check("work has 3 loops on this side and 2 on the old one" in err, f"{compiler}: the comparison tells it: {err}")
    rows = ask("slow.db", "tree compare with old.db columns alloc_bytes, old.alloc_bytes")["rows"]
    got = [(r["name"], *r["values"]) for r in rows]
    check(not any("loop" in name for name, *_ in got), f"{compiler}: no loop of work is compared: {got}")
    check(("take", 6000000, 6000000) in got and ("give", 5000000, 4000000) in got, f"{compiler}: what they call is one row: {got}")
    # Another program of the recording has a procedure of that name, too.
    for side in "old", "more":
        os.makedirs(f"{TMP}/{side}.dir", exist_ok=True)
        shutil.copy(f"{TMP}/{side}", f"{TMP}/{side}.dir/app")
        record(f"{side}.two", "sh", "-c", f"{side}.dir/app 6000 4000; ./swapped 60 40", options=["--force", "-e", "ALLOC"])
    err = run(HQ, "more.two", "tree compare with old.two")[2]
    check("work has 3 loops on this side and 2 on the old one" in err, f"{compiler}: in one of two programs: {err!r}")
    # As many loops, of which what they call tells that they are others.
    status, out, err = run(HQ, "swapped.db", "tree compare with old.db")
    check("loops of work call what other loops of it called on the old side" in err, f"{compiler}: swapped loops are told: {err}")
    got = [(r["name"], *r["values"]) for r in ask("swapped.db", "tree compare with old.db columns alloc_bytes, old.alloc_bytes")["rows"]]
    check(("take", 6000000, 6000000) in got and ("give", 4000000, 4000000) in got, f"{compiler}: what swapped loops call is one row: {got}")
    err = run(HQ, "more.db", "tree compare with more.db")[2]
    check("loops" not in err, f"{compiler}: the same program has the same loops: {err}")

    # Races: an added loop, and loops that changed places, are no slowdown; one that takes more is.
    for file in ("loops", "tree", "both"):
        out = race("./old 6000 4000", "./more 6000 4000", file, 0, f"{compiler}, {file}: a loop before the others")
        check("judged as a whole are the loops of work (2, now 3)" in out, f"{compiler}, {file}: it is told: {out}")
        check(not re.search(r"(rose|moved|fell).*loop \d", out), f"{compiler}, {file}: no loop is taken for another: {out}")
        race("./old 6000 4000", "./swapped 6000 4000", file, 0, f"{compiler}, {file}: loops that changed places")
        out = race("./old 6000 4000", "./more 6000 5000", file, 1, f"{compiler}, {file}: the last of them takes more")
        check(not re.search(r"loop \d", "".join(measured(out))), f"{compiler}, {file}: no number of a loop is named: {out}")
        out = race("./old 6000 4000", "./old 6000 5000", file, 1, f"{compiler}, {file}: more in a program with as many loops")
    check(any("loop 2/2 of work" in line for line in measured(out)), f"{compiler}: the loop that rose is named: {out}")

    # Baselines.
    run(HQ, "check", "--update", "old.db", "both.hq")
    with open(f"{TMP}/both.baseline") as f:
        baseline = f.read()
    check("loop 2/2 of work" in baseline, f"{compiler}: the baseline says of how many: {baseline}")
    status, out, _ = run(HQ, "check", "old.db", "both.hq")
    check(status == 0, f"{compiler}: unchanged: {out}")
    status, out, _ = run(HQ, "check", "more.db", "both.hq")
    check(status in (0, 4) and "judged as a whole are the loops of work (2, now 3)" in out, f"{compiler}: a loop before the others, {status}: {out}")
    check(not re.search(r"(rose|fell|gone).*loop \d", out), f"{compiler}: no loop is taken for another: {out}")
    status, out, _ = run(HQ, "check", "slow.db", "both.hq")
    check(status == 1 and "rose" in out and "give" in out, f"{compiler}: the last of them takes more, {status}: {out}")

    status, out, _ = run(HQ, "check", "swapped.db", "both.hq")
    check(status == 4 and "judged as a whole are the loops of work: they call what others of them called" in out,
          f"{compiler}: swapped loops of a tree, {status}: {out}")
    check("some have what others of their procedure had" in out, f"{compiler}: swapped loops of a list: {out}")
    record("swapped.db", "./swapped", "6000", "8000", options=["--force", "-e", "ALLOC"])
    status, out, _ = run(HQ, "check", "swapped.db", "both.hq")
    check(status == 1 and "procedure give" in out and "changed places" not in out, f"{compiler}: swapped loops, one of which takes more, {status}: {out}")

    # One of an earlier version does not say of how many.
    with open(f"{TMP}/both.baseline", "w") as f:
        f.write(re.sub(r"loop (\d+)/\d+ of", r"loop \1 of", baseline))
    status, out, _ = run(HQ, "check", "old.db", "both.hq")
    check(status == 0 and "known by their numbers alone are the loops of work" in out, f"{compiler}: an older baseline, {status}: {out}")
    run(HQ, "check", "--update", "old.db", "both.hq")
    with open(f"{TMP}/both.baseline") as f:
        check(f.read() == baseline, f"{compiler}: an update completes it")

    # A history that an earlier version began goes on, and one more loop begins other courses.
    for i in range(1, 7):
        run(HQ, "check", "old.db" if i < 5 else "more.db", "both.hq", "--history", f"history.{compiler}", "--commit", f"c{i}")
    for path in sorted(glob.glob(f"{TMP}/history.{compiler}/*"))[:2]:
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(re.sub(r"loop (\d+)/\d+ of", r"loop \1 of", text))
    status, out, err = run(HQ, "history", f"history.{compiler}", "loop 1/2 of work")
    check(status == 0 and "c1" in out and "c6" in out, f"{compiler}: the course of a loop, {status}: {out}{err}")
    out = run(HQ, "history", f"history.{compiler}")[1]
    check(" loop 1 of work" not in out and "behind c2" not in out, f"{compiler}: nothing changed where the version did: {out}")

# Loops that call nothing are paired by their numbers; where they are written on other lines, that is told.
with open(f"{TMP}/still.c", "w") as f:
    f.write("""static volatile double kept;
__attribute__((noinline)) static void work(long n)
{
    double s = 0;
#ifdef NEW
    for (long i = 0; i < n; i++)
        s += i * 3.0;
#endif
    for (long i = 0; i < n * 2; i++)
        s += i / 3.0;
#ifndef NEW
    for (long i = 0; i < n; i++)
        s += i / 7.0 + s;
#endif
    kept = s;
}
int main(void) { work(30000000); return 0; }
""")
for name, flags in (("still", []), ("changed", ["-DNEW"])):
    subprocess.run(["gcc", "-g", "-O1", *flags, "-o", f"{TMP}/{name}", f"{TMP}/still.c"], check=True)
    record(f"{name}.db", f"./{name}", options=["--force"])
told = "the loops of work are written on other lines of it than on the old side"
for view, other, wanted in (("tree", "still.db", True), ("loops", "still.db", True), ("procedures", "still.db", False), ("tree", "changed.db", False)):
    err = run(HQ, "changed.db", f"{view} compare with {other}")[2]
    check((told in err) == wanted, f"{view} compare with {other}: {err}")

finish()
