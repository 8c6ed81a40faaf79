# SPDX-License-Identifier: BSD-3-Clause
"""pprof profiles: tables in any order, packed or not, inlined code, labels, several values, addresses without names, damage."""
import gzip
import json
import os
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import Pprof, TMP, check, check_tree, field, finish, message, run, write  # noqa: E402


def sample_profile(packed=True):
    p = Pprof([("samples", "count"), ("cpu", "nanoseconds")], packed)
    p.mapping(1, 0x1000, 0x9000, 0, "/bin/prog")
    p.function(1, "main", "/src/m.c", 10)
    p.function(2, "work", "/src/m.c", 20)
    p.function(3, "inl", "/src/i.h", 5)
    p.location(1, [(1, 12)], 1, 0x1100)
    p.location(2, [(3, 6), (2, 22)], 1, 0x1200)
    p.sample([2, 1], [3, 30000000], [("thread", 7)])
    p.sample([1], [1, 10000000], [("handler", "/index"), ("bytes", 12345)])
    return p


# The metric that pprof itself shows comes first: where the file names none, the last one.
WANT = """
main 0.04 4
 work (/src/m.c:12) 0.03 3
  inline inl (/src/m.c:22) 0.03 3
"""
data = sample_profile().bytes(("cpu", "nanoseconds", 10000000))
check_tree(write("plain.pb", data), WANT)
check_tree(write("packed.pb.gz", gzip.compress(data)), WANT)
check_tree(write("loose.pb", sample_profile(False).bytes()), WANT)
rows = json.loads(run(f"{TMP}/plain.pb", "profiles as json"))["rows"]
check(len(rows) == 2, f"two profiles by their labels: {rows}")
check("numbers called bytes" in run(f"{TMP}/plain.pb", "info"), "a numeric label is said to be left out")

# Labels that number threads and ranks do so as texts, too; profiles without a thread's number get one.
labelled = Pprof([("cpu", "nanoseconds")])
labelled.function(1, "f"), labelled.location(1, [(1, 0)])
for labels in [("rank", "3"), ("thread", "5")], [("rank", 4)], [("job", "a")], [("job", "b"), ("thread", "main")]:
    labelled.sample([1], [1000], labels)
names = [r["name"] for r in json.loads(run(write("labelled.pb", labelled.bytes()), "threads per thread as json"))["rows"]]
check(sorted(names) == ["rank 3 thread 5", "rank 4 thread 1", "thread 2", "thread 3"], f"threads by labels: {names}")

# Go writes the labels of each sample in another order.
shuffled = Pprof([("cpu", "nanoseconds")])
shuffled.function(1, "f"), shuffled.location(1, [(1, 0)])
for labels in [("worker", "1"), ("kind", "a b")], [("kind", "a b"), ("worker", "1")], [("kind", "a b"), ("worker", "2")]:
    shuffled.sample([1], [1000], labels)
rows = json.loads(run(write("shuffled.pb", shuffled.bytes()), "threads per thread as json"))["rows"]
check(sorted(round(r["values"][0], 9) for r in rows) == [1e-6, 2e-6], f"labels in any order are one profile: {rows}")

# A sample with several values is one sample.
answer = json.loads(run(f"{TMP}/plain.pb", "procedures as json"))
check(answer["coverage"]["samples"] == 4, f"four samples: {answer['coverage']}")
check(json.loads(run(f"{TMP}/plain.pb", "procedures columns samples as json"))["coverage"]["samples"] == 4, "of either metric")
check(json.loads(run(f"{TMP}/plain.pb", "procedures columns cpu as json"))["coverage"]["samples"] == 4, "of either metric")
lines = json.loads(run(f"{TMP}/plain.pb", "lines as json"))["rows"]
check({(os.path.basename(r["file"]), r["line"]) for r in lines} >= {("i.h", 6), ("m.c", 12)}, f"lines: {lines}")

heap = Pprof([("alloc_objects", "count"), ("alloc_space", "bytes")])
heap.function(1, "make")
heap.location(1, [(1, 0)])
heap.sample([1], [2, 4096])
check_tree(write("heap.pb", heap.bytes()), "make 4096 2")
check_tree(write("heap-objects.pb", heap.bytes(default="alloc_objects")), "make 2 4096")

bare = Pprof([("samples", "count")])
bare.mapping(1, 0x400000, 0x500000, 0x1000, "/gone/prog")
bare.location(1, [], 1, 0x400123)
bare.sample([1], [5])
check_tree(write("bare.pb", bare.bytes()), "prog+0x1123 5")

# Bare addresses have the names of the binary that was recorded, of no other, and it is told where that is not known.
with open(f"{TMP}/built.c", "w") as f:
    f.write("int built(int x) { return x * 3; }\nint main(int n, char **v) { return built(n); }\n")
subprocess.run(["gcc", "-g", "-O0", "-Wl,--build-id=0xabcdef0123", "-o", f"{TMP}/built", f"{TMP}/built.c"], check=True)
address = int(next(x for x in subprocess.run(["nm", f"{TMP}/built"], text=True, capture_output=True, check=True).stdout.splitlines() if x.endswith(" built")).split()[0], 16)
for build_id, recorded, name, told in (
        ("", 1 << 40, "built", "changed after the profile was recorded"), ("", 1 << 62, "built", None), ("", 0, "built", None),
        ("abcdef0123", 1 << 40, "built", None), ("no/Go-id", 1 << 62, "built", None),
        ("abcdef0124", 1 << 62, f"built+{address + 4:#x}", "not the file that was measured")):
    bare = Pprof([("samples", "count")])
    bare.mapping(1, 0, 1 << 40, 0, f"{TMP}/built", build_id)
    bare.location(1, [], 1, address + 4)
    bare.sample([1], [5])
    path = write("built.pb", bare.bytes() + field(9, recorded))
    rows = [r["name"] for r in json.loads(run(path, "procedures as json"))["rows"]]
    check(rows == [name], f"build-id '{build_id}', recorded {recorded}: {rows}")
    info = " ".join(run(path, "info").split())
    check(told in info if told else "binary" not in info, f"build-id '{build_id}', recorded {recorded}: {info}")

# Bad input: one sentence with the place, nothing left.
for name, bytes_, text in (
        ("cut.pb", data[:len(data) // 2], "cut.pb:"),
        ("cut.pb.gz", gzip.compress(data)[:-20], "cut off"),
        ("crc.pb.gz", gzip.compress(data)[:-8] + bytes(8), "damaged"),
        ("nothing.pb", Pprof([]).bytes(), "no sample types"),
        ("lost.pb", Pprof([("samples", "count")]).bytes() + field(2, message((1, 9), (2, 1))), "location that is not in the file"),
        ("short.pb", data + field(2, message((1, 1), (2, 1))), "has 1 values, but there are 2"),
        ("wire.pb", data + b"\x0f", "kind that does not exist")):
    error = run("import", "pprof", write(name, bytes_), "-o", f"{TMP}/bad.hq", status=3)
    check(text in error and error.count("\n") == 1, f"{name}: {error}")
    check(not os.path.exists(f"{TMP}/bad.hq"), f"{name}: something is left")
finish()
