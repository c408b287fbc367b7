# SPDX-License-Identifier: BSD-3-Clause
"""That docs/COVERAGE.md speaks of every function of mpi.h, and says of each what is true.

Environment: CRITPATH_TEST_CC, CRITPATH_TEST_MPI_INCLUDES (directories, with colons between them)."""

import os
import re
import subprocess
import sys
import unittest

from spool import ROOT, read_table

sys.path.insert(0, str(ROOT / "collector" / "mpi"))
import coverage  # noqa: E402

TABLE = read_table(ROOT / "formats" / "functions" / "functions.table")
RECORDED = {f.name for f in TABLE}
NEW = {f.name for f in TABLE if "since" in f.keys}  # not in MPI-3.1
NOT_RECORDED = [name for group in coverage.NOT_RECORDED for name in coverage.names_of(group)]


def preprocess(*options):
    includes = [f"-I{path}" for path in os.environ["CRITPATH_TEST_MPI_INCLUDES"].split(":") if path]
    command = [os.environ["CRITPATH_TEST_CC"], "-E", "-P", *options, *includes, "-x", "c", "-"]
    return subprocess.run(command, input="#include <mpi.h>\n", check=True, capture_output=True, text=True).stdout


def declared():
    """MPI_Name( of the declarations; types of callbacks are MPI_Name)( and do not count."""
    return set(re.findall(r"\bMPI_[A-Z]\w*(?=\s*\()", preprocess()))


class Coverage(unittest.TestCase):
    def setUp(self):
        self.is_open_mpi = "#define OPEN_MPI 1" in preprocess("-dM")

    def test_every_function_of_mpi_h_has_its_place(self):
        if not self.is_open_mpi:
            self.skipTest("the document is about the mpi.h of Open MPI 4.1")
        known = RECORDED | {name for name in NOT_RECORDED if "*" not in name}
        functions = {name for name in declared() if not name.startswith("MPI_T_")}
        self.assertGreater(len(functions), 350)
        self.assertEqual(sorted(functions - known), [], "neither in functions.table nor in NOT_RECORDED of coverage.py")
        self.assertEqual(sorted(known - functions - NEW), [], "not in mpi.h")

    def test_every_recorded_function_is_in_mpi_h(self):
        self.assertEqual(sorted(RECORDED - declared() - NEW), [])

    def test_every_recorded_function_is_called_by_a_test(self):
        """In C; tests/fortran/coverage_test.py asks the same of Fortran."""
        programs = [path for kind in ("c", "cpp", "h") for path in ROOT.glob(f"tests/*/programs/*.{kind}")]
        called = set(re.findall(r"\bMPI_\w+(?=\()", "\n".join(path.read_text() for path in programs)))
        self.assertEqual(sorted(RECORDED - called), [])

    def test_no_function_has_two_places(self):
        self.assertEqual(sorted({name for name in NOT_RECORDED if NOT_RECORDED.count(name) > 1}), [])
        self.assertEqual(sorted(RECORDED & set(NOT_RECORDED)), [])

    def test_every_class_is_described_once(self):
        described = [name for _, rows in coverage.RECORDED for classes, _ in rows for name in classes.split()]
        self.assertEqual(sorted(described), sorted({f.semantic_class for f in TABLE}))

    def test_the_document_is_what_the_script_writes(self):
        written = (ROOT / "docs" / "COVERAGE.md").read_text()
        self.assertEqual(written, coverage.document(), "run: collector/mpi/coverage.py > docs/COVERAGE.md")


if __name__ == "__main__":
    unittest.main()
