// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what MPI-IO leaves in the trace: collective records on the communicator of the file, and how much was moved.
#pragma once

#include "collector/archive/call_events.hpp"

namespace critpath::archive
{

class FileEvents : public CallEvents
{
public:
    using CallEvents::CallEvents;

    void begin(const RecordedCall& call) override;
    void end(const RecordedCall& call, std::uint64_t time) override;
    void complete(const Completion& completion, std::uint64_t time) override;

    /// Says with the LEAVE that comes next what the call read and wrote.
    void attach_volume();

private:
    std::uint64_t read_ = 0;
    std::uint64_t written_ = 0;
};

}  // namespace critpath::archive
