# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/COVERAGE.md: what is recorded of each function of mpi.h, and why the others are not.

usage: coverage.py > docs/COVERAGE.md

What is recorded follows from the semantic class in functions.table. tests/collector_mpi/coverage_test.py compares both
lists with the mpi.h of the build, so that no function is forgotten silently.
"""

import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "formats" / "functions"))
from table import read_table  # noqa: E402

HEAD = """\
# What is recorded of each MPI function

This is about every function that the `mpi.h` of Open MPI 4.1 (MPI-3.1) declares. The file is written by
`collector/mpi/coverage.py` from `formats/functions/functions.table`; a test compares it with `mpi.h`.

## Recorded

Of each call: its function, when it was entered and left, its thread, its call path and, if asked for, counters. A call
that returns an error is marked as failed, and has moved nothing but what its completions say. What the list below names
comes on top. *Bytes* are those of the arguments, or of the status where there is one; *peers* and roots are ranks of
the communicator, and `MPI_PROC_NULL` is no peer. Groups of functions can be left out of a recording: see
`cpcollect --help`.

A call is recorded alike in every language: from C and C++, from Fortran through `mpif.h`, `use mpi` and `use mpi_f08`
(compilers that name procedures as GNU's does, `mpi_send_`), and from Python with mpi4py. Where a completion call that was
made from Fortran fails, MPI does not say how each request has ended: those that are gone have no completion.

A call from inside another one (an attribute callback, a reduction operation, an error handler, MPI itself) is a part of that one and
not recorded; communicators, windows and files that are made or freed there are known all the same. Blocking messages and collectives of
attribute callbacks that run while a communicator is duplicated or freed, or a window freed, count, so that those that come later are matched
with what belongs to them. Others from inside do not, such as a message of an error handler, or one that a callback only starts: later ones of the same
tag between the same ranks, or later collectives of the communicator, are then matched with those of one turn before. Who waited for whom is wrong from
there on, and the sums at the end of `cpreplay` have a partner missing or dependencies that run backwards in time. A call that is left by an exception or
`longjmp` out of an error handler or a signal handler is marked as failed, and taken to last until the thread's next call of MPI, since
nobody knows when it was left. A program that loads the MPI library itself and finds its functions with `dlsym` is
recorded; calls by `PMPI_` names are not. Nor are the extensions of Open MPI's `mpi-ext.h`, but for persistent collectives:
`MPIX_Barrier_init` is recorded as `MPI_Barrier_init`.

This holds for MPICH as well. Of what its 4.0 has beyond MPI-3.1, persistent collectives, partitioned communication and `MPI_Isendrecv` are
recorded. Functions with large counts (`MPI_Send_c`, also where Fortran calls them with counts of `MPI_COUNT_KIND`) are recorded as
those without (`MPI_Send`). Not recorded are sessions. Its Fortran procedures call functions of C: those of `mpif.h`, `use mpi` and,
with buffers, of `use mpi_f08` call `MPI_Send`, whose wrapper records; the others of `use mpi_f08` call `PMPI_Wait`, so that
they have wrappers of their own. A test reads this from the library's code for every function. How long a message was that did not
fit its receive is not known from MPICH.

What a call path leads through is named as what was loaded at the time of the call, also where one library came to the
place of another (`dlclose` is interposed to see that). Nothing is known of libraries that are unloaded past it.
"""

# Section, then (semantic classes, what is recorded beside the time).
RECORDED = [
    (
        "Life of the program",
        [
            ("init", "Time only. The recording begins when it has succeeded."),
            ("finalize", "When it was entered: the trace is written before it goes on."),
            ("abort", "When it was entered. The record is written before the call."),
            ("pcontrol", "The level. 0 switches the recording off, 1 on; other levels are only written down."),
        ],
    ),
    (
        "Point-to-point",
        [
            ("send", "Message: communicator, destination, tag, bytes, send mode."),
            ("recv", "Message: communicator, source, tag and bytes as received; wildcards are marked."),
            ("sendrecv", "Both messages, as of a send and a receive."),
            ("isend", "Message as of a send; request."),
            ("isendrecv", "Both messages, as of an Isend and an Irecv that share one request."),
            ("irecv", "Communicator, source, tag and bytes as asked for; request. The completion has the message."),
            ("send_init recv_init", "Time only. What was asked for is remembered for the starts."),
            (
                "start startall",
                "A message, a receive or a collective, as of the non-blocking call, for each request that starts.",
            ),
            (
                "psend_init precv_init",
                "Time only. A start of a receive is a receive, as of MPI_Irecv, from the partitioned sends alone.",
            ),
            ("pready", "With the last partition: a message, as of MPI_Issend, of all partitions."),
            ("parrived", "Whether the partition has come; polls in vain as of MPI_Iprobe. Nothing completes here."),
            ("probe", "Communicator, source, tag and bytes of the message that was found."),
            (
                "iprobe improbe",
                "As of a probe, if there is a message. Polls in vain that follow each other at one place become one "
                "record: first enter, last leave, number. Where several take turns, each has one (beyond 32, each "
                "place), and the last of these takes the time until all end.",
            ),
            ("mprobe", "As of a probe, and the message: the probe is where it was matched."),
            ("mrecv imrecv", "As of a receive, and which probe has matched the message."),
            ("cancel", "Request. Whether it was cancelled stands in its completion."),
            (
                "request_free",
                "Request, if it was active. Its completion will not be known; of a receive from one rank with one tag, "
                "not cancelled, it is known which message it takes. If MPI_Request_get_status has said that it was "
                "finished, this is its completion, as of MPI_Wait.",
            ),
            ("buffer_detach", "Time only: it waits for buffered messages."),
        ],
    ),
    (
        "Completion",
        [
            (
                "wait waitall waitany waitsome",
                "The requests that have finished, in the order of the array: of a message its peer, tag and bytes and "
                "whether it was cancelled; of a collective, a one-sided transfer, a file operation or MPI_Comm_idup, "
                "which one it was. Null, inactive and generalised requests are left out.",
            ),
            (
                "test testall testany testsome",
                "The same if something was found; polls in vain as of MPI_Iprobe, among them those without an active request.",
            ),
            ("request_get_status", "Whether it was finished; polls in vain as of MPI_Iprobe. Nothing completes here."),
        ],
    ),
    (
        "Collectives",
        [
            ("collective", "Collective: communicator, root, bytes sent and received by this rank."),
            ("icollective", "Collective, as of the blocking one; request."),
            (
                "collective_init",
                "Time only. Each start of the request is a collective, as of the non-blocking one.",
            ),
        ],
    ),
    (
        "Communicators",
        [
            ("comm_create", "Collective on the parent; the new communicator: members, and identity on all ranks."),
            ("comm_create_group", "The new communicator, as above; only those that it joins take part."),
            ("comm_idup", "As above; request."),
            ("comm_free", "Communicator."),
            (
                "comm_dynamic",
                "Communicator and root of this side; the new communicator, as above, if all of its processes belong to "
                "one MPI_COMM_WORLD. Otherwise it, and those derived from it, are not described: of calls on them "
                "only the time is recorded.",
            ),
        ],
    ),
    (
        "One-sided communication",
        [
            ("win_create", "Collective; the new window, its communicator, bytes exposed by this rank."),
            ("win_free win_complete win_wait win_sync", "Window."),
            ("win_test", "Window; polls in vain as of MPI_Iprobe."),
            ("win_fence", "Window, assertions."),
            ("win_start win_post", "Window, assertions, ranks of the group."),
            ("win_lock", "Window, target or all of them, exclusive or shared."),
            ("win_unlock win_flush", "Window, target or all of them."),
            (
                "rma_put rma_get rma_atomic",
                "Window, target, bytes to it and from it; request, if it has one. Loads and stores into a shared "
                "window cannot be seen.",
            ),
        ],
    ),
    (
        "Files",
        [
            ("file_open", "Collective; the new file, its communicator, the end of its path."),
            ("file_close file_meta", "File."),
            ("file_io file_io_all file_io_ordered", "File, bytes read or written (from the status)."),
            ("file_iio file_iio_all", "File, bytes to read or write; request. The completion has the bytes that were."),
            ("file_begin", "File, bytes to read or write."),
            ("file_end", "File, bytes read or written."),
        ],
    ),
    (
        "Local work that may take time",
        [("local", "Time only.")],
    ),
]

# Title, reason, functions.
NOT_RECORDED = [
    (
        "Who and where am I",
        "local and quick",
        """
        MPI_Comm_rank MPI_Comm_size MPI_Comm_remote_size MPI_Comm_group MPI_Comm_remote_group MPI_Comm_test_inter
        MPI_Comm_compare MPI_Comm_get_parent MPI_Initialized MPI_Finalized MPI_Query_thread MPI_Is_thread_main
        MPI_Get_version MPI_Get_library_version MPI_Get_processor_name
        """,
    ),
    (
        "Clock",
        "local, and so quick that a record would cost more than the call",
        "MPI_Wtime MPI_Wtick",
    ),
    (
        "Statuses",
        "local and quick",
        """
        MPI_Get_count MPI_Get_elements MPI_Get_elements_x MPI_Test_cancelled MPI_Status_set_cancelled
        MPI_Status_set_elements MPI_Status_set_elements_x
        """,
    ),
    (
        "Generalised requests",
        "what they stand for is the application's own work; MPI only keeps the flag. A wait for one is a doubtful "
        "delay of the waiting thread: the path does not lead to the thread that completes the request",
        "MPI_Grequest_start MPI_Grequest_complete",
    ),
    (
        "Groups",
        "local; they become visible in the communicators that are made of them",
        """
        MPI_Group_size MPI_Group_rank MPI_Group_compare MPI_Group_translate_ranks MPI_Group_union
        MPI_Group_intersection MPI_Group_difference MPI_Group_incl MPI_Group_excl MPI_Group_range_incl
        MPI_Group_range_excl MPI_Group_free
        """,
    ),
    (
        "Topologies, looked at",
        "local and quick",
        """
        MPI_Topo_test MPI_Dims_create MPI_Cartdim_get MPI_Cart_get MPI_Cart_rank MPI_Cart_coords MPI_Cart_shift
        MPI_Graphdims_get MPI_Graph_get MPI_Graph_neighbors MPI_Graph_neighbors_count MPI_Dist_graph_neighbors
        MPI_Dist_graph_neighbors_count
        """,
    ),
    (
        "Datatypes",
        "local; what they cost is seen in the samples, and how much they move in the calls that use them",
        """
        MPI_Type_commit MPI_Type_free MPI_Type_dup MPI_Type_contiguous MPI_Type_vector MPI_Type_create_hvector
        MPI_Type_indexed MPI_Type_create_hindexed MPI_Type_create_indexed_block MPI_Type_create_hindexed_block
        MPI_Type_create_struct MPI_Type_create_resized MPI_Type_create_subarray MPI_Type_create_darray
        MPI_Type_create_f90_complex MPI_Type_create_f90_integer MPI_Type_create_f90_real MPI_Type_match_size
        MPI_Type_size MPI_Type_size_x MPI_Type_get_extent MPI_Type_get_extent_x MPI_Type_get_true_extent
        MPI_Type_get_true_extent_x MPI_Type_get_envelope MPI_Type_get_contents MPI_Type_get_name MPI_Type_set_name
        MPI_Get_address MPI_Pack_size MPI_Pack_external_size
        """,
    ),
    (
        "Reduction operators",
        "local and quick; the time of an operator of the application's own is inside the collective that calls it",
        "MPI_Op_create MPI_Op_free MPI_Op_commutative",
    ),
    (
        "Attributes",
        "left alone: their callbacks are the application's, and must run exactly as they would without a recorder",
        """
        MPI_Comm_create_keyval MPI_Comm_free_keyval MPI_Comm_set_attr MPI_Comm_get_attr MPI_Comm_delete_attr
        MPI_Type_create_keyval MPI_Type_free_keyval MPI_Type_set_attr MPI_Type_get_attr MPI_Type_delete_attr
        MPI_Win_create_keyval MPI_Win_free_keyval MPI_Win_set_attr MPI_Win_get_attr MPI_Win_delete_attr
        MPI_Keyval_create MPI_Keyval_free MPI_Attr_put MPI_Attr_get MPI_Attr_delete
        """,
    ),
    (
        "Errors",
        "left alone, as attributes; that a call has failed stands in its record",
        """
        MPI_Comm_create_errhandler MPI_Comm_set_errhandler MPI_Comm_get_errhandler MPI_Comm_call_errhandler
        MPI_Win_create_errhandler MPI_Win_set_errhandler MPI_Win_get_errhandler MPI_Win_call_errhandler
        MPI_File_create_errhandler MPI_File_set_errhandler MPI_File_get_errhandler MPI_File_call_errhandler
        MPI_Errhandler_free MPI_Error_class MPI_Error_string MPI_Add_error_class MPI_Add_error_code MPI_Add_error_string
        """,
    ),
    (
        "Names, hints, and infos",
        "local; MPI_Comm_set_info and MPI_Win_set_info are collective by definition, but need not synchronise, and do "
        "not in Open MPI",
        """
        MPI_Comm_set_name MPI_Comm_get_name MPI_Comm_set_info MPI_Comm_get_info MPI_Win_set_name MPI_Win_get_name
        MPI_Win_set_info MPI_Win_get_info MPI_Info_create MPI_Info_delete MPI_Info_dup MPI_Info_free MPI_Info_get
        MPI_Info_get_nkeys MPI_Info_get_nthkey MPI_Info_get_valuelen MPI_Info_set
        """,
    ),
    (
        "Windows and files, looked at",
        "local and quick",
        """
        MPI_Win_get_group MPI_Win_shared_query MPI_File_get_amode MPI_File_get_atomicity MPI_File_get_byte_offset
        MPI_File_get_group MPI_File_get_info MPI_File_get_position MPI_File_get_type_extent MPI_File_get_view
        MPI_File_seek MPI_Register_datarep
        """,
    ),
    (
        "Handles between C and Fortran",
        "local and quick",
        """
        MPI_Comm_c2f MPI_Comm_f2c MPI_Errhandler_c2f MPI_Errhandler_f2c MPI_File_c2f MPI_File_f2c MPI_Group_c2f
        MPI_Group_f2c MPI_Info_c2f MPI_Info_f2c MPI_Message_c2f MPI_Message_f2c MPI_Op_c2f MPI_Op_f2c MPI_Request_c2f
        MPI_Request_f2c MPI_Status_c2f MPI_Status_f2c MPI_Type_c2f MPI_Type_f2c MPI_Win_c2f MPI_Win_f2c
        """,
    ),
    (
        "Tool interface",
        "for tools; works before MPI_Init and after MPI_Finalize, and moves nothing",
        "MPI_T_*",
    ),
]


def paragraph(text):
    return textwrap.fill(text, width=120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def functions_of(table, classes):
    return [f.name for f in table if f.semantic_class in classes.split()]


def names_of(group):
    return group[2].split()


def document():
    table = read_table(ROOT / "formats" / "functions" / "functions.table")
    parts = [HEAD]
    for section, rows in RECORDED:
        parts.append(f"### {section}\n")
        lines = [f"- **{', '.join(functions_of(table, classes))}** {what}" for classes, what in rows]
        parts.append("\n".join(map(paragraph, lines)) + "\n")
    parts.append("## Not recorded\n")
    parts.append("The time of these belongs to the computation around them. The recorder does not see them at all.\n")
    lines = [f"- **{group[0]}** ({group[1]}): {', '.join(names_of(group))}" for group in NOT_RECORDED]
    parts.append("\n".join(map(paragraph, lines)) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(document(), end="")
