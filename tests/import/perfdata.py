# SPDX-License-Identifier: BSD-3-Clause
"""perf.data: a file made by hand, whose shares are arithmetic; what perf itself records, against perf report; and what is refused."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import HQ, TMP, check, finish, run  # noqa: E402

IP, TID, TIME, CALLCHAIN, PERIOD, REGS, STACK = 1, 2, 4, 32, 256, 4096, 8192
USER = 2  # PERF_RECORD_MISC_USER
BASE, VDSO = 0x10000000000, 0x20000000000


def record(kind, body, misc=USER):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def end(pid, tid, time):
    return struct.pack("<IIQ", pid, tid, time)


def mapping(pid, start, size, offset, path, time):
    name = path.encode() + b"\0"
    return record(10, struct.pack("<IIQQQ", pid, pid, start, size, offset) + bytes(24) + struct.pack("<II", 5, 2) + name + bytes(-len(name) % 8) + end(pid, pid, time))


def sample(pid, tid, time, period, chain):
    words = [(1 << 64) - 512] + chain
    return record(9, struct.pack("<QIIQQQ", chain[0], pid, tid, time, period, len(words)) + struct.pack(f"<{len(words)}Q", *words))


def perfdata(records, types=IP | TID | TIME | PERIOD | CALLCHAIN, build_ids=()):
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000000, types, 0, 1 << 18) + bytes(128 - 48)
    attrs = attr + struct.pack("<QQ", 104, 0)
    data = b"".join(records)
    entries = b"".join(struct.pack("<IHHi", 0, USER, 36 + (len(path) + 8 & ~7), -1) + build_id + bytes(4) + path.encode() + bytes((len(path) + 8 & ~7) - len(path))
                       for path, build_id in build_ids)
    at = 104 + len(attrs) + len(data)
    tail = struct.pack("<QQ", at + 16, len(entries)) + entries if entries else b""
    features = struct.pack("<QQQQ", 4 if entries else 0, 0, 0, 0)  # bit 2: HEADER_BUILD_ID
    return b"PERFILE2" + struct.pack("<QQ", 104, len(attrs)) + struct.pack("<QQQQQQ", 104, len(attrs), 104 + len(attrs), len(data), 0, 0) + features + attrs + data + tail


def save(name, data):
    with open(f"{TMP}/{name}", "wb") as f:
        f.write(data)
    return f"{TMP}/{name}"


# A program of two processors: records of one stand behind those of the other, and time puts them in order.
program = os.path.realpath(f"{os.environ['BUILD']}/programs/split")
symbols = {x.split()[2]: int(x.split()[0], 16) for x in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.split("\n") if len(x.split()) == 3}
loads = [re.split(r"\s+", x.strip()) for x in subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout.split("\n") if " LOAD " in x]
text = next(x for x in loads if "E" in x[6:9])
offset, address = int(text[1], 16), int(text[2], 16)


def at(name, plus=4):
    return BASE + symbols[name] - address + plus


main = [at("main", 20)]
first = [mapping(7, BASE, 0x4000, offset, program, 5)]
first += [sample(7, 7, 1000000 * i, 1000000, [at("heavy")] + main) for i in range(20, 34)]
other = [sample(7, 7, 1000000 * i, 1000000, [at("shared"), at("left", 9)] + main) for i in range(10, 14)]
other += [sample(7, 8, 1000000 * i, 1000000, [at("recurse"), at("recurse", 20)] + main) for i in (40, 41)]
made = save("made.data", perfdata(other + first))


run("import", made, "-o", f"{TMP}/made.hq")
run("verify", f"{TMP}/made.hq")
got = run(f"{TMP}/made.hq", "procedures as tsv")
for name, inclusive in (("main", 0.02), ("heavy", 0.014), ("shared", 0.004), ("left", 0.004), ("recurse", 0.002)):
    row = next((x for x in got.split("\n") if name in x.split("\t")), "")
    check(any(abs(float(x) - inclusive) < 1e-9 for x in row.split("\t") if re.fullmatch(r"[0-9.e-]+", x)), f"{name}: {inclusive} in {row!r} of\n{got}")
check("20 samples" in run(f"{TMP}/made.hq", "info"), "all samples")
check("2 threads" in run(f"{TMP}/made.hq", "info"), "both threads")
check("main" in run(made, "hot path"), "asked directly")

# Code of the vDSO has the names that the image of this process gives, if its build-id is that of the recording.
with open("/proc/self/maps", encoding="ascii") as maps:
    low, high = next(([int(x, 16) for x in line.split()[0].split("-")] for line in maps if line.rstrip().endswith("[vdso]")), (0, 0))
if not low:
    print("skipped: this process has no vDSO")
else:
    with open("/proc/self/mem", "rb") as memory:
        memory.seek(low)
        image = save("vdso.so", memory.read(high - low))
    notes = subprocess.run(["readelf", "-n", image], capture_output=True, text=True, check=False).stdout
    build_id = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]{40})", notes)[1])
    table = subprocess.run(["readelf", "--dyn-syms", "-W", image], capture_output=True, text=True, check=False).stdout
    clocks = {m[2]: int(m[1], 16) for m in re.finditer(r"^ *\d+: ([0-9a-f]+) +\d+ FUNC .* (\w+)@@LINUX", table, re.M)}
    place = VDSO + clocks["__vdso_clock_gettime"]
    called = [mapping(7, BASE, 0x4000, offset, program, 5), mapping(7, VDSO, high - low, 0, "[vdso]", 5)]
    called += [sample(7, 7, 1000000 * i, 1000000, [place + 4 + i % 2, at("heavy")] + main) for i in range(20, 34)]
    for which, known in ((build_id, True), (bytes(20), False)):
        told = save("vdso.data", perfdata(called, build_ids=[("[vdso]", which)]))
        shutil.rmtree(f"{TMP}/vdso.hq", ignore_errors=True)
        run("import", told, "-o", f"{TMP}/vdso.hq")
        rows = run(f"{TMP}/vdso.hq", "set internals on; procedures where module == '[vdso]' columns kind as tsv").split("\n")[1:]
        rows = [x for x in rows if x]
        check(len(rows) == (1 if known else 2) and all(("clock_gettime" in x) == known for x in rows), f"vDSO, {known}: {rows}")
# A thread has its own name, the last one it had; it begins with that of its creator.
def named(pid, tid, name, time):
    text = name.encode() + b"\0"
    return record(3, struct.pack("<II", pid, tid) + text + bytes(-len(text) % 8) + end(pid, tid, time), 0)


def thread(pid, tid, creator, time):
    return record(7, struct.pack("<IIIIQ", pid, pid, tid, creator, time) + end(pid, creator, time), 0)


names = [named(7, 7, "prog", 6), thread(7, 8, 7, 7), thread(7, 9, 8, 50000000), named(7, 8, "alpha", 39000000), named(7, 9, "beta", 52000000)]
more = [sample(7, 9, 1000000 * i, 1000000, [at("recurse")] + main) for i in (51, 53)]
answer = run(save("names.data", perfdata(first[:1] + names + first[1:] + other + more)), "profiles")
check(all(re.search(rf"thread {t} .*\b{n}\b", answer) for t, n in ((0, "prog"), (8, "alpha"), (9, "beta"))), f"names of threads:\n{answer}")

# Code in no file has the names of its process' map, if that was written while the file was; an address in no mapping is nothing.
CODE = 0x7e0000000000
jit = f"/tmp/perf-{os.getpid()}.map"
pid = os.getpid()
made_code = [mapping(pid, BASE, 0x4000, offset, program, 5), mapping(pid, CODE, 0x1000, 0, "//anon", 6)]
made_code += [sample(pid, pid, 1000000 * i, 1000000, [CODE + 16 * (i % 2)] + main) for i in range(20, 24)]
made_code += [sample(pid, pid, 30000000, 1000000, [at("heavy"), 0x15] + main)]
try:
    with open(jit, "w") as f:
        f.write(f"{CODE:x} 10 JS:*first /src/app.js:3:14\n{CODE + 16:x} 10 second\n")
    answer = run(save("code.data", perfdata(made_code)), "procedures as json")
    rows = {r["name"]: [round(v or 0, 9) for v in r["values"]] for r in json.loads(answer)["rows"]}
    check(rows.get("first") == [0.002, 0.002] and rows.get("second") == [0.002, 0.002], f"names of generated code: {rows}")
    check(rows.get("[unknown]") == [0.001, 0], f"an address in no mapping: {rows}")
    os.utime(jit, (1000000000, 1000000000))
    run("import", f"{TMP}/code.data", "-o", f"{TMP}/code.hq")
    rows = {r["name"]: [round(v or 0, 9) for v in r["values"]] for r in json.loads(run(f"{TMP}/code.hq", "procedures as json"))["rows"]}
    check(rows.get("[generated code]") == [0.004, 0.004] and "first" not in rows, f"a map of another time: {rows}")
    check("not used" in run(f"{TMP}/code.hq", "info"), "which info tells")
finally:
    os.unlink(jit)

# Without call chains there are no call paths, and that is no fault of the program.
alone = [mapping(7, BASE, 0x4000, offset, program, 5)]
alone += [record(9, struct.pack("<QIIQQ", at("heavy"), 7, 7, 1000000 * i, 1000000)) for i in range(20, 34)]
save("alone.data", perfdata(alone, IP | TID | TIME | PERIOD))
done = subprocess.run([HQ, f"{TMP}/alone.data", "tree"], capture_output=True, text=True, check=True)
check("heavy" in done.stdout and "partial" not in done.stdout + done.stderr, f"no call paths: {done.stdout}{done.stderr}")
check("perf record -g" in run(f"{TMP}/alone.data", "info"), "info tells that callers were not asked for")
check("frame pointers" in run(made, "info"), "info tells what call chains are worth")

# A symbol of several names is found by each of them, and paired by any with what another tool calls it.
libc = next(x.split("=> ")[1].split(" ")[0] for x in subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split("\n") if "libc.so" in x)
libc = os.path.realpath(libc)
write_at = next(int(x.split()[0], 16) for x in subprocess.run(["nm", "-D", libc], capture_output=True, text=True, check=True).stdout.split("\n") if re.search(r" \w write(@|$)", x))
load = next(x for x in (re.split(r"\s+", x.strip()) for x in subprocess.run(["readelf", "-lW", libc], capture_output=True, text=True, check=True).stdout.split("\n") if " LOAD " in x) if "E" in x[6:9])
LIBC = 0x7f0000000000
data = [mapping(7, LIBC, 0x400000, int(load[1], 16), libc, 5), sample(7, 7, 20000000, 1000000, [LIBC + write_at - int(load[2], 16) + 4] + main)]
save("alias.data", perfdata(first[:1] + data))
for name in "write", "__write":
    answer = run(f"{TMP}/alias.data", f"procedures of {name} as json")
    check(len(json.loads(answer)["rows"]) == 1, f"{name}: {answer}")
with open(f"{TMP}/alias.txt", "w") as f:
    f.write(f"prog 7/7 1.000000: 1000000 cpu-clock: \n\t55 __write+0x1 ({libc})\n\t56 main+0x1 ({program})\n\n")
answer = run(f"{TMP}/alias.data", f"procedures compare with '{TMP}/alias.txt'")
check("gone" not in answer and "new" not in answer, f"names are paired: {answer}")

# What is not read is told in a sentence.
for name, data, status, words in (
        ("packed.data", perfdata([record(81, bytes(16))]), 3, "without -z"),
        ("piped.data", b"PERFILE2" + struct.pack("<Q", 16) + bytes(80), 3, "written to a pipe"),
        ("killed.data", perfdata([]), 3, "killed while it recorded"),
        ("cut.data", open(made, "rb").read()[:-40], 3, "damaged or cut off"),
        ("short.data", perfdata([record(9, bytes(16))]), 3, "is damaged"),
        ("place.data", perfdata(first[:-1] + [first[-1].replace(struct.pack("<Q", at("heavy")), struct.pack("<Q", at("left")), 1)]), 3, "is damaged"),
        ("mode.data", perfdata(first[:-1] + [first[-1].replace(struct.pack("<q", -512), struct.pack("<q", -512 & ~(1 << 31)), 1)]), 3, "is damaged")):
    err = subprocess.run([HQ, "import", save(name, data), "-o", f"{TMP}/none.hq"], capture_output=True, text=True, check=False)
    check(err.returncode == status and words in err.stderr and err.stderr.count("\n") == 1, f"{name}: {err.returncode} {err.stderr}")
    check(not os.path.exists(f"{TMP}/none.hq"), f"{name} leaves nothing")

# What perf records, against what perf report says of the same file.
perf = shutil.which("perf")
works = perf and subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-o", f"{TMP}/probe.data", "true"], capture_output=True, check=False).returncode == 0
if not works:
    print("skipped: there is no perf that may record")
for how in ("dwarf", "fp") if works else ():
    data = f"{TMP}/{how}.data"
    subprocess.run([perf, "record", "-q", "-F", "499", "-e", "cpu-clock", "--call-graph", how, "-o", data, program, "0.7"], capture_output=True, check=True)
    report = subprocess.run([perf, "report", "-i", data, "--no-children", "-g", "none", "-s", "sym", "--stdio"], capture_output=True, text=True, check=True).stdout
    theirs = {m[2]: float(m[1]) for m in re.finditer(r"^ *([0-9.]+)% +\[\.\] (\w+) *$", report, re.M)}
    run("import", data, "-o", f"{TMP}/{how}.hq")
    rows = run(f"{TMP}/{how}.hq", "procedures as tsv").split("\n")
    for name in ("heavy", "shared", "recurse"):
        ours = run(f"{TMP}/{how}.hq", f"procedures of {name}")
        row = next((x for x in ours.split("\n") if re.search(rf"\b{name}\b", x)), "")
        percents = [float(x) for x in re.findall(r"([0-9.]+)%", row)]
        check(percents and abs(percents[-1] - theirs.get(name, 0)) <= 0.1, f"{how}: {name} {percents} {theirs.get(name)}")
    if how == "dwarf":
        info = run(f"{TMP}/{how}.hq", "info")
        partial = re.search(r"partial call paths +(\d+)", info)
        check(not partial or int(partial[1]) < 10, f"paths are whole: {info}")
finish()
