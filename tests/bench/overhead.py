#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What measuring costs: CPU and wall time of real programs, as a ratio to the bare program, for hq, an empty handler at the same rate,
gperftools and `perf record -g`. Each round runs all of them once, one after the other, and the ratios are medians over rounds, so that slow
changes of the machine fall out. HQ_BENCH_ROUNDS (5) and HQ_BENCH_RATES (200,1000) change it."""
import os, resource, shutil, statistics, subprocess, sys, tempfile, glob, time

HQ = os.path.abspath(os.environ.get("HQ", "./hq"))
BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
ROUNDS = int(os.environ.get("HQ_BENCH_ROUNDS", "5"))
RATES = [int(r) for r in os.environ.get("HQ_BENCH_RATES", "200,1000").split(",")]
work = tempfile.mkdtemp()
empty = work + "/empty.so"
subprocess.check_call([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-o", empty, "tests/bench/empty_handler.c", "-ldl"])
tcmalloc = next(iter(glob.glob("/usr/lib/x86_64-linux-gnu/libprofiler.so.0")), None)
perf = next((p for p in sorted(glob.glob("/usr/lib/linux-tools*/*/perf") + glob.glob("/usr/bin/perf_*") + ["/usr/bin/perf"]) if os.path.exists(p)), None)

with open(work + "/input", "wb") as f:
    f.write(open("/usr/bin/python3.11" if os.path.exists("/usr/bin/python3.11") else HQ, "rb").read()[:6000000])
with open(work + "/big.c", "w") as f:
    for i in range(250):
        f.write(f"int f{i}(int x) {{ int s = 0; for (int i = 0; i < x; i++) {{ s += i * {i} ^ (s >> 3); if (s & {i}) s -= f{i}(i / 2); }} return s; }}\n")

PROGRAMS = {
    "python3": ["/usr/bin/python3", "-c", "print(sum(i * i for i in range(12000000)))"],
    "sqlite3": ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000000) select sum(x * x % 7) from c;"],
    "xz": ["xz", "-k", "-c", "-2", "-T1", work + "/input"],
    "zstd": ["zstd", "-q", "-c", "-12", "--single-thread", work + "/input"],
    "cc1": ["cc", "-O2", "-S", "-o", "/dev/null", work + "/big.c"],
    "perl": ["perl", "-e", 'my %h; for my $i (1 .. 2500000) { $h{"k" . $i % 1000} .= "a" } print scalar(keys %h)'],
    "throws": [BUILD + "/programs/throws", "0.7"],
}


def run(command, environment=None):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, **(environment or {})), cwd=work)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def hq_samples():
    lines = subprocess.run([BUILD + "/tools/measurements", work + "/db/measurements"], capture_output=True, text=True).stdout.split("\n")
    values = dict(line.rsplit(" ", 1) for line in lines if " " in line)
    return int(values.get("samples", 0)), int(values.get("bytes", 0))


def tools(rate):
    yield "bare", [], {}
    yield "empty", [], {"LD_PRELOAD": empty, "EMPTY_PERIOD": str(1000000000 // rate), "EMPTY_FILE": work + "/count"}
    # Loaded directly, so that the ratio is the collector's and not that of the command around it.
    yield "hq", [HQ, "record", "--force", "-e", f"CPUTIME@{rate}/s", "-o", work + "/db", "--"], {}
    if tcmalloc:
        yield "gperftools", [], {"LD_PRELOAD": tcmalloc, "CPUPROFILE": work + "/prof", "CPUPROFILE_FREQUENCY": str(rate)}
    if perf and subprocess.call([perf, "record", "-o", work + "/perf", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
        yield "perf -g", [perf, "record", "-q", "-g", "-F", str(rate), "-e", "task-clock", "-o", work + "/perf", "--"], {}


def main():
    all_ratios = {}
    for rate in RATES:
        print(f"\nnominal rate {rate}/s, {ROUNDS} rounds: CPU ratio (wall ratio) to the bare program, samples delivered")
        for name, command in PROGRAMS.items():
            if not shutil.which(command[0]):
                continue
            times, samples = {}, {}
            for _ in range(ROUNDS):
                for tool, prefix, environment in tools(rate):
                    if os.path.exists(work + "/count"):
                        os.unlink(work + "/count")
                    times.setdefault(tool, []).append(run(prefix + command, environment))
                    if tool == "hq":
                        samples[tool] = hq_samples()
                    elif tool == "empty" and os.path.exists(work + "/count"):
                        samples[tool] = (sum(map(int, open(work + "/count").read().split())), 0)
            row = f"{name:9} bare {statistics.median(t[0] for t in times['bare']):5.2f} s"
            for tool in times:
                if tool == "bare":
                    continue
                cpu = statistics.median(t[0] / b[0] for t, b in zip(times[tool], times["bare"]))
                wall = statistics.median(t[1] / b[1] for t, b in zip(times[tool], times["bare"]))
                all_ratios.setdefault((rate, tool), []).append(cpu)
                row += f" | {tool} {cpu:.3f} ({wall:.3f})"
                if tool in samples:
                    count, size = samples[tool]
                    row += f" {count}" + (f", {size / count:.0f} B each" if size and count else "")
            print(row, flush=True)
        for (r, tool), ratios in all_ratios.items():
            if r == rate:
                print(f"  median {tool:10} {statistics.median(ratios):.3f}")
    bare = [run(["/bin/true"])[1] for _ in range(40)]
    preloaded = {"LD_PRELOAD": os.path.dirname(HQ) + "/libhqpreload.so", "HQ_DIR": work + "/db/measurements", "HQ_EVENTS": "CPUTIME@5000000", "HQ_LAUNCH": "1"}
    loaded = [run(["/bin/true"], preloaded)[1] for _ in range(40)]
    print(f"\nstart-up on /bin/true: {1000 * (statistics.median(loaded) - statistics.median(bare)):.2f} ms over {1000 * statistics.median(bare):.2f} ms")
    shutil.rmtree(work)


main()
