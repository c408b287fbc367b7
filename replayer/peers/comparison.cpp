// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/exchange.hpp"
#include "replayer/peers/chosen.hpp"
#include "replayer/peers/pace.hpp"
#include "replayer/peers/rounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

namespace critpath::replayer
{

namespace
{

using Words = std::array<std::int64_t, PeerSums::fields>;

/// A gap on the path, or the span that it is in, as the other processes need to know it.
struct Question {
    std::uint32_t place;
    std::uint32_t occurrence;
    std::uint32_t process;
    std::uint32_t times;  // that others must come there, too, nearly; 0: any number
    std::int64_t ns;
};

struct OwnGap {
    Question question;
    std::int64_t path_ns;
    std::int64_t stands_for;
    Gap gap;     // or the span that it is in
    Gap itself;  // what it is has nothing to do with the rest of the span
    model::Ns begin, end;
};

/// Of one process. Several gaps on the path in turn may be in one span, or be compared with one: the last one of each
/// place is kept. Most spans are those of two places in turn, by the call behind them and by the one before them.
class LastMeasured
{
public:
    LastMeasured(const Chosen& chosen, std::size_t p, Gaps& gaps)
        : chosen_(chosen), gaps_(gaps), p_(p), last_(chosen.places())
    {
    }

    const Gap& operator()(std::size_t place, std::uint32_t occurrence)
    {
        Measured& last = last_[place];
        if (std::exchange(last.occurrence, occurrence) != occurrence) {
            const Chosen::Range range = chosen_.range(place, p_, occurrence);
            if (std::exchange(last_of_all_.range, range) != range)
                last_of_all_.gap = chosen_.measure(gaps_, range);
            last.gap = last_of_all_.gap;
        }
        return last.gap;
    }

    /// A gap without the span that it is in.
    const Gap& alone(std::size_t gap)
    {
        if (std::exchange(last_alone_.range.first, gap) != gap)
            last_alone_.gap = gaps_.measure(gap);
        return last_alone_.gap;
    }

private:
    struct Measured {
        std::uint32_t occurrence = Chosen::no_occurrence;
        Gap gap;
    };
    struct MeasuredRange {
        Chosen::Range range{SIZE_MAX, SIZE_MAX};
        Gap gap;
    };
    const Chosen& chosen_;
    Gaps& gaps_;
    std::size_t p_;
    std::vector<Measured> last_;  // by place
    MeasuredRange last_of_all_, last_alone_;
};

/// The gaps on the path at chosen places, a round at a time.
class Asker
{
public:
    Asker(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen)
        : replay_(replay), gaps_(gaps), chosen_(chosen)
    {
    }

    /// Has as many gaps ready as a round may have.
    void fill()
    {
        for (; process_ < chosen_.on_path.size(); ++process_, next_ = 0) {
            const std::vector<Chosen::OnPath>& list = chosen_.on_path[process_];
            LastMeasured measured(chosen_, process_, gaps_[process_]);
            for (; next_ < list.size(); ++next_) {
                if (ready_.size() == questions_a_round)
                    return;
                ready_.push_back(describe(list[next_], measured));
            }
        }
    }
    [[nodiscard]] const std::vector<OwnGap>& ready() const { return ready_; }
    void drop(std::size_t count) { ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count)); }

private:
    OwnGap describe(const Chosen::OnPath& on_path, LastMeasured& measured)
    {
        Gaps& gaps = gaps_[process_];
        const Gap& itself = measured.alone(on_path.gap);
        OwnGap own = {{on_path.place, on_path.occurrence, replay_.processes[process_].process.value, 0, itself.ns},
                      on_path.ns,
                      on_path.stands_for,
                      itself,
                      itself,
                      gaps.begin_of(on_path.gap),
                      gaps.end_of(on_path.gap)};
        if (chosen_.spans != nullptr)
            describe_span(gaps, measured, own);
        return own;
    }
    /// What is in none stays a gap that has no peers; so does work in what are pauses of polls elsewhere.
    void describe_span(const Gaps& gaps, LastMeasured& measured, OwnGap& own) const
    {
        Question& question = own.question;
        const std::vector<std::uint32_t>& list = chosen_.gaps(question.place)[process_];
        question.times = static_cast<std::uint32_t>(list.size());
        if (question.occurrence == Chosen::no_occurrence)
            return;
        const Gap& span = measured(question.place, question.occurrence);
        if (span.time() < own.path_ns) {
            question.occurrence = Chosen::no_occurrence;
            return;
        }
        question.ns = span.ns;
        own.gap = span;
        own.begin = gaps.begin_of(list[question.occurrence]);
        own.end = gaps.end_of(chosen_.end(question.place, process_, question.occurrence) - 1);
    }

