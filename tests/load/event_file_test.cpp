// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is read of event files, beside what libotf2 reads of the same files.
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/reader.hpp"
#include "tests/scratch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace critpath::test
{
namespace
{

namespace fs = std::filesystem;
using otf2::EventAttribute;
using otf2::Moment;

constexpr std::uint64_t chunk_size = OTF2_CHUNK_SIZE_MIN;
constexpr OTF2_LocationRef only_location = 7;

void check(OTF2_ErrorCode rc)
{
    ASSERT_EQ(rc, OTF2_SUCCESS) << OTF2_Error_GetDescription(rc);
}

// ---------------------------------------------------------------------------------------------- transcript

/// Stands for a member of any type.
struct Any {
    template <class T>
    operator T() const;
};

template <class Record, class... Members>
constexpr std::size_t members_of(Members... members)
{
    if constexpr (requires { Record{members..., Any{}}; }) {
        return members_of<Record>(members..., Any{});
    } else {
        return sizeof...(members);
    }
}

/// The members of a record, as text.
template <class Record>
std::string text_of(const Record& record)
{
    const auto list = [](const auto&... values) {
        return fmt::format("{}", fmt::join(std::vector<std::uint64_t>{static_cast<std::uint64_t>(values)...}, " "));
    };
    constexpr std::size_t count = members_of<Record>();
    static_assert(count <= 6);
    if constexpr (count == 0) {
        return "";
    } else if constexpr (count == 1) {
        const auto& [a] = record;
        return list(a);
    } else if constexpr (count == 2) {
        const auto& [a, b] = record;
        return list(a, b);
    } else if constexpr (count == 3) {
        const auto& [a, b, c] = record;
        return list(a, b, c);
    } else if constexpr (count == 4) {
        const auto& [a, b, c, d] = record;
        return list(a, b, c, d);
    } else if constexpr (count == 5) {
        const auto& [a, b, c, d, e] = record;
        return list(a, b, c, d, e);
    } else {
        const auto& [a, b, c, d, e, f] = record;
        return list(a, b, c, d, e, f);
    }
}

/// Attributes of what a test writes have references up to this.
constexpr OTF2_AttributeRef last_attribute = 12;

/// A line for each event.
struct Transcript : otf2::EventHandler {
    using EventHandler::on;

    std::vector<std::string> lines;

    void add(const char* kind, const Moment& moment, const std::string& members)
    {
        std::string line = fmt::format("{} {} {}", moment.time, kind, members);
        for (OTF2_AttributeRef a = 0; a <= last_attribute; ++a) {
            const auto say = [&](const char* type, auto value) {
                if (value) {
                    line += fmt::format(" [{} {} {}]", a, type, *value);
                }
            };
            say("u64", moment.uint64(a));
            say("i32", moment.int32(a));
            say("u32", moment.uint32(a));
            say("u8", moment.uint8(a));
            say("comm", moment.comm(a));
            say("context", moment.calling_context(a));
            say("string", moment.string(a));
        }
        lines.push_back(std::move(line));
    }
    void on(const otf2::definition::ClockOffset& offset) override
    {
        lines.push_back(fmt::format("clock {} {} {}", offset.time, offset.offset, offset.deviation));
    }
    void on(const Moment& moment, const otf2::event::Metric& metric) override
    {
        std::string members = fmt::format("{}", metric.metric);
        for (std::size_t i = 0; i < metric.size; ++i) {
            members += fmt::format(" {}:{}", metric.types[i], metric.values[i].unsigned_int);
        }
        add("Metric", moment, members);
    }
#define CRITPATH_TRANSCRIBE(Record)                                                                                    \
    void on(const Moment& moment, const otf2::event::Record& record) override                                          \
    {                                                                                                                  \
        add(#Record, moment, text_of(record));                                                                         \
    }
    CRITPATH_TRANSCRIBE(Enter)
    CRITPATH_TRANSCRIBE(Leave)
    CRITPATH_TRANSCRIBE(CallingContextEnter)
    CRITPATH_TRANSCRIBE(CallingContextLeave)
    CRITPATH_TRANSCRIBE(CallingContextSample)
    CRITPATH_TRANSCRIBE(MpiSend)
    CRITPATH_TRANSCRIBE(MpiIsend)
    CRITPATH_TRANSCRIBE(MpiIsendComplete)
    CRITPATH_TRANSCRIBE(MpiIrecvRequest)
    CRITPATH_TRANSCRIBE(MpiRecv)
    CRITPATH_TRANSCRIBE(MpiIrecv)
    CRITPATH_TRANSCRIBE(MpiRequestCancelled)
    CRITPATH_TRANSCRIBE(MpiCollectiveEnd)
    CRITPATH_TRANSCRIBE(NonBlockingCollectiveRequest)
    CRITPATH_TRANSCRIBE(NonBlockingCollectiveComplete)
    CRITPATH_TRANSCRIBE(RmaCollectiveEnd)
    CRITPATH_TRANSCRIBE(RmaGroupSync)
    CRITPATH_TRANSCRIBE(RmaRequestLock)
    CRITPATH_TRANSCRIBE(RmaAcquireLock)
    CRITPATH_TRANSCRIBE(RmaReleaseLock)
    CRITPATH_TRANSCRIBE(RmaSync)
    CRITPATH_TRANSCRIBE(RmaPut)
    CRITPATH_TRANSCRIBE(RmaGet)
    CRITPATH_TRANSCRIBE(RmaAtomic)
    CRITPATH_TRANSCRIBE(RmaOpCompleteBlocking)
    CRITPATH_TRANSCRIBE(RmaOpCompleteNonBlocking)
    CRITPATH_TRANSCRIBE(RmaOpCompleteRemote)
    CRITPATH_TRANSCRIBE(ThreadFork)
    CRITPATH_TRANSCRIBE(ThreadJoin)
    CRITPATH_TRANSCRIBE(ThreadTeamBegin)
    CRITPATH_TRANSCRIBE(ThreadTeamEnd)
    CRITPATH_TRANSCRIBE(ThreadAcquireLock)
    CRITPATH_TRANSCRIBE(ThreadReleaseLock)
    CRITPATH_TRANSCRIBE(ThreadCreate)
    CRITPATH_TRANSCRIBE(ThreadBegin)
    CRITPATH_TRANSCRIBE(ThreadEnd)
    CRITPATH_TRANSCRIBE(ThreadWait)
    CRITPATH_TRANSCRIBE(BufferFlush)
    CRITPATH_TRANSCRIBE(CommCreate)
    CRITPATH_TRANSCRIBE(ParameterUnsignedInt)
    CRITPATH_TRANSCRIBE(MeasurementOnOff)
    CRITPATH_TRANSCRIBE(Mark)
    CRITPATH_TRANSCRIBE(Other)
#undef CRITPATH_TRANSCRIBE
};

// ----------------------------------------------------------------------------------------------- reference

/// What libotf2 gives a callback, as ours.
std::vector<EventAttribute> attributes_of(OTF2_AttributeList* list)
{
    std::vector<EventAttribute> result(OTF2_AttributeList_GetNumberOfElements(list));
    for (std::uint32_t i = 0; i < result.size(); ++i) {
        check(OTF2_AttributeList_GetAttributeByIndex(list, i, &result[i].self, &result[i].type, &result[i].value));
    }
    return result;
}

// The values of a callback are, in order, the members of our record.
template <class Record, class... Values>
OTF2_CallbackCode happen(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                         OTF2_AttributeList* attributes, Values... values)
{
    static_cast<Transcript*>(user)->on(Moment(time, attributes_of(attributes)), Record{values...});
    return OTF2_CALLBACK_SUCCESS;
}

template <class... Values>
OTF2_CallbackCode happen_only(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                              OTF2_AttributeList* attributes, Values...)
{
    static_cast<Transcript*>(user)->on(Moment(time, attributes_of(attributes)), otf2::event::Mark{});
    return OTF2_CALLBACK_SUCCESS;
}

template <otf2::event::Other::Kind kind, class... Values>
OTF2_CallbackCode happen_other(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                               OTF2_AttributeList* attributes, Values...)
{
    static_cast<Transcript*>(user)->on(Moment(time, attributes_of(attributes)), otf2::event::Other{kind});
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode offset(void* user, OTF2_TimeStamp time, std::int64_t ticks, double deviation)
{
    static_cast<Transcript*>(user)->on(otf2::definition::ClockOffset{time, ticks, deviation});
    return OTF2_CALLBACK_SUCCESS;
}

void set_callbacks(OTF2_EvtReaderCallbacks* c)
{
    using namespace otf2::event;
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

    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetProgramEndCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetCommDestroyCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, happen_only);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(c, happen_only);

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
}

/// All events of the location, through libotf2.
std::vector<std::string> reference(const fs::path& anchor)
{
    const std::unique_ptr<OTF2_Reader, decltype(&OTF2_Reader_Close)> reader(OTF2_Reader_Open(anchor.c_str()),
                                                                            OTF2_Reader_Close);
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()));
    check(OTF2_Reader_SelectLocation(reader.get(), only_location));
    check(OTF2_Reader_OpenDefFiles(reader.get()));
    check(OTF2_Reader_OpenEvtFiles(reader.get()));
    Transcript transcript;
    OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader.get(), only_location);
    OTF2_DefReaderCallbacks* definition_callbacks = OTF2_DefReaderCallbacks_New();
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(definition_callbacks, offset);
    OTF2_Reader_RegisterDefCallbacks(reader.get(), definitions, definition_callbacks, &transcript);
    OTF2_DefReaderCallbacks_Delete(definition_callbacks);
    std::uint64_t found = 0;
    check(OTF2_Reader_ReadAllLocalDefinitions(reader.get(), definitions, &found));
    OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader.get(), only_location);
    check(OTF2_EvtReader_ApplyClockOffsets(events, false));
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    set_callbacks(callbacks);
    OTF2_Reader_RegisterEvtCallbacks(reader.get(), events, callbacks, &transcript);
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    check(OTF2_Reader_ReadAllLocalEvents(reader.get(), events, &found));
    return std::move(transcript.lines);
}

