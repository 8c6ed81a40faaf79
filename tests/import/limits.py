# SPDX-License-Identifier: BSD-3-Clause
"""Limits of every importer: call paths that are too deep, files that are too large or hold too much, and sums that do not fit are refused with the
place and the option; just within the limit they are not. A small compressed file cannot make a large database.
"""
import gzip
import json
import os
import struct
import subprocess
import time

from counting import seconds
from lib import HQ, TMP as tmp, check, field, finish, varint

os.environ["XDG_CACHE_HOME"] = f"{tmp}/cache"
DEPTH = 8
NAMES = [f"f{i}" for i in range(DEPTH)]


def run(*args):
    done = subprocess.run([HQ, *args], capture_output=True, text=True, errors="replace", timeout=seconds(60))
    return done.returncode, done.stdout, done.stderr


def pprof(paths, values, kinds=("samples",)):
    texts = ["", *kinds, "count", *NAMES]
    out = b"".join(field(1, field(1, texts.index(k)) + field(2, texts.index("count"))) for k in kinds)
    for path, value in zip(paths, values):
        out += field(2, b"".join(field(1, i + 1) for i in reversed(path)) + b"".join(field(2, v) for v in value))
    for i, name in enumerate(NAMES):
        out += field(4, field(1, i + 1) + field(4, field(1, i + 1))) + field(5, field(1, i + 1) + field(2, texts.index(name)))
    return out + b"".join(field(6, t.encode()) for t in texts)


def perf(path):
    return "prog 1/1 1.0: 1 cycles:\n" + "".join(f"\t{i + 1:x} {n} (prog)\n" for i, n in reversed(list(enumerate(path)))) + "\n"


def callgrind(path):
    text = "events: Ir\n"
    for i, name in enumerate(path):
        text += f"fl=a.c\nfn={name}\n1 1\n"
        if i + 1 < len(path):
            text += f"cfn={path[i + 1]}\ncalls=1 1\n1 {len(path) - i - 1}\n"
    return text


def speedscope(path):
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": n} for n in path]},
                       "profiles": [{"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": 1,
                                     "samples": [list(range(len(path)))], "weights": [1]}]})


def chrome(path):
    return json.dumps([{"name": n, "ph": "X", "ts": i, "dur": 100 - 2 * i, "pid": 1, "tid": 1} for i, n in enumerate(path)])


def gperftools(path):
    words = [0, 3, 0, 10000, 0, 5, len(path), *[0x1000 * (i + 1) for i in range(len(path))], 0, 1, 0]
    return struct.pack(f"<{len(words)}Q", *words) + b"00001000-00100000 r-xp 00000000 00:00 0 /nowhere/prog\n"


FILES = {"deep.folded": ";".join(NAMES) + " 5\n", "deep.perf": perf(NAMES), "deep.callgrind": callgrind(NAMES), "deep.speedscope.json": speedscope(NAMES),
         "deep.trace.json": chrome(NAMES), "deep.prof": gperftools(NAMES), "deep.pb.gz": gzip.compress(pprof([range(DEPTH)], [[5]]))}
for name, data in FILES.items():
    path = f"{tmp}/{name}"
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    for option, low, high in (("depth", DEPTH - 1, DEPTH), ("frames", DEPTH - 2, DEPTH + 2), ("values", 3, 1000), ("size", 20, 100000)):
        output = f"{tmp}/{name}.{option}.hq"
        status, _, err = run("import", f"--max-{option}", str(low), path, "-o", output)
        check(status == 3 and name in err and f"--max-{option}" in err and len(err.splitlines()) == 1, f"{name}, {option} {low}: status {status}: {err}")
        check(not os.path.exists(output), f"{name}, {option} {low}: something is left")
        status, _, err = run("import", f"--max-{option}", str(high), path, "-o", output)
        check(status == 0, f"{name}, {option} {high}: status {status}: {err}")

# Sums that do not fit, which are numbers of samples, too: of several samples, of one; the largest that does.
big = 1 << 62
for what, values, fits in (("five", [big] * 5, False), ("two", [big] * 2, False), ("one", [1 << 63], False), ("signs", [big, (1 << 64) - big, big], False),
                           ("most", [big - 2, 1], True)):
    path = f"{tmp}/{what}.pb"
    with open(path, "wb") as file:
        file.write(pprof([[i % DEPTH] for i in range(len(values))], [[v] for v in values]))
    status, out, err = run(path, "procedures as json")
    if fits:
        total = sum(r["values"][1] for r in json.loads(out)["rows"]) if status == 0 else 0
        check(status == 0 and total == float(sum(values)), f"{what}: {status}, {total}: {err}")
    else:
        check(status == 3 and "add up to more than 2^6" in err and "the sample at offset" in err, f"{what}: status {status}: {err}")
with open(f"{tmp}/large.folded", "w") as file:
    file.write("a 1e30\n")
status, _, err = run(f"{tmp}/large.folded", "procedures")
check(status == 3 and "more than can be counted" in err, f"folded: status {status}: {err}")
with open(f"{tmp}/large.callgrind", "w") as file:
    file.write("events: Ir\nfl=a.c\nfn=f\n" + "1 1000000000000000000\n" * 12)
status, _, err = run(f"{tmp}/large.callgrind", "procedures")
check(status == 3 and "add up to more than 2^63" in err, f"callgrind: status {status}: {err}")

# 20 million frames in a file of some kilobytes.
location = bytes(field(1, 1))
sample = field(2, location * 1000000 + field(2, 1))
texts = [b"", b"samples", b"count", b"f"]
bomb = field(1, field(1, 1) + field(2, 2)) + sample + field(4, field(1, 1) + field(4, field(1, 1))) + field(5, field(1, 1) + field(2, 3)) + b"".join(
    field(6, t) for t in texts)
with open(f"{tmp}/bomb.pb.gz", "wb") as file:
    file.write(gzip.compress(bomb))
check(os.path.getsize(f"{tmp}/bomb.pb.gz") < 10000, "the bomb is small")
status, _, err = run(f"{tmp}/bomb.pb.gz", "info")
check(status == 3 and "more than 100000 frames in a call path" in err, f"bomb: status {status}: {err}")
check(not os.path.isdir(f"{tmp}/cache/hq/import") or all(os.path.getsize(f"{tmp}/cache/hq/import/{f}") < 1 << 20 for f in os.listdir(f"{tmp}/cache/hq/import")),
      "the bomb left something in the cache")
finish()
