// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/clocks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::replayer::clocks
{

using model::Ns;

namespace
{

constexpr std::int64_t not_known = -1;

}  // namespace

// Domains are numbered densely.
std::size_t count_domains(const model::Definitions& definitions)
{
    std::size_t count = 0;
    for (const model::Process& process : definitions.processes) {
        count = std::max<std::size_t>(count, process.clock_domain.value + 1);
    }
    return count;
}

Findings compare(Replay& replay, bool domains_known)
{
    model::Definitions& definitions = replay.definitions;
    Findings findings;
    findings.domains_known = domains_known;
    findings.domains = count_domains(definitions);
    definitions.clock_uncertainty.clear();
    if (findings.domains <= 1) {
        return findings;
    }
    std::vector<std::int64_t> largest(findings.domains, not_known);
    for (const model::ProcessTrace& trace : replay.processes) {
        auto& domain = largest[definitions.processes[trace.process.value].clock_domain.value];
        domain = std::max(domain, trace.clock_uncertainty ? trace.clock_uncertainty->count() : not_known);
    }
    MPI_Allreduce(MPI_IN_PLACE, largest.data(), static_cast<int>(largest.size()), MPI_INT64_T, MPI_MAX, replay.comm);
    findings.unknown = static_cast<std::size_t>(std::ranges::count(largest, not_known));
    for (const std::int64_t ns : largest) {
        definitions.clock_uncertainty.push_back(Ns{std::max<std::int64_t>(ns, 0)});
    }
    findings.uncertainty = definitions.largest_uncertainty();
    findings.measured = std::move(largest);
    return findings;
}

std::string warning(const Findings& findings)
{
    if (findings.domains <= 1 || findings.unknown == 0) {
        return {};
    }
    if (!findings.domains_known) {
        return fmt::format(
            "the trace does not say how the clocks of its {} nodes differ, and what it has of messages and "
            "collectives does not tell it of {}: these are taken as synchronised",
            findings.domains, findings.unknown);
    }
    return fmt::format(
        "the processes ran with {} clocks, and how {} of them went was not measured, nor do messages tell it: "
        "edges between them may be off by the difference of the clocks; record again until MPI_Finalize "
        "is reached",
        findings.domains, findings.unknown);
}

}  // namespace critpath::replayer::clocks
