#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of doc/ hold together: links lead somewhere, files that are named exist, every page is linked, every row has its page."""
import glob
import os
import re
import subprocess

from counting import check, finish

TOP = os.environ["TOP"]
HQ = os.environ["HQ"]
PAGES = ["README.md"] + sorted(glob.glob("doc/*.md", root_dir=TOP))
# Of the language, and so no functions.
WORDS = ("of", "prune")
ROOMS = "common|format|preload|structure|db|query|repl|tests|examples|doc"


def read(path):
    return open(os.path.join(TOP, path), encoding="utf-8").read()


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def check_links(page, text, linked):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        name, _, part = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
        check(os.path.exists(os.path.join(TOP, path)), f"{page}: {target} leads nowhere")
        linked.add(path)
        if part and os.path.exists(os.path.join(TOP, path)):
            check(part in map(anchor, re.findall(r"^#+ (.*)$", read(path), re.M)), f"{page}: {target}: there is no such heading")


def check_files(page, text, linked):
    """`db/build/build.h`, `tests/query/*.test`, and pages named alone."""
    for name in re.findall(rf"`(?:\./)?((?:{ROOMS})/[\w./*-]*)`", text):
        check(glob.glob(os.path.join(TOP, name)) or "NAME" in name, f"{page} speaks of {name}, which is not there")
        linked.add(name)
    linked.update(f"doc/{name}" for name in re.findall(r"`([\w-]+\.md)`", text))
    for name in re.findall(r"`make ([\w-]+)", text):
        check(re.search(rf"^(?:[\w-]+ )*{name}(?: [\w-]+)*:", read("Makefile") + read("common/packaging/packaging.mk"), re.M), f"{page} speaks of make {name}, which is not there")


def rows(*command):
    return subprocess.run([HQ, *command], capture_output=True, text=True, check=True).stdout


def names(text):
    return re.findall(r"^(\w+)  ", text, re.M)


linked = set()
for page in PAGES:
    text = read(page)
    # Code blocks are somebody's files, not ours.
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    check_links(page, prose, linked)
    check_files(page, prose, linked)
    check(len(text.splitlines()) <= 600, f"{page} is too long for one sitting")
    check(not re.search(r"TODO(?! inconclusive)|FIXME", text), f"{page} speaks of what is not done")
for page in PAGES[1:]:
    check(page in linked, f"no page links to {page}")

# The rooms and their sizes, right to a factor of two.
table = [[c.strip() for c in row.split("|")[1:-1]] for row in re.findall(r"^\| `\w+/.*$", read("doc/architecture.md"), re.M)]
every = [room for row in table for room in re.findall(r"`([\w/]+)/`", row[0])]
for row in table:
    size = 0
    for room in re.findall(r"`([\w/]+)/`", row[0]):
        for path in glob.glob(f"{room}/**/*", root_dir=TOP, recursive=True):
            if path.endswith((".c", ".h", ".def", ".ts", ".py", ".sh")) and not any(path.startswith(other + "/") for other in every if other.startswith(room + "/")):
                size += len(open(os.path.join(TOP, path), encoding="utf-8", errors="replace").readlines())
    check(0.5 <= int(row[-1]) / max(size, 1) <= 2, f"doc/architecture.md: {row[0]} has {size} lines, not {row[-1]}")

# The two walks name functions, each with its file.
walks = read("doc/architecture.md").split("## Two walks")[1].split("\n## ")[0]
steps = re.findall(r"^\d+\. ", walks, re.M)
check(0 < len(steps) < 30, f"the two walks have {len(steps)} steps")
here = None
for function, path in re.findall(r"`(\w+)`(?:,? \(?`([\w/.]+\.c)`)?", re.sub(r"\s+", " ", walks)):
    here = path or here
    text = read(here) if here and os.path.exists(os.path.join(TOP, here)) else ""
    check(re.search(rf"^[\w ()]*[ *]{function}\(", text, re.M) or function in WORDS, f"doc/architecture.md: there is no {function} in {here}")

papers = set(re.findall(r"^- \[(\w+)\]:", read("doc/architecture.md"), re.M))
for path in glob.glob("**/*.[ch]", root_dir=TOP, recursive=True) + PAGES:
    for name in re.findall(r"\[(\w+)\],? (?:section|figure)", read(path)):
        check(name in papers, f"{path} names a paper [{name}] that doc/architecture.md does not have")

commands = re.findall(r"^  (\w+)  ", rows("--help").split("commands:")[1], re.M)
for what, words, page in (
    ("output format", re.findall(r"as (\w+) \[to FILE\]", rows("help", "formats")), "doc/output.md"),
    ("format to import", names(rows("import", "--formats")), "doc/import.md"),
    ("event", names(rows("record", "--list").split("Events ")[0]), "doc/collector.md"),      # those of the processor differ
    ("command", commands, None),
):
    check(words, f"there is no {what}")
    for word in words:
        pages = [page] if page else PAGES
        check(any(re.search(rf"\b{word}\b", read(p), re.I) for p in pages), f"{page or 'README.md'} says nothing of the {what} {word}")

finish()
