// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the words that stand for enumerators in critpath.sqlite.
#pragma once

#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"

#include <optional>
#include <string_view>

namespace critpath::result
{

inline constexpr int row_kinds = 4;

constexpr std::string_view name(model::RowKind kind)
{
    constexpr std::string_view names[row_kinds] = {"sampled", "region", "mpi", "pseudo"};
    return names[static_cast<int>(kind)];
}

constexpr std::optional<model::RowKind> row_kind(std::string_view word)
{
    for (int i = 0; i < row_kinds; ++i) {
        if (name(static_cast<model::RowKind>(i)) == word)
            return static_cast<model::RowKind>(i);
    }
    return std::nullopt;
}

constexpr std::optional<model::SegmentKind> segment_kind(std::string_view word)
{
    for (int i = 0; i < model::segment_kinds; ++i) {
        if (model::name(static_cast<model::SegmentKind>(i)) == word)
            return static_cast<model::SegmentKind>(i);
    }
    return std::nullopt;
}

}  // namespace critpath::result
