// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain.hpp"

#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace critpath::report
{

namespace
{

using model::CallPathId;

// What is said, and what is too little to be said. docs/ALGORITHM, "Explanations", has the reasons.
constexpr double balanced_within = 0.05;     // of the time of the peers
constexpr double least_part = 0.02;          // likewise: of a factor
constexpr double least_error = 0.005;        // likewise: of what samples tell
constexpr double persistent_from = 0.5;      // of the variance
constexpr double mostly_from = 2.0 / 3;      // of the stretch: on one rank
constexpr double compared_from = 0.5;        // likewise: that has peers
constexpr double worth_saying = 0.01;        // likewise: that has none
constexpr double nothing_from = 99;          // likewise: what peers take is next to nothing
constexpr std::int64_t least_freedom = 4;    // degrees of freedom of chance, to tell it from ranks
constexpr double off_from = 0.02;            // of the stretch: without a processor
constexpr std::int64_t least_faults = 1000;  // page faults
constexpr std::int64_t many_times = 2;       // as many page faults as peers
constexpr std::int64_t fault_ns = 20'000;    // what a page fault can take
constexpr std::size_t most_callers = 3;      // of a call path, the innermost
constexpr std::size_t name_width = 48;

std::string percent(double share)
{
    return fmt::format("{:.0f} %", share * 100);
}

/// Functions from the one that is called first, which mostly is main, to the call.
std::vector<CallPathId> way_to(const model::Profile& profile, CallPathId call)
{
    constexpr std::array<std::string_view, 4> start = {"_start", "__libc_start_main", "__libc_start_main_impl",
                                                       "__libc_start_call_main"};
    const auto is_start = [&](CallPathId path) {
        return std::ranges::find(start, profile.row(path).name) != start.end();
    };
    std::vector<CallPathId> way;
    for (; call.valid() && (way.empty() || !is_start(call)); call = profile.call_paths[call.value].parent)
        way.push_back(call);
    std::ranges::reverse(way);
    return way;
}

/// The last few of them.
std::string names(const model::Profile& profile, const std::vector<CallPathId>& way, std::size_t from, std::size_t end)
{
    std::vector<std::string> words;
    if (end - from > most_callers) {
        words.emplace_back("...");
        from = end - most_callers;
    }
    for (; from < end; ++from)
        words.push_back(shorten_name(printable(profile.row(way[from]).name), name_width));
    return fmt::format("{}", fmt::join(words, " > "));
}

void add_place(const model::Profile& profile, Explanation& e)
{
    const auto before = way_to(profile, e.stretch->before);
    const auto after = way_to(profile, e.stretch->after);
    std::size_t common = 0;
    while (common + 1 < std::min(before.size(), after.size()) && before[common] == after[common])
        ++common;
    e.caller = names(profile, before, 0, common);
    e.before = names(profile, before, common, before.size());
    e.after = names(profile, after, common, after.size());
}

void add_owners(const model::Profile& profile, std::size_t stretch, Explanation& e)
{
    std::map<std::string, std::int64_t> nodes;
    std::int64_t most = -1;
    std::int64_t longest = 0;
    std::int64_t longer = 0;
    for (const model::StretchShare& share : profile.stretch_shares) {
        if (share.stretch != stretch)
            continue;
        ++e.ranks_on_path;
        nodes[profile.processes[share.process.value].node] += share.ns;
        if (share.ns > most) {
            most = share.ns;
            e.rank = share.process.value;
        }
        longer += std::max<std::int64_t>(share.longer_ns, 0);
        if (share.longer_ns > longest) {
            longest = share.longer_ns;
            e.longer_rank = share.process.value;
        }
    }
    e.longer_share = part(longest, longer);
    e.rank_share = part(std::max<std::int64_t>(most, 0), e.stretch->path_ns);
    const auto largest = std::ranges::max_element(nodes, {}, [](const auto& node) { return node.second; });
    if (largest != nodes.end()) {
        e.node = largest->first;
        e.node_share = part(largest->second, e.stretch->path_ns);
    }
}

bool has_more_faults(const model::Stretch& s)
{
    return s.page_faults >= least_faults && s.page_faults / many_times >= s.peers_page_faults;
}

/// More than what samples may be wrong by.
bool is_certain(const Explanation& e, std::size_t factor)
{
    return std::abs(e.parts[factor]) > e.errors[factor];
}

void add_excess(Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const std::array<std::int64_t, factors> ns = {s.instructions_ns,     s.cycles_ns,     s.frequency_ns,
                                                  s.instruction_time_ns, s.all_cycles_ns, s.processor_ns,
                                                  s.preempted_ns,        s.blocked_ns};
    const std::array<std::int64_t, factors> errors = {s.instructions_error_ns, s.cycles_error_ns, s.frequency_error_ns,
                                                      s.instruction_time_error_ns, s.all_cycles_error_ns};
    const std::int64_t peers = std::max<std::int64_t>(s.peers_ns, 1);
    e.excess = s.compared > 0 ? part(s.compared_ns - s.peers_ns, peers) : 0;
    for (std::size_t i = 0; i < factors; ++i) {
        e.parts[i] = part(ns[i], peers);
        e.errors[i] = part(errors[i], peers);
    }
    if (e.excess <= balanced_within)
        return;
    e.cause = Factor::Processor;
    double largest = 0;
    for (std::size_t i = 0; i < factors; ++i)
        if (is_certain(e, i) && e.parts[i] > largest) {
            largest = e.parts[i];
            e.cause = Factor(i);
        }
    if (*e.cause < Factor::Preempted && has_more_faults(s) &&
        s.compared_ns - s.peers_ns - s.preempted_ns - s.blocked_ns <= fault_ns * (s.page_faults - s.peers_page_faults))
        e.cause = Factor::PageFaults;
}

std::string why_uncounted(const model::Stretch& s, std::int64_t on_all)
{
    const std::int64_t own = std::max(s.own_instructions, s.own_cycles);
    if (own > on_all || s.fewest_samples_rank < 0)
        return fmt::format("counters were read around {} of {} there on the path, around {} on all other ranks, too",
                           count_text(static_cast<std::uint64_t>(own)),
                           counted(static_cast<std::uint64_t>(s.compared), "gap"),
                           count_text(static_cast<std::uint64_t>(on_all)));
    return fmt::format("rank {} has {} that {} them there, and {} are needed", s.fewest_samples_rank,
                       counted(static_cast<std::uint64_t>(s.fewest_samples), "sample"),
                       s.fewest_samples == 1 ? "counts" : "count", model::enough_samples);
}

void add_untold(Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    const std::int64_t counted = s.counted_instructions + s.counted_cycles - s.counted;  // at least one of them
    if (s.compared > counted + s.sampled) {
        const bool by_nothing = s.own_instructions + s.own_cycles == 0 && s.fewest_samples_rank < 0;
        e.untold = {"instructions, cycles per instruction and frequency",
                    by_nothing ? "neither counters nor samples count them there" : why_uncounted(s, counted),
                    by_nothing};
    } else if (s.instruction_time_ns != 0) {
        e.untold = {"cycles per instruction and frequency", "cycles were not counted on all ranks"};
    } else if (s.all_cycles_ns != 0) {
        e.untold = {"instructions and cycles per instruction", "instructions were not counted on all ranks"};
    }
}

bool is_told_by_samples(const model::Stretch& s)
{
    return s.sampled > 0 && s.counted_instructions + s.counted_cycles == 0;
}

/// Samples tell of all occurrences together; that says nothing of those that take longer now and then.
void forget_samples(Explanation& e)
{
    model::Stretch s = *e.stretch;
    s.processor_ns += s.instructions_ns + s.cycles_ns + s.frequency_ns + s.instruction_time_ns + s.all_cycles_ns;
    s.instructions_ns = s.cycles_ns = s.frequency_ns = s.instruction_time_ns = s.all_cycles_ns = 0;
    s.instructions_error_ns = s.cycles_error_ns = s.frequency_error_ns = 0;
    s.instruction_time_error_ns = s.all_cycles_error_ns = 0;
    s.sampled = 0;
    e.stretch = std::make_shared<const model::Stretch>(s);
    add_excess(e);
    e.untold = {"instructions, cycles per instruction and frequency",
                "samples count all times together, and some differ from the others", false};
}

std::optional<double> share_of(std::int64_t variance, std::int64_t rest)
{
    if (variance + rest <= 0)
        return std::nullopt;
    return static_cast<double>(variance) / static_cast<double>(variance + rest);
}

Verdict judge(const Explanation& e)
{
    if (part(e.stretch->compared_ns, e.stretch->looked_at_ns) < compared_from)
        return Verdict::NoPeers;
    if (std::abs(e.excess) <= balanced_within)
        return Verdict::Balanced;
    if (e.excess < 0)
        return Verdict::Shorter;
    if (!e.persistent || (e.stretch->ranks - 1) * (e.stretch->occurrences - 1) < least_freedom)
        return Verdict::Rare;
    if (*e.persistent < persistent_from)
        return Verdict::Transient;
    if (e.has_faster_ranks())
        return Verdict::FasterRanks;
    return e.persistent_nodes.value_or(0) >= persistent_from ? Verdict::PersistentNode : Verdict::PersistentRank;
}

/// "more instructions +38 %", with the largest first; of samples, "more instructions +38 % (± 5)".
std::string parts_in_words(const Explanation& e)
{
    constexpr std::string_view more[factors] = {"more instructions",
                                                "more cycles per instruction",
                                                "a lower frequency of the processor",
                                                "slower instructions",
                                                "more cycles",
                                                "more time on the processor",
                                                "more of its time preempted",
                                                "more of its time blocked"};
    constexpr std::string_view less[factors] = {"fewer instructions",
                                                "fewer cycles per instruction",
                                                "a higher frequency of the processor",
                                                "faster instructions",
                                                "fewer cycles",
                                                "less time on the processor",
                                                "less of its time preempted",
                                                "less of its time blocked"};
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < factors; ++i)
        if (std::abs(e.parts[i]) >= least_part && is_certain(e, i))
            order.push_back(i);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return std::abs(e.parts[i]); });
    std::vector<std::string> words;
    words.reserve(order.size());
    for (const std::size_t i : order)
        words.push_back(fmt::format("{} {:+.0f} %{}", e.parts[i] > 0 ? more[i] : less[i], e.parts[i] * 100,
                                    e.errors[i] >= least_error ? fmt::format(" (± {:.0f})", e.errors[i] * 100) : ""));
    return fmt::format("{}", fmt::join(words, ", "));
}

