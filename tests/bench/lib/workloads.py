# SPDX-License-Identifier: BSD-3-Clause
"""Real programs, each with an amount of work that can be chosen, so that a run takes as long as is wanted on any machine."""
import os
import resource
import shutil
import subprocess
import time


def spent(run):
    """CPU seconds of the children that `run` waits for, and elapsed seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


class Workload:
    """A command for `n` units of work."""

    def __init__(self, name, command, work, needs=None):
        self.name, self.command, self.work, self.needs = name, command, work, needs

    def available(self):
        return shutil.which(self.needs or self.command(1)[0]) is not None

    def run(self, n, prefix=(), environment=None):
        """(CPU seconds, elapsed seconds)."""
        return spent(lambda: self.start(self.command(n), list(prefix), dict(os.environ, **(environment or {})), n))

    def start(self, command, prefix, environment, n):
        subprocess.call(prefix + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=self.work)

    def units(self, seconds):
        """How many units take so many CPU seconds."""
        n, cpu = 1, self.run(1)[0]
        while cpu < 0.5 and n < 1 << 40:
            n = max(n * 2, int(n * min(0.7 / max(cpu, 0.001), 64)))
            cpu = self.run(n)[0]
        return max(1, round(n * seconds / cpu))


class Redis(Workload):
    """The server alone is measured; its clients have no part in the CPU time."""

    def start(self, command, prefix, environment, n):
        socket = self.work + "/redis.sock"
        server = subprocess.Popen(prefix + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd=self.work)
        client = ["setsid", "--fork", "bash", "-c", 'until redis-cli -s "$0" ping >"$0.ready" 2>&1; do sleep 0.01; done\n'
                  'redis-benchmark -s "$0" -n "$1" -P 16 -q -t set,get,lpush,lrange_100 >"$0.load" 2>&1; redis-cli -s "$0" shutdown nosave', socket, str(n)]
        subprocess.call(client, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.wait()


class Hpcc(Workload):
    """Two ranks; a unit is one row of the problem, whose work grows with the power of three."""

    def units(self, seconds):
        return max(200, round(1500 * (seconds / self.run(1500)[0]) ** (1 / 3)))

    def start(self, command, prefix, environment, n):
        with open("tests/hpccinf.txt") as f:
            text = f.read()
        with open(self.work + "/hpccinf.txt", "w") as f:
            f.write(text.replace("\n2500 ", f"\n{n} ", 1))
        # Containers run as root and offer fewer processors than ranks; Open MPI refuses both unless told.
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        super().start(command, prefix, dict(environment, **allowed), n)


def launcher(hpcc):
    """hpcc speaks the dialect of the MPI library it was linked with."""
    libraries = subprocess.run(["ldd", hpcc], capture_output=True, text=True).stdout
    return next((p for p in (["mpirun.openmpi", "mpirun"] if "libopen-rte" in libraries or "libmpi.so.40" in libraries else ["mpirun.mpich", "mpirun"])
                 if shutil.which(p)), "mpirun")


def workloads(work, build, source):
    """All of them; `source` is a file to compress."""
    with open(source, "rb") as f, open(work + "/input", "wb") as out:
        out.write(f.read()[:1500000])
    with open(work + "/big.c", "w") as f:
        for i in range(60):
            f.write(f"#define F{i}(p) int p##{i}(int x) {{ int s = 0; for (int i = 0; i < x; i++) {{ s += i * {i} ^ (s >> 3); if (s & {i}) s -= p##{i}(i / 2); }} return s; }}\n")
        f.write("#define ALL(p) " + " ".join(f"F{i}(p)" for i in range(60)) + "\n#include \"calls.h\"\n")
    cc1 = subprocess.run([os.environ.get("CC", "cc"), "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
    python = "def f(k): return k if k < 2 else f(k - 1) + f(k - 2)\nfor i in range(%d): sorted(str(f(12)) for j in range(20))"
    perl = "my %%h; for my $i (1 .. %d) { $h{'k' . $i %% 1000} = substr($h{'k' . ($i * 7 %% 1000)} . 'a', 0, 50) }"
    sql = "with recursive c(x) as (select 1 union all select x + 1 from c where x < %d) select sum(x * x %% 7) from c;"
    hpcc = shutil.which("hpcc")

    def compile_one(n):
        with open(work + "/calls.h", "w") as f:
            f.write("".join(f"ALL(p{i}_)\n" for i in range(n)))
        return [cc1, "-quiet", "-O2", "-o", "/dev/null", work + "/big.c"]

    found = [
        Workload("python3", lambda n: ["/usr/bin/python3", "-c", python % n], work),
        Workload("sqlite3", lambda n: ["sqlite3", ":memory:", sql % (n * 1000)], work),
        Workload("cc1", compile_one, work),
        Workload("xz", lambda n: ["xz", "-k", "-c", "-2", "-T1"] + [work + "/input"] * n, work),
        Workload("zstd", lambda n: ["zstd", "-q", "-c", "-12", "--single-thread"] + [work + "/input"] * n, work),
        Workload("openssl", lambda n: ["openssl", "enc", "-aes-256-cbc", "-pbkdf2", "-iter", str(n * 1000), "-k", "x", "-in", "/dev/null"], work),
        Workload("perl", lambda n: ["perl", "-e", perl % (n * 1000)], work),
        Workload("throws", lambda n: [build + "/programs/throws", "0", str(n * 100)], work),
        Workload("OpenMP", lambda n: [build + "/programs/parallel", str(n)], work),
        Redis("redis", lambda n: ["redis-server", "--port", "0", "--unixsocket", work + "/redis.sock", "--save", "", "--daemonize", "no"], work),
    ]
    if hpcc:
        found.append(Hpcc("hpcc", lambda n: [launcher(hpcc), "-n", "2", hpcc], work))
    return [w for w in found if w.available()]
