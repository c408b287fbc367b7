// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/explain.hpp"

#include "analysis/report/computed_time.hpp"
#include "analysis/report/explain/causes.hpp"
#include "analysis/report/explain/misses.hpp"
#include "analysis/report/explain/place.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

// What is said, and what is too little to be said. docs/ALGORITHM, "Explanations", has the reasons.
constexpr double persistent_from = 0.5;      // of the variance
constexpr double compared_from = 0.5;        // of the stretch: that has peers
constexpr std::int64_t least_freedom = 4;    // degrees of freedom of chance, to tell it from ranks
constexpr std::int64_t least_faults = 1000;  // page faults
constexpr std::int64_t many_times = 2;       // as many as peers
constexpr std::int64_t fault_ns = 3000;      // what a page fault takes at most, without the work that goes with it
constexpr std::int64_t least_migrations = 10;
constexpr std::int64_t migration_ns = 100'000;  // what it can take to fill the caches of a core again
constexpr double told_apart_from = 0.25;        // of what takes longer: a rank with a reason of its own
constexpr double cancelled_by_noise = 0.25;     // of the time of the peers: what ranks take longer, and others less

/// Some rank that has the stretch on the path.
bool have_threads(const model::Profile& profile, std::size_t stretch)
{
    std::vector<std::uint32_t> threads(profile.processes.size(), 0);
    for (const std::uint32_t process : profile.location_process)
        ++threads[process];
    return std::ranges::any_of(profile.stretch_shares, [&](const model::StretchShare& share) {
        return share.stretch == stretch && threads[share.process.value] > 1;
    });
}

void add_owners(const model::Profile& profile, std::size_t stretch, Explanation& e)
{
    std::map<std::string, std::int64_t> nodes;
    std::int64_t most = -1;
    std::int64_t longest = 0, second = 0;
    std::int64_t longer = 0, shorter = 0, all_shorter = 0;
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
        // What a rank has on the path for a moment once is no turn of its, however long its peers take then.
        shorter += std::clamp<std::int64_t>(-share.longer_ns, 0, share.ns);
        all_shorter += std::max<std::int64_t>(-share.longer_ns, 0);
        if (share.longer_ns > longest) {
            second = std::exchange(longest, share.longer_ns);
            e.second_longer_rank = std::exchange(e.longer_rank, share.process.value);
        } else if (share.longer_ns > second) {
            second = share.longer_ns;
            e.second_longer_rank = share.process.value;
        }
    }
    e.longer_share = part(longest, longer);
    e.second_longer_share = part(second, longer);
    e.longer_ns = longer;
    const std::int64_t longer_time = std::max<std::int64_t>({e.stretch->peers_ns, e.stretch->compared_ns, 1});
    e.by_turns = part(std::min(longer, shorter), longer_time);
    e.cancelled = part(std::min(longer, all_shorter), longer_time);
    e.rank_share = part(std::max<std::int64_t>(most, 0), e.stretch->path_ns);
    const auto largest = std::ranges::max_element(nodes, {}, [](const auto& node) { return node.second; });
    if (largest != nodes.end()) {
        e.node = largest->first;
        e.node_share = part(largest->second, e.stretch->path_ns);
    }
}

/// What is not blocked, of all compared gaps; and of those of the peers.
struct Runnable {
    explicit Runnable(const model::Difference& d)
        : own(static_cast<double>(d.compared_ns) * (1 - part(d.own_blocked_ns, d.looked_at_ns))),
          peers(own - static_cast<double>(d.longer_ns() - d.blocked_ns))
    {
    }

    /// Their difference for each unit of the logarithm of a factor, ns.
    [[nodiscard]] double per_log() const
    {
        const double most = std::max(own, peers), least = std::clamp(std::min(own, peers), 1.0, std::max(most, 1.0));
        return most - least < 1 ? most : (most - least) / std::log(most / least);
    }

    double own, peers;
};