/// Where it takes longer on the processor, and nobody can tell by what.
std::string untold_in_words(const Explanation& e)
{
    const double part = std::max({e.parts[static_cast<std::size_t>(Factor::InstructionTime)],
                                  e.parts[static_cast<std::size_t>(Factor::AllCycles)],
                                  e.parts[static_cast<std::size_t>(Factor::Processor)]});
    if (!e.untold || e.untold->by_nothing || e.verdict == Verdict::FasterRanks || e.excess <= balanced_within ||
        part < least_part)
        return "";
    return fmt::format(" Which of {} it is cannot be told: {}.", e.untold->what, e.untold->why);
}

/// "Most ranks take as long (3 of 4); only rank 3 takes less, 10 % of it."
std::string faster_ranks_in_words(const model::Stretch& s)
{
    const std::string time =
        s.fastest_time < 5'000'000 ? "next to nothing" : percent(static_cast<double>(s.fastest_time) * 1e-9) + " of it";
    return s.slow_ranks + 1 == s.ranks
               ? fmt::format(" Most ranks take as long ({} of {}); only rank {} takes less, {}.", s.slow_ranks, s.ranks,
                             s.fastest_rank, time)
               : fmt::format(" Most ranks take as long ({} of {}); the others take less, rank {} least, {}.",
                             s.slow_ranks, s.ranks, s.fastest_rank, time);
}

