#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_skips.py JUNIT ALLOWED: prints the skipped tests of a ctest run with their reasons. With CI=true, fails if a
reason matches none of the patterns in ALLOWED (one regular expression a line)."""

import os
import re
import sys
import xml.etree.ElementTree


def reasons_of(test):
    """One, or one for each case that the test has skipped."""
    output = test.findtext("system-out") or ""
    # GoogleTest prints the text of GTEST_SKIP() on the lines after the place.
    stated = re.findall(r"SKIPPED: (.*)", output) or re.findall(r": Skipped\n(.*)", output)
    return [reason.strip() for reason in stated] or ["no reason given"]


def main():
    junit, allowed_file = sys.argv[1:]
    with open(allowed_file, encoding="utf-8") as lines:
        allowed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    unexpected = 0
    for test in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        if test.get("status") == "run" or (test.find("skipped") is None and test.get("status") != "notrun"):
            continue
        for reason in reasons_of(test):
            expected = any(re.search(pattern, reason) for pattern in allowed)
            unexpected += not expected
            print(f"{'skipped' if expected else 'skipped unexpectedly'}: {test.get('name')}: {reason}", file=sys.stderr)
    if unexpected and os.environ.get("CI") == "true":
        sys.exit(f"check_skips: {unexpected} unexpected skips; make the tests run, or allow the reason in {allowed_file}")


if __name__ == "__main__":
    main()
