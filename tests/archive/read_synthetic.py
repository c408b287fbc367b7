# SPDX-License-Identifier: BSD-3-Clause
"""The archive of the synthetic run, read by libotf2's own tools, is the run that synthetic.cpp states."""

import subprocess

import otf2
from otf2.definitions import InterComm
from otf2.enums import (
    CollectiveOp,
    CommFlag,
    GroupType,
    LockType,
    MeasurementMode,
    MetricMode,
    Paradigm,
    RegionRole,
    RmaAtomicType,
    RmaWinFlag,
)

from harness import expect, files, options, run, scratch

# The module's InterComm inherits the fields of Comm in front of its own and so misreads every record (3.0.2).
InterComm._fields = tuple(InterComm._fields[i] for i in (0, 4, 5, 6, 7))

RANKS = 4
NONE = 2**32 - 1  # a collective without root
SELF_ROOT = NONE - 1
THIS_GROUP = NONE - 2


def call(name, enter, leave, start=(), end=(), leave_attributes=()):
    """Enter, what belongs to the start, what belongs to the end, leave."""
    return [
        (enter, "Enter", name),
        *((enter, *e) for e in start),
        *((leave, *e) for e in end),
        (leave, "Leave", name, *leave_attributes),
    ]


def collective(name, enter, leave, op, comm, root=NONE, sent=0, received=0, end=(), **more):
    close = ("MpiCollectiveEnd", op, comm, root, sent, received)
    return call(name, enter, leave, [("MpiCollectiveBegin",)], [*end, close], **more)


def completed(op, comm, root, sent, received, request):
    return ("NonBlockingCollectiveComplete", op, comm, root, sent, received, request)


def window_collective(name, enter, leave, op, window, level, start=(), assertions=None):
    close = ("RmaCollectiveEnd", op, level, window, assertions)
    return call(name, enter, leave, [("RmaCollectiveBegin",)], [*start, close])


def sample(time, path, period=None, faults=None):
    """Of a chain that ends somewhere."""
    return (time, "CallingContextSample", "[unknown callers]/" + path, "cpu-clock", period, faults)


def off(begin, end, name, *processor):
    return [(begin, "Enter", name), (end, "Leave", name, *processor)]


