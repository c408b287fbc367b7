// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a stretch compares with its peers, in words.
#include "analysis/report/explain/comparison_words.hpp"

#include "analysis/report/explain/misses.hpp"
#include "analysis/report/explain/parts_words.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "formats/functions/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace critpath::report
{

namespace
{

constexpr double nothing_from = 99;          // of the time of the peers: what they take is next to nothing
constexpr std::uint64_t most_times = 1000;   // of next to nothing, more of them would say no more
constexpr double without_peers_from = 0.01;  // of the stretch: that has no peers

std::string untold_in_words(const Explanation& e)
{
    if (!is_missed(e) || e.untold->by_nothing)
        return "";
    return fmt::format(" Which of {} it is cannot be told: {}.", e.untold->what, e.untold->why);
}

/// "Most ranks take as long (3 of 4); only rank 3 takes less, 10 % of it." A mean of all says what these few gain.
std::string faster_ranks_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const std::string time = s.fastest_time < 5'000'000
                                 ? "next to nothing"
                                 : whole_percent(static_cast<double>(s.fastest_time) * 1e-9) + " of it";
    const std::string who = s.slow_ranks + 1 == s.ranks
                                ? fmt::format("only rank {} takes less, {}", s.fastest_rank, time)
                                : fmt::format("the others take less, rank {} least, {}", s.fastest_rank, time);
    return fmt::format(
        " Most ranks take as long ({} of {}); {}. What is on the path takes {} the geometric mean of all others{}.",
        s.slow_ranks, s.ranks, who, change_in_words(e.excess), parts_in_words(e, e));
}

/// Of ranks that are on the path by turns.
std::string unequal_ranks_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    return fmt::format(
        " Together, what the ranks have on the path takes as long as on their peers, for they are on it by "
        "turns; but they are not equal: rank {} takes {} rank {}.",
        s.slowest_rank, change_in_words(e.slowest_by_fastest() - 1), s.fastest_rank);
}

/// Who the peers are, where they are not those between the same two calls.
std::string peers_in_words(const Explanation& e)
{
    const auto may_wait = [](const std::string& function) {
        return functions::may_meet_others(functions::semantic_class(std::string_view(function)));
    };
    std::string which = "between calls that can wait";
    switch (model::ComparedBy{e.stretch->compared_by}) {
    case model::ComparedBy::BothCalls:
        return "";
    case model::ComparedBy::CallAfter:
        if (may_wait(e.call_after))
            which = fmt::format("before the same {} since its last call that can wait", e.call_after);
        break;
    case model::ComparedBy::CallBefore:
        if (may_wait(e.call_before))
            which = fmt::format("from the same {} to its next call that can wait", e.call_before);
        break;
    case model::ComparedBy::Meetings:
        return " Compared is all that a rank computes from the collective before it to the next one: it waits in no "
               "call between these.";
    case model::ComparedBy::Lap:
        return " Its peers have such work between other calls: compared is all that a rank does from one call at this "
               "place to the next.";
    }
    return fmt::format(" Compared is all that a rank does {} (MPI_Irecv, MPI_Test and the like cannot).", which);
}

/// Peers are so by the functions of the calls, and their order.
std::string other_call_in_words(const Explanation& e)
{
    if (!e.other_call)
        return "";
    return fmt::format(
        " Rank {} comes here from another {} ({}) than rank {} ({}): what they do may be different work.",
        e.other_call->rank, e.call_before, basename(printable(e.other_call->site)), e.rank,
        basename(printable(e.other_call->own_site)));
}

/// " Rank 0 takes 11.0 times as long as its peers: +100 % of the difference by more of its time blocked."
std::string rank_in_words(const RankReason& rank, const Explanation& e)
{
    return fmt::format(" Rank {} takes {} its peers{}.", rank.rank, change_in_words(rank.excess),
                       parts_in_words(rank, e));
}

