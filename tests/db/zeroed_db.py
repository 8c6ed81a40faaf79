# SPDX-License-Identifier: BSD-3-Clause
"""Pages of a database that are zeros: a question answers as before, or says that the database is damaged, with status 3. Never something else."""
import os
import shutil
import subprocess

from counting import check, finish, seconds

HQ, tmp, programs = os.environ["HQ"], os.environ["HQ_TEST_TMP"], os.environ["PROGRAMS"]
PAGE = 4096
QUESTIONS = ("procedures all; metrics", "tree all", "threads; trace width 20 height 4", "lines during 20%..60%", "info")


def run(*args):
    return subprocess.run([HQ, *args], capture_output=True, text=True, errors="replace", timeout=seconds(60))


subprocess.run([HQ, "record", "-e", "REALTIME@500/s", "-o", f"{tmp}/recorded", "--", f"{programs}/threads", "20", "2", "5000"], capture_output=True, timeout=seconds(60))
run(f"{tmp}/recorded", "info")
shutil.copy(f"{tmp}/recorded/hq.db", f"{tmp}/whole.db")
with open(f"{tmp}/whole.db", "rb") as file:
    original = file.read()
answers = {q: run(f"{tmp}/whole.db", q).stdout for q in QUESTIONS}
check(all(answers.values()), "the whole database answers")
told = 0
for at in range(0, len(original), PAGE):
    if not any(original[at:at + PAGE]):
        continue
    with open(f"{tmp}/zeroed.db", "wb") as file:
        file.write(original[:at] + bytes(min(PAGE, len(original) - at)) + original[at + PAGE:])
    for q in QUESTIONS:
        asked = run(f"{tmp}/zeroed.db", q)
        told += asked.returncode == 3
        same = asked.returncode == 0 and asked.stdout.replace("zeroed.db", "whole.db") == answers[q]
        check(asked.returncode == 3 or same, f"page at {at}, `{q}`: status {asked.returncode}: {asked.stderr[:300]}")
    check(run("verify", f"{tmp}/zeroed.db").returncode == 3, f"page at {at}: verify finds nothing")
check(told > 0, "no damage was ever told")
finish()
