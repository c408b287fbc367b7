// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how long a thread that was woken waited for a processor. Switches do not tell it: they say when a thread was
// blocked, and when it came back. The kernel tells how long the thread waited for processors in all, from time to time.
// What is more than it was preempted are the ends of its blocked intervals, exactly so of one interval; of several it
// is the sum that is known, and each one has of it by its length. (docs/ALGORITHM, "Samples")
#pragma once

#include "collector/archive/off_processor.hpp"
#include "collector/archive/sample_reader.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::archive
{

/// Who is woken has a processor after some microseconds even where nobody else wants one: no less is a wait.
inline constexpr std::uint64_t least_run_delay = 20'000;  // ns

/// Takes the records of a thread in their order.
class RunDelays
{
public:
    void on(const RawRunDelay& delay) { delays_.push_back(delay); }
    /// Of a switch or a sample.
    void on_time(std::uint64_t time);
    /// What was recorded here is not all.
    void on_gap();

    /// As `intervals`, which are all of the thread in order of time; but those that it was blocked end when it was
    /// woken, where it had to wait for a processor, and are followed by that.
    [[nodiscard]] std::vector<OffInterval> divide(const std::vector<OffInterval>& intervals) const;

private:
    struct Gap {
        std::uint64_t begin, end;
    };

    /// How long the thread has waited for processors when it came back in (since, until].
    struct Span {
        std::uint64_t since, until, waited;
        bool is_known = true;
    };

    [[nodiscard]] bool has_gap(const RawRunDelay& delay) const;
    [[nodiscard]] std::vector<Span> spans(const std::vector<OffInterval>& intervals) const;

    std::vector<RawRunDelay> delays_;
    std::vector<Gap> gaps_;
    std::uint64_t last_time_ = 0;
    bool in_gap_ = false;
};

}  // namespace critpath::archive
