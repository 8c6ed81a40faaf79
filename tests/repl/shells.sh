#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The completion scripts in the shells that they are for, driven through a pseudo terminal.
set -u
cd "$HQ_TEST_TMP" || exit 1
mkdir -p zsh "my run.hq" some.hq
"$HQ" --completion bash >hq.bash
"$HQ" --completion zsh >zsh/_hq
PATH=$(dirname "$HQ"):$PATH
export PATH TERM=xterm HQ_QUERIES="$TOP/examples/queries"
unset HISTFILE

# Both shells: what is typed, and what the line is after Tab. Ctrl-U empties it.
steps() {
    while IFS='|' read -r typed line; do
        printf 'type %s\\t\nwait %s\ntype \\x15\n' "$typed" "$line"
    done <<'END'
hq rec|hq record 
hq record --outp|hq record --output 
hq so|hq some.hq
hq my|hq my\\ run.hq
hq some.hq --keep|hq some.hq --keep-going 
hq some.hq -q imba|hq some.hq -q imbalance 
hq some.hq --inconclusive pa|hq some.hq --inconclusive pass 
hq check --upd|hq check --update 
hq export spee|hq export speedscope 
hq help biel|hq help biel
hq help bui|hq help build 
hq help thresh|hq help threshold 
hq record -e REAL|hq record -e REALTIME 
hq build --no-lo|hq build --no-loops 
hq some.hq -f hq.b|hq some.hq -f hq.bash 
END
}
{
    printf 'run bash --norc --noprofile -i\ntype PS1="rea""dy> "; bind "set bell-style none"; . ./hq.bash\\r\nwait ready> \n'
    steps
    printf 'type hq some.hq --inconclusive=f\\t\nwait =fail \ntype \\x15\ntype hq record -- ba\\t\\t\\t\nwait bash\ntype \\x15exit\\r\nexit 0\n'
} >bash.pty
{
    printf 'run zsh -f -i\n'
    printf 'type PROMPT="rea""dy> "; unsetopt beep; fpath=($PWD/zsh $fpath); autoload -Uz compinit; compinit -u -D\\r\nwait ready> \n'
    steps
    printf 'type hq record tru\\t\nwait hq record tru\ntype \\x15exit\\r\nexit 0\n'
} >zsh.pty
if command -v zsh >/dev/null; then
    exec "$TOP/$BUILD/tools/pty" bash.pty zsh.pty
fi
echo "no zsh here: only bash"
exec "$TOP/$BUILD/tools/pty" bash.pty
