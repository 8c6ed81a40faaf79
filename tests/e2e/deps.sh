#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `make deps` on a machine that lacks something: what it installs, what it tells a user who may not install, and that the build looks again afterwards. apt is played.
set -u
cd "$TOP" || exit 1
TMP=$HQ_TEST_TMP
passed=0 failed=0
check() {
    if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; cat "$TMP/out" "$TMP/err"; fi
}
mkdir "$TMP/bin"
# play NAME: standard input becomes the program of that name.
play() { { echo '#!/bin/bash'; cat; } >"$TMP/bin/$1" && chmod +x "$TMP/bin/$1"; }
play dpkg-query <<<'[ "${@: -1}" = there ] && echo -n installed'
play apt-cache <<'END'
for name in "${@:2}"; do
    case " $KNOWN " in *" $name "*) printf '%s:\n  Installed: (none)\n  Candidate: 1\n  Version table:\n' $name ;; *) [ -z "$KNOWN" ] || printf '%s:\n  Candidate: (none)\n' $name ;; esac
done
END
play id <<<'echo $USER_ID'
play sudo <<<'exit 1'
play apt-get <<<'echo "$@" >>"$TMP/asked"'
export TMP
# deps KNOWN USER_ID PACKAGE...: as on a machine whose apt knows KNOWN, by that user.
deps() {
    : >"$TMP/asked"
    KNOWN=$1 USER_ID=$2 PATH="$TMP/bin:$PATH" "$OLDPWD/.ci/deps" things "${@:3}" >"$TMP/out" 2>"$TMP/err" </dev/null
}
TREE=$PWD
# It removes what a build knew of its libraries, but not of this tree's.
mkdir -p "$TMP/tree/build" && cd "$TMP/tree" || exit 1
OLDPWD=$TREE
sentence() { grep -o 'please run: .*' "$TMP/err"; }
deps "one two" 1 there one two
check "a user who may not install ends with status 1" [ $? = 1 ]
check "and reads what to type" [ "$(sentence)" = "please run: apt-get update; apt-get install --no-install-recommends one two" ]
deps "b" 1 a/b
check "of two that will do, the one that the release has" [ "$(sentence | sed 's/.* //')" = b ]
deps "a b" 1 a/b
check "the first, if it has both" [ "$(sentence | sed 's/.* //')" = a ]
deps "" 1 a/b one
check "the first, where apt has no lists yet" [ "$(sentence | sed 's/.*recommends //')" = "a one" ]
deps "one" 1 gone one
check "none that the release does not have" [ "$(sentence | sed 's/.*recommends //')" = one ]
check "which is said" grep -q 'does not have (things): gone' "$TMP/out"
deps "" 1 there
check "nothing missing" grep -q 'nothing missing' "$TMP/out"
touch build/config.mk
deps "b two" 0 a/b two gone
check "root installs" [ $? = 0 ]
check "what there is" [ "$(sed -n '2s/.*install //p' "$TMP/asked")" = "b two" ]
check "and the build looks again" [ ! -e build/config.mk ]
cd "$TREE" || exit 1

# The lists. What runs after `make deps`, `make check` and `make demo` asks once, for all that it needs.
for goal in deps check demo collector; do
    make -n --no-print-directory $goal BUILD="$TMP/build" >"$TMP/out" 2>"$TMP/err"
    check "$goal asks for packages once" [ "$(grep -c '^\.ci/deps' "$TMP/out")" = 1 ]
    check "the C library's headers are among them" grep -q '^\.ci/deps .*\blibc6-dev\b' "$TMP/out"
done
make -n --no-print-directory ARCH=aarch64 CC=true collector >"$TMP/out" 2>"$TMP/err"
check "for another processor: its compiler and headers" grep -q '^\.ci/deps collector gcc-aarch64-linux-gnu libc6-dev-arm64-cross make$' "$TMP/out"
check "and all in one directory" [ -z "$(grep -E 'hq-collector/' "$TMP/out")" ]
check "make demo wants no browser" eval '! make -n --no-print-directory demo BUILD="$TMP/build" 2>/dev/null | grep -q chromium'
check "tests that ask about themselves have debug information, whatever CFLAGS are" \
    eval 'make -n --no-print-directory CFLAGS=-O1 BUILD="$TMP/build" "$TMP/build/tests/unit/known_test.o" 2>/dev/null | grep -q -- " -g -O1 "'

# configure.sh: a compiler without a C library, and none for another processor.
play nolibc <<<'[ "$1" = --version ]'
CC=nolibc PATH="$TMP/bin:$PATH" common/configure.sh "$TMP/none" 1 collector >"$TMP/out" 2>"$TMP/err"
check "a compiler without headers" [ $? = 1 ]
check "which are named" [ "$(grep -c 'package libc6-dev;' "$TMP/err") $(wc -l <"$TMP/err")" = "1 1" ]
CC=sparc-linux-gnu-gcc PATH="$TMP/bin:$PATH" common/configure.sh "$TMP/none" 1 collector >"$TMP/out" 2>"$TMP/err"
check "a compiler that is not there" grep -q 'package gcc-sparc-linux-gnu;' "$TMP/err"

# Where nothing can be written (nobody may in /proc), one sentence says so before anything is installed.
for goal in all check demo collector dist; do
    make --no-print-directory DEPS=no BUILD=/proc/hq $goal >"$TMP/out" 2>"$TMP/err"
    check "no place to build, $goal: status 2" [ $? = 2 ]
    check "no place to build, $goal: one sentence" [ "$(grep -c '/proc/hq cannot be written to: copy the tree' "$TMP/err") $(wc -l <"$TMP/err")" = "1 1" ]
done

# What the libraries were found to be holds until it is chosen otherwise.
chosen() { make --no-print-directory BUILD="$TMP/build" "$TMP/build/config.h" "${@:2}" >"$TMP/out" 2>"$TMP/err" && grep -c HQ_HAVE_READLINE "$TMP/build/config.h" | grep -qx "$1"; }
if echo 'int main(void) { return 0; }' | gcc -x c - -o "$TMP/probe" -lreadline 2>/dev/null; then
    check "readline, where it is there" chosen 1
    check "READLINE=no goes without" chosen 0 READLINE=no
    check "and without it, with" chosen 1
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
