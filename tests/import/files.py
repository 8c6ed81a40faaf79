# SPDX-License-Identifier: BSD-3-Clause
"""Files of other tools asked directly, compared across formats, from standard input, compressed, large; and what may not be overwritten."""
import gzip
import json
import os
import resource
import subprocess
import sys

sys.path.insert(0, "tests/import")
from lib import HQ, TMP, check, check_tree, finish, run, write  # noqa: E402


def perf(samples, start=100.0):
    """perf script: (function chain innermost first, period) each."""
    out = []
    for i, (chain, period) in enumerate(samples):
        out.append(f"prog 10/10 [000] {start + i * 0.001:.6f}: {period:10d} cpu-clock:u: \n")
        out += [f"\t{0x5500 + n:x} {f}+0x1 (/bin/prog)\n" for n, f in enumerate(chain)] + ["\n"]
    return "".join(out)


OLD = perf([(["fast", "main"], 1000000), (["slow", "main"], 3000000), (["gone", "main"], 1000000)])
NEW = perf([(["fast", "main"], 1000000), (["slow", "main"], 5000000), (["fresh", "main"], 2000000)])
old, new = write("old.perf.txt", OLD), write("new.perf.txt", NEW)

# Asked directly, and again from the cache; a file that changed is imported anew.
check_tree(new, "main 0.008\n slow 0.005\n fresh 0.002\n fast 0.001")
cache = f"{os.environ['XDG_CACHE_HOME']}/hq/import"
kept = os.listdir(cache)
check(len(kept) == 1, f"one file in the cache: {kept}")
before = os.stat(f"{cache}/{kept[0]}").st_mtime_ns
check_tree(new, "main 0.008\n slow 0.005\n fresh 0.002\n fast 0.001")
check(os.stat(f"{cache}/{kept[0]}").st_mtime_ns == before, "the cached database is used again")
write("new.perf.txt", NEW + NEW)
check_tree(new, "main 0.016\n slow 0.01\n fresh 0.004\n fast 0.002")
write("new.perf.txt", NEW)

# A thread has the name that it had last: until exec it has that of what started it. The kernel has one name in all formats.
renamed = "".join(f"{name} 20/20 {100 + i / 10:.6f}: 1000000 cpu-clock: \n\tffffffff81 sys_read+0x1 ([kernel.kallsyms])\n\t5501 main+0x1 (/bin/prog)\n\n" for i, name in enumerate(["perf-exec", "the prog", "the prog"]))
rows = json.loads(run(write("renamed.perf.txt", renamed), "profiles as json"))["rows"]
check(len(rows) == 1 and "the prog" in json.dumps(rows), f"the last name: {rows}")
check({r["name"] for r in json.loads(run(f"{TMP}/renamed.perf.txt", "modules as json"))["rows"]} == {"prog", "[kernel]"}, "the kernel's name")

# A thread that callgrind saw begin in a function which its caller knows little of, and that costs little, has its path.
threads = """events: Ir
fn=main
1 10
cfn=busy
calls=1 2
1 1000000
cfn=clone
calls=1 3
1 5
fn=busy
2 1000000
fn=clone
3 5
cfn=start_thread
calls=1 4
3 5000
fn=start_thread
4 0
cfn=work
calls=1 5
4 5000
fn=work
5 5000
"""
check_tree(write("threads.callgrind.out", threads), "main 1.00001e+06\n busy 1e+06\nthread thread 5000\n work 5000\nclone 5")

# A damaged cache is no obstacle.
for name in os.listdir(cache):
    with open(f"{cache}/{name}", "r+b") as f:
        f.truncate(100)
check_tree(old, "main 0.005\n slow 0.003\n fast 0.001\n gone 0.001")

