# SPDX-License-Identifier: BSD-3-Clause
"""The exact records of programs/records.c."""

import os
import re
import subprocess
import unittest

from harness import IS_MPICH, NO_PEER, PROGRAMS, Case


class PointToPoint(Case):
    def test_send_and_receive_with_ignored_status(self):
        run = self.records("send_recv")
        self.assertEqual(
            run.lines(0),
            [
                "MPI_Recv comm=0 peer=1 tag=7 bytes=12 receive",
                "MPI_Recv comm=0 peer=1 tag=8 any_source any_tag receive",
                "MPI_Recv comm=0 peer=1 tag=9 bytes=48 receive",
            ],
        )
        self.assertEqual(
            run.lines(1),
            [
                "MPI_Send comm=0 peer=0 tag=7 bytes=12",
                "MPI_Ssend comm=0 peer=0 tag=8",
                "MPI_Send comm=0 peer=0 tag=9 bytes=48",
            ],
        )

    def test_sendrecv(self):
        run = self.records("sendrecv")
        self.assertEqual(
            run.lines(1),
            [
                "MPI_Sendrecv comm=0 peer=0 tag=1 bytes=4 has_completion",
                "    comm=0 peer=0 tag=1 bytes=4 any_source receive",
                "MPI_Sendrecv_replace comm=0 peer=0 tag=2 bytes=8 has_completion",
                "    comm=0 peer=0 tag=2 bytes=8 receive",
                f"MPI_Sendrecv comm=0{NO_PEER} tag=3 bytes=4 has_completion null_peer",
                "    comm=0 peer=0 tag=3 bytes=4 receive",
            ],
        )
        self.assertEqual(run.lines(0)[-1], "MPI_Sendrecv comm=0 peer=1 tag=3 bytes=4")

    def test_probe(self):
        found = self.records("probe").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Probe comm=0 peer=1 tag=1 bytes=4 any_source receive success",
                "MPI_Recv comm=0 peer=1 tag=1 bytes=4 receive",
                "MPI_Iprobe comm=0 peer=1 tag=2 bytes=8 any_tag receive success",
                "MPI_Recv comm=0 peer=1 tag=2 bytes=8 receive",
            ],
        )

    def test_matched_probe(self):
        found = self.records("matched_probe").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Mprobe comm=0 peer=1 tag=1 bytes=4 request=1 receive success",
                "MPI_Improbe comm=0 peer=1 tag=2 bytes=8 request=2 any_source receive success",
                "MPI_Imrecv comm=0 peer=1 tag=2 bytes=40 extra=2 request=1 receive",
                "MPI_Mrecv comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "MPI_Wait",
                "    comm=0 peer=1 tag=2 bytes=8 request=1 receive",
                f"MPI_Mprobe comm=0{NO_PEER} null_peer receive success",
                "MPI_Mrecv null_peer receive",
            ],
        )

    def test_null_peers_and_null_requests(self):
        self.assertEqual(
            self.records("null_peers").lines(0),
            [
                f"MPI_Send comm=0{NO_PEER} tag=1 bytes=4 null_peer",
                f"MPI_Recv comm=0{NO_PEER} null_peer receive",
                f"MPI_Isend comm=0{NO_PEER} tag=1 bytes=4 request=1 null_peer",
                f"MPI_Irecv comm=0{NO_PEER} tag=1 bytes=4 request=2 null_peer receive",
                "MPI_Waitall",
                f"MPI_Probe comm=0{NO_PEER} null_peer receive success",
                "MPI_Wait",
                "MPI_Waitall",
                "MPI_Waitall",
                "MPI_Test polls",
                "MPI_Testany polls",
                "MPI_Testall polls",
            ],
        )

    def test_errors_reach_the_application_and_move_nothing(self):
        plain = self.run_plain(2, [PROGRAMS / "records", "errors"])
        run = self.records("errors")
        self.assertEqual(run.stdout, plain.stdout)
        # MPICH does not say how long a message was that did not fit, and Waitall returns at the first that does not.
        found = [re.sub(" bytes=.*? ", " ", line) if IS_MPICH and (" tag=1 " in line or line[0] == " ") else line
                 for line in run.lines(0)]
        self.assertEqual(
            found,
            [
                "MPI_Send failed",
                "MPI_Send failed",
                f"MPI_Recv comm=0 peer=1 tag=1{'' if IS_MPICH else ' bytes=8'} receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=4 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=3 bytes=32 request=2 receive",
                "MPI_Barrier comm=0",
                "MPI_Waitall failed",
                f"    comm=0 peer=1 tag=2{'' if IS_MPICH else ' bytes=12'} request=1 receive",
                *([] if IS_MPICH else ["    comm=0 peer=1 tag=3 bytes=16 request=2 receive"]),
            ],
        )

    def test_creations_that_one_rank_alone_was_refused_do_not_count(self):
        spools = [threads[0] for threads in self.records("refused_creations").spools]
        duplicates = [{c.comm: c.gid for c in s.communicators}[s.call("MPI_Barrier").comm] for s in spools]
        self.assertEqual(duplicates[0], duplicates[1])
        self.assertEqual(spools[0].objects[0].gid, spools[1].objects[0].gid)


