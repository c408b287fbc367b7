// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what one-sided communication leaves in the trace: the life of windows, synchronisation, transfers, and which
// synchronisation completes which transfer.
#pragma once

#include "collector/archive/call_events.hpp"
#include "collector/archive/open_transfers.hpp"

#include <unordered_map>

namespace critpath::archive
{

/// A synchronisation completes the transfers that its own thread has begun; those of other threads stay open.
class WindowEvents : public CallEvents
{
public:
    using CallEvents::CallEvents;

    void begin(const RecordedCall& call) override;
    void end(const RecordedCall& call, std::uint64_t time) override;
    void complete(const Completion& completion, std::uint64_t time) override;

private:
    void transfer(const RecordedCall& call, const WindowId& window);
    void collective(const RecordedCall& call, const WindowId& window, std::uint64_t time);
    void group(const RecordedCall& call, const WindowId& window, std::uint64_t time);
    void passive(const RecordedCall& call, const WindowId& window, std::uint64_t time);
    /// Of the transfers to `target`, or to all if that is negative.
    void done_remote(const spool::Record& call, const WindowId& window, std::int32_t target, std::uint64_t time);
    void done_here(const spool::Record& call, const WindowId& window, std::uint64_t time);
    [[nodiscard]] OTF2_GroupRef group_of(const std::optional<Hash128>& key) const;

    std::unordered_map<std::int32_t, OpenTransfers> open_;  // by window
    std::uint64_t transfers_ = 0;
};

}  // namespace critpath::archive
