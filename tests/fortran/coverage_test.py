# SPDX-License-Identifier: BSD-3-Clause
"""That each recorded function is called by a program in Fortran, each of which is built for all bindings."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "formats" / "functions"))
from table import read_table  # noqa: E402

NOT_CALLED = {
    "MPI_Comm_join": "takes a socket, which Fortran has no way to make",
    "MPI_Parrived": "in `use mpi` of MPICH 4.0 its flag is an integer by mistake",
}


class Coverage(unittest.TestCase):
    def test_every_recorded_function_is_called(self):
        programs = "\n".join(path.read_text() for path in ROOT.glob("tests/fortran/programs/*.F90"))
        called = {name.lower() for name in re.findall(r"\bcall (MPI_\w+)", programs, re.IGNORECASE)}
        recorded = {f.name for f in read_table(ROOT / "formats" / "functions" / "functions.table")}
        self.assertEqual({name for name in recorded if name.lower() not in called}, NOT_CALLED.keys())


if __name__ == "__main__":
    unittest.main()
