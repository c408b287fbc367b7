// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/command.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"
#include "formats/support/error.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace critpath::report
{

const std::vector<Command>& commands()
{
    static const std::vector<Command> list = {summary_command(), hotspots_command(), annotate_command(),
                                              explain_command(), path_command(),     diff_command()};
    return list;
}

const std::vector<Option>& common_options()
{
    static const std::vector<Option> list = {
        {"--format", "FORMAT", "how to print it", writer_names().front(), writer_names()},
        {"--no-header", "", "rows only: no headings, no lines around them", "", {}},
    };
    return list;
}

const std::vector<Conflict>& common_conflicts()
{
    static const std::vector<Conflict> list = {
        {{"--no-header"}, {"--format", {"json"}}, "JSON has no headings; leave it out, or use --format csv"},
    };
    return list;
}

void fail_choice(const std::string& what, const std::string& typed, const std::vector<std::string>& valid)
{
    const std::string meant = nearest_word(typed, valid);
    fail(ExitCode::Usage, "{}: '{}' is not one of {}{}", what, typed, fmt::join(valid, ", "),
         meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

void fail_empty(const Option& option)
{
    fail(ExitCode::Usage, "{}: its value is empty; leave it out, or give {}", option.name, option.value);
}

void Arguments::check(const std::vector<Option>& options) const
{
    for (const Option& option : options) {
        if (given(option.name) && text(option.name).empty())
            fail_empty(option);
        if (option.choices.empty())
            continue;
        for (const std::string& value : option.is_list ? list(option.name) : std::vector{text(option.name)}) {
            if (std::ranges::find(option.refused, value) != option.refused.end())
                fail(ExitCode::Usage, "{} {}: {}, or give one of {}", option.name, value,
                     fmt::format(fmt::runtime(option.refusal), value), fmt::join(option.choices, ", "));
            if (std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end())
                fail_choice(option.name, value, option.choices);
        }
    }
}

bool Arguments::is_among(const Choice& choice) const
{
    if (choice.values.empty())
        return given(choice.option);
    return std::ranges::find(choice.values, text(choice.option)) != choice.values.end();
}

void Arguments::check(const std::vector<Conflict>& conflicts) const
{
    for (const Conflict& conflict : conflicts) {
        if (!given(conflict.given.option) || !is_among(conflict.given) || !is_among(conflict.with))
            continue;
        const bool is_any = conflict.given.values.empty();
        fail(ExitCode::Usage, "{}{}: {}", conflict.given.option, is_any ? "" : " " + text(conflict.given.option),
             fmt::format(fmt::runtime(conflict.advice), text(conflict.with.option)));
    }
}

const std::string& Arguments::text(const std::string& option) const
{
    static const std::string none;
    const auto found = values_.find(option);
    return found == values_.end() ? none : found->second;
}

std::uint64_t Arguments::number(const std::string& option) const
{
    const std::string& value = text(option);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
        fail(ExitCode::Usage, "{}: '{}' is not a whole number from 0; for example: {} 10", option, value, option);
    return number;
}

std::optional<std::int64_t> Arguments::duration_ns(const std::string& option) const
{
    if (!given(option))
        return std::nullopt;
    const auto ns = parse_duration(text(option));
    if (!ns)
        fail(ExitCode::Usage, "{}: '{}' is not a time; give seconds or a unit, for example: {} 1.5, {} 20ms", option,
             text(option), option, option);
    return ns;
}

std::optional<std::int64_t> Arguments::moment_ns(const std::string& option, std::int64_t makespan_ns) const
{
    const std::string& value = text(option);
    if (value.empty() || value.back() != '%')
        return duration_ns(option);
    const auto part = parse_percent(value);
    if (!part)
        fail(ExitCode::Usage, "{}: '{}' is not a part of the run; give 0% to 100%, or a time, for example: {} 1.5",
             option, value, option);
    return std::llround(*part * static_cast<double>(makespan_ns));
}

std::vector<std::string> Arguments::list(const std::string& option) const
{
    std::vector<std::string> parts;
    const std::string& value = text(option);
    for (std::size_t at = 0; at < value.size();) {
        const std::size_t comma = std::min(value.find(',', at), value.size());
        parts.push_back(value.substr(at, comma - at));
        at = comma + 1;
    }
    return parts;
}

std::vector<std::uint32_t> Arguments::ranks(const std::string& option, std::size_t ranks) const
{
    std::vector<std::uint32_t> result;
    for (const std::string& word : list(option)) {
        const char* const whole_end = word.data() + word.size();
        std::uint32_t first = 0;
        std::from_chars_result read = std::from_chars(word.data(), whole_end, first);
        std::uint32_t last = first;
        if (read.ec == std::errc() && read.ptr != whole_end && *read.ptr == '-')
            read = std::from_chars(read.ptr + 1, whole_end, last);
        const bool is_range = read.ec == std::errc() && read.ptr == whole_end;
        if (is_range && first > last)
            fail(ExitCode::Usage, "{}: the range '{}' runs backwards; give {}-{}", option, word, last, first);
        if (!is_range || last >= ranks)
            fail(ExitCode::Usage, "{}: '{}' is not a rank of this trace; it has ranks 0 to {}", option, word,
                 ranks - 1);
        for (std::uint32_t rank = first; rank <= last; ++rank)
            result.push_back(rank);
    }
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

}  // namespace critpath::report