def expected(rank):
    """The events of the main thread of `rank`."""
    after, before = (rank + 1) % RANKS, (rank - 1) % RANKS
    world, inter = "MPI_COMM_WORLD", "inter"
    split = "odd" if rank % 2 else "alone"
    caller_hot = "synthetic_caller/synthetic_hot"
    events = [(500 + rank, "ProgramBegin", "./app", ["-n", "5"])]
    # The collector's own time within MPI_Init.
    init = collective("MPI_Init", 1000, 1100, CollectiveOp.CREATE_HANDLE, world)
    events += init[:2]
    events += [(1020, "MeasurementOnOff", MeasurementMode.OFF), (1030, "MeasurementOnOff", MeasurementMode.ON)]
    events += init[2:]
    events += [sample(1150, "synthetic_hot")]
    if rank == 0:
        events += call("MPI_Send", 1200, 1210, [("MpiSend", 1, world, 7, 64)])
        events += call("MPI_Send", 1220, 1225)  # MPI_PROC_NULL
    if rank == 1:
        events += call("MPI_Recv", 1200, 1250, [], [("MpiRecv", 0, world, 7, 64)])
    if rank == 3:  # what its other thread knows of the time before it began
        events += [(1204, "MeasurementOnOff", *skipped(7, 75)), (1204, "MeasurementOnOff", MeasurementMode.ON)]
        events += [sample(1205, "synthetic_caller/synthetic_only_rank_3")]
    send_receive = call(
        "MPI_Sendrecv",
        1300,
        1320,
        [("MpiSend", after, world, 8, 10 + rank)],
        [("MpiRecv", before, world, 8, 10 + before)],
    )
    events += send_receive[:2] + [sample(1305, caller_hot, 2500)]
    events += off(1310, 1316, "[preempted]", 1) if rank == 2 else []  # two that are close to each other
    events += send_receive[2:]
    if rank == 2:
        events += off(1321, 1322, "[preempted]") + [sample(1323, "synthetic_hot", faults=3)]
        events += off(1324, 1325, "[preempted]")
        # Nobody knows how long, but the thread is at work when it calls MPI_Isend.
        events += off(1326, 1350, "[blocked]")
        events += [(1350, "MeasurementOnOff", *skipped(6, 74)), (1350, "MeasurementOnOff", MeasurementMode.ON)]
        events += off(1350, 1400, "[blocked]")
    isend = call("MPI_Isend", 1400, 1405, [("MpiIsend", after, world, 1, 100, 1, None)])
    events += isend[:2] + [sample(1405, caller_hot, faults=4 if rank == 2 else None)] + isend[2:]
    events += call("MPI_Irecv", 1406, 1408, [("MpiIrecvRequest", 2, None)])
    events += call(
        "MPI_Waitall", 1410, 1450, [], [("MpiIrecv", before, world, 1, 100, 2), ("MpiIsendComplete", 1)]
    )
    events += call("MPI_Start", 1460, 1462, [("MpiIsend", after, world, 3, 30, 3, 3)])
    events += call(
        "MPI_Startall", 1464, 1466, [("MpiIsend", after, world, 3, 40, 4, None), ("MpiIrecvRequest", 5, None)]
    )
    events += call("MPI_Test", 1468, 1469, leave_attributes=(1,))
    events += call(
        "MPI_Waitall",
        1470,
        1480,
        [],
        [("MpiIsendComplete", 3), ("MpiIsendComplete", 4), ("MpiIrecv", before, world, 3, 30, 5)],
    )
    events += call("MPI_Irecv", 1481, 1482, [("MpiIrecvRequest", 6, None)])
    events += call("MPI_Cancel", 1483, 1484)
    events += call("MPI_Wait", 1485, 1486, [], [("MpiRequestCancelled", 6)])
    starts = [("NonBlockingCollectiveRequest", 9, CollectiveOp.GATHER.value)]
    starts += [("NonBlockingCollectiveRequest", 10, CollectiveOp.ALLTOALLW.value + 128)]
    events += call("MPI_Startall", 1487, 1488, [("MpiIsend", after, world, 3, 40, 8, None), *starts])
    both = [("MpiIsend", after, world, 3, 40, 11, None), ("MpiIrecvRequest", 12, None)]
    events += call("MPI_Isendrecv", 1489, 1490, both)
    ended = [
        ("MpiIsendComplete", 8),
        completed(CollectiveOp.GATHER, world, 2, 10, 20, 9),
        completed(CollectiveOp.ALLTOALLW, world, NONE, 6, 7, 10),
        ("MpiIsendComplete", 11),
        ("MpiIrecv", before, world, 3, 30, 12),
        ("MpiIsendComplete", 13),
    ]
    events += call("MPI_Pready_range", 1490, 1491, [("MpiIsend", after, world, 2**32 - 5, 40, 13, 3)])
    events += call("MPI_Waitall", 1491, 1492, [], ended)
    if rank == 2:
        events += call("MPI_Mprobe", 1500, 1510, leave_attributes=(3, 5, world, 1))
        events += call("MPI_Mrecv", 1511, 1515, [], [("MpiRecv", 3, world, 5, 16, 1)])
        events += call("MPI_Improbe", 1516, 1517)
        events += call("MPI_Improbe", 1518, 1519, leave_attributes=(3, 6, world, 2))
        events += call("MPI_Imrecv", 1520, 1521, [("MpiIrecvRequest", 7, 2)])
        events += call("MPI_Wait", 1522, 1523, [], [("MpiIrecv", 3, world, 6, 24, 7)])
        events += call("MPI_Probe", 1524, 1525, leave_attributes=(3, 9, world, None))
    sent, received = (80, 0) if rank == 2 else (0, 80)
    caller = "synthetic_caller/" * 7 + "synthetic_hot/" if rank == 0 else ""
    events += collective(f"{caller}MPI_Bcast", 1600, 1620, CollectiveOp.BCAST, world, 2, sent, received)
    events += collective("MPI_Neighbor_alltoallv", 1630, 1640, CollectiveOp.ALLTOALLV, world, NONE, 8, 8)
    barrier = collective(f"{caller}MPI_Barrier", 1650, 1660, CollectiveOp.BARRIER, world)
    if rank == 1:
        barrier.insert(0, (1650, "Metric", [10, -20]))
        barrier.insert(len(barrier) - 1, (1660, "Metric", [11, 10**12]))
    events += barrier
    events += collective(
        "MPI_Comm_split", 1700, 1710, CollectiveOp.CREATE_HANDLE, world, end=[("CommCreate", split)]
    )
    events += call("MPI_Intercomm_create", 1720, 1730, [], [("CommCreate", inter)])
    events += collective(
        "MPI_Comm_accept" if rank < 2 else "MPI_Comm_connect",
        1731,
        1735,
        CollectiveOp.CREATE_HANDLE,
        world,
        1,
        end=[("CommCreate", inter)],
    )
    if rank == 0:
        events += call("MPI_Send", 1740, 1745, [("MpiSend", 1, inter, 2, 12)])
    root = {0: SELF_ROOT, 1: THIS_GROUP}.get(rank, 0)
    events += collective("MPI_Bcast", 1750, 1760, CollectiveOp.BCAST, inter, root)
    events += collective(
        "MPI_Comm_free", 1770, 1780, CollectiveOp.DESTROY_HANDLE, split, end=[("CommDestroy", split)]
    )
    events += call("MPI_Recv", 1785, 1786)  # failed
    events += [(1790, "MeasurementOnOff", MeasurementMode.OFF)]
    if rank == 2:
        events += [(1792, "MeasurementOnOff", MeasurementMode.ON), (1792, "MeasurementOnOff", *skipped(5, 73))]
    events += [(1795, "MeasurementOnOff", MeasurementMode.ON)]
    events += non_blocking(rank)
    events += fences(after, before)
    events += epochs(rank, after, before)
    events += alone()
    events += input_output()
    events += switched_off(rank)
    events += call("MPI_Win_fence", 1890, 1891) if rank == 1 else []
    events += call("MPI_Finalize", 1900, 1900)
    events += [(1900, "ProgramEnd")]
    return events


