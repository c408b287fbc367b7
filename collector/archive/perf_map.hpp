// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of code that a program has made while it ran, as just-in-time compilers write them down for perf(1): a
// file /tmp/perf-<pid>.map with lines "<start> <size> <name>", both numbers in hex.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace critpath::archive
{

/// Behind the name of code that was made where other code had been: samples of that have this name, too.
inline constexpr std::string_view remade_remark = " [last made here]";

class PerfMap
{
public:
    PerfMap() = default;
    /// Lines that cannot be read are left out. Where entries overlap the last one counts: memory is used again. Nothing
    /// says when, so that its name has a remark if another was there before.
    explicit PerfMap(std::string_view text);

    /// The file in `directory` of this process, which began at `start` (ns since the epoch). It is believed only if it
    /// is this user's, and not what an earlier process of the same number has left; else nothing is known.
    static PerfMap of_this_process(const std::string& directory, std::uint64_t start);

    /// nullptr if there is none; else valid as long as this.
    [[nodiscard]] const std::string* find(std::uint64_t address) const;

private:
    struct Code {
        std::uint64_t end;  // first address behind it
        std::string name;
    };

    [[nodiscard]] bool has_another(std::uint64_t start, std::uint64_t end, std::string_view name) const;
    void add(std::uint64_t start, std::uint64_t end, std::string_view name);

    std::map<std::uint64_t, Code> code_;  // by start, without overlaps
};

}  // namespace critpath::archive
