# SPDX-License-Identifier: BSD-3-Clause
"""HPCToolkit databases that no version 4.0 writer made: later minor versions, unknown enumeration values, ranks, point values, damage."""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import HQ, Hpctoolkit, TMP, check, check_tree, finish, run  # noqa: E402

ENCLOSED, CALLED, INLINED, NEW = 0, 1, 2, 9
FUNCTION, LOOP, LINE, INSTRUCTION = 0, 1, 2, 3
SRC = "/src/prog.c"


def line(n, children=(), values=None, relation=ENCLOSED):
    return (relation, LINE, (SRC, n), list(children), values or {})


def entries():
    solve = (CALLED, FUNCTION, "solve", [
        (ENCLOSED, LOOP, (SRC, 30), [
            line(31, [], {0: 2.0, 1: 1.0}),
            line(32, [(INLINED, FUNCTION, "axpy", [line(5, [], {0: 0.5})], {})]),
        ], {}),
        (ENCLOSED, INSTRUCTION, ("/bin/prog", 0x99), [], {1: 0.25}),
    ], {})
    main = (CALLED, FUNCTION, "main", [line(12, [solve]), line(13, [], {0: 1.0})], {})
    worker = (CALLED, FUNCTION, "worker", [line(40, [], {1: 4.0})], {})
    return [(1, "main thread", [main]), (2, "application thread", [worker])]


WANT = """
main 4.75
 solve (/src/prog.c:12) 3.75
  loop loop at prog.c:30 3.5
   inline axpy (/src/prog.c:32) 0.5
thread application thread 4
 worker 4
"""
THREADS = [[(1, 7), (2, 0), (3, 0)], [(1, 7), (2, 1), (3, 0)]]

for name, options in (("plain", {}), ("later", {"minor": 99, "extra": 16}), ("point", {"scope": "point"}), ("function", {"scope": "function"}),
                      ("later function", {"scope": "function", "minor": 99, "extra": 40})):
    check_tree(Hpctoolkit(THREADS, **options).save(f"{TMP}/{name}", entries()), WANT)
info = run(f"{TMP}/later", "info")
check("1 of 2 metrics, which have no values" in info and "metric what: what its values are sums of is not known" in info, info)
rows = json.loads(run(f"{TMP}/plain", "profiles as json"))["rows"]
check(len(rows) == 2 and "1" in json.dumps(rows), f"two ranks: {rows}")
only = json.loads(run(f"{TMP}/plain", "tree ranks 0 depth 1 as json"))["rows"]
check([(r["name"], r["values"][0]) for r in only if r["values"][0]] == [("main", 3.5)], f"rank 0 alone: {only}")

# Values that are no numbers, and a rank at the edge.
for bad in (float("nan"), float("inf")):
    database = Hpctoolkit(THREADS).save(f"{TMP}/{bad}", [(1, "main thread", [(CALLED, FUNCTION, "main", [line(3, [], {0: 1.0, 1: 2.0})], {})])])
    with open(f"{database}/profile.db", "r+b") as file:
        data = file.read().replace(struct.pack("<Hd", 7, 2.0), struct.pack("<Hd", 7, bad))
        file.seek(0)
        file.write(data)
    check("is no number" in run(database, "procedures", status=3), f"{bad} is told")

# What a disk lost reads as zeros: of the values of a thread, and of what they belong to.
database = Hpctoolkit(THREADS).save(f"{TMP}/lost", [(1, "main thread", [(CALLED, FUNCTION, "main", [line(n, [], {0: 1.0, 1: 2.0}) for n in range(1, 400)], {})])])
with open(f"{database}/profile.db", "rb") as file:
    whole = file.read()
profiles, = struct.unpack_from("<Q", whole, struct.unpack_from("<Q", whole, 0x18)[0])
_, values, contexts, index = struct.unpack_from("<QQIxxxxQ", whole, profiles + 2 * 48)
run(database, "procedures")
for at in values, values + 1000, index + 24, index + 1000, index + 12 * contexts - 512:
    with open(f"{database}/profile.db", "wb") as file:
        file.write(whole[:at] + bytes(512) + whole[at + 512:])
    error = run(database, "procedures", status=3)
    check("values that are not in order, or zeros" in error, f"zeros at {at - values} of {index - values}: {error}")
database = Hpctoolkit(THREADS).save(f"{TMP}/lost trace", entries(), [(1, [(1000 + i, None) for i in range(200)]), (2, [(1000 + i, None) for i in range(200)])])
with open(f"{database}/trace.db", "rb") as file:
    whole = file.read()
run(database, "procedures")
for at in range(0x20, 0x20 + 12 * 350, 512):
    with open(f"{database}/trace.db", "wb") as file:
        file.write(whole[:at] + bytes(512) + whole[at + 512:])
    error = run(database, "procedures", status=3)
    check("has a trace with zeros where its times were" in error, f"zeros at {at}: {error}")