# Nor is a cache that cannot be written, or none; nothing is left of what was imported then.
os.makedirs(f"{TMP}/tmp", exist_ok=True)
for cache_home in ("/proc/none", "/dev/null", ""):
    environment = {**os.environ, "XDG_CACHE_HOME": cache_home, "HOME": "", "TMPDIR": f"{TMP}/tmp"}
    done = subprocess.run([HQ, new, "procedures limit 1 as csv"], capture_output=True, text=True, env=environment)
    check(done.returncode == 0 and "main" in done.stdout, f"cache {cache_home!r}: {done.stderr}")
    check(not os.listdir(f"{TMP}/tmp"), f"cache {cache_home!r}: {os.listdir(f'{TMP}/tmp')}")

# Compared with an older file of the same and of another format.
rows = {r["name"]: r["values"] for r in json.loads(run(new, f'procedures compare with "{old}" as json'))["rows"]}
result = json.loads(run(new, f'procedures columns delta.$1 compare with "{old}" as json'))
deltas = {r["name"]: round(r["values"][0], 9) for r in result["rows"]}
check(deltas.get("slow") == 0.002 and deltas.get("fresh") == 0.002 and deltas.get("gone") == -0.001, f"deltas {deltas}")
folded = write("old.folded", "main;fast 1\nmain;slow 3\n")
rows = {r["name"] for r in json.loads(run(write("new.folded", "main;fast 2\nmain;slow 3\n"), f'procedures columns delta.$1 where delta.$1 > 0 compare with "{folded}" as json'))["rows"]}
check(rows == {"main", "fast"}, f"folded against folded: {rows}")

# From a pipe, with the format named; compressed files of lines.
done = subprocess.run([HQ, "import", "perf", "-", "-o", f"{TMP}/pipe.hq"], input=NEW.encode(), capture_output=True)
check(done.returncode == 0, f"from a pipe: {done.stderr}")
check_tree(f"{TMP}/pipe.hq", "main 0.008\n slow 0.005\n fresh 0.002\n fast 0.001")
error = run("import", "-", "-o", f"{TMP}/pipe2.hq", status=2)
check("name the format" in error, error)
check_tree(write("new.perf.txt.gz", gzip.compress(NEW.encode())), "main 0.008\n slow 0.005\n fresh 0.002\n fast 0.001")

# Compressed files of several members, and with padding; what else stands behind a member is told, for it may have been one.
first, second = gzip.compress(b"main;a 1\n"), gzip.compress(b"main;b 99\n")
for name, data in (("two", first + second), ("padded", first + second + bytes(1000)), ("many", first + gzip.compress(b"") * 500 + second)):
    check_tree(write(f"{name}.folded.gz", data), "main 100\n b 99\n a 1")
for name, data in (("magic", first + b"\x1e" + second[1:]), ("behind", first + second + b"some text"), ("late", first + bytes(70000) + b"x"),
                   ("half", first + second[:1]), ("nothing", first + b"\x1f")):
    error = run("import", write(f"{name}.folded.gz", data), "-o", f"{TMP}/bad.hq", status=3)
    check("has ended, and what follows is not gzip's" in error and error.count("\n") == 1, f"{name}: {error}")
for name, data in (("header", first + second[:5]), ("trailer", first + second[:-3])):
    check("cut off" in run("import", write(f"{name}.folded.gz", data), "-o", f"{TMP}/bad.hq", status=3), name)
slow = subprocess.Popen([HQ, "import", "folded", "-", "-o", f"{TMP}/slow.hq"], stdin=subprocess.PIPE)
for byte in first + second:
    slow.stdin.write(bytes([byte]))
    slow.stdin.flush()
slow.stdin.close()
check(slow.wait() == 0, "byte by byte")
check_tree(f"{TMP}/slow.hq", "main 100\n b 99\n a 1")

