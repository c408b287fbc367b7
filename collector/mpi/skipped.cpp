// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/skipped.hpp"

#include "collector/mpi/spool_writer.hpp"

namespace critpath::preload
{

void Skipped::add(What what, std::int32_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t since,
                  std::int32_t count, SpoolWriter& spool)
{
    const std::uint64_t channel =
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32) | static_cast<std::uint32_t>(tag);
    const std::uint64_t key = (channel * 0xd6e8feb86659fd93U) ^ since ^
                              (static_cast<std::uint64_t>(static_cast<std::uint32_t>(comm)) << 8) ^ what;
    for (std::uint32_t i = table_.find(key); i != none; i = table_.find_next(i)) {
        Count& known = table_.at(i);
        if (known.what == what && known.comm == comm && known.peer == peer && known.tag == tag &&
            known.since == since) {
            known.count += count;
            return;
        }
    }
    if (table_.size() == most) {
        write(spool);
    }
    const std::uint32_t index = table_.insert(key, {since, comm, peer, tag, count, what, first_});
    if (index != none) {
        first_ = index;
    }
}

void Skipped::write(SpoolWriter& spool)
{
    while (first_ != none) {
        spool::SkippedRecord record{};
        record.kind = spool::RecordKind::Skipped;
        record.since = table_.at(first_).since;
        while (first_ != none && record.slots < 3 && table_.at(first_).since == record.since) {
            const std::uint32_t index = first_;
            const Count& item = table_.at(index);
            const int slot = record.slots++;
            record.what[slot] = item.what;
            record.comm[slot] = item.comm;
            record.peer[slot] = item.peer;
            record.tag[slot] = item.tag;
            record.count[slot] = item.count;
            first_ = item.next;
            table_.erase(index);
        }
        spool.append(record);
    }
}

}  // namespace critpath::preload