    const Replay& replay_;
    std::vector<Gaps>& gaps_;
    const Chosen& chosen_;
    std::size_t process_ = 0;  // of the next one
    std::size_t next_ = 0;
    std::vector<OwnGap> ready_;
};

/// One that comes to a call once more, or once less, does the same there; but not who comes there much more often.
bool are_as_many(std::size_t a, std::size_t b)
{
    return 8 * (std::max(a, b) - std::min(a, b)) <= std::min(a, b);
}

/// What the owned processes have to say to the questions, but for the one that asks.
std::vector<PeerSums> answer(const Replay& replay, const std::vector<Question>& questions, std::vector<Gaps>& gaps,
                             const Chosen& chosen)
{
    std::vector<PeerSums> sums(questions.size());
    // One process after the other: all that is asked of it is close together.
    for (std::size_t p = 0; p < gaps.size(); ++p) {
        const std::uint32_t process = replay.processes[p].process.value;
        LastMeasured measured(chosen, p, gaps[p]);
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const Question& question = questions[i];
            const auto& list = chosen.gaps(question.place)[p];
            if (question.occurrence >= list.size() || process == question.process ||
                (question.times != 0 && !are_as_many(question.times, list.size())))
                continue;
            sums[i].add(measured(question.place, question.occurrence), question.ns);
        }
    }
    return sums;
}

/// Whether anybody knows more of its gaps than how long they took. Collective.
bool know_more_than_times(const Replay& replay)
{
    return on_any(replay.comm, std::ranges::any_of(replay.processes, [](const model::ProcessTrace& trace) {
                      if (trace.locations.empty())
                          return false;
                      const model::LocationTrace& first = trace.locations.front();
                      return !first.off.empty() || !first.counted.empty() || !first.samples.empty();
                  }));
}

/// The sums of all processes, each of which gets those of its questions. `fields`: as many of PeerSums.
std::vector<PeerSums> reduce(const Replay& replay, const std::vector<PeerSums>& answers, const Round& round, int fields)
{
    const auto size = static_cast<std::size_t>(fields);
    std::vector<std::int64_t> flat;
    flat.reserve(answers.size() * size);
    for (const PeerSums& answer : answers) {
        const auto words = std::bit_cast<Words>(answer);
        flat.insert(flat.end(), words.begin(), words.begin() + fields);
    }
    const std::vector<std::int64_t> sums = sum_answers(replay, flat, round, fields);
    std::vector<PeerSums> mine(sums.size() / size);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        Words words{};
        std::copy_n(sums.data() + i * size, size, words.data());
        mine[i] = std::bit_cast<PeerSums>(words);
    }
    return mine;
}

/// Where what is found of a gap is added up.
struct Accounts {
    model::Stretch& of_all;  // but for its Difference, which is the sum of those
    model::Difference& of_process;
    Uncounted& uncounted;
    Spread& spread;           // of the process
    std::int64_t& longer_ns;  // of all of it, not only what is on the path
    std::int64_t nothing_ns;  // what takes less, on the path and on its peers, is next to nothing
};

