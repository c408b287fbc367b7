# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Owns what users see when they hand the tools something wrong: the right exit code, one message with object, cause and
next action, and no hang."""

import os
import re
import shutil
import sqlite3

import harness

DONE, FAILED, USAGE, BAD_TRACE = 0, 1, 2, 3
# Behind a process that fails, mpirun waits for seconds between the signals with which it ends the others.
FAILS_AT_ONCE = harness.environment(OMPI_MCA_odls_base_sigkill_timeout="0")


class Collect(harness.Case):
    """What needs MPI or cpreplay; all else that cpcollect refuses is in tests/launcher."""

    def collect(self, *arguments, **options):
        return harness.run(harness.tool("cpcollect"), *arguments, cwd=self.scratch, **options)

    def test_application_without_mpi(self):
        result = self.collect("-o", self.trace, "ls", "/")
        plain = harness.run("ls", "/")
        self.assertEqual((result.code, result.out), (plain.code, plain.out), harness.describe(result))
        messages = [line for line in result.err.splitlines() if line.startswith("cpcollect:")]
        self.assertEqual(len(messages), 1, harness.describe(result))
        self.assertIn("ls", messages[0])
        self.assertIn("MPI", messages[0])

    def test_force_overwrites(self):
        for _ in range(2):
            result = harness.mpirun(2, harness.tool("cpcollect"), "-q", "--force", "-o", self.trace,
                                    harness.workload("halo"), "20", cwd=self.scratch)
            self.succeed(result)
            self.validate()
        self.replay_on(1, 2)

    def test_one_message_for_all_ranks(self):
        os.makedirs(os.path.join(self.trace, "of_somebody"))
        result = harness.mpirun(3, harness.tool("cpcollect"), "-o", self.trace, harness.workload("halo"), "1",
                                cwd=self.scratch)
        self.assert_message(result, USAGE, self.trace, "--force")

    def test_perf_event_refused(self):
        """Goes on, with samples of timers where these disturb nobody, and says how to allow those of the kernel."""
        result = harness.mpirun(2, harness.workload("deny_perf"), harness.tool("cpcollect"), "-o", self.trace,
                                harness.workload("late_sender"), cwd=self.scratch)
        self.succeed(result)
        told = [line for line in result.err.splitlines() if "perf_event_paranoid" in line]
        self.assertEqual(len(told), 1, harness.describe(result))
        self.validate()
        self.replay_on(1, 2)
        self.assertGreater(len(self.path()), 0)
        summary = harness.run(harness.tool("cpreport"), "summary", self.trace)
        self.assertRegex(summary.out, "(Not sampled +time without a processor: of that, timers know nothing|Sampling +none: )")


class OddNames(harness.Case):
    """What a user, or somebody else, has chosen for a name is one word in the lines to copy into a shell, and cannot
    steer the terminal."""

    def follow(self, result):
        """What the last line says to do next, done by a shell."""
        *_, command = re.findall("next: (.*)", result.out + result.err)
        for tool in ("cpcollect", "cpreplay", "cpreport"):
            command = re.sub(rf"\b{tool} ", f"{harness.tool(tool)} ", command, count=1)
        command = command.replace("mpirun", harness.MPIEXEC)
        return self.succeed(harness.run("sh", "-c", command, cwd=self.scratch))

    def collect(self, name):
        return self.succeed(harness.mpirun(2, harness.tool("cpcollect"), "-o", name, harness.workload("halo"), "20",
                                           cwd=self.scratch))

    def test_next_can_be_copied(self):
        for name in ("sp ace", "it's $(here);", "*"):
            with self.subTest(name=name):
                recorded = self.collect(name)
                replayed = self.follow(recorded)
                self.assertIn("%", self.follow(replayed).out)

    def test_next_of_a_recovery_can_be_copied(self):
        self.trace = os.path.join(self.scratch, "sp ace")
        os.mkdir(os.path.join(self.scratch, "no"))
        # Without a library that makes the archive there are raw records only.
        libraries = os.path.join(self.scratch, "libraries")
        os.mkdir(libraries)
        source = os.path.join(harness.BIN, os.pardir, "lib")
        shutil.copy(os.path.join(source, "libcritpath-preload.so"), libraries)
        with open(os.path.join(libraries, "libcritpath-archive.so"), "w") as file:
            file.write("no library")
        recorded = harness.mpirun(2, harness.tool("cpcollect"), "-o", "sp ace", harness.workload("halo"), "20",
                                  cwd=self.scratch, env=harness.environment(CRITPATH_LIBDIR=libraries))
        self.assertIn("next: cpcollect recover 'sp ace'", recorded.err, harness.describe(recorded))
        recovered = self.follow(recorded)
        self.assertIn("%", self.follow(self.follow(recovered)).out)

    def test_no_control_characters(self):
        """Neither those of ASCII nor those that UTF-8 has behind it."""
        name = "a\x1b[31mb\x9bc\x07\u202ed"
        results = [self.collect(name)]
        for tool, *arguments in (("cpreplay", name), ("cpreport", "hotspots", name), ("cpcollect", "recover", name),
                                 ("cpreport", "hotspots", "no" + name), ("cpreport", "hot" + name),
                                 ("cpreplay", "no" + name), ("cpreplay", "--" + name),
                                 ("cpcollect", "recover", "no" + name), ("cpcollect", "no" + name),
                                 ("cpcollect", "-o", name, "true"), ("cpcollect", "--" + name, "true")):
            results.append(harness.run(harness.tool(tool), *arguments, cwd=self.scratch))
            self.assertTrue(results[-1].out + results[-1].err, "says something")
        shutil.rmtree(os.path.join(self.scratch, name, "critpath"))
        results.append(harness.run(harness.tool("cpreport"), "hotspots", name, cwd=self.scratch))
        for result in results:
            said = result.out + result.err
            self.assertFalse([c for c in said if c in name and not c.isprintable()], harness.describe(result))


class Replay(harness.Case):
    def record_halo(self, ranks=2):
        self.record(ranks, harness.workload("halo"), "30", options=("-q",))

    def replay_badly(self, code, *words, trace=None):
        """On one process and on two: the same message once."""
        for processes in (1, 2):
            result = harness.mpirun(processes, harness.tool("cpreplay"), trace or self.trace, cwd=self.scratch,
                                    env=FAILS_AT_ONCE)
            # mpirun's own words about the exit code follow; on standard output they are not ours.
            self.assert_message(result._replace(out=""), code, *words)

    def event_files(self):
        directory = os.path.join(self.trace, "traces")
        return sorted(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".evt"))

    def test_no_trace_given(self):
        self.assert_message(harness.run(harness.tool("cpreplay"), cwd=self.scratch), USAGE)

    def test_missing_trace(self):
        self.replay_badly(BAD_TRACE, "no_such_trace", trace=os.path.join(self.scratch, "no_such_trace"))

    def test_directory_that_is_no_trace(self):
        os.mkdir(self.trace)
        self.replay_badly(BAD_TRACE, self.trace)

    def test_file_that_is_no_trace(self):
        path = os.path.join(self.scratch, "traces.otf2")
        with open(path, "wb") as file:
            file.write(os.urandom(4096))
        self.replay_badly(BAD_TRACE, path, trace=path)

    def test_event_file_missing(self):
        self.record_halo()
        lost = self.event_files()[-1]
        os.remove(lost)
        self.replay_badly(BAD_TRACE, os.path.basename(lost))

    def test_event_file_cut_short(self):
        self.record_halo()
        cut = self.event_files()[0]
        whole = os.path.getsize(cut)
        for size in (whole // 2, whole - 1, 100, 1, 0):
            with self.subTest(size=size):
                os.truncate(cut, size)
                self.replay_badly(BAD_TRACE, os.path.basename(cut))

    def test_event_file_of_random_bytes(self):
        self.record_halo()
        spoilt = self.event_files()[1]
        with open(spoilt, "r+b") as file:
            file.seek(200)
            file.write(os.urandom(400))
        for processes in (1, 2):
            result = harness.mpirun(processes, harness.tool("cpreplay"), self.trace, cwd=self.scratch,
                                    env=FAILS_AT_ONCE)
            self.assertIn(result.code, (DONE, BAD_TRACE), harness.describe(result))

    def test_compressed_trace(self):
        """An anchor that says zlib, which Debian's OTF2 is built without."""
        self.record_halo()
        anchor = os.path.join(self.trace, "traces.otf2")
        with open(anchor, "rb") as file:
            content = bytearray(file.read())
        # Bytes 28 and 29 of an anchor file: substrate (1: POSIX) and compression (1: none, 2: zlib).
        self.assertEqual(content[28:30], b"\x01\x01")
        content[29] = 2
        with open(anchor, "wb") as file:
            file.write(content)
        self.replay_badly(BAD_TRACE, "traces.otf2")

    def test_more_processes_than_locations(self):
        self.record_halo()
        self.replay_on(2, 5)

    def test_result_not_writable(self):
        self.record_halo()
        with open(os.path.join(self.trace, "critpath"), "w", encoding="utf-8"):
            pass
        self.replay_badly(FAILED, "critpath")