std::int64_t longer_on_processor_ns(const model::Difference& d)
{
    const auto term = static_cast<double>(d.longer_ns() - d.preempted_ns - d.blocked_ns);
    const double per_log = Runnable(d).per_log();
    if (per_log <= 0)
        return std::llround(term);
    const auto own = static_cast<double>(d.compared_ns);
    const double on_processor = own * (1 - part(d.own_preempted_ns + d.own_blocked_ns, d.looked_at_ns));
    return std::llround(on_processor * (1 - std::exp(-term / per_log)));
}

/// As far as the gaps tell it by themselves, whatever their threads do. `may_be_faults`: for all that is known of
/// functions.
Reason reason_of(const model::Difference& s, bool may_be_faults, CauseOf cause)
{
    Reason e;
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
        e.spreads[i] = part(Factor(i) == Factor::Preempted ? s.preempted_spread_ns
                            : Factor(i) == Factor::Blocked ? s.blocked_spread_ns
                                                           : s.work_spread_ns,
                            peers);
    }
    e.longer_on_processor = part(longer_on_processor_ns(s), peers);
    if (e.excess <= balanced_within)
        return e;
    const std::optional<Factor> largest = largest_part(e, cause);
    e.cause = largest ? *largest : largest_part(e, {}).value_or(Factor::Processor);
    if (*e.cause < Factor::Preempted && has_more_faults(s) && may_be_faults &&
        longer_on_processor_ns(s) <= fault_ns * (s.page_faults - s.peers_page_faults))
        e.cause = Factor::PageFaults;
    return e;
}

CauseOf cause_of(const Explanation& e)
{
    return {e.is_by_rank(), e.stretch->not_preempted != 0 && !e.is_persistent_by_times()};
}

void add_excess(Explanation& e)
{
    const model::Stretch& s = *e.stretch;
    static_cast<Reason&>(e) = reason_of(s, !e.code.longer_without_faults, cause_of(e));
    if (!e.cause)
        return;
    // Whoever waits for threads that lack a processor, more than the peers or their threads do, waits for that. Where
    // something makes it shorter, half of the difference need not be the largest part.
    const std::int64_t for_threads = e.longer_for_threads_ns();
    const double preempted = e.ns_of(e.parts[static_cast<std::size_t>(Factor::Preempted)]);
    if (2 * for_threads >= s.compared_ns - s.peers_ns)
        e.cause = static_cast<double>(for_threads) < preempted || 2 * e.longer_for_processors_ns() >= for_threads
                      ? Factor::Preempted
                      : Factor::Threads;
    else if (e.cause == Factor::Blocked && e.is_blocked_for_threads())
        e.cause = Factor::Threads;
    if (!e.knows_all_off() && e.cause == Factor::Processor)
        e.cause = Factor::Time;
}

