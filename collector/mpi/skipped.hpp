// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the count of the operations that are not recorded because recording is off: messages by channel, collectives by
// communicator. Messages are paired by their order on their channel and collectives by their order on their
// communicator, so that those which are recorded later must know how many came before them.
#pragma once

#include "collector/mpi/handle_table.hpp"
#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

class SpoolWriter;

/// Not thread-safe: under the table lock of the process.
class Skipped
{
public:
    using What = spool::SkippedRecord::What;

    /// `since`: Call::since of the post. `count` is -1 for what has turned out not to count. Where
    /// very many channels are in use, writes those that it has.
    void add(What what, std::int32_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t since, std::int32_t count,
             SpoolWriter& spool);

    /// Writes what was counted since the last time.
    void write(SpoolWriter& spool);

private:
    struct Count {
        std::uint64_t since;
        std::int32_t comm, peer, tag, count;
        What what;
        std::uint32_t next;
    };
    static constexpr std::uint32_t none = HandleTable<Count>::none;
    static constexpr std::uint32_t most = 4096;  // channels at a time

    HandleTable<Count> table_;
    std::uint32_t first_ = none;  // of all, youngest first
};

}  // namespace critpath::preload
