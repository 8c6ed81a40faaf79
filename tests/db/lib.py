# SPDX-License-Identifier: BSD-3-Clause
"""A second reader of database files, written from doc/format-database.md alone: plain Python, nothing of hq's own code.

    db = Database("some.hq/hq.db")
    for line in db.dump(): print(line)

dump() gives every value in the file as text; build/tools/dump prints the same from the C reader.
"""
import struct
import subprocess
import sys

NONE = 0xFFFFFFFF
PIECE = 65536
M64 = (1 << 64) - 1

(STRINGS, INFO, METRICS, MODULES, SCOPES, ALIASES, CODES, FRAMES, CONTEXTS, PROFILES, SUMS, COUNTS, VALUE_INDEX, VALUES,
 SCOPE_INDEX, SCOPE_CONTEXTS, LOSSES, TRACE_INDEX, TRACE, SOURCES, STATISTICS, SCOPE_STATISTICS, FRAME_VALUE_INDEX,
 FRAME_VALUES, SOURCE_TEXT, NAMES, KNOWN, KNOWN_TEXT, REGIONS, MARK_INDEX, MARKS) = range(1, 32)

LAYOUTS = {
    INFO: "<II", METRICS: "<IIIHHQd", MODULES: "<IIII", SCOPES: "<IIIIIIIIIIIIQ", ALIASES: "<I", CODES: "<QIIII", FRAMES: "<II",
    CONTEXTS: "<QIIIIII", PROFILES: "<iIIIIIIIQQQII", SUMS: "<q", COUNTS: "<q", VALUE_INDEX: "<QqQ", SCOPE_INDEX: "<Q",
    SCOPE_CONTEXTS: "<I", LOSSES: "<IIQ", TRACE_INDEX: "<QQQII", SOURCES: "<IIQQ", STATISTICS: "<QqqqQQ",
    SCOPE_STATISTICS: "<QqqqQQ", FRAME_VALUE_INDEX: "<Q", NAMES: "<qI12s", KNOWN: "<IIIIQQQ",
    MARK_INDEX: "<QQII",
}


