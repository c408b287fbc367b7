# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns that MPI answers an application the same with and without the collector: the programs print every field of what they
get, and the scenarios of each stand in its source."""

import observed
from observed import program


class Mpi(observed.Case):
    def test_completions(self):
        self.compare(2, program("completions"), expect=["== copied_handles", "== end", "Waitany: flag -77"],
                     modes=observed.ALL_MODES)

    def test_messages(self):
        self.compare(2, program("messages"), expect=["== errno_is_left_alone", "== end", "out of the handler"],
                     modes=observed.WITH_TIMERS)

    def test_groups(self):
        self.compare(3, program("groups"), expect=["== attributes", "== end", "after the end: initialized 1 finalized 1"])

    def test_exceptions(self):
        self.compare(2, program("exceptions"), ends="exit 5",
                     expect=["caught: class 6", "== end", "the session ends, message from 1"],
                     modes=observed.WITH_TIMERS)
        # What comes after a wrapper that was left by an exception is recorded all the same.
        self.assertIn("MPI_Sendrecv", self.regions())

    def test_jumps(self):
        self.compare(2, program("messages"), "handler_that_jumps", expect=["out of the handler"], modes=["full"])
        self.assertIn("MPI_Sendrecv_replace", self.regions())


class Neighbours(observed.Case):
    """Other libraries that stand before MPI, and MPI that comes late."""

    seen = "has seen: init 1 isend 5 recv 5 wait 5 allreduce 1 dup 1 split 0 group 0"

    def test_plain(self):
        self.compare(2, program("calls"), ends="exit 6", expect=["preloaded: nothing", "gave way: 0"])
        self.assertIn("MPI_Isend", self.regions())

    def test_linked_interposer(self):
        self.compare(2, program("calls_interposed"), ends="exit 6", expect=[f"linked interposer {self.seen}"])
        self.assertIn("MPI_Isend", self.regions())

    def test_preloaded_interposer(self):
        libraries = f"{program('neighbour.so')}:{program('preloaded_interposer.so')}"
        plain = self.compare(2, program("calls"), wrapper=("env", f"LD_PRELOAD={libraries}"), ends="exit 6",
                             expect=[f"preloaded interposer {self.seen}", f"preloaded: {libraries}", "gave way: 42"])
        self.assertEqual(plain.ranks[0].out.count(libraries), 2)
        self.assertIn("MPI_Isend", self.regions())

    def test_mpi_loaded_privately(self):
        # A program without MPI may be a shell that starts the application: until MPI_Init it keeps LD_PRELOAD.
        self.compare(2, program("loader"), program("calls_module.so"), ends="exit 6", expect=["got 1, sum 1"],
                     ignore=r"^preloaded: .*libcritpath-preload\.so$|^preloaded: nothing$")
        self.assertIn("MPI_Isend", self.regions())


if __name__ == "__main__":
    observed.main()
