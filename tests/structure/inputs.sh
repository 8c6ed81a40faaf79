#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One program in every form that debug information comes in: the same structure must be found, or a sentence must say why not.
set -u
source=$TOP/tests/structure/mutants.cc
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0

# expect NAME TEXT...: the output has all the texts; text starting with ! must be absent.
expect() {
    local name=$1 text good=1
    shift
    "$HQ" structure prog main >out 2>&1
    for text in "$@"; do
        case $text in
        !*) grep -qF -- "${text#!}" out && good=0 ;;
        *) grep -qF -- "$text" out || good=0 ;;
        esac
        [ $good = 1 ] || { echo "not ok $name: \"$text\""; sed -n 1,25p out; break; }
    done
    if [ $good = 1 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
whole=("main  mutants.cc:25" "loop at mutants.cc:33" "inlined square  from mutants.cc:31" "loop at mutants.cc:37" "!hq:")
# clang names the first loop after its head, and gives static procedures symbol names.
clang=("main  mutants.cc:25" "loop at mutants.cc:29" "inlined square(int)  from mutants.cc:31" "!hq:")

for flags in "-gdwarf-3" "-gdwarf-4" "-g" "-g1" "-g -gdwarf64" "-fdebug-types-section" "-flto" "-no-pie" "-static" "-gz=zlib" "-g3" \
    "-ffunction-sections -Wl,--gc-sections" "-fuse-ld=gold" "-g -Wl,--build-id=none"; do
    case $flags in *-g[dw1-3]*) ;; *) flags="-g $flags" ;; esac
    # shellcheck disable=SC2086
    g++ -O2 $flags -o prog "$source" 2>/dev/null && expect "g++ $flags" "${whole[@]:0:1}" "${whole[@]:2:1}" "${whole[@]:4:1}"
done
for flags in "-gdwarf-4" "-gdwarf-5" "-gdwarf-5 -fdebug-types-section" "-flto -fuse-ld=lld"; do
    # shellcheck disable=SC2086
    clang++ -O2 -g $flags -o prog "$source" 2>/dev/null && expect "clang++ $flags" "${clang[@]:1}"
done

clang++ -O2 -gline-tables-only -o prog "$source" && expect "clang++ -gline-tables-only" "inlined square  from mutants.cc:31"

g++ -O2 -g -o plain "$source"
cp plain prog && expect "plain" "${whole[@]}"
objcopy --compress-debug-sections=zstd plain prog 2>/dev/null && expect "zstd" "${whole[@]}"
objcopy --compress-debug-sections=zlib-gnu plain prog && expect ".zdebug" "${whole[@]}"
cp plain prog && dwz prog && expect "dwz" "${whole[@]}"
cp plain prog && cp plain other && dwz -m common.dwz prog other && expect "dwz -m" "${whole[@]}"
rm -f common.dwz && expect "dwz -m, common file lost" "common.dwz, which holds the debug information it shares, is missing"

objcopy --only-keep-debug plain prog.debug
strip -o prog plain && expect "stripped" "main" "loop at 0x" "hq: prog: stripped, so procedures have no names"
objcopy --strip-debug plain prog && expect "symbols only" "main" "hq: prog: no debug information, so no lines and no inlined procedures"
strip -o prog plain && objcopy --add-gnu-debuglink=prog.debug prog && expect "debuglink" "${whole[@]}"
mkdir -p .debug && mv prog.debug .debug/ && expect "debuglink into .debug" "${whole[@]}"
g++ -O1 -g -o otherbuild "$source" && objcopy --only-keep-debug otherbuild .debug/prog.debug
expect "debuglink of another build" "separate debug file" "belongs to another build"
rm -rf .debug
id=$(readelf -n plain | awk '/Build ID/ {print $3}')
mkdir -p "root/.build-id/${id:0:2}" && objcopy --only-keep-debug plain "root/.build-id/${id:0:2}/${id:2}.debug"
strip -o prog plain && HQ_DEBUG_PATH=/nowhere:$PWD/root expect "build-id" "${whole[@]}"

# A server, here a directory; asked only if the user has named it.
if ldconfig -p | grep -q 'libdebuginfod.so.1'; then
    mkdir -p "server/buildid/$id" && objcopy --only-keep-debug plain "server/buildid/$id/debuginfo"
    export DEBUGINFOD_CACHE_PATH=$PWD/debuginfod
    DEBUGINFOD_URLS=file://$PWD/server/ expect "debuginfod" "${whole[@]}"
    expect "debuginfod without DEBUGINFOD_URLS" "hq: prog: stripped, so procedures have no names"
fi

# Split debug information: the skeleton tells which file is missing.
for compiler in "g++ -gdwarf-4" "g++ -gdwarf-5" "clang++ -gdwarf-4" "clang++ -gdwarf-5"; do
    $compiler -O2 -gsplit-dwarf -o prog "$source"
    case $compiler in
    clang*) expect "$compiler -gsplit-dwarf" "${clang[@]}" ;;
    *) expect "$compiler -gsplit-dwarf" "${whole[@]}" ;;
    esac
    rm -f ./*.dwo
    expect "$compiler, .dwo lost" "main" "hq: prog: split debug information" ".dwo is missing"
done

# A procedure that is not there: one sentence, and nothing on standard output.
"$HQ" structure plain mainn >out 2>err
if [ $? = 3 ] && [ ! -s out ] && grep -qF "hq structure: plain has no procedure mainn; did you mean main?" err; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "not ok no such procedure"; head -3 out err
fi

: >prog && expect "empty file" "hq structure: prog: not an ELF file (only 0 bytes)"
echo 'int x;' >prog && expect "text" "not an ELF file"
rm -f prog && expect "no file" "hq structure: cannot read prog: No such file or directory"
mkdir prog && expect "directory" "not a regular file"
rmdir prog && mkfifo prog && expect "fifo" "not a regular file"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
