// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the line above the sentences about an explanation: who, where, by how much, and the verdict.
#include "analysis/report/explain/explain.hpp"
#include "analysis/report/explain/misses.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

bool is_mostly_on_one_rank(const Explanation& e)
{
    return e.ranks_on_path == 1 || e.rank_share >= mostly_from;
}

std::string who(const Explanation& e)
{
    if (!is_mostly_on_one_rank(e))
        return fmt::format("{} ranks", e.ranks_on_path);
    return fmt::format("{}rank {}", e.ranks_on_path == 1 ? "" : "mostly ", e.rank);
}

std::string with_difference(std::string place, const std::string& apart)
{
    return apart.empty() ? std::move(place) : fmt::format("{} ({})", place, apart);
}

/// What is inlined into it, where it makes the calls itself: it is named as the place of these anyway. Empty: nothing.
std::string name_of(const FunctionShare& function, const Explanation& e)
{
    if (printable(function.name) != e.innermost_caller)
        return function.headline.name + (function.caller.empty() ? "" : " from " + function.headline.caller);
    return function.inlined.empty()
               ? ""
               : fmt::format("{}, inlined into {}", function.headline.inlined, function.headline.name);
}

/// What the path's thread has of it, as a part, or those that it waits for, while these neither lack a processor nor
/// are blocked, and do not record. If being blocked is the matter, the rest is not.
double work(const Explanation& e)
{
    const Losses losses = e.losses();
    const std::int64_t blocked_ns = e.cause == Factor::Blocked ? 0 : losses.blocked_ns;
    return 1 - part(losses.preempted_ns + losses.threads_preempted_ns + blocked_ns + losses.measurement_ns,
                    e.stretch->path_ns);
}

/// The function that has most of it, or of what is not lost without a processor: that is what can be changed. Nothing
/// if none has, or it is the one that makes the calls and nothing inlined has most of it.
const FunctionShare* main_function(const Explanation& e)
{
    if (e.code.functions.empty())
        return nullptr;
    const FunctionShare& first = e.code.functions.front();
    return !name_of(first, e).empty() && first.share >= std::min(work(e), 1.0) * most_from ? &first : nullptr;
}

/// That, or else the calls that it lies between.
std::string place(const Explanation& e)
{
    if (const FunctionShare* function = main_function(e)) {
        const char* const whose = function->share >= most_from ? ""
                                  : is_mostly_on_one_rank(e)   ? "its work "
                                                               : "their work ";
        return with_difference(fmt::format("{}mostly in {}", whose, name_of(*function, e)), e.apart);
    }
    const std::string where =
        e.innermost_caller.empty() ? "" : " in " + shorten_name(e.innermost_caller, headline_name_width);
    return with_difference(fmt::format("{} to {}{}", shorten_name(e.call_before, headline_name_width),
                                       shorten_name(e.call_after, headline_name_width), where),
                           e.calls_apart);
}

/// What it takes longer by most, where more is known of that than that it is time.
std::string_view cause_in_words(const Explanation& e)
{
    switch (e.cause.value_or(Factor::Time)) {
    case Factor::Instructions:
        return "more instructions";
    case Factor::Cycles:
        return "more cycles per instruction";
    case Factor::Frequency:
        return "a lower frequency";
    case Factor::InstructionTime:
        return "slower instructions";
    case Factor::AllCycles:
        return "more cycles";
    case Factor::Preempted:
        return "no processor";
    case Factor::Blocked:
        return "blocked";
    case Factor::PageFaults:
        return "page faults";
    case Factor::Threads:
        return "waits for its threads";
    case Factor::Processor:
    case Factor::Time:
        break;
    }
    return "";
}

std::string_view second_cause_in_words(const Explanation& e)
{
    return *e.second == Factor::Blocked     ? "blocked"
           : *e.second == Factor::Preempted ? "without a processor"
                                            : "longer on the processor";
}

/// What makes most of the difference, where that is not what takes most of the time. Not of ranks that differ in this.
std::string difference_in_words(const Explanation& e)
{
    const FunctionShare* const said = main_function(e);
    const std::vector<FunctionShare> functions = e.named ? std::vector<FunctionShare>() : e.difference();
    if (functions.empty() || functions.front().share < most_from ||
        (said != nullptr && said->name == functions.front().name))
        return "";
    return fmt::format(", mostly by {}", functions.front().headline.name);
}

