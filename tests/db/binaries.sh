#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `hq record --with-binaries`: the program and its library are gone or others, and every name, line and loop is as before.
. tests/db/lib.sh
cd "$TMP"
cat >work.c <<'END'
double work(long n)
{
    volatile double x = 1;
    for (long i = 0; i < n; i++)
        x = x * 1.0000001;
    return x;
}
END
printf 'double work(long n);\nint main(void)\n{\n    return work(60000000) < 0;\n}\n' >main.c
gcc -O1 -g -shared -fPIC -Wl,--build-id -o libwork.so work.c
gcc -O1 -g -Wl,--build-id=none -o main main.c -L. -lwork -Wl,-rpath,"$TMP"
"$HQ" record -o with.hq --with-binaries -- ./main 2>err
check "it is said what is kept" grep -q '^hq: [0-9]* binaries, .* are kept in with.hq/binaries$' err
"$HQ" record -o without.hq -- ./main 2>/dev/null
cp -r with.hq before.hq
"$HQ" before.hq "tree as csv" --quiet >before.csv
check "names, lines and loops are there" grep -q 'work.c,4' before.csv
ln -s main link
"$HQ" record -o link.hq --with-binaries -- ./link 2>/dev/null
cp -r link.hq before-link.hq
"$HQ" before-link.hq "tree as csv" --quiet >before-link.csv
check "also where the program was started by a link" grep -q 'main.c,' before-link.csv
long=$(printf 'x%.0s' {1..240})
cp main "$long"
"$HQ" record -o long.hq --with-binaries -- "./$long" 2>err
check "all is kept of a program with a long name" grep -q '^hq: [0-9]* binaries, .* are kept in long.hq/binaries$' err
rm main link "$long"
printf 'double other(long n) { return n; }\n' | gcc -O1 -shared -fPIC -Wl,--build-id -o libwork.so -x c -
mv with.hq elsewhere.hq
XDG_CACHE_HOME=$TMP/empty "$HQ" elsewhere.hq "tree as csv" --quiet >after.csv
check "without the binaries the answer is the same" cmp before.csv after.csv
XDG_CACHE_HOME=$TMP/empty "$HQ" link.hq "tree as csv" --quiet >after-link.csv
check "and where it was started by a link" cmp before-link.csv after-link.csv
"$HQ" without.hq "tree as csv" >plain.csv 2>/dev/null
check "without their copies names are not" eval '! grep -q work.c plain.csv'
check "the verifier finds nothing" "$HQ" verify elsewhere.hq
touch elsewhere.hq/binaries/mine
"$HQ" record -f -o elsewhere.hq -- true 2>/dev/null
check "a new recording removes copies and nothing else" [ "$(ls elsewhere.hq/binaries)" = mine ]
"$HQ" record --by=perf --with-binaries -o p.hq -- true 2>err
check "with --by=perf it is refused" [ $? = 2 ]
check "with the reason" grep -q 'does not go with --by=perf' err
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
