#!/bin/bash
# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Replaces the goldens by what cpreport prints now; read the difference before you commit it:
# record_golden.sh BUILD_DIRECTORY
set -euo pipefail
source "$(dirname "$0")/golden.sh"
build=$(cd "$1" && pwd)
find "$here/golden" -type f ! -name cases.txt -delete
render "$build/bin/cpreport" "$build/tests/result/make_samples" "$here/golden"
