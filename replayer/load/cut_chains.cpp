// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/cut_chains.hpp"

#include "formats/otf2/function_map.hpp"
#include "replayer/context_names.hpp"

#include <cstdint>
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
    explicit Chains(const model::Definitions& definitions)
        : definitions_(definitions), contexts_(definitions.contexts),
          plain_(first_alike(definitions, SitesCount::OfMpiCalls))
    {
        find_callers();
    }

    /// Where the function of `context` is called, if that is the same wherever it is known.
    [[nodiscard]] std::uint64_t site(ContextId context) const
    {
        return callers_[contexts_[context.value].region.value].site;
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
        const bool is_cut_off = definitions_.regions[outermost.value].name == otf2::unknown_callers_region;
        return is_cut_off || only_caller(outermost).valid() ? ContextId::none() : caller;
    }

private:
    struct Callers {
        ContextId first = ContextId::none();
        bool is_only = true;
        std::uint64_t site = 0;  // where all of them call it; 0: at several places
    };

    /// An order of contexts that are alike, which does not depend on that of the definitions.
    [[nodiscard]] bool is_called_before(ContextId a, ContextId b) const
    {
        for (; a.valid() && b.valid(); a = contexts_[a.value].parent, b = contexts_[b.value].parent)
            if (contexts_[a.value].site != contexts_[b.value].site)
                return contexts_[a.value].site < contexts_[b.value].site;
        return false;
    }

    void find_callers()
    {
        callers_.resize(definitions_.regions.size());
        for (const model::CallingContext& context : contexts_) {
            if (!context.parent.valid())
                continue;
            Callers& callers = callers_[context.region.value];
            if (!callers.first.valid()) {
                callers.first = context.parent;
                callers.site = context.site;
                continue;
            }
            callers.site = callers.site == context.site ? context.site : 0;
            if (plain_[callers.first.value] != plain_[context.parent.value])
                callers.is_only = false;
            else if (is_called_before(context.parent, callers.first))
                callers.first = context.parent;
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
    std::vector<ContextId> plain_;  // by ContextId: the first one that is like it, wherever that is called
    std::vector<Callers> callers_;  // by RegionId
};

}  // namespace

std::vector<ContextId> continue_cut_chains(model::Definitions& definitions)
{
    // What is continued makes the chains of callees alike, which may then be continued, too.
    // (Not for ever: each round goes over all contexts, and a damaged trace may have as many to make.)
    constexpr int most_rounds = 64;
    std::vector<std::pair<ContextId, ContextId>> continued;
    int round = 0;
    do {
        continued.clear();
        const Chains chains(definitions);
        for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i)
            if (const ContextId caller = chains.continuation({i}); caller.valid())
                continued.emplace_back(ContextId{i}, caller);
        for (const auto& [context, caller] : continued) {
            definitions.contexts[context.value].site = chains.site(context);
            definitions.contexts[context.value].parent = caller;
        }
    } while (!continued.empty() && ++round < most_rounds);

    std::vector<ContextId> same = first_alike(definitions, SitesCount::All);
    for (model::CallingContext& context : definitions.contexts)
        context.parent = context.parent.valid() ? same[context.parent.value] : context.parent;
    return same;
}

}  // namespace critpath::replayer::load
