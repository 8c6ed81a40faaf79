# SPDX-License-Identifier: BSD-3-Clause
"""What hq keeps in the user's cache: nothing stale is answered from it, it stays below HQ_CACHE_MAX with what was used longest ago removed first, what
killed processes left behind goes, and `hq cache` shows and clears it.
"""
import os
import socket
import subprocess
import time

from lib import *

os.environ["XDG_CACHE_HOME"] = os.path.join(TMP, "cache")
kept = os.path.join(TMP, "cache", "hq", "import")


def write(name, text, age=None):
    path = os.path.join(TMP, name)
    with open(path, "w") as file:
        file.write(text)
    if age is not None:
        os.utime(path, (age, age))
    return path


# Same name, size, inode and time of change: another content all the same.
write("c.folded", "main;slow 90\n", 1577836800)
check(find(ask("c.folded", "procedures"), "slow"), "the first content")
write("c.folded", "main;fast 10\n", 1577836800)
check(find(ask("c.folded", "procedures"), "fast"), "the second content")

# Ten files, each used later than the one before; the first is used again last.
for name in os.listdir(kept):
    os.remove(os.path.join(kept, name))
made = {}
for i in range(10):
    write(f"big{i}.folded", "".join(f"main;f{i}_{k};g{k % 5} 1\n" for k in range(2000)))
    before = set(os.listdir(kept))
    run(HQ, f"big{i}.folded", "procedures limit 1")
    made[i] = (set(os.listdir(kept)) - before).pop()
    old = time.time() - 1000 + 10 * i
    os.utime(os.path.join(kept, made[i]), (old, old))
status, out, err = run(HQ, "big0.folded", "procedures limit 1")
check(status == 0 and out, f"what was not used for minutes is as it was: {status} {err}")
size = os.stat(os.path.join(kept, made[0])).st_blocks * 512
write("last.folded", "main;last 1\n")
status, out, err = run(HQ, "last.folded", "procedures", env={**os.environ, "HQ_CACHE_MAX": str(8 * size)})
there = set(os.listdir(kept))
check(status == 0 and "last" in out, f"asked with a small cache: {status} {err}")
check(made[0] in there and made[9] in there, "what was used last is kept")
check(not {made[1], made[2], made[3]} & there, "what was used first is gone")
check(sum(os.stat(os.path.join(kept, f)).st_blocks * 512 for f in there) <= 8 * size, "it is small enough")
status, out, err = run(HQ, "big5.folded", "procedures limit 1", env={**os.environ, "HQ_CACHE_MAX": "1"})
check(status == 0 and out and not os.listdir(kept), f"nothing fits, and the answer comes: {status} {err}")
status, out, err = run(HQ, "big4.folded", "procedures limit 1", env={**os.environ, "HQ_CACHE_MAX": "lots"})
check(status == 0 and "HQ_CACHE_MAX" in err, f"no size: {err}")

# What a killed writer left: of this host and gone, of this host and alive, of another host.
gone = subprocess.Popen(["true"])
gone.wait()
host = socket.gethostname().replace("/", "_")
names = {"gone": f"0123.db.tmp.{gone.pid}.0.{host}", "alive": f"0123.db.tmp.{os.getpid()}.0.{host}", "elsewhere": f"0123.db.tmp.{gone.pid}.0.elsewhere"}
for name in names.values():
    path = os.path.join(kept, name)
    with open(path, "w") as file:
        file.write("x" * 100)
    os.utime(path, (time.time() - 600,) * 2)
run(HQ, "big3.folded", "procedures limit 1")
there = os.listdir(kept)
check(names["gone"] not in there and names["alive"] in there and names["elsewhere"] in there, f"leftovers: {there}")

status, out, err = run(HQ, "cache")
check(status == 0 and "import" in out and "structure" in out and "HQ_CACHE_MAX" in out and "2 files" in out, f"hq cache: {out}{err}")
# What cannot be listed has not "0 files", and is not said to be cleared.
part, aside = os.path.join(TMP, "cache", "hq", "structure"), os.path.join(TMP, "aside")
if os.path.exists(part):
    os.rename(part, aside)
for kind in ("a file", "a link to itself"):
    if kind == "a file":
        write(part, "")
    else:
        os.symlink("structure", part)
    for more in ((), ("--clear",)):
        status, out, err = run(HQ, "cache", *more)
        check(status == 3 and part in err and err.count("\n") == 1 and "structure   " not in out, f"{kind}, {more}: status {status}: {out}{err}")
    os.remove(part)
if os.path.exists(aside):
    os.rename(aside, part)
status, out, err = run(HQ, "cache", "--clear")
check(status == 0 and "removed" in out and not [f for f in os.listdir(kept) if f.endswith(".db")], f"hq cache --clear: {out}{err}")
status, out, err = run(HQ, "cache", "all")
check(status == 2 and len(err.splitlines()) == 1, f"an operand: {err}")
status, out, err = run(HQ, "cache", env={k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")})
check(status == 3 and "there is no cache" in err, f"no home: {status} {err}")
finish()
