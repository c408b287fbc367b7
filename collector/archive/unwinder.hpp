// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who called whom when a sample was taken. Where the stack was copied, the unwind information of the binaries says
// so as far as the copy reaches, and of code that was made at run time its own instructions. What is beyond, the
// kernel's own walk over frame pointers knows. By itself that walk leaves out a caller wherever the frame pointer is
// that of another function: in one that needs no frame, and in the first and last instructions of every other. And it
// makes things up where the frame pointer is used for something else.
#pragma once

#include "collector/archive/address_map.hpp"
#include "collector/archive/call_chain.hpp"
#include "collector/archive/deep_caller.hpp"
#include "collector/archive/frame_search.hpp"
#include "collector/archive/frame_step.hpp"
#include "collector/archive/frame_table.hpp"
#include "collector/archive/sample_reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace critpath::archive
{

class Unwinder
{
public:
    /// Whether two addresses lie in one function, in this epoch of the map.
    using AreInOneFunction = std::function<bool(std::uint64_t, std::uint64_t, std::uint32_t)>;

    /// `map` must outlive this. `is_own`: it is of this process, whose vdso and other code without a file can be read.
    Unwinder(const AddressMap& map, bool is_own, AreInOneFunction are_in_one_function);

    /// The samples of another thread follow. `deep` (or null) is what is known of its stack beyond their copies, and
    /// must outlive them.
    void begin_thread(const DeepStacks* deep);

    /// Valid until the next call. The registers of the sample are those that `registers` says (SampleFormat). Cost per
    /// frame: that of finding an address in a hash table, and of reading the unwind information once for each.
    CallChain chain(const RawSample& sample, std::uint64_t registers);

    /// Likewise, of a thread that was found blocked at `time`: the instruction and the stack pointer are all that is
    /// known.
    CallChain chain(const RawBlocked& blocked, std::uint64_t time);

private:
    class KernelWalk;
    // Where a return address stands, what it is, the place in the function that it is of, and the epoch.
    using EvidenceKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;

    const FrameRules* rules_at(std::uint64_t address);  // in epoch_
    const FrameRules* rules_behind_call(std::uint64_t return_address);
    FrameTable* table(std::uint32_t module, const MappedRange& range);
    FrameTable* table_at(std::uint64_t address, std::uint64_t& offset);  // in epoch_; and the place in its file
    Called called_before(std::uint64_t return_address, std::uint64_t function);
    bool unwind(const StackPiece& stack, Registers registers, KernelWalk& walk);  // whether to the thread's first frame
    [[nodiscard]] DeepView view(const RawStack& stack, std::uint64_t time) const;
    bool may_lead_to(Called called, std::uint64_t return_address, std::uint64_t function);
    const std::vector<std::uint64_t>& jumps_from(std::uint64_t function);
    bool is_certain(const Caller& caller, std::uint64_t time, std::uint64_t function);
    void append(std::span<const std::uint64_t> rest);

    const AddressMap& map_;
    bool is_own_;
    AreInOneFunction are_in_one_function_;
    std::function<bool(std::uint64_t, std::uint64_t)> are_alike_;              // return addresses, in epoch_
    std::vector<std::unique_ptr<FrameTable>> tables_;                          // by module, read when first needed
    std::uint32_t epoch_ = 0;                                                  // of the sample
    std::vector<std::unordered_map<std::uint64_t, const FrameRules*>> rules_;  // by epoch and address
    std::unordered_map<std::uint64_t, FramesAt> frames_at_;                    // by instruction
    std::unordered_map<std::uint64_t, std::optional<FrameRules>> epilogues_;   // by return address, without a table
    std::vector<std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>> jumps_from_;  // functions, by epoch
    const DeepStacks* deep_ = nullptr;                                                       // of the thread
    std::map<EvidenceKey, CallerEvidence> evidence_;                                         // of it
    std::vector<std::uint64_t> chain_;
};

}  // namespace critpath::archive