class Requests(Case):
    def test_waitall(self):
        self.assertEqual(
            self.records("waitall").lines(0),
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Isend comm=0 peer=1 tag=1 bytes=16 request=2",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=1 bytes=20 request=1 receive",
                "    comm=0 peer=1 tag=1 bytes=16 request=2 mode=1",
            ],
        )

    def test_finished_sends_that_share_a_handle_keep_their_identity(self):
        self.assertEqual(
            self.records("shared_handles").lines(0),
            [
                "MPI_Isend comm=0 peer=1 tag=0 bytes=4 request=1",
                "MPI_Isend comm=0 peer=1 tag=1 bytes=8 request=2",
                "MPI_Isend comm=0 peer=1 tag=2 bytes=12 request=3",
                "MPI_Wait",
                "    comm=0 peer=1 tag=2 bytes=12 request=3 mode=1",
                "MPI_Wait",
                "    comm=0 peer=1 tag=1 bytes=8 request=2 mode=1",
                "MPI_Wait",
                "    comm=0 peer=1 tag=0 bytes=4 request=1 mode=1",
                "MPI_Isend comm=0 peer=1 tag=3 bytes=16 request=4",
                "MPI_Isend comm=0 peer=1 tag=4 bytes=20 request=5",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=3 bytes=16 request=4 mode=1",
                "    comm=0 peer=1 tag=4 bytes=20 request=5 mode=1",
            ],
        )

    def test_waitany(self):
        self.assertEqual(
            self.records("waitany").lines(0),
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=40 request=2 receive",
                "MPI_Waitany",
                "    comm=0 peer=1 tag=2 bytes=8 request=2 receive",
                "MPI_Send comm=0 peer=1 tag=3",
                "MPI_Waitany",
                "    comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "MPI_Waitany",
            ],
        )

    def test_waitsome(self):
        found = self.records("waitsome").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=40 request=2 receive",
                "MPI_Waitsome",
                "    comm=0 peer=1 tag=2 bytes=8 request=2 receive",
                "MPI_Send comm=0 peer=1 tag=3",
                "MPI_Testsome success",
                "    comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "MPI_Waitsome",
            ],
        )

    def test_loops_of_tests(self):
        run = self.records("test_loops")
        found = run.lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Irecv comm=0 peer=1 tag=1 bytes=40 request=1 receive",
                "MPI_Irecv comm=0 peer=1 tag=2 bytes=40 request=2 receive",
                "MPI_Testall success",
                "    comm=0 peer=1 tag=1 bytes=4 request=1 receive",
                "    comm=0 peer=1 tag=2 bytes=8 request=2 receive",
                "MPI_Irecv comm=0 peer=1 tag=3 bytes=40 request=3 receive",
                "MPI_Send comm=0 peer=1 tag=0",
                "MPI_Test success",
                "    comm=0 peer=1 tag=3 bytes=12 request=3 receive",
                "MPI_Irecv comm=0 peer=1 tag=4 bytes=40 request=4 receive",
                "MPI_Send comm=0 peer=1 tag=0",
                "MPI_Testany success",
                "    comm=0 peer=1 tag=4 bytes=16 request=4 receive",
            ],
        )
        # Every poll is counted, and a tight loop is few records, however long it spins.
        calls = [c for c in run.spools[0][0].calls if c.name == "MPI_Testall"]
        self.assertEqual(sum(c.polls for c in calls) + 1, int(run.stdout.split("tests ")[1].split()[0]))
        self.assertLess(len(calls), 2000)
        for before, after in zip(calls, calls[1:]):
            self.assertLessEqual(before.enter, before.leave)
            self.assertLessEqual(before.leave, after.enter)

    def test_polls_in_turn(self):
        run = self.records("poll_turns")
        turns = int(run.stdout.split("turns ")[1].split()[0])
        polls = [c for c in run.spools[0][0].calls if c.polls > 0]
        asked = {name: sum(c.polls for c in polls if c.name == name) for name in ("MPI_Test", "MPI_Testany", "MPI_Iprobe")}
        self.assertEqual(asked, {"MPI_Test": 2 * turns + 1, "MPI_Testany": turns, "MPI_Iprobe": turns})
        # A record for each question at each place, and once more wherever the process lost its processor in between.
        self.assertLess(len(polls), turns)
        largest = sorted(polls, key=lambda c: c.polls)[-4:]
        self.assertEqual(sorted(c.name for c in largest), ["MPI_Iprobe", "MPI_Test", "MPI_Test", "MPI_Testany"])
        for before, after in zip(polls, polls[1:]):
            self.assertLessEqual(before.enter, before.leave)
            self.assertLessEqual(before.leave, after.enter)

    def test_tests_without_an_active_request_are_polls_in_vain(self):
        for spools in self.records("idle_tests").spools:
            calls = [c for c in spools[0].calls if "est" in c.name and "MPI_Request_free" not in c.name]
            asked = {}
            for c in calls:
                asked[c.name] = asked.get(c.name, 0) + c.polls
                self.assertEqual((c.flags, c.completions), (set(), []))
            self.assertEqual(
                asked,
                {
                    "MPI_Test": 1000,
                    "MPI_Testall": 2000,
                    "MPI_Testany": 1000,
                    "MPI_Testsome": 1000,
                    "MPI_Request_get_status": 1000,
                },
            )
            # A record for each question, and once more wherever the process lost its processor in between.
            self.assertLess(len(calls), 1000)

    def test_persistent(self):
        self.assertEqual(
            self.records("persistent").lines(0),
            [
                "MPI_Ssend_init",
                "MPI_Recv_init",
                "MPI_Waitall",
                "MPI_Startall",
                "    comm=0 peer=1 tag=5 bytes=8 request=1 mode=3",
                "    comm=0 tag=5 bytes=32 request=2 any_source receive",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=5 bytes=8 request=1 mode=3",
                "    comm=0 peer=1 tag=5 bytes=8 request=2 any_source receive",
                "MPI_Startall",
                "    comm=0 peer=1 tag=5 bytes=8 request=3 mode=3",
                "    comm=0 tag=5 bytes=32 request=4 any_source receive",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=5 bytes=8 request=3 mode=3",
                "    comm=0 peer=1 tag=5 bytes=8 request=4 any_source receive",
                "MPI_Start comm=0 tag=5 bytes=32 request=5 any_source receive",
                "MPI_Start comm=0 peer=1 tag=5 bytes=8 extra=3 request=6",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=8 request=5 any_source receive",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=8 request=6 mode=3",
                "MPI_Request_free",
                "MPI_Request_free",
            ],
        )

    def test_a_persistent_ready_send(self):
        self.assertEqual(
            self.records("persistent_ready").lines(0),
            [
                "MPI_Rsend_init",
                "MPI_Barrier comm=0",
                "MPI_Start comm=0 peer=1 tag=5 bytes=12 extra=4 request=1",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=12 request=1 mode=4",
                "MPI_Request_free",
            ],
        )

    def test_all_modes_to_send(self):
        self.assertEqual(
            self.records("send_modes").lines(0),
            [
                "MPI_Barrier comm=0",
                "MPI_Rsend comm=0 peer=1 tag=1 bytes=4",
                "MPI_Irsend comm=0 peer=1 tag=2 bytes=8 request=1",
                "MPI_Issend comm=0 peer=1 tag=3 bytes=12 request=2",
                "MPI_Waitall",
                "    comm=0 peer=1 tag=2 bytes=8 request=1 mode=4",
                "    comm=0 peer=1 tag=3 bytes=12 request=2 mode=3",
                "MPI_Buffer_attach",
                "MPI_Bsend comm=0 peer=1 tag=4 bytes=16",
                "MPI_Ibsend comm=0 peer=1 tag=5 bytes=20 request=3",
                "MPI_Wait",
                "    comm=0 peer=1 tag=5 bytes=20 request=3 mode=2",
                "MPI_Bsend_init",
                "MPI_Start comm=0 peer=1 tag=6 bytes=24 extra=2 request=4",
                "MPI_Wait",
                "    comm=0 peer=1 tag=6 bytes=24 request=4 mode=2",
                "MPI_Request_free",
                "MPI_Buffer_detach",
            ],
        )

    def test_what_a_process_does_by_itself(self):
        self.assertEqual(
            self.records("local_functions").lines(1),
            ["MPI_Pack", "MPI_Unpack", "MPI_Pack_external", "MPI_Unpack_external", "MPI_Reduce_local"],
        )

    def test_without_memory_for_statuses(self):
        self.assertEqual(self.records("no_memory").lines(0), ["MPI_Waitall", "MPI_Barrier comm=0"])

    def test_cancel(self):
        self.assertEqual(
            self.records("cancel").lines(0),
            [
                "MPI_Irecv comm=0 tag=99 bytes=4 request=1 any_source receive",
                "MPI_Cancel request=1",
                "MPI_Wait",
                "    comm=0 tag=99 request=1 any_source cancelled receive",
                "MPI_Irecv comm=0 peer=1 tag=99 bytes=4 request=2 receive",
                "MPI_Cancel request=2",
                "MPI_Wait",
                "    comm=0 peer=1 tag=99 request=2 cancelled receive",
            ],
        )

    def test_request_free(self):
        run = self.records("request_free")
        self.assertEqual(
            run.lines(0)[:2], ["MPI_Issend comm=0 peer=1 tag=1 bytes=20 request=1", "MPI_Request_free request=1"]
        )
        # The message that a freed receive takes is not the next one's. Which one takes it is not known of all.
        spool = run.spools[1][0]
        posts = [c for c in spool.calls if c.name == "MPI_Irecv"]
        places = {1: posts[0], 4: spool.call("MPI_Mprobe"), 5: posts[-1]}
        expected = [(c.enter, ("receive", 0, 0, tag, 1)) for tag, c in places.items()]
        found = [(since, skipped) for since, skipped in zip(spool.skipped_since, spool.skipped) if skipped[0] == "receive"]
        self.assertEqual(sorted(found), expected)

    def test_request_get_status_leaves_the_status_intact(self):
        found = self.records("get_status").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Irecv comm=0 bytes=20 request=1 any_source any_tag receive",
                "MPI_Request_get_status success",
                "MPI_Wait",
                "    comm=0 peer=1 tag=6 bytes=8 request=1 any_source any_tag receive",
            ],
        )

    def test_what_was_seen_to_be_finished_is_completed_by_its_free(self):
        found = self.records("get_status_and_free").lines(0, polls=False)
        self.assertEqual(
            found,
            [
                "MPI_Recv_init",
                "MPI_Irecv comm=0 tag=7 bytes=20 request=1 any_source receive",
                "MPI_Issend comm=0 peer=1 tag=7 bytes=4 request=2",
                "MPI_Start comm=0 peer=1 tag=8 bytes=20 request=3 receive",
                "MPI_Send comm=0 peer=1 tag=8 bytes=8",
                "MPI_Wait",
                "    comm=0 peer=1 tag=8 bytes=8 request=3 receive",
                "MPI_Start comm=0 peer=1 tag=8 bytes=20 request=4 receive",
                "MPI_Send comm=0 peer=1 tag=8 bytes=8",
                *["MPI_Request_get_status success"] * 3,
                "MPI_Request_free",
                "    comm=0 peer=1 tag=7 bytes=8 request=1 any_source receive",
                "MPI_Request_free",
                "    comm=0 peer=1 tag=7 bytes=4 request=2 mode=3",
                "MPI_Request_free",
                "    comm=0 peer=1 tag=8 bytes=8 request=4 receive",
                "MPI_Irecv comm=0 peer=1 tag=9 bytes=20 request=5 receive",
                "MPI_Request_free request=5",
                "MPI_Barrier comm=0",
                "MPI_Send comm=0 peer=1 tag=9 bytes=4",
                "MPI_Barrier comm=0",
            ],
        )


