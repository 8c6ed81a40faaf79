# SPDX-License-Identifier: BSD-3-Clause
"""hq check on made databases: points, exit statuses and their order, reports, baselines, bisecting."""

import os
import re
import subprocess
import xml.etree.ElementTree

from counting import check, finish

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))

HEAD = """info command ./app
metric cputime seconds 1e-9 5000000 sampled
module prog /src/app
file a prog a.c
proc main a main 1
proc f a f 10
proc g a g 20
proc h a h 30
loop l f {line}
profile p host=h pid=1 tid=1 command=/src/app end=10000000
"""


def database(name, line=11, **counts):
    """Samples of 5 ms in f, in its loop l, in g and h."""
    text = HEAD.format(line=line)
    for scope, n in counts.items():
        path = f"main:2 > f:{line} > l:12" if scope == "x" else f"main:3 > {scope}:31"
        path = f"main:2 > l:{line + 1}" if scope == "l" else path
        text += f"value p cputime {n * 5000000} {n} {path}\n"
    with open(f"{TMP}/{name}.txt", "w") as f:
        f.write(text)
    subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/{name}.txt", f"{TMP}/{name}"], check=True)


def write(name, text):
    with open(f"{TMP}/{name}", "w") as f:
        f.write(text)


def read(name):
    return open(f"{TMP}/{name}").read()


