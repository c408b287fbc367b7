// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/calls_divided.hpp"

#include <algorithm>
#include <unordered_map>

namespace critpath::report
{

namespace
{

__extension__ using Wide = __int128;

/// What is left of an amount where `ns` of `all_ns` are.
template <class Amount>
Amount left(Amount amount, std::int64_t ns, std::int64_t all_ns)
{
    return static_cast<Amount>(Wide{amount} * ns / all_ns);
}

/// Hardly any call path is met both in calls and outside of them: of those that are, samples and instructions are taken
/// to be as many by time.
void take_calls_from_samples(model::Profile& profile)
{
    struct Left {
        std::int64_t ns, all_ns;
    };
    std::unordered_map<std::uint32_t, Left> lefts;
    for (model::CallPathTime& time : profile.totals) {
        if (time.in_calls_ns <= 0 || time.ns <= 0)
            continue;
        const Left of = {std::max<std::int64_t>(0, time.ns - time.in_calls_ns),
                         time.ns};  // in a window, both are rounded
        lefts.emplace(time.call_path.value, of);
        time.samples = left(time.samples, of.ns, of.all_ns);
        time.other_threads_ns = left(time.other_threads_ns, of.ns, of.all_ns);
        time.ns = of.ns;
        time.in_calls_ns = 0;
    }
    std::erase_if(profile.totals, [](const model::CallPathTime& time) { return time.ns == 0 && time.samples == 0; });
    for (model::AddressTime& time : profile.total_addresses)
        if (const auto found = lefts.find(time.call_path.value); found != lefts.end()) {
            const Left& of = found->second;
            time.ns = left(time.ns, of.ns, of.all_ns);
            time.samples = left(time.samples, of.ns, of.all_ns);
        }
    std::erase_if(profile.total_addresses, [](const model::AddressTime& time) { return time.ns == 0; });
}

}  // namespace

void divide_calls(model::Profile& profile, InsideOfCalls inside)
{
    if (!profile.properties.contains("event"))
        return;  // without samples nobody knows what is in calls
    if (inside == InsideOfCalls::OfTheCall) {
        take_calls_from_samples(profile);
        return;
    }
    std::erase_if(profile.totals, [&](const model::CallPathTime& time) {
        return profile.row(time.call_path).kind == model::RowKind::Mpi;
    });
    for (model::CallPathTime& time : profile.totals)
        time.in_calls_ns = 0;
}

}  // namespace critpath::report