/// Replaces the figures of all ranks by those of the ranks that take longer, if what others take less hides that they
/// take a quarter longer, or more, than all together.
void look_at_longer_ranks(const model::Profile& profile, std::size_t stretch, Explanation& e)
{
    constexpr double hidden_from = 1.25;
    const bool is_verdict_on_sum = e.verdict == Verdict::Balanced || e.verdict == Verdict::Serial ||
                                   e.verdict == Verdict::Shorter || e.verdict == Verdict::PersistentRank ||
                                   e.verdict == Verdict::Transient;
    const bool may_be_noise = e.verdict != Verdict::PersistentRank && !e.is_mostly_once();
    if (!is_verdict_on_sum || e.cancelled <= (may_be_noise ? cancelled_by_noise : balanced_within))
        return;
    model::Difference longer;
    for (const model::StretchRank& rank : profile.stretch_ranks)
        if (rank.stretch == stretch && rank.longer_ns() > 0)
            longer.add(rank);
    if (part(longer.compared_ns, std::max<std::int64_t>(longer.peers_ns, 1)) < hidden_from * (1 + e.excess))
        return;
    model::Stretch s = *e.stretch;
    longer.compared = s.compared;  // of which some take much longer
    static_cast<model::Difference&>(s) = longer;
    e.stretch = std::make_shared<const model::Stretch>(s);
    e.is_of_longer_ranks = true;
    e.together_excess = e.excess;
    add_excess(e);
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

void forget_samples(model::Difference& s)
{
    s.processor_ns += s.instructions_ns + s.cycles_ns + s.frequency_ns + s.instruction_time_ns + s.all_cycles_ns;
    s.instructions_ns = s.cycles_ns = s.frequency_ns = s.instruction_time_ns = s.all_cycles_ns = 0;
    s.instructions_error_ns = s.cycles_error_ns = s.frequency_error_ns = 0;
    s.instruction_time_error_ns = s.all_cycles_error_ns = 0;
}

/// Samples tell of all occurrences together; that says nothing of those that take longer now and then.
void forget_samples(Explanation& e)
{
    model::Stretch s = *e.stretch;
    forget_samples(static_cast<model::Difference&>(s));
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

/// There are enough occurrences to tell ranks from chance.
bool knows_chance(const model::Stretch& s)
{
    return s.has_model() && (s.ranks - 1) * (s.occurrences - 1) >= least_freedom;
}

/// It differs from time to time, not by rank.
bool is_transient(const Explanation& e)
{
    return knows_chance(*e.stretch) && e.persistent && (*e.persistent < persistent_from || e.is_mostly_once()) &&
           !e.is_persistent_by_times();
}

Verdict judge(const Explanation& e)
{
    if (part(e.stretch->compared_ns, e.stretch->looked_at_ns) < compared_from)
        return Verdict::NoPeers;
    if (e.may_wait_in_mpi())
        return Verdict::ThreadsInMpi;
    if (e.excess <= balanced_within && e.has_unequal_ranks())
        return Verdict::Unequal;
    if (std::abs(e.excess) <= balanced_within)
        return e.are_others_idle() ? Verdict::Serial : Verdict::Balanced;
    if (e.excess < 0)
        return Verdict::Shorter;
    if (!e.persistent || !knows_chance(*e.stretch))
        return Verdict::Rare;
    if (e.takes_turns)
        return Verdict::Serial;
    if (e.is_persistent_by_times())
        return Verdict::PersistentRank;
    if (is_transient(e))  // how often it does so, one time on the path does not say
        return e.stretch->compared > 1 ? Verdict::Transient : Verdict::Rare;
    if (e.has_faster_ranks())
        return Verdict::FasterRanks;
    return e.persistent_nodes.value_or(0) >= persistent_from ? Verdict::PersistentNode : Verdict::PersistentRank;
}

/// The rank that the verdict is about, if it is about one.
std::optional<std::size_t> rank_of_verdict(const Explanation& e)
{
    const std::int64_t slowest = e.stretch->slowest_rank;
    if (e.verdict == Verdict::PersistentRank && e.is_persistent_by_times())
        return e.longer_rank;
    if (e.verdict == Verdict::PersistentRank && slowest >= 0)
        return static_cast<std::size_t>(slowest);
    if ((e.verdict == Verdict::Transient || (e.verdict == Verdict::Rare && !e.has_faster_ranks())) &&
        e.longer_share > 0)
        return e.longer_rank;
    return std::nullopt;
}

/// Of the path. `longer_ns`: of all ranks together.
std::optional<double> most_gain_of(const model::Profile& profile, std::size_t stretch, std::int64_t longer_ns,
                                   std::int64_t path_ns)
{
    constexpr double next_to_none = 0.05;
    const ComputedTime computed(profile);
    if (!computed.mean() || computed.on_path() == 0)
        return std::nullopt;
    std::vector<bool> is_longer(computed.ranks(), false);
    bool any_longer = false;
    for (const model::StretchShare& share : profile.stretch_shares)
        if (share.stretch == stretch && part(share.longer_ns, longer_ns) > next_to_none)
            is_longer[share.process.value] = any_longer = true;
    if (!any_longer)
        return std::nullopt;
    std::optional<std::int64_t> busiest;
    for (std::size_t rank = 0; rank < computed.ranks(); ++rank)
        if (!is_longer[rank])
            busiest = std::max(busiest.value_or(0), computed.of_rank(rank));
    const std::int64_t others = std::min(busiest.value_or(*computed.mean()), *computed.mean());
    return part(std::max<std::int64_t>(computed.on_path() - others, 0), path_ns);
}

/// Those with a notable part of the stretch.
std::vector<RankReason> reasons_of_ranks(const model::Profile& profile, std::size_t stretch, const Explanation& e,
                                         bool are_samples_forgotten)
{
    std::vector<RankReason> reasons;
    for (model::StretchRank rank : profile.stretch_ranks) {
        if (rank.stretch != stretch)
            continue;
        if (are_samples_forgotten)
            forget_samples(static_cast<model::Difference&>(rank));
        RankReason& reason = reasons.emplace_back();
        // What is known of functions is of all ranks together.
        const bool is_most = part(rank.longer_ns(), e.longer_ns) >= mostly_from;
        const CauseOf cause = rank_of_verdict(e) == rank.process.value ? cause_of(e) : CauseOf();
        static_cast<Reason&>(reason) = reason_of(rank, !(is_most && e.code.longer_without_faults), cause);
        if (!e.knows_all_off() && reason.cause == Factor::Processor)
            reason.cause = Factor::Time;
        reason.rank = rank.process.value;
        reason.share = part(rank.longer_ns(), e.longer_ns);
        for (const model::StretchShare& share : profile.stretch_shares)
            if (share.stretch == stretch && share.process == rank.process)
                reason.gaps = share.gaps;
    }
    return reasons;
}

/// What all on the path take longer together may be true of none of them: who is blocked always is the peer of those
/// who work more now and then. What is said of one rank must be its own.
void tell_ranks_apart(const model::Profile& profile, std::size_t stretch, bool are_samples_forgotten, Explanation& e)
{
    // What threads are waited for is not known by rank.
    if (!e.cause || e.ranks_on_path == 1 || part(e.code.threads_ns(), e.stretch->path_ns) >= off_from)
        return;
    const std::optional<std::size_t> rank = rank_of_verdict(e);
    const std::vector<RankReason> reasons = reasons_of_ranks(profile, stretch, e, are_samples_forgotten);
    const auto own = std::ranges::find_if(reasons, [&](const RankReason& r) { return r.rank == rank; });
    if (own == reasons.end() || !own->cause)
        return;
    for (const RankReason& r : reasons)
        if (r.rank != own->rank && r.share >= told_apart_from && has_another_reason(*own, r) &&
            (!e.other || r.share > e.other->share))
            e.other = r;
    if (!e.other && (own->share < told_apart_from || own->cause == e.cause))
        return;
    e.named = *own;
    e.cause = own->cause;
}

PageFaults page_faults(const model::Profile& profile, std::size_t stretch)
{
    const model::Stretch& all = profile.stretches[stretch];
    for (const model::StretchRank& rank : profile.stretch_ranks)
        if (rank.stretch == stretch && 4 * rank.page_faults >= 3 * all.page_faults &&
            rank.peers_page_faults != all.peers_page_faults)
            return {rank.process.value, rank.page_faults, rank.peers_page_faults, longer_on_processor_ns(rank)};
    return {{}, all.page_faults, all.peers_page_faults, longer_on_processor_ns(all)};
}

}  // namespace

std::string_view name(Verdict verdict)
{
    constexpr std::string_view names[] = {
        "no peers",        "balanced",     "serial",    "unequal",        "shorter", "persistent rank",
        "persistent node", "faster ranks", "transient", "threads in MPI", "rare"};
    return names[static_cast<std::size_t>(verdict)];
}

std::string_view name(Factor factor)
{
    constexpr std::string_view names[] = {"instructions", "cycles per instruction",
                                          "frequency",    "time per instruction",
                                          "cycles",       "on processor",
                                          "preempted",    "blocked",
                                          "page faults",  "threads",
                                          "time"};
    return names[static_cast<std::size_t>(factor)];
}

bool Explanation::is_blocked_longer() const
{
    return excess > balanced_within && parts[static_cast<std::size_t>(Factor::Blocked)] >= least_part;
}

double on_processor_part(const Reason& reason)
{
    return std::accumulate(reason.parts.begin(), reason.parts.begin() + static_cast<std::size_t>(Factor::Preempted),
                           0.0);
}

bool Explanation::has_slow_instructions() const
{
    return cause == Factor::Cycles || cause == Factor::InstructionTime;
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
    case Factor::Preempted:
    case Factor::Blocked:
        return knows_off;
    default:
        return true;
    }
}

