# SPDX-License-Identifier: BSD-3-Clause
"""hq race and sets of runs: exact amounts decide at once and to the byte, a threefold slowdown is found, equal programs
are not called slower, and what goes wrong is said. Equal programs fail once in a hundred races by design, and each
race here is only asked not to fail twice in a row."""

import os
import re
import subprocess

from lib import *

SOURCE = """
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) static void take(int n) { for (int i = 0; i < n; i++) { kept = malloc(1000); free(kept); } }
int main(int c, char **v) { (void)c; take(atoi(v[1])); return 0; }
"""
with open(f"{TMP}/take.c", "w") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-O1", "-g", "-o", f"{TMP}/take", f"{TMP}/take.c"], check=True)


def race(old, new, *options, want=None, what=""):
    status, out, err = run(HQ, "race", "--force", "-o", "set", "--old", old, "--new", new, *options)
    if want is not None:
        check(status == want, f"{what}: exit status {status}, not {want}; {out[-800:]}{err[-500:]}")
    return status, out, err


# Exact amounts need no repetition: the smallest race decides.
status, out, _ = race("./take 1000", "./take 1000", "-n", "2", "-e", "ALLOC", want=0, what="equal amounts")
status, out, _ = race("./take 1000", "./take 1050", "-n", "2", "-e", "ALLOC", want=1, what="5 % more bytes")
check("+5.0%" in out, f"the rise is told: {out}")
check("because: " in out and "take" in out, f"the context is named: {out}")
check(race("./take 1000", "./take 1003", "-n", "2", "-e", "ALLOC")[0] == 0, "0.3 % more bytes are within the tolerance")
out = race("./take 1000", "./take 1050", "-n", "2", "-e", "ALLOC", "--tolerance", "6%", want=0, what="a tolerance of exact amounts")[1]
check("more than 6%" in out, f"it is told: {out}")
race("./take 1000", "./take 1070", "-n", "2", "-e", "ALLOC", "--tolerance", "6%", want=1, what="beyond a tolerance of exact amounts")
out = race("./take 1000 | tr a b", "./take 1", "-n", "2", "-e", "ALLOC")[1]
check(out.count("fell:") == 8 and re.search(r"^ +and \d+ more$", out, re.M), f"of what fell the largest are named: {out}")

# For git bisect: good, bad, and what could not be judged.
for new, want in (("./take 1000", 0), ("./take 1100", 1), ("./nosuch", 125), ("exit 3", 125)):
    race("./take 1000", new, "-n", "2", "-e", "ALLOC", "--bisect", want=want, what=f"--bisect of {new}")
with open(f"{TMP}/none.hq", "w") as f:
    f.write("procedures of nosuch\n")
race("./take 1000", "./take 1000", "-n", "2", "-e", "ALLOC", "--bisect", "none.hq", want=125, what="--bisect of what was not judged")

# Runs that are short are told what makes them decide: to do their work more than once.
status, out, _ = race("./take 100000", "./take 100000", "-n", "2", "--tolerance", "0.1%")
check(status != 4 or re.search(r"or fewer runs that are longer: --old 'for i in \$\(seq \d+\); do CMD; done'", out), f"short runs: {out}")
out = race(f"{PROGRAMS}/benchmark 0.3 1", f"{PROGRAMS}/benchmark 0.3 1", "-n", "2", "--tolerance", "0.1%")[1]
check("inconclusive" not in out or "for i in" not in out, f"and those that it does not help are not: {out}")
twice = "for i in $(seq 2); do ./take 9; done"
race(twice, twice, "-n", "2", "-e", "ALLOC", want=0, what="the loop of that advice")

# So few pairs fit into the time that the race is going to be open: that is told before the first one. No pair begins that would not end in time.
out, err = race("./take 9", "./take 9", "-e", "ALLOC", "--at-most", "1ms", want=4, what="a time for no pair")[1:3]
check(re.search(r"a run takes up to .*, so no pair fits into --at-most, .*: --at-most \d+s", err), f"too little time: {err}")
check(out.startswith("inconclusive (0 pairs of runs, ") and "no pair of runs fits into --at-most" in out, f"no pair: {out}")
err = race("./take 9", "./take 9", "-e", "ALLOC", want=0, what="the time that it takes")[2]
check("fit" not in err, f"enough time: {err}")

