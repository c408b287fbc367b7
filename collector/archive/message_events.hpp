// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what messages leave in the trace: sends, receives, their requests, and probes.
#pragma once

#include "collector/archive/call_events.hpp"

namespace critpath::archive
{

class MessageEvents : public CallEvents
{
public:
    using CallEvents::CallEvents;

    void begin(const RecordedCall& call) override;
    void end(const RecordedCall& call, std::uint64_t time) override;
    void complete(const Completion& completion, std::uint64_t time) override;

private:
    void start(const Completion& started, std::uint64_t time);
    void describe_probe(const RecordedCall& call);
    template <class Source>
    std::optional<otf2::Envelope> envelope(const Source& source);
};

}  // namespace critpath::archive
