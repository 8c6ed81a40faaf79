#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 900
# Files that somebody cuts short or overwrites in place while they are mapped: one sentence and an exit status, never a signal; what was
# read of them is not kept. A library in front of mmap does it at the worst time, just after a file whose name has VICTIM in it was mapped.
set -u
source=$TOP/tests/structure/mutants.cc
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0

cat >shim.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    void *data = real(at, size, protection, flags, fd, offset);
    const char *victim = getenv("VICTIM"), *keep = getenv("KEEP") && *getenv("KEEP") ? getenv("KEEP") : NULL;
    char link[64], path[4096] = "";
    static time_t writes;
    struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fd < 0 || !victim || readlink(link, path, sizeof path - 1) < 0 || !strstr(path, victim))
        return data;
    if (keep && truncate(path, atol(keep)))
        abort();
    /* Whatever the clock of the file system says; it is written to each time that it is opened. */
    now[1] = (struct timespec){.tv_sec = ++writes};
    if (!keep && utimensat(AT_FDCWD, path, now, 0))
        abort();
    return data;
}
END
gcc -O1 -shared -fPIC -o shim.so shim.c -ldl || exit 1

# expect NAME STATUS TEXT: of the last command.
expect() {
    local got=$?
    if [ $got = "$2" ] && [ "$(grep -cF -- "$3" err)" = 1 ] && [ "$(wc -l <err)" = 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $1: status $got instead of $2"; head -n 3 err
    fi
}

g++ -O2 -g -o whole "$source"
size=$(stat -c %s whole)
for keep in 0 50 4096 $((size / 2)) $((size - 1)); do
    cp whole victim
    # What is left of the last page reads as zeros without a signal.
    VICTIM=/victim KEEP=$keep LD_PRELOAD=$PWD/shim.so "$HQ" structure victim >out 2>err
    expect "cut to $keep bytes" 3 "hq structure: victim: was changed by somebody while it was read"
done
cp whole victim && VICTIM=/victim LD_PRELOAD=$PWD/shim.so "$HQ" structure victim >out 2>err
expect "overwritten" 3 "hq structure: victim: was changed by somebody while it was read"
objcopy --only-keep-debug whole victim.debug && strip -o prog whole && objcopy --add-gnu-debuglink=victim.debug prog
VICTIM=/victim KEEP=9000 LD_PRELOAD=$PWD/shim.so "$HQ" structure prog >out 2>err
expect "separate debug file cut" 3 "hq structure: $PWD/victim.debug: was changed by somebody while it was read"
g++ -O2 -g -gsplit-dwarf -o prog "$source"
VICTIM=.dwo KEEP=9000 LD_PRELOAD=$PWD/shim.so "$HQ" structure prog >out 2>err
expect "split debug information cut" 0 "prog-mutants.dwo cannot be read"
g++ -O2 -g -gsplit-dwarf -o prog "$source"
VICTIM=.dwo LD_PRELOAD=$PWD/shim.so "$HQ" structure prog >out 2>err
expect "split debug information overwritten" 3 "prog-mutants.dwo: was changed by somebody while it was read"

# From a recording: the answer has addresses for names and says why; the next one, of the whole file, has the names.
cat >victim.c <<'END'
#include <time.h>
volatile double sum;
static __attribute__((noinline)) void burn(void) { for (int i = 0; i < 1000000; i++) sum += i; }
int main(void) { for (clock_t end = clock() + CLOCKS_PER_SEC / 2; clock() < end;) burn(); }
END
gcc -O2 -g -o victim victim.c && cp victim kept && "$HQ" record -o v.hq -- ./victim >out 2>&1 || cat out
for keep in 5000 ""; do
    VICTIM=/victim KEEP=$keep LD_PRELOAD=$PWD/shim.so "$HQ" build --force --quiet v.hq >out 2>err
    expect "build, cut to '$keep'" 0 "victim: was changed by somebody while it was read; its procedures are shown by their addresses"
    cp kept victim
done
head -c 9000 kept >victim && "$HQ" build --force --quiet v.hq >out 2>err
expect "build, cut before" 0 "its end, with the list of its sections, is missing; its procedures are shown by their addresses, until"
cp kept victim
"$HQ" build --force --quiet v.hq >out 2>err && "$HQ" v.hq "procedures" >out 2>err
expect "the next build" 0 "samples shown"
grep -q burn out || { echo "not ok names in the next build"; failed=$((failed + 1)); cat out; }
VICTIM=/hq.db KEEP=4096 LD_PRELOAD=$PWD/shim.so "$HQ" v.hq "procedures" >out 2>err
expect "a database that is cut short" 3 "hq.db: was cut short by somebody while it was read"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
