// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/inside.hpp"

#include "replayer/exchange.hpp"
#include "replayer/order.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using model::AttributionKind;
using model::CallRef;
using model::LocationId;
using model::LocationTrace;
using model::Ns;
using model::Sample;
using model::SegmentKind;

/// A transfer, as the process that holds its beginning is asked what was done there. Plain data that travels.
struct Beginning {
    CallRef post;
    Ns begin, end;
};

/// Adds the calls that completed what was posted by `post`.
template <class Messages>
void add_completions(const model::ProcessTrace& trace, const Messages& messages, CallRef post,
                     std::vector<CallRef>& calls)
{
    const auto time_of = [&](std::size_t i) { return enter_of(trace, trace.numbers.ref(messages.post(i))).time; };
    const std::uint32_t number = trace.numbers.of(post);
    const Ns time = enter_of(trace, post).time;
    std::size_t i = count_first(
        messages.size(), [&](std::size_t m) { return time_of(m) < time; }, messages.size() / 2);
    for (; i < messages.size() && time_of(i) == time; ++i)
        if (const CallRef completion = trace.numbers.ref(messages.completion(i));
            messages.post(i) == number && completion.valid())
            calls.push_back(completion);
}

/// The calls in which a process may have worked on what one of them posted.
std::vector<CallRef> calls_for(const model::ProcessTrace& trace, CallRef post)
{
    std::vector<CallRef> calls{post};
    add_completions(trace, trace.sends, post, calls);
    add_completions(trace, trace.receives, post, calls);
    std::ranges::sort(calls);
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    return calls;
}

/// The transfers that lead to the pieces of the path, a part of them at a time.
class Transfers
{
public:
    Transfers(const Replay& replay, const Predecessors& predecessors, const Path& path)
        : cutter_(replay, predecessors, path), pieces_(path.pieces)
    {
    }

    /// Calls `visit(jump, begin, end)` for the next ones, at most `most` times.
    template <class Visit>
    void next(std::size_t most, Visit visit)
    {
        for (; most > 0 && piece_ < pieces_.size(); ++piece_) {
            const Piece& piece = pieces_[piece_];
            if (!piece.jumps() || piece.stretch <= piece.begin)
                continue;
            const KnownJump jump = cutter_.jump_of(piece);
            if (jump.kind != SegmentKind::Transfer)
                continue;
            visit(jump, Ns{piece.begin}, cutter_.arrival_by(jump, piece));
            --most;
        }
    }

private:
    PathCutter cutter_;
    const Pieces& pieces_;
    std::size_t piece_ = 0;
};

}  // namespace

void InsideFinder::add_call(const model::Segment& segment)
{
    add(LocationId{segment.location}, origin_ + Ns{segment.begin}, origin_ + Ns{segment.end}, Spinning::Noted);
}

void InsideFinder::add_transfer(CallRef call, Ns begin, Ns end)
{
    const model::Calls& calls = replay_.trace_of(call.location).calls;
    add(call.location, std::max(begin, calls.enter(call.call.value)), std::min(end, calls.leave(call.call.value)),
        Spinning::Left);
}

bool InsideFinder::has_samples(const model::ProcessTrace& trace, Ns begin, Ns end)
{
    return std::ranges::any_of(trace.locations, [&](const LocationTrace& location) {
        const std::size_t first = first_sample(location, begin);
        return first < location.samples.size() && location.samples[first].time < end;
    });
}

/// The first sample that is not before `begin`.
std::size_t InsideFinder::first_sample(const LocationTrace& trace, Ns begin)
{
    const std::vector<Sample>& samples = trace.samples;
    std::size_t& near = near_samples_[trace.location.value];
    return near = count_first(
               samples.size(), [&](std::size_t i) { return samples[i].time < begin; }, near);
}

void InsideFinder::add(LocationId location, Ns begin, Ns end, Spinning spinning)
{
    if (!replay_.definitions.has_samples)
        return;
    if (location == last_unsampled_.location && begin > last_unsampled_.since && end <= last_unsampled_.until)
        return;
    const LocationTrace& trace = replay_.trace_of(location);
    const std::vector<Sample>& samples = trace.samples;
    const std::size_t first = first_sample(trace, begin);
    last_unsampled_ = {location, first > 0 ? samples[first - 1].time : Ns::min(),
                       first < samples.size() ? samples[first].time : Ns::max()};
    for (std::size_t i = first; i < samples.size() && samples[i].time < end; ++i) {
        const Sample& sample = samples[i];
        if (!sample.context.valid())
            continue;
        const bool spins = spin_.has(sample.context);
        if (spins && spinning == Spinning::Left)
            continue;
        tally_.attributions.push_back({code_.place_of(sample),
                                       {(sample.time - origin_).count(), sample.weight, sample.offset, 0,
                                        location.value, 0, spins ? AttributionKind::Spinning : AttributionKind::Inside},
                                       location});
    }
}

void add_transfers(const Replay& replay, const Predecessors& predecessors, const Path& path, const SpinFunctions& spin,
                   Tally& tally)
{
    if (!replay.definitions.has_samples)
        return;
    constexpr std::size_t window = 16'384;  // transfers of one process of the replay in one round
    const SampledCode code(replay.definitions);
    InsideFinder finder(replay, spin, code, path.begin, tally);
    Transfers transfers(replay, predecessors, path);
    const auto process_of = [&](CallRef call) { return replay.definitions.locations[call.location.value].process; };
    for (std::uint64_t rounds = exchange_rounds(replay.comm, path.pieces.size(), window); rounds > 0; --rounds) {
        auto to = lists_for<Beginning>(replay.size);
        transfers.next(window, [&](const KnownJump& jump, Ns begin, Ns end) {
            finder.add_transfer(jump.call, begin, end);
            // What a process has posted itself, it may complete in the call that waits.
            if (process_of(jump.to) == process_of(jump.call)) {
                if (jump.to != jump.call)
                    finder.add_transfer(jump.to, begin, end);
                return;
            }
            to[static_cast<std::size_t>(replay.owner_of(jump.to.location))].push_back({jump.to, begin, end});
        });
        const std::vector<Beginning> asked = replayer::exchange(replay.comm, to).items;
        for (const Beginning& at : asked) {
            const model::ProcessTrace& trace = replay.trace_of(process_of(at.post));
            if (!finder.has_samples(trace, at.begin, at.end))
                continue;  // mostly: a transfer is shorter than a period
            for (const CallRef call : calls_for(trace, at.post))
                finder.add_transfer(call, at.begin, at.end);
        }
    }
}

}  // namespace critpath::replayer
