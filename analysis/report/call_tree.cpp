// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/call_tree.hpp"

#include "analysis/model/sort_and_sum.hpp"
#include "analysis/report/lines.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

using model::CallPathId;
using model::CallPathTime;
using model::RowId;

/// Grows the tree, callers before their callees.
class Builder
{
public:
    Builder(const model::Profile& profile, binary::SourceLines* lines, CallTree& tree)
        : profile_(profile), lines_(lines), tree_(tree)
    {
        for (std::uint32_t i = 0; i < profile.rows.size(); ++i)
            if (profile.rows[i].kind == model::RowKind::Sampled)
                rows_.try_emplace({profile.rows[i].module, profile.rows[i].name}, RowId{i});
        for (const auto* times : {&profile.addresses, &profile.total_addresses})
            for (const model::AddressTime& time : *times)
                learn_name(profile.row_of(time.call_path), time.address);
        for (const auto& [name, row] : names_)
            if (row.valid())
                rows_.try_emplace(name, row);
    }

    void add_call_paths()
    {
        for (const model::CallPath& path : profile_.call_paths) {
            CallPathId parent = path.parent;
            if (parent.valid())
                parent = at_instruction(tree_.places[parent.value], profile_.row(parent), path.site);
            const bool is_mpi = profile_.rows[path.row.value].kind == model::RowKind::Mpi;
            tree_.places.push_back(child({path.row, parent, is_mpi ? site_of(path, parent) : 0}, false));
        }
    }

    /// What is below a call path of the function `row` at one of its instructions: itself, or what is inlined there.
    CallPathId at_instruction(CallPathId place, const model::Row& row, std::uint64_t address)
    {
        if (address == 0 || !may_have_inlined(row))
            return place;
        const std::vector<std::string> innermost_first = inlined_functions_at(profile_, row, address, *lines_);
        for (auto name = innermost_first.rbegin(); name != innermost_first.rend(); ++name)
            place = child({row_of(row.module, *name), place}, true);
        return place;
    }

private:
    using Key = std::tuple<CallPathId, RowId, std::uint64_t, bool>;  // parent, row, site, and whether it is inlined
    using Name = std::pair<std::string, std::string>;                // module and name
    using LineOfCall = std::tuple<CallPathId, RowId, std::string, int>;

    /// Inlined functions have the names of debug information, which may lack the parameters that symbols have: of a
    /// function that others share that name with, no row.
    void learn_name(RowId id, std::uint64_t address)
    {
        const model::Row& row = profile_.rows[id.value];
        if (!may_have_inlined(row) || !is_learned_.insert(id).second)
            return;
        const auto& frames = lines_->find(recorded_module(profile_, row.module), address);
        if (frames.empty() || frames.back().function.empty()) {
            is_learned_.erase(id);  // another instruction may tell
            return;
        }
        const auto [known, is_new] = names_.try_emplace({row.module, frames.back().function}, id);
        if (!is_new && known->second != id)
            known->second = RowId::none();
    }

    [[nodiscard]] bool may_have_inlined(const model::Row& row) const
    {
        return lines_ != nullptr && row.kind == model::RowKind::Sampled && binary::is_of_program(row.module);
    }

    /// Calls of one line are one in the source, of which the compiler may have made several.
    std::uint64_t site_of(const model::CallPath& call, CallPathId place)
    {
        if (!call.parent.valid() || lines_ == nullptr)
            return call.site;
        const auto line = source_line_of(profile_, profile_.row(call.parent), call.site, *lines_);
        return line ? sites_.try_emplace({place, call.row, line->file, line->line}, call.site).first->second
                    : call.site;
    }

    CallPathId child(const model::CallPath& path, bool is_inlined)
    {
        std::vector<model::CallPath>& paths = tree_.profile.call_paths;
        const auto [known, is_new] = known_.try_emplace(Key{path.parent, path.row, path.site, is_inlined},
                                                        CallPathId{static_cast<std::uint32_t>(paths.size())});
        if (is_new) {
            paths.push_back(path);
            tree_.is_inlined.push_back(is_inlined);
        }
        return known->second;
    }

    /// That of the copy which is not inlined, if there is one on the path.
    RowId row_of(const std::string& module, const std::string& name)
    {
        std::vector<model::Row>& rows = tree_.profile.rows;
        const auto [known, is_new] = rows_.try_emplace({module, name}, RowId{static_cast<std::uint32_t>(rows.size())});
        if (is_new)
            rows.push_back({model::RowKind::Sampled, name, module, "", 0});
        return known->second;
    }

