#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# The questions that `summary` suggests can be asked, each once, and have an answer: of every fixture.
import glob, json, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from counting import seconds
from reference import FIXTURE, HQ

HERE, failed, passed = os.path.dirname(os.path.abspath(__file__)), 0, 0


def check(holds, what):
    global failed, passed
    failed, passed = failed + (not holds), passed + bool(holds)
    if not holds:
        print("failed:", what)


def rows_of(db, question):
    done = subprocess.run([HQ, "--quiet", db, question + " as json"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=seconds(60))
    check(done.returncode == 0, f"{db}: {question}: {done.returncode}, {done.stderr}")
    return json.loads(done.stdout)["rows"] if done.returncode == 0 else []


with tempfile.TemporaryDirectory() as tmp:
    asked = set()
    for fixture in sorted(glob.glob(f"{HERE}/*.fixture")):
        db = f"{tmp}/{os.path.basename(fixture)[:-len('.fixture')]}.hq"
        subprocess.run([FIXTURE, fixture, db], check=True)
        told = [(r["name"], *r["values"]) for r in rows_of(db, "summary")]
        questions = [text for name, text, _ in told if name == "ask next"]
        check(told and len(set(told)) == len(told), f"{db}: a row stands twice: {told}")
        for question in questions:
            check(rows_of(db, question), f"{db}: {question} has no row")
        asked.update(questions)
    check(len(asked) >= 12, f"all that is ever suggested is asked: {sorted(asked)}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
