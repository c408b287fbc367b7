// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/inclusive.hpp"

#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/caller_notes.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/result/schema.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace critpath::report
{

namespace
{

using namespace model::pseudo;

/// It is seen by samples only, also where the calls that it makes are recorded.
bool may_be_sampled(const Hotspot& item)
{
    return item.kind == result::name(model::RowKind::Sampled);
}

/// What is known of call paths beside their times, by CallPathId. Callers come before their callees.
class Chains
{
public:
    explicit Chains(const model::Profile& profile) : profile_(profile)
    {
        root_.reserve(profile.call_paths.size());
        for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i) {
            const model::CallPathId parent = profile.call_paths[i].parent;
            root_.push_back(parent.valid() ? root_[parent.value] : i);
        }
        has_callers_ = property(profile, "call_graph") != "none";
        has_regions_ =
            std::ranges::any_of(profile.rows, [](const model::Row& r) { return r.kind == model::RowKind::Region; });
    }

    [[nodiscard]] std::size_t size() const { return root_.size(); }
    [[nodiscard]] std::uint32_t root(std::size_t path) const { return root_[path]; }
    [[nodiscard]] const model::Row& row(std::size_t path) const
    {
        return profile_.rows[profile_.call_paths[path].row.value];
    }

    /// Whether it begins with functions whose callers were not found, or not recorded.
    [[nodiscard]] bool is_cut(std::size_t path) const
    {
        const model::Row& first = row(root_[path]);
        return first.name == unknown_callers || first.kind == model::RowKind::Mpi ||
               (first.kind == model::RowKind::Sampled && !has_callers_);
    }

    /// Whether it is time of the application of which no function is known.
    [[nodiscard]] bool is_nowhere(std::size_t path) const
    {
        constexpr std::array of_application = {blocked, preempted, not_recorded, not_sampled};
        const model::Row& own = row(path);
        if (root_[path] != path || own.kind != model::RowKind::Pseudo)
            return false;
        return std::ranges::find(of_application, own.name) != of_application.end() ||
               (own.name == compute && !has_regions_);  // those have enters and leaves: it is outside of them
    }

    /// Whether it is time without a processor below a function that is guessed from what the thread did before and
    /// after it.
    [[nodiscard]] bool is_placed_by_guess(std::size_t path) const
    {
        const model::CallPathId parent = profile_.call_paths[path].parent;
        const model::Row& own = row(path);
        return parent.valid() && own.kind == model::RowKind::Pseudo && row(parent.value).kind != model::RowKind::Mpi &&
               (own.name == blocked || own.name == preempted);
    }

    /// By call path: whether none of its callers is the same function.
    [[nodiscard]] std::vector<bool> find_outermost() const
    {
        std::vector<std::vector<std::uint32_t>> callees(size());
        std::vector<std::uint32_t> open;  // the next one last; a second time, it is left
        for (std::uint32_t i = 0; i < size(); ++i) {
            const model::CallPathId caller = profile_.call_paths[i].parent;
            (caller.valid() ? callees[caller.value] : open).push_back(i);
        }
        std::vector<bool> is_outermost(size(), false);
        std::vector<bool> is_entered(size(), false);
        std::vector<std::uint32_t> active(profile_.rows.size(), 0);  // calls of each function
        while (!open.empty()) {
            const std::uint32_t path = open.back();
            const std::uint32_t row = profile_.call_paths[path].row.value;
            if (is_entered[path]) {
                --active[row];
                open.pop_back();
                continue;
            }
            is_entered[path] = true;
            is_outermost[path] = active[row]++ == 0;
            open.insert(open.end(), callees[path].begin(), callees[path].end());
        }
        return is_outermost;
    }

    /// By call path: whether all that is seen of its thread is below it, so that guesses are below it, too. In a part
    /// of the run, what was seen in the others counts as well: all call paths are those of somebody.
    [[nodiscard]] std::vector<bool> find_trunk() const
    {
        std::vector<bool> has_own(size(), false);
        for (const auto* times : {&profile_.path, &profile_.totals})
            for (const model::CallPathTime& time : *times)
                if (time.ns > 0)
                    has_own[time.call_path.value] = true;
        std::vector<std::uint32_t> callees(size(), 0);
        for (std::size_t i = 0; i < size(); ++i)
            if (const model::CallPathId caller = profile_.call_paths[i].parent; caller.valid())
                callees[caller.value] += is_placed_by_guess(i) ? 0 : 1;
        std::vector<bool> is_trunk(size(), false);
        for (std::size_t i = 0; i < size(); ++i) {
            const std::uint32_t caller = profile_.call_paths[i].parent.value;
            is_trunk[i] = root_[i] == i ? !is_cut(i) : is_trunk[caller] && !has_own[caller] && callees[caller] == 1;
        }
        return is_trunk;
    }

    /// By call path: whether it, or something below it, may wait for others, which work meanwhile. Without a processor,
    /// it lacks one.
    [[nodiscard]] std::vector<bool> find_waits() const
    {
        std::vector<bool> waits(size(), false);
        for (std::size_t i = size(); i-- > 0;) {
            const model::Row& own = row(i);
            if (own.kind == model::RowKind::Mpi ||
                (own.kind == model::RowKind::Pseudo && own.name != preempted && own.name != compute))
                waits[i] = true;
            if (const model::CallPathId caller = profile_.call_paths[i].parent; caller.valid() && waits[i])
                waits[caller.value] = true;
        }
        return waits;
    }

private:
    const model::Profile& profile_;
    std::vector<std::uint32_t> root_;
    bool has_callers_ = true;  // samples
    bool has_regions_ = false;
};

/// By call path, each with all below it.
/// Linear: callees have larger numbers than their callers, so each is complete when it is added to its caller. Chains
/// of calls may be as long as there are call paths.
std::vector<Hotspot> whole_times(const model::Profile& profile, const Selection& selection, const Chains& chains)
{
    const std::size_t paths = chains.size();
    std::vector<Hotspot> whole(paths);
    for (const model::CallPathTime& time : profile.path) {
        const std::uint32_t path = time.call_path.value;
        if (!selection.has_rank(time.process) || !selection.has_row(chains.row(path)))
            continue;
        // Where a thread is preempted is a matter of chance like where it is sampled, and told by the samples around.
        const bool is_guess = chains.is_placed_by_guess(path);
        const bool is_chance = is_guess && chains.row(path).name == preempted;
        add_path(whole[path], time, is_chance || is_found_by_samples(profile, time));
        whole[path].guessed_ns += is_guess && !is_chance ? time.ns - time.found_ns : 0;
    }
    for (const model::CallPathTime& time : profile.totals)
        if (selection.has_row(profile.row(time.call_path)))
            add_total(whole[time.call_path.value], time);
    for (std::size_t i = paths; i-- > 0;)
        if (const model::CallPathId caller = profile.call_paths[i].parent; caller.valid())
            add(whole[caller.value], whole[i]);
    for (std::size_t i = 0; i < paths; ++i)
        if (is_transfer(chains.row(i)))
            whole[i].total_ns.reset();
    return whole;
}

/// What the processes that have a call path, or a function, on the path were blocked below the same root, in functions
/// that are guessed; of what nobody has there, all processes: whose it is elsewhere is not known.
class GuessedAround
{
public:
    GuessedAround(const model::Profile& profile, const Selection& selection, const Chains& chains)
        : by_path_(chains.size(), 0)
    {
        std::map<Below, std::int64_t> guessed;
        std::vector<std::int64_t> below_root(chains.size(), 0);
        std::vector<Processes> processes(chains.size());
        std::map<Below, Processes> by_function;
        for (const model::CallPathTime& time : profile.path) {
            const std::uint32_t path = time.call_path.value;
            if (!selection.has_rank(time.process) || !selection.has_row(chains.row(path)))
                continue;
            if (chains.is_placed_by_guess(path) && chains.row(path).name == blocked) {
                guessed[{time.process.value, chains.root(path)}] += time.ns - time.found_ns;
                below_root[chains.root(path)] += time.ns - time.found_ns;
            }
        }
        for (const model::CallPathTime& time : profile.path) {
            const std::uint32_t path = time.call_path.value;
            if (time.ns <= 0 || !selection.has_rank(time.process) || !selection.has_row(chains.row(path)))
                continue;
            processes[path].is_there = true;
            if (const auto found = guessed.find({time.process.value, chains.root(path)}); found != guessed.end())
                processes[path].add(time.process.value, found->second);
        }
        // Callees first. Each process is added once a call path at most, and of two sets the smaller one to the other.
        for (std::size_t i = chains.size(); i-- > 0;) {
            Processes& own = processes[i];
            by_path_[i] = own.is_there ? own.ns : below_root[chains.root(i)];
            by_function[{profile.call_paths[i].row.value, chains.root(i)}].add(own);
            const model::CallPathId caller = profile.call_paths[i].parent;
            if (!caller.valid())
                continue;
            Processes& around = processes[caller.value];
            if (around.guessed.size() < own.guessed.size())
                std::swap(around, own);
            around.add(own);
            own = {};
        }
        for (const auto& [function, of] : by_function)
            by_function_[function] = of.is_there ? of.ns : below_root[function.second];
    }

    [[nodiscard]] std::int64_t of_path(std::size_t path) const { return by_path_[path]; }
    [[nodiscard]] std::int64_t of_function(std::uint32_t row, std::uint32_t root) const
    {
        return by_function_.at({row, root});
    }

private:
    using Below = std::pair<std::uint32_t, std::uint32_t>;  // process or row, and the root that it is below

    struct Processes {
        void add(std::uint32_t process, std::int64_t guessed_ns)
        {
            if (guessed.emplace(process, guessed_ns).second)
                ns += guessed_ns;
        }
        void add(const Processes& others)
        {
            is_there = is_there || others.is_there;
            for (const auto& [process, guessed_ns] : others.guessed)
                add(process, guessed_ns);
        }
        std::unordered_map<std::uint32_t, std::int64_t> guessed{};  // of those that have any
        std::int64_t ns = 0;                                        // of all of them
        bool is_there = false;                                      // any has it on the path
    };

    std::vector<std::int64_t> by_path_;
    std::map<Below, std::int64_t> by_function_;
};

/// What is not known of the functions of a profile.
class Doubts
{
public:
    Doubts(const Chains& chains, const std::vector<Hotspot>& whole) : whole_(whole), trunk_(chains.find_trunk())
    {
        for (std::size_t i = 0; i < chains.size(); ++i) {
            if (chains.root(i) != i)
                continue;
            if (chains.is_cut(i))
                cut_ns += whole[i].path_ns;
            if (chains.is_cut(i) || chains.is_nowhere(i))
                unknown_ns += whole[i].path_ns;
            if (chains.is_nowhere(i) && chains.row(i).name == blocked)
                blocked_nowhere_ns += whole[i].path_ns;
            guessed_ns += whole[i].guessed_ns;
        }
    }

    /// Of what `path` is blocked, and what may be elsewhere.
    [[nodiscard]] std::int64_t lacks(std::size_t path) const { return trunk_[path] ? 0 : whole_[path].guessed_ns; }

    std::int64_t cut_ns = 0;              // begins with a function whose callers are not known
    std::int64_t unknown_ns = 0;          // that, and what is in functions that are not known
    std::int64_t guessed_ns = 0;          // was blocked, in functions that are guessed
    std::int64_t blocked_nowhere_ns = 0;  // was blocked, in functions of which not even that is said

private:
    const std::vector<Hotspot>& whole_;
    std::vector<bool> trunk_;
};

/// What computation lacked a processor, in all: that is exact, and samples tell only below which functions.
class Preempted
{
public:
    Preempted(const Chains& chains, const std::vector<Hotspot>& whole, const Hotspots& sums)
    {
        std::int64_t sampled_ns = 0;  // of the selected ranks
        for (std::size_t i = 0; i < chains.size(); ++i) {
            sampled_ns += chains.root(i) == i ? whole[i].sampled_ns : 0;
            if (chains.row(i).name != preempted)
                continue;
            placed_ns_ += chains.is_placed_by_guess(i) ? whole[i].path_ns : 0;
            nowhere_ns_ += chains.is_nowhere(i) ? whole[i].path_ns : 0;
        }
        samples_ = sums.equal_samples() * part(sampled_ns, sums.domain_ns);
    }

    void add_to(Hotspot& item) const
    {
        item.divided_ns = placed_ns_;
        item.divided_by = samples_;
        item.may_have_ns += nowhere_ns_;
    }

private:
    std::int64_t placed_ns_ = 0, nowhere_ns_ = 0;
    double samples_ = 0;
};

/// The sums, with the time that samples place by themselves or by what was sampled around it.
Hotspots inclusive_sums(const model::Profile& profile, const Chains& chains, const Doubts& doubts)
{
    Hotspots hotspots = sums(profile);
    for (const model::CallPathTime& time : profile.path)
        if (chains.is_placed_by_guess(time.call_path.value) && chains.row(time.call_path.value).name == preempted)
            hotspots.domain_ns += time.ns;
    hotspots.unknown_callers_ns = doubts.cut_ns;
    hotspots.guessed_ns = doubts.guessed_ns;
    return hotspots;
}

}  // namespace

