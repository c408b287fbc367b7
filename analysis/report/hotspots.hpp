// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the grouping of a Profile into hotspots: time on the critical path beside time on all ranks.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

/// One function, or one module.
struct Hotspot {
    std::string name;
    std::string module;  // path of the binary
    std::string kind;    // "sampled", "region", "mpi", "pseudo"; "module"
    std::string file;
    std::int64_t line = 0;
    std::int64_t path_ns = 0;
    std::uint64_t path_samples = 0;
    std::optional<std::int64_t> total_ns;  // on all ranks, if that is known
    std::uint64_t total_samples = 0;
    std::int64_t functions = 0;  // that have time on the path
    bool is_estimate = false;    // found by samples
    Estimate share{0, 0, true};  // of the critical path

    /// Where it is defined, as far as that is known: the binary, or else the source file.
    [[nodiscard]] const std::string& place() const { return module.empty() ? file : module; }

    /// True if the 95 % interval of its share of the path includes 0.
    [[nodiscard]] bool is_below_error() const { return is_estimate && share.value <= share.error; }
};

struct Hotspots {
    std::vector<Hotspot> items;      // in the order of the profile's rows
    std::int64_t path_ns = 0;        // the whole path
    std::int64_t total_ns = 0;       // sum over the items
    std::uint64_t path_samples = 0;  // in the compute segments of the path
};

Hotspots by_function(const model::Profile& profile);
Hotspots by_module(const model::Profile& profile);

/// A sentence on the row [not sampled] where it is a large part of the path; empty otherwise.
std::string unsampled_note(const Hotspots& hotspots);

/// A sentence on what the times of all ranks lack, because threads switched too often to be sampled; empty if nothing.
std::string respite_note(const model::Profile& profile);

/// Most time on the path first; equal ones keep their order.
void sort_by_path(std::vector<Hotspot>& items);

/// The value of a fact; 0 if the result does not have it.
std::int64_t fact(const model::Profile& profile, const std::string& key);

/// The value of a property; empty if the result does not have it.
std::string property(const model::Profile& profile, const std::string& key);

}  // namespace critpath::report
