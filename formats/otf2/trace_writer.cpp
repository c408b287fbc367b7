// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/trace_writer.hpp"

#include <algorithm>

namespace critpath::otf2
{

namespace
{

template <class T>
std::uint32_t append(std::vector<T>& table, T entry)
{
    table.push_back(std::move(entry));
    return static_cast<std::uint32_t>(table.size() - 1);
}

}  // namespace

TraceWriter::TraceWriter(const std::string& directory, std::uint32_t ranks) : archive_(directory, ranks)
{
    definitions_.processes.resize(ranks, {.host = "localhost", .properties = {}});
    definitions_.communicators.push_back(
        {.name = "MPI_COMM_WORLD", .members = {{0, 1, static_cast<std::int32_t>(ranks)}}, .remote = {}});
    definitions_.communicators.push_back({.name = "MPI_COMM_SELF", .members = {}, .remote = {}, .is_self = true});
    definitions_.begin = ~std::uint64_t{0};
    archive_.open_events();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        location(rank);
    }
}

OTF2_RegionRef TraceWriter::mpi(functions::FunctionId function)
{
    auto& regions = definitions_.regions;
    const auto found = std::find_if(regions.begin(), regions.end(), [&](auto& r) { return r.function == function; });
    if (found != regions.end()) {
        return static_cast<OTF2_RegionRef>(found - regions.begin());
    }
    RegionDefinition region;
    region.function = function;
    return append(regions, std::move(region));
}

OTF2_RegionRef TraceWriter::function(const std::string& name, const std::string& module)
{
    RegionDefinition region;
    region.name = name;
    region.module = module;
    return append(definitions_.regions, std::move(region));
}

OTF2_RegionRef TraceWriter::user_region(const std::string& name, const std::string& file, std::uint32_t line)
{
    RegionDefinition region;
    region.name = name;
    region.paradigm = OTF2_PARADIGM_COMPILER;
    region.file = file;
    region.line = line;
    return append(definitions_.regions, std::move(region));
}

OTF2_CommRef TraceWriter::communicator(const std::vector<std::int32_t>& members, OTF2_CommRef parent)
{
    CommunicatorDefinition comm;
    comm.members = compress(members);
    comm.parent = parent;
    return append(definitions_.communicators, std::move(comm));
}

OTF2_CommRef TraceWriter::inter_communicator(const std::vector<std::int32_t>& first,
                                             const std::vector<std::int32_t>& second, OTF2_CommRef parent)
{
    CommunicatorDefinition comm;
    comm.members = compress(first);
    comm.remote = compress(second);
    comm.is_inter = true;
    comm.parent = parent;
    return append(definitions_.communicators, std::move(comm));
}

OTF2_CallingContextRef TraceWriter::context(OTF2_RegionRef region, OTF2_CallingContextRef parent)
{
    return append(definitions_.contexts, ContextDefinition{region, parent});
}

OTF2_InterruptGeneratorRef TraceWriter::generator(const std::string& event, std::uint64_t period)
{
    return append(definitions_.generators, GeneratorDefinition{event, period});
}

OTF2_StringRef TraceWriter::string(const std::string& text)
{
    return append(definitions_.strings, text);
}

void TraceWriter::set_host(std::uint32_t rank, const std::string& host)
{
    definitions_.processes.at(rank).host = host;
}

void TraceWriter::set_clock(std::uint32_t rank, std::vector<ClockPoint> points)
{
    clocks_[rank] = std::move(points);
}

EventWriter& TraceWriter::location(std::uint32_t rank, std::uint32_t thread)
{
    const OTF2_LocationRef id = location_reference(rank, thread);
    const auto found = writers_.find(id);
    return found != writers_.end() ? found->second : writers_.emplace(id, archive_.event_writer(id)).first->second;
}

void TraceWriter::close()
{
    std::vector<OTF2_LocationRef> ids;
    for (auto& [id, writer] : writers_) {
        if (writer.has_events()) {
            const ClockCorrection correction(clocks_[static_cast<std::uint32_t>(id)]);
            const auto shared = [&](std::uint64_t time) {
                return static_cast<std::uint64_t>(std::max<std::int64_t>(0, correction.to_shared(time)));
            };
            definitions_.begin = std::min(definitions_.begin, shared(writer.first_time()));
            definitions_.end = std::max(definitions_.end, shared(writer.last_time()));
        }
        const std::uint64_t events = archive_.finish(writer);
        ids.push_back(id);
        LocationDefinition location;
        location.rank = static_cast<std::uint32_t>(id);
        location.thread = static_cast<std::uint32_t>(id >> 32);
        location.events = events;
        definitions_.locations.push_back(std::move(location));
    }
    definitions_.begin = std::min(definitions_.begin, definitions_.end);
    archive_.close_events();
    archive_.open_local_definitions();
    for (const OTF2_LocationRef id : ids) {
        archive_.write_local_definitions({&id, 1}, clocks_[static_cast<std::uint32_t>(id)]);
    }
    archive_.close_local_definitions();
    write_definitions(archive_, definitions_);
    archive_.close();
}

}  // namespace critpath::otf2
