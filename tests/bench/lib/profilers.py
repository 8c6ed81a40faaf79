# SPDX-License-Identifier: BSD-3-Clause
"""The profilers that are compared: how to run a command under each at a rate, and how many samples it took."""
import glob
import os
import shutil
import struct
import subprocess


class Profiler:
    def __init__(self, name, work):
        self.name, self.work = name, work

    def prefix(self, rate, clock):
        return []

    def environment(self, rate, clock):
        return {}

    def prepare(self):
        """Before each run."""

    def samples(self):
        """Of the last run; None if they cannot be told."""


class Empty(Profiler):
    """A handler that only counts."""

    def __init__(self, work):
        super().__init__("empty", work)
        self.library, self.count = work + "/empty.so", work + "/count"
        subprocess.check_call([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-o", self.library, "tests/bench/empty_handler.c", "-ldl"])

    def environment(self, rate, clock):
        return {"LD_PRELOAD": self.library, "EMPTY_PERIOD": str(1000000000 // rate), "EMPTY_FILE": self.count, "EMPTY_CLOCK": clock}

    def prepare(self):
        with open(self.count, "wb") as f:
            f.write(bytes(8))

    def samples(self):
        with open(self.count, "rb") as f:
            return struct.unpack("<Q", f.read(8))[0]


class Hq(Profiler):
    """By `hq record`, as people use it, or by the library alone."""

    def __init__(self, work, hq, build, whole=True):
        super().__init__("hq", work)
        self.hq, self.tool, self.whole, self.db = hq, build + "/tools/measurements", whole, work + "/bench.hq"

    def prefix(self, rate, clock):
        return [self.hq, "record", "--force", "-e", f"{clock}@{rate}/s", "-o", self.db, "--"] if self.whole else []

    def environment(self, rate, clock):
        if self.whole:
            return {}
        return {"LD_PRELOAD": os.path.dirname(self.hq) + "/libhqpreload.so", "HQ_DIR": self.db + "/measurements",
                "HQ_EVENTS": f"{clock}@{1000000000 // rate}", "HQ_LAUNCH": "1"}

    def prepare(self):
        shutil.rmtree(self.db, ignore_errors=True)
        if not self.whole:
            os.makedirs(self.db + "/measurements")

    def sums(self):
        lines = subprocess.run([self.tool, self.db + "/measurements"], capture_output=True, text=True).stdout.split("\n")
        return {key: int(value) for key, value in (line.rsplit(" ", 1) for line in lines if " " in line) if value.isdigit()}

    def samples(self):
        return self.sums().get("samples")


class Gperftools(Profiler):
    """Its own handler, and for elapsed time the timer of the process: at most 4000 signals a second."""
    library = next(iter(glob.glob("/usr/lib/*/libprofiler.so.0")), None)

    def __init__(self, work):
        super().__init__("gperftools", work)
        self.profile = work + "/gperftools.prof"

    def environment(self, rate, clock):
        extra = {"CPUPROFILE_REALTIME": "1"} if clock == "REALTIME" else {}
        return {"LD_PRELOAD": self.library, "CPUPROFILE": self.profile, "CPUPROFILE_FREQUENCY": str(rate), **extra}

    def prepare(self):
        for path in glob.glob(self.profile + "*"):
            os.unlink(path)

    def samples(self):
        """The sum over all processes; a program that ends by _exit leaves none."""
        return sum(map(self.count, glob.glob(self.profile + "*"))) or None

    @staticmethod
    def count(path):
        """The legacy binary format: a header of 3 + 2 words, then count, depth and depth addresses; a count of 0 ends it."""
        with open(path, "rb") as f:
            data = f.read()
        words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
        at, total = 2 + words[1] if len(words) > 2 else 0, 0
        while at and at + 1 < len(words) and words[at]:
            total += words[at]
            at += 2 + words[at + 1]
        return total


class Perf(Profiler):
    """By frame pointers, which most programs do not keep: cheap for the program, and few full paths."""
    program = next((p for p in sorted(glob.glob("/usr/lib/linux-tools*/*/perf") + glob.glob("/usr/bin/perf_*")) + ["/usr/bin/perf"] if os.path.exists(p)), None)

    def __init__(self, work):
        super().__init__("perf -g", work)

    def prefix(self, rate, clock):
        return [self.program, "record", "-q", "-g", "-F", str(rate), "-e", "task-clock", "-o", self.work + "/perf.data", "--"]

    @classmethod
    def works(cls, work):
        return bool(cls.program) and subprocess.run([cls.program, "record", "-o", work + "/perf.data", "true"], capture_output=True).returncode == 0
