#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sums over many random questions (tests/query/identities.py), of the fixtures and of the databases that IDENTITIES_DATABASES names.
set -u
cd "$(dirname "$0")/../.." || exit 2
export IDENTITIES_ROUNDS=${IDENTITIES_ROUNDS:-40}
read -ra databases <<<"${IDENTITIES_DATABASES:-}"
python3 tests/query/identities.py && { [ ${#databases[@]} = 0 ] || python3 tests/query/identities.py "${databases[@]}"; }
