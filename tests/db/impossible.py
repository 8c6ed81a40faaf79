# SPDX-License-Identifier: BSD-3-Clause
"""Databases whose checksums are right and that say what cannot be: whichever record it is, the first and the last of each section too, `hq verify`
finds it. The numbers of fields are those of doc/format-database.md."""
import os
import struct
import subprocess
import sys

from counting import check, finish, seconds

sys.path.insert(0, "tests/db")
import lib  # noqa: E402
from lib import Database, hash_u64  # noqa: E402

HQ, TMP, TOP, BUILD = (os.environ[v] for v in ("HQ", "HQ_TEST_TMP", "TOP", "BUILD"))
M64, PIECE = (1 << 64) - 1, 65536
MESSAGES, QUEUES, COMMANDS, HOST_WAITS, GROWTH_INDEX = 32, 33, 34, 35, 36
FAR, LARGE = 0xFFFFFFF0, 1 << 62

FIXTURE = """info host here
info command app
metric CPUTIME seconds 1e-9 1000000 sampled traced
metric ALLOC_BYTES bytes 1 0 exact counted
metric GPU_TIME seconds 1e-9 1000 exact traced device spans
module app /opt/app
module lib /opt/lib.so
file a app app.c
file b lib lib.c
proc main a main 1 alias_of_main another
proc work b work 10 one_more
loop steps main 3
inline inlined work small lib.c 20 12
known app all another main
known lib symbols one_more work
region team main part 5
profile p0 rank=0 host=n pid=10 tid=10 command=/opt/app end=9000
profile p1 rank=1 host=n pid=11 tid=11 command=/opt/app end=9000 creator=p0
profile q0 rank=0 host=n pid=10 thread=2147483648 command=/opt/app end=9000
profile q1 rank=1 host=n pid=11 thread=2147483648 command=/opt/app end=9000
queue q0 gizmo 400
queue q1 gizmo 400
"""
for p in "p0", "p1":
    FIXTURE += f"""value {p} CPUTIME 4000000 4 main:2
value {p} CPUTIME 3000000 3 main:2 > steps:4 > work:11
value {p} CPUTIME 2000000 2 main:2 > work:12 > inlined:21
value {p} ALLOC_BYTES 500 3 main:2 > work:11
value q{p[1]} GPU_TIME 4000000 1 main:3 > work:11
opened {p} 7 5000 team=2/14 main:2 > team
message {p} 0 3 300 70 2 200 main:2 > work:11
message {p} 1 3 300 70 2 200 main:2 > work:11
host-wait {p} 1000 2000
host-wait {p} 3000 4000
command q{p[1]} kernel 0 0 0 4000000 0 main:3 > work:11
command q{p[1]} copy 0 0 5000000 4000000 9 main:3 > work:11
trace {p} 1000 CPUTIME 1 main:2
trace {p} 2000 CPUTIME 1 main:2 > steps:4 > work:11
mark {p} 3000 enter main:2 > phase=p
growth {p} 3000 ALLOC_BYTES 100
mark {p} 5000 leave main:2 > phase=p
growth {p} 5000 ALLOC_BYTES 400
trace q{p[1]} 0 GPU_TIME 0 main:3
trace q{p[1]} 4000 GPU_TIME 4000 main:3 > work:11
"""
FIXTURE += """loss "no space" 3
partial "no unwind information" 2
source app.c "int main;"
source lib.c "int work;"
source nothing.c ""
"""

class Of:
    """The first number that names nothing of a section."""

    def __init__(self, tag):
        self.tag = tag


TEXT, MODULE, SCOPE, CODE, FRAME, CONTEXT, PROFILE = map(Of, (lib.STRINGS, lib.MODULES, lib.SCOPES, lib.CODES, lib.FRAMES, lib.CONTEXTS, lib.PROFILES))

# Section: (offset in a record, format, impossible value). "i": the record's own number; (n,): that much more than it was.
WRONG = {
    lib.INFO: [(0, "I", TEXT), (4, "I", TEXT)],
    lib.METRICS: [(0, "I", TEXT), (4, "I", TEXT), (8, "I", TEXT)],
    lib.MODULES: [(0, "I", TEXT), (4, "I", TEXT), (12, "I", TEXT)],
    lib.SCOPES: [(0, "I", 99), (4, "I", "i"), (8, "I", TEXT), (12, "I", TEXT), (20, "I", MODULE), (24, "I", TEXT), (36, "I", FAR), (40, "I", FAR), (44, "I", TEXT)],
    lib.ALIASES: [(0, "I", TEXT)],
    lib.CODES: [(8, "I", MODULE), (12, "I", SCOPE), (16, "I", SCOPE)],
    lib.FRAMES: [(0, "I", "i"), (4, "I", CODE)],
    lib.CONTEXTS: [(8, "I", SCOPE), (12, "I", "i"), (16, "I", "i"), (16, "I", FAR), (20, "I", FAR), (24, "I", TEXT)],
    lib.PROFILES: [(8, "I", TEXT), (20, "I", TEXT), (24, "I", PROFILE), (28, "I", FRAME)],
    lib.VALUE_INDEX: [(0, "Q", LARGE), (8, "q", (1,)), (16, "Q", (1,))],
    lib.SCOPE_INDEX: [(0, "Q", LARGE)],
    lib.SCOPE_CONTEXTS: [(0, "I", CONTEXT), (0, "I", (1,))],
    lib.LOSSES: [(0, "I", TEXT)],
    lib.TRACE_INDEX: [(8, "Q", (1,)), (16, "Q", (1,)), (24, "I", PROFILE)],
    lib.SOURCES: [(0, "I", TEXT), (8, "Q", LARGE), (16, "Q", LARGE)],
    lib.KNOWN: [(0, "I", MODULE), (4, "I", 99), (8, "I", (1,)), (16, "Q", LARGE), (24, "Q", LARGE)],
    lib.REGIONS: [(0, "I", FRAME), (4, "I", PROFILE), (16, "Q", (1,)), (32, "Q", 0), (32, "Q", 1), (40, "I", 0)],
    lib.MARK_INDEX: [(8, "Q", (1,)), (16, "I", PROFILE)],
    MESSAGES: [(0, "I", FRAME), (4, "I", PROFILE), (8, "i", -2), (16, "Q", 0), (40, "Q", 0)],
    QUEUES: [(0, "I", PROFILE), (0, "I", 0)],
    COMMANDS: [(0, "I", FRAME), (4, "I", PROFILE), (4, "I", 0), (8, "I", PROFILE)],
    HOST_WAITS: [(0, "I", PROFILE), (8, "Q", LARGE)],
    GROWTH_INDEX: [(8, "Q", (1,)), (16, "I", PROFILE)],
}
# Sums and counts are prefix sums: the first of each is 0.
for tag in lib.SUMS, lib.COUNTS:
    WRONG[tag] = [(0, "q", (1,))]


