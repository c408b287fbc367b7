# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every option of every view shows or is refused, alone and beside every other: options_test.py CPREPORT MAKE_SAMPLES"""

import itertools
import json
import re
import sys
import unittest

from report_case import ReportCase


class Options(ReportCase):
    # An option of each command with a value that shows, on the traces of make_samples.
    OPTIONS = {
        "summary": {},
        "hotspots": {"--sort": "name", "--top": "1", "--rank": "1", "--module": "libc", "--event": "instructions", "--recursion": "all",
                     "--inclusive": None, "--inside": None, "--inlined": None, "--from": "5", "--to": "5", "--phases": "3"},
        "annotate": {"--context": "0", "--instructions": None, "--rank": "0", "--from": "5.5", "--to": "5.5"},
        "explain": {"--top": "1"},
        "path": {"--top": "1", "--all": None, "--from": "3", "--to": "5", "--min-length": "400ms", "--doubtful": None, "--kind": "mpi",
                 "--rank": "1"},
        "diff": {"--by": "module", "--top": "1"},
    }

    def options_in_help(self, command):
        return set(re.findall(r"^  (?:-h,)?(--[a-z-]+)", self.succeed(command, "--help"), re.M))

    def views(self):
        """Each view as the arguments that ask for it, and what may be added to it."""
        choices = re.search(r"--by WHAT +(.*?)\n  --", self.succeed("hotspots", "--help"), re.S).group(1)
        for by in re.findall(r"[a-z]+", choices.replace("(default)", "")):
            yield ["hotspots", "--by", by], self.OPTIONS["hotspots"]
        for command in ("summary", "explain", "path"):
            yield [command], self.OPTIONS[command]
        yield ["annotate", "solve"], self.OPTIONS["annotate"]
        yield ["diff", "traced"], self.OPTIONS["diff"]

    @staticmethod
    def words(*options):
        return [word for option in options for word in option if word is not None]

    def works_or_is_refused(self, *arguments):
        """Output without the name of the trace; None if it was refused, for a reason and with what to do instead."""
        run = self.run_report(*arguments)
        if run.returncode == 0:
            self.assertEqual(run.stderr, "", arguments)
            return run.stdout
        self.assertEqual((run.returncode, run.stdout), (2, ""), run)
        self.assertRegex(run.stderr, "^cpreport: [^\n]*\n$")
        return None

    def test_all_options_are_known_to_this_test(self):
        common = {"--help", "--format", "--no-header"}
        for command, options in self.OPTIONS.items():
            by = {"--by"} if command == "hotspots" else set()
            self.assertEqual(self.options_in_help(command), set(options) | common | by, command)

    def test_an_option_shows_or_is_refused(self):
        # On one trace or another: not all have ranks that differ, or modules.
        shows_nothing = {(("hotspots", "--by", "callpath"), "--inclusive"),  # its rows are inclusive
                         (("hotspots", "--by", "callpath"), "--inlined"),  # and have what is inlined
                         (("hotspots", "--by", "callpath"), "--recursion"),  # that is in the trace "recursive"
                         # And of these traces: the order of names is the same, there is one row, there are few segments.
                         (("hotspots", "--by", "node"), "--sort"),
                         (("hotspots", "--by", "transfer"), "--top"),
                         (("path",), "--all"),
                         # Their binaries do not exist; tests/e2e has some that do.
                         (("annotate", "solve"), "--context"), (("annotate", "solve"), "--instructions")}
        for view, options in self.views():
            for option in options.items():
                name = (tuple(view), option[0])
                effects = set()
                for trace in ("sampled", "phased", "traced"):
                    plain = self.works_or_is_refused(*view, trace)
                    other = self.works_or_is_refused(*view, *self.words(option), trace)
                    if plain is not None:
                        effects.add("refused" if other is None else "shows" if other != plain else "nothing")
                with self.subTest(name):
                    self.assertTrue(effects == {"nothing"} if name in shows_nothing else effects - {"nothing"})

    def test_two_options_work_or_are_refused(self):
        works = set()
        for view, options in self.views():
            for one, other in itertools.combinations(options.items(), 2):
                both = self.works_or_is_refused(*view, *self.words(one, other), "phased")
                if both is not None:
                    works.update({(*view, one), (*view, other)})
            for option in options.items():
                if (*view, option) in works:
                    self.assertIsNotNone(self.works_or_is_refused(*view, *self.words(option), "phased"), (view, option))

    def test_what_is_refused_says_what_to_do(self):
        for message, *arguments in (
                ("--top: all phases are shown; give their number with --phases", "--by", "phase", "--top", "20"),
                ("--phases: the run is divided by --by phase; leave it out, or add that", "--phases", "10"),
                ("--phases: the run is divided by --by phase", "--by", "rank", "--phases", "10"),
                ("--sort name: a call tree has no order of names", "--by", "callpath", "--sort", "name"),
                ("--event: a message on its way counts nothing", "--event", "cycles", "--by", "transfer"),
                ("--inclusive: counts are those of each function alone", "--inclusive", "--event", "cycles"),
                ("--no-header: JSON has no headings; leave it out", "--no-header", "--format", "json"),
                ("--rank: its value is empty; leave it out, or give RANKS", "--rank", ""),
                ("--rank: its value is empty; leave it out, or give RANKS", "--rank="),
                ("--rank: '' is not a rank of this trace; it has ranks 0 to ", "--rank", ","),
                ("--by: its value is empty; leave it out, or give WHAT", "--by=")):
            self.fail_with(2, message, "hotspots", *arguments, "phased")
        self.fail_with(2, "--top: --all shows every segment; leave out one of the two", "path", "--all", "--top", "3", "phased")

    def rows_with_all_ranks(self, *arguments):
        """How many have a time of all ranks. None has more of it on the path than there is."""
        output = self.works_or_is_refused(*arguments, "--format", "json")
        rows = 0
        for table in (v for v in (json.loads(output) if output else {}).values() if isinstance(v, list)):
            for row in (r for r in table if isinstance(r, dict)):
                for every, path in (("all_ranks_seconds", "path_seconds"), ("all_ranks_computed_seconds", "compute_seconds")):
                    if row.get(every) is not None:
                        rows += 1
                        self.assertGreaterEqual(row[every], row[path], (arguments, row))
                self.assertGreaterEqual(row.get("off_path_seconds") or 0, 0, (arguments, row))
        return rows

    def test_all_ranks_contain_the_path(self):
        traces = sorted(path.name for path in self.here.iterdir() if path.is_dir())
        rows = 0
        for view, options in self.views():
            if view[0] != "hotspots":
                continue
            ways = [[], ["--inclusive"], ["--inlined"], ["--inside"], ["--inclusive", "--inlined"], ["--sort", "all"],
                    ["--from", "10%", "--to", "90%"], ["--rank", "1"], ["--module", "halo"]]
            for trace, way in itertools.product(traces, ways):
                by_part = {"--from", "phase"} & {*view, *way}
                if trace != "phased" and by_part or trace == "recursive" and {"--rank", "thread"} & {*view, *way}:
                    continue  # what that is made from is not in it
                top = ["--top", "0"] if "phase" not in view else []
                rows += self.rows_with_all_ranks(*view, *way, *top, trace)
        self.assertGreater(rows, 500)

    def path_seconds(self, *arguments):
        """By the first column that is shown; None: of what is left out."""
        document = json.loads(self.succeed("hotspots", *arguments, "--top", "0", "--format", "json"))
        table = next(value for value in document.values() if isinstance(value, list))
        own = "own_path_seconds" if arguments[1] == "callpath" else "path_seconds"
        rows = [(row.get("rank"), row[own]) for row in table]
        return rows + [(None, document.get("below_error_seconds") or 0)]

    def test_a_rank_has_its_row_in_all_views(self):
        for window, module in itertools.product(([], ["--from", "5.5", "--to", "9.05"]), ([], ["--module", "phased"])):
            for rank, seconds in self.path_seconds("--by", "rank", *window, *module, "phased"):
                for by in ("function", "module", "line", "callpath", "thread", "node") if rank is not None else ():
                    arguments = ["--by", by, "--rank", str(rank), *window, *module, "phased"]
                    rows = sum(row for _, row in self.path_seconds(*arguments))
                    says_so = "by these rows and" in self.succeed("hotspots", *arguments).replace("\n", " ")
                    with self.subTest(arguments):
                        self.assertEqual(says_so, abs(rows - seconds) >= 0.001 * (3.55 if window else 10), (rows, seconds))

    def test_tables_fit_into_100_columns(self):
        for view, _ in self.views():
            for trace in ("timed", "phased", "traced", "awkward"):
                output = self.works_or_is_refused(*view, trace)
                for line in (output or "").splitlines():
                    self.assertLessEqual(len(line), 100, (view, trace, line))
        summary = self.succeed("summary", "timed")
        for text in ("cpu-timer about every 5.025 ms: 123,456,789 samples, 8,202 on the path; call graph:\n             dwarf\n",
                     "Not sampled  time without a processor: of that, timers know nothing\n",
                     "threads whose samples end early: the application took their signal or stack, or closed events\n"):
            self.assertIn(text, summary)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
