// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/looks.hpp"

#include "replayer/pair/polling.hpp"

#include <algorithm>
#include <optional>

namespace critpath::replayer
{

namespace
{

using model::WindowEvent;
using What = model::WindowEvent::What;

constexpr std::size_t most_places = 64, most_returns = 64;

/// So much may be done between a look and the load behind it, and what stops the thread in between.
constexpr Ns near_look = std::chrono::microseconds{50};

/// Page faults and interrupts take so long between two looks, and all of them are a small part of the loop.
constexpr Ns longest_noise = std::chrono::microseconds{250};
constexpr int noise_part = 8;

/// So long a loop may pause, however short its pauses were before.
constexpr Ns short_pause = std::chrono::milliseconds{1};

/// Of a window that the process has itself locked, or brought up to date, it reads its own memory.
std::int32_t place_of(const WindowEvent& event)
{
    return event.what == What::Transfer ? event.target : LookedAt::own_memory;
}

/// Follows the calls of one location.
class Follower
{
public:
    Follower(WindowProcess& process, const model::LocationTrace& location, std::vector<LookRole>& roles)
        : process_(process), location_(location), roles_(roles)
    {
    }

    /// Events in their order. Returns the loop that ended before this one.
    std::optional<Looking> add(std::uint32_t index)
    {
        const WindowEvent& event = process_.event(index);
        take_completion();
        if (continues(index)) {
            if (is_same_look(index))
                look(index);
            else
                pass(event.call.call.value, event.what == What::Flush || event.what == What::Unlock);
            return {};
        }
        auto ended = end();
        if (is_look(index)) {
            since_ = location_.calls.enter(event.call.call.value);
            last_ = event.call.call.value;
            noise_ = Ns{0};
            paused_ = Ns{0};
            look(index);
        }
        return ended;
    }

    std::optional<Looking> end()
    {
        take_completion();
        std::optional<Looking> result;
        const auto is_loop = [](const Place& place) { return place.looks >= least_polls; };
        if (std::ranges::any_of(places_, is_loop)) {
            result = {process_.event(newest_).window,
                      {location_.location, {static_cast<std::uint32_t>(end_)}},
                      since_,
                      2 * usual_pause().value_or(Ns{0}),
                      {},
                      {}};
            result->returns = returns(result->pause);
            for (const Place& place : places_)
                if (is_loop(place))
                    result->places.push_back({place.target, process_.enter(place.before).time});
        }
        places_.clear();
        return result;
    }

private:
    struct Place {
        std::int32_t target;
        int looks = 0;
        std::uint32_t newest = 0, before = 0;  // looks
    };

    /// Where the thread went on before it can have done anything, but for a pause, with what it found behind its last
    /// call.
    [[nodiscard]] std::vector<LookReturn> returns(Ns pause) const
    {
        std::vector<LookReturn> result;
        const model::Calls& calls = location_.calls;
        const Ns end = calls.leave(end_);
        for (std::size_t i = end_ + 1; i < calls.size() && calls.is_point(i) && result.size() < most_returns; ++i) {
            const Ns time = calls.enter(i);
            if (work_until(location_, end, pause + near_look, time) < time)
                break;
            if (const Ns since = work_since(location_, time, Ns{0}, end); since < time)
                result.push_back({{location_.location, {static_cast<std::uint32_t>(i)}}, since, time});
        }
        return result;
    }

    [[nodiscard]] bool is_look(std::uint32_t index) const
    {
        const WindowEvent& event = process_.event(index);
        return event.what == What::Sync || (event.what == What::Transfer && event.reads()) ||
               (event.what == What::Lock && is_own_alone(index));
    }

    /// A lock of its own part of the window, and nothing by MPI until that is unlocked.
    [[nodiscard]] bool is_own_alone(std::uint32_t index) const
    {
        const WindowEvent& lock = process_.event(index);
        if (index + 1 == process_.trace.window_events.size() ||
            process_.target(lock.window, lock.target) != process_.trace.process)
            return false;
        const WindowEvent& next = process_.event(index + 1);
        return next.what == What::Unlock && next.window == lock.window && next.target == lock.target &&
               next.call.location == lock.call.location;
    }

    [[nodiscard]] bool continues(std::uint32_t index)
    {
        const WindowEvent& event = process_.event(index);
        if (places_.empty() || event.window != process_.event(newest_).window)
            return false;
        return (event.call.call.value == last_ || follows(event.call.call.value)) &&
               (is_same_look(index) || stands_between(event));
    }

    /// At the same place or another one, in the same way.
    [[nodiscard]] bool is_same_look(std::uint32_t index) const
    {
        const WindowEvent& event = process_.event(index);
        const WindowEvent& before = process_.event(newest_);
        return is_look(index) && event.bytes == before.bytes && event.access == before.access &&
               process_.function(event.call) == process_.function(before.call) &&
               (places_.size() < most_places || find(place_of(event)) != places_.end());
    }

    /// What completes looks, and locks around them.
    [[nodiscard]] bool stands_between(const WindowEvent& event) const
    {
        return event.what == What::Sync || event.what == What::Flush || event.what == What::Lock ||
               event.what == What::Unlock;
    }

