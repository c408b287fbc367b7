// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of the code that the path is in: which functions take the time of a stretch, and how much of it
// they take on other threads, which the one on the path waits for.
#include "analysis/model/pseudo_rows.hpp"
#include "analysis/naming/path_tails.hpp"
#include "analysis/report/explain/blocked.hpp"
#include "analysis/report/explain/callers.hpp"
#include "analysis/report/explain/explain.hpp"
#include "analysis/report/explain/subtrees.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/statistics.hpp"
#include "analysis/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr double function_from = 0.1;       // of what all functions take
constexpr double worth_saying = 0.01;       // and of the stretch
constexpr double not_sampled_from = 0.1;    // of the stretch: worth a word
constexpr double threads_lack_from = 0.05;  // of the time that is waited for threads: that they lack a processor
constexpr double same_share_within = 0.1;   // of a time, and of another one
constexpr double error_deviations = 1.96;   // 95 %
constexpr std::string_view unknown_function = "[unknown]";  // samples where nothing was mapped: that is no code

/// What a function takes on the path's own thread, and on those of the peers.
struct Compared {
    const model::Row* row;
    std::int64_t ns, peers_ns;
    double period_ns;     // of the samples that tell; 0 if it is exact
    double peers_period;  // and of those of the peers, as far as `peers_ns` is so many times theirs

    [[nodiscard]] std::int64_t longer_ns() const { return ns - peers_ns; }
    /// Of what it takes longer, ns^2.
    [[nodiscard]] double variance() const
    {
        return period_ns * static_cast<double>(ns) +
               peers_period * std::max(static_cast<double>(peers_ns), peers_period);
    }
    /// `of`: so many are looked at, which all might be longer by chance.
    [[nodiscard]] bool is_certain(std::size_t of) const
    {
        return static_cast<double>(longer_ns()) > deviations_of_all(of) * std::sqrt(variance());
    }
};

struct Part {
    model::StretchCode time;
    std::size_t depth = 0;  // of parts that contain each other, the inner ones have more
};
/// By name; empty: none, or not known.
using Parts = std::map<std::string, Part>;

/// In one stretch, over all call paths.
struct Function {
    const model::Row* row;
    model::StretchCode time;
    Parts by_caller;
    Parts by_inlined;  // of what the path's thread does itself

    [[nodiscard]] std::int64_t own_ns() const { return time.ns - time.spinning_ns - time.blocked_ns; }
};

Compared compared(const model::StretchCode& time, const model::Row& row, const model::Stretch& stretch)
{
    const double period = time.samples > 0 ? static_cast<double>(time.ns) / static_cast<double>(time.samples) : 0;
    return {&row, time.ns - time.spinning_ns - time.blocked_ns, time.peers_ns, period,
            period * static_cast<double>(stretch.gaps) /
                static_cast<double>(std::max<std::int64_t>(stretch.code_gaps, 1))};
}

/// The innermost part in which a function takes most of its time (`whole_ns`), surely more than half of it; empty:
/// none, or not known.
std::string main_part(const Function& function, const Parts& parts, std::int64_t whole_ns)
{
    const bool is_exact = function.row->kind != model::RowKind::Sampled;
    const auto samples = static_cast<double>(function.time.samples);
    std::string found;
    std::size_t depth = 0;
    for (const auto& [name, of] : parts)
        if (const double share = part(of.time.ns, whole_ns);
            !name.empty() && share >= mostly_from && (found.empty() || of.depth > depth) &&
            (is_exact || (samples > 0 && score_interval(share, samples).low >= most_from))) {
            found = name;
            depth = of.depth;
        }
    return found;
}

/// Likewise, most of what it takes longer than on the peers.
std::string part_of_difference(const Function& function, const Parts& parts, const model::Stretch& stretch)
{
    const std::int64_t longer_ns = compared(function.time, *function.row, stretch).longer_ns();
    std::vector<std::tuple<std::size_t, std::int64_t, std::string>> most;  // by depth, then by what it takes longer
    std::int64_t least_ns = longer_ns;
    for (const auto& [name, of] : parts)
        if (const Compared c = compared(of.time, *function.row, stretch); c.is_certain(parts.size())) {
            most.emplace_back(of.depth, c.longer_ns(), name);
            least_ns = std::max(least_ns, c.longer_ns());
        }
    std::erase_if(most, [&](const auto& of) { return part(std::get<1>(of), least_ns) < mostly_from; });
    return most.empty() ? std::string() : std::get<2>(*std::ranges::max_element(most));
}

