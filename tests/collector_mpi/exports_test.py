# SPDX-License-Identifier: BSD-3-Clause
"""What the preload library exports and needs, and that its generated part is the same each time."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from spool import ROOT, read_table

PRELOAD = os.environ["CRITPATH_TEST_PRELOAD"]
MPI_LIBRARY = os.environ["CRITPATH_TEST_MPI_LIBRARY"]
TABLE = read_table(ROOT / "formats" / "functions" / "functions.table")
MPI = os.environ.get("CRITPATH_TEST_MPI", "Open MPI")
HEADER = """
int MPIX_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Bcast_init(void *b, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Send_c(const void *b, MPI_Count n, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
"""


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions():
    """Those of the table that the MPI library has; what came after MPI-3.1 perhaps as an extension, MPIX_Name. And with
    large counts."""
    defined = set(output("nm", "-D", "--defined-only", MPI_LIBRARY).split())
    names = [f.name for f in TABLE if "since" not in f.keys or f"P{f.name}" in defined]
    others = [f.name.replace("MPI_", "MPIX_") for f in TABLE if "since" in f.keys] + [f"{f.name}_c" for f in TABLE]
    return names + [name for name in others if f"P{name}" in defined]


def fortran_names():
    """What a Fortran program calls instead of the functions of the table (collector/fortran/bindings.py)."""
    lower = [name.lower() for name in functions()]
    if MPI == "MPICH":  # the rest of Fortran calls the functions of C
        library = re.search(r"libmpichfort\.so.* => (.*)", output("/sbin/ldconfig", "-p"))[1]
        symbols = output("nm", "-D", "--defined-only", library).split()
        bindings = [f"{name.removesuffix('_c')}_f08_large_" if name.endswith("_c") else f"{name}_f08_" for name in lower]
        return {name for name in bindings if name in symbols}
    names = {f"{name}{ending}" for name in lower for ending in ("_", "__", "_f08_")}
    pointers = ("mpi_alloc_mem_cptr", "mpi_win_allocate_cptr", "mpi_win_allocate_shared_cptr")
    return names | {f"{name}{ending}" for name in pointers for ending in ("_", "__")}


class Exports(unittest.TestCase):
    def test_exports_are_the_function_table(self):
        names = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", PRELOAD).splitlines()}
        self.assertEqual(names, set(functions()) | fortran_names() | {"dlclose", "dlsym", "execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe", "fexecve",
                                   "pthread_create", "sched_yield", "sigaltstack", "thrd_create"})

    def test_needs_neither_mpi_nor_a_cxx_runtime(self):
        needed = [line for line in output("readelf", "-d", PRELOAD).splitlines() if "(NEEDED)" in line]
        self.assertEqual([line.split("[")[1].rstrip("]") for line in needed], ["libc.so.6"])
        undefined = output("nm", "-D", "--undefined-only", PRELOAD)
        for foreign in ("MPI_", "ompi_", "_Z", "__cxa_throw", "__gxx_personality", "__tls_get_addr"):
            self.assertNotIn(foreign, undefined)


class Generator(unittest.TestCase):
    def generate(self, part, hash_seed):
        with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile("w") as declarations:
            declarations.write(HEADER)
            declarations.flush()
            arguments = [ROOT / "formats/functions/functions.table", declarations.name, "Open MPI", directory]
            subprocess.run(
                [sys.executable, "-B", ROOT / "collector" / part / "generate.py", *arguments],
                check=True,
                env={"PYTHONHASHSEED": hash_seed, "PATH": os.environ["PATH"]},
            )
            return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}

    def test_is_deterministic(self):
        files = {
            "mpi": ["exports.map", "pmpi.inc", "wrapped.inc", "wrappers.inc"],
            "fortran": ["fortran_bodies.hpp", "fortran_entries.inc", "fortran_regular.inc", "fortran_symbols.inc"],
        }
        for part, names in files.items():
            one = self.generate(part, "1")
            self.assertEqual(sorted(one), names)
            self.assertEqual(one, self.generate(part, "2"))

    def test_functions_that_the_library_has_not_are_left_out(self):
        wrapped = self.generate("mpi", "1")["wrapped.inc"].decode()
        names = {f.name for f in TABLE if "since" not in f.keys} | {"MPIX_Barrier_init", "MPI_Bcast_init", "MPI_Send_c"}
        self.assertEqual(set(re.findall(r"\((\w+)\)", wrapped)), names)

    def test_large_counts_have_the_types_of_the_header(self):
        wrappers = self.generate("mpi", "1")["wrappers.inc"].decode()
        self.assertIn("int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)", wrappers)
        self.assertIn("next_mpi.Send_c(buf, count, datatype, dest, tag, comm)", wrappers)


if __name__ == "__main__":
    unittest.main()
