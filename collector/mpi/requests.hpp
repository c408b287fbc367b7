// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is remembered about point-to-point requests between their post and their completion.
#pragma once

#include "collector/mpi/handle_table.hpp"
#include "formats/functions/functions.hpp"

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
    bool persistent = false;
    bool active = true;      // a persistent request is active between start and completion
    bool cancelled = false;  // MPI_Cancel was called
    bool shared = false;
    std::uint32_t older = HandleTable<int>::none;  // neighbours in the list of shared handles
    std::uint32_t newer = HandleTable<int>::none;
};

/// Requests by handle. An MPI library may give the same handle to many requests that are finished when they are posted
/// (Open MPI's ompi_request_empty); those are told apart by the address of the application's request variable,
/// and, if the application has copied the handle elsewhere, by their age. Not thread-safe.
class Requests
{
public:
    using Index = std::uint32_t;
    static constexpr Index none = HandleTable<Request>::none;

    /// `handle`: the one that many finished requests share, or 0 if there is none.
    void set_shared_handle(std::uint64_t handle) { shared_handle_ = handle; }

    std::uint64_t next_id() { return ++last_id_; }

    /// `location`: address of the application's variable that holds the handle.
    void post(std::uint64_t handle, const void* location, Request request)
    {
        request.shared = shared_handle_ != 0 && handle == shared_handle_;
        request.older = request.shared ? newest_ : none;
        const Index index = table_.insert(key(handle, location), request);
        if (request.shared && index != none) {
            (newest_ == none ? oldest_ : table_.at(newest_).newer) = index;
            newest_ = index;
        }
    }

    /// none: not one of ours (collective, generalised, file or window request, or null).
    [[nodiscard]] Index find(std::uint64_t handle, const void* location) const
    {
        const Index index = table_.find(key(handle, location));
        if (index == none && shared_handle_ != 0 && handle == shared_handle_) {
            return oldest_;
        }
        return index;
    }

    Request& at(Index index) { return table_.at(index); }

    void erase(Index index)
    {
        const Request& request = table_.at(index);
        if (request.shared) {
            (request.older == none ? oldest_ : table_.at(request.older).newer) = request.newer;
            (request.newer == none ? newest_ : table_.at(request.newer).older) = request.older;
        }
        table_.erase(index);
    }

    [[nodiscard]] std::uint32_t size() const { return table_.size(); }

private:
    [[nodiscard]] std::uint64_t key(std::uint64_t handle, const void* location) const
    {
        if (handle != shared_handle_) {
            return handle;
        }
        return handle ^ (reinterpret_cast<std::uintptr_t>(location) * 0xd6e8feb86659fd93U);
    }

    HandleTable<Request> table_;
    std::uint64_t shared_handle_ = 0;
    std::uint64_t last_id_ = 0;
    Index oldest_ = none;
    Index newest_ = none;
};

}  // namespace critpath::preload
