// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is remembered about requests between their post and their completion.
#pragma once

#include "collector/mpi/handle_table.hpp"
#include "formats/functions/functions.hpp"
#include "formats/spool/record.hpp"

#include <cstdint>

namespace critpath::preload
{

/// One post. For receives `bytes`, `peer` and `tag` are what was asked for.
struct Request {
    std::uint64_t id = 0;  // of the post; of a persistent request, of its last start
    std::uint64_t bytes = 0;
    std::int32_t comm = -1;
    std::int32_t peer = -1;
    std::int32_t tag = -1;
    std::uint8_t flags = 0;  // spool::Flag: flag_receive, flag_null_peer, flag_any_*
    functions::SendMode mode = functions::SendMode::None;
    spool::Operation operation = spool::Operation::Message;
    bool persistent = false;
    bool active = true;      // a persistent request is active between start and completion
    bool cancelled = false;  // MPI_Cancel was called
    bool finished = false;   // MPI_Request_get_status has said so
    bool untold = false;     // the post is not in the trace, so its completion must not be, either
    bool shared = false;
    bool is_special = false;
    std::uint64_t since = 0;                       // Call::since of the post
    const void* location = nullptr;                // the application's variable at the post
    std::uint32_t older = HandleTable<int>::none;  // neighbours in the list of shared handles
    std::uint32_t newer = HandleTable<int>::none;
};

/// What only requests of few functions have.
struct Special {
    functions::FunctionId function = functions::FunctionId::none;  // of a persistent collective: the non-blocking one,
    std::uint64_t received = 0;                                    // and the bytes that this rank gets
    std::uint64_t sent_id = 0;                                     // of MPI_Isendrecv: of its send; 0: there is none
    std::uint64_t sent_bytes = 0;
    std::int32_t sent_to = -1, sent_tag = -1;
    std::int32_t partitions = 0;  // of partitioned communication; of a send, so many are ready
    std::int32_t ready = 0;
};

/// How a record other than post and completion names a request.
inline std::uint64_t id_in_trace(const Request& request)
{
    return request.untold ? 0 : request.id;
}

/// Requests by handle. An MPI library may give the same handle to many requests that are finished when they are posted
/// (Open MPI's ompi_request_empty); those are told apart by the address of the application's request variable,
/// and, if the application has copied the handle elsewhere, by their age. With several threads in MPI any handle may
/// be posted anew while the thread that has completed it has not come to say so: told apart in the same way. Not
/// thread-safe.
class Requests
{
public:
    using Index = std::uint32_t;
    static constexpr Index none = HandleTable<Request>::none;

    /// `handle`: the one that many finished requests share, or 0 if there is none.
    void set_shared_handle(std::uint64_t handle) { shared_handle_ = handle; }

    /// More than one thread may be in MPI.
    void set_threads(bool threads) { threads_ = threads; }

    std::uint64_t next_id() { return ++last_id_; }

    /// `location`: address of the application's variable that holds the handle. None if there is no memory.
    Index post(std::uint64_t handle, const void* location, Request request)
    {
        request.location = location;
        request.shared = is_shared(handle);
        if (!request.shared) {
            drop_stale(handle, location);
            return table_.insert(handle, request);
        }
        request.older = newest_;
        const Index index = table_.insert(key_of_shared(location), request);
        if (index != none) {
            (newest_ == none ? oldest_ : table_.at(newest_).newer) = index;
            newest_ = index;
        }
        return index;
    }

    void post(std::uint64_t handle, const void* location, Request request, const Special& special)
    {
        request.is_special = true;
        if (const Index index = post(handle, location, request);
            index != none && specials_.insert(index, special) == none) {
            table_.at(index).is_special = false;
        }
    }

    /// none: not one of ours (collective, generalised, file or window request, or null).
    [[nodiscard]] Index find(std::uint64_t handle, const void* location) const
    {
        if (is_shared(handle)) {
            const Index index = table_.find(key_of_shared(location));
            return index == none ? oldest_ : index;
        }
        const Index oldest = table_.find(handle);
        for (Index index = oldest; index != none; index = table_.find_next(index)) {
            if (table_.at(index).location == location) {
                return index;
            }
        }
        return oldest;
    }

    /// Where the application's variable is not known: the active one that is a partitioned send, of those with the
    /// handle.
    [[nodiscard]] Index find_partitioned_send(std::uint64_t handle)
    {
        Index index = table_.find(handle);
        while (index != none && !(table_.at(index).active && is_partitioned_send(index))) {
            index = table_.find_next(index);
        }
        return index;
    }

    /// MPI_Start of such a one posts nothing yet.
    [[nodiscard]] bool is_partitioned_send(Index index)
    {
        const Special* known = special(index);
        return known != nullptr && known->partitions > 0 && (table_.at(index).flags & spool::flag_receive) == 0;
    }

    /// Null: it has nothing special.
    Special* special(Index index)
    {
        return table_.at(index).is_special ? &specials_.at(specials_.find(index)) : nullptr;
    }

    Request& at(Index index) { return table_.at(index); }

    void erase(Index index)
    {
        const Request& request = table_.at(index);
        if (request.shared) {
            (request.older == none ? oldest_ : table_.at(request.older).newer) = request.newer;
            (request.newer == none ? newest_ : table_.at(request.newer).older) = request.older;
        }
        remove(index);
    }

    [[nodiscard]] std::uint32_t size() const { return table_.size(); }

private:
    void remove(Index index)
    {
        if (table_.at(index).is_special) {
            specials_.erase(specials_.find(index));
        }
        table_.erase(index);
    }

    [[nodiscard]] bool is_shared(std::uint64_t handle) const { return shared_handle_ != 0 && handle == shared_handle_; }

    [[nodiscard]] std::uint64_t key_of_shared(const void* location) const
    {
        return shared_handle_ ^ (reinterpret_cast<std::uintptr_t>(location) * 0xd6e8feb86659fd93U);
    }

    // The handle is being posted, so an earlier request with it is over, although we have not seen its completion:
    // nothing was recorded then, or another library asked for it. Another thread may be about to say so, but of a
    // request in another variable only. Nothing is certain where we do not know which handle is shared.
    void drop_stale(std::uint64_t handle, const void* location)
    {
        for (Index index = shared_handle_ == 0 ? none : table_.find(handle); index != none;) {
            const Index next = table_.find_next(index);
            if (!threads_ || table_.at(index).location == location) {
                remove(index);
            }
            index = next;
        }
    }

    HandleTable<Request> table_;
    HandleTable<Special> specials_;  // by index
    std::uint64_t shared_handle_ = 0;
    bool threads_ = false;
    std::uint64_t last_id_ = 0;
    Index oldest_ = none;
    Index newest_ = none;
};

}  // namespace critpath::preload