def hash_u64(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


class Coded:
    """Coded numbers from bytes."""

    def __init__(self, data, start, end):
        self.data, self.at, self.end = data, start, end

    def number(self):
        x = shift = 0
        while True:
            if self.at >= self.end:
                raise ValueError("a coded number is cut off")
            byte = self.data[self.at]
            self.at += 1
            x |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return x & M64

    def signed(self):
        x = self.number()
        return (x >> 1) ^ -(x & 1)


class Database:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        magic, major, _minor, count, table, size, _sum, self.sources_key = struct.unpack_from("<8sHHIQQQQ", self.data)
        if magic != b"HQDATA\r\n" or major != 1 or size != len(self.data):
            raise ValueError(f"{path}: not a database that this reader knows")
        self.sections = {}
        for i in range(count):
            tag, index, record, _, offset, length, records, _ = struct.unpack_from("<IIIIQQQQ", self.data, table + 48 * i)
            self.sections[tag, index] = (offset, length, record, records)
        self.metrics = self.records(METRICS)
        self.profiles = self.records(PROFILES)

    def bytes(self, tag, index=0):
        offset, length, _, _ = self.sections.get((tag, index), (0, 0, 0, 0))
        return self.data[offset:offset + length]

    def records(self, tag, index=0):
        layout = struct.Struct(LAYOUTS[tag])
        offset, _, record, count = self.sections.get((tag, index), (0, 0, 0, 0))
        return [layout.unpack_from(self.data, offset + i * record) for i in range(count)]

    def text(self, offset):
        start = self.sections[STRINGS, 0][0] + offset
        return self.data[start:self.data.index(b"\0", start)].decode("utf-8", "surrogateescape")

    def amount(self, code, period):
        """Samples and sum of one value."""
        head = code.number()
        count, form = head >> 2, head & 3
        if form == 0:
            return count, count * period
        if form == 1:
            return count, (count + code.number()) * period
        return count, code.signed()

    def values(self, profile, metric):
        index = self.value_index
        at = profile * len(self.metrics) + metric
        code = Coded(self.bytes(VALUES), index[at][0], index[at + 1][0])
        frame = -1
        while code.at < code.end:
            frame += code.number()
            yield (frame, *self.amount(code, self.metrics[metric][5]))

    def frame_values(self, metric):
        index = [x for (x,) in self.records(FRAME_VALUE_INDEX, metric)]
        data = self.bytes(FRAME_VALUES, metric)
        for frame in range(len(index) - 1):
            code = Coded(data, index[frame], index[frame + 1])
            profile = -1
            while code.at < code.end:
                profile += code.number()
                yield (frame, profile, *self.amount(code, self.metrics[metric][5]))

    def trace(self):
        data = self.bytes(TRACE)
        for offset, first, _last, profile, records in self.records(TRACE_INDEX):
            code = Coded(data, offset, len(data))
            time, metric, weight, frame = first, 0, 1, 0
            for _ in range(records):
                step = code.number()
                time += step >> 1
                if step & 1:
                    metric, weight = code.number(), code.number()
                frame += code.signed()
                yield profile, time, frame, metric, weight

    def marks(self):
        data = self.bytes(MARKS)
        for offset, marks, profile, _ in self.records(MARK_INDEX):
            code = Coded(data, offset, len(data))
            time = frame = 0
            for _ in range(marks):
                step = code.number()
                time += step >> 1
                frame += code.signed()
                yield profile, time, frame, step & 1

    def known(self):
        """(module, state, names) of each module whose procedures are known."""
        text = self.bytes(KNOWN_TEXT)
        for module, state, count, _, offset, length, unpacked in self.records(KNOWN):
            data = subprocess.run(["zstd", "-dc"], input=text[offset:offset + length], check=True, capture_output=True).stdout
            names, at, before = [], 0, b""
            while at < len(data):
                end = data.index(0, at + 1)
                before = before[:data[at]] + data[at + 1:end]
                names.append(before.decode("utf-8", "surrogateescape"))
                at = end + 1
            if len(data) != unpacked or len(names) != count:
                raise ValueError("the names of a module are not what their record says")
            yield module, state, names

    def dump_tables(self):
        text = self.text
        for key, value in self.records(INFO):
            yield f"info {text(key)} = {text(value)}"
        for name, event, about, dimension, flags, period, scale in self.metrics:
            yield f"metric {text(name)} {text(event)} {text(about)} {dimension} {flags} {period} {scale:.17g}"
        for path, build_id, flags, note in self.records(MODULES):
            yield f"module {text(path)} {text(build_id)} {flags} {text(note)}"
        aliases = self.records(ALIASES)
        for kind, parent, name, file, line, module, call_file, call_line, ordinal, first, count, linkage, address in self.records(SCOPES):
            names = "".join(" " + text(a) for (a,) in aliases[first:first + count])
            yield (f"scope {kind} {parent} {text(name)} ({text(linkage)}) {text(file)}:{line} {module} {text(call_file)}:{call_line} "
                   f"{ordinal} {address:x}{names}")
        for offset, module, raw, normal, _ in self.records(CODES):
            yield f"code {module} {offset:x} {raw} {normal}"
        for parent, code in self.records(FRAMES):
            yield f"frame {parent} {code}"
        for ident, scope, parent, end, first, call_file, call_line in self.records(CONTEXTS):
            yield f"context {ident:016x} {scope} {parent} {end} {first} {text(call_file)}:{call_line}"
        for (rank, thread, host, pid, tid, command, by, frame, start, begin, end, serial, state) in self.profiles:
            yield (f"profile {rank} {thread} {text(host)} {pid} {tid} {text(command)} {by} {frame} {start} {begin} {end} "
                   f"{serial} {state}")
        for reason, partial, count in self.records(LOSSES):
            yield f"loss {text(reason)} {partial} {count}"
        for sort in range(3):
            for total, name, part in self.records(NAMES, sort):
                yield f"name {sort} {text(name)} {total} {part.rstrip(bytes(1)).decode('utf-8', 'surrogateescape')}"
        starts = self.records(SCOPE_INDEX)
        contexts = self.records(SCOPE_CONTEXTS)
        for scope in range(len(starts) - 1):
            for (context,) in contexts[starts[scope][0]:starts[scope + 1][0]]:
                yield f"scope {scope} context {context}"
        source_text = self.bytes(SOURCE_TEXT)
        for path, _, offset, length in self.records(SOURCES):
            yield f"source {text(path)} {length} {sum(source_text[offset:offset + length])}"

        for module, state, names in self.known():
            for name in names:
                yield f"known {module} {state} {name}"

    def statistics_of_one(self, tag, sums):
        """Without the section one profile has all: each context's inclusive value is sum, least and greatest."""
        contexts = self.records(CONTEXTS) if tag == STATISTICS and len(self.profiles) == 1 else []
        first = [c[4] for c in contexts] + [len(sums) - 1]
        for _, _, _, end, start, _, _ in contexts:
            value = sums[first[end]][0] - sums[start][0]
            yield (int(value != 0), value, value, value, value * value & (1 << 64) - 1, value * value >> 64)

    def dump_metric(self, metric):
        sums, counts = self.records(SUMS, metric), self.records(COUNTS, metric)
        for frame, ((total,), (samples,)) in enumerate(zip(sums, counts)):
            yield f"sum {metric} {frame} {total} {samples}"
        for tag, word in ((STATISTICS, "context"), (SCOPE_STATISTICS, "scope")):
            for i, (count, total, low, high, lo, hi) in enumerate(self.records(tag, metric) or self.statistics_of_one(tag, sums)):
                yield f"statistics {metric} {word} {i} {count} {total} {low} {high} {hi:016x}{lo:016x}"
        for profile in range(len(self.profiles)):
            at = profile * len(self.metrics) + metric
            yield f"total {profile} {metric} {self.value_index[at][1]} {self.value_index[at][2]}"
            for frame, count, total in self.values(profile, metric):
                yield f"value {profile} {metric} {frame} {total} {count}"
        for frame, profile, count, total in self.frame_values(metric):
            yield f"by frame {metric} {frame} {profile} {total} {count}"

    def dump(self):
        self.value_index = self.records(VALUE_INDEX)
        yield from self.dump_tables()
        for metric in range(len(self.metrics)):
            yield from self.dump_metric(metric)
        for profile, time, frame, metric, weight in self.trace():
            yield f"trace {profile} {time} {frame} {metric} {weight}"
        for profile, time, frame, leaves in self.marks():
            yield f"mark {profile} {time} {frame} {leaves}"


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="surrogateescape")
    for line in Database(sys.argv[1]).dump():
        print(line)
