# SPDX-License-Identifier: BSD-3-Clause
"""`compare with` between files of different formats: which metrics meet, in what unit, and that procedures and paths meet by name."""
import itertools
import json
import os
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import HQ, TMP, Hpctoolkit, Pprof, check, finish, run, write  # noqa: E402


def compare(here, old, query="procedures", clauses="", columns="cputime, old.cputime"):
    """The values of each row by name, and what was said about the comparison."""
    command = [HQ, here, f'{query} columns {columns} compare with "{old}" {clauses} as json']
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(done.returncode == 0, f"{command}: {done.stderr}")
    rows = json.loads(done.stdout)["rows"] if done.stdout else []
    return {r["name"]: tuple(v and round(v, 9) for v in r["values"]) for r in rows}, done.stderr


def perf(event, slow, fast, name="cmp"):
    def sample(function, period):
        return f"prog 10/10 [000] 100.5: {period:10d} {event}: \n\t5500 {function}+0x1 (/bin/prog)\n\t5400 main+0x1 (/bin/prog)\n\n"
    return write(f"{name}.{event.replace('/', '_')}.txt", sample("slow", slow) + sample("fast", fast))


def pprof(types, slow, fast):
    p = Pprof(types)
    p.function(1, "main", "/src/m.c", 1), p.function(2, "slow", "/src/m.c", 10), p.function(3, "fast", "/src/m.c", 20)
    p.function(4, "inner", "/src/m.h", 5)
    p.location(1, [(1, 3)]), p.location(2, [(4, 6), (2, 11)]), p.location(3, [(3, 21)])
    p.sample([2, 1], slow), p.sample([3, 1], fast)
    return write("cmp.pb", p.bytes())


def speedscope(unit, slow, fast):
    return write("cmp.speedscope.json", json.dumps({
        "$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": n} for n in ("main", "slow", "fast")]},
        "profiles": [{"type": "sampled", "name": "p", "unit": unit, "startValue": 0, "endValue": slow + fast, "samples": [[0, 1], [0, 2]], "weights": [slow, fast]}]}))


def chrome(slow, fast):
    def event(name, ts, dur):
        return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1}
    return write("cmp.trace.json", json.dumps([event("main", 0, slow + fast), event("slow", 0, slow), event("fast", slow, fast)]))


def hpctoolkit(slow, fast):
    def line(n, children=(), values=None):
        return (0, 2, ("/src/m.c", n), list(children), values or {})
    body = [line(11, [(1, 0, "slow", [(0, 1, ("/src/m.c", 12), [line(13, [], {0: slow})], {})], {})]), line(14, [(1, 0, "fast", [line(21, [], {0: fast})], {})])]
    return Hpctoolkit([[(3, 0)]]).save(f"{TMP}/cmp.hpct", [(1, "main thread", [(1, 0, "main", body, {})])])


files = {
    "perf": perf("cpu-clock:u", 3000000, 1000000),
    "pprof": pprof([("samples", "count"), ("cpu", "nanoseconds")], [3, 3000000], [1, 1000000]),
    "folded": write("cmp.folded", "main;slow 3\nmain;fast 1\n"),
    "speedscope": speedscope("milliseconds", 3, 1),
    "callgrind": write("cmp.callgrind.out", "events: Ir\nfn=main\n1 0\ncfn=slow\ncalls=1 2\n1 3\ncfn=fast\ncalls=1 3\n1 1\nfn=slow\n2 3\nfn=fast\n3 1\n"),
    "chrome": chrome(3000, 1000),
    "hpctoolkit": hpctoolkit(0.003, 0.001),
}
# Modules add up where a tool tells none.
none = json.loads(run(files["folded"], "modules columns $1, $2 as json"))
check([(r["name"], r["values"]) for r in none["rows"]] == [("[no module]", [4, 4])], f"modules of stacks without any: {none['rows']}")
first = {"perf": "cpu_clock:u", "pprof": "cpu", "folded": "samples", "speedscope": "time", "callgrind": "ir", "chrome": "walltime", "hpctoolkit": "realtime"}
seconds = {"perf", "pprof", "speedscope", "chrome", "hpctoolkit"}

