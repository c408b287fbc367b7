// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the trace builder that is about one-sided communication.
#include "tests/builder/program.hpp"

namespace critpath::tests
{

using model::CallRef;
using model::WindowEvent;
using model::WindowId;
using What = model::WindowEvent::What;

WindowId Program::window(std::initializer_list<std::uint32_t> members)
{
    definitions_.windows.push_back({"window", comm(members)});
    return {static_cast<std::uint32_t>(definitions_.windows.size() - 1)};
}

model::ProcessGroupId Program::group(std::initializer_list<std::uint32_t> members)
{
    auto& group = definitions_.groups.emplace_back();
    for (const std::uint32_t member : members)
        group.push_back({member});
    return {static_cast<std::uint32_t>(definitions_.groups.size() - 1)};
}

WindowEvent& Rank::window_event(CallRef call, WindowId window, What what, int target, std::uint64_t bytes)
{
    const auto access = what == What::Transfer ? WindowEvent::Access::Writes : WindowEvent::Access::None;
    trace_.window_events.push_back(
        {call, {}, window, model::ProcessGroupId::none(), target, what, false, false, access, bytes});
    return trace_.window_events.back();
}

void Rank::fence(Span span, WindowId window, bool precedes, std::uint64_t bytes)
{
    const model::CommId comm = program_->definitions().windows[window.value].comm;
    collective(FunctionId::MPI_Win_fence, span, comm, precedes ? -1 : model::CollectiveCall::no_precede, bytes);
}

void Rank::window_collective(FunctionId function, Span span, WindowId window)
{
    collective(function, span, program_->definitions().windows[window.value].comm, -1, 0);
}

void Rank::post(Span span, WindowId window, std::initializer_list<std::uint32_t> origins)
{
    window_event(add(FunctionId::MPI_Win_post, span), window, What::Post).group = program_->group(origins);
}

void Rank::start(Span span, WindowId window, std::initializer_list<std::uint32_t> targets, bool no_check)
{
    WindowEvent& event = window_event(add(FunctionId::MPI_Win_start, span), window, What::Start);
    event.group = program_->group(targets);
    event.no_check = no_check;
}

void Rank::complete(Span span, WindowId window)
{
    window_event(add(FunctionId::MPI_Win_complete, span), window, What::Complete);
}

void Rank::wait_exposed(Span span, WindowId window, FunctionId function)
{
    window_event(add(function, span), window, What::Wait);
}

void Rank::lock(Span span, WindowId window, int target, bool exclusive)
{
    window_event(add(FunctionId::MPI_Win_lock, span), window, What::Lock, target).exclusive = exclusive;
}

void Rank::lock_all(Span span, WindowId window)
{
    window_event(add(FunctionId::MPI_Win_lock_all, span), window, What::Lock);
}

void Rank::unlock(Span span, WindowId window, int target, std::uint64_t bytes)
{
    window_event(add(FunctionId::MPI_Win_unlock, span), window, What::Unlock, target, bytes);
}

void Rank::unlock_all(Span span, WindowId window)
{
    window_event(add(FunctionId::MPI_Win_unlock_all, span), window, What::Unlock, -1, 8);
}

void Rank::flush(Span span, WindowId window, int target, std::uint64_t bytes)
{
    window_event(add(FunctionId::MPI_Win_flush, span), window, What::Flush, target, bytes);
}

void Rank::flush_all(Span span, WindowId window)
{
    window_event(add(FunctionId::MPI_Win_flush_all, span), window, What::Flush);
}

void Rank::put(Span span, WindowId window, int target, std::uint64_t bytes)
{
    window_event(add(FunctionId::MPI_Put, span), window, What::Transfer, target, bytes);
}

void Rank::get(Span span, WindowId window, int target, std::uint64_t bytes)
{
    window_event(add(FunctionId::MPI_Get, span), window, What::Transfer, target, bytes).access =
        WindowEvent::Access::Reads;
}

void Rank::compare_and_swap(Span span, WindowId window, int target)
{
    window_event(add(FunctionId::MPI_Compare_and_swap, span), window, What::Transfer, target, 4).access =
        WindowEvent::Access::Swaps;
}

void Rank::fetch(Span span, WindowId window, int target)
{
    window_event(add(FunctionId::MPI_Fetch_and_op, span), window, What::Transfer, target, 4).access =
        WindowEvent::Access::Reads;
}

void Rank::fetch_and_add(Span span, WindowId window, int target)
{
    window_event(add(FunctionId::MPI_Fetch_and_op, span), window, What::Transfer, target, 4).access =
        WindowEvent::Access::Changes;
}

void Rank::swap(Span span, WindowId window, int target)
{
    window_event(add(FunctionId::MPI_Fetch_and_op, span), window, What::Transfer, target, 4).access =
        WindowEvent::Access::Swaps;
}

void Rank::sync(Span span, WindowId window)
{
    window_event(add(FunctionId::MPI_Win_sync, span), window, What::Sync);
}

void Rank::rput(Span span, WindowId window, int target, std::uint64_t bytes, Span wait)
{
    const CallRef call = add(FunctionId::MPI_Rput, span);
    window_event(call, window, What::Transfer, target, bytes).completion = add(FunctionId::MPI_Wait, wait);
}

void Rank::rget(Span span, WindowId window, int target, std::uint64_t bytes, Span wait)
{
    const CallRef call = add(FunctionId::MPI_Rget, span);
    WindowEvent& event = window_event(call, window, What::Transfer, target, bytes);
    event.access = WindowEvent::Access::Reads;
    event.completion = add(FunctionId::MPI_Wait, wait);
}

void Rank::rput_and(Span span, WindowId window, int target, std::uint64_t bytes, Request message, Span waitall)
{
    const CallRef call = add(FunctionId::MPI_Rput, span);
    const std::size_t event = trace_.window_events.size();
    window_event(call, window, What::Transfer, target, bytes);
    const CallRef completion = add(FunctionId::MPI_Waitall, waitall);
    complete(completion, message);
    trace_.window_events[event].completion = completion;
}

}  // namespace critpath::tests