/// What tells it from the others of its name among `all`; empty if there are none. Libraries may be called alike, too.
std::string apart_of(const model::Row& function, const std::vector<const model::Row*>& all)
{
    std::set<std::string> modules;
    bool is_one = true;
    for (const model::Row* other : all) {
        if (other->name != function.name)
            continue;
        modules.insert(other->module);
        is_one = is_one && other == &function;
    }
    if (modules.size() > 1)
        return naming::path_tails(modules).at(function.module);
    return is_one ? std::string() : std::string(basename(function.file));
}

/// `all` functions of the stretch.
FunctionShare share_of(const Function& function, double share, const std::vector<Function>& all, std::string caller,
                       std::string inlined)
{
    FunctionShare result{function.row->name, share, std::move(caller), std::move(inlined)};
    std::vector<const model::Row*> rows;
    for (const Function& other : all)
        rows.push_back(other.row);
    result.apart = apart_of(*function.row, rows);
    return result;
}

void add_longer(const std::vector<Function>& functions, const model::Stretch& stretch, Code& code)
{
    struct Longer {
        const Function* function;
        Compared compared;
        [[nodiscard]] std::int64_t ns() const { return compared.longer_ns(); }
    };
    std::vector<Longer> all;
    double variance = 0;
    for (const Function& function : functions) {
        all.push_back({&function, compared(function.time, *function.row, stretch)});
        code.longer_ns += all.back().ns();
        variance += all.back().compared.variance();
    }
    code.longer_error_ns = std::llround(error_deviations * std::sqrt(variance));
    if (code.longer_ns <= 0)
        return;
    std::ranges::stable_sort(all, std::ranges::greater(), &Longer::ns);
    // What is too little to be named cannot be so by chance either.
    const auto looked_at = static_cast<std::size_t>(std::ranges::count_if(all, [&](const Longer& longer) {
        return part(longer.compared.ns + longer.compared.peers_ns, code.longer_ns) >= function_from;
    }));
    for (const Longer& longer : all) {
        const double share = part(longer.ns(), code.longer_ns);
        if (code.longer.size() < most_named && share >= function_from && longer.compared.is_certain(looked_at))
            code.longer.push_back(share_of(*longer.function, share, functions,
                                           part_of_difference(*longer.function, longer.function->by_caller, stretch),
                                           part_of_difference(*longer.function, longer.function->by_inlined, stretch)));
    }
}

/// What page faults can be of what it takes longer, at most: each of them takes about as long, wherever it is, so that
/// no function with many of them takes longer by less than these take. A count stands where the next sample is, mostly
/// in the same function. `faults`: by function, of all of the path; 1 if those are mostly elsewhere.
double most_by_faults(const std::map<std::string_view, std::int64_t>& faults, const model::Stretch& stretch,
                      const std::vector<Function>& functions, std::int64_t longer_ns)
{
    constexpr double mostly_here = 0.8, many = 0.25;
    std::int64_t all = 0;
    for (const auto& [name, count] : faults)
        all += count;
    double most = 1;
    for (const Function& function : functions) {
        const auto found = faults.find(function.row->name);
        const double share = found == faults.end() ? 0 : part(found->second, all);
        if (share < many)
            continue;
        const Compared c = compared(function.time, *function.row, stretch);
        const double longer = static_cast<double>(c.longer_ns()) + error_deviations * std::sqrt(c.variance());
        most = std::min(most, std::max(longer, 0.0) / (share * static_cast<double>(longer_ns)));
    }
    return part(stretch.page_faults, all) >= mostly_here ? most : 1;
}

/// The functions that have most of their time on the path in other stretches. Their page faults may be there, and some
/// are counted for them that somebody else had since the sample before.
std::vector<std::string_view> mostly_elsewhere(const model::Profile& profile, const std::vector<Function>& functions)
{
    std::map<std::string_view, std::int64_t> on_path;
    for (const model::CallPathTime& time : profile.path)
        on_path[profile.row(time.call_path).name] += time.ns;
    std::map<std::string_view, std::int64_t> here;
    for (const Function& function : functions)
        here[function.row->name] += function.time.ns;
    std::vector<std::string_view> result;
    for (const auto& [name, ns] : here)
        if (2 * ns < on_path[name])
            result.push_back(name);
    return result;
}

