// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the events of the trace prove about its clocks: that one moment came before another one, on different
// clocks. Bounds are kept by pair of clocks and stretch of time, and of these the convex hulls only, so that memory
// does not grow with the messages. (docs/ALGORITHM, "Clocks")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/clocks/band.hpp"
#include "replayer/clocks/curve.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace critpath::replayer::clocks
{

using model::NodeId;
using model::Ns;

/// From the first to the last event of the processes that share a clock, as that shows them.
struct Span {
    Ns begin = Ns::max();
    Ns end = Ns::min();
    [[nodiscard]] bool empty() const { return end < begin; }
};

struct Moment {
    NodeId clock;
    Ns time;
};

/// What is known of two clocks; the first is the one with the smaller number.
struct Comparison {
    NodeId first, second;
    Curve curve;
    std::int64_t error = 0;    // the largest over the run of the first
    bool contradicts = false;  // what was measured of the two cannot be
};

class Evidence
{
public:
    /// `spans`: by clock, of the whole trace.
    explicit Evidence(std::vector<Span> spans) : spans_(std::move(spans)) {}

    /// `before` was not after `after`.
    void add(const Moment& before, const Moment& after);

    /// What everybody knows comes together, a pair of clocks on one process. `measured`: by clock, how far its times
    /// may be off the shared ones; negative: nobody measured it. What messages say goes before what was measured.
    /// Returns the pairs that this process got. Collective.
    std::vector<Comparison> compare(const Replay& replay, const std::vector<std::int64_t>& measured);

    [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }

private:
    struct Band {
        Hull upper{Hull::Side::Upper};
        Hull lower{Hull::Side::Lower};
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // first, second, stretch of the first

    [[nodiscard]] std::uint32_t stretches(std::uint32_t clock) const;
    [[nodiscard]] std::int64_t border(std::uint32_t clock, std::uint32_t stretch) const;
    [[nodiscard]] std::uint32_t stretch_of(std::uint32_t clock, std::int64_t time) const;
    [[nodiscard]] std::int64_t length(std::uint32_t clock) const
    {
        return (spans_[clock].end - spans_[clock].begin).count();
    }
    void add(Hull::Side side, const Key& key, const Bound& bound);
    void meet(const Replay& replay);
    [[nodiscard]] Comparison compare_pair(std::uint32_t first, std::uint32_t second, std::int64_t limit);

    std::vector<Span> spans_;
    std::map<Key, Band> bands_;
};

}  // namespace critpath::replayer::clocks
