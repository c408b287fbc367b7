// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/reader.hpp"

#include "formats/otf2/anchor_check.hpp"
#include "formats/otf2/file_check.hpp"
#include "formats/support/last_words.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <vector>

namespace critpath::otf2
{

namespace fs = std::filesystem;

namespace
{

// ------------------------------------------------------------------------------------------------ callbacks

/// What the C callbacks get as user data. An exception of the handler must not pass through libotf2: it is kept, the
/// reading is interrupted, and rethrow() goes on with it on our side.
template <class Handler>
struct Sink {
    Handler& handler;
    std::exception_ptr failure;

    template <class... Args>
    OTF2_CallbackCode deliver(const Args&... args) noexcept
    {
        try {
            handler.on(args...);
            return OTF2_CALLBACK_SUCCESS;
        } catch (...) {
            failure = std::current_exception();
            return OTF2_CALLBACK_INTERRUPT;
        }
    }
    void rethrow() const
    {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
};

// The C shims: libotf2's parameters behind the common ones are, in order, the members of our record.
template <class Record, class... Values>
OTF2_CallbackCode define(void* user, Values... values)
{
    return static_cast<Sink<DefinitionHandler>*>(user)->deliver(Record{values...});
}

template <class Record, class... Values>
OTF2_CallbackCode happen(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                         OTF2_AttributeList* attributes, Values... values)
{
    return static_cast<Sink<EventHandler>*>(user)->deliver(Moment(time, attributes), Record{values...});
}

/// For records of which only the time matters.
template <class Record, class... Values>
OTF2_CallbackCode happen_only(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                              OTF2_AttributeList* attributes, Values...)
{
    return static_cast<Sink<EventHandler>*>(user)->deliver(Moment(time, attributes), Record{});
}

template <event::Other::Kind kind, class... Values>
OTF2_CallbackCode happen_other(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                               OTF2_AttributeList* attributes, Values...)
{
    return static_cast<Sink<EventHandler>*>(user)->deliver(Moment(time, attributes), event::Other{kind});
}

using DefinitionCallbacks =
    std::unique_ptr<OTF2_GlobalDefReaderCallbacks, decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>;
using EventCallbacks = std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(&OTF2_EvtReaderCallbacks_Delete)>;

DefinitionCallbacks definition_callbacks()
{
    using namespace definition;
    DefinitionCallbacks callbacks(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
    auto* c = callbacks.get();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, define<ClockProperties>);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, define<String>);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, define<definition::Attribute>);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, define<SystemTreeNode>);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, define<LocationGroup>);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, define<Location>);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, define<Region>);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, define<Group>);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, define<Comm>);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, define<InterComm>);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, define<MetricMember>);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, define<MetricClass>);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, define<CallingContext>);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextPropertyCallback(c, define<CallingContextProperty>);
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(c, define<InterruptGenerator>);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, define<RmaWin>);
    OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(c, define<CartDimension>);
    OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(c, define<CartTopology>);
    OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(c, define<CartCoordinate>);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(c, define<LocationGroupProperty>);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, define<LocationProperty>);
    return callbacks;
}

