// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/archive.h"

#include "collector/archive/mpi_communication.hpp"
#include "collector/archive/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace critpath::archive
{

namespace
{

Totals write(const critpath_archive_request& request, MPI_Comm comm)
{
    const MpiCommunication communication(comm);
    const auto read = [&](int rank) { return std::optional(read_process(request.spool, rank)); };
    return Session({request.trace, {request.rank}, read}, communication).run();
}

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
        const Totals totals = write(*request, comm);
        summary->calls = totals.calls;
        summary->samples = totals.samples;
        summary->events = totals.events;
        summary->bytes = totals.bytes;
        summary->lost_records = totals.lost_records;
        summary->lost_samples = totals.lost_samples;
        return 0;
    } catch (const std::exception& e) {
        say(*summary, *request, e.what());
    } catch (...) {
        say(*summary, *request, "the archive: unknown error");
    }
    return 1;
}
