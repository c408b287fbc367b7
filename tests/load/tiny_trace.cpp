// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/load/tiny_trace.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <tuple>
#include <utility>

namespace critpath::test
{

namespace
{

void check(OTF2_ErrorCode rc)
{
    if (rc != OTF2_SUCCESS) {
        throw std::runtime_error(OTF2_Error_GetDescription(rc));
    }
}

OTF2_FlushType flush_before_close(void*, OTF2_FileType, OTF2_LocationRef, void*, bool)
{
    return OTF2_FLUSH;
}

std::uint64_t now(void*, OTF2_FileType, OTF2_LocationRef)
{
    return 0;
}

/// An attribute list that is handed to one record.
class List
{
public:
    ~List() { OTF2_AttributeList_Delete(list_); }
    List() = default;
    List(const List&) = delete;
    List& operator=(const List&) = delete;
    OTF2_AttributeList* get() { return list_; }

private:
    OTF2_AttributeList* list_ = OTF2_AttributeList_New();
};

constexpr OTF2_LocationRef thread_stride = 1ULL << 32;

}  // namespace

TinyThread& TinyThread::enter(std::uint64_t time, const std::string& region)
{
    check(OTF2_EvtWriter_Enter(writer_, nullptr, time, trace_.region(region)));
    return *this;
}

TinyThread& TinyThread::leave(std::uint64_t time, const std::string& region)
{
    check(OTF2_EvtWriter_Leave(writer_, nullptr, time, trace_.region(region)));
    return *this;
}

TinyThread& TinyThread::leave_on(std::uint64_t time, const std::string& region, std::uint32_t processor)
{
    List list;
    check(OTF2_AttributeList_AddUint32(list.get(), TinyTrace::processor_attribute, processor));
    check(OTF2_EvtWriter_Leave(writer_, list.get(), time, trace_.region(region)));
    return *this;
}

TinyThread& TinyThread::leave_probe(std::uint64_t time, const std::string& region, const std::string& comm,
                                    std::int32_t source, std::int32_t tag)
{
    List list;
    check(OTF2_AttributeList_AddInt32(list.get(), TinyTrace::source_attribute, source));
    check(OTF2_AttributeList_AddInt32(list.get(), TinyTrace::tag_attribute, tag));
    check(OTF2_AttributeList_AddCommRef(list.get(), TinyTrace::comm_attribute, trace_.comm_reference(comm)));
    check(OTF2_EvtWriter_Leave(writer_, list.get(), time, trace_.region(region)));
    return *this;
}

TinyThread& TinyThread::leave_mprobe(std::uint64_t time, const std::string& region, std::uint64_t message)
{
    List list;
    check(OTF2_AttributeList_AddInt32(list.get(), TinyTrace::source_attribute, 0));
    check(OTF2_AttributeList_AddUint64(list.get(), TinyTrace::message_attribute, message));
    check(OTF2_EvtWriter_Leave(writer_, list.get(), time, trace_.region(region)));
    return *this;
}

TinyThread& TinyThread::send(std::uint64_t time, const std::string& comm, std::uint32_t to, std::uint32_t tag,
                             std::uint64_t bytes)
{
    check(OTF2_EvtWriter_MpiSend(writer_, nullptr, time, to, trace_.comm_reference(comm), tag, bytes));
    return *this;
}

TinyThread& TinyThread::isend(std::uint64_t time, const std::string& comm, std::uint32_t to, std::uint32_t tag,
                              std::uint64_t bytes, std::uint64_t request, std::uint8_t mode)
{
    List list;
    if (mode != 0) {
        check(OTF2_AttributeList_AddUint8(list.get(), TinyTrace::mode_attribute, mode));
    }
    check(OTF2_EvtWriter_MpiIsend(writer_, list.get(), time, to, trace_.comm_reference(comm), tag, bytes, request));
    return *this;
}

TinyThread& TinyThread::isend_complete(std::uint64_t time, std::uint64_t request)
{
    check(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, time, request));
    return *this;
}

