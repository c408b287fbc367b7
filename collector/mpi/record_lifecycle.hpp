// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the recording begins inside MPI_Init and ends inside MPI_Finalize, in every language.
#pragma once

#include "collector/mpi/call.hpp"
#include "collector/mpi/environment.hpp"
#include "collector/mpi/lifecycle.hpp"
#include "collector/sampling/sampling.hpp"

namespace critpath::preload
{

/// `initialise` calls MPI. A Call does not record yet when MPI_Init is entered, so its record is made here.
template <class Initialise>
int record_init(FunctionId function, Initialise&& initialise, const Caller& caller)
{
    const OwnWork guard;
    if (process.phase != Phase::Loaded) {
        return initialise();
    }
    restore_environment();
    if (process.sampling) {
        sampling::start_helper();
    }
    spool::Record record{};
    record.kind = spool::RecordKind::Call;
    record.function = static_cast<std::uint16_t>(function);
    record.comm = record.peer = record.tag = -1;
    record.enter = now();
    const int result = initialise();
    record.leave = now();
    if (result != MPI_SUCCESS) {
        return result;
    }
    begin_recording();
    if (process.phase == Phase::Recording && local.thread != nullptr) {
        // The first perf_event on a machine can take tens of milliseconds: that is not the application's.
        if (local.thread->number == 0 && process.pid == gettid()) {
            append_span(*local.thread, spool::RecordKind::Tool, process.start, process.loaded);
        }
        record.callpath = local.thread->paths.find(caller, local.thread->spool);
        local.thread->spool.append(record);
        std::uint64_t pause_begin;
        std::uint64_t pause_end;
        local.thread->spool.take_pause(pause_begin, pause_end);  // is in it
        append_span(*local.thread, spool::RecordKind::Tool, record.leave, now());
    }
    return result;
}

/// `finalise` calls MPI. What follows the enter of MPI_Finalize is the collector's own work, so the record ends there.
template <class Finalise>
int record_finalize(Finalise&& finalise, const Caller& caller)
{
    if (local.depth != 0) {
        notice_jump(caller);
    }
    const int saved_depth = local.depth;
    {
        Call call(FunctionId::MPI_Finalize, caller);
        if (call.recorded()) {
            call.record().enter = call.record().leave = now();
            call.write();
        }
    }
    const OwnWork guard;
    if (saved_depth == 0) {
        end_recording();
    }
    return finalise();
}

}  // namespace critpath::preload
