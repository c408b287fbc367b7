// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/communicator_definitions.hpp"

#include "replayer/load/definition_step.hpp"
#include "replayer/load/grid.hpp"

#include <unordered_map>
#include <vector>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

class CommunicatorStep : DefinitionStep
{
public:
    CommunicatorStep(const Collected& in, const std::string& file, const DefinedProcesses& processes,
                     LoadedDefinitions& out)
        : DefinitionStep(in, file, out), rank_location_(processes.rank_location),
          location_by_reference_(processes.location_by_reference)
    {
    }

    void define()
    {
        refuse_too_many_members();
        add_communicators();
        add_topologies();
        add_windows();
    }

private:
    /// A file of a megabyte has room for a group and communicators of it that have tens of gigabytes of members.
    void refuse_too_many_members() const
    {
        constexpr std::uint64_t most = std::uint64_t{1} << 31;
        std::unordered_map<OTF2_CommRef, std::uint64_t> sizes;
        std::uint64_t members = 0;
        const auto add = [&](OTF2_GroupRef reference) {
            const auto group = in_.groups.find(reference);
            const std::uint64_t size = group == in_.groups.end() ? 0 : group->second.members.size();
            members += size;
            return size;
        };
        for (const auto& comm : in_.comms) {
            sizes[comm.self] = add(comm.group);
        }
        for (const auto& comm : in_.inter_comms) {
            add(comm.group_a);
            add(comm.group_b);
        }
        for (const auto& window : in_.windows) {
            const auto comm = sizes.find(window.comm);
            members += comm == sizes.end() ? 0 : comm->second;
        }
        if (members > most) {
            fail(ExitCode::BadTrace,
                 "{}: its communicators have {} members together, of which no more than {} can be analyzed; record a "
                 "part of the run that makes fewer of them",
                 file_, members, most);
        }
    }

    void add_communicators()
    {
        for (const auto& comm : in_.comms) {
            const auto group = in_.groups.find(comm.group);
            if (group == in_.groups.end()) {
                contradict("communicator {} refers to group {}, which is not defined", comm.self, comm.group);
            }
            if (group->second.paradigm != OTF2_PARADIGM_MPI) {
                continue;  // of another tool's own making; no MPI record refers to it
            }
            vocabulary_.communicators.add(comm.self, CommId{size(definitions_.communicators)});
            auto& made = definitions_.communicators.emplace_back();
            made.name = in_.text(comm.name);
            made.is_self = group->second.type == OTF2_GROUP_TYPE_COMM_SELF;
            made.members = members(group->second);
        }
        for (const auto& comm : in_.inter_comms) {
            const auto a = in_.groups.find(comm.group_a);
            const auto b = in_.groups.find(comm.group_b);
            if (a == in_.groups.end() || b == in_.groups.end()) {
                contradict("inter-communicator {} refers to a group that is not defined", comm.self);
            }
            vocabulary_.communicators.add(comm.self, CommId{size(definitions_.communicators)});
            auto& made = definitions_.communicators.emplace_back();
            made.name = in_.text(comm.name);
            made.is_inter = true;
            made.members = members(a->second);
            made.remote = members(b->second);
        }
    }

    /// What has more than one topology is described for other reasons than MPI's.
    void add_topologies()
    {
        std::unordered_map<OTF2_CommRef, int> described;
        for (const auto& [reference, topology] : in_.topologies) {
            ++described[topology.comm];
        }
        for (const auto& [reference, topology] : in_.topologies) {
            const CommId comm = vocabulary_.communicators.find(topology.comm);
            if (!comm.valid() || described[topology.comm] != 1) {
                continue;
            }
            Communicator& made = definitions_.communicators[comm.value];
            const auto found = neighbours(grid(reference, topology), made.members.size());
            if (found && !made.is_inter && !made.is_self) {
                made.neighbours = *found;
            }
        }
    }

    [[nodiscard]] Grid grid(OTF2_CartTopologyRef reference, const Topology& topology) const
    {
        Grid result;
        for (const OTF2_CartDimensionRef dimension : topology.dimensions) {
            const auto found = in_.dimensions.find(dimension);
            if (found == in_.dimensions.end()) {
                return {};
            }
            result.dimensions.push_back(found->second);
        }
        if (const auto places = in_.places.find(reference); places != in_.places.end()) {
            result.places = places->second;
        }
        return result;
    }

    /// Collectives on a window have an order of their own, beside those on the communicator that it was made from. So
    /// each window has a communicator of its own here, as it has in MPI.
    void add_windows()
    {
        for (const auto& window : in_.windows) {
            const CommId comm = vocabulary_.communicators.find(window.comm);
            if (!comm.valid()) {
                continue;  // of another model than MPI's
            }
            vocabulary_.windows.add(window.self, WindowId{size(definitions_.windows)});
            definitions_.windows.push_back({in_.text(window.name), CommId{size(definitions_.communicators)}});
            const Communicator of_members = definitions_.communicators[comm.value];
            definitions_.communicators.push_back(of_members);
            definitions_.communicators.back().name = definitions_.windows.back().name;
        }
        if (in_.windows.empty()) {
            return;
        }
        for (const auto& [reference, group] : in_.groups) {
            const bool is_of_processes =
                group.type == OTF2_GROUP_TYPE_COMM_GROUP || group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS;
            if (is_of_processes && group.paradigm == OTF2_PARADIGM_MPI) {
                vocabulary_.groups.add(reference, ProcessGroupId{size(definitions_.groups)});
                definitions_.groups.push_back(members(group));
            }
        }
    }

    /// Members of a communicator's group are ranks in MPI_COMM_WORLD: positions in the group of communicating
    /// locations, or, where the group is that group itself, these locations.
    [[nodiscard]] std::vector<ProcessId> members(const GroupContent& group) const
    {
        std::vector<ProcessId> result;
        for (const std::uint64_t member : group.members) {
            if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
                const auto location = location_by_reference_.find(member);
                if (location == location_by_reference_.end()) {
                    contradict("a communicator has location {}, which is not defined", member);
                }
                result.push_back(definitions_.locations[location->second.value].process);
            } else if (member < rank_location_.size()) {
                result.push_back(ProcessId{static_cast<std::uint32_t>(member)});
            } else {
                contradict("a communicator has rank {} of {}", member, rank_location_.size());
            }
        }
        return result;
    }

    const std::vector<OTF2_LocationRef>& rank_location_;  // as DefinedProcesses
    const std::unordered_map<OTF2_LocationRef, LocationId>& location_by_reference_;
};

}  // namespace

void define_communicators(const Collected& in, const std::string& file, const DefinedProcesses& processes,
                          LoadedDefinitions& out)
{
    CommunicatorStep(in, file, processes, out).define();
}

}  // namespace critpath::replayer::load
