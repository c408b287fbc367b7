// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the making of spool files for tests: what a recorder would have left behind, stated record by record.
#pragma once

#include "formats/functions/functions.hpp"
#include "formats/spool/packed.hpp"
#include "formats/spool/record.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace critpath::test
{

using functions::FunctionId;
using spool::RecordKind;

inline spool::SpoolHeader make_header(int rank, int size, int thread)
{
    spool::SpoolHeader header{};
    header.magic = spool::magic;
    header.version = spool::version;
    header.record_size = sizeof(spool::Record);
    header.functions_hash = functions::table_hash();
    header.rank = rank;
    header.size = size;
    header.thread = thread;
    header.pid = 4000 + rank;
    header.tid = header.pid + thread;
    header.process_start = 500;
    header.thread_start = 500;
    header.realtime = 1'700'000'000'000'000'000;
    std::strcpy(header.host, "testhost");
    std::strcpy(header.boot_id, "boot");
    std::memcpy(header.command,
                "./app\0-n\0"
                "5\0",
                12);
    return header;
}

/// The records of a stage, packed. `first`: the number of the first of them.
inline std::vector<std::byte> packed_frame(std::uint64_t first, const std::vector<std::byte>& records)
{
    const std::size_t count = records.size() / sizeof(spool::Record);
    std::vector<unsigned char> packed(count * spool::largest_packed);
    spool::Expectation expected;
    unsigned char* out = packed.data();
    for (std::size_t i = 0; i < count; ++i) {
        out = spool::pack_record(expected, records.data() + i * sizeof(spool::Record), out);
    }
    spool::FrameHeader header{};
    header.magic = spool::frame_magic;
    header.first = first;
    header.records = static_cast<std::uint32_t>(count);
    header.bytes = static_cast<std::uint32_t>(out - packed.data());
    header.check = spool::checksum(packed.data(), header.bytes);
    std::vector<std::byte> bytes(sizeof header + header.bytes);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, packed.data(), header.bytes);
    return bytes;
}

/// A .calls file.
class CallsBuilder
{
public:
    spool::Record& call(FunctionId function, std::uint64_t enter, std::uint64_t leave)
    {
        spool::Record record{};
        record.kind = RecordKind::Call;
        record.function = static_cast<std::uint16_t>(function);
        record.comm = -1;
        record.enter = enter;
        record.leave = leave;
        return append(record);
    }

    /// A persistent collective that the call before has started. `function`: the non-blocking one.
    void started(FunctionId function, std::int32_t comm, std::int32_t root, std::uint64_t sent, std::uint64_t received,
                 std::uint64_t request)
    {
        spool::Record record{};
        record.kind = RecordKind::Started;
        record.function = static_cast<std::uint16_t>(function);
        record.comm = comm;
        record.peer = root;
        record.bytes = sent;
        record.extra = received;
        record.request = request;
        append(record);
    }

    void tool(std::uint64_t enter, std::uint64_t leave) { interval(RecordKind::Tool, enter, leave); }
    void off(std::uint64_t enter, std::uint64_t leave) { interval(RecordKind::Off, enter, leave); }

    /// Sends, of this process.
    void skipped(std::uint64_t since, std::int32_t peer, std::int32_t tag, std::int32_t count)
    {
        spool::SkippedRecord record{};
        record.kind = RecordKind::Skipped;
        record.slots = 1;
        record.what[0] = spool::SkippedRecord::Send;
        record.since = since;
        record.peer[0] = peer;
        record.tag[0] = tag;
        record.count[0] = count;
        append(record);
    }

    void interval(RecordKind kind, std::uint64_t enter, std::uint64_t leave)
    {
        spool::Record record{};
        record.kind = kind;
        record.comm = -1;
        record.enter = enter;
        record.leave = leave;
        append(record);
    }

    /// Of the calls that come next.
    void call_path(std::uint32_t id, const std::vector<std::uint64_t>& addresses)
    {
        for (std::size_t i = 0; i < addresses.size(); i += std::size(spool::CallPathRecord{}.address)) {
            spool::CallPathRecord record{};
            record.kind = RecordKind::CallPath;
            record.id = id;
            for (std::size_t j = i; j < addresses.size() && record.count < std::size(record.address); ++j) {
                record.address[record.count++] = addresses[j];
            }
            append(record);
        }
    }