// ------------------------------------------------------------------------------------------------- writing

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

/// Values of all lengths, and those at their ends.
class Values
{
public:
    explicit Values(unsigned seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    template <class T>
    T any()
    {
        switch (below(8)) {
        case 0:
            return std::numeric_limits<T>::max();
        case 1:
            return static_cast<T>(random_());
        default:
            return static_cast<T>(random_() >> below(64));
        }
    }

private:
    std::mt19937_64 random_;
};

using Write = std::function<OTF2_ErrorCode(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Values&)>;

template <class... Members>
Write record(OTF2_ErrorCode (*write)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Members...))
{
    return [write](OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, OTF2_TimeStamp time, Values& values) {
        return write(writer, attributes, time, values.any<Members>()...);
    };
}

OTF2_ErrorCode write_metric(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, OTF2_TimeStamp time, Values& values)
{
    constexpr std::array<OTF2_Type, 3> types = {OTF2_TYPE_UINT64, OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE};
    std::vector<OTF2_Type> type(values.below(40));
    std::vector<OTF2_MetricValue> value(type.size());
    std::ranges::generate(type, [&] { return types[values.below(types.size())]; });
    for (OTF2_MetricValue& v : value) {
        v.unsigned_int = values.any<std::uint64_t>();
    }
    return OTF2_EvtWriter_Metric(writer, attributes, time, values.any<OTF2_MetricRef>(),
                                 static_cast<std::uint8_t>(type.size()), type.data(), value.data());
}