# Several files of one format add up, each its own profile; of several formats they stand side by side.
run("import", new, old, "-o", f"{TMP}/both.hq")
check_tree(f"{TMP}/both.hq", "main 0.013\n slow 0.008\n fast 0.002\n fresh 0.002\n gone 0.001")
check(len(json.loads(run(f"{TMP}/both.hq", "profiles as json"))["rows"]) == 2, "two profiles")
run("import", new, folded, "-o", f"{TMP}/side.hq")
check_tree(f"{TMP}/side.hq", "main 0.008 4\n slow 0.005 3\n fresh 0.002 0\n fast 0.001 1")
# One tool prints arguments and return types, the other does not.
cxx = write("cxx.txt", NEW.replace("slow+0x1", "void ns::slow<int>(int, char const*)+0x1"))
run("import", cxx, write("cxx.folded", "main;ns::slow<int> 3\nmain;fast 1\n"), "-o", f"{TMP}/cxx.hq")
check_tree(f"{TMP}/cxx.hq", "main 0.008 4\n void ns::slow<int>(int, char const*) 0.005 3\n fresh 0.002 0\n fast 0.001 1")
check("aligned" in run(f"{TMP}/side.hq", "info") or "alignment" in run(f"{TMP}/side.hq", "info"), "info says how they were aligned")

# Events of Chrome's that lack what others have are not the same events, and told.
spans = [{"ph": "X", "name": "a", "ts": 10 * i, "dur": 5, "pid": 1, "tid": 1} for i in range(9)]
for event, field in ((2, "pid"), (3, "dur"), (4, "ts")):
    del spans[event][field]
told = run(write("part.trace.json", json.dumps(spans)), "info")
for words in ("1 name no process or no thread", "1 complete events without a duration", "1 without a time"):
    check(words in told, f"{words}: {told}")

# Nothing is overwritten that was not imported; wrong names.
os.makedirs(f"{TMP}/mine.hq/measurements")
check("holds measurements" in run("import", new, "-o", f"{TMP}/mine.hq", status=2), "a recording is kept")
os.makedirs(f"{TMP}/other")
write("other/file", "x")
check("other things in it" in run("import", new, "-o", f"{TMP}/other", status=2), "a directory of other things is kept")
# An import that was killed before it had written all leaves a file of this form.
os.makedirs(f"{TMP}/killed")
left, now = write("killed/hq.db.tmp.123.0.elsewhere", "x"), write("killed/hq.db.tmp.124.0.elsewhere", "x")
os.utime(left, (1e9, 1e9))
run("import", new, "-o", f"{TMP}/killed")
check_tree(f"{TMP}/killed", "main 0.008\n slow 0.005\n fresh 0.002\n fast 0.001")
check([os.path.exists(left), os.path.exists(now)] == [False, True], "what was left is removed, what somebody may be writing stays")
check("is there already" in run("import", new, "-o", old, status=2), "a file is kept")
check("No such file" in run("import", f"{TMP}/nothing", "-o", f"{TMP}/x.hq", status=3), "a missing file")
check("-o DB" in run("import", new, status=2), "the output is missing")
run("import", new, "-o", f"{TMP}/both.hq")
check_tree(f"{TMP}/both.hq", "main 0.008\n slow 0.005\n fresh 0.002\n fast 0.001")
run("verify", f"{TMP}/both.hq")
check({x.split()[0] for x in run("import", "--formats").split("\n") if x} >= {"hpctoolkit", "perf", "perfdata", "pprof", "folded", "speedscope", "callgrind", "gperftools", "chrome"}, "the formats")

