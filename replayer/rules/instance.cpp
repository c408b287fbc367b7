// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how partial knowledge of an instance combines, and whom its members waited for.
#include "replayer/rules/collective_rule.hpp"

#include <algorithm>

namespace critpath::replayer::rules
{

namespace
{

/// Processes may choose between the two ways to start MPI each for itself, and of two groups that meet, one accepts
/// and one connects.
FunctionId same_for_all(FunctionId function)
{
    switch (function) {
    case FunctionId::MPI_Init_thread:
        return FunctionId::MPI_Init;
    case FunctionId::MPI_Comm_connect:
        return FunctionId::MPI_Comm_accept;
    default:
        return function;
    }
}

}  // namespace

void Instance::add(const Member& member)
{
    Instance one;
    one.take_last(member.enter, member.clock);
    one.at_the_latest.take({member.enter.call, member.enter.time + member.clock_error}, member.clock);
    if (member.is_root)
        one.root = member.enter;
    else if (member.gives)
        one.last_giver = member.enter;
    one.shortest = member.enter;
    one.least_duration = (member.leave - member.enter.time).count();
    one.clock_of_shortest = member.clock;
    one.first_leave = one.last_leave = member.leave.count();
    one.bytes = member.bytes;
    one.members = 1;
    one.least_function = one.largest_function = static_cast<std::uint16_t>(same_for_all(member.function));
    if (members == 0)
        *this = one;  // of most processes, one member takes part
    else
        merge(one);
}

void LastOfTwoClocks::take(const Enter& enter, model::NodeId clock)
{
    if (!enter.valid())
        return;
    if (!first.valid() || enter.order() > first.order()) {
        if (first.valid() && clock != clock_of_first) {
            second = first;
            clock_of_second = clock_of_first;
        }
        first = enter;
        clock_of_first = clock;
    } else if (clock != clock_of_first && (!second.valid() || enter.order() > second.order())) {
        second = enter;
        clock_of_second = clock;
    }
}

void Instance::take_last(const Enter& enter, model::NodeId clock)
{
    if (enter.valid() && (!last.valid() || enter.order() > last.order())) {
        last = enter;
        clock_of_last = clock;
    }
}

void Instance::merge(const Instance& other)
{
    take_last(other.last, other.clock_of_last);
    at_the_latest.take(other.at_the_latest.first, other.at_the_latest.clock_of_first);
    at_the_latest.take(other.at_the_latest.second, other.at_the_latest.clock_of_second);
    take_later(last_giver, other.last_giver);
    take_later(root, other.root);
    const bool is_shorter =
        other.least_duration < least_duration || (other.least_duration == least_duration && other.shortest.valid() &&
                                                  (!shortest.valid() || other.shortest.order() > shortest.order()));
    if (is_shorter) {
        shortest = other.shortest;
        clock_of_shortest = other.clock_of_shortest;
    }
    least_duration = std::min(least_duration, other.least_duration);
    first_leave = std::min(first_leave, other.first_leave);
    last_leave = std::max(last_leave, other.last_leave);
    bytes = std::max(bytes, other.bytes);
    members += other.members;
    least_function = std::min(least_function, other.least_function);
    largest_function = std::max(largest_function, other.largest_function);
}

bool may_be_another(const Instance& instance, const ClockUncertainty& clocks)
{
    const Enter& rival = instance.rival();
    return rival.valid() && instance.last.time - rival.time < clocks.of(instance.last.call.location);
}

/// Where nobody has said how much there was, everybody may have given something. Where all that there was is the root's
/// own, nobody has.
Enter last_giver(const Instance& instance, const Operation& operation)
{
    const bool is_known =
        instance.last_giver.valid() || (operation.shape == CollectiveShape::AllToOne && instance.bytes > 0);
    return is_known ? instance.last_giver : instance.last;
}

/// Who came before the last giver is not known if that is not the last of all.
bool may_be_another_giver(const Instance& instance, const Operation& operation, const ClockUncertainty& clocks)
{
    return last_giver(instance, operation).call == instance.last.call ? may_be_another(instance, clocks)
                                                                      : clocks.largest() > Ns{0};
}

bool gets_nothing(const Instance& instance, const Member& member)
{
    return !member.gets && instance.bytes > 0;
}

bool needs_all(FunctionId function, std::uint64_t bytes)
{
    switch (function) {
    case FunctionId::MPI_Barrier:
    case FunctionId::MPI_Ibarrier:
        return true;
    case FunctionId::MPI_Allreduce:
    case FunctionId::MPI_Iallreduce:
    case FunctionId::MPI_Allgather:
    case FunctionId::MPI_Iallgather:
    case FunctionId::MPI_Alltoall:
    case FunctionId::MPI_Ialltoall:
    case FunctionId::MPI_Reduce_scatter_block:
    case FunctionId::MPI_Ireduce_scatter_block:
        return bytes > 0;
    default:
        return false;
    }
}

/// Where clocks cannot tell who came last, but all left at about the same time, whoever was inside for the shortest
/// time came last, and that needs no clocks to be compared: it is wrong by no more than the leaves are apart. On one
/// clock, order is exact.
Arriver last_arriver(const Instance& instance, const ClockUncertainty& clocks)
{
    if (!may_be_another(instance, clocks))
        return {instance.last, false};
    const Ns error = clocks.between(instance.last.call.location, instance.rival().call.location);
    const bool left_together = instance.last_leave - instance.first_leave < error.count();
    const bool by_duration = left_together && instance.clock_of_shortest != instance.clock_of_last;
    return {by_duration ? instance.shortest : instance.last, true};
}

}  // namespace critpath::replayer::rules
