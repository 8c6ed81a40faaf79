#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The source archive: the same bytes twice, from two directories and at two times; all that is committed and the page's bundle are in it.
set -eu
cd "$TOP"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
if ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "skipped: this tree is no clone"
    exit 77
fi
version=$(sed -n 's/^VERSION = //p' Makefile)
common/packaging/dist.sh "$version" "$HQ_TEST_TMP/one" >/dev/null 2>&1
umask 077
git clone -q . "$HQ_TEST_TMP/clone"
(cd "$HQ_TEST_TMP/clone" && TZ=Asia/Tokyo LC_ALL=C.UTF-8 common/packaging/dist.sh "$version" "$HQ_TEST_TMP/two" >/dev/null 2>&1)
passed=0 failed=0
check() {
    if "${@:2}"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; fi
}
archive=$HQ_TEST_TMP/one/hq-$version.tar.gz
check "the same commit gives the same bytes" cmp "$archive" "$HQ_TEST_TMP/two/hq-$version.tar.gz"
{ git ls-tree -r --name-only HEAD; echo query/output/page/page.js; echo query/output/page/page.css; } | LC_ALL=C sort >"$HQ_TEST_TMP/wanted"
tar -tzf "$archive" | sed -n "s|^hq-$version/||; /[^/]\$/p" | LC_ALL=C sort >"$HQ_TEST_TMP/there"
check "it holds what is committed and the bundle" diff "$HQ_TEST_TMP/wanted" "$HQ_TEST_TMP/there"
check "owners are nobody's" [ -z "$(tar --numeric-owner -tvzf "$archive" | awk '$2 != "0/0"')" ]
check "the heading of the version is in the list of changes" grep -q "^## $version" doc/CHANGELOG.md
for recipe in common/packaging/spack/package.py common/packaging/easybuild/*.eb; do
    check "$recipe is Python" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$recipe"
    check "$recipe is of this version" grep -q "$version" "$recipe"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
