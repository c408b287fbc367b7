// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/archive.h"

#include "collector/archive/communication.hpp"
#include "collector/archive/event_merge.hpp"
#include "collector/archive/process.hpp"
#include "collector/archive/spool_reader.hpp"
#include "collector/archive/unify.hpp"
#include "formats/otf2/archive.hpp"
#include "formats/otf2/definitions.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace critpath::archive
{

namespace
{

// A failure that all ranks know about.
struct Agreed {
    std::string error;
};

// One archive from the spool to the last definition: phases that each end in a verdict of all ranks.
class Session
{
public:
    Session(const critpath_archive_request& request, const Communication& communication)
        : request_(request), communication_(communication), files_{request.trace}
    {
    }

    void run()
    {
        phase([&] { spool_ = read_process(request_.spool, request_.rank); });
        phase([&] { process_.emplace(*spool_); });
        phase([&] { ids_ = process_->resolve(unify(communication_, process_->tables(), definitions_)); });
        open();
        phase([&] { write_all_events(); });
        phase([&] { archive_->close_events(); });
        phase([&] { archive_->open_local_definitions(); });
        phase([&] { archive_->write_local_definitions(locations_); });
        phase([&] { archive_->close_local_definitions(); });
        phase([&] { gather(communication_, summary_, definitions_); });
        phase([&] { write_global_definitions(); });
        phase([&] { archive_->close(); });
        phase([&] { check_files(); });
    }

    critpath_archive_summary sums()
    {
        std::vector<std::uint64_t> sums = {calls_, samples_, events_, bytes_, lost_records_, lost_samples_};
        communication_.sum(sums);
        critpath_archive_summary summary{};
        summary.calls = sums[0];
        summary.samples = sums[1];
        summary.events = sums[2];
        summary.bytes = sums[3];
        summary.lost_records = sums[4];
        summary.lost_samples = sums[5];
        return summary;
    }

    // After a failure that all know about: nothing of the archive stays, the spool does.
    void remove_files() noexcept
    {
        if (!has_created_) {
            return;
        }
        std::error_code ignored;
        for (const OTF2_LocationRef location : locations_) {
            std::filesystem::remove(files_.events(location), ignored);
            std::filesystem::remove(files_.local_definitions(location), ignored);
        }
        communication_.barrier();
        if (communication_.rank() == 0) {
            std::filesystem::remove(files_.event_directory(), ignored);
            std::filesystem::remove(files_.anchor(), ignored);
            std::filesystem::remove(files_.definitions(), ignored);
        }
    }

private:
    template <class Step>
    void phase(Step step)
    {
        if (std::string error = communication_.agree(step); !error.empty()) {
            throw Agreed{std::move(error)};
        }
    }

    void open()
    {
        // libotf2 would truncate what is there; asking first also keeps its collective steps from failing on rank 0.
        phase([&] { check_target(); });
        has_created_ = true;
        phase([&] {
            const otf2::Collectives collectives = {&otf2_collectives(), const_cast<Communication*>(&communication_),
                                                   otf2_context(communication_)};
            // Locations of the whole archive: known only roughly, and only for the size of a buffer.
            const auto locations = static_cast<std::uint64_t>(communication_.size()) * spool_->threads.size();
            archive_.emplace(request_.trace, locations, &collectives);
        });
        phase([&] { archive_->open_events(); });
    }

    void check_target() const
    {
        if (communication_.rank() != 0) {
            return;
        }
        for (const std::string& file : {files_.event_directory(), files_.anchor(), files_.definitions()}) {
            if (std::filesystem::exists(file)) {
                fail(ExitCode::Failed, "{}: exists already; choose another directory or remove it", file);
            }
        }
        if (::access(request_.trace, W_OK | X_OK) != 0) {
            throw_errno("{}", request_.trace);
        }
    }

    void write_all_events()
    {
        summary_.begin = std::numeric_limits<std::uint64_t>::max();
        const auto rank = static_cast<std::uint32_t>(request_.rank);
        for (const ThreadSpool& thread : spool_->threads) {
            locations_.push_back(otf2::location_reference(rank, thread.thread));
        }
        for (std::size_t i = 0; i < spool_->threads.size(); ++i) {
            otf2::EventWriter writer = archive_->event_writer(locations_[i]);
            const EventCounts counts = write_events(*process_, i, ids_, writer);
            const std::uint64_t events = archive_->finish(writer);
            add_location(i, counts, writer, events);
        }
        describe_process();
    }

    void add_location(std::size_t position, const EventCounts& counts, const otf2::EventWriter& writer,
                      std::uint64_t events)
    {
        const ThreadSpool& spool = spool_->threads[position];
        const ThreadData& data = process_->threads()[position];
        const std::uint64_t lost_records = data.lost_records + counts.unresolved;
        otf2::LocationDefinition location;
        location.rank = static_cast<std::uint32_t>(request_.rank);
        location.thread = spool.thread;
        location.events = events;
        if (lost_records > 0) {
            location.counts["lost_records"] = lost_records;
        }
        if (data.lost_samples > 0) {
            location.counts["lost_samples"] = data.lost_samples;
        }
        if (writer.clipped() > 0) {
            location.counts["clipped_times"] = writer.clipped();
        }
        const spool::SampleFormat& sampling = spool.sampling();
        if (data.generator.is_zero()) {
            location.texts["no_samples"] =
                sampling.why_not != 0 ? std::strerror(static_cast<int>(sampling.why_not)) : "off";
        } else if (std::string_view(sampling.event) != "cpu-clock" && sampling.counted > 0) {
            location.numbers["ns_per_count"] =
                static_cast<double>(sampling.time_running) / static_cast<double>(sampling.counted);
        }
        summary_.locations.push_back(std::move(location));
        if (writer.has_events()) {
            summary_.begin = std::min(summary_.begin, writer.first_time());
            summary_.end = std::max(summary_.end, writer.last_time());
        }
        calls_ += counts.calls;
        samples_ += counts.samples;
        events_ += events;
        lost_records_ += lost_records;
        lost_samples_ += data.lost_samples;
    }

    void describe_process()
    {
        const spool::SpoolHeader& header = spool_->threads.front().header();
        summary_.process.host = header.host;
        summary_.process.properties = {{"host", header.host},
                                       {"boot_id", header.boot_id},
                                       {"pid", std::to_string(header.pid)},
                                       {"command", fmt::format("{}", fmt::join(process_->command(), " "))}};
        summary_.realtime = header.realtime + (summary_.begin - header.process_start);
    }

    void write_global_definitions()
    {
        if (communication_.rank() == 0) {
            otf2::write_definitions(*archive_, definitions_);
        }
    }

    // libotf2 3.0.2 does not report every failed write.
    void check_files()
    {
        for (const OTF2_LocationRef location : locations_) {
            bytes_ += std::filesystem::file_size(files_.events(location));
        }
        if (communication_.rank() == 0) {
            for (const std::string& file : {files_.anchor(), files_.definitions()}) {
                if (std::filesystem::file_size(file) == 0) {
                    fail(ExitCode::Failed, "{}: was not written; is the file system full?", file);
                }
            }
        }
    }

    const critpath_archive_request& request_;
    const Communication& communication_;
    const otf2::ArchiveFiles files_;
    std::optional<ProcessSpool> spool_;
    std::optional<ProcessData> process_;
    otf2::TraceDefinitions definitions_;  // on rank 0
    EventIds ids_;
    std::optional<otf2::Archive> archive_;
    bool has_created_ = false;
    std::vector<OTF2_LocationRef> locations_;
    ProcessSummary summary_;
    std::uint64_t calls_ = 0, samples_ = 0, events_ = 0, bytes_ = 0, lost_records_ = 0, lost_samples_ = 0;
};

void say(critpath_archive_summary& summary, const critpath_archive_request& request, std::string error)
{
    std::replace(error.begin(), error.end(), '\n', ' ');
    if (error.find(';') == std::string::npos) {
        error += fmt::format("; the recording is kept in {}", request.spool);
    }
    const std::size_t length = std::min(error.size(), sizeof summary.error - 1);
    std::memcpy(summary.error, error.data(), length);
    summary.error[length] = '\0';
}

}  // namespace

}  // namespace critpath::archive

extern "C" __attribute__((visibility("default"))) int
critpath_archive_write(const critpath_archive_request* request, MPI_Comm comm, critpath_archive_summary* summary)
{
    using namespace critpath::archive;
    *summary = {};
    try {
        const Communication communication(comm);
        Session session(*request, communication);
        try {
            session.run();
            *summary = session.sums();
            return 0;
        } catch (const Agreed& failure) {
            session.remove_files();
            say(*summary, *request, failure.error);
        }
    } catch (const std::exception& e) {
        say(*summary, *request, e.what());
    } catch (...) {
        say(*summary, *request, "the archive: unknown error");
    }
    return 1;
}
