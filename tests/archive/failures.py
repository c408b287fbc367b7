# SPDX-License-Identifier: BSD-3-Clause
"""When one rank cannot go on, all ranks learn why, nothing of the archive stays and the spool does."""

from pathlib import Path

from harness import expect, files, options, run, scratch


def check(args, fault, wanted):
    with scratch() as trace:
        result = run(args, trace, fault)
        expect((result["rc"], result["same"]), (1, True), f"{fault}: result, the same on all ranks")
        error = result["error"]
        expect(all(part in error for part in wanted), True, f"{fault}: message with {wanted}: {error}")
        expect("\n" in error, False, f"{fault}: one line")
        left = [f for f in files(trace) if not f.startswith("spool/")]
        expect(left, [], f"{fault}: files of a half-written archive")
        expect(Path(trace, "traces").exists(), fault == "exists", f"{fault}: directory of the event files")
        expect(Path(trace, "spool/0.0.calls").stat().st_size > 4096, True, f"{fault}: spool is kept")


def main():
    args = options()
    check(args, "no-spool", ["spool/2.0.calls: missing", "; "])
    check(args, "file-limit", ["traces/1.evt: File too large", "; "])
    check(args, "exists", ["traces: exists already", "; "])


main()
