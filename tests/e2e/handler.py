#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The head of preload/handler.c lists the files and the functions of the C library that run in its signal handlers: all that `sample` reaches by
calls in the library that was built, inlined code included. Calls by pointers are not followed."""
import collections
import os
import re
import subprocess

from counting import check, finish

TOP, HQ = os.environ["TOP"], os.environ["HQ"]
LIBRARY = os.path.join(os.path.dirname(HQ), "libhqpreload.so")
# Done before the first sample can come, so that a sample finds it done.
BEFORE = {"prepare"}


def plain(name):
    """A function's name without what compilers put behind it in parts and copies."""
    return re.sub(r"\.(part|cold|isra|constprop)\b.*", "", name)


called, files, names = collections.defaultdict(set), collections.defaultdict(set), {}
here = None
listing = subprocess.run(["objdump", "-dl", "--no-show-raw-insn", LIBRARY], capture_output=True, text=True, check=True).stdout
for line in listing.splitlines():
    if begin := re.match(r"0*([0-9a-f]+) <([^>]+)>:$", line):
        here = begin[1]
        names[here] = begin[2]
    elif source := re.match(r"(?:\S*/)?((?:preload|unwind|common)/[\w/]+\.c):\d+", line):
        files[here].add(source[1])
    elif target := re.search(r"\t(?:bl?|call|jmp|j\w+|lea)\s.*?\b([0-9a-f]+) <[^>+]+>", line):
        called[here].add(target[1])

entries = [at for at, name in names.items() if plain(name) == "sample"]
check(entries and files[entries[0]], f"{LIBRARY} has a function `sample`, and says where its lines are")
seen, todo = set(), entries
while todo:
    at = todo.pop()
    if at in names and at not in seen and plain(names[at]) not in BEFORE:
        seen.add(at)
        todo += called[at]
reached = set().union(*(files[at] for at in seen))
needed = {names[at].split("@")[0] for at in seen if names[at].endswith("@plt")}

head = open(os.path.join(TOP, "preload/handler.c")).read().split("*/")[1]
listed = {f if "/" in f and f.startswith("unwind/") else f"preload/{f}" for f in re.findall(r"[\w/]+\.c\b", head)}
libc = set(re.findall(r"\b(?:mem|str)\w+|\b__\w+", head))
for path in sorted(reached - listed):
    check(False, f"the head of preload/handler.c lists {path}, whose code a sample reaches")
for path in sorted(listed - reached):
    check(False, f"a sample reaches {path}, as the head of preload/handler.c says")
check(len(reached) > 20, "a sample reaches what takes it")
for name in sorted(needed - libc):
    check(False, f"the head of preload/handler.c lists {name} of the C library")
finish()