EventCallbacks event_callbacks()
{
    using namespace event;
    EventCallbacks callbacks(OTF2_EvtReaderCallbacks_New(), OTF2_EvtReaderCallbacks_Delete);
    auto* c = callbacks.get();

    OTF2_EvtReaderCallbacks_SetEnterCallback(c, happen<Enter>);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, happen<Leave>);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, happen<CallingContextEnter>);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, happen<CallingContextLeave>);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(c, happen<CallingContextSample>);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, happen<MpiSend>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, happen<MpiIsend>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, happen<MpiIsendComplete>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, happen<MpiIrecvRequest>);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, happen<MpiRecv>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, happen<MpiIrecv>);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, happen<MpiRequestCancelled>);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, happen<MpiCollectiveEnd>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, happen<NonBlockingCollectiveRequest>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, happen<NonBlockingCollectiveComplete>);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, happen<RmaCollectiveEnd>);
    OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback(c, happen<RmaGroupSync>);
    OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback(c, happen<RmaRequestLock>);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, happen<RmaAcquireLock>);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, happen<RmaReleaseLock>);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(c, happen<RmaSync>);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, happen<RmaPut>);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, happen<RmaGet>);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, happen<RmaAtomic>);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(c, happen<RmaOpCompleteBlocking>);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteNonBlockingCallback(c, happen<RmaOpCompleteNonBlocking>);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteRemoteCallback(c, happen<RmaOpCompleteRemote>);
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, happen<ThreadFork>);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, happen<ThreadJoin>);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, happen<ThreadTeamBegin>);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, happen<ThreadTeamEnd>);
    OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(c, happen<ThreadAcquireLock>);
    OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(c, happen<ThreadReleaseLock>);
    OTF2_EvtReaderCallbacks_SetThreadCreateCallback(c, happen<ThreadCreate>);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(c, happen<ThreadBegin>);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(c, happen<ThreadEnd>);
    OTF2_EvtReaderCallbacks_SetThreadWaitCallback(c, happen<ThreadWait>);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(c, happen<BufferFlush>);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(c, happen<CommCreate>);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(c, happen<ParameterUnsignedInt>);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, happen<MeasurementOnOff>);
    OTF2_EvtReaderCallbacks_SetMetricCallback(c, happen<Metric>);

    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetProgramEndCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetCommDestroyCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, happen_only<Mark>);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(c, happen_only<Mark>);

    using enum Other::Kind;
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, happen_other<Unknown>);
#define CRITPATH_OTHER(record, kind) OTF2_EvtReaderCallbacks_Set##record##Callback(c, happen_other<kind>)
    CRITPATH_OTHER(OmpFork, OpenMp);
    CRITPATH_OTHER(OmpJoin, OpenMp);
    CRITPATH_OTHER(OmpAcquireLock, OpenMp);
    CRITPATH_OTHER(OmpReleaseLock, OpenMp);
    CRITPATH_OTHER(OmpTaskCreate, OpenMp);
    CRITPATH_OTHER(OmpTaskSwitch, OpenMp);
    CRITPATH_OTHER(OmpTaskComplete, OpenMp);
    CRITPATH_OTHER(ParameterString, Parameter);
    CRITPATH_OTHER(ParameterInt, Parameter);
    CRITPATH_OTHER(RmaTryLock, Rma);
    CRITPATH_OTHER(RmaWaitChange, Rma);
    CRITPATH_OTHER(RmaOpTest, Rma);
    CRITPATH_OTHER(ThreadTaskCreate, Thread);
    CRITPATH_OTHER(ThreadTaskSwitch, Thread);
    CRITPATH_OTHER(ThreadTaskComplete, Thread);
    CRITPATH_OTHER(IoCreateHandle, Io);
    CRITPATH_OTHER(IoDestroyHandle, Io);
    CRITPATH_OTHER(IoDuplicateHandle, Io);
    CRITPATH_OTHER(IoSeek, Io);
    CRITPATH_OTHER(IoChangeStatusFlags, Io);
    CRITPATH_OTHER(IoDeleteFile, Io);
    CRITPATH_OTHER(IoOperationBegin, Io);
    CRITPATH_OTHER(IoOperationTest, Io);
    CRITPATH_OTHER(IoOperationIssued, Io);
    CRITPATH_OTHER(IoOperationComplete, Io);
    CRITPATH_OTHER(IoOperationCancelled, Io);
    CRITPATH_OTHER(IoAcquireLock, Io);
    CRITPATH_OTHER(IoReleaseLock, Io);
    CRITPATH_OTHER(IoTryLock, Io);
#undef CRITPATH_OTHER
    return callbacks;
}

// ---------------------------------------------------------------------------------------------------- files

[[noreturn]] void fail_reading(const fs::path& file, OTF2_ErrorCode rc)
{
    fail(ExitCode::BadTrace, "{}: cannot be read: {}; {}", file.string(), describe(rc), retry);
}

