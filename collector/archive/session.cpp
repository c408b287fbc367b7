// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/session.hpp"

#include "formats/support/error.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include <unistd.h>

namespace critpath::archive
{

Session::Session(SessionRequest request, const Communication& communication)
    : request_(std::move(request)), communication_(communication), files_{request_.trace}
{
    for (const int rank : request_.ranks) {
        ranks_.emplace_back().number = rank;
    }
}

Totals Session::run()
{
    try {
        write();
        return sum();
    } catch (const Agreed&) {
        remove_files();
        throw;
    }
}

void Session::write()
{
    phase([this] { read_definitions(); });
    phase([this] { numbers_ = unify(communication_, *tables_, definitions_, disagreements_); });
    tables_.reset();
    open();
    phase([this] { write_events(); });
    phase([this] { archive_->close_events(); });
    phase([this] { archive_->open_local_definitions(); });
    phase([this] { write_local_definitions(); });
    phase([this] { archive_->close_local_definitions(); });
    phase([this] { gather(communication_, summaries(), disagreements_, definitions_); });
    phase([this] { write_global_definitions(); });
    phase([this] { archive_->close(); });
    phase([this] { check_files(); });
}

void Session::phase(const std::function<void()>& step)
{
    if (std::string error = communication_.agree(step); !error.empty()) {
        throw Agreed(error);
    }
}

/// In MPI_Finalize a process has one rank, and no threads of its own. Throws what failed for the first rank.
void Session::for_each_rank(const std::function<void(std::size_t)>& step) const
{
    std::vector<std::exception_ptr> failures(ranks_.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < ranks_.size(); i = next++) {
            try {
                step(i);
            } catch (...) {
                failures[i] = std::current_exception();
            }
        }
    };
    constexpr std::size_t most_threads = 16;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min({most_threads, cores, ranks_.size()}); ++i) {
        helpers.emplace_back(work);
    }
    work();
    helpers.clear();
    for (const std::exception_ptr& failure : failures) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
}

/// Of all that numbers are for.
Hash128 Session::content_of(const Rank& rank)
{
    Hasher hasher;
    if (rank.data) {
        const std::vector<std::byte> tables = pack(rank.data->tables());
        hasher.add(std::string_view(reinterpret_cast<const char*>(tables.data()), tables.size()));
    }
    for (const OTF2_LocationRef location : rank.locations) {
        hasher.add(location);
    }
    return hasher.result();
}

void Session::read(Rank& rank) const
{
    const auto number = static_cast<std::uint32_t>(rank.number);
    rank.locations.clear();
    if (std::optional<ProcessSpool> spool = request_.read(rank.number)) {
        rank.spool = std::make_unique<ProcessSpool>(std::move(*spool));
        rank.data = std::make_unique<ProcessData>(*rank.spool);
        rank.unreadable_files = rank.data->unreadable_files();
        for (const ThreadSpool& thread : rank.spool->threads) {
            rank.locations.push_back(otf2::location_reference(number, thread.thread));
        }
    } else {
        rank.locations.push_back(otf2::location_reference(number, 0));
    }
}

/// Numbers are those of the entries of the first time.
void Session::read_again(Rank& rank) const
{
    const Hash128 before = rank.content;
    read(rank);
    rank.content = content_of(rank);
    if (rank.content != before) {
        fail(
            ExitCode::Failed,
            "{}: what rank {} has recorded, or a binary that it ran, has changed meanwhile; wait until the application "
            "has ended, and repeat this",
            request_.trace, rank.number);
    }
}

/// The samples of many ranks would not fit into memory, so that they are read again for the events.
void Session::read_definitions()
{
    tables_.emplace(ranks_.size());
    for_each_rank([this](std::size_t i) {
        Rank& rank = ranks_[i];
        read(rank);
        tables_->add(i, rank.data ? rank.data->tables() : Tables{});
        if (ranks_.size() > 1) {
            rank.content = content_of(rank);
            rank.data.reset();
            rank.spool.reset();
        }
    });
}