class Report(harness.Case):
    def report(self, *arguments):
        return harness.run(harness.tool("cpreport"), *arguments, cwd=self.scratch)

    def record_and_replay(self):
        self.record(2, harness.workload("halo"), "30", options=("-q",))
        self.replay(2)

    def test_before_replay(self):
        self.record(2, harness.workload("halo"), "30", options=("-q",))
        self.assert_message(self.report("hotspots", self.trace), BAD_TRACE, self.trace, "cpreplay")

    def test_no_subcommand(self):
        result = self.report()
        self.assertEqual(result.code, USAGE, harness.describe(result))

    def test_unknown_subcommand(self):
        self.assert_message(self.report("hotsprings"), USAGE, "hotsprings")

    def test_unknown_format(self):
        self.record_and_replay()
        self.assert_message(self.report("hotspots", "--format", "pdf", self.trace), USAGE, "pdf")

    def test_missing_trace(self):
        self.assert_message(self.report("hotspots", "no_such_trace"), BAD_TRACE, "no_such_trace")

    def test_no_trace_here(self):
        self.assert_message(self.report("hotspots"), USAGE, "TRACE")

    def test_newest_trace_is_the_default(self):
        self.record_and_replay()
        result = self.report("hotspots")
        self.assertEqual(result.code, DONE, harness.describe(result))

    def test_damaged_result(self):
        self.record_and_replay()
        database = os.path.join(self.trace, "critpath", "critpath.sqlite")
        with open(database, "rb") as file:
            whole = file.read()
        for name, content in (("cut", whole[: len(whole) // 2]), ("empty", b""), ("other", b"x" * len(whole))):
            with self.subTest(damage=name):
                with open(database, "wb") as file:
                    file.write(content)
                self.assert_message(self.report("hotspots", self.trace), BAD_TRACE, "critpath.sqlite", "cpreplay")

    def test_result_of_another_version(self):
        self.record_and_replay()
        path = os.path.join(self.trace, "critpath", "critpath.sqlite")
        with sqlite3.connect(path) as database:
            database.execute("UPDATE facts SET value = 999 WHERE key = 'schema_version'")
        self.assert_message(self.report("hotspots", self.trace), BAD_TRACE, "999")

    def test_damaged_segments(self):
        self.record_and_replay()
        segments = os.path.join(self.trace, "critpath", "segments.bin")
        with open(segments, "rb") as file:
            whole = file.read()
        os.truncate(segments, os.path.getsize(segments) - 20)
        self.assert_message(self.report("path", self.trace), BAD_TRACE, "segments.bin", "cpreplay")
        with open(segments, "wb") as file:
            file.write(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])  # the confidence of the last segment
        self.assert_message(self.report("path", self.trace), BAD_TRACE, "segments.bin", "checksum", "cpreplay")
        os.remove(segments)
        self.assert_message(self.report("path", self.trace), BAD_TRACE, self.trace, "cpreplay")

    def test_reader_that_goes_away(self):
        """`cpreport path | head`: ends quietly."""
        self.record_and_replay()
        command = f"{harness.tool('cpreport')} path --format csv --all {self.trace} | head -n 1"
        result = harness.run("bash", "-c", command)
        self.assertEqual(result.err, "", harness.describe(result))


if __name__ == "__main__":
    harness.main()
