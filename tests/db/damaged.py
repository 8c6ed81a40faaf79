# SPDX-License-Identifier: BSD-3-Clause
"""Recordings with damaged measurement files: the build takes what can be read or says in one sentence what is wrong; the database it makes is
whole. MUTANTS (40) and SEED (1) in the environment.
"""
import os
import random
import shutil
import struct
import subprocess

from counting import check, finish, seconds

HQ, tmp, programs = os.environ["HQ"], os.environ["HQ_TEST_TMP"], os.environ["PROGRAMS"]
rng = random.Random(int(os.environ.get("SEED", "1")))


def damage(data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 12)):
        # Most pages are empty: changes fall on the headers and the first records of segments.
        at = rng.randrange(len(data) // 4096) * 4096 + rng.randrange(rng.choice((64, 200, 4096)))
        kind = rng.randrange(3)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            at &= ~3
            data[at:at + 4] = rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x10000)).to_bytes(4, "little")
        else:
            source = rng.randrange(len(data) - 64)
            data[at:at + 32] = data[source:source + min(32, len(data) - at)]
    return data if rng.randrange(6) else data[:rng.randrange(len(data))]


subprocess.run([HQ, "record", "-o", f"{tmp}/whole", "--", f"{programs}/threads"], check=True, capture_output=True)
name = [n for n in os.listdir(f"{tmp}/whole/measurements") if n.endswith(".hqm")][0]
with open(f"{tmp}/whole/measurements/{name}", "rb") as file:
    original = file.read()
os.makedirs(f"{tmp}/damaged/measurements")
for i in range(int(os.environ.get("MUTANTS", "40"))):
    with open(f"{tmp}/damaged/measurements/{name}", "wb") as file:
        file.write(damage(original))
    built = subprocess.run([HQ, "build", "--force", f"{tmp}/damaged"], capture_output=True, text=True, errors="replace", timeout=seconds(60))
    check(built.returncode in (0, 3), f"mutant {i}: status {built.returncode}: {built.stderr[:2000]}")
    if built.returncode == 3:
        check(built.stderr.splitlines()[-1].startswith("hq build: "), f"mutant {i}: {built.stderr}")
    elif built.returncode == 0:
        verified = subprocess.run([HQ, "verify", f"{tmp}/damaged"], capture_output=True, text=True, timeout=seconds(60))
        check(verified.returncode == 0 or " is whole, but the measurements that it was made of are damaged" in verified.stderr,
              f"mutant {i}: {verified.stderr}")
        asked = subprocess.run([HQ, f"{tmp}/damaged", "tree"], capture_output=True, text=True, errors="replace", timeout=seconds(60))
        check(asked.returncode == verified.returncode, f"mutant {i}: {asked.stderr[:2000]}")

# More samples than the code of a value holds, in the first cell that is in use: told, and not kept as fewer than the total has.
CELLS, SEGMENT_MAGIC, SEGMENT, COUNT_IN_CELL = 7, 0x4753514D, 64, 24
cells = next(at for at in range(4096, len(original), 4096)
             if struct.unpack_from("<IH", original, at) == (SEGMENT_MAGIC, CELLS) and struct.unpack_from("<I", original, at + 28)[0])
for count, held in (((1 << 62) - 1000000, True), (1 << 62, False), ((1 << 63) - 1000000, False)):
    many = bytearray(original)
    struct.pack_into("<Q", many, cells + SEGMENT + COUNT_IN_CELL, count)
    with open(f"{tmp}/damaged/measurements/{name}", "wb") as file:
        file.write(many)
    built = subprocess.run([HQ, "build", "--force", f"{tmp}/damaged"], capture_output=True, text=True, timeout=seconds(60))
    if held:
        verified = subprocess.run([HQ, "verify", f"{tmp}/damaged"], capture_output=True, text=True, timeout=seconds(60))
        check(built.returncode == 0 and verified.returncode in (0, 3) and "does not add up" not in verified.stderr, f"{count} samples: {built.stderr} {verified.stderr}")
    else:
        check(built.returncode == 3 and "add up to more than 2^6" in built.stderr, f"{count} samples: {built.returncode} {built.stderr}")

# Pipes that nobody writes to, in the place of files: nobody waits for them.
for place in (name, "vm-1-0.hqm", "launch", "running", "unmeasured", "patches.map", "elsewhere-vm-x", "clocks.txt"):
    shutil.rmtree(f"{tmp}/pipes", ignore_errors=True)
    shutil.copytree(f"{tmp}/whole/measurements", f"{tmp}/pipes/measurements")
    if os.path.exists(f"{tmp}/pipes/measurements/{place}"):
        os.remove(f"{tmp}/pipes/measurements/{place}")
    os.mkfifo(f"{tmp}/pipes/measurements/{place}")
    for words in (["build", "--force", f"{tmp}/pipes"], [f"{tmp}/pipes", "info"]):
        try:
            done = subprocess.run([HQ, *words], capture_output=True, text=True, timeout=seconds(60))
            check(done.returncode in (0, 3), f"{place} is a pipe: {words[0]}: {done.returncode} {done.stderr}")
        except subprocess.TimeoutExpired:
            check(False, f"{place} is a pipe: {words[0]} waits for it")
with open(f"{tmp}/piped.c", "w") as file:
    file.write("int main(void) { volatile unsigned x = 0; while (x < 300000000) x++; return 0; }\n")
subprocess.run(["gcc", "-g", "-o", f"{tmp}/piped", f"{tmp}/piped.c"], check=True)
subprocess.run([HQ, "record", "-o", f"{tmp}/piped.hq", f"{tmp}/piped"], check=True, capture_output=True)
os.remove(f"{tmp}/piped.c")
os.mkfifo(f"{tmp}/piped.c")
try:
    done = subprocess.run([HQ, f"{tmp}/piped.hq", "source of main"], capture_output=True, text=True, timeout=seconds(60))
    check(done.returncode == 0 and "piped.c" in done.stderr, f"a source that is a pipe: {done.returncode} {done.stdout} {done.stderr}")
except subprocess.TimeoutExpired:
    check(False, "source of main waits for a pipe")
finish()