void Session::open()
{
    // libotf2 would truncate what is there; asking first also keeps its collective steps from failing on rank 0.
    phase([this] { check_target(); });
    has_created_ = true;
    phase([this] {
        const std::optional<otf2::Collectives> collectives = communication_.otf2_collectives();
        // Locations of the whole archive: known only roughly, and only for the size of a buffer.
        std::size_t locations = 0;
        for (const Rank& rank : ranks_) {
            locations += rank.locations.size();
        }
        archive_.emplace(request_.trace, static_cast<std::uint64_t>(communication_.size()) * locations,
                         collectives ? &*collectives : nullptr);
    });
    phase([this] { archive_->open_events(); });
}

void Session::check_target() const
{
    if (communication_.rank() != 0) {
        return;
    }
    for (const std::string& file : {files_.event_directory(), files_.anchor(), files_.definitions()}) {
        if (std::filesystem::exists(file)) {
            fail(ExitCode::Failed, "{}: exists already; choose another directory or remove it", file);
        }
    }
    if (::access(request_.trace.c_str(), W_OK | X_OK) != 0) {
        throw_errno("{}", request_.trace);
    }
}

void Session::write_events()
{
    for_each_rank([this](std::size_t i) {
        Rank& rank = ranks_[i];
        if (ranks_.size() > 1) {
            read_again(rank);
        }
        const auto number = static_cast<std::uint32_t>(rank.number);
        rank.written = rank.data ? write_rank(*archive_, number, *rank.data, rank.data->resolve(numbers_[i]))
                                 : write_missing_rank(*archive_, number);
        rank.data.reset();
        rank.spool.reset();
    });
}

void Session::write_local_definitions()
{
    for (const Rank& rank : ranks_) {
        archive_->write_local_definitions(rank.locations, rank.written.clocks);
    }
}

std::vector<ProcessSummary> Session::summaries() const
{
    std::vector<ProcessSummary> all;
    for (const Rank& rank : ranks_) {
        all.push_back(rank.written.summary);
    }
    return all;
}

void Session::write_global_definitions()
{
    if (communication_.rank() == 0) {
        otf2::write_definitions(*archive_, definitions_);
    }
}

void Session::check_files()
{
    for (const Rank& rank : ranks_) {
        for (const otf2::LocationDefinition& location : rank.written.summary.locations) {
            const OTF2_LocationRef reference = otf2::location_reference(location.rank, location.thread);
            archive_->check_location(reference, location.events);
            bytes_ += std::filesystem::file_size(files_.events(reference));
        }
    }
    if (communication_.rank() == 0) {
        archive_->check_definitions();
    }
}

/// After a failure that all know about: nothing of the archive stays, the spool does.
void Session::remove_files() noexcept
{
    if (!has_created_) {
        return;
    }
    std::error_code ignored;
    for (const Rank& rank : ranks_) {
        for (const OTF2_LocationRef location : rank.locations) {
            std::filesystem::remove(files_.events(location), ignored);
            std::filesystem::remove(files_.local_definitions(location), ignored);
        }
    }
    communication_.barrier();
    if (communication_.rank() == 0) {
        std::filesystem::remove(files_.event_directory(), ignored);
        std::filesystem::remove(files_.anchor(), ignored);
        std::filesystem::remove(files_.definitions(), ignored);
    }
}

std::set<std::string> Session::unreadable_files() const
{
    std::set<std::string> files;
    for (const Rank& rank : ranks_) {
        files.insert(rank.unreadable_files.begin(), rank.unreadable_files.end());
    }
    return files;
}

Totals Session::sum() const
{
    std::vector<std::uint64_t> sums(10);
    for (const Rank& rank : ranks_) {
        const WrittenRank& written = rank.written;
        const std::uint64_t own[] = {
            written.calls,        written.samples,      written.events,          0,
            written.lost_records, written.lost_samples, written.damaged_records, written.sampled_ns,
            written.respite_ns,   written.cut_samples};
        std::transform(sums.begin(), sums.end(), own, sums.begin(), std::plus<>());
    }
    sums[3] = bytes_;
    communication_.sum(sums);
    return {sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7], sums[8], sums[9]};
}

}  // namespace critpath::archive
