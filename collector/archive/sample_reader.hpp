// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the reading of raw perf_event records (perf_event_open(2)) of the sample type that formats/spool fixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace critpath::archive
{

struct RawSample {
    std::uint64_t time = 0;  // ns
    std::uint64_t period = 0;
    /// User part of the call chain, sampled instruction first, then return addresses; may be empty.
    std::span<const std::uint64_t> chain;
};

class SampleReader
{
public:
    explicit SampleReader(std::span<const std::byte> records) : rest_(records) {}

    /// The next sample; its chain points into the records. Nothing at the end, which is also where a record makes no
    /// sense.
    std::optional<RawSample> next();

    /// Samples that the kernel says it dropped, in the records read so far.
    [[nodiscard]] std::uint64_t lost() const { return lost_; }

private:
    std::span<const std::byte> rest_;
    std::uint64_t lost_ = 0;
};

}  // namespace critpath::archive
