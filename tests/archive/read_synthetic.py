# SPDX-License-Identifier: BSD-3-Clause
"""The archive of the synthetic run, read by libotf2's own tools, is the run that synthetic.cpp states."""

import subprocess

import otf2
from otf2.definitions import InterComm
from otf2.enums import CollectiveOp, CommFlag, GroupType, MeasurementMode, Paradigm, RegionRole

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


def collective(name, enter, leave, op, comm, root=NONE, sent=0, received=0, end=()):
    close = ("MpiCollectiveEnd", op, comm, root, sent, received)
    return call(name, enter, leave, [("MpiCollectiveBegin",)], [close, *end])


def sample(time, path, period=None):
    return (time, "CallingContextSample", path, "cpu-clock", period)


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
    if rank == 3:
        events += [sample(1205, "synthetic_caller/synthetic_only_rank_3")]
    send_receive = call(
        "MPI_Sendrecv",
        1300,
        1320,
        [("MpiSend", after, world, 8, 10 + rank)],
        [("MpiRecv", before, world, 8, 10 + before)],
    )
    events += send_receive[:2] + [sample(1305, caller_hot, 2500)] + send_receive[2:]
    isend = call("MPI_Isend", 1400, 1405, [("MpiIsend", after, world, 1, 100, 1, None)])
    events += isend[:2] + [sample(1405, caller_hot)] + isend[2:]
    events += call("MPI_Irecv", 1406, 1408, [("MpiIrecvRequest", 2, None)])
    events += call(
        "MPI_Waitall", 1410, 1450, [], [("MpiIrecv", before, world, 1, 100, 2), ("MpiIsendComplete", 1)]
    )
    events += call("MPI_Start", 1460, 1462, [("MpiIsend", after, world, 3, 30, 3, 3)])
    events += call(
        "MPI_Startall", 1464, 1466, [("MpiIsend", after, world, 3, 40, 4, None), ("MpiIrecvRequest", 5, None)]
    )
    events += call("MPI_Test", 1468, 1469)
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
    if rank == 2:
        events += call("MPI_Mprobe", 1500, 1510, leave_attributes=(3, 5, world, 1))
        events += call("MPI_Mrecv", 1511, 1515, [], [("MpiRecv", 3, world, 5, 16, 1)])
        events += call("MPI_Improbe", 1516, 1517)
        events += call("MPI_Improbe", 1518, 1519, leave_attributes=(3, 6, world, 2))
        events += call("MPI_Imrecv", 1520, 1521, [("MpiIrecvRequest", 7, 2)])
        events += call("MPI_Wait", 1522, 1523, [], [("MpiIrecv", 3, world, 6, 24, 7)])
        events += call("MPI_Probe", 1524, 1525, leave_attributes=(3, 9, world, None))
    sent, received = (80, 0) if rank == 2 else (0, 80)
    events += collective("MPI_Bcast", 1600, 1620, CollectiveOp.BCAST, world, 2, sent, received)
    events += collective("MPI_Neighbor_alltoallv", 1630, 1640, CollectiveOp.ALLTOALLV, world, NONE, 8, 8)
    events += collective("MPI_Barrier", 1650, 1660, CollectiveOp.BARRIER, world)
    events += collective(
        "MPI_Comm_split", 1700, 1710, CollectiveOp.CREATE_HANDLE, world, end=[("CommCreate", split)]
    )
    events += call("MPI_Intercomm_create", 1720, 1730, [], [("CommCreate", inter)])
    if rank == 0:
        events += call("MPI_Send", 1740, 1745, [("MpiSend", 1, inter, 2, 12)])
    root = {0: SELF_ROOT, 1: THIS_GROUP}.get(rank, 0)
    events += collective("MPI_Bcast", 1750, 1760, CollectiveOp.BCAST, inter, root)
    events += call("MPI_Comm_free", 1770, 1780, [], [("CommDestroy", split)])
    events += call("MPI_Recv", 1785, 1786)  # failed
    events += [(1790, "MeasurementOnOff", MeasurementMode.OFF), (1795, "MeasurementOnOff", MeasurementMode.ON)]
    events += call("MPI_Finalize", 1900, 1900)
    events += [(1900, "ProgramEnd")]
    return events


def path_of(context):
    names = []
    while context is not None:
        names.append(context.region.name)
        context = context.parent
    return "/".join(reversed(names))


