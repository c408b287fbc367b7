# SPDX-License-Identifier: BSD-3-Clause
"""Owns how a test lets an application die under cpcollect, and what it then knows: the application's own count of its
calls (programs/deaths.c), and what the recovered trace holds."""

import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import harness  # noqa: E402

DEATHS = os.environ.get("RECOVER_DEATHS", "")


class Case(harness.Case):
    def log(self):
        return os.path.join(self.scratch, "log")

    def logged(self, ranks):
        """Finished MPI calls, by rank, as the application counted them."""
        counts = []
        for rank in range(ranks):
            with open(f"{self.log()}.{rank}", "rb") as file:
                counts.append(struct.unpack("<Q", file.read(8))[0])
        return counts

    def logged_memory(self):
        """What rank 0 has needed at most before MPI_Finalize, in KiB."""
        with open(f"{self.log()}.0", "rb") as file:
            return struct.unpack("<QQ", file.read(16))[1]

    def run_both(self, ranks, *arguments, options=(), **run_options):
        """The application without us and with us; everything that its user can see must be the same."""
        plain = harness.mpirun(ranks, DEATHS, self.log(), *arguments, **run_options)
        recorded = self.run_recorded(ranks, *arguments, options=options, **run_options)
        self.assertEqual((recorded.code, recorded.out), (plain.code, plain.out), harness.describe(recorded))
        return recorded

    def run_recorded(self, ranks, *arguments, options=(), **run_options):
        return harness.mpirun(ranks, harness.tool("cpcollect"), "-o", self.trace, *options, "--", DEATHS, self.log(),
                              *arguments, **dict({"cwd": self.scratch}, **run_options))

    def recover(self, *options, trace=None):
        return harness.run(harness.tool("cpcollect"), "recover", *options, trace or self.trace)

    def spool(self, name=""):
        return os.path.join(self.trace, "spool", name)

    def calls(self, trace=None):
        """Finished MPI calls in the trace, by rank."""
        result = self.succeed(harness.run("otf2-print", os.path.join(trace or self.trace, "traces.otf2")))
        counts = {}
        for location in re.findall(r'^(?:CALLING_CONTEXT_)?LEAVE +(\d+) .*"MPI_', result.out, re.M):
            counts[int(location)] = counts.get(int(location), 0) + 1
        return counts

    def open_calls(self):
        """The MPI function that each rank was in at the end."""
        result = self.succeed(harness.run("otf2-print", os.path.join(self.trace, "traces.otf2")))
        entered = {}
        for kind, location, name in re.findall(r'^(?:CALLING_CONTEXT_)?(ENTER|LEAVE) +(\d+) .*"(MPI_\w+)', result.out, re.M):
            entered[int(location)] = name if kind == "ENTER" else None
        return {rank: name for rank, name in entered.items() if name}

    def later_calls(self):
        """How many calls of the trace began when it was no longer known of all ranks what they did. Each rank is one
        thread: of one that died between two calls nothing is known behind its last event, of one that lost records
        nothing behind its last call; one that died in a call was in it to the end."""
        anchor = os.path.join(self.trace, "traces.otf2")
        definitions = self.succeed(harness.run("otf2-print", "-G", anchor)).out
        pattern = r'^LOCATION_PROPERTY .*<(\d+)>, Name: "critpath.incomplete" .* Value: "(\w+)"'
        ends = dict(re.findall(pattern, definitions, re.M))
        last, entered, left, inside = {}, {}, {}, {}
        events = self.succeed(harness.run("otf2-print", anchor)).out
        pattern = r'^([A-Z_]+) +(\d+) +(\d+) (?:.*"(MPI_\w+)" <\d+>)?'
        for kind, location, time, name in re.findall(pattern, events, re.M):
            last[location] = int(time)
            if name and kind.endswith(("_ENTER", "_LEAVE")):
                inside[location] = kind.endswith("_ENTER")
                (entered if inside[location] else left).setdefault(location, []).append(int(time))
        known = [left[rank][-1] for rank, end in ends.items() if end == "full"]
        known += [last[rank] for rank, end in ends.items() if end == "died" and rank in last and not inside.get(rank)]
        return sum(time >= min(known) for times in entered.values() for time in times) if known else 0

    def assert_recovered(self, ranks, victims=()):
        """Everything that was recorded until then: of the victims, which died at a known place, exactly what they had
        done; of the others, who were killed at some moment, what they had, or one call that they could not count."""
        self.validate()
        logged, found = self.logged(ranks), self.calls()
        for rank in range(ranks):
            later = found[rank] - logged[rank]
            self.assertIn(later, (0,) if rank in victims else (0, 1), f"rank {rank}: {found[rank]} of {logged[rank]}")
        with open(os.path.join(self.trace, "traces.otf2"), "rb") as file:
            self.assertIn(b"CRITPATH::INCOMPLETE", file.read())

    def assert_analyzed(self, ranks, *words):
        self.replay_on(*dict.fromkeys((1, 3, ranks)))
        said = self.replay(1).out
        for word in ("the recording is incomplete", *words):
            self.assertIn(word, said)
        later = self.later_calls()
        self.assertIn(f"analyzed up to the last moment that is known of all ranks, {later} later calls left out", said)
        segments = self.assert_sound(expected_anomalies=("lost_records", "lost_samples"))
        self.assertIn("Incomplete", self.report("summary"))
        return segments
