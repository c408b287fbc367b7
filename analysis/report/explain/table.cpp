// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/explain/table.hpp"

#include "analysis/report/explain/misses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

/// What a row is made of.
struct Shown {
    const model::Profile& profile;
    std::string_view trace;
    std::int64_t number;  // from 1 on
    const Explanation& e;
    const model::Stretch& s;
    std::vector<FunctionShare> longer;
    Losses losses;
};

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
    if (e.stretch->compared == 0 || e.takes_turns)
        return {};
    const double excess = e.verdict == Verdict::Unequal ? e.slowest_by_fastest() - 1 : e.excess;
    return excess < by_times_from ? fmt::format("{:+.1f} %", excess * 100) : fmt::format("x {:.1f}", excess + 1);
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
    constexpr std::string_view names[] = {"both calls", "call after", "call before", "lap", "collectives"};
    return s.compared > 0 ? Cell(std::string(names[static_cast<std::size_t>(s.compared_by)])) : Cell();
}

Cell known(const Shown& x, Factor factor, std::int64_t ns)
{
    return x.e.knows(factor) ? Cell(Seconds{ns}) : Cell();
}

Cell error_or_none(std::int64_t ns)
{
    return ns > 0 ? Cell(Seconds{ns}) : Cell();
}

/// Of one time nobody knows what others are like.
Cell spread(const Shown& x, std::int64_t ns)
{
    return x.s.compared > 1 ? Cell(Seconds{ns}) : Cell();
}

Cell compared(const Shown& x, std::int64_t ns)
{
    return x.s.compared > 0 ? Cell(Seconds{ns}) : Cell();
}

Cell off(const Shown& x, std::int64_t ns)
{
    return x.e.knows_off ? compared(x, ns) : Cell();
}

Cell costliest(const Shown& x, Cell cell)
{
    return x.s.costliest_rank >= 0 ? std::move(cell) : Cell();
}

template <typename Of>
Cell in_part(const Shown& x, Of of)
{
    return x.e.part_of_run ? Cell(of(*x.e.part_of_run)) : Cell();
}

std::string place(const Shown& x)
{
    return fmt::format("{} .. {}", x.e.is_at_start() ? "start" : x.profile.row(x.s.before).name,
                       x.profile.row(x.s.after).name);
}

/// A column, and what it has of a stretch.
struct StretchColumn {
    Column column;
    std::function<Cell(const Shown& x)> cell;
};

