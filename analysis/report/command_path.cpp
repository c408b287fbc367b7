// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport path`: the segments of the critical path in the order of time. Holds no more than the chosen rows,
// however long the path is.
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/led.hpp"
#include "analysis/report/left_out.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/numbers.hpp"
#include "formats/functions/functions.hpp"
#include "formats/result/schema.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <limits>
#include <memory>
#include <queue>
#include <set>

namespace critpath::report
{

namespace
{

using model::Segment;
using model::SegmentKind;

std::int64_t length(const Segment& segment)
{
    return segment.end - segment.begin;
}

/// A kind as one word of the command line.
std::string kind_word(SegmentKind kind)
{
    std::string word(model::name(kind));
    std::replace(word.begin(), word.end(), ' ', '-');
    return word;
}

std::vector<std::string> kind_words()
{
    std::vector<std::string> words;
    words.reserve(model::segment_kinds);
    for (int kind = 0; kind < model::segment_kinds; ++kind)
        words.push_back(kind_word(static_cast<SegmentKind>(kind)));
    return words;
}

/// Which segments the options ask for.
class Filter
{
public:
    Filter(const Arguments& arguments, const model::Profile& profile) : profile_(&profile)
    {
        const std::int64_t makespan = fact(profile, "makespan_ns");
        from_ = arguments.moment_ns("--from", makespan).value_or(0);
        to_ = arguments.moment_ns("--to", makespan).value_or(std::numeric_limits<std::int64_t>::max());
        min_length_ = arguments.duration_ns("--min-length").value_or(0);
        is_doubtful_only_ = arguments.flag("--doubtful");
        if (to_ <= from_)
            fail(ExitCode::Usage, "--to: {} is not after --from; give a later time", arguments.text("--to"));
        const std::vector<std::string> words = kind_words();
        for (const std::string& word : arguments.list("--kind"))
            kinds_.set(static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin()));
        if (kinds_.none())
            kinds_.set();
        const std::vector<std::uint32_t> ranks = arguments.ranks("--rank", profile.processes.size());
        ranks_.insert(ranks.begin(), ranks.end());
    }

    bool operator()(const Segment& segment) const
    {
        return segment.end > from_ && segment.begin < to_ && length(segment) >= min_length_ &&
               kinds_.test(segment.kind) && (!is_doubtful_only_ || segment.low_confidence != 0) &&
               (ranks_.empty() || ranks_.count(profile_->location_process[segment.location]) > 0);
    }

private:
    const model::Profile* profile_;
    std::int64_t from_ = 0;
    std::int64_t to_ = 0;
    std::int64_t min_length_ = 0;
    bool is_doubtful_only_ = false;
    std::bitset<model::segment_kinds> kinds_;
    std::set<std::uint32_t> ranks_;
};

/// What the rows need for as long as the document lives.
struct PathView {
    explicit PathView(const Request& request)
        : profile(load(request.trace)), segments(request.trace), filter(request.arguments, profile)
    {
        segments.check(profile);
    }
    PathView(const PathView&) = delete;
    PathView& operator=(const PathView&) = delete;

    [[nodiscard]] LedSegments led() const
    {
        return {segments.records(), fact(profile, "clock_uncertainty_ns"), [this](model::CallPathId call) {
                    return call.valid() && functions::is_poll(functions::semantic_class(profile.row(call).name));
                }};
    }

