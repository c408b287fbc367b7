// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the bulk exchange between the processes of a replay: each gives what it has for each other process, one
// buffer a peer travels, and one wait-all ends it (docs/ALGORITHM, "In parallel"). No process waits for a message
// whose arrival was not agreed before, so an exchange ends on every process or fails on every process.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <vector>

namespace critpath::replayer
{

/// Throws bad_alloc on all processes of `comm` if `ready` is false on one of them. Collective.
void agree_on_memory(MPI_Comm comm, bool ready);

/// The same, if `allocate` throws on one of them.
template <class Allocate>
void agree_on_memory(MPI_Comm comm, const Allocate& allocate) requires std::is_invocable_v<Allocate>
{
    bool ready = true;
    try {
        allocate();
    } catch (const std::exception&) {
        ready = false;
    }
    agree_on_memory(comm, ready);
}

namespace exchange_detail
{

struct Incoming {
    std::vector<int> sources;          // ascending
    std::vector<std::uint64_t> bytes;  // by position in `sources`
};

/// Tells every process from whom it will receive how much. `to_bytes`: by destination. Collective.
Incoming agree_on_counts(MPI_Comm comm, const std::vector<std::uint64_t>& to_bytes);

struct Buffer {
    int peer;
    std::byte* data;
    std::uint64_t bytes;
};

/// Moves the buffers: non-blocking receives and sends in pieces that MPI's counts can say, then one wait-all.
void transfer(MPI_Comm comm, const std::vector<Buffer>& receives, const std::vector<Buffer>& sends);

}  // namespace exchange_detail

/// What an exchange brought: the items of all sources, ordered by source and, within one, as they were sent.
template <class T>
struct Received {
    std::vector<T> items;
    std::vector<std::size_t> begin;  // by source, and one more: where its items begin in `items`

    [[nodiscard]] std::span<const T> from(int source) const
    {
        return {items.data() + begin[source], items.data() + begin[source + 1]};
    }
};

/// An empty list for each of so many processes: to be filled, and given to exchange().
template <class T>
std::vector<std::vector<T>> lists_for(int processes)
{
    return std::vector<std::vector<T>>(static_cast<std::size_t>(processes));
}

/// Sends to[p] to process p of `comm` (this process included; that part is copied) and returns what the others sent
/// here. `to` has one entry a process of `comm`. Collective; the cost follows the bytes and the number of peers with
/// something to say, not the number of processes. Throws on all processes if one has not enough memory.
///
/// For a bounded memory, call it in rounds: exchange_rounds says how many every process needs.
template <class T>
Received<T> exchange(MPI_Comm comm, const std::vector<std::vector<T>>& to)
{
    static_assert(std::is_trivially_copyable_v<T>, "items travel as bytes");
    namespace detail = exchange_detail;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);

    std::vector<std::uint64_t> to_bytes(to.size());
    for (std::size_t p = 0; p < to.size(); ++p) {
        to_bytes[p] = static_cast<int>(p) == rank ? 0 : to[p].size() * sizeof(T);
    }
    const detail::Incoming incoming = detail::agree_on_counts(comm, to_bytes);

    Received<T> received;
    std::vector<detail::Buffer> receives;
    std::vector<detail::Buffer> sends;
    agree_on_memory(comm, [&] {
        std::vector<std::size_t> count(to.size());
        count[rank] = to[rank].size();
        for (std::size_t i = 0; i < incoming.sources.size(); ++i) {
            count[incoming.sources[i]] = incoming.bytes[i] / sizeof(T);
        }
        received.begin.assign(to.size() + 1, 0);
        for (std::size_t p = 0; p < to.size(); ++p) {
            received.begin[p + 1] = received.begin[p] + count[p];
        }
        received.items.resize(received.begin.back());
        for (std::size_t i = 0; i < incoming.sources.size(); ++i) {
            T* data = received.items.data() + received.begin[incoming.sources[i]];
            receives.push_back({incoming.sources[i], reinterpret_cast<std::byte*>(data), incoming.bytes[i]});
        }
        for (std::size_t p = 0; p < to.size(); ++p) {
            if (to_bytes[p] > 0) {
                auto* data = const_cast<T*>(to[p].data());  // MPI only reads it
                sends.push_back({static_cast<int>(p), reinterpret_cast<std::byte*>(data), to_bytes[p]});
            }
        }
    });

    std::copy(to[rank].begin(), to[rank].end(), received.items.begin() + received.begin[rank]);
    detail::transfer(comm, receives, sends);
    return received;
}

/// How many rounds all processes need if this one has `items` and sends at most `window` of them a round. The same on
/// all processes, so that everyone takes part in every round. Collective.
std::uint64_t exchange_rounds(MPI_Comm comm, std::uint64_t items, std::uint64_t window);

/// Whether it is true on any, or on all, processes. Collective.
bool on_any(MPI_Comm comm, bool here);
bool on_all(MPI_Comm comm, bool here);

}  // namespace critpath::replayer
