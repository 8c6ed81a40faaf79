#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A runtime that believes what the kernel says of its alternate stack, as Go's does where there is C in the program, has its handlers entered there: whether it is
# part of the program from its start, or opened later. And a program of Go's itself, where there is a compiler, does what it does without hq.
. tests/collector/lib.sh
ulimit -c 0
ways=("-e CPUTIME@1000/s" "--clock timer -e CPUTIME@1000/s -e ALLOC" "-e REALTIME@1000/s" "-e ALLOC")
for preloaded in "" "$PROGRAMS/libgoes.so"; do
    name="opened${preloaded:+ at the start}"
    LD_PRELOAD=$preloaded "$PROGRAMS/goes" "$PROGRAMS" >"$TMP/alone"
    alone=$?
    for way in "${ways[@]}"; do
        LD_PRELOAD=$preloaded record $way -- "$PROGRAMS/goes" "$PROGRAMS"
        check "$name, $way: ends as without hq ($alone, $status)" [ $status = $alone ]
        check "$name, $way: handlers run where the kernel says" cmp "$TMP/alone" "$TMP/out"
        check "$name, $way: the files keep the format's rules" sound
    done
done
cat >"$TMP/cgo.go" <<'GO'
package main

// static double step(double x) { for (int i = 0; i < 3000000; i++) x = x * 0.999 + i; return x; }
import "C"
import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

func spin(n int) (s int) {
	for i := 0; i < n; i++ {
		s += i*n ^ s>>3
	}
	return
}

func caught() (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	var p *int
	*p = 1
	return
}

func main() {
	told := make(chan os.Signal, 9)
	signal.Notify(told, syscall.SIGBUS, syscall.SIGUSR1)
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() { defer all.Done(); fmt.Fprintln(os.Stderr, spin(60000000), C.step(1)) }()
	}
	all.Wait()
	syscall.Kill(os.Getpid(), syscall.SIGBUS)
	fmt.Println(<-told, caught())
	os.Exit(5)
}
GO
if command -v go >/dev/null && GOFLAGS=-mod=mod HOME=$TMP GOCACHE=$TMP/go go build -o "$TMP/cgo" "$TMP/cgo.go" 2>"$TMP/err"; then
    "$TMP/cgo" >"$TMP/alone" 2>/dev/null
    alone=$?
    for way in "${ways[@]}"; do
        record $way -- "$TMP/cgo"
        check "Go with C, $way: ends as without hq ($alone, $status)" [ $status = $alone ]
        check "Go with C, $way: prints what it prints without hq" cmp "$TMP/alone" "$TMP/out"
    done
else
    skip "there is no Go compiler"
fi
finish