std::string comparison_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    std::string words;
    if (e.verdict == Verdict::Balanced) {
        words = " Its peers take as long: the ranks are balanced here.";
    } else if (e.verdict == Verdict::FasterRanks || (e.verdict == Verdict::Rare && e.has_faster_ranks())) {
        words = faster_ranks_in_words(s);
    } else if (e.excess >= nothing_from) {
        words = fmt::format(" Its peers take next to nothing: {} (geometric mean).", duration_text(s.peers_ns));
    } else {
        const std::string how = e.excess >= by_times_from ? fmt::format("{:.1f} times as long as", e.excess + 1)
                                                          : fmt::format("{} {} than", percent(std::abs(e.excess)),
                                                                        e.excess > 0 ? "longer" : "less");
        const std::string parts = parts_in_words(e);
        words = fmt::format(" It takes {} on its peers (geometric mean){}{}.", how, parts.empty() ? "" : ": ", parts);
    }
    if (part(s.compared_ns, s.looked_at_ns) < 1 - worth_saying)
        words += fmt::format(" No other rank does {} of it.", percent(1 - part(s.compared_ns, s.looked_at_ns)));
    return words + untold_in_words(e);
}

std::string off_in_words(const Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    std::string words;
    if (part(s.own_preempted_ns, s.looked_at_ns) >= off_from)
        words += fmt::format(" It lacked a processor for {} of that.", duration_text(s.own_preempted_ns));
    if (part(s.own_blocked_ns, s.looked_at_ns) >= off_from)
        words += fmt::format(" It was blocked for {} of that.", duration_text(s.own_blocked_ns));
    if (!has_more_faults(s))
        return words;
    words +=
        fmt::format(" It had {}, its peers {} each", counted(static_cast<std::uint64_t>(s.page_faults), "page fault"),
                    count_text(static_cast<std::uint64_t>(s.peers_page_faults)));
    if (e.cause == Factor::PageFaults)
        words += fmt::format(": {} more time on the processor for each that they did not have",
                             duration_text((s.compared_ns - s.peers_ns - s.preempted_ns - s.blocked_ns) /
                                           (s.page_faults - s.peers_page_faults)));
    return words + ".";
}

