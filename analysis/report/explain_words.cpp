// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sentences about an explanation.
#include "analysis/report/explain.hpp"
#include "analysis/report/explain_misses.hpp"
#include "analysis/report/explain_remedy.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "formats/functions/functions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr double least_error = 0.005;        // likewise: of what samples tell
constexpr double of_difference_from = 9;     // likewise: factors are parts of what it takes longer, not of that time
constexpr double nothing_from = 99;          // likewise: what peers take is next to nothing
constexpr std::uint64_t most_times = 1000;   // of next to nothing, more of them would say no more
constexpr double without_peers_from = 0.01;  // of the stretch: that has no peers
constexpr double little_otherwise = 0.1;     // of what it is blocked: not for its threads
constexpr double worth_advice = 1.0 / model::least_stretch_parts;  // of the path: less is not worth doing something

/// What parts are parts of.
double whole_of(const Reason& e)
{
    return e.excess >= of_difference_from ? e.excess : 1;
}

/// What adds to the time of the peers, or takes from it.
struct NamedPart {
    double part, error;
    std::string more, less;
};

/// Parts that are work, if fewer instructions are less work.
bool is_work(std::size_t factor)
{
    return Factor(factor) == Factor::Instructions || Factor(factor) == Factor::AllCycles ||
           Factor(factor) == Factor::Processor;
}

/// Who is blocked while its threads work for it works less itself, and is blocked more. Both are the same work, if what
/// it is blocked for otherwise is little.
bool is_shared_with_threads(const Explanation& e)
{
    double work = 0, error = 0;
    for (std::size_t i = 0; i < factors; ++i) {
        work += is_work(i) ? e.parts[i] : 0;
        error += is_work(i) ? e.errors[i] : 0;
    }
    const double least = least_part * whole_of(e);
    return e.parts[static_cast<std::size_t>(Factor::Blocked)] >= least && -work >= least && -work > error &&
           part(e.blocked_otherwise_ns(), e.stretch->own_blocked_ns) <= little_otherwise &&
           part(e.code.preempted_ns, e.code.blocked_ns) <= little_otherwise;
}

/// `reason`: of the stretch `e`, or of a rank in it.
std::vector<NamedPart> named_parts(const Reason& reason, const Explanation& e)
{
    const std::string in_time = e.knows_all_off() ? "time on the processor"
                                : e.knows_off     ? "time on the processor or not sampled"
                                                  : "time, with a processor or without";
    const struct {
        std::string more, less;
    } names[factors] = {{"more instructions", "fewer instructions"},
                        {"more cycles per instruction", "fewer cycles per instruction"},
                        {"a lower frequency of the processor", "a higher frequency of the processor"},
                        {"slower instructions", "faster instructions"},
                        {"more cycles", "fewer cycles"},
                        {"more " + in_time, "less " + in_time},
                        {"more of its time preempted", "less of its time preempted"},
                        {"more of its time blocked", "less of its time blocked"}};
    std::vector<NamedPart> parts;
    NamedPart shared{0, 0, "more work, its own and that of its threads", "less work, its own and that of its threads"};
    const bool is_shared = is_shared_with_threads(e);
    for (std::size_t i = 0; i < factors; ++i) {
        if (is_shared && (is_work(i) || Factor(i) == Factor::Blocked)) {
            shared.part += reason.parts[i];
            shared.error += reason.errors[i];
        } else {
            parts.push_back({reason.parts[i], reason.errors[i], names[i].more, names[i].less});
        }
    }
    if (is_shared)
        parts.push_back(shared);
    return parts;
}

/// In whole numbers, as figures are shown.
long percent(double part)
{
    return std::lround(part * 100);
}

