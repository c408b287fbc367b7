// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/event_file.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace critpath::otf2
{

namespace
{

// The first byte of a record: what stands before events, and events as in libotf2's list of them (otf2_events_int.h).
namespace type
{
enum : std::uint8_t {
    timestamp = 5,
    attribute_list = 6,
    buffer_flush = 10,
    measurement_on_off = 11,
    enter = 12,
    leave = 13,
    mpi_send = 14,
    mpi_isend = 15,
    mpi_isend_complete = 16,
    mpi_irecv_request = 17,
    mpi_recv = 18,
    mpi_irecv = 19,
    mpi_request_test = 20,
    mpi_request_cancelled = 21,
    mpi_collective_begin = 22,
    mpi_collective_end = 23,
    omp_fork = 24,
    omp_join = 25,
    omp_acquire_lock = 26,
    omp_release_lock = 27,
    omp_task_create = 28,
    omp_task_switch = 29,
    omp_task_complete = 30,
    metric = 31,
    parameter_string = 32,
    parameter_int = 33,
    parameter_unsigned_int = 34,
    rma_win_create = 35,
    rma_win_destroy = 36,
    rma_collective_begin = 37,
    rma_collective_end = 38,
    rma_group_sync = 39,
    rma_request_lock = 40,
    rma_acquire_lock = 41,
    rma_try_lock = 42,
    rma_release_lock = 43,
    rma_sync = 44,
    rma_wait_change = 45,
    rma_put = 46,
    rma_get = 47,
    rma_atomic = 48,
    rma_op_complete_blocking = 49,
    rma_op_complete_non_blocking = 50,
    rma_op_test = 51,
    rma_op_complete_remote = 52,
    thread_fork = 53,
    thread_join = 54,
    thread_team_begin = 55,
    thread_team_end = 56,
    thread_acquire_lock = 57,
    thread_release_lock = 58,
    thread_task_create = 59,
    thread_task_switch = 60,
    thread_task_complete = 61,
    thread_create = 62,
    thread_begin = 63,
    thread_wait = 64,
    thread_end = 65,
    calling_context_enter = 66,
    calling_context_leave = 67,
    calling_context_sample = 68,
    io_create_handle = 69,
    io_try_lock = 82,
    program_begin = 83,
    program_end = 84,
    non_blocking_collective_request = 85,
    non_blocking_collective_complete = 86,
    comm_create = 87,
    comm_destroy = 88,
};
}  // namespace type

/// Of records whose content nobody asks for.
event::Other other(std::uint8_t record)
{
    using enum event::Other::Kind;
    switch (record) {
    case type::omp_fork:
    case type::omp_join:
    case type::omp_acquire_lock:
    case type::omp_release_lock:
    case type::omp_task_create:
    case type::omp_task_switch:
    case type::omp_task_complete:
        return {OpenMp};
    case type::parameter_string:
    case type::parameter_int:
        return {Parameter};
    case type::rma_try_lock:
    case type::rma_wait_change:
    case type::rma_op_test:
        return {Rma};
    case type::thread_task_create:
    case type::thread_task_switch:
    case type::thread_task_complete:
        return {Thread};
    default:
        return {type::io_create_handle <= record && record <= type::io_try_lock ? Io : Unknown};
    }
}

/// Delivers the events of a file, chunk after chunk.
class EventDecoder
{
public:
    EventDecoder(const LocalDefinitions& local, EventHandler& handler) : local_(local), handler_(handler) {}

    /// So many have been delivered; also where numbers of events are counted from, for who leaves out chunks.
    std::uint64_t events = 0;

    /// The events up to the end of a chunk, of the file, or to one that cannot be read.
    ChunkEnd read(ByteReader& of_chunk)
    {
        ByteReader records = of_chunk;  // so that it stays in registers
        const ChunkEnd end = read_all(records);
        of_chunk = records;
        return end;
    }

private:
    [[gnu::always_inline]] ChunkEnd read_all(ByteReader& records)
    {
        for (;;) {
            switch (const std::uint8_t record = records.byte()) {
            case mark::end_of_chunk:
                return records.is_broken() ? ChunkEnd::Broken : ChunkEnd::Chunk;
            case mark::end_of_file:
                return ChunkEnd::File;
            case mark::end_of_buffer:
            case mark::chunk_head:
            case mark::chunk_head + 1:
                return ChunkEnd::Broken;
            case type::timestamp:
                time_ = records.whole<std::uint64_t>();
                break;
            case type::attribute_list:
                read_attributes(records.record());
                of_next_ = attributes_;
                break;
            default:
                if (!deliver_short(record, records)) {
                    ByteReader content = records.record();
                    deliver_long(record, content);
                }
            }
            if (is_broken_) {
                return ChunkEnd::Broken;
            }
        }
    }

    /// Of a reference that is 4 bytes.
    [[gnu::always_inline]] std::uint32_t reference(OTF2_MappingType what, ByteReader& in) const
    {
        const auto self = in.compressed<std::uint32_t>();
        const auto& map = local_.maps[what];
        return map ? static_cast<std::uint32_t>((*map)(self)) : self;
    }
    [[gnu::always_inline]] OTF2_RegionRef region(ByteReader& in) const { return reference(OTF2_MAPPING_REGION, in); }
    [[gnu::always_inline]] OTF2_CommRef comm(ByteReader& in) const { return reference(OTF2_MAPPING_COMM, in); }
    [[gnu::always_inline]] OTF2_RmaWinRef window(ByteReader& in) const { return reference(OTF2_MAPPING_RMA_WIN, in); }
    [[gnu::always_inline]] OTF2_CallingContextRef context(ByteReader& in) const
    {
        return reference(OTF2_MAPPING_CALLING_CONTEXT, in);
    }
    [[gnu::always_inline]] static std::uint32_t u32(ByteReader& in) { return in.compressed<std::uint32_t>(); }
    [[gnu::always_inline]] static std::uint64_t u64(ByteReader& in) { return in.compressed<std::uint64_t>(); }

    /// `in` is where the values of the record come from, by now.
    template <class Record>
    [[gnu::always_inline]] void deliver(const ByteReader& in, const Record& record)
    {
        if (in.is_broken()) {
            is_broken_ = true;
            return;
        }
        handler_.on(Moment(time_, of_next_), record);
        if (of_next_.data() != nullptr) [[unlikely]] {
            attributes_.clear();
            of_next_ = {};
        }
        ++events;
    }

    /// Events that are one compressed integer, without a length. Whether it is one.
    [[gnu::always_inline]] bool deliver_short(std::uint8_t record, ByteReader& in)
    {
        using namespace event;
        switch (record) {
        case type::enter:
            deliver(in, Enter{region(in)});
            return true;
        case type::leave:
            deliver(in, Leave{region(in)});
            return true;
        case type::mpi_isend_complete:
            deliver(in, MpiIsendComplete{u64(in)});
            return true;
        case type::mpi_irecv_request:
            deliver(in, MpiIrecvRequest{u64(in)});
            return true;
        case type::mpi_request_cancelled:
            deliver(in, MpiRequestCancelled{u64(in)});
            return true;
        case type::mpi_request_test:
            u64(in);
            deliver(in, Mark{});
            return true;
        case type::omp_fork:
            u32(in);
            deliver(in, other(record));
            return true;
        case type::omp_task_create:
        case type::omp_task_switch:
        case type::omp_task_complete:
            u64(in);
            deliver(in, other(record));
            return true;
        default:
            return false;
        }
    }

    /// Events with a length, so that values which later versions add can be stepped over.
    [[gnu::always_inline]] void deliver_long(std::uint8_t record, ByteReader& in)
    {
        using namespace event;
        switch (record) {
        case type::calling_context_enter:
            return deliver(in, CallingContextEnter{context(in), u32(in)});
        case type::calling_context_leave:
            return deliver(in, CallingContextLeave{context(in)});
        case type::calling_context_sample:
            return deliver(in,
                           CallingContextSample{context(in), u32(in), reference(OTF2_MAPPING_INTERRUPT_GENERATOR, in)});
        case type::metric:
            return deliver_metric(in);
        case type::mpi_send:
            return deliver(in, MpiSend{u32(in), comm(in), u32(in), u64(in)});
        case type::mpi_isend:
            return deliver(in, MpiIsend{u32(in), comm(in), u32(in), u64(in), u64(in)});
        case type::mpi_recv:
            return deliver(in, MpiRecv{u32(in), comm(in), u32(in), u64(in)});
        case type::mpi_irecv:
            return deliver(in, MpiIrecv{u32(in), comm(in), u32(in), u64(in), u64(in)});
        case type::mpi_collective_end:
            return deliver(in, MpiCollectiveEnd{in.byte(), comm(in), u32(in), u64(in), u64(in)});
        case type::non_blocking_collective_request:
            return deliver(in, NonBlockingCollectiveRequest{u64(in)});
        case type::non_blocking_collective_complete:
            return deliver(in, NonBlockingCollectiveComplete{in.byte(), comm(in), u32(in), u64(in), u64(in), u64(in)});
        case type::rma_collective_end:
            return deliver(in, RmaCollectiveEnd{in.byte(), u32(in), window(in), u32(in), u64(in), u64(in)});
        case type::rma_group_sync:
            return deliver(in, RmaGroupSync{u32(in), window(in), reference(OTF2_MAPPING_GROUP, in)});
        case type::rma_request_lock:
            return deliver(in, RmaRequestLock{window(in), u32(in), u64(in), in.byte()});
        case type::rma_acquire_lock:
            return deliver(in, RmaAcquireLock{window(in), u32(in), u64(in), in.byte()});
        case type::rma_release_lock:
            return deliver(in, RmaReleaseLock{window(in), u32(in), u64(in)});
        case type::rma_sync:
            return deliver(in, RmaSync{window(in), u32(in), in.byte()});
        case type::rma_put:
            return deliver(in, RmaPut{window(in), u32(in), u64(in), u64(in)});
        case type::rma_get:
            return deliver(in, RmaGet{window(in), u32(in), u64(in), u64(in)});
        case type::rma_atomic:
            return deliver(in, RmaAtomic{window(in), u32(in), in.byte(), u64(in), u64(in), u64(in)});
        case type::rma_op_complete_blocking:
            return deliver(in, RmaOpCompleteBlocking{window(in), u64(in)});
        case type::rma_op_complete_non_blocking:
            return deliver(in, RmaOpCompleteNonBlocking{window(in), u64(in)});
        case type::rma_op_complete_remote:
            return deliver(in, RmaOpCompleteRemote{window(in), u64(in)});
        case type::thread_fork:
            return deliver(in, ThreadFork{in.byte(), u32(in)});
        case type::thread_join:
            return deliver(in, ThreadJoin{in.byte()});
        case type::thread_team_begin:
            return deliver(in, ThreadTeamBegin{comm(in)});
        case type::thread_team_end:
            return deliver(in, ThreadTeamEnd{comm(in)});
        case type::thread_acquire_lock:
            return deliver(in, ThreadAcquireLock{in.byte(), u32(in), u32(in)});
        case type::thread_release_lock:
            return deliver(in, ThreadReleaseLock{in.byte(), u32(in), u32(in)});
        case type::thread_create:
            return deliver(in, ThreadCreate{comm(in), u64(in)});
        case type::thread_begin:
            return deliver(in, ThreadBegin{comm(in), u64(in)});
        case type::thread_wait:
            return deliver(in, ThreadWait{comm(in), u64(in)});
        case type::thread_end:
            return deliver(in, ThreadEnd{comm(in), u64(in)});
        case type::buffer_flush:
            return deliver(in, BufferFlush{in.whole<std::uint64_t>()});
        case type::measurement_on_off:
            return deliver(in, MeasurementOnOff{in.byte()});
        case type::comm_create:
            return deliver(in, CommCreate{comm(in)});
        case type::parameter_unsigned_int:
            return deliver(in, ParameterUnsignedInt{reference(OTF2_MAPPING_PARAMETER, in), u64(in)});
        case type::program_begin:
        case type::program_end:
        case type::mpi_collective_begin:
        case type::comm_destroy:
        case type::rma_win_create:
        case type::rma_win_destroy:
        case type::rma_collective_begin:
            return deliver(in, Mark{});
        default:
            return deliver(in, other(record));
        }
    }

    void deliver_metric(ByteReader& in)
    {
        std::array<OTF2_Type, 255> types;
        std::array<OTF2_MetricValue, 255> values;
        const OTF2_MetricRef metric = reference(OTF2_MAPPING_METRIC, in);
        const std::uint8_t size = in.byte();
        for (std::size_t i = 0; i < size; ++i) {
            types[i] = in.byte();
            values[i].unsigned_int = u64(in);
        }
        deliver(in, event::Metric{metric, size, types.data(), values.data()});
    }

    /// Attributes come before their event. What is behind one of a type that we do not know cannot be read.
    void read_attributes(ByteReader in)
    {
        for (std::uint32_t left = u32(in); left > 0 && !in.is_broken(); --left) {
            EventAttribute attribute{reference(OTF2_MAPPING_ATTRIBUTE, in), in.byte(), {}};
            if (!in.is_broken() && !read_value(in, attribute)) {
                return;
            }
            attributes_.push_back(attribute);
        }
        is_broken_ = is_broken_ || in.is_broken();
    }

    /// Whether its type is known.
    bool read_value(ByteReader& in, EventAttribute& attribute) const
    {
        OTF2_AttributeValue& value = attribute.value;
        switch (attribute.type) {
        case OTF2_TYPE_UINT8:
        case OTF2_TYPE_INT8:
            value.uint8 = in.byte();
            return true;
        case OTF2_TYPE_UINT16:
        case OTF2_TYPE_INT16:
            value.uint16 = in.whole<std::uint16_t>();
            return true;
        case OTF2_TYPE_UINT32:
        case OTF2_TYPE_INT32:
            value.uint32 = u32(in);
            return true;
        case OTF2_TYPE_UINT64:
        case OTF2_TYPE_INT64:
            value.uint64 = u64(in);
            return true;
        case OTF2_TYPE_FLOAT:
            value.uint32 = in.whole<std::uint32_t>();
            return true;
        case OTF2_TYPE_DOUBLE:
            value.uint64 = in.whole<std::uint64_t>();
            return true;
        case OTF2_TYPE_LOCATION: {
            const auto& map = local_.maps[OTF2_MAPPING_LOCATION];
            value.locationRef = u64(in);
            value.locationRef = map ? (*map)(value.locationRef) : value.locationRef;
            return true;
        }
        default:
            break;
        }
        // References are in the same order as the tables for them.
        static_assert(OTF2_TYPE_COMM - OTF2_TYPE_STRING == OTF2_MAPPING_COMM &&
                      OTF2_TYPE_LOCATION_GROUP - OTF2_TYPE_STRING == OTF2_MAPPING_LOCATION_GROUP);
        if (attribute.type < OTF2_TYPE_STRING || attribute.type > OTF2_TYPE_LOCATION_GROUP) {
            return false;
        }
        value.uint32 = reference(static_cast<OTF2_MappingType>(attribute.type - OTF2_TYPE_STRING), in);
        return true;
    }

    const LocalDefinitions& local_;
    EventHandler& handler_;
    OTF2_TimeStamp time_ = 0;
    std::vector<EventAttribute> attributes_;     // of the next event, and
    std::span<const EventAttribute> of_next_{};  // all of them; null: there are none, as mostly
    bool is_broken_ = false;
};

[[noreturn]] void fail_after(const InputFile& file, std::uint64_t events, std::uint64_t promised)
{
    if (events == promised) {
        file.damaged_at_end();  // all are there, and something is behind them
    }
    file.damaged("the definitions promise {} events, {} could be read", promised, events);
}

/// The chunks of a file; `read` takes the events of one that is not the last.
template <class Read>
void read_file(const InputFile& file, std::uint64_t promised, ChunkMemory& memory, EventDecoder& decoder, Read read)
{
    std::uint64_t begin = 0;
    for (; !file.is_last(begin); begin = file.end_of_chunk(begin)) {
        if (!read(begin)) {
            fail_after(file, decoder.events, promised);
        }
    }
    auto last = file.chunk(begin, memory);
    const ChunkEnd end = last ? decoder.read(last->records) : ChunkEnd::Broken;
    if (end == ChunkEnd::Broken || decoder.events != promised) {
        fail_after(file, decoder.events, promised);
    }
    if (end != ChunkEnd::File || !is_at_end(last->records)) {
        file.damaged_at_end();
    }
}

}  // namespace

void read_event_file(const std::filesystem::path& name, std::uint64_t chunk_size, std::uint64_t promised,
                     const LocalDefinitions& local, ChunkMemory& memory, EventHandler& handler)
{
    const InputFile file(name, chunk_size);
    EventDecoder decoder(local, handler);
    read_file(file, promised, memory, decoder, [&](std::uint64_t begin) {
        auto chunk = file.chunk(begin, memory);
        return chunk && chunk->first_event == decoder.events + 1 && decoder.read(chunk->records) == ChunkEnd::Chunk &&
               decoder.events == chunk->last_event;
    });
}

void check_event_file(const std::filesystem::path& name, std::uint64_t chunk_size, std::uint64_t promised,
                      ChunkMemory& memory)
{
    const InputFile file(name, chunk_size);
    const LocalDefinitions local;
    EventHandler nobody;
    EventDecoder decoder(local, nobody);
    read_file(file, promised, memory, decoder, [&](std::uint64_t begin) {
        const auto chunk = file.chunk_head(begin, memory);
        if (!chunk || chunk->first_event != decoder.events + 1 || chunk->last_event < decoder.events) {
            return false;
        }
        decoder.events = chunk->last_event;
        return true;
    });
}

}  // namespace critpath::otf2
