# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""What tests of the program have in common: the first argument of a test is cpreport, the second make_samples."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CPREPORT = os.path.abspath(sys.argv[1])
MAKE_SAMPLES = os.path.abspath(sys.argv[2])


class ReportCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.here = pathlib.Path(directory.name)
        subprocess.run([MAKE_SAMPLES, self.here], check=True)

    def run_report(self, *arguments, cwd=None):
        return subprocess.run([CPREPORT, *arguments], cwd=cwd or self.here, capture_output=True, text=True, timeout=60)

    def succeed(self, *arguments, cwd=None):
        run = self.run_report(*arguments, cwd=cwd)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run)
        return run.stdout

    def fail_with(self, code, message, *arguments, cwd=None):
        run = self.run_report(*arguments, cwd=cwd)
        self.assertEqual((run.returncode, run.stdout), (code, ""), run)
        self.assertRegex(run.stderr, "^cpreport: [^\n]*\n$")
        self.assertIn(message, run.stderr)
