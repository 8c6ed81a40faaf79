#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Binaries of some kilobytes whose parts refer to each other, or to the same, so often that reading all of it takes hours or all memory: each is
read within a minute of CPU time and 3 GiB, and what is missing is told."""

import os
import resource
import struct
import subprocess

from counting import check, finish

HQ, TMP = os.environ["HQ"], os.environ["HQ_TEST_TMP"]
SECONDS, MEMORY = 60, 3 << 30
AGAIN = "refers to the same parts again and again"


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    if "san" not in HQ:         # their own memory is larger
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def read(name, note):
    done = subprocess.run([HQ, "structure", "--xml", f"{TMP}/{name}"], capture_output=True, preexec_fn=limits)
    err = done.stderr.decode(errors="replace")
    check(done.returncode == 0 and note in err, f"{name}: status {done.returncode}, {err[-300:]!r}, which should have {note!r}")


# ---- debug information, DWARF 4 ----

CODE = """.text
.globl main
.type main,@function
main:
.Llow: .rept 20
 nop
.endr
 ret
.Lhigh: .size main, .-main
.section .note.GNU-stack,"",@progbits
"""
HIGH, LOW, NAME, TYPE, RANGES, LINES, ORIGIN, INLINE = (0x12, 7), (0x11, 1), (3, 8), (0x49, 0x13), (0x55, 0x17), (0x10, 0x17), (0x31, 0x13), (0x20, 0xb)
ABBREVIATIONS = [  # tag, whether it has children, attributes and forms
    (0x11, 1, [NAME, (0x13, 5), LOW, HIGH, LINES]), (0x11, 1, [NAME, RANGES]), (0x2e, 1, [NAME, LOW, HIGH]), (0x2e, 1, [NAME]), (0x2e, 0, [NAME, RANGES]),
    (2, 1, [NAME]), (5, 0, [TYPE]), (0xf, 0, [TYPE]), (0x15, 1, []), (0x4107, 1, []), (0x1d, 0, [ORIGIN, RANGES]), (0x2e, 0, [NAME, INLINE]), (0x11, 1, [(0x2130, 8), LOW, HIGH]), (0x39, 1, [(1, 0x13)])]
UNIT, UNIT_RANGES, CODED, OUTER, CODED_RANGES, CLASS, PARAMETER, POINTER, FUNCTION, PACK, INLINED, ABSTRACT, SPLIT, SPACE = range(1, 15)
ALL = ".quad .Llow, .Lhigh-.Llow"
UNIT_HEAD = f'.uleb128 {UNIT}; .string "x.cc"; .value 4; {ALL}; .long .Lline'


def unit(*lines):
    return "\n".join([" .long 2f-1f\n1: .value 4; .long .Labbrev; .byte 8", *lines, " .byte 0\n2:\n"])


def described(name, info, rows=1, ranges=1):
    s = [CODE, '.section .debug_abbrev,"",@progbits\n.Labbrev:\n']
    for i, (tag, children, attributes) in enumerate(ABBREVIATIONS):
        s.append(f" .uleb128 {i + 1}; .uleb128 {tag}; .byte {children};" + "".join(f" .uleb128 {a}; .uleb128 {f};" for a, f in attributes) + " .byte 0,0\n")
    s.append(' .byte 0\n.section .debug_info,"",@progbits\n.Linfo:\n' + info)
    s.append(f""".section .debug_line,"",@progbits
.Lline: .long .Lend-.Lstart
.Lstart: .value 4
 .long .Lbody-.Lhead
.Lhead: .byte 1,1,1,-3,12,13, 0,1,1,1,1,0,0,0,1,0,0,1, 0
 .string "a.c"
 .byte 0,0,0, 0
.Lbody: .byte 0,9,2
 .quad .Llow
 .fill {rows},1,16
 .byte 2,1, 0,1,1
.Lend:
.section .debug_ranges,"",@progbits
.Lranges: .rept {ranges}
 .quad .Llow, .Lhigh
.endr
 .quad 0,0
