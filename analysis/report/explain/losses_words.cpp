// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what of a stretch is no work of its thread, in words.
#include "analysis/report/explain/losses_words.hpp"

#include "analysis/report/explain/remedy.hpp"
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <string_view>

namespace critpath::report
{

namespace
{

constexpr double measurement_from = 0.05;  // of the stretch: less makes no difference to what is said of it

/// "in read_config (96 %)", "as it seems in read_config (96 %; seen for 12 % of it)": the rest is a guess.
std::string place_in_words(const BlockedAt& at)
{
    constexpr double sure = 0.9;
    const std::string of_all = whole_percent(at.in->share);
    return at.seen >= sure ? fmt::format("in {} ({})", at.in->shown.name, of_all)
                           : fmt::format("as it seems in {} ({}; seen for {} of it)", at.in->shown.name, of_all,
                                         whole_percent(at.seen));
}

/// ", in step (98 %); what it is blocked longer than its peers is in read_config (96 %)"
std::string blocked_in_words(const Explanation& e)
{
    const BlockedAt &all = e.code.blocked, &more = e.blocked_to_mend();
    std::string words = all.in ? ", " + place_in_words(all) : "";
    if (&more != &all && (!all.in || all.in->name != more.in->name))
        words += fmt::format("; what it is blocked longer than its peers is {}", place_in_words(more));
    return words;
}

}  // namespace

std::string losses_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const Losses losses = e.losses();
    // Behind what is said of one rank, "it" would be that one.
    const std::string_view who = e.named ? "On the path, all ranks together" : "It";
    const std::string whole = e.named ? fmt::format("the {}", duration_text(s.path_ns)) : "that";
    std::string words;
    if (part(losses.preempted_ns, s.path_ns) >= off_from)
        words += fmt::format(" {} lacked a processor for {} of {}.", who, duration_text(losses.preempted_ns), whole);
    const std::string threads = threads_in_words(e);
    words += threads;
    if (part(losses.blocked_ns, s.path_ns) >= off_from)
        words += fmt::format(" {} {} blocked {}for {} of {}{}.", who, e.named ? "were" : "was",
                             threads.empty() ? "" : "otherwise ", duration_text(losses.blocked_ns), whole,
                             blocked_in_words(e));
    if (const double share = part(losses.measurement_ns, s.path_ns); share >= measurement_from)
        words += fmt::format(" Recording took {} of {} ({}){}.", duration_text(losses.measurement_ns), whole,
                             whole_percent(share),
                             e.is_mostly_measurement() ? ": little of it is work of the application" : "");
    if (losses.not_sampled_ns > 0)
        words += fmt::format(" It was not sampled for {} of that.", duration_text(losses.not_sampled_ns));
    if (e.has_more_migrations()) {
        const std::string of_peers = s.peers_migrations > 0
                                         ? counted(static_cast<std::uint64_t>(s.peers_migrations), "time") + " each"
                                         : "never";
        words +=
            fmt::format(" It came back on another processor {} times, its peers {}: see whether ranks are bound to "
                        "processors.",
                        count_text(static_cast<std::uint64_t>(s.migrations)), of_peers);
    }
    if (!e.has_more_faults())
        return words;
    // They are counted with samples.
    const std::string_view at_least = losses.not_sampled_ns > 0 ? "at least " : "";
    words +=
        fmt::format(" {} had {}{}, its peers {} each", e.faults.rank ? fmt::format("Rank {}", *e.faults.rank) : "It",
                    at_least, counted(static_cast<std::uint64_t>(e.faults.own), "page fault"),
                    count_text(static_cast<std::uint64_t>(e.faults.peers)));
    const bool is_maybe = e.cause && may_be_faults(*e.cause, e);
    const bool is_on_processor = e.knows_all_off();
    if (is_on_processor && (e.cause == Factor::PageFaults || is_maybe) && e.faults.longer_ns > 0 &&
        e.faults.own > e.faults.peers)
        words += fmt::format(": {} more time on the processor for each that they did not have{}",
                             duration_text(e.faults.longer_ns / (e.faults.own - e.faults.peers)),
                             is_maybe ? ", by work that goes with the memory or by the faults" : "");
    return words + ".";
}

}  // namespace critpath::report
