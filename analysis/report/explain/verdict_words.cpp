// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the verdict on a stretch, and what to do about it, in words.
#include "analysis/report/explain/verdict_words.hpp"

#include "analysis/report/explain/causes.hpp"
#include "analysis/report/explain/parts_words.hpp"
#include "analysis/report/explain/remedy.hpp"
#include "analysis/report/explain/times_words.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace critpath::report
{

namespace
{

constexpr double worth_advice = 1.0 / model::least_stretch_parts;  // of the path: less is not worth doing something

/// What to do, behind `separator`; nothing where it would gain next to nothing, or would change no more than what is
/// there only in a recording.
std::string advice(const Explanation& e, std::string_view separator, std::string_view what)
{
    return e.could_gain() < worth_advice || e.is_mostly_measurement() ? "" : fmt::format("{}{}", separator, what);
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

/// Most of the times that are compared it takes much longer.
bool is_usual(const Explanation& e)
{
    return !e.part_of_run && part(e.stretch->much_longer, e.stretch->told_times()) >= mostly_from;
}

constexpr std::string_view look_at_these_times =
    "look at what it does then and not at other times, and what disturbs it";

/// Of what comes by turns.
std::string remedy_of_some(const Explanation& e)
{
    if (!may_be_work(e))
        return remedy_of(*e.cause, e).one;
    if (e.longer_share < mostly_from)
        return "noise, or work that moves between ranks";
    return is_usual(e) && !e.is_mostly_once() ? remedy_of(*e.cause, e).one : std::string(look_at_these_times);
}

/// What makes nearly as much of the difference as the cause.
std::string second_in_words(const Explanation& e)
{
    const Reason& reason = e.reason();
    const bool is_blocked = *e.second == Factor::Blocked;
    const bool is_preempted = *e.second == Factor::Preempted;
    const double part = part_of_kind(reason, *e.second);
    const char* const what = is_blocked     ? "to be blocked"
                             : is_preempted ? "to lack a processor"
                                            : "time on the processor";
    const std::string remedy = e.verdict == Verdict::Transient && !is_blocked && !is_preempted
                                   ? std::string(look_at_these_times)
                                   : remedy_of(*e.second, e).one;
    return fmt::format(" {} comes of another cause, {} ({:+} %{}){}.",
                       part > part_of_kind(reason, *e.cause) ? "More" : "Nearly as much", what,
                       rounded_percent(part / whole_of(reason)),
                       are_parts_of_difference(reason) ? " of the difference" : "", advice(e, ": ", remedy));
}

/// ": find out ...", where all ranks do what this one does.
std::string remedy_for_all(const Explanation& e)
{
    const std::optional<MainLoss> loss = e.main_loss();
    if (!loss)
        return "";
    if (loss->cause == Factor::Preempted)
        return advice(e, ": ",
                      "find out who else uses their processors: more ranks or threads than processors, other programs");
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
        return fmt::format("rank {}", e.longer_rank);
    if (e.are_always_two_ranks())
        return two_ranks_in_words(e.longer_rank, e.second_longer_rank);
    return slowest < 0 ? "the same ranks" : fmt::format("the same ranks, rank {} most", slowest);
}

/// "100 %", and what that is of, where that is not all of the time.
std::string persistent_in_words(const Explanation& e)
{
    return whole_percent(*e.persistent) + (e.stretch->not_preempted != 0 ? " but for preemption" : "");
}

/// How often it is so, as far as what is persistent tells.
std::string_view how_often(const Explanation& e)
{
    return e.is_nearly_always() ? "Always" : "Mostly";
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
                       count_text(static_cast<std::uint64_t>(p.times)), down_to(p.begin_ns), up_to(p.end_ns));
}

/// "39 of 39 times it takes half as long again, or more"
std::string much_longer_in_words(const Explanation& e, std::string_view which = "")
{
    const model::Stretch& s = *e.stretch;
    const std::int64_t others = s.compared - s.told_times();
    return fmt::format("{} of {} times{} it takes half as long again, or more{}",
                       count_text(static_cast<std::uint64_t>(s.much_longer)),
                       count_text(static_cast<std::uint64_t>(s.told_times())), which,
                       others == 0 ? ""
                                   : fmt::format(" ({} more of next to nothing do not count)",
                                                 count_text(static_cast<std::uint64_t>(others))));
}

/// Of what persists: when it is more than that.
std::string when_longer_in_words(const Explanation& e)
{
    return e.part_of_run ? fmt::format(" {}{}.", much_longer_in_words(e), part_of_run_in_words(*e.part_of_run)) : "";
}

/// "one of 39 times has 50 % of the difference"
std::string costliest_share_in_words(const Explanation& e)
{
    return fmt::format("one of {} times has {} of the difference",
                       count_text(static_cast<std::uint64_t>(e.stretch->compared)),
                       whole_percent(part(e.stretch->costliest_ns, e.longer_ns)));
}

/// Of a rank that is persistent by its times: " Always rank 1, and once much more (persistent: ...)"
std::string always_in_words(const Explanation& e)
{
    const bool is_once_more = e.is_mostly_once();
    const std::string_view which = e.is_on_path_each_time() ? "" : " that it is on the path";
    return fmt::format(" Always rank {}{} (persistent: {}{})", e.longer_rank,
                       is_once_more ? ", and once much more" : "", much_longer_in_words(e, which),
                       is_once_more ? "; " + costliest_share_in_words(e) : "");
}

/// Who is longer each time is not so "now and then", whatever the variance is.
std::string_view how_often_of_transient(const Explanation& e)
{
    if (e.part_of_run)
        return "Not always, but mostly in one part of the run";
    if (e.longer_share < mostly_from)
        return "Now this rank, now that";
    if (!e.is_much_longer_each_time())
        return is_usual(e) ? "Not always, but most of the time" : "Not always, but now and then";
    if (e.longer_share < nearly_all_times)
        return "Each time, but not always the same rank";
    return e.is_on_path_each_time() ? "Always, but so few times may be chance"
                                    : "Each time that it is on the path, which says little of the whole run";
}

std::string transient_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const bool is_one = e.longer_share >= mostly_from;
    std::string words =
        e.is_mostly_once()
            ? fmt::format(" {} once (transient; {})",
                          e.is_much_longer_each_time() ? "Always, but most of it" : "Not always, but mostly",
                          costliest_share_in_words(e))
            : fmt::format(" {} (transient, {} persistent)", how_often_of_transient(e), whole_percent(*e.persistent));
    if (s.much_longer > 0)
        words += ": " + much_longer_in_words(e);
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
        if (e.comes_unevenly() || e.is_mostly_measurement())  // which is said already, or behind it
            return "";
        return fmt::format(" Only what makes all ranks faster makes this faster{}.", remedy_for_all(e));
    case Verdict::Serial:  // what the others do meanwhile says it all
        return "";
    case Verdict::Unequal:
        return fmt::format(
            " {} the same ranks (persistent, {}). While they wait for each other, to move work between "
            "them gains nothing, unless one is slower at the same work; let them work at the same time, or make faster "
            "what they do{}.",
            how_often(e), persistent_in_words(e), remedy_for_all(e));
    case Verdict::Shorter:
        return " The path is not here because of this computation.";
    case Verdict::PersistentRank:
        if (e.is_persistent_by_times())
            return fmt::format("{}{}.{}", always_in_words(e), move(remedy.one), turns_in_words(e));
        return fmt::format(" {} {} (persistent, {}){}.{}{}", how_often(e), who_always(e), persistent_in_words(e),
                           move(remedy.one), turns_in_words(e), when_longer_in_words(e));
    case Verdict::PersistentNode:
        return fmt::format(" {} the ranks of the same node, most on {} (persistent, {}; {} of that by node){}.{}",
                           how_often(e), printable(e.node), persistent_in_words(e), whole_percent(*e.persistent_nodes),
                           move(remedy.one), turns_in_words(e));
    case Verdict::FasterRanks:
        return fmt::format(" {} the same ranks take less (persistent, {}){}.{}", how_often(e), persistent_in_words(e),
                           move(remedy.many), turns_in_words(e));
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

/// What the others do then, if it is hardly work: to share the work, or to do something else meanwhile, is worth as
/// much as to do it faster.
std::string idle_others_in_words(const Explanation& e, const model::Profile& profile)
{
    if (!e.are_others_idle() || e.verdict == Verdict::Shorter || e.is_mostly_measurement())
        return "";
    constexpr double little = 0.5;  // of the time of the peers: what they do not have
    const auto ranks = static_cast<std::int64_t>(profile.processes.size());
    const bool has_no_other_remedy = e.verdict == Verdict::Serial || e.verdict == Verdict::NoPeers ||
                                     (e.verdict == Verdict::Transient && (may_be_work(e) || e.excess < little));
    return fmt::format(" While {} here, the others{}{} compute, or are in calls that wait for nobody, for {} of that "
                       "time, in the mean, "
                       "and wait else{}.",
                       e.ranks_on_path == 1 ? fmt::format("rank {} computes", e.rank) : "one rank computes",
                       e.stretch->ranks_there > 1 && e.stretch->ranks_there < ranks ? " that come here" : "",
                       e.has_threads ? ", their first threads," : "", whole_percent(*e.others_at_work),
                       has_no_other_remedy ? advice(e, ": ", "let them do a part of it, or something else meanwhile")
                                           : "");
}

/// Whatever is done to the ranks that take longer, the others go on as they are.
std::string busy_others_in_words(const Explanation& e)
{
    if (!e.are_others_as_busy())
        return "";
    return fmt::format(
        " But the other ranks have as much to do elsewhere: over the whole run, the path computes longer "
        "than they do by {} % of its length, and no more than that can be gained here.",
        percent_text(*e.most_gain));
}

/// Who comes more often has more of the work, although no time of it need take longer.
std::string how_often_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    if (!e.comes_unevenly())
        return "";
    const bool are_two = e.have_two_most_times();
    const std::int64_t others = s.ranks_there - (are_two ? 2 : 1);
    const std::string times = count_text(static_cast<std::uint64_t>(s.most_times));
    const std::string who =
        are_two ? fmt::format("Ranks {} and {} come here {} and {} times", s.most_times_rank, s.second_times_rank,
                              times, count_text(static_cast<std::uint64_t>(s.second_times)))
                : fmt::format("Rank {} comes here {} times", s.most_times_rank, times);
    return fmt::format(" {}, {} {:.0f}{}.", who,
                       others == 1 ? "the other one" : fmt::format("the mean of the {} others that do", others),
                       e.mean_times_of_others(),
                       e.verdict == Verdict::Balanced || e.verdict == Verdict::Serial
                           ? ": who comes more often has more of this work"
                           : "");
}

}  // namespace

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