/// What to do about a factor where the rank of the path is slow, and where most ranks are.
struct Remedy {
    std::string_view one, many;
};

const Remedy& remedy_of(Factor cause)
{
    static constexpr Remedy remedies[] = {
        {"move work from there to the others", "move work from the others to these, or make faster what all do"},
        {"look at its memory accesses: where its data lie, and who shares its caches",
         "look at the memory accesses of the slow ones: where their data lie, and who shares their caches"},
        {"look at what slows its processor down: heat, power, what else runs there",
         "look at what slows the processors of the slow ones down: heat, power, what else runs there"},
        {"look at its memory accesses, and at what slows its processor down: heat, power, what else runs there",
         "look at the memory accesses of the slow ones, and at what slows their processors down"},
        {"move work from there to the others, or look at its memory accesses",
         "move work from the others to these, or look at the memory accesses of the slow ones"},
        {"move work from there to the others, or look at what slows its processor down",
         "move work from the others to these, or make faster what all do"},
        {"find out who else uses its processor: more threads than processors, other programs",
         "find out who else uses the processors of the slow ones: more threads than processors, other programs"},
        {"find out what it waits for outside of MPI: files, locks, memory",
         "find out what the slow ones wait for outside of MPI: files, locks, memory"},
        {"avoid its page faults: keep memory that is used again instead of giving it back, use larger pages",
         "avoid the page faults of the slow ones: keep memory that is used again instead of giving it back, use larger "
         "pages"},
    };
    return remedies[static_cast<std::size_t>(cause)];
}

/// Of what comes by turns.
std::string_view remedy_of_some(const Explanation& e)
{
    if (e.cause && *e.cause >= Factor::Preempted)
        return remedy_of(*e.cause).one;
    return e.longer_share >= mostly_from ? "look at what it does then and not at other times, and what disturbs it"
                                         : "noise, or work that moves between ranks";
}

std::string verdict_in_words(const Explanation& e, const model::Profile& profile)
{
    const model::Stretch& s = *e.stretch;
    const Remedy remedy = e.cause ? remedy_of(*e.cause) : Remedy();
    const bool is_one = e.longer_share >= mostly_from;
    switch (e.verdict) {
    case Verdict::NoPeers:
        if (profile.processes.size() < 2)
            return " There is no other rank.";
        return fmt::format(" No peers: no other rank does {}; share it out, or do it while others work, too.",
                           s.compared == 0 ? std::string("this")
                                           : percent(1 - part(s.compared_ns, s.looked_at_ns)) + " of this");
    case Verdict::Balanced:
        return " Only what makes all ranks faster makes this faster.";
    case Verdict::Shorter:
        return " The path is not here because of this computation.";
    case Verdict::PersistentRank:
        return fmt::format(" Always {} (persistent, {}): {}.",
                           is_one ? fmt::format("rank {}", e.longer_rank) : "the same ranks", percent(*e.persistent),
                           remedy.one);
    case Verdict::PersistentNode:
        return fmt::format(" Always the ranks of the same node, most on {} (persistent, {}; {} of that by node): {}.",
                           printable(e.node), percent(*e.persistent), percent(*e.persistent_nodes), remedy.one);
    case Verdict::FasterRanks:
        return fmt::format(" Always the same ranks take less (persistent, {}): {}.", percent(*e.persistent),
                           remedy.many);
    case Verdict::Transient: {
        const std::string words =
            fmt::format(" {} (transient, {} persistent)",
                        is_one ? "Not always, but now and then" : "Now this rank, now that", percent(*e.persistent));
        std::string how = s.much_longer == 0 ? ""
                                             : fmt::format(": {} of {} times it takes half as long again, or more",
                                                           count_text(static_cast<std::uint64_t>(s.much_longer)),
                                                           count_text(static_cast<std::uint64_t>(s.compared)));
        if (is_one)
            how += fmt::format(", mostly on rank {} ({} of the difference)", e.longer_rank, percent(e.longer_share));
        return fmt::format("{}{}: {}.", words, how, remedy_of_some(e));
    }
    case Verdict::Rare:
        break;
    }
    return fmt::format(" It happens too rarely to tell whether that is always so; if it is, {}.",
                       e.has_faster_ranks() ? remedy.many : remedy.one);
}

}  // namespace

