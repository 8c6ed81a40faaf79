# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of importers and exporters share: writers of binary formats, made from their descriptions, and running hq."""
import json
import os
import struct
import subprocess

from counting import check, finish  # noqa: F401

HQ, TMP = os.environ["HQ"], os.environ["HQ_TEST_TMP"]


def run(*command, status=0):
    """Runs hq; returns what it printed, or its error if another status is expected."""
    done = subprocess.run([HQ, *map(str, command)], capture_output=True, stdin=subprocess.DEVNULL)
    check(done.returncode == status, f"hq {' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr.decode()}")
    return (done.stdout if status == 0 else done.stderr).decode()


def write(name, data):
    path = f"{TMP}/{name}"
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def tree(database, extra=""):
    """The rows of `tree` as texts: indentation, kind unless a procedure, name, call site, values."""
    rows = json.loads(run(database, f"set lines off; tree all {extra} as json"))["rows"]
    texts = []
    for r in rows:
        kind = "" if r["kind"] == "procedure" else r["kind"] + " "
        site = f" ({r['callsite']})" if r["callsite"] else ""
        values = " ".join("-" if v is None else f"{v:.6g}" for v in r["values"][::2])
        texts.append(f"{' ' * r['depth']}{kind}{r['name']}{site} {values}")
    return texts


def check_tree(database, want, extra=""):
    got = tree(database, extra)
    want = [line for line in want.split("\n") if line.strip()]
    check(got == want, f"{database}:\n" + "\n".join(got) + "\nis not\n" + "\n".join(want))


# ---- protocol buffers ----

def varint(x):
    x &= (1 << 64) - 1
    out = b""
    while x >= 0x80:
        out += bytes([x & 0x7F | 0x80])
        x >>= 7
    return out + bytes([x])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(n, v) for n, v in fields)


class Pprof:
    """A profile.proto file."""

    def __init__(self, types, packed=True):
        self.strings, self.body, self.packed = [""], b"", packed
        for name, unit in types:
            self.body += field(1, message((1, self.text(name)), (2, self.text(unit))))

    def text(self, s):
        if s not in self.strings:
            self.strings.append(s)
        return self.strings.index(s)

    def mapping(self, ident, start, limit, offset, name, build_id=""):
        self.body += field(3, message((1, ident), (2, start), (3, limit), (4, offset), (5, self.text(name)), (6, self.text(build_id))))

    def function(self, ident, name, file="", line=0):
        self.body += field(5, message((1, ident), (2, self.text(name)), (4, self.text(file)), (5, line)))

    def location(self, ident, lines, mapping=0, address=0):
        self.body += field(4, message((1, ident), (2, mapping), (3, address), *((4, message((1, f), (2, n))) for f, n in lines)))

    def sample(self, locations, values, labels=()):
        if self.packed:
            numbers = [(1, b"".join(map(varint, locations))), (2, b"".join(map(varint, values)))]
        else:
            numbers = [(1, x) for x in locations] + [(2, x) for x in values]
        tags = [(3, message((1, self.text(k)), (2, self.text(v)) if isinstance(v, str) else (3, v))) for k, v in labels]
        self.body += field(2, message(*numbers, *tags))

    def bytes(self, period=None, default=None):
        tail = field(14, self.text(default)) if default else b""
        tail += b"".join(field(6, s) for s in self.strings)
        if period:
            tail += field(11, message((1, self.text(period[0])), (2, self.text(period[1])))) + field(12, period[2])
        return self.body + tail


# ---- HPCToolkit 4.0 ----

class Blob:
    """A file that grows; things are put in at multiples of 8 and known by their offsets."""

    def __init__(self, size):
        self.data = bytearray(size)

    def put(self, data, align=8):
        self.data += bytes(-len(self.data) % align)
        at = len(self.data)
        self.data += data
        return at

    def text(self, s):
        return self.put(s.encode() + b"\0", 1)

    def header(self, form, minor, sections):
        self.data[:16] = b"HPCTOOLKIT" + form + bytes([4, minor])
        for i, (size, offset) in enumerate(sections):
            struct.pack_into("<QQ", self.data, 16 + 16 * i, size, offset)


