// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a call as the spool has it: its record, and those that follow and belong to it.
#pragma once

#include "collector/archive/spool_reader.hpp"
#include "formats/functions/functions.hpp"

#include <cstdint>
#include <vector>

namespace critpath::archive
{

/// One slot of a CompletionsRecord.
struct Completion {
    std::uint8_t flags;
    functions::SendMode mode;
    spool::Operation operation;
    std::uint64_t request;
    std::uint64_t bytes;
    std::int32_t peer, tag, comm;
};

struct RecordedCall {
    spool::Record record{};
    functions::SemanticClass semantics = functions::SemanticClass::Local;
    std::vector<Completion> completions;
    std::vector<spool::Record> started;  // persistent collectives, each as the record of the non-blocking function
    std::vector<std::int32_t> members;   // of the group of Win_start and Win_post: world ranks

    /// Takes the call at the cursor. Returns false if it names a function that there is not.
    bool take(RecordCursor& cursor);

    [[nodiscard]] functions::FunctionId function() const { return functions::FunctionId{record.function}; }
    /// The completions are posts: of what was started.
    [[nodiscard]] bool posts() const
    {
        using enum functions::SemanticClass;
        return semantics == Start || semantics == Startall || semantics == Isendrecv || semantics == Pready;
    }
    [[nodiscard]] bool failed() const { return (record.flags & spool::flag_failed) != 0; }
};

/// Whether the request of a call of this class is one that is not a message: its completion says only what it was, and
/// the rest stands in the call.
bool posts_operation(functions::SemanticClass semantics);

/// Moves behind the Members records at the cursor and appends what they list.
void take_members(RecordCursor& cursor, std::vector<std::int32_t>& world_ranks);

}  // namespace critpath::archive
