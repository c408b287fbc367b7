# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Many more ranks than cores: what is recorded and paired is a formula of the program, whatever the scheduler does."""

import os
import shutil

import harness

ITERATIONS = 40


class Scale(harness.Case):
    def check(self, ranks, *process_counts):
        self.record(ranks, harness.workload("halo"), ITERATIONS, options=("-q",), timeout=300)
        self.validate()
        self.replay_on(*process_counts)
        self.assert_sound()
        shutil.rmtree(os.path.join(self.trace, "critpath"))
        said = self.replay(2).out
        # A message to each of two neighbours; MPI_Init, an Allreduce every tenth time, and MPI_Finalize.
        self.assertIn(f" {ranks} ranks, ", said)
        self.assertIn(f" {ranks * 2 * ITERATIONS} messages, {ITERATIONS // 10 + 2} collective operations", said)

    def test_16_ranks(self):
        self.check(16, 1, 3, 16)

    def test_64_ranks(self):
        self.check(64, 1, 3)


if __name__ == "__main__":
    harness.main()