# A log is told that the race goes on, as a terminal is; not with --quiet.
err = race("./take 9", "./take 9", "-n", "7", "-e", "ALLOC", want=0, what="a log")[2]
check(re.search(r"^hq: 4 pairs of runs in \d+ s, of 7$", err, re.M) and re.search(r"^hq: 6 pairs", err, re.M), f"progress in a log: {err}")
err = race("./take 9", "./take 9", "-n", "5", "-e", "ALLOC", "--quiet", want=0, what="a quiet race")[2]
check(err == "", f"--quiet prints the verdict alone: {err}")

# The set is a database, and a checked one.
status, out, _ = run(HQ, "set", "procedures of take as csv")
check(status == 0 and "take" in out, f"a question to the set: {out}")
with open(f"{TMP}/q.hq", "w") as f:
    f.write("procedures\nprocedures of take expect rows = 1\n")
race("./take 1000", "./take 1050", "-n", "2", "-e", "ALLOC", want=1, what="for a check")
status, out, err = run(HQ, "check", "set", "q.hq")
check(status == 1 and "race of procedures" in out and out.count("not ok") == 2 and "ok 3" in out, f"check of a race: {out}{err}")
status, out, err = run(HQ, "race", "--force", "-o", "set", "--old", "./take 10", "--new", "./take 10", "-n", "2", "-e", "ALLOC", "q.hq")
check(status == 0, f"queries of a race: {status} {out}{err}")

# Two limits of one procedure are two lines of a file, and its amount is that of one.
with open(f"{TMP}/limits.hq", "w") as f:
    f.write("procedures of take expect rows = 1\nprocedures of take expect alloc_calls > 1\nprocedures of take\n")
out = race("./take 1000", "./take 1050", "-n", "2", "-e", "ALLOC", "limits.hq", want=1, what="two limits of one procedure")[1]
check("alloc_bytes of procedure take: 1000000 B -> 1050000 B" in out, f"the amount of a procedure that has two limits: {out}")
status, out, err = run(HQ, "check", "set", "limits.hq")
check(status == 1 and out.count("race of procedures of take") == 1 and "1000000 B -> 1050000 B" in out, f"and in a check: {out}{err}")

# With a file the rows of its queries are judged, and nothing else: neither what `where` leaves out nor the total beside a part.
with open(f"{TMP}/both.c", "w") as f:
    f.write(SOURCE.replace("int main", "__attribute__((noinline)) static void other(int n) { for (int i = 0; i < n; i++) { kept = malloc(9); free(kept); } }\nint main")
            .replace("return 0", "other(atoi(v[2])); return 0"))
check(run("gcc", "-O1", "-g", "-o", "both", "both.c")[0] == 0, "the program of two procedures is built")
for query, want in (("procedures", 1), ("procedures of take", 0), ("procedures of other", 1), ("procedures where name = take", 0),
                    ("procedures where name = other", 1), ("tree matching /take/", 0)):
    with open(f"{TMP}/part.hq", "w") as f:
        f.write(query + "\n")
    out = race("./both 1000 1000", "./both 1000 9000", "-n", "2", "-e", "ALLOC", "part.hq", want=want, what=query)[1]
    check(query == "procedures" or "all alloc" not in out, f"{query}: the total is not asked for: {out}")

# A row of less than half a percent is not judged, whichever columns the query shows.
for query in ("tree", "tree columns alloc_bytes.x", "tree columns alloc_bytes"):
    with open(f"{TMP}/part.hq", "w") as f:
        f.write(query + "\n")
    race("./both 20000 1", "./both 20000 2", "-n", "2", "-e", "ALLOC", "part.hq", want=0, what=query)

# What hq could not have seen is never ok: no samples, no row of that name, time that was not measured.
with open(f"{TMP}/absent.hq", "w") as f:
    f.write("procedures of nosuch\n")
for options, what in ((("-e", "CPUTIME@10000s"), "programs without samples"), (("-e", "ALLOC", "absent.hq"), "a row that there is not")):
    out = race("true", "true", "-n", "2", *options, want=4, what=what)[1]
    check("nothing was measured that could be judged" in out and "ok" not in out, f"{what}: {out}")
    status, out, err = run(HQ, "check", "set", *options[2:] or ["q.hq"])
    check(status in (1, 4) and "nothing was measured that could be judged" in out, f"check of {what}: {status} {out}{err}")
with open(f"{TMP}/uncomparable.hq", "w") as f:
    f.write("info\n")
for name in ("uncomparable.hq", "/dev/null"):
    err = race("true", "true", "-n", "2", name, want=2, what=f"nothing to compare in {name}")[2]
    check("no query whose values can be compared" in err, f"nothing to compare in {name}: {err}")