    /// Whether there is neither another call nor work between the last call of the loop and this one, which belongs to
    /// it then.
    [[nodiscard]] bool follows(std::size_t call)
    {
        const model::Calls& calls = location_.calls;
        if (calls.next_call(last_ + 1) != call)
            return false;
        const Ns begin = calls.leave(last_), end = calls.enter(call);
        if (end - begin < close_polls)
            return take_pause(Ns{0});
        if (counts())
            return false;
        const Activity done = activity(location_, begin, end);
        if (done.is_idle(close_polls))
            return take_pause(done.slept + done.helped);
        noise_ += done.worked();
        return done.worked() <= longest_noise && noise_ <= (end - since_) / noise_part;
    }

    /// Loops pause for about as long each time. Who has found something sleeps, or is blocked, for much longer.
    bool take_pause(Ns slept)
    {
        if (const auto usual = usual_pause(); usual && slept > std::max(short_pause, 4 * *usual))
            return false;
        paused_ += slept;
        return true;
    }

    /// From look to look, however many calls and places each has; none: there was but one.
    [[nodiscard]] std::optional<Ns> usual_pause() const
    {
        const int pauses = places_.front().looks - 1;
        return pauses > 0 ? std::optional(paused_ / pauses) : std::nullopt;
    }

    /// Whether each look changes what it looks at: that of a counter of tasks, where to sleep may be to work. Who puts
    /// the same there again and again changes it once.
    [[nodiscard]] bool counts() const { return process_.event(newest_).access == WindowEvent::Access::Changes; }

    [[nodiscard]] std::vector<Place>::const_iterator find(std::int32_t target) const
    {
        return std::ranges::find(places_, target, &Place::target);
    }

    void look(std::uint32_t index)
    {
        const std::int32_t target = place_of(process_.event(index));
        const auto known = find(target);
        Place& place = known != places_.end() ? places_[static_cast<std::size_t>(known - places_.begin())]
                                              : places_.emplace_back(Place{target});
        if (place.looks + 1 >= least_polls)
            take_roles(place, index);
        place.before = place.looks > 0 ? place.newest : index;
        place.newest = newest_ = index;
        ++place.looks;
        end_ = process_.event(index).call.call.value;
        is_complete_ = process_.event(index).what == What::Sync;
        pass(end_, false);
    }

    /// All but the newest look of a loop found nothing.
    void take_roles(const Place& place, std::uint32_t newest)
    {
        const bool is_sync = process_.event(newest).what != What::Transfer;
        if (place.looks + 1 == least_polls)
            roles_[place.before] = is_sync ? LookRole::BeginsLoop : LookRole::OnlyLooks;
        roles_[place.newest] = LookRole::OnlyLooks;
        roles_[newest] = is_sync ? LookRole::OnlyLooks : LookRole::NoLook;
    }

    void pass(std::size_t call, bool completes)
    {
        last_ = call;
        if (completes && !is_complete_) {
            end_ = call;
            is_complete_ = true;
        }
    }

    /// MPI_Wait of a look with a request is no event of the window.
    void take_completion()
    {
        if (places_.empty())
            return;
        const CallRef completion = process_.event(newest_).completion;
        if (completion.valid() && completion.location == location_.location && completion.call.value > last_ &&
            follows(completion.call.value))
            pass(completion.call.value, true);
    }

    WindowProcess& process_;
    const model::LocationTrace& location_;
    std::vector<LookRole>& roles_;
    std::vector<Place> places_;  // of the loop in hand; empty: there is none
    std::uint32_t newest_ = 0;   // look
    Ns since_{};                 // begin of the loop
    Ns noise_{};                 // what was done in it
    Ns paused_{};                // how long it paused
    std::size_t last_ = 0;       // call of the loop
    std::size_t end_ = 0;        // likewise, behind which it is known what the last look found
    bool is_complete_ = false;   // that is known already
};

}  // namespace

Looks::Looks(WindowProcess& process, Rules rules)
    : roles_(process.trace.window_events.size(), LookRole::NoLook), only_looks_(process.epochs.locks.size(), 0)
{
    if (rules != Rules::Arrival)
        return;
    find_loops(process);
    find_epochs(process);
}

void Looks::find_loops(WindowProcess& process)
{
    const auto keep = [&](std::optional<Looking> loop) {
        if (loop)
            loops_.push_back(std::move(*loop));
    };
    std::vector<Follower> followers;
    for (const model::LocationTrace& location : process.trace.locations)
        followers.emplace_back(process, location, roles_);
    for (std::uint32_t i = 0; i < process.trace.window_events.size(); ++i)
        keep(followers[local_index(process.trace, process.event(i).call.location)].add(i));
    for (Follower& follower : followers)
        keep(follower.end());
}

void Looks::find_epochs(const WindowProcess& process)
{
    std::vector<std::uint8_t> has_more(only_looks_.size(), 0);
    for (std::uint32_t i = 0; i < roles_.size(); ++i) {
        const Epochs::Place& place = process.epochs.of_event[i];
        if (place.kind != Epochs::Kind::Lock)
            continue;
        if (roles_[i] != LookRole::NoLook)
            only_looks_[place.epoch] = 1;
        else if (process.event(i).what == What::Transfer)
            has_more[place.epoch] = 1;
    }
    for (std::size_t epoch = 0; epoch < has_more.size(); ++epoch)
        if (has_more[epoch] != 0)
            only_looks_[epoch] = 0;
}

}  // namespace critpath::replayer