# Of the tables of names, files, functions and entry points in meta.db: values were in an outer row, or of nothing, with status 0.
database = Hpctoolkit(THREADS).save(f"{TMP}/lost tables", [(1, "main thread", [(CALLED, FUNCTION, f"procedure_{n}", [line(n, [], {0: 1.0})], {}) for n in range(1, 300)])])
whole, ask = open(f"{database}/meta.db", "rb").read(), "tree all as csv"
answer = run(database, ask)
refused = 0
for at in range(512, len(whole), 512):
    lost = whole[:at] + bytes(len(whole[at:at + 512])) + whole[at + 512:]
    with open(f"{database}/meta.db", "wb") as file:
        file.write(lost)
    done = subprocess.run([HQ, database, ask], capture_output=True, text=True, errors="replace")
    refused += done.returncode == 3
    check(done.returncode == 3 or done.stdout == answer, f"zeros at {at} of {len(whole)} of meta.db: {done.returncode} {done.stderr}")
check(refused > len(whole) / 512 * 0.8, f"{refused} of {len(whole) // 512} were refused")
run(Hpctoolkit([[(2, 0x7FFFFFFF)], [(2, 5)]]).save(f"{TMP}/edge", [(1, "main thread", [(CALLED, FUNCTION, "main", [line(3, [], {0: 1.0, 1: 2.0})], {})])]), "profiles")

