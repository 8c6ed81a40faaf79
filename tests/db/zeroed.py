# SPDX-License-Identifier: BSD-3-Clause
"""Pages of a measurement file that are zeros, as after a power cut: whichever it is, hq says so, answers what is left, and the exit status tells.
Untouched files of every kind of end are not said to be damaged.
"""
import os
import random
import shutil
import signal
import subprocess

from counting import check, finish, seconds

HQ, tmp, programs = os.environ["HQ"], os.environ["HQ_TEST_TMP"], os.environ["PROGRAMS"]
PAGE = 4096
PAGES = int(os.environ.get("PAGES", "24"))


def run(*args):
    return subprocess.run([HQ, *args], capture_output=True, text=True, errors="replace", timeout=seconds(60))


def measurement(db):
    names = [n for n in os.listdir(f"{db}/measurements") if n.endswith(".hqm")]
    return f"{db}/measurements/{max(names, key=lambda n: os.path.getsize(f'{db}/measurements/{n}'))}"


whole = f"{tmp}/whole"
run("record", "-o", whole, "--", f"{programs}/threads")
with open(measurement(whole), "rb") as file:
    original = file.read()
used = [at for at in range(0, len(original), PAGE) if any(original[at:at + PAGE])]
# The first ones are those of the process; the others are alike.
chosen = used[:8] + random.Random(1).sample(used[8:], min(PAGES - 8, len(used) - 8))
unread = 0
for at in chosen:
    db = f"{tmp}/zeroed"
    shutil.rmtree(db, ignore_errors=True)
    shutil.copytree(whole, db, ignore=shutil.ignore_patterns("hq.db*"))
    with open(measurement(db), "r+b") as file:
        file.seek(at)
        file.write(bytes(PAGE))
    asked = run(db, "tree all")
    if asked.returncode == 0 and asked.stdout == run(whole, "tree all").stdout:
        unread += 1  # it held nothing that is not known otherwise
        continue
    for question in ("procedures; metrics", "trace width 20 height 4", "info"):
        asked = run(db, question)
        check(asked.returncode == 3, f"page at {at}, `{question}`: status {asked.returncode}: {asked.stderr}")
    built = run("build", "--force", db)
    names = f"byte {at} (" in built.stderr or (at == 0 and "its first page is zeros" in built.stderr)
    # Where the head of a lane's segment is gone, what it held is what is missed.
    check(names or "samples are there" in built.stderr, f"page at {at}: {built.stderr}")
    check(run("verify", db).returncode == 3, f"page at {at}: verify finds nothing")

check(unread <= len(chosen) / 6, f"{unread} of {len(chosen)} pages can be lost without a word")

# Nothing is said of files that are whole, also of programs that were killed at any time.
for i, delay in enumerate((0.05, 0.2, 0.4)):
    db = f"{tmp}/killed{i}"
    program = subprocess.Popen([HQ, "record", "-o", db, "--", f"{programs}/threads"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        program.wait(delay)
    except subprocess.TimeoutExpired:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    if os.path.isdir(f"{db}/measurements") and os.listdir(f"{db}/measurements"):
        asked = run(db, "procedures")
        check("damaged" not in asked.stderr and "zeros" not in asked.stderr, f"killed after {delay} s: {asked.stderr}")
asked = run(whole, "procedures")
check(asked.returncode == 0 and "damaged" not in asked.stderr, f"whole: {asked.stderr}")
finish()