static bool are_many_more(std::int64_t faults, std::int64_t of_peers)
{
    return faults >= least_faults && faults / many_times >= of_peers;
}

bool has_more_faults(const model::Difference& d)
{
    return are_many_more(d.page_faults, d.peers_page_faults);
}

bool Explanation::has_more_faults() const
{
    return are_many_more(faults.own, faults.peers);
}

bool Explanation::has_more_migrations() const
{
    const std::int64_t own = stretch->migrations;
    return own >= least_migrations && own / many_times >= stretch->peers_migrations &&
           part(own * migration_ns, stretch->compared_ns) >= off_from;
}

double Explanation::per_log_ns() const
{
    return Runnable(*stretch).per_log();
}

std::int64_t Explanation::peers_preempted_ns() const
{
    const Runnable runnable(*stretch);
    const double own =
        static_cast<double>(stretch->compared_ns) * part(stretch->own_preempted_ns, stretch->looked_at_ns);
    const double own_log = -std::log1p(-std::clamp(own / std::max(runnable.own, 1.0), 0.0, at_most_lacked));
    const double log = own_log - static_cast<double>(stretch->preempted_ns) / std::max(runnable.per_log(), 1.0);
    return std::llround(std::max(runnable.peers * (1 - std::exp(-log)), 0.0));
}

