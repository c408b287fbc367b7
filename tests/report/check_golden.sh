#!/bin/bash
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Compares what cpreport prints with the goldens: check_golden.sh CPREPORT MAKE_SAMPLES
set -euo pipefail
source "$(dirname "$0")/golden.sh"
actual=$(mktemp -d)
trap 'rm -rf "$actual"' EXIT
render "$1" "$2" "$actual"
if ! diff -u --exclude=cases.txt -r "$here/golden" "$actual"; then
    echo "cpreport prints something else than tests/report/golden; if that is meant, run tests/report/record_golden.sh" >&2
    exit 1
fi
