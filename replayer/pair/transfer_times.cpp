// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/transfer_times.hpp"

#include <array>

namespace critpath::replayer
{

namespace
{

/// The fastest ones of all processes.
rules::FastestMessages least_of_all(MPI_Comm comm, rules::FastestMessages fastest)
{
    std::array<std::int64_t, rules::size_buckets> least{};
    std::array<std::uint64_t, rules::size_buckets> bytes{};
    for (std::size_t b = 0; b < rules::size_buckets; ++b)
        least[b] = fastest[b].ns;
    MPI_Allreduce(MPI_IN_PLACE, least.data(), rules::size_buckets, MPI_INT64_T, MPI_MIN, comm);
    // Of equally fast messages, the smallest. Not UINT64_MAX: MPICH 4.0 compares unsigned numbers as if they had a
    // sign.
    for (std::size_t b = 0; b < rules::size_buckets; ++b)
        bytes[b] = fastest[b].ns == least[b] ? fastest[b].bytes : std::uint64_t{INT64_MAX};
    MPI_Allreduce(MPI_IN_PLACE, bytes.data(), rules::size_buckets, MPI_UINT64_T, MPI_MIN, comm);
    for (std::size_t b = 0; b < rules::size_buckets; ++b)
        fastest[b] = {least[b], bytes[b]};
    return fastest;
}

}  // namespace

void TransferExamples::add(Ns elapsed, Ns waited, std::uint64_t bytes)
{
    if (elapsed <= Ns{0})
        return;
    const auto bucket = static_cast<std::size_t>(rules::size_bucket(bytes));
    fastest_[bucket].add(elapsed.count(), bytes);
    if (is_evidence(elapsed, waited))
        waited_for_[bucket].add(elapsed.count(), bytes);
}

void TransferExamples::add_moved(Ns elapsed, std::uint64_t bytes)
{
    if (elapsed > Ns{0})
        moved_[static_cast<std::size_t>(rules::size_bucket(bytes))].add(elapsed.count(), bytes);
}

rules::TransferTime TransferExamples::agree(MPI_Comm comm) const
{
    rules::FastestMessages waited_for = least_of_all(comm, waited_for_), fastest = least_of_all(comm, fastest_);
    const rules::FastestMessages moved = least_of_all(comm, moved_);
    for (std::size_t b = 0; b < rules::size_buckets; ++b)
        if (waited_for[b].ns == rules::FastestMessage::none) {
            waited_for[b] = moved[b];
            fastest[b].merge(moved[b]);
        }
    return {waited_for, fastest};
}

}  // namespace critpath::replayer