def request(name, enter, leave, number):
    return call(name, enter, leave, [("NonBlockingCollectiveRequest", number, None)])


def non_blocking(rank):
    world = "MPI_COMM_WORLD"
    sent, received = (40, 0) if rank == 1 else (0, 40)
    events = request("MPI_Ibcast", 1800, 1801, 20)
    events += request("MPI_Ibarrier", 1802, 1803, 21)
    idup = request("MPI_Comm_idup", 1804, 1805, 22)
    in_neighbours = [] if rank == 0 else [0, 1, 3]
    graph = [(1805, "CommCreate", "dup", len(in_neighbours))]
    graph += [(1805, "ParameterUnsignedInt", "critpath.in_neighbour", neighbour) for neighbour in in_neighbours]
    events += idup[:-1] + graph + idup[-1:]
    done = [
        completed(CollectiveOp.BARRIER, world, NONE, 0, 0, 21),
        completed(CollectiveOp.CREATE_HANDLE, world, NONE, 0, 0, 22),
        completed(CollectiveOp.BCAST, world, 1, sent, received, 20),
    ]
    events += call("MPI_Waitall", 1806, 1808, [], done)
    if rank != 3:  # there by another thread
        events += request("MPI_Ireduce", 1809, 1810, 23)
    events += call("MPI_Wait", 1811, 1812, [], [completed(CollectiveOp.REDUCE, world, 0, 8, 0, 23)])
    return events


# Synchronisation levels (OTF2_RmaSyncLevel).
NO_SYNC, PROCESSES, MEMORY = 0, 1, 2
# Ids of transfers: even with a request, odd without.
PUT, RGET, ACCUMULATE, COMPARE, REPLACE, GET = 1, 48, 3, 5, 7, 9


