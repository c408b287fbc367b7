// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the functions of the program that are entered and not yet left while a location's events are read.
#pragma once

#include "analysis/model/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer::load
{

class OpenRegions
{
public:
    [[nodiscard]] bool empty() const { return stack_.empty(); }

    /// none() if there is none.
    [[nodiscard]] model::ContextId innermost() const
    {
        return stack_.empty() ? model::ContextId::none() : stack_.back().context;
    }

    void enter(model::ContextId context, model::RegionId region)
    {
        if (region.value >= open_.size()) {
            open_.resize(std::size_t{region.value} + 1);
        }
        ++open_[region.value];
        stack_.push_back({context, region});
    }

    /// Leaves the innermost one of that region, and with it what was left without a record. Whether there was one: that
    /// is known without a look at all that are open, of which a damaged trace may have as many as events.
    bool leave(model::RegionId region)
    {
        if (region.value >= open_.size() || open_[region.value] == 0) {
            return false;
        }
        for (bool is_left = false; !is_left; stack_.pop_back()) {
            const model::RegionId innermost = stack_.back().region;
            is_left = innermost == region;
            --open_[innermost.value];
        }
        return true;
    }

private:
    struct Open {
        model::ContextId context;
        model::RegionId region;
    };

    std::vector<Open> stack_;
    std::vector<std::uint32_t> open_;  // by RegionId: how many
};

}  // namespace critpath::replayer::load
