#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# When the source says what line a loop has: as it was when the binary was linked, and only then. Whatever is in the cache, the answer is that
# of the files as they are.
set -u
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0
export XDG_CACHE_HOME=$PWD/cache

cat >work.c <<'END'
#include <stdio.h>

int main(void)
{
    long sum = 0;

    while (1) {
        int c = getchar();

        if (c == EOF)
            break;
        sum += c;
    }
    printf("%ld\n", sum);
    return 0;
}
END
cp work.c whole.c
gcc -O2 -g -o work "$PWD/work.c" || exit 1

# loop LINE FROM WHY: the one loop of main, and where its line is from.
loop() {
    local got
    got=$("$HQ" structure --xml work | sed -n 's/.*<L [^>]*l="\([0-9]*\)".* s="\([a-z]*\)".*/\1 \2/p' | sort -u)
    if [ "$got" = "$1 $2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not ok $3: line ${got:-none}, not $1 $2"
    fi
}

loop 7 source 'the source as it was'
loop 7 source 'the same from the cache'
HQ_SOURCES=no loop 8 unread 'sources are not wanted'
mv work.c away.c
loop 8 gone 'no source'
mv away.c work.c
loop 7 source 'it is back'
touch -d 'next year' work.c
loop 8 newer 'the source is newer than the binary'
rm work.c
loop 8 gone 'it is gone again: the cache tells the two apart'
{ echo; cat whole.c; } >work.c
touch -r whole.c work.c
loop 8 unlike 'another source of the same age: main stands elsewhere'
cp whole.c work.c
touch -r whole.c work.c
loop 7 source 'as it was'
rm work.c
mkfifo work.c
loop 8 unread 'a pipe'
rm work.c
head -c 20000000 /dev/zero >work.c
touch -r whole.c work.c
loop 8 unread 'too long for a source'
head -c 3000 /dev/urandom >work.c
touch -r whole.c work.c
loop 8 unlike 'no text'

echo "$passed passed, $failed failed"
[ $failed = 0 ]
