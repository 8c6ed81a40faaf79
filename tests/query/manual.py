#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every example of doc/*.md (the blocks marked hq) on a fixture: none may be refused, whatever it answers."""
import glob, json, os, re, shutil, subprocess, sys, tempfile

from counting import seconds

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HQ = os.environ.get("HQ", os.path.join(TOP, "hq"))
FIXTURE = os.path.join(TOP, "build/tools/fixture")
HERE = os.path.join(TOP, "tests/query")

# What the examples name and app.fixture does not have.
EXTRA = """
file smooth.c app /opt/app/src/smooth.c
proc step smooth.c step 1
proc init smooth.c init 50
proc regex smooth.c "std::regex::match()" 60
value r0 CPUTIME 40 4 main:15 > step:3
value r0 CPUTIME 40 4 main:16 > init:51
value r0 CPUTIME 40 4 main:17 > regex:61
source /opt/app/src/smooth.c "void step(void)\\n{\\n}\\n"
"""


def databases(directory):
    text = open(f"{HERE}/app.fixture").read().replace("metric CPUTIME seconds 0.001 10 sampled", "metric CPUTIME seconds 0.001 10 sampled traced")
    extra = open(f"{HERE}/examples.extra").read() + EXTRA
    # Forty visits to step, so that `iteration 37 of step` is one, and a trace of some length.
    for i in range(200):
        extra += f"trace r0 {600000 + 1000 * i} CPUTIME 1 main:{'15 > step:3' if i % 5 < 2 else '11'}\n"
    extra += "trace r3 100000 CPUTIME 1 main:12 > axpy:4\ntrace r3 900000 CPUTIME 1 main:11\n"
    with open(f"{directory}/manual.fixture", "w") as f:
        f.write(text + extra)
    os.makedirs(f"{directory}/here")
    os.makedirs(f"{directory}/before")
    with open(f"{directory}/here/solver.groups", "w") as f:
        f.write("group outer = main\n")
    subprocess.run([FIXTURE, f"{directory}/manual.fixture", f"{directory}/here/my.hq"], check=True)
    for copy in ("here/old.hq", "here/half.hq", "before/run.hq", "here/run.hq", "here/main.hq"):
        shutil.copytree(f"{directory}/here/my.hq", f"{directory}/{copy}")


def blank_functions(place):
    """Functions that are in the tables and give nothing: nobody has said how they are computed."""
    text = subprocess.run([HQ, "help", "functions"], capture_output=True, text=True, check=True).stdout
    calls = re.findall(r"^  (\w+)\(([^)]*)\)", text, re.M)
    arguments = {"x": "cputime / 1s", "c, a, b": "1 > 0, cputime, cputime", "a, b, ...": "cputime, cputime"}
    assert len(calls) > 10, text
    for name, usage in calls:
        query = f"procedures limit 1 columns v = {name}({arguments.get(usage, usage)}) as json"
        done = subprocess.run([HQ, "my.hq", query], cwd=place, capture_output=True, text=True, timeout=seconds(60))
        value = json.loads(done.stdout)["rows"][0]["values"][0] if done.returncode == 0 else None
        if value is None:
            yield f"{query} gives nothing: {done.stderr}"


def main():
    passed, wrong = 0, []
    with tempfile.TemporaryDirectory(prefix="hq-manual.") as directory:
        databases(directory)
        row = subprocess.run([HQ, "my.hq", "tree as json"], cwd=f"{directory}/here", capture_output=True, text=True)
        wrong += blank_functions(f"{directory}/here")
        passed += not wrong
        some_id = re.search(r'"id":"(\w{6})', row.stdout)
        for page in sorted(glob.glob(f"{TOP}/doc/*.md")):
            for block in re.findall(r"```hq\n(.*?)```", open(page).read(), re.S):
                text = block.replace("@k3f9x2", "@" + some_id.group(1) if some_id else "@k3f9x2")
                with open(f"{directory}/here/block.hq", "w") as f:
                    f.write(text)
                done = subprocess.run([HQ, "my.hq", "-f", "block.hq"], cwd=f"{directory}/here", capture_output=True, text=True, timeout=seconds(60))
                if done.returncode in (0, 1, 4):
                    passed += 1
                else:
                    wrong.append(f"{os.path.basename(page)}: status {done.returncode}: {done.stderr}\n{block}")
    for line in wrong:
        print(line)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
