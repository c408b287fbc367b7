# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns the comparison of a run with cpcollect with the same run without: per rank everything that it wrote, how it
ended, and how the launcher ended; then that the trace is readable.

Environment as that of tests/e2e/harness.py, and TRANSPARENCY_PROGRAMS (directory), TRANSPARENCY_MPI.
"""

import collections
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import harness as e2e  # noqa: E402

PROGRAMS = os.environ.get("TRANSPARENCY_PROGRAMS", "")
MPI = os.environ.get("TRANSPARENCY_MPI", "Open MPI")
OPEN_MPI = MPI == "Open MPI"

# How a run is recorded: as by default, with as little as possible, and with what costs most.
MODES = {"full": (), "least": ("--no-samples", "--callpath=none"), "counters": ("--counters=perf::PAGE-FAULTS",),
         "timer": ("--sampler=timer", "-F", "997")}
USUAL_MODES = ("full", "least")
ALL_MODES = (*USUAL_MODES, "timer") if e2e.papi_refused() else tuple(MODES)
WITH_TIMERS = (*USUAL_MODES, "timer")

# What is said in any case, where the application does that.
SAMPLES_END = ("cpcollect: timers stopped", "cpcollect: the application closed descriptors")
# Without a summary and with nothing to warn of, as samples that the kernel refuses.
SILENT = ("-q", "--no-samples") if e2e.perf_event_refused() else ("-q",)

Rank = collections.namedtuple("Rank", "out err end")
Observed = collections.namedtuple("Observed", "launcher ranks said")

main = e2e.main
tool = e2e.tool


def program(name):
    return os.path.join(PROGRAMS, name)


# What differs between any two runs: process ids, job ids, addresses, the text of stack frames.
VOLATILE = (
    (re.compile(r"^\[[^\]]*:\d+\] \[ ?\d+\] .*\n", re.MULTILINE), ""),
    (re.compile(r"\[([\w.-]+):\d+(,\d+)?\]"), r"[\1:PID]"),
    (re.compile(r"\[\[\d+,\d+\],\d+\]"), "[[JOB],RANK]"),
    (re.compile(r"\bprocess rank \d+\b"), "process rank RANK"),
    (re.compile(r"\breported by process \[\d+,(\d+)\]"), r"reported by process [JOB,\1]"),
    (re.compile(r"\bP(ID|id):? \d+"), "PID"),
    (re.compile(r"0x[0-9a-f]{5,}"), "ADDRESS"),
    (re.compile(r"\(nil\)"), "ADDRESS"),
    (re.compile(r"^cpcollect: no samples in .*\n", re.MULTILINE), ""),  # where other work competes for the cores
    (re.compile(r"^\[[\w.-]+:PID\] (\d+ more process.*|Set MCA parameter.*)\n", re.MULTILINE), ""),
)


def steady(text):
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


def without_ours(text):
    """The text, and our lines in it."""
    lines = text.splitlines(keepends=True)
    ours = [line for line in lines if line.startswith("cpcollect: ")]
    return "".join(line for line in lines if not line.startswith("cpcollect: ")), ours


def without_lines(text, pattern):
    return text if pattern is None else re.sub(f"(?:{pattern})\n", "", text, flags=re.MULTILINE)


def scenarios(text):
    """What stands below each line "== name"; what is before the first belongs to "start"."""
    parts = collections.OrderedDict(start="")
    name = "start"
    for line in text.splitlines(keepends=True):
        if line.startswith("== "):
            name = line[3:].strip()
            parts[name] = ""
        else:
            parts[name] += line
    return parts


class Case(e2e.Case):
    def observe(self, name, ranks, command, before=(), env=None, options=()):
        """`before`: words in front of the observed command's own words, such as cpcollect with its options."""
        directory = tempfile.mkdtemp(prefix=f"{name}.", dir=self.scratch)
        work = os.path.join(self.scratch, "work")  # the same for all runs, whose output may name it
        os.makedirs(work, exist_ok=True)
        launched = e2e.mpirun(ranks, *options, program("observe"), directory, *before, *command, cwd=work, env=env)
        result = []
        said = []
        for rank in range(ranks):
            texts = []
            for kind in ("out", "err", "end"):
                path = os.path.join(directory, f"{rank}.{kind}")
                if os.path.exists(path):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        texts.append(file.read())
                else:
                    texts.append("(nothing)")
            texts[1], ours = without_ours(steady(texts[1]))
            said += ours
            result.append(Rank(*texts))
        return Observed(launched._replace(err=steady(launched.err)), result, said)

    def compare_rank(self, mode, rank, plain, recorded, ignore):
        for part in ("out", "err"):
            expected, seen = (scenarios(without_lines(getattr(run, part), ignore)) for run in (plain, recorded))
            self.assertEqual(list(expected), list(seen), f"{mode}, rank {rank}: the scenarios in its {part}")
            for name, lines in expected.items():
                with self.subTest(mode=mode, rank=rank, part=part, scenario=name):
                    self.assertEqual(lines, seen[name])
        with self.subTest(mode=mode, rank=rank, part="end"):
            self.assertEqual(plain.end, recorded.end, recorded.err)

    def compare(self, ranks, *command, wrapper=(), ends=None, expect=(), modes=USUAL_MODES, say=None, readable=True,
                only_ranks=None, options=(), collect=(), ignore=None):
        """Runs plainly, and recorded in each of the modes. `expect`: texts that rank 0 must have printed, so that two
        equal failures are no success. `ends`: how rank 0 must have ended. `say`: what one of our lines must contain;
        without it we must say nothing. `only_ranks`: those whose end does not depend on how fast the launcher is.
        `ignore`: lines of stdout that may differ. `{trace}` in a word of `wrapper` is the trace, plainly nothing."""
        plain = self.observe("plain", ranks, command, before=[word.format(trace="") for word in wrapper], options=options)
        self.assertEqual(plain.said, [])
        for text in expect:
            self.assertIn(text, plain.ranks[0].out, e2e.describe(plain.launcher) + plain.ranks[0].err)
        if ends is not None:
            self.assertEqual(plain.ranks[0].end, ends + "\n", e2e.describe(plain.launcher) + plain.ranks[0].err)
        for mode in modes:
            self.trace = os.path.join(tempfile.mkdtemp(dir=self.scratch), mode)
            quiet = () if say else SILENT
            before = [word.format(trace=self.trace) for word in wrapper]
            before += [tool("cpcollect"), *quiet, "-o", self.trace, *MODES[mode], *collect]
            recorded = self.observe(mode, ranks, command, options=options, before=before)
            for rank in range(ranks) if only_ranks is None else only_ranks:
                self.compare_rank(mode, rank, plain.ranks[rank], recorded.ranks[rank], ignore)
            with self.subTest(mode=mode, part="launcher"):
                self.assertEqual((plain.launcher.code, plain.launcher.out), (recorded.launcher.code, recorded.launcher.out),
                                 e2e.describe(recorded.launcher))
                if only_ranks is None:  # otherwise mpirun may lose words of MPI, with and without us
                    self.assertEqual(plain.launcher.err, recorded.launcher.err)
            with self.subTest(mode=mode, part="what cpcollect says"):
                if say is None:
                    # That the application has cancelled a thread, or closed what is not its own, is worth a word in any case.
                    self.assertEqual([line for line in recorded.said if not line.startswith(SAMPLES_END)], [])
                else:
                    self.assertTrue([line for line in recorded.said if say in line], f"not said: {say}\n{recorded.said}")
            if readable:
                with self.subTest(mode=mode, part="trace"):
                    self.read_trace()
        return plain

    def read_trace(self):
        """cpreplay recovers by itself what was left of a run that did not get to its end."""
        replayed = e2e.run(tool("cpreplay"), self.trace)
        self.assertEqual(replayed.code, 0, e2e.describe(replayed))
        self.validate()

    def regions(self):
        """The names of the functions that the trace of the last run has calls of."""
        printed = e2e.run("otf2-print", os.path.join(self.trace, "traces.otf2")).out
        return set(re.findall(r'(?:Region|Calling Context): "([^"]*)"', printed))