""")
    with open(f"{TMP}/{name}.s", "w") as f:
        f.write("".join(s))
    subprocess.run(["gcc", "-gz=zlib", "-o", f"{TMP}/{name}", f"{TMP}/{name}.s"], check=True)
    read(name, NOTES[name])


def member(name, inside):
    return f' .uleb128 {OUTER}; .string "outer"; .uleb128 {CLASS}; .string "{name}"; .uleb128 {CODED}; .string "{name}"; {ALL}\n{inside}\n .byte 0,0,0\n'


NOTES = {"whole": "", "fan": "names stand for more text than is written out", "packs": "", "lines": AGAIN, "ranges": AGAIN, "claims": AGAIN, "procedures": AGAIN, "siblings": AGAIN}
described("whole", unit(UNIT_HEAD, member("operator()", "")))
described("fan", unit(UNIT_HEAD, member("operator()", f" .uleb128 {PARAMETER}; .long .Lpointer-.Linfo"), f".Lpointer: .uleb128 {POINTER}; .long .Lfunction-.Linfo",
                      f".Lfunction: .uleb128 {FUNCTION}", f" .uleb128 {PARAMETER}; .long .Lpointer-.Linfo\n" * 100, " .byte 0"))
described("packs", unit(UNIT_HEAD, member("f<lambda", f" .fill 300000,1,{PACK}\n .fill 300000,1,0\n")))
described("lines", unit(UNIT_HEAD, f' .uleb128 {CODED}; .string "f"; {ALL}; .byte 0') * 3000, rows=500000)
described("claims", unit(f' .uleb128 {UNIT_RANGES}; .string "x.c"; .long .Lranges') * 10000, ranges=10000)
described("procedures", unit(f' .uleb128 {UNIT_RANGES}; .string "x.c"; .long .Lranges', f' .uleb128 {CODED_RANGES}; .string "f"; .long .Lranges\n' * 20000), ranges=20000)
described("ranges", unit(f' .uleb128 {UNIT_RANGES}; .string "x.c"; .long .Lranges', f'.Labstract: .uleb128 {ABSTRACT}; .string "in"; .byte 1',
                         f' .uleb128 {CODED}; .string "f"; {ALL}', f" .uleb128 {INLINED}; .long .Labstract-.Linfo, .Lranges\n" * 20000, " .byte 0"), ranges=20000)
# Each namespace names the one within it as the one behind it.
described("siblings", unit(UNIT_HEAD, *(f".Lspace{i}: .uleb128 {SPACE}; .long .Lspace{i + 1}-.Linfo" for i in range(100)), ".Lspace100: .fill 101,1,0"))

# Units that all name one file of split information, which unpacks to a thousand times its size.
NOTES["split"] = "cannot be decompressed"
with open(f"{TMP}/one.s", "w") as f:
    f.write('.section .debug_abbrev.dwo,"",@progbits\n .uleb128 1; .uleb128 0x11; .byte 0; .byte 0,0,0\n.section .debug_info.dwo,"",@progbits\n .long 2f-1f\n'
            '1: .value 4; .long 0; .byte 8; .uleb128 1\n2:\n.section .debug_str.dwo,"",@progbits\n .fill 60000000,1,0\n')
subprocess.run(["gcc", "-c", "-o", f"{TMP}/one.dwo", f"{TMP}/one.s"], check=True)
subprocess.run(["objcopy", "--compress-debug-sections=zlib", f"{TMP}/one.dwo"], check=True)
described("split", unit(f' .uleb128 {SPLIT}; .string "one.dwo"; {ALL}') * 2000)


# ---- files without debug information ----

TEXT, DATA = 0x1000, 0x800000


def elf(name, sections):
    """sections: (name, type, flags, address, bytes or the number of another section whose bytes it has, link)."""
    names, out, places = b"\0", bytearray(64 + 2 * 56), []
    heads = [bytes(64)]
    for title, kind, flags, address, data, link in sections + [(".shstrtab", 3, 0, 0, None, 0)]:
        start = len(names)
        names += title.encode() + b"\0"
        data = names if data is None else data
        if isinstance(data, bytes):
            out += bytes(-len(out) % 16)
            places.append((len(out), len(data)))
            out += data
        else:
            places.append(places[data - 1])
        heads.append(struct.pack("<IIQQQQIIQQ", start, kind, flags, address, *places[-1], link, 0, 8, 24 if kind in (2, 11, 4) else 0))
    out += bytes(-len(out) % 8)
    count = len(heads)
    out[:64] = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, TEXT, 64, len(out), 0, 64, 56, 2, 64, count, count - 1)
    for i, (place, address) in enumerate([(places[0], TEXT), (places[-2], DATA)]):
        out[64 + 56 * i:120 + 56 * i] = struct.pack("<IIQQQQQQ", 1, 5 - i, place[0], address, address, place[1], place[1], 4096)
    with open(f"{TMP}/{name}", "wb") as f:
        f.write(out + b"".join(heads))


def symbols(*of):
    return bytes(24) + b"".join(struct.pack("<IBBHQQ", name, info, 0, 1, value, size) for name, value, size, info in of)


def tables(entries, names):
    return [(".text", 1, 6, TEXT, b"\x90" * 4095 + b"\xc3", 0), (".symtab", 2, 0, 0, symbols(*entries), 3), (".strtab", 3, 0, 0, names, 0)]


N = 30000
elf("one address", tables([(1 + 9 * i, TEXT, 16, 0x12) for i in range(N)], b"\0" + b"".join(b"n%07d\0" % i for i in range(N))))
read("one address", "no debug information")
elf("ends", tables([(1 + i, TEXT, 16, 0x12) for i in range(N)], b"\0" + b"a" * N + b"\0"))
read("ends", "more names of symbols than linkers make")
elf("chosen", tables([(1 + 14 * (i // 2), TEXT + i // 2 * 4 % 4000, 4, 0x1a - i % 2 * 8) for i in range(20000)], b"\0" + b"".join(b"n%07d_avx2\0" % i for i in range(10000))))
read("chosen", "more indirect functions than linkers make")
elf("sections", tables([(1, TEXT + 4000, 1, 0x12)] * N, b"\0f\0") + [(".t", 1, 6, TEXT, b"\x90", 0)] + [(".t", 1, 6, TEXT + i % 2000, 4, 0) for i in range(20000)])
read("sections", "more executable sections than linkers make")
elf("notes", tables([], b"\0") + [(".n", 7, 0, 0, bytes(N * 12), 0)] + [(".n", 7, 0, 0, 4, 0) for _ in range(50000)])
read("notes", "stripped")
STUB = b"\xff\x25\0\0\0\0" + b"\x90" * 10
elf("stubs", [(".plt", 1, 6, TEXT, STUB * 5000, 0)] + [(".plt", 1, 6, TEXT, 1, 0)] * 5000)
read("stubs", "more stubs for calls of libraries than linkers make")
elf("slots", [(".plt", 1, 6, TEXT, b"".join(b"\xff\x25" + struct.pack("<i", DATA - TEXT - 16 * i - 6) + b"\x90" * 10 for i in range(30000)), 0),
              (".dynsym", 11, 0, 0, symbols((1, 0, 0, 0x12)), 3), (".dynstr", 3, 0, 0, b"\0" + b"z" * 1000000 + b"\0", 0),
              (".rela.plt", 4, 0, 0, struct.pack("<QQq", DATA, 1 << 32 | 7, 0), 2)])
read("slots", "more stubs for calls of libraries than linkers make")


def frames(augmentation, more, of_frame):
    cie = struct.pack("<IB", 0, 1) + augmentation + b"\0\x01\x78\x10" + more
    cie = struct.pack("<I", len(cie) + -len(cie) % 4) + cie + bytes(-len(cie) % 4)
    data = cie * 2
    for i in range(40000):
        at, code = len(data) + 4, TEXT + 4 * i
        body = struct.pack("<Iii", at - i % 2 * len(cie), code - DATA - at - 4, 4) + of_frame
        data += struct.pack("<I", len(body)) + body
    return data + bytes(4)


FUNCTION_CODE = b"\xe8\xfb\xff\xff\xff\xc3\x90\x90"
elf("augmentation", [(".text", 1, 6, TEXT, FUNCTION_CODE * 20000, 0), (".eh_frame", 1, 2, DATA, frames(b"zR" + b"S" * 500000, b"\x01\x1b", bytes(4)), 0)])
read("augmentation", "stripped")
# Tables of exceptions that all frames share, and a table of jumps that all jumps share.
lsda = b"\xff\xff\x01\x80\x80\x80\x01" + b"\0\1\1\0" * 200000
elf("pads", [(".text", 1, 6, TEXT, FUNCTION_CODE * 20000, 0), (".eh_frame", 1, 2, DATA + len(lsda), frames(b"zLR", b"\x02\0\x1b", b"\x08" + struct.pack("<Q", DATA) + bytes(3)), 0),
             (".gcc_except_table", 1, 2, DATA, lsda, 0)])
read("pads", "stripped")
jumps = 60000
elf("jumps", [(".text", 1, 6, TEXT, (b"\xff\x24\xc5" + struct.pack("<i", DATA) + b"\x90") * jumps, 0), (".symtab", 2, 0, 0, symbols((1, TEXT, 8 * jumps, 0x12)), 3),
              (".strtab", 3, 0, 0, b"\0f\0", 0), (".rodata", 1, 2, DATA, b"".join(struct.pack("<Q", TEXT + 8 * i) for i in range(16384)), 0)])
read("jumps", "")
finish()
