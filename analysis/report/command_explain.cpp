// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport explain`: for the costliest computation on the critical path, why it takes that long on that rank.
#include "analysis/report/blocked_note.hpp"
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/explain/beside.hpp"
#include "analysis/report/explain/comparison_words.hpp"
#include "analysis/report/explain/explain.hpp"
#include "analysis/report/explain/sites.hpp"
#include "analysis/report/explain/table.hpp"
#include "analysis/report/explain/when.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/left_out.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/refused.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/unnamed_note.hpp"
#include "formats/result/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace critpath::report
{

namespace
{

/// What would have to be recorded to know more.
void add_missing(const model::Profile& profile, const std::vector<Explanation>& explanations, Document& document)
{
    const bool any_compared =
        std::ranges::any_of(explanations, [](const Explanation& e) { return e.stretch->compared > 0; });
    if (std::ranges::any_of(explanations, [](const Explanation& e) { return is_missed(e) && e.untold->by_nothing; }))
        document.notes.push_back(uncounted_note(profile));
    if (std::ranges::any_of(explanations, [](const Explanation& e) {
            return e.has_slow_instructions() && e.stretch->cache_misses_ns == 0;
        }))
        document.notes.push_back(unknown_misses_note(profile));
    if (std::ranges::any_of(explanations, [](const Explanation& e) { return e.losses().not_sampled_ns > 0; }))
        if (std::string note = lost_samples_note(profile); !note.empty())
            document.notes.push_back(std::move(note));
    if (any_compared && !knows_time_off_processor(profile))
        document.notes.push_back(
            fmt::format("Time without a processor is not known, and counts as time on it: the trace has {}.",
                        !has_samples(profile) ? "no samples" : "only samples that timers took (cpu-timer)"));
}

/// What the path itself tells, which is read only if that is asked for: it may be long.
void add_path(const Request& request, const model::Profile& profile, binary::SourceLines& lines,
              std::vector<Explanation>& explanations)
{
    const auto has_several_ranks = [](const Explanation& e) { return e.ranks_on_path > 1 && e.stretch->compared > 0; };
    const auto is_asked = [&](const Explanation& e) { return is_of_some_times(e) || has_several_ranks(e); };
    if (std::ranges::none_of(explanations, is_asked))
        return;
    const result::Segments segments(request.trace);
    segments.check(profile);
    const result::Attributions attributions(request.trace);
    attributions.check(profile);
    for (Explanation& e : explanations) {
        if (!is_asked(e))
            continue;
        const std::vector<PathGap> gaps = gaps_on_path(profile, *e.stretch, segments.records());
        if (is_of_some_times(e))
            add_times(profile, gaps, attributions.records(), e);
        if (has_several_ranks(e))
            add_sites(profile, gaps, lines, e);
    }
}

Document run_explain(const Request& request)
{
    const model::Profile profile = load(request.trace);
    const std::uint64_t top = request.arguments.number("--top");
    const std::size_t all = profile.stretches.size();
    binary::SourceLines lines = source_lines(profile);
    std::vector<Explanation> explanations;
    std::int64_t shown_ns = 0;
    for (std::size_t i = 0; i < all && (top == 0 || i < top); ++i) {
        explanations.push_back(explain(profile, i, &lines));
        shown_ns += profile.stretches[i].path_ns;
    }
    add_path(request, profile, lines, explanations);
    const auto path = profile.facts.find("path_ns");
    const std::int64_t path_ns = path == profile.facts.end() ? 0 : path->second;
    const double share = path_ns > 0 ? static_cast<double>(shown_ns) / static_cast<double>(path_ns) : 0;

    const Beside beside = beside_computation(profile);
    const Computation computation = computation_of(profile);
    const Lack lack = lack_of_processors(profile, beside);

    Document document;
    document.view = "explain";
    document.has_findings = true;
    document.fields = {
        {"path_seconds", "", Seconds{path_ns}},
        {"stretches_shown", "", static_cast<std::int64_t>(explanations.size())},
        {"stretches_known", "", static_cast<std::int64_t>(all)},
        {"shown_path_percent", "", Share{share}},
        {"computation_path_seconds", "", Seconds{computation.all_ns}},
        {"not_compared_path_seconds", "", Seconds{computation.not_compared_ns}},
        {"mpi_path_seconds", "", Seconds{beside.mpi_ns}},
        {"transfer_path_seconds", "", Seconds{beside.transfer_ns}},
        {"mpi_preempted_path_seconds", "", Seconds{beside.preempted_ns}},
        {"computation_preempted_path_seconds", "", Seconds{lack.in_computation_ns}},
        {"mpi_blocked_path_seconds", "", Seconds{beside.blocked_ns}},
        {"measurement_path_seconds", "", Seconds{beside.measurement_ns}},
        {"led_by_doubt_percent", "", Share{part(fact(profile, "led_by_doubt_ns"), path_ns)}},
        {"refused_events", "", refused_text(profile)},
    };
    constexpr double much_doubt = 0.1;  // so that what is advised may be of no use
    std::string doubt = doubt_note(profile, request.trace_name);
    if (part(fact(profile, "led_by_doubt_ns"), path_ns) >= much_doubt)
        document.lead.push_back(std::exchange(doubt, {}));
    if (lack.is_main_finding())
        document.lead.push_back(lack.sentence());
    document.tables.push_back(explanation_table(profile, explanations, request.trace_name));
    for (std::size_t i = 0; i < explanations.size(); ++i)
        document.paragraphs.push_back({fmt::format("{}: {}", i + 1, explanations[i].headline()),
                                       explanations[i].sentence(profile, request.trace_name)});
    document.notes.push_back(fmt::format(
        "{} of {} of computation shown: {} % of the critical path ({}).", count_text(explanations.size()),
        all == 1 ? "1 stretch" : count_text(all) + " stretches", percent_text(share), duration_text(path_ns)));
    if (std::string rest = computation.sentence(request.trace_name); !rest.empty())
        document.notes.push_back(std::move(rest));
    if (std::string rest = beside.sentence(lack.is_main_finding()); !rest.empty())
        document.notes.push_back(std::move(rest));
    if (std::optional<std::string> note = blocked_note(profile))
        document.notes.push_back(std::move(*note));
    if (std::string note = no_run_delay_note(profile); !note.empty())
        document.notes.push_back(std::move(note));
    std::ranges::move(unnamed_notes(profile), std::back_inserter(document.notes));
    add_missing(profile, explanations, document);
    if (!doubt.empty())
        document.notes.push_back(std::move(doubt));
    add_clocks(document, profile);
    add_left_out(document, profile);
    return document;
}

}  // namespace

Command explain_command()
{
    return {
        "explain",
        "why the costliest computation on the path takes longer than on other ranks",
        {
            {"--top", "N", "stretches of computation to explain; 0: all (the 20 costliest)", "5", {}},
        },
        {"explain --top 3", "explain --format json cp-app-1 | jq -r '.stretches[].headline'"},
        run_explain,
    };
}

}  // namespace critpath::report
