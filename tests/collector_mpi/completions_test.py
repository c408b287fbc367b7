# SPDX-License-Identifier: BSD-3-Clause
"""Which polls are one record, and that Wait and Test calls ask the system for nothing."""

import itertools
import unittest

from harness import PROGRAMS, Case

ROUNDS = 100


class Completions(Case):
    def run_case(self, case):
        # UCX, of MPICH, may put itself between the callers of mmap and the one that counts them.
        run = self.run_recorded(1, [PROGRAMS / "completions", case], UCX_MEM_EVENTS="no")
        self.assertEqual(run.code, 0, run.stdout + run.stderr)
        return run

    def polls(self, case):
        """Of each round, how many polls each of its records stands for."""
        calls = self.run_case(case).spools[0][0].calls
        grouped = itertools.groupby(calls, lambda call: call.name)
        rounds = [[call.polls for call in group] for name, group in grouped if name == "MPI_Test"]
        self.assertEqual(len(rounds), ROUNDS)
        return rounds

    def test_the_same_question_again_is_one_record(self):
        rounds = self.polls("same_question")
        self.assertEqual({sum(polls) for polls in rounds}, {2})
        self.assertIn([2], rounds)  # not all, since a thread may lose its processor between the two

    def test_two_places_are_two_records(self):
        self.assertEqual(self.polls("two_places"), ROUNDS * [[1, 1]])

    def test_two_requests_are_two_records(self):
        self.assertEqual(self.polls("two_requests"), ROUNDS * [[1, 1]])

    def test_the_time_between_polls_is_known(self):
        """What is done there takes 2 us at the least, and recording is left out of no gap."""
        runs = [call for call in self.run_case("work_between").spools[0][0].calls if call.name == "MPI_Test"]
        self.assertEqual(sum(run.polls for run in runs), 10 * ROUNDS)
        self.assertTrue(any(run.polls > 1 for run in runs))
        for run in runs:
            self.assertGreaterEqual(run.extra, 2000 * (run.polls - 1))
            self.assertLessEqual(run.extra, run.leave - run.enter)

    def test_the_time_between_polls_in_turn_is_that_of_the_last_record(self):
        runs = [call for call in self.run_case("work_between_turns").spools[0][0].calls if call.name == "MPI_Test"]
        polls = sum(run.polls for run in runs)
        self.assertEqual(polls, 10 * ROUNDS)
        self.assertGreater(polls, 2 * len(runs))
        self.assertGreaterEqual(sum(run.extra for run in runs), 2000 * (polls - len(runs)))
        for run in runs:
            self.assertLessEqual(run.extra, run.leave - run.enter)

    def test_where_nothing_is_done_between_polls_no_time_is(self):
        runs = [call for call in self.run_case("same_question").spools[0][0].calls if call.name == "MPI_Test"]
        self.assertTrue(any(run.polls > 1 and run.extra == 0 for run in runs))

    def test_tens_of_thousands_of_requests_need_memory_once(self):
        lines = self.run_case("no_memory").stdout.splitlines()
        self.assertRegex(lines[0], "round 0: [1-9][0-9]* mappings")
        self.assertEqual(lines[1:], ["round 1: 0 mappings", "round 2: 0 mappings"])


if __name__ == "__main__":
    unittest.main()
