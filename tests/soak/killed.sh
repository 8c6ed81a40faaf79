#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 1200 kills at random moments of four kinds of programs; the database is built after each. HQ_SEED chooses other moments.
HQ_KILLS=${HQ_KILLS:-1200} HQ_BUILD_EVERY=1 HQ_EVIDENCE=${HQ_EVIDENCE:-$PWD/build/killed} exec bash tests/collector/killed.sh
