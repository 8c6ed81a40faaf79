# SPDX-License-Identifier: BSD-3-Clause
"""HPCToolkit databases whose parts are pointed to more than once: texts may be, values of profiles and contexts are refused at once, whatever they would have become."""
import json
import os
import struct
import sys

sys.path.insert(0, "tests/import")
from lib import Blob, Hpctoolkit, TMP, check, check_tree, finish, run  # noqa: E402

ENCLOSED, CALLED = 0, 1
FUNCTION, LINE = 0, 2
SRC = "/src/prog.c"


def function(name, children=(), values=None):
    return (CALLED, FUNCTION, name, list(children), values or {})


def line(n, children=(), values=None):
    return (ENCLOSED, LINE, (SRC, n), list(children), values or {})


class Tails(Blob):
    """A text that another one ends with has no bytes of its own, and equal ones are there once."""

    def text(self, s):
        at = self.data.find(s.encode() + b"\0", 0xa0)
        return at if at >= 0 else super().text(s)


def sharing_texts(threads, **options):
    h = Hpctoolkit(threads, **options)
    h.meta = Tails(0x90 + 16)
    return h


main = function("main", [line(3, [function("daxpy", [line(1, [function("axpy", [line(2, [function("y", [], {0: 1.0})], {0: 0.5})], {})], {})])]), line(4, [], {0: 2.0})])
database = sharing_texts([[(3, 0)]]).save(f"{TMP}/tails", [(1, "main thread", [main])])
check_tree(database, """
main 3.5
 daxpy (/src/prog.c:3) 1.5
  axpy (/src/prog.c:1) 1.5
   y (/src/prog.c:2) 1
""")
names = {r["name"] for r in json.loads(run(database, "flat as json"))["rows"]}
check({"main", "daxpy", "axpy", "y"} <= {r["name"] for r in json.loads(run(database, "procedures as json"))["rows"]}, f"four procedures: {names}")

# Names of all lengths, and two procedures of one name.
names = ["n" * n for n in (1, 2, 3, 255, 256, 4095, 4096, 65536, 1 << 20)]
h = sharing_texts([[(3, 0)]])
h.save(f"{TMP}/lengths", [(1, "main thread", [function("main", [line(i + 1, [function(n, [], {0: 1.0 + i})]) for i, n in enumerate(names)])])])
rows = {r["name"]: r["values"][0] for r in json.loads(run(f"{TMP}/lengths", "procedures as json"))["rows"]}
check(all(rows.get(n) == 1.0 + i for i, n in enumerate(names)), f"names of all lengths: {[(len(n), v) for n, v in rows.items()]}")


def profiles(path):
    """The file, where its records of profiles begin, and how many there are."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    head = struct.unpack_from("<Q", data, 0x18)[0]
    at, count = struct.unpack_from("<QI", data, head)
    return data, at, count


def share_values(directory, count):
    """All threads have the values of the first: record 0 is the summary, 48 bytes each."""
    data, at, records = profiles(f"{directory}/profile.db")
    check(records == count + 1, f"{records} profiles")
    for i in range(2, records):
        data[at + 48 * i:at + 48 * i + 32] = data[at + 48:at + 48 + 32]
    with open(f"{directory}/profile.db", "wb") as file:
        file.write(data)


# Values of the first thread for each of many would be read so many times: no writer does that, and it is refused.
MANY = 3000
directory = Hpctoolkit([[(2, r), (3, 0)] for r in range(MANY)]).save(f"{TMP}/values", [(1, "main thread", [function("main", [line(3, [function("f", [], {0: 0.25})], {0: 1.0})])])])
share_values(directory, MANY)
error = run("import", directory, "-o", f"{TMP}/values.hq", status=3)
check("profiles that share their values" in error and "profile.db" in error and error.count("\n") == 1, f"shared values: {error}")
check(not os.path.exists(f"{TMP}/values.hq"), "nothing is left")

# All of one identity: they are as many threads all the same, or it is said that they are not.
directory = Hpctoolkit([[(2, 0), (3, 0)]] * 3).save(f"{TMP}/same", [(1, "main thread", [function("main", [], {0: 1.0, 1: 2.0, 2: 4.0})])])
(row,) = json.loads(run(directory, "procedures as json"))["rows"]
check(row["values"][0] == 7, f"threads of one identity: {row}")


class Doubling(Hpctoolkit):
    """A context that is a child twice has one record: the second child is the same bytes."""

    def context(self, c):
        known = self.__dict__.setdefault("known", {})
        if id(c) not in known:
            known[id(c)] = super().context(c)
        return known[id(c)]


# Contexts that share their children: two to the 40th call paths in some kilobytes, or just two, of which one alone could have the values: refused.
def doubled(levels):
    below = function("leaf", [], {0: 1.0})
    for i in range(levels):
        below = function(f"level{i}", [below, below])
    return below


for levels in (1, 40):
    directory = Doubling([[(3, 0)]]).save(f"{TMP}/doubled{levels}", [(1, "main thread", [doubled(levels)])])
    error = run("import", directory, "-o", f"{TMP}/doubled.hq", status=3)
    check(error.count("\n") == 1 and "meta.db" in error and "two contexts of one number" in error, f"{levels} levels of shared contexts: {error}")
    check(not os.path.exists(f"{TMP}/doubled.hq"), "nothing is left")
finish()