/// Puts those that are worth a word in front, the largest first; returns how many these are. Who adds up the figures
/// should find the difference: little ones are named, too, as far as it takes for that, and at last what has no name.
std::ptrdiff_t sort_by_worth(std::vector<NamedPart>& parts, double whole, double difference)
{
    const auto size = [](const NamedPart& p) { return std::abs(p.part); };
    std::ranges::stable_sort(parts, std::ranges::greater(), size);
    const auto is_certain = [](const NamedPart& p) { return std::abs(p.part) > p.error; };
    const auto unnamed = std::stable_partition(
        parts.begin(), parts.end(), [&](const NamedPart& p) { return size(p) >= least_part * whole && is_certain(p); });
    std::ptrdiff_t named = unnamed - parts.begin();
    if (named == 0)
        return 0;
    long rest = percent(difference / whole);
    long uncertain = 1;  // by rounding
    for (const NamedPart& p : std::span(parts.begin(), unnamed)) {
        rest -= percent(p.part / whole);
        uncertain += percent(p.error / whole);
    }
    for (auto p = unnamed; p != parts.end() && std::abs(rest) > uncertain; ++p) {
        const long more = percent(p->part / whole);
        if (!is_certain(*p) || more == 0 || (more > 0) != (rest > 0))
            continue;
        rest -= more;
        std::rotate(parts.begin() + named, p, p + 1);
        ++named;
    }
    if (std::abs(rest) > uncertain) {
        parts.insert(parts.begin() + named,
                     NamedPart{static_cast<double>(rest) / 100 * whole, 0, "all else", "all else"});
        ++named;
    }
    return named;
}

/// What each factor adds to the time of the peers, the largest first: "+38 % by more instructions", of samples
/// "+38 % (± 5) by more instructions". Many times that time are no percent: then of the difference.
std::string parts_in_words(const Reason& reason, const Explanation& e)
{
    const bool is_of_difference = reason.excess >= of_difference_from;
    const double whole = whole_of(reason);
    std::vector<NamedPart> parts = named_parts(reason, e);
    const std::ptrdiff_t named = sort_by_worth(parts, whole, reason.excess);
    parts.erase(parts.begin() + named, parts.end());
    std::vector<std::string> words;
    words.reserve(parts.size());
    for (const NamedPart& p : parts) {
        const double error = p.error / whole;
        words.push_back(fmt::format("{:+} %{}{} by {}", percent(p.part / whole),
                                    error >= least_error ? fmt::format(" (± {:.0f})", error * 100) : "",
                                    is_of_difference && words.empty() ? " of the difference" : "",
                                    p.part > 0 ? p.more : p.less));
    }
    return words.empty() ? "" : fmt::format(": {}", fmt::join(words, ", "));
}