/// What is said if reading a file ends this process: libotf2 trusts what it reads.
LastWords last_words(const fs::path& file)
{
    return LastWords(ExitCode::BadTrace,
                     fmt::format("{}: reading it crashed, so its content is damaged; {}", file.string(), retry));
}

/// Most records have no attributes, and asking libotf2 for the value of one that is not there costs as much as reading
/// several records: it makes an error message.
template <class T, class Get>
std::optional<T> value_of(const OTF2_AttributeList* attributes, OTF2_AttributeRef attribute, Get get)
{
    T value{};
    if (!OTF2_AttributeList_TestAttributeByID(attributes, attribute) ||
        get(attributes, attribute, &value) != OTF2_SUCCESS) {
        return {};
    }
    return value;
}

}  // namespace

std::optional<std::uint64_t> Moment::uint64(OTF2_AttributeRef attribute) const
{
    return value_of<std::uint64_t>(attributes_, attribute, OTF2_AttributeList_GetUint64);
}

std::optional<std::int32_t> Moment::int32(OTF2_AttributeRef attribute) const
{
    return value_of<std::int32_t>(attributes_, attribute, OTF2_AttributeList_GetInt32);
}

std::optional<std::uint32_t> Moment::uint32(OTF2_AttributeRef attribute) const
{
    return value_of<std::uint32_t>(attributes_, attribute, OTF2_AttributeList_GetUint32);
}

std::optional<std::uint8_t> Moment::uint8(OTF2_AttributeRef attribute) const
{
    return value_of<std::uint8_t>(attributes_, attribute, OTF2_AttributeList_GetUint8);
}

std::optional<OTF2_CommRef> Moment::comm(OTF2_AttributeRef attribute) const
{
    return value_of<OTF2_CommRef>(attributes_, attribute, OTF2_AttributeList_GetCommRef);
}

std::optional<OTF2_CallingContextRef> Moment::calling_context(OTF2_AttributeRef attribute) const
{
    return value_of<OTF2_CallingContextRef>(attributes_, attribute, OTF2_AttributeList_GetCallingContextRef);
}

std::optional<OTF2_StringRef> Moment::string(OTF2_AttributeRef attribute) const
{
    return value_of<OTF2_StringRef>(attributes_, attribute, OTF2_AttributeList_GetStringRef);
}

static const char* why_no_anchor(const fs::path& directory)
{
    std::error_code error;
    if (fs::is_empty(directory, error)) {
        return "an empty directory: if cpcollect has made it, nothing was recorded, because there was no room (it said "
               "so then) or because nothing that it started came to MPI_Init with what records it; record the program "
               "itself, and not one that starts it with another LD_PRELOAD";
    }
    if (fs::exists(directory / "spool", error)) {
        return "no .otf2 file, only the raw records of an application that did not reach MPI_Finalize; make the trace "
               "of them with cpcollect recover";
    }
    return "no .otf2 file in this directory; give the directory that cpcollect made";
}

fs::path find_anchor(const fs::path& trace)
{
    std::error_code error;
    if (!is_there(trace)) {
        fail(ExitCode::BadTrace, "{}: no such file or directory; give the directory that cpcollect made",
             trace.string());
    }
    if (!fs::is_directory(trace, error)) {
        return trace;
    }
    if (is_there(trace / "traces.otf2")) {
        return trace / "traces.otf2";
    }
    std::vector<fs::path> anchors;
    for (const auto& entry : fs::directory_iterator(trace, error)) {
        if (entry.path().extension() == ".otf2") {
            anchors.push_back(entry.path());
        }
    }
    if (error) {
        fail(ExitCode::BadTrace, "{}: {}; check the permissions", trace.string(), error.message());
    }
    if (anchors.empty()) {
        fail(ExitCode::BadTrace, "{}: {}", trace.string(), why_no_anchor(trace));
    }
    if (anchors.size() > 1) {
        fail(ExitCode::BadTrace, "{}: {} .otf2 files in this directory; give one of them instead", trace.string(),
             anchors.size());
    }
    return anchors.front();
}