/// Adds what is found of one gap, for all that it stands for. Returns what these take longer than their peers, ns.
std::int64_t account(const OwnGap& own, const PeerSums& others, bool are_events_sampled, const Accounts& accounts)
{
    const Gap& gap = own.gap;
    const std::int64_t times = own.stands_for;
    const double part = static_cast<double>(own.path_ns) / static_cast<double>(gap.time());
    const auto on_path = [&](std::int64_t ns) { return times * rounded(static_cast<double>(ns) * part); };
    const double part_itself = static_cast<double>(own.path_ns) / static_cast<double>(own.itself.time());
    const auto itself_on_path = [&](std::int64_t ns) { return times * rounded(static_cast<double>(ns) * part_itself); };
    model::Stretch& sums = accounts.of_all;
    model::Difference& difference = accounts.of_process;
    sums.looked_at += 1;
    difference.looked_at_ns += times * own.path_ns;
    difference.own_preempted_ns += itself_on_path(own.itself.preempted);
    difference.own_blocked_ns += itself_on_path(own.itself.blocked);
    if (others.processes == 0)
        return 0;
    const Split parts = split(gap, others, own.path_ns);
    const auto count_if = [&](bool is_one) { return is_one ? times : 0; };
    const bool is_telling = std::max(own.path_ns, parts.peers) >= accounts.nothing_ns;
    sums.telling += count_if(is_telling);
    sums.slowest += count_if(is_telling && others.slower == 0);
    sums.much_longer += count_if(is_telling && 2 * own.path_ns >= 3 * parts.peers);
    sums.own_instructions += count_if(gap.has_instructions());
    sums.own_cycles += count_if(gap.has_cycles());
    sums.counted_instructions += count_if(parts.has_instructions);
    sums.counted_cycles += count_if(parts.has_cycles);
    sums.counted += count_if(parts.has_instructions && parts.has_cycles);
    if (!parts.has_instructions && !parts.has_cycles) {
        accounts.uncounted.gaps += times;
        accounts.uncounted.processor_ns += times * parts.processor;
        if (are_events_sampled)
            accounts.uncounted.per_log_ns += times * rounded(per_log(gap, others, own.path_ns));
    }
    difference.compared += times;
    difference.compared_ns += times * own.path_ns;
    difference.peers_ns += times * parts.peers;
    difference.instructions_ns += times * parts.instructions;
    difference.cycles_ns += times * parts.cycles;
    difference.frequency_ns += times * parts.frequency;
    difference.instruction_time_ns += times * parts.instruction_time;
    difference.all_cycles_ns += times * parts.all_cycles;
    difference.processor_ns += times * parts.processor;
    difference.preempted_ns += times * parts.preempted;
    difference.blocked_ns += times * parts.blocked;
    accounts.spread.add(parts, times);
    difference.page_faults += on_path(gap.page_faults);
    difference.peers_page_faults += on_path(others.page_faults / others.processes);
    sums.migrations += on_path(gap.migrations);
    sums.peers_migrations += on_path(others.migrations / others.processes);
    accounts.longer_ns += times * rounded(static_cast<double>(own.path_ns - parts.peers) / part);
    return times * (own.path_ns - parts.peers);
}

/// What the owned processes have on the path. Nothing of it is compared yet.
std::vector<model::StretchShare> all_shares(const Replay& replay, const Chosen& chosen)
{
    std::vector<model::StretchShare> shares;
    for (std::uint32_t place = 0; place < chosen.totals.size(); ++place)
        for (std::size_t p = 0; p < chosen.totals[place].size(); ++p) {
            const Chosen::Total& total = chosen.totals[place][p];
            shares.push_back({place, replay.processes[p].process, total.ns, total.gaps, 0});
        }
    return shares;
}

/// By place, of what all processes have on the path: what is next to nothing of the mean. Who takes 2 us instead of 1
/// does so by chance, however often, where other times are of seconds. Collective.
std::vector<std::int64_t> next_to_nothing(const Replay& replay, const std::vector<model::StretchShare>& shares,
                                          std::size_t places)
{
    constexpr std::int64_t of_mean = 100;
    std::vector<std::int64_t> sums(2 * places, 0);
    for (const model::StretchShare& share : shares) {
        sums[share.stretch] += share.ns;
        sums[places + share.stretch] += share.gaps;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, replay.comm);
    for (std::size_t i = 0; i < places; ++i)
        sums[i] /= of_mean * std::max<std::int64_t>(sums[places + i], 1);
    sums.resize(places);
    return sums;
}

/// The differences of one owned process after the other, by place.
class ProcessSums
{
public:
    ProcessSums(std::vector<model::Stretch>& sums, Compared& result)
        : sums_(sums), notable_(result.notable), longer_(result.longer), spreads_(result.spreads),
          of_process_(sums.size()), spread_of_process_(sums.size()), longer_of_process_(sums.size())
    {
    }