TinyThread& TinyThread::recv(std::uint64_t time, const std::string& comm, std::uint32_t from, std::uint32_t tag,
                             std::uint64_t bytes, std::uint64_t message)
{
    List list;
    if (message != 0) {
        check(OTF2_AttributeList_AddUint64(list.get(), TinyTrace::message_attribute, message));
    }
    check(OTF2_EvtWriter_MpiRecv(writer_, list.get(), time, from, trace_.comm_reference(comm), tag, bytes));
    return *this;
}

TinyThread& TinyThread::irecv_request(std::uint64_t time, std::uint64_t request, std::uint64_t message)
{
    List list;
    if (message != 0) {
        check(OTF2_AttributeList_AddUint64(list.get(), TinyTrace::message_attribute, message));
    }
    check(OTF2_EvtWriter_MpiIrecvRequest(writer_, list.get(), time, request));
    return *this;
}

TinyThread& TinyThread::irecv(std::uint64_t time, const std::string& comm, std::uint32_t from, std::uint32_t tag,
                              std::uint64_t bytes, std::uint64_t request)
{
    check(OTF2_EvtWriter_MpiIrecv(writer_, nullptr, time, from, trace_.comm_reference(comm), tag, bytes, request));
    return *this;
}

TinyThread& TinyThread::cancelled(std::uint64_t time, std::uint64_t request)
{
    check(OTF2_EvtWriter_MpiRequestCancelled(writer_, nullptr, time, request));
    return *this;
}

TinyThread& TinyThread::collective(std::uint64_t begin, std::uint64_t end, OTF2_CollectiveOp operation,
                                   const std::string& comm, std::uint32_t root, std::uint64_t sent,
                                   std::uint64_t received)
{
    check(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, begin));
    check(OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, end, operation, trace_.comm_reference(comm), root, sent,
                                          received));
    return *this;
}

TinyThread& TinyThread::sample(std::uint64_t time, const std::string& region, std::uint64_t offset,
                               std::uint64_t period, std::uint64_t page_faults)
{
    List list;
    if (page_faults != 0) {
        check(OTF2_AttributeList_AddUint64(list.get(), TinyTrace::page_faults_attribute, page_faults));
    }
    check(OTF2_AttributeList_AddUint64(list.get(), TinyTrace::offset_attribute, offset));
    if (period != 0) {
        check(OTF2_AttributeList_AddUint64(list.get(), TinyTrace::period_attribute, period));
    }
    check(OTF2_EvtWriter_CallingContextSample(writer_, list.get(), time, trace_.context(region), 1, 4));
    return *this;
}

TinyThread& TinyThread::flush(std::uint64_t begin, std::uint64_t end)
{
    check(OTF2_EvtWriter_BufferFlush(writer_, nullptr, begin, end));
    return *this;
}

TinyThread& TinyThread::measurement(std::uint64_t time, bool on)
{
    check(OTF2_EvtWriter_MeasurementOnOff(writer_, nullptr, time, on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
    return *this;
}

TinyThread& TinyThread::switched_off(std::uint64_t time, const std::string& reason)
{
    List list;
    check(OTF2_AttributeList_AddStringRef(list.get(), TinyTrace::reason_attribute, trace_.string(reason)));
    check(OTF2_EvtWriter_MeasurementOnOff(writer_, list.get(), time, OTF2_MEASUREMENT_OFF));
    return *this;
}

TinyThread& TinyThread::skipped_sends(std::uint64_t time, std::int32_t count, std::int32_t dest, std::int32_t tag,
                                      const std::string& comm)
{
    List list;
    check(OTF2_AttributeList_AddInt32(list.get(), TinyTrace::skipped_attribute, count));
    check(OTF2_AttributeList_AddCommRef(list.get(), TinyTrace::comm_attribute, trace_.comm_reference(comm)));
    check(OTF2_AttributeList_AddInt32(list.get(), TinyTrace::dest_attribute, dest));
    check(OTF2_AttributeList_AddInt32(list.get(), TinyTrace::tag_attribute, tag));
    check(OTF2_EvtWriter_MeasurementOnOff(writer_, list.get(), time, OTF2_MEASUREMENT_OFF));
    return *this;
}

TinyThread& TinyThread::graph(std::uint64_t time, const std::string& comm, std::uint32_t in_degree)
{
    List list;
    check(OTF2_AttributeList_AddUint32(list.get(), TinyTrace::in_degree_attribute, in_degree));
    check(OTF2_EvtWriter_CommCreate(writer_, list.get(), time, trace_.comm_reference(comm)));
    return *this;
}

TinyThread& TinyThread::parameter(std::uint64_t time, std::uint64_t value)
{
    check(OTF2_EvtWriter_ParameterUnsignedInt(writer_, nullptr, time, 7, value));
    return *this;
}

TinyThread& TinyThread::collective_request(std::uint64_t time, std::uint64_t request, std::uint8_t operation)
{
    List list;
    if (operation != 0xff) {
        check(OTF2_AttributeList_AddUint8(list.get(), TinyTrace::operation_attribute, operation));
    }
    check(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, list.get(), time, request));
    return *this;
}

TinyThread& TinyThread::collective_complete(std::uint64_t time, OTF2_CollectiveOp operation, const std::string& comm,
                                            std::uint32_t root, std::uint64_t sent, std::uint64_t received,
                                            std::uint64_t request)
{
    check(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer_, nullptr, time, operation, trace_.comm_reference(comm),
                                                       root, sent, received, request));
    return *this;
}

