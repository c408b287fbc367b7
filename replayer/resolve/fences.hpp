// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which transfer a fence waited for, of those that its members began: these have to tell each other.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/collect/members.hpp"
#include "replayer/onesided/onesided.hpp"
#include "replayer/rules/calibration.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Fence calls of the owned processes: what these began before them, and those that took long.
class Fences
{
public:
    Fences(const Replay& replay, const std::vector<ProcessWindows>& windows, const rules::Calibration& calibration)
        : replay_(replay), windows_(windows), calibration_(calibration)
    {
    }

    /// Whether a call may have waited for more than the members of its instance.
    static bool may_wait(const rules::Member& member, const rules::Instance& instance);

    /// A call that took long. `otherwise`: the answer, if no transfer explains the end of the call better.
    void add(const Part& part, const rules::Member& member, const rules::Instance& instance,
             const rules::Predecessor& otherwise);

    /// visit(process, call, predecessor), for each that was asked for. Collective.
    template <class Visit>
    void answer(Visit visit)
    {
        const std::vector<rules::Predecessor> found = find();
        for (std::size_t i = 0; i < asked_.size(); ++i)
            visit(asked_[i].process, asked_[i].wait.call, found[i].is_jump() ? found[i] : asked_[i].otherwise);
    }

private:
    struct Name {
        std::uint32_t side, number;  // of the instance
        auto operator<=>(const Name&) const = default;
    };
    struct Told {
        Name instance;
        rules::FencedTransfer transfer;
    };
    struct Opened {
        Name instance;  // of the fence that ends the epoch
        model::ProcessId process;
        rules::Enter enter;
    };
    struct Asked {
        std::size_t process;
        Name instance;
        rules::FenceWait wait;
        rules::Predecessor otherwise;
    };
    struct Question {
        Name instance;
        std::uint32_t index;  // into asked_ of the asking process
        rules::FenceWait wait;
    };
    struct Answer {
        std::uint32_t index;
        rules::Predecessor predecessor;
    };

    [[nodiscard]] std::size_t home_of(Name instance) const;
    template <class OfInstance>
    [[nodiscard]] std::vector<OfInstance> at_home(const std::vector<OfInstance>& all) const;
    [[nodiscard]] std::vector<rules::Predecessor> find() const;
    [[nodiscard]] model::Ns completion(std::size_t members) const;

    const Replay& replay_;
    const std::vector<ProcessWindows>& windows_;
    const rules::Calibration& calibration_;
    std::vector<Told> told_;
    std::vector<Opened> opened_;
    std::vector<Asked> asked_;
};

}  // namespace critpath::replayer