const StretchColumn first_columns[] = {
    {{"stretch", "No"}, [](const Shown& x) -> Cell { return x.number; }},
    {{"path_seconds", "Path s"}, [](const Shown& x) -> Cell { return Seconds{x.s.path_ns}; }},
    {{"path_percent", "Path %"}, [](const Shown& x) -> Cell { return Share{x.e.path_share}; }},
    {{"rank", "Rank"}, [](const Shown& x) -> Cell { return static_cast<std::int64_t>(x.e.rank); }},
    {{"rank_percent", "on it %", Align::Right, Fit::Whole, 0, Spare::First},
     [](const Shown& x) -> Cell { return Share{x.e.rank_share}; }},
    {{"", "Longer"}, [](const Shown& x) -> Cell { return change_cell(x.e); }},
    {{"excess_percent", ""},
     [](const Shown& x) -> Cell { return x.s.compared > 0 && !x.e.takes_turns ? Cell(Share{x.e.excess}) : Cell(); }},
    {{"verdict", "Verdict", Align::Left}, [](const Shown& x) -> Cell { return std::string(name(x.e.verdict)); }},
    // It is said below the table, too.
    {{"", "Place", Align::Left, Fit::Middle, 0, Spare::Then}, [](const Shown& x) -> Cell { return place(x); }},
    {{"cause", ""}, [](const Shown& x) -> Cell { return x.e.cause ? Cell(std::string(name(*x.e.cause))) : Cell(); }},
    {{"cause_rank", ""},
     [](const Shown& x) -> Cell { return x.e.named ? Cell(static_cast<std::int64_t>(x.e.named->rank)) : Cell(); }},
    {{"caller", ""}, [](const Shown& x) -> Cell { return x.e.caller; }},
    {{"from", ""}, [](const Shown& x) -> Cell { return x.e.before; }},
    {{"from_site", ""}, [](const Shown& x) -> Cell { return text_or_none(x.e.before_site); }},
    {{"to", ""}, [](const Shown& x) -> Cell { return x.e.after; }},
    {{"to_site", ""}, [](const Shown& x) -> Cell { return text_or_none(x.e.after_site); }},
    {{"function", ""}, [](const Shown& x) -> Cell { return function_name(x.e, 0); }},
    {{"function_percent", ""}, [](const Shown& x) -> Cell { return function_share(x.e, 0); }},
    {{"function_caller", ""}, [](const Shown& x) -> Cell { return function_caller(x.e, 0); }},
    {{"function_inlined", ""}, [](const Shown& x) -> Cell { return function_inlined(x.e, 0); }},
    {{"second_function", ""}, [](const Shown& x) -> Cell { return function_name(x.e, 1); }},
    {{"second_function_percent", ""}, [](const Shown& x) -> Cell { return function_share(x.e, 1); }},
    {{"second_function_caller", ""}, [](const Shown& x) -> Cell { return function_caller(x.e, 1); }},
    {{"second_function_inlined", ""}, [](const Shown& x) -> Cell { return function_inlined(x.e, 1); }},
    {{"third_function", ""}, [](const Shown& x) -> Cell { return function_name(x.e, 2); }},
    {{"third_function_percent", ""}, [](const Shown& x) -> Cell { return function_share(x.e, 2); }},
    {{"third_function_caller", ""}, [](const Shown& x) -> Cell { return function_caller(x.e, 2); }},
    {{"third_function_inlined", ""}, [](const Shown& x) -> Cell { return function_inlined(x.e, 2); }},
    {{"node", ""}, [](const Shown& x) -> Cell { return x.e.node; }},
    {{"node_percent", ""}, [](const Shown& x) -> Cell { return Share{x.e.node_share}; }},
    {{"ranks_on_path", ""}, [](const Shown& x) -> Cell { return static_cast<std::int64_t>(x.e.ranks_on_path); }},
    {{"gaps", ""}, [](const Shown& x) -> Cell { return x.s.gaps; }},
    {{"gaps_looked_at", ""}, [](const Shown& x) -> Cell { return x.s.looked_at; }},
    {{"most_gain_percent", ""},
     [](const Shown& x) -> Cell { return x.e.most_gain ? Cell(Share{*x.e.most_gain}) : Cell(); }},
    {{"others_at_work_percent", ""},
     [](const Shown& x) -> Cell { return x.e.others_at_work ? Cell(Share{*x.e.others_at_work}) : Cell(); }},
    {{"most_times", ""}, [](const Shown& x) -> Cell { return x.s.most_times; }},
    {{"most_times_rank", ""}, [](const Shown& x) -> Cell { return x.s.most_times_rank; }},
    {{"mean_times", ""},
     [](const Shown& x) -> Cell { return x.s.ranks_there > 1 ? Cell(Ratio{x.e.mean_times_of_others()}) : Cell(); }},
    {{"compared_by", ""}, [](const Shown& x) -> Cell { return compared_by(x.s); }},
    {{"compared_gaps", ""}, [](const Shown& x) -> Cell { return x.s.compared; }},
    {{"counted_gaps", ""}, [](const Shown& x) -> Cell { return x.s.counted; }},
    {{"counted_instructions_gaps", ""}, [](const Shown& x) -> Cell { return x.s.counted_instructions; }},
    {{"counted_cycles_gaps", ""}, [](const Shown& x) -> Cell { return x.s.counted_cycles; }},
    {{"sampled_gaps", ""}, [](const Shown& x) -> Cell { return x.s.sampled; }},
    {{"telling_gaps", ""}, [](const Shown& x) -> Cell { return x.s.telling; }},
    {{"slowest_gaps", ""}, [](const Shown& x) -> Cell { return x.s.slowest; }},
    {{"much_longer_gaps", ""}, [](const Shown& x) -> Cell { return x.s.much_longer; }},
    {{"longer_rank", ""},
     [](const Shown& x) -> Cell {
         return x.e.longer_share > 0 ? Cell(static_cast<std::int64_t>(x.e.longer_rank)) : Cell();
     }},
    {{"longer_rank_percent", ""}, [](const Shown& x) -> Cell { return Share{x.e.longer_share}; }},
    {{"other_rank", ""},
     [](const Shown& x) -> Cell { return x.e.other ? Cell(static_cast<std::int64_t>(x.e.other->rank)) : Cell(); }},
    {{"other_rank_percent", ""},
     [](const Shown& x) -> Cell { return x.e.other ? Cell(Share{x.e.other->share}) : Cell(); }},
    {{"other_cause", ""},
     [](const Shown& x) -> Cell { return x.e.other ? Cell(std::string(name(*x.e.other->cause))) : Cell(); }},
    {{"second_cause", ""},
     [](const Shown& x) -> Cell { return x.e.second ? Cell(std::string(name(*x.e.second))) : Cell(); }},
    {{"compared_seconds", ""}, [](const Shown& x) -> Cell { return compared(x, x.s.compared_ns); }},
    {{"peers_seconds", ""}, [](const Shown& x) -> Cell { return compared(x, x.s.peers_ns); }},
    {{"instructions_seconds", ""},
     [](const Shown& x) -> Cell { return known(x, Factor::Instructions, x.s.instructions_ns); }},
    {{"cycles_per_instruction_seconds", ""},
     [](const Shown& x) -> Cell { return known(x, Factor::Cycles, x.s.cycles_ns); }},
    {{"frequency_seconds", ""}, [](const Shown& x) -> Cell { return known(x, Factor::Frequency, x.s.frequency_ns); }},
    {{"time_per_instruction_seconds", ""}, [](const Shown& x) -> Cell { return compared(x, x.s.instruction_time_ns); }},
    {{"cycles_seconds", ""}, [](const Shown& x) -> Cell { return compared(x, x.s.all_cycles_ns); }},
    {{"on_processor_seconds", ""}, [](const Shown& x) -> Cell { return compared(x, x.s.processor_ns); }},
    {{"preempted_seconds", ""}, [](const Shown& x) -> Cell { return off(x, x.s.preempted_ns); }},
    {{"blocked_seconds", ""}, [](const Shown& x) -> Cell { return off(x, x.s.blocked_ns); }},
    {{"instructions_error_seconds", ""},
     [](const Shown& x) -> Cell { return error_or_none(x.s.instructions_error_ns); }},
    {{"cycles_per_instruction_error_seconds", ""},
     [](const Shown& x) -> Cell { return error_or_none(x.s.cycles_error_ns); }},
    {{"frequency_error_seconds", ""}, [](const Shown& x) -> Cell { return error_or_none(x.s.frequency_error_ns); }},
    {{"time_per_instruction_error_seconds", ""},
     [](const Shown& x) -> Cell { return error_or_none(x.s.instruction_time_error_ns); }},
    {{"cycles_error_seconds", ""}, [](const Shown& x) -> Cell { return error_or_none(x.s.all_cycles_error_ns); }},
    {{"work_spread_seconds", ""}, [](const Shown& x) -> Cell { return spread(x, x.s.work_spread_ns); }},
    {{"preempted_spread_seconds", ""},
     [](const Shown& x) -> Cell { return x.e.knows_off ? spread(x, x.s.preempted_spread_ns) : Cell(); }},
    {{"blocked_spread_seconds", ""},
     [](const Shown& x) -> Cell { return x.e.knows_off ? spread(x, x.s.blocked_spread_ns) : Cell(); }},
    {{"untold", ""}, [](const Shown& x) -> Cell { return x.e.untold ? Cell(std::string(x.e.untold->what)) : Cell(); }},
    {{"untold_because", ""}, [](const Shown& x) -> Cell { return x.e.untold ? Cell(x.e.untold->why) : Cell(); }},
    {{"own_preempted_seconds", ""},
     [](const Shown& x) -> Cell { return x.e.knows_off ? Cell(Seconds{x.losses.preempted_ns}) : Cell(); }},
    {{"own_blocked_seconds", ""},
     [](const Shown& x) -> Cell { return x.e.knows_off ? Cell(Seconds{x.s.own_blocked_ns}) : Cell(); }},
    {{"measurement_seconds", ""}, [](const Shown& x) -> Cell { return Seconds{x.losses.measurement_ns}; }},
    {{"not_sampled_seconds", ""}, [](const Shown& x) -> Cell { return Seconds{x.losses.not_sampled_ns}; }},
    {{"longer_function", ""},
     [](const Shown& x) -> Cell { return x.longer.empty() ? Cell() : Cell(x.longer.front().name); }},
    {{"longer_function_percent", ""},
     [](const Shown& x) -> Cell { return x.longer.empty() ? Cell() : Cell(Share{x.longer.front().share}); }},
    {{"longer_function_caller", ""},
     [](const Shown& x) -> Cell { return x.longer.empty() ? Cell() : text_or_none(x.longer.front().caller); }},
    {{"longer_function_inlined", ""},
     [](const Shown& x) -> Cell { return x.longer.empty() ? Cell() : text_or_none(x.longer.front().inlined); }},
    {{"longer_function_with_calls", ""},
     [](const Shown& x) -> Cell {
         return x.longer.empty() ? Cell() : Cell(std::int64_t{x.longer.front().with_calls});
     }},
    {{"function_with_calls", ""},
     [](const Shown& x) -> Cell {
         return x.e.code.functions.empty() ? Cell() : Cell(std::int64_t{x.e.code.functions.front().with_calls});
     }},
    {{"blocked_in", ""},
     [](const Shown& x) -> Cell { return x.e.code.blocked.in ? Cell(x.e.code.blocked.in->name) : Cell(); }},
    {{"blocked_in_percent", ""},
     [](const Shown& x) -> Cell { return x.e.code.blocked.in ? Cell(Share{x.e.code.blocked.in->share}) : Cell(); }},
    {{"blocked_longer_in", ""},
     [](const Shown& x) -> Cell {
         return x.e.code.blocked_longer.in ? Cell(x.e.code.blocked_longer.in->name) : Cell();
     }},
    {{"blocked_longer_in_percent", ""},
     [](const Shown& x) -> Cell {
         return x.e.code.blocked_longer.in ? Cell(Share{x.e.code.blocked_longer.in->share}) : Cell();
     }},
    {{"blocked_otherwise_seconds", ""},
     [](const Shown& x) -> Cell { return x.e.knows_off ? Cell(Seconds{x.losses.blocked_ns}) : Cell(); }},
    {{"threads_seconds", ""}, [](const Shown& x) -> Cell { return Seconds{x.losses.threads_ns}; }},
    {{"threads_preempted_seconds", ""}, [](const Shown& x) -> Cell { return Seconds{x.losses.threads_preempted_ns}; }},
    {{"threads_function", ""},
     [](const Shown& x) -> Cell { return x.e.code.of_threads ? Cell(x.e.code.of_threads->name) : Cell(); }},
    {{"threads_function_percent", ""},
     [](const Shown& x) -> Cell { return x.e.code.of_threads ? Cell(Share{x.e.code.of_threads->share}) : Cell(); }},
    {{"page_faults", ""}, [](const Shown& x) -> Cell { return x.s.page_faults; }},
    {{"peers_page_faults", ""}, [](const Shown& x) -> Cell { return x.s.peers_page_faults; }},
    {{"migrations", ""}, [](const Shown& x) -> Cell { return x.e.knows_off ? Cell(x.s.migrations) : Cell(); }},
    {{"peers_migrations", ""},
     [](const Shown& x) -> Cell { return x.e.knows_off ? Cell(x.s.peers_migrations) : Cell(); }},
    {{"slow_instructions_by", ""}, [](const Shown& x) -> Cell { return text_or_none(std::string(missed(x.e))); }},
    {{"cache_misses_per_1000_instructions", ""},
     [](const Shown& x) -> Cell { return rate(x.e.cache_misses, &MissRate::own); }},
    {{"peers_cache_misses_per_1000_instructions", ""},
     [](const Shown& x) -> Cell { return rate(x.e.cache_misses, &MissRate::peers); }},
    {{"cache_misses_error_percent", ""}, [](const Shown& x) -> Cell { return rate_error(x.e.cache_misses); }},
    {{"branch_misses_per_1000_instructions", ""},
     [](const Shown& x) -> Cell { return rate(x.e.branch_misses, &MissRate::own); }},
    {{"peers_branch_misses_per_1000_instructions", ""},
     [](const Shown& x) -> Cell { return rate(x.e.branch_misses, &MissRate::peers); }},
    {{"branch_misses_error_percent", ""}, [](const Shown& x) -> Cell { return rate_error(x.e.branch_misses); }},
    {{"costliest_rank", ""}, [](const Shown& x) -> Cell { return costliest(x, x.s.costliest_rank); }},
    {{"costliest_longer_seconds", ""}, [](const Shown& x) -> Cell { return costliest(x, Seconds{x.s.costliest_ns}); }},
    {{"costliest_from_seconds", ""},
     [](const Shown& x) -> Cell { return costliest(x, Seconds{x.s.costliest_begin_ns}); }},
    {{"costliest_to_seconds", ""},
     [](const Shown& x) -> Cell { return costliest(x, Seconds{x.s.costliest_begin_ns + x.s.costliest_length_ns}); }},
    {{"part_of_run_from_seconds", ""},
     [](const Shown& x) -> Cell { return in_part(x, [](const PartOfRun& p) { return Seconds{p.begin_ns}; }); }},
    {{"part_of_run_to_seconds", ""},
     [](const Shown& x) -> Cell { return in_part(x, [](const PartOfRun& p) { return Seconds{p.end_ns}; }); }},
    {{"part_of_run_times", ""},
     [](const Shown& x) -> Cell { return in_part(x, [](const PartOfRun& p) { return p.times; }); }},
    {{"part_of_run_much_longer", ""},
     [](const Shown& x) -> Cell { return in_part(x, [](const PartOfRun& p) { return p.much_longer; }); }},
    {{"model_ranks", ""}, [](const Shown& x) -> Cell { return x.s.ranks; }},
    {{"model_nodes", ""}, [](const Shown& x) -> Cell { return x.s.nodes; }},
    {{"model_occurrences", ""}, [](const Shown& x) -> Cell { return x.s.occurrences; }},
    {{"model_not_preempted", ""}, [](const Shown& x) -> Cell { return x.s.not_preempted; }},
    {{"slow_ranks", ""}, [](const Shown& x) -> Cell { return x.s.slow_ranks; }},
    {{"slowest_rank", ""},
     [](const Shown& x) -> Cell { return x.s.slowest_rank < 0 ? Cell() : Cell(x.s.slowest_rank); }},
    {{"fastest_rank", ""},
     [](const Shown& x) -> Cell { return x.s.fastest_rank < 0 ? Cell() : Cell(x.s.fastest_rank); }},
    {{"fastest_rank_percent", ""},
     [](const Shown& x) -> Cell { return Share{static_cast<double>(x.s.fastest_time) * 1e-9}; }},
    {{"persistent_percent", ""}, [](const Shown& x) -> Cell { return share_or_none(x.e.persistent); }},
    {{"persistent_node_percent", ""}, [](const Shown& x) -> Cell { return share_or_none(x.e.persistent_nodes); }},
};

