# SPDX-License-Identifier: BSD-3-Clause
"""`git bisect run` with the line of doc/checks.md: in a repository of sixteen commits of a small C program, one of which makes a procedure slower
and two of which do not build, it names the commit. Too short a run is skipped, too. `solve` has half of the time before and six sevenths after, the
limit is 68 %: with 200 samples each is five standard deviations away, and an inconclusive check, at 3.2 of them, one in a thousand."""

import re
import shutil

from lib import *

REPOSITORY, SLOW, BROKEN, COMMITS = f"{TMP}/app", 9, (4, 11), 16
TOP = os.environ["TOP"]
env = dict(os.environ, PATH=os.path.dirname(HQ) + ":" + os.environ["PATH"], GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null",
           **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "t"), ("EMAIL", "t@t"))})

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define FACTOR %d
static volatile unsigned long steps;
__attribute__((noinline)) void work(long n) { unsigned x = 1; for (long i = 0; i < n; i++) x = x * 1103515245 + 12345; steps += x; }
__attribute__((noinline)) void prepare(long n) { work(n); steps++; }
__attribute__((noinline)) void solve(long n) { work(FACTOR * n); steps++; }
int main(int argc, char **argv)
{
    enum { TRIAL = 20000000 };
    double seconds = argc > 1 ? atof(argv[1]) : 1, start = (double)clock();
    work(TRIAL);
    /* No system call from here on: processors are taken away at them, which bends the shares. */
    for (double left = TRIAL / ((double)clock() - start) * CLOCKS_PER_SEC * seconds; left > 0;) {
        long n = 200000 + rand() %% 800000;
        prepare(n);
        solve(n);
        left -= (1 + FACTOR) * (double)n;
    }
    return 0; /* version %d */
}
"""


def git(*args, want=0):
    status, out, err = run("git", *args, cwd=REPOSITORY, env=env)
    check(status == want, f"git {' '.join(args)}: {status}: {out}{err}")
    return out


def write(name, text):
    os.makedirs(os.path.dirname(f"{REPOSITORY}/{name}"), exist_ok=True)
    with open(f"{REPOSITORY}/{name}", "w") as f:
        f.write(text)


os.makedirs(REPOSITORY)
git("init", "-q", "-b", "main")
write(".gitignore", "app\n*.hq\n!perf/*.hq\n")
write("Makefile", "app: app.c\n\tgcc -O1 -g -o app app.c\n")
write("perf/limits.hq", "procedures of solve expect cputime < 68%\n")
for n in range(1, COMMITS + 1):
    write("app.c", (PROGRAM % (6 if n >= SLOW else 1, n)) + ("this does not compile\n" if n in BROKEN else ""))
    git("add", "-A")
    git("commit", "-q", "-m", f"commit {n}")

doc = open(f"{TOP}/doc/checks.md").read()
line = re.search(r"git bisect run sh -c '(.*)'", doc).group(1).replace("/tmp/perf", f"{TMP}/perf")
check("cp -r perf /tmp/perf" in doc, "the page says where the copy comes from")
shutil.copytree(f"{REPOSITORY}/perf", f"{TMP}/perf")
git("bisect", "start", "HEAD", "HEAD~15")
out = git("bisect", "run", "sh", "-c", line)
check(f"is the first bad commit" in out and re.search(rf"first bad commit\n(?:.*\n)*? +commit {SLOW}\n", out), f"the slow commit is found:\n{out[-1500:]}")
git("bisect", "reset")

# A commit that does not build, and one that runs too shortly
for what, commit, command in (("that does not build", BROKEN[1], line), ("run too shortly", SLOW, line.replace("-- ./app", "-- true"))):
    git("checkout", "-q", f"HEAD~{COMMITS - commit}" if commit != COMMITS else "HEAD")
    status, out, err = run("sh", "-c", command, cwd=REPOSITORY, env=env)
    check(status == 125, f"a commit {what} is skipped: {status}\n{out}{err}")
    git("checkout", "-q", "main")
finish()
