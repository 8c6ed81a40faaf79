# SPDX-License-Identifier: BSD-3-Clause
# timeout: 21600
"""How often a race and a baseline call a program slower that is not, and find one that is, on this machine.

Records a pool of runs once: HQ_ROUNDS (150) rounds, each of which runs every program in a random order, the unchanged ones twice, under a load
that changes (HQ_LOAD=none: what others run is the load). Then build/tools/gate_draws draws pairs of sets of consecutive rounds from it,
so that drift stays in them, and lets hq's own code judge each. HQ_SET (first, second, short, hours, elsewhere, anew; tests/gate_programs.py) says which programs. HQ_PROGRAMS='cxx40.* cxx40+10' is for these programs alone, without the simulation. HQ_POOL names a directory for the runs, which is gone on with if it is there;
without it they go with the test."""

import fnmatch
import os
import random
import shutil
import subprocess
import sys
import time

import gate_programs

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))
ROUNDS = int(os.environ.get("HQ_ROUNDS", "150"))
POOL = os.environ.get("HQ_POOL", f"{TMP}/pool")
LIST = f"{POOL}/pool.txt"

WANTED = os.environ.get("HQ_PROGRAMS", "*").split()
FAMILIES = [chosen for family in gate_programs.SETS[os.environ.get("HQ_SET", "first")]()
            if (chosen := {name: c for name, c in family.items() if any(fnmatch.fnmatch(name, w) for w in WANTED)})]


def record(name, number, command):
    """One run, as `hq race` makes it; its database is kept and its measurements are not."""
    path = f"{POOL}/{name}.{number}.hq"
    start = time.monotonic()
    done = subprocess.run([HQ, "record", "--force", "-e", "CPUTIME@1000/s", "-o", path, "--", *command], cwd=TMP, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    took = time.monotonic() - start
    if done.returncode:
        sys.exit(f"recording {name}: {done.stderr}")
    subprocess.run([HQ, path, "procedures limit 1", "--quiet"], capture_output=True, check=True)
    for entry in os.listdir(path):
        if entry != "hq.db":
            shutil.rmtree(f"{path}/{entry}") if os.path.isdir(f"{path}/{entry}") else os.unlink(f"{path}/{entry}")
    return f"{name} {number} {took:.3f} {os.path.basename(path)}\n"


class Load:
    """Busy processes that come and go: a walk between none and one more than there are processors."""

    def __init__(self, on):
        self.on, self.busy = on, []

    def change(self):
        if not self.on:
            return
        want = max(0, min((os.cpu_count() or 2) + 1, len(self.busy) + random.choice((-2, -1, 0, 1, 2))))
        while len(self.busy) > want:
            one = self.busy.pop()
            one.kill()
            one.wait()
        while len(self.busy) < want:
            self.busy.append(subprocess.Popen(["sh", "-c", "while :; do :; done"]))

    def end(self):
        self.on = True
        while self.busy:
            one = self.busy.pop()
            one.kill()
            one.wait()


def record_pool():
    os.makedirs(POOL, exist_ok=True)
    gate_programs.prepare()
    done = max((int(line.split()[1]) for line in open(LIST)), default=-1) + 1 if os.path.exists(LIST) else 0
    load = Load(os.environ.get("HQ_LOAD") != "none")
    try:
        for number in range(done, ROUNDS):
            lines = []
            for family in random.sample(FAMILIES, len(FAMILIES)):
                load.change()
                lines += [record(name, number, family[name]) for name in random.sample(sorted(family), len(family))]
            with open(LIST, "a") as f:
                f.writelines(lines)
    finally:
        load.end()


failed = 0
tools = [["gate_simulate", "10000"]] * ("HQ_PROGRAMS" not in os.environ) + [["gate_draws", LIST, os.environ.get("HQ_DRAWS", "1000")]]
for words in tools:
    if words[0] == "gate_draws":
        record_pool()
    failed += subprocess.run([f"{TOP}/{BUILD}/tools/{words[0]}", *words[1:]]).returncode != 0
    print(flush=True)
print(f"{len(tools) - failed} passed, {failed} failed")
sys.exit(failed != 0)
