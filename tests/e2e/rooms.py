#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rooms of doc/architecture.md: who may include whom, and which file alone sees a library."""
import glob
import os
import re

from counting import check, finish

TOP = os.environ["TOP"]
# A room may include itself and what stands here; the longest name that begins a path is its room.
MAY = {
    "common": (),
    "format": (),
    "unwind": (),
    "preload": ("common", "format", "unwind"),
    "structure": ("common", "format"),
    "db": ("common", "format", "structure", "unwind"),
    "db/import": ("common", "format", "structure", "db"),
    "query/grammar": ("common",),
    "query": ("common", "format", "db", "query/grammar", "query/views", "query/output"),
    "repl": ("common", "format", "structure", "db", "db/import", "query", "query/grammar", "query/output", "repl/record"),
    "repl/record": ("common", "format", "structure", "db"),
}
# Behind one header: nobody else includes the library's own.
LIBRARIES = {
    "readline/": ["repl/prompt/readline.c"],
    "libdwarf.h": ["structure/dwarf/libdwarf.h"],
    "Zydis/": ["structure/arch/insn_zydis.c"],
    "capstone/": ["structure/arch/insn_capstone.c"],
    "papi.h": ["preload/sources/papi.c", "repl/record/counters.c"],
    "pcre2.h": ["query/pattern/regex.c"],
    "yajl/": ["db/import/json_yajl.c"],
    "expat.h": ["structure/given/xml_expat.c"],
    "libiberty/": ["structure/demangle.c"],
    "zstd.h": ["structure/unpack.c"],
    "lzma.h": ["structure/unpack.c"],
    "mpi.h": ["db/mpi/shim.c"],
}

# The stages of a question (query/driver.h), in their order: none calls a later one, nor the driver, reports or outputs.
# What has no stage is below all of them.
STAGES = ["query/tree", "query/pattern", "query/choose", "query/bind", "query/measure", "query/shape", "query/views", "query"]
BELOW = ("query/grammar/", "query/folding/", "query/picture/", "query/table.c", "query/run.c")
SUMMARY = "query/views/summary.c", "query/views/summary_parallel.c"  # ask questions themselves, and show their answers


def stage_of(path):
    if path.startswith(BELOW):
        return -1
    return STAGES.index(os.path.dirname(path)) if os.path.dirname(path) in STAGES else len(STAGES)


def defined_in(text):
    """The functions that a source file offers: their names stand at the beginning of an unindented line."""
    return re.findall(r"^(?!static\b)[A-Za-z_][\w *]*?[ *](\w+)\([^;{}]*\)\n\{", text, re.M)


def declared_in(text):
    """The functions that a header declares."""
    return re.findall(r"^(?!static\b|typedef\b|extern\b|#)[A-Za-z_][\w *]*?[ *](\w+)\([^;{}]*\)[^;{}]*;", text, re.M)


def room_of(path):
    return max((room for room in MAY if path.startswith(room + "/")), key=len, default=None)


seen = {library: set() for library in LIBRARIES}
for path in glob.glob("**/*.[ch]", root_dir=TOP, recursive=True) + glob.glob("**/*.def", root_dir=TOP, recursive=True):
    room = room_of(path)
    if not room:
        continue
    text = open(os.path.join(TOP, path)).read()
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
        if name == "preload/hq.h":
            continue
        other = room_of(name)
        check(other is not None and (other == room or other in MAY[room]), f"{path} includes {name}: {room}/ may not know {other}/")
    for name in re.findall(r"^\s*#\s*include <([^>]+)>", text, re.M):
        for library in LIBRARIES:
            if name.startswith(library):
                seen[library].add(path)
    check(len(text.splitlines()) <= 500, f"{path} is too long to be read in one sitting: {len(text.splitlines())} lines")
    check(text.startswith("/* SPDX-License-Identifier: BSD-3-Clause */\n"), f"{path} does not begin with its licence")
    # `head -n 4 ROOM/*.h` is the map of a room: only a .c file whose header says it already may begin at once.
    told = path.endswith(".c") and os.path.exists(os.path.join(TOP, path[:-1] + "h"))
    check(told or text.split("\n")[1].startswith("/*"), f"{path} does not begin by saying what it is for")

for path in glob.glob("tests/**/*.[ch]", root_dir=TOP, recursive=True):
    lines = sum(1 for _ in open(os.path.join(TOP, path), errors="replace"))
    check(lines <= 500, f"{path} is too long to be read in one sitting: {lines} lines")

code = {}
for path in glob.glob("query/**/*.c", root_dir=TOP, recursive=True):
    code[path] = re.sub(r"/\*.*?\*/|\"(\\.|[^\"\\])*\"", "", open(os.path.join(TOP, path)).read(), flags=re.S)
home = {name: path for path, text in code.items() for name in defined_in(text)}
check(len(home) > 350, f"only {len(home)} functions of query/ were found: look at defined_in")
for path, text in code.items():
    if stage_of(path) >= len(STAGES) - 1 or path in SUMMARY:
        continue
    for name in sorted(set(re.findall(r"\b(\w+)\(", text)) & home.keys()):
        if not re.search(r"^static [^;{}]*\b" + name + r"\(", text, re.M):
            check(stage_of(home[name]) <= stage_of(path), f"{path} calls {name} of {home[name]}, which is a later stage")
# A header says where each function is: in the file of its name, or in one that it names.
homes = {}
for path in glob.glob("**/*.c", root_dir=TOP, recursive=True):
    if room_of(path):
        for name in defined_in(open(os.path.join(TOP, path)).read()):
            homes.setdefault(name, set()).add(os.path.basename(path))
for path in glob.glob("**/*.h", root_dir=TOP, recursive=True):
    text = open(os.path.join(TOP, path)).read() if room_of(path) else ""
    for name in declared_in(text):
        there = homes.get(name, set())
        own = os.path.basename(path)[:-1] + "c"
        check(not there or own in there or any(re.search(rf"\b{re.escape(home)}\b", text) for home in there),
              f"{path} declares {name}, and does not say that it is in {', '.join(sorted(there))}")

for library, paths in seen.items():
    check(sorted(paths) == LIBRARIES[library], f"<{library}> is included by {', '.join(sorted(paths))}")

finish()
