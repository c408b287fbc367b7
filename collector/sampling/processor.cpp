// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/processor.hpp"

#include "collector/sampling/descriptors.hpp"

#include <cstring>

namespace critpath::sampling
{
namespace
{

constexpr std::uint64_t kilo = 1'000;
constexpr std::uint64_t mega = 1'000'000;

/// The unsigned number at the beginning of `text`, in whole units of `unit`; what is behind a point is used down
/// to millionths of it. 0 if there is none.
std::uint64_t parse_number(const char* text, std::uint64_t unit)
{
    std::uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        value = value * 10 + static_cast<std::uint64_t>(*text - '0') * unit;
    }
    if (*text == '.') {
        std::uint64_t digit_unit = unit / 10;
        for (++text; *text >= '0' && *text <= '9' && digit_unit > 0; ++text, digit_unit /= 10) {
            value += static_cast<std::uint64_t>(*text - '0') * digit_unit;
        }
    }
    return value;
}

std::uint64_t from_sysfs(const char* path)
{
    char text[64];
    read_text(path, text, sizeof text);
    return parse_number(text, kilo);
}

std::uint64_t from_cpuinfo()
{
    static char text[4096];  // once, before the application has threads
    read_text("/proc/cpuinfo", text, sizeof text);
    const char* line = std::strstr(text, "cpu MHz");
    if (line == nullptr) {
        return 0;
    }
    line += std::strcspn(line, ":\n");
    return line[0] == ':' && line[1] == ' ' ? parse_number(line + 2, mega) : 0;
}

}  // namespace

std::uint64_t nominal_frequency()
{
    constexpr std::uint64_t lowest = 100 * mega;  // anything below is not the frequency of a processor
    constexpr std::uint64_t guess = 2'000 * mega;
    std::uint64_t frequency = from_sysfs("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");
    if (frequency < lowest) {
        frequency = from_sysfs("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    }
    if (frequency < lowest) {
        frequency = from_cpuinfo();
    }
    return frequency < lowest ? guess : frequency;
}

}  // namespace critpath::sampling
