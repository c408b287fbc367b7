// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/location.hpp"

#include <limits>
#include <utility>

namespace critpath::bench
{

Location::Location(otf2::EventWriter writer, const Vocabulary& vocabulary, Sampling sampling)
    : writer_(std::move(writer)), vocabulary_(vocabulary), sampling_(sampling),
      next_sample_(sampling.period > 0 ? sampling.first : std::numeric_limits<Time>::max())
{
}

void Location::begin(Time time)
{
    writer_.program_begin(stamp(time), Vocabulary::program, {});
}

void Location::end(Time time)
{
    enter(FunctionId::MPI_Finalize, time);
    leave(FunctionId::MPI_Finalize, time);
    writer_.program_end(stamp(time));
}

void Location::enter(FunctionId function, Time time)
{
    if (next_sample_ <= time)
        sample_until(time, false);
    writer_.enter_context(stamp(time), vocabulary_.call(function));
}

void Location::leave(FunctionId function, Time time)
{
    sample_call(time);
    writer_.leave_context(stamp(time), vocabulary_.call(function));
}

void Location::sample_until(Time time, bool in_call)
{
    for (; next_sample_ <= time; next_sample_ += sampling_.period) {
        const Vocabulary::Sampled function = in_call ? vocabulary_.progress() : vocabulary_.work(samples_++);
        writer_.sample(stamp(next_sample_), function.context, 0, function.offset, std::nullopt);
    }
}

void Location::send(Time entered, Time left, const otf2::Envelope& message)
{
    enter(FunctionId::MPI_Send, entered);
    writer_.send(stamp(entered), message);
    leave(FunctionId::MPI_Send, left);
    ++messages_;
}

void Location::recv(Time entered, Time left, const otf2::Envelope& message)
{
    enter(FunctionId::MPI_Recv, entered);
    sample_call(left);
    writer_.recv(stamp(left), message);
    leave(FunctionId::MPI_Recv, left);
}

std::uint64_t Location::isend(Time entered, const otf2::Envelope& message)
{
    enter(FunctionId::MPI_Isend, entered);
    writer_.isend(stamp(entered), message, ++request_);
    leave(FunctionId::MPI_Isend, entered + Machine::post);
    ++messages_;
    return request_;
}

std::uint64_t Location::irecv(Time entered)
{
    enter(FunctionId::MPI_Irecv, entered);
    writer_.irecv_request(stamp(entered), ++request_);
    leave(FunctionId::MPI_Irecv, entered + Machine::post);
    return request_;
}

void Location::collective(FunctionId function, Time entered, Time left, const otf2::CollectiveEnd& operation)
{
    enter(function, entered);
    writer_.collective_begin(stamp(entered));
    sample_call(left);
    writer_.collective_end(stamp(left), operation);
    leave(function, left);
}

void Location::split(Time entered, Time left, const otf2::CollectiveEnd& operation, OTF2_CommRef created)
{
    enter(FunctionId::MPI_Comm_split, entered);
    writer_.collective_begin(stamp(entered));
    sample_call(left);
    writer_.comm_create(stamp(left), created);
    writer_.collective_end(stamp(left), operation);
    leave(FunctionId::MPI_Comm_split, left);
}

}  // namespace critpath::bench
