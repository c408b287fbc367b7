// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by callpath`: the call tree of the critical path.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace critpath::report
{

namespace
{

using model::CallPathId;

/// The call paths that are shown, as a tree.
class Tree
{
public:
    /// `key`: time of a call path with all below it, in ns. Those with most of it are shown, `top` of them (0: all),
    /// and the ways to them.
    template <class Key>
    Tree(const model::Profile& profile, std::vector<std::size_t> candidates, std::uint64_t top, Key key)
        : callees_(profile.call_paths.size())
    {
        std::stable_sort(candidates.begin(), candidates.end(),
                         [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
        std::vector<bool> is_shown(profile.call_paths.size(), false);
        for (std::size_t path : candidates) {
            if (top > 0 && size_ >= top)
                break;
            while (!is_shown[path]) {
                is_shown[path] = true;
                ++size_;
                const CallPathId parent = profile.call_paths[path].parent;
                (parent.valid() ? callees_[parent.value] : roots_).push_back(path);
                if (!parent.valid())
                    break;
                path = parent.value;
            }
        }
    }

    [[nodiscard]] std::size_t size() const { return size_; }

    /// Calls `visit(path, branch)` from the first root to the last leaf; `branch`: the lines that lead to it.
    template <class Visit>
    void walk(Visit visit) const
    {
        for (const std::size_t root : roots_)
            walk(root, "", "", visit);
    }

private:
    template <class Visit>
    void walk(std::size_t first, const std::string& branch, const std::string& stem, Visit& visit) const
    {
        struct Open {
            std::size_t path;
            std::string branch, stem;  // before its name, and before those of its callees
        };
        std::vector<Open> open = {{first, branch, stem}};  // the next one last: trees may be deeper than the stack
        while (!open.empty()) {
            const Open at = std::move(open.back());
            open.pop_back();
            visit(at.path, at.branch);
            const std::vector<std::size_t>& callees = callees_[at.path];
            for (std::size_t i = callees.size(); i-- > 0;) {
                const bool is_last = i + 1 == callees.size();
                open.push_back({callees[i], at.stem + (is_last ? "└ " : "├ "), at.stem + (is_last ? "  " : "│ ")});
            }
        }
    }

    std::vector<std::size_t> roots_;
    std::vector<std::vector<std::size_t>> callees_;  // by call path, those that are shown
    std::size_t size_ = 0;
};

std::string full_name(const model::Profile& profile, CallPathId path)
{
    std::vector<const std::string*> names;
    for (; path.valid(); path = profile.call_paths[path.value].parent)
        names.push_back(&profile.row(path).name);
    std::string result;
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        result += (result.empty() ? "" : ";") + **name;
    return result;
}

/// By call path: path time without those below.
std::vector<std::int64_t> own_times(const HotspotRequest& request)
{
    std::vector<std::int64_t> own(request.profile.call_paths.size(), 0);
    for (const model::CallPathTime& time : request.profile.path)
        if (request.selection.has_rank(time.process) && request.selection.has_row(request.profile.row(time.call_path)))
            own[time.call_path.value] += time.ns;
    return own;
}

}  // namespace

Document call_path_view(const HotspotRequest& request)
{
    const model::Profile& profile = request.profile;
    const std::string& sort = request.request.arguments.text("--sort");
    const Hotspots hotspots = by_call_path(profile, request.selection);
    const std::vector<std::int64_t> own = own_times(request);
    const bool by_total = sort == "all";
    std::vector<std::size_t> candidates;
    std::size_t below_error = 0;
    for (std::size_t i = 0; i < hotspots.items.size(); ++i) {
        const Hotspot& item = hotspots.items[i];
        if (!by_total && item.path_ns > 0 && item.is_below_error())
            ++below_error;
        else if ((by_total ? item.total_ns.value_or(0) : item.path_ns) > 0)
            candidates.push_back(i);
    }
    const std::size_t all = candidates.size();
    const Tree tree(profile, std::move(candidates), request.request.arguments.number("--top"), [&](std::size_t i) {
        return by_total ? hotspots.items[i].total_ns.value_or(0) : hotspots.items[i].path_ns;
    });

    Table table;
    table.key = "call_paths";
    table.columns = {
        {"", "Call path", Align::Left, Fit::Name}, {"call_path", ""}, {"depth", ""}, {"function", ""},
        {"", "Module", Align::Left, Fit::Middle},  {"module", ""},    {"kind", ""},  {"own_path_seconds", "Own s"}};
    const std::vector<Column> times = time_columns();
    table.columns.insert(table.columns.end(), times.begin(), times.end() - 1);  // what it calls may wait
    std::vector<Row> rows;
    std::int64_t shown_ns = 0;
    tree.walk([&](std::size_t i, const std::string& branch) {
        const Hotspot& item = hotspots.items[i];
        std::int64_t depth = 0;
        for (CallPathId c = profile.call_paths[i].parent; c.valid(); c = profile.call_paths[c.value].parent)
            ++depth;
        rows.push_back({branch + item.name, full_name(profile, {static_cast<std::uint32_t>(i)}), depth, item.name,
                        std::string(basename(item.place())), item.module, item.kind, Seconds{own[i]}});
        add_time_cells(rows.back(), item);
        rows.back().pop_back();
        shown_ns += own[i];
    });
    table.each_row = rows_of(std::move(rows));

    Document document;
    const double share = part(shown_ns, hotspots.path_ns);
    document.fields = {{"sort", "", sort},
                       {"path_seconds", "", Seconds{hotspots.path_ns}},
                       {"path_samples", "", static_cast<std::int64_t>(hotspots.path_samples)},
                       {"rows_shown", "", static_cast<std::int64_t>(tree.size())},
                       {"rows", "", static_cast<std::int64_t>(all)},
                       {"rows_below_error", "", static_cast<std::int64_t>(below_error)},
                       {"shown_path_percent", "", Share{share}}};
    document.tables.push_back(std::move(table));
    std::string note =
        fmt::format("{} of {} shown: their own time is {} % of the critical path ({}).", count_text(tree.size()),
                    counted(all, "call path"), percent_text(share), duration_text(hotspots.path_ns));
    if (below_error > 0)
        note += fmt::format(" Left out: {} below the sampling error.", counted(below_error, "call path"));
    document.notes.push_back(std::move(note));
    explain_errors(document, hotspots);
    if (const std::string unsampled = unsampled_note(hotspots); !unsampled.empty())
        document.notes.push_back(unsampled);
    return document;
}

}  // namespace critpath::report