    /// Of the call that comes next.
    void counters(bool at_leave, const std::vector<std::int64_t>& values)
    {
        spool::CountersRecord record{};
        record.kind = RecordKind::Counters;
        record.at_leave = at_leave ? 1 : 0;
        for (const std::int64_t value : values) {
            record.value[record.count++] = value;
        }
        append(record);
    }

    void object(spool::ObjectRecord::Type type, std::int32_t id, std::int32_t comm, FunctionId function,
                std::uint64_t gid, const char* name = "")
    {
        spool::ObjectRecord record{};
        record.kind = RecordKind::Object;
        record.type = type;
        record.id = id;
        record.comm = comm;
        record.function = static_cast<std::uint32_t>(function);
        record.gid[0] = gid;
        std::strncpy(record.name, name, sizeof record.name - 1);
        append(record);
    }

    /// Of the communicator or call before.
    void members(const std::vector<std::int32_t>& ranks)
    {
        for (std::size_t i = 0; i < ranks.size(); i += 14) {
            spool::MembersRecord record{};
            record.kind = RecordKind::Members;
            for (std::size_t j = i; j < ranks.size() && j < i + 14; ++j) {
                record.world_rank[record.count++] = ranks[j];
            }
            append(record);
        }
    }

    /// Of the communicator before: whom the process gets something from.
    void graph(std::int32_t comm, const std::vector<std::int32_t>& in_neighbours)
    {
        spool::GraphRecord record{};
        record.kind = RecordKind::Graph;
        record.comm = comm;
        for (const std::int32_t rank : in_neighbours) {
            record.in_neighbour[record.count++] = rank;
        }
        append(record);
    }

    struct Slot {
        std::uint8_t flags;
        std::uint64_t request;
        std::int32_t peer = -1, tag = -1, comm = -1;
        std::uint64_t bytes = 0;
        std::uint8_t mode = 0;
        spool::Operation operation = spool::Operation::Message;
    };

    /// Of the call before.
    void completions(const std::vector<Slot>& slots)
    {
        for (std::size_t i = 0; i < slots.size(); i += 2) {
            spool::CompletionsRecord record{};
            record.kind = RecordKind::Completions;
            for (std::size_t j = i; j < slots.size() && j < i + 2; ++j) {
                const std::size_t k = record.slots++;
                record.flags[k] = slots[j].flags;
                record.mode[k] = slots[j].mode;
                record.operation[k] = slots[j].operation;
                record.request[k] = slots[j].request;
                record.bytes[k] = slots[j].bytes;
                record.peer[k] = slots[j].peer;
                record.tag[k] = slots[j].tag;
                record.comm[k] = slots[j].comm;
            }
            append(record);
        }
    }

    struct Comm {
        std::int32_t id;
        std::uint64_t gid, parent;
        std::int32_t size, rank;
        bool is_inter = false;
    };

    void comm_range(const Comm& comm, std::int32_t first, std::int32_t stride)
    {
        spool::CommunicatorRecord record = start(comm);
        record.is_range = 1;
        record.first = first;
        record.stride = stride;
        append(record);
    }

    void comm_list(const Comm& comm, const std::vector<std::int32_t>& ranks)
    {
        append(start(comm));
        members(ranks);
    }

    /// MPI_COMM_WORLD and MPI_COMM_SELF as the recorder announces them.
    void predefined(int rank, int size)
    {
        comm_range({0, 1, 0, size, rank}, 0, 1);
        comm_range({1, static_cast<std::uint64_t>(1000 + rank), 0, 1, 0}, rank, 1);
    }

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

    void write(const std::string& path, const spool::SpoolHeader& header) const
    {
        spool::SpoolHeader with_stage = header;
        with_stage.stage_bytes = bytes_.size();
        write_file(path, with_stage, bytes_);
    }

