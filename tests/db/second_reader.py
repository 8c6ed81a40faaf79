# SPDX-License-Identifier: BSD-3-Clause
"""The reader in lib.py and the one of hq agree on every value of several databases."""
import os
import subprocess
import sys

sys.path.insert(0, "tests/db")
from lib import Database  # noqa: E402

tmp, build, top = os.environ["HQ_TEST_TMP"], os.environ["BUILD"], os.environ["TOP"]
failed = passed = 0


def check(name, database):
    global failed, passed
    theirs = subprocess.run([f"{build}/tools/dump", database], check=True, capture_output=True).stdout
    ours = "".join(line + "\n" for line in Database(database + "/hq.db").dump()).encode("utf-8", "surrogateescape")
    values = ours.count(b"\nby frame ") if b"\nframe " in ours else ours.count(b"\nsum ")  # nothing was sampled: a sum of nothing
    if ours == theirs and values and subprocess.run([os.environ["HQ"], "verify", database]).returncode == 0:
        passed += 1
        return
    failed += 1
    for a, b in zip(ours.split(b"\n"), theirs.split(b"\n")):
        if a != b:
            print(f"{name}: this reader has\n  {a}\nand hq has\n  {b}")
            return
    print(f"{name}: {ours.count(10)} lines here, {theirs.count(10)} from hq")


for fixture in sorted(os.listdir("tests/query")):
    if fixture.endswith(".fixture"):
        database = f"{tmp}/{fixture}.hq"
        subprocess.run([f"{build}/tools/fixture", f"tests/query/{fixture}", database], check=True)
        check(fixture, database)

recorded = f"{tmp}/threads.hq"
subprocess.run([os.environ["HQ"], "record", "-o", recorded, "--", f"{top}/build/programs/threads"], check=True, capture_output=True)
subprocess.run([os.environ["HQ"], "build", recorded], check=True, capture_output=True)
check("a recording", recorded)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
