# SPDX-License-Identifier: BSD-3-Clause
"""What the preload library exports and needs, and that its generated part is the same each time."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from spool import FUNCTIONS, ROOT

PRELOAD = os.environ["CRITPATH_TEST_PRELOAD"]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Exports(unittest.TestCase):
    def test_exports_are_the_function_table(self):
        names = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", PRELOAD).splitlines()}
        self.assertEqual(names, set(FUNCTIONS) | {"pthread_create"})

    def test_needs_neither_mpi_nor_a_cxx_runtime(self):
        needed = [line for line in output("readelf", "-d", PRELOAD).splitlines() if "(NEEDED)" in line]
        self.assertEqual([line.split("[")[1].rstrip("]") for line in needed], ["libc.so.6"])
        undefined = output("nm", "-D", "--undefined-only", PRELOAD)
        for foreign in ("MPI_", "ompi_", "_Z", "__cxa_throw", "__gxx_personality", "__tls_get_addr"):
            self.assertNotIn(foreign, undefined)


class Generator(unittest.TestCase):
    def generate(self, hash_seed):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(
                [sys.executable, "-B", ROOT / "collector/mpi/generate.py", ROOT / "formats/functions/functions.table", directory],
                check=True,
                env={"PYTHONHASHSEED": hash_seed, "PATH": os.environ["PATH"]},
            )
            return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}

    def test_is_deterministic(self):
        one = self.generate("1")
        self.assertEqual(sorted(one), ["exports.map", "pmpi.inc", "wrappers.inc"])
        self.assertEqual(one, self.generate("2"))


if __name__ == "__main__":
    unittest.main()