/// With many arguments its length takes more than a byte.
OTF2_ErrorCode write_program_begin(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes, OTF2_TimeStamp time,
                                   Values& values)
{
    std::vector<OTF2_StringRef> arguments(values.below(300));
    std::ranges::generate(arguments, [&] { return values.any<OTF2_StringRef>(); });
    return OTF2_EvtWriter_ProgramBegin(writer, attributes, time, values.any<OTF2_StringRef>(),
                                       static_cast<std::uint32_t>(arguments.size()), arguments.data());
}

// Of some a later version took the place; traces have them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/// Every kind of record that there is.
const std::vector<Write>& records()
{
    static const std::vector<Write> all = {
        write_metric,
        write_program_begin,
        record(OTF2_EvtWriter_Enter),
        record(OTF2_EvtWriter_Leave),
        record(OTF2_EvtWriter_CallingContextEnter),
        record(OTF2_EvtWriter_CallingContextLeave),
        record(OTF2_EvtWriter_CallingContextSample),
        record(OTF2_EvtWriter_MpiSend),
        record(OTF2_EvtWriter_MpiIsend),
        record(OTF2_EvtWriter_MpiIsendComplete),
        record(OTF2_EvtWriter_MpiIrecvRequest),
        record(OTF2_EvtWriter_MpiRecv),
        record(OTF2_EvtWriter_MpiIrecv),
        record(OTF2_EvtWriter_MpiRequestCancelled),
        record(OTF2_EvtWriter_MpiCollectiveEnd),
        record(OTF2_EvtWriter_NonBlockingCollectiveRequest),
        record(OTF2_EvtWriter_NonBlockingCollectiveComplete),
        record(OTF2_EvtWriter_RmaCollectiveEnd),
        record(OTF2_EvtWriter_RmaGroupSync),
        record(OTF2_EvtWriter_RmaRequestLock),
        record(OTF2_EvtWriter_RmaAcquireLock),
        record(OTF2_EvtWriter_RmaReleaseLock),
        record(OTF2_EvtWriter_RmaSync),
        record(OTF2_EvtWriter_RmaPut),
        record(OTF2_EvtWriter_RmaGet),
        record(OTF2_EvtWriter_RmaAtomic),
        record(OTF2_EvtWriter_RmaOpCompleteBlocking),
        record(OTF2_EvtWriter_RmaOpCompleteNonBlocking),
        record(OTF2_EvtWriter_RmaOpCompleteRemote),
        record(OTF2_EvtWriter_ThreadFork),
        record(OTF2_EvtWriter_ThreadJoin),
        record(OTF2_EvtWriter_ThreadTeamBegin),
        record(OTF2_EvtWriter_ThreadTeamEnd),
        record(OTF2_EvtWriter_ThreadAcquireLock),
        record(OTF2_EvtWriter_ThreadReleaseLock),
        record(OTF2_EvtWriter_ThreadCreate),
        record(OTF2_EvtWriter_ThreadBegin),
        record(OTF2_EvtWriter_ThreadEnd),
        record(OTF2_EvtWriter_ThreadWait),
        record(OTF2_EvtWriter_BufferFlush),
        record(OTF2_EvtWriter_CommCreate),
        record(OTF2_EvtWriter_ParameterUnsignedInt),
        record(OTF2_EvtWriter_MeasurementOnOff),
        record(OTF2_EvtWriter_ProgramEnd),
        record(OTF2_EvtWriter_MpiCollectiveBegin),
        record(OTF2_EvtWriter_MpiRequestTest),
        record(OTF2_EvtWriter_CommDestroy),
        record(OTF2_EvtWriter_RmaWinCreate),
        record(OTF2_EvtWriter_RmaWinDestroy),
        record(OTF2_EvtWriter_RmaCollectiveBegin),
        record(OTF2_EvtWriter_OmpFork),
        record(OTF2_EvtWriter_OmpJoin),
        record(OTF2_EvtWriter_OmpAcquireLock),
        record(OTF2_EvtWriter_OmpReleaseLock),
        record(OTF2_EvtWriter_OmpTaskCreate),
        record(OTF2_EvtWriter_OmpTaskSwitch),
        record(OTF2_EvtWriter_OmpTaskComplete),
        record(OTF2_EvtWriter_ParameterString),
        record(OTF2_EvtWriter_ParameterInt),
        record(OTF2_EvtWriter_RmaTryLock),
        record(OTF2_EvtWriter_RmaWaitChange),
        record(OTF2_EvtWriter_RmaOpTest),
        record(OTF2_EvtWriter_ThreadTaskCreate),
        record(OTF2_EvtWriter_ThreadTaskSwitch),
        record(OTF2_EvtWriter_ThreadTaskComplete),
        record(OTF2_EvtWriter_IoCreateHandle),
        record(OTF2_EvtWriter_IoDestroyHandle),
        record(OTF2_EvtWriter_IoDuplicateHandle),
        record(OTF2_EvtWriter_IoSeek),
        record(OTF2_EvtWriter_IoChangeStatusFlags),
        record(OTF2_EvtWriter_IoDeleteFile),
        record(OTF2_EvtWriter_IoOperationBegin),
        record(OTF2_EvtWriter_IoOperationTest),
        record(OTF2_EvtWriter_IoOperationIssued),
        record(OTF2_EvtWriter_IoOperationComplete),
        record(OTF2_EvtWriter_IoOperationCancelled),
        record(OTF2_EvtWriter_IoAcquireLock),
        record(OTF2_EvtWriter_IoReleaseLock),
        record(OTF2_EvtWriter_IoTryLock),
    };
    return all;
}
#pragma GCC diagnostic pop

