// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the profile of a run of one rank, put together by hand.
#pragma once

#include "analysis/model/profile.hpp"

#include <algorithm>
#include <string>

namespace critpath::report
{

/// A run of one rank, path by path. Each has all of its time on the path.
class OneRank
{
public:
    OneRank()
    {
        profile_.processes.push_back({"rank 0", "node", 0, 0, 0, 0, 0, 0});
        profile_.properties["event"] = "cpu-clock";
    }

    model::CallPathId add(const std::string& name, model::CallPathId parent, std::int64_t ns,
                          model::RowKind kind = model::RowKind::Sampled)
    {
        const auto known = std::ranges::find_if(profile_.rows, [&](const model::Row& row) { return row.name == name; });
        const auto row = static_cast<std::uint32_t>(known - profile_.rows.begin());
        if (known == profile_.rows.end())
            profile_.rows.push_back({kind, name, kind == model::RowKind::Sampled ? "/app/" + name : "", "", 0});
        const model::CallPathId path{static_cast<std::uint32_t>(profile_.call_paths.size())};
        profile_.call_paths.push_back({{row}, parent});
        if (ns > 0) {
            const std::uint64_t samples = kind == model::RowKind::Sampled ? 100 : 0;
            profile_.path.push_back({path, {0}, ns, samples});
            profile_.totals.push_back({path, model::ProcessId::none(), ns, samples});
        }
        return path;
    }
    model::CallPathId pseudo(const std::string& name, model::CallPathId parent, std::int64_t ns)
    {
        return add(name, parent, ns, model::RowKind::Pseudo);
    }

    model::Profile& profile() { return profile_; }

private:
    model::Profile profile_;
};

}  // namespace critpath::report
