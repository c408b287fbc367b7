// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/exchange.hpp"

#include <new>
#include <utility>

namespace critpath::replayer
{

void agree_on_memory(MPI_Comm comm, bool ready)
{
    const int mine = ready ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (all == 0) {
        throw std::bad_alloc();
    }
}

namespace exchange_detail
{

namespace
{

constexpr int count_tag = 0x4350;  // announcements and data of one exchange must not meet
constexpr int data_tag = 0x4351;
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 30;  // MPI counts are int

void add_pieces(const Buffer& buffer, std::vector<Buffer>& pieces)
{
    for (std::uint64_t offset = 0; offset < buffer.bytes; offset += piece_bytes) {
        pieces.push_back({buffer.peer, buffer.data + offset, std::min(piece_bytes, buffer.bytes - offset)});
    }
}

}  // namespace

Incoming agree_on_counts(MPI_Comm comm, const std::vector<std::uint64_t>& to_bytes)
{
    // How many will write to me? Everyone contributes a one for each process it has something for. The reduction also
    // keeps exchanges apart: nobody announces the next one before all have taken in the announcements of this one.
    std::vector<int> announces(to_bytes.size());
    std::transform(to_bytes.begin(), to_bytes.end(), announces.begin(),
                   [](std::uint64_t bytes) { return bytes > 0 ? 1 : 0; });
    int incoming = 0;
    MPI_Reduce_scatter_block(announces.data(), &incoming, 1, MPI_INT, MPI_SUM, comm);

    std::vector<MPI_Request> requests;
    for (std::size_t p = 0; p < to_bytes.size(); ++p) {
        if (to_bytes[p] > 0) {
            MPI_Isend(&to_bytes[p], 1, MPI_UINT64_T, static_cast<int>(p), count_tag, comm, &requests.emplace_back());
        }
    }
    std::vector<std::pair<int, std::uint64_t>> announced(incoming);
    for (auto& [source, bytes] : announced) {
        MPI_Status status;
        MPI_Recv(&bytes, 1, MPI_UINT64_T, MPI_ANY_SOURCE, count_tag, comm, &status);
        source = status.MPI_SOURCE;
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);

    std::sort(announced.begin(), announced.end());
    Incoming result;
    for (const auto& [source, bytes] : announced) {
        result.sources.push_back(source);
        result.bytes.push_back(bytes);
    }
    return result;
}

void transfer(MPI_Comm comm, const std::vector<Buffer>& receives, const std::vector<Buffer>& sends)
{
    std::vector<Buffer> in;
    std::vector<Buffer> out;
    for (const auto& buffer : receives) {
        add_pieces(buffer, in);
    }
    for (const auto& buffer : sends) {
        add_pieces(buffer, out);
    }
    std::vector<MPI_Request> requests(in.size() + out.size());
    auto request = requests.begin();
    for (const auto& piece : in) {
        MPI_Irecv(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, piece.peer, data_tag, comm, &*request++);
    }
    for (const auto& piece : out) {
        MPI_Isend(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, piece.peer, data_tag, comm, &*request++);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace exchange_detail

std::uint64_t exchange_rounds(MPI_Comm comm, std::uint64_t items, std::uint64_t window)
{
    const std::uint64_t mine = items / window + (items % window > 0 ? 1 : 0);
    std::uint64_t rounds = 0;
    MPI_Allreduce(&mine, &rounds, 1, MPI_UINT64_T, MPI_MAX, comm);
    return rounds;
}

bool on_any(MPI_Comm comm, bool here)
{
    int value = here ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_LOR, comm);
    return value != 0;
}

bool on_all(MPI_Comm comm, bool here)
{
    return !on_any(comm, !here);
}

}  // namespace critpath::replayer