/// Attributes of any types; none in most cases.
void add_attributes(OTF2_AttributeList* list, Values& values)
{
    if (values.below(4) != 0) {
        return;
    }
    for (std::uint64_t left = values.below(20); left > 0; --left) {
        OTF2_AttributeValue value{};
        value.uint64 = values.any<std::uint64_t>();
        const auto type = static_cast<OTF2_Type>(OTF2_TYPE_UINT8 + values.below(OTF2_TYPE_LOCATION_GROUP));
        const auto attribute = static_cast<OTF2_AttributeRef>(values.below(last_attribute));
        if (!OTF2_AttributeList_TestAttributeByID(list, attribute)) {
            check(OTF2_AttributeList_AddAttribute(list, attribute, type, value));
        }
    }
}

/// Tables for a few of the kinds, of both modes.
void write_tables(OTF2_DefWriter* writer, Values& values)
{
    for (std::uint8_t kind = 0; kind < OTF2_MAPPING_MAX; ++kind) {
        const std::uint64_t size = values.below(50);
        const auto mode = static_cast<OTF2_IdMapMode>(values.below(3));  // 2: none
        if (mode > OTF2_ID_MAP_SPARSE || size == 0) {
            continue;
        }
        OTF2_IdMap* table = OTF2_IdMap_Create(mode, size);
        for (std::uint64_t i = 0; i < size; ++i) {
            const std::uint64_t local = mode == OTF2_ID_MAP_DENSE ? i : values.any<std::uint16_t>();
            OTF2_IdMap_AddIdPair(table, local, values.any<std::uint64_t>());
        }
        check(OTF2_DefWriter_WriteMappingTable(writer, kind, table));
        OTF2_IdMap_Free(table);
    }
}

