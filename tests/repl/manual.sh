#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Help, manual pages and shell completions tell of every command and option, and are well formed.
set -u
cd "$HQ_TEST_TMP" || exit 1
passed=0 failed=0
check() {
    if eval "$2"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $1: $2"
    fi
}
"$HQ" --help >overview
"$HQ" --completion bash >bash.completion
"$HQ" --completion zsh >zsh.completion
for page in $("$HQ" --manual); do
    "$HQ" --manual "$page" >page
    check "$page" 'head -n 1 page | grep -q "^\.TH "'
    check "$page" 'grep -q "^.SH \"SEE ALSO\"" page'
    # Lines that begin with a point are markup; groff knows all of it.
    ! command -v groff >/dev/null || check "$page" '[ -z "$(groff -man -ww -Tutf8 -z page 2>&1)" ]'
    name=${page#hq-} name=${name%.1}
    case $page in hq.1 | *.5) continue ;; esac
    check "$page" "grep -q '^  $name ' overview"
    "$HQ" "$name" --help >help
    tr -d '\\' <page >plain
    for option in $(grep -o '^ *\(-., \)\?--[][a-z-]*' help | grep -o -- '--.*' | sed 's/\[no-\]//'); do
        check "$page" "grep -q -- '-${option#--}\\|\]${option#--}' plain"
        check "$name in bash" "grep -q -- ' $option' bash.completion"
        check "$name in zsh" "grep -q -- '$option\[' zsh.completion"
    done
done
for word in "hot path" callers where "sort by" limit let undo timing imbalance folded patterns language clauses; do
    check "help $word" "\"$HQ\" help $word | grep -q ..."
done
for begin in sort compare hot scaled; do # the first word of two
    check "help of what begins with $begin" "\"$HQ\" help $begin | head -1 | grep -q \"^$begin [a-z]\""
done
check "the language page" '"$HQ" --manual hq-language.5 | grep -q "hot path"'

check "bash" 'bash -n bash.completion'
! command -v zsh >/dev/null || check "zsh" 'zsh -n zsh.completion'
complete_words() {
    bash -c 'source ./bash.completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hq; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}
mkdir some.hq
check "a command" 'complete_words hq rec | grep -qx record'
check "a database" 'complete_words hq so | grep -qx some.hq'
check "an option" 'complete_words hq record --ou | grep -qx -- --output'
check "an option of a question" 'complete_words hq some.hq --ke | grep -qx -- --keep-going'
check "a choice" 'complete_words hq some.hq --inconclusive p | grep -qx pass'
check "help for" 'complete_words hq help bu | grep -qx build'
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
