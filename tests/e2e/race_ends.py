# SPDX-License-Identifier: BSD-3-Clause
"""How a race and a set of runs end when a program does not: it hangs, it fails in the middle, or the race is interrupted. What was measured stays, the
exit status says what happened, and nothing is left running. `step N WHAT` does WHAT in its Nth run; the signals come from it, so nothing here waits for
a time."""

import os
import signal
import subprocess
import time

from lib import *

SOURCE = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int parent_of(int pid)
{
    char path[64], text[512], *end;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
    end = strrchr(text, ')');
    return end ? atoi(end + 4) : 0;
}
static void polite(int s) { (void)s; _exit(0); }
int main(int c, char **v)
{
    FILE *f = fopen("count", "a+");
    fputc('.', f);
    fseek(f, 0, SEEK_END);
    long runs = ftell(f);
    fclose(f);
    volatile double x = 0;
    for (long i = 0; i < 3000000; i++)
        x += i;
    if (c < 3 || runs != atol(v[1]))
        return 0;
    f = fopen("pid", "a");
    fprintf(f, "%d\n", getpid());
    fclose(f);
    if (!strcmp(v[2], "exit"))
        return 7;
    if (!strcmp(v[2], "crash"))
        raise(SIGSEGV);
    if (!strcmp(v[2], "stubborn"))
        signal(SIGTERM, SIG_IGN);
    if (!strncmp(v[2], "race-", 5)) {
        if (strstr(v[2], "polite"))
            signal(SIGTERM, polite);
        kill(parent_of(getppid()), !strcmp(v[2], "race-int") ? SIGINT : SIGTERM);
    }
    for (;;)
        pause();
}
"""
with open(f"{TMP}/step.c", "w") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-O1", "-g", "-o", f"{TMP}/step", f"{TMP}/step.c"], check=True)


def fresh():
    for name in ("count", "pid"):
        if os.path.exists(f"{TMP}/{name}"):
            os.unlink(f"{TMP}/{name}")


def left():
    """The program in its last run, if it still runs; the number cannot be used again so soon."""
    pids = open(f"{TMP}/pid").read().split() if os.path.exists(f"{TMP}/pid") else []
    return [p for p in pids if os.path.exists(f"/proc/{p}") and "step" in open(f"/proc/{p}/cmdline").read()]


def race(what, *options, new="./step 8 {}"):
    fresh()
    status, out, err = run(HQ, "race", "--force", "-o", "set", "--old", "./step", "--new", new.format(what), *options)
    check(not left(), f"{what}: nothing is left running")
    return status, out, err


def listed():
    return sum(line.split()[0] in ("old", "new") for line in open(f"{TMP}/set/runs.txt").read().splitlines()[1:])


# Two runs warm up, then old new, new old, old new: the eighth is the new one of the third pair.
began = time.monotonic()
status, out, err = race("exit", "-n", "9")
lasted = time.monotonic() - began
check(status == 3 and "the new program ended with status 7; what it printed is in set/0" in err, f"a failing run: {status} {err}")
check(listed() == 4, f"two whole pairs stay: {listed()}")
status, out, err = race("crash", "-n", "9")
check(status == 3 and "status 139, as by signal 11" in err, f"a crash: {status} {err}")
status, out, err = run(HQ, "set", "procedures limit 1")
check(status == 0, f"what was measured can be asked: {err}")

# A program that hangs is ended when the time is over, also behind a shell and where it does not mind being asked. That is thrice what as many runs have
# taken just now, so that the eighth is reached on whatever machine.
most = f"{int(3 * lasted) + 1}s"
for what, new in (("hang", "./step 8 {}"), ("stubborn", "./step 8 {}"), ("hang", "./step 8 {}; true"), ("stubborn", "./step 8 {} | cat")):
    status, out, err = race(what, "--at-most", most, new=new)
    check(status == 3 and "the new program had not ended after" in err and "it was ended" in err, f"{new} {what}: {status} {out} {err}")
    check(listed() == 4, f"{new} {what}: what was measured stays: {listed()}")

# Who ends the race ends its program; a run that was interrupted does not count, not even if the program ends well by it.
for what, number in (("race-int", signal.SIGINT), ("race-term", signal.SIGTERM), ("race-polite", signal.SIGTERM)):
    status, out, err = race(what, "-n", "9")
    check(status == -number, f"{what}: the race ends by the signal: {status}")
    check(out == "" and "interrupted: 2 pairs of runs are in set, not judged" in err, f"{what}: it says so: {out} {err}")
    check(listed() == 4, f"{what}: {listed()} runs")

for what, number in (("race-int", signal.SIGINT), ("race-polite", signal.SIGTERM)):
    fresh()
    status, out, err = run(HQ, "record", "--force", "--runs", "5", "-o", "set", "--", "./step", "3", what)
    check(status == -number and "interrupted in run 3; set lists no run" in err and not left(), f"a set, {what}: {status} {err}")

finish()