class LargeCounts(Case):
    """Of the programs as tests/mpi_large.h makes them."""

    def test_all_functions_that_have_them_are_called_with_them(self):
        def symbols(option, file):
            return set(subprocess.run(["nm", "-D", option, file], capture_output=True, text=True).stdout.split())

        library = symbols("--defined-only", os.environ["CRITPATH_TEST_MPI_LIBRARY"])
        # Those that are not recorded.
        others = {"MPI_Get_count", "MPI_Get_elements", "MPI_Op_create", "MPI_Win_shared_query"}
        for program in ("records", "collectives", "nonblocking", "persistent", "rma", "io"):
            called = {name for name in symbols("--undefined-only", PROGRAMS / program) if name.startswith("MPI_")}
            self.assertGreater(len([name for name in called if name.endswith("_c")]), 10, program)
            plain = {name for name in called if f"{name}_c" in library and not name.startswith("MPI_Type_")}
            self.assertEqual(plain - others, set(), program)

    def test_more_than_an_int_can_count(self):
        self.assertEqual(
            self.records("large").lines(0),
            [
                f"MPI_Send comm=0{NO_PEER} tag=1 bytes=3000000000 null_peer",
                f"MPI_Irecv comm=0{NO_PEER} tag=1 bytes=12000000000 request=1 null_peer receive",
                "MPI_Wait",
                "MPI_Bcast comm=0 peer=0",
            ],
        )


if __name__ == "__main__":
    unittest.main()
