// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/summary.hpp"

#include "analysis/model/anomalies.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>

namespace critpath::replayer
{

namespace
{

std::int64_t fact(const model::Profile& profile, const std::string& name)
{
    const auto found = profile.facts.find(name);
    return found == profile.facts.end() ? 0 : found->second;
}

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

double percent_of_path(const model::Profile& profile, const char* key)
{
    const std::int64_t path = fact(profile, "path_ns");
    return path > 0 ? 100.0 * static_cast<double>(fact(profile, key)) / static_cast<double>(path) : 0;
}

/// Where more than a percent of the path may be elsewhere.
std::string doubt_in_words(const model::Profile& profile, const std::string& trace)
{
    const double led = percent_of_path(profile, "led_by_doubt_ns");
    constexpr double much = 20, worth_a_word = 1;  // %
    if (led < worth_a_word)
        return {};
    const std::int64_t segments = fact(profile, "low_confidence_segments");
    return fmt::format(
        "{}: {:.1f} % of the path is where doubtful decisions put it, and may as well be on other ranks; {} of "
        "its segments {} in doubt ({:.1f} % of the path): cpreport path --doubtful {}\n",
        led > much ? "warning" : "note", led, segments, segments == 1 ? "is" : "are",
        percent_of_path(profile, "low_confidence_ns"), shell_word(trace));
}

/// How far the path can be told with the clocks as they are; nothing if there is only one.
std::string clocks_in_words(const model::Profile& profile)
{
    if (fact(profile, "clock_domains") <= 1) {
        return {};
    }
    if (const std::int64_t unknown = fact(profile, "clocks_unknown"); unknown > 0) {
        return fmt::format(
            "warning: nothing relates {} of the {} clocks to the others, so this trace cannot tell which "
            "ranks the path is on\n",
            unknown, fact(profile, "clock_domains"));
    }
    const double decided = percent_of_path(profile, "clock_decided_ns");
    std::string text = fmt::format(
        "clocks: {}, known to {:.1f} us; {:.1f} % of the path was decided within that, shares of ranks are right "
        "within {:.1f} %\n",
        fact(profile, "clock_domains"), static_cast<double>(fact(profile, "clock_uncertainty_ns")) / 1000, decided,
        percent_of_path(profile, "clock_doubted_ns"));
    constexpr double much = 20;  // %
    if (decided > much) {
        text += "warning: ranks come closer to each other than the clocks are known, so this trace cannot tell which "
                "ranks the path is on\n";
    }
    return text;
}

}  // namespace

std::string summary(const model::Profile& profile, const std::string& trace)
{
    std::string text;
    auto out = std::back_inserter(text);
    const std::int64_t makespan = fact(profile, "makespan_ns");
    fmt::format_to(out, "makespan {:.6f} s, {} ranks, {} calls, {} messages, {} collective operations\n",
                   seconds(makespan), fact(profile, "processes"), fact(profile, "calls"), fact(profile, "messages"),
                   fact(profile, "collectives"));
    fmt::format_to(out, "critical path: {} segments, {} changes of location\n", fact(profile, "segments"),
                   fact(profile, "hops"));
    std::array<std::int64_t, model::segment_kinds> by_kind{};
    for (const auto& time : profile.kinds) {
        by_kind[static_cast<std::size_t>(time.kind)] += time.ns;
    }
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
        if (by_kind[kind] > 0) {
            fmt::format_to(out, "  {:<12} {:>12.6f} s  {:5.1f} %\n", model::name(static_cast<model::SegmentKind>(kind)),
                           seconds(by_kind[kind]),
                           100.0 * static_cast<double>(by_kind[kind]) / static_cast<double>(makespan));
        }
    }
    text += doubt_in_words(profile, trace);
    text += clocks_in_words(profile);
    if (const auto reason = profile.properties.find("incomplete"); reason != profile.properties.end()) {
        fmt::format_to(
            out,
            "note: the recording is incomplete ({}); analyzed up to the last moment that is known of all ranks, "
            "{} later calls left out, {} operations under way\n",
            reason->second, fact(profile, "cut_calls"), fact(profile, "under_way"));
    }
    if (const auto what = profile.properties.find("inconsistent"); what != profile.properties.end()) {
        fmt::format_to(out,
                       "note: ranks disagree about communicators ({}); their operations are not matched, and what is "
                       "said of the time in them is wrong\n",
                       what->second);
    }
    for (const model::Oddity& oddity : model::oddities) {
        if (const std::int64_t count = fact(profile, oddity.fact); count > 0) {
            fmt::format_to(out, "note: {} {}\n", count, model::words_of(oddity, fact(profile, "clock_domains")));
        }
    }
    if (fact(profile, "messages") == 0 && fact(profile, "unmatched_sends") > 0 &&
        fact(profile, "unmatched_receives") > 0) {
        text +=
            "warning: no message has a partner: event files of other ranks, or of another run, may have been mixed; "
            "copy the whole trace again\n";
    }
    fmt::format_to(out, "next: cpreport hotspots {}\n", shell_word(trace));
    return text;
}

}  // namespace critpath::replayer
