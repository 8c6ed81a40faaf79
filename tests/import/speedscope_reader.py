# SPDX-License-Identifier: BSD-3-Clause
"""
speedscope's own importer reads what hq exports for it: names, places, weights and totals are those of hq's csv.

HQ_SPEEDSCOPE is the directory of speedscope's unpacked npm package (1.25); `make bench` fetches it. Arguments are databases
to be asked about instead of the small ones made here.
"""
import csv
import io
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import Hpctoolkit, Pprof, TMP, check, finish, run, write  # noqa: E402

PACKAGE = os.environ.get("HQ_SPEEDSCOPE", "")
TOLERANCE = 1e-11    # of the total; weights are sums of binary fractions in another order


def stop(sentence):
    print(f"skipped: {sentence}")
    sys.exit(77)


def read(database, *options):
    """The profiles that speedscope's importer finds in the export of a database."""
    path = f"{TMP}/reader.speedscope.json"
    run("export", *options, "speedscope", database, "-o", path)
    done = subprocess.run(["node", "tests/import/speedscope_reader.js", PACKAGE, path], capture_output=True, text=True)
    check(done.returncode == 0, f"speedscope's importer: {done.stderr}")
    return json.loads(done.stdout) if done.returncode == 0 else []


def table(database, query):
    """The titles of the inclusive columns, and rows of (depth, frame, values)."""
    titles, *rows = csv.reader(io.StringIO(run(database, f"{query} as csv")))
    first = titles.index("depth") + 1
    at = {name: titles.index(name) for name in ("name", "file", "line", "depth")}
    columns = [i for i in range(first, len(titles)) if not titles[i].endswith(".x")]
    rows = [(int(r[at["depth"]]), (r[at["name"]], r[at["file"]], int(r[at["line"]] or 0)), [float(r[i] or 0) for i in columns]) for r in rows]
    return [titles[i] for i in columns], rows


def by_path(rows):
    """Inclusive cost by path of frames, and what of it is in no row below; call sites apart, as speedscope has none."""
    inclusive, exclusive, path = {}, {}, ()
    for depth, frame, value in rows:
        above = path[:depth]
        path = (*above, frame)
        inclusive[path] = inclusive.get(path, 0) + value
        exclusive[path] = exclusive.get(path, 0) + value
        if above:
            exclusive[above] -= value
    return inclusive, exclusive


def same(got, want, bound, what):
    """Two tables of costs agree; what costs nothing need not be there."""
    wrong = [(k, got.get(k, 0), want.get(k, 0)) for k in {*got, *want} if abs(got.get(k, 0) - want.get(k, 0)) > bound]
    check(not wrong, f"{what}: {len(wrong)} differ (speedscope, hq): {wrong[:3]}")


def agree(database, lines, metrics=None):
    lines_on = f"set lines {'on' if lines else 'off'}; "
    titles, rows = table(database, f"{lines_on}tree all")
    _, procedures = table(database, "procedures all")
    profiles = read(database, *(["--lines"] if lines else []))
    check([p["name"] for p in profiles] == titles, f"{database}: a profile a metric: {[p['name'] for p in profiles]}, {titles}")
    for k, p in enumerate(profiles):
        what = f"{database}, {p['name']}{', lines' if lines else ''}"
        if metrics:
            check((p["name"], p["unit"]) == metrics[k], f"{what}: unit {p['unit']}")
        total = sum(v[k] for depth, _, v in rows if depth == 0)
        bound = TOLERANCE * total
        check(total > 0 and abs(p["total"] - total) <= bound, f"{what}: total {p['total']} is not {total}")
        want = by_path((depth, frame, v[k]) for depth, frame, v in rows)
        got = by_path((r[0], tuple(r[1:4]), r[4]) for r in p["tree"])
        same(got[0], want[0], bound, f"{what}: inclusive")
        same(got[1], want[1], bound, f"{what}: exclusive")
        path, selves = (), {}
        for depth, name, file, line, _, weight in p["tree"]:
            path = (*path[:depth], (name, file, line))
            selves[path] = weight
        same(selves, want[1], bound, f"{what}: self weight")
        # Recursion counts once, on both sides; speedscope has no modules, so procedures that differ in nothing else are left out.
        frames = [frame for _, frame, _ in procedures]
        want = {frame: v[k] for _, frame, v in procedures if frames.count(frame) == 1}
        got = {tuple(f[:3]): f[3] for f in p["frames"]}
        same({f: got.get(f, 0) for f in want}, want, bound, f"{what}: frames")


