// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/blocked.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/explain/subtrees.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

/// A place, and what counts of it.
struct BlockedPlace {
    model::CallPathId call_path, in;  // that of `[blocked]`, and what that is below; the same if it is not known
    std::int64_t ns;
};

/// `ns_of`: of a StretchCode of `[blocked]`, and of what of it is not for threads.
template <class NsOf>
std::vector<BlockedPlace> blocked_places(const model::Profile& profile, std::size_t stretch, NsOf ns_of)
{
    std::vector<BlockedPlace> places;
    for (const model::StretchCode& c : profile.stretch_code) {
        if (c.stretch != stretch || profile.row(c.call_path).name != model::pseudo::blocked)
            continue;
        const model::CallPathId parent = profile.call_paths[c.call_path.value].parent;
        places.push_back({c.call_path, parent.valid() ? parent : c.call_path,
                          ns_of(c, std::max<std::int64_t>(c.ns - c.spinning_ns - c.blocked_ns, 0))});
    }
    return places;
}

std::int64_t sum_of(const std::vector<BlockedPlace>& places)
{
    std::int64_t sum = 0;
    for (const BlockedPlace& place : places)
        sum += place.ns;
    return sum;
}

/// Of what the path has at these places, the part in which it was found there.
double seen(const model::Profile& profile, const std::vector<BlockedPlace>& places)
{
    std::map<model::CallPathId, std::pair<std::int64_t, std::int64_t>> found;  // and all
    for (const model::CallPathTime& time : profile.path) {
        auto& [found_ns, all_ns] = found[time.call_path];
        found_ns += time.found_ns;
        all_ns += time.ns;
    }
    double seen_ns = 0, all_ns = 0;
    for (const BlockedPlace& place : places) {
        if (place.ns <= 0)
            continue;
        const auto& [found_ns, whole_ns] = found[place.call_path];
        seen_ns += static_cast<double>(place.ns) * part(found_ns, whole_ns);
        all_ns += static_cast<double>(place.ns);
    }
    return all_ns > 0 ? seen_ns / all_ns : 0;
}

bool is_of_c_library(const model::Row& row)
{
    const std::string_view module = row.module;
    const std::string_view file = module.substr(module.rfind('/') + 1);
    return file.starts_with("libc.") || file.starts_with("libc-") || file.starts_with("libpthread");
}

/// Of a binary without symbols: "app+0x1200".
bool has_only_a_place(const model::Row& function)
{
    return function.name.starts_with(std::string(basename(function.module)) + "+0x");
}

/// The one function of the application that has most of it, if it is not the one that it would be in anyway. If that
/// has no name, what it calls of a library, which is better known.
std::optional<FunctionShare> function_of_application(const model::Profile& profile, std::size_t stretch,
                                                     const Callers& callers, const std::vector<BlockedPlace>& places)
{
    Subtrees subtrees(profile, stretch, callers);
    for (const BlockedPlace& place : places)
        if (place.in != place.call_path)
            subtrees.add(place.in, {static_cast<std::uint32_t>(stretch), place.call_path, place.ns});
    const std::int64_t all_ns = sum_of(places);
    const Subtree* const most =
        subtrees.innermost([&](const Subtree& s) { return part(s.time.ns, all_ns) >= mostly_from; });
    const auto share = [&](const Subtree& of) { return std::min(part(of.time.ns, all_ns), 1.0); };
    if (most == nullptr || !has_only_a_place(*most->function))
        return most == nullptr ? std::nullopt : std::optional(FunctionShare{most->function->name, share(*most)});
    const Subtree* const named = subtrees.innermost_called([&](const Subtree& s) {
        return part(s.time.ns, all_ns) >= mostly_from && !has_only_a_place(*s.function) &&
               !is_of_c_library(*s.function);
    });
    if (named == nullptr)
        return FunctionShare{most->function->name, share(*most)};
    return FunctionShare{named->function->name, share(*named), most->function->name};
}

/// The function of the C library that has most of it.
std::string function_of_c_library(const model::Profile& profile, const std::vector<BlockedPlace>& places)
{
    std::map<std::string_view, std::int64_t> functions;
    for (const BlockedPlace& place : places)
        if (const model::Row& in = profile.row(place.in); is_of_c_library(in))
            functions[in.name] += place.ns;
    const std::int64_t all_ns = sum_of(places);
    for (const auto& [name, ns] : functions)
        if (part(ns, all_ns) >= mostly_from)
            return std::string(name);
    return "";
}

BlockedAt described(const model::Profile& profile, std::size_t stretch, const Callers& callers,
                    const std::vector<BlockedPlace>& places)
{
    return {function_of_application(profile, stretch, callers, places), function_of_c_library(profile, places),
            seen(profile, places)};
}

}  // namespace

BlockedAt blocked_at(const model::Profile& profile, std::size_t stretch, const Callers& callers)
{
    const auto all = blocked_places(profile, stretch, [](const model::StretchCode&, std::int64_t ns) { return ns; });
    return sum_of(all) > 0 ? described(profile, stretch, callers, all) : BlockedAt();
}

BlockedAt blocked_longer_at(const model::Profile& profile, std::size_t stretch, const Callers& callers)
{
    const model::Stretch& s = profile.stretches[stretch];
    if (s.code_gaps == 0 || s.compared_ns == 0 || model::ComparedBy{s.compared_by} != model::ComparedBy::BothCalls)
        return {};
    const auto longer =
        blocked_places(profile, stretch, [](const model::StretchCode& c, std::int64_t ns) { return ns - c.peers_ns; });
    const double times =
        static_cast<double>(sum_of(longer)) * static_cast<double>(s.compared_ns) /
        (static_cast<double>(std::max<std::int64_t>(s.blocked_ns, 1)) * static_cast<double>(s.path_ns));
    if (times < 1 / same_difference_within || times > same_difference_within)
        return {};
    return described(profile, stretch, callers, longer);
}

}  // namespace critpath::report
