// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns lists of hotspots: which rows one shows and in which order, what that leaves out, and the cells of a row.
#pragma once

#include "analysis/report/hotspots.hpp"
#include "analysis/report/table.hpp"
#include "analysis/report/window.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace critpath::report
{

/// Which items a list leaves out because they are below the sampling error. Where nothing that samples have found would
/// be left, the largest items stay.
class Folding
{
public:
    explicit Folding(const std::vector<Hotspot>& items);

    [[nodiscard]] bool leaves_out(const Hotspot& item) const;
    /// True if there were too few samples for any item to be sure.
    [[nodiscard]] bool is_undecided() const { return least_ns_ > 0; }

private:
    std::int64_t least_ns_ = 0;  // on the path, of what stays; 0: only what is sure
};

/// What a list shows of all rows, for the line below it.
struct Coverage {
    std::size_t shown = 0;
    std::size_t rows = 0;         // that could have been shown
    std::size_t below_error = 0;  // left out
    bool is_undecided = false;    // Folding
    std::int64_t shown_path_ns = 0;
    std::int64_t shown_total_ns = 0;
    std::int64_t below_error_ns = 0;  // on the path
};

/// The functions that samples on the path found, whether a table shows them or not: annotate takes them.
std::set<std::string> sampled_functions(const model::Profile& profile);
/// Likewise, the binaries that these are in.
std::set<std::string> sampled_binaries(const model::Profile& profile);

/// Whether all rows that `sort` is about have path time.
bool is_of_path(const std::string& sort);

/// Leaves the first `top` rows (0: all) that `sort` ("path", "all", "imbalance", "name") is about, in its order, and
/// counts those that it leaves out. Where rows contain each other, `shown_path_ns` and `below_error_ns` mean nothing.
Coverage select(std::vector<Hotspot>& items, const std::string& sort, std::uint64_t top);

/// Fields and notes of a list. `window`: that `hotspots` are of, if not of the whole run.
void describe(Document& document, const Coverage& coverage, const Hotspots& hotspots, const std::string& sort,
              const std::optional<Window>& window);

/// " Left out: ...", of rows (by the name of one) that Folding leaves out, with their part of the path if that can be
/// told; empty if there are none.
std::string below_error_note(std::size_t rows, const char* name, std::optional<double> share);

/// That there were too few samples (Folding).
std::string undecided_note(const Hotspots& hotspots);

/// That samples give the selected ranks another time than their segments of the path have (division::NotSampled), where
/// that can be seen; else empty.
std::string ranks_note(const model::Profile& profile, const Selection& selection);

/// "±: ..." where samples have found something.
void explain_errors(Document& document, const Hotspots& hotspots);

Cell time_or_none(const std::optional<std::int64_t>& ns);

Cell line_cell(const Hotspot& item);

/// Columns of a share of the path: in tables `title`, else the value `key` and its interval, `key`_low and `key`_high,
/// which what is exact does not have; and their cells.
std::vector<Column> share_columns(const std::string& key = "path_percent", const std::string& title = "Path %");
void add_share_cells(Row& row, const Estimate& share, std::int64_t path_ns);
void add_share_cells(Row& row, const Hotspot& item);

/// The last columns of each list and, in the same order, their cells. `of_all`: those of all ranks, too.
std::vector<Column> time_columns(bool of_all);
void add_time_cells(Row& row, const Hotspot& item, bool of_all);

}  // namespace critpath::report