    static void write_file(const std::string& path, const spool::SpoolHeader& header,
                           const std::vector<std::byte>& body)
    {
        std::vector<char> page(spool::header_size);
        std::memcpy(page.data(), &header, sizeof header);
        std::ofstream file(path, std::ios::binary);
        file.write(page.data(), static_cast<std::streamsize>(page.size()));
        file.write(reinterpret_cast<const char*>(body.data()), static_cast<std::streamsize>(body.size()));
    }

private:
    static spool::CommunicatorRecord start(const Comm& comm)
    {
        spool::CommunicatorRecord record{};
        record.kind = RecordKind::Communicator;
        record.is_inter = comm.is_inter ? 1 : 0;
        record.comm = comm.id;
        record.gid[0] = comm.gid;
        record.parent_gid[0] = comm.parent;
        record.size = comm.size;
        record.rank = comm.rank;
        return record;
    }

    // The reference lives until the next record.
    template <class T>
    T& append(const T& record)
    {
        const auto* data = reinterpret_cast<const std::byte*>(&record);
        bytes_.insert(bytes_.end(), data, data + sizeof record);
        return *reinterpret_cast<T*>(bytes_.data() + bytes_.size() - sizeof record);
    }

    std::vector<std::byte> bytes_;
};

/// Of samples that have the kernel's chain and nothing else about their callers.
inline constexpr spool::SampleFormat kernel_chains = [] {
    spool::SampleFormat format{};
    format.call_graph = spool::CallGraph::FramePointers;
    return format;
}();

/// A .samples file.
class SamplesBuilder
{
public:
    static constexpr std::uint64_t user = PERF_CONTEXT_USER;
    static constexpr std::uint64_t kernel = PERF_CONTEXT_KERNEL;

    /// What the group has counted until then.
    struct Group {
        std::uint64_t time_enabled, time_running;
        std::vector<std::uint64_t> values;
    };

    /// `faults`: page faults until then.
    void sample(std::uint64_t time, std::uint64_t period, const std::vector<std::uint64_t>& chain, std::uint64_t ip = 0,
                std::uint64_t faults = 0, std::uint32_t processor = 0)
    {
        sample(time, period, chain, Group{time, time, {time, faults}}, ip, processor);
    }

    void sample(std::uint64_t time, std::uint64_t period, const std::vector<std::uint64_t>& chain, const Group& group,
                std::uint64_t ip = 0, std::uint32_t processor = 0)
    {
        std::vector<std::uint64_t> words = {ip, 0, time, processor, period};
        words.insert(words.end(), {group.values.size(), group.time_enabled, group.time_running});
        words.insert(words.end(), group.values.begin(), group.values.end());
        words.push_back(chain.size());
        words.insert(words.end(), chain.begin(), chain.end());
        record(PERF_RECORD_SAMPLE, words);
    }

    void out(std::uint64_t time, bool preempted, std::uint32_t processor = 0)
    {
        record(PERF_RECORD_SWITCH, {0, time, processor},
               PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
    }

    void in(std::uint64_t time, std::uint32_t processor = 0) { record(PERF_RECORD_SWITCH, {0, time, processor}); }

    void lost(std::uint64_t count) { record(PERF_RECORD_LOST, {1, count, 0, 0, 0}); }

    void record(std::uint32_t type, const std::vector<std::uint64_t>& words, int misc = 0)
    {
        perf_event_header header{};
        header.type = type;
        header.misc = static_cast<std::uint16_t>(misc);
        header.size = static_cast<std::uint16_t>(sizeof header + words.size() * sizeof words[0]);
        add(&header, sizeof header);
        add(words.data(), words.size() * sizeof words[0]);
    }

    void add(const void* data, std::size_t size)
    {
        const auto* bytes = static_cast<const std::byte*>(data);
        bytes_.insert(bytes_.end(), bytes, bytes + size);
    }

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

    void write(const std::string& path, const spool::SpoolHeader& header) const
    {
        CallsBuilder::write_file(path, header, bytes_);
    }

private:
    std::vector<std::byte> bytes_;
};

}  // namespace critpath::test
