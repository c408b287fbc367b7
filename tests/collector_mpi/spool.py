# SPDX-License-Identifier: BSD-3-Clause
"""Reads spool files independently of the C++ code, from the description in formats/spool/record.hpp."""

import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "formats" / "functions"))
from table import read_table  # noqa: E402

FUNCTIONS = [f.name for f in read_table(ROOT / "formats" / "functions" / "functions.table")]
FLAGS = ["success", "any_source", "any_tag", "cancelled", "receive", "null_peer", "failed", "has_completion"]
EMPTY, CALL, COMPLETIONS, COMMUNICATOR, MEMBERS, TOOL = range(6)
OFF, CALLPATH, COUNTERS, OBJECT, CLOCK, SKIPPED, GRID, GRAPH, STARTED = range(6, 15)
OPERATIONS = ["", "collective", "rma", "file", "newcomm"]
HEADER_SIZE = 4096
SAMPLES = 80 + 256 + 64 + 1024  # where SampleFormat begins in the header
AFTER_SAMPLES = SAMPLES + 32 + 6 * 8 + 2 * 4 + 8 + 2 * 4 + 3 * 8 + 6 * 24
CAN_POLL = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status", "MPI_Win_test", "MPI_Parrived")


@dataclass
class Header:
    magic: int
    version: int
    record_size: int
    rank: int
    size: int
    thread: int
    tid: int
    process_start: int
    thread_start: int
    stage_bytes: int
    records: int
    lost: int
    closed: int
    command: list
    counters: list


@dataclass
class Completion:
    request: int
    bytes: int
    peer: int
    tag: int
    comm: int
    flags: set
    mode: int
    operation: str


@dataclass
class Call:
    name: str
    flags: set
    comm: int
    enter: int
    leave: int
    peer: int
    tag: int
    bytes: int
    extra: int
    request: int
    count: int
    completions: list = field(default_factory=list)
    started: list = field(default_factory=list)  # persistent collectives: calls of the functions that do the same
    members: list = field(default_factory=list)  # world ranks of its group
    callpath: int = 0
    counters: dict = field(default_factory=dict)  # "enter", "leave" -> values

    @property
    def polls(self):
        """Number of polls of a poll run, 0 if it is none."""
        return 0 if {"success", "failed"} & self.flags or not self.name.startswith(CAN_POLL) else self.count


@dataclass
class Communicator:
    comm: int
    gid: tuple
    parent_gid: tuple
    size: int
    rank: int
    is_inter: bool
    members: list
    grid: list = field(default_factory=list)  # (size, is periodic) a dimension
    in_neighbours: list = None  # of a graph


@dataclass
class Object:
    """A window or a file."""

    type: str
    id: int
    comm: int
    function: str
    gid: tuple
    name: str


@dataclass
class Spool:
    header: Header
    calls: list
    communicators: list
    tool: list  # (enter, leave)
    objects: list = field(default_factory=list)
    off: list = field(default_factory=list)  # (enter, leave)
    skipped: list = field(default_factory=list)  # (what, comm, peer, tag, count)
    skipped_since: list = field(default_factory=list)  # of each
    paths: dict = field(default_factory=dict)  # id -> return addresses, innermost first

    def call(self, name):
        """The one call of this function."""
        (found,) = [c for c in self.calls if c.name == name]
        return found


def flag_set(bits):
    return {name for i, name in enumerate(FLAGS) if bits >> i & 1}


def read_header(data):
    magic, version, record_size, _hash = struct.unpack_from("<QIIQ", data, 0)
    rank, size, thread, _clock, _pid, tid, start, thread_start, _real = struct.unpack_from("<iiiiqqQQQ", data, 24)
    command = data[80 + 256 + 64 : 80 + 256 + 64 + 1024].split(b"\0\0")[0].split(b"\0")
    (counter_count,) = struct.unpack_from("<I", data, AFTER_SAMPLES + 8)
    first_name = AFTER_SAMPLES + 16
    names = [data[at : at + 48].split(b"\0")[0].decode() for at in range(first_name, first_name + 48 * counter_count, 48)]
    after_names = first_name + 48 * 7
    stage, records, lost, _end, closed = struct.unpack_from("<QQQQI", data, after_names)
    return Header(
        magic, version, record_size, rank, size, thread, tid, start, thread_start, stage, records, lost, closed, command, names
    )


def read_completions(data):
    slots = data[1]
    flags, modes, operations = data[2:4], data[4:6], data[6:8]
    request = struct.unpack_from("<2Q", data, 8)
    size = struct.unpack_from("<2Q", data, 24)
    peer, tag, comm = (struct.unpack_from("<2i", data, at) for at in (40, 48, 56))
    return [
        Completion(request[i], size[i], peer[i], tag[i], comm[i], flag_set(flags[i]), modes[i], OPERATIONS[operations[i]])
        for i in range(slots)
    ]


def read_object(data):
    kind, object_id, comm, function, *gid = struct.unpack_from("<BxxiiI2Q", data, 1)
    name = data[32:64].split(b"\0")[0].decode()
    return Object({1: "window", 2: "file"}[kind], object_id, comm, FUNCTIONS[function], tuple(gid), name)


def read_skipped(data):
    slots, what = data[1], [("send", "receive", "collective")[w] for w in data[2:5]]
    words = struct.unpack_from("<12i", data, 16)
    return [(what[i], *(words[i + 3 * field] for field in range(4))) for i in range(slots)]


def read_call(data):
    _kind, flags, function, comm, enter, leave, peer, tag, size, extra, request, count, path = struct.unpack_from(
        "<BBHiQQiiQQQII", data
    )
    call = Call(FUNCTIONS[function], flag_set(flags), comm, enter, leave, peer, tag, size, extra, request, count)
    call.callpath = path
    return call


