# SPDX-License-Identifier: BSD-3-Clause
"""What stands above main, and above the start routine of a thread, is left out."""
import os
import subprocess
import sys

sys.path.insert(0, "tests/db")
from lib import CONTEXTS, SCOPES, Database  # noqa: E402
from counting import check, finish

HQ, tmp, programs = os.environ["HQ"], os.environ["HQ_TEST_TMP"], os.environ["PROGRAMS"]
ROOT, THREAD, PROCEDURE = 0, 1, 2


def parents(program, name):
    """Kind and name of what the rows of a procedure hang below, each once."""
    database = f"{tmp}/{program}.hq"
    subprocess.run([HQ, "record", "-o", database, "--", f"{programs}/{program}"], check=True, capture_output=True)
    subprocess.run([HQ, "build", database], check=True, capture_output=True)
    db = Database(database + "/hq.db")
    scopes, contexts = db.records(SCOPES), db.records(CONTEXTS)
    found = [c for c in contexts if scopes[c[1]][0] == PROCEDURE and db.text(scopes[c[1]][2]) == name]
    return {(scopes[contexts[c[2]][1]][0], db.text(scopes[contexts[c[2]][1]][2])) for c in found}


check(parents("split", "main") == {(ROOT, "")}, "main stands at the top")
work = parents("threads", "work")
check(bool(work), "there is work")
check(all(kind == THREAD and name.startswith("thread created by ") for kind, name in work), f"work hangs below threads, not {work}")
finish()
