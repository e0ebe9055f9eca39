#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What kernel_failures.sh does, with the private tmpfs: most of its time is spent on waiting.

# shellcheck disable=SC2034 # read there
tested=tmpfs
# shellcheck source=tests/cli/kernel_failures.sh
. "${top_srcdir:?}/tests/cli/kernel_failures.sh"
