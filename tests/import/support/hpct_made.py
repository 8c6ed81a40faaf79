# SPDX-License-Identifier: BSD-3-Clause
"""
HPCToolkit databases of every shape that their format allows, made at random: sections, arrays and texts in any order and anywhere, structures
longer than version 4.0 has them, rubbish in every gap, unknown sections, kinds, types and relations, contexts that meta.db does not
have. Made(seed).save(directory) writes one; what a reader should find in it is told by expected_values and path.
"""
import collections
import os
import random
import struct

THREAD, PROCEDURE, INLINE, LOOP, LINE, PARTIAL = 1, 2, 3, 4, 5, 9      # of hq's scopes
ENCLOSED, CALLED, INLINED = 0, 1, 2
ORIGIN = 1_700_000_000_000_000_000


def known(file):
    return file if file and not file.startswith("[") else None


# ---- a file whose parts are placed when all of them are known ----

class Chunk:
    """Bytes with pointers into other chunks in them."""

    def __init__(self, align=8):
        self.data, self.pointers, self.align, self.at = bytearray(), [], align, None

    def add(self, layout, *values):
        """struct.pack; P is a pointer: None, a chunk, or a chunk and an offset in it."""
        for code, value in zip(layout, values, strict=True):
            if code == "P":
                if value:
                    self.pointers.append((len(self.data), *(value if isinstance(value, tuple) else (value, 0))))
                value = 0
            self.data += struct.pack("<" + code.replace("P", "Q"), value)
        return self

    def gap(self, n, rng):
        """Bytes that version 4.0 does not explain."""
        self.data += rng.randbytes(n) if rng else bytes(n)
        return self


class File:
    def __init__(self, rng, form, tail, later):
        self.rng, self.form, self.tail, self.later = rng, form, tail, later
        self.sections, self.free = {}, []

    def chunk(self, section, align=8):
        """A part of a section; of none: anywhere in the file. The first of a section is its head."""
        made = Chunk(align)
        (self.sections.setdefault(section, []) if section else self.free).append(made)
        return made

    def text(self, section, text):
        made = self.chunk(section, 1)
        made.data += text.encode() + b"\0"
        return made

    def place(self, data, chunk):
        data += self.rng.randbytes(-len(data) % chunk.align + chunk.align * self.rng.choice((0, 0, 0, 1, 3)))
        chunk.at = len(data)
        data += chunk.data

    def bytes(self, names):
        unknown = self.rng.randrange(4) if self.later else 0
        data = bytearray(16 + 16 * (len(names) + unknown))
        struct.pack_into("<10s4sBB", data, 0, b"HPCTOOLKIT", self.form, 4, self.rng.randrange(1, 256) if self.later else 0)
        order = [(name, chunks) for name, chunks in self.sections.items()] + [(None, [c]) for c in self.free]
        self.rng.shuffle(order)
        for name, chunks in order:
            self.place(data, chunks[0])
            for chunk in self.rng.sample(chunks[1:], len(chunks) - 1):
                self.place(data, chunk)
            if name is not None:
                struct.pack_into("<QQ", data, 16 + 16 * names.index(name), len(data) - chunks[0].at, chunks[0].at)
        for i in range(unknown):
            struct.pack_into("<QQ", data, 16 + 16 * (len(names) + i), self.rng.randrange(64), self.rng.randrange(len(data)))
        for chunk in [c for _, chunks in order for c in chunks]:
            for where, target, offset in chunk.pointers:
                struct.pack_into("<Q", data, chunk.at + where, target.at + offset)
        return bytes(data) + self.tail


# ---- what is in a database ----

Function = collections.namedtuple("Function", "name module offset file line")
Metric = collections.namedtuple("Metric", "name unit scopes chosen")    # scopes: (number of the scope, id of the values)
Scope = collections.namedtuple("Scope", "name kind bit")


