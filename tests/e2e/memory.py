# SPDX-License-Identifier: BSD-3-Clause
"""Memory or descriptors that end, at one allocation of a library or at a limit: a sentence and status 3, or all that there is otherwise. Never less of it,
which looks like a binary without debug information.
"""
import gzip
import resource

from lib import *

SENTENCES = ("no more files can be opened at once; ", "there is not enough memory; ", "MiB of memory is reached; ") # the last of a query, whose memory is limited
REFUSE = os.path.join(PROGRAMS, "librefuse.so")
SAN = "san" in os.path.basename(os.path.dirname(HQ))
at = lambda name: os.path.join(TMP, name)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def compare(what, whole, result, made):
    """`whole` is what comes where memory does not end, as `result` is here; status 0, or 3 with one sentence."""
    status, out, err = result
    if status == 0:
        check((out, err, made) == whole, f"{what}: status 0, but another answer: {err[-300:]}")
    else:
        check(status == 3 and any(s in err for s in SENTENCES) and err.count("\n") == 1, f"{what}: status {status}: {err[-300:]}")
    return status


def refuse(library, step, *command, made=None):
    """Each of the first allocations of a library is refused, then one in some; what is made is compared too."""
    def once(**more):
        if made and os.path.exists(made):
            os.remove(made)
        result = run(HQ, *command, env={**os.environ, "HQ_SOURCES": "no", **more})
        return result, contents(made) if made and os.path.exists(made) else b""

    (status, out, err), file = once()
    check(status == 0, f"{command}: status {status}: {err[-300:]}")
    n, told, ended = 1, at("told"), 0
    while n < 100000:
        result, got = once(LD_PRELOAD=REFUSE, REFUSE_BY=library, REFUSE_NTH=str(n), REFUSE_TOLD=told)
        if not os.path.exists(told):
            break
        os.remove(told)
        ended += compare(f"{library}, allocation {n}, {' '.join(command)}", (out, err, file), result, got) != 0
        n += 1 + n // step
    check(ended, f"{library}: no allocation of {' '.join(command)} was refused")


with open(at("a.cc"), "w") as file:
    file.write('''#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main(int argc, char **)
{
    std::vector<int> a(argc * 4000);
    std::map<std::string, int> names;
    long sum = 0;
    for (int k = 0; k < 30; k++) {
        for (int i = 0; i < argc * 4000; i++) {
            a[i] = i * 7 % 31;
            names[std::to_string(i)] = i;
        }
        std::sort(a.begin(), a.end(), [](int x, int y) { return x > y; });
        sum += a[3];
    }
    std::printf("%ld %zu\\n", sum, names.size());
}
''')
status, out, err = run("g++", "-O2", "-g", "-o", "plain", "a.cc")
check(status == 0, err)
packings = ["plain"]
for packing in ("zlib", "zstd"):
    if run("objcopy", f"--compress-debug-sections={packing}", "plain", packing)[0] == 0:
        packings.append(packing)
    else:
        print(f"skipped: objcopy has no {packing}")
# As Fedora leaves symbols in stripped binaries.
run("objcopy", "--only-keep-debug", "--remove-section=.debug_*", "plain", "symbols")
run("xz", "-kf", "symbols")
status, out, err = run("objcopy", "--strip-all", "--add-section=.gnu_debugdata=symbols.xz", "plain", "xz")
check(status == 0, err)

structure = ("structure", "plain", "main")
if not SAN:
    refuse("libdwarf", 5, *structure)
    refuse("libz.", 2, "structure", "zlib", "main")
    if "zstd" in packings:
        refuse("libzstd", 2, "structure", "zstd", "main")
    refuse("liblzma", 2, "structure", "xz")

# What importers read.
with open(at("a.folded"), "w") as file:
    file.write("main;a 3\nmain;b 4\n")
with gzip.open(at("b.folded.gz"), "wt") as file:
    file.write("".join(f"main;a{i % 700};b{i % 13} {i}\n" for i in range(3000)))
with open(at("c.speedscope.json"), "w") as file:
    json.dump({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "a"}, {"name": "b" * 3000}]},
               "profiles": [{"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": 2, "samples": [[0, 1], [0]],
                             "weights": [1, 1]}]}, file)
db = at("out.hq/hq.db")
if not SAN:
    refuse("libz.", 2, "import", "b.folded.gz", "-o", "out.hq", made=db)
    refuse("/hq", 2, "import", "c.speedscope.json", "-o", "out.hq", made=db)
    refuse("libpcre2", 2, "a.folded", "procedures matching /^[ab]|c*d$/")

# The build of a recording, and structure that is given.
record("rec", at("plain"), options=("--no-build",) if "--no-build" in run(HQ, "help", "record")[1] else ())
status, out, err = run(HQ, "structure", "--xml", "plain")
with open(at("plain.xml"), "w") as file:
    file.write(out)
build = ("build", "-f", "--no-structure-cache", "-j1", "-o", "out.hq", "rec")
if not SAN:
    refuse("libdwarf", 2, *build, made=db)
    refuse("libexpat", 3, *build[:1], "--structure", "plain.xml", *build[1:], made=db)
    limits = {"DATA": resource.RLIMIT_DATA, "AS": resource.RLIMIT_AS}
    if os.path.exists(db):
        os.remove(db)
    result = run(HQ, *build)
    whole = (*result[1:], contents(db))
    statuses = set()
    for name, limit in limits.items():
        for mib in (1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96):
            os.remove(db) if os.path.exists(db) else None
            limited = lambda: resource.setrlimit(limit, (mib << 20, mib << 20))
            if run(HQ, "--version", preexec_fn=limited)[0]:
                continue # the loader has no room for the libraries
            result = run(HQ, *build, preexec_fn=limited)
            statuses.add(compare(f"{name} {mib} MiB", whole, result, contents(db) if os.path.exists(db) else b""))
    check(statuses == {0, 3}, f"builds under limits ended with {statuses} only")
    # Several processes, so that several files are opened at once.
    record("several", "sh", "-c", "for i in 1 2 3 4 5 6; do ./plain & done; wait")
    build = ("build", "-f", "--no-structure-cache", "-j8", "-o", "out.hq", "several")
    result = run(HQ, *build)
    whole, statuses = (*result[1:], contents(db)), set()
    for descriptors in (4, 5, 6, 6, 6, 7, 7, 8, 9, 10, 12, 20, 40):
        os.remove(db) if os.path.exists(db) else None
        result = run(HQ, *build, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)))
        statuses.add(compare(f"{descriptors} descriptors", whole, result, contents(db) if os.path.exists(db) else b""))
    check(statuses == {0, 3}, f"builds with few descriptors ended with {statuses} only")
finish()
