// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/call_events.hpp"

#include "formats/otf2/function_map.hpp"

namespace critpath::archive
{

using functions::FunctionId;
using functions::SemanticClass;

namespace
{

std::uint32_t root(const spool::Record& call)
{
    switch (call.peer) {
    case spool::root_none:
        return OTF2_COLLECTIVE_ROOT_NONE;
    case spool::root_in_my_group:
        return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    case spool::root_is_me:
        return OTF2_COLLECTIVE_ROOT_SELF;
    default:
        return static_cast<std::uint32_t>(call.peer);
    }
}

}  // namespace

const WindowId* EventTarget::window(std::int32_t id)
{
    const auto index = static_cast<std::size_t>(id);
    if (index < ids.windows.size() && ids.windows[index].window != otf2::none) {
        return &ids.windows[index];
    }
    unresolved += id == -1 ? 0 : 1;
    return nullptr;
}

std::optional<OTF2_CommRef> EventTarget::collective_comm(const spool::Record& call, FunctionId function)
{
    if (!otf2::collective_operation(function)) {
        return std::nullopt;
    }
    return comm(functions::info(function).semantic_class == SemanticClass::Init ? 0 : call.comm);
}

otf2::CollectiveEnd EventTarget::collective(const spool::Record& call, OTF2_CommRef comm)
{
    const FunctionId function{call.function};
    const SemanticClass semantics = functions::info(function).semantic_class;
    const bool is_data = semantics == SemanticClass::Collective || semantics == SemanticClass::Icollective;
    const bool has_root = is_data || semantics == SemanticClass::CommDynamic;
    const bool has_volume = is_data || functions::group_of(semantics) == functions::Group::Io;
    return {*otf2::collective_operation(function), comm, has_root ? root(call) : OTF2_COLLECTIVE_ROOT_NONE,
            has_volume ? call.bytes : 0, has_volume ? call.extra : 0};
}

}  // namespace critpath::archive