Hotspots by_function_inclusive(const model::Profile& profile, const Selection& selection,
                               const std::vector<bool>& is_inlined)
{
    const Chains chains(profile);
    const std::vector<Hotspot> whole = whole_times(profile, {selection.ranks, {}}, chains);
    const Doubts doubts(chains, whole);
    const GuessedAround around(profile, {selection.ranks, {}}, chains);
    Hotspots hotspots = inclusive_sums(profile, chains, doubts);
    hotspots.anyones_ns = 0;  // is among what is unknown
    hotspots.items.reserve(profile.rows.size());
    for (const model::Row& row : profile.rows) {
        Hotspot& item = hotspots.items.emplace_back(item_of(row));
        item.may_be_sampled = may_be_sampled(item);
        item.may_have_ns = can_call(item) ? doubts.unknown_ns : 0;
    }
    const std::vector<bool> waits = chains.find_waits();
    const std::vector<bool> is_outermost = chains.find_outermost();  // a function that calls itself counts once
    std::set<std::pair<std::uint32_t, std::uint32_t>> is_around;     // rows, and the roots that they are below
    std::set<std::uint32_t> has_own_code;                            // rows
    for (std::size_t i = 0; i < chains.size(); ++i) {
        const std::uint32_t row = profile.call_paths[i].row.value;
        Hotspot& item = hotspots.items[row];
        const bool is_inlined_here = !is_inlined.empty() && is_inlined[i];
        if (!is_inlined_here && whole[i].path_ns > 0)
            has_own_code.insert(row);
        if (!is_outermost[i] || !selection.has_row(profile.rows[row]))
            continue;
        add(item, whole[i]);
        item.inlined_ns += is_inlined_here ? whole[i].path_ns : 0;
        item.has_waits = item.has_waits || waits[i];
        if (!can_call(item)) {
            // That the thread had no processor is not in doubt.
            item.sampled_ns -= chains.is_placed_by_guess(i) ? whole[i].sampled_ns : 0;
            continue;
        }
        item.may_lack_ns += doubts.lacks(i);
        if (chains.is_cut(i)) {
            item.may_have_ns -= whole[i].path_ns;  // all else there is among what is unknown
            continue;
        }
        item.may_have_ns -= whole[i].guessed_ns;
        if (is_around.emplace(row, chains.root(i)).second)
            item.may_have_ns += around.of_function(row, chains.root(i));
    }
    for (std::uint32_t row = 0; row < hotspots.items.size(); ++row) {
        Hotspot& item = hotspots.items[row];
        item.functions = item.path_ns > 0 ? 1 : 0;
        item.is_inlined = item.inlined_ns > 0 && !has_own_code.contains(row);
    }
    finish(profile, selection, hotspots);
    return hotspots;
}