out = race("./take 1000", "./take 1000", "-n", "2", "-e", "ALLOC", want=0, what="amounts alone")[1]
check("slower" not in out and "no time" in out, f"of time that was not measured nothing is said: {out}")
out = race("./take 1000", "./take 1100", "-n", "2", "-e", "ALLOC", want=1, what="more alone")[1]
check("slower" not in out and "costs more" in out, f"more memory is not slower: {out}")

# Queries in a pipe, which can be read once, are asked of every run.
for words in ("race --force -o piped -n 2 -e ALLOC --old './take 1000' --new './take 1100'", "check piped"):
    status, out, err = run("bash", "-c", f"{HQ} {words} <(echo 'procedures of take')")
    check(status == 1 and out.count("rose: ") == 2 and "+10.0%" in out, f"queries in a pipe: {words}: {status} {out} {err}")

# Time: three times as much is seen whatever the machine does meanwhile, and equal programs do not fail: two races in a hundred may
# (checks.md), both of two once in 2,500 times, and where hq is wrong about it they do.
bench = f"{PROGRAMS}/benchmark"
race(f"{bench} 0.2 1", f"{bench} 0.2 3", "-n", "6", want=1, what="three times slower")
check(any(race(f"{bench} 0.2 1", f"{bench} 0.2 1", "-n", "6")[0] != 1 for _ in range(2)), "equal programs are not called slower")

# An hq that is built anew or removed during a race is not the program's mistake.
os.makedirs(f"{TMP}/moved")
for name in os.listdir(os.path.dirname(os.path.realpath(HQ))):
    if name == "hq" or name.endswith(".so"):
        shutil.copy(f"{os.path.dirname(os.path.realpath(HQ))}/{name}", f"{TMP}/moved/{name}")
status, out, err = run(f"{TMP}/moved/hq", "race", "-n", "2", "-e", "ALLOC", "-o", "removed", "--old", "rm -f moved/hq", "--new", "true")
logs = [open(f"{TMP}/removed/{name}").read() for name in os.listdir(f"{TMP}/removed") if name.endswith(".out")]
check(status == 3 and any("its file was replaced or removed" in log for log in logs), f"hq is gone: {status} {err} {logs}")

# Every run reads the file that is standard input from its beginning; a pipe cannot be read twice.
with open(f"{TMP}/reader.c", "w") as f:
    f.write("#include <stdio.h>\n" + SOURCE.replace("int c, char **v) { (void)c; take(atoi(v[1]));", "void) { while (getchar() != EOF) take(1);"))
check(run("gcc", "-O1", "-g", "-o", "reader", "reader.c")[0] == 0, "a program that reads standard input is built")
with open(f"{TMP}/input", "w") as f:
    f.write("x" * 100)
for words in (["race", "--old", "./reader", "--new", "./reader", "-n", "2"], ["record", "--runs", "2", "-o", "set", "--", "./reader"]):
    for given, of_each, told in (("file", 100, False), ("pipe", 0, True)):
        with open(f"{TMP}/input") as f:
            feed = {"stdin": f} if given == "file" else {"input": "x" * 100}
            done = subprocess.run([HQ, words[0], "--force", "-e", "ALLOC", *(["-o", "set"] if words[0] == "race" else []), *words[1:]],
                                  cwd=TMP, capture_output=True, text=True, **feed)
        calls = sum(value(r, row, "alloc_calls") for r in [json.loads(run(HQ, "set", "procedures where name = take as json")[1])] for row in r["rows"])
        check(done.returncode == 0 and calls == 2 * of_each, f"{words[0]}: standard input is a {given}: {calls} calls in two runs, {done.stderr}")
        check(("standard input is a pipe" in done.stderr) == told, f"{words[0]}: standard input is a {given}: {done.stderr}")

# What goes on behind the end of a run is in no run.
os.mkfifo(f"{TMP}/behind.fifo")
with open(f"{TMP}/part.hq", "w") as f:
    f.write("procedures of take\n")
out = race("./take 1000", "./take 1000; (sh -c 'echo $$ >> behind.pids; echo; read x < behind.fifo' &) | head -1", "-n", "2", "-e", "ALLOC", "part.hq",
           want=4, what="a process that is left behind")[1]
check("2 of the new runs left processes behind that still ran" in out, f"a process that is left behind: {out}")
for pid in open(f"{TMP}/behind.pids").read().split():
    os.kill(int(pid), 9)

# Sets of one program.
status, out, err = run(HQ, "record", "--runs", "3", "-e", "ALLOC", "-o", "three", "--", "./take", "100")
check(status == 0, f"record --runs: {err}")
status, out, _ = run(HQ, "three", "metrics as csv")
check(status == 0, "metrics of a set")

