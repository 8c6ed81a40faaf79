# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a database while it is open: what is written into it is refused, not answered from; one that is removed or replaced is told once, and opened again
it is the new one. Statements come from standard input, after the database has been mapped.
"""
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["TOP"], "tests/e2e"))
from lib import HQ, PROGRAMS, TMP, check, finish, record, run  # noqa: E402

record("kept.hq", PROGRAMS + "/split", "0.3")
record("other.hq", PROGRAMS + "/split", "0.1")
for name in ("kept", "other"):
    status, _, err = run(HQ, name + ".hq", "info")
    check(status == 0, f"{name}: {err}")
ALL = "rm -r a.hq/measurements && cp -pr b.hq/measurements a.hq/"
WRITTEN = ": somebody has written into it since it was opened; `open a.hq` opens it again"


def session(does, *statements):
    for name in ("a", "b"):
        shutil.rmtree(f"{TMP}/{name}.hq", ignore_errors=True)
    shutil.copytree(f"{TMP}/kept.hq", f"{TMP}/a.hq", copy_function=shutil.copy2)
    shutil.copytree(f"{TMP}/other.hq", f"{TMP}/b.hq", copy_function=shutil.copy2)
    hq = subprocess.Popen([HQ, "a.hq"], cwd=TMP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    while hq.poll() is None and f"{TMP}/a.hq/hq.db" not in open(f"/proc/{hq.pid}/maps").read():
        time.sleep(0.01)
    subprocess.run(["sh", "-c", does], cwd=TMP, check=True)
    out, err = hq.communicate("\n".join(statements) + "\n")
    return hq.returncode, out, err


for does in ("dd if=/dev/urandom of=a.hq/hq.db bs=4096 count=1 conv=notrunc 2>/dev/null", "cat b.hq/hq.db >a.hq/hq.db", "truncate -s 1000000 a.hq/hq.db",
             "truncate -s 100 a.hq/hq.db"):
    for query in ("procedures", "info", "procedures compare with b.hq", "tree"):
        status, out, err = session(does, query)
        check(status == 3 and WRITTEN in err and not out, f"{does}, {query}: {status} {err} {out}")
status, out, err = session("cat kept.hq/hq.db >b.hq/hq.db", "procedures", "open b.hq", "procedures")
check(status == 0 and "somebody" not in err, f"another one was written before it was opened: {status} {err}")
status, out, err = session(f"{ALL} && cat b.hq/hq.db >a.hq/hq.db", "open a.hq", "procedures")
same = run(HQ, "b.hq", "procedures")
check(status == 0 and out == same[1], f"written and opened again: {status} {err} {out} {same[1]}")

whole = run(HQ, "kept.hq", "procedures")[1]
for does, told in (("rm a.hq/hq.db", "has been removed since it was opened"), ("rm -r a.hq", "has been removed since it was opened"),
                   ("cp b.hq/hq.db new && mv new a.hq/hq.db", "is another file now")):
    status, out, err = session(does, "procedures", "procedures")
    check(status == 0 and out.split() == whole.split() * 2 and err.count(told) == 1, f"{does}: {status} {err} {out}")
status, out, err = session(f"{ALL} && cp -p b.hq/hq.db new && mv new a.hq/hq.db", "open a.hq", "procedures", "tree compare with b.hq")
check(status == 0 and out.startswith(same[1]) and "is another file now" not in err, f"replaced and opened again: {status} {err} {out}")
status, out, err = session("touch -r a.hq a.hq", "procedures")
check(status == 0 and "since it was opened" not in err, f"the directory was looked at: {status} {err}")
finish()