class Hpctoolkit:
    """
    A database: contexts are (relation, lexical, name or (file, line) or (module, offset), children, values) with values
    {thread: raw value}. Writes what a later minor version might: `extra` bytes more in every structure that may grow. `scope` is
    what the values are propagated over; with `extra` there are metrics beside that have no values, or none that can be understood.
    """

    def __init__(self, threads, metric="REALTIME (sec)", minor=0, extra=0, scope="execution"):
        self.threads, self.metric, self.minor, self.extra, self.scope = threads, metric, minor, extra, scope
        self.meta = Blob(0x90 + 16)
        self.next, self.execution, self.function_values, self.raw, self.ids = 1, {}, {}, {}, {}
        self.files, self.modules, self.functions = {}, {}, {}
        self.where = {}     # of functions: load module, file (None: not known), line

    def path(self, table, name):
        if name not in table:
            table[name] = self.meta.put(struct.pack("<IIQ", 0, 0, self.meta.text(name)) + bytes(self.extra))
        return table[name]

    def function(self, name, module="/bin/prog", file="/src/prog.c", line=1):
        if name not in self.functions:
            fields = (self.meta.text(name) if name else 0, self.path(self.modules, module), 0x1234, self.path(self.files, file) if file else 0)
            self.functions[name] = self.meta.put(struct.pack("<QQQQII", *fields, line, 0) + bytes(self.extra))
        return self.functions[name]

    def context(self, c):
        """Writes what is below a context; returns its own bytes and its execution values."""
        relation, lexical, what, children, values = c
        ident, self.next = self.next, self.next + 1
        below, threads = [self.context(x) for x in children], range(len(self.threads))
        total = {t: values.get(t, 0) + sum(v.get(t, 0) for _, v, _ in below) for t in threads}
        # Of the function alone: nothing crosses a call.
        own = {t: values.get(t, 0) + sum(v.get(t, 0) for (_, _, v), x in zip(below, children) if x[0] != 1) for t in threads}
        data = b"".join(x for x, _, _ in below)
        at = self.meta.put(data) if data else 0
        self.execution[ident], self.function_values[ident], self.raw[ident] = total, own, values
        flags, flex = 0, b""
        if isinstance(what, str):
            flags, flex = 1, struct.pack("<Q", self.function(what, *self.where.get(what, ())))
        elif what and lexical in (1, 2):
            flags, flex = 2, struct.pack("<QII", self.path(self.files, what[0]), what[1], 0)
        elif what:
            flags, flex = 4, struct.pack("<QQ", self.path(self.modules, what[0]), what[1])
        flex += bytes(8 if self.extra else 0)
        self.ids[str(what)] = ident
        return struct.pack("<QQIBBBBH6x", len(data), at, ident, flags, relation, lexical, len(flex) // 8, (relation != 1) << 3) + flex, total, own

    def write_meta(self, entries):
        m, kinds = self.meta, ["SUMMARY", "NODE", "RANK", "THREAD"]
        general = m.put(struct.pack("<QQ", m.text("a test"), m.text("")))
        names = m.put(struct.pack("<4Q", *(m.text(k) for k in kinds)))
        idnames = m.put(struct.pack("<QB7x", names, 4))
        kind = {"point": 1, "execution": 2, "function": 3}[self.scope]
        scope = m.put(struct.pack("<QBB6x", m.text(self.scope), kind, 3 if kind == 3 else 255) + bytes(self.extra))
        unknown = m.put(struct.pack("<QBB6x", m.text("lex_aware"), 0, 255) + bytes(self.extra))
        instances = m.put(b"".join(struct.pack("<QH6x", s, i) + bytes(self.extra) for s, i in ((unknown, 5), (scope, 7))))
        unused = m.put(struct.pack("<QH6x", scope, 9) + bytes(self.extra))
        custom = m.put(struct.pack("<QH6x", unknown, 11) + bytes(self.extra))
        # The mean and maximum over the threads: in the summary profile.
        summaries = m.put(b"".join(struct.pack("<QQBxH4x", scope, m.text("$$"), combine, i) + bytes(self.extra) for combine, i in ((0, 20), (2, 21), (9, 22))))
        rows = [(m.text("GKER (sec)"), unused, 0, 1, 0), (m.text("what"), custom, 0, 1, 0)] if self.extra else []
        rows.append((m.text(self.metric), instances, summaries, 2, 3))
        metric = m.put(b"".join(struct.pack("<QQQHH4x", *row) + bytes(self.extra) for row in rows))
        metrics = m.put(struct.pack("<QIBBBxQHB5x", metric, len(rows), 32 + self.extra, 16 + self.extra, 24 + self.extra, scope, 2, 16 + self.extra))
        tops = b""
        for entry, name, children in entries:
            ident, self.next = self.next, self.next + 1
            below = [self.context(x) for x in children]
            self.execution[ident] = {t: sum(v.get(t, 0) for _, v, _ in below) for t in range(len(self.threads))}
            data = b"".join(x for x, _, _ in below)
            at = m.put(data) if data else 0
            tops += struct.pack("<QQIH2xQ", len(data), at, ident, entry, m.text(name)) + bytes(self.extra)
        at = m.put(tops)
        context = m.put(struct.pack("<QHB5x", at, len(entries), 32 + self.extra))
        empty = m.put(bytes(16))
        m.put(b"_meta.db", 1)
        m.header(b"meta", self.minor, [(16, general), (16, idnames), (0x20, metrics), (16, context), (0, empty), (16, empty), (16, empty), (16, empty)])
        return m.data

    def write_profile(self):
        p, infos = Blob(0x30), []
        if not self.extra:
            self.execution[0] = {t: sum(v.get(t, 0) for v in self.raw.values()) for t in range(len(self.threads))}
        values_of = {"execution": self.execution, "function": self.function_values, "point": self.raw}[self.scope]
        for t, identity in enumerate([None] + self.threads):
            values, index, n = b"", b"", 0
            for ident in sorted(values_of):
                x = sum(values_of[ident].values()) if identity is None else values_of[ident].get(t - 1, 0)
                if x:
                    index += struct.pack("<IQ", ident, n)
                    ids = (7,) if identity is not None else (20, 21, 22)
                    values += b"".join(struct.pack("<Hd", i, x) for i in ids)
                    n += len(ids)
            pv, pi = p.put(values), p.put(index, 4)
            tuple_at = 0
            if identity is not None:
                tuple_at = p.put(struct.pack("<H6x", len(identity)) + b"".join(struct.pack("<BxHIQ", k, 0, v, v) for k, v in identity))
            infos.append(struct.pack("<QQIxxxxQQI4x", n, pv, len(index) // 12, pi, tuple_at, identity is None) + bytes(self.extra))
        at = p.put(b"".join(infos))
        head = p.put(struct.pack("<QIB3x", at, len(infos), 48 + self.extra))
        p.put(b"_prof.db", 1)
        p.header(b"prof", self.minor, [(16, head), (0, head)])
        return p.data

    def write_trace(self, lines):
        t, heads = Blob(0x20), []
        for profile, elements in lines:
            at = t.put(b"".join(struct.pack("<QI", time, self.ids.get(c, 0) if c else 0) for time, c in elements), 4)
            heads.append(struct.pack("<IxxxxQQ", profile, at, at + 12 * len(elements)) + bytes(self.extra))
        at = t.put(b"".join(heads))
        times = [time for _, elements in lines for time, _ in elements]
        head = t.put(struct.pack("<QIB3xQQ", at, len(heads), 24 + self.extra, min(times), max(times)))
        t.put(b"trace.db", 1)
        t.header(b"trce", self.minor, [(32, head)])
        return t.data

    def save(self, directory, entries, trace=None):
        os.makedirs(directory, exist_ok=True)
        for name, data in (("meta.db", self.write_meta(entries)), ("profile.db", self.write_profile())):
            with open(f"{directory}/{name}", "wb") as file:
                file.write(data)
        if trace:
            with open(f"{directory}/trace.db", "wb") as file:
                file.write(self.write_trace(trace))
        return directory
