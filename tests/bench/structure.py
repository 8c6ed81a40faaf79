#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Structure recovery: CPU time and peak memory of whole binaries and of sampled addresses, against their goals.

Whole binaries through `hq structure` with its output thrown away; 1,000 random addresses of the largest
library through build/tools/structure_places; and the time from the end of a run to the first answer. Each number is the best of three,
because other work on the machine only adds.
"""
import glob
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

HQ, BUILD = os.environ.get("HQ", "./hq"), os.environ.get("BUILD", "build")
failed = 0


def measure(command, stdin=b"", env=None):
    """CPU seconds, seconds, and peak memory in MB of one command."""
    with tempfile.TemporaryFile() as f:
        f.write(stdin)
        f.seek(0)
        start = time.monotonic()
        child = subprocess.Popen(command, stdin=f, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = status
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, status


def report(name, command, goal, stdin=b"", env=None, memory=500, what="CPU"):
    global failed
    runs = [measure(command, stdin, env) for _ in range(3)]
    cpu, wall, peak = (min(r[i] for r in runs) for i in range(3))
    value = cpu if what == "CPU" else wall
    good = value < goal and peak < memory and not any(r[3] for r in runs)
    failed += not good
    print(f"{'ok' if good else 'not ok'} {name}: {cpu:.2f} s CPU, {wall:.2f} s, {peak:.0f} MB "
          f"(goal {goal} s {what}, {memory} MB)")


def addresses(path):
    for line in subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout.splitlines():
        f = line.replace("[ ", "[").split()
        if len(f) > 5 and f[1] == ".text":
            start, size = int(f[3], 16), int(f[5], 16)
            rng = random.Random(1)
            return "\n".join("%x" % (start + rng.randrange(size)) for _ in range(1000)).encode()
    raise SystemExit(f"{path}: no .text")


def python_with_debug_info(tmp):
    """python3.11 and its debug file from Debian's archive: the version that is installed may have none there."""
    if subprocess.run(["apt-get", "-q", "download", "python3.11-minimal", "python3.11-dbg"], cwd=tmp, capture_output=True).returncode:
        return None
    for deb in glob.glob(f"{tmp}/*.deb"):
        subprocess.run(["dpkg", "-x", deb, tmp], check=True)
    return f"{tmp}/usr/bin/python3.11"


def whole_binaries(tmp):
    report("C library, whole, with debug info", [HQ, "structure", "/lib/x86_64-linux-gnu/libc.so.6"], 1)
    python = python_with_debug_info(tmp)
    if python:
        report("python3.11, whole, with debug info", [HQ, "structure", python], 2,
               env={**os.environ, "HQ_DEBUG_PATH": f"{tmp}/usr/lib/debug"})
    else:
        print("skipped: python3.11 with debug info cannot be downloaded")
    for cc1 in glob.glob("/usr/lib/gcc/x86_64-linux-gnu/*/cc1")[:1]:
        report("cc1, whole", [HQ, "structure", cc1], 5)


def sampled_addresses():
    libraries = glob.glob("/usr/lib/x86_64-linux-gnu/libLLVM-*.so.*") or glob.glob("/usr/lib/x86_64-linux-gnu/*.so.*")
    largest = max((os.path.realpath(p) for p in libraries), key=os.path.getsize)
    report(f"1,000 addresses of {os.path.basename(largest)}", [f"{BUILD}/tools/structure_places", largest], 0.3,
           stdin=addresses(largest))


def first_answers(tmp):
    source = f"{tmp}/loop.cc"
    with open(source, "w") as f:
        f.write("#include <cmath>\n#include <map>\n#include <string>\n#include <vector>\n"
                "int main() { std::map<std::string, std::vector<double>> m; double s = 0;\n"
                "for (int i = 0; i < 3000000; i++) { auto &v = m[std::to_string(i % 1000)];\n"
                "v.push_back(std::sin(i)); s += v[v.size() / 2]; }\nreturn s > 0; }\n")
    subprocess.run(["g++", "-O2", "-g", "-o", f"{tmp}/loop", source], check=True)
    script = f"{tmp}/work.py"
    with open(script, "w") as f:
        f.write("import json, re\nfor i in range(60000):\n"
                "    json.loads(json.dumps({'a': [i] * 20})); re.sub('a', 'b', 'banana' * 10)\n")
    for name, command, goal in (("C++ run", [f"{tmp}/loop"], 1), ("python3 run", ["python3", script], 2)):
        times = []
        for i in range(3):
            db = f"{tmp}/{name.replace(' ', '')}{i}"
            subprocess.run([HQ, "record", "-e", "CPUTIME@1000/s", "-o", db, "--", *command], capture_output=True)
            env = {**os.environ, "XDG_CACHE_HOME": f"{tmp}/cache{i}{name[0]}"}
            times.append(measure([HQ, db, "hot path"], env=env))
        wall, good = min(t[1] for t in times), not any(t[3] for t in times)
        good = good and wall < goal
        global failed
        failed += not good
        print(f"{'ok' if good else 'not ok'} from the end of a {name} to the first answer: {wall:.2f} s (goal {goal} s)")


def main():
    # HQ may be relative; children run elsewhere.
    with tempfile.TemporaryDirectory() as tmp:
        whole_binaries(tmp)
        sampled_addresses()
        first_answers(tmp)
    print(f"peak of this script's children: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB")
    return 1 if failed else 0


sys.exit(main())