const StretchColumn last_columns[] = {
    {{"headline", ""}, [](const Shown& x) -> Cell { return x.e.headline(); }},
    {{"finding", ""}, [](const Shown& x) -> Cell { return x.e.sentence(x.profile, x.trace); }},
};

/// What else the words say of the place, of how often it is so, and of what may be gained.
const StretchColumn other_columns[] = {
    {{"second_longer_rank", ""},
     [](const Shown& x) -> Cell {
         return x.e.second_longer_share > 0 ? Cell(static_cast<std::int64_t>(x.e.second_longer_rank)) : Cell();
     }},
    {{"second_longer_rank_percent", ""}, [](const Shown& x) -> Cell { return Share{x.e.second_longer_share}; }},
    {{"second_times", ""}, [](const Shown& x) -> Cell { return x.s.second_times; }},
    {{"second_times_rank", ""},
     [](const Shown& x) -> Cell { return x.s.second_times_rank < 0 ? Cell() : Cell(x.s.second_times_rank); }},
    {{"place_apart", ""}, [](const Shown& x) -> Cell { return text_or_none(x.e.apart); }},
    {{"calls_apart", ""}, [](const Shown& x) -> Cell { return text_or_none(x.e.calls_apart); }},
    {{"rank_site", ""},
     [](const Shown& x) -> Cell { return x.e.other_call ? Cell(x.e.other_call->own_site) : Cell(); }},
    {{"rank_from_other_call", ""},
     [](const Shown& x) -> Cell {
         return x.e.other_call ? Cell(static_cast<std::int64_t>(x.e.other_call->rank)) : Cell();
     }},
    {{"other_call_site", ""},
     [](const Shown& x) -> Cell { return x.e.other_call ? Cell(x.e.other_call->site) : Cell(); }},
    {{"takes_turns", ""}, [](const Shown& x) -> Cell { return std::int64_t{x.e.takes_turns}; }},
    {{"of_longer_ranks", ""}, [](const Shown& x) -> Cell { return std::int64_t{x.e.is_of_longer_ranks}; }},
    {{"together_excess_percent", ""},
     [](const Shown& x) -> Cell { return x.e.is_of_longer_ranks ? Cell(Share{x.e.together_excess}) : Cell(); }},
    {{"longer_seconds", ""}, [](const Shown& x) -> Cell { return compared(x, x.e.longer_ns); }},
    {{"could_gain_percent", ""},
     [](const Shown& x) -> Cell { return x.s.compared > 0 ? Cell(Share{x.e.could_gain()}) : Cell(); }},
    {{"page_faults_rank", ""},
     [](const Shown& x) -> Cell {
         return x.e.faults.rank ? Cell(static_cast<std::int64_t>(*x.e.faults.rank)) : Cell();
     }},
    {{"page_faults_on_rank", ""},
     [](const Shown& x) -> Cell { return x.e.faults.rank ? Cell(x.e.faults.own) : Cell(); }},
    {{"peers_page_faults_of_rank", ""},
     [](const Shown& x) -> Cell { return x.e.faults.rank ? Cell(x.e.faults.peers) : Cell(); }},
    {{"blocked_by", ""}, [](const Shown& x) -> Cell { return text_or_none(x.e.code.blocked.by); }},
    {{"blocked_longer_by", ""}, [](const Shown& x) -> Cell { return text_or_none(x.e.code.blocked_longer.by); }},
    {{"blocked_in_seen_percent", ""},
     [](const Shown& x) -> Cell { return x.e.code.blocked.in ? Cell(Share{x.e.code.blocked.seen}) : Cell(); }},
    {{"blocked_longer_in_seen_percent", ""},
     [](const Shown& x) -> Cell {
         return x.e.code.blocked_longer.in ? Cell(Share{x.e.code.blocked_longer.seen}) : Cell();
     }},
};