    const model::Profile& profile_;
    binary::SourceLines* lines_;
    CallTree& tree_;
    std::map<Name, RowId> rows_;   // sampled ones
    std::map<Name, RowId> names_;  // as debug information has them; none(): of several rows
    std::set<RowId> is_learned_;
    std::map<Key, CallPathId> known_;
    std::map<LineOfCall, std::uint64_t> sites_;  // the first one
};

/// Takes so much from the times of one call path, whichever of the selected ranks have it: only their sums count.
void take(std::span<CallPathTime> from, const Selection& selection, CallPathTime amount, std::vector<CallPathTime>& to)
{
    for (CallPathTime& time : from) {
        if (time.process.valid() && !selection.has_rank(time.process))
            continue;
        CallPathTime part = amount;
        part.process = time.process;
        part.ns = std::min(amount.ns, time.ns);
        part.samples = std::min(amount.samples, time.samples);
        if (time.ns > 0)
            part.other_threads_ns =
                static_cast<std::int64_t>(static_cast<double>(time.other_threads_ns) * static_cast<double>(part.ns) /
                                          static_cast<double>(time.ns));
        if (part.ns <= 0 && part.samples == 0)
            continue;
        time.ns -= part.ns;
        time.samples -= part.samples;
        time.other_threads_ns -= part.other_threads_ns;
        amount.ns -= part.ns;
        amount.samples -= part.samples;
        to.push_back(part);
    }
}

/// Moves `times` of the original, sorted by call path, into the tree; what `addresses` have found to what is inlined.
std::vector<CallPathTime> moved(const model::Profile& profile, const Selection& selection, const CallTree& tree,
                                Builder& builder, std::vector<CallPathTime> times,
                                const std::vector<model::AddressTime>& addresses)
{
    std::vector<CallPathTime> result;
    auto first = times.begin();
    for (const model::AddressTime& at : addresses) {
        first = std::lower_bound(first, times.end(), at.call_path,
                                 [](const CallPathTime& time, CallPathId path) { return time.call_path < path; });
        const auto end =
            std::find_if(first, times.end(), [&](const CallPathTime& time) { return time.call_path != at.call_path; });
        const CallPathId place = tree.places[at.call_path.value];
        const CallPathId inlined = builder.at_instruction(place, profile.row(at.call_path), at.address);
        if (inlined != place)
            take({first, end}, selection, {inlined, model::ProcessId::none(), at.ns, at.samples}, result);
    }
    for (CallPathTime& time : times)
        time.call_path = tree.places[time.call_path.value];
    result.insert(result.end(), times.begin(), times.end());
    return result;
}

}  // namespace

void sum_up(std::vector<CallPathTime>& times)
{
    model::sort_and_sum(
        times, [](const CallPathTime& time) { return std::pair(time.call_path, time.process); },
        [](CallPathTime& sum, const CallPathTime& time) {
            sum.ns += time.ns;
            sum.samples += time.samples;
            sum.other_threads_ns += time.other_threads_ns;
            sum.found_ns += time.found_ns;
        });
}

model::Profile without_call_paths(model::Profile profile)
{
    profile.call_paths.clear();
    profile.stretches.clear();
    profile.stretch_shares.clear();
    profile.stretch_ranks.clear();
    profile.stretch_code.clear();
    profile.stretch_addresses.clear();
    profile.path_events.clear();
    profile.addresses.clear();
    profile.total_addresses.clear();
    return profile;
}

void forget_all_ranks(Hotspot& item)
{
    item.total_ns.reset();
    item.off_path_ns.reset();
    item.imbalance_ns.reset();
}

CallTree call_tree(const model::Profile& profile, const Selection& selection, binary::SourceLines* lines)
{
    CallTree tree{without_call_paths(profile), {}, {}};
    model::Profile& result = tree.profile;
    Builder builder(profile, lines, tree);
    builder.add_call_paths();
    result.path = moved(profile, selection, tree, builder, std::move(result.path), profile.addresses);
    result.totals = moved(profile, selection, tree, builder, std::move(result.totals), profile.total_addresses);
    sum_up(result.path);
    sum_up(result.totals);
    return tree;
}

}  // namespace critpath::report
