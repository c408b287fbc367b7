// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what one process recorded, after the first pass over its spool: samples with their contexts, and all that
// its events will refer to.
#pragma once

#include "collector/archive/contexts.hpp"
#include "collector/archive/spool_reader.hpp"
#include "collector/archive/tables.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace critpath::archive
{

struct SamplePoint {
    std::uint64_t time = 0;
    std::uint64_t period = 0;
    std::uint64_t offset = 0;
    std::uint32_t context = 0;  // local
};

struct ThreadData {
    std::vector<SamplePoint> samples;  // by time
    std::uint64_t lost_records = 0;
    std::uint64_t lost_samples = 0;
    Hash128 generator;         // zero: not sampled
    std::uint64_t period = 0;  // of the generator
};

/// Ids of the trace for what this process knows by other names.
struct EventIds {
    std::vector<OTF2_RegionRef> functions;               // by FunctionId
    std::vector<OTF2_CommRef> comms;                     // by CommunicatorRecord::comm; none: not defined
    std::vector<bool> is_inter;                          // by OTF2_CommRef, as far as this process knows
    std::vector<OTF2_CallingContextRef> contexts;        // by local context
    std::vector<OTF2_InterruptGeneratorRef> generators;  // by position of the thread
    OTF2_StringRef program = OTF2_UNDEFINED_STRING;
    std::vector<OTF2_StringRef> arguments;
};

class ProcessData
{
public:
    /// Reads everything once. `spool` must outlive this. Throws Failure.
    explicit ProcessData(const ProcessSpool& spool);

    [[nodiscard]] const Tables& tables() const { return tables_; }
    [[nodiscard]] EventIds resolve(const Numbers& numbers) const;

    [[nodiscard]] const ProcessSpool& spool() const { return spool_; }
    [[nodiscard]] const std::vector<ThreadData>& threads() const { return threads_; }
    /// Enter of MPI_Finalize, or the largest time there is: the recording ends there.
    [[nodiscard]] std::uint64_t end() const { return end_; }
    [[nodiscard]] const std::vector<std::string>& command() const { return command_; }

private:
    void scan_calls(const ThreadSpool& thread);
    void take_samples(const ThreadSpool& spool, ThreadData& thread);
    void add_communicator(const spool::CommunicatorRecord& record, otf2::RankList members);
    void add_functions();
    void add_contexts();
    void add_command();

    const ProcessSpool& spool_;
    ContextTree contexts_;
    std::vector<ThreadData> threads_;
    std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
    std::vector<bool> used_;                               // by FunctionId
    std::unordered_map<std::int32_t, Hash128> comm_keys_;  // by local id
    std::map<Hash128, Hash128> gid_keys_;                  // key of each gid
    std::map<Hash128, std::uint64_t> alone_;               // by parent: communicators of this process alone
    std::vector<std::string> command_;
    Tables tables_;
};

}  // namespace critpath::archive