std::int64_t Explanation::longer_on_processor_ns() const
{
    return report::longer_on_processor_ns(*stretch);
}

std::optional<MainLoss> Explanation::main_loss(std::optional<Factor> but) const
{
    constexpr double much_from = 0.25;
    const Losses all = losses();
    const MainLoss candidates[] = {
        {Factor::Preempted, part(all.preempted_ns + all.threads_preempted_ns, stretch->path_ns)},
        {Factor::Threads, part(all.threads_ns - all.threads_preempted_ns, stretch->path_ns)},
        {Factor::Blocked, part(all.blocked_ns, stretch->path_ns)},
    };
    std::optional<MainLoss> largest;
    for (const MainLoss& loss : candidates)
        if (loss.share >= much_from && loss.cause != but && (!largest || loss.share > largest->share))
            largest = loss;
    return largest;
}

double Explanation::could_gain() const
{
    if (verdict == Verdict::Unequal)  // what its ranks take less is as much
        return path_share;
    const Losses all = losses();
    const std::int64_t lost_ns = main_loss() ? all.preempted_ns + all.threads_ns + all.blocked_ns : 0;
    const bool is_serial = verdict == Verdict::Serial || (verdict == Verdict::NoPeers && are_others_idle());
    const double gain = path_share * std::max({part(longer_ns, stretch->looked_at_ns), part(lost_ns, stretch->path_ns),
                                               is_serial ? 1 - *others_at_work : 0});
    return are_others_as_busy() ? std::min(gain, *most_gain) : gain;
}

