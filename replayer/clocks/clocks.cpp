// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/clocks.hpp"

#include <fmt/core.h>

#include <set>

namespace critpath::replayer::clocks
{

std::string check(const model::Definitions& definitions, bool known)
{
    std::set<model::NodeId> domains;
    for (const auto& process : definitions.processes) {
        domains.insert(process.clock_domain);
    }
    if (domains.size() <= 1) {
        return {};
    }
    if (known) {
        return fmt::format(
            "the processes ran on {} hosts with clocks of their own, which are taken as they are: edges "
            "between hosts may be off by the difference of the clocks; record on one host for exact times",
            domains.size());
    }
    return fmt::format(
        "the trace is of {} nodes and does not say how their clocks differ: they are taken as synchronised",
        domains.size());
}

}  // namespace critpath::replayer::clocks