// --------------------------------------------------------------------------------------------------- reader

struct Reader::State {
    struct Close {
        void operator()(OTF2_Reader* handle) const { OTF2_Reader_Close(handle); }
    };

    explicit State(const fs::path& file) : anchor(file)
    {
        check_anchor_file(file);
        const LastWords words = last_words(file);
        reader.reset(OTF2_Reader_Open(file.c_str()));
        if (!reader) {
            fail_reading(file, OTF2_ERROR_INVALID_DATA);
        }
        const OTF2_ErrorCode rc = OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
        if (rc != OTF2_SUCCESS) {
            fail_reading(file, rc);
        }
        OTF2_Reader_GetChunkSize(reader.get(), &event_chunk, &definition_chunk);
    }

    /// The file of a location: <anchor without .otf2>/<location>.<extension>
    [[nodiscard]] fs::path file_of(OTF2_LocationRef location, const char* extension) const
    {
        return fs::path(anchor).replace_extension() / fmt::format("{}.{}", location, extension);
    }

    QuietErrors quiet;  // outlives the reader, which may say something when it closes
    fs::path anchor;
    std::unique_ptr<OTF2_Reader, Close> reader;
    std::uint64_t event_chunk = 0;  // bytes
    std::uint64_t definition_chunk = 0;
    CheckMemory check_memory;
    EventCallbacks callbacks = event_callbacks();
    bool open = false;  // event and definition files
};

Reader::Reader(const fs::path& anchor) : state_(std::make_unique<State>(anchor)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

fs::path Reader::event_file(OTF2_LocationRef location) const
{
    return state_->file_of(location, "evt");
}

void Reader::read_definitions(DefinitionHandler& handler)
{
    OTF2_Reader* reader = state_->reader.get();
    const fs::path file = fs::path(state_->anchor).replace_extension("def");
    if (!is_there(file)) {
        fail(ExitCode::BadTrace, "{}: missing, though the anchor file is there; {}", file.string(), retry);
    }
    check_definition_file(file, state_->definition_chunk, Definitions::Global, state_->check_memory);
    const LastWords words = last_words(file);
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (definitions == nullptr) {
        fail_reading(file, OTF2_ERROR_INVALID_DATA);
    }
    Sink<DefinitionHandler> sink{handler, {}};
    const auto callbacks = definition_callbacks();
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), &sink);
    std::uint64_t promised = 0;
    std::uint64_t found = 0;
    OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &promised);
    const OTF2_ErrorCode rc = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &found);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    sink.rethrow();
    if (found != promised) {
        fail(ExitCode::BadTrace, "{}: the anchor file promises {} definitions, {} could be read; {}", file.string(),
             promised, found, retry);
    }
    if (rc != OTF2_SUCCESS) {
        fail_reading(file, rc);
    }
}

std::string Reader::property(const std::string& name) const
{
    char* value = nullptr;
    const OTF2_ErrorCode rc = OTF2_Reader_GetProperty(state_->reader.get(), name.c_str(), &value);
    std::string text = rc == OTF2_SUCCESS && value != nullptr ? value : "";
    std::free(value);
    take_message();  // that there is no such property is no failure
    return text;
}

void Reader::select(OTF2_LocationRef location, std::uint64_t promised)
{
    const fs::path file = event_file(location);
    std::error_code error;
    if (promised > 0) {
        if (!is_there(file)) {
            fail(ExitCode::BadTrace, "{}: missing, though the definitions promise {} events in it; {}", file.string(),
                 promised, retry);
        }
        if (!fs::is_regular_file(file, error)) {
            fail(ExitCode::BadTrace, "{}: not a file; {}", file.string(), retry);
        }
        // Before memory is reserved for them.
        constexpr std::uint64_t smallest_event = 2;
        const std::uint64_t size = fs::file_size(file, error);
        if (!error && promised > size / smallest_event) {
            fail(ExitCode::BadTrace, "{}: {}, though the definitions promise {} events in it; {}", file.string(),
                 size == 0 ? "empty" : fmt::format("has {} bytes", size), promised, retry);
        }
    }
    const OTF2_ErrorCode rc = OTF2_Reader_SelectLocation(state_->reader.get(), location);
    if (rc != OTF2_SUCCESS) {
        fail_reading(file, rc);
    }
}