/// One of the functions of a stretch; nullptr: it has none of these.
using FunctionOf = const FunctionShare* (*)(const Shown& x);

template <std::size_t number>
const FunctionShare* with_most(const Shown& x)
{
    return number < x.e.code.functions.size() ? &x.e.code.functions[number] : nullptr;
}

template <std::size_t number>
const FunctionShare* with_most_of_difference(const Shown& x)
{
    return number < x.longer.size() ? &x.longer[number] : nullptr;
}

const FunctionShare* only(const std::optional<FunctionShare>& function)
{
    return function ? &*function : nullptr;
}

/// What is said of a function, as far as the first columns do not have it.
void add_function(const std::string& key, FunctionOf of, std::vector<StretchColumn>& columns)
{
    const auto is_new = [&](const std::string& name) {
        return std::ranges::none_of(first_columns, [&](const StretchColumn& c) { return c.column.key == name; });
    };
    const auto add = [&](const char* what, Cell (*cell)(const FunctionShare& function)) {
        if (is_new(key + what))
            columns.push_back({{key + what, ""}, [of, cell](const Shown& x) -> Cell {
                                   const FunctionShare* const function = of(x);
                                   return function != nullptr ? cell(*function) : Cell();
                               }});
    };
    add("", [](const FunctionShare& f) -> Cell { return f.name; });
    add("_percent", [](const FunctionShare& f) -> Cell { return Share{f.share}; });
    add("_caller", [](const FunctionShare& f) -> Cell { return text_or_none(f.caller); });
    add("_inlined", [](const FunctionShare& f) -> Cell { return text_or_none(f.inlined); });
    add("_apart", [](const FunctionShare& f) -> Cell { return text_or_none(f.apart); });
    add("_with_calls", [](const FunctionShare& f) -> Cell { return std::int64_t{f.with_calls}; });
}