/// Whether page faults cannot be most of that; or most of it is in functions that have not even half as large a part of
/// the stretch's page faults, though they had all of their own there.
bool is_longer_without_faults(const model::Profile& profile, const model::Stretch& stretch,
                              const std::vector<Function>& functions, std::int64_t longer_ns,
                              const std::vector<FunctionShare>& longer)
{
    std::map<std::string_view, std::int64_t> faults;  // by function, on all of the path
    for (const model::EventCount& count : profile.path_events)
        if (profile.events[count.event] == "page-faults")
            faults[profile.row(count.call_path).name] += count.count;
    for (const std::string_view elsewhere : mostly_elsewhere(profile, functions))
        faults.erase(elsewhere);
    if (faults.empty())
        return false;
    if (most_by_faults(faults, stretch, functions, longer_ns) < most_from)
        return true;
    std::int64_t seen = 0;  // others may have been counted for functions of other stretches
    for (const Function& function : functions)
        if (const auto found = faults.find(function.row->name); found != faults.end())
            seen += found->second;
    seen = std::min(seen, stretch.page_faults);
    double with = 0, without = 0;
    for (const FunctionShare& function : longer)
        (2 * part(faults[function.name], seen) >= function.share ? with : without) += function.share;
    return without > with;
}

/// What code of a stretch says by samples of the path's thread while that had a processor. The rest is known exactly.
std::int64_t sampled_ns(const model::Profile& profile, const model::StretchCode& c)
{
    const std::string& name = profile.row(c.call_path).name;
    const bool is_off = name == model::pseudo::preempted || name == model::pseudo::blocked;
    return is_off ? c.spinning_ns : c.ns - c.blocked_ns;
}

/// What may have had no processor, as far as anybody knows, of what samples leave of a stretch; 0 if that is little, or
/// no more than chance leaves: of the samples that it should have, about a square root more or less.
std::int64_t not_sampled_ns(const model::Profile& profile, std::size_t stretch)
{
    std::int64_t known_ns = 0;
    std::uint64_t samples = 0;  // in it
    double all_ns = 0, all_samples = 0;
    for (const model::StretchCode& c : profile.stretch_code) {
        known_ns += c.stretch == stretch ? c.ns : 0;
        samples += c.stretch == stretch ? c.samples : 0;
        all_ns += static_cast<double>(sampled_ns(profile, c));
        all_samples += static_cast<double>(c.samples);
    }
    if (samples == 0)
        return 0;
    const std::int64_t path_ns = profile.stretches[stretch].path_ns;
    const std::int64_t left_ns = path_ns - known_ns;
    const double expected = static_cast<double>(path_ns) * all_samples / std::max(all_ns, 1.0);
    if (part(left_ns, path_ns) * expected <= error_deviations * std::sqrt(expected))
        return 0;
    const std::int64_t ns = std::min(left_ns, most_unsampled_off_processor_ns(profile));
    return part(ns, path_ns) >= not_sampled_from ? ns : 0;
}

/// A sample stands for the time to the one before. In short gaps, samples may stand for more than the time that the
/// thread had a processor there, since much of what they tell of lies elsewhere: they have it in proportion.
class SampleFit
{
public:
    SampleFit(const model::Profile& profile, std::size_t stretch)
    {
        std::int64_t exact_ns = 0;
        for (const model::StretchCode& c : profile.stretch_code)
            if (c.stretch == stretch) {
                all_ns_ += sampled_ns(profile, c);
                exact_ns += c.ns - sampled_ns(profile, c);
            }
        at_most_ns_ = std::max<std::int64_t>(profile.stretches[stretch].path_ns - exact_ns, 0);
    }
    [[nodiscard]] std::int64_t operator()(std::int64_t ns) const
    {
        return all_ns_ <= at_most_ns_ ? ns : scaled(ns, at_most_ns_, all_ns_);
    }

private:
    std::int64_t all_ns_ = 0, at_most_ns_ = 0;
};

/// Factors of the time on the processor: what these add to the time of the peers.
std::int64_t on_processor_ns(const model::Stretch& s)
{
    return s.instructions_ns + s.cycles_ns + s.frequency_ns + s.instruction_time_ns + s.all_cycles_ns + s.processor_ns;
}