def fences(after, before):
    create = CollectiveOp.CREATE_HANDLE_AND_ALLOCATE
    fence = CollectiveOp.BARRIER
    events = window_collective("MPI_Win_allocate", 1815, 1816, create, "shared", PROCESSES, [("RmaWinCreate", "shared")])
    events += window_collective("MPI_Win_fence", 1817, 1818, fence, "shared", NO_SYNC, assertions=8 | 4)
    events += call("MPI_Put", 1819, 1820, [("RmaPut", "shared", after, 80, PUT)])
    events += call("MPI_Put", 1820, 1820)  # MPI_PROC_NULL
    events += call("MPI_Rget", 1821, 1822, [("RmaGet", "shared", after, 16, RGET)])
    events += call("MPI_Wait", 1823, 1824, [], [("RmaOpCompleteNonBlocking", "shared", RGET)])
    events += call("MPI_Win_flush_local", 1825, 1826, [], [("RmaOpCompleteBlocking", "shared", PUT)])
    accumulate = ("RmaAtomic", "shared", before, RmaAtomicType.ACCUMULATE, 8, 0, ACCUMULATE)
    events += call("MPI_Accumulate", 1827, 1828, [accumulate])
    events += call("MPI_Win_flush_local", 1828, 1828)  # of the other target, of which nothing is left
    events += call("MPI_Win_flush_local_all", 1828, 1829, [], [("RmaOpCompleteBlocking", "shared", ACCUMULATE)])
    by_target = {after: [PUT, RGET], before: [ACCUMULATE]}
    done = [("RmaOpCompleteRemote", "shared", i) for target in sorted(by_target) for i in by_target[target]]
    events += window_collective("MPI_Win_fence", 1829, 1830, fence, "shared", PROCESSES | MEMORY, done)
    return events


def epochs(rank, after, before):
    def group(level, members, assertions=None):
        return ("RmaGroupSync", level, "shared", members, assertions)

    def remote(*ids):
        return [("RmaOpCompleteRemote", "shared", i) for i in ids]

    everyone, exclusive, shared = NONE, LockType.EXCLUSIVE, LockType.SHARED
    events = call("MPI_Win_post", 1831, 1832, [], [group(NO_SYNC, [before], 1)])
    events += call("MPI_Win_start", 1833, 1834, [], [group(NO_SYNC, [after])])
    compare = ("RmaAtomic", "shared", after, RmaAtomicType.COMPARE_AND_SWAP, 8, 8, COMPARE)
    events += call("MPI_Compare_and_swap", 1835, 1836, [compare])
    replace = ("RmaAtomic", "shared", after, RmaAtomicType.SWAP, 8, 8, REPLACE)
    events += call("MPI_Fetch_and_op", 1836, 1836, [replace])
    events += call("MPI_Win_complete", 1837, 1838, [], [*remote(COMPARE, REPLACE), group(MEMORY, [after])])
    events += call("MPI_Win_test", 1839, 1840)
    events += call("MPI_Win_test", 1841, 1842, [], [group(MEMORY, [before])])
    lock = ("shared", after, exclusive)
    events += call("MPI_Win_lock", 1843, 1844, [("RmaRequestLock", *lock)], [("RmaAcquireLock", *lock)])
    events += call("MPI_Get", 1845, 1846, [("RmaGet", "shared", after, 24, GET)])
    events += call("MPI_Win_flush", 1847, 1848, [], [*remote(GET), ("RmaSync", "shared", after)])
    events += call("MPI_Win_unlock", 1849, 1850, [], [("RmaReleaseLock", "shared", after)])
    lock = ("shared", everyone, shared)
    events += call("MPI_Win_lock_all", 1851, 1852, [("RmaRequestLock", *lock)], [("RmaAcquireLock", *lock)])
    events += call("MPI_Win_sync", 1853, 1854, [], [("RmaSync", "shared", rank)])
    events += call("MPI_Win_unlock_all", 1855, 1856, [], [("RmaReleaseLock", "shared", everyone)])
    free = CollectiveOp.DESTROY_HANDLE_AND_DEALLOCATE
    events += window_collective("MPI_Win_free", 1857, 1858, free, "shared", PROCESSES, [("RmaWinDestroy", "shared")])
    return events


def alone():
    create = CollectiveOp.CREATE_HANDLE
    events = window_collective("MPI_Win_create", 1859, 1860, create, "alone", PROCESSES, [("RmaWinCreate", "alone")])
    events += call("MPI_Win_fence", 1861, 1862)
    return events


