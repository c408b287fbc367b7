// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what collectives on communicators leave in the trace, blocking and not, and the life of communicators.
#pragma once

#include "collector/archive/call_events.hpp"

namespace critpath::archive
{

class CollectiveEvents : public CallEvents
{
public:
    using CallEvents::CallEvents;

    void begin(const RecordedCall& call) override;
    void end(const RecordedCall& call, std::uint64_t time) override;
    /// `post` of a persistent collective: as that of the non-blocking function that does the same.
    void start(const spool::Record& post, std::uint64_t time);
    void complete(const Completion& completion, std::uint64_t time) override;
};

}  // namespace critpath::archive