def read_frames(data, at):
    """The packed records from `at` on (formats/spool/packed.hpp)."""
    while at < len(data):
        _magic, _first, count, size, _padding = struct.unpack_from("<QQIIQ", data, at)
        at += 32
        end, last, time = at + size, {}, 0
        for _ in range(count):
            slot, mask = data[at : at + 2]
            at += 2
            before = last.get(slot, [0] * 8)
            words = []
            for i in range(8):
                folded = shift = 0
                while mask >> i & 1:
                    folded |= (data[at] & 0x7F) << shift
                    shift += 7
                    at += 1
                    if data[at - 1] < 0x80:
                        break
                is_interval = i > 0 and words[0] & 0xFF in (CALL, TOOL, OFF)
                expected = before[i]
                if is_interval and i == 1:
                    expected = time
                elif is_interval and i == 2:
                    expected = words[1] + before[2] - before[1]
                words.append((expected + (folded >> 1 ^ -(folded & 1))) % 2**64)
            last[slot] = words
            time = words[2] if words[0] & 0xFF in (CALL, TOOL, OFF) else time
            yield struct.pack("<8Q", *words)
        assert at == end


def read_records(data):
    stage_end = min(HEADER_SIZE + read_header(data).stage_bytes, len(data))
    yield from read_frames(data, stage_end)
    for at in range(HEADER_SIZE, stage_end, 64):
        yield data[at : at + 64]


def read_spool(path):
    data = Path(path).read_bytes()
    spool = Spool(read_header(data), [], [], [])
    counters = {}  # of the call that comes next
    for record in read_records(data):
        kind = record[0]
        if kind == EMPTY:
            break
        if kind == CALL:
            spool.calls.append(read_call(record))
            spool.calls[-1].counters, counters = counters, {}
            has_members = spool.calls[-1]
        elif kind == COMPLETIONS:
            spool.calls[-1].completions += read_completions(record)
        elif kind == STARTED:
            spool.calls[-1].started.append(read_call(record))
        elif kind == TOOL:
            spool.tool.append(struct.unpack_from("<QQ", record, 8))
        elif kind == COMMUNICATOR:
            is_range, is_inter = record[1], record[2]
            comm, *words, size, rank, first, stride = struct.unpack_from("<i4Q4i", record, 4)
            members = [first + i * stride for i in range(size)] if is_range else []
            spool.communicators.append(
                Communicator(comm, tuple(words[:2]), tuple(words[2:]), size, rank, bool(is_inter), members)
            )
            has_members = spool.communicators[-1]
        elif kind == GRID:
            number, periodic, comm, *sizes = struct.unpack_from("<BHi14i", record, 1)
            assert spool.communicators[-1].comm == comm
            spool.communicators[-1].grid = [(size, bool(periodic >> i & 1)) for i, size in enumerate(sizes[:number])]
        elif kind == GRAPH:
            comm, *ranks = struct.unpack_from("<15i", record, 4)
            known = spool.communicators[-1]
            assert known.comm == comm
            known.in_neighbours = (known.in_neighbours or []) + ranks[: record[1]]
        elif kind == OFF:
            spool.off.append(struct.unpack_from("<QQ", record, 8))
        elif kind == CALLPATH:
            (path,) = struct.unpack_from("<I", record, 4)
            spool.paths.setdefault(path, []).extend(struct.unpack_from(f"<{record[1]}Q", record, 8))
        elif kind == COUNTERS:
            counters["leave" if record[2] else "enter"] = struct.unpack_from(f"<{record[1]}q", record, 8)
        elif kind == OBJECT:
            spool.objects.append(read_object(record))
        elif kind == MEMBERS:
            has_members.members += struct.unpack_from(f"<{record[1]}i", record, 4)
        elif kind == SKIPPED:
            skipped = read_skipped(record)
            spool.skipped += skipped
            spool.skipped_since += struct.unpack_from("<Q", record, 8) * len(skipped)
        elif kind != CLOCK:
            raise ValueError(f"{path}: unknown record kind {kind}")
    return spool


def describe(item, **skip):
    """What is not at its default, as `key=value` and flag names."""
    keys = [("comm", -1), ("peer", -1), ("tag", -1), ("bytes", 0), ("extra", 0), ("request", 0)]
    if getattr(item, "polls", 0):
        keys.remove(("extra", 0))  # the time between them, which no test can know
    words = [f"{k}={getattr(item, k)}" for k, default in keys if getattr(item, k, default) != default]
    words += [getattr(item, "operation", "")] if getattr(item, "operation", "") else []
    return words + sorted(item.flags)


def lines(spool):
    """One line a call, for comparison with what a test expects. Poll runs that follow each other are one line, without
    the number of polls, which no test can know."""
    result = []
    for call in spool.calls:
        if call.name in ("MPI_Init", "MPI_Init_thread", "MPI_Finalize"):
            continue
        line = " ".join([call.name, *(["polls"] if call.polls else []), *describe(call)])
        if call.polls and result and result[-1] == line:
            continue
        result.append(line)
        result += ["    members " + " ".join(map(str, call.members))] if call.members else []
        result += ["    " + " ".join(describe(c) + ([f"mode={c.mode}"] if c.mode else [])) for c in call.completions]
        result += [f"    started {' '.join([s.name, *describe(s)])}" for s in call.started]
    return result


if __name__ == "__main__":
    for file in sys.argv[1:]:
        spool = read_spool(file)
        print(file, spool.header)
        for item in spool.communicators:
            print(item)
        print("\n".join(lines(spool)))