# Every format with every other: the totals are equal in the unit of this side, and so is every procedure; nothing is new or gone.
for (a, here), (b, old) in itertools.permutations(files.items(), 2):
    name = "samples" if {a, b} == {"folded", "pprof"} else first[a]
    for view in "procedures", "tree":
        rows, said = compare(here, old, view, columns=f"{name}, old.{name}, delta.{name}")
        total = 0.004 if a in seconds and name != "samples" else 4
        want = {"main": (total, total, 0), "slow": (0.75 * total, 0.75 * total, 0), "fast": (0.25 * total, 0.25 * total, 0)}
        check(rows == want, f"{view} of {a} compared with {b}: {rows}")
        other = "samples" if {a, b} == {"folded", "pprof"} else first[b]
        check(f"{name} is compared with {other} of the other database" in said, f"{a} with {b}: {said}")
        check(("unit is another" in said) == (not {a, b} <= seconds), f"{a} with {b}: {said}")

# What is left of equal shares when values were scaled is no difference: the total differs by nothing, whatever the factor.
for n in (3, 7, 4823, 10007):
    odd = perf("cpu-clock", 4827827 * n, 1000003 * n, f"odd{n}")
    rows = json.loads(run(odd, f'procedures columns delta.$1 compare with "{write("odd.folded", "main;slow 4827827" + chr(10) + "main;fast 1000003" + chr(10))}" as json'))
    check(rows["total"] == [0] and all(not r["values"][0] for r in rows["rows"]), f"differences of rounding: {rows}")

# A page of each, also where one procedure is called here and inlined there, in a load module that is not known.
both = Pprof([("samples", "count")])
both.function(1, "main", "/src/m.c", 1), both.function(2, "inner", "/src/m.h", 5)
both.location(1, [(1, 3)]), both.location(2, [(2, 6), (1, 4)]), both.location(3, [(2, 7)])
both.sample([2, 1], [3]), both.sample([3, 1], [1])
for path in (*files.values(), write("both.pb", both.bytes())):
    run("report", "--quiet", "--force", "-o", f"{TMP}/page.html", path)
    run("report", "--quiet", "--force", "-o", f"{TMP}/page.html", "--compare", files["folded"], path)

# What only one side knows is said to be left out.
said = compare(files["hpctoolkit"], files["folded"], columns="realtime")[1]
check("only one of the databases knows loops: left out" in said, said)
said = compare(files["folded"], files["pprof"], columns="samples")[1]
check("inlined code" in said, said)
# An inlined procedure that the other side has as a procedure is one.
rows, _ = compare(write("called.folded", "main;slow;inner 3\nmain;fast 1\n"), files["pprof"], "tree", columns="samples, old.samples")
check(rows == {"main": (4, 4), "slow": (3, 3), "inner": (3, 3), "fast": (1, 1)}, f"inlined and called: {rows}")
# Two tools find other inlined code: what the other side has at all is called, the rest falls on what holds it.
inlined = "prog 10/10 [000] 100.5: 4000000 cpu-clock: \n\t5501 tiny+0x1 (inlined)\n\t5501 inner+0x1 (inlined)\n\t5501 slow+0x1 (/bin/prog)\n\t5400 main+0x1 (/bin/prog)\n\n"
rows, said = compare(write("inlined.txt", inlined), files["pprof"], "tree", columns="time.x, old.time.x")
check(rows == {"main": (0, 0), "slow": (0, 0), "inner": (0.004, 0.003), "fast": (0, 0.001)}, f"inlined on both sides: {rows}")
check("count as called" in said, said)
# Code without a name, by the two names of its library.
rows, _ = compare(write("so1.folded", "main;libm.so.6+0x10 1\n"), write("so2.folded", "main;libm.so.6.0.1+0x10 1\n"), columns="samples, old.samples")
check(rows.get("libm.so.6+0x10") == (1, 1), f"the names of a library: {rows}")
# Arguments, where one side leaves them out.
cxx = perf("cpu-clock", 3000000, 1000000, "cxx")
with open(cxx) as f:
    text = f.read().replace("slow+", "void ns::slow<int>(int, std::vector<char> const&)+").replace("fast+", "ns::fast(int) const+")
rows, said = compare(write("cxx2.txt", text), write("cxx.folded", "main;ns::slow<int> 1\nmain;ns::fast 3\n"), columns="delta.$1")
check(list(rows.values()) and {k: v[0] for k, v in rows.items()} == {"void ns::slow<int>(int, std::vector<char> const&)": 0.002, "ns::fast(int) const": -0.002, "main": 0}, f"arguments: {rows}")
check("arguments of names" in said, said)

