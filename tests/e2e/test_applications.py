# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the applications that nobody here wrote: they are recorded, replayed and reported, and their own results stay
right."""

import collections
import os
import shutil

import harness

# Functions in which Open MPI waits: its progress engine, its transports, and giving the processor away.
WAITING = ("opal_progress", "sched_yield", "mca_btl_", "ompi_coll_libnbc_progress", "ompi_request_default_wait",
           "ompi_sync_wait")
WAITING_MODULES = ("libopen-pal", "mca_btl_", "libopen-rte", "libpmix", "libevent")


def waits(row):
    module = os.path.basename(row["module"] or "")
    return row["function"].startswith(WAITING) or "sched_yield" in row["function"] or module.startswith(WAITING_MODULES)


def seconds(rows, column):
    return sum(row[column] or 0 for row in rows)


def python_with_trampolines():
    """An interpreter that puts code of its own before each function for perf; None if there is none."""
    for name in ("python3", "python3.12", "python3.13", "python3.14"):
        python = shutil.which(name)  # or a script that chooses one
        asked = python and harness.run(python, "-X", "perf", "-c",
                                       "import sys; print(sys.executable, sys.is_stack_trampoline_active())")
        if asked and asked.out.endswith(" True\n"):
            return asked.out.rsplit(maxsplit=1)[0]
    return None


def mpi_library():
    """The file that an MPI program of this build loads."""
    linked = harness.run("ldd", harness.workload("halo")).out
    return next(line.split()[2] for line in linked.splitlines() if line.split()[0].startswith("libmpi"))


def find(names, beginning):
    return next((i for i, name in enumerate(names) if name.startswith(beginning)), None)


class Application(harness.Case):
    def samples_needed(self):
        refused = harness.perf_event_refused()
        if refused:
            self.skipTest(f"perf_event_open is refused on this machine ({refused}): no functions to look at")

    def sampled_functions(self, sort):
        """The functions in the order in which users see them, without the rows that stand for transfers and the like."""
        return [row for row in self.hotspots(sort) if row["kind"] == "sampled"]

    @harness.retry_once
    def test_lammps(self):
        script = os.path.join(os.path.dirname(harness.PROGRAMS), "..", "..", "scripts", "demo", "in.imbalance")
        shutil.copy(script, os.path.join(self.scratch, "in.imbalance"))
        output = self.record_replay_report(2, "lmp", "-in", "in.imbalance", "-var", "steps", "500", "-log", "none")
        self.assertIn("Loop time", output)
        self.assert_sound()
        self.samples_needed()
        path, ordinary = self.sampled_functions("path"), self.sampled_functions("all")
        listing = "\n".join(map(str, path[:10] + ["all ranks:"] + ordinary[:10]))

        self.assertIn("PairLJCut::compute", path[0]["function"], listing)
        self.assertFalse(waits(path[1]), f"waiting on the path\n{listing}")
        on_path, everywhere = seconds(path, "path_seconds"), seconds(ordinary, "all_ranks_seconds")
        # Not nothing: a call that did not wait may still look after the progress of others.
        self.assertLess(seconds(filter(waits, path), "path_seconds"), 0.05 * on_path, listing)
        self.assertGreater(seconds(filter(waits, ordinary), "all_ranks_seconds"), 0.15 * everywhere, listing)
        self.assertTrue(any(waits(row) for row in ordinary[:4]), listing)

    def test_hpcc(self):
        shutil.copy(os.path.join(harness.PROGRAMS, "hpccinf.txt"), self.scratch)
        self.record_replay_report(2, "hpcc")
        with open(os.path.join(self.scratch, "hpccoutf.txt"), encoding="utf-8") as file:
            output = file.read()
        self.assertIn("Success=1", output)
        self.assert_sound(expected_anomalies=["cancelled_receives"])  # RandomAccess posts more than it needs
        self.samples_needed()
        path = self.sampled_functions("path")
        self.assertIn("dgemm_", [row["function"] for row in path[:10]])

    def test_mpi4py(self):
        for ranks in (2, 3):
            with self.subTest(ranks=ranks):
                shutil.rmtree(self.trace, ignore_errors=True)
                output = self.record_replay_report(ranks, harness.PYTHON, os.path.join(harness.PROGRAMS, "exchange.py"),
                                                   "20")
                self.assertEqual(output, f"{20 * ranks}\n")
                self.assert_sound()
                # Rank 0 computes for 30 ms a step while the others need 5 ms.
                of_rank_0 = sum(segment.end - segment.begin for segment in self.path()
                                if segment.kind == "compute" and segment.rank == 0)
                self.assertGreater(of_rank_0, 20 * 0.030)

    def test_callers_in_python(self):
        """What CPython puts before each function for perf has no unwind information, and callers behind it."""
        python = python_with_trampolines()
        if python is None:
            self.skipTest("no python3.12 or later with -X perf in PATH")
        program = os.path.join(harness.PROGRAMS, "trampolines.py")
        library = mpi_library()
        if harness.run(python, "-c", f"import ctypes; ctypes.CDLL('{library}')").code != 0:
            self.skipTest(f"{python} cannot load {library}")
        self.samples_needed()
        self.record(1, python, "-X", "perf", program, library, "1")
        self.replay(1)
        callers = collections.Counter()
        for names, weight in self.sampled_chains():
            for function in ("hot_work", "warm_work"):
                if (at := find(names, f"py::{function}:")) is not None:
                    driver = find(names[at:], "py::driver:")
                    callers[function, driver is not None and find(names[at + driver:], "py::<module>:") is not None] += weight
        for function in ("hot_work", "warm_work"):
            known, unknown = callers[function, True], callers[function, False]
            self.assertGreater(known, 0, callers)
            self.assertGreater(known, 0.95 * (known + unknown), callers)

    def sampled_chains(self):
        """Of each calling context with samples: the names of its functions, innermost first, and how many there are."""
        import otf2
        from otf2 import events

        chains = collections.Counter()
        with otf2.reader.open(os.path.join(self.trace, "traces.otf2")) as trace:
            for _, event in trace.events:
                if isinstance(event, events.CallingContextSample):
                    names, context = [], event.calling_context
                    while context is not None:
                        names.append(context.region.name)
                        context = context.parent
                    chains[tuple(names)] += 1
        return chains.items()

    def test_odd_numbers_of_ranks(self):
        for ranks in (1, 3, 5, 7):
            with self.subTest(ranks=ranks):
                shutil.rmtree(self.trace, ignore_errors=True)
                self.record_replay_report(ranks, harness.workload("halo"), "50", "200")
                self.assert_sound()

    def test_python_reads_the_trace(self):
        """The independent reader of Debian's python3-otf2 sees the calls that the program made."""
        self.record(2, harness.workload("halo"), "30", options=("-q",))
        count = """
import collections, sys, otf2
calls = collections.Counter()
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        if isinstance(event, otf2.events.CallingContextEnter):
            calls[(location.group.name, event.calling_context.region.name)] += 1
for (process, function), number in sorted(calls.items()):
    if function in ('MPI_Irecv', 'MPI_Isend', 'MPI_Waitall', 'MPI_Allreduce', 'MPI_Barrier'):
        print(process, function, number)
"""
        result = self.succeed(harness.run(harness.PYTHON, "-c", count, os.path.join(self.trace, "traces.otf2")))
        expected = "".join(f"MPI Rank {rank} {function} {number}\n" for rank in (0, 1)
                           for function, number in (("MPI_Allreduce", 3), ("MPI_Barrier", 1), ("MPI_Irecv", 60),
                                                    ("MPI_Isend", 60), ("MPI_Waitall", 30)))
        self.assertEqual(result.out, expected)


if __name__ == "__main__":
    harness.main()