std::string listed(const std::vector<FunctionShare>& functions)
{
    std::vector<std::string> words;
    for (const FunctionShare& function : functions) {
        const std::string from = function.caller.empty() ? "" : ", from " + function.shown.caller;
        const std::string inlined = function.inlined.empty() ? "" : ", mostly " + function.shown.inlined + ", inlined";
        const char* const calls = function.with_calls ? " with what it calls" : "";
        words.push_back(
            fmt::format("{}{} ({}{}{})", function.shown.name, calls, whole_percent(function.share), from, inlined));
    }
    const std::string last = words.back();
    words.pop_back();
    return words.empty() ? last : fmt::format("{} and {}", fmt::join(words, ", "), last);
}

/// Nothing of what stands for no code.
bool is_code(const model::Row& row)
{
    return row.kind != model::RowKind::Pseudo && row.name != unknown_function;
}

/// The one that is named for what a call path ends in: its caller of the application, if that is known.
const model::Row& named_function(const model::Profile& profile, const Callers& callers, model::CallPathId call_path)
{
    const std::optional<Caller> caller = callers.of(call_path);
    return caller ? *caller->function : profile.row(call_path);
}

/// What a call path of `[preempted]` or `[blocked]` was in; else it itself.
model::CallPathId without_pseudo(const model::Profile& profile, model::CallPathId call_path)
{
    const model::CallPathId parent = profile.call_paths[call_path.value].parent;
    return profile.row(call_path).kind == model::RowKind::Pseudo && parent.valid() ? parent : call_path;
}

/// The function with most of these times, if that is a notable part of `whole_ns`.
std::optional<FunctionShare> function_with_most(const std::map<const model::Row*, std::int64_t>& times,
                                                std::int64_t whole_ns)
{
    const model::Row* most = nullptr;
    for (const auto& [row, ns] : times)
        if (most == nullptr || std::tuple(ns, most->name) > std::tuple(times.at(most), row->name))
            most = row;
    if (most == nullptr || part(times.at(most), whole_ns) < function_from)
        return std::nullopt;
    return FunctionShare{most->name, part(times.at(most), whole_ns)};
}

/// Where the threads that are waited for are more of that time than elsewhere, with a processor or without.
std::optional<FunctionShare> function_of_threads(const model::Profile& profile, std::size_t stretch,
                                                 const Callers& callers, const SampleFit& fit, std::int64_t threads_ns)
{
    std::map<const model::Row*, std::int64_t> functions;
    for (const model::StretchCode& c : profile.stretch_code) {
        if (c.stretch != stretch)
            continue;
        const bool lacks = profile.row(c.call_path).name == model::pseudo::preempted;
        const model::CallPathId in = lacks ? without_pseudo(profile, c.call_path) : c.call_path;
        if (is_code(profile.row(in)))
            functions[&named_function(profile, callers, in)] += fit(c.spinning_ns) + c.blocked_ns;
    }
    return function_with_most(functions, threads_ns);
}

/// `all` functions of the stretch.
void add_short_names(const std::vector<Function>& all, Code& code)
{
    std::set<std::string> names;
    for (const Function& function : all) {
        names.insert(printable(function.row->name));
        for (const Parts* parts : {&function.by_caller, &function.by_inlined})
            for (const auto& [name, of] : *parts)
                names.insert(printable(name));
    }
    for (const auto* shares : {&code.functions, &code.longer})
        for (const FunctionShare& share : *shares)
            names.insert(printable(share.name));
    for (const auto* share : {&code.of_threads, &code.blocked.in, &code.blocked_longer.in})
        if (*share) {
            names.insert(printable((*share)->name));
            names.insert(printable((*share)->caller));
        }
    const std::map<std::string, std::string> shown = shorten_names(names, sentence_name_width);
    const std::map<std::string, std::string> headline = shorten_names(names, headline_name_width);
    const auto short_names = [](const FunctionShare& function, const std::map<std::string, std::string>& in) {
        const auto shortened = [&](const std::string& name) { return name.empty() ? name : in.at(printable(name)); };
        ShortNames result{shortened(function.name), shortened(function.caller), shortened(function.inlined)};
        if (!function.apart.empty())
            result.name += fmt::format(" [{}]", printable(function.apart));
        return result;
    };
    const auto add = [&](FunctionShare& function) {
        function.shown = short_names(function, shown);
        function.headline = short_names(function, headline);
    };
    std::ranges::for_each(code.functions, add);
    std::ranges::for_each(code.longer, add);
    for (auto* share : {&code.of_threads, &code.blocked.in, &code.blocked_longer.in})
        if (*share)
            add(**share);
}

