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
HEADER_SIZE = 4096
CAN_POLL = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status")


@dataclass
class Header:
    magic: int
    version: int
    record_size: int
    rank: int
    size: int
    thread: int
    process_start: int
    thread_start: int
    records: int
    lost: int
    closed: int
    command: list


@dataclass
class Completion:
    request: int
    bytes: int
    peer: int
    tag: int
    comm: int
    flags: set
    mode: int


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


@dataclass
class Spool:
    header: Header
    calls: list
    communicators: list
    tool: list  # (enter, leave)

    def call(self, name):
        """The one call of this function."""
        (found,) = [c for c in self.calls if c.name == name]
        return found


def flag_set(bits):
    return {name for i, name in enumerate(FLAGS) if bits >> i & 1}


def read_header(data):
    magic, version, record_size, _hash = struct.unpack_from("<QIIQ", data, 0)
    rank, size, thread, _clock, _pid, _tid, start, thread_start, _real = struct.unpack_from("<iiiiqqQQQ", data, 24)
    command = data[80 + 256 + 64 : 80 + 256 + 64 + 1024].split(b"\0\0")[0].split(b"\0")
    on_close = 80 + 256 + 64 + 1024 + 64
    records, lost, _end, closed = struct.unpack_from("<QQQI", data, on_close)
    return Header(magic, version, record_size, rank, size, thread, start, thread_start, records, lost, closed, command)


def read_completions(data):
    slots = data[1]
    flags, modes = data[2:4], data[4:6]
    request = struct.unpack_from("<2Q", data, 8)
    size = struct.unpack_from("<2Q", data, 24)
    peer, tag, comm = (struct.unpack_from("<2i", data, at) for at in (40, 48, 56))
    return [Completion(request[i], size[i], peer[i], tag[i], comm[i], flag_set(flags[i]), modes[i]) for i in range(slots)]


def read_call(data):
    _kind, flags, function, comm, enter, leave, peer, tag, size, extra, request, count = struct.unpack_from(
        "<BBHiQQiiQQQI", data
    )
    return Call(FUNCTIONS[function], flag_set(flags), comm, enter, leave, peer, tag, size, extra, request, count)


def read_spool(path):
    data = Path(path).read_bytes()
    spool = Spool(read_header(data), [], [], [])
    for at in range(HEADER_SIZE, len(data), 64):
        record = data[at : at + 64]
        kind = record[0]
        if kind == EMPTY:
            break
        if kind == CALL:
            spool.calls.append(read_call(record))
        elif kind == COMPLETIONS:
            spool.calls[-1].completions += read_completions(record)
        elif kind == TOOL:
            spool.tool.append(struct.unpack_from("<QQ", record, 8))
        elif kind == COMMUNICATOR:
            is_range, is_inter = record[1], record[2]
            comm, *words, size, rank, first, stride = struct.unpack_from("<i4Q4i", record, 4)
            members = [first + i * stride for i in range(size)] if is_range else []
            spool.communicators.append(
                Communicator(comm, tuple(words[:2]), tuple(words[2:]), size, rank, bool(is_inter), members)
            )
        elif kind == MEMBERS:
            spool.communicators[-1].members += struct.unpack_from(f"<{record[1]}i", record, 4)
        else:
            raise ValueError(f"{path}: unknown record kind {kind} at {at}")
    return spool


def describe(item, **skip):
    """What is not at its default, as `key=value` and flag names."""
    keys = [("comm", -1), ("peer", -1), ("tag", -1), ("bytes", 0), ("extra", 0), ("request", 0)]
    words = [f"{k}={getattr(item, k)}" for k, default in keys if getattr(item, k, default) != default]
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
        result += ["    " + " ".join(describe(c) + ([f"mode={c.mode}"] if c.mode else [])) for c in call.completions]
    return result


if __name__ == "__main__":
    for file in sys.argv[1:]:
        spool = read_spool(file)
        print(file, spool.header)
        for item in spool.communicators:
            print(item)
        print("\n".join(lines(spool)))