/// An archive of one location.
class Archive
{
public:
    explicit Archive(const fs::path& directory) : anchor(directory / "traces.otf2")
    {
        handle_ = OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, chunk_size, chunk_size,
                                    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        static const OTF2_FlushCallbacks callbacks = {flush, nullptr};
        check(OTF2_Archive_SetFlushCallbacks(handle_, &callbacks, nullptr));
        check(OTF2_Archive_SetSerialCollectiveCallbacks(handle_));
        check(OTF2_Archive_OpenEvtFiles(handle_));
        check(OTF2_Archive_OpenDefFiles(handle_));
        events = OTF2_Archive_GetEvtWriter(handle_, only_location);
        definitions = OTF2_Archive_GetDefWriter(handle_, only_location);
    }
    /// Returns the number of events.
    std::uint64_t close()
    {
        std::uint64_t count = 0;
        check(OTF2_EvtWriter_GetNumberOfEvents(events, &count));
        check(OTF2_Archive_CloseEvtWriter(handle_, events));
        check(OTF2_Archive_CloseDefWriter(handle_, definitions));
        check(OTF2_Archive_CloseEvtFiles(handle_));
        check(OTF2_Archive_CloseDefFiles(handle_));
        check(OTF2_Archive_Close(handle_));
        return count;
    }

    const fs::path anchor;
    OTF2_EvtWriter* events;
    OTF2_DefWriter* definitions;

private:
    OTF2_Archive* handle_;
};

std::vector<std::string> read(const fs::path& anchor, std::uint64_t promised)
{
    Transcript transcript;
    otf2::Reader(anchor).read_events(only_location, promised, transcript);
    return std::move(transcript.lines);
}

// --------------------------------------------------------------------------------------------------- tests

/// Random records of every kind, in several chunks, with attributes, tables of references, and clock offsets.
TEST(EventFile, IsReadAsLibotf2ReadsIt)
{
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        const Scratch scratch;
        Archive archive(scratch.path() / "trace");
        Values values(seed);
        if (seed % 2 == 0) {
            write_tables(archive.definitions, values);
        }
        for (std::uint64_t t = 1; t < 4; ++t) {
            check(OTF2_DefWriter_WriteClockOffset(archive.definitions, 1000 * t, values.any<std::int64_t>(), 0.125));
        }
        OTF2_AttributeList* attributes = OTF2_AttributeList_New();
        OTF2_TimeStamp time = 0;
        for (int i = 0; i < 30'000; ++i) {
            time += values.below(3);
            add_attributes(attributes, values);
            check(records()[values.below(records().size())](archive.events, attributes, time, values));
        }
        OTF2_AttributeList_Delete(attributes);
        const std::uint64_t count = archive.close();
        const auto expected = reference(archive.anchor);
        ASSERT_EQ(expected.size(), 30'003) << seed;
        EXPECT_GT(fs::file_size(archive.anchor.parent_path() / "traces" / "7.evt"), 2 * chunk_size);
        const auto lines = read(archive.anchor, count);
        ASSERT_EQ(lines.size(), expected.size()) << seed;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            ASSERT_EQ(lines[i], expected[i]) << "seed " << seed << ", event " << i;
        }
    }
}

