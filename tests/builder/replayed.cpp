// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/builder/replayed.hpp"

#include "replayer/attribute/attribute.hpp"
#include "replayer/exchange.hpp"
#include "replayer/load/common_point.hpp"
#include "replayer/pair/call_costs.hpp"

#include <fmt/format.h>

namespace critpath::tests
{

namespace
{

std::string place(const model::Segment& segment)
{
    const auto kind = static_cast<model::SegmentKind>(segment.kind);
    const std::string where = segment.from == segment.location ? fmt::format("{}", segment.location)
                                                               : fmt::format("{}>{}", segment.from, segment.location);
    return fmt::format("{}{} {}", model::name(kind), segment.low_confidence != 0 ? "?" : "", where);
}

std::string us(std::int64_t ns)
{
    return ns % 1000 == 0 ? fmt::format("{}", ns / 1000) : fmt::format("{:.3f}", static_cast<double>(ns) / 1000);
}

std::int64_t sum_us(const std::vector<model::RowTime>& times, const std::vector<model::Row>& rows,
                    const std::string& name)
{
    std::int64_t ns = 0;
    for (const model::RowTime& time : times)
        if (rows[time.row.value].name == name)
            ns += time.ns;
    return ns / 1000;
}

}  // namespace

std::string Replayed::path() const
{
    std::string words;
    for (std::size_t i = 0; i < segments.size();) {
        const std::string where = place(segments[i]);
        const std::int64_t begin = segments[i].begin;
        const bool is_jump = segments[i].from != segments[i].location;
        std::size_t next = i + 1;
        while (!is_jump && next < segments.size() && place(segments[next]) == where)
            ++next;
        words += fmt::format("{}{}: {}-{}", words.empty() ? "" : " | ", where, us(begin), us(segments[next - 1].end));
        i = next;
    }
    return words;
}

std::int64_t Replayed::path_us(const std::string& row) const
{
    return sum_us(profile.path, profile.rows, row);
}

std::int64_t Replayed::total_us(const std::string& row) const
{
    return sum_us(profile.totals, profile.rows, row);
}

replayer::Replay load(const Program& program, MPI_Comm comm, replayer::Rules rules)
{
    replayer::Replay loaded;
    loaded.comm = comm;
    MPI_Comm_rank(comm, &loaded.rank);
    MPI_Comm_size(comm, &loaded.size);
    loaded.rules = rules;
    loaded.definitions = program.definitions();
    for (int r = 0; r < program.ranks(); ++r) {
        loaded.owner.push_back(program.ranks() >= loaded.size ? r * loaded.size / program.ranks() : r);
        if (loaded.owner.back() == loaded.rank)
            loaded.processes.push_back(program.trace(r));
    }
    replayer::load::cut_at_common_point(loaded);
    return loaded;
}

Replayed replay(const replayer::Replay& loaded, const Knowledge& know)
{
    replayer::rules::Calibration calibration;
    calibration.clocks = replayer::rules::ClockUncertainty(loaded.definitions);
    calibration.calls = replayer::calibrate_calls(loaded);
    know(calibration);
    const auto pairs = replayer::pair(loaded, calibration);
    know(calibration);
    const auto collectives = replayer::collect(loaded, calibration);
    know(calibration);
    const auto predecessors = replayer::resolve(loaded, pairs, collectives, calibration);
    auto path = replayer::restore(loaded, predecessors);

    Replayed result;
    result.profile = replayer::attribute(loaded, {pairs, collectives, predecessors}, path);
    std::vector<std::vector<model::Segment>> to(static_cast<std::size_t>(loaded.size));
    to[0] = path.block;
    result.segments = replayer::exchange(loaded.comm, to).items;
    return result;
}

Replayed replay(const Program& program, replayer::Rules rules)
{
    const replayer::Replay loaded = load(program, MPI_COMM_WORLD, rules);
    Replayed together = replay(loaded);
    return loaded.rank == 0 ? together : replay_alone(program, rules);
}

Replayed replay_alone(const Program& program, replayer::Rules rules)
{
    return replay(load(program, MPI_COMM_SELF, rules));
}

std::string path(const Program& program, replayer::Rules rules)
{
    return replay(program, rules).path();
}

}  // namespace critpath::tests
