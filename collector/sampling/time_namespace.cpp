// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/time_namespace.hpp"

#include "collector/sampling/descriptors.hpp"

#include <cstring>

#include <unistd.h>

namespace critpath::sampling
{
namespace
{

/// The file of offsets speaks of the namespace that children will be born in.
bool is_in_namespace_of_children()
{
    char own[64], children[64];
    const ssize_t own_size = readlink("/proc/self/ns/time", own, sizeof own);
    const ssize_t children_size = readlink("/proc/self/ns/time_for_children", children, sizeof children);
    return own_size > 0 && own_size == children_size &&
           std::memcmp(own, children, static_cast<std::size_t>(own_size)) == 0;
}

const char* skip_blanks(const char* text)
{
    return text + std::strspn(text, " \t");
}

std::int64_t take_number(const char*& text)
{
    text = skip_blanks(text);
    const bool negative = *text == '-';
    text += negative ? 1 : 0;
    std::int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
        value = value * 10 + (*text - '0');
    }
    return negative ? -value : value;
}

}  // namespace

std::int64_t parse_time_offset(const char* text)
{
    constexpr char name[] = "monotonic";
    const char* at = std::strstr(text, name);
    if (at == nullptr) {
        return 0;
    }
    at += sizeof name - 1;
    const std::int64_t seconds = take_number(at);
    return seconds * 1'000'000'000 + take_number(at);
}

std::int64_t time_offset()
{
    char text[256];
    if (!is_in_namespace_of_children() || read_text("/proc/self/timens_offsets", text, sizeof text) == 0) {
        return 0;
    }
    return parse_time_offset(text);
}

}  // namespace critpath::sampling
