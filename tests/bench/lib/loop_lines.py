#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The lines of all loops, hot or not, held against a parser of C, C++ and Fortran: the count by sources in doc/structure.md.

    tests/bench/lib/loop_lines.py [-v] BINARY...

Binaries need debug information, and their sources where it says they are. A loop is right if its line is that of a control statement
around three fifths of its code (what was moved into it is that of others) and the loop around it is one around that in the source; an
array statement of Fortran is its own; `directive` is the line of a pragma. -v lists the others.
"""
import collections
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

HQ = os.environ.get("HQ", "./hq")
DIRECTIVE = re.compile(r"\s*([cC!]\$omp|#pragma omp)", re.I)
TOKEN = re.compile(r"""\\\n|\n|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|[A-Za-z_]\w*|.""", re.S)
ARRAYS = re.compile(r"\b(sum|maxval|minval|matmul|transpose|spread|reshape|any|all|count|dot_product|maxloc|minloc|product|pack|cshift|merge)\s*\(")
INPUT = re.compile(r"(read|write|print|call|data|allocate|where|forall)\b")
DECLARES = re.compile(r"(double\s*precision|real|integer|complex|logical|dimension|common|type\s*\(|character)")


class Loop:
    """A control statement: its own lines, and all that it repeats."""

    def __init__(self, lines, low, high):
        self.lines, self.low, self.high = set(lines), low, high


class CSource:
    """Loops of C and C++, by their tokens."""

    def __init__(self, text):
        self.loops, self.tokens, line = [], [], 1
        skipped = self.preprocessed(text.split("\n"))
        for m in TOKEN.finditer(text):
            if re.match(r"[A-Za-z_(){};]", m.group()) and line not in skipped:
                self.tokens.append((m.group(), line))
            line += m.group().count("\n")
        at = 0
        while at < len(self.tokens):
            at = max(self.statement(at), at + 1)

    @staticmethod
    def preprocessed(lines):
        found, goes_on = set(), False
        for number, line in enumerate(lines, 1):
            if goes_on or line.lstrip().startswith("#"):
                found.add(number)
                goes_on = line.rstrip().endswith("\\")
        return found

    def word(self, at):
        return self.tokens[at][0] if at < len(self.tokens) else ""

    def line(self, at):
        return self.tokens[min(at, len(self.tokens)) - 1][1]

    def parenthesis(self, at):
        """Returns what is behind one."""
        depth = 0
        while at < len(self.tokens):
            depth += {"(": 1, ")": -1}.get(self.word(at), 0)
            at += 1
            if not depth:
                break
        return at

    def control(self, at):
        """`for` and `while`, `do`, `if`."""
        word, first = self.tokens[at]
        if word in ("for", "while"):
            body = self.parenthesis(at + 1)
            end = self.statement(body)
            self.loops.append(Loop(range(first, self.line(body) + 1), first, self.line(end)))
            return end
        if word == "do":
            end = self.statement(at + 1)
            if self.word(end) == "while":
                last = self.parenthesis(end + 1)
                self.loops.append(Loop([first, *range(self.tokens[end][1], self.line(last) + 1)], first, self.line(last)))
                end = last + (self.word(last) == ";")
            return end
        while at < len(self.tokens) and self.word(at) != "(":    # if constexpr (...)
            at += 1
        end = self.statement(self.parenthesis(at))
        return self.statement(end + 1) if word == "if" and self.word(end) == "else" else end

    def statement(self, at):
        """Returns what is behind one; a simple one may hold braces (lambdas, initialisers, whole procedures)."""
        word, depth = self.word(at), 0
        if word == "{":
            at += 1
            while at < len(self.tokens) and self.word(at) != "}":
                at = max(self.statement(at), at + 1)
            return at + 1
        if word in ("for", "while", "do", "if", "switch"):
            return self.control(at)
        if word in ("else", "try"):
            return self.statement(at + 1)
        while at < len(self.tokens):
            word = self.word(at)
            depth += {"(": 1, ")": -1}.get(word, 0)
            if word == "}" or (word == ";" and depth <= 0):
                return at + (word == ";")
            if word == "{":
                at = self.statement(at)
                if depth <= 0 and self.word(at) not in (";", "(", ")"):
                    return at
            else:
                at += 1
        return at

    def is_array(self, line, lines):
        return False


class FortranSource:
    """Loops of Fortran, by its statements."""

    def __init__(self, text, fixed):
        self.loops, self.arrays, self.first = [], set(), {}
        self.names, self.open, self.labels = set(), [], {}
        for first, last, text_, label in (self.fixed if fixed else self.free)(text.split("\n")):
            self.first.update((line, first) for line in range(first, last + 1))
            self.weigh(first, last, text_.strip().lower(), label)

    @staticmethod
    def fixed(lines):
        found = []
        for number, line in enumerate(lines, 1):
            line = "      " + line[1:] if line.startswith("\t") else line
            if not line.strip() or line[0] in "cC*dD#" or line.lstrip().startswith("!"):
                continue
            body = re.sub("!.*", "", line)[6:72]
            if found and len(line) > 5 and line[5] not in " 0" and not line[:5].strip():
                found[-1][1:3] = number, found[-1][2] + body
            else:
                found.append([number, number, body, line[:5].strip()])
        return found

    @staticmethod
    def free(lines):
        found = []
        for number, line in enumerate(lines, 1):
            body = re.sub(r"""^((?:[^'"!]|'[^']*'|"[^"]*")*)!.*""", r"\1", line)
            if not body.strip() or line.lstrip().startswith("#"):
                continue
            if found and found[-1][2].rstrip().endswith("&"):
                found[-1][1:3] = number, found[-1][2].rstrip()[:-1] + body.strip().lstrip("&")
            else:
                label, text = re.match(r"\s*(\d*)(.*)", body, re.S).groups()
                found.append([number, number, text, label])
        return found

    def close(self, last):
        first, _ = self.open.pop()
        self.loops.append(Loop([first], first, last))

    def weigh(self, first, last, text, label):
        if label:
            self.labels[label] = first
        if DECLARES.match(text) and "=" not in text.split("::")[0].replace("kind=", "").replace("len=", ""):
            self.names.update(re.findall(r"(\w+)\s*\(", text))
            if re.search("dimension|allocatable|pointer", text):
                self.names.update(re.findall(r"\w+", text.split("::")[-1]))
        begins = re.match(r"(?:\w+\s*:\s*)?do\s*(\d*)\s*,?\s*(\w+\s*=[^=(]+,|\w+\s*=.*,|while\b|concurrent\b|$)", text)
        if begins:
            self.open.append((first, begins.group(1)))
            return
        if re.match(r"end\s*do\b", text) and self.open:
            self.close(last)
        while label and self.open and self.open[-1][1] == label:
            self.close(last)
        back = re.search(r"go\s*to\s+(\d+)\s*$", text)
        if back and back.group(1) in self.labels:    # a loop of its label, which has no code, and of the jump
            low = self.labels[back.group(1)]
            self.loops.append(Loop([first, *range(low, min(first, low + 3))], low, first))
        if re.match(r"end\s*(subroutine|function|program|module)?\s*\w*$", text) and not re.match(r"end\s*(if|do|select|where|forall|type|interface|associate|block)", text):
            self.labels, self.open = {}, []
        rest = re.sub(r"^(if|where|forall)\s*\(.*?\)\s*(?=\w)", "", text)
        whole = re.match(r"(\w+%)*(\w+)\s*=", rest)
        if "=" in rest and re.search(r"\((?:[^()]|\([^()]*\))*:(?:[^()]|\([^()]*\))*\)", rest) or whole and whole.group(2) in self.names \
           or ARRAYS.search(text) or INPUT.match(text):
            self.arrays.add(first)

    def is_array(self, line, lines):
        return self.first.get(line) in self.arrays and all(self.first.get(x) == self.first.get(line) for x in lines)


class Sources:
    def __init__(self):
        self.read, self.texts = {}, {}

    def of(self, path):
        if path not in self.read:
            self.read[path] = None
            if os.path.exists(path):
                text = open(path, errors="replace").read()
                kind = path.rpartition(".")[2].lower()
                fortran = kind in ("f", "for", "fpp") or re.match("f[09]", kind)
                self.texts[path] = text.split("\n")
                self.read[path] = FortranSource(text, kind in ("f", "for", "fpp")) if fortran else CSource(text)
        return self.read[path]

    def is_directive(self, path, line):
        return bool(self.of(path) and 0 < line <= len(self.texts[path]) and DIRECTIVE.match(self.texts[path][line - 1]))


class Found:
    """A loop that hq has found: where it is, the bytes of each line of its file in it, the loop around it, and the place of the inlined
    call that lies between the two."""

    def __init__(self, file, line, procedure, outer, call):
        self.file, self.line, self.procedure, self.outer, self.call, self.bytes = file, line, procedure, outer, call, collections.Counter()

    def lies_in(self, loop):
        return sum(n for line, n in self.bytes.items() if loop.low <= line <= loop.high) >= 0.6 * max(self.bytes.total(), 1)


def note(element, file, at, found):
    """Bytes of the lines of one file below a loop."""
    for child in element:
        here = child.get("f", at)
        if child.tag == "S" and here == file and int(child.get("b")):
            found[int(child.get("b"))] += sum(int(b, 16) - int(a, 16) for a, b in (r.split("-") for r in (child.get("v") or "").split()))
        elif child.tag == "L":
            note(child, file, here, found)


def loops_in(binary):
    found = []

    def walk(element, file, procedure, outer, call):
        for child in element:
            if child.tag == "I":
                walk(child, child.get("df", file), procedure, outer, call or (child.get("f", file), int(child.get("b"))))
            elif child.tag == "G":
                walk(child, file, procedure, outer, call)
            elif child.tag == "L":
                loop = Found(child.get("f", file), int(child.get("l", child.get("b")) or 0), procedure, outer, call)
                note(child, loop.file, loop.file, loop.bytes)
                found.append(loop)
                walk(child, loop.file, procedure, loop, None)

    out = subprocess.run([HQ, "structure", "--xml", binary], capture_output=True, text=True, check=True).stdout
    for file in ET.fromstring(out).iterfind("LM/F"):
        for procedure in file.iterfind("P"):
            walk(procedure, procedure.get("f", file.get("n")), procedure.get("n"), None, None)
    return found


def is_nested(loop, sources):
    """Whether the loop around it in the code is one around it in the source."""
    outer, source = loop.outer, loop.outer and sources.of(loop.outer.file)
    file, line = loop.call or (loop.file, loop.line)
    if not source or not outer.line or file != outer.file or sources.is_directive(outer.file, outer.line):
        return True
    around = [x for x in source.loops if outer.line in x.lines]
    if not around:
        return source.is_array(outer.line, loop.bytes)
    own = sum(loop.line in x.lines for x in source.loops)
    return any(x.low <= line <= x.high and (loop.call or line not in x.lines or own > 1) for x in around)


def judge(loop, sources):
    source = sources.of(loop.file)
    for line in [x for x in loop.bytes if sources.is_directive(loop.file, x)]:    # a thread's share, of no statement
        del loop.bytes[line]
    named = [x for x in source.loops if loop.line in x.lines]
    if any(loop.lies_in(x) for x in named):
        verdict = "right"
    elif named:
        return "not around its code"
    elif source.is_array(loop.line, loop.bytes):
        verdict = "array"
    elif sources.is_directive(loop.file, loop.line):
        verdict = "directive"
    else:
        return "no control statement" if loop.line else "no line"
    return verdict if is_nested(loop, sources) else "not in that loop"


def count(binaries, verbose):
    sources, total = Sources(), collections.Counter()
    for binary in binaries:
        verdicts, wrong = collections.Counter(), []
        for loop in loops_in(binary):
            if sources.of(loop.file):
                verdict = judge(loop, sources)
                verdicts[verdict] += 1
                if verdict not in ("right", "array", "directive"):
                    wrong.append(f"   {os.path.basename(loop.file)}:{loop.line} {verdict}: {loop.procedure}")
        tell(os.path.basename(binary), verdicts)
        print("\n".join(sorted(wrong)) + "\n" if verbose and wrong else "", end="")
        total += verdicts
    tell("all", total)


def tell(name, verdicts):
    good = verdicts["right"] + verdicts["array"] + verdicts["directive"]
    print(f"{name}: {verdicts.total()} loops, {100 * good / max(verdicts.total(), 1):.1f} %: "
          + ", ".join(f"{v} {n}" for v, n in verdicts.most_common()))


def main():
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    count([x for x in sys.argv[1:] if x != "-v"], "-v" in sys.argv)


if __name__ == "__main__":
    main()
