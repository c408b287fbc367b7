// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/vocabulary.hpp"

#include <fmt/format.h>

#include <cmath>

namespace critpath::bench
{

namespace
{

constexpr const char* binary = "/usr/bin/generated";
constexpr const char* library = "/usr/lib/libmpi.so";

constexpr std::array life = {FunctionId::MPI_Init, FunctionId::MPI_Finalize};
constexpr std::array exchange = {
    FunctionId::MPI_Isend,    FunctionId::MPI_Irecv,      FunctionId::MPI_Waitall, FunctionId::MPI_Waitany,
    FunctionId::MPI_Waitsome, FunctionId::MPI_Send,       FunctionId::MPI_Recv,    FunctionId::MPI_Allreduce,
    FunctionId::MPI_Bcast,    FunctionId::MPI_Reduce,     FunctionId::MPI_Barrier, FunctionId::MPI_Allgather,
    FunctionId::MPI_Alltoall, FunctionId::MPI_Comm_split,
};

}  // namespace

Vocabulary::Vocabulary(const Options& options)
{
    otf2::TraceDefinitions& d = definitions_;
    d.strings = {"generated"};
    d.modules = {{"00", binary}, {"01", library}};
    for (int rank = 0; rank < options.locations; ++rank) {
        const std::string host = fmt::format("node{}", rank / options.ranks_a_node);
        d.processes.push_back({host,
                               {{"host", host},
                                {"boot_id", "boot-of-" + host},
                                {"pid", std::to_string(1000 + rank)},
                                {"command", "generated " + options.pattern}}});
    }
    d.communicators.push_back({.name = "MPI_COMM_WORLD", .members = {{0, 1, options.locations}}, .remote = {}});
    d.communicators.push_back({.name = "MPI_COMM_SELF", .members = {}, .remote = {}, .is_self = true});
    if (options.samples > 0)
        d.generators.push_back({"cpu-clock", static_cast<std::uint64_t>(std::llround(1e9 / options.samples))});

    const std::uint32_t main = add_context(add_function("main", binary), otf2::none);
    const std::uint32_t step = add_context(add_function("time_step", binary), main);
    const std::uint32_t talk = add_context(add_function("exchange", binary), step);
    const auto add_calls = [&](const auto& functions, std::uint32_t caller) {
        for (const FunctionId function : functions) {
            otf2::RegionDefinition region;
            region.function = function;
            d.regions.push_back(region);
            calls_[static_cast<std::size_t>(function)] =
                add_context(static_cast<std::uint32_t>(d.regions.size() - 1), caller);
        }
    };
    add_calls(life, main);
    add_calls(exchange, talk);
    const std::array<const char*, 3> names = {"update_cells", "fluxes", "limiter"};
    for (std::size_t i = 0; i < names.size(); ++i)
        work_[i] = {add_context(add_function(names[i], binary), step), 0x1000 * (i + 1)};
    progress_ = {add_context(add_function("progress", library), talk), 0x1000};
}

std::uint32_t Vocabulary::add_function(const std::string& name, const std::string& module)
{
    otf2::RegionDefinition region;
    region.name = name;
    region.canonical_name = name;
    region.module = module;
    definitions_.regions.push_back(region);
    return static_cast<std::uint32_t>(definitions_.regions.size() - 1);
}

std::uint32_t Vocabulary::add_context(std::uint32_t region, std::uint32_t parent)
{
    definitions_.contexts.push_back({region, parent});
    return static_cast<std::uint32_t>(definitions_.contexts.size() - 1);
}

OTF2_CommRef Vocabulary::add_communicator(const std::vector<std::int32_t>& ranks)
{
    otf2::CommunicatorDefinition comm;
    comm.members = otf2::compress(ranks);
    comm.parent = world;
    comm.has_events = true;
    definitions_.communicators.push_back(comm);
    return static_cast<OTF2_CommRef>(definitions_.communicators.size() - 1);
}

}  // namespace critpath::bench