def combine(h, x):
    return hash_u64((h * 0xBB67AE8584CAA73B + hash_u64(x)) & M64)


def step(h, a, b):
    m = (a ^ 0x6A09E667F3BCC909) * (b ^ h)
    return ((h << 23 | h >> 41) & M64) + (m & M64 ^ m >> 64) & M64


def hash_bytes(data):
    h = hash_u64(0xBB67AE8584CAA73B)
    g, at = ~h & M64, 0
    while len(data) - at >= 32:
        a, b, c, d = struct.unpack_from("<4Q", data, at)
        h, g, at = step(h, a, b), step(g, c, d), at + 32
    h = h + hash_u64(g) & M64
    while len(data) - at >= 16:
        h, at = step(h, *struct.unpack_from("<2Q", data, at)), at + 16
    if at < len(data):
        h = step(h, *struct.unpack("<2Q", data[at:].ljust(16, b"\0")))
    return combine(h, len(data))


def verify(data):
    with open(f"{TMP}/wrong.db", "wb") as file:
        file.write(data)
    done = subprocess.run([HQ, "verify", f"{TMP}/wrong.db"], capture_output=True, text=True, errors="replace", timeout=seconds(60))
    return done.returncode, done.stdout + done.stderr


with open(f"{TMP}/fixture", "w") as file:
    file.write(FIXTURE)
subprocess.run([f"{TOP}/{BUILD}/tools/fixture", f"{TMP}/fixture", f"{TMP}/whole.hq"], check=True)
whole = open(f"{TMP}/whole.hq/hq.db", "rb").read()
db = Database(f"{TMP}/whole.hq/hq.db")
sections, table = struct.unpack_from("<IQ", whole, 12)


def changed(entry, at, format, value):
    """The database with this at one place, and the checksums that belong to it."""
    data = bytearray(whole)
    struct.pack_into("<" + format, data, at, value)
    offset, length = struct.unpack_from("<QQ", data, entry + 16)
    total = hash_u64(length)
    for piece in range(offset, offset + length, PIECE):
        total = combine(total, hash_bytes(bytes(data[piece:min(piece + PIECE, offset + length)])))
    struct.pack_into("<Q", data, entry + 40, total)
    struct.pack_into("<Q", data, 32, hash_bytes(bytes(data[table:table + 48 * sections])))
    return bytes(data)


def beyond(tag):
    _, length, _, count = db.sections[tag, 0]
    return length if tag == lib.STRINGS else count


seen = set()
check(verify(whole)[0] == 0, f"the whole one: {verify(whole)}")
for entry in range(table, table + 48 * sections, 48):
    tag, index, size, _, offset, length, count, _ = struct.unpack_from("<IIIIQQQQ", whole, entry)
    # Of values a count alone, a sum alone, or both: none adds up any more.
    for at in range(offset, offset + length) if tag in (lib.VALUES, lib.FRAME_VALUES) else ():
        status, said = verify(changed(entry, at, "B", whole[at] ^ 4))
        check(status == 3, f"section {tag}.{index}, byte {at - offset} of {length} is changed: status {status}: {said}")
    if tag not in WRONG:
        continue
    seen.add(tag)
    check(count > 1 or tag == lib.ALIASES, f"section {tag} has {count} records: too few to tell the first from the last")
    first = changed(entry, offset, "B", whole[offset])
    check(first == whole, f"section {tag}: the checksums are reckoned as hq does")
    count -= tag == lib.VALUE_INDEX  # the last record is an end without values
    for record in sorted({0, 1, count // 2, count - 1} & set(range(count))):
        for field, format, value in WRONG[tag]:
            at = offset + record * size + field
            was = struct.unpack_from("<" + format, whole, at)[0]
            new = record if value == "i" else was + value[0] if isinstance(value, tuple) else beyond(value.tag) if isinstance(value, Of) else value
            if new == was:
                continue
            status, said = verify(changed(entry, at, format, new))
            check(status == 3 and f"{TMP}/wrong.db: " in said, f"section {tag}.{index}, record {record} of {count}, {was} at {field} is {new}: status {status}: {said}")
check(seen == set(WRONG), f"all sections are there, but {sorted(set(WRONG) - seen)}")
finish()
