# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the pools of tests/soak/gate_pool.py, by the name of the pool. A family is recorded side by side: NAME.a and NAME.b are one
program, NAME+N has a part of it N % slower. `first` is the pool that the rules of the gate were chosen by, `second` and `short` have
other programs and confirm them: `short` has programs of a tenth of a second, of which many rounds are cheap. By `hours` what baselines make of other
hours was chosen, and `elsewhere` has one other program of each kind and confirms that. `anew` confirms the rules as they are, by short programs."""

import os

TMP, PROGRAMS = (os.environ[v] for v in ("HQ_TEST_TMP", "PROGRAMS"))

PYTHON = """
import json, random, re
random.seed(1)
words = [str(random.random()) for _ in range(20000)]
def encode(): return json.dumps({w: [i, w] for i, w in enumerate(words)})
def decode(text): return sorted(json.loads(text))
def search(text): return len(re.findall(r"0[.](\\d+)9", text)) + sum(map(len, set(text.split(","))))
for _ in range(6):
    text = encode(); decode(text); search(text)
"""
PIPELINE = "for i in 1 2 3; do dd if=/dev/zero bs=512 count=60000 2>/dev/null | tr '\\0' x | cksum >/dev/null; " \
           "ls -lR /usr/share/doc /usr/lib/python3* >/dev/null 2>&1; done"
FILES = f"for i in 1 2 3 4; do dd if=/dev/urandom of={TMP}/noise bs=64k count=250 conv=fsync 2>/dev/null; cksum <{TMP}/noise >/dev/null; done"

BODIES = """
import hashlib, sys
def bodies(n):
    x = [(i * 0.5, i * 0.25, 1.0 + i) for i in range(6)]
    for _ in range(n):
        y = []
        for a, b, c in x:
            fx = sum((a - d) * f / (1 + (a - d) ** 2 + (b - e) ** 2) for d, e, f in x)
            y.append((a - 1e-4 * fx, b + 1e-4 * fx, c))
        x = y
def texts(n):
    d = {}
    for i in range(n):
        k = "k%d" % (i * 7919 % 1000)
        d[k] = d.get(k, "") + k[:2]
    return sorted(d.items(), key=lambda kv: (len(kv[1]), kv[0]))
def hashes(n):
    block = bytes(range(256)) * 64
    for _ in range(n): block = hashlib.sha256(block).digest() * 512
