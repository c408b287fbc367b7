// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the floor of the cost of a replay: every event of a trace read through libotf2, with callbacks that only count.
// `read_trace TRACE/traces.otf2` prints the number of events and the seconds, as JSON.
#include <fmt/format.h>
#include <otf2/otf2.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

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
    std::exit(EXIT_FAILURE);
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

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        fmt::print(stderr, "usage: read_trace TRACE/traces.otf2\n");
        return 2;
    }
    const auto begin = std::chrono::steady_clock::now();
    OTF2_Reader* const reader = OTF2_Reader_Open(argv[1]);
    if (reader == nullptr)
        return EXIT_FAILURE;
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader), "reader");
    read_definitions(reader);
    read_events(reader);
    check(OTF2_Reader_Close(reader), "reader");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    fmt::print("{{\"events\": {}, \"seconds\": {:.6f}}}\n", events, elapsed.count());
    return EXIT_SUCCESS;
}
