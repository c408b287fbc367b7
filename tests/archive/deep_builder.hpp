// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns records of images of a stack, for tests.
#pragma once

#include "tests/archive/spool_builder.hpp"

#include <utility>
#include <vector>

namespace critpath::test
{

class DeepBuilder : public SamplesBuilder
{
public:
    /// `changes` are addresses and words, `part` bits of DeepStackRecord::Part.
    void image(std::uint64_t since, std::uint64_t until,
               const std::vector<std::pair<std::uint64_t, std::uint64_t>>& changes, unsigned part = 0)
    {
        std::vector<std::uint64_t> words = {since, until};
        for (const auto& [address, word] : changes) {
            words.insert(words.end(), {address, word});
        }
        record(spool::DeepStackRecord::number, words, static_cast<int>(part));
    }
};

}  // namespace critpath::test