bool Explanation::are_others_as_busy() const
{
    constexpr double much_less = 0.5;
    // Without what comes now and then, the others have less to do, too.
    const bool is_by_rank =
        verdict == Verdict::PersistentRank || verdict == Verdict::PersistentNode || verdict == Verdict::FasterRanks;
    return is_by_rank && most_gain && *most_gain < much_less * path_share * part(longer_ns, stretch->looked_at_ns);
}

bool Explanation::is_lack_of_threads() const
{
    const Losses all = losses();
    return all.threads_preempted_ns > all.preempted_ns;
}

bool Explanation::may_wait_in_mpi() const
{
    const model::Stretch& s = *stretch;
    if (!are_threads_in_mpi)
        return false;
    const double spinning = part(code.sampled_spinning_ns, s.path_ns) * static_cast<double>(s.compared_ns);
    const double own = part(s.own_blocked_ns, s.looked_at_ns) * static_cast<double>(s.compared_ns) + spinning;
    const auto peers = static_cast<double>(std::max(-s.blocked_ns, s.peers_spinning_ns));
    const double waits = std::max(own, peers);
    const auto difference = static_cast<double>(std::abs(s.compared_ns - s.peers_ns));
    return waits > balanced_within * static_cast<double>(s.peers_ns) && waits >= difference;
}

bool Explanation::are_others_idle() const
{
    constexpr double hardly = 0.5;
    constexpr double next_to_nothing = 100;  // so that what they have there is no answer to what they do meanwhile
    const double less_to_do = 1 + excess < next_to_nothing ? std::max(1 + excess, 1.0) : 1;
    return others_at_work && *others_at_work * less_to_do < hardly;
}

bool Explanation::are_others_waiting_for_turns() const
{
    constexpr double nearly_all = 0.9;  // of what takes longer: that is no turn of others
    constexpr double often = 0.25;      // of the times: between turns, the path may pass who has nothing to do
    // Of its time: what they work meanwhile, there or elsewhere, and what they have there. If some work with it, the
    // mean of these and of who has nothing must be that of nothing for the most part.
    constexpr double next_to_nothing = 0.1, half = 0.5, hardly_any_time = 0.02;
    const double there = part(stretch->peers_ns, std::max<std::int64_t>(stretch->compared_ns, 1));
    const bool have_nothing = others_at_work && ((*others_at_work < next_to_nothing && there < next_to_nothing) ||
                                                 (*others_at_work < half && there < hardly_any_time));
    return have_nothing && is_transient(*this) && !is_mostly_once() && longer_share < nearly_all &&
           part(stretch->much_longer, stretch->told_times()) >= often;
}

bool Explanation::has_many_times() const
{
    constexpr std::int64_t several = 4;
    return knows_chance(*stretch) && stretch->compared >= several && !is_mostly_once();
}

bool Explanation::is_by_rank() const
{
    return knows_chance(*stretch) && persistent && !is_transient(*this);
}

bool Explanation::is_mostly_once() const
{
    constexpr std::int64_t several = 4;
    return stretch->compared >= several && part(stretch->costliest_ns, longer_ns) >= most_from;
}

bool Explanation::is_much_longer_each_time() const
{
    // One of several tells nothing of each.
    return stretch->compared > 0 && stretch->much_longer == stretch->told_times() &&
           (stretch->told_times() > 1 || stretch->compared == 1);
}

bool Explanation::is_on_path_each_time() const
{
    return part(stretch->compared, stretch->most_times) >= nearly_all_times;
}

bool Explanation::is_persistent_by_times() const
{
    constexpr double chance = 0.01;  // that all times are one rank's
    const model::Stretch& s = *stretch;
    const bool is_variance_otherwise = persistent && (*persistent < persistent_from || is_mostly_once());
    if (!is_variance_otherwise || !is_much_longer_each_time() || longer_share < nearly_all_times ||
        part(s.costliest_ns, longer_ns) >= mostly_from)
        return false;
    const auto ranks = static_cast<double>(std::max<std::int64_t>({s.ranks, s.ranks_there, 2}));
    const bool is_left_out = s.ranks < s.ranks_there && static_cast<std::int64_t>(longer_rank) != s.slowest_rank;
    return std::pow(ranks, static_cast<double>(1 - s.told_times())) <= chance &&
           (is_on_path_each_time() || is_left_out);
}

