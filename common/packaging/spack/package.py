# SPDX-License-Identifier: BSD-3-Clause
# For a Spack repository: packages/hq/package.py. `url` wants the place where `make dist`'s archive was put.
from spack.package import *


class Hq(MakefilePackage):
    """Call path profiles you can ask questions: records where a program spends its time, in full calling context, without
    changing it, and answers questions about it on the command line."""

    url = "file:///path/to/hq-0.2.0.tar.gz"

    license("BSD-3-Clause")
    version("0.2.0")

    variant("papi", default=True, description="Hardware counters as events")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libdwarf")
    depends_on("pcre2")
    depends_on("readline")
    depends_on("capstone")
    depends_on("binutils+libiberty")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("xz")
    depends_on("yajl")
    depends_on("expat")
    depends_on("papi", when="+papi")

    build_targets = ["all", "DEPS=no"]

    @property
    def install_targets(self):
        return ["install", "DEPS=no", f"PREFIX={self.prefix}"]
