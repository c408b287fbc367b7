# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what ctest learns of unittest cases: exit code 0, 1, or 77 where a case was skipped, with a line `SKIPPED: reason`
for each, which scripts/check_skips.py reads.

    cd <directory of the cases> && python3 run_cases.py MODULE[.CLASS[.METHOD]]...
"""

import os
import sys
import unittest

SKIPPED = 77


def main(module="__main__"):
    """The cases of a module, or with None those that the command line names."""
    result = unittest.main(module, exit=False, verbosity=2).result
    if not result.wasSuccessful() or result.testsRun == 0:
        sys.exit(1)
    for _, reason in result.skipped:
        print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED if result.skipped else 0)


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main(None)
