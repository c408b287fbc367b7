// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how names of functions that are seen together become short, each so that it reads as none of the others.
#pragma once

#include "analysis/report/function_name.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

class SeenNames
{
public:
    struct Seen {
        explicit Seen(const std::string& seen);

        std::string text;
        std::optional<FunctionName> name;
        std::vector<std::string> ends;  // without the type that it returns and so many of its outer components
    };

    explicit SeenNames(const std::set<std::string>& names);

    /// In at most `width` columns; it need not be one of them.
    [[nodiscard]] std::string shorten(const std::string& text, std::size_t width) const;

private:
    [[nodiscard]] std::vector<const Seen*> rivals_of(const std::string& text, const std::string& shortened) const;
    enum class OwnName : std::uint8_t { Whole, MayBeCut };  // of the function, if it is a long one
    [[nodiscard]] std::optional<std::string> tell_apart(const Seen& seen, const std::vector<const Seen*>& rivals,
                                                        std::size_t width, OwnName own) const;

    std::vector<Seen> seen_;
};

/// Whether `shown` may stand for a function's name. Any text may stand for an ellipsis, and behind the end.
bool reads_as(std::string_view name, std::string_view shown);

}  // namespace critpath::report
