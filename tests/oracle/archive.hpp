// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how an execution becomes a trace on disk, as the collector would have recorded it.
#pragma once

#include "formats/otf2/trace_writer.hpp"
#include "tests/oracle/simulate.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace critpath::oracle
{

/// At true time t, the clock of a node shows t + offset + drift * t.
struct NodeClock {
    std::int64_t offset_ns = 0;
    std::int64_t drift_ppb = 0;
    std::int64_t more_half_width_ns = 0, more_error_ns = 0;  // of its measurements, than those of all (Clocks)
};

/// The clocks of the machine, and what the trace says about them. The execution is simulated in true time; only the
/// written time stamps are those of the clocks.
struct Clocks {
    enum class Said : std::uint8_t {
        OneClock,  // all nodes share one
        Nothing,   // as traces of other tools
        Measured   // each was compared with true time, at the first and the last event
    };

    std::vector<NodeClock> nodes;  // empty: all are true
    Said said = Said::OneClock;
    std::int64_t half_width_ns = 0;         // of the measurements: each interval contains the truth,
    std::int64_t error_ns = 0;              // and its middle is off by this, one way on one node, the other on the next
    std::int64_t epoch_ns = 1'000'000'000;  // what a true clock shows when the program begins

    /// What the clock of the node shows, `ns` after the program began.
    [[nodiscard]] std::int64_t shown(std::size_t node, std::int64_t ns) const;
};

/// On which node a rank is, and what the trace says about the clock of that. Where nodes are known but nothing is said
/// about clocks, the replay takes each node's for one of its own, and corrects it.
void describe_rank(otf2::TraceWriter& trace, int rank, const Machine& machine, const Graph& graph,
                   const Clocks& clocks = {});

/// Translates ticks to what the clock of the rank's node shows.
std::function<std::uint64_t(std::int64_t)> clock_of(int rank, const Machine& machine, const Clocks& clocks);

/// Writes a program into an archive that has others as well, one behind the other.
class PartWriter
{
public:
    /// Defines its communicators.
    PartWriter(otf2::TraceWriter& trace, const Program& program, const Machine& machine, const Clocks& clocks = {});

    /// What its main thread did; MPI_Finalize only if it is the last part.
    void write(int rank, const Execution& execution, otf2::EventWriter& out, bool is_last) const;

private:
    otf2::TraceWriter* trace_;
    const Program* program_;
    Machine machine_;
    Clocks clocks_;
    std::vector<OTF2_CommRef> comms_;
    std::uint64_t first_id_;  // of requests
};

/// Makes an archive in `directory`, which must exist and be empty. Ticks become ns.
void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const Execution& execution, const Clocks& clocks = {});

}  // namespace critpath::oracle
