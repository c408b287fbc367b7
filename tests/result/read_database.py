# SPDX-FileCopyrightText: the critpath authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a result with Python's sqlite3 alone, as FORMAT.md describes it: read_database.py MAKE_SAMPLES"""

import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

COLUMNS = {
    "facts": ["key", "value"],
    "properties": ["key", "value"],
    "process": ["id", "name", "node", "lifetime_ns", "mpi_ns", "path_ns", "sampled_ns", "calls", "samples"],
    "clock": ["id", "node", "processes", "path_ns", "decided_ns", "doubted_ns", "last_arrivals", "correction_ns",
              "uncertainty_ns", "is_known"],
    "location": ["id", "name", "process", "computed_ns"],
    "row": ["id", "kind", "name", "module", "file", "line"],
    "module": ["id", "path", "build_id", "has_lines", "lacks_split_units"],
    "call_path": ["id", "row", "parent", "site"],
    "path_time": ["call_path", "process", "ns", "samples", "found_ns"],
    "event": ["id", "name"],
    "path_events": ["call_path", "process", "event", "count", "ns", "known_ns", "scaled_ns", "sample_count"],
    "total_time": ["call_path", "ns", "samples", "other_threads_ns", "in_calls_ns"],
    "address_time": ["call_path", "address", "ns", "samples"],
    "total_address_time": ["call_path", "address", "ns", "samples"],
    "stretch": ["id", "call_before", "call_after", "before_site", "after_site", "path_ns", "gaps", "looked_at", "looked_at_ns", "own_preempted_ns",
                "own_blocked_ns", "others_at_work_ns", "most_times", "most_times_rank", "second_times", "second_times_rank", "all_times", "ranks_there", "compared_by", "compared", "telling", "slowest",
                "much_longer", "counted", "counted_instructions", "counted_cycles", "own_instructions", "own_cycles", "sampled",
                "compared_ns", "peers_ns", "instructions_ns", "cycles_ns", "frequency_ns", "instruction_time_ns", "all_cycles_ns",
                "processor_ns", "preempted_ns", "blocked_ns", "instructions_error_ns", "cycles_error_ns", "frequency_error_ns",
                "instruction_time_error_ns", "all_cycles_error_ns", "work_spread_ns", "preempted_spread_ns", "blocked_spread_ns", "page_faults", "peers_page_faults", "migrations", "peers_migrations", "cache_misses_ns", "cache_misses", "peers_cache_misses", "cache_misses_error", "branch_misses_ns", "branch_misses", "peers_branch_misses", "branch_misses_error", "peers_spinning_ns", "peers_threads_preempted_ns", "code_gaps", "fewest_samples",
                "fewest_samples_rank", "ranks", "nodes", "occurrences", "not_preempted",
                "rank_variance", "noise_variance", "carrier_variance", "node_variance", "node_rest_variance", "slow_ranks", "slowest_rank", "fastest_rank", "fastest_time", "costliest_ns", "costliest_rank", "costliest_begin_ns", "costliest_length_ns"],
    "stretch_time": ["stretch", "process", "ns", "gaps", "longer_ns"],
    "stretch_rank": ["stretch", "process", "looked_at_ns", "own_preempted_ns", "own_blocked_ns", "compared", "compared_ns", "peers_ns",
                     "instructions_ns", "cycles_ns", "frequency_ns", "instruction_time_ns", "all_cycles_ns", "processor_ns", "preempted_ns",
                     "blocked_ns", "instructions_error_ns", "cycles_error_ns", "frequency_error_ns", "instruction_time_error_ns",
                     "all_cycles_error_ns", "work_spread_ns", "preempted_spread_ns", "blocked_spread_ns", "page_faults", "peers_page_faults"],
    "stretch_code": ["stretch", "call_path", "ns", "samples", "spinning_ns", "blocked_ns", "peers_ns"],
    "stretch_address": ["stretch", "row", "address", "ns", "samples", "peers_ns"],
    "source_file": ["id", "path"],
    "source_function": ["id", "name", "file", "line"],
    "source_frame": ["module", "address", "depth", "function", "file", "line"],
    "kind_time": ["kind", "function", "process", "ns", "segments"],
}


def expect(what, actual, expected):
    if actual != expected:
        sys.exit(f"{what}: {actual!r}, expected {expected!r}")


with tempfile.TemporaryDirectory() as directory:
    subprocess.run([sys.argv[1], directory], check=True)
    path = pathlib.Path(directory) / "sampled" / "critpath" / "critpath.sqlite"
    expect("files", sorted(p.name for p in path.parent.iterdir()), ["attribution.bin", "computed.bin", "counts.bin", "critpath.sqlite", "segments.bin", "totals.bin"])
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    expect("integrity", database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
    expect("foreign keys", database.execute("PRAGMA foreign_key_check").fetchall(), [])
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    expect("tables", sorted(tables), sorted(COLUMNS))
    for table, columns in COLUMNS.items():
        expect(table, [row[1] for row in database.execute(f"PRAGMA table_info({table})")], columns)

    facts = dict(database.execute("SELECT key, value FROM facts"))
    specification = (pathlib.Path(__file__).parents[2] / "formats" / "FORMAT.md").read_text(encoding="utf-8")
    expect("schema_version", facts["schema_version"], int(re.search(r"^\| `schema_version` \| (\d+) ", specification, re.M)[1]))
    expect("rows sum to the makespan", database.execute("SELECT sum(ns) FROM path_time").fetchone()[0],
           facts["makespan_ns"])
    expect("kinds sum to the makespan", database.execute("SELECT sum(ns) FROM kind_time").fetchone()[0],
           facts["makespan_ns"])
    expect("processes sum to the makespan", database.execute("SELECT sum(path_ns) FROM process").fetchone()[0],
           facts["makespan_ns"])
    expect("parts sum to the excess", database.execute(
        "SELECT compared_ns - peers_ns - instructions_ns - cycles_ns - frequency_ns - instruction_time_ns - all_cycles_ns - "
        "processor_ns - preempted_ns - blocked_ns FROM stretch").fetchall(), [(0,), (0,)])
    expect("processes sum to the stretch", database.execute(
        "SELECT path_ns - (SELECT sum(ns) FROM stretch_time WHERE stretch = id) FROM stretch").fetchall(), [(0,), (0,)])
    expect("so does what they take longer", database.execute(
        "SELECT compared_ns - peers_ns - (SELECT sum(longer_ns) FROM stretch_time WHERE stretch = id) FROM stretch"
    ).fetchall(), [(0,), (0,)])
    expect("a rank's part is what it takes longer", database.execute(
        "SELECT compared_ns - peers_ns - longer_ns FROM stretch_rank JOIN stretch_time USING(stretch, process)"
    ).fetchall(), [(0,), (0,)])
    expect("code is not more than the stretch", database.execute(
        "SELECT count(*) FROM stretch WHERE path_ns < (SELECT sum(ns) FROM stretch_code WHERE stretch = id)").fetchone(), (0,))
    hottest = database.execute(
        "SELECT name, sum(ns) FROM path_time JOIN call_path ON call_path.id = call_path JOIN row ON row.id = row "
        "GROUP BY row ORDER BY 2 DESC LIMIT 1").fetchone()
    expect("hottest", hottest, ("solver::Stencil<double, 3>::apply(solver::Grid const&)", 6_000_000_000))
