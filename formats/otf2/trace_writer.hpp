// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the writing of a whole small trace by one process, for tests and tools: definitions are collected while the
// events are written and go out in close().
//
//   TraceWriter trace(directory, 4);                 // 4 ranks; defines MPI_COMM_WORLD (0) and MPI_COMM_SELF (1)
//   const auto send = trace.mpi(FunctionId::MPI_Send);
//   auto& rank0 = trace.location(0);                 // thread 0 of rank 0
//   rank0.enter(100, send);
//   rank0.send(100, {.peer = 1, .comm = TraceWriter::world, .tag = 7, .bytes = 8});
//   rank0.leave(120, send);
//   trace.close();
#pragma once

#include "formats/otf2/archive.hpp"
#include "formats/otf2/definitions.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace critpath::otf2
{

class TraceWriter
{
public:
    static constexpr OTF2_CommRef world = 0;
    static constexpr OTF2_CommRef self = 1;

    /// `directory` must exist. Ranks are named after one host unless set_host() says otherwise.
    TraceWriter(const std::string& directory, std::uint32_t ranks);

    OTF2_RegionRef mpi(functions::FunctionId function);                           // same function, same region
    OTF2_RegionRef function(const std::string& name, const std::string& module);  // a sampled function
    OTF2_RegionRef user_region(const std::string& name, const std::string& file = "", std::uint32_t line = 0);
    OTF2_CommRef communicator(const std::vector<std::int32_t>& members, OTF2_CommRef parent = world);
    OTF2_CommRef inter_communicator(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second,
                                    OTF2_CommRef parent = world);
    OTF2_CallingContextRef context(OTF2_RegionRef region, OTF2_CallingContextRef parent = none);
    OTF2_InterruptGeneratorRef generator(const std::string& event, std::uint64_t period);
    OTF2_StringRef string(const std::string& text);
    void set_host(std::uint32_t rank, const std::string& host);
    /// What was measured of the clock of a rank; nothing unless it is called.
    void set_clock(std::uint32_t rank, std::vector<ClockPoint> points);

    /// Everything that was collected so far; may be changed until close().
    TraceDefinitions& definitions() { return definitions_; }

    /// The events of a thread; made at the first call.
    EventWriter& location(std::uint32_t rank, std::uint32_t thread = 0);

    /// Completes the archive. Locations without events are defined for every rank.
    void close();

private:
    TraceDefinitions definitions_;
    Archive archive_;
    std::map<OTF2_LocationRef, EventWriter> writers_;
    std::map<std::uint32_t, std::vector<ClockPoint>> clocks_;  // by rank
};

}  // namespace critpath::otf2
