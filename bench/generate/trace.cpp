// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/trace.hpp"

#include "formats/support/error.hpp"

#include <cmath>
#include <filesystem>

namespace critpath::bench
{

namespace
{

/// Where the ranks of `process` begin.
int first_rank(int ranks, int process, int processes)
{
    return static_cast<int>(static_cast<std::int64_t>(ranks) * process / processes);
}

/// The first process only, before libotf2 is asked: it fails on one process and waits on the others.
void make_directory(const std::filesystem::path& directory)
{
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error)
        fail(ExitCode::Failed, "{}: cannot be made: {}; choose another directory", directory.string(), error.message());
    if (!std::filesystem::is_empty(directory, error) || error)
        fail(ExitCode::Failed, "{}: is not empty; choose another directory or remove it", directory.string());
}

}  // namespace

Trace::Trace(const Options& options, const Dice& dice, Vocabulary& vocabulary, MPI_Comm comm)
    : options_(options), vocabulary_(vocabulary), comm_(comm), communication_(comm),
      first_(first_rank(options.locations, communication_.rank(), communication_.size())),
      last_(first_rank(options.locations, communication_.rank() + 1, communication_.size()))
{
    const std::string error = communication_.agree([&] {
        if (communication_.rank() == 0)
            make_directory(options.directory);
    });
    if (!error.empty())
        throw Refused(error);
    const std::optional<otf2::Collectives> collectives = communication_.otf2_collectives();
    archive_ = std::make_unique<otf2::Archive>(options.directory, static_cast<std::uint64_t>(options.locations),
                                               collectives ? &*collectives : nullptr);
    archive_->open_events();
    const Time period = options.samples > 0 ? std::llround(1e9 / options.samples) : 0;
    for (int rank = first_; rank < last_; ++rank) {
        const auto r = static_cast<std::uint32_t>(rank);
        const auto phase = static_cast<Time>(dice.below(static_cast<std::uint64_t>(period), Purpose::Sample, 0, r));
        locations_.emplace_back(archive_->event_writer(otf2::location_reference(r, 0)), vocabulary,
                                Sampling{period, start_of_time + phase});
    }
}

Written Trace::close(Time begin, Time end)
{
    std::vector<std::uint64_t> events;
    const Written written = finish_events(events);
    archive_->open_local_definitions();
    for (int rank = first_; rank < last_; ++rank) {
        const OTF2_LocationRef id = otf2::location_reference(static_cast<std::uint32_t>(rank), 0);
        archive_->write_local_definitions({&id, 1}, clocks(rank, begin, end));
    }
    archive_->close_local_definitions();
    if (communication_.rank() == 0) {
        otf2::TraceDefinitions& definitions = vocabulary_.definitions();
        definitions.begin = static_cast<std::uint64_t>(begin);
        definitions.end = static_cast<std::uint64_t>(end);
        for (std::uint32_t rank = 0; rank < events.size(); ++rank) {
            otf2::LocationDefinition location;
            location.rank = rank;
            location.events = events[rank];
            if (options_.samples == 0)
                location.texts = {{"no_samples", "off"}};
            definitions.locations.push_back(std::move(location));
        }
        otf2::write_definitions(*archive_, definitions);
    }
    archive_->close();
    return written;
}

/// The clocks of other nodes than the first are known to half a microsecond; what they show is right.
std::vector<otf2::ClockPoint> Trace::clocks(int rank, Time begin, Time end) const
{
    const auto at = [](Time time) { return static_cast<std::uint64_t>(time); };
    if (options_.locations <= options_.ranks_a_node)
        return {{at(begin), 0, 0}};
    const std::int64_t half_width = rank < options_.ranks_a_node ? 0 : 500;
    return {{at(begin), 0, half_width}, {at(end), 0, half_width}};
}

/// `events` of all locations, on the first process.
Written Trace::finish_events(std::vector<std::uint64_t>& events)
{
    std::vector<std::uint64_t> own;
    std::vector<std::uint64_t> sums(2);
    for (Location& location : locations_) {
        own.push_back(archive_->finish(location.writer()));
        sums[0] += own.back();
        sums[1] += location.messages();
    }
    archive_->close_events();
    communication_.sum(sums);
    std::vector<int> counts, displacements;
    for (int p = 0; p < communication_.size(); ++p) {
        displacements.push_back(first_rank(options_.locations, p, communication_.size()));
        counts.push_back(first_rank(options_.locations, p + 1, communication_.size()) - displacements.back());
    }
    events.resize(communication_.rank() == 0 ? static_cast<std::size_t>(options_.locations) : 0);
    MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_UINT64_T, events.data(), counts.data(),
                displacements.data(), MPI_UINT64_T, 0, comm_);
    return {sums[0], sums[1]};
}

}  // namespace critpath::bench
