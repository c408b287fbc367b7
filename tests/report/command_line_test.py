# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""The program as a user meets it: command_line_test.py CPREPORT MAKE_SAMPLES"""

import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
import unittest

from report_case import CPREPORT, ReportCase


class CommandLine(ReportCase):
    # usage

    def test_help_fits_a_screen(self):
        for arguments in (["--help"], ["-h"], ["summary", "--help"], ["hotspots", "-h"], ["explain", "-h"],
                          ["annotate", "-h"], ["diff", "-h"], ["path", "--help"]):
            text = self.succeed(*arguments)
            self.assertLessEqual(len(text.splitlines()), 40, arguments)
            self.assertLessEqual(max(map(len, text.splitlines())), 100, arguments)
            self.assertIn("Examples:\n  cpreport ", text)
        self.assertRegex(self.succeed("--version"), r"^cpreport \d+\.\d+\.\d+\n$")

    def test_wrong_words_are_answered_by_the_right_ones(self):
        self.fail_with(2, "no command; give one of summary, hotspots, annotate, explain, path, diff")
        self.fail_with(2, "'hotspot' is not one of summary, hotspots, annotate, explain, path, diff; did you mean hotspots?", "hotspot")
        self.fail_with(2, "'sampled' is not one of summary, hotspots, annotate, explain, path, diff", "sampled")
        self.fail_with(2, "--sort: 'al' is not one of path, all, imbalance, name; did you mean all?",
                       "hotspots", "--sort", "al", "sampled")
        self.fail_with(2, "--by: 'modul' is not one of function, module, line, callpath, phase, rank, node, thread, transfer; "
                       "did you mean module?",
                       "hotspots", "--by=modul", "sampled")
        self.fail_with(2, "--format: 'xml' is not one of table, csv, json", "path", "--format", "xml", "sampled")
        self.fail_with(2, "--kind: 'transfr' is not one of", "path", "--kind", "mpi,transfr", "sampled")
        self.fail_with(2, "--tops: unknown option, did you mean --top?", "hotspots", "--tops", "3", "sampled")
        self.fail_with(2, "--node: unknown option, did you mean --by node?; see: cpreport hotspots --help",
                       "hotspots", "--node", "vm", "sampled")
        self.fail_with(2, "--module: unknown option, it is one of hotspots; see: cpreport path --help",
                       "path", "--module=app", "sampled")
        self.fail_with(2, "--foo: unknown option; see: cpreport hotspots --help", "hotspots", "--foo", "sampled")
        self.fail_with(2, "--top: its value is missing; see: cpreport hotspots --help", "hotspots", "sampled", "--top")
        self.fail_with(2, "--top: may be given once only; see: cpreport hotspots --help",
                       "hotspots", "--top", "3", "--top", "2", "sampled")
        self.fail_with(2, "--top: '3x' is not a whole number", "hotspots", "--top", "3x", "sampled")
        self.fail_with(2, "--top: '-1' is not a whole number", "hotspots", "--top", "-1", "sampled")
        self.fail_with(2, "--from: 'soon' is not a time", "path", "--from", "soon", "sampled")
        self.fail_with(2, "--to: 1 is not after --from", "path", "--from", "2", "--to", "1", "sampled")
        self.fail_with(2, "--rank: '4' is not a rank of this trace; it has ranks 0 to 3",
                       "path", "--rank", "0,4", "sampled")
        self.fail_with(2, "--rank: '4' is not a rank of this trace", "hotspots", "--rank", "4", "sampled")
        self.fail_with(2, "--rank: the range '3-1' runs backwards; give 1-3", "hotspots", "--rank", "0,3-1", "sampled")
        for ranks in "0-4", "1-", "-1", "0-1-2":
            self.fail_with(2, f"--rank: '{ranks}' is not a rank of this trace; it has ranks 0 to 3",
                           "hotspots", f"--rank={ranks}", "sampled")
        self.assertEqual(self.succeed("hotspots", "--rank", "0-2,3", "sampled"),
                         self.succeed("hotspots", "--rank", "0,1,2,3", "sampled"))
        self.fail_with(2, "--module: no binary of this run has 'nosuch' in its path; see those that there are: cpreport "
                       "hotspots --by module sampled", "hotspots", "--module", "nosuch", "sampled")
        for command in (["hotspots"], ["annotate", "solve"]):
            def refuse(message, *arguments):
                self.fail_with(2, message, *command, *arguments, "phased")
            refuse("--from: 'soon' is not a time", "--from", "soon")
            refuse("--from: '-1' is not a time", "--from", "-1")
            refuse("--to: '-1s' is not a time", "--to=-1s")
            refuse("--to: '101%' is not a part of the run", "--to", "101%")
            refuse("--to: '%' is not a part of the run", "--to", "%")
            refuse("--to: 1 is not after --from; give a later time", "--from", "2", "--to", "1")
            refuse("--to: 20% is not after --from; give a later time", "--from", "2", "--to", "20%")
            refuse("--from: 10s is not before the end of the run at 10 s; give an earlier time", "--from", "10s")
            refuse("--to: 10001ms is behind the end of the run at 10 s; leave it out", "--to", "10001ms")
        self.fail_with(2, "--sort all: with --by line, time on all ranks is known of the whole run only; leave out --from",
                       "hotspots", "--by", "line", "--sort", "all", "--from", "1", "phased")
        self.fail_with(2, "--sort all: The times that they compute are known by hundredths of the run only (100 ms): this part "
                       "is shorter. Leave it out, or choose a longer part",
                       "hotspots", "--by", "rank", "--sort", "all", "--from", "1.01", "--to", "1.1", "phased")
        self.fail_with(2, "--sort all: All ranks are known by thousandths of the run only (10 ms): this part is shorter",
                       "hotspots", "--sort", "all", "--from", "1", "--to", "1.001", "phased")
        self.fail_with(2, "--phases: 0 is not from 1 to 1000; for example: --phases 20",
                       "hotspots", "--by", "phase", "--phases", "0", "phased")
        self.fail_with(2, "--rank: a phase is of all ranks", "hotspots", "--by", "phase", "--rank", "1", "phased")
        self.fail_with(2, "--sort name: phases stand in the order of time",
                       "hotspots", "--by", "phase", "--sort", "name", "phased")
        self.fail_with(2, "--inside: divides functions, call paths and transfers", "hotspots", "--by", "rank",
                       "--inside", "phased")
        self.fail_with(2, "--inside: divides the time of MPI functions alone; leave out --inclusive", "hotspots",
                       "--inside", "--inclusive", "phased")
        self.fail_with(2, "--inside: the trace has no samples", "hotspots", "--inside", "traced")
        self.fail_with(2, "--inclusive: only functions call others", "hotspots", "--by", "rank", "--inclusive",
                       "sampled")
        self.fail_with(2, "--module: a transfer is in no module",
                       "hotspots", "--by", "transfer", "--module", "halo", "sampled")
        for by in "rank", "node", "thread":
            self.fail_with(2, "--sort all: with --module, ranks, nodes and threads are known by their path time only",
                           "hotspots", "--by", by, "--module", "halo", "--sort", "all", "sampled")
        self.fail_with(2, "'nobody': samples found no such function on the critical path", "annotate", "nobody", "sampled")
        self.fail_with(2, "; see: cpreport hotspots sampled", "annotate", "nobody", "sampled")
        self.fail_with(2, "FUNCTION is required; see: cpreport annotate --help", "annotate")
        for name in "", " ":
            self.fail_with(2, "FUNCTION is empty; give a name that is listed by: cpreport hotspots", "annotate", name, "sampled")
        (self.here / "sampled" / "traces.otf2").touch()
        for trace in ("sampled", "sampled/traces.otf2"):
            self.fail_with(2, f"{trace}: this is a trace, and the FUNCTION before it is missing; give both: "
                           f"cpreport annotate FUNCTION {trace}", "annotate", trace)
            self.fail_with(2, f"--event {trace}: this is a trace, and the NAME before it is missing; the trace has page-faults, "
                           f"cycles, instructions: cpreport hotspots --event page-faults {trace}", "hotspots", "--event", trace)
        self.fail_with(2, "--event traced: this is a trace, and the NAME before it is missing; the trace has none: leave out "
                       "--event", "hotspots", "--by", "line", "--event", "traced")
        self.fail_with(2, "--event: its value is missing; see: cpreport hotspots --help", "hotspots", "sampled", "--event")
        self.fail_with(3, "missing: no such trace", "diff", "missing", "sampled")
        self.fail_with(2, "--by phase: what it is in one run has no counterpart in another; see both with cpreport hotspots "
                       "--by phase, or give one of function, module, line, rank, inlined", "diff", "--by", "phase", "traced",
                       "sampled")
        self.fail_with(2, "--by: 'lines' is not one of function, module, line, rank, inlined; did you mean line?",
                       "diff", "--by", "lines", "traced", "sampled")
        self.fail_with(2, "one trace at a time", "hotspots", "sampled", "traced")
        self.fail_with(2, "options follow the command", "--format", "json", "hotspots")

    def test_recursion_is_one_row_of_a_table_only(self):
        folded = self.succeed("hotspots", "recursive", "--by", "callpath", "--no-header")
        self.assertEqual(len(folded.splitlines()), 4)  # main, walk, visit, MPI_Barrier
        # Of 12 levels of walk, and what is on them: 20 ms and 50 ms each, and 100 ms once.
        self.assertRegex(folded, r"walk +12 +tree +0\.240 +0\.940")
        self.assertRegex(folded, r"visit +- +tree +0\.600 +0\.600")
        for arguments in (["--format", "json"], ["--format", "csv"]):
            whole = self.succeed("hotspots", "recursive", "--by", "callpath", "--top", "0", *arguments)
            self.assertEqual(whole.count("main;walk;walk;walk"), 21, whole)  # 10 of walk, 10 of visit, MPI_Barrier
            self.assertEqual(whole, self.succeed("hotspots", "recursive", "--by", "callpath", "--top", "0", "--recursion",
                                                 "all", *arguments))
            self.fail_with(2, "--recursion fold: CSV and JSON have each call path", "hotspots", "recursive", "--by",
                           "callpath", "--recursion", "fold", *arguments)
        self.fail_with(2, "--recursion: only a call tree has levels", "hotspots", "recursive", "--recursion", "all")

    def test_differences_by_all_that_has_a_counterpart(self):
        def of(by, base, trace):
            return json.loads(self.succeed("diff", base, trace, "--by", by, "--top", "0", "--format", "json"))
        for by in "function", "module", "line", "rank", "inlined":
            document = of(by, "traced", "sampled")
            self.assertEqual(document["by"], by)
            for there, back in zip(document["differences"], of(by, "sampled", "traced")["differences"]):
                self.assertEqual(there["change_seconds"], -back["change_seconds"], by)
            self.assertEqual(of(by, "sampled", "sampled")["differences"], [], by)
            self.assertEqual((document["base_ranks"], document["ranks"]), (2, 4))
        # Those of ranks are exact, and so all there.
        rows = of("rank", "traced", "sampled")["differences"]
        self.assertEqual(sorted(row["rank"] for row in rows), sorted({row["rank"] for row in rows}))
        self.assertAlmostEqual(sum(row["change_seconds"] for row in rows), 10 - 0.04)
        for row in rows:
            self.assertAlmostEqual(row["change_seconds"], row["path_seconds"] - row["base_path_seconds"])

    # traces

    def test_bad_traces(self):
        (self.here / "bare").mkdir()
        (self.here / "recorded").mkdir()
        (self.here / "recorded" / "traces.otf2").touch()
        self.fail_with(3, "missing: no such trace; ", "hotspots", "missing")
        self.fail_with(3, "bare: not a trace; ", "summary", "bare")
        self.fail_with(3, "recorded: no result yet; run: mpirun -n N cpreplay recorded", "hotspots", "recorded")
        self.fail_with(3, "recorded: no result yet; run: mpirun -n N cpreplay recorded", "path",
                       "recorded/traces.otf2")
        database = self.here / "sampled" / "critpath" / "critpath.sqlite"
        content = database.read_bytes()
        database.write_bytes(b"")
        self.fail_with(3, "not a result of cpreplay; run: mpirun -n N cpreplay sampled", "summary", "sampled")
        for size in (100, 4096, len(content) // 2, len(content) - 1):
            database.write_bytes(content[:size])
            self.fail_with(3, "critpath.sqlite: damaged", "hotspots", "sampled")
        database.write_bytes(content)
        segments = self.here / "sampled" / "critpath" / "segments.bin"
        segments.write_bytes(segments.read_bytes()[:-8])
        self.fail_with(3, "segments.bin: damaged (it is cut short)", "path", "sampled")
        segments.unlink()
        self.fail_with(3, "segments.bin: is missing; run again: mpirun -n N cpreplay sampled", "path", "sampled")
        self.succeed("hotspots", "sampled")

    def test_a_window_needs_the_attributions(self):
        attributions = self.here / "phased" / "critpath" / "attribution.bin"
        content = attributions.read_bytes()
        damage = {"cut short": content[:-1], "not a file of attributions": b"X" + content[1:],
                  "the checksum does not fit": content[:-60] + bytes([content[-60] ^ 1]) + content[-59:]}
        for how, changed in damage.items():
            attributions.write_bytes(changed)
            for command in (["hotspots", "--from", "1"], ["hotspots", "--by", "phase"], ["annotate", "solve", "--to", "9"]):
                self.fail_with(3, "attribution.bin: damaged (", *command, "phased")
            self.fail_with(3, how, "hotspots", "--from", "1", "phased")
        attributions.unlink()
        self.fail_with(3, "attribution.bin: is missing; run again: mpirun -n N cpreplay phased",
                       "hotspots", "--from", "1", "phased")
        self.succeed("hotspots", "phased")

    def test_segments_of_another_replay_are_refused(self):
        shutil.copy(self.here / "traced/critpath/segments.bin", self.here / "sampled/critpath/segments.bin")
        self.fail_with(3, "it belongs to another result", "path", "sampled")

    def test_the_newest_trace_is_the_default(self):
        now = time.time()
        for age, name in enumerate(["traced", "sampled", "awkward", "empty"]):
            os.utime(self.here / name / "critpath" / "critpath.sqlite", (now - age, now - age))
        self.assertEqual(self.succeed("hotspots"), self.succeed("hotspots", "traced"))
        os.utime(self.here / "sampled" / "critpath" / "critpath.sqlite", (now + 9, now + 9))
        self.assertEqual(json.loads(self.succeed("summary", "--format", "json"))["trace"], "sampled")
        inside = self.succeed("hotspots", "--no-header", cwd=self.here / "traced")
        self.assertEqual(inside, self.succeed("hotspots", "--no-header", "traced"))
        (self.here / "nowhere").mkdir()
        self.fail_with(2, "no trace in this directory", "hotspots", cwd=self.here / "nowhere")

    def test_read_only_result(self):
        # Root may write anyway; what counts is that nothing appears beside the database.
        directory = self.here / "sampled" / "critpath"
        before = sorted(directory.iterdir())
        directory.chmod(0o555)
        self.succeed("hotspots", "sampled")
        directory.chmod(0o755)
        self.assertEqual(sorted(directory.iterdir()), before)

    # output

    def test_waits_off_the_path_are_not_in_the_path_list(self):
        self.assertNotIn("opal_progress", self.succeed("hotspots", "sampled", "--top", "0"))
        self.assertEqual(self.succeed("hotspots", "sampled", "--sort", "all", "--no-header").split()[0],
                         "opal_progress")

    def test_json_states_schema_and_units(self):
        for arguments in (["summary"], ["hotspots"], ["hotspots", "--by", "module"], ["hotspots", "--by", "rank"],
                          ["path"]):
            for trace in ("sampled", "traced", "awkward", "empty"):
                document = json.loads(self.succeed(*arguments, trace, "--format", "json"))
                self.assertEqual(document["schema"], "critpath.report." + arguments[0])
                self.assertEqual(document["schema_version"], 3)
                for key, value in [*document.items(), *(item for rows in document.values() if isinstance(rows, list)
                                                        for row in rows for item in row.items())]:
                    if isinstance(value, float):
                        self.assertRegex(key, "_seconds$|_percent|_error$")

    def test_formats_agree(self):
        for arguments in (["hotspots"], ["hotspots", "--by", "module"], ["hotspots", "--by", "rank"], ["path"]):
            for trace in ("sampled", "traced", "awkward", "empty"):
                document = json.loads(self.succeed(*arguments, trace, "--format", "json"))
                rows = next(value for value in document.values() if isinstance(value, list))
                text = subprocess.run([CPREPORT, *arguments, trace, "--format", "csv"], cwd=self.here, check=True,
                                      capture_output=True).stdout.decode("utf-8")
                table = list(csv.DictReader(io.StringIO(text, newline="")))
                self.assertEqual(len(table), len(rows))
                for line, row in zip(table, rows):
                    self.assertEqual(list(line), list(row))
                    for key, value in row.items():
                        if value is None:
                            self.assertEqual(line[key], "")
                        elif isinstance(value, str):
                            self.assertEqual(line[key], value)
                        else:
                            self.assertEqual(float(line[key]), value)

    def test_path_options_select(self):
        def rows(*arguments):
            return json.loads(self.succeed("path", "sampled", "--format", "json", *arguments))["path"]

        everything = rows("--all")
        self.assertEqual(len(everything), 10)
        self.assertEqual(rows("--top", "0"), everything)
        self.assertEqual(sum(row["length_seconds"] for row in everything), 10)
        self.assertEqual([row["begin_seconds"] for row in everything[1:]], [row["end_seconds"] for row in everything[:-1]])
        self.assertEqual(rows("--all", "--from", "3.4", "--to", "5.8"),
                         [row for row in everything if row["end_seconds"] > 3.4 and row["begin_seconds"] < 5.8])
        self.assertEqual(rows("--kind", "start-delay,mpi"),
                         [row for row in everything if row["kind"] in ("start delay", "mpi")])
        self.assertEqual(rows("--rank", "3"), [row for row in everything if row["rank"] == 3])
        self.assertEqual(rows("--min-length", "500ms"),
                         [row for row in everything if row["length_seconds"] >= 0.5])
        longest = sorted(everything, key=lambda row: -row["length_seconds"])[:3]
        self.assertEqual(rows("--top", "3"), sorted(longest, key=lambda row: row["begin_seconds"]))
        # Of equal ones the earlier.
        self.assertEqual(rows("--kind", "mpi", "--top", "1")[0]["begin_seconds"], 3.05)

    def window(self, begin, end, *arguments):
        """Path time of the rows of `phased` in a window in ms, in ms by name, and its samples."""
        document = json.loads(self.succeed("hotspots", "phased", "--format", "json", "--top", "0", "--sort", "name",
                                           "--from", f"{begin}ms", "--to", f"{end}ms", *arguments))
        self.assertEqual((document["from_seconds"], document["to_seconds"], document["path_seconds"]),
                         (begin / 1000, end / 1000, (end - begin) / 1000))
        rows = next(value for value in document.values() if isinstance(value, list))
        name = "function" if "function" in rows[0] else "rank"
        return {row[name]: round(1000 * row["path_seconds"]) for row in rows
                if row["path_seconds"] > 0}, document.get("path_samples")

    def test_windows_have_what_was_done_in_them(self):
        """As tests/result/samples.cpp says."""
        self.assertEqual(self.window(0, 1000), ({"setup": 1000}, 100))
        self.assertEqual(self.window(3000, 5500), ({"setup": 1000, "solve": 1300, "[transfer]": 200}, 230))
        self.assertEqual(self.window(5900, 6600), ({"solve": 200, "[preempted]": 500}, 20))
        self.assertEqual(self.window(6100, 6200), ({"[preempted]": 100}, 0))
        self.assertEqual(self.window(9050, 9150), ({"MPI_Allreduce": 50, "[preempted]": 50}, 0))
        self.assertEqual(self.window(8001, 8005), ({"[not sampled]": 4}, 0))
        self.assertEqual(self.window(4100, 9750, "--by", "rank")[0], {0: 750, 1: 4900})
        self.assertEqual(self.window(4100, 9750, "--rank", "0"), (
            {"setup": 250, "MPI_Allreduce": 400, "[preempted]": 100}, 455))

    def test_windows_add_up_to_the_run(self):
        whole, samples = self.window(0, 10000)
        rows = json.loads(self.succeed("hotspots", "phased", "--format", "json", "--top", "0", "--sort", "name"))
        self.assertEqual(whole, {row["function"]: round(1000 * row["path_seconds"]) for row in rows["hotspots"]
                                 if row["path_seconds"] > 0})
        for parts in (2, 8):
            sums, counted = {}, 0
            for i in range(parts):
                rows, number = self.window(10000 * i // parts, 10000 * (i + 1) // parts)
                counted += number
                for name, ms in rows.items():
                    sums[name] = sums.get(name, 0) + ms
            self.assertEqual((sums, counted), (whole, samples))

    def carriers(self, trace, by, *arguments):
        """Rows of --by rank, node or thread as they are asked for, and the whole document."""
        document = json.loads(self.succeed("hotspots", trace, "--by", by, "--format", "json", "--sort", "name", *arguments))
        return document[by + "s"], document

    def test_what_ranks_compute_is_on_the_path_or_off_it(self):
        """Of sampled: lifetimes of 9.95 s, of which rank r is in MPI for 4 - r tenths; ranks 1 and 2 compute on the path
        for 3 + 2.35 s and 2.65 s (tests/result/samples.cpp)."""
        ranks, document = self.carriers("sampled", "rank")
        computed = [9.95 * (10 - (4 - rank)) / 10 for rank in range(4)]
        mean = sum(computed) / 4
        on_path = [0, 5.35, 2.65, 0]
        for row, own, path in zip(ranks, computed, on_path, strict=True):
            self.assertAlmostEqual(row["computed_seconds"], own)
            self.assertAlmostEqual(row["off_path_seconds"], own - path)
            self.assertAlmostEqual(row["imbalance_seconds"], own - mean)
        self.assertAlmostEqual(document["path_computed_seconds"], sum(on_path))
        self.assertAlmostEqual(document["mean_computed_seconds"], mean)
        # One thread a rank, two ranks a node: the same times, and sums of them.
        keys = ("computed_seconds", "off_path_seconds", "imbalance_seconds")
        threads, _ = self.carriers("sampled", "thread")
        nodes, _ = self.carriers("sampled", "node")
        for key in keys:
            self.assertEqual([row[key] for row in threads], [row[key] for row in ranks])
            self.assertEqual(len(nodes), 2)
            for node, row in enumerate(nodes):
                self.assertAlmostEqual(row[key], ranks[2 * node][key] + ranks[2 * node + 1][key])
        # Of some ranks, the mean is that of all.
        some, _ = self.carriers("sampled", "rank", "--rank", "1")
        self.assertEqual(some, ranks[1:2])

    def test_what_threads_have_of_a_module(self):
        """Of one thread each, ranks have the same."""
        for more in ((), ("--from", "2.5", "--to", "70%")):
            ranks, threads = (self.carriers("phased", by, "--module", "phased", *more)[0] for by in ("rank", "thread"))
            self.assertEqual([row["path_seconds"] for row in threads], [row["path_seconds"] for row in ranks])
            self.assertEqual(len(ranks), 2)
            self.assertEqual(self.carriers("phased", "thread", "--module", "phased", "--rank", "1", *more)[0], threads[1:])

    def test_what_ranks_compute_in_a_part_of_the_run(self):
        """Of phased: rank 0 from 0 s to 5.5 s and in the last half one, rank 1 to 2.2 s and from 4.2 s to 9 s; the path is
        with the one until 4 s and in that half one, with the other in between (tests/result/samples.cpp)."""
        keys = ("computed_seconds", "off_path_seconds", "imbalance_seconds")
        def values(by, begin, end):
            rows, _ = self.carriers("phased", by, "--from", begin, "--to", end)
            return [tuple(row[key] for key in keys) for row in rows]
        for by in ("rank", "thread"):
            self.assertEqual(values(by, "10%", "60%"), [(4.5, 1.5, 0.75), (3, 1.2, -0.75)])
            self.assertEqual(values(by, "9", "10"), [(0.5, 0, 0.25), (0, 0, -0.25)])
            self.assertEqual(values(by, "5.45", "5.65"), [(0.05, 0.05, -0.075), (0.2, 0, 0.075)])
        self.assertEqual(values("node", "10%", "60%"), [(7.5, 2.7, 0)])
        part = ("hotspots", "phased", "--by", "rank", "--from")
        self.assertNotIn("hundredths", self.succeed(*part, "10%"))
        self.assertIn("interpolated", self.succeed(*part, "5.45", "--to", "5.65"))
        self.assertIn("this part is shorter", self.succeed(*part, "5.45", "--to", "5.5"))
        rows, document = self.carriers("phased", "rank", "--from", "5.45", "--to", "5.5")
        self.assertFalse({key for row in rows for key in row}.intersection(keys))
        _, document = self.carriers("phased", "rank", "--from", "10%", "--to", "60%")
        self.assertAlmostEqual(document["mean_computed_seconds"], 3.75)

    def test_all_ranks_in_a_part_of_the_run(self):
        """Of phased: both ranks are in setup until 4 s, and one from 9 s on; one in solve in between, which the path lacks
        for 0.2 s of a transfer and 0.5 s without a processor (tests/result/samples.cpp)."""
        def in_part(*window):
            document = json.loads(self.succeed("hotspots", "phased", *window, "--sort", "name", "--format", "json"))
            rows = {row["function"]: row for row in document["hotspots"]}
            return {name: tuple(rows[name][key] for key in ("all_ranks_seconds", "off_path_seconds", "imbalance_seconds"))
                    for name in ("setup", "solve") if name in rows}, document
        setup_and_solve, document = in_part("--from", "30%", "--to", "60%")
        self.assertEqual(setup_and_solve, {"setup": (2, 1, 0), "solve": (2, 0.2, 0.8)})
        self.assertEqual(document["all_ranks_seconds"], 4)
        self.assertNotIn("All ranks are known", self.succeed("hotspots", "phased", "--from", "30%", "--to", "60%"))
        self.assertEqual(in_part("--from", "0", "--to", "4")[0], {"setup": (8, 4, 0)})
        self.assertEqual(in_part("--from", "9")[0]["setup"], (1, 0.5, 0))
        halves, document = in_part("--from", "3.995", "--to", "4.995")
        self.assertEqual(halves["setup"][0], 0.01)  # a half of 2 x 10 ms
        self.assertIn("interpolated", self.succeed("hotspots", "phased", "--from", "3.995", "--to", "4.995"))
        short, document = in_part("--from", "5", "--to", "5.0099")
        self.assertEqual(short["solve"], (None, None, None))
        self.assertNotIn("all_ranks_seconds", document)
        self.assertIn("this part is shorter", self.succeed("hotspots", "phased", "--from", "5", "--to", "5.0099"))
        phases = json.loads(self.succeed("hotspots", "phased", "--by", "phase", "--format", "json"))["phases"]
        self.assertEqual([row["all_ranks_computed_seconds"] for row in phases], [2, 2, 1.2, 1, 1.8, 1.5, 1, 1, 1, 0.5])
        for row in phases:
            self.assertAlmostEqual(row["off_path_computed_seconds"],
                                   row["all_ranks_computed_seconds"] - row["compute_seconds"])
            self.assertAlmostEqual(row["imbalance_seconds"],
                                   row["compute_seconds"] - row["all_ranks_computed_seconds"] / 2)
        self.assertIn("interpolated", self.succeed("hotspots", "phased", "--by", "phase", "--phases", "300"))
        first = self.succeed("hotspots", "phased", "--sort", "all", "--from", "30%", "--to", "60%").splitlines()
        self.assertTrue(any("setup" in line for line in first), first)

    def test_ranks_in_some_modules(self):
        """What the functions of these modules have on each rank."""
        def path(*arguments):
            document = json.loads(self.succeed("hotspots", "--format", "json", "--top", "0", "--sort", "name", *arguments))
            return next(value for value in document.values() if isinstance(value, list)), document
        for trace, module, window in (("sampled", "halo", []), ("sampled", "MPI", []), ("phased", "phased", ["--from", "35%"])):
            ranks, document = path("--by", "rank", "--module", module, *window, trace)
            self.assertTrue(ranks)
            self.assertEqual([row["rank"] for row in ranks], sorted(row["rank"] for row in ranks))
            for row in ranks:
                of_rank, _ = path("--rank", str(row["rank"]), "--module", module, *window, trace)
                self.assertAlmostEqual(row["path_seconds"], sum(item["path_seconds"] for item in of_rank))
                self.assertEqual(row["path_samples"], sum(item["path_samples"] for item in of_rank))
                self.assertAlmostEqual(row["path_percent"], 100 * row["path_seconds"] / document["path_seconds"], places=3)
                self.assertEqual(row["path_percent_low"] is None, module == "MPI", "what is exact has no error")
            nodes, _ = path("--by", "node", "--module", module, *window, trace)
            self.assertAlmostEqual(sum(row["path_seconds"] for row in nodes), sum(row["path_seconds"] for row in ranks))

    def test_phases_in_some_modules(self):
        """Each phase has what the functions of these modules have in it as a window, of which one has most."""
        for module in ("phased", "MPI"):
            document = json.loads(self.succeed("hotspots", "--by", "phase", "--phases", "4", "--module", module,
                                               "--format", "json", "phased"))
            self.assertEqual(len(document["phases"]), 4)
            for row in document["phases"]:
                window = ("--from", f"{row['begin_seconds']:.9f}", "--to", f"{row['end_seconds']:.9f}")
                part = json.loads(self.succeed("hotspots", "--module", module, *window, "--top", "0", "--format", "json",
                                               "phased"))
                functions = [item for item in part["hotspots"] if item["path_seconds"] > 0]
                self.assertAlmostEqual(row["path_seconds"], sum(item["path_seconds"] for item in functions), msg=row)
                self.assertEqual(row["path_samples"], sum(item["path_samples"] for item in functions), row)
                self.assertAlmostEqual(row["path_percent"], 100 * row["path_seconds"] / part["path_seconds"], places=3)
                most = max(functions, key=lambda item: item["path_seconds"], default={"function": None, "path_percent": 0})
                self.assertEqual(row["function"], most["function"])
                self.assertAlmostEqual(row["function_percent"], most["path_percent"], places=3)
            self.assertTrue(any(row["path_seconds"] > 0 for row in document["phases"]))
        lines = self.succeed("hotspots", "--by", "phase", "--phases", "2", "--module", "MPI", "phased").splitlines()
        self.assertIn("Time in binaries with 'MPI' in their path; shares", " ".join(lines))

    def test_call_paths_compare_where_nothing_waits(self):
        paths = json.loads(self.succeed("hotspots", "phased", "--by", "callpath", "--format", "json"))["call_paths"]
        imbalance = {row["call_path"]: row["imbalance_seconds"] for row in paths}
        self.assertAlmostEqual(imbalance["main;setup"], 4.5 - 9 / 2)
        self.assertAlmostEqual(imbalance["main;solve"], 4.3 - 5 / 2)
        self.assertIsNone(imbalance["main"], "it calls MPI")
        self.assertIsNone(imbalance["main;MPI_Allreduce"])

    def test_threads_that_compute_most_come_first(self):
        document = json.loads(self.succeed("hotspots", "sampled", "--by", "thread", "--sort", "all", "--format", "json"))
        self.assertEqual([row["thread"] for row in document["threads"]], ["rank 3", "rank 2", "rank 1", "rank 0"])

    def test_those_off_the_path_are_shown_among_all(self):
        for by in ("rank", "thread"):
            def shown(top):
                rows = json.loads(self.succeed("hotspots", "sampled", "--by", by, "--format", "json", "--top", top))[by + "s"]
                return [(str(row[by]), row["path_seconds"] > 0) for row in rows]
            names = [str(rank) if by == "rank" else f"rank {rank}" for rank in range(4)]
            on_path = [(names[rank], True) for rank in (1, 2, 3)]
            self.assertEqual(shown("20"), on_path)
            self.assertEqual(shown("0"), on_path + [(names[0], False)])

    def test_ranks_of_several_threads_have_no_imbalance(self):
        """Rank 1 of traced has a second thread, which adds to what it computes."""
        threads, _ = self.carriers("traced", "thread")
        self.assertEqual([row["computed_seconds"] for row in threads], [0.036, 0.028, 0.009])
        ranks, document = self.carriers("traced", "rank")
        self.assertEqual([row["computed_seconds"] for row in ranks], [0.036, 0.037])
        for row in threads + ranks:
            self.assertIsNone(row["imbalance_seconds"])
        self.assertIsNone(document["mean_computed_seconds"])

    def counts(self, event, *arguments):
        """What `phased` counted, by the first column of the view; None where that is not known."""
        document = json.loads(self.succeed("hotspots", "phased", "--event", event, "--format", "json", *arguments))
        rows = document["events"]
        self.assertEqual(document["count"], sum(row["count"] or 0 for row in rows))
        key = next((key for key in ("phase", "function", "thread", "rank", "node") if rows and key in rows[0]), None)
        return {row[key]: row["count"] for row in rows}

    def test_counts_of_a_window_are_what_was_counted_in_it(self):
        """As tests/result/samples.cpp says."""
        def window(event, begin, end, *arguments):
            return self.counts(event, "--from", f"{begin}ms", "--to", f"{end}ms", *arguments)

        self.assertEqual(window("instructions", 0, 1), {"setup": 1000})
        self.assertEqual(window("instructions", 3000, 5500), {"setup": 1_000_000, "solve": 2_600_000})
        self.assertEqual(window("instructions", 5900, 6600), {"solve": 400_000})
        self.assertEqual(window("instructions", 9050, 9250), {"MPI_Allreduce": 50_000})
        self.assertEqual(window("instructions", 8000, 9750, "--by", "rank"), {1: 2_000_000, 0: 450_000})
        self.assertEqual(window("instructions", 8000, 9750, "--by", "thread"), {"rank 1": 2_000_000, "rank 0": 450_000})
        self.assertEqual(window("instructions", 8000, 9750, "--by", "node"), {"node01": 2_450_000})
        self.assertEqual(window("instructions", 8000, 9750, "--by", "line"),
                         {"solve": 2_000_000, "setup": 250_000, "MPI_Allreduce": 200_000})
        self.assertEqual(window("page-faults", 3000, 5500), {"setup": 100, "solve": None})
        self.assertEqual(window("page-faults", 6100, 6200), {})

    def test_counts_of_phases_add_up_to_the_run(self):
        whole = self.counts("instructions")
        self.assertEqual(whole, {"solve": 8_600_000, "setup": 4_500_000, "MPI_Allreduce": 200_000})
        self.assertEqual(self.counts("instructions", "--from", "0%", "--to", "100%"), whole)
        self.assertEqual(list(self.counts("instructions", "--by", "phase").values()),
                         [1_000_000] * 4 + [1_600_000, 2_000_000, 1_000_000, 2_000_000, 2_000_000, 700_000])
        for number in ("1", "7", "1000"):
            phases = self.counts("instructions", "--by", "phase", "--phases", number)
            self.assertEqual((len(phases), sum(count or 0 for count in phases.values())), (int(number), sum(whole.values())))
        phase = json.loads(self.succeed("hotspots", "phased", "--event", "page-faults", "--by", "phase", "--from", "3s",
                                        "--to", "9s", "--phases", "3", "--format", "json"))["events"]
        self.assertEqual([(row["count"], row["known_percent"], row["function"]) for row in phase],
                         [(100, round(100 / 1.8, 4), "setup"), (None, 0, None), (None, 0, None)])

    def test_phases_tell_when_the_run_changes(self):
        document = json.loads(self.succeed("hotspots", "phased", "--by", "phase", "--format", "json"))
        phases = document["phases"]
        self.assertEqual([row["begin_seconds"] for row in phases], list(range(10)))
        self.assertEqual([row["function"] for row in phases], ["setup"] * 4 + ["solve"] * 5 + ["setup"])
        self.assertEqual([row["rank"] for row in phases], [0] * 4 + [1] * 5 + [0])
        self.assertEqual([row["transfer_seconds"] for row in phases], [0] * 4 + [0.2] + [0] * 5)
        self.assertEqual([row["without_processor_seconds"] for row in phases], [0] * 6 + [0.5] + [0] * 2 + [0.1])
        self.assertEqual(phases[9]["collective_seconds"], 0.5)
        for row in phases:
            kinds = ("compute", "mpi", "transfer", "collective", "other")
            self.assertAlmostEqual(sum(row[f"{kind}_seconds"] for kind in kinds), 1)

    def test_tables_fit_a_hundred_columns(self):
        for arguments in (["summary"], ["hotspots"], ["hotspots", "--by", "module"], ["hotspots", "--by", "rank"],
                          ["hotspots", "--by", "phase"], ["path"]):
            for trace in ("sampled", "traced", "phased", "awkward", "empty"):
                self.assert_fits(*arguments, trace)
        for by in ("function", "line", "callpath", "rank", "thread", "phase"):
            for trace in ("sampled", "phased"):
                self.assert_fits("hotspots", "--event", "instructions", "--by", by, trace)

    def assert_fits(self, *arguments):
        for line in self.succeed(*arguments).splitlines():
            self.assertLessEqual(len(line), 100)
            self.assertEqual(line, line.rstrip())

    def test_names_cannot_steer_the_terminal(self):
        for arguments in (["summary"], ["hotspots"], ["path"]):
            self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", self.succeed(*arguments, "awkward")))

    def on_terminal(self, columns, environment, *arguments):
        master, slave = pty.openpty()
        import fcntl
        import struct
        import termios
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen([CPREPORT, *arguments], cwd=self.here, stdout=slave,
                                   env={**os.environ, **environment})
        os.close(slave)
        output = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            output += part
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0)
        return output.decode()

    def test_terminal_width_and_colour(self):
        plain = {"TERM": "xterm", "NO_COLOR": "1"}
        for columns in (80, 100, 160):
            text = self.on_terminal(columns, plain, "hotspots", "sampled")
            self.assertNotIn("\x1b", text)
            self.assertLessEqual(max(map(len, text.splitlines())), columns)
        for columns in (60, 80, 100, 160):
            text = self.on_terminal(columns, plain, "explain", "sampled").replace("\r", "")
            headings = next(line for line in text.splitlines() if line.startswith("No "))
            self.assertEqual(("Place" in headings, "on it %" in headings), (columns > 60, columns > 80), headings)
            for line in text.splitlines():
                if not re.match(" *cpreport ", line):  # commands are not broken
                    self.assertLessEqual(len(line), columns, line)
        wide = self.on_terminal(200, plain, "hotspots", "sampled", "--sort", "all")
        self.assertIn("solver::Stencil<double, 3>::apply(solver::Grid const&)", wide)
        self.assertIn("\x1b[1mFunction", self.on_terminal(100, {"TERM": "xterm", "NO_COLOR": ""}, "hotspots", "sampled"))
        self.assertNotIn("\x1b", self.on_terminal(100, {"TERM": "dumb", "NO_COLOR": ""}, "hotspots", "sampled"))
        self.assertNotIn("\x1b", self.on_terminal(100, {"TERM": "xterm", "NO_COLOR": ""}, "hotspots", "sampled",
                                                  "--format", "json"))

    def test_a_closed_pipe_is_silent(self):
        reader, writer = os.pipe()
        os.close(reader)
        # Python ignores SIGPIPE itself, and subprocess restores it for the child.
        run = subprocess.run([CPREPORT, "hotspots", "sampled"], cwd=self.here, stdout=writer, stderr=subprocess.PIPE,
                             timeout=60)
        os.close(writer)
        self.assertEqual((run.returncode, run.stderr), (0, b""))

    def test_an_empty_name_of_a_trace(self):
        run = subprocess.run([CPREPORT, "hotspots", ""], cwd=self.here, capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("TRACE: the name is empty; ", run.stderr)

    def test_raw_records_are_to_be_replayed(self):
        os.makedirs(os.path.join(self.here, "it died", "spool"))
        self.addCleanup(shutil.rmtree, os.path.join(self.here, "it died"))
        run = subprocess.run([CPREPORT, "hotspots", "it died"], cwd=self.here, capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout), (3, ""))
        self.assertIn("replay what was recorded: cpreplay 'it died'\n", run.stderr)

    def test_a_later_replay_has_failed(self):
        mark = os.path.join(self.here, "sampled", "critpath", "failed_replay.txt")
        with open(mark, "w", encoding="utf-8") as file:
            file.write("traces/0.evt: cut short\n")
        self.addCleanup(os.remove, mark)
        run = subprocess.run([CPREPORT, "hotspots", "sampled"], cwd=self.here, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stderr, "cpreport: sampled: this is the result of an earlier replay; the last one failed: "
                                     "traces/0.evt: cut short\n")

    def test_a_full_disk_is_a_failure(self):
        for arguments in (["hotspots", "sampled"], ["--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                run = subprocess.run([CPREPORT, *arguments], cwd=self.here, stdout=full, stderr=subprocess.PIPE,
                                     timeout=60)
            self.assertEqual(run.returncode, 1)
            self.assertIn(b"standard output: No space left on device; ", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