/// Why a rank takes longer that has a reason of its own.
void add_rank(const std::string& key, const std::optional<RankReason> Explanation::*of,
              std::vector<StretchColumn>& columns)
{
    const auto add = [&](const std::string& what, std::function<Cell(const RankReason& reason, const Shown& x)> cell) {
        columns.push_back({{key + what, ""}, [of, cell = std::move(cell)](const Shown& x) -> Cell {
                               const std::optional<RankReason>& reason = x.e.*of;
                               return reason ? cell(*reason, x) : Cell();
                           }});
    };
    add("_gaps", [](const RankReason& r, const Shown&) -> Cell { return r.gaps; });
    add("_longer_percent", [](const RankReason& r, const Shown&) -> Cell { return Share{r.share}; });
    add("_excess_percent", [](const RankReason& r, const Shown&) -> Cell { return Share{r.excess}; });
    constexpr std::string_view names[factors] = {
        "instructions", "cycles_per_instruction", "frequency", "time_per_instruction",
        "cycles",       "on_processor",           "preempted", "blocked"};
    for (std::size_t i = 0; i < factors; ++i) {
        const bool is_off = Factor(i) == Factor::Preempted || Factor(i) == Factor::Blocked;
        add(fmt::format("_{}_percent", names[i]), [i, is_off](const RankReason& r, const Shown& x) -> Cell {
            return (is_off ? x.e.knows_off : x.e.knows(Factor(i))) ? Cell(Share{r.parts[i]}) : Cell();
        });
        add(fmt::format("_{}_error_percent", names[i]), [i](const RankReason& r, const Shown&) -> Cell {
            return r.errors[i] > 0 ? Cell(Share{r.errors[i]}) : Cell();
        });
    }
}

