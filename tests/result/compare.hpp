// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when two profiles are the same, independently of the checksum that the code under test uses.
#pragma once

#include "analysis/model/profile.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace critpath::samples
{

inline auto fields(const model::ProcessTotals& p)
{
    return std::tie(p.name, p.node, p.lifetime_ns, p.mpi_ns, p.path_ns, p.sampled_ns, p.calls, p.samples);
}
inline auto fields(const model::ClockTotals& c)
{
    return std::tie(c.node, c.processes, c.path_ns, c.decided_ns, c.doubted_ns, c.last_arrivals, c.correction_ns,
                    c.uncertainty_ns, c.is_known);
}
inline auto fields(const model::Row& r)
{
    return std::tie(r.kind, r.name, r.module, r.file, r.line);
}
inline auto fields(const model::CallPath& c)
{
    return std::tie(c.row, c.parent, c.site);
}
inline auto fields(const model::CallPathTime& t)
{
    return std::tie(t.call_path, t.process, t.ns, t.samples, t.other_threads_ns, t.found_ns, t.in_calls_ns);
}
inline auto fields(const model::AddressTime& t)
{
    return std::tie(t.call_path, t.address, t.ns, t.samples);
}
inline auto fields(const model::Module& m)
{
    return std::tie(m.path, m.build_id, m.has_lines, m.lacks_split_units);
}
inline auto fields(const model::KindTime& t)
{
    return std::tie(t.kind, t.function, t.process, t.ns, t.segments);
}

inline auto fields(const model::Stretch& s)
{
    using Words = std::array<std::int64_t, sizeof s / sizeof(std::int64_t)>;
    return std::bit_cast<Words>(s);
}
inline auto fields(const model::StretchShare& s)
{
    return std::tie(s.stretch, s.process, s.ns, s.gaps, s.longer_ns);
}
inline auto fields(const model::StretchRank& r)
{
    using Words = std::array<std::int64_t, sizeof r / sizeof(std::int64_t)>;
    return std::bit_cast<Words>(r);
}
inline auto fields(const model::StretchCode& c)
{
    return std::tie(c.stretch, c.call_path, c.ns, c.samples, c.spinning_ns, c.blocked_ns, c.peers_ns);
}
inline auto fields(const model::StretchAddress& a)
{
    return std::tie(a.stretch, a.row, a.address, a.ns, a.samples, a.peers_ns);
}

inline auto fields(const model::SourceFunction& f)
{
    return std::tie(f.name, f.file, f.line);
}
inline auto fields(const model::SourceFrame& f)
{
    return std::tie(f.module, f.address, f.function, f.file, f.line);
}

template <class Item>
bool all_equal(const std::vector<Item>& a, const std::vector<Item>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Item& x, const Item& y) { return fields(x) == fields(y); });
}

inline bool equal(const model::Profile& a, const model::Profile& b)
{
    return a.facts == b.facts && a.properties == b.properties && a.locations == b.locations &&
           a.location_process == b.location_process && a.computed_ns == b.computed_ns &&
           all_equal(a.processes, b.processes) && all_equal(a.clocks, b.clocks) && all_equal(a.rows, b.rows) &&
           all_equal(a.path, b.path) && all_equal(a.totals, b.totals) && all_equal(a.kinds, b.kinds) &&
           all_equal(a.call_paths, b.call_paths) && all_equal(a.addresses, b.addresses) &&
           all_equal(a.total_addresses, b.total_addresses) && all_equal(a.modules, b.modules) &&
           all_equal(a.stretches, b.stretches) && all_equal(a.stretch_shares, b.stretch_shares) &&
           all_equal(a.stretch_ranks, b.stretch_ranks) && all_equal(a.stretch_code, b.stretch_code) &&
           all_equal(a.stretch_addresses, b.stretch_addresses) && a.source_files == b.source_files &&
           all_equal(a.source_functions, b.source_functions) && all_equal(a.source_frames, b.source_frames);
}

/// With its times in the order that the model promises.
inline model::Profile sorted(model::Profile profile)
{
    const auto less = [](const auto& a, const auto& b) { return fields(a) < fields(b); };
    std::sort(profile.path.begin(), profile.path.end(), less);
    std::sort(profile.totals.begin(), profile.totals.end(), less);
    std::sort(profile.kinds.begin(), profile.kinds.end(), less);
    std::sort(profile.addresses.begin(), profile.addresses.end(), less);
    std::sort(profile.stretch_shares.begin(), profile.stretch_shares.end(), less);
    std::sort(profile.stretch_ranks.begin(), profile.stretch_ranks.end(), [](const auto& a, const auto& b) {
        return std::tie(a.stretch, a.process) < std::tie(b.stretch, b.process);
    });
    std::sort(profile.stretch_code.begin(), profile.stretch_code.end(), less);
    std::sort(profile.stretch_addresses.begin(), profile.stretch_addresses.end(), less);
    return profile;
}

}  // namespace critpath::samples