def input_output():
    def on_file(name, enter, leave, op, sent=0, received=0, **more):
        return collective(name, enter, leave, op, "MPI_COMM_WORLD", NONE, sent, received, **more)

    def moved(file=None, read=None, written=None):
        return {"leave_attributes": (file, read, written)}

    world = "MPI_COMM_WORLD"
    events = on_file("MPI_File_open", 1863, 1864, CollectiveOp.CREATE_HANDLE, **moved(file="some/data.bin"))
    events += on_file("MPI_File_write_all", 1865, 1866, CollectiveOp.ALLTOALLV, 100, **moved(written=100))
    events += call("MPI_File_iread", 1867, 1868)
    events += request("MPI_File_iwrite_all", 1869, 1870, 26)
    done = [completed(CollectiveOp.ALLTOALLV, world, NONE, 31, 0, 26)]
    events += call("MPI_Waitall", 1871, 1872, [], done, **moved(read=60, written=31))
    events += on_file("MPI_File_write_ordered", 1873, 1874, CollectiveOp.EXSCAN, 9, **moved(written=9))
    events += request("MPI_File_read_all_begin", 1875, 1876, 2**63)
    done = [completed(CollectiveOp.ALLTOALLV, world, NONE, 0, 120, 2**63)]
    events += call("MPI_File_read_all_end", 1877, 1878, [], done, **moved(read=120))
    events += on_file("MPI_File_close", 1879, 1880, CollectiveOp.DESTROY_HANDLE)
    return events


def skipped(count, tag):
    return MeasurementMode.OFF, {"skipped": count, "dest": 1, "tag": tag, "comm": "MPI_COMM_WORLD"}


def switched_off(rank):
    off, on = (MeasurementMode.OFF, "user"), (MeasurementMode.ON,)
    free = CollectiveOp.DESTROY_HANDLE
    events = collective("MPI_Comm_free", 1883, 1884, free, "dup", end=[("CommDestroy", "dup")])
    if rank == 2:
        modes = [(1880, skipped(4, 72)), (1880, on), (1880, off), (1882, on), (1882, skipped(3, 71))]
        events = [(time, "MeasurementOnOff", *mode) for time, mode in modes] + events
        for time, mode in ((1885, on), (1886, off), (1887, on)):
            events.append((time, "MeasurementOnOff", *mode))
    return events


def path_of(context):
    names = []
    while context is not None:
        names.append(context.region.name)
        context = context.parent
    return "/".join(reversed(names))


def sync_level(event):
    """The module does not know the type (3.0.2) and hands out the bytes."""
    return int.from_bytes(event.sync_level, "little")