Hotspots by_call_path(const model::Profile& profile, const Selection& selection)
{
    const Chains chains(profile);
    const std::vector<Hotspot> whole = whole_times(profile, selection, chains);
    const Doubts doubts(chains, whole);
    const GuessedAround around(profile, selection, chains);
    Hotspots hotspots = inclusive_sums(profile, chains, doubts);
    if (selection.module.empty())
        hotspots.anyones_ns = 0;  // is among what is unknown
    hotspots.items.reserve(chains.size());
    const std::vector<bool> waits = chains.find_waits();
    const Preempted preempted(chains, whole, hotspots);
    for (std::size_t i = 0; i < chains.size(); ++i) {
        Hotspot& item = hotspots.items.emplace_back(item_of(chains.row(i)));
        item.has_waits = item.has_waits || waits[i];
        item.may_be_sampled = may_be_sampled(item);
        add(item, whole[i]);
        item.may_lack_ns = doubts.lacks(i);
        if (can_call(item))
            // Without callers each function is a root, and any of the others may be below it.
            item.may_have_ns = doubts.unknown_ns - (chains.is_cut(i) ? whole[chains.root(i)].path_ns : 0) +
                               around.of_path(i) - item.guessed_ns;
        else if (chains.is_placed_by_guess(i) && chains.row(i).name == blocked)
            item.may_have_ns =
                doubts.blocked_nowhere_ns + around.of_path(profile.call_paths[i].parent.value) - item.guessed_ns;
        else if (chains.is_placed_by_guess(i) && chains.row(i).name == model::pseudo::preempted)
            preempted.add_to(item);
    }
    finish(profile, selection, hotspots);
    for (std::size_t i = 0; i < chains.size(); ++i)  // what is below a call path is no more than that
        if (const model::CallPathId caller = profile.call_paths[i].parent; caller.valid()) {
            Estimate& own = hotspots.items[i].share;
            own.high = std::clamp(hotspots.items[caller.value].share.high, own.value, std::max(own.value, own.high));
        }
    return hotspots;
}

}  // namespace critpath::report
