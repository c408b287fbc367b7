// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/recorded_call.hpp"

#include <algorithm>
#include <iterator>

namespace critpath::archive
{

using functions::SemanticClass;
using spool::RecordKind;

bool RecordedCall::take(RecordCursor& cursor)
{
    record = cursor.take<spool::Record>();
    completions.clear();
    while (cursor.kind() == RecordKind::Completions) {
        const auto& slots = cursor.take<spool::CompletionsRecord>();
        for (int i = 0; i < std::min<int>(slots.slots, 2); ++i) {
            completions.push_back({slots.flags[i], functions::SendMode{slots.mode[i]}, slots.operation[i],
                                   slots.request[i], slots.bytes[i], slots.peer[i], slots.tag[i], slots.comm[i]});
        }
    }
    started.clear();
    while (cursor.kind() == RecordKind::Started) {
        const auto& start = cursor.take<spool::Record>();
        // Of a damaged spool it may be anything.
        if (functions::semantic_class(functions::FunctionId{start.function}) == SemanticClass::Icollective &&
            start.request != 0) {
            started.push_back(start);
        }
    }
    members.clear();
    take_members(cursor, members);
    const bool is_known = record.function < static_cast<std::uint16_t>(functions::FunctionId::count);
    semantics = is_known ? functions::info(function()).semantic_class : SemanticClass::Local;
    return is_known;
}

bool posts_operation(SemanticClass semantics)
{
    switch (semantics) {
    case SemanticClass::Icollective:
    case SemanticClass::CommIdup:
    case SemanticClass::RmaPut:
    case SemanticClass::RmaGet:
    case SemanticClass::RmaAtomic:
    case SemanticClass::FileIio:
    case SemanticClass::FileIioAll:
        return true;
    default:
        return false;
    }
}

void take_members(RecordCursor& cursor, std::vector<std::int32_t>& world_ranks)
{
    while (cursor.kind() == RecordKind::Members) {
        const auto& list = cursor.take<spool::MembersRecord>();
        const std::size_t count = std::min<std::size_t>(list.count, std::size(list.world_rank));
        world_ranks.insert(world_ranks.end(), list.world_rank, list.world_rank + count);
    }
}

}  // namespace critpath::archive
