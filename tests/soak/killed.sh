#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# 300 kills at random moments; the database is built after each.
HQ_KILLS=300 HQ_BUILD_EVERY=1 exec bash tests/collector/killed.sh
