// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the floor of the cost of a replay: every event of a trace read through libotf2, with callbacks that only count.
// `mpirun -n N read_trace TRACE/traces.otf2` divides the locations among the processes as cpreplay does, and prints the
// number of events, the seconds from the return of MPI_Init until all have read, and the processor seconds of all, as
// JSON.
#include <fmt/format.h>
#include <mpi.h>
#include <otf2/otf2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace
{

std::uint64_t events = 0;
std::vector<OTF2_LocationRef> locations;

OTF2_CallbackCode note_location(void* /*data*/, OTF2_LocationRef location, OTF2_StringRef /*name*/,
                                OTF2_LocationType /*type*/, std::uint64_t /*count*/, OTF2_LocationGroupRef /*group*/)
{
    locations.push_back(location);
    return OTF2_CALLBACK_SUCCESS;
}

template <class... Arguments>
OTF2_CallbackCode count(Arguments... /*of the event*/)
{
    ++events;
    return OTF2_CALLBACK_SUCCESS;
}

void check(OTF2_ErrorCode code, const char* what)
{
    if (code == OTF2_SUCCESS)
        return;
    fmt::print(stderr, "read_trace: {}: {}\n", what, OTF2_Error_GetDescription(code));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

using Callbacks = std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(&OTF2_EvtReaderCallbacks_Delete)>;

/// All records that the collector writes.
Callbacks counting_callbacks()
{
    Callbacks result(OTF2_EvtReaderCallbacks_New(), &OTF2_EvtReaderCallbacks_Delete);
    OTF2_EvtReaderCallbacks* const all = result.get();
    OTF2_EvtReaderCallbacks_SetEnterCallback(all, count);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(all, count);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(all, count);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(all, count);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(all, count);
    return result;
}

void read_definitions(OTF2_Reader* reader)
{
    OTF2_GlobalDefReader* const definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks* const callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, note_location);
    check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, nullptr), "definitions");
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    std::uint64_t read = 0;
    check(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read), "definitions");
}

void read_events(OTF2_Reader* reader)
{
    for (const OTF2_LocationRef location : locations)
        check(OTF2_Reader_SelectLocation(reader, location), "location");
    check(OTF2_Reader_OpenEvtFiles(reader), "event files");
    const Callbacks callbacks = counting_callbacks();
    for (const OTF2_LocationRef location : locations) {
        OTF2_EvtReader* const file = OTF2_Reader_GetEvtReader(reader, location);
        check(OTF2_Reader_RegisterEvtCallbacks(reader, file, callbacks.get(), nullptr), "events");
        std::uint64_t read = 0;
        check(OTF2_Reader_ReadAllLocalEvents(reader, file, &read), "events");
        check(OTF2_Reader_CloseEvtReader(reader, file), "events");
    }
    check(OTF2_Reader_CloseEvtFiles(reader), "event files");
}

/// Those of this process.
void keep_own_locations()
{
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<OTF2_LocationRef> own;
    for (std::size_t i = 0; i < locations.size(); ++i)
        if (i * static_cast<std::size_t>(size) / locations.size() == static_cast<std::size_t>(rank))
            own.push_back(locations[i]);
    locations = std::move(own);
}

void read(const char* anchor)
{
    OTF2_Reader* const reader = OTF2_Reader_Open(anchor);
    if (reader == nullptr)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader), "reader");
    read_definitions(reader);
    keep_own_locations();
    read_events(reader);
    check(OTF2_Reader_Close(reader), "reader");
}

double processor_seconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * double(t.tv_usec); };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 2 || !std::string_view(argv[1]).ends_with(".otf2")) {  // libotf2 takes no directory
        fmt::print(stderr, "usage: read_trace TRACE/traces.otf2\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const double begin = MPI_Wtime(), processor_begin = processor_seconds();
    read(argv[1]);
    const double processor = processor_seconds() - processor_begin;
    const std::array<double, 2> own = {static_cast<double>(events), processor};
    std::array<double, 2> sums{};
    MPI_Reduce(own.data(), sums.data(), 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    const double elapsed = MPI_Wtime() - begin;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fmt::print("{{\"events\": {:.0f}, \"seconds\": {:.6f}, \"processor_seconds\": {:.6f}}}\n", sums[0], elapsed,
                   sums[1]);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