class Reader:
    def __init__(self, trace):
        self.trace = trace
        self.comm_names = {c: self.comm_name(c) for c in trace.definitions.comms}

    def comm_name(self, comm):
        if comm.name in ("MPI_COMM_WORLD", "MPI_COMM_SELF"):
            return comm.name
        if isinstance(comm, InterComm):
            return "inter"
        if comm.group.group_type == GroupType.COMM_SELF:
            return "alone"
        return "odd" if len(comm.group.members) == 2 else "dup"

    def window_name(self, window):
        return "shared" if window.comm.name == "MPI_COMM_WORLD" else "alone"

    def attribute(self, event, name):
        values = [v for a, v in (event.attributes or {}).items() if a.name == f"critpath.{name}"]
        return values[0] if values else None

    def plain(self, event):
        """An event as expected() states it."""
        kind = type(event).__name__
        head = (event.time, kind)
        comm = self.comm_names.get(getattr(event, "communicator", None))
        if kind in ("CallingContextEnter", "CallingContextLeave"):
            return (event.time, kind[14:], path_of(event.calling_context), *self.leave_attributes(event))
        if kind == "ProgramBegin":
            return (*head, event.program_name, list(event.program_arguments))
        if kind == "MeasurementOnOff":
            reason = self.attribute(event, "reason")
            said = {name: self.attribute(event, name) for name in ("skipped", "dest", "tag", "comm")}
            if said["skipped"] is not None:
                return (*head, event.measurement_mode, {**said, "comm": self.comm_names[said["comm"]]})
            return (*head, event.measurement_mode, *([] if reason is None else [reason]))
        if kind == "MpiSend":
            return (*head, event.receiver, comm, event.msg_tag, event.msg_length)
        if kind == "MpiIsend":
            mode = self.attribute(event, "mode")
            return (*head, event.receiver, comm, event.msg_tag, event.msg_length, event.request_id, mode)
        if kind == "MpiRecv":
            matched = self.attribute(event, "message")
            rest = () if matched is None else (matched,)
            return (*head, event.sender, comm, event.msg_tag, event.msg_length, *rest)
        if kind == "MpiIrecv":
            return (*head, event.sender, comm, event.msg_tag, event.msg_length, event.request_id)
        if kind == "MpiIrecvRequest":
            return (*head, event.request_id, self.attribute(event, "message"))
        if kind in ("MpiIsendComplete", "MpiRequestCancelled"):
            return (*head, event.request_id)
        if kind == "MpiCollectiveEnd":
            return (*head, event.collective_op, comm, int(event.root), event.size_sent, event.size_received)
        if kind == "CommCreate":
            in_degree = self.attribute(event, "in_degree")
            return (*head, comm) if in_degree is None else (*head, comm, in_degree)
        if kind == "CommDestroy":
            return (*head, comm)
        if kind == "ParameterUnsignedInt":
            return (*head, event.parameter.name, event.value)
        if kind == "CallingContextSample":
            generator = event.interrupt_generator.name
            period, faults = (self.attribute(event, name) for name in ("period", "page_faults"))
            return (*head, path_of(event.calling_context), generator, period, faults)
        if kind == "Metric":
            names = [m.name for m in event.metric.members]
            expect(names, ["PAPI_TOT_INS", "PAPI_TOT_CYC"], "names of counters")
            return (*head, list(event.values))
        if kind == "NonBlockingCollectiveRequest":
            return (*head, event.request_id, self.attribute(event, "operation"))
        if kind == "NonBlockingCollectiveComplete":
            volume = (event.size_sent, event.size_received)
            return (*head, event.collective_op, comm, int(event.root), *volume, event.request_id)
        return (*head, *self.window_event(kind, event))

    def window_event(self, kind, event):
        if kind == "RmaCollectiveBegin" or not kind.startswith("Rma"):
            return ()
        window = self.window_name(event.win)
        if kind == "RmaCollectiveEnd":
            return (event.collective_op, sync_level(event), window, self.attribute(event, "assertions"))
        if kind == "RmaGroupSync":
            members = [loc._ref for loc in event.group.members]
            return (sync_level(event), window, members, self.attribute(event, "assertions"))
        if kind in ("RmaRequestLock", "RmaAcquireLock"):
            return (window, event.remote, event.lock_type)
        if kind in ("RmaReleaseLock", "RmaSync"):
            return (window, event.remote)
        if kind in ("RmaPut", "RmaGet"):
            return (window, event.remote, event.bytes, event.matching_id)
        if kind == "RmaAtomic":
            return (window, event.remote, event.type, event.bytes_sent, event.bytes_received, event.matching_id)
        if kind.startswith("RmaOpComplete"):
            return (window, event.matching_id)
        return (window,)

    def leave_attributes(self, event):
        source = self.attribute(event, "source")
        if source is not None:
            comm = self.comm_names[self.attribute(event, "comm")]
            return (source, self.attribute(event, "tag"), comm, self.attribute(event, "message"))
        processor = self.attribute(event, "processor")
        if processor is not None:
            return (processor,)
        between = self.attribute(event, "between_polls")
        if between is not None:
            return (between,)
        file = [self.attribute(event, name) for name in ("file", "bytes_read", "bytes_written")]
        return () if file == [None] * 3 else tuple(file)

    def events(self):
        result = {}
        self.offsets = {}
        for location, event in self.trace.events:
            result.setdefault(location._ref, []).append(self.plain(event))
            offset = self.attribute(event, "offset")
            if offset is not None:
                self.offsets.setdefault(path_of(event.calling_context), set()).add(offset)
        return result