    model::Profile profile;
    result::Segments segments;
    Filter filter;  // refers to `profile`
    bool all = false;
    std::vector<std::uint64_t> chosen;  // indices in order of time, unless all are shown
    std::uint64_t matching = 0;
    std::uint64_t shown = 0;
    std::int64_t shown_ns = 0;
};

/// The `top` longest of the matching segments (0: all of them); the earlier of equal ones.
void choose(PathView& view, std::uint64_t top)
{
    const std::span<const Segment> segments = view.segments.records();
    const auto is_better = [&](std::uint64_t a, std::uint64_t b) {
        return length(segments[a]) != length(segments[b]) ? length(segments[a]) > length(segments[b]) : a < b;
    };
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, decltype(is_better)> best(is_better);
    view.all = top == 0;
    for (std::uint64_t i = 0; i < segments.size(); ++i) {
        if (!view.filter(segments[i]))
            continue;
        ++view.matching;
        if (view.all) {
            view.shown_ns += length(segments[i]);
            continue;
        }
        if (best.size() < top) {
            best.push(i);
        } else if (is_better(i, best.top())) {
            best.pop();
            best.push(i);
        }
    }
    view.shown = view.all ? view.matching : best.size();
    for (; !best.empty(); best.pop()) {
        view.chosen.push_back(best.top());
        view.shown_ns += length(segments[best.top()]);
    }
    std::sort(view.chosen.begin(), view.chosen.end());
}

std::vector<Column> path_columns()
{
    constexpr int microseconds = 6;
    return {
        {"begin_seconds", "Begin s", Align::Right, Fit::Whole, microseconds},
        {"end_seconds", ""},
        {"length_seconds", "Length s", Align::Right, Fit::Whole, microseconds},
        {"path_percent", "Path %"},
        {"kind", "Kind", Align::Left},
        {"rank", ""},
        {"location", "Where", Align::Left},
        {"from_rank", ""},
        {"from_location", "From", Align::Left},
        {"", "MPI function", Align::Left, Fit::Middle},
        {"mpi_function", ""},
        {"bytes", "Bytes"},
        {"low_confidence", ""},
        {"within_clocks", ""},
        {"led_by_doubt", ""},
        {"", "?", Align::Left},
    };
}

/// As path_columns(); `row` is reused from segment to segment.
void fill(Row& row, const Segment& segment, const PathView& view, bool is_led)
{
    const model::Profile& profile = view.profile;
    const auto kind = static_cast<SegmentKind>(segment.kind);
    const bool has_origin =
        kind == SegmentKind::Transfer || kind == SegmentKind::Collective || kind == SegmentKind::Thread;
    const model::CallPathId call{segment.call};
    const std::string* const function = call.valid() ? &profile.row(call).name : nullptr;
    const std::int64_t path_ns = view.segments.header().makespan_ns;
    row.clear();
    row.emplace_back(Seconds{segment.begin});
    row.emplace_back(Seconds{segment.end});
    row.emplace_back(Seconds{length(segment)});
    row.emplace_back(Share{static_cast<double>(length(segment)) / static_cast<double>(path_ns)});
    row.emplace_back(std::string(model::name(kind)));
    row.emplace_back(static_cast<std::int64_t>(profile.location_process[segment.location]));
    row.emplace_back(profile.locations[segment.location]);
    row.emplace_back(has_origin ? Cell(static_cast<std::int64_t>(profile.location_process[segment.origin()])) : Cell());
    row.emplace_back(has_origin ? Cell(profile.locations[segment.origin()]) : Cell());
    // A compute segment is in no MPI function: it is known by the one that it follows.
    const char* before = kind == SegmentKind::Compute ? "after " : "";
    row.emplace_back(function != nullptr ? Cell(before + *function) : Cell());
    row.emplace_back(function != nullptr ? Cell(*function) : Cell());
    row.emplace_back(kind == SegmentKind::Transfer ? Cell(static_cast<std::int64_t>(segment.bytes)) : Cell());
    const bool within_clocks =
        static_cast<model::Confidence>(segment.low_confidence) == model::Confidence::WithinClocks;
    row.emplace_back(static_cast<std::int64_t>(segment.low_confidence != 0));
    row.emplace_back(static_cast<std::int64_t>(within_clocks));
    row.emplace_back(static_cast<std::int64_t>(is_led));
    row.emplace_back(std::string(segment.low_confidence != 0 ? "?" : is_led ? "~" : ""));
}

std::function<void(const RowSink&)> rows(const std::shared_ptr<const PathView>& view)
{
    return [view](const RowSink& sink) {
        const std::span<const Segment> segments = view->segments.records();
        Row row;
        LedSegments led = view->led();
        const auto show = [&](std::uint64_t i) {
            fill(row, segments[i], *view, led.has(i));
            sink(row);
        };
        for (const std::uint64_t i : view->chosen)
            show(i);
        for (std::uint64_t i = 0; view->all && i < segments.size(); ++i)
            if (view->filter(segments[i]))
                show(i);
    };
}

std::vector<std::string> notes(const PathView& view)
{
    const std::int64_t path_ns = view.segments.header().makespan_ns;
    const double share = path_ns > 0 ? static_cast<double>(view.shown_ns) / static_cast<double>(path_ns) : 0;
    const bool is_part = view.shown < view.matching;
    std::vector<std::string> lines = {fmt::format("{} of {} shown{}: {} % of the critical path ({}).{}",
                                                  count_text(view.shown), counted(view.matching, "segment"),
                                                  is_part ? ", the longest" : "", percent_text(share),
                                                  duration_text(path_ns), is_part ? " --all shows every one." : "")};
    const std::span<const Segment> segments = view.segments.records();
    LedSegments led = view.led();
    bool has_doubtful = false, has_led = false;
    const auto look_at = [&](std::uint64_t i) {
        const bool is_doubtful = segments[i].low_confidence != 0;
        has_doubtful = has_doubtful || is_doubtful;
        has_led = has_led || (!is_doubtful && led.has(i));
    };
    std::ranges::for_each(view.chosen, look_at);
    for (std::uint64_t i = 0; view.all && i < segments.size() && !(has_doubtful && has_led); ++i)
        if (view.filter(segments[i]))
            look_at(i);
    if (has_doubtful)
        lines.emplace_back(
            "?: doubtful. Another predecessor is possible within the error, or this one explains less than half.");
    if (has_led)
        lines.emplace_back(
            "~: here because of the next doubtful segment. If that is wrong, it may be on another rank.");
    return lines;
}

Document run_path(const Request& request)
{
    auto view = std::make_shared<PathView>(request);
    choose(*view, request.arguments.flag("--all") ? 0 : request.arguments.number("--top"));

    Document document;
    document.view = "path";
    document.fields = {
        {"path_seconds", "", Seconds{view->segments.header().makespan_ns}},
        {"segments", "", static_cast<std::int64_t>(view->segments.header().records)},
        {"segments_matching", "", static_cast<std::int64_t>(view->matching)},
        {"segments_shown", "", static_cast<std::int64_t>(view->shown)},
        {"shown_seconds", "", Seconds{view->shown_ns}},
    };
    document.notes = notes(*view);
    add_clocks(document, view->profile);
    add_left_out(document, view->profile);
    document.tables.push_back({"path", "", path_columns(), rows(view)});
    return document;
}

}  // namespace

Command path_command()
{
    return {
        "path",
        "the segments of the critical path in order of time",
        {
            {"--top", "N", "the N longest segments; 0: all", "50", {}},
            {"--all", "", "all segments, as --top 0", "", {}},
            {"--from", "TIME", "only what lies after this moment of the run: in seconds, or 20ms, or 40%", "", {}},
            {"--to", "TIME", "only what lies before this moment", "", {}},
            {"--min-length", "TIME", "only segments that take this long", "", {}},
            {"--doubtful", "", "only segments that are in doubt themselves", "", {}},
            {"--kind", "KIND,...", "", "", kind_words(), true},
            {"--rank", "RANKS", "only segments that end on these ranks, as 0,4-7", "", {}, true},
        },
        {"path --from 1.5 --to 1.6 --all", "path --kind transfer,collective --format csv cp-app-1"},
        run_path,
        {},
        {{{"--top"}, {"--all"}, "--all shows every segment; leave out one of the two"}},
    };
}

}  // namespace critpath::report