namespace
{

OTF2_CallbackCode deliver_clock_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double deviation)
{
    return static_cast<Sink<EventHandler>*>(user)->deliver(definition::ClockOffset{time, offset, deviation});
}

}  // namespace

/// Local definitions map the references in the events of a location to the global ones, and say how its clock went. An
/// archive may do without them, but not for some of its locations.
static void read_local_definitions(OTF2_Reader* reader, OTF2_LocationRef location, const fs::path& file,
                                   std::uint64_t chunk_size, CheckMemory& memory, EventHandler& handler)
{
    std::error_code error;
    if (!is_there(file)) {
        for (const auto& other : fs::directory_iterator(file.parent_path(), error)) {
            if (other.path().extension() == ".def") {
                fail(ExitCode::BadTrace, "{}: missing, though other locations have theirs; {}", file.string(), retry);
            }
        }
        return;
    }
    check_definition_file(file, chunk_size, Definitions::Local, memory);
    const LastWords words = last_words(file);
    OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader, location);
    if (definitions == nullptr) {
        fail_reading(file, OTF2_ERROR_INVALID_DATA);
    }
    Sink<EventHandler> sink{handler, {}};
    const std::unique_ptr<OTF2_DefReaderCallbacks, decltype(&OTF2_DefReaderCallbacks_Delete)> callbacks(
        OTF2_DefReaderCallbacks_New(), OTF2_DefReaderCallbacks_Delete);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks.get(), deliver_clock_offset);
    OTF2_Reader_RegisterDefCallbacks(reader, definitions, callbacks.get(), &sink);
    std::uint64_t found = 0;
    const OTF2_ErrorCode rc = OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &found);
    OTF2_Reader_CloseDefReader(reader, definitions);
    sink.rethrow();
    if (rc != OTF2_SUCCESS) {
        fail_reading(file, rc);
    }
}

void Reader::read_events(OTF2_LocationRef location, std::uint64_t promised, EventHandler& handler)
{
    if (promised == 0) {
        return;
    }
    OTF2_Reader* reader = state_->reader.get();
    const fs::path file = event_file(location);
    if (!state_->open) {
        check(OTF2_Reader_OpenDefFiles(reader), "{}: opening the definition files", state_->anchor.string());
        check(OTF2_Reader_OpenEvtFiles(reader), "{}: opening the event files", state_->anchor.string());
        state_->open = true;
    }
    take_message();
    read_local_definitions(reader, location, state_->file_of(location, "def"), state_->definition_chunk,
                           state_->check_memory, handler);

    check_event_file(file, state_->event_chunk, promised, state_->check_memory);
    const LastWords words = last_words(file);
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader, location);
    if (events == nullptr) {
        fail_reading(file, OTF2_ERROR_INVALID_DATA);
    }
    check(OTF2_EvtReader_ApplyClockOffsets(events, false), "{}", file.string());
    Sink<EventHandler> sink{handler, {}};
    OTF2_Reader_RegisterEvtCallbacks(reader, events, state_->callbacks.get(), &sink);
    std::uint64_t found = 0;
    const OTF2_ErrorCode rc = OTF2_Reader_ReadLocalEvents(reader, events, promised + 1, &found);
    OTF2_Reader_CloseEvtReader(reader, events);
    sink.rethrow();
    if (found != promised) {
        fail(ExitCode::BadTrace, "{}: the definitions promise {} events, {} could be read; {}", file.string(), promised,
             found, retry);
    }
    if (rc != OTF2_SUCCESS) {
        fail_reading(file, rc);
    }
}

}  // namespace critpath::otf2