std::string besides_in_words(const Explanation& e)
{
    if (e.second)
        return second_in_words(e);
    const std::optional<MainLoss> loss = e.main_loss(e.cause);
    const bool is_verdict_on_rest = e.verdict == Verdict::Serial ||
                                    (e.verdict == Verdict::Balanced && e.comes_unevenly()) ||
                                    (e.verdict == Verdict::ThreadsInMpi && loss && loss->cause == Factor::Preempted);
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

std::string verdict_in_words(const Explanation& e, const model::Profile& profile)
{
    std::string words = verdict_alone_in_words(e, profile) + how_often_in_words(e) + idle_others_in_words(e, profile) +
                        busy_others_in_words(e);
    if (e.excess > balanced_within && !e.are_others_as_busy() && e.could_gain() < worth_advice &&
        e.verdict != Verdict::NoPeers && e.verdict != Verdict::ThreadsInMpi)
        words += fmt::format(" What it takes longer makes {} % of the path: too little to act on.",
                             percent_text(e.could_gain()));
    return words;
}

std::string left_out_in_words(const Explanation& e, const model::Profile& profile)
{
    const auto ranks = static_cast<std::int64_t>(profile.processes.size());
    const bool is_of_ranks = e.verdict == Verdict::PersistentRank || e.verdict == Verdict::PersistentNode ||
                             e.verdict == Verdict::FasterRanks || e.verdict == Verdict::Transient ||
                             e.verdict == Verdict::Unequal;
    if (e.is_persistent_by_times())  // that rests on no analysis of ranks
        return "";
    const std::int64_t left_out = ranks - e.stretch->ranks;
    if (!is_of_ranks || left_out <= 0)
        return "";
    return fmt::format(" That leaves out {} of {} ranks, which {} here less often, or never.",
                       count_text(static_cast<std::uint64_t>(left_out)), count_text(static_cast<std::uint64_t>(ranks)),
                       left_out == 1 ? "comes" : "come");
}

}  // namespace critpath::report