std::string longer_than_peers(const Explanation& e)
{
    std::string cause(e.named ? "" : cause_in_words(e));  // of that rank, not of all
    if (e.second && !e.named)
        cause = fmt::format("{} and {}", cause.empty() ? "longer on the processor" : cause, second_cause_in_words(e));
    if (const BlockedAt& at = e.blocked_to_mend(); !e.named && e.cause == Factor::Blocked && at.in)
        cause += fmt::format(" in {}", at.in->headline.name);
    if (const std::string_view kind = missed(e); !kind.empty())
        cause += fmt::format(": {}", kind);
    const std::string whose = e.is_of_longer_ranks ? fmt::format("rank {} ", e.longer_rank) : "";
    return fmt::format("{}{} its peers{}{}", whose, change_in_words(e.excess),
                       cause.empty() ? "" : fmt::format(" ({})", cause), difference_in_words(e));
}

/// What takes much of the time and is no work, where that does not make the difference.
std::string loss_in_words(const Explanation& e)
{
    const std::optional<MainLoss> loss = e.main_loss(e.cause);
    if (!loss || loss->cause == e.second)  // it is said with the cause
        return "";
    const std::string how_much = loss->is_most() ? "mostly" : fmt::format("for {}", whole_percent(loss->share));
    const bool is_preempted = loss->cause == Factor::Preempted;
    const char* const who = is_preempted && e.is_lack_of_threads() ? "its threads " : "";
    const char* const what = is_preempted                     ? "without a processor"
                             : loss->cause == Factor::Blocked ? "blocked"
                                                              : "waits for its threads";
    return fmt::format("{}{}{} {}", e.cause ? "besides " : "", who, how_much, what);
}

std::string faster_ranks(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const std::string others = s.slow_ranks + 1 == s.ranks
                                   ? fmt::format("only rank {} takes less", s.fastest_rank)
                                   : fmt::format("the others less, rank {} least", s.fastest_rank);
    return fmt::format("{} of {} ranks take as long, {}", s.slow_ranks, s.ranks, others);
}

std::string unequal_ranks(const Explanation& e)
{
    return fmt::format("rank {} takes {} rank {}", e.stretch->slowest_rank, change_in_words(e.slowest_by_fastest() - 1),
                       e.stretch->fastest_rank);
}

std::string by_how_much(const Explanation& e)
{
    switch (e.verdict) {
    case Verdict::NoPeers:
        return "";
    case Verdict::Balanced:
        return "its peers take as long";
    case Verdict::Serial:
        return e.takes_turns ? "ranks take turns" : "its peers take as long";
    case Verdict::Unequal:
        return unequal_ranks(e);
    case Verdict::FasterRanks:
        return faster_ranks(e);
    case Verdict::Rare:
        return e.has_faster_ranks() ? faster_ranks(e) : longer_than_peers(e);
    case Verdict::ThreadsInMpi:
        return std::abs(e.excess) <= balanced_within ? "its peers take as long" : longer_than_peers(e);
    default:
        return longer_than_peers(e);
    }
}

/// With the rank or node that it is about, if that is not said already.
std::string verdict_alone(const Explanation& e)
{
    const std::int64_t slowest =
        e.is_persistent_by_times() ? static_cast<std::int64_t>(e.longer_rank) : e.stretch->slowest_rank;
    if (e.verdict == Verdict::PersistentNode)
        return fmt::format("{} {}", name(e.verdict), printable(e.node));
    if (e.part_of_run)
        return fmt::format("{}, mostly in one part of the run", name(e.verdict));
    if (e.verdict != Verdict::PersistentRank)
        return std::string(name(e.verdict));
    if (!e.is_always_one_rank())
        return e.are_always_two_ranks() ? "persistent " + two_ranks_in_words(e.longer_rank, e.second_longer_rank)
               : slowest < 0            ? "persistent ranks"
                                        : fmt::format("persistent ranks, rank {} most", slowest);
    const bool is_said = is_mostly_on_one_rank(e) && static_cast<std::int64_t>(e.rank) == slowest;
    return is_said ? std::string(name(e.verdict)) : fmt::format("{} {}", name(e.verdict), slowest);
}

/// With the reasons of ranks that differ in these.
std::string verdict_in_words(const Explanation& e)
{
    std::string words = verdict_alone(e);
    if (const std::string_view cause = e.named ? cause_in_words(e) : std::string_view(); !cause.empty())
        words += fmt::format(" ({})", cause);
    if (e.named && e.other)
        words += fmt::format(", rank {} for another reason", e.other->rank);
    return e.are_others_as_busy() ? words + ", but the others are as busy elsewhere" : words;
}

}  // namespace

std::string Explanation::headline() const
{
    std::vector<std::string> words;
    const std::string recording = is_mostly_measurement() ? "mostly what recording took" : "";
    for (std::string text : {recording, by_how_much(*this), loss_in_words(*this), verdict_in_words(*this)})
        if (!text.empty())
            words.push_back(std::move(text));
    return fmt::format("{}, {}: {}", who(*this), place(*this), fmt::join(words, ", "));
}

}  // namespace critpath::report