def check_events(reader):
    events = reader.events()
    second, third = 2 + (1 << 32), 3 + (2 << 32)
    expect(sorted(events), sorted([0, 1, 2, 3, second, third]), "locations with events")
    for rank in range(RANKS):
        expect(events[rank], expected(rank), f"events of rank {rank}")
    wanted = [(990, "ThreadBegin"), sample(1001, "synthetic_hot"), (1001, "ThreadEnd")]
    expect(events[second], wanted, "events of thread 1 of rank 2")
    wanted = call("MPI_Send", 1206, 1207, [("MpiSend", 0, "MPI_COMM_WORLD", 2, 4)])
    wanted += request("MPI_Ireduce", 1809, 1810, 23)
    expect(events[third], [*wanted, (1810, "ThreadEnd")], "events of thread 2 of rank 3")
    # The sampled instruction itself, not the start of its function.
    offsets = reader.offsets["[unknown callers]/synthetic_hot"]
    expect(len(offsets), 2, f"different sampled instructions in synthetic_hot: {offsets}")
    expect(max(offsets) - min(offsets), 2, "distance of the sampled instructions")


def check_communicators(trace):
    comms = list(trace.definitions.comms)
    expect([c.name for c in comms[:2]], ["MPI_COMM_WORLD", "MPI_COMM_SELF"], "first communicators")
    intra = [c for c in comms if not isinstance(c, InterComm)]
    members = {c.name: list(c.group.members) for c in intra}
    expect([loc._ref for loc in members["MPI_COMM_WORLD"]], [0, 1, 2, 3], "members of MPI_COMM_WORLD")
    expect(comms[1].group.group_type, GroupType.COMM_SELF, "group of MPI_COMM_SELF")
    created = intra[2:]
    expect(len(created), 3, "communicators made by MPI_Comm_split and MPI_Comm_idup")
    odd = [c for c in created if c.group.group_type == GroupType.COMM_GROUP and len(c.group.members) < RANKS]
    alone = [c for c in created if c.group.group_type == GroupType.COMM_SELF]
    expect([[loc._ref for loc in c.group.members] for c in odd], [[1, 3]], "members of the split communicator")
    expect(len(alone), 1, "communicators of one process each, as one definition")
    expect({c.parent for c in created}, {comms[0]}, "parent of the split communicators")
    inter = [c for c in comms if isinstance(c, InterComm)]
    expect(len(inter), 2, "inter-communicators")
    for made in inter:
        sides = [[loc._ref for loc in g.members] for g in (made.groupA, made.groupB)]
        expect(sides, [[0, 1], [2, 3]], "groups of an inter-communicator")
    flags = [c.flags == CommFlag.CREATE_DESTROY_EVENTS for c in comms]
    expect(flags, [False, False, True, True, True, True, True], "communicators with creation records")


def check_windows(trace):
    windows = [(w.name, w.comm.name, w.flags) for w in trace.definitions.rma_wins]
    flag = RmaWinFlag.CREATE_DESTROY_EVENTS
    wanted = [("Window 0", "MPI_COMM_WORLD", flag), ("Window 1", "MPI_COMM_SELF", flag)]
    expect(windows, wanted, "windows; those of one process each are one")
    groups = [[loc._ref for loc in g.members] for g in trace.definitions.groups][2:6]
    expect(groups, [[0], [1], [2], [3]], "groups of the epochs")


def check_counters(trace):
    members = [(m.name, m.metric_mode) for m in trace.definitions.metric_members]
    mode = MetricMode.ACCUMULATED_START
    expect(members, [("PAPI_TOT_INS", mode), ("PAPI_TOT_CYC", mode)], "counters")


