// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Records and definitions that say nothing to us: counted by kind, and in nobody's way.
#include "tests/foreign/foreign.hpp"

#include <fmt/format.h>

#include <fstream>

namespace critpath::test
{
namespace
{

using testing::ElementsAre;

/// A record at a time.
using Record = std::function<OTF2_ErrorCode(OTF2_EvtWriter*, std::uint64_t)>;

#define CRITPATH_RECORD(name, ...)                                                                                     \
    [](OTF2_EvtWriter* w, std::uint64_t t) { return OTF2_EvtWriter_##name(w, nullptr, t __VA_OPT__(, ) __VA_ARGS__); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // the Omp records, which traces still have
const std::vector<Record> thread_records = {
    CRITPATH_RECORD(OmpFork, 4),
    CRITPATH_RECORD(OmpJoin),
    CRITPATH_RECORD(OmpAcquireLock, 1, 2),
    CRITPATH_RECORD(OmpReleaseLock, 1, 2),
    CRITPATH_RECORD(OmpTaskCreate, 9),
    CRITPATH_RECORD(OmpTaskSwitch, 9),
    CRITPATH_RECORD(OmpTaskComplete, 9),
    CRITPATH_RECORD(ThreadFork, OTF2_PARADIGM_OPENMP, 4),
    CRITPATH_RECORD(ThreadJoin, OTF2_PARADIGM_OPENMP),
    CRITPATH_RECORD(ThreadTeamBegin, 99),
    CRITPATH_RECORD(ThreadTeamEnd, 99),
    CRITPATH_RECORD(ThreadAcquireLock, OTF2_PARADIGM_PTHREAD, 1, 2),
    CRITPATH_RECORD(ThreadReleaseLock, OTF2_PARADIGM_PTHREAD, 1, 2),
    CRITPATH_RECORD(ThreadTaskCreate, 99, 0, 1),
    CRITPATH_RECORD(ThreadTaskSwitch, 99, 0, 1),
    CRITPATH_RECORD(ThreadTaskComplete, 99, 0, 1),
    CRITPATH_RECORD(ThreadCreate, 99, 1),
    CRITPATH_RECORD(ThreadBegin, 99, 1),
    CRITPATH_RECORD(ThreadWait, 99, 1),
    CRITPATH_RECORD(ThreadEnd, 99, 1),
};
#pragma GCC diagnostic pop

const std::vector<Record> io_records = {
    CRITPATH_RECORD(IoCreateHandle, 1, OTF2_IO_ACCESS_MODE_READ_ONLY, OTF2_IO_CREATION_FLAG_NONE,
                    OTF2_IO_STATUS_FLAG_NONE),
    CRITPATH_RECORD(IoDuplicateHandle, 1, 2, OTF2_IO_STATUS_FLAG_NONE),
    CRITPATH_RECORD(IoSeek, 1, 8, OTF2_IO_SEEK_FROM_START, 8),
    CRITPATH_RECORD(IoChangeStatusFlags, 1, OTF2_IO_STATUS_FLAG_APPEND),
    CRITPATH_RECORD(IoOperationBegin, 1, OTF2_IO_OPERATION_MODE_READ, OTF2_IO_OPERATION_FLAG_NON_BLOCKING, 100, 3),
    CRITPATH_RECORD(IoOperationIssued, 1, 3),
    CRITPATH_RECORD(IoOperationTest, 1, 3),
    CRITPATH_RECORD(IoOperationComplete, 1, 100, 3),
    CRITPATH_RECORD(IoOperationCancelled, 1, 3),
    CRITPATH_RECORD(IoTryLock, 1, OTF2_LOCK_EXCLUSIVE),
    CRITPATH_RECORD(IoAcquireLock, 1, OTF2_LOCK_EXCLUSIVE),
    CRITPATH_RECORD(IoReleaseLock, 1, OTF2_LOCK_EXCLUSIVE),
    CRITPATH_RECORD(IoDestroyHandle, 1),
    CRITPATH_RECORD(IoDeleteFile, 1, 1),
};

const std::vector<Record> parameter_records = {
    CRITPATH_RECORD(ParameterInt, 3, -5),
    CRITPATH_RECORD(ParameterUnsignedInt, 3, 5),
    CRITPATH_RECORD(ParameterString, 3, 7),
};

#undef CRITPATH_RECORD

/// A message between two ranks, with `between` in the middle of everything.
void write_with(TinyTrace& t, const std::function<void(TinyThread&, std::uint64_t)>& between)
{
    for (std::uint32_t r = 0; r < 2; ++r) {
        between(t.thread(r).enter(1, "MPI_Init").leave(2, "MPI_Init").enter(10, "main"), 12);
    }
    between(t.thread(0).enter(50, "MPI_Isend").isend(50, "world", 1, 0, 8, 1).leave(51, "MPI_Isend"), 51);
    between(t.thread(0).enter(51, "MPI_Wait"), 52);
    t.thread(0).isend_complete(52, 1).leave(52, "MPI_Wait");
    between(t.thread(1).enter(20, "MPI_Recv"), 30);
    t.thread(1).recv(53, "world", 0, 0, 8).leave(53, "MPI_Recv");
    for (std::uint32_t r = 0; r < 2; ++r) {
        t.thread(r).leave(90, "main").enter(90, "MPI_Finalize").leave(91, "MPI_Finalize");
    }
}

void write_all(TinyThread& thread, std::uint64_t time, const std::vector<Record>& records)
{
    for (const Record& record : records) {
        thread.write([&](OTF2_EvtWriter* writer) { return record(writer, time); });
    }
}

TEST_F(Foreign, RecordsOfOtherKindsAreCountedByKind)
{
    const auto& loaded = load(1, [](TinyTrace& t) {
        t.thread(0).enter(10, "MPI_Barrier");
        write_all(t.thread(0), 15, thread_records);
        write_all(t.thread(0), 15, io_records);
        write_all(t.thread(0), 15, parameter_records);
        t.thread(0).put(15).put(15).metric(15).leave(20, "MPI_Barrier");
    });
    const auto& anomalies = loaded.processes[0].anomalies;
    EXPECT_EQ(anomalies.ignored_thread_records, thread_records.size());
    EXPECT_EQ(anomalies.ignored_io_records, io_records.size());
    EXPECT_EQ(anomalies.ignored_rma_records, 2);
    EXPECT_EQ(anomalies.ignored_metric_records, 1);
    EXPECT_EQ(anomalies.ignored_records, parameter_records.size());
    EXPECT_EQ(loaded.processes[0].locations[0].calls.size(), 1);
    const tests::Replayed r = tests::replay(loaded);
    EXPECT_EQ(r.fact("ignored_thread_records"), static_cast<std::int64_t>(thread_records.size()));
    EXPECT_EQ(r.fact("ignored_io_records"), static_cast<std::int64_t>(io_records.size()));
}

TEST_F(Foreign, RecordsOfOtherKindsDoNotChangeThePath)
{
    const auto path_with = [](const std::function<void(TinyThread&, std::uint64_t)>& between) {
        Scratch scratch;
        TinyTrace trace(scratch.path() / "trace", 2, microseconds);
        trace.thread(0);
        trace.thread(1);
        write_with(trace, between);
        trace.close();
        replayer::Replay loaded;
        loaded.comm = MPI_COMM_SELF;
        replayer::load::load(trace.anchor(), loaded);
        return tests::replay(loaded).path();
    };
    const std::string plain = path_with([](TinyThread&, std::uint64_t) {});
    EXPECT_THAT(plain, testing::HasSubstr("compute 0: 1-49 | transfer 0>1: 49-52"));
    EXPECT_EQ(path_with([](TinyThread& thread, std::uint64_t time) {
                  write_all(thread, time, thread_records);
                  write_all(thread, time, io_records);
                  write_all(thread, time, parameter_records);
              }),
              plain);
}

/// OTF2 goes on: a later version may have records that this one does not know. They say how long they are.
TEST_F(Foreign, RecordsOfALaterVersionAreSkipped)
{
    Scratch scratch;
    TinyTrace trace(scratch.path() / "trace", 1, microseconds);
    constexpr std::uint64_t mark = 0x1122334455667788;
    trace.thread(0).enter(10, "MPI_Barrier");
    trace.thread(0).write(
        [](OTF2_EvtWriter* w) { return OTF2_EvtWriter_ParameterUnsignedInt(w, nullptr, 12, 5, mark); });
    trace.thread(0).leave(20, "MPI_Barrier");
    trace.close();

    const auto file = scratch.path() / "trace" / "traces" / fmt::format("{}.evt", trace.location(0));
    std::string content;
    {
        std::ifstream in(file, std::ios::binary);
        content.assign(std::istreambuf_iterator<char>(in), {});
    }
    // type, length of the rest, length of the number 5, 5, length of the mark, the mark
    const std::string value(reinterpret_cast<const char*>(&mark), sizeof mark);
    const std::size_t at = content.find(std::string("\x01\x05\x08", 3) + value);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(content[at - 1], 11);  // bytes of the record
    constexpr char of_a_later_version = static_cast<char>(0xf0);
    content[at - 2] = of_a_later_version;
    std::ofstream(file, std::ios::binary) << content;

    replayer::Replay loaded;
    replayer::load::load(trace.anchor(), loaded);
    EXPECT_EQ(loaded.processes[0].anomalies.ignored_records, 1);
    const auto& calls = loaded.processes[0].locations[0].calls;
    ASSERT_EQ(calls.size(), 1);
    EXPECT_EQ(calls.leave(0).count(), 20'000);
}

TEST_F(Foreign, LocationsThatAreNoThreadsAndGroupsThatAreNoProcesses)
{
    const auto& loaded = load(2, [](TinyTrace& t) {
        write_with(t, [](TinyThread&, std::uint64_t) {});
        const OTF2_StringRef name = t.string("another");
        const OTF2_LocationGroupRef first = t.process(0);
        t.define([name, first](OTF2_GlobalDefWriter* w) {
            // What a metric plug-in and a GPU have; their event files need not be there for us.
            OTF2_GlobalDefWriter_WriteLocation(w, 5000, name, OTF2_LOCATION_TYPE_METRIC, 0, first);
            OTF2_GlobalDefWriter_WriteLocationGroup(w, 5, name, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, 8, first);
            OTF2_GlobalDefWriter_WriteLocation(w, 5001, name, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 0, 5);
            // A team of threads is a communicator too, and not one of MPI's.
            const std::uint64_t team[] = {100, 101};
            OTF2_GlobalDefWriter_WriteGroup(w, 1, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP,
                                            OTF2_GROUP_FLAG_NONE, 2, team);
            OTF2_GlobalDefWriter_WriteComm(w, 1, name, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
            // Counters of a plug-in, and a class of them.
            const OTF2_MetricMemberRef member = 3;
            OTF2_GlobalDefWriter_WriteMetricMember(w, member, name, name, OTF2_METRIC_TYPE_PAPI,
                                                   OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL,
                                                   0, name);
            OTF2_GlobalDefWriter_WriteMetricClass(w, 4, 1, &member, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
        });
    });
    EXPECT_EQ(loaded.definitions.processes.size(), 2);
    EXPECT_EQ(loaded.definitions.locations.size(), 2);
    EXPECT_EQ(loaded.definitions.communicators.size(), 2);
    EXPECT_THAT(tests::replay(loaded).path(), testing::HasSubstr("transfer 0>1: 49-52"));
}

/// Such as a daemon that another tool has seen as well: the run is that of the ranks.
TEST_F(Foreign, ProcessesThatAreNoRanks)
{
    TinyTrace trace(scratch_.path() / "trace", 2, microseconds);
    write_with(trace, [](TinyThread&, std::uint64_t) {});
    const OTF2_StringRef name = trace.string("daemon");
    trace.define([=](OTF2_GlobalDefWriter* w) {
        OTF2_GlobalDefWriter_WriteLocationGroup(w, 5, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, 8,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
        OTF2_GlobalDefWriter_WriteLocation(w, 5000, name, OTF2_LOCATION_TYPE_CPU_THREAD, 4, 5);
    });
    trace.close();
    replayer::Replay loaded;
    loaded.comm = MPI_COMM_SELF;
    const replayer::load::Summary summary = replayer::load::load(trace.anchor(), loaded);
    EXPECT_THAT(summary.no_ranks, ElementsAre("daemon"));
    EXPECT_EQ(loaded.definitions.processes.size(), 2);
    EXPECT_EQ(loaded.definitions.locations.size(), 2);
    EXPECT_THAT(tests::replay(loaded).path(), testing::HasSubstr("transfer 0>1: 49-52"));
}

TEST_F(Foreign, AWorldThatIsTheGroupOfLocationsItself)
{
    const auto& loaded = load(2, [](TinyTrace& t) {
        const OTF2_StringRef name = t.string("flat");
        const std::uint64_t locations[] = {t.location(0), t.location(1)};
        t.define([=](OTF2_GlobalDefWriter* w) {
            OTF2_GlobalDefWriter_WriteGroup(w, 200, name, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, 2, locations);
            OTF2_GlobalDefWriter_WriteComm(w, 300, name, 200, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
        });
        t.thread(0).enter(10, "MPI_Send");
        t.thread(0).write([](OTF2_EvtWriter* w) { return OTF2_EvtWriter_MpiSend(w, nullptr, 10, 1, 300, 4, 8); });
        t.thread(0).leave(12, "MPI_Send");
        t.thread(1).enter(5, "MPI_Recv");
        t.thread(1).write([](OTF2_EvtWriter* w) { return OTF2_EvtWriter_MpiRecv(w, nullptr, 14, 0, 300, 4, 8); });
        t.thread(1).leave(14, "MPI_Recv");
    });
    ASSERT_EQ(loaded.definitions.communicators.size(), 3);
    EXPECT_THAT(loaded.definitions.communicators[2].members, ElementsAre(model::ProcessId{0}, model::ProcessId{1}));
    const tests::Replayed r = tests::replay(loaded);
    EXPECT_EQ(r.fact("messages"), 1);
    EXPECT_EQ(r.fact("unmatched_sends") + r.fact("unmatched_receives"), 0);
}

}  // namespace
}  // namespace critpath::test