/// To what is inlined at an address of a row; the function itself is around all of it, at a depth of `outer` - 1.
void add_inlined(const model::Row& row, std::uint64_t address, const InlinedAt& inlined_at, std::size_t outer,
                 const model::StretchCode& time, Parts& parts)
{
    std::vector<std::string> inlined = inlined_at(row, address);
    std::ranges::reverse(inlined);
    for (std::size_t i = 0; i < inlined.size(); ++i) {
        if (inlined[i] == row.name)
            continue;  // into itself: it has that already
        Part& of = parts[inlined[i]];
        of.depth = std::max(of.depth, outer + i);
        of.time.add(time);
    }
}

/// In the order of rows.
std::vector<Function> functions_of(const model::Profile& profile, std::size_t stretch, const Callers& callers,
                                   const InlinedAt& inlined_at)
{
    std::map<model::RowId, Function> functions;
    for (const model::StretchCode& c : profile.stretch_code) {
        const model::Row& row = profile.row(c.call_path);
        if (c.stretch != stretch || !is_code(row))
            continue;
        Function& function = functions[profile.row_of(c.call_path)];
        function.row = &row;
        function.time.add(c);
        const std::optional<Caller> caller = callers.of(c.call_path);
        function.by_caller[caller ? caller->function->name : ""].time.add(c);
        if (caller && caller->site != 0 && inlined_at)
            add_inlined(*caller->function, caller->site, inlined_at, 1, c, function.by_caller);
    }
    for (const model::StretchAddress& at : profile.stretch_addresses) {
        const auto function = functions.find(at.row);
        if (at.stretch != stretch || !inlined_at || function == functions.end())
            continue;
        // What is inlined in a library says less than who calls it.
        if (!callers.is_own(profile.rows[at.row.value]))
            continue;
        add_inlined(profile.rows[at.row.value], at.address, inlined_at, 0,
                    {0, {}, at.ns, at.samples, 0, 0, at.peers_ns}, function->second.by_inlined);
    }
    std::vector<Function> result;
    for (auto& [row, function] : functions)
        result.push_back(std::move(function));
    return result;
}

/// Puts the function in front that has `share` of a time with what it calls, in place of those that it calls; but if
/// most of what functions have of that, `of_functions`, is itself, that is said already.
void put_in_front(const Subtree& subtree, double share, double of_functions, const std::set<std::string>& inside,
                  std::vector<FunctionShare>& functions)
{
    const auto itself = std::ranges::find(functions, subtree.function->name, &FunctionShare::name);
    if (itself != functions.end() && itself->share >= mostly_from * of_functions)
        return;
    std::erase_if(functions, [&](const FunctionShare& f) { return inside.contains(f.name); });
    functions.resize(std::min(functions.size(), most_named - 1));
    FunctionShare whole{subtree.function->name, share};
    whole.with_calls = true;
    functions.insert(functions.begin(), std::move(whole));
}