TinyThread& TinyThread::put(std::uint64_t time)
{
    check(OTF2_EvtWriter_RmaPut(writer_, nullptr, time, 0, 0, 8, 1));
    return *this;
}

TinyThread& TinyThread::metric(std::uint64_t time)
{
    const OTF2_Type type = OTF2_TYPE_INT64;
    OTF2_MetricValue value;
    value.signed_int = 5;
    check(OTF2_EvtWriter_Metric(writer_, nullptr, time, 0, 1, &type, &value));
    return *this;
}

TinyThread& TinyThread::metric(std::uint64_t time, OTF2_MetricRef metric, const std::vector<std::int64_t>& values)
{
    const std::vector<OTF2_Type> types(values.size(), OTF2_TYPE_INT64);
    std::vector<OTF2_MetricValue> list;
    for (const std::int64_t value : values) {
        list.emplace_back().signed_int = value;
    }
    check(OTF2_EvtWriter_Metric(writer_, nullptr, time, metric, static_cast<std::uint8_t>(values.size()), types.data(),
                                list.data()));
    return *this;
}

TinyThread& TinyThread::task_create(std::uint64_t time)
{
    check(OTF2_EvtWriter_ThreadTaskCreate(writer_, nullptr, time, OTF2_UNDEFINED_COMM, 0, 1));
    return *this;
}

TinyThread& TinyThread::context_enter(std::uint64_t time, const std::string& region)
{
    check(OTF2_EvtWriter_CallingContextEnter(writer_, nullptr, time, trace_.context(region), 1));
    return *this;
}

TinyThread& TinyThread::context_leave(std::uint64_t time, const std::string& region)
{
    check(OTF2_EvtWriter_CallingContextLeave(writer_, nullptr, time, trace_.context(region)));
    return *this;
}

TinyThread& TinyThread::request_test(std::uint64_t time, std::uint64_t request)
{
    check(OTF2_EvtWriter_MpiRequestTest(writer_, nullptr, time, request));
    return *this;
}

TinyThread& TinyThread::write(const std::function<OTF2_ErrorCode(OTF2_EvtWriter*)>& record)
{
    check(record(writer_));
    return *this;
}

