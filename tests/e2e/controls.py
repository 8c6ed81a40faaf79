# SPDX-License-Identifier: BSD-3-Clause
"""Names that would control a terminal, or be run by a spreadsheet: on a terminal no format, note or mistake prints a control character; files keep the
bytes as their format wants them.
"""
import csv
import io
import json
import os
import pty
import shutil
import unicodedata

from lib import *

NAMES = ["\x1b[31mred", "c1\u009b31m", "\u202eflipped", "mark\u061c", "bell\x07", "\u2066isolate", "del\x7f", "=cmd()", "+1", "-2", "@SUM(A1)", "plain"]
os.environ["XDG_CACHE_HOME"] = os.path.join(TMP, "cache")
with open(os.path.join(TMP, "evil.folded"), "wb") as file:
    for i, name in enumerate(NAMES):
        file.write(f"main;{name} {10 + i}\n".encode())
    file.write(b"main;bad\xff\x9b31m 5\n")


def on_terminal(*args):
    """What a terminal gets: standard output and standard error."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(TMP)
        os.environ.update(TERM="xterm", NO_COLOR="1", LC_ALL="C.UTF-8", PAGER="cat")
        os.execv(os.path.join(os.getcwd(), HQ) if not os.path.isabs(HQ) else HQ, [HQ, *args])
    out = b""
    try:
        while data := os.read(fd, 65536):
            out += data
    except OSError:
        pass
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out


def controls(data):
    text = data.decode("utf-8", "surrogateescape")
    return [hex(ord(c)) for c in text if c not in "\r\n\t" and (unicodedata.category(c) in ("Cc", "Cf") or 0xDC80 <= ord(c) <= 0xDCFF)]


HQ = os.path.abspath(HQ)
for format in ("table", "tree", "csv", "tsv", "json", "markdown", "folded", "dot", "speedscope", "callgrind", "svg"):
    status, out = on_terminal("evil.folded", f"tree all as {format}")
    check(status == 0 and len(out) > 200, f"{format}: status {status}: {out[-300:]}")
    check(not controls(out), f"{format} on a terminal: {controls(out)[:5]}")
for question in ("procedures of redd", "procedures of flippe; procedures of mar", "procedures where name = 'x", "info", "explain 90% of samples", "trace",
                 "procedures expect all samples > 100", "source of /red/", "callers of /./"):
    status, out = on_terminal("evil.folded", question)
    check(not controls(out), f"`{question}` on a terminal: {controls(out)[:5]} in {out[-300:]}")

# Reports of checks, and histories, whose names of commits are anybody's.
os.makedirs(os.path.join(TMP, "kept"))
for i in range(5):
    values = [{"query": "procedures", "metric": "samples", "path": f"procedure {name}", "share": 1, "value": 10 if i < 3 else 20, "unit": "events",
               "exact": True} for name in NAMES]
    with open(os.path.join(TMP, f"kept/{i}.json"), "w") as file:
        json.dump({"hq_history": 1, "commit": f"c{i}\x1b[31m\u202e", "order": i, "values": values}, file)
with open(os.path.join(TMP, "all.hq"), "w") as file:
    file.write("procedures expect all samples > 100\n")
for words in (["history", "kept"], ["history", "kept", "red"], ["check", "evil.folded", "all.hq"], ["check", "evil.folded", "all.hq", "--history", "kept", "--commit", "c9"]):
    status, out = on_terminal(*words)
    check(len(out) > 50, f"{words}: status {status}: {out}")
    check(not controls(out), f"{words} on a terminal: {controls(out)[:5]} in {out[-300:]}")

# Files keep what a name is.
out = run(HQ, "evil.folded", "procedures all as json")[1]
check(any(r["name"] == "\x1b[31mred" for r in json.loads(out)["rows"]) and any(r["name"] == "c1\u009b31m" for r in json.loads(out)["rows"]), "json keeps names")
status, out, err = run(HQ, "evil.folded", "procedures all as csv")
rows = list(csv.DictReader(io.StringIO(out)))
check({"=cmd()", "+1", "-2", "@SUM(A1)"} <= {r["name"] for r in rows}, "csv keeps names")
check("4 texts begin with = + - or @" in err and "set csv safe on" in err, f"csv tells of formulas: {err}")
status, out, err = run(HQ, "evil.folded", "set csv safe on; procedures all columns samples, less = 0 - samples as csv")
rows = list(csv.DictReader(io.StringIO(out)))
check({"'=cmd()", "'+1", "'-2", "'@SUM(A1)", "plain"} <= {r["name"] for r in rows}, f"csv is safe: {out}")
check(all(r["less"].startswith("-") for r in rows), "numbers are numbers")
check("begin with" not in err, f"nothing to tell: {err}")

# A name begins no line of its own.
program = os.path.join(TMP, "we\nhq: all is well")
shutil.copy(os.path.join(PROGRAMS, "benchmark"), program)
run(HQ, "record", "-o", "weird.hq", "--", program, "0.1", "1")
os.remove(program)
status, out, err = run(HQ, "weird.hq", "procedures")
check("we?hq: all is well" in err and not any(line.startswith("hq: all") for line in err.splitlines()), f"a newline in a name: {err}")
finish()
