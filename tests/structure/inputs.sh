#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 900
# One program in every form that debug information comes in: the same structure must be found, or a sentence must say why not.
set -u
source=$TOP/tests/structure/mutants.cc
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0

# expect NAME TEXT...: the output has all the texts; text starting with ! must be absent.
expect() {
    local name=$1 text good=1
    shift
    "$HQ" structure prog main ${also:+"$also"} >out 2>&1
    for text in "$@"; do
        case $text in
        !*) grep -qF -- "${text#!}" out && good=0 ;;
        *) grep -qF -- "$text" out || good=0 ;;
        esac
        [ $good = 1 ] || { echo "not ok $name: \"$text\""; sed -n 1,25p out; break; }
    done
    if [ $good = 1 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
whole=("main  mutants.cc:25" "loop at mutants.cc:29" "inlined square  from mutants.cc:31" "loop at mutants.cc:37" "!hq:")
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

# The unit does not name its directory (0x1b; libdwarf of 2020 cannot read its form): the line table of version 5 does.
mkdir sub && printf 'int main(void) { return 0; }\n' >sub/placed.c && gcc -gdwarf-5 -S -o placed.s sub/placed.c &&
    sed -i 's/\.uleb128 0x1b$/.uleb128 0x2001/' placed.s && gcc -o prog placed.s && expect "directory of the line table alone" "$PWD/sub/placed.c"

# The names of the bodies of parallel regions are symbols, also in debug information.
printf 'static double s[99];\nvoid work(int n) {\n#pragma omp parallel for\nfor (int i = 0; i < 99; i++) s[i] += n;\n}\nint main() { work(3); }\n' >regions.cc
g++ -O2 -g -fopenmp -o region regions.cc && "$HQ" structure region >out 2>&1
if grep -qF 'work(int) [clone ._omp_fn.0]' out && ! grep -q _Z out; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok names of parallel regions"; cat out; fi

# gfortran gives no symbol to private procedures of a module and to internal ones, which may be there under one name in one file.
cat >private.f90 <<'E'
module one
  private
  public :: use_one
contains
  real(8) function kernel(x)
    real(8), intent(in) :: x
    kernel = cos(x) + x
  end function kernel
  subroutine use_one(x)
    real(8), intent(inout) :: x
    call rounds
  contains
    subroutine rounds
      integer :: i
      do i = 1, 1000
        x = x + kernel(x)
      end do
    end subroutine rounds
  end subroutine use_one
end module one
module two
  private
  public :: use_two
contains
  real(8) function kernel(x)
    real(8), intent(in) :: x
    kernel = sin(x) - x
  end function kernel
  subroutine use_two(x)
    real(8), intent(inout) :: x
    integer :: i
    do i = 1, 1000
      x = x + kernel(x)
    end do
  end subroutine use_two
end module two
program private
  use one
  use two
  real(8) :: x = 1
  call use_one(x)
  call use_two(x)
  call rounds
contains
  subroutine rounds
    print *, x
  end subroutine rounds
end program private
E
for level in -O0 -O2; do
    gfortran $level -g -o private private.f90 && "$HQ" structure private >out 2>&1
    missing=
    for name in one::kernel two::kernel one::use_one::rounds private::rounds; do
        grep -Eq "^ *(inlined )?$name  " out || missing+=" $name"
    done
    if [ -z "$missing" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "not ok gfortran $level, names of procedures without symbols: no$missing"; cat out; fi
done

# Return from a signal handler, as C libraries have it: the unwind information begins a byte before the procedure.
cat >returns.c <<'E'
#ifdef __x86_64__
__asm__(".text\n.p2align 4\n.cfi_startproc simple\n.cfi_signal_frame\n.cfi_def_cfa rsp, 8\n.cfi_offset rip, -8\nnop\n.type back, @function\nback: nop\nret\n"
        ".size back, .-back\n.cfi_endproc\n");
#else
void back(void) {}
#endif
int main(void) { return 0; }
E
gcc -o returns returns.c && "$HQ" structure returns >out 2>/dev/null
if grep -q '^    back  ' out && ! grep -q '^    returns+' out; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok the return from a signal handler has its name"; cat out; fi

# What is a member of a local class has no linkage name, but a symbol.
printf 'template <class F> struct job { F f; __attribute__((noinline)) int run(int n) { int s = 0; while (n--) s += f(n); return s; } };\nint main(int c, char **) { auto l = [](int x) { return x * x; }; job<decltype(l)> j{l}; return j.run(c); }\n' >local.cc
g++ -O2 -g -o local local.cc && "$HQ" structure local >out 2>&1
if grep -q '^    .*job<main::{lambda(int)#1}>::run(int)' out; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok names of members of local classes"; cat out; fi

# The same, inlined: without inlining their symbols say what they must be called.
lambdas=$TOP/tests/structure/lambdas.cc
g++ -O0 -o symbols "$lambdas" && nm -C symbols | sed 's/^[0-9a-f]* . //' | sort -u >truth
g++ -O2 -g -o lambdas "$lambdas" && "$HQ" structure lambdas | sed -n 's/^ *inlined \(.*\)  from .*/\1/p' | grep '^main::\|^space::' | sort -u >names
if [ "$(grep -c 'lambda' names)" -ge 6 ] && [ -z "$(comm -23 names truth)" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok names of inlined lambdas"; comm -23 names truth; fi

# gcc tells no place of a lambda's code that was inlined, only of its class.
printf '#include <cmath>\ntemplate <class F> __attribute__((noinline)) double run(F f, int n) { double s = 0; while (n--) s += f(n); return s; }\nint main(int c, char **) {\n  return run([](int i) { return std::sin(i); }, c) +\n         run([c](int i) { return std::cos(i * c); }, c) > 1;\n}\n' >places.cc
g++ -O2 -g -o places places.cc && "$HQ" structure --xml places >out 2>&1
if grep -q 'lambda(int)#1}::operator().* dl="4"' out && grep -q 'lambda(int)#2}::operator().* dl="5"' out; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok the places of inlined lambdas"; grep 'lambda' out; fi

# Instances of a template over lambdas, called and inlined: gcc has one name for all, the symbols have one each.
cat >over.cc <<'END'
#include <cstdlib>
template <class F> __attribute__((noinline)) double run(int n, F f) { double s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
template <class F> inline double inl(int n, F f) { double s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
namespace ns { template <class T, int N> struct box { T t; __attribute__((noinline)) double go(int n) { return run(n, t) * N; } }; }
int main(int argc, char **argv) {
    int n = std::atoi(argv[1]); double z = argc;
    auto b = [=](int i) { return z * (i + 3.0); };
    return run(n, [=](int i) { return z * i; }) + run(n, [=](int i) { return z / (i + 1.0); }) + inl(n, [=](int i) { return z - i; }) +
           inl(n, [=](int i) { return z + i; }) + ns::box<decltype(b), 2>{b}.go(n) > 1;
}
END
g++ -O0 -o symbols over.cc && nm -C symbols >truth
g++ -O2 -g -S over.cc
# Compilers of either way of counting lambdas number these alike.
for major in "$(g++ -dumpversion)" 14; do
    sed "s/\"GNU C++\([0-9]*\) [0-9]*/\"GNU C++\1 ${major%%.*}/" over.s >as.s
    g++ -o over as.s && "$HQ" structure over | sed -n 's/^ *\(inlined \)\{0,1\}\([a-z:]*<main.*>\).*  .*/\2/p' | sort -u >names
    if [ "$(grep -c '^run<main::{lambda(int)#[123]}>' names)" = 3 ] && [ "$(grep -c '^inl<main::{lambda(int)#[345]}>' names)" = 2 ] &&
        grep -q '^ns::box<main::{lambda(int)#[0-9]}, 2>' names && [ -z "$(while read -r name; do grep -qF "$name" truth || echo "$name"; done <names)" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1)); echo "not ok names of instances over lambdas, by g++ $major"; cat names; grep lambda truth; fi
done

# Templates over lambdas in one another, as views in a pipeline are: each lambda has its name at any depth.
cat >views.cc <<'END'
template <class V, class F> struct view { V v; F f; int get(int i) { return f(v.get(i)); } };
template <class F, class V> inline view<V, F> operator|(V v, F f) { return {v, f}; }
struct all { const int *p; int get(int i) { return p[i]; } };
template <class F> inline auto swapped(F f) { return [f](int a) { return f(a) ^ 1; }; }
template <class V> inline int total(V v, int n) { int s = 0; for (int i = 0; i < n; i++) s += v.get(i); return s; }
int main(int argc, char **argv) {
    auto one = [=](int a) { return a * argc; };
    auto two = [=](int a) { return a / argc; };
    return total(all{(int *)argv} | one | two | swapped(swapped(one)), argc) + total(all{(int *)argv} | two | swapped(swapped(two)), argc);
}
END
g++ -O2 -g -o views views.cc && "$HQ" structure views | sed -n 's/^ *inlined \(total.*\)  from .*/\1/p' | tr -d ' ' | sort -u >names
sort >wanted <<'END'
total<view<view<view<all,main::{lambda(int)#1}>,main::{lambda(int)#2}>,swapped<swapped<main::{lambda(int)#1}>::{lambda(int)#1}>::{lambda(int)#1}>>
total<view<view<all,main::{lambda(int)#2}>,swapped<swapped<main::{lambda(int)#2}>::{lambda(int)#1}>::{lambda(int)#1}>>
END
if cmp -s names wanted; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok names of templates over lambdas in one another"; diff names wanted; fi

# A call does not return if any of the names of what it calls is known for that.
cat >prog.c <<'END'
void qx(int), quick_exit(int) __attribute__((alias("qx"))), other(int);
__attribute__((noinline)) int step(int n) { __asm__ volatile("" : "+r"(n)); return n - 1; }
__attribute__((noinline)) void qx(int n) { __asm__ volatile("" : "+r"(n)); }
__attribute__((noinline)) void other(int n) { __asm__ volatile("nop" : "+r"(n)); }
__attribute__((noinline)) int stops(int n) { for (;;) { n = step(n); if (n < 3) return n; qx(n); } }
int main(int n, char **v) { for (;;) { n = step(n); if (n < 3) return v && stops(n); other(n); } }
END
gcc -w -O1 -g -fno-ipa-icf -o prog prog.c && expect "a call that may return" "loop at prog.c:6"
also=stops expect "a call that does not return by its second name" "stops  prog.c:5" "!loop at prog.c:5"

# In a shared library what it exports is called through a stub, also by itself.
cat >prog.c <<'END'
#include <stdlib.h>
int step(int);
__attribute__((noinline)) void fails(int n) { if (n > 5) abort(); exit(n); }
int stops(int n) { for (;;) { n = step(n); if (n < 3) return n; fails(n); } }
int main(int n, char **v) { return v && stops(n); }
END
gcc -O1 -g -shared -fPIC -o prog prog.c && also=stops expect "a call of the library's own that does not return" "stops  prog.c:4" "!loop at prog.c:4"

# Code of a unit in front of its first line has no file.
cat >prog.c <<'END'
__asm__(".text\n.globl early\n.type early, @function\nearly: xor %eax, %eax\n1: dec %edi\njnz 1b\nret\n.size early, .-early\n");
int early(int);
int main(int n, char **v) { return v && early(n); }
END
gcc -O1 -g -o prog prog.c && also=early expect "code in front of the first line" "<unknown file>" "early  0x" "loop at 0x" "main  prog.c:3"

# GHC gives the code of an entry the name and type of the table in front of it; other data in code is none.
cat >prog.c <<'END'
__asm__(".text\n.globl stg_entry_info, stg_table\n.type stg_entry_info, @object\n.type stg_table, @object\n"
        ".quad 7\nstg_entry_info: ret\n.size stg_entry_info, .-stg_entry_info\n.p2align 4\nstg_table: .quad 0\n.size stg_table, .-stg_table\n");
int main(void) { return 0; }
END
gcc -o prog prog.c && also=stg_entry_info expect "code that has the name of its table" "stg_entry_info  0x" "!stg_table"

# The parts of a coroutine have its name in the source.
cat >coroutine.cc <<'END'
#include <coroutine>
struct numbers {
    struct promise_type {
        int value;
        numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int x) { value = x; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
numbers count(int n) { for (int i = 0; i < n; i++) co_yield i; }
int main(int n, char **) { numbers c = count(n); c.handle.resume(); c.handle.destroy(); }
END
g++ -std=c++20 -O1 -g -o prog coroutine.cc && "$HQ" structure prog >out 2>&1
if [ "$(grep -c '^    count' out)" = 3 ] && grep -q '^    count \[clone .actor\]  ' out && grep -q '^    count \[clone .destroy\]  ' out; then
    passed=$((passed + 1)); else failed=$((failed + 1)); echo "not ok parts of a coroutine"; grep count out; fi

# What is damaged within a unit is told: a header of lines of a version that there is not, the third abbreviation one that there is not.
gcc -x c -O1 -g -o damaged - <<<'static int a(int n) { return n + 1; } int b(int n) { return a(n); } int main(int c, char **v) { return v && b(c); }'
third=$(readelf --debug-dump=info damaged 2>/dev/null | sed -n 's/^ <1><\([0-9a-f]*\)>: Abbrev Number: [1-9].*/\1/p' | sed -n 3p)
for place in .debug_line:4 .debug_info:$((0x$third)); do
    objcopy --dump-section "${place%:*}=part" damaged && printf '\x7f' | dd bs=1 conv=notrunc seek="${place#*:}" of=part 2>/dev/null
    objcopy --update-section "${place%:*}=part" damaged prog && expect "damaged ${place%:*}" "main" "is damaged"
done

objcopy --only-keep-debug plain prog.debug
strip -o prog plain && expect "stripped" "main" "loop at 0x" "hq: prog: stripped, so procedures have no names"
objcopy --strip-debug plain prog && expect "symbols only" "main" "hq: prog: no debug information, so no lines and no inlined procedures"
# As Fedora does it: what the dynamic symbols do not have, in a file of its own.
printf 'static __attribute__((noinline)) int deep(int n) { int s = 0; while (n--) s ^= n * n; return s; }\nint main(int c, char **v) { return v && deep(c); }\n' >mini.c
gcc -O1 -o mini mini.c && objcopy -S --keep-symbol=deep mini symbols && xz -k symbols
strip -o prog mini && objcopy --add-section .gnu_debugdata=symbols.xz prog
also=deep expect "MiniDebugInfo" "main  0x" "deep  0x" "loop at 0x" "hq: prog: no debug information, so no lines and no inlined procedures"
head -c 200 symbols.xz >cut.xz && strip -o prog mini && objcopy --add-section .gnu_debugdata=cut.xz prog
expect "MiniDebugInfo, damaged" "main  0x" "!deep" "hq: prog: section .gnu_debugdata cannot be decompressed"
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

# Several units, each of which has its own list of strings: names are those of the same code in one piece.
for unit in first second third; do
    cat >"$unit.cc" <<C
struct ${unit}_kind { int ${unit}_value; };
static inline int ${unit}_inside(${unit}_kind x)
{
    int ${unit}_sum = 0;
    while (x.${unit}_value--)
        ${unit}_sum += x.${unit}_value * ${unit}_sum ^ 5;
    return ${unit}_sum;
}
__attribute__((noinline)) int ${unit}_outside(${unit}_kind x) { return ${unit}_inside(x) + 1; }
C
done
echo 'int main() { return 0; }' >last.cc
for compiler in g++ clang++; do
    for version in 4 5; do
        for split in "" -gsplit-dwarf package; do
            [ "$split$compiler" = packageg++ ] && continue
            for unit in first second third last; do
                $compiler -O2 -g -gdwarf-$version ${split:+-gsplit-dwarf} -c "$unit.cc"
            done
            $compiler -o prog first.o second.o third.o last.o
            [ "$split" = package ] && llvm-dwp -e prog -o prog.dwp && rm -f ./*.dwo
            "$HQ" structure prog 2>&1 | grep -E '_(in|out)side|split' | sed 's/  0x.*//' >"names${split:-whole}"
            rm -f prog.dwp
        done
        for split in -gsplit-dwarf $([ $compiler = clang++ ] && echo package); do
            if [ "$(grep -c side nameswhole)" = 6 ] && cmp -s nameswhole "names$split"; then
                passed=$((passed + 1))
            else
                failed=$((failed + 1))
                echo "not ok $compiler -gdwarf-$version $split: names of units"
                diff nameswhole "names$split"
            fi
        done
    done
done

# Split debug information: the skeleton tells which file is missing.
for compiler in "g++ -gdwarf-4" "g++ -gdwarf-5" "clang++ -gdwarf-4" "clang++ -gdwarf-5"; do
    $compiler -O2 -gsplit-dwarf -o prog "$source"
    case $compiler in
    clang*) expect "$compiler -gsplit-dwarf" "${clang[@]}" ;;
    *) expect "$compiler -gsplit-dwarf" "${whole[@]}" ;;
    esac
    mkdir away && (cd away && $compiler -O2 -gsplit-dwarf -o prog "$source" && cp prog ./*.dwo ..) && for written in away/*.dwo; do : >"$written"; done
    case $compiler in
    clang*) expect "$compiler -gsplit-dwarf, damaged where it was written" "${clang[@]}" ;;
    *) expect "$compiler -gsplit-dwarf, damaged where it was written" "${whole[@]}" ;;
    esac
    rm -rf away
    cp prog kept
    sed 's/argc \* 10/argc * 11/' "$source" >mutants.cc && $compiler -O2 -gsplit-dwarf -o prog mutants.cc && mv kept prog
    expect "$compiler, .dwo of another build" "main" "hq: prog: split debug information" ".dwo belongs to another build"
    rm -f ./*.dwo mutants.cc
    expect "$compiler, .dwo lost" "main" "hq: prog: split debug information" ".dwo is missing"
    : >prog.dwp
    expect "$compiler, .dwo lost, package empty" "main" "hq: prog: split debug information" ".dwo is missing"
    cp prog kept && sed 's/argc \* 10/argc * 11/' "$source" >mutants.cc && $compiler -O2 -gsplit-dwarf -o prog mutants.cc
    llvm-dwp -e prog -o prog.dwp && mv kept prog && rm -f ./*.dwo mutants.cc
    expect "$compiler, package of another build" "main" "hq: prog: split debug information" ".dwo is missing, also in prog.dwp"
    rm -f prog.dwp
done
for compiler in "g++ -gdwarf-4" "g++ -gdwarf-5" "clang++ -gdwarf-4" "clang++ -gdwarf-5"; do
    $compiler -O2 -gsplit-dwarf -o prog "$source" && llvm-dwp -e prog -o prog.dwp && rm -f ./*.dwo
    case $compiler in
    clang*) expect "$compiler, packed" "${clang[@]}" ;;
    *) expect "$compiler, packed" "${whole[@]}" ;;
    esac
    objcopy --only-keep-debug prog prog.debug && strip prog && objcopy --add-gnu-debuglink=prog.debug prog && mv prog.dwp prog.debug.dwp
    expect "$compiler, packed beside the separate debug file" "main" "loop at mutants.cc:29" "inlined square"
    rm -f prog.debug prog.debug.dwp
done

# A procedure that is not there: one sentence, and nothing on standard output.
"$HQ" structure plain mainn >out 2>err
if [ $? = 3 ] && [ ! -s out ] && grep -qF "hq structure: plain has no procedure mainn; did you mean main?" err; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "not ok no such procedure"; head -3 out err
fi
# Several: what is there is printed, and what is not is said.
"$HQ" structure plain mainn main square xyz >out 2>err
if [ $? = 3 ] && grep -q "^    main " out && grep -qF "hq structure: plain has no procedures mainn, square and xyz" err; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "not ok procedures that are not there"; head -3 out err
fi

# refused NAME TEXT: one sentence, nothing on standard output, and status 3.
refused() {
    "$HQ" structure prog >out 2>err
    if [ $? = 3 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "hq structure: $2" err; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $1"; head -3 out err
    fi
}
: >prog && refused "empty file" "prog: an empty file"
echo 'int x;' >prog && refused "text" "prog: not an ELF file"
echo '#!/bin/sh' >prog && refused "script" "prog: not an ELF file but a script"
rm -f prog && refused "no file" "prog: cannot be read: No such file or directory"
mkdir prog && refused "directory" "prog: not a regular file"
rmdir prog && mkfifo prog && refused "fifo" "prog: not a regular file"
rm -f prog && g++ -O2 -g -c -o prog "$source" && refused "object file" "prog: an object file or kernel module"
rm -f archive.a && ar rc archive.a prog && mv archive.a prog && refused "archive" "prog: not an ELF file but an archive"
objcopy --only-keep-debug plain prog && refused "separate debug file" "prog: a separate debug file, which has no code"
cp plain prog && printf "\\363" | dd of=prog bs=1 seek=18 conv=notrunc 2>/dev/null && refused "other machine" "prog: an ELF file for RISC-V"
cp plain prog && printf '\004' | dd of=prog bs=1 seek=16 conv=notrunc 2>/dev/null && refused "core file" "prog: a core file"
head -c 40 plain >prog && refused "header cut short" "prog: an ELF file that is cut short (only 40 bytes)"
head -c 300 plain >prog && refused "no code left" "prog: cut short: no code is left of it"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
