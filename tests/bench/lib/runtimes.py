# SPDX-License-Identifier: BSD-3-Clause
"""One program of OpenMP for each runtime that is here."""
import os
import shutil
import subprocess


def built(source, directory):
    """(runtime, program) for libgomp and libomp, built in `directory`; says which cannot be had."""
    for compiler, runtime in ("gcc", "libgomp"), ("clang", "libomp"):
        program = os.path.join(directory, runtime)
        if not shutil.which(compiler) or subprocess.run([compiler, "-O2", "-fopenmp", "-Itests/programs", "-o", program, source]).returncode:
            print(f"{runtime}: no {compiler} that builds it")
            continue
        yield runtime, program
