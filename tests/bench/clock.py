#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What samples CPUTIME, against `perf record -e cpu-clock` of the same runs (as root).

    tests/bench/clock.py [-n RUNS] [-c CLOCK] [NAME=COMMAND]...

Each run is measured by both at 1000/s. Samples are compared by the procedure that they are in, exclusively; of those in the
kernel it is the one that called it. A procedure is named by its address, in the same table of symbols for both. Left out is
what one of the two alone can see: hq's own code; the loader, most of whose work is before hq starts; and in hq
`[kernel, place unknown]`, the CPU time during which both clocks stand still; how much that is, is printed. For every
procedure above 1 % the mean of the paired differences shall be within three standard errors of zero, or 0.3 points. Without
commands: clock_rounds.c, LAMMPS (Debian's lammps) and LULESH ($LULESH: the program), the latter with
OMP_WAIT_POLICY=passive.
"""
import argparse, bisect, glob, os, shlex, shutil, struct, subprocess, sys, tempfile
from collections import Counter
from statistics import mean, stdev

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("-n", "--runs", type=int, default=20)
parser.add_argument("-c", "--clock", default="perf")
parser.add_argument("command", nargs="*", metavar="NAME=COMMAND")
options = parser.parse_args()
hq, build = os.path.realpath(os.environ.get("HQ", "./hq")), os.path.realpath(os.environ.get("BUILD", "build"))
room = tempfile.mkdtemp()
# Not that of hq: both clocks run on the same CPU time, and with equal periods one always or never fires a moment behind the other.
PERIOD = 997_003
UNKNOWN = "[kernel]"


class Measurement:
    """The parts of a measurement file that matter here (format/measurement.h)."""

    def __init__(self, path):
        data = open(path, "rb").read()
        self.pid, = struct.unpack_from("<I", data, 16)
        self.modules, nodes, cells, strings = {}, {}, [], {}
        at = 4096
        while at + 64 <= len(data):
            magic, kind, size, lane, first, length, _, count = struct.unpack_from("<IHHIIQII", data, at)
            if magic != 0x4753514D:
                at += 4096
                continue
            body = at + 64
            for i in range(count if kind != 1 else 0):
                record = body + i * size
                if kind == 4:
                    path_at, _, base, start, end = struct.unpack_from("<IIQQQ", data, record)
                    self.modules[first + i + 1] = (path_at, base, start, end)
                elif kind == 6:
                    nodes[lane, first + i] = struct.unpack_from("<IIQ", data, record)
                elif kind == 7:
                    node, _, event, _, total = struct.unpack_from("<IIIIQ", data, record)
                    cells.append((lane, node, event, total))
            if kind == 1:
                strings[first] = data[body:body + count]
            at += length
        text = b"".join(strings[k] for k in sorted(strings))
        for number, (path_at, base, start, end) in self.modules.items():
            self.modules[number] = (text[path_at:text.index(b"\0", path_at)].decode(), base, start, end)
        self.costs = Counter()
        for lane, node, event, total in cells:
            _, kind, offset = nodes[lane, node]
            if event == 0:
                self.costs[procedure(self.modules[kind & 0xFFFFFF][0], offset) if kind & 0xFFFFFF else UNKNOWN] += total


symbols = {}


def procedure(path, offset):
    """Code outside the sizes of all symbols, as inside a library that has those of its interface alone, is one row a file."""
    path = os.path.realpath(path) if path.startswith("/") else path
    if path not in symbols:
        table = {}
        for switch in ([], ["-D"]):
            done = subprocess.run(["nm", "-S", *switch, "--defined-only", path], capture_output=True, text=True)
            for line in done.stdout.splitlines():
                address, *size, kind, name = line.split(None, 3)
                if kind in "tTwWiI":
                    table.setdefault(int(address, 16), (int(size[0], 16) if size else 1 << 20, name.split("@")[0]))
        symbols[path] = sorted(table), table
    addresses, table = symbols[path]
    i = bisect.bisect_right(addresses, offset) - 1
    inside = i >= 0 and offset < addresses[i] + table[addresses[i]][0]
    return f"{table[addresses[i]][1] if inside else '?'} [{os.path.basename(path)}]"


def by_perf(data, pid):
    """The innermost address in user mode of every sample; perf prints it as an offset into the file."""
    costs = Counter()
    script = subprocess.run(["perf", "script", "-i", data, "-F", "pid,ip,dso", f"--pid={pid}"], capture_output=True, text=True)
    for block in script.stdout.split("\n\n"):
        for line in block.splitlines()[1:]: # behind the pid
            address, path = line.split(None, 1)
            if "libhqpreload" in path: # the measuring itself
                break
            if int(address, 16) < 1 << 63:
                costs[procedure(path.strip("()"), int(address, 16))] += 1
                break
    return costs


def run(command):
    # A new directory each: daemons that a run leaves behind (Open MPI's) still write to the one before.
    data, db = f"{room}/perf.data", tempfile.mkdtemp(dir=room) + "/run.hq"
    measured = [hq, "record", f"--clock={options.clock}", "-e", "CPUTIME@1000/s", "-o", db, "--", *shlex.split(command)]
    done = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-c", str(PERIOD), "-g", "-o", data, "--", *measured],
                          cwd=room, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    # The process that took most of the time.
    files = [Measurement(path) for path in glob.glob(f"{db}/measurements/*.hqm")]
    if not files:
        sys.exit(f"{command}: nothing was measured, status {done.returncode}: {done.stderr}")
    m = max(files, key=lambda file: file.costs.total())
    shutil.rmtree(os.path.dirname(db), ignore_errors=True)
    return m.costs, by_perf(data, m.pid)


def shares(costs):
    known = {name: cost for name, cost in costs.items() if name != UNKNOWN and "[ld-linux" not in name and "[libhqpreload" not in name}
    return {name: 100 * cost / sum(known.values()) for name, cost in known.items()}


def compare(name, command):
    runs = [run(command) for _ in range(options.runs)]
    for hq_costs, perf_costs in runs:
        print(f"{name} CPUTIME {hq_costs.total() / 1e9:.3f} s, {hq_costs[UNKNOWN] / 1e9:.3f} s of it {UNKNOWN}; perf {perf_costs.total() * PERIOD / 1e9:.3f} s")
    pairs, outside = [tuple(map(shares, costs)) for costs in runs], 0
    for procedure in sorted({p for pair in pairs for costs in pair for p in costs}, key=lambda p: -mean(b.get(p, 0) for _, b in pairs)):
        reference = mean(b.get(procedure, 0) for _, b in pairs)
        if max(reference, mean(a.get(procedure, 0) for a, _ in pairs)) < 1:
            continue
        differences = [a.get(procedure, 0) - b.get(procedure, 0) for a, b in pairs]
        error = stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("inf")
        holds = abs(mean(differences)) <= max(3 * error, 0.3)
        outside += not holds
        print(f"{name:8} {reference:6.2f} % perf {mean(differences):+6.2f} points, standard error {error:4.2f}  {'' if holds else 'OUTSIDE  '}{procedure[:80]}")
    print(f"{name}: {options.runs} runs, {outside} outside", flush=True)
    return outside


commands = [c.split("=", 1) for c in options.command]
if not commands:
    rounds = f"{room}/clock_rounds"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-g", "-o", rounds, os.path.join(os.path.dirname(__file__), "clock_rounds.c")], check=True)
    commands = [(kind, f"{rounds} {kind} 3") for kind in ("tick", "short", "long")]
    if os.environ.get("LULESH"):
        commands.append(("lulesh", f"env OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 {os.environ['LULESH']} -s 25 -i 150"))
    if shutil.which("lmp"):
        with open(f"{room}/melt", "w") as file:
            file.write("units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 12 0 12 0 12\ncreate_box 1 box\n"
                       "create_atoms 1 box\nmass 1 1.0\nvelocity all create 3.0 87287\npair_style lj/cut 2.5\n"
                       "pair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\nfix 1 all nve\nrun 400\n")
        commands.append(("lammps", f"env OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 lmp -in {room}/melt -log none"))
outside = sum(compare(name, command) for name, command in commands)
shutil.rmtree(room)
sys.exit(outside > 0)
