#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tests/run counts what is skipped, and with CI=true takes what tests/skips does not list for a failure; what is listed there is said by some test.
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0

# expect LAST STATUS CI SCRIPT: tests/run of a test that does this ends with this line and status.
expect() {
    local got status
    printf '%s\n' "$4" >"$HQ_TEST_TMP/some.sh"
    CI=$3 SKIPS=$HQ_TEST_TMP/skips "$TOP/tests/run" "$HQ_TEST_TMP/some.sh" >out 2>&1
    status=$?
    got=$(tail -n 1 out)
    if [ "$got:$status" = "$1:$2" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: CI=$3, $4: '$got', status $status, where '$1', status $2 is right"
        cat out
    fi
}
echo "$HQ_TEST_TMP/some.sh | no such thing | for this test" >skips
for ci in '' true; do
    expect '0 passed, 0 failed, 1 skipped' 0 "$ci" 'echo "skipped: no such thing here"; exit 77'
    expect '3 passed, 0 failed, 1 skipped' 0 "$ci" 'echo "skipped: no such thing"; echo more; echo "3 passed, 0 failed, 1 skipped"'
    expect '3 passed, 1 failed' 1 "$ci" 'echo "3 passed, 1 failed"; exit 1'
done
expect '0 passed, 0 failed, 1 skipped' 0 '' 'exit 77'
expect '0 passed, 1 failed' 1 true 'exit 77'
expect '0 passed, 0 failed, 1 skipped' 0 '' 'echo "skipped: another thing"; exit 77'
expect '0 passed, 1 failed' 1 true 'echo "skipped: another thing"; exit 77'
expect '3 passed, 0 failed, 2 skipped' 0 '' 'echo "skipped: no such thing"; echo "skipped: another"; echo "3 passed, 0 failed"'
expect '3 passed, 1 failed, 1 skipped' 1 true 'echo "skipped: no such thing"; echo "skipped: another"; echo "3 passed, 0 failed, 2 skipped"'
expect '3 passed, 1 failed, 1 skipped' 1 true 'echo "skipped: no such thing"; echo "3 passed, 0 failed, 2 skipped"'

# Where there is no Python its tests are skipped, in either form, and in CI that is a failure.
mkdir bin
ln -s /usr/bin/* bin/ && rm bin/python3*
printf '#!/usr/bin/env python3\n' | tee script.py >script
chmod +x script
for ci in '' true; do
    got=$(CI=$ci PATH=$PWD/bin "$TOP/tests/run" "$PWD/script.py" "$PWD/script" | tail -n 1)
    case $ci:$got in ':0 passed, 0 failed, 2 skipped' | 'true:0 passed, 2 failed') passed=$((passed + 1)) ;; *) failed=$((failed + 1)); echo "FAILED: CI=$ci, without python3: $got" ;; esac
done
rm skips
expect '0 passed, 1 failed' 1 true 'echo "skipped: no such thing"; exit 77'

# What failed is run once more in CI, and only there; what fails twice has failed.
once="[ -e $HQ_TEST_TMP/seen ] && exit 0; touch $HQ_TEST_TMP/seen; exit 1"
expect '0 passed, 1 failed' 1 '' "$once"
rm seen
expect '1 passed, 0 failed' 0 true "$once"
if grep -q '^shaky: .*some.sh' out; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: nothing says that it failed first"; fi
rm seen
AGAIN=0 expect '0 passed, 1 failed' 1 true "$once"

# Where others want the processors a test has more time, and knows it.
expect '1 passed, 0 failed' 0 '' '[ "$HQ_TEST_CROWD" -ge 100 ]'
JOBS=1 BUSY=2 expect '1 passed, 0 failed' 0 '' '[ "$HQ_TEST_CROWD" -ge 300 ]'

# What no test says any more leaves the list.
while IFS= read -r line; do
    case $line in '#'*) continue ;; esac
    test=${line%% |*} said=${line#* | }
    said=${said%% |*}
    # Or with a name at one end: `skip "$1 is not possible here"`, `skip "there is no $1"`.
    if grep -qF -e "$said" -e "\$1 ${said#* }" -e "${said% *} \$1" "$TOP/$test"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: tests/skips: $test does not say '$said'"
    fi
done <"$TOP/tests/skips"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
