// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when images of a stack make it certain who had called a function at the time of a sample. That the last image
// before the sample and the first one behind it agree does not say that the function was not called by somebody else in
// between, with its frame at the same place. But the images are taken at times of their own: whoever has the function
// for a part of the time is seen in as large a part of them. So what all of them say counts, too.
#pragma once

#include "collector/archive/deep_stacks.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace critpath::archive
{

/// What a word says that stands where the return address of a function does.
enum class Seen : std::uint8_t {
    Nobody,   // that it has not called it
    This,     // it is the caller in question
    Perhaps,  // another one that calls what nobody knows, whereas the caller in question surely calls the function
    Other,    // another one that may have called it
};

/// What all images say at one place of the stack. `seen` is asked of each word that stood there.
class CallerEvidence
{
public:
    CallerEvidence() = default;
    CallerEvidence(std::span<const DeepStacks::Run> runs, const std::function<Seen(std::uint64_t word)>& seen);

    /// Whether the caller in question was it where these are the runs around the sample.
    [[nodiscard]] bool is_certain(std::span<const DeepStacks::Run> around) const;

private:
    struct Period;

    bool is_enough_ = false;
    bool has_others_ = false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> long_periods_;  // of the caller in question, begin and end
};

}  // namespace critpath::archive