def loops_and_recursion():
    def line(n, children=(), values=None):
        return (0, 2, ("/src/prog.c", n), list(children), values or {})
    axpy = (2, 0, "axpy", [line(5, [], {0: 0.5})], {})
    solve = (1, 0, "solve", [(0, 1, ("/src/prog.c", 30), [line(31, [], {0: 2.1}), line(32, [axpy])], {})], {})
    f = (1, 0, "f", [line(50, [(1, 0, "f", [line(50, [], {0: 0.3})], {})], {0: 0.7})], {})
    main = (1, 0, "main", [line(12, [solve]), line(13, [f], {0: 1.0}), line(14, [f])], {})
    worker = (1, 0, "worker", [line(40, [], {1: 4.0})], {})
    profiles = [(1, "main thread", [main]), (2, "application thread", [worker])]
    run("import", Hpctoolkit([[(2, 0), (3, 0)], [(2, 0), (3, 1)]]).save(f"{TMP}/source", profiles), "-o", f"{TMP}/loops.hq")
    return f"{TMP}/loops.hq"


def traces():
    """The Chrome trace of each thread has the time that hq finds in it, procedure by procedure, in speedscope's reader as well."""
    def line(n, children=(), values=None):
        return (0, 2, ("/src/prog.c", n), list(children), values or {})
    main = (1, 0, "main", [line(12, [(1, 0, "solve", [line(20, [], {0: 1.0})], {})], {0: 1.0})], {})
    base = 1_700_000_000_000_000_000
    steps = ["main", "solve", "solve", "main", "solve", None, "main", "main"]
    source = Hpctoolkit([[(2, 0), (3, 0)]]).save(f"{TMP}/traced", [(1, "main thread", [main])],
                                                 [(1, [(base + 1_000_000 * i, name) for i, name in enumerate(steps)])])
    path = f"{TMP}/reader.trace.json"
    run("export", "chrome", source, "-o", path)
    done = subprocess.run(["node", "tests/import/speedscope_reader.js", PACKAGE, path], capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, f"speedscope's reader of Chrome traces: {done.stderr[:300]}")
    got = {f[0]: f[4] for f in json.loads(done.stdout)[0]["frames"]}
    want = {r["name"]: r["values"][1] * 1e6 for r in json.loads(run(path, "procedures as json"))["rows"]}
    same(got, want, 0.01, "Chrome trace")


def several_units():
    """Times, bytes and counts; names that JSON must escape; a procedure that costs nothing of one metric."""
    p = Pprof([("samples", "count"), ("cpu", "nanoseconds"), ("space", "bytes")])
    for i, name in enumerate(('operator""_s', "back\\slash</script>", "größe::名\t∑", "plain"), 1):
        p.function(i, name, f"/src/{name[:4]}.c", 10 * i)
        p.location(i, [(i, 10 * i + 1)])
    p.sample([2, 1], [3, 30000001, 4096])
    p.sample([3, 2, 1], [1, 9999999, 0])
    p.sample([4], [2, 20000000, 1 << 36])
    run("import", write("units.pb", p.bytes()), "-o", f"{TMP}/units.hq")
    return f"{TMP}/units.hq"


if not shutil.which("node"):
    stop("node is not installed: speedscope's importer was not asked")
if not os.path.isdir(f"{PACKAGE}/dist/release"):
    stop("HQ_SPEEDSCOPE does not name speedscope's npm package: its importer was not asked (make bench fetches it)")
if len(sys.argv) > 1:
    for name in sys.argv[1:]:
        agree(name, False)
else:
    traces()
    for lines in (False, True):
        agree(loops_and_recursion(), lines, [("realtime", "seconds")])
        agree(several_units(), lines, [("samples", "none"), ("cpu", "seconds"), ("space", "bytes")])
finish()