# Three ranks of two threads and a GPU stream, each with a trace; kinds of identifiers that are not known are part of the name.
h = Hpctoolkit([[(1, 0x1000 + r // 2), (2, r), (3, t)] for r in range(3) for t in range(2)] + [[(2, 1), (7, 4)]], minor=99, extra=8)
base = 1_700_000_000_000_000_000
h.save(f"{TMP}/ranks", [(1, "main thread", [(CALLED, FUNCTION, "main", [line(3, [], {p: 1.0 + p for p in range(7)})], {})])],
       [(1 + p, [(base + 1_000_000 * k, "main") for k in range(4 + p)]) for p in range(6)])
rows = json.loads(run(f"{TMP}/ranks", "threads as json"))["rows"]
check(sorted((r["name"], r["values"][0]) for r in rows) == sorted([(f"rank {p // 2} thread {p % 2}", 1.0 + p) for p in range(6)] + [("rank 1 thread 2", 7.0)]), f"ranks and threads: {rows}")
check("unit 4" in json.dumps(json.loads(run(f"{TMP}/ranks", "profiles as json"))["rows"]), "an identifier of an unknown kind")
info = run(f"{TMP}/ranks", "info")
check("7 threads" in info and "ranks  " in info, info)
cells = run(f"{TMP}/ranks", "trace height 7 as csv").split("\n")[1:-1]
check({tuple(c.split(",")[8:10]) for c in cells} == {(str(r), str(t)) for r in range(3) for t in range(2)}, f"traces of all ranks: {cells[:9]}")

# Enumeration values of later versions: an unknown relation to a function is a call, an unknown lexical type is what it carries.
unknown = [(1, "main thread", [(CALLED, FUNCTION, "main", [line(1, [(NEW, FUNCTION, "task", [(ENCLOSED, NEW, (SRC, 7), [], {0: 1.0})], {})])], {})]),
           (77, "some new entry", [(CALLED, FUNCTION, "gpu", [], {0: 2.0})])]
check_tree(Hpctoolkit(THREADS, minor=9).save(f"{TMP}/unknown", unknown), """
thread some new entry 2
 gpu 2
main 1
 task (/src/prog.c:1) 1
""")

# Counts are whole numbers; the unit is in the metric's name.
check_tree(Hpctoolkit([[(3, 0)]], metric="PAPI_TOT_CYC").save(f"{TMP}/cycles", [(1, "main thread", [(CALLED, FUNCTION, "main", [], {0: 12345678901})])]),
           "main 1.23457e+10")

# More than 64 bits count is kept in larger units.
check_tree(Hpctoolkit([[(3, 0)]], metric="cycles").save(f"{TMP}/huge", [(1, "main thread", [(CALLED, FUNCTION, "main", [line(2, [], {0: 3e19})], {0: 1e300})])]),
           "main 1e+300")
check_tree(Hpctoolkit([[(3, 0)]], metric="cycles").save(f"{TMP}/large", [(1, "main thread", [(CALLED, FUNCTION, "main", [line(2, [], {0: 3e19})], {0: 1e19})])]),
           "main 4e+19")

# Traces: thread 0 runs, stops, and runs again.
base = 1_700_000_000_000_000_000
trace = [(1, [(base, "main"), (base + 5_000_000, "solve"), (base + 9_000_000, None), (base + 20_000_000, "main")]),
         (2, [(base + 1_000_000, "worker")])]
h = Hpctoolkit(THREADS)
h.save(f"{TMP}/traced", entries(), trace)
sys.path.insert(0, "tests/db")
run("import", f"{TMP}/traced", "-o", f"{TMP}/traced.hq")
import importlib.util  # noqa: E402
spec = importlib.util.spec_from_file_location("dblib", "tests/db/lib.py")
dblib = importlib.util.module_from_spec(spec)
spec.loader.exec_module(dblib)
records = sorted((p, t) for p, t, *_ in dblib.Database(f"{TMP}/traced.hq/hq.db").trace())
# A record holds until the next one, the last as long as most do (4 ms or 5 ms here): main from 0 to 5 ms, solve until 9, nothing until 20, main.
check(records == [(0, 0), (0, 5000), (0, 9000), (0, 20000), (0, 25000), (1, 1000), (1, 6000)], f"trace records {records}")
for query in ("threads all", "threads all during 0%..100%"):
    shares = [r["values"][0] for r in json.loads(run(f"{TMP}/traced.hq", query + " as json"))["rows"]]
    check(sorted(round(x, 6) for x in shares) == [3.5, 5.25], f"{query}: {shares}")
parts = [sum(r["values"][0] for r in json.loads(run(f"{TMP}/traced.hq", f"threads all during {a}..{b} as json"))["rows"])
         for a, b in (("", "3ms"), ("3ms", "10ms"), ("10ms", "21ms"), ("21ms", ""))]
check(abs(sum(parts) - 8.75) < 1e-6 and min(parts) > 0, f"adjoining slices: {parts}")
cells = [line.split(",") for line in run(f"{TMP}/traced.hq", "trace level 2 width 25 height 2 as csv").splitlines()[1:]]
check([c[2] for c in cells][:14] == ["main"] * 5 + ["solve"] * 4 + ["main"] * 5, f"the picture: {[(c[2], c[-1]) for c in cells]}")
check("node 0" in run(f"{TMP}/traced.hq", "profiles"), "a node is numbered: its identifier is no name")
run("verify", f"{TMP}/traced.hq")

# Damage: one sentence with the file and the place, nothing left.
def broken(name, file, change, text):
    directory = Hpctoolkit(THREADS).save(f"{TMP}/{name}", entries(), trace if file == "trace.db" else None)
    with open(f"{directory}/{file}", "rb") as f:
        data = bytearray(f.read())
    data = change(data) or data
    with open(f"{directory}/{file}", "wb") as f:
        f.write(data)
    error = run("import", directory, "-o", f"{TMP}/bad.hq", status=3)
    check(text in error and error.count("\n") == 1 and file in error, f"{name}: {error}")
    check(not os.path.exists(f"{TMP}/bad.hq"), f"{name}: something is left")


def poke(offset, layout, *values):
    return lambda data: struct.pack_into(layout, data, offset, *values)


# The header of a trace does not know the first time.
def forget(data):
    struct.pack_into("<QQ", data, struct.unpack_from("<Q", data, 24)[0] + 16, base + 7_000_000, 0)


early = Hpctoolkit(THREADS).save(f"{TMP}/early", entries(), trace)
with open(f"{early}/trace.db", "r+b") as file:
    held = bytearray(file.read())
    forget(held)
    file.seek(0), file.write(held)
run("import", early, "-o", f"{TMP}/early.hq")
check(sorted((p, t) for p, t, *_ in dblib.Database(f"{TMP}/early.hq/hq.db").trace()) == records, "a trace before the first time of its header")

broken("cut", "meta.db", lambda d: d[:len(d) // 2], "meta.db")
broken("short", "meta.db", lambda d: d[:9], "cut off within its header")
broken("major", "meta.db", poke(14, "<B", 5), "version 5.0")
broken("format", "profile.db", poke(10, "<4s", b"meta"), "is no profile.db")
broken("section", "profile.db", poke(24, "<Q", 1 << 60), "section ProfileInfos")
broken("values", "profile.db", lambda d: poke(struct.unpack_from("<Q", d, struct.unpack_from("<Q", d, 24)[0])[0], "<Q", 1 << 62)(d), "outside the file")
broken("trace", "trace.db", lambda d: poke(struct.unpack_from("<Q", d, struct.unpack_from("<Q", d, 24)[0])[0] + 16, "<Q", 1 << 50)(d), "outside the file")


def circle(data):
    """The first child range of an entry point is the range of the entry points' own contexts again."""
    section = struct.unpack_from("<Q", data, 16 + 16 * 3 + 8)[0]
    entry = struct.unpack_from("<Q", data, section)[0]
    size, child = struct.unpack_from("<QQ", data, entry)
    struct.pack_into("<QQ", data, child, size, child)


broken("circle", "meta.db", circle, "two contexts of one number")
finish()