    /// Those of this process; when it is another one, all is known of the one before.
    model::Difference& at(std::uint32_t place, model::ProcessId process)
    {
        if (process_ != process)
            finish();
        process_ = process;
        return of_process_[place];
    }
    /// Likewise.
    Spread& spread(std::uint32_t place) { return spread_of_process_[place]; }
    /// Likewise, of whole entries: what they take longer.
    std::int64_t& longer_ns(std::uint32_t place) { return longer_of_process_[place]; }
    void finish()
    {
        for (std::uint32_t place = 0; place < of_process_.size(); ++place) {
            sums_[place].add(of_process_[place]);
            const Spread spread = std::exchange(spread_of_process_[place], {});
            spreads_[place].add(spread);
            spread.write_to(of_process_[place]);
            notable_.add(place, process_, of_process_[place]);
            const std::int64_t ns = std::exchange(longer_of_process_[place], 0);
            if (ns > 0)
                add(of_process_[place], ns, longer_[place]);
            of_process_[place] = {};
        }
    }

private:
    static void add(const model::Difference& of_process, std::int64_t ns, Longer& longer)
    {
        longer.ns += ns;
        longer.peers_ns += of_process.peers_ns;
        longer.path_ns += of_process.longer_ns();
        longer.preempted_ns += of_process.preempted_ns;
    }

    std::vector<model::Stretch>& sums_;
    NotableRanks& notable_;
    std::vector<Longer>& longer_;
    std::vector<Spread>& spreads_;
    std::vector<model::Difference> of_process_;
    std::vector<Spread> spread_of_process_;
    std::vector<std::int64_t> longer_of_process_;
    model::ProcessId process_ = model::ProcessId::none();
};

}  // namespace

Compared compare(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen, std::vector<model::Stretch>& sums)
{
    const int fields = know_more_than_times(replay) ? PeerSums::fields : PeerSums::fields_of_times;
    const bool are_events_sampled = pace_events(replay.definitions).any();
    Asker asker(replay, gaps, chosen);
    Compared result{std::vector<Longer>(chosen.places()), {}, {}, {}, {}, {}, NotableRanks(chosen.places())};
    result.spreads.resize(chosen.places());
    result.shares = all_shares(replay, chosen);
    for (const model::StretchShare& share : result.shares) {
        sums[share.stretch].path_ns += share.ns;
        sums[share.stretch].gaps += share.gaps;
    }
    const std::vector<std::int64_t> nothing_ns = next_to_nothing(replay, result.shares, chosen.places());
    result.uncounted.resize(chosen.places(), std::vector<Uncounted>(gaps.size()));
    result.costliest.resize(chosen.places());
    result.longest.resize(chosen.places());
    ProcessSums of_process(sums, result);  // gaps come in the order of the owned processes
    for (;;) {
        asker.fill();
        const Round round = agree_on_round(replay, asker.ready().size());
        if (round.all == 0)
            break;
        std::vector<Question> questions;
        std::ranges::transform(asker.ready(), std::back_inserter(questions), &OwnGap::question);
        const std::vector<PeerSums> others =
            reduce(replay, answer(replay, ask(replay, questions, round), gaps, chosen), round, fields);
        for (std::size_t i = 0; i < others.size(); ++i) {
            const OwnGap& own = asker.ready()[i];
            const auto [stretch, process] = std::pair(own.question.place, own.question.process);
            const std::size_t p = replay.index_of({process});
            const Accounts accounts = {sums[stretch],
                                       of_process.at(stretch, {process}),
                                       result.uncounted[stretch][p],
                                       of_process.spread(stretch),
                                       of_process.longer_ns(stretch),
                                       nothing_ns[stretch]};
            const std::int64_t longer_ns = account(own, others[i], are_events_sampled, accounts);
            result.shares[stretch * gaps.size() + p].longer_ns += longer_ns;
            Costliest costliest = {longer_ns / own.stands_for, process, own.begin.count(),
                                   (own.end - own.begin).count()};
            result.costliest[stretch].consider(costliest);
            costliest.longer_ns = own.path_ns;
            result.longest[stretch].consider(costliest);
        }
        asker.drop(others.size());
    }
    of_process.finish();
    std::erase_if(result.shares, [](const model::StretchShare& share) { return share.gaps == 0; });
    return result;
}

}  // namespace critpath::replayer
