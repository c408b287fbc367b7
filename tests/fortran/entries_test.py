# SPDX-License-Identifier: BSD-3-Clause
"""MPICH: each of its Fortran procedures comes by one wrapper. Read from the machine code of its Fortran library: what
is wrapped for Fortran (collector/fortran/bindings.py) calls the PMPI function, which nobody sees; everything else calls
the MPI function, whose wrapper for C records it."""

import bisect
import collections
import dataclasses
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "collector" / "fortran"), str(ROOT / "formats" / "functions")]
import bindings  # noqa: E402
import table  # noqa: E402


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def calls_of(library):
    """The MPI functions that each procedure calls, by all of its names. `use mpi_f08` goes by a function without a name
    that takes the array apart: functions begin where something is called, too."""
    names = collections.defaultdict(list)
    for line in output("nm", "-D", "--defined-only", library).splitlines():
        address, _, name = line.split()
        names[int(address, 16)].append(name.split("@")[0])
    jumps = []  # (from, to, name of what is there if it is in another library)
    for line in output("objdump", "-d", "--no-show-raw-insn", library).splitlines():
        jump = re.match(r"\s*([0-9a-f]+):\s+(call|jmp)\s+([0-9a-f]+) <([^@+>]+)(@plt)?", line)
        if jump and (jump[2] == "call" or jump[5]):
            jumps.append((int(jump[1], 16), int(jump[3], 16), jump[4] if jump[5] else ""))
    begins = sorted(names.keys() | {to for _, to, name in jumps if not name})
    direct, inner = collections.defaultdict(set), collections.defaultdict(set)
    for source, to, name in jumps:
        function = begins[bisect.bisect_right(begins, source) - 1]
        if name:
            direct[function].add(name)
        else:
            inner[function].add(to)

    def reached(function, depth):
        further = (reached(to, depth - 1) for to in inner[function] if depth > 0 and to != function)
        return direct[function].union(*further)

    return {name: {called for called in reached(address, 3) if re.match(r"P?MPI_[A-Z]", called)}
            for address, all_names in names.items() for name in all_names}


class Entries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        library = re.search(r"libmpichfort\.so\.\d+ .* => (.*)", output("/sbin/ldconfig", "-p"))[1]
        cls.calls = calls_of(library)
        cls.functions = table.read_table(ROOT / "formats" / "functions" / "functions.table")

    def check(self, function, endings):
        """How many bindings there are with these endings. Each calls what is expected of it."""
        wrapped = {name for name, _ in bindings.symbols(function, "MPICH")}
        found = [name for name in (function.name.lower() + ending for ending in endings) if name in self.calls]
        for name in found:
            with self.subTest(name=name):
                unseen, seen = f"P{function.linked_name}", function.linked_name
                expected, other = (unseen, seen) if name in wrapped else (seen, unseen)
                self.assertIn(expected, self.calls[name])
                self.assertNotIn(other, self.calls[name])
        return len(found)

    def test_each_call_comes_by_one_wrapper(self):
        bound = 0
        for function in self.functions:
            f08 = self.check(function, ("_f08_", "_f08ts_"))
            self.assertGreater(f08, 0, f"{function.name}: no binding found")
            bound += f08 + self.check(function, ("_", "__"))
        self.assertGreaterEqual(bound, 2 * 200)

    def test_large_counts(self):
        twins = [dataclasses.replace(f, symbol=f"{f.name}_c", is_large=True) for f in self.functions]
        self.assertGreaterEqual(sum(self.check(twin, ("_f08_large_", "_f08ts_large_")) for twin in twins), 100)


if __name__ == "__main__":
    unittest.main()
