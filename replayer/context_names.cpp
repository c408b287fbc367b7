// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/context_names.hpp"

#include "replayer/parents_first.hpp"

#include <cstdint>
#include <map>
#include <tuple>

namespace critpath::replayer
{

using model::ContextId;

std::vector<ContextId> first_alike(const model::Definitions& definitions, SitesCount sites)
{
    const auto& contexts = definitions.contexts;
    std::vector<std::uint32_t> names(contexts.size());
    std::map<std::tuple<std::uint32_t, model::RegionId, std::uint64_t>, std::uint32_t> known;
    visit_parents_first(contexts, [&](ContextId context) {
        constexpr std::uint32_t nothing = UINT32_MAX;
        const auto [region, parent, site] = contexts[context.value];
        const bool is_mpi = definitions.regions[region.value].role == model::RegionRole::Mpi;
        const bool has_site = sites == SitesCount::All || (sites == SitesCount::OfMpiCalls && is_mpi);
        const std::uint32_t prefix = parent.valid() ? names[parent.value] : nothing;
        const auto number = static_cast<std::uint32_t>(known.size());
        names[context.value] = known.try_emplace({prefix, region, has_site ? site : 0}, number).first->second;
    });
    std::vector<ContextId> first(known.size(), ContextId::none());  // by name
    std::vector<ContextId> result;
    for (std::uint32_t i = 0; i < contexts.size(); ++i) {
        ContextId& of_name = first[names[i]];
        of_name = of_name.valid() ? of_name : ContextId{i};
        result.push_back(of_name);
    }
    return result;
}

}  // namespace critpath::replayer
