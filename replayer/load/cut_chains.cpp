// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/cut_chains.hpp"

#include "replayer/parents_first.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::replayer::load
{

namespace
{

using model::ContextId;
using model::RegionId;

class Chains
{
public:
    explicit Chains(const model::Definitions& definitions) : definitions_(definitions), contexts_(definitions.contexts)
    {
        name_paths();
        find_callers();
    }

    /// Where a chain goes on that begins with `context`; none() if it is not cut off, or that is not known.
    [[nodiscard]] ContextId continuation(ContextId context) const
    {
        const RegionId region = contexts_[context.value].region;
        const ContextId caller = only_caller(region);
        if (contexts_[context.value].parent.valid() || !caller.valid())
            return ContextId::none();
        RegionId outermost = region;
        for (ContextId c = caller; c.valid(); c = contexts_[c.value].parent) {
            outermost = contexts_[c.value].region;
            if (outermost == region)
                return ContextId::none();  // it calls itself
        }
        return only_caller(outermost).valid() ? ContextId::none() : caller;
    }

    /// By ContextId: the first one of the same name.
    [[nodiscard]] std::vector<ContextId> first_of_each_name() const
    {
        std::vector<ContextId> first(contexts_.size(), ContextId::none());  // by name
        std::vector<ContextId> result;
        for (std::uint32_t i = 0; i < contexts_.size(); ++i) {
            ContextId& known = first[name_[i]];
            known = known.valid() ? known : ContextId{i};
            result.push_back(known);
        }
        return result;
    }

private:
    struct Callers {
        ContextId first = ContextId::none();
        bool is_only = true;
    };

    /// Contexts of the same functions in the same order have the same name; those of MPI calls, of the same site.
    void name_paths()
    {
        constexpr std::uint32_t nothing = UINT32_MAX;
        name_.resize(contexts_.size());
        std::map<std::tuple<std::uint32_t, RegionId, std::uint64_t>, std::uint32_t> names;
        visit_parents_first(contexts_, [&](ContextId context) {
            const auto [region, parent, site] = contexts_[context.value];
            const std::uint32_t prefix = parent.valid() ? name_[parent.value] : nothing;
            const auto number = static_cast<std::uint32_t>(names.size());
            name_[context.value] = names.try_emplace({prefix, region, site}, number).first->second;
        });
    }

    void find_callers()
    {
        callers_.resize(definitions_.regions.size());
        for (const model::CallingContext& context : contexts_) {
            if (!context.parent.valid())
                continue;
            Callers& callers = callers_[context.region.value];
            if (!callers.first.valid())
                callers.first = context.parent;
            else if (name_[callers.first.value] != name_[context.parent.value])
                callers.is_only = false;
        }
    }

    /// Of sampled functions that some chain begins with.
    [[nodiscard]] ContextId only_caller(RegionId region) const
    {
        const Callers& callers = callers_[region.value];
        const bool is_sampled = definitions_.regions[region.value].role == model::RegionRole::Sampled;
        return is_sampled && callers.is_only ? callers.first : ContextId::none();
    }

    const model::Definitions& definitions_;
    const std::vector<model::CallingContext>& contexts_;
    std::vector<std::uint32_t> name_;  // by ContextId
    std::vector<Callers> callers_;     // by RegionId
};

}  // namespace

std::vector<ContextId> continue_cut_chains(model::Definitions& definitions)
{
    // What is continued makes the chains of callees alike, which may then be continued, too.
    std::vector<std::pair<ContextId, ContextId>> continued;
    do {
        continued.clear();
        const Chains chains(definitions);
        for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i)
            if (const ContextId caller = chains.continuation({i}); caller.valid())
                continued.emplace_back(ContextId{i}, caller);
        for (const auto& [context, caller] : continued)
            definitions.contexts[context.value].parent = caller;
    } while (!continued.empty());

    std::vector<ContextId> same = Chains(definitions).first_of_each_name();
    for (model::CallingContext& context : definitions.contexts)
        context.parent = context.parent.valid() ? same[context.parent.value] : context.parent;
    return same;
}

}  // namespace critpath::replayer::load
