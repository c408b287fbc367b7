// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a writer of small OTF2 archives for tests, straight on libotf2: unlike our own writer it can make what other
// tools make (sparse references, clocks of any resolution, nested regions, reused request ids).
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace critpath::test
{

class TinyTrace;

/// The events of one thread. Times are in ticks and must not go back. Chainable.
class TinyThread
{
public:
    TinyThread& enter(std::uint64_t time, const std::string& region);
    TinyThread& leave(std::uint64_t time, const std::string& region);
    TinyThread& leave_on(std::uint64_t time, const std::string& region, std::uint32_t processor);
    TinyThread& leave_probe(std::uint64_t time, const std::string& region, const std::string& comm, std::int32_t source,
                            std::int32_t tag);
    TinyThread& leave_mprobe(std::uint64_t time, const std::string& region, std::uint64_t message);
    TinyThread& send(std::uint64_t time, const std::string& comm, std::uint32_t to, std::uint32_t tag,
                     std::uint64_t bytes);
    TinyThread& isend(std::uint64_t time, const std::string& comm, std::uint32_t to, std::uint32_t tag,
                      std::uint64_t bytes, std::uint64_t request, std::uint8_t mode = 0);
    TinyThread& isend_complete(std::uint64_t time, std::uint64_t request);
    TinyThread& recv(std::uint64_t time, const std::string& comm, std::uint32_t from, std::uint32_t tag,
                     std::uint64_t bytes, std::uint64_t message = 0);
    TinyThread& irecv_request(std::uint64_t time, std::uint64_t request, std::uint64_t message = 0);
    TinyThread& irecv(std::uint64_t time, const std::string& comm, std::uint32_t from, std::uint32_t tag,
                      std::uint64_t bytes, std::uint64_t request);
    TinyThread& cancelled(std::uint64_t time, std::uint64_t request);
    TinyThread& collective(std::uint64_t begin, std::uint64_t end, OTF2_CollectiveOp operation, const std::string& comm,
                           std::uint32_t root, std::uint64_t sent, std::uint64_t received);
    TinyThread& sample(std::uint64_t time, const std::string& region, std::uint64_t offset, std::uint64_t period = 0,
                       std::uint64_t page_faults = 0);
    TinyThread& flush(std::uint64_t begin, std::uint64_t end);
    TinyThread& measurement(std::uint64_t time, bool on);
    /// Measurement goes off, with what critpath.skipped says.
    TinyThread& skipped_sends(std::uint64_t time, std::int32_t count, std::int32_t dest, std::int32_t tag,
                              const std::string& comm);
    /// COMM_CREATE of a communicator with a graph topology; as many parameter() are to follow as critpath.in_degree
    /// says.
    TinyThread& graph(std::uint64_t time, const std::string& comm, std::uint32_t in_degree);
    TinyThread& parameter(std::uint64_t time, std::uint64_t value);
    TinyThread& switched_off(std::uint64_t time, const std::string& reason);
    /// `operation`: critpath.operation; 0xff: without.
    TinyThread& collective_request(std::uint64_t time, std::uint64_t request, std::uint8_t operation = 0xff);
    TinyThread& collective_complete(std::uint64_t time, OTF2_CollectiveOp operation, const std::string& comm,
                                    std::uint32_t root, std::uint64_t sent, std::uint64_t received,
                                    std::uint64_t request);
    /// Records that refer to nothing that is defined; it must not matter.
    TinyThread& put(std::uint64_t time);
    TinyThread& metric(std::uint64_t time);
    /// The counters of TinyTrace::metric_class.
    TinyThread& metric(std::uint64_t time, OTF2_MetricRef metric, const std::vector<std::int64_t>& values);
    TinyThread& task_create(std::uint64_t time);
    /// An ENTER by calling context.
    TinyThread& context_enter(std::uint64_t time, const std::string& region);
    TinyThread& context_leave(std::uint64_t time, const std::string& region);
    /// MPI_REQUEST_TEST: the request was looked at and is not done.
    TinyThread& request_test(std::uint64_t time, std::uint64_t request);
    /// Any other record, as the caller writes it.
    TinyThread& write(const std::function<OTF2_ErrorCode(OTF2_EvtWriter*)>& record);

private:
    friend class TinyTrace;
    TinyThread(TinyTrace& trace, OTF2_EvtWriter* writer) : trace_(trace), writer_(writer) {}

    TinyTrace& trace_;
    OTF2_EvtWriter* writer_;
};

class TinyTrace
{
public:
    /// An archive in `directory`, which must not exist. The communicators "world" and "self" are there; world is not
    /// reference 0, and no reference is dense.
    TinyTrace(const std::filesystem::path& directory, std::uint32_t ranks,
              std::uint64_t ticks_per_second = 1'000'000'000, std::uint64_t first_tick = 0);
    TinyTrace(const TinyTrace&) = delete;
    TinyTrace& operator=(const TinyTrace&) = delete;
    ~TinyTrace();

    /// Thread 0 is the one that MPI communicates on. All threads must be named before the first event is written.
    TinyThread& thread(std::uint32_t rank, std::uint32_t number = 0);

    /// As our recorder writes it, which knows when the first event was, and the last one.
    void recorded(std::uint64_t first, std::uint64_t last);

    void communicator(const std::string& name, std::vector<std::uint64_t> ranks);
    void inter_communicator(const std::string& name, std::vector<std::uint64_t> a, std::vector<std::uint64_t> b);
    void generator(const std::string& name, OTF2_InterruptGeneratorMode mode, OTF2_Base base, std::int64_t exponent,
                   std::uint64_t period);
    void metric_class(OTF2_MetricRef metric, const std::vector<std::string>& counters,
                      OTF2_MetricMode mode = OTF2_METRIC_ACCUMULATED_START);
    void process_property(std::uint32_t rank, const std::string& name, const std::string& value);
    void location_property(std::uint32_t rank, const std::string& name, double value);
    void location_property(std::uint32_t rank, const std::string& name, std::uint64_t value);
    void location_property(std::uint32_t rank, const std::string& name, const std::string& value);
    /// In the local definitions of every thread of the rank; in ticks.
    void clock_offset(std::uint32_t rank, std::uint64_t time, std::int64_t offset, double deviation);
    /// In the definitions of calling contexts, which have no parent otherwise.
    void context_parent(const std::string& region, const std::string& parent);
    /// A sparse table in the local definitions of every thread of the rank: references in the events, and what they are
    /// in the global definitions.
    void mapping(std::uint32_t rank, OTF2_MappingType type, std::map<std::uint64_t, std::uint64_t> references);
    /// The paradigm of a region that is not MPI by its name; COMPILER otherwise.
    void paradigm(const std::string& region, OTF2_Paradigm paradigm) { paradigms_[region] = paradigm; }
    /// The role of a region; FUNCTION otherwise.
    void role(const std::string& region, OTF2_RegionRole role) { roles_[region] = role; }
    /// More definitions, as the caller writes them; strings by `string`.
    void define(std::function<void(OTF2_GlobalDefWriter*)> definitions) { extra_.push_back(std::move(definitions)); }
    [[nodiscard]] OTF2_StringRef string(const std::string& text);
    [[nodiscard]] OTF2_CommRef comm_reference(const std::string& name) const { return comms_.at(name); }
    /// The reference of the location group that is the process of the rank.
    [[nodiscard]] OTF2_LocationGroupRef process(std::uint32_t rank) const { return 70 + ranks_ - rank; }
    /// Every location promises so many events too many, as a trace with a cut file does.
    void promise_more(std::uint64_t events) { excess_ = events; }
    /// Of another tool: without the attributes that critpath gives to records.
    void define_no_attributes() { has_attributes_ = false; }

    /// Writes the definitions and closes the archive.
    void close();

    [[nodiscard]] std::filesystem::path anchor() const { return directory_ / "traces.otf2"; }
    [[nodiscard]] OTF2_LocationRef location(std::uint32_t rank, std::uint32_t number = 0) const;

private:
    friend class TinyThread;
    enum Attribute : OTF2_AttributeRef {
        mode_attribute = 3,
        offset_attribute = 7,
        period_attribute = 8,
        message_attribute = 50,
        source_attribute,
        tag_attribute,
        comm_attribute,
        reason_attribute,
        skipped_attribute,
        dest_attribute,
        page_faults_attribute,
        in_degree_attribute,
        processor_attribute,
        operation_attribute
    };

    OTF2_RegionRef region(const std::string& name);
    OTF2_CallingContextRef context(const std::string& region_name);
    OTF2_GroupRef group(OTF2_GlobalDefWriter* definitions, OTF2_GroupType type,
                        const std::vector<std::uint64_t>& members);
    void write_system(OTF2_GlobalDefWriter* definitions);
    void write_communicators(OTF2_GlobalDefWriter* definitions);
    void write_rest(OTF2_GlobalDefWriter* definitions);
    void write_local_definitions();

    struct Comm {
        std::string name;
        bool inter;
        std::vector<std::uint64_t> a, b;
    };
    struct Generator {
        std::string name;
        OTF2_InterruptGeneratorMode mode;
        OTF2_Base base;
        std::int64_t exponent;
        std::uint64_t period;
    };
    struct Property {
        std::uint32_t rank;
        std::string name;
        OTF2_Type type;
        OTF2_AttributeValue value;
    };

    struct ClockOffset {
        std::uint32_t rank;
        std::uint64_t time;
        std::int64_t offset;
        double deviation;
    };

    struct Mapping {
        std::uint32_t rank;
        OTF2_MappingType type;
        std::map<std::uint64_t, std::uint64_t> references;
    };

    std::filesystem::path directory_;
    std::uint32_t ranks_;
    std::uint64_t resolution_;
    std::uint64_t first_tick_;
    std::uint64_t length_ = 1'000'000'000'000;  // ticks
    std::uint64_t excess_ = 0;
    bool has_attributes_ = true;
    OTF2_Archive* archive_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<TinyThread>> threads_;
    std::map<std::string, OTF2_StringRef> strings_;
    std::map<std::string, OTF2_RegionRef> regions_;
    std::map<std::string, OTF2_CallingContextRef> contexts_;
    std::map<std::string, std::string> context_parents_;
    std::map<std::string, OTF2_CommRef> comms_;
    std::map<std::string, OTF2_Paradigm> paradigms_;
    std::map<std::string, OTF2_RegionRole> roles_;
    std::vector<Comm> comm_list_;
    std::vector<Generator> generators_;
    std::vector<Property> process_properties_;
    std::vector<Property> location_properties_;
    std::vector<ClockOffset> clock_offsets_;
    std::vector<std::function<void(OTF2_GlobalDefWriter*)>> extra_;
    std::vector<Mapping> mappings_;
    OTF2_GroupRef next_group_ = 10;
};

}  // namespace critpath::test
