// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpreport explain`: for the costliest computation on the critical path, why it takes that long on that rank.
#include "analysis/report/blocked_note.hpp"
#include "analysis/report/clocks.hpp"
#include "analysis/report/command.hpp"
#include "analysis/report/explain.hpp"
#include "analysis/report/explain_beside.hpp"
#include "analysis/report/explain_misses.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/load.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace critpath::report
{

namespace
{

Cell share_or_none(const std::optional<double>& share)
{
    return share ? Cell(Share{*share}) : Cell();
}

Cell function_name(const Explanation& e, std::size_t i)
{
    return i < e.code.functions.size() ? Cell(e.code.functions[i].name) : Cell();
}

Cell function_share(const Explanation& e, std::size_t i)
{
    return i < e.code.functions.size() ? Cell(Share{e.code.functions[i].share}) : Cell();
}

Cell text_or_none(const std::string& text)
{
    return text.empty() ? Cell() : Cell(text);
}

Cell function_caller(const Explanation& e, std::size_t i)
{
    return i < e.code.functions.size() ? text_or_none(e.code.functions[i].caller) : Cell();
}

Cell function_inlined(const Explanation& e, std::size_t i)
{
    return i < e.code.functions.size() ? text_or_none(e.code.functions[i].inlined) : Cell();
}

/// In tables only: with a sign, or as times.
Cell change_cell(const Explanation& e)
{
    if (e.stretch->compared == 0)
        return {};
    return e.excess < by_times_from ? fmt::format("{:+.1f} %", e.excess * 100) : fmt::format("x {:.1f}", e.excess + 1);
}

Cell rate(const std::optional<MissRate>& misses, double MissRate::*of)
{
    return misses ? Cell(Ratio{(*misses).*of}) : Cell();
}

Cell rate_error(const std::optional<MissRate>& misses)
{
    return misses ? Cell(Share{std::expm1(misses->error)}) : Cell();
}

Cell compared_by(const model::Stretch& s)
{
    constexpr std::string_view names[] = {"both calls", "call after", "call before"};
    return s.compared > 0 ? Cell(std::string(names[static_cast<std::size_t>(s.compared_by)])) : Cell();
}

Table explanation_table(const model::Profile& profile, const std::vector<Explanation>& explanations,
                        std::string_view trace)
{
    Table table;
    table.key = "stretches";
    table.columns = {
        {"stretch", "No"},
        {"path_seconds", "Path s"},
        {"path_percent", "Path %"},
        {"rank", "Rank"},
        {"rank_percent", "on it %"},
        {"", "Longer"},
        {"excess_percent", ""},
        {"verdict", "Verdict", Align::Left},
        {"", "Place", Align::Left, Fit::Middle},
        {"cause", ""},
        {"cause_rank", ""},
        {"caller", ""},
        {"from", ""},
        {"from_site", ""},
        {"to", ""},
        {"to_site", ""},
        {"function", ""},
        {"function_percent", ""},
        {"function_caller", ""},
        {"function_inlined", ""},
        {"second_function", ""},
        {"second_function_percent", ""},
        {"second_function_caller", ""},
        {"second_function_inlined", ""},
        {"third_function", ""},
        {"third_function_percent", ""},
        {"third_function_caller", ""},
        {"third_function_inlined", ""},
        {"node", ""},
        {"node_percent", ""},
        {"ranks_on_path", ""},
        {"gaps", ""},
        {"gaps_looked_at", ""},
        {"compared_by", ""},
        {"compared_gaps", ""},
        {"counted_gaps", ""},
        {"counted_instructions_gaps", ""},
        {"counted_cycles_gaps", ""},
        {"sampled_gaps", ""},
        {"slowest_gaps", ""},
        {"much_longer_gaps", ""},
        {"longer_rank", ""},
        {"longer_rank_percent", ""},
        {"other_rank", ""},
        {"other_rank_percent", ""},
        {"other_cause", ""},
        {"compared_seconds", ""},
        {"peers_seconds", ""},
        {"instructions_seconds", ""},
        {"cycles_per_instruction_seconds", ""},
        {"frequency_seconds", ""},
        {"time_per_instruction_seconds", ""},
        {"cycles_seconds", ""},
        {"on_processor_seconds", ""},
        {"preempted_seconds", ""},
        {"blocked_seconds", ""},
        {"instructions_error_seconds", ""},
        {"cycles_per_instruction_error_seconds", ""},
        {"frequency_error_seconds", ""},
        {"time_per_instruction_error_seconds", ""},
        {"cycles_error_seconds", ""},
        {"untold", ""},
        {"untold_because", ""},
        {"own_preempted_seconds", ""},
        {"own_blocked_seconds", ""},
        {"not_sampled_seconds", ""},
        {"longer_function", ""},
        {"longer_function_percent", ""},
        {"longer_function_caller", ""},
        {"longer_function_inlined", ""},
        {"blocked_otherwise_seconds", ""},
        {"threads_seconds", ""},
        {"threads_preempted_seconds", ""},
        {"threads_function", ""},
        {"threads_function_percent", ""},
        {"page_faults", ""},
        {"peers_page_faults", ""},
        {"migrations", ""},
        {"peers_migrations", ""},
        {"slow_instructions_by", ""},
        {"cache_misses_per_1000_instructions", ""},
        {"peers_cache_misses_per_1000_instructions", ""},
        {"cache_misses_error_percent", ""},
        {"branch_misses_per_1000_instructions", ""},
        {"peers_branch_misses_per_1000_instructions", ""},
        {"branch_misses_error_percent", ""},
        {"costliest_rank", ""},
        {"costliest_longer_seconds", ""},
        {"costliest_from_seconds", ""},
        {"costliest_to_seconds", ""},
        {"model_ranks", ""},
        {"model_nodes", ""},
        {"model_occurrences", ""},
        {"slow_ranks", ""},
        {"slowest_rank", ""},
        {"fastest_rank", ""},
        {"fastest_rank_percent", ""},
        {"persistent_percent", ""},
        {"persistent_node_percent", ""},
        {"headline", ""},
        {"finding", ""},
    };
    std::vector<Row> rows;
    for (std::size_t i = 0; i < explanations.size(); ++i) {
        const Explanation& e = explanations[i];
        const model::Stretch& s = *e.stretch;
        const auto known = [&](Factor factor, std::int64_t ns) { return e.knows(factor) ? Cell(Seconds{ns}) : Cell(); };
        const auto error = [](std::int64_t ns) { return ns > 0 ? Cell(Seconds{ns}) : Cell(); };
        const auto compared = [&](std::int64_t ns) { return s.compared > 0 ? Cell(Seconds{ns}) : Cell(); };
        const auto off = [&](std::int64_t ns) { return e.knows_off ? compared(ns) : Cell(); };
        const auto costliest = [&](Cell cell) { return s.costliest_rank >= 0 ? std::move(cell) : Cell(); };
        const std::vector<FunctionShare> longer = e.difference();
        const Losses losses = e.losses();
        const std::string place =
            fmt::format("{} .. {}", e.is_at_start() ? "start" : profile.row(s.before).name, profile.row(s.after).name);
        rows.push_back({static_cast<std::int64_t>(i + 1),
                        Seconds{s.path_ns},
                        Share{e.path_share},
                        static_cast<std::int64_t>(e.rank),
                        Share{e.rank_share},
                        change_cell(e),
                        s.compared > 0 ? Cell(Share{e.excess}) : Cell(),
                        std::string(name(e.verdict)),
                        place,
                        e.cause ? Cell(std::string(name(*e.cause))) : Cell(),
                        e.named ? Cell(static_cast<std::int64_t>(e.named->rank)) : Cell(),
                        e.caller,
                        e.before,
                        text_or_none(e.before_site),
                        e.after,
                        text_or_none(e.after_site),
                        function_name(e, 0),
                        function_share(e, 0),
                        function_caller(e, 0),
                        function_inlined(e, 0),
                        function_name(e, 1),
                        function_share(e, 1),
                        function_caller(e, 1),
                        function_inlined(e, 1),
                        function_name(e, 2),
                        function_share(e, 2),
                        function_caller(e, 2),
                        function_inlined(e, 2),
                        e.node,
                        Share{e.node_share},
                        static_cast<std::int64_t>(e.ranks_on_path),
                        s.gaps,
                        s.looked_at,
                        compared_by(s),
                        s.compared,
                        s.counted,
                        s.counted_instructions,
                        s.counted_cycles,
                        s.sampled,
                        s.slowest,
                        s.much_longer,
                        e.longer_share > 0 ? Cell(static_cast<std::int64_t>(e.longer_rank)) : Cell(),
                        Share{e.longer_share},
                        e.other ? Cell(static_cast<std::int64_t>(e.other->rank)) : Cell(),
                        e.other ? Cell(Share{e.other->share}) : Cell(),
                        e.other ? Cell(std::string(name(*e.other->cause))) : Cell(),
                        compared(s.compared_ns),
                        compared(s.peers_ns),
                        known(Factor::Instructions, s.instructions_ns),
                        known(Factor::Cycles, s.cycles_ns),
                        known(Factor::Frequency, s.frequency_ns),
                        compared(s.instruction_time_ns),
                        compared(s.all_cycles_ns),
                        compared(s.processor_ns),
                        off(s.preempted_ns),
                        off(s.blocked_ns),
                        error(s.instructions_error_ns),
                        error(s.cycles_error_ns),
                        error(s.frequency_error_ns),
                        error(s.instruction_time_error_ns),
                        error(s.all_cycles_error_ns),
                        e.untold ? Cell(std::string(e.untold->what)) : Cell(),
                        e.untold ? Cell(e.untold->why) : Cell(),
                        e.knows_off ? Cell(Seconds{losses.preempted_ns}) : Cell(),
                        e.knows_off ? Cell(Seconds{s.own_blocked_ns}) : Cell(),
                        Seconds{losses.not_sampled_ns},
                        longer.empty() ? Cell() : Cell(longer.front().name),
                        longer.empty() ? Cell() : Cell(Share{longer.front().share}),
                        longer.empty() ? Cell() : text_or_none(longer.front().caller),
                        longer.empty() ? Cell() : text_or_none(longer.front().inlined),
                        e.knows_off ? Cell(Seconds{losses.blocked_ns}) : Cell(),
                        Seconds{losses.threads_ns},
                        Seconds{losses.threads_preempted_ns},
                        e.code.of_threads ? Cell(e.code.of_threads->name) : Cell(),
                        e.code.of_threads ? Cell(Share{e.code.of_threads->share}) : Cell(),
                        s.page_faults,
                        s.peers_page_faults,
                        e.knows_off ? Cell(s.migrations) : Cell(),
                        e.knows_off ? Cell(s.peers_migrations) : Cell(),
                        text_or_none(std::string(missed(e))),
                        rate(e.cache_misses, &MissRate::own),
                        rate(e.cache_misses, &MissRate::peers),
                        rate_error(e.cache_misses),
                        rate(e.branch_misses, &MissRate::own),
                        rate(e.branch_misses, &MissRate::peers),
                        rate_error(e.branch_misses),
                        costliest(s.costliest_rank),
                        costliest(Seconds{s.costliest_ns}),
                        costliest(Seconds{s.costliest_begin_ns}),
                        costliest(Seconds{s.costliest_begin_ns + s.costliest_length_ns}),
                        s.ranks,
                        s.nodes,
                        s.occurrences,
                        s.slow_ranks,
                        s.slowest_rank < 0 ? Cell() : Cell(s.slowest_rank),
                        s.fastest_rank < 0 ? Cell() : Cell(s.fastest_rank),
                        Share{static_cast<double>(s.fastest_time) * 1e-9},
                        share_or_none(e.persistent),
                        share_or_none(e.persistent_nodes),
                        e.headline(),
                        e.sentence(profile, trace)});
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

/// What would have to be recorded to know more.
void add_missing(const model::Profile& profile, const std::vector<Explanation>& explanations, Document& document)
{
    const bool any_compared =
        std::ranges::any_of(explanations, [](const Explanation& e) { return e.stretch->compared > 0; });
    if (std::ranges::any_of(explanations, [](const Explanation& e) { return e.untold && e.untold->by_nothing; }))
        document.notes.emplace_back("Which of instructions, cycles per instruction and frequency it is cannot be told "
                                    "where nothing counts them: sample cycles, which count instructions and cache "
                                    "misses, too, or record with --counters PAPI_TOT_INS,PAPI_TOT_CYC.");
    if (std::ranges::any_of(explanations, [](const Explanation& e) {
            return e.has_slow_instructions() && e.stretch->cache_misses_ns == 0;
        }))
        document.notes.emplace_back(
            "Whether slow instructions miss caches is not known: record with --events "
            "instructions,cache-misses,branch-misses, long enough for 20 samples at the place.");
    if (any_compared && !knows_time_off_processor(profile))
        document.notes.push_back(
            fmt::format("Time without a processor is not known, and counts as time on it: the trace has {}.",
                        !has_samples(profile) ? "no samples" : "only samples that timers took (cpu-timer)"));
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
    const auto path = profile.facts.find("path_ns");
    const std::int64_t path_ns = path == profile.facts.end() ? 0 : path->second;
    const double share = path_ns > 0 ? static_cast<double>(shown_ns) / static_cast<double>(path_ns) : 0;

    const Beside beside = beside_computation(profile);
    const Computation computation = computation_of(profile);

    Document document;
    document.view = "explain";
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
        {"mpi_blocked_path_seconds", "", Seconds{beside.blocked_ns}},
    };
    document.tables.push_back(explanation_table(profile, explanations, request.trace_name));
    for (std::size_t i = 0; i < explanations.size(); ++i)
        document.paragraphs.push_back({fmt::format("{}: {}", i + 1, explanations[i].headline()),
                                       explanations[i].sentence(profile, request.trace_name)});
    document.notes.push_back(fmt::format("{} of {} stretches of computation shown: {} % of the critical path ({}).",
                                         count_text(explanations.size()), count_text(all), percent_text(share),
                                         duration_text(path_ns)));
    if (std::string rest = computation.sentence(request.trace_name); !rest.empty())
        document.notes.push_back(std::move(rest));
    if (std::string rest = beside.sentence(); !rest.empty())
        document.notes.push_back(std::move(rest));
    if (std::optional<std::string> note = blocked_note(profile))
        document.notes.push_back(std::move(*note));
    add_missing(profile, explanations, document);
    add_clocks(document, profile);
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
