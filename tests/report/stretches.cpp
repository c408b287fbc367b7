// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/report/stretches.hpp"

#include "analysis/report/explain/explain.hpp"

#include <algorithm>

namespace critpath::tests
{

model::Profile one_stretch()
{
    model::Profile p;
    p.properties["event"] = "cpu-clock";
    for (const char* node : {"a", "a", "b", "b"})
        p.processes.push_back({"rank", node, 0, 0, 0, 0, 0, 0});
    p.rows = {{model::RowKind::Sampled, "main", "", "", 0},
              {model::RowKind::Sampled, "step", "", "", 0},
              {model::RowKind::Sampled, "exchange", "", "", 0},
              {model::RowKind::Mpi, "MPI_Waitall", "MPI", "", 0},
              {model::RowKind::Mpi, "MPI_Allreduce", "MPI", "", 0}};
    const auto none = model::CallPathId::none();
    p.call_paths = {{{0}, none}, {{1}, {0}}, {{2}, {1}}, {{4}, {1}}, {{3}, {2}}};
    model::Stretch s;
    s.before = {4};
    s.after = {3};
    s.path_ns = s.looked_at_ns = s.compared_ns = 1000 * ms;
    s.others_at_work_ns = 1000 * ms;
    s.gaps = s.compared = s.slowest = 10;
    s.peers_ns = s.processor_ns = 500 * ms;
    s.ranks = 4;
    s.nodes = 2;
    s.occurrences = 20;
    s.rank_variance = 90;
    s.noise_variance = 10;
    s.node_rest_variance = 90;
    s.slow_ranks = 1;
    s.slowest_rank = 3;
    s.fastest_rank = 0;
    s.fastest_time = 450'000'000;
    p.stretches = {s};
    p.stretch_shares = {{0, {1}, 80 * ms, 1, 40 * ms}, {0, {3}, 920 * ms, 9, 460 * ms}};
    p.facts["path_ns"] = 4000 * ms;
    return p;
}

model::Profile two_alike()
{
    model::Profile p = one_stretch();
    const auto row = [&](const char* name) {
        p.rows.push_back({model::RowKind::Sampled, name, "", "", 0});
        return model::RowId{static_cast<std::uint32_t>(p.rows.size() - 1)};
    };
    const auto call = [&](model::RowId of, model::CallPathId by) {
        p.call_paths.push_back({of, by});
        return model::CallPathId{static_cast<std::uint32_t>(p.call_paths.size() - 1)};
    };
    const model::RowId outer = row("outer"), inner = row("inner");
    p.stretches.push_back(p.stretches[0]);
    for (std::uint32_t i = 0; i < 2; ++i) {
        const model::CallPathId way = call(outer, call(row(i == 0 ? "forward" : "backward"), {0}));
        const model::CallPathId step = call({1}, call(inner, call(inner, way)));
        p.stretches[i].before = call({3}, step);
        p.stretches[i].after = call({4}, step);
        p.stretch_shares.push_back({i, {3}, 920 * ms, 9, 460 * ms});
    }
    p.stretch_shares.erase(p.stretch_shares.begin() + 2);
    return p;
}

model::Profile threaded_stretch(std::int64_t spinning_ns, std::int64_t blocked_ns)
{
    model::Profile p = one_stretch();
    const std::int64_t waited_ns = spinning_ns + blocked_ns;
    set_code(p, {{sampled("loop"), {0, {}, waited_ns * 9 / 10, 90, spinning_ns * 9 / 10, blocked_ns * 9 / 10}},
                 {sampled("other"), {0, {}, waited_ns / 10, 10, spinning_ns / 10, blocked_ns / 10}},
                 {sampled("serial"), {0, {}, 1000 * ms - waited_ns, 50, 0, 0}}});
    return p;
}

model::Profile without_code(model::Profile profile)
{
    for (model::Row& row : profile.rows)
        if (row.kind == model::RowKind::Sampled)
            row.module = "/bin/app";
    profile.stretch_code.clear();
    profile.stretches[0].code_gaps = profile.stretches[0].gaps;
    return profile;
}

void set_code(model::Profile& profile, const std::vector<std::pair<model::Row, model::StretchCode>>& code)
{
    for (const auto& [row, amount] : code)
        add_code(profile, {row}, amount);
    profile.stretches[0].code_gaps = 3 * profile.stretches[0].gaps;  // four ranks
}

void add_code(model::Profile& profile, const std::vector<model::Row>& path, model::StretchCode amount)
{
    amount.call_path = model::CallPathId::none();
    for (const model::Row& row : path) {
        const auto same = std::ranges::find_if(
            profile.rows, [&](const model::Row& r) { return r.name == row.name && r.module == row.module; });
        const model::RowId id{static_cast<std::uint32_t>(same - profile.rows.begin())};
        if (same == profile.rows.end())
            profile.rows.push_back(row);
        profile.call_paths.push_back({id, amount.call_path});
        amount.call_path = {static_cast<std::uint32_t>(profile.call_paths.size() - 1)};
    }
    profile.stretch_code.push_back(amount);
}

model::Row sampled(const std::string& name, const std::string& module)
{
    return {model::RowKind::Sampled, name, module, "", 0};
}

model::Row pseudo(const std::string& name)
{
    return {model::RowKind::Pseudo, name, "", "", 0};
}

std::string sentence(const model::Profile& profile)
{
    return report::explain(profile, 0).sentence(profile, "the trace");
}

}  // namespace critpath::tests