# Sums of three runs and of two: without a word means are compared, so a program is as it was.
status, out, err = run(HQ, "record", "--runs", "2", "-e", "ALLOC", "-o", "two", "--", "./take", "100")
for query, factor in (("procedures of take compare with two", 1.5), ("procedures of take compare with two scaled by 1", 1)):
    result = json.loads(run(HQ, "three", query + " as json")[1])
    row = find(result, "take")
    here, old, delta = (value(result, row, p + "alloc_bytes") for p in ("", "old.", "delta."))
    check(here == 300 * 1000 and old == factor * 200 * 1000 and delta == here - old, f"{query}: {here} {old} {delta}")
status, out, err = run(HQ, "three", "procedures compare with two")
check("this side is the sum of 3 runs and the other of 2, whose values are scaled by 1.5" in err, f"sets of different size: {err}")
status, out, err = run(HQ, "three", "procedures compare with three/001.hq")
check("the sum of 3 runs and the other of 1" in err, f"a set and one run: {err}")
status, out, err = run(HQ, "record", "--runs", "2", "-o", "failing", "--", "false")
check(status == 1 and "run 1 ended with status 1" in err, f"a run that fails: {status} {err}")

# What failed can be replaced, and is no set to ask.
for words in (["race", "--old", "./take 9", "--new", "false", "-n", "2", "-o", "again"], ["record", "--runs", "2", "-o", "again", "--", "false"]):
    for force in (["--force"], [], []):
        status, out, err = run(HQ, *words[:1], *force, *words[1:])
        check("ended with status 1" in err, f"a set of which no run came is replaced: {force} {status} {err}")
    for question in (["again", "procedures"], ["check", "again", "q.hq"]):
        status, out, err = run(HQ, *question)
        check(status == 3 and "lists no runs" in out + err, f"{question}: a set without runs: {status} {out}{err}")

# A baseline of nothing is not written, and hq says so.
run(HQ, "record", "--force", "-o", "nothing", "--", "true")
with open(f"{TMP}/absent.hq", "w") as f:
    f.write("procedures of nosuch\n")
status, out, err = run(HQ, "check", "--update", "nothing", "absent.hq")
check("gets no baseline" in err and not os.path.exists(f"{TMP}/absent.baseline"), f"a baseline of nothing: {status} {out}{err}")

# Mistakes.
for words, want, part in (
    (["race", "--old", "true"], 2, "--new is missing"),
    (["race", "--old", "true", "--new", "true", "-n", "1"], 2, "from 2 to"),
    (["race", "--old", "false", "--new", "true", "-n", "2", "-o", "m1"], 3, "the old program ended with status 1"),
    (["race", "--old", "kill -9 $$", "--new", "true", "-n", "2", "-o", "m4"], 3, "the old program ended with status 137"),
    (["race", "--old", "true", "--new", "./nosuch", "-n", "2", "-o", "m5"], 3, "hq record failed, and not the new program: hq record: ./nosuch: there is no such file"),
    (["race", "--old", "true", "--new", "true", "-n", "2", "-e", "NOSUCH", "-o", "m6"], 3, "hq record failed, and not the old program: hq record: NOSUCH"),
    (["record", "--runs", "2", "-e", "NOSUCH", "-o", "m7", "--", "true"], 2, "run 1 was not recorded: hq record itself failed, with status 2"),
    (["record", "--runs", "2", "-o", "m8", "--", "sh", "-c", "exit 2"], 2, "run 1 ended with status 2"),
    (["race", "--old", "true", "--new", "true", "-n", "2", "-o", "m2", "nosuch.hq"], 2, "there is no file nosuch.hq"),
    (["race", "--old", "true", "--new", "true", "-n", "2", "-o", "set"], 2, "holds runs already"),
    (["race", "--old", "true", "--new", "true", "-n", "2", "-o", "q.hq"], 2, "is a file"),
    (["race", "--old", "true", "--new", "true", "--at-most", "soon"], 2, "--at-most"),
    (["race", "--old", "true", "--new", "true", "--tolerance", "5"], 2, "--tolerance"),
    (["record", "--runs", "x", "-o", "m3", "--", "true"], 2, "--runs takes a number"),
):
    status, out, err = run(HQ, *words)
    check(status == want and part in err, f"{' '.join(words)}: {status} {err}")
with open(f"{TMP}/set/runs.txt", "a") as f:
    f.write("newer 9.hq\n")
status, out, err = run(HQ, "check", "set", "q.hq")
check(status == 3 and "runs.txt:" in err, f"a damaged list: {status} {err}")
finish()