TinyTrace::TinyTrace(const std::filesystem::path& directory, std::uint32_t ranks, std::uint64_t ticks_per_second,
                     std::uint64_t first_tick)
    : directory_(directory), ranks_(ranks), resolution_(ticks_per_second), first_tick_(first_tick)
{
    archive_ = OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, 1024 * 1024, 4 * 1024 * 1024,
                                 OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) {
        throw std::runtime_error("cannot make an archive in " + directory.string());
    }
    static const OTF2_FlushCallbacks callbacks = {flush_before_close, now};
    check(OTF2_Archive_SetFlushCallbacks(archive_, &callbacks, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
    check(OTF2_Archive_OpenEvtFiles(archive_));
    std::vector<std::uint64_t> world;
    for (std::uint64_t r = 0; r < ranks; ++r) {
        world.push_back(r);
    }
    communicator("self", {});
    communicator("world", world);
}

TinyTrace::~TinyTrace()
{
    if (archive_ != nullptr) {
        OTF2_Archive_Close(archive_);
    }
}

OTF2_LocationRef TinyTrace::location(std::uint32_t rank, std::uint32_t number) const
{
    return ranks_ - 1 - rank + 100 + number * thread_stride;  // against the rank order
}

TinyThread& TinyTrace::thread(std::uint32_t rank, std::uint32_t number)
{
    auto& thread = threads_[{rank, number}];
    if (!thread) {
        thread.reset(new TinyThread(*this, OTF2_Archive_GetEvtWriter(archive_, location(rank, number))));
    }
    return *thread;
}

void TinyTrace::communicator(const std::string& name, std::vector<std::uint64_t> ranks)
{
    comms_[name] = static_cast<OTF2_CommRef>(5 + 11 * comms_.size());
    comm_list_.push_back({name, false, std::move(ranks), {}});
}

void TinyTrace::inter_communicator(const std::string& name, std::vector<std::uint64_t> a, std::vector<std::uint64_t> b)
{
    comms_[name] = static_cast<OTF2_CommRef>(5 + 11 * comms_.size());
    comm_list_.push_back({name, true, std::move(a), std::move(b)});
}

void TinyTrace::generator(const std::string& name, OTF2_InterruptGeneratorMode mode, OTF2_Base base,
                          std::int64_t exponent, std::uint64_t period)
{
    generators_.push_back({name, mode, base, exponent, period});
}

void TinyTrace::metric_class(OTF2_MetricRef metric, const std::vector<std::string>& counters, OTF2_MetricMode mode)
{
    define([this, metric, counters, mode](OTF2_GlobalDefWriter* out) {
        constexpr OTF2_MetricMemberRef most_counters = 10;
        std::vector<OTF2_MetricMemberRef> members;
        for (const std::string& counter : counters) {
            members.push_back(metric * most_counters + static_cast<OTF2_MetricMemberRef>(members.size()));
            check(OTF2_GlobalDefWriter_WriteMetricMember(out, members.back(), string(counter), string(""),
                                                         OTF2_METRIC_TYPE_PAPI, mode, OTF2_TYPE_INT64,
                                                         OTF2_BASE_DECIMAL, 0, string("#")));
        }
        check(OTF2_GlobalDefWriter_WriteMetricClass(out, metric, static_cast<std::uint8_t>(members.size()),
                                                    members.data(), OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
    });
}

void TinyTrace::recorded(std::uint64_t first, std::uint64_t last)
{
    first_tick_ = first;
    length_ = last - first;
    check(OTF2_Archive_SetProperty(archive_, "CRITPATH::VERSION", "1", true));
}

void TinyTrace::process_property(std::uint32_t rank, const std::string& name, const std::string& value)
{
    OTF2_AttributeValue reference;
    reference.stringRef = string(value);
    process_properties_.push_back({rank, name, OTF2_TYPE_STRING, reference});
}

void TinyTrace::location_property(std::uint32_t rank, const std::string& name, double value)
{
    OTF2_AttributeValue number;
    number.float64 = value;
    location_properties_.push_back({rank, name, OTF2_TYPE_DOUBLE, number});
}

void TinyTrace::location_property(std::uint32_t rank, const std::string& name, std::uint64_t value)
{
    OTF2_AttributeValue number;
    number.uint64 = value;
    location_properties_.push_back({rank, name, OTF2_TYPE_UINT64, number});
}

void TinyTrace::location_property(std::uint32_t rank, const std::string& name, const std::string& value)
{
    OTF2_AttributeValue text;
    text.stringRef = string(value);
    location_properties_.push_back({rank, name, OTF2_TYPE_STRING, text});
}

OTF2_StringRef TinyTrace::string(const std::string& text)
{
    return strings_.emplace(text, static_cast<OTF2_StringRef>(3 + 2 * strings_.size())).first->second;
}

OTF2_RegionRef TinyTrace::region(const std::string& name)
{
    return regions_.emplace(name, static_cast<OTF2_RegionRef>(1'000'000 * (regions_.size() + 1))).first->second;
}

OTF2_CallingContextRef TinyTrace::context(const std::string& region_name)
{
    region(region_name);
    return contexts_.emplace(region_name, static_cast<OTF2_CallingContextRef>(9 + 5 * contexts_.size())).first->second;
}

OTF2_GroupRef TinyTrace::group(OTF2_GlobalDefWriter* definitions, OTF2_GroupType type,
                               const std::vector<std::uint64_t>& members)
{
    const OTF2_GroupRef reference = next_group_;
    next_group_ += 3;
    check(OTF2_GlobalDefWriter_WriteGroup(definitions, reference, string(""), type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()),
                                          members.data()));
    return reference;
}

void TinyTrace::write_system(OTF2_GlobalDefWriter* definitions)
{
    check(OTF2_GlobalDefWriter_WriteClockProperties(definitions, resolution_, first_tick_, length_,
                                                    OTF2_UNDEFINED_TIMESTAMP));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 4, string("cluster"), string("machine"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 8, string("host a"), string("node"), 4));
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        check(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, process(rank), string("Process"),
                                                      OTF2_LOCATION_GROUP_TYPE_PROCESS, 8,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
    }
    std::vector<std::uint64_t> mpi_locations(ranks_);
    for (const auto& [key, thread] : threads_) {
        std::uint64_t events = 0;
        check(OTF2_EvtWriter_GetNumberOfEvents(thread->writer_, &events));
        check(OTF2_GlobalDefWriter_WriteLocation(definitions, location(key.first, key.second), string("Thread"),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, events + excess_, process(key.first)));
        if (key.second == 0) {
            mpi_locations[key.first] = location(key.first);
        }
    }
    group(definitions, OTF2_GROUP_TYPE_COMM_LOCATIONS, mpi_locations);
}

void TinyTrace::write_communicators(OTF2_GlobalDefWriter* definitions)
{
    for (const auto& comm : comm_list_) {
        const auto type = comm.name == "self" ? OTF2_GROUP_TYPE_COMM_SELF : OTF2_GROUP_TYPE_COMM_GROUP;
        const OTF2_GroupRef a = group(definitions, type, comm.a);
        if (comm.inter) {
            const OTF2_GroupRef b = group(definitions, type, comm.b);
            check(OTF2_GlobalDefWriter_WriteInterComm(definitions, comms_.at(comm.name), string(comm.name), a, b,
                                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        } else {
            check(OTF2_GlobalDefWriter_WriteComm(definitions, comms_.at(comm.name), string(comm.name), a,
                                                 OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        }
    }
}

void TinyTrace::write_rest(OTF2_GlobalDefWriter* definitions)
{
    for (const auto& [name, reference] : regions_) {
        const auto known = paradigms_.find(name);
        const auto by_name =
            static_cast<OTF2_Paradigm>(name.starts_with("MPI_") ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_COMPILER);
        const OTF2_Paradigm paradigm = known != paradigms_.end() ? known->second : by_name;
        const auto role = roles_.emplace(name, static_cast<OTF2_RegionRole>(OTF2_REGION_ROLE_FUNCTION)).first->second;
        check(OTF2_GlobalDefWriter_WriteRegion(definitions, reference, string(name), string(name), string("/bin/app"),
                                               role, paradigm, OTF2_REGION_FLAG_NONE, string("app.c"), 17, 20));
    }
    for (const auto& [name, reference] : contexts_) {
        const auto parent = context_parents_.find(name);
        check(OTF2_GlobalDefWriter_WriteCallingContext(
            definitions, reference, regions_.at(name), OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
            parent == context_parents_.end() ? OTF2_UNDEFINED_CALLING_CONTEXT : contexts_.at(parent->second)));
    }
    for (const auto& g : generators_) {
        check(OTF2_GlobalDefWriter_WriteInterruptGenerator(definitions, 4, string(g.name), g.mode, g.base, g.exponent,
                                                           g.period));
    }
    const std::tuple<Attribute, const char*, OTF2_Type> attributes[] = {
        {mode_attribute, "critpath.mode", OTF2_TYPE_UINT8},
        {message_attribute, "critpath.message", OTF2_TYPE_UINT64},
        {source_attribute, "critpath.source", OTF2_TYPE_INT32},
        {tag_attribute, "critpath.tag", OTF2_TYPE_INT32},
        {comm_attribute, "critpath.comm", OTF2_TYPE_COMM},
        {offset_attribute, "critpath.offset", OTF2_TYPE_UINT64},
        {period_attribute, "critpath.period", OTF2_TYPE_UINT64},
        {reason_attribute, "critpath.reason", OTF2_TYPE_STRING},
        {skipped_attribute, "critpath.skipped", OTF2_TYPE_INT32},
        {in_degree_attribute, "critpath.in_degree", OTF2_TYPE_UINT32},
        {dest_attribute, "critpath.dest", OTF2_TYPE_INT32},
        {page_faults_attribute, "critpath.page_faults", OTF2_TYPE_UINT64},
        {processor_attribute, "critpath.processor", OTF2_TYPE_UINT32},
        {operation_attribute, "critpath.operation", OTF2_TYPE_UINT8},
    };
    for (const auto& [reference, name, type] : attributes) {
        if (!has_attributes_) {
            break;
        }
        check(OTF2_GlobalDefWriter_WriteAttribute(definitions, reference, string(name), string(""), type));
    }
    for (const auto& p : process_properties_) {
        check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(definitions, process(p.rank), string(p.name), p.type,
                                                              p.value));
    }
    for (const auto& p : location_properties_) {
        check(
            OTF2_GlobalDefWriter_WriteLocationProperty(definitions, location(p.rank), string(p.name), p.type, p.value));
    }
}

void TinyTrace::clock_offset(std::uint32_t rank, std::uint64_t time, std::int64_t offset, double deviation)
{
    clock_offsets_.push_back({rank, time, offset, deviation});
}

void TinyTrace::context_parent(const std::string& region, const std::string& parent)
{
    context(region);
    context(parent);
    context_parents_[region] = parent;
}

void TinyTrace::mapping(std::uint32_t rank, OTF2_MappingType type, std::map<std::uint64_t, std::uint64_t> references)
{
    mappings_.push_back({rank, type, std::move(references)});
}

void TinyTrace::write_local_definitions()
{
    if (clock_offsets_.empty() && mappings_.empty()) {
        return;
    }
    check(OTF2_Archive_OpenDefFiles(archive_));
    for (const auto& [key, thread] : threads_) {
        OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, location(key.first, key.second));
        for (const ClockOffset& offset : clock_offsets_) {
            if (offset.rank == key.first) {
                check(OTF2_DefWriter_WriteClockOffset(writer, offset.time, offset.offset, offset.deviation));
            }
        }
        for (const Mapping& mapping : mappings_) {
            if (mapping.rank == key.first) {
                OTF2_IdMap* table = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, mapping.references.size());
                for (const auto& [local, global] : mapping.references) {
                    check(OTF2_IdMap_AddIdPair(table, local, global));
                }
                check(OTF2_DefWriter_WriteMappingTable(writer, mapping.type, table));
                OTF2_IdMap_Free(table);
            }
        }
        check(OTF2_Archive_CloseDefWriter(archive_, writer));
    }
    check(OTF2_Archive_CloseDefFiles(archive_));
}

void TinyTrace::close()
{
    OTF2_GlobalDefWriter* definitions = OTF2_Archive_GetGlobalDefWriter(archive_);
    write_system(definitions);
    write_communicators(definitions);
    write_rest(definitions);
    for (const auto& write : extra_) {
        write(definitions);
    }
    for (const auto& [text, reference] : strings_) {  // strings last: readers must not rely on the order
        check(OTF2_GlobalDefWriter_WriteString(definitions, reference, text.c_str()));
    }
    for (auto& [key, thread] : threads_) {
        check(OTF2_Archive_CloseEvtWriter(archive_, thread->writer_));
    }
    check(OTF2_Archive_CloseEvtFiles(archive_));
    write_local_definitions();
    OTF2_Archive* archive = archive_;
    archive_ = nullptr;
    check(OTF2_Archive_Close(archive));
}

}  // namespace critpath::test