/// Where it takes longer on the processor, and nobody can tell by what.
std::string untold_in_words(const Explanation& e)
{
    const double part = std::max({e.parts[static_cast<std::size_t>(Factor::InstructionTime)],
                                  e.parts[static_cast<std::size_t>(Factor::AllCycles)],
                                  e.parts[static_cast<std::size_t>(Factor::Processor)]});
    if (!e.untold || e.untold->by_nothing || e.cause == Factor::Threads || e.excess <= balanced_within ||
        part < least_part)
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

/// Of what is compared.
std::string subject(const Explanation& e)
{
    if (!e.is_of_longer_ranks)
        return "It takes";
    return fmt::format("Together, the ranks on the path take as long as their peers, or less, for they are each "
                       "other's; but those that take longer, rank {} most, take",
                       e.longer_rank);
}

std::string comparison_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    std::string words;
    if (e.verdict == Verdict::ThreadsInMpi && std::abs(e.excess) <= balanced_within) {
        words = " It takes as long on its peers.";
    } else if (e.verdict == Verdict::Balanced) {
        words = " Its peers take as long: the ranks are balanced here.";
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

/// "in read_config (96 %)", "as it seems in read_config (96 %; seen for 12 % of it)": the rest is a guess.
std::string place_in_words(const BlockedAt& at)
{
    constexpr double sure = 0.9;
    const std::string of_all = whole_percent(at.in->share);
    return at.seen >= sure ? fmt::format("in {} ({})", at.in->short_name, of_all)
                           : fmt::format("as it seems in {} ({}; seen for {} of it)", at.in->short_name, of_all,
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

std::string off_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const Losses losses = e.losses();
    std::string words;
    if (part(losses.preempted_ns, s.path_ns) >= off_from)
        words += fmt::format(" It lacked a processor for {} of that.", duration_text(losses.preempted_ns));
    const std::string threads = threads_in_words(e);
    words += threads;
    if (part(losses.blocked_ns, s.path_ns) >= off_from)
        words += fmt::format(" It was blocked {}for {} of that{}.", threads.empty() ? "" : "otherwise ",
                             duration_text(losses.blocked_ns), blocked_in_words(e));
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
    if (e.cause == Factor::PageFaults && e.faults.own > e.faults.peers)
        words += fmt::format(": {} more time on the processor for each that they did not have",
                             duration_text(e.faults.longer_ns / (e.faults.own - e.faults.peers)));
    return words + ".";
}

/// What to do, behind `separator`; nothing where it would gain next to nothing.
std::string advice(const Explanation& e, std::string_view separator, std::string_view what)
{
    return e.could_gain() < worth_advice ? "" : fmt::format("{}{}", separator, what);
}

/// What takes longer may be work that others could do.
bool may_be_work(const Reason& e)
{
    return !e.cause || *e.cause < Factor::Preempted || *e.cause == Factor::Time;
}

/// What the others do between other calls need not be the same work: then there is nothing to share.
std::string_view provided(const Explanation& e)
{
    const bool is_of_other_calls = model::ComparedBy{e.stretch->compared_by} != model::ComparedBy::BothCalls;
    return may_be_work(e) && is_of_other_calls ? "if the others do the same work there, " : "";
}

constexpr std::string_view look_at_these_times =
    "look at what it does then and not at other times, and what disturbs it";

/// Of what comes by turns.
std::string remedy_of_some(const Explanation& e)
{
    if (!may_be_work(e))
        return remedy_of(*e.cause, e).one;
    return e.longer_share >= mostly_from ? std::string(look_at_these_times) : "noise, or work that moves between ranks";
}

/// Of the rank that takes longer for another reason than the one that the verdict is about.
std::string other_in_words(const Explanation& e)
{
    if (!e.other)
        return "";
    const bool is_seldom = 2 * e.other->gaps < e.stretch->gaps;
    return fmt::format(" Rank {} has {} of the difference for its own reason, in {} of {} times{}.", e.other->rank,
                       whole_percent(e.other->share), count_text(static_cast<std::uint64_t>(e.other->gaps)),
                       count_text(static_cast<std::uint64_t>(e.stretch->gaps)),
                       advice(e, ": ",
                              is_seldom && may_be_work(*e.other) ? std::string(look_at_these_times)
                                                                 : remedy_of(*e.other->cause, e).one));
}

/// What makes nearly as much of the difference as the cause.
std::string second_in_words(const Explanation& e)
{
    const Reason& reason = e.reason();
    const bool is_blocked = *e.second == Factor::Blocked;
    const bool is_preempted = *e.second == Factor::Preempted;
    const double part =
        is_blocked || is_preempted ? reason.parts[static_cast<std::size_t>(*e.second)] : on_processor_part(reason);
    const char* const what = is_blocked     ? "to be blocked"
                             : is_preempted ? "to lack a processor"
                                            : "time on the processor";
    return fmt::format(
        " Nearly as much comes of another cause, {} ({:+} %{}){}.", what, percent(part / whole_of(reason)),
        reason.excess >= of_difference_from ? " of the difference" : "", advice(e, ": ", remedy_of(*e.second, e).one));
}

/// What takes much of the time and is no work has a remedy of its own, even if peers lose as much and something else
/// makes the difference.
std::string besides_in_words(const Explanation& e)
{
    if (e.second)
        return second_in_words(e);
    const std::optional<MainLoss> loss = e.main_loss(e.cause);
    const bool is_verdict_on_rest = e.verdict == Verdict::ThreadsInMpi && loss && loss->cause == Factor::Preempted;
    if (!loss || (e.other && loss->cause == e.other->cause) || (!e.cause && !is_verdict_on_rest))
        return "";
    const bool are_many = e.verdict == Verdict::FasterRanks || (e.verdict == Verdict::Rare && e.has_faster_ranks());
    const Remedy remedy = remedy_of(loss->cause, e);
    return fmt::format(" Besides, {} for {} of that time{}.",
                       loss->cause == Factor::Blocked   ? "it is blocked"
                       : loss->cause == Factor::Threads ? "it waits for its threads"
                       : e.is_lack_of_threads()         ? "its threads lack a processor"
                                                        : "it lacks a processor",
                       loss->is_most() ? "most" : whole_percent(loss->share),
                       advice(e, ": ", are_many ? remedy.many : remedy.one));
}

/// ": find out ...", where all ranks do what this one does.
std::string remedy_for_all(const Explanation& e)
{
    const std::optional<MainLoss> loss = e.main_loss();
    if (!loss)
        return "";
    if (loss->cause == Factor::Preempted)
        return advice(e, ": ", "find out who else uses their processors: more threads than processors, other programs");
    if (loss->cause == Factor::Blocked)
        return advice(e, ": ", fmt::format("find out what they wait for {}", waited_for(e)));
    return advice(e, ": ", remedy_of(Factor::Threads, e).one);
}

/// Likewise, where no other does.
std::string remedy_for_one(const Explanation& e, std::string_view separator)
{
    const std::optional<MainLoss> loss = e.main_loss();
    if (loss && loss->cause != Factor::Preempted && e.are_threads_in_mpi)
        return fmt::format("{}what it waits for may be another rank, since other threads than the first call MPI, too",
                           separator);
    return loss ? advice(e, separator, remedy_of(loss->cause, e).one) : "";
}

std::string who_always(const Explanation& e)
{
    const std::int64_t slowest = e.stretch->slowest_rank;
    if (e.is_always_one_rank())
        return fmt::format("rank {}", slowest);
    return slowest < 0 ? "the same ranks" : fmt::format("the same ranks, rank {} most", slowest);
}

/// How often it is so, as far as what is persistent tells.
std::string_view how_often(const Explanation& e)
{
    constexpr double nearly_all = 0.9;
    return *e.persistent >= nearly_all ? "Always" : "Mostly";
}

/// Where those that take less are on the path, too, which is a whole that moving work does not make shorter.
std::string_view turns_in_words(const Explanation& e)
{
    return e.by_turns > balanced_within && may_be_work(e) && e.could_gain() >= worth_advice
               ? " But ranks that take less are on the path by turns, too: while they wait for "
                 "each other, to move work between them gains nothing, unless one is slower at "
                 "the same work."
               : "";
}

constexpr std::int64_t ns_in_us = 1000;  // bounds of other commands are rounded to these, outwards

std::string up_to(std::int64_t ns)
{
    return exact_seconds((ns + ns_in_us - 1) / ns_in_us * ns_in_us);
}

/// What shows the functions of that, such as those that load libraries: the MPI calls around it tell little of it.
std::string start_in_words(const Explanation& e, std::string_view trace)
{
    const model::Stretch& s = *e.stretch;
    const bool is_known = s.costliest_rank == static_cast<std::int64_t>(e.rank);
    const std::int64_t end_ns = is_known ? s.costliest_begin_ns + s.costliest_length_ns : s.path_ns;
    const std::string arguments = fmt::format("hotspots --rank {} --from 0 --to {}", e.rank, up_to(end_ns));
    return fmt::format(" All of its functions: {}", command_line(arguments, trace));
}

/// What shows what a rank does at a time, as the options of other commands want it. Nothing comes behind a command, so
/// that it can be copied.
std::string window_command(std::int64_t rank, std::int64_t begin_ns, std::int64_t end_ns, std::string_view trace)
{
    return command_line(fmt::format("hotspots --rank {} --from {} --to {}", rank,
                                    exact_seconds(begin_ns / ns_in_us * ns_in_us), up_to(end_ns)),
                        trace);
}

/// When what takes longer now and then did so, or did so most.
std::string costliest_in_words(const Explanation& e, std::string_view trace)
{
    const model::Stretch& s = *e.stretch;
    if (e.is_at_start())
        return start_in_words(e, trace);
    if (e.part_of_run)
        return fmt::format(" What it does there: {}",
                           window_command(static_cast<std::int64_t>(e.longer_rank), e.part_of_run->begin_ns,
                                          e.part_of_run->end_ns, trace));
    const bool is_of_other = e.other && static_cast<std::int64_t>(e.other->rank) == s.costliest_rank;
    if (s.costliest_rank < 0 || (e.verdict != Verdict::Transient && !is_of_other))
        return "";
    const std::string most = fmt::format(" Most of all once on rank {}, {} longer than on its peers", s.costliest_rank,
                                         duration_text(s.costliest_ns));
    if (!e.is_costliest_known)
        return fmt::format("{}, {} s after the run began; no sample was taken then, so that what it did is not known: "
                           "record with a higher --frequency.",
                           most, exact_seconds(s.costliest_begin_ns / ns_in_us * ns_in_us));
    return fmt::format(
        "{}: {}", most,
        window_command(s.costliest_rank, s.costliest_begin_ns, s.costliest_begin_ns + s.costliest_length_ns, trace));
}

/// Of a function that makes the calls itself, and so is named as their place already: what can be changed are lines of
/// it. These are known where those of the calls are.
std::string lines_in_words(const Explanation& e, std::string_view trace)
{
    const std::vector<FunctionShare>& functions = e.code.functions;
    if (functions.empty() || functions.front().share < most_from || !functions.front().inlined.empty() ||
        printable(functions.front().name) != e.innermost_caller || e.after_site.find(':') == std::string::npos)
        return "";
    const std::string ranks = e.rank_share >= mostly_from ? fmt::format("--rank {} ", e.rank) : "";
    return fmt::format(" Lines of {}: {}", functions.front().short_name,
                       command_line(fmt::format("annotate {}{}", ranks, shell_quoted(functions.front().name)), trace));
}

std::string no_peers_in_words(const Explanation& e, const model::Profile& profile)
{
    const model::Stretch& s = *e.stretch;
    if (profile.processes.size() < 2)
        return fmt::format(" There is no other rank{}.", remedy_for_one(e, ": "));
    return fmt::format(
        " {}: no other rank comes here between the same two MPI calls{} as often{}.",
        s.compared == 0 ? std::string("No peers")
                        : fmt::format("No peers for {} of it", whole_percent(1 - part(s.compared_ns, s.looked_at_ns))),
        s.compared == 0 ? ", or to one of them" : "", remedy_for_one(e, "; "));
}

/// ", 30 of these among the 31 from 0.374 s to 0.432 s"
std::string part_of_run_in_words(const PartOfRun& p)
{
    return fmt::format(", {} of these among the {} from {} s to {} s",
                       count_text(static_cast<std::uint64_t>(p.much_longer)),
                       count_text(static_cast<std::uint64_t>(p.times)), exact_seconds(p.begin_ns / ns_in_us * ns_in_us),
                       up_to(p.end_ns));
}

std::string transient_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const bool is_one = e.longer_share >= mostly_from;
    std::string words =
        e.is_mostly_once()
            ? fmt::format(" Not always, but mostly once (transient; one of {} times has {} of the difference)",
                          count_text(static_cast<std::uint64_t>(s.compared)),
                          whole_percent(part(s.costliest_ns, e.longer_ns)))
            : fmt::format(" {} (transient, {} persistent)",
                          e.part_of_run ? "Not always, but mostly in one part of the run"
                          : is_one      ? "Not always, but now and then"
                                        : "Now this rank, now that",
                          whole_percent(*e.persistent));
    if (s.much_longer > 0)
        words += fmt::format(": {} of {} times it takes half as long again, or more",
                             count_text(static_cast<std::uint64_t>(s.much_longer)),
                             count_text(static_cast<std::uint64_t>(s.compared)));
    if (e.part_of_run)
        words += part_of_run_in_words(*e.part_of_run);
    if (is_one)
        words +=
            fmt::format(", mostly on rank {} ({} of the difference)", e.longer_rank, whole_percent(e.longer_share));
    else if (e.named)
        words += fmt::format(", rank {} most ({} of the difference)", e.named->rank, whole_percent(e.named->share));
    return fmt::format("{}{}.", words, advice(e, ": ", remedy_of_some(e)));
}

std::string rare_in_words(const Explanation& e)
{
    const Remedy remedy = e.cause ? remedy_of(*e.cause, e) : Remedy();
    const std::string what = fmt::format("{}{}", e.named ? fmt::format("of rank {}: ", e.named->rank) : "",
                                         e.has_faster_ranks() ? remedy.many : remedy.one);
    return fmt::format(" It happens {} to tell whether that is always so{}.",
                       e.is_at_start() ? "once, too rarely" : "too rarely", advice(e, "; if it is, ", what));
}

std::string verdict_alone_in_words(const Explanation& e, const model::Profile& profile)
{
    const Remedy remedy = e.cause ? remedy_of(*e.cause, e) : Remedy();
    const auto move = [&](const std::string& what) { return advice(e, ": ", fmt::format("{}{}", provided(e), what)); };
    switch (e.verdict) {
    case Verdict::NoPeers:
        return no_peers_in_words(e, profile);
    case Verdict::Balanced:
        return fmt::format(" Only what makes all ranks faster makes this faster{}.", remedy_for_all(e));
    case Verdict::Unequal:
        return fmt::format(
            " {} the same ranks (persistent, {}). While they wait for each other, to move work between "
            "them gains nothing, unless one is slower at the same work; let them work at the same time, or make faster "
            "what they do{}.",
            how_often(e), whole_percent(*e.persistent), remedy_for_all(e));
    case Verdict::Shorter:
        return " The path is not here because of this computation.";
    case Verdict::PersistentRank:
        return fmt::format(" {} {} (persistent, {}){}.{}", how_often(e), who_always(e), whole_percent(*e.persistent),
                           move(remedy.one), turns_in_words(e));
    case Verdict::PersistentNode:
        return fmt::format(" {} the ranks of the same node, most on {} (persistent, {}; {} of that by node){}.{}",
                           how_often(e), printable(e.node), whole_percent(*e.persistent),
                           whole_percent(*e.persistent_nodes), move(remedy.one), turns_in_words(e));
    case Verdict::FasterRanks:
        return fmt::format(" {} the same ranks take less (persistent, {}){}.{}", how_often(e),
                           whole_percent(*e.persistent), move(remedy.many), turns_in_words(e));
    case Verdict::Transient:
        return transient_in_words(e);
    case Verdict::ThreadsInMpi:
        return " Whether a rank is slow here cannot be told: in this run other threads than the first of a process "
               "call MPI, too, and who waits for these may wait for another rank.";
    case Verdict::Rare:
        break;
    }
    return rare_in_words(e);
}

/// Where there would be advice, if that could matter.
std::string verdict_in_words(const Explanation& e, const model::Profile& profile)
{
    std::string words = verdict_alone_in_words(e, profile);
    if (e.excess > balanced_within && e.could_gain() < worth_advice && e.verdict != Verdict::NoPeers &&
        e.verdict != Verdict::ThreadsInMpi)
        words += fmt::format(" What it takes longer makes {} % of the path: too little to act on.",
                             percent_text(e.could_gain()));
    return words;
}

/// Verdicts on ranks are of those that come there often enough to be told apart.
std::string left_out_in_words(const Explanation& e, const model::Profile& profile)
{
    const auto ranks = static_cast<std::int64_t>(profile.processes.size());
    const bool is_of_ranks = e.verdict == Verdict::PersistentRank || e.verdict == Verdict::PersistentNode ||
                             e.verdict == Verdict::FasterRanks || e.verdict == Verdict::Transient ||
                             e.verdict == Verdict::Unequal;
    const std::int64_t left_out = ranks - e.stretch->ranks;
    if (!is_of_ranks || left_out <= 0)
        return "";
    return fmt::format(" That leaves out {} of {} ranks, which {} here less often, or never.",
                       count_text(static_cast<std::uint64_t>(left_out)), count_text(static_cast<std::uint64_t>(ranks)),
                       left_out == 1 ? "comes" : "come");
}

}  // namespace

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

std::string Explanation::sentence(const model::Profile& profile, std::string_view trace) const
{
    // Between calls that are made there: what was called in between may have left it, and come back.
    const std::string where = caller.empty() ? "" : fmt::format(" in {}", caller);
    const std::string who =
        ranks_on_path == 1 ? fmt::format("on rank {}", rank)
        : rank_share >= mostly_from
            ? fmt::format("mostly on rank {} ({})", rank, whole_percent(rank_share))
            : fmt::format("on {} ranks, most on rank {} ({})", ranks_on_path, rank, whole_percent(rank_share));
    std::string words =
        fmt::format("{} of the path ({} %): computation from {}{} to {}{}{}, {}.", duration_text(stretch->path_ns),
                    percent_text(path_share), before, before_shown_site, after, after_shown_site, where, who);
    words += code_in_words(code);
    // What it lacks is said next to the rank that it is about.
    const std::string comparison = verdict == Verdict::NoPeers ? "" : comparison_in_words(*this);
    words += verdict == Verdict::FasterRanks ? off_in_words(*this) + comparison : comparison + off_in_words(*this);
    const std::string times = costliest_in_words(*this, trace);
    return words + verdict_in_words(*this, profile) + other_in_words(*this) + left_out_in_words(*this, profile) +
           besides_in_words(*this) + (times.empty() ? lines_in_words(*this, trace) : times);
}

}  // namespace critpath::report