/// Where functions that are worth a word are too little of a time to say what it is, or most of them are of libraries,
/// the innermost function of the application that has most of it with what it calls, or what that calls of a library.
void name_common_callers(const model::Profile& profile, std::size_t stretch, const Callers& callers,
                         std::int64_t functions_ns, const SampleFit& fit, Code& code)
{
    const model::Stretch& s = profile.stretches[stretch];
    Subtrees subtrees(profile, stretch, callers);
    for (const model::StretchCode& c : profile.stretch_code)
        if (c.stretch == stretch && is_code(profile.row(c.call_path)))
            subtrees.add(c.call_path, c);
    const auto inside = [&](const Subtree& subtree) {
        std::set<std::string> names;
        for (const model::StretchCode& c : profile.stretch_code)
            if (c.stretch == stretch && subtrees.is_inside(c.call_path, *subtree.function))
                names.insert(profile.row(c.call_path).name);
        return names;
    };
    // With the time that it had no processor meanwhile, as call trees have it.
    const auto all_inside_ns = [&](const Subtree& subtree) {
        std::int64_t by_samples = 0, exact = 0;
        for (const model::StretchCode& c : profile.stretch_code)
            if (c.stretch == stretch && subtrees.is_inside(c.call_path, *subtree.function)) {
                by_samples += sampled_ns(profile, c);
                exact += c.ns - sampled_ns(profile, c);
            }
        return fit(by_samples) + exact;
    };
    const auto sum = [](const std::vector<FunctionShare>& functions) {
        double all = 0;
        for (const FunctionShare& function : functions)
            all += function.share;
        return all;
    };
    // One that has half of it says what it is, and its caller is named with it.
    const auto is_spread_over_libraries = [&](const std::vector<FunctionShare>& functions) {
        return !functions.empty() && functions.front().share < most_from &&
               std::ranges::none_of(profile.stretch_code, [&](const model::StretchCode& c) {
                   const model::Row& row = profile.row(c.call_path);
                   return c.stretch == stretch && row.name == functions.front().name && callers.is_of_application(row);
               });
    };
    const auto most_of = [&](const std::function<bool(const Subtree&)>& is_most) {
        const Subtree* const of_application = subtrees.innermost(is_most);
        return of_application != nullptr ? of_application : subtrees.innermost_called(is_most);
    };
    if (sum(code.functions) < most_from || is_spread_over_libraries(code.functions)) {
        const Subtree* const most = most_of([&](const Subtree& of) {
            const double share = part(of.time.ns, functions_ns);
            return share >= mostly_from &&
                   score_interval(share, static_cast<double>(of.time.samples) / share).low >= most_from;
        });
        if (most != nullptr)
            put_in_front(*most, part(all_inside_ns(*most), s.path_ns),
                         part(fit(most->time.ns - most->time.blocked_ns) + most->time.blocked_ns, s.path_ns),
                         inside(*most), code.functions);
    }
    if (code.longer_ns > 0 && (sum(code.longer) < mostly_from || is_spread_over_libraries(code.longer))) {
        const auto longer = [&](const Subtree& of) { return compared(of.time, *of.function, s); };
        const std::size_t looked_at = subtrees.count([&](const Subtree& of) {
            return part(longer(of).ns + longer(of).peers_ns, code.longer_ns) >= mostly_from;
        });
        const Subtree* const most = most_of([&](const Subtree& of) {
            return part(longer(of).longer_ns(), code.longer_ns) >= mostly_from && longer(of).is_certain(looked_at);
        });
        if (most != nullptr) {
            const double share = part(longer(*most).longer_ns(), code.longer_ns);
            put_in_front(*most, share, share, inside(*most), code.longer);
        }
    }
}

}  // namespace

Code code_of(const model::Profile& profile, std::size_t stretch, const InlinedAt& inlined_at)
{
    Code code;
    const SampleFit fit(profile, stretch);
    std::int64_t all_ns = 0;
    std::uint64_t samples = 0;
    std::int64_t measured_ns = 0;
    for (const model::StretchCode& c : profile.stretch_code) {
        if (c.stretch != stretch)
            continue;
        all_ns += c.ns;
        samples += c.samples;
        code.sampled_spinning_ns += c.spinning_ns;
        code.spinning_ns += fit(c.spinning_ns);
        code.blocked_ns += c.blocked_ns;
        if (profile.row(c.call_path).name == model::pseudo::measurement)
            measured_ns += c.ns - c.spinning_ns - c.blocked_ns;
        if (profile.row(c.call_path).name == model::pseudo::preempted) {
            code.preempted_ns += fit(c.spinning_ns) + c.blocked_ns;
            code.preempted_while_blocked_ns += c.blocked_ns;
        }
    }
    const Callers callers(profile, profile.stretches[stretch]);
    std::vector<Function> functions = functions_of(profile, stretch, callers, inlined_at);
    if (profile.stretches[stretch].code_gaps > 0)
        add_longer(functions, profile.stretches[stretch], code);
    if (has_more_faults(profile.stretches[stretch]) && !code.longer.empty())
        code.longer_without_faults =
            is_longer_without_faults(profile, profile.stretches[stretch], functions, code.longer_ns, code.longer);
    const std::int64_t path_ns = profile.stretches[stretch].path_ns;
    code.not_sampled_ns = not_sampled_ns(profile, stretch);
    if (!could_be_missed(part(measured_ns, all_ns), static_cast<double>(samples)))
        code.measurement_ns = fit(measured_ns);
    std::int64_t functions_ns = 0;
    for (const Function& function : functions)
        functions_ns += function.time.ns;
    std::ranges::stable_sort(functions, std::ranges::greater(), [](const Function& f) { return f.time.ns; });
    for (const Function& function : functions) {
        const std::int64_t exact_ns = function.time.blocked_ns;
        const double share = part(fit(function.time.ns - exact_ns) + exact_ns, path_ns);
        const double of_functions = part(function.time.ns, functions_ns);
        const bool by_chance = function.row->kind == model::RowKind::Sampled &&
                               could_be_missed(of_functions, static_cast<double>(samples));
        if (code.functions.size() < most_named && of_functions >= function_from && share >= worth_saying && !by_chance)
            code.functions.push_back(share_of(function, share, functions,
                                              main_part(function, function.by_caller, function.time.ns),
                                              main_part(function, function.by_inlined, function.own_ns())));
    }
    name_common_callers(profile, stretch, callers, functions_ns, fit, code);
    code.of_threads = function_of_threads(profile, stretch, callers, fit, code.threads_ns());
    code.blocked = blocked_at(profile, stretch, callers);
    code.blocked_longer = blocked_longer_at(profile, stretch, callers);
    add_short_names(functions, code);
    return code;
}

