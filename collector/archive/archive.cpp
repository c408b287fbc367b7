// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/archive.h"

#include "collector/archive/mpi_communication.hpp"
#include "collector/archive/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace critpath::archive
{

namespace
{

void copy(const std::string& from, char (&to)[512])
{
    const std::size_t length = std::min(from.size(), sizeof to - 1);
    std::memcpy(to, from.data(), length);
    to[length] = '\0';
}

Totals write(const critpath_archive_request& request, MPI_Comm comm, critpath_archive_summary& summary)
{
    const MpiCommunication communication(comm);
    const auto read = [&](int rank) {
        ProcessSpool spool = read_process(request.spool, rank, request.threads);
        spool.is_own = true;
        return std::optional(std::move(spool));
    };
    Session session({request.trace, {request.rank}, read}, communication);
    const Totals totals = session.run();
    copy(session.inconsistent(), summary.inconsistent);
    return totals;
}

void say(critpath_archive_summary& summary, const critpath_archive_request& request, std::string error)
{
    std::replace(error.begin(), error.end(), '\n', ' ');
    if (error.find(';') == std::string::npos) {
        error += fmt::format("; the recording is kept in {}", request.spool);
    }
    copy(error, summary.error);
}

}  // namespace

}  // namespace critpath::archive

extern "C" __attribute__((visibility("default"))) int
critpath_archive_write(const critpath_archive_request* request, MPI_Comm comm, critpath_archive_summary* summary)
{
    using namespace critpath::archive;
    *summary = {};
    try {
        const Totals totals = write(*request, comm, *summary);
        summary->calls = totals.calls;
        summary->samples = totals.samples;
        summary->events = totals.events;
        summary->bytes = totals.bytes;
        summary->lost_records = totals.lost_records;
        summary->lost_samples = totals.lost_samples;
        summary->cut_samples = totals.cut_samples;
        summary->sampled_ns = totals.sampled_ns;
        summary->respite_ns = totals.respite_ns;
        return 0;
    } catch (const std::exception& e) {
        say(*summary, *request, e.what());
    } catch (...) {
        say(*summary, *request, "the archive: unknown error");
    }
    return 1;
}
