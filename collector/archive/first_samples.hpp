// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the samples of a thread stand for that began with any part of its period (SampleFormat::first_period).
// docs/ALGORITHM, "Short threads".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::archive
{

class FirstSamples
{
public:
    explicit FirstSamples(std::uint64_t own_period) : own_(own_period) {}

    /// `count`: of the sampled event until the next sample.
    void add(std::uint64_t count) { counts_.push_back(count); }

    /// By sample. Those in the first period of the own length, at least the first one, stand for that period together:
    /// they come as likely as the thread has of it. The others stand for what was counted since the one before; for two
    /// periods at most, since samples may be lost.
    [[nodiscard]] std::vector<std::uint64_t> periods() const;

private:
    std::uint64_t own_;
    std::vector<std::uint64_t> counts_;
};

}  // namespace critpath::archive