bool Explanation::has_unequal_ranks() const
{
    return is_by_rank() && stretch->fastest_rank >= 0 && by_turns > balanced_within &&
           static_cast<double>(stretch->fastest_time) * 1e-9 < 1 - balanced_within;
}

bool Explanation::has_faster_ranks() const
{
    return 2 * stretch->slow_ranks > stretch->ranks && stretch->slow_ranks < stretch->ranks &&
           static_cast<double>(stretch->fastest_time) * 1e-9 < 1 - balanced_within && !is_transient(*this);
}

bool Explanation::is_always_one_rank() const
{
    return is_persistent_by_times() ||
           (longer_share >= mostly_from && static_cast<std::int64_t>(longer_rank) == stretch->slowest_rank);
}

double Explanation::slowest_by_fastest() const
{
    return 1e9 / static_cast<double>(std::max<std::int64_t>(stretch->fastest_time, 1));
}

Explanation explain(const model::Profile& profile, std::size_t stretch, binary::SourceLines* lines)
{
    Explanation e;
    e.stretch = std::make_shared<const model::Stretch>(profile.stretches[stretch]);
    const auto path = profile.facts.find("path_ns");
    e.path_share = path == profile.facts.end() ? 0 : part(e.stretch->path_ns, path->second);
    add_place(profile, stretch, lines, e);
    add_owners(profile, stretch, e);
    if (path != profile.facts.end())
        e.most_gain = most_gain_of(profile, stretch, e.longer_ns, path->second);
    const auto inlined_at = [&](const model::Row& row, std::uint64_t address) {
        return inlined_functions_at(profile, row, address, *lines);
    };
    e.code = code_of(profile, stretch, lines != nullptr ? InlinedAt(inlined_at) : InlinedAt());
    e.knows_off = knows_time_off_processor(profile);
    const auto threads = profile.facts.find("threads_calling_mpi");
    e.has_threads = have_threads(profile, stretch);
    e.are_threads_in_mpi = threads != profile.facts.end() && threads->second > 0;
    if (profile.processes.size() > 1 && !e.are_threads_in_mpi)
        e.others_at_work = part(e.stretch->others_at_work_ns, e.stretch->looked_at_ns);
    if (e.stretch->has_model())
        e.persistent =
            share_of(std::max(e.stretch->rank_variance, e.stretch->carrier_variance), e.stretch->noise_variance);
    if (e.stretch->has_node_model())
        e.persistent_nodes = share_of(e.stretch->node_variance, e.stretch->node_rest_variance);
    add_excess(e);
    e.takes_turns = e.are_others_waiting_for_turns();
    e.verdict = judge(e);
    e.takes_turns = e.takes_turns && e.verdict == Verdict::Serial;
    if (e.takes_turns)
        static_cast<Reason&>(e) = {};
    look_at_longer_ranks(profile, stretch, e);
    if (e.is_of_longer_ranks)
        e.verdict = judge(e);
    if (e.verdict == Verdict::ThreadsInMpi)
        e.cause.reset();
    if (!is_transient(e))
        add_misses(e);
    const bool takes_longer = e.verdict == Verdict::Transient || e.verdict == Verdict::Rare;
    const bool are_samples_forgotten = takes_longer && is_transient(e) && is_told_by_samples(*e.stretch);
    if (are_samples_forgotten)
        forget_samples(e);
    else if (e.stretch->compared > 0 && !e.takes_turns)
        add_untold(e);
    tell_ranks_apart(profile, stretch, are_samples_forgotten, e);
    e.second = second_cause(e);
    e.faults = page_faults(profile, stretch);
    return e;
}

}  // namespace critpath::report
