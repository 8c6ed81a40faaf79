#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The types of the page's program, which esbuild does not look at.
command -v tsc >/dev/null || { echo "skipped: there is no tsc (package node-typescript)"; exit 77; }
tsc --noEmit --strict --noUnusedLocals --noImplicitReturns --target es2022 --lib es2022,dom,dom.iterable --moduleResolution node \
    "$TOP/query/output/page/main.ts"
