// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/timings.hpp"

#include <fmt/format.h>

#include <iterator>

#include <sys/resource.h>

namespace critpath::replayer
{

namespace
{

double seconds(const timeval& time)
{
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

PhaseCost now()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {MPI_Wtime(), seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss)};
}

/// The same phases of all processes, on process 0.
std::vector<Timings::Phase> of_all(std::vector<Timings::Phase> phases, MPI_Comm comm)
{
    std::vector<double> longest, sums;
    for (const Timings::Phase& phase : phases) {
        longest.push_back(phase.cost.elapsed);
        sums.push_back(phase.cost.processor);
        sums.push_back(phase.cost.peak_kib);
    }
    std::vector<double> all_longest(longest.size()), all_sums(sums.size());
    MPI_Reduce(longest.data(), all_longest.data(), static_cast<int>(longest.size()), MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Reduce(sums.data(), all_sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, 0, comm);
    for (std::size_t i = 0; i < phases.size(); ++i)
        phases[i].cost = {all_longest[i], all_sums[2 * i], all_sums[2 * i + 1]};
    return phases;
}

Timings::Phase total(const std::vector<Timings::Phase>& phases)
{
    Timings::Phase result{"total", {}};
    for (const Timings::Phase& phase : phases) {
        result.cost.elapsed += phase.cost.elapsed;
        result.cost.processor += phase.cost.processor;
        result.cost.peak_kib = phase.cost.peak_kib;  // never falls
    }
    return result;
}

std::string table(const std::vector<Timings::Phase>& phases, int processes)
{
    std::string text;
    auto out = std::back_inserter(text);
    fmt::format_to(out, "cpreplay: {:<10} {:>9} {:>13} {:>9}   ({} process{})\n", "phase", "seconds", "processor s",
                   "peak MiB", processes, processes == 1 ? "" : "es together");
    for (const auto& [name, cost] : phases)
        fmt::format_to(out, "cpreplay: {:<10} {:9.3f} {:13.3f} {:9.1f}\n", name, cost.elapsed, cost.processor,
                       cost.peak_kib / 1024);
    return text;
}

std::string json(const std::vector<Timings::Phase>& phases, int processes)
{
    std::string text = fmt::format(R"({{"processes": {}, "phases": [)", processes);
    auto out = std::back_inserter(text);
    const char* separator = "";
    for (const auto& [name, cost] : phases) {
        fmt::format_to(out, R"({}{{"name": "{}", "seconds": {:.6f}, "processor_seconds": {:.6f}, "peak_kib": {:.0f}}})",
                       separator, name, cost.elapsed, cost.processor, cost.peak_kib);
        separator = ", ";
    }
    return text + "]}\n";
}

}  // namespace

Timings::Timings() : last_(now()) {}

void Timings::phase_ended(std::string_view name)
{
    const PhaseCost current = now();
    phases_.push_back(
        {std::string(name), {current.elapsed - last_.elapsed, current.processor - last_.processor, current.peak_kib}});
    last_ = current;
}

std::string Timings::text(TimingsFormat format, MPI_Comm comm) const
{
    if (format == TimingsFormat::None)
        return {};
    std::vector<Phase> phases = of_all(phases_, comm);
    phases.push_back(total(phases));
    int rank = 0, processes = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &processes);
    if (rank != 0)
        return {};
    return format == TimingsFormat::Table ? table(phases, processes) : json(phases, processes);
}

}  // namespace critpath::replayer
