# SPDX-License-Identifier: BSD-3-Clause
"""
What hq writes for other tools is read by them: callgrind_annotate, and Go's pprof where it is installed (make deps-bench); by a
reader of the protocol buffers written here; against the rules of speedscope's schema; and back by hq itself.
"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import Hpctoolkit, TMP, check, check_tree, finish, run, tree, write  # noqa: E402

SRC = "/src/prog.c"


def line(n, children=(), values=None):
    return (0, 2, (SRC, n), list(children), values or {})


# main > solve > loop > { line 31, inlined axpy > line 5 }; worker; recursion f > f.
solve = (1, 0, "solve", [(0, 1, (SRC, 30), [line(31, [], {0: 2.0}), line(32, [(2, 0, "axpy", [line(5, [], {0: 0.5})], {})])], {})], {})
recursive = (1, 0, "f", [line(50, [(1, 0, "f", [line(50, [], {0: 0.25})], {})], {0: 0.25})], {})
main = (1, 0, "main", [line(12, [solve]), line(13, [recursive], {0: 1.0})], {})
worker = (1, 0, "worker", [line(40, [], {1: 4.0})], {})
base = 1_700_000_000_000_000_000
trace = [(1, [(base + 1_000_000 * i, "main" if i < 3 else "solve") for i in range(1, 6)]), (2, [(base + 1_000_000 * i, "worker") for i in range(1, 4)])]
source = Hpctoolkit([[(2, 0), (3, 0)], [(2, 0), (3, 1)]]).save(f"{TMP}/source", [(1, "main thread", [main]), (2, "application thread", [worker])], trace)
database = f"{TMP}/source.hq"
run("import", source, "-o", database)

# ---- pprof ----


def fields(data):
    at, out = 0, []

    def number():
        nonlocal at
        x = shift = 0
        while True:
            byte = data[at]
            at += 1
            x |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return x
    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            out.append((tag >> 3, number()))
        else:
            size = number()
            check(tag & 7 == 2 and at + size <= len(data), "a field of pprof")
            out.append((tag >> 3, data[at:at + size]))
            at += size
    return out


def numbers(data):
    return [n for _, n in fields(b"".join(b"\x08" + part for part in re.findall(rb"[\x80-\xff]*[\x00-\x7f]", data)))]


run("export", "pprof", database, "-o", f"{TMP}/out.pb.gz")
profile = fields(gzip.open(f"{TMP}/out.pb.gz").read())
strings = [v.decode() for n, v in profile if n == 6]
functions = {f[1]: (strings[f[2]], strings[f.get(4, 0)], f.get(5, 0)) for f in (dict(fields(v)) for n, v in profile if n == 5)}
check(strings[0] == "", "the first string is empty")
types = [tuple(strings[x] for _, x in fields(v)) for n, v in profile if n == 1]
check(types == [("realtime", "nanoseconds")], f"sample types {types}")
check([strings[v] for n, v in profile if n == 14] == ["realtime"], "what readers begin with is the first column")
locations = {}
for n, v in profile:
    if n == 4:
        f = fields(v)
        lines = [dict(fields(x)) for k, x in f if k == 4]
        locations[dict(f)[1]] = [(functions[x[1]][0], x.get(2, 0)) for x in lines]
samples = {}
for n, v in profile:
    if n == 2:
        f = dict(fields(v))
        stack = tuple(x for i in numbers(f[1]) for x in locations[i])
        samples[stack] = samples.get(stack, 0) + numbers(f[2])[0]
ms = 1_000_000
want = {
    (("solve", 31), ("main", 12)): 2000 * ms,
    (("axpy", 5), ("solve", 32), ("main", 12)): 500 * ms,
    (("main", 13),): 1000 * ms,
    (("f", 50), ("main", 13)): 250 * ms,
    (("f", 50), ("f", 50), ("main", 13)): 250 * ms,
    (("worker", 40), ("application thread", 0)): 4000 * ms,
}
check(samples == want, f"samples {samples}")
# Without the lines of statements, what is in a loop is at the line of the loop.
without = json.loads(run("export", "json", "--no-lines", database))["rows"]
check("line" in {r["kind"] for r in json.loads(run("export", "json", "--lines", database))["rows"]} and "line" not in {r["kind"] for r in without}, "lines as asked for")
run("export", "pprof", "--no-lines", database, "-o", f"{TMP}/no-lines.pb.gz")
lines = {name: {r["line"] for r in json.loads(run(f"{TMP}/{name}", "lines as json"))["rows"]} for name in ("out.pb.gz", "no-lines.pb.gz")}
check(31 in lines["out.pb.gz"] and 31 not in lines["no-lines.pb.gz"] and 30 in lines["no-lines.pb.gz"], f"lines: {lines}")
check([strings[dict(fields(v))[5]] for n, v in profile if n == 3][0].endswith("prog"), "the program is the first mapping")
error = run("export", "pprof", database, "procedures", status=2)
check("ask for `tree`" in error, error)
if shutil.which("go"):
    env = {**os.environ, "GOCACHE": f"{TMP}/go", "GOFLAGS": "-mod=mod", "PPROF_TMPDIR": TMP}
    done = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=100", f"{TMP}/out.pb.gz"], capture_output=True, text=True, env=env)
    top = {r[5].split(" (inline)")[0]: r[0] for r in (x.split(None, 5) for x in done.stdout.split("\n")) if len(r) == 6}
    check(top.get("worker") == "4000ms" and top.get("solve") == "2000ms" and top.get("axpy") == "500ms", f"go tool pprof: {done.stdout}{done.stderr}")
else:
    print("skipped: go tool pprof is not installed")

# ---- callgrind ----
run("export", "callgrind", database, "-o", f"{TMP}/out.callgrind")
if shutil.which("callgrind_annotate"):
    done = subprocess.run(["callgrind_annotate", "--tree=both", "--inclusive=yes", "--threshold=100", f"{TMP}/out.callgrind"], capture_output=True, text=True)
    text = done.stdout
    check(done.returncode == 0, f"callgrind_annotate: {done.stderr}")
    check(re.search(r"8,000,000,000 \(100.0%\)\s+PROGRAM TOTALS", text), f"callgrind_annotate's total: {text}")
    for function, cost in (("main", "4,000,000,000"), ("solve", "2,500,000,000"), ("worker", "4,000,000,000"), ("axpy", "500,000,000")):
        check(re.search(rf"{cost} \([ \d.]+%\)  \* .*:{function}\b", text), f"callgrind_annotate, {function}: {text}")
else:
    check(False, "callgrind_annotate is not installed")

# ---- speedscope: the rules of its schema ----
run("export", "speedscope", database, "-o", f"{TMP}/out.speedscope.json")
s = json.load(open(f"{TMP}/out.speedscope.json"))
check(s["$schema"] == "https://www.speedscope.app/file-format-schema.json", "the schema is named")
check(set(s) <= {"$schema", "exporter", "name", "shared", "profiles", "activeProfileIndex"}, f"members {set(s)}")
frames = s["shared"]["frames"]
for f in frames:
    check(isinstance(f["name"], str) and set(f) <= {"name", "file", "line", "col"}, f"frame {f}")
for p in s["profiles"]:
    check(p["type"] == "sampled" and p["unit"] in ("seconds", "bytes", "none") and isinstance(p["name"], str), f"profile {p}")
    check(set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}, f"members {set(p)}")
    check(len(p["samples"]) == len(p["weights"]) and all(0 <= i < len(frames) for x in p["samples"] for i in x), "samples")
    check(abs(sum(p["weights"]) - 8) < 1e-9 and p["endValue"] == 8, f"weights {p['weights']}")

# ---- Chrome traces ----
run("export", "chrome", database, "-o", f"{TMP}/out.trace.json")
events = json.load(open(f"{TMP}/out.trace.json"))["traceEvents"]
for thread in {(e["pid"], e["tid"]) for e in events}:
    stack, last = [], 0
    for e in events:
        if (e["pid"], e["tid"]) != thread or e["ph"] == "M":
            continue
        check(e["ts"] >= last, f"time goes back at {e}")
        last = e["ts"]
        if e["ph"] == "B":
            stack.append(e["name"])
        else:
            # speedscope finds the begin of an end by its name.
            check(e["ph"] == "E" and stack and stack.pop() == e["name"], f"{e}")
    check(not stack, f"still open: {stack}")
check({e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"} == {"thread 0", "thread 1"}, "thread names")
one = json.loads(run(database, "trace width 40 as chrome"))["traceEvents"]
check(one and all(e["ph"] == "X" and e["dur"] > 0 for e in one), f"trace as chrome: {one[:3]}")

# ---- there and back: every format that is read too gives the same tree again ----
def shape(path, kinds=("loop",)):
    """name and value of the rows, loops and call sites aside."""
    return sorted(re.sub(r" \(.*?\)|inline |thread ", "", x).strip() for x in tree(path) if not any(x.strip().startswith(k) for k in kinds))


want_shape = shape(database)
for name in ("out.pb.gz", "out.speedscope.json"):
    check(shape(f"{TMP}/{name}") == want_shape, f"{name}: {shape(f'{TMP}/{name}')} is not {want_shape}")
folded = write("out.folded", run("export", "folded", database))
check([x.rsplit(" ", 1)[0] for x in tree(folded)][0] and sum(int(x.rsplit(" ", 1)[1]) for x in open(folded)) == 8000000, "folded stacks add up")
for procedure, value in (("solve", 2.5), ("worker", 4), ("axpy", 0.5)):
    rows = json.loads(run(f"{TMP}/out.callgrind", f"procedures of {procedure} as json"))["rows"]
    check(abs(rows[0]["values"][0] - value) <= 2e-9, f"callgrind and back, {procedure}: {rows}")

# ---- comparisons: pprof has negative numbers, speedscope a profile of what became less, callgrind no such column ----
old, new = write("old.folded", "main;a 5\nmain;b 1\n"), write("new.folded", "main;a 2\nmain;b 4\nmain;c 1\n")
for form in "pprof", "speedscope", "callgrind":
    run(new, f'tree all compare with "{old}" as {form} to {TMP}/compared.{form}')
s = json.load(open(f"{TMP}/compared.speedscope"))
check({p["name"]: sum(p["weights"]) for p in s["profiles"]} == {"samples": 7, "old.samples": 6, "delta.samples": 4, "delta.samples.less": 3}, f"differences: {s['profiles']}")
text = open(f"{TMP}/compared.callgrind").read()
check("events: samples old_samples\nsummary: 7 6\n" in text and not re.search(r" -\d", text), f"no negative numbers: {text}")
check_tree(f"{TMP}/compared.pprof", "main 7 6 1\n b 4 1 3\n a 2 5 -3\n c 1 0 1")
finish()
