// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how one clock goes against another one, over the whole run: by how much it is ahead at some moments, linear in
// between, and how far off that may be.
#pragma once

#include "analysis/model/ids.hpp"
#include "formats/otf2/clock_correction.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer::clocks
{

/// When the first clock showed `time`, the second one was ahead by `ahead`, give or take `error`. In ns.
struct Knot {
    std::int64_t time = 0;
    std::int64_t ahead = 0;
    std::int64_t error = 0;
};

class Curve
{
public:
    Curve() = default;  // both clocks are the same
    explicit Curve(std::vector<Knot> knots);

    /// What the second clock shows. Never changes the order of times.
    [[nodiscard]] model::Ns operator()(model::Ns time) const;
    /// The last time of the first clock at which the second one shows `time` at the most.
    [[nodiscard]] model::Ns back(model::Ns time) const;

    [[nodiscard]] std::int64_t error(model::Ns time) const;
    [[nodiscard]] std::int64_t largest_error(model::Ns begin, model::Ns end) const;
    /// The largest difference of the two from `begin` to `end`, either way.
    [[nodiscard]] std::int64_t largest_shift(model::Ns begin, model::Ns end) const;

    [[nodiscard]] bool is_identity() const { return correction_.is_identity(); }
    [[nodiscard]] const std::vector<Knot>& knots() const { return knots_; }  // ascending by time
    /// The same clocks, the other way around.
    [[nodiscard]] Curve reversed() const;

private:
    std::vector<Knot> knots_;
    otf2::ClockCorrection correction_;
};

/// From the first clock of `first` to the second clock of `then`. `rest` is an error that comes on top.
Curve chain(const Curve& first, const Curve& then, std::int64_t rest);

}  // namespace critpath::replayer::clocks
