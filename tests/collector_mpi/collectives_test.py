# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/collectives.c."""

from harness import IS_MPICH, Case


# (sent, received) of each rank, by the convention in collector/mpi/volume.hpp. An int is 4 bytes.
EVERYWHERE = [0, 1, 2, 3]
COLLECTIVES = [
    ("MPI_Barrier", -1, [(0, 0) for _ in EVERYWHERE]),
    ("MPI_Allreduce", -1, [(4 * 8, 4 * 8) for _ in EVERYWHERE]),
    ("MPI_Allgather", -1, [(4 * 4, 4 * 4) for _ in EVERYWHERE]),
    ("MPI_Allgatherv", -1, [(4 * 4 * (r + 1), 4 * 10) for r in EVERYWHERE]),
    ("MPI_Alltoall", -1, [(4 * 12, 4 * 12) for _ in EVERYWHERE]),
    ("MPI_Alltoallv", -1, [(4 * 6, 4 * 4 * r) for r in EVERYWHERE]),
    ("MPI_Alltoallw", -1, [(4 + 8 + 4 + 1, 4 * [4, 8, 4, 1][r]) for r in EVERYWHERE]),
    ("MPI_Reduce_scatter", -1, [(4 * 10, 4 * 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Reduce_scatter_block", -1, [(4 * 8, 4 * 8) for _ in EVERYWHERE]),
    ("MPI_Bcast", 1, [(4 * 20 if r == 1 else 0, 20) for r in EVERYWHERE]),
    ("MPI_Scatter", 1, [(4 * 8 if r == 1 else 0, 8) for r in EVERYWHERE]),
    ("MPI_Scatterv", 1, [(4 * 10 if r == 1 else 0, 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Reduce", 1, [(8, 4 * 8 if r == 1 else 0) for r in EVERYWHERE]),
    ("MPI_Gather", 1, [(8, 4 * 8 if r == 1 else 0) for r in EVERYWHERE]),
    ("MPI_Gatherv", 1, [(4 * (r + 1), 4 * 10 if r == 1 else 0) for r in EVERYWHERE]),
    ("MPI_Scan", -1, [((4 - r) * 8, (r + 1) * 8) for r in EVERYWHERE]),
    ("MPI_Exscan", -1, [((3 - r) * 8, r * 8) for r in EVERYWHERE]),
]
IN_PLACE = [
    ("MPI_Allreduce", -1, [(3 * 8, 3 * 8) for _ in EVERYWHERE]),
    ("MPI_Allgather", -1, [(3 * 4, 3 * 4) for _ in EVERYWHERE]),
    ("MPI_Allgatherv", -1, [(3 * 4 * (r + 1), 4 * (9 - r)) for r in EVERYWHERE]),
    ("MPI_Alltoall", -1, [(3 * 12, 3 * 12) for _ in EVERYWHERE]),
    ("MPI_Alltoallv", -1, [(3 * 8, 3 * 8) for _ in EVERYWHERE]),
    ("MPI_Reduce_scatter", -1, [(4 * (9 - r), 3 * 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Reduce", 1, [(0, 3 * 8) if r == 1 else (8, 0) for r in EVERYWHERE]),
    ("MPI_Gather", 1, [(0, 3 * 8) if r == 1 else (8, 0) for r in EVERYWHERE]),
    ("MPI_Gatherv", 1, [(0, 4 * 8) if r == 1 else (4 * (r + 1), 0) for r in EVERYWHERE]),
    ("MPI_Scatter", 1, [(3 * 8, 0) if r == 1 else (0, 8) for r in EVERYWHERE]),
    ("MPI_Scatterv", 1, [(4 * 8, 0) if r == 1 else (0, 4 * (r + 1)) for r in EVERYWHERE]),
    ("MPI_Scan", -1, [((3 - r) * 8, r * 8) for r in EVERYWHERE]),
]


class Collectives(Case):
    def check(self, case, expected):
        run = self.records(case, ranks=4, program="collectives")
        for rank in EVERYWHERE:
            calls = run.spools[rank][0].calls[1:-1]  # without Init and Finalize
            self.assertEqual(
                [(c.name, c.comm, c.peer, c.bytes, c.extra) for c in calls],
                [(name, 0, root, *volumes[rank]) for name, root, volumes in expected],
            )

    def test_volumes(self):
        self.check("collectives", COLLECTIVES)

    def test_volumes_in_place(self):
        self.check("in_place", IN_PLACE)

    if IS_MPICH:  # Open MPI refuses null types

        def test_null_types(self):
            self.check("null_types", [("MPI_Alltoallw", -1, 4 * [(0, 0)])])

    def test_volumes_of_neighbours(self):
        run = self.records("neighbours", ranks=3, program="collectives")
        for rank in range(3):
            found = [(c.name, c.comm, c.bytes, c.extra) for c in run.spools[rank][0].calls if "Neighbor" in c.name]
            self.assertEqual(
                found,
                [
                    ("MPI_Neighbor_allgather", 2, 2 * 4, 2 * 4),
                    ("MPI_Neighbor_allgatherv", 2, 2 * 4 * (rank + 1), 4 * (6 - (rank + 1))),
                    ("MPI_Neighbor_alltoallv", 2, 4 + 8, 8 + 4),
                    ("MPI_Neighbor_alltoallw", 2, 4 + 16, 16 + 4),
                    ("MPI_Neighbor_alltoall", 3, 12, 12),
                ],
            )


class Communicators(Case):
    def test_identity(self):
        run = self.records("communicators", ranks=4, program="collectives")
        by_gid = {}
        for rank in range(4):
            for c in run.spools[rank][0].communicators:
                by_gid.setdefault(c.gid, []).append((rank, c))
        shapes = []
        for known in by_gid.values():
            first = known[0][1]
            if first.is_inter:
                # Each side sees the other's group.
                sides = {tuple(c.members) for _, c in known}
                self.assertEqual(len(sides), 2)
                for rank, c in known:
                    self.assertNotIn(rank, c.members)
                shapes.append(("inter", *sorted(sides)))
            else:
                for rank, c in known:
                    self.assertEqual(c.members, first.members)
                    self.assertEqual(c.members[c.rank], rank)
                self.assertEqual(sorted(first.members), [rank for rank, _ in known])
                shapes.append(tuple(first.members))
            self.assertEqual(len({c.parent_gid for _, c in known}), 1)
        everybody = (0, 1, 2, 3)
        alone = [(rank,) for rank in range(4)]
        inter = ("inter", (2, 0), (3, 1))
        expected = [everybody] * 5  # WORLD, dup, idup, cart, dup again
        expected += alone + alone  # SELF, its duplicates
        expected += [(2, 0), (3, 1), (0, 1, 2), (0, 2), (0, 2), inter, inter, (2, 0, 3, 1), (0, 1), (2, 3)]
        self.assertEqual(sorted(map(str, shapes)), sorted(map(str, expected)))

    def test_grids(self):
        for spool in (threads[0] for threads in self.records("communicators", ranks=4, program="collectives").spools):
            grids = [(c.size, c.grid) for c in spool.communicators if c.grid]
            self.assertEqual(grids, [(4, [(2, False), (2, False)]), (2, [(2, False)])])  # and a row of it

    def test_rings(self):
        for spool in (threads[0] for threads in self.records("neighbours", ranks=3, program="collectives").spools):
            self.assertEqual([c.grid for c in spool.communicators], [[], [], [(3, True)], []])
            left = (spool.communicators[0].rank + 2) % 3
            self.assertEqual([c.in_neighbours for c in spool.communicators], [None, None, None, [left]])

    def test_graphs(self):
        for rank, threads in enumerate(self.records("graphs", ranks=3, program="collectives").spools):
            own = [c.in_neighbours for c in threads[0].communicators[2:]]
            adjacent = [[], [2, 2, 2, 1] + 14 * [2], []][rank]
            self.assertEqual(own, [adjacent, adjacent, [(rank + 2) % 3], [[1, 2], [0], [0]][rank]])

    def test_calls(self):
        run = self.records("communicators", ranks=4, program="collectives")
        spool = run.spools[0][0]
        members = {c.comm: c.members for c in spool.communicators}
        bcast = [c for c in spool.calls if c.name == "MPI_Bcast"][0]
        self.assertEqual(members[bcast.comm], [3, 1])
        # Root values of an inter-communicator, and the volume from one group to the other.
        roots = [(c.peer, c.bytes, c.extra) for r in range(4) for c in run.spools[r][0].calls if c.name == "MPI_Bcast"]
        self.assertEqual(roots, [(-3, 2 * 8, 0), (1, 0, 8), (-2, 0, 0), (1, 0, 8)])
        send = spool.call("MPI_Send")
        self.assertEqual(members[send.comm], [0, 1])
        last_barrier = [c for c in spool.calls if c.name == "MPI_Barrier"][-1]
        self.assertEqual(last_barrier.comm, max(members))
        self.assertEqual(spool.call("MPI_Comm_disconnect").comm, max(members))
        for call in spool.calls:
            if call.name in ("MPI_Comm_dup", "MPI_Cart_create", "MPI_Intercomm_merge", "MPI_Comm_idup"):
                self.assertIn(call.extra - 1, members)
        nothing = [c for c in run.spools[3][0].calls if c.name == "MPI_Comm_split"][1]
        self.assertEqual(nothing.extra, 0)  # colour MPI_UNDEFINED