# What is known but cannot be imported is named, with what to do; nothing is left.
for name, data, words in (("perf.data", b"2ELIFREP" + bytes(99), "perf script -i"), ("t.xz", b"\xfd7zXZ\0x", "xz -dc"), ("t.zst", b"\x28\xb5\x2f\xfdx", "zstd -dc"),
                          ("report.txt", "# Samples: 3\n# Event count (approx.): 5\n 1 % a\n", "perf script >"), ("a.out", b"\x7fELF\2", "hq record"),
                          ("u16.txt", "main;a 1\n".encode("utf-16"), "iconv"), ("n.cpuprofile", '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"hitCount":0' + 99999 * " ", "speedscope"),
                          ("n.heapprofile", '{"head":{"callFrame":{"functionName":"(root)"},"selfSize":0', "speedscope"), ("v8.log", "v8-version,11,3\n", "perf script"),
                          ("gp.raw", "--- symbol\nbinary=./prog\n", "--callgrind"),
                          ("old.hpct/experiment.xml", "<HPCToolkitExperiment>", "hpcprof"), ("part.hpct/cct.db", b"HPCTOOLKITctxt\4\0", "without its meta.db"),
                          ("diff.folded", "main;a 1 2\nmain;b 3 4\n", "two numbers"), ("neg.folded", "main;a -1\n", "neg.folded:1: not a folded")):
    os.makedirs(os.path.dirname(f"{TMP}/{name}"), exist_ok=True)
    path = write(name, data)
    error = run("import", os.path.dirname(path) if "/" in name else path, "-o", f"{TMP}/bad.hq", status=3)
    check(words in error and error.count("\n") == 1 and not os.path.exists(f"{TMP}/bad.hq"), f"{name}: {error}")
check_tree(write("mark.folded", b"\xef\xbb\xbfmain;a 1\r\nmain;b 2\r\n"), "main 3\n b 2\n a 1")

# Threads of a Chrome trace whose ids are texts are apart from each other and from those with numbers, and are named by the texts.
events = [{"ph": "X", "pid": pid, "tid": tid, "ts": 1, "dur": dur, "name": "a"} for pid, tid, dur in ((1, "main", 2), (1, "io", 4), (1, 7, 8), ("Q", "io", 16), (1, "7", 32))]
rows = json.loads(run(write("ids.json", json.dumps(events)), "threads as json"))["rows"]
check(sorted((r["name"].split("thread ")[1], round(r["values"][0] * 1e6)) for r in rows) == [("10", 16), ("7", 32), ("8", 2), ("9", 4)], f"threads with texts: {rows}")
said = run(f"{TMP}/ids.json", "profiles")
check("main" in said and "Q: io" in said, said)

# A pipe can be read only once: it is not looked at, and nobody waits for one that has no writer.
os.mkfifo(f"{TMP}/fifo")
error = run("import", f"{TMP}/fifo", "-o", f"{TMP}/bad.hq", status=2)
check("name the format" in error and not os.path.exists(f"{TMP}/bad.hq"), error)
with subprocess.Popen([HQ, "import", "folded", f"{TMP}/fifo", "-o", f"{TMP}/piped.hq"]) as process:
    with open(f"{TMP}/fifo", "w") as file:
        file.write("main;a 1\n")
check_tree(f"{TMP}/piped.hq", "main 1\n a 1")

# A failed import leaves nothing, not even where the input was good for a while.
bad = write("bad.perf.txt", NEW * 1000 + "\nand then something else\n")
error = run("import", "perf", bad, "-o", f"{TMP}/bad.hq", status=3)
check(f"bad.perf.txt:{NEW.count(chr(10)) * 1000 + 2}:" in error and error.count("\n") == 1, error)
check(not os.path.exists(f"{TMP}/bad.hq"), "nothing is left")


# Memory does not grow with the length of a file but for its trace (a few bytes a sample).
def peak(path):
    """Kilobytes of the largest child so far."""
    run("import", "perf", path, "-o", f"{TMP}/large.hq")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


many = perf([([f"function_with_a_long_name_{i % 50}_{n}(std::vector<double> const&, int)" for n in range(30)] + ["main"], 1000000) for i in range(500)])
small = peak(write("small.txt", many))
with open(f"{TMP}/large.txt", "w") as f:
    for _ in range(40):
        f.write(many)
large = peak(f"{TMP}/large.txt")
size = os.path.getsize(f"{TMP}/large.txt") // 1024
# Twenty thousand samples: their trace is half a megabyte, the file forty.
check(large - small < 8192 and size > 30000, f"{small} kB for one part, {large} kB for forty ({size} kB)")
finish()
