#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# common/configure.sh BUILD VERSION [collector]: finds the libraries of the build and writes BUILD/config.mk (read by the Makefile)
# and BUILD/config.h (included in every source by the compiler's command line). Each probe compiles and links a
# tiny program, because a header alone does not prove that the library can be linked.
# `collector`: for a build that needs the C library alone (and counters if papi.h is there).
# CC is taken from the environment. Fails, naming all Debian packages that are needed, if a required one is missing.
set -u
build=$1
version=$2
cc=${CC:-cc}
mkdir -p "$build" || exit 1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
missing=
lacking=
mk=$scratch/config.mk
h=$scratch/config.h

# links INCLUDES EXPRESSION FLAGS: can a program that evaluates EXPRESSION be built?
links() {
    { for include in $1; do echo "#include <$include>"; done
      echo "int main(void) { return ($2) ? 0 : 1; }"; } >"$scratch/probe.c"
    # shellcheck disable=SC2086
    $cc -D_GNU_SOURCE -w "$scratch/probe.c" -o "$scratch/probe" $3 >"$scratch/log" 2>&1
}

# flags MODULE DEFAULT: what pkg-config says of MODULE, or DEFAULT.
flags() {
    if pkg-config --exists "$1" 2>/dev/null; then pkg-config --cflags --libs "$1"; else echo "$2"; fi
}

# required VARIABLE PACKAGE FLAGS INCLUDES EXPRESSION
required() {
    if links "$4" "$5" "$3"; then
        emit "$1" "$3"
    else
        missing="$missing $2"
    fi
}

# optional NAME PACKAGE WHAT FLAGS INCLUDES EXPRESSION
optional() {
    if links "$5" "$6" "$4"; then
        echo "HAVE_$1 = 1" >>"$mk"
        emit "$1" "$4"
        echo "#define HQ_HAVE_$1 1" >>"$h"
    else
        lacking="$lacking$3 (package $2)
"
    fi
}

# emit VARIABLE FLAGS: VARIABLE_CFLAGS and VARIABLE_LIBS, told apart by their first letters.
emit() {
    c=
    l=
    for flag in $2; do
        case $flag in -I* | -D*) c="$c $flag" ;; *) l="$l $flag" ;; esac
    done
    printf '%s_CFLAGS =%s\n%s_LIBS =%s\n' "$1" "$c" "$1" "$l" >>"$mk"
}

if ! $cc --version >/dev/null 2>&1; then
    package=gcc
    case $cc in *-linux-gnu-gcc) package=gcc-${cc%-gcc} ;; esac
    echo "hq needs a C compiler ($cc was not found): package $package; \`make deps\` installs it." >&2
    exit 1
fi
if ! links "stdint.h stdio.h pthread.h linux/perf_event.h" 1 ""; then
    package=libc6-dev
    case $cc in aarch64-linux-gnu-gcc) package=libc6-dev-arm64-cross ;; esac
    echo "hq needs the C library's headers: with them, $cc builds no program here: package $package; \`make deps\` installs it." >&2
    exit 1
fi
echo "# Written by common/configure.sh; \`make config\` writes it anew." >"$mk"
printf '#ifndef HQ_CONFIG_H\n#define HQ_CONFIG_H\n#define HQ_VERSION "%s"\n' "$version" >"$h"

# For what asks and answers, and for the tests.
find_libraries() {
    # Debian 12 has no description of it for pkg-config, and that of Debian 13 names a directory that is not there.
    required DWARF libdwarf-dev "$(flags libdwarf -ldwarf) -I/usr/include/libdwarf" "dwarf.h libdwarf.h" "dwarf_errmsg(0) != 0"
    required ZLIB zlib1g-dev "$(flags zlib -lz)" "zlib.h" "zlibVersion() != 0"
    required ZSTD libzstd-dev "$(flags libzstd -lzstd)" "zstd.h" "ZSTD_versionNumber()"
    required LZMA liblzma-dev "$(flags liblzma -llzma)" "lzma.h" "lzma_version_number()"
    # One decoder of instructions is enough; DECODER=capstone takes the slower one although both are there.
    if [ "${DECODER:-zydis}" = zydis ] && links "Zydis/Zydis.h" "ZydisGetVersion() != 0" "$(flags zydis -lZydis)"; then
        echo "HAVE_ZYDIS = 1" >>"$mk"
        emit ZYDIS "$(flags zydis -lZydis)"
    else
        required CAPSTONE "libzydis-dev (or libcapstone-dev)" "$(flags capstone -lcapstone) -I/usr/include" "capstone/capstone.h" "cs_version(0, 0) != 0"
        lacking="${lacking}Zydis, with Capstone instead (package libzydis-dev)
"
    fi
    required IBERTY libiberty-dev "-liberty" "libiberty/demangle.h" "cplus_demangle(\"_Z1fv\", 0) != 0"
    required PCRE2 libpcre2-dev "-DPCRE2_CODE_UNIT_WIDTH=8 $(flags libpcre2-8 -lpcre2-8)" "pcre2.h" "pcre2_config(PCRE2_CONFIG_VERSION, 0)"

    [ "${READLINE:-}" = no ] || optional READLINE libreadline-dev "editing of lines, history and completion at the prompt" \
        "$(flags readline -lreadline)" "stdio.h readline/readline.h" "rl_callback_sigcleanup != 0"
    optional YAJL libyajl-dev "reading of JSON: Chrome traces, speedscope, histories of checks" "$(flags yajl -lyajl)" \
        "yajl/yajl_parse.h" "yajl_alloc != 0"
    optional EXPAT libexpat1-dev "reading of structure files (\`hq build --structure\`)" "$(flags expat -lexpat)" \
        "expat.h" "XML_ParserCreate != 0"
    mpi=
    if command -v mpicc >/dev/null; then
        # Word by word: `mpicc -show` (MPICH and Open MPI) prints the compiler's name and then its options.
        mpi=$(mpicc -show 2>/dev/null | tr ' ' '\n' | grep -E '^-(I|L|l|Wl,)' | tr '\n' ' ')
    fi
    optional MPI libopenmpi-dev "MPI test programs" "${mpi:--lmpi}" "mpi.h" "MPI_Init != 0"
    optional OPENCL ocl-icd-opencl-dev "OpenCL test programs" "$(flags OpenCL -lOpenCL)" "CL/cl.h CL/cl_layer.h" "clGetPlatformIDs != 0"
    if command -v esbuild >/dev/null; then
        echo "HAVE_ESBUILD = 1" >>"$mk"
        # An old one (0.8, Debian 11) leaves the names of properties long: the page is larger.
        echo 'let x = 1' | esbuild --target=es2022 --mangle-props=^x --log-level=silent >/dev/null 2>&1 || echo "ESBUILD_IS_OLD = 1" >>"$mk"
    else
        lacking="${lacking}the page of \`hq report\` (package esbuild)
"
    fi
}
optional PAPI libpapi-dev "hardware counters as events" "$(flags papi -lpapi)" "papi.h" "PAPI_library_init != 0"
[ "${3:-}" = collector ] || find_libraries
echo "#endif" >>"$h"

if [ -n "$missing" ]; then
    echo "hq needs libraries that were not found here, Debian packages:$missing; \`make deps\` installs them." >&2
    exit 1
fi
printf '%s' "$lacking" | sed 's/^/building without /' >&2
# An unchanged header keeps its time, or every object would be compiled again.
cmp -s "$h" "$build/config.h" || cp "$h" "$build/config.h"
cp "$mk" "$build/config.mk"