std::string_view name(Verdict verdict)
{
    constexpr std::string_view names[] = {"no peers",        "balanced",     "shorter",   "persistent rank",
                                          "persistent node", "faster ranks", "transient", "rare"};
    return names[static_cast<std::size_t>(verdict)];
}

std::string_view name(Factor factor)
{
    constexpr std::string_view names[] = {"instructions", "cycles per instruction", "frequency", "time per instruction",
                                          "cycles",       "on processor",           "preempted", "blocked",
                                          "page faults"};
    return names[static_cast<std::size_t>(factor)];
}

bool Explanation::knows(Factor factor) const
{
    const bool are_instructions_known = stretch->counted_instructions > 0 || stretch->instructions_error_ns > 0;
    const bool are_cycles_known = stretch->counted_cycles > 0 || stretch->frequency_error_ns > 0;
    switch (factor) {
    case Factor::Instructions:
        return are_instructions_known;
    case Factor::Cycles:
        return are_instructions_known && are_cycles_known;
    case Factor::Frequency:
        return are_cycles_known;
    default:
        return true;
    }
}

bool Explanation::has_faster_ranks() const
{
    return 2 * stretch->slow_ranks > stretch->ranks && stretch->slow_ranks < stretch->ranks &&
           static_cast<double>(stretch->fastest_time) * 1e-9 < 1 - balanced_within;
}

std::string Explanation::sentence(const model::Profile& profile) const
{
    const std::string where = caller.empty() ? "computation from " : fmt::format("computation in {}, from ", caller);
    const std::string who =
        ranks_on_path == 1 ? fmt::format("on rank {}", rank)
        : rank_share >= mostly_from
            ? fmt::format("mostly on rank {} ({})", rank, percent(rank_share))
            : fmt::format("on {} ranks, most on rank {} ({})", ranks_on_path, rank, percent(rank_share));
    std::string words = fmt::format("{} of the path ({} %): {}{} to {}, {}.", duration_text(stretch->path_ns),
                                    percent_text(path_share), where, before, after, who);
    // What it lacks is said next to the rank that it is about.
    const std::string comparison = verdict == Verdict::NoPeers ? "" : comparison_in_words(*this);
    words += verdict == Verdict::FasterRanks ? off_in_words(*this) + comparison : comparison + off_in_words(*this);
    return words + verdict_in_words(*this, profile);
}

Explanation explain(const model::Profile& profile, std::size_t stretch)
{
    Explanation e;
    e.stretch = std::make_shared<const model::Stretch>(profile.stretches[stretch]);
    const auto path = profile.facts.find("path_ns");
    e.path_share = path == profile.facts.end() ? 0 : part(e.stretch->path_ns, path->second);
    add_place(profile, e);
    add_owners(profile, stretch, e);
    add_excess(e);
    if (e.stretch->has_model())
        e.persistent = share_of(e.stretch->rank_variance, e.stretch->noise_variance);
    if (e.stretch->has_node_model())
        e.persistent_nodes = share_of(e.stretch->node_variance, e.stretch->node_rest_variance);
    e.verdict = judge(e);
    if (e.verdict == Verdict::Transient && is_told_by_samples(*e.stretch))
        forget_samples(e);
    else if (e.stretch->compared > 0)
        add_untold(e);
    return e;
}

}  // namespace critpath::report