class Context:
    def __init__(self, parent, relation, lexical, function=None, source=None, point=None, entry=None):
        self.parent, self.relation, self.lexical, self.entry = parent, relation, lexical, entry
        self.function, self.source, self.point, self.children = function, source, point, []
        self.bits, self.hidden, self.raw = 0, False, {}     # raw: (profile, metric) -> value
        if parent:
            parent.children.append(self)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def meaning(self):
        """Relation and lexical type as a reader takes them: what it does not know it takes from what is there."""
        lexical = self.lexical
        if lexical > 3:
            lexical = 0 if self.function is not None else 2 if self.source is not None else 3 if self.point is not None else 4
        return self.relation if self.relation <= 2 else CALLED if lexical == 0 else ENCLOSED, lexical


WORDS = ["main", "solve", "f(int, char const*)", "größe", 'q"uote', "a,b", "op<", "operator()", "x" * 300, " spaces ", "new\tline", "<gpu kernel>"]


class Made:
    """A random database."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.later = rng.random() < 0.7
        self.noise = rng if self.later else None
        self.modules = [f"/lib/lib{i}.so" for i in range(rng.randrange(1, 5))]
        self.files = [f"/src/ü{i}.c" for i in range(rng.randrange(1, 6))] + ["[lib0.so]"]
        self.functions = [self.make_function(i) for i in range(rng.randrange(2, 14))]
        self.kinds = ["SUMMARY", "NODE", "RANK", "THREAD", "CORE", "GPUCONTEXT", "GPUSTREAM", "WARP"]
        rng.shuffle(self.kinds)
        self.make_metrics()
        self.make_profiles()
        self.root = Context(None, 0, 9)
        for i in range(rng.randrange(1, 5)):
            top = Context(self.root, 0, 9, entry=rng.choice((0, 1, 1, 2, 2) + ((7, 400) if self.later else ())))
            self.grow(top, rng.randrange(1, 9))
        self.contexts = [c for c in self.root.walk()]
        numbers = rng.sample(range(1, 1 << rng.choice((12, 31))), len(self.contexts))
        for c, number in zip(self.contexts, numbers):
            c.number = 0 if c is self.root else number
        self.make_values()
        self.make_traces()

    def make_function(self, i):
        rng = self.rng
        name = rng.choice(WORDS + [f"f{i}"]) if rng.random() < 0.8 else None
        module = rng.choice(self.modules) if rng.random() < 0.8 else None
        file = rng.choice(self.files) if rng.random() < 0.8 or not (name or module) else None
        return Function(name, module, rng.randrange(1 << 40), file, rng.randrange(1, 1000))

    def make_metrics(self):
        rng = self.rng
        bits = rng.sample(range(16), 3)
        self.scopes = [Scope("point", 1, 255), Scope("execution", 2, 255), Scope("function", 3, bits[0]), Scope("lex_aware", 0, 255), Scope("two", 3, bits[1])]
        if self.later:
            self.scopes.append(Scope("later", 9, bits[2]))
        rng.shuffle(self.scopes)
        self.metrics, names = [], ["REALTIME (sec)", "CPUTIME (sec)", "PAPI_TOT_CYC", "GXCOPY (bytes)", "cycles:u", "späť", "MEM (B)"]
        ids = rng.sample(range(65536), 200)
        for name in rng.sample(names, rng.randrange(1, len(names))):
            scopes = [(i, ids.pop()) for i in rng.sample(range(len(self.scopes)), rng.randrange(not self.metrics, len(self.scopes) + 1))]
            self.metrics.append(Metric(name, 0.125 if "(sec)" in name else 1, scopes, self.best(i for i, _ in scopes)))
        self.statistics = {m.name: [(rng.randrange(len(self.scopes)), rng.choice(("$$", "($$^2)", "1")), rng.randrange(9 if self.later else 3), ids.pop())
                                    for _ in range(rng.randrange(4))] for m in self.metrics}

    def best(self, scopes):
        """Execution values tell most, then those of a part of what is below, then those of the context alone; no others can be understood."""
        rank = {2: 0, 3: 1, 1: 2}
        return min((i for i in scopes if self.scopes[i].kind in rank), key=lambda i: rank[self.scopes[i].kind], default=None)

    def make_profiles(self):
        """(kind, number, is physical) of each; None: no tuple. Summaries of a rank or a node are among them."""
        rng, self.profiles = self.rng, []
        for rank in range(rng.randrange(1, 4)):
            for thread in range(rng.randrange(1, 4)):
                ids = [("NODE", rank // 2, True), ("RANK", rank, False), ("CORE", thread, True), ("THREAD", thread, False)]
                self.profiles.append((ids if rng.random() < 0.5 else ids[1::2], False))
            for stream in range(rng.randrange(2)):
                self.profiles.append(([("RANK", rank, False), ("GPUCONTEXT", 0, False), ("GPUSTREAM", stream, False), ("WARP", 9, True)], False))
            if rng.random() < 0.3:
                self.profiles.append(([("RANK", rank, False)], True))
        self.profiles += [(None, False)] * rng.choice((0, 0, 0, 1, 3))
        if rng.random() < 0.1:
            self.profiles = [(ids, True) for ids, _ in self.profiles]
        rng.shuffle(self.profiles)
        self.threads = [i for i, (_, summary) in enumerate(self.profiles) if not summary]
        self.measured = self.threads or range(3)

    def grow(self, parent, depth):
        rng = self.rng
        if not depth:
            return
        for _ in range(rng.randrange(1, 4)):
            source = (rng.choice(self.files), rng.randrange(1, 500))
            point = (rng.choice(self.modules), rng.randrange(1 << 30))
            relation, lexical = rng.choice([(CALLED, 0)] * 4 + [(INLINED, 0)] * 2 + [(ENCLOSED, 0), (ENCLOSED, 1), (ENCLOSED, 1), (ENCLOSED, 3)] + [(ENCLOSED, 2)] * 5 +
                                           [(CALLED, 1), (CALLED, 2), (CALLED, 3)] + ([(9, 0), (200, 1), (CALLED, 77), (ENCLOSED, 4), (3, 255)] if self.later else []))
            function = rng.choice(self.functions) if lexical == 0 and rng.random() < 0.9 or lexical > 3 and rng.random() < 0.4 else None
            c = Context(parent, relation, lexical, function, source if lexical in (1, 2) or rng.random() < 0.1 else None,
                        point if lexical == 3 or rng.random() < 0.2 else None)
            c.bits = rng.randrange(1 << 16)
            self.grow(c, depth - 1 - rng.randrange(3) if depth > 3 else depth - 1)

    def make_values(self):
        """Raw values; below some contexts are others that only profile.db knows."""
        rng = self.rng
        for c in list(self.contexts):
            if not c.children and rng.random() < 0.2:
                hidden = Context(c, ENCLOSED, 3)
                hidden.hidden, hidden.bits, hidden.number = True, 0, (1 << 31) + len(self.contexts)
                self.contexts.append(hidden)
        for c in self.contexts:
            if rng.random() < 0.6 and c is not self.root:
                for p in self.measured:
                    for m, metric in enumerate(self.metrics):
                        if rng.random() < 0.5:
                            c.raw[p, m] = rng.randrange(1, 1000) * metric.unit

    def make_traces(self):
        rng, self.traces = self.rng, []
        if rng.random() < 0.3:
            return
        for p in rng.sample(range(len(self.profiles)), rng.randrange(len(self.profiles) + 1)):
            time, idle, records = ORIGIN + rng.randrange(10 ** 9), False, []
            for _ in range(rng.randrange(12)):
                c = None if not idle and rng.random() < 0.2 else rng.choice(self.contexts[1:])
                records.append((time, c))
                idle, time = c is None, time + rng.randrange(1, 10 ** 8)
            self.traces.append((p, records))

    # ---- writing ----

    def propagated(self, scope, c, key):
        """The value of a context: its own and those of the children that reach it."""
        s = self.scopes[scope]
        total = c.raw.get(key, 0)
        for child in c.children:
            if s.kind in (0, 2) or s.kind in (3, 9) and child.bits >> (s.bit if s.bit < 16 else 0) & 1:
                total += self.propagated(scope, child, key)
        return total

    def statistic(self, m, scope, formula, combine, c):
        values = [self.propagated(scope, c, (p, m)) for p in self.measured]
        return (sum, min, max)[combine](values) if formula == "$$" and combine < 3 else self.rng.randrange(3) if any(values) else 0

    def stride(self, size):
        return size + 8 * self.rng.randrange(4) if self.later else size

    def table(self, f, section, rows, size, head, wide=False):
        """A section of one array: its head and where each row stands."""
        top, array, stride, where = f.chunk(section), f.chunk(section), self.stride(size), {}
        top.add("PI" + ("H" if wide else "B"), array, len(rows), stride).gap(head, self.noise)
        for row, fill in rows:
            where[row] = (array, len(array.data))
            fill(array)
            array.gap(where[row][1] + stride - len(array.data), self.noise)
        return where

    def write_metrics(self, f):
        rng, n = self.rng, self.noise
        top, array, scopes = f.chunk("Metrics"), f.chunk("Metrics"), f.chunk("Metrics")
        sizes = [self.stride(x) for x in (32, 16, 24, 16)]
        top.add("PIBBB", array, len(self.metrics), *sizes[:3]).gap(1, n).add("PHB", scopes, len(self.scopes), sizes[3]).gap(5, n)
        for s in self.scopes:
            scopes.add("PBB", f.text("Metrics", s.name), s.kind, s.bit).gap(sizes[3] - 10, n)
        for m in self.metrics:
            instances = f.chunk("Metrics") if m.scopes else None
            for i, number in m.scopes:
                instances.add("PH", (scopes, i * sizes[3]), number).gap(sizes[1] - 10, n)
            summaries = f.chunk("Metrics") if self.statistics[m.name] else None
            for i, formula, combine, number in self.statistics[m.name]:
                summaries.add("PPB", (scopes, i * sizes[3]), f.text("Metrics", formula), combine).gap(1, n).add("H", number).gap(sizes[2] - 20, n)
            array.add("PPPHH", f.text("Metrics", m.name), instances, summaries, len(m.scopes), len(self.statistics[m.name])).gap(sizes[0] - 28, n)

    def write_contexts(self, f, contexts, functions, files, modules):
        if not contexts:
            return None
        array = f.chunk("Context")
        for c in self.rng.sample(contexts, len(contexts)):
            below = self.write_contexts(f, [x for x in c.children if not x.hidden], functions, files, modules)
            flags = (c.function is not None) | (c.source is not None) << 1 | (c.point is not None) << 2
            flex = Chunk()
            if c.function is not None:
                flex.add("P", functions[self.functions.index(c.function)])
            if c.source is not None:
                flex.add("PI", files[c.source[0]], c.source[1]).gap(4, self.noise)
            if c.point is not None:
                flex.add("PQ", modules[c.point[0]], c.point[1])
            flex.gap(8 * self.rng.randrange(3) if self.later else 0, self.noise)
            if self.later:
                flags |= self.rng.randrange(32) << 3
            array.add("QPIBBBBH", len(below.data) if below else 0, below, c.number, flags, c.relation, c.lexical, len(flex.data) // 8, c.bits).gap(6, self.noise)
            array.pointers += [(len(array.data) + at, target, offset) for at, target, offset in flex.pointers]
            array.data += flex.data
        return array

    def meta(self):
        f, n = File(self.rng, b"meta", b"_meta.db", self.later), self.noise
        f.chunk("General").add("PP", f.text("General.", "a title"), None).gap(8, n)
        # The texts of a section are parts of it; its head comes first.
        f.sections["General"] += f.sections.pop("General.")
        names = Chunk()
        f.chunk("IdNames").add("PB", names, len(self.kinds)).gap(7, n)
        f.sections["IdNames"].append(names)
        for k in self.kinds:
            names.add("P", f.text("IdNames", k))
        self.write_metrics(f)
        f.chunk("Strings").gap(8, n)
        path = lambda p: lambda a: a.gap(8, n).add("P", f.text("Strings", p))      # noqa: E731
        modules = self.table(f, "Modules", [(p, path(p)) for p in self.modules], 16, 2, True)
        files = self.table(f, "Files", [(p, path(p)) for p in self.files], 16, 2, True)
        functions = self.table(f, "Functions", [
            (i, lambda a, x=x: a.add("PPQPI", x.name and f.text("Strings", x.name), x.module and modules[x.module], x.offset, x.file and files[x.file], x.line).gap(4, n))
            for i, x in enumerate(self.functions)], 40, 2, True)
        top, entries, stride = f.chunk("Context"), f.chunk("Context"), self.stride(32)
        top.add("PHB", entries, len(self.root.children), stride).gap(5, n)
        for e in self.root.children:
            below = self.write_contexts(f, [x for x in e.children if not x.hidden], functions, files, modules)
            entries.add("QPIH", len(below.data) if below else 0, below, e.number, e.entry).gap(2, n).add("P", f.text("Strings", f"entry {e.entry}")).gap(stride - 32, n)
        return f.bytes(["General", "IdNames", "Metrics", "Context", "Strings", "Modules", "Files", "Functions"])

    def block(self, f, rows):
        """rows: (context's number, [(id, value)]). Values, padding, then the index."""
        both, pairs = f.chunk(None), sum(len(v) for _, v in rows)
        for _, values in rows:
            for number, value in sorted(values):
                both.add("Hd", number, value)
        both.gap(-len(both.data) % 4 + 4 * self.rng.randrange(3), self.rng)
        index, start = len(both.data), 0
        for number, values in rows:
            both.add("IQ", number, start)
            start += len(values)
        return (pairs, both, len(rows), (both, index)) if rows else (0, None, 0, None)

    def profile(self):
        f, n, rng = File(self.rng, b"prof", b"_prof.db", self.later), self.noise, self.rng
        ordered, infos = sorted(self.contexts, key=lambda c: c.number), []
        for p, (ids, summary) in [(None, (None, True))] + list(enumerate(self.profiles)):
            rows = []
            for c in ordered:
                if summary:
                    values = [(s[3], self.statistic(m, *s[:3], c)) for m, metric in enumerate(self.metrics) for s in self.statistics[metric.name]]
                else:
                    values = [(number, self.propagated(i, c, (p, m))) for m, metric in enumerate(self.metrics) for i, number in metric.scopes]
                values = [(number, value) for number, value in values if value]
                if values:
                    rows.append((c.number, values))
            pairs, values, count, index = self.block(f, rows)
            who = None
            if ids is not None:
                who = f.chunk("IdTuples").add("H", len(ids)).gap(6, n)
                for kind, number, physical in ids:
                    who.add("B", self.kinds.index(kind)).gap(1, n).add("HIQ", physical | (rng.randrange(1 << 15) << 1 if self.later else 0), number, 4096 + number if physical else number)
                who.gap(8 * rng.randrange(3) if self.later else 0, n)
            infos.append((len(infos), lambda a, x=(pairs, values, count), y=(index, who, summary | (rng.randrange(1 << 31) << 1 if self.later else 0)):
                          a.add("QPI", *x).gap(4, n).add("PPI", *y).gap(4, n)))
        self.table(f, "ProfileInfos", infos, 48, 3)
        f.sections.setdefault("IdTuples", [Chunk().gap(8, n)])
        return f.bytes(["ProfileInfos", "IdTuples"])

    def trace(self):
        f, n, rows = File(self.rng, b"trce", b"trace.db", self.later), self.noise, []
        times = [time for _, records in self.traces for time, _ in records] or [0]
        for i, (p, records) in enumerate(self.traces):
            line = f.chunk(None, 4)
            for time, c in records:
                line.add("QI", time, c.number if c else 0)
            rows.append((i, lambda a, x=p + 1, line=line: a.add("I", x).gap(4, n).add("PP", line, (line, len(line.data)))))
        self.table(f, "CtxTraces", rows, 24, 3)
        f.sections["CtxTraces"][0].add("QQ", min(times), max(times)).gap(8, n)
        return f.bytes(["CtxTraces"])

    def save(self, directory):
        os.makedirs(directory)
        for name, data in ("meta.db", self.meta()), ("profile.db", self.profile()), ("trace.db", self.traces and self.trace()):
            if data:
                with open(f"{directory}/{name}", "wb") as file:
                    file.write(data)
        return directory

    # ---- what a reader should make of it ----

    def function_name(self, c):
        f = c.function
        module, offset = (f and f.module) or (c.point[0] if c.point else None), f.offset if f else c.point[1] if c.point else 0
        if f and f.name:
            return f.name
        if module:
            return f"{os.path.basename(module)}+0x{offset:x}"
        return f"<unknown procedure> [{os.path.basename(f.file)}:{f.line}]" if f and known(f.file) else "<unknown procedure>"

    def step(self, kind, c):
        f = c.function
        return (kind, self.function_name(c)) + ((f.file, f.line) if f and known(f.file) else ("", 0))

    def path(self, c):
        """The call path of a context, outermost first, each call with its scopes and line."""
        if c is self.root:
            return (((PARTIAL, "partial: no call path"),),)
        calls, first = [], True
        while c.entry is None and c is not self.root:
            steps, line, looking = [], None, True
            while True:
                relation, lexical = c.meaning()
                starts = relation == CALLED or c.parent.entry is not None or c.parent is self.root
                if lexical == 2 and looking:
                    line, looking = c.source if c.source is not None and known(c.source[0]) else None, False
                if lexical in (0, 1) or starts:
                    looking = False
                if lexical == 1:
                    steps.append((LOOP,) + (c.source if c.source is not None and known(c.source[0]) else ("", c.source[1] if c.source else 0)))
                if starts or lexical == 0:
                    steps.append(self.step(PROCEDURE if starts else INLINE, c))
                c = c.parent
                if starts:
                    break
            calls.append(tuple(reversed(steps)) + ((LINE,) + (line or ("", 0)),))
            first = False
        if c.entry == 0:
            calls.append(((PARTIAL, "partial: unknown entry"),))
        elif c.entry and c.entry > 1:
            calls.append(((THREAD, f"entry {c.entry}"),))
        elif first:
            calls.append(((PARTIAL, "partial: no call path"),))
        return tuple(reversed(calls))

    def expected_values(self, profiles, summary=False):
        """(metric, path) -> value of profiles, without the zeros; of a summary profile the plain sums can be used."""
        values = collections.Counter()
        for m, metric in enumerate(self.metrics):
            chosen = self.best(s[0] for s in self.statistics[metric.name] if s[1:3] == ("$$", 0)) if summary else metric.chosen
            for c in self.contexts:
                value = sum(c.raw.get((p, m), 0) for p in profiles)
                if chosen is None or not value:
                    continue
                at, kind = c, self.scopes[chosen].kind
                if c.hidden:
                    # Its value has reached its parent, or it is known of no context at all.
                    at = c.parent if kind == 2 else self.root
                values[metric.name.split(" (")[0], self.path(at)] += value
        return values