# A program as hq and as HPCToolkit record it: names of static procedures with and without arguments, return types of templates, bodies of
# parallel regions as procedures under the thread that ran them, other names of one symbol beside a stub of the name, libraries by their links.
OURS = """info command lulesh
metric REALTIME seconds 0.001 1 sampled
module app /home/u/lulesh
module gomp /usr/lib/libgomp.so.1
module libm /usr/lib/libm.so.6
file a app /home/u/lulesh.cc
file g gomp omp.c
file m libm sysdeps/s_cbrt.c
proc main a main 2650
inline frog main LagrangeLeapFrog /home/u/lulesh.cc 2601 2748
inline force frog CalcForce /home/u/lulesh.cc 711 2609
region body force "parallel region at lulesh.cc:782" 782
loop outer body 793
inline tiny outer "CBRT(double)" /home/u/lulesh.h 48 855
proc kin a "CalcKin(Domain&, int)" 1505 linkage=_Z7CalcKinR6Domaini
region kinbody kin "parallel region at lulesh.cc:1510" 1510
loop kinloop kinbody 1510
proc shape a CalcShape 291 linkage=_ZL9CalcShapePd
proc part a "Domain::Setup()" 272 linkage=_ZN6Domain5SetupEv
proc fill a "double* std::fill_n<double*>(double*, double const&)" 900 linkage=_ZSt6fill_nIPdET_
proc two a CalcVolume 1274 linkage=_ZL10CalcVolumed
proc two2 a "CalcVolume(double const*)" 1361 linkage=_Z10CalcVolumePKd
proc cbrt m cbrt 37 cbrtf32x cbrtf64
proc fork g "[fork, join, scheduling]" 0
profile p tid=1 thread=0
profile q tid=2 thread=1
value p REALTIME 10 10 main:2748 > fork:0
value p REALTIME 40 40 main:2748 > outer:793
value p REALTIME 8 8 main:2748 > tiny:49 > cbrt:38
value q REALTIME 40 40 main:2748 > outer:793
value p REALTIME 20 20 main:2 > kinloop:1511
value p REALTIME 5 5 main:3 > shape:300
value p REALTIME 4 4 main:3 > part:300
value p REALTIME 3 3 main:3 > fill:900
value p REALTIME 2 2 main:3 > two:1275
value p REALTIME 1 1 main:3 > two2:1362
"""


def theirs():
    def at(n, children=(), values=None):
        return (0, 2, ("src/lulesh.cc", n), list(children), values or {})

    def call(name, *children):
        return (1, 0, name, list(children), {})

    def loop(n, *children):
        return (0, 1, ("src/lulesh.cc", n), list(children), {})

    def inlined(name, *children):
        return (2, 0, name, list(children), {})
    body, kin = "CalcForce(Domain&, double*) [clone ._omp_fn.0]", "CalcKin(Domain&, int) [clone ._omp_fn.0]"
    gomp, unnamed = "GOMP_parallel [libgomp.so.1.0.0]", ""
    work = loop(796, loop(797, at(855, [inlined("CBRT(double)", at(49, [call("cbrtf32x [libm.so.6]", at(38, [], {0: 0.008})), call("cbrt", at(0, [], {0: 0.001}))]))]),
                          at(793, [], {0: 0.04})))
    again = loop(796, at(793, [], {1: 0.04}))
    main = call("main", at(2748, [inlined("LagrangeLeapFrog", at(2609, [inlined("CalcForce", at(782, [call(gomp, at(0, [call(body, work), call(unnamed, at(0, [], {0: 0.01}))]))]))]))]),
                at(2, [call("CalcKin(Domain&, int)", at(1510, [call(gomp, at(0, [call(kin, loop(1541, at(1511, [], {0: 0.02})))]))]))]),
                at(3, [call("CalcShape(double*)", at(300, [], {0: 0.005})), call("Domain::Setup() [clone .part.0]", at(300, [], {0: 0.004})),
                       call("std::fill_n<double*>(double*, double const&)", at(900, [], {0: 0.003})),
                       inlined("CalcVolume", at(1275, [], {0: 0.002})), call("CalcVolume(double const*)", at(1362, [], {0: 0.001}))]))
    h = Hpctoolkit([[(3, 0)], [(3, 1)]])
    program, library = "/opt/lulesh", "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0"
    for name in ("main", body, kin, "LagrangeLeapFrog", "CalcForce", "CBRT(double)", "CalcKin(Domain&, int)", "CalcShape(double*)", "Domain::Setup() [clone .part.0]",
                 "std::fill_n<double*>(double*, double const&)", "CalcVolume", "CalcVolume(double const*)"):
        h.where[name] = (program, "src/lulesh.cc", 5)
    h.where |= {gomp: (library, None, 0), unnamed: (library, None, 0), "cbrt": (program, None, 0), "cbrtf32x [libm.so.6]": ("/usr/lib/libm.so.6", "./math/../s_cbrt.c", 38)}
    return h.save(f"{TMP}/lulesh.hpct", [(1, "main thread", [main]), (2, "application thread", [call(body, again)])])