/// All that the words say. (Commands are words alone.)
std::vector<StretchColumn> stretch_columns()
{
    std::vector<StretchColumn> columns(std::begin(first_columns), std::end(first_columns));
    add_function("function", with_most<0>, columns);
    add_function("second_function", with_most<1>, columns);
    add_function("third_function", with_most<2>, columns);
    add_function("longer_function", with_most_of_difference<0>, columns);
    add_function("second_longer_function", with_most_of_difference<1>, columns);
    add_function("third_longer_function", with_most_of_difference<2>, columns);
    add_function(
        "threads_function", [](const Shown& x) { return only(x.e.code.of_threads); }, columns);
    add_function(
        "blocked_in", [](const Shown& x) { return only(x.e.code.blocked.in); }, columns);
    add_function(
        "blocked_longer_in", [](const Shown& x) { return only(x.e.code.blocked_longer.in); }, columns);
    add_rank("cause_rank", &Explanation::named, columns);
    add_rank("other_rank", &Explanation::other, columns);
    columns.insert(columns.end(), std::begin(other_columns), std::end(other_columns));
    columns.insert(columns.end(), std::begin(last_columns), std::end(last_columns));
    return columns;
}

}  // namespace

Table explanation_table(const model::Profile& profile, const std::vector<Explanation>& explanations,
                        std::string_view trace)
{
    Table table;
    table.key = "stretches";
    const std::vector<StretchColumn> columns = stretch_columns();
    std::ranges::transform(columns, std::back_inserter(table.columns), &StretchColumn::column);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < explanations.size(); ++i) {
        const Explanation& e = explanations[i];
        const Shown shown{profile, trace, static_cast<std::int64_t>(i + 1), e, *e.stretch, e.difference(), e.losses()};
        Row& row = rows.emplace_back();
        std::ranges::transform(columns, std::back_inserter(row),
                               [&](const StretchColumn& of) { return of.cell(shown); });
    }
    table.each_row = rows_of(std::move(rows));
    return table;
}

}  // namespace critpath::report
