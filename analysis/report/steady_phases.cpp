// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/steady_phases.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace critpath::report
{

namespace
{

using division::Window;

/// In how many phases something is, whose times follow each other.
class PhaseCount
{
public:
    void add(const Window& time, std::size_t first_phase, std::span<const Window> phases)
    {
        for (std::size_t i = std::max(first_phase, next_); i < phases.size() && phases[i].begin < time.end; ++i) {
            ++number_;
            next_ = i + 1;
        }
    }
    [[nodiscard]] std::size_t number() const { return number_; }

private:
    std::size_t number_ = 0, next_ = 0;
};

struct Call {
    PhaseCount phases;  // with the path in it, or in what comes behind it
    PhaseCount own;     // in it
    Window times{std::numeric_limits<std::int64_t>::max(), 0};

    /// One that comes again and again.
    [[nodiscard]] bool is_of_most(std::size_t all_phases) const
    {
        constexpr std::size_t fewest = 3;
        return 2 * phases.number() >= all_phases && own.number() >= fewest;
    }
};

enum class Role : std::uint8_t { Start, End, Other };

Role role_of(const model::Profile& profile, std::uint32_t call)
{
    if (!model::CallPathId{call}.valid())
        return Role::Start;
    const std::string_view name = profile.row({call}).name;
    return name.starts_with("MPI_Init") ? Role::Start : name == "MPI_Finalize" ? Role::End : Role::Other;
}

}  // namespace

Window steady_part(const model::Profile& profile, std::span<const model::Segment> segments,
                   std::span<const Window> phases)
{
    if (phases.empty())
        return {};
    const Window whole{phases.front().begin, phases.back().end};
    std::vector<Call> calls(profile.call_paths.size());
    Window between = whole;  // start and end
    std::size_t phase = 0;
    for (const model::Segment& segment : segments) {
        const Window time{std::max(segment.begin, whole.begin), std::min(segment.end, whole.end)};
        if (time.length() <= 0)
            continue;
        const Role role = role_of(profile, segment.call);
        const bool is_call = model::SegmentKind{segment.kind} != model::SegmentKind::Compute;
        if (role == Role::Start && (is_call || !model::CallPathId{segment.call}.valid()))
            between.begin = std::max(between.begin, time.end);
        if (role == Role::End)
            between.end = std::min(between.end, time.begin);
        while (phases[phase].end <= time.begin)
            ++phase;
        if (role != Role::Other)
            continue;
        Call& call = calls[segment.call];
        call.phases.add(time, phase, phases);
        if (!is_call)
            continue;
        call.own.add(time, phase, phases);
        call.times = {std::min(call.times.begin, time.begin), time.end};
    }
    Window main_calls{whole.end, whole.begin};
    for (const Call& call : calls)
        if (call.is_of_most(phases.size()))
            main_calls = {std::min(main_calls.begin, call.times.begin), std::max(main_calls.end, call.times.end)};
    return main_calls.length() > 0 ? main_calls : between;
}

bool is_steady(const Window& phase, const Window& steady_part)
{
    return 10 * (phase.length() - division::length_in(phase, steady_part.begin, steady_part.end)) < phase.length();
}

}  // namespace critpath::report