class Reader:
    def __init__(self, trace):
        self.trace = trace
        self.comm_names = {c: self.comm_name(c) for c in trace.definitions.comms}

    def comm_name(self, comm):
        if comm.name in ("MPI_COMM_WORLD", "MPI_COMM_SELF"):
            return comm.name
        if isinstance(comm, InterComm):
            return "inter"
        return "alone" if comm.group.group_type == GroupType.COMM_SELF else "odd"

    def attribute(self, event, name):
        values = [v for a, v in (event.attributes or {}).items() if a.name == f"critpath.{name}"]
        return values[0] if values else None

    def plain(self, event):
        """An event as expected() states it."""
        kind = type(event).__name__
        head = (event.time, kind)
        comm = self.comm_names.get(getattr(event, "communicator", None))
        if kind == "Enter":
            return (*head, event.region.name)
        if kind == "Leave":
            source = self.attribute(event, "source")
            if source is None:
                return (*head, event.region.name)
            probed = self.comm_names[self.attribute(event, "comm")]
            return (*head, event.region.name, source, self.attribute(event, "tag"), probed, self.attribute(event, "message"))
        if kind == "ProgramBegin":
            return (*head, event.program_name, list(event.program_arguments))
        if kind == "MeasurementOnOff":
            return (*head, event.measurement_mode)
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
        if kind in ("CommCreate", "CommDestroy"):
            return (*head, comm)
        if kind == "CallingContextSample":
            generator = event.interrupt_generator.name
            return (*head, path_of(event.calling_context), generator, self.attribute(event, "period"))
        return head

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
    expect(events[second], [sample(1001, "synthetic_hot")], "events of thread 1 of rank 2")
    wanted = call("MPI_Send", 1200, 1201, [("MpiSend", 0, "MPI_COMM_WORLD", 2, 4)])
    expect(events[third], wanted, "events of thread 2 of rank 3")
    # The sampled instruction itself, not the start of its function.
    offsets = reader.offsets["synthetic_hot"]
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
    expect(len(created), 2, "communicators made by MPI_Comm_split")
    odd = [c for c in created if c.group.group_type == GroupType.COMM_GROUP]
    alone = [c for c in created if c.group.group_type == GroupType.COMM_SELF]
    expect([[loc._ref for loc in c.group.members] for c in odd], [[1, 3]], "members of the split communicator")
    expect(len(alone), 1, "communicators of one process each, as one definition")
    expect({c.parent for c in created}, {comms[0]}, "parent of the split communicators")
    inter = [c for c in comms if isinstance(c, InterComm)]
    expect(len(inter), 1, "inter-communicators")
    sides = [[loc._ref for loc in g.members] for g in (inter[0].groupA, inter[0].groupB)]
    expect(sides, [[0, 1], [2, 3]], "groups of the inter-communicator")
    flags = [c.flags == CommFlag.CREATE_DESTROY_EVENTS for c in comms]
    expect(flags, [False, False, True, True, True], "communicators with creation records")


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
    generator = definitions.interrupt_generators[0]
    expect((generator.name, generator.period, generator.exponent), ("cpu-clock", 1000, -9), "interrupt generator")


def check_properties(trace):
    by_location = {}
    for p in trace.definitions.location_properties:
        by_location.setdefault(p.location._ref, {})[p.name] = p.value
    expect(by_location[1], {"critpath.lost_records": 3, "critpath.lost_samples": 5}, "properties of rank 1")
    expect(by_location[3 + (2 << 32)], {"critpath.no_samples": "Permission denied"}, "why a thread has no samples")
    by_process = {}
    for p in trace.definitions.location_group_properties:
        by_process.setdefault(p.location_group.name, {})[p.name] = p.value
    wanted = {"critpath.host": "testhost", "critpath.boot_id": "boot", "critpath.pid": "4002", "critpath.command": "./app -n 5"}
    expect(by_process["MPI Rank 2"], wanted, "properties of rank 2")


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
            check_definitions(trace, args.program)
            check_properties(trace)
            number = sum(loc.number_of_events for loc in trace.definitions.locations)
        counted = {k: sums[k] for k in ("calls", "samples", "events", "lost_records", "lost_samples")}
        wanted = {"calls": 96, "samples": 14, "events": number, "lost_records": 3, "lost_samples": 20}
        expect(counted, wanted, "sums")
        run(args, second)
        for name in files(first):
            if name.endswith((".evt", "traces.def")):
                same = open(f"{first}/{name}", "rb").read() == open(f"{second}/{name}", "rb").read()
                expect(same, True, f"{name} is the same in a second archive of the same recording")


main()
