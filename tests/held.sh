# SPDX-License-Identifier: BSD-3-Clause
# Ends processes that a test has begun, and never another's: see tests/tools/held.c. Sourced; wants BUILD and TMP.

# held COMMAND...: begins it in the background, in a session of its own; one at a time.
held() {
    [ -p "$TMP/orders" ] || mkfifo "$TMP/orders"
    "$BUILD/tools/held" "$@" <"$TMP/orders" &
    held=$!
    exec {orders}>"$TMP/orders"
}

# order all|first|PID SIGNAL: sends it to the group of what `held` began, to its first process, or to the one of this id, if it is of the session.
order() { echo "$1 $(kill -l "$2")" >&"$orders"; }

# ended: waits until all that `held` began has ended; the status is that of the first process, 128 and more for a signal.
ended() {
    exec {orders}>&-
    wait "$held"
}
