#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# All C has the form of .clang-format, and no line of it is wider than 120 columns (texts and tables that clang-format
# leaves alone: 160). Comments do not begin with What or The same. Other versions of clang-format disagree in details, so only the one that the form was made with is asked.
cd "$TOP" || exit 1
files=$(git ls-files '*.c' '*.h' 2>/dev/null)
[ -n "$files" ] || files=$(find common format preload structure db query repl tests examples -name '*.[ch]')

wide=$(awk 'FILENAME !~ /import_seeds/ && length > 160 { print FILENAME ":" FNR ": " length " columns" }' $files)
[ -z "$wide" ] || { echo "$wide"; exit 1; }

# A comment says what is done, in a sentence or with a verb.
nouns=$(grep -nE '(/\*\*?|^ *\*) *(What|The same) ' $(grep -v '^tests/' <<<"$files") /dev/null)
[ -z "$nouns" ] || { echo "$nouns"; echo "begin with a verb, or with what it is, instead of What or The same"; exit 1; }

# One way to compare strings, and one brace style, in examples of doc/ too.
forms=$(grep -nE '\bstr(n|case|ncase)?cmp\(([^()]|\([^()]*\))*\) *[=!]= 0\b|= \{ [^ \\]' $files doc/*.md /dev/null)
[ -z "$forms" ] || { echo "$forms"; echo "strings are compared by !strcmp(a, b) or strcmp(a, b); aggregates are {.x = 1}"; exit 1; }

formatter=
for name in clang-format-14 clang-format; do
    case $("$name" --version 2>/dev/null) in *"version 14."*) formatter=$name; break ;; esac
done
[ -n "$formatter" ] || { echo "skipped: no clang-format of version 14 here"; exit 77; }
other=$("$formatter" --dry-run -Werror $files 2>&1 | grep 'error:' | head -n 20)
[ -z "$other" ] || { echo "$other"; echo "make them so: git ls-files '*.c' '*.h' | xargs $formatter -i"; exit 1; }