std::string code_in_words(const Code& code)
{
    if (code.functions.empty())
        return "";
    double sum = 0;
    for (const FunctionShare& function : code.functions)
        sum += function.share;
    return fmt::format(" {} {}.", sum >= most_from ? "Most of it in" : "Some of it in", listed(code.functions));
}

std::vector<FunctionShare> Explanation::difference() const
{
    const model::Stretch& s = *stretch;
    if (excess <= balanced_within || model::ComparedBy{s.compared_by} != model::ComparedBy::BothCalls)
        return {};
    // They are compared in other ways (means of samples, not geometric ones of gaps); where these differ, neither
    // tells.
    const std::int64_t spinning = code.sampled_spinning_ns - s.peers_spinning_ns;
    const std::int64_t on_processor = longer_on_processor_ns();
    const std::int64_t exact = scaled(on_processor, s.path_ns, s.compared_ns) - spinning;
    const double times = part(code.longer_ns, exact);
    const bool is_within_error = exact > 0 && std::abs(code.longer_ns - exact) <= code.longer_error_ns;
    if (!is_within_error && (times < 1 / same_difference_within || times > same_difference_within))
        return {};
    // Who works for longer lacks a processor for longer, too: then the difference is larger than what samples find of
    // it. What is not work of the path's thread is part of the difference, too.
    const std::int64_t of_functions_ns =
        std::max(code.longer_ns, scaled(code.longer_ns, on_processor_ns(s), std::max<std::int64_t>(on_processor, 1)));
    const std::int64_t all_ns = std::max(scaled(s.compared_ns - s.peers_ns, s.path_ns, s.compared_ns), of_functions_ns);
    std::vector<FunctionShare> result = code.longer;
    double sum = 0;
    for (FunctionShare& function : result)
        sum += function.share *= part(of_functions_ns, all_ns);
    // What others take less makes up for the rest: then these have all of it, each its part.
    for (FunctionShare& function : result)
        function.share /= std::max(sum, 1.0);
    return result;
}

std::string longer_in_words(const Explanation& explanation)
{
    const std::vector<FunctionShare> functions = explanation.difference();
    // All of it, as said before?
    const bool is_known = std::ranges::equal(functions, explanation.code.functions, [](const auto& a, const auto& b) {
        return a.name == b.name && a.caller == b.caller && a.inlined == b.inlined &&
               std::abs(a.share - b.share) < same_share_within;
    });
    if (functions.empty() || is_known)
        return "";
    double sum = 0;
    for (const FunctionShare& function : functions)
        sum += function.share;
    return fmt::format(" {} difference is in {}.", sum >= most_from ? "The" : "Some of the", listed(functions));
}

std::string threads_in_words(const Explanation& explanation)
{
    const Code& code = explanation.code;
    const Losses losses = explanation.losses();
    if (part(losses.threads_ns, explanation.stretch->path_ns) < off_from)
        return "";
    std::string words = fmt::format(" It waited for its own threads for {} of that", duration_text(losses.threads_ns));
    if (code.of_threads)
        words += fmt::format(", which were in {} meanwhile ({})", code.of_threads->shown.name,
                             whole_percent(code.of_threads->share));
    if (part(losses.threads_preempted_ns, losses.threads_ns) >= threads_lack_from)
        words += fmt::format(", {} lacked a processor for {}", code.of_threads ? "and" : "which",
                             duration_text(losses.threads_preempted_ns));
    return words + ".";
}

}  // namespace critpath::report