subprocess.run([f"{os.environ['TOP']}/{os.environ['BUILD']}/tools/fixture", write("lulesh.txt", OURS), f"{TMP}/lulesh.hq"], check=True)
here, old = f"{TMP}/lulesh.hq", theirs()
# The stub that leads to cbrt has its name there, and a millisecond of its own.
PAIRS = {"CalcForce": (0.088, 0.089), "CBRT(double)": (0.008, 0.009), "CalcKin(Domain&, int)": (0.02, 0.02), "CalcShape": (0.005, 0.005), "Domain::Setup()": (0.004, 0.004),
         "double* std::fill_n<double*>(double*, double const&)": (0.003, 0.003), "CalcVolume": (0.002, 0.002), "CalcVolume(double const*)": (0.001, 0.001), "OpenMP runtime": (0.01, 0.01)}
for query in "procedures", "tree", "callers", "flat":
    done = run(here, f'{query} all compare with "{old}" columns realtime, old.realtime as json')
    rows = [(r["name"], tuple(round(v or 0, 9) for v in r["values"])) for r in json.loads(done)["rows"] if r["kind"] in ("procedure", "runtime")]
    check(not [r for r in rows if not all(r[1]) and r[1] != (0, 0.001)] and ("cbrt", (0.008, 0.008)) in rows, f"{query} of two tools: all procedures meet: {rows}")
    if query == "procedures":
        check(all((name, values) in rows for name, values in PAIRS.items()), f"pairs: {rows}")
said = compare(here, old, columns="realtime")[1]
check("what the regions of a procedure do is a row of its name" in said and "loops are left out" in said, said)
for query in "procedures", "modules":
    rows = json.loads(run(here, f'{query} all compare with "{old}" columns realtime.x, old.realtime.x as json'))["rows"]
    check([round(sum(r["values"][side] or 0 for r in rows), 9) for side in (0, 1)] == [0.133, 0.134], f"{query} add up on both sides: {rows}")
modules, _ = compare(here, old, "modules", columns="realtime.x, old.realtime.x")
check(modules["libgomp.so.1"] == (0.01, 0.01) and modules["libm.so.6"] == (0.008, 0.008), f"libraries by two of their names: {modules}")

# By event without modifiers, by alias; the own name of the other side and aliases work in expressions.
half = perf("cpu/cycles/u", 300, 100)
rows, said = compare(perf("cycles:ppp", 600, 200), half, columns="cycles, old.cycles, delta.cycles")
check(rows["slow"] == (600, 300, 300), f"cycles: {rows}")
check("cycles:ppp is compared with cpu_cycles_u" in said and "unit" not in said, said)
rows, _ = compare(files["perf"], files["chrome"], columns="time, old.time, old.walltime, delta.walltime")
check(rows["slow"] == (0.003, 0.003, 0.003, 0), f"by the name on the other side: {rows}")
two = write("two.txt", open(files["perf"]).read() + open(half).read())
rows, said = compare(two, half, columns="cycles, old.cycles, delta.cycles")
check(rows["slow"] == (300, 300, 0), f"{rows} {said}")
done = subprocess.run([HQ, two, f'procedures compare with "{half}"'], capture_output=True, text=True)
check("only this database has the metric cpu_clock:u" in done.stderr, done.stderr)

rows, _ = compare(files["pprof"], files["perf"], columns="delta, old, delta.x")
check(rows["slow"] == (0, 0.003, 0), f"delta alone is of a metric that is compared: {rows}")

# `scaled by` says what one of the other side is worth; the totals are not made equal then.
rows, said = compare(files["perf"], files["folded"], clauses="scaled by 0.002", columns="$1, old.$1, delta.$1")
check(rows["slow"] == (0.003, 0.006, -0.003) and "unit is another" not in said, f"scaled by: {rows} {said}")
# The default columns have the names of this side.
done = run(files["perf"], f'procedures compare with "{files["folded"]}" as csv')
check("cpu_clock:u,old.cpu_clock:u,delta.cpu_clock:u,delta.cpu_clock:u.x" in done.split("\n")[0], done)
finish()
