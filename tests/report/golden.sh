# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Sourced by check_golden.sh and record_golden.sh: render CPREPORT MAKE_SAMPLES DIRECTORY writes the output of all cases
# into DIRECTORY. The version of the tool is no part of a golden.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

render() {
    local cpreport=$1 make_samples=$2 directory=$3 samples file arguments
    samples=$(mktemp -d)
    "$make_samples" "$samples"
    while read -r file arguments; do
        [[ -z $file || $file == \#* ]] && continue
        # The arguments are words without spaces.
        # shellcheck disable=SC2086
        (cd "$samples" && "$cpreport" $arguments) | sed 's/"tool_version": "[^"]*"/"tool_version": "VERSION"/' \
            > "$directory/$file"
    done < "$here/golden/cases.txt"
    rm -rf "$samples"
}
