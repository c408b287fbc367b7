# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the proof that the replay pairs the right operations, with many threads in MPI and where only a part of a run was
recorded: programs in which each message of a channel, and each collective of a communicator, has its own size."""

import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # noqa: E402

PROBE = os.environ.get("PAIRS_PROBE", "")
SWITCHED = os.environ.get("PAIRS_SWITCHED", "")
THREADS = os.environ.get("PAIRS_THREADS", "")
FREED = os.environ.get("PAIRS_FREED", "")
RANKS = 4


class Pairs(harness.Case):
    def probe(self, *options):
        return self.succeed(harness.mpirun(1, PROBE, *options, os.path.join(self.trace, "traces.otf2"))).out

    def pairs(self):
        """Messages and instances as the replay sees them, after a check that no pair is wrong."""
        out = self.probe()
        messages, instances = [], collections.defaultdict(list)
        for line in out.splitlines():
            what, *words = line.split()
            if what == "message":
                messages.append(tuple(map(int, words)))
            elif what == "part":
                side, number, process, size = map(int, words[:4])
                instances[side, number].append((process, size, words[4].replace("MPI_I", "MPI_").lower()))
        wrong = [m for m in messages if m[1] != m[3]]
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(messages)} messages are paired wrongly")
        for key, parts in instances.items():
            parts = [p for p in parts if p[1] > 0 or "bcast" not in p[2]]  # what was never completed received nothing
            self.assertEqual(len({p[1:] for p in parts}), 1, f"instance {key}: {parts}")
            self.assertEqual(len({p[0] for p in parts}), len(parts))
        self.unmatched = next(list(map(int, l.split()[1:])) for l in out.splitlines() if l.startswith("unmatched"))
        return messages, instances

    def run_switched(self, seed, mode, *options):
        self.setUp()
        self.record(RANKS, SWITCHED, seed, mode, options=("-q", *options))
        self.validate()
        return self.pairs()

    def test_all(self):
        messages, _ = self.run_switched(1, "steady")
        self.assertEqual(len(messages), RANKS * (3 * 120 + 1))
        self.assertEqual(self.unmatched, [0, 0])

    def test_ranks_that_switch_on_their_own(self):
        for seed in range(1, 9):
            with self.subTest(seed=seed):
                messages, instances = self.run_switched(seed, "pcontrol")
                self.assertGreater(len(messages), 100)
                self.assertLess(len(messages), RANKS * 3 * 120)
                self.assertGreater(max(len(parts) for parts in instances.values()), 1)
                lines = [line.split() for line in self.probe("--forget").splitlines()]
                wrong = [line for line in lines if line[0] == "message" and line[2] != line[4]]
                self.assertGreater(len(wrong), 100, "the program does not show what it is to show")

    def test_starts_off(self):
        for seed in (11, 12):
            with self.subTest(seed=seed):
                messages, _ = self.run_switched(seed, "pcontrol", "--range=pcontrol")
                self.assertGreater(len(messages), 0)
                self.replay_on(2)

    def test_a_collective_that_is_never_completed(self):
        _, whole = self.run_switched(4, "steady")
        _, instances = self.run_switched(4, "unfinished")
        self.assertEqual(len(instances), len(whole) + 1)
        self.assertIn("1 requests that never completed", self.replay(2).out)

    def test_few_descriptors(self):
        run = self.succeed(harness.mpirun(RANKS, harness.tool("cpcollect"), "-o", self.trace, "--", SWITCHED, 1, "few"))
        self.assertIn("next: cpcollect recover", run.err)
        self.succeed(harness.run(harness.tool("cpcollect"), "recover", self.trace))
        self.validate()
        messages, _ = self.pairs()
        self.assertEqual(len(messages), RANKS * (3 * 120 + 1))

    def test_ranges(self):
        for text in ("4:9", "3:", ":7"):
            with self.subTest(text):
                messages, _ = self.run_switched(2, "steady", f"--range={text}")
                self.assertGreater(len(messages), 0)

    def test_groups(self):
        whole, all_instances = self.run_switched(3, "steady")
        messages, instances = self.run_switched(3, "steady", "--exclude=collective")
        self.assertEqual(sorted(messages), sorted(whole))
        messages, instances = self.run_switched(3, "steady", "--exclude=p2p")
        self.assertEqual(messages, [])
        self.assertEqual(len(instances), len(all_instances))
        self.replay(2)
        summary = self.succeed(harness.run(harness.tool("cpreport"), "summary", self.trace))
        self.assertIn("MPI calls of p2p were not recorded", " ".join(summary.out.split()))

    def test_eight_threads_at_thread_multiple(self):
        ranks, threads, rounds = 3, 8, 50
        self.record(ranks, THREADS, rounds, options=("-q",))
        self.validate()
        messages, instances = self.pairs()
        self.assertEqual(len(messages), ranks * threads * rounds)
        self.assertEqual(self.unmatched, [0, 0])
        broadcasts = [parts for parts in instances.values() if parts[0][2] == "mpi_bcast"]
        self.assertEqual(len(broadcasts), threads * rounds)
        self.assertEqual({len(parts) for parts in broadcasts}, {ranks})
        self.replay_on(1, ranks, ranks + 1)
        # Who empties the buffers of nine threads may not get a processor in time.
        self.assert_sound(expected_anomalies=("lost_samples",))

    def test_threads_that_switch(self):
        self.record(3, THREADS, 50, "switch", options=("-q",))
        self.validate()
        messages, instances = self.pairs()
        self.assertGreater(len(messages), 50)
        self.assertLess(len(messages), 3 * 8 * 50)
        self.assertGreater(max(len(parts) for parts in instances.values()), 1)

    def test_receives_whose_request_is_freed(self):
        # Of 9 messages in 6 rounds three go to freed requests, and one to a receive that is not recorded.
        times = 5
        self.record(2, FREED, 6 * times, options=("-q",))
        self.validate()
        messages, _ = self.pairs()
        self.assertEqual((len(messages), self.unmatched), (5 * times, [4 * times + 2, 0]))
        self.replay_on(2)
        words = self.replay(2).out
        self.assertIn(f"note: {4 * times} operations whose partner was not recorded", words)
        self.assertIn("note: 2 sends without a receive", words)

    def test_the_replay_says_so(self):
        self.run_switched(1, "pcontrol")
        words = self.replay(2).out
        self.assertIn("operations whose partner was not recorded", words)
        self.assertNotIn("without a", words)


if __name__ == "__main__":
    harness.main()
