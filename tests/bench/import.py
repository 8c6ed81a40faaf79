# SPDX-License-Identifier: BSD-3-Clause
"""
A `perf script` file of 1 GB and a Chrome trace of half of that import in bounded memory (SIZE_MB changes the size), and what is exported for speedscope is valid
by the schema in speedscope's own package and means the same to its importer, where npm, python3-jsonschema and node are installed.
"""
import json
import os
import pty
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HQ = os.environ["HQ"]
MEMORY_KB = 128 * 1024
SPEEDSCOPE = "speedscope@1.25.0"
RATE = 20e6     # bytes a second; a fifth of what a slow machine does


def sample(n):
    r = random.Random(n)
    frames = [f"\t{0x55D000000000 + 4096 * r.randrange(400):x} function_{r.randrange(400)}(double*, std::vector<double> const&)+0x1e "
              f"(/usr/lib/lib{r.randrange(5)}.so)\n" for _ in range(r.randrange(5, 30))]
    return f"prog 4711/{4711 + n % 8} [000] {1000 + n * 0.00025:.6f}:     250000 cpu-clock:u: \n" + "".join(frames) + "\t5400 main+0x2 (/bin/prog)\n\n"


def watched(command):
    """Runs a command whose standard error is a terminal; the percentages of its progress line."""
    terminal, its_side = pty.openpty()
    process, text = subprocess.Popen(command, stderr=its_side), b""
    os.close(its_side)
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:     # the other side is closed
            break
        text += part
    os.close(terminal)
    if process.wait():
        raise SystemExit(f"{command}: {text.decode()}")
    return [int(x) for x in re.findall(rb"\((\d+) %\)", text)]


def large(directory):
    path, size = f"{directory}/large.txt", int(os.environ.get("SIZE_MB", 1000)) << 20
    block = "".join(sample(n) for n in range(3000)).encode()
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(block)
    size, start = os.path.getsize(path), time.monotonic()
    steps = watched([HQ, "import", path, "-o", f"{directory}/large.hq"])
    seconds, memory = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"perf script of {size >> 20} MB: {seconds:.1f} s, {memory / 1024:.0f} MB of memory")
    print(f"progress line: {len(steps)} steps from {steps[0] if steps else '-'} % to {steps[-1] if steps else '-'} %")
    return memory < MEMORY_KB and seconds < size / RATE and len(steps) > 3 and steps == sorted(steps)


def events(directory):
    """A Chrome trace of nested events, each written when it ends, of eight threads: all of them are to be sorted."""
    path, size, clocks, r = f"{directory}/large.json", int(os.environ.get("SIZE_MB", 1000)) << 19, [0] * 8, random.Random(3)

    def run(file, t, depth):
        start, clocks[t] = clocks[t], clocks[t] + r.randrange(500, 3000)
        for _ in range(r.randrange(4) if depth < 9 else 0):
            run(file, t, depth + 1)
        file.write(f'{{"name":"function_{depth}_{r.randrange(2)}","cat":"cpu","ph":"X","ts":{start / 1000:.3f},"dur":{(clocks[t] - start) / 1000:.3f},'
                   f'"pid":77,"tid":{100 + t},"args":{{"file":"some/path/to/a/file.cc","line":"{r.randrange(1000)}"}}}},\n')

    with open(path, "w") as file:
        file.write('{"traceEvents":[\n')
        while file.tell() < size:
            run(file, r.randrange(8), 0)
        file.write('{"ph":"M","name":"process_name","pid":77,"args":{"name":"prog"}}]}\n')
    with open(f"{directory}/usage", "w+") as usage:
        subprocess.run([sys.executable, "-c", "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                        HQ, "import", path, "-o", f"{directory}/events.hq"], stdout=usage, check=True)
        usage.seek(0)
        memory = int(usage.read().split()[-1])
    print(f"Chrome trace of {os.path.getsize(path) >> 20} MB: {memory / 1024:.0f} MB of memory")
    os.unlink(path)
    return memory < MEMORY_KB


def valid(package, directory):
    """The schema in speedscope's package holds for what is exported."""
    try:
        import jsonschema
    except ImportError:
        print("speedscope: python3-jsonschema is not installed: its schema was not asked")
        return True
    schema = json.load(open(f"{package}/dist/release/file-format-schema.json"))
    subprocess.run([HQ, "export", "speedscope", f"{directory}/large.hq", "-o", f"{directory}/out.json"], check=True)
    try:
        jsonschema.validate(json.load(open(f"{directory}/out.json")), schema)
    except jsonschema.ValidationError as error:
        print(f"speedscope: {error.message}")
        return False
    print("speedscope: valid by its schema")
    return True


def readable(package, directory):
    """speedscope's importer agrees with hq: on the small databases of the test, and on the large one."""
    good = True
    for arguments in [], [f"{directory}/large.hq"]:
        environment = {**os.environ, "HQ_SPEEDSCOPE": package, "HQ_TEST_TMP": directory}
        done = subprocess.run([sys.executable, "tests/import/speedscope_reader.py", *arguments], env=environment, capture_output=True, text=True)
        print(f"speedscope's importer: {done.stdout.strip()}{done.stderr}")
        good = good and done.returncode in (0, 77)
    return good


def speedscope(directory):
    if not shutil.which("npm"):
        print("speedscope: npm is not installed: not asked")
        return True
    done = subprocess.run(["npm", "pack", SPEEDSCOPE], cwd=directory, capture_output=True, text=True)
    if done.returncode:
        print("speedscope: its package cannot be fetched: not asked")
        return True
    subprocess.run(["tar", "xzf", done.stdout.split()[-1]], cwd=directory, check=True)
    package = f"{directory}/package"
    return all([valid(package, directory), readable(package, directory)])


with tempfile.TemporaryDirectory() as directory:
    sys.exit(not all([large(directory), events(directory), speedscope(directory)]))
