# SPDX-License-Identifier: BSD-3-Clause
"""Queries that would take all memory or for ever: what lets have in common is computed once, and limits of time and memory end a question with a
sentence and status 3.
"""
import os
import re
import resource

from counting import seconds
from lib import *

os.environ["XDG_CACHE_HOME"] = os.path.join(TMP, "cache")
with open(os.path.join(TMP, "a.folded"), "w") as file:
    file.write("main;a 3\nmain;b 4\n")

lets = ["let a0 = samples", *(f"let a{i} = a{i - 1} + a{i - 1}" for i in range(1, 41)),
        *(f"let a{i} = if(a{i - 1} > a{i - 2}, a{i - 1} + a{i - 1}, a{i - 1} - a{i - 1})" for i in range(41, 120))]
script = os.path.join(TMP, "lets.hq")
with open(script, "w") as file:
    file.write("\n".join(lets) + "\nprocedures where a119 > a100 sort by a119 columns samples, a40, a119 as json\n")
status, out, err = run(HQ, "a.folded", "-f", script, timeout=seconds(60))
check(status == 0, f"120 lets: status {status}: {err}")
if status == 0:
    result = json.loads(out)
    for name, n in (("a", 3), ("b", 4), ("main", 7)):
        row = find(result, name)
        check(row and value(result, row, "a40") == n * 2.0**40 and value(result, row, "a119") == n * 2.0**119, f"{name}: {row}")

# The same of statistics and totals.
with open(script, "w") as file:
    file.write("let b0 = samples / @samples\n" + "".join(f"let b{i} = b{i - 1} + b{i - 1}\n" for i in range(1, 60)) +
               "procedures columns samples, b59, m = max(b59) sort by max(b59) as json\n")
status, out, err = run(HQ, "a.folded", "-f", script, timeout=seconds(60))
check(status == 0, f"statistics of lets: status {status}: {err}")
if status == 0:
    result = json.loads(out)
    check(abs(value(result, find(result, "a"), "b59") - 3 / 7 * 2.0**59) < 2.0**20, f"{find(result, 'a')}")

status, out, err = run(HQ, "--limit-time", "1us", "a.folded", "procedures")
check(status == 3 and "takes longer than its limit" in err and "--limit-time" in err, f"time: status {status}: {err}")
status, out, err = run(HQ, "--limit-time", "60", "a.folded", "procedures")
check(status == 0, f"enough time: status {status}: {err}")
for wrong in ("--limit-time=0", "--limit-time=soon", "--limit-memory=0", "--limit-memory=all"):
    status, out, err = run(HQ, wrong, "a.folded", "procedures")
    check(status == 2 and wrong.split("=")[0] in err, f"{wrong}: status {status}: {err}")



def instructions(groups):
    """Of a session with so many definitions, by callgrind."""
    with open(script, "w") as file:
        file.write("".join(f"group g{i} = f{i}, \"h{i}*\", group g{i // 2 - 1}\n" if i > 2 else f"group g{i} = f{i}\n" for i in range(groups)))
        file.write("procedures limit 1\n")
    status, out, err = run("valgrind", "--tool=callgrind", f"--callgrind-out-file={TMP}/callgrind", HQ, "a.folded", "-f", script)
    check(status == 0, f"{groups} groups: status {status}: {err[-300:]}")
    return int(re.search(r"Collected : (\d+)", err).group(1))


if not HQ.count("san"):
    none, few, many = instructions(0), instructions(200), instructions(800)
    check(many - none < 8 * (few - none), f"four times as many groups take {(many - none) / (few - none):.1f} times as many instructions")

with open(os.path.join(TMP, "wide.folded"), "w") as file:
    for i in range(30000):
        file.write(f"main;f{i};g{i % 7};h{i % 3} 1\n")
check(run(HQ, "wide.folded", "procedures limit 1")[0] == 0, "the wide one can be asked")
if not HQ.count("san"):
    status, out, err = run(HQ, "--limit-memory", "30MiB", "wide.folded", "tree all as json")
    check(status == 3 and "limit of 30 MiB of memory" in err and "--limit-memory" in err, f"memory: status {status}: {err[-300:]}")

# Files that may not grow: the write is an error, not the end of the process.
for args in (("import", "wide.folded", "-o", "small.hq"), ("a.folded", "procedures all as csv to long.csv")):
    args = ("wide.folded", *args[1:]) if args[0] == "a.folded" else args
    status, out, err = run(HQ, *args, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    check(status == 3 and "File too large" in err and not os.path.exists(os.path.join(TMP, "small.hq", "hq.db")), f"{args}: status {status}: {err[-300:]}")
finish()
