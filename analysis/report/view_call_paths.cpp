// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport hotspots --by callpath`: the call tree of the critical path.
#include "analysis/report/call_chains.hpp"
#include "analysis/report/call_tree.hpp"
#include "analysis/report/caller_notes.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/inclusive.hpp"
#include "analysis/report/inside.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/made_code_note.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/recursion.hpp"
#include "analysis/report/refused.hpp"
#include "analysis/report/shown_tree.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/unnamed_note.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace critpath::report
{

namespace
{

using model::CallPathId;

/// Where MPI functions are called.
class Sites
{
public:
    Sites(const model::Profile& profile, const std::vector<bool>& is_inlined, binary::SourceLines& lines)
        : profile_(profile), is_inlined_(is_inlined), lines_(lines)
    {
        for (const model::CallPath& path : profile.call_paths)
            ++callees_[{path.parent, path.row}];
    }

    /// Empty where it is not known.
    std::string of(std::size_t path)
    {
        return site_text(profile_, {static_cast<std::uint32_t>(path)}, profile_.call_paths[path].site, lines_);
    }

    /// "solve", "[I] solve" if it is inlined, or "MPI_Send at halo.c:12"; an address only where it tells two calls
    /// apart.
    std::string name(std::size_t path)
    {
        const auto& [row, parent, address] = profile_.call_paths[path];
        const std::string& name = profile_.rows[row.value].name;
        if (is_inlined_[path])
            return "[I] " + name;
        const bool has_line = line_of_call(profile_, {static_cast<std::uint32_t>(path)}, lines_).has_value();
        if (address == 0 || (!has_line && callees_.at({parent, row}) == 1))
            return name;
        return fmt::format("{} at {}", name, basename(of(path)));
    }

private:
    const model::Profile& profile_;
    const std::vector<bool>& is_inlined_;
    binary::SourceLines& lines_;
    std::map<std::pair<CallPathId, model::RowId>, std::size_t> callees_;  // by caller and function
};

/// "main > … > solve" of a call path and those that only lead to it: the first one, which tells it from others below
/// the same caller, and the last one, whose time it is. Between them, the innermost one of code that was made while the
/// program ran, as that of Python is: all others there are the interpreter's.
std::string row_name(const model::Profile& profile, const std::vector<std::size_t>& paths, Sites& sites)
{
    const auto is_made = [&](std::size_t path) {
        return profile.row(CallPathId{static_cast<std::uint32_t>(path)}).module == made_code;
    };
    std::vector<std::size_t> named = {0};
    if (!is_made(paths.back()))
        for (std::size_t i = paths.size() - 1; i-- > 1;)
            if (is_made(paths[i])) {
                named.push_back(i);
                break;
            }
    if (paths.size() > 1)
        named.push_back(paths.size() - 1);
    std::string name = sites.name(paths.front());
    for (std::size_t i = 1; i < named.size(); ++i)
        name += (named[i] == named[i - 1] + 1 ? " > " : " > … > ") + sites.name(paths[named[i]]);
    return name;
}

/// By call path: path time without those below.
std::vector<std::int64_t> own_times(const model::Profile& profile, const Selection& selection)
{
    std::vector<std::int64_t> own(profile.call_paths.size(), 0);
    for (const model::CallPathTime& time : profile.path)
        if (selection.has_rank(time.process) && selection.has_row(profile.row(time.call_path)))
            own[time.call_path.value] += time.ns;
    return own;
}

/// By call path: time on all ranks without those below.
std::vector<std::int64_t> own_totals(const model::Profile& profile, const Selection& selection)
{
    std::vector<std::int64_t> own(profile.call_paths.size(), 0);
    for (const model::CallPathTime& time : profile.totals)
        if (const model::Row& row = profile.row(time.call_path); selection.has_row(row) && !is_transfer(row))
            own[time.call_path.value] += time.ns;
    return own;
}

/// What call paths of MPI, and transfers below them, are divided into with --inside.
class InsidePaths
{
public:
    /// By the call paths of `profile`; `place_of`: what one of the request is there.
    template <class PlaceOf>
    InsidePaths(const HotspotRequest& request, const model::Profile& profile, PlaceOf place_of)
        : profile_(profile), is_wanted_(request.request.arguments.flag("--inside")),
          times_(group_by(inside_of(request), [&](const division::InsideTime& time) {
              const CallPathId call = time.of.call;
              return Key{time.of.is_transfer, call.valid() ? place_of(call) : call};
          }))
    {
    }

    [[nodiscard]] bool is_wanted() const { return is_wanted_; }

    /// `own_ns`: the time of the call path without those below it.
    [[nodiscard]] std::vector<InsidePart> parts(std::size_t path, std::int64_t own_ns) const
    {
        const auto& [row_id, parent, site] = profile_.call_paths[path];
        const model::Row& row = profile_.rows[row_id.value];
        const bool of_transfer = is_transfer(row);
        if (!is_wanted_ || (!of_transfer && row.kind != model::RowKind::Mpi))
            return {};
        const Key key{of_transfer, of_transfer ? parent : CallPathId{static_cast<std::uint32_t>(path)}};
        return parts_of(profile_, times_in_row(times_, key), own_ns, of_transfer);
    }

private:
    using Key = std::pair<bool, CallPathId>;  // of a transfer; the call

    const model::Profile& profile_;
    bool is_wanted_;
    std::map<Key, std::vector<division::InsideTime>> times_;
};

/// CSV and JSON have each call path.
bool folds(const Arguments& arguments)
{
    return arguments.text("--format") == "table" && arguments.text("--recursion") == "fold";
}

/// The call tree as it stands in the source, with calls of a function by itself as one.
class DrawnCalls
{
public:
    DrawnCalls(const HotspotRequest& request, binary::SourceLines& lines)
        // What is inlined on all ranks is known of the whole run only.
        : knows_inlined_(!request.window || request.request.arguments.text("--sort") != "all"),
          tree_(call_tree(request.profile, request.selection, knows_inlined_ ? &lines : nullptr)),
          folded_(folds(request.request.arguments) ? fold_recursion(tree_.profile, tree_.is_inlined) : std::nullopt),
          is_inlined_(folded_ ? moved(tree_.is_inlined, *folded_) : tree_.is_inlined)
    {
    }

    [[nodiscard]] bool knows_inlined() const { return knows_inlined_; }
    [[nodiscard]] const model::Profile& profile() const { return folded_ ? folded_->profile : tree_.profile; }
    /// By CallPathId of profile(), as the others.
    [[nodiscard]] const std::vector<bool>& is_inlined() const { return is_inlined_; }
    [[nodiscard]] std::size_t levels(std::size_t path) const { return folded_ ? folded_->levels[path] : 1; }
    /// What a call path of the request is there.
    [[nodiscard]] CallPathId place_of(CallPathId path) const
    {
        const CallPathId place = tree_.places[path.value];
        return folded_ ? folded_->places[place.value] : place;
    }

private:
    static std::vector<bool> moved(const std::vector<bool>& is_inlined, const FoldedRecursion& folded)
    {
        std::vector<bool> result(folded.profile.call_paths.size(), true);
        for (std::size_t i = 0; i < is_inlined.size(); ++i)
            result[folded.places[i].value] = result[folded.places[i].value] && is_inlined[i];
        return result;
    }

    bool knows_inlined_;
    CallTree tree_;
    std::optional<FoldedRecursion> folded_;
    std::vector<bool> is_inlined_;
};

Hotspots hotspots_of(const HotspotRequest& request, const DrawnCalls& calls)
{
    Hotspots hotspots = by_call_path(calls.profile(), request.selection);
    if (request.window)
        for (std::size_t i = 0; i < hotspots.items.size(); ++i)
            if (calls.is_inlined()[i])
                forget_all_ranks(hotspots.items[i]);
    return hotspots;
}

std::vector<Column> call_path_columns(bool has_levels, bool has_inside, const std::string& sort)
{
    std::vector<Column> columns = {{"", "Call path", Align::Left, Fit::Name},
                                   {"call_path", ""},
                                   {"depth", ""},
                                   {"", has_levels ? "Levels" : ""},
                                   {"function", ""},
                                   {"inlined", ""},
                                   {"call_site", ""},
                                   {"", "Module", Align::Left, Fit::Path},
                                   {"module", ""},
                                   {"kind", ""},
                                   {"own_path_seconds", "Own s"}};
    for (Column& column : time_columns(true)) {
        if (column.key == "imbalance_seconds" && sort != "imbalance")  // few of those that wait in a call have one
            column.spare = Spare::Then;
        columns.push_back(std::move(column));
    }
    if (has_inside)
        columns.insert(columns.end(), {{"inside", ""}, {"side", ""}});
    return columns;
}

/// On the times, whatever the tree looks like.
void add_notes(const HotspotRequest& request, const Hotspots& hotspots, bool has_inside, Document& document)
{
    explain_errors(document, hotspots);
    std::ranges::move(unnamed_notes(request.profile, request.selection), std::back_inserter(document.notes));
    if (std::optional<std::string> note =
            made_code_note(request.profile, request.selection, request.request.trace_name))
        document.notes.push_back(std::move(*note));
    if (has_inside)
        document.notes.push_back(inside_note());
    if (request.window)
        if (std::string totals = totals_note(request.profile, *request.window); !totals.empty())
            document.notes.push_back(std::move(totals));
    if (std::string note = ranks_note(request.profile, request.selection); !note.empty())
        document.notes.push_back(std::move(note));
    if (const std::string unsampled = unsampled_note(request.profile, hotspots); !unsampled.empty())
        document.notes.push_back(unsampled);
    if (std::string note = no_run_delay_note(request.profile); !note.empty())
        document.notes.push_back(std::move(note));
    std::ranges::copy(caller_notes(hotspots, request.profile, request.selection), std::back_inserter(document.notes));
}

/// How much of the tree is shown.
struct ShownRows {
    std::size_t rows, all_rows, below_error;
    // Path time of the rows that are shown, of those that are not, and of those below the error, each without those
    // below it.
    std::int64_t own_ns, hidden_ns, below_error_ns;
};

/// The rows with most time are those that call much, and may have next to nothing themselves.
std::string coverage_note(const ShownRows& shown, const std::string& sort, std::int64_t path_ns,
                          const std::optional<Window>& window)
{
    const bool is_part = shown.rows < shown.all_rows;
    std::string note = fmt::format("{} of {} shown", count_text(shown.rows), counted(shown.all_rows, "call path"));
    if (is_part)
        note += fmt::format(": those with most time, what they call included ({})",
                            sort == "all" ? "All ranks s" : "Path s");
    note += fmt::format(". Their own time, without what they call (Own s), is {} % of {}",
                        percent_text(part(shown.own_ns, path_ns)), path_text(window, path_ns));
    if (is_part)
        note += fmt::format("; {} % is own time of call paths that are not shown ({}), below these or beside them: "
                            "--top {} shows more, --top 0 all",
                            percent_text(part(shown.hidden_ns, path_ns)), count_text(shown.all_rows - shown.rows),
                            2 * shown.rows);
    note += ".";
    return note + below_error_note(shown.below_error, "call path", part(shown.below_error_ns, path_ns));
}

}  // namespace

Document call_path_view(const HotspotRequest& request)
{
    binary::SourceLines lines = source_lines(request.profile);
    const DrawnCalls calls(request, lines);
    const model::Profile& profile = calls.profile();
    const std::vector<bool>& is_inlined = calls.is_inlined();
    const std::string& sort = request.request.arguments.text("--sort");
    const Hotspots hotspots = hotspots_of(request, calls);
    const std::vector<std::int64_t> own = own_times(profile, request.selection);
    const bool by_total = sort == "all";
    std::vector<std::size_t> candidates;
    const Folding folding(hotspots.items);
    std::size_t below_error = 0;
    std::int64_t below_error_ns = 0;
    for (std::size_t i = 0; i < hotspots.items.size(); ++i) {
        const Hotspot& item = hotspots.items[i];
        if (!by_total && item.path_ns > 0 && folding.leaves_out(item)) {
            ++below_error;
            below_error_ns += own[i];
        } else if ((by_total ? item.total_ns.value_or(0) : item.path_ns) > 0) {
            candidates.push_back(i);
        }
    }
    std::vector<std::int64_t> whole;
    for (const Hotspot& item : hotspots.items)
        whole.push_back(by_total ? item.total_ns.value_or(0) : item.path_ns);
    const TreeTimes tree_times =
        tree_times_of(profile, std::move(whole), by_total ? own_totals(profile, request.selection) : own);
    const ShownTree whole_tree(profile, tree_times, candidates, 0);
    std::size_t all = 0;
    std::int64_t all_ns = 0;
    whole_tree.walk([&](const std::vector<std::size_t>& paths, const ShownTree::Branch&) {
        ++all;
        all_ns += own[paths.back()];
    });
    const ShownTree tree(profile, tree_times, std::move(candidates), request.request.arguments.number("--top"));
    bool any_levels = false, any_inlined = false;
    tree.walk([&](const std::vector<std::size_t>& paths, const ShownTree::Branch&) {
        any_levels = any_levels || calls.levels(paths.back()) > 1;
        any_inlined = any_inlined || std::ranges::any_of(paths, [&](std::size_t path) { return is_inlined[path]; });
    });

    Table table;
    table.key = "call_paths";
    table.other_names = sampled_functions(request.profile);
    table.other_paths = sampled_binaries(request.profile);
    const CallChains chains(profile);
    const InsidePaths inside(request, profile, [&](CallPathId path) { return calls.place_of(path); });
    table.columns = call_path_columns(any_levels, inside.is_wanted(), sort);
    Sites sites(profile, is_inlined, lines);
    std::vector<Row> rows;
    std::int64_t shown_ns = 0;
    std::size_t shown = 0;
    const auto add_row = [&](std::string drawn_name, std::string full_name, std::size_t depth, std::size_t levels,
                             bool of_inlined, std::int64_t own_ns, const Hotspot& item, const std::string& site,
                             const std::string& divided, const char* side) {
        Row& row =
            rows.emplace_back(Row{std::move(drawn_name), std::move(full_name), static_cast<std::int64_t>(depth), Cell(),
                                  item.name, std::int64_t{of_inlined}, site.empty() ? Cell() : Cell(site), item.place(),
                                  item.module, item.kind, Seconds{own_ns}});
        constexpr std::size_t levels_column = 3;
        if (levels > 1)
            row[levels_column] = static_cast<std::int64_t>(levels);
        add_time_cells(row, item, true);
        if (inside.is_wanted())
            row.insert(row.end(), {divided, std::string(side)});
    };
    tree.walk([&](const std::vector<std::size_t>& paths, const ShownTree::Branch& branch) {
        const std::size_t i = paths.back();
        const std::string name = chains.full_name(i);
        add_row(branch.of_name + row_name(profile, paths, sites), name, chains.depth(i), calls.levels(i), is_inlined[i],
                own[i], hotspots.items[i], sites.of(i), "", "");
        shown_ns += own[i];
        ++shown;
        const std::vector<InsidePart> parts = inside.parts(i, own[i]);
        for (std::size_t p = 0; p < parts.size(); ++p)
            add_row(drawn(parts, p, branch.below, branch.has_callees), name + ";" + parts[p].item.name,
                    chains.depth(i) + 1, 1, false, parts[p].item.path_ns, parts[p].item, "", name, parts[p].side);
    });
    table.each_row = rows_of(std::move(rows));

    Document document;
    const double share = part(shown_ns, hotspots.path_ns);
    document.fields = {{"sort", "", sort},
                       {"path_seconds", "", Seconds{hotspots.path_ns}},
                       {"path_samples", "", static_cast<std::int64_t>(hotspots.path_samples)},
                       {"rows_shown", "", static_cast<std::int64_t>(shown)},
                       {"rows", "", static_cast<std::int64_t>(all)},
                       {"rows_below_error", "", static_cast<std::int64_t>(below_error)},
                       {"below_error_seconds", "", Seconds{below_error_ns}},
                       {"shown_path_percent", "", Share{share}}};
    document.tables.push_back(std::move(table));
    document.notes.push_back(coverage_note({shown, all, below_error, shown_ns, all_ns - shown_ns, below_error_ns}, sort,
                                           hotspots.path_ns, request.window));
    if (!calls.knows_inlined())
        document.notes.emplace_back("What is inlined on all ranks is known of the whole run only: without --from and "
                                    "--to, or sorted by the path.");
    if (any_inlined)
        document.notes.emplace_back("[I]: inlined into the function before it, or above it.");
    if (any_levels)
        document.notes.emplace_back("Levels: a function that calls itself is one row, of calls that are so many below "
                                    "each other. Each as a row: --recursion all.");
    if (!by_total && folding.is_undecided())
        document.notes.push_back(undecided_note(hotspots));
    add_notes(request, hotspots, inside.is_wanted(), document);
    return document;
}

}  // namespace critpath::report
