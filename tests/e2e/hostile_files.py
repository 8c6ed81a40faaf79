# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of file that a user keeps beside a database (queries with parameters, groups, baselines, histories, sets of runs, what lies in a
recording, streams of devices, structure) is damaged by its words and asked for: an exit status of the language, a few words, no crash, no hang.
FUZZ_SECONDS and FUZZ_SEED make it a longer run (make fuzz)."""

import random
import re
import signal
import time

from lib import *

ROUNDS = 64
TIMES_OUT = 60
SOURCE = """
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) static void take(int n) { for (int i = 0; i < n; i++) { kept = malloc(1000); free(kept); } }
__attribute__((noinline)) static void other(int n) { for (int i = 0; i < n; i++) { kept = malloc(300); free(kept); } }
int main(void) { take(100); other(50); return 0; }
"""
WORDS = [b"-1", b"0", b"99999999999999999999", b"1e308", b"nan", b"inf", b"-9223372036854775808", b"", b" ", b"\n", b"\0", b"\xff", b"\x1b[31m", b"\xe2\x80\xae",
         b'"', b"'", b"{", b"}", b"[", b"]", b"(", b")", b"{{", b"}}", b"{{N}}", b":", b";", b",", b"/", b"../", b"/dev/null", b"<", b">", b"&", b"%s%n", b"\\u0000",
         b"\\", b"null", b"true", b"--", b"compare with", b"let x = x", b"group g = group g", b"set groups g", b"/(/", b"/(a*)*b/", b"procedure", b"limit 0", b"expect no rows"]


def damage(rng, data):
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(data))
        kind = rng.randrange(9)
        words = list(re.finditer(rb"[A-Za-z_]+|[-+0-9.]+|[^\sA-Za-z0-9]", data[:50000]))
        if kind == 0 and data:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
        elif kind == 1:
            data = data[:at] + rng.choice(WORDS) + data[at:]
        elif kind == 2 and words:       # a word becomes another kind of word, or another's
            w = rng.choice(words)
            data = data[:w.start()] + (rng.choice(WORDS) if rng.random() < 0.6 else rng.choice(words).group()) + data[w.end():]
        elif kind == 3:
            data = data[:at]
        elif kind == 4:
            data = data[:at] + data[at:at + rng.randint(0, 400)] * rng.choice((2, 3, 50)) + data[at:]
        elif kind == 5:
            data = data[:at] + data[at + rng.randint(0, 60):]
        elif kind == 6:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
        elif kind == 7 and rng.random() < 0.3:
            data = data[:at] + rng.choice((b"[", b"(", b"{", b'{"a":', b"not ", b"<S ", b"1+")) * rng.choice((100, 100000)) + data[at:]
        elif len(data) > 8:             # a number of a binary file
            at -= at % 4
            data = data[:at] + rng.choice((0, 1, 0x7fffffff, 0x80000000, 0xffffffff)).to_bytes(4, "little") + data[at + 4:]
    return data


def read(name):
    with open(f"{TMP}/{name}", "rb") as f:
        return f.read()


def write(name, data):
    with open(f"{TMP}/{name}", "wb" if isinstance(data, bytes) else "w") as f:
        f.write(data)


def ask(*words):
    """What is wrong with an answer; None: nothing."""
    try:
        done = subprocess.run([HQ, *words], stdin=subprocess.DEVNULL, capture_output=True, cwd=TMP, timeout=TIMES_OUT)
    except subprocess.TimeoutExpired:
        return f"{words}: no answer"
    err = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2, 3, 4) or "Sanitizer" in err or "runtime error" in err:
        return f"{words}: status {done.returncode}: {err[-1500:]}"
    if done.returncode in (2, 3) and not err and not done.stdout:
        return f"{words}: status {done.returncode} without a word"
    if "\x1b" in err or "\u202e" in err:
        return f"{words}: what a terminal obeys: {err[-300:]!r}"
    return None


# What is whole, and answers.
write("take.c", SOURCE)
check(run("gcc", "-O1", "-g", "-o", "take", "take.c")[0] == 0, "the program is built")
write("q.hq", "-- what must hold\nlet big = alloc_bytes * {{N}}\nset lines on\nprocedures where big > 1% sort by alloc_bytes desc limit 5\n"
      "tree of main depth 3 expect alloc_bytes < 200%\nset lines off; callers of malloc columns name, big\n")
write("g.groups", 'group mine = take, other\ngroup inner = group mine, files of "take.c"\ngroup loops = loops of take\n')
write("b.hq", "procedures\ntree depth 3\n")
RECORDER = os.environ.get("HQ_RECORDER", HQ)   # a build with sanitizers has no collector
status, out, err = run(RECORDER, "record", "--runs", 3, "-e", "ALLOC", "-o", "set", "--", "./take")
check(status == 0, f"a set of runs: {err}")
check(run(HQ, "check", "set", "b.hq", "--update")[0] == 0, "its baseline")
for i in range(4):
    check(run(HQ, "check", "set/00%d.hq" % (i % 3 + 1), "b.hq", "--history", "kept", "--commit", f"c{i}")[0] in (0, 1), "its history")
check(run(RECORDER, "record", "-e", "CPUTIME@1000/s", "-e", "ALLOC", "--mark", "take", "-o", "one.hq", "--", "./take")[0] == 0, "a recording")
check(run(HQ, "structure", "--xml", "take")[0] == 0, "a structure file")
write("s.xml", run(HQ, "structure", "--xml", "take")[1])
write("gpu.json", json.dumps({"traceEvents": [
    {"ph": "X", "name": "step", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10, "dur": 90, "args": {"External id": 3}},
    {"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": 20, "dur": 5, "args": {"correlation": 7}},
    {"ph": "X", "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 40, "dur": 30, "args": {"device": 0, "stream": 7, "correlation": 7, "context": 1}},
    {"ph": "X", "name": "Memcpy HtoD", "cat": "gpu_memcpy", "pid": 0, "tid": 7, "ts": 30, "dur": 5, "args": {"device": 0, "stream": 7, "bytes": 4096}},
    {"ph": "s", "id": 7, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 20}, {"ph": "f", "id": 7, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 40},
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "GPU 0"}}]}))
history = sorted(os.listdir(f"{TMP}/kept"))[1]
parts = [os.path.join("one.hq/measurements", n) for n in os.listdir(f"{TMP}/one.hq/measurements")]
KINDS = [  # which file, and what is asked of it
    ("q.hq", [("set/001.hq", "-f", "q.hq", "-D", "N=2"), ("check", "set", "q.hq", "-D", "N=2")]),
    ("g.groups", [("set/001.hq", "groups", "--groups", "g.groups"), ("check", "set/001.hq", "b.hq", "--groups", "g.groups"),
                  ("set/002.hq", "flat by group", "--groups", "g.groups")]),
    ("b.baseline", [("check", "set", "b.hq"), ("check", "set/001.hq", "b.hq", "--junit", "-"), ("check", "--update", "set", "b.hq")]),
    (f"kept/{history}", [("history", "kept"), ("history", "kept", "take", "--svg", "-"), ("check", "set/001.hq", "b.hq", "--history", "kept", "--commit", "last"),
                         ("report", "set/001.hq", "--history", "kept", "-o", "-")]),
    ("set/runs.txt", [("set", "procedures"), ("check", "set", "b.hq"), ("set", "tree compare with set/old.hq")]),
    ("gpu.json", [("import", "gpu.json", "-o", "gpu.hq"), ("gpu.json", "devices"), ("gpu.json", "trace as svg")]),
    ("s.xml", [("build", "--structure", "s.xml", "one.hq"), ("one.hq", "tree")]),
] + [(part, [("one.hq", "info"), ("build", "one.hq"), ("one.hq", "trace"), ("report", "one.hq", "-o", "-"), ("verify", "one.hq")]) for part in parts]
for name, questions in KINDS:
    for words in questions:
        check(ask(*words) is None, f"whole: {ask(*words)}")

seed, until = int(os.environ.get("FUZZ_SEED", "1")), time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "0"))
whole = {name: read(name) for name, _ in KINDS}
tried = 0
while tried < ROUNDS or time.monotonic() < until:
    rng = random.Random(seed * 1000003 + tried)
    name, questions = KINDS[tried % 8 if tried % 8 < 7 else 7 + tried // 8 % len(parts)]
    write(name, damage(rng, whole[name]))
    wrong = ask(*rng.choice(questions))
    if wrong:
        shutil.copyfile(f"{TMP}/{name}", f"{TMP}/wrong.{tried}")
        check(False, f"seed {seed}, round {tried}, {name} (kept as wrong.{tried}): {wrong}")
    write(name, whole[name])
    if name == "b.baseline" or name.startswith("kept/"):
        for left in os.listdir(f"{TMP}/kept"):
            if left.startswith("last"):
                os.remove(f"{TMP}/kept/{left}")
    shutil.rmtree(f"{TMP}/gpu.hq", ignore_errors=True)
    tried += 1
print(f"{tried} files")
check(tried >= ROUNDS, f"{tried} files")
finish()