def hq(*args, want=0):
    done = subprocess.run([HQ, "check", *args], cwd=TMP, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    check(done.returncode == want, f"hq check {' '.join(args)}: exit status {done.returncode}, not {want}:\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


database("a.hq", f=400, l=200, g=300, h=100)
database("same.hq", f=410, l=195, g=290, h=105, line=15)
database("slow.hq", f=400, l=200, g=600, h=100)
database("new.hq", f=400, l=200, h=100, main=300)
database("few.hq", f=8, l=4, g=6, h=2)

# Points
write("pass.hq", "procedures expect rows > 2\ntree of g expect cputime < 50%\n")
write("fail.hq", "-- a comment\nprocedures where cputime.x > 35% expect no rows\nprocedures\n  limit 2\nexpect rows == 4\n")
write("open.hq", "procedures of g expect cputime < 31%\n")
write("wrong.hq", "procedures expect rows > 2\nprocedures limt 3\nprocedures expect no rows\n")
write("none.hq", "procedures\n")
out, err = hq("a.hq", "pass.hq")
check(out == "TAP version 13\nok 1 - pass.hq:1: procedures expect rows > 2\n"
      "ok 2 - pass.hq:2: tree of g expect cputime < 50%\n1..2\n# all 2 checks passed\n", f"TAP: {out}")
check(err == "", f"nothing on standard error: {err}")
out, err = hq("a.hq", "fail.hq", want=1)
check("not ok 1 - fail.hq:2: procedures where cputime.x > 35% expect no rows\n  ---\n  severity: fail\n  message: |\n"
      "    FAIL: expect no rows: 1 row: f\n  ...\n" in out, f"a failure: {out}")
check("ok 2 - fail.hq:5: expect rows == 4" in out, f"expect on the previous result, before its limit: {out}")
out, err = hq("a.hq", "open.hq", want=4)
check("not ok 1 - open.hq:1: procedures of g expect cputime < 31% # TODO inconclusive" in out and "more samples would decide" in out,
      f"inconclusive: {out}")
hq("a.hq", "open.hq", "--inconclusive=pass")
hq("a.hq", "open.hq", "--inconclusive=fail", want=1)

# The order of gravity, and what goes on
out, err = hq("a.hq", "wrong.hq", want=2)
check("ok 1 " in out and "wrong.hq:2:12: limt cannot stand here" in out and "1..2" in out, f"a file stops at its first error: {out}")
out, err = hq("a.hq", "open.hq", "fail.hq", "wrong.hq", "pass.hq", want=2)
check("ok 6 - pass.hq:1" in out and "1 inconclusive" in out, f"the other files go on: {out}")
hq("a.hq", "open.hq", "fail.hq", want=1)
hq("a.hq", "fail.hq", "nosuch.hq", want=3)
out, err = hq("a.hq", "none.hq", want=2)
check("nothing to check" in out, f"nothing to check: {out}")
out, err = hq("nosuch", "pass.hq", want=3)
check("Bail out! " in out, f"without a database: {out}")
hq("a.hq", want=2)
hq(want=2)
hq("a.hq", "pass.hq", "--tolerance", "3", want=2)
hq("a.hq", "pass.hq", "--run", "same.hq", want=2)
write("named.hq", "procedures of {{proc}} expect rows = 1\n")
hq("a.hq", "named.hq", "-D", "proc=g")
hq("a.hq", "named.hq", want=2)
write("strict.hq", "procedures of nosuch expect no rows\n")
hq("a.hq", "strict.hq")
hq("a.hq", "strict.hq", "--strict", want=2)

# Bisecting
hq("a.hq", "pass.hq", "--bisect")
hq("a.hq", "fail.hq", "open.hq", "--bisect", want=1)
hq("a.hq", "open.hq", "--bisect", want=125)
hq("a.hq", "wrong.hq", "--bisect", want=125)
hq("nosuch", "pass.hq", "--bisect", want=125)

# Reports
hq("a.hq", "fail.hq", "open.hq", "wrong.hq", "--junit", "j.xml", "--markdown", "m.md", want=2)
suites = xml.etree.ElementTree.parse(f"{TMP}/j.xml").getroot()
counts = [(s.get("name"), s.get("tests"), s.get("failures"), s.get("errors"), s.get("skipped")) for s in suites]
check(counts == [("fail.hq", "2", "1", "0", "0"), ("open.hq", "1", "0", "0", "1"), ("wrong.hq", "2", "0", "1", "0")], f"JUnit: {counts}")
check("where cputime.x > 35%" in suites[0][0].get("name"), "JUnit names the query")
rows = [line for line in read("m.md").splitlines() if line.startswith("| ")]
check([r.split("|")[1].strip() for r in rows[1:]] == ["**error**", "**FAIL**", "inconclusive", "pass", "pass"], f"Markdown, the gravest first: {rows}")
check(all(r.count("|") - r.count("\\|") == 4 for r in rows), f"Markdown rows have three cells: {rows}")
out, err = hq("a.hq", "pass.hq", "--markdown", "-")
check(out.startswith("### hq check: all 2 checks passed\n"), f"Markdown instead of TAP: {out}")

# Baselines
write("base.hq", "procedures limit 2\ntree\nloops\nprocedures compare with same.hq\ninfo\n")
out, err = hq("a.hq", "base.hq", "--update")
text = read("base.baseline")
check(text.startswith("hq baseline 1\n\nquery: procedures\ncputime 60.00% +-2% of 1000: procedure f\n") or "cputime.x 30.00% +-2% of 1000: procedure g\n" in text,
      f"the baseline: {text}")
check("loop 1 of f\n" in text and "query: procedures compare" not in text and "query: info" not in text, f"the baseline: {text}")
check("a.c" not in text and ":1" not in text, f"no lines in the baseline: {text}")
out, err = hq("a.hq", "base.hq")
check(out.count("\nok ") == 3 and "---" not in out, f"the same database passes: {out}")
hq("same.hq", "base.hq")
out, err = hq("slow.hq", "base.hq", want=1)
check("rose: cputime of procedure g: 30.0% -> 46.2%" in out and "fell: cputime.x of procedure f" in out, f"what rose and fell: {out}")
out, err = hq("new.hq", "base.hq", want=1)
check("gone: cputime of procedure g, was 30.0%" in out and "new: cputime.x of procedure main" in out, f"new and gone: {out}")
out, err = hq("few.hq", "base.hq", want=4)
check("only 20 samples: too few to compare; about 80 more would do" in out, f"too few: {out}")
write("base.baseline", text.replace("cputime 30.00% +-2% of 1000: procedure g", "cputime 30.00% +-90% of 1000: procedure g")
      .replace("cputime.x 30.00% +-2% of 1000: procedure g", "cputime.x 30.00% +-90% of 1000: procedure g"))
out, err = hq("slow.hq", "base.hq", want=1)
check("of procedure g:" not in out, f"a tolerance that was edited: {out}")
write("base.baseline", text + "<<<<<<< ours\n")
out, err = hq("a.hq", "base.hq", want=3)
check("base.baseline:" in out and "unresolved merge conflict" in out, f"a merge conflict: {out}")
write("base.baseline", text + "cputime 5\n")
out, err = hq("a.hq", "base.hq", want=3)
check("base.baseline:" in out and "correct it" in out, f"a damaged baseline: {out}")
hq("a.hq", "base.hq", "--update", "--tolerance", "7.5%")
check("+-7.5% of 1000" in read("base.baseline"), "the tolerance that was asked for")
hq("same.hq", "base.hq", "--update")
check("+-7.5% of 1000" in read("base.baseline"), "an update keeps tolerances")

# What chance may have changed stays as it was, what rose does not, and a longer run writes all
text = read("base.baseline")
check("cputime 60.00% +-7.5% of 1000: procedure f\n" in text and "41.00%" not in text, f"an update leaves what is the same: {text}")
hq("slow.hq", "base.hq", "--update")
check("cputime 46.15% +-7.5% of 1300: procedure g\n" in read("base.baseline"), f"an update writes what rose: {read('base.baseline')}")
hq("slow.hq", "base.hq")
write("base.baseline", text)
database("long.hq", f=820, l=390, g=580, h=210)
hq("long.hq", "base.hq", "--update")
check("cputime 60.50% +-7.5% of 2000: procedure f\n" in read("base.baseline"), f"a longer run writes all: {read('base.baseline')}")
write("base.baseline", text)

# Both sides of a merge wrote the baseline again, one with a tolerance of its own: an update settles it and keeps that
row = next(line for line in read("base.baseline").splitlines() if line.startswith("cputime ") and line.endswith(": procedure g"))
other = row.replace("+-7.5%", "+-9%")
write("base.baseline", read("base.baseline").replace(row, f"<<<<<<< ours\n{other}\n=======\n{row}\n>>>>>>> theirs", 1))
hq("a.hq", "base.hq", want=3)
hq("a.hq", "base.hq", "--update")
text = read("base.baseline")
check("<<<" not in text and re.search(r"^cputime \S+ \+-9% of 1000: procedure g$", text, re.M) and "+-7.5% of 1000" in text,
      f"an update of a file with a conflict keeps tolerances: {text}")

# One line a value, so two branches that change different procedures merge
write("ours", text.replace("+-9%", "+-8%"))
write("theirs", re.sub(r"^(query: loops\n(?:.*\n)*?cputime \S+ )\+-7.5%", r"\1+-6%", text, flags=re.M))
merged = subprocess.run(["git", "merge-file", "-p", "ours", "base.baseline", "theirs"], cwd=TMP, capture_output=True, text=True)
check(merged.returncode == 0 and "+-8%" in merged.stdout and "+-6%" in merged.stdout, f"changes merge: {merged.stdout}{merged.stderr}")

# A filter leaves rows out of the judgement, and nothing is evaluated for it a second time
write("where.hq", 'procedures where name != "g"\n')
hq("a.hq", "where.hq", "--update")
check(": procedure g\n" in read("where.baseline"), "a baseline holds what where leaves out")
out, err = hq("slow.hq", "where.hq")
check("procedure g" not in out and "fell: cputime of procedure f" in out, f"what where leaves out is not judged: {out}")

# A baseline of other events, and of other queries
write("other.txt", HEAD.format(line=11).replace("cputime", "realtime") + "value p realtime 5000000 1000 main:3 > g:31\n")
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/other.txt", f"{TMP}/other.hq"], check=True)
out, err = hq("other.hq", "base.hq", want=2)
check("the baseline holds cputime, cputime.x, and this run has realtime, realtime.x; record the same events" in out, f"other events: {out}")
write("base.hq", "procedures limit 2\ntree depth 3\n")
out, err = hq("a.hq", "base.hq")
check("base.hq:2: the baseline has no values of this query" in err and "base.baseline: base.hq does not ask `tree`" in err, f"other queries: {err}")

# Seconds only over repeated runs: a machine half as fast changes no share
write("once.hq", "procedures\n")
out, err = hq("a.hq", "once.hq", "--update")
check("# nothing was checked" in out, f"an update alone checks nothing: {out}")
check(all("% +-" in line for line in read("once.baseline").splitlines() if ": procedure " in line), "the baseline of one run holds shares only")
database("twice.hq", f=800, l=400, g=600, h=200)
hq("twice.hq", "once.hq")

# Over runs: seconds
write("runs.hq", "procedures\n")
for i, g in enumerate((300, 303, 297)):
    database(f"r{i}.hq", f=400, l=200, g=g, h=100)
    database(f"s{i}.hq", f=400, l=200, g=g + 60, h=100)
hq("r0.hq", "runs.hq", "--update", "--run", "r1.hq", "--run", "r2.hq", "--tolerance", "5%")
text = read("runs.baseline")
check("cputime 1.5s +-5% of 3 runs, sd 0.015s: procedure g\n" in text, f"seconds over runs: {text}")
hq("r1.hq", "runs.hq")
out, err = hq("s0.hq", "runs.hq", "--run", "s1.hq", "--run", "s2.hq", want=1)
check("rose: cputime of procedure g: 1.5 s -> 1.8 s" in out, f"seconds rose: {out}")
for i in range(3):
    database(f"d{i}.hq", f=800, l=400, g=600 + i, h=200)
out, err = hq("d0.hq", "runs.hq", "--run", "d1.hq", "--run", "d2.hq", want=1)
check("rose: cputime of procedure f" in out and "rose: cputime of procedure main" in out, f"twice the seconds in all: {out}")
finish()
