# SPDX-License-Identifier: BSD-3-Clause
"""What hq does not leave behind: temporary and lock files of commands that fail, run out of memory or were killed. And what it does not take for absent: files and
directories that are there and cannot be read.
"""
import os
import signal
import socket
import subprocess
import time

from counting import seconds
from lib import HQ, PROGRAMS, TMP, check, finish, record, run

SHIM = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* Directories whose names hold LOST_IN end with an error after two entries, files with LOST at their end can be neither looked at nor opened. */
static int is_lost_in(DIR *dir)
{
    char name[64], path[4096];
    const char *lost = getenv("LOST_IN");
    snprintf(name, sizeof name, "/proc/self/fd/%d", dirfd(dir));
    ssize_t n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return lost && strstr(path, lost);
}
struct dirent *readdir(DIR *dir)
{
    static DIR *last;
    static int count;
    struct dirent *(*real)(DIR *) = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
    count = dir == last ? count + 1 : 0;
    last = dir;
    if (count < 2 || !is_lost_in(dir))
        return real(dir);
    errno = EIO;
    return NULL;
}
static int is_lost(const char *path)
{
    const char *lost = getenv("LOST");
    size_t n = strlen(path), m = lost ? strlen(lost) : 0;
    errno = EIO;
    return m && n >= m && !strcmp(path + n - m, lost);
}
DIR *opendir(const char *path)
{
    DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    return is_lost(path) ? NULL : real(path);
}
int stat(const char *path, struct stat *st)
{
    int (*real)(const char *, struct stat *) = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
    return is_lost(path) ? -1 : real(path, st);
}
int __xstat(int version, const char *path, struct stat *st) /* of C libraries before 2.33 */
{
    int (*real)(int, const char *, struct stat *) = (int (*)(int, const char *, struct stat *))dlsym(RTLD_NEXT, "__xstat");
    return is_lost(path) ? -1 : real(version, path, st);
}
"""


def entries(directory="."):
    return sorted(os.listdir(f"{TMP}/{directory}"))


def left(where="."):
    return [n for n in entries(where) if ".tmp." in n or n.endswith(".lock")]


def sentence(err, *words):
    last = (err.strip().splitlines() or [""])[-1]
    return (last.startswith("hq") or err.startswith("hq")) and all(w in err for w in words)


# A build that comes to nothing: no lock, no directory.
with open(f"{TMP}/text", "w") as f:
    f.write("garbage\n")
before = entries()
for words in (["build", "text"], ["build", "-o", "new", "text"], ["build", "-o", "new.db", "text"], ["build", "-o", "new.db", "text", "text"]):
    status, out, err = run(HQ, *words)
    check(status == 3 and sentence(err, "not an hq measurement file"), f"{words}: status {status}: {err}")
    check(entries() == before, f"{words} leaves {sorted(set(entries()) - set(before))}")

record("r.hq", f"{PROGRAMS}/threads")
run(HQ, "r.hq", "summary")

# A page for which there is not enough memory.
ended = 0
for kibi in range(1000, 2600, 50):
    status, out, err = run("bash", "-c", f'ulimit -d {kibi}; exec "$0" report --force -o page.html r.hq', HQ)
    ended += status == 3
    check(status in (0, 3, 127) and not left(), f"report in {kibi} KiB: status {status}, leaves {left()[:3]}")
    check(status in (0, 127) or sentence(err, "memory"), f"report in {kibi} KiB says {err}")
check(ended > 0, "no limit of memory ended a report")

# A page for a pipe: its reader waits for hq, so hq waits for no writer.
os.mkfifo(f"{TMP}/pipe")
reader = subprocess.Popen(["cat", f"{TMP}/pipe"], stdout=subprocess.PIPE)
try:
    status, out, err = run(HQ, "report", "-o", "pipe", "r.hq", timeout=seconds(60))
    page = reader.communicate(timeout=seconds(60))[0]
    check(status == 0 and page.rstrip().endswith(b"</html>"), f"report to a pipe: status {status}, {len(page)} bytes, {err}")
except subprocess.TimeoutExpired:
    check(False, "a report to a pipe that is read does not end")
    reader.kill()
    reader.wait()

# What killed writers have left: of this host, of others after a day. What looks alike is not touched.
with open(f"{TMP}/q.hq", "w") as f:
    f.write("procedures sort by cputime.x limit 3;\n")
gone = subprocess.Popen(["true"])
gone.wait()
host = socket.gethostname().replace("/", "_")
now = time.time()
leftovers = {  # name: its age, and whether it is to go
    f"q.baseline.tmp.{gone.pid}.0.{host}": (120, True), f"q.baseline.tmp.{gone.pid}.1.{host}": (0, False), f"q.baseline.tmp.{os.getpid()}.0.{host}": (120, False),
    f"q.baseline.tmp.{gone.pid}.0.elsewhere": (120, False), "q.baseline.tmp.5.0.elsewhere": (90000, True), "q.baseline.tmp.old": (9000000, False),
    "q.baseline.tmp.1.0.": (120, False), "q.hq.tmp.5.0.elsewhere": (90000, False), f"page.html.tmp.{gone.pid}.0.{host}": (120, True),
    f"kept/a.json.tmp.{gone.pid}.0.{host}": (120, True), f"kept/a.json.tmp.{gone.pid}.1.{host}": (0, False), f"kept/a.tmp.{gone.pid}.0.{host}": (120, False)}
os.makedirs(f"{TMP}/kept")
for name, (age, _) in leftovers.items():
    with open(f"{TMP}/{name}", "w") as f:
        f.write("x")
    os.utime(f"{TMP}/{name}", (now - age, now - age))
status, out, err = run(HQ, "check", "--update", "r.hq", "q.hq")
check(status == 0, f"check --update: status {status}: {err}")
status, out, err = run(HQ, "report", "--force", "-o", "page.html", "r.hq")
status, out, err = run(HQ, "check", "--history=kept", "--commit=b", "r.hq", "q.hq")
check(status == 0, f"check --history: status {status}: {err}")
for name, (age, goes) in leftovers.items():
    check(os.path.exists(f"{TMP}/{name}") != goes, f"{name}, {age} s old, is {'still there' if goes else 'gone'}")
    if os.path.exists(f"{TMP}/{name}"):
        os.unlink(f"{TMP}/{name}")

# Files that are there and cannot be read, by a link to itself, which root cannot follow either.
os.symlink("loop", f"{TMP}/loop")
for link in ("q.baseline", "page.html"):
    if os.path.exists(f"{TMP}/{link}"):
        os.unlink(f"{TMP}/{link}")
    os.symlink(link, f"{TMP}/{link}")
for words in (["check", "--update", "r.hq", "q.hq"], ["check", "r.hq", "q.hq"], ["report", "-o", "page.html", "r.hq"], ["loop", "summary"], ["r.hq", "tree compare with loop"],
              ["check", "--history=loop", "--commit=a", "r.hq", "q.hq"], ["history", "loop"], ["record", "-o", "loop", "--", "true"], ["import", "-o", "x.db", "loop"],
              ["import", "-o", "loop", "text"], ["build", "loop"], ["race", "--old", "true", "--new", "true", "loop"], ["report", "--history", "loop", "-o", "other.html", "r.hq"]):
    status, out, err = run(HQ, *words, timeout=seconds(60))
    err = err or "\n".join(line.replace("# ", "hq: ") for line in out.splitlines()[-1:]) + out
    check(status in (2, 3) and sentence(err) and "there is no" not in err, f"{words}: status {status}: {err}")
check(all(os.path.islink(f"{TMP}/{n}") for n in ("loop", "q.baseline", "page.html")), "a link to itself was replaced")
check(not left(), f"there is {left()[:3]}")

# Directories that cannot be read to their end, and files that cannot be looked at.
with open(f"{TMP}/shim.c", "w") as f:
    f.write("#include <stdio.h>\n" + SHIM)
built = run("gcc", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl")
check(built[0] == 0, built[2])
shim = dict(os.environ, LD_PRELOAD=f"{TMP}/shim.so")
for words, lost in ((["build", "--force", "r.hq"], {"LOST_IN": "r.hq/measurements"}), (["r.hq", "summary"], {"LOST": "r.hq/measurements"}),
                    (["history", "h"], {"LOST_IN": "/h"}), (["history", "h"], {"LOST": "h"})):
    os.makedirs(f"{TMP}/h", exist_ok=True)
    for name in ("a", "b", "c"):
        run(HQ, "check", "--history=h", f"--commit={name}", "r.hq", "q.hq")
    status, out, err = run(HQ, *words, env=dict(shim, **lost))
    check(status == 3 and sentence(err, "Input/output error"), f"{words} with {lost}: status {status}: {out[-300:]}{err}")
finish()
