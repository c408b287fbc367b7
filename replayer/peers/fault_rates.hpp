// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whose the page faults are that are counted between two samples, where a thread did several things meanwhile.
// Each of them comes again and again, now in one interval and then in another, so that all intervals together tell how
// many faults a second each of them has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace critpath::replayer
{

class FaultRates
{
public:
    /// Of an interval between two samples, how long the thread did one thing, ns on the processor.
    struct Part {
        std::uint32_t what;  // small numbers from 0 on
        std::int64_t ns;
    };

    /// An interval between two samples. Those without faults tell most of who has none.
    void add(std::uint32_t faults, std::span<const Part> parts);

    /// The rates that make what was counted likeliest, if faults of each thing come evenly at a rate of its own and
    /// independently of each other (the maximum likelihood of Poisson variables of which sums are seen, by expectation
    /// and maximisation; Dempster, Laird and Rubin 1977). Call it once, behind the last add().
    void estimate();

    /// Faults a ns; 0 of what was never seen.
    [[nodiscard]] double rate(std::uint32_t what) const { return what < rates_.size() ? rates_[what] : 0; }

private:
    struct Interval {
        std::size_t first, end;  // in parts_
        double faults;
    };

    std::size_t samples_ = 0;
    std::vector<Part> parts_;  // of intervals with faults
    std::vector<Interval> intervals_;
    std::vector<double> ns_;  // by what, of all intervals
    std::vector<double> rates_;
};

}  // namespace critpath::replayer