/// By what it takes longer; rank by rank, where these differ in that, for then the sums are true of none of them.
std::string reasons_in_words(const Explanation& e)
{
    if (e.other)
        return fmt::format(", but not by the same on all ranks.{}{}", rank_in_words(*e.named, e),
                           rank_in_words(*e.other, e));
    return fmt::format("{}.{}", parts_in_words(e, e), e.named ? rank_in_words(*e.named, e) : "");
}

std::string taking_turns_in_words(const Explanation& e)
{
    constexpr double alone = 0.1;  // what the others work meanwhile, of that time
    const model::Stretch& s = *e.stretch;
    return fmt::format(" Ranks take turns here: {} of {} times {} next to nothing at this place.",
                       count_text(static_cast<std::uint64_t>(s.much_longer)),
                       count_text(static_cast<std::uint64_t>(s.told_times())),
                       e.others_at_work.value_or(0) < alone ? "one of them has something to do, and the others"
                                                            : "some of them have something to do, and others");
}

/// What all on the path take beside their peers, where figures of those that take longer come next.
std::string together_in_words(const Explanation& e)
{
    const double excess = e.together_excess;
    if (std::abs(excess) <= balanced_within)
        return "as long as their peers, for they are each other's; but";
    return fmt::format("{} their peers{}", change_in_words(excess),
                       excess < 0 ? "; but" : ", though some of them take less;");
}

/// Of what is compared.
std::string subject(const Explanation& e)
{
    if (!e.is_of_longer_ranks)
        return "It takes";
    return fmt::format("Together, the ranks on the path take {} those that take longer, rank {} most, take",
                       together_in_words(e), e.longer_rank);
}

}  // namespace

bool is_missed(const Explanation& e)
{
    const double part = std::max({e.parts[static_cast<std::size_t>(Factor::InstructionTime)],
                                  e.parts[static_cast<std::size_t>(Factor::AllCycles)],
                                  e.parts[static_cast<std::size_t>(Factor::Processor)]});
    return e.untold && e.cause != Factor::Threads && e.excess > balanced_within && part >= least_part;
}

std::string comparison_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    std::string words;
    if (e.verdict == Verdict::ThreadsInMpi && std::abs(e.excess) <= balanced_within) {
        words = " It takes as long on its peers.";
    } else if (e.verdict == Verdict::Balanced) {
        words = " Its peers take as long: the ranks are balanced here.";
    } else if (e.takes_turns) {
        words = taking_turns_in_words(e);
    } else if (e.verdict == Verdict::Serial) {
        words = " Its peers take as long, but not at the same time.";
    } else if (e.verdict == Verdict::Unequal) {
        words = unequal_ranks_in_words(e);
    } else if (e.verdict == Verdict::FasterRanks || (e.verdict == Verdict::Rare && e.has_faster_ranks())) {
        words = faster_ranks_in_words(e);
    } else {
        const std::string time = e.excess >= nothing_from ? ": " + duration_text(s.peers_ns) : "";
        words = fmt::format(" {} {} {} peers (geometric mean{}){}{}", subject(e), change_in_words(e.excess),
                            e.is_of_longer_ranks ? "their" : "on its", time, reasons_in_words(e), longer_in_words(e));
    }
    if (part(s.compared_ns, s.looked_at_ns) < 1 - without_peers_from)
        words += fmt::format(
            " For {} of it there are no peers{}.", whole_percent(1 - part(s.compared_ns, s.looked_at_ns)),
            model::ComparedBy{s.compared_by} == model::ComparedBy::BothCalls ? ": the others come here less often"
                                                                             : "");
    return peers_in_words(e) + words + other_call_in_words(e) + misses_in_words(e) + untold_in_words(e);
}

std::string change_in_words(double excess)
{
    if (excess < by_times_from)
        return fmt::format("{} {} than", whole_percent(std::abs(excess)), excess > 0 ? "longer" : "less");
    const double times = excess + 1;
    const auto whole = static_cast<std::uint64_t>(std::llround(times));
    if (whole > most_times)
        return fmt::format("more than {} times as long as", count_text(most_times));
    return fmt::format("{} times as long as",
                       excess >= nothing_from ? count_text(whole) : fmt::format("{:.1f}", times));
}

}  // namespace critpath::report
