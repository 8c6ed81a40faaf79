#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# dist.sh VERSION DIRECTORY: the last commit as DIRECTORY/hq-VERSION.tar.gz, with the report page's script and style, so
# that it builds without esbuild. Times are the commit's, owners nobody's and the order that of names: the same commit
# gives the same bytes.
set -euo pipefail
name=hq-$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
git rev-parse --git-dir >/dev/null 2>&1 || { echo "make dist: it packs the last commit, so it needs a clone of the repository" >&2; exit 2; }
command -v esbuild >/dev/null || { echo "make dist: it brings the report page along and needs esbuild for that; \`make deps\` installs it" >&2; exit 2; }
[ -z "$(git status --porcelain --untracked-files=no)" ] || echo "make dist: what is not committed is not in it" >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$scratch"
make -s -C "$scratch/$name" BUILD="$scratch/build" "$scratch/build/page/page.js" "$scratch/build/page/page.css"
cp "$scratch/build/page/page.js" "$scratch/build/page/page.css" "$scratch/$name/query/output/page/"
tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" -c -C "$scratch" "$name" | gzip -9n >"$out/$name.tar.gz"
echo "$2/$name.tar.gz"
