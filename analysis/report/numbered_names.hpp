// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns names of functions that compilers have numbered: parallel regions, lambdas, procedures inside of others, copies
// that only their addresses tell apart. When a binary is built anew, the same name may be another function's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace critpath::report
{

/// With a star for each number of a compiler: "main._omp_fn.*", "run()::{lambda(long)#*}", "smooth.*".
std::string without_numbers(std::string_view name);

/// Whether what is in the name may be another function's in another build.
bool is_numbered(std::string_view name);

/// Of the functions of two runs.
class NumberedNames
{
public:
    enum Run : std::uint8_t { Before, After };

    /// Of a binary that may not be the same build in both runs.
    void add(Run run, const std::string& binary, const std::string& name);

    /// The name itself, if it may stand for the same function in both runs. Where a compiler made one of several
    /// functions in one of the runs only, the name of that one (formats/binary/folded_names.hpp). Where the runs do not
    /// have the same ones of those that differ by their numbers only: what stands for all of these, but for names
    /// without a number that are in both.
    [[nodiscard]] std::string shared(const std::string& binary, const std::string& name) const;

private:
    using Group = std::array<std::set<std::string>, 2>;  // by Run

    using OfBinary = std::pair<std::string, std::string>;  // with the name of the binary

    std::map<OfBinary, Group> groups_;       // by what the names have in common
    std::map<OfBinary, std::string> twins_;  // by function, the name that it has with others
};

}  // namespace critpath::report