def check_definitions(trace, binary):
    definitions = trace.definitions
    locations = {loc._ref: loc for loc in definitions.locations}
    expect([loc.group.name for loc in definitions.locations][:2], ["MPI Rank 0", "MPI Rank 1"], "location groups")
    expect(locations[2 + (1 << 32)].name, "Thread 1", "name of a second thread")
    clock = definitions.clock_properties
    expect((clock.timer_resolution, clock.global_offset, clock.trace_length), (10**9, 500, 1400), "clock")
    regions = {r.name: r for r in definitions.regions}
    expect(len(regions), len(definitions.regions), "each region is defined once")
    expect(regions["MPI_Barrier"].region_role, RegionRole.BARRIER, "role of MPI_Barrier")
    expect(regions["MPI_Bcast"].region_role, RegionRole.COLL_ONE2ALL, "role of MPI_Bcast")
    expect(regions["MPI_Send"].paradigm, Paradigm.MPI, "paradigm of MPI functions")
    for name in ("synthetic_hot", "synthetic_caller", "synthetic_only_rank_3"):
        expect(regions[name].description, binary, f"binary of {name}")
        expect(regions[name].paradigm, Paradigm.SAMPLING, f"paradigm of {name}")
    for name in ("[preempted]", "[blocked]"):
        found = (regions[name].paradigm, regions[name].region_role)
        expect(found, (Paradigm.NONE, RegionRole.ARTIFICIAL), f"region {name}")
    generator = definitions.interrupt_generators[0]
    expect((generator.name, generator.period, generator.exponent), ("cpu-clock", 1000, -9), "interrupt generator")


def check_properties(trace):
    by_location = {}
    for p in trace.definitions.location_properties:
        by_location.setdefault(p.location._ref, {})[p.name] = p.value
    wanted = {"critpath.incomplete": "full", "critpath.lost_records": 3, "critpath.lost_samples": 5}
    wanted["critpath.unresolved_records"] = 1
    expect(by_location[1], wanted, "properties of rank 1")
    times = {"preempted_ns": 7, "preemptions": 4, "bridged_ns": 1, "bridges": 1, "blocked_ns": 74, "blocks": 1}
    times |= {"migrations": 1, "page_faults": 9}
    found = {name: by_location[2].get(f"critpath.{name}") for name in times}
    expect(found, times, "time off the processor of rank 2")
    wanted = {"critpath.no_samples": "Permission denied", "critpath.thread_name": "loader"}
    expect(by_location[3 + (2 << 32)], wanted, "why a thread has no samples, and its name")
    by_process = {}
    for p in trace.definitions.location_group_properties:
        by_process.setdefault(p.location_group.name, {})[p.name] = p.value
    wanted = {"critpath.host": "testhost", "critpath.boot_id": "boot", "critpath.pid": "4002", "critpath.command": "./app -n 5"}
    expect(by_process["MPI Rank 2"], wanted, "properties of rank 2")
    refused = by_process["MPI Rank 1"].get("critpath.refused_events")
    expect(refused, "cycles=not supported,perf::X:u=1=not permitted", "what rank 1 was refused")


def check_silent(otf2_print, anchor):
    for arguments in ([], ["--silent"], ["-G"]):
        done = subprocess.run([otf2_print, *arguments, anchor], capture_output=True, text=True)
        expect((done.returncode, done.stderr), (0, ""), f"otf2-print {arguments}")


def main():
    args = options()
    with scratch() as first, scratch() as second:
        sums = run(args, first)
        expect((sums["rc"], sums["error"], sums["same"]), (0, "", True), "result of the archive step")
        anchor = f"{first}/traces.otf2"
        check_silent(args.otf2_print, anchor)
        with otf2.reader.open(anchor) as trace:
            reader = Reader(trace)
            check_events(reader)
            check_communicators(trace)
            check_windows(trace)
            check_counters(trace)
            check_definitions(trace, args.program)
            check_properties(trace)
            number = sum(loc.number_of_events for loc in trace.definitions.locations)
        counted = {k: sums[k] for k in ("calls", "samples", "events", "lost_records", "lost_samples", "cut_samples")}
        calls = sum(len([e for e in expected(rank) if e[1] == "Enter" and "MPI_" in e[2]]) for rank in range(RANKS)) + 2
        # Each sample is of a chain that ends somewhere.
        wanted = {
            "calls": calls,
            "samples": 15,
            "events": number,
            "lost_records": 3,
            "lost_samples": 20,
            "cut_samples": 15,
        }
        expect(counted, wanted, "sums")
        run(args, second)
        for name in files(first):
            if name.endswith((".evt", "traces.def")):
                same = open(f"{first}/{name}", "rb").read() == open(f"{second}/{name}", "rb").read()
                expect(same, True, f"{name} is the same in a second archive of the same recording")


main()
