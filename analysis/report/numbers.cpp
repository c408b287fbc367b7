// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace critpath::report
{

namespace
{

constexpr std::int64_t ns_per_second = 1'000'000'000;

std::int64_t power_of_ten(int exponent)
{
    std::int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

}  // namespace

int decimals_for(std::int64_t largest_ns)
{
    const std::int64_t seconds = largest_ns / ns_per_second;
    if (seconds >= 1000)
        return 1;
    if (seconds >= 100)
        return 2;
    if (seconds >= 1 || largest_ns <= 0)
        return 3;
    return largest_ns >= 1'000'000 ? 6 : 9;
}

std::string seconds_text(std::int64_t ns, int decimals)
{
    // In integers: a double cannot hold all nanoseconds of a long run.
    const bool negative = ns < 0;
    const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    const auto unit = static_cast<std::uint64_t>(power_of_ten(9 - decimals));
    const std::uint64_t rounded = magnitude / unit + (magnitude % unit >= unit - unit / 2 && unit > 1 ? 1 : 0);
    const auto behind_point = static_cast<std::size_t>(decimals);
    std::string text = fmt::format_int(rounded).str();  // tables of the whole path have millions of them
    if (text.size() <= behind_point)
        text.insert(0, behind_point + 1 - text.size(), '0');
    if (behind_point > 0)
        text.insert(text.size() - behind_point, 1, '.');
    return negative && rounded > 0 ? '-' + text : text;
}

std::string duration_text(std::int64_t ns)
{
    if (ns >= ns_per_second)
        return seconds_text(ns, decimals_for(ns)) + " s";
    if (ns >= 1'000'000)
        return fmt::format("{:.4g} ms", static_cast<double>(ns) / 1e6);
    if (ns >= 1000)
        return fmt::format("{:.4g} µs", static_cast<double>(ns) / 1e3);
    return fmt::format("{} ns", ns);
}

std::string exact_seconds(std::int64_t ns)
{
    std::string text = seconds_text(ns, 9);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text;
}

double part(std::int64_t ns, std::int64_t whole_ns)
{
    return whole_ns > 0 ? static_cast<double>(ns) / static_cast<double>(whole_ns) : 0;
}

std::int64_t scaled(std::int64_t ns, std::int64_t part_ns, std::int64_t whole_ns)
{
    return static_cast<std::int64_t>(static_cast<double>(ns) * part(part_ns, whole_ns));
}

std::string percent_text(double share)
{
    const double percent = share * 100;
    if (percent > 0 && percent < 0.05)
        return "<0.1";
    return fmt::format("{:.1f}", percent);
}

std::string estimate_text(const Estimate& estimate)
{
    const std::string value = percent_text(estimate.value);
    if (estimate.exact)
        return fmt::format("{:>5} exact", value);
    const double up = estimate.high - estimate.value, down = estimate.value - estimate.low;
    const double larger = std::max(up, down);
    constexpr double digit = 0.001, little = 0.1;  // of the larger
    if (std::abs(up - down) < std::max(digit, little * larger))
        return fmt::format("{:>5} ±{:>4}", value, percent_text(larger));
    return fmt::format("{:>5} +{} -{}", value, percent_text(up), percent_text(down));
}

std::string whole_percent(double share)
{
    return fmt::format("{:.0f} %", share * 100);
}

std::string exact_percent(double share)
{
    return fmt::format("{:.6g}", share * 100);
}

std::string count_text(std::uint64_t count)
{
    const std::string digits = fmt::format("{}", count);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0)
            text += ',';
        text += digits[i];
    }
    return text;
}

std::string counted(std::uint64_t count, std::string_view noun)
{
    return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

std::optional<std::int64_t> parse_duration(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value) || value < 0)
        return std::nullopt;
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    double factor = 0;
    if (unit.empty() || unit == "s")
        factor = 1e9;
    else if (unit == "ms")
        factor = 1e6;
    else if (unit == "us" || unit == "µs")
        factor = 1e3;
    else if (unit == "ns")
        factor = 1;
    const double ns = value * factor;
    if (factor == 0 || ns >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    return std::llround(ns);
}

std::optional<double> parse_percent(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_percent = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)) == "%";
    if (error != std::errc() || !is_percent || !(value >= 0) || value > 100)
        return std::nullopt;
    return value / 100;
}

}  // namespace critpath::report