/// A file with these bytes behind its head, in place of the events of an archive.
class Bytes
{
public:
    Bytes(const fs::path& directory, bool big_endian, const std::vector<std::uint8_t>& records)
    {
        Archive archive(directory);
        archive.close();
        anchor = archive.anchor;
        std::vector<std::uint8_t> bytes = {3, static_cast<std::uint8_t>(big_endian ? 0x23 : 0x42)};
        bytes.resize(18);
        bytes[big_endian ? 9 : 2] = 1;
        bytes.insert(bytes.end(), records.begin(), records.end());
        bytes.insert(bytes.end(), {2, 1});
        std::ofstream(directory / "traces" / "7.evt", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    fs::path anchor;
};

TEST(EventFile, MayHaveTheMostSignificantByteFirst)
{
    const Scratch scratch;
    const Bytes file(scratch.path() / "trace", true, {5,  0, 0, 0, 0, 0,    0, 1, 2,     // time 258
                                                      12, 2, 3, 4,                       // ENTER 772
                                                      14, 8, 1, 5, 0, 0xff, 3, 9, 8, 7,  // MPI_SEND 5 0 all-ones 591879
                                                      10, 8, 0, 0, 0, 0,    0, 0, 3, 4});  // BUFFER_FLUSH 772
    const auto lines = read(file.anchor, 3);
    EXPECT_THAT(lines,
                testing::ElementsAre("258 Enter 772", "258 MpiSend 5 0 4294967295 591879", "258 BufferFlush 772"));
    EXPECT_EQ(lines, reference(file.anchor));
}

/// What later versions may add: values at the end of a record, kinds of records, and types of attributes.
TEST(EventFile, OfALaterVersionIsReadAsFarAsItIsKnown)
{
    const Scratch scratch;
    const Bytes file(scratch.path() / "trace", false,
                     {88 + 60, 3,  1, 2, 3,                         // unknown
                      11,      3,  1, 9, 9,                         // MEASUREMENT_ON_OFF 1, and more
                      6,       10, 1, 2, 1, 4, 1, 77, 1, 5, 99, 3,  // attributes: 4 is 77; 5 is of type 99
                      13,      1,  6});                             // LEAVE 6
    EXPECT_THAT(read(file.anchor, 3), testing::ElementsAre("0 Other 0", "0 MeasurementOnOff 1", "0 Leave 6 [4 u8 77]"));
}

std::string said_of(const std::vector<std::uint8_t>& records, std::uint64_t promised)
{
    const Scratch scratch;
    const Bytes file(scratch.path() / "trace", false, records);
    try {
        read(file.anchor, promised);
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code(), ExitCode::BadTrace);
        return failure.what();
    }
    return "";
}

TEST(EventFile, IsRefusedWhereAValueDoesNotFitItsRecord)
{
    using testing::HasSubstr;
    const auto refused = HasSubstr("the definitions promise 2 events, 1 could be read");
    EXPECT_EQ(said_of({12, 1, 3, 13, 1, 3}, 2), "");
    EXPECT_THAT(said_of({12, 1, 3, 13, 5, 1, 1, 1, 1, 1}, 2), refused);        // a reference has four bytes
    EXPECT_THAT(said_of({12, 1, 3, 14, 3, 1, 1, 0}, 2), refused);              // ends before its tag
    EXPECT_THAT(said_of({12, 1, 3, 10, 7, 1, 2, 3, 4, 5, 6, 7}, 2), refused);  // a time has eight
    EXPECT_THAT(said_of({12, 1, 3, 14, 200, 1, 1}, 2), refused);               // longer than the file
    EXPECT_THAT(said_of({12, 1, 3, 14, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 2), refused);
    EXPECT_THAT(said_of({12, 1, 3, 6, 2, 1, 9, 13, 1, 3}, 2), refused);  // nine attributes, and room for none
    EXPECT_THAT(said_of({12, 1, 3, 4}, 2), refused);                     // no record begins so
    EXPECT_THAT(said_of({12, 1, 3, 31, 2, 1, 255}, 2), refused);         // 255 metrics in no bytes
}

}  // namespace
}  // namespace critpath::test