bodies(5000); texts(300000); hashes(int(6000 * float(sys.argv[1])))
"""
WORDS = "find /usr/include /usr/share/doc -name '*.[hc]*' 2>/dev/null | sort | head -700 | xargs cat 2>/dev/null | tr -cs A-Za-z '\\n'"
COUNTED = "for i in 1 2; do " + WORDS + " | head -{} | sort | uniq -c | awk '{{s += $1}} END {{print s}}'; done"
SQL = """create table t(a integer, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x < 150000) insert into t select x * 7919 % 40009, 'name' || (x % 977) from c;
create index i on t(b);
select count(*), sum(a) from t where b in (select 'name' || (a % 50) from t limit 500);
with recursive c(x) as (select 1 union all select x+1 from c where x < {}) select sum(x * x % 7), max(x) from (select x from c order by x * 7919 % 40009);"""

NODE = "let m = new Map(); for (let i = 0; i < 900000; i++) { let k = 'k' + (i * 7919 % 4001); m.set(k, (m.get(k) || 0) + k.length) }" \
       " let a = [...m.entries()].sort((x, y) => x[1] - y[1] || (x[0] < y[0] ? -1 : 1)); console.log(JSON.stringify(a).length)"


def factors(command, *percents):
    """The suffixes of a family and their commands; command(factor) is the program with a part of it `factor` times."""
    return {"a": command(1), "b": command(1), **{f"+{p}": command(1 + p / 100) for p in percents}}


def families(**kinds):
    return [{name + ("" if suffix[0] == "+" else ".") + suffix: command for suffix, command in kind.items()} for name, kind in kinds.items()]


def same(*command):
    return factors(lambda _: list(command))


def planted(percent, units="20000"):
    return lambda factor: [f"{PROGRAMS}/planted", units, str(percent), str(factor)]


def program(*words):
    return lambda factor: [*words, str(factor)]


def prepare():
    """What programs of the pool read."""
    with open(f"{TMP}/text", "w") as f:
        f.writelines(f"{i * 7919 % 10007} word{i * 31 % 977} {i % 17}.{i % 13}\n" for i in range(200000))
    with open(f"{TMP}/some.json", "w") as f:
        f.write("[" + ",".join(f'{{"a":{i},"b":["x{i % 7}",{i % 31}]}}' for i in range(25000)) + "]")
    with open(f"{TMP}/some.c", "w") as f:
        f.writelines(f"int f{i}(int a, int *b) {{ int s = a; for (int k = 0; k < a; k++) s += b[k] * {i} + (s >> 3); return s; }}\n"
                     for i in range(45))


SETS = {
    "first": lambda: families(
        cxx10=factors(planted(10), 5, 10, 20, 50), cxx40=factors(planted(40), 5, 10, 20, 50), cxx80=factors(planted(80), 5, 10, 20, 50),
        python=same("python3", "-c", PYTHON), pipeline=same("sh", "-c", PIPELINE), files=same("sh", "-c", FILES),
        short40=factors(planted(40, "10000"), 10)),
    "second": lambda: families(
        mixture=factors(program(f"{PROGRAMS}/mixture", "850"), 5, 10, 20, 50),
        long_mixture=factors(program(f"{PROGRAMS}/mixture", "3500"), 20),
        bodies=factors(program("/usr/bin/python3", "-c", BODIES), 20),
        words=factors(lambda f: ["sh", "-c", COUNTED.format(int(100000 * f))], 50),
        syncs=factors(program(f"{PROGRAMS}/syncs", f"{TMP}/synced", "140"), 50),
        mpi=factors(program("mpirun", "-n", "2", f"{PROGRAMS}/mpi_ring", "400"), 50),
        openmp=factors(program(f"{PROGRAMS}/shared_work", "10"), 50),
        sqlite=factors(lambda f: ["sqlite3", ":memory:", SQL.format(int(150000 * f))], 20)),
    "short": lambda: families(
        mixture=same(f"{PROGRAMS}/mixture", "400", "1"), awk=same("awk", "{n[$2]++; s += $3} END {for (k in n) print k, n[k]}", f"{TMP}/text"),
        perl=same("perl", "-e", "for (1..500000) { $h{$_ % 977} .= chr(65 + $_ % 26); $s += length $h{$_ % 13} } print $s"),
        jq=same("jq", "map(.b[1]) | add", f"{TMP}/some.json"), xz=same("xz", "-1", "-k", "-f", "-c", f"{TMP}/text"),
        bc=same("sh", "-c", "echo 'scale=900; a(1)*4' | bc -l"), gcc=same("gcc", "-O2", "-c", "-o", f"{TMP}/some.o", f"{TMP}/some.c"),
        sort=same("sort", "-k2", f"{TMP}/text")),
    "hours": lambda: families(
        xz=same("xz", "-1", "-k", "-f", "-c", f"{TMP}/text"), mpi=factors(program("mpirun", "-n", "2", f"{PROGRAMS}/mpi_ring", "400"), 20, 50),
        mixture=factors(program(f"{PROGRAMS}/mixture", "850"), 10, 20), sort=same("sort", "-k2", f"{TMP}/text"),
        gcc=same("gcc", "-O2", "-c", "-o", f"{TMP}/some.o", f"{TMP}/some.c")),
    "anew": lambda: families(
        cxx40=factors(planted(40, "30000"), 10), bzip=same("bzip2", "-k", "-c", f"{TMP}/text"),
        perl=same("perl", "-e", "for (1..2000000) { $h{$_ % 977} = chr(65 + $_ % 26); $s += length $h{$_ % 13} } print $s")),
    "elsewhere": lambda: families(
        zstd=same("zstd", "-q", "-9", "-c", f"{TMP}/text"), lz=same("xz", "-0", "-k", "-f", "-c", f"{TMP}/some.json"),
        halo=factors(program("mpirun", "-n", "2", f"{PROGRAMS}/mpi_halo", "1500"), 20, 50), bzip=same("bzip2", "-k", "-c", f"{TMP}/text"),
        cxx40=factors(planted(40), 10, 20), node=same("node", "-e", NODE)),
}
