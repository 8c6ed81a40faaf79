#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Damaged binaries: truncated, bits flipped, numbers replaced. None may crash, hang or be reported by a sanitizer.
# MUTANTS=N SEED=N run another lot; `make fuzz` runs 10,000 of a seed of the day.
set -eu
source=$PWD/tests/structure/mutants.cc
fuzz=$TOP/build-san/tools/structure_fuzz
[ -x "$fuzz" ] || fuzz=$TOP/build/tools/structure_fuzz
cd "$HQ_TEST_TMP"

g++ -O2 -g -o dwarf5 "$source"
g++ -O2 -gdwarf-4 -gz=zlib -o dwarf4-zlib "$source"
gcc -x c++ -O2 -gdwarf-3 -o dwarf3 "$source" -lstdc++
g++ -O2 -g -flto -o lto "$source"
clang++ -O2 -g -o clang5 "$source"
clang++ -O2 -gdwarf-4 -o clang4 "$source"
g++ -O0 -g -gdwarf-5 -fdebug-types-section -o types "$source"
cp dwarf5 dwz5 && dwz dwz5
strip -o stripped dwarf5
objcopy --compress-debug-sections=zlib-gnu dwarf5 zdebug
for version in 4 5; do
    clang++ -O2 -gdwarf-$version -gsplit-dwarf -o packed$version "$source" && llvm-dwp -e packed$version -o packed$version.dwp
done
rm -f ./*.dwo

"$fuzz" "${MUTANTS:-3000}" "${SEED:-1}" dwarf5 dwarf4-zlib dwarf3 lto clang5 clang4 types dwz5 stripped zdebug \
    packed4.dwp packed5.dwp
