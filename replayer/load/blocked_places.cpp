// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/blocked_places.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace critpath::replayer::load
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::OffProcessor;
using model::WaitsFor;

/// The contexts of the calls before and behind; none() where there is none.
using Gap = std::pair<ContextId, ContextId>;

/// Waits that differ more than that by length are of different things.
constexpr double most_longer = 4;
/// Nobody looks at shorter waits (collector/sampling/blocked.cpp), so that no place of theirs is ever found; only what
/// is nearly as long tells.
constexpr Ns least_looked_at = std::chrono::microseconds{20};
constexpr double most_longer_than_short = 1.5;

/// Calls `visit(off, gap)` for the intervals that the thread was blocked outside of MPI.
template <class Visit>
void for_each_blocked(LocationTrace& location, Visit visit)
{
    const model::Calls& calls = location.calls;
    std::size_t after = calls.next_call(0);
    std::size_t before = calls.size();
    for (OffProcessor& off : location.off) {
        while (after < calls.size() && calls.enter(after) <= off.begin) {
            before = after;
            after = calls.next_call(after + 1);
        }
        const bool has_before = before < calls.size();
        if (off.preempted || (has_before && calls.leave(before) > off.begin))
            continue;
        visit(off, Gap{has_before ? calls.context(before) : ContextId::none(),
                       after < calls.size() ? calls.context(after) : ContextId::none()});
    }
}

using ByLength = std::multimap<std::int64_t, const OffProcessor*>;

double factor_between(std::int64_t a, std::int64_t b)
{
    const auto [less, more] = std::minmax(a, b);
    return static_cast<double>(more) / static_cast<double>(std::max<std::int64_t>(less, 1));
}

/// By how much one that tells of a wait of that length may differ from it.
double most_different(std::int64_t length)
{
    return Ns{length} < least_looked_at ? most_longer_than_short : most_longer;
}

/// What waits of some length were for. Many may ask, and each about many.
class Agreement
{
public:
    explicit Agreement(const ByLength& found)
    {
        waits_.reserve(found.size());
        for (const auto& [length, off] : found) {
            const bool is_another = waits_.empty() || waits_.back().what != off->waits_for;
            waits_.push_back({length, off->waits_for, is_another ? waits_.size() : waits_.back().first_alike});
        }
    }

    /// What all of about that length were for; Unknown where they do not agree, or there are none.
    [[nodiscard]] WaitsFor about(std::int64_t length) const
    {
        const double most = most_different(length);
        const auto least = static_cast<std::int64_t>(static_cast<double>(length) / most);
        const auto first = std::ranges::lower_bound(waits_, least, {}, &Wait::length);
        const auto is_like = [&](const Wait& other) { return factor_between(other.length, length) <= most; };
        const auto behind = std::partition_point(first, waits_.end(), is_like);
        if (first == behind) {
            return WaitsFor::Unknown;
        }
        const bool agree = std::prev(behind)->first_alike <= static_cast<std::size_t>(first - waits_.begin());
        return agree ? first->what : WaitsFor::Unknown;
    }

private:
    struct Wait {
        std::int64_t length;
        WaitsFor what;
        std::size_t first_alike;  // from there to here, all were for the same
    };

    std::vector<Wait> waits_;  // by length
};

/// So many that were looked at tell that one which was not is for no thread: half of all being for one, these would all
/// be of the others in 3 % of the cases.
constexpr std::size_t enough = 5;

/// The nearest by length, as a factor, the first of them first, and no more than are enough; of equally near ones the
/// shorter.
std::vector<const OffProcessor*> nearest(const ByLength& found, std::int64_t length)
{
    std::vector<const OffProcessor*> result;
    auto above = found.lower_bound(length);
    auto below = above;
    const auto factor = [&](const ByLength::value_type& other) { return factor_between(other.first, length); };
    while (result.size() < enough && (below != found.begin() || above != found.end())) {
        const bool is_below =
            below != found.begin() && (above == found.end() || factor(*std::prev(below)) <= factor(*above));
        const auto next = is_below ? --below : above++;
        if (factor(*next) > most_different(length))
            break;
        result.push_back(next->second);
    }
    return result;
}

/// What a wait of a thread that has siblings was for, if these like it were looked at. Between two calls a thread may
/// sleep, and wait for another one for about as long.
WaitsFor what_for(const std::vector<const OffProcessor*>& like)
{
    const auto is_for_thread = [](const OffProcessor* off) { return otf2::is_for_thread(off->waits_for); };
    const auto for_threads = static_cast<std::size_t>(std::ranges::count_if(like, is_for_thread));
    const bool is_clear = for_threads == like.size() || (for_threads == 0 && like.size() >= enough);
    return is_clear ? like.front()->waits_for : WaitsFor::Unknown;
}

/// Who is woken is where it was blocked.
void place_woken(std::vector<OffProcessor>& off)
{
    for (std::size_t i = 1; i < off.size(); ++i) {
        if (off[i].is_woken)
            off[i].found_in = off[i - 1].found_in;
    }
}

void place_found(LocationTrace& location, bool is_alone)
{
    std::map<Gap, ByLength> found;
    ByLength all;
    for_each_blocked(location, [&](const OffProcessor& off, const Gap& gap) {
        if (off.is_found) {
            found[gap].emplace((off.end - off.begin).count(), &off);
            all.emplace((off.end - off.begin).count(), &off);
        }
    });
    if (found.empty())
        return;
    const Agreement agreed(all);
    for_each_blocked(location, [&](OffProcessor& off, const Gap& gap) {
        if (off.is_found)
            return;
        const std::int64_t length = (off.end - off.begin).count();
        const auto known = found.find(gap);
        const auto like = known == found.end() ? std::vector<const OffProcessor*>{} : nearest(known->second, length);
        if (!like.empty()) {
            off.found_in = like.front()->found_in;
            off.waits_for = is_alone ? like.front()->waits_for : what_for(like);
        } else if (is_alone) {
            off.waits_for = agreed.about(length);
        }
    });
}

}  // namespace

void place_blocked(LocationTrace& location, bool is_alone)
{
    place_found(location, is_alone);
    place_woken(location.off);
}

}  // namespace critpath::replayer::load
