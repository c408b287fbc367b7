// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who took part in which collective: each collective call of an owned process as one member's part in the n-th
// instance on a communicator.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/rules/collective_rule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace critpath::replayer
{

/// A group of processes whose collectives are numbered together: a communicator, one side of an inter-communicator, or
/// all that a communicator is created by.
struct Side {
    /// Of each communicator: its members (of an inter-communicator, those of the first side), those of the second side
    /// of an inter-communicator, the creators, the members at the ends of split operations, and those of both sides.
    static constexpr std::uint32_t per_communicator = 5;

    std::uint32_t value = 0;  // per_communicator * CommId, plus which of them

    static Side of(model::CommId comm, std::uint32_t group = 0) { return {per_communicator * comm.value + group}; }
    /// Who makes `comm` in calls that are collective over its members (MPI_Comm_create_group, MPI_Intercomm_create,
    /// MPI_Comm_accept and MPI_Comm_connect): all of them, on both sides of an inter-communicator. Numbered by itself,
    /// so that a member whose call was not recorded has its next operation in its place.
    static Side creators(model::CommId comm) { return of(comm, 2); }
    /// The members again, in the calls that end split operations on files (MPI_File_write_all_end). The beginnings have
    /// their turns among the operations of the communicator, and each end has the number of its beginning.
    static Side ends(model::CommId comm) { return of(comm, 3); }
    /// The members of both sides of an inter-communicator, in the calls that make others of it (MPI_Comm_dup), which
    /// all have to agree on. They have their turns among its operations, and the same numbers here.
    static Side both(model::CommId comm) { return of(comm, 4); }

    [[nodiscard]] model::CommId comm() const { return {value / per_communicator}; }
    [[nodiscard]] std::uint32_t group() const { return value % per_communicator; }
    [[nodiscard]] bool is_creators() const { return group() == 2; }
    [[nodiscard]] bool is_ends() const { return group() == 3; }
    [[nodiscard]] bool is_both() const { return group() == 4; }
    /// The side that the members of this one depend on.
    [[nodiscard]] Side partner(bool is_inter) const { return is_inter ? of(comm(), 1 - group()) : *this; }
    auto operator<=>(const Side&) const = default;
};

/// The parts of one owned member of one side: by instance number, index into ProcessTrace::collectives.
struct MemberCalls {
    static constexpr std::uint32_t none = UINT32_MAX;  // it took part, but that was not recorded

    std::size_t process;  // index into Replay::processes
    std::uint32_t rank;
    std::vector<std::uint32_t> calls;
};

/// One member's part in one instance.
struct Part {
    Side side;
    std::uint32_t number;      // of the instance on its side
    std::size_t process;       // as MemberCalls
    std::uint32_t rank;        // as MemberCalls
    std::uint32_t collective;  // index into ProcessTrace::collectives
};

class Members
{
public:
    explicit Members(const Replay& replay);

    /// The owned members of a side that took part in anything; none for a side without.
    [[nodiscard]] const std::vector<MemberCalls>& of(Side side) const;
    [[nodiscard]] const std::unordered_map<std::uint32_t, std::vector<MemberCalls>>& sides() const { return sides_; }

    /// visit(part, i), for the owned members that were recorded to take part in the instances number(i) of the side, i
    /// from 0 to `count`, ascending. Some instances at a time, and of these, member by member: what is known of one
    /// member's calls is together in memory, and what is known of the calls of one instance is not.
    template <class Number, class Visit>
    void for_each_part(Side side, std::size_t count, Number number, Visit visit) const
    {
        constexpr std::size_t some = 64;
        const std::vector<MemberCalls>& of_side = of(side);
        for (std::size_t begin = 0; begin < count; begin += some)
            for (const MemberCalls& member : of_side)
                for (std::size_t i = begin; i < std::min(begin + some, count); ++i) {
                    const std::uint32_t n = number(i);
                    if (n < member.calls.size() && member.calls[n] != MemberCalls::none)
                        visit(Part{side, n, member.process, member.rank, member.calls[n]}, i);
                }
    }

    /// From here on there are none.
    void forget() { sides_ = {}; }

    /// What the rules need of one part.
    [[nodiscard]] rules::Member describe(const Part& part) const;
    /// The rule for one part.
    [[nodiscard]] static rules::Operation operation(functions::FunctionId function, std::int32_t root);

    /// Whether it is one side of an inter-communicator, which depends on the other one.
    [[nodiscard]] bool is_inter(Side side) const;
    /// Members of the side according to the definitions.
    [[nodiscard]] std::size_t size(Side side) const;
    [[nodiscard]] const std::vector<model::ProcessId>& group(Side side) const;
    /// Whom the member gets something from in neighbourhood collectives, ascending; nothing if the trace does not tell.
    [[nodiscard]] std::optional<std::span<const std::uint32_t>> in_neighbours(const Part& part) const;

private:
    void add(std::size_t process);
    void add_creation(std::size_t process, std::uint32_t collective);
    void add_numbered(Side side, std::size_t process, std::uint32_t rank, std::size_t number, std::uint32_t collective);
    [[nodiscard]] bool is_root(const Part& part, const model::CollectiveCall& call) const;

    const Replay& replay_;
    std::unordered_map<std::uint32_t, std::vector<MemberCalls>> sides_;
    std::unordered_map<model::CommId, std::vector<model::ProcessId>> both_groups_;  // of inter-communicators
};

}  // namespace critpath::replayer
