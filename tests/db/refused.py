# SPDX-License-Identifier: BSD-3-Clause
"""Files and directories that are there and cannot be opened, read or removed: none of them counts as one that is not there. The kernel's refusals
are strace's, for one path each.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "tests")
from counting import check, finish

HQ, tmp, programs = os.path.realpath(os.environ["HQ"]), os.path.realpath(os.environ["HQ_TEST_TMP"]), os.environ["PROGRAMS"]
if not shutil.which("strace") or subprocess.run(["strace", "-o/dev/null", "true"], capture_output=True).returncode:
    print("skipped: there is no strace\n0 passed, 0 failed, 1 skipped")
    sys.exit()
os.chdir(tmp)


def run(*command, refuse=None):
    """refuse: (system call, error, path)"""
    trace = ["strace", "-f", "-o/dev/null", "-P", refuse[2], "-e", f"inject={refuse[0]}:error={refuse[1]}"] if refuse else []
    done = subprocess.run([*trace, *command], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, "".join(line for line in done.stderr.splitlines(True) if not line.startswith("strace: "))


def fresh(database, *more):
    for path in (f"{database}/hq.db", *more):
        if os.path.exists(path):
            os.remove(path)
    shutil.rmtree("cache", ignore_errors=True)


os.environ["XDG_CACHE_HOME"] = f"{tmp}/cache"
with open("work.c", "w") as source:
    source.write("static double s;\nint main(void)\n{\n    for (long i = 0; i < 30000000; i++)\n        s += i * 1.5;\n    return 0;\n}\n")
subprocess.run(["gcc", "-O1", "-g", "-gsplit-dwarf", "-o", "work", "work.c"], check=True)
A, JIT = f"{tmp}/a.hq", f"{tmp}/jit.hq"
MEASUREMENTS = f"{A}/measurements"
run(HQ, "record", "-o", A, "--", "sh", "-c", "./work; exit 0")
with open(f"{MEASUREMENTS}/host.unmeasured", "w") as noted:
    noted.write("/bin/fixed\tstatically linked\n")

# ---- lists beside the measurements ----
fresh(A)
status, out, err = run(HQ, A, "info")
check(status == 0 and "/bin/fixed" in out and "1 from the source" in out, f"nothing is refused: {status} {out} {err}")
for call, error, path, told in (("openat", "EACCES", f"{MEASUREMENTS}/host.unmeasured", "host.unmeasured: cannot be opened: Permission denied"),
                                ("read", "EIO", f"{MEASUREMENTS}/host.unmeasured", "host.unmeasured: cannot be read: Input/output error")):
    fresh(A)
    status, out, err = run(HQ, A, "info", refuse=(call, error, path))
    check(status == 0 and told in err and told in out, f"{call} of {path}: {status} {out} {err}")
with open(f"{MEASUREMENTS}/elsewhere-host-x", "w") as mark:
    mark.write("host\n/nowhere/hq-measurements-x\n")
fresh(A)
status, _, err = run(HQ, A, "info", refuse=("openat", "EIO", mark.name))
check(status == 0 and "elsewhere-host-x: cannot be opened: Input/output error" in err, f"a mark that cannot be read: {status} {err}")
os.remove(mark.name)
for call, error in (("openat", "EMFILE"), ("openat", "EACCES"), ("getdents64", "EIO")):
    fresh(A)
    status, out, err = run(HQ, A, "procedures", refuse=(call, error, MEASUREMENTS))
    check(status == 3 and err and not out, f"{call} of the measurements: {status} {out} {err}")

# ---- sources and split debug information ----
for error in ("EACCES", "EMFILE"):
    fresh(A)
    status, out, err = run(HQ, A, "info", refuse=("openat", error, f"{tmp}/work.c"))
    check(status == 0 and "source not read" in out and "no loop statement" not in out, f"a source, {error}: {status} {out} {err}")
fresh(A)
shutil.rmtree("cache", ignore_errors=True)
run(HQ, A, "info", refuse=("openat", "EMFILE", f"{tmp}/work.c"))
os.remove(f"{A}/hq.db")
check("1 from the source" in run(HQ, A, "info")[1], "a source that could not be opened once is not kept as one without loops")
dwo = glob.glob("*.dwo")[0]
shutil.rmtree("cache", ignore_errors=True)
status, out, err = run(HQ, "structure", f"{tmp}/work", refuse=("openat", "EACCES", f"{tmp}/{dwo}"))
check(f"{dwo}: cannot be read: Permission denied" in err and "missing" not in err, f"a .dwo: {status} {err}")
shutil.copy(dwo, "work.dwp")
status, out, err = run(HQ, "structure", f"{tmp}/work", refuse=("openat", "EACCES", f"{tmp}/work.dwp"))
check(not err, f"a package beside what it is of: {status} {err}")
os.remove(dwo)
status, out, err = run(HQ, "structure", f"{tmp}/work", refuse=("openat", "EACCES", f"{tmp}/work.dwp"))
check("work.dwp: cannot be read: Permission denied" in err, f"a package: {status} {err}")
os.remove("work.dwp")

# ---- names of code that was made at run time ----
run(HQ, "record", "-o", JIT, "--", f"{programs}/jit", "names")
kept = glob.glob(f"{JIT}/measurements/*.map")
pid = re.search(r"-(\d+)-\d+\.map$", kept[0])[1]
for error, want, told in (("EACCES", 0, f"/tmp/perf-{pid}.map: cannot be opened: Permission denied"), ("EMFILE", 3, "no more files can be opened")):
    fresh(JIT, *kept)
    status, out, err = run(HQ, JIT, "procedures", refuse=("openat", error, f"/tmp/perf-{pid}.map"))
    check(status == want and told in err, f"a map, {error}: {status} {err}")
fresh(JIT, *kept)
check("outer" in run(HQ, JIT, "procedures")[1], "the map is read when it can be")
status, out, err = run(HQ, "build", "--force", JIT, refuse=("openat", "EIO", kept[0]))
check(f"{os.path.basename(kept[0])}: cannot be opened: Input/output error" in err, f"the kept map: {status} {err}")
for path in glob.glob(f"/tmp/perf-{pid}.map*"):
    os.remove(path)

# ---- a recording that is to be replaced ----
total = run(HQ, A, "procedures limit 1 as csv")[1]
for call, error, path in (("unlink", "EPERM", glob.glob(f"{MEASUREMENTS}/*.hqm")[0]), ("unlink", "EACCES", f"{A}/hq.db"),
                          ("getdents64", "EIO", MEASUREMENTS), ("openat", "EACCES", f"{MEASUREMENTS}/running")):
    shutil.copytree(A, "kept.hq", copy_function=shutil.copy2)
    status, out, err = run(HQ, "record", "--force", "-o", A, "--", "touch", f"{tmp}/ran", refuse=(call, error, path))
    check(status == 3 and err.count("\n") == 1 and os.path.basename(path) in err and not os.path.exists("ran"),
          f"{call} of {path}, {error}: {status} {err}")
    check(os.path.exists(f"{A}/hq.db"), f"{call} of {path}: the database is gone")
    shutil.rmtree(A)
    os.rename("kept.hq", A)
status, _, err = run(HQ, "record", "-o", A, "--", "touch", f"{tmp}/ran", refuse=("getdents64", "EIO", MEASUREMENTS))
check(status in (2, 3) and not os.path.exists("ran"), f"without --force: {status} {err}")
check(run(HQ, A, "procedures limit 1 as csv")[1] == total, "what was recorded is as it was")

# ---- saved queries and histories ----
os.mkdir("queries")
status, _, err = run(HQ, A, "-q", "imbalance", refuse=("openat", "EACCES", "queries"))
check(status == 2 and "queries: its queries cannot be listed: Permission denied" in err, f"saved queries: {status} {err}")
finish()
