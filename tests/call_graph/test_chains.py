# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what is known of the call chains of tree.c, deep.c and tall.c: of the samples in each function at least 98 % come by
exactly the known way (an instruction in some thousands is one that no unwind information describes)."""

import collections
import itertools
import json
import os
import platform
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "e2e"))
import harness  # noqa: E402

TREES = os.environ.get("CALL_GRAPH_TREES", "")
RIGHT = 0.98
FEWEST = 20  # samples of a function, of some 80

WAYS = {
    "leaf": ("leaf", "mid", "outer", "main"),
    "framed": ("framed", "mid", "outer", "main"),
    "summit": ("summit", "climb", "climb", "climb", "climb", "main"),
}
TAIL_CALL = ("tail", "ends_in_call", "outer", "main")
TAIL_JUMP = ("tail", "outer", "main")


def chain_of(context):
    """Names of functions, innermost first, up to main: what is above belongs to the C library."""
    names = []
    while context is not None and "main" not in names:
        names.append(context.region.name)
        context = context.parent
    return tuple(names)


class Chains(harness.Case):
    def setUp(self):
        super().setUp()
        if reason := harness.perf_event_refused():
            self.skipTest(f"perf_event_open is refused on this machine: {reason}")

    def record_tree(self, tree, mode, *arguments, seconds="0.5", options=()):
        return harness.run(harness.tool("cpcollect"), "-q", "-F", "1997", "-o", self.trace, "--call-graph", mode,
                           *options, os.path.join(TREES, tree), seconds, *arguments, cwd=self.scratch)

    def sample(self, tree, mode):
        """By function in which the samples are: how often it was reached by which chain."""
        self.succeed(self.record_tree(tree, mode))
        return self.read(mode)

    def read(self, mode):
        import otf2
        from otf2 import events

        self.assertEqual(self.call_graph(), mode)
        chains = collections.defaultdict(collections.Counter)
        with otf2.reader.open(os.path.join(self.trace, "traces.otf2")) as trace:
            for _, event in trace.events:
                if isinstance(event, events.CallingContextSample):
                    chain = chain_of(event.calling_context)
                    chains[chain[0]][chain] += 1
        return chains

    def call_graph(self):
        """The archive property; no tool of OTF2 prints these."""
        with open(os.path.join(self.trace, "traces.otf2"), "rb") as file:
            return file.read().split(b"CRITPATH::CALL_GRAPH\0")[1].split(b"\0")[0].decode()

    def assert_right(self, chains, function, is_right):
        found = chains[function]
        self.assertGreaterEqual(found.total(), FEWEST, function)
        right = sum(count for chain, count in found.items() if is_right(chain))
        self.assertGreaterEqual(right / found.total(), RIGHT, f"{function}: {found.most_common(5)}")

    def assert_tree(self, chains, ways):
        for function, way in ways.items():
            self.assert_right(chains, function, lambda chain, way=way: chain == way)

    def assert_library_is_called_by_its_caller(self, chains):
        """A function of the C library leaves the frame pointer to whom it belongs, two functions further out."""
        found = collections.Counter()
        for chain, count in itertools.chain.from_iterable(counts.items() for counts in chains.values()):
            if chain[-2:] == ("asks", "main") and len(chain) > 2:
                found[chain[-3]] += count
        self.assertGreaterEqual(found.total(), FEWEST)
        self.assertGreaterEqual(found["ask"] / found.total(), RIGHT, found)

    def check_dwarf(self, tree, tail):
        chains = self.sample(tree, "dwarf")
        self.assert_tree(chains, {**WAYS, "tail": tail})
        self.assert_library_is_called_by_its_caller(chains)
        if platform.machine() == "x86_64":
            self.assert_right(chains, "handle", lambda chain: chain[2:] == ("traps", "falls", "main"))
        # Through the C library, which has no frame pointers.
        self.assert_right(chains, "compare", lambda chain: chain[-2:] == ("sort", "main") and len(chain) > 3)

    def check_frames(self, tree, tail):
        chains = self.sample(tree, "fp")
        self.assert_tree(chains, {**WAYS, "tail": tail})
        self.assert_library_is_called_by_its_caller(chains)

    def check_first_callers(self, tree, tail):
        chains = self.sample(tree, "fp")
        for function, way in {**WAYS, "tail": tail}.items():
            self.assert_right(chains, function, lambda chain, way=way: chain[:2] == way[:2])
        self.assert_right(chains, "compare", lambda chain: len(chain) > 1 and chain[1] not in ("sort", "main"))
        # All others are cut off, also within the C library, and say so.
        for function in (*WAYS, "tail", "compare"):
            self.assert_right(chains, function, lambda chain: chain[-1] in ("main", "[unknown callers]"))

    def test_dwarf_o0(self):
        self.check_dwarf("frames_O0", TAIL_CALL)

    def test_dwarf_o2(self):
        self.check_dwarf("frames_O2", TAIL_JUMP)

    def test_dwarf_o3(self):
        self.check_dwarf("frames_O3", TAIL_JUMP)

    def test_dwarf_without_frames_o0(self):
        self.check_dwarf("no_frames_O0", TAIL_CALL)

    def test_dwarf_without_frames_o2(self):
        self.check_dwarf("no_frames_O2", TAIL_JUMP)

    def test_dwarf_without_frames_o3(self):
        self.check_dwarf("no_frames_O3", TAIL_JUMP)

    def test_frames_o0(self):
        self.check_frames("frames_O0", TAIL_CALL)

    def test_frames_o2(self):
        self.check_frames("frames_O2", TAIL_JUMP)

    def test_frames_o3(self):
        self.check_frames("frames_O3", TAIL_JUMP)

    def test_frames_but_in_leaves(self):
        self.check_frames("leafless_O2", TAIL_JUMP)

    def test_first_callers_without_frames_o0(self):
        self.check_first_callers("no_frames_O0", TAIL_CALL)

    def test_first_callers_without_frames_o2(self):
        self.check_first_callers("no_frames_O2", TAIL_JUMP)

    def test_first_callers_without_frames_o3(self):
        self.check_first_callers("no_frames_O3", TAIL_JUMP)

    def test_recovered(self):
        for mode in ("fp", "dwarf"):
            died = self.record_tree("leafless_O2", mode, "die")
            self.assertNotEqual(died.code, 0, harness.describe(died))
            self.succeed(harness.run(harness.tool("cpcollect"), "recover", self.trace))
            self.assert_tree(self.read(mode), {**WAYS, "tail": TAIL_JUMP})
            shutil.rmtree(self.trace)

    def inclusive(self):
        """By function, its row with those that it calls."""
        self.replay_on(1)
        report = json.loads(self.report("hotspots", "--inclusive", "--top", "0", "--format", "json"))
        return {row["function"]: row for row in report["hotspots"]}

    def test_deep_stack(self):
        for tree, mode in (("deep", "dwarf"), ("deep_frames", "dwarf"), ("deep_frames", "fp")):
            chains = self.sample(tree, mode)
            self.assert_right(chains, "work", lambda chain: chain in (("work", "shared", "often", "main"),
                                                                      ("work", "shared", "rarely", "main")))
            rows = self.inclusive()
            self.assertLess(rows.get("[unknown callers]", {"path_percent": 0})["path_percent"], 100 * (1 - RIGHT))
            self.assertGreater(rows["often"]["path_percent"], 10 * rows["rarely"]["path_percent"])
            self.assertLess(rows["often"]["path_percent_high"] - rows["often"]["path_percent_low"], 15)
            shutil.rmtree(self.trace)

    def test_large_frame(self):
        """Reached by who asks for more of the stack, all of it; by who does not, as far as images of the rest tell."""
        whole = (("work", "shared", "often", "main"), ("work", "shared", "rarely", "main"))
        cut = ("work", "shared", "[unknown callers]")
        for mode, expected in (("dwarf", (*whole, cut)), ("dwarf,32768", whole)):
            recorded = self.record_tree("wide", mode)
            self.succeed(recorded)
            if cut not in expected:
                self.assertNotIn("[unknown callers]", recorded.err)
            chains = self.read(mode)
            self.assert_right(chains, "work", lambda chain: chain in expected)
            shutil.rmtree(self.trace)

    def tall(self, *times, options=()):
        """Of the samples in `hot_of_first` and `hot_of_second`, what part has all callers. None may have a wrong one."""
        recorded = self.record_tree("tall", "dwarf", *times, seconds="3", options=options)
        self.succeed(recorded)
        known = total = 0
        for function, caller in (("hot_of_first", "first"), ("hot_of_second", "second")):
            way = (function, "middle", "wide", caller, "compute", "main")
            for chain, count in self.read("dwarf")[function].items():
                if "compute" in chain and "main" not in chain:  # of a thread, from the C library
                    chain = (*chain[:chain.index("compute") + 1], "main")
                is_cut = chain[-1] == "[unknown callers]"
                self.assertEqual(chain[:-1] if is_cut else chain, way[:len(chain) - 1] if is_cut else way, count)
                known += 0 if is_cut else count
                total += count
        shutil.rmtree(self.trace)
        self.assertGreaterEqual(total, FEWEST)
        return known / total, recorded

    def test_frames_larger_than_any_copy(self):
        """Half a megabyte. Before the first and behind the last image nothing is known, nor while `main` was seen."""
        known, recorded = self.tall("1", "0")
        self.assertGreater(known, 0.5)
        self.assertNotIn("[unknown callers]", recorded.err)

    def test_frames_larger_than_any_copy_in_a_thread(self):
        known, _ = self.tall("1", "0", "thread")
        self.assertGreater(known, 0.5)

    def test_frames_larger_than_any_copy_by_timers(self):
        known, _ = self.tall("1", "0", options=("--sampler", "timer"))
        self.assertGreater(known, 0.5)

    def test_large_frames_whose_callers_last(self):
        known, _ = self.tall("1500", "1500")
        self.assertGreater(known, 0.3)

    def test_large_frames_whose_callers_take_turns(self):
        """Nobody can know who of them it was, and who asks is told so."""
        for times in (("1", "1"), ("2", "1")):
            known, recorded = self.tall(*times)
            self.assertLess(known, 0.05)
            self.assertIn("[unknown callers]", recorded.err)
            self.assertIn("--call-graph=dwarf,32768 copies the most", recorded.err)

    def test_large_frame_of_main(self):
        """Nobody else calls it, so that it is one row, with all that it calls; also where it has no name."""
        for tree in ("wide_main", "stripped_main"):
            self.sample(tree, "dwarf")
            rows = self.inclusive()
            few = 100 * (1 - RIGHT)
            self.assertLess(rows.get("[unknown callers]", {"path_percent": 0})["path_percent"], few)
            paths = json.loads(self.report("hotspots", "--by", "callpath", "--top", "0", "--format", "json"))
            roots = {path["call_path"].split(";")[0] for path in paths["call_paths"]
                     if path["kind"] == "sampled" and path["path_percent"] > few}
            self.assertEqual(len(roots), 1, roots)
            sampled = [row["path_percent"] for row in rows.values() if row["kind"] == "sampled"]
            self.assertEqual(rows[roots.pop()]["path_percent"], max(sampled))
            shutil.rmtree(self.trace)

    def test_callers_that_are_not_known_are_not_guessed(self):
        """Who is seen to call `shared` is who calls MPI there, which is not who has its time."""
        chains = self.sample("deep", "fp")
        self.assert_right(chains, "work", lambda chain: chain == ("work", "shared", "[unknown callers]"))
        rows = self.inclusive()
        unknown = rows["[unknown callers]"]
        computed = rows["work"]
        self.assertGreater(unknown["path_percent"], 10)  # where others want the processor, [preempted] has the rest
        self.assertLess(rows["rarely"]["path_percent"], 20)
        self.assertGreaterEqual(unknown["path_percent"], computed["path_percent"] - 1)
        # Each may be among them; but what already has the time does not have it a second time.
        for function in ("rarely", "main"):
            row = rows[function]
            self.assertGreaterEqual(row["path_percent_high"], row["path_percent"] + unknown["path_percent"] - 0.1)
        self.assertLess(computed["path_percent_high"], computed["path_percent"] + 15)
        self.assertIn("it is not known where from its functions were called", self.report("hotspots", "--inclusive"))
        self.assertIn("it is not known where from its functions were called",
                      self.report("hotspots", "--by", "callpath"))

    def test_without_callers(self):
        chains = self.sample("frames_O2", "none")
        for function in (*WAYS, "tail", "compare"):
            self.assert_right(chains, function, lambda chain: len(chain) == 1)


if __name__ == "__main__":
    harness.main()
