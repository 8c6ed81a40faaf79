# SPDX-License-Identifier: BSD-3-Clause
"""Real programs from Debian: what is known to dominate does, paths are whole, nothing exceeds the total."""

from lib import *


def share(db, query, name=None):
    """The share of the first row, or of the row called `name`, of a query in the total."""
    result = ask(db, query)
    rows = [r for r in result["rows"] if r["depth"] == 0 and (name is None or r["name"] == name)]
    whole = total(db)
    return max((value(result, r, "cputime") for r in rows), default=0) / whole if whole else 0


def main_share(db):
    """The share of the cost below main, or below a thread's start. python3's main jumps to Py_BytesMain and leaves no frame. What the
    kernel spends beside a thread's firings has no place, and on a busy machine is some hundredths."""
    result, whole = ask(db, "tree depth 1"), total(db)
    good = [r for r in result["rows"] if r["depth"] == 0 and (r["name"] in ("main", "Py_BytesMain", "[kernel, place unknown]") or r["kind"] == "thread")]
    return sum(value(result, r, "cputime") for r in good) / whole if whole else 0


def common(db, what, main=0.99):
    full_paths(db, 0.99, what)
    nothing_above_total(db, what)
    got = main_share(db)
    check(got >= main, f"{what}: {got:.4f} of the cost reaches main or a thread's start")


# python3: a CPU-bound script spends its time in the interpreter's evaluation loop.
with open(f"{TMP}/spin.py", "w") as f:
    f.write("def f(n):\n    s = 0\n    for i in range(n):\n        s += i * i % 7\n    return s\nprint(f(15_000_000))\n")
record("python.hq", "/usr/bin/python3", "spin.py")
common("python.hq", "python3")
got = share("python.hq", "procedures", "_PyEval_EvalFrameDefault")
check(got > 0.9, f"python3: _PyEval_EvalFrameDefault has {got:.3f} of the cost")

# xz: compression is liblzma's encoder.
with open(f"{TMP}/data", "wb") as f:
    state = 1
    words = [b"alpha ", b"beta ", b"gamma ", b"delta\n", b"epsilon ", b"zeta "]
    chunk = bytearray()
    for _ in range(400_000):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        chunk += words[state >> 16 & 3] + bytes([state >> 20 & 0x7F])
    f.write(chunk)
record("xz.hq", "xz", "-6", "-k", "-T1", "data")
common("xz.hq", "xz")
result, whole = ask("xz.hq", "flat depth 1"), total("xz.hq")
lzma = sum(value(result, r, "cputime.x") for r in result["rows"] if "liblzma" in r["name"])
check(lzma > 0.8 * whole, f"xz: liblzma has {lzma / whole:.3f} of the cost")

# sqlite3: a recursive query runs in the virtual machine.
record("sqlite.hq", "sqlite3", ":memory:",
       "with recursive c(x) as (select 1 union all select x+1 from c where x<4000000) select sum(x%7) from c;")
common("sqlite.hq", "sqlite3")
result, whole = ask("sqlite.hq", "flat depth 1"), total("sqlite.hq")
lib = sum(value(result, r, "cputime") for r in result["rows"] if "sqlite3" in r["name"])
check(lib > 0.9 * whole, f"sqlite3: its library and binary have {lib / whole:.3f} of the cost")
got = share("sqlite.hq", "procedures", "sqlite3_step")
check(got > 0.9, f"sqlite3: sqlite3_step has {got:.3f} of the cost")
finish()
