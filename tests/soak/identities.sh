#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 3600
# Sums over many more random questions than `make check` asks, other ones each time.
export IDENTITIES_ROUNDS=${IDENTITIES_ROUNDS:-100} IDENTITIES_SEED=${IDENTITIES_SEED:-$RANDOM}
exec python3 tests/query/identities.py
