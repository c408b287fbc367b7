// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the Wait* and Test* wrappers share: keeping the handles that MPI is about to overwrite, standing in for
// ignored statuses, and turning finished requests into Completions records.
#pragma once

#include "collector/mpi/record_calls.hpp"
#include "collector/mpi/table_lock.hpp"

#include <algorithm>
#include <cstring>

namespace critpath::preload
{

/// One finished (or started) request, ready for a slot of a CompletionsRecord.
struct Completion {
    std::uint64_t request;
    std::uint64_t bytes;
    std::int32_t peer;
    std::int32_t tag;
    std::int32_t comm;
    std::uint8_t flags;
    std::uint8_t mode;
    spool::Operation operation;
};

/// As a request was posted.
inline Completion as_posted(const Request& request)
{
    return {request.id,
            request.bytes,
            request.peer,
            request.tag,
            request.comm,
            request.flags,
            static_cast<std::uint8_t>(request.mode),
            request.operation};
}

/// Something that was posted at `since` (Call::since; 0: it does not count) counts, as Skipped::add says. Under the
/// lock of the tables.
void skip_posted(Thread& thread, std::uint64_t since, Skipped::What what, std::int32_t comm, std::int32_t peer,
                 std::int32_t tag, std::int32_t count);

/// MPI_Request_get_status has found that `handle` is finished. `location`: of the application's variable, null if that
/// is not known.
inline void found_finished(MPI_Request handle, const void* location)
{
    const TableLock lock;
    const Requests::Index index = process.requests.find(key_of(handle), location);
    if (index != Requests::none) {
        process.requests.at(index).finished = true;
    }
}

/// Appends, behind the record of a call, as many slots; `item(i)`: the Completion of slot i.
template <class ItemAt>
void append_slots(Call& call, std::uint32_t count, const ItemAt& item)
{
    for (std::uint32_t i = 0; i < count;) {
        spool::CompletionsRecord record{};
        record.kind = spool::RecordKind::Completions;
        for (; record.slots < 2 && i < count; ++i, ++record.slots) {
            const int slot = record.slots;
            const Completion& from = item(i);
            record.flags[slot] = from.flags;
            record.mode[slot] = from.mode;
            record.operation[slot] = from.operation;
            record.request[slot] = from.request;
            record.bytes[slot] = from.bytes;
            record.peer[slot] = from.peer;
            record.tag[slot] = from.tag;
            record.comm[slot] = from.comm;
        }
        call.append(record);
    }
}

/// The send of MPI_Isendrecv, of whose request the receive is `request`.
Completion sent_beside(const Request& request, const Special& special);

/// The finished requests of one call, in the order of the application's array.
class Completions
{
public:
    Completions(Thread& thread, int capacity)
        : thread_(thread),
          // Two of a request: MPI_Isendrecv has a send and a receive.
          items_(thread.completions.room<Completion>(2 * static_cast<std::size_t>(capacity > 0 ? capacity : 1)))
    {
    }

    /// `handle`, which was in the application's variable at `location` before the call, is finished with `status`, and
    /// `result` says how. The request is forgotten, or, if it is persistent, inactive. Requests that are not ours are
    /// skipped.
    void finished(MPI_Request handle, const void* location, const MPI_Status& status, int result);

    /// Appends the record of the call and the completions.
    void write(Call& call) const;

private:
    void add(const Completion& item)
    {
        if (items_ != nullptr) {
            items_[size_++] = item;
        }
    }

    // Of a request that is not in the trace: what it was counts, if it is only that recording was off.
    void skip(const Request& request, const MPI_Status& status);

    Thread& thread_;
    Completion* items_;
    std::uint32_t size_ = 0;
    bool has_untold_ = false;
    bool has_told_ = false;  // some that have finished
};

/// The application's request array as it was before the call. Null if the array is empty or there is no memory; then
/// nothing that finishes is recorded.
class SavedHandles
{
public:
    SavedHandles(Call& call, int count, const MPI_Request* requests)
    {
        if (!call.recorded() || count <= 0 || requests == nullptr) {
            return;
        }
        wanted_ = count;
        copy_ = call.thread().handles.room<MPI_Request>(static_cast<std::size_t>(count));
        if (copy_ != nullptr) {
            std::memcpy(copy_, requests,
                        static_cast<std::size_t>(count) * sizeof(MPI_Request));  // NOLINT: a handle may be a pointer
            size_ = count;
        }
    }

    /// An array in another language: `handle(i)` is request i.
    template <class HandleAt>
    static SavedHandles of(Call& call, int count, HandleAt&& handle)
    {
        SavedHandles saved(call, 0, nullptr);
        if (call.recorded() && count > 0) {
            saved.wanted_ = count;
            saved.copy_ = call.thread().handles.room<MPI_Request>(static_cast<std::size_t>(count));
        }
        for (int i = 0; i < count && saved.copy_ != nullptr; ++i) {
            saved.copy_[i] = handle(i);
            saved.size_ = i + 1;
        }
        return saved;
    }

    [[nodiscard]] int size() const { return size_; }
    MPI_Request operator[](int i) const { return copy_[i]; }
    [[nodiscard]] bool has(int i) const { return i >= 0 && i < size_; }

    /// Whether all are null, or there are none.
    [[nodiscard]] bool are_null() const
    {
        return wanted_ == size_ &&
               std::all_of(copy_, copy_ + size_, [](MPI_Request request) { return request == handles.request_null; });
    }

private:
    MPI_Request* copy_ = nullptr;
    int size_ = 0;
    int wanted_ = 0;  // more than size_: there was no room
};

/// As OwnStatus, for an array.
class OwnStatuses
{
public:
    OwnStatuses(Call& call, int count, MPI_Status* theirs) : used_(theirs)
    {
        if (call.recorded() && count > 0 && is_ignored(theirs)) {
            auto* own = call.thread().statuses.room<MPI_Status>(static_cast<std::size_t>(count));
            used_ = own != nullptr ? own : theirs;
        }
    }
    MPI_Status* get() { return used_; }

    /// False if there was no memory for them, or if the application has made the mistake of giving none.
    [[nodiscard]] bool known() const { return used_ != nullptr && !is_ignored(used_); }
    const MPI_Status& operator[](int i) const { return used_[i]; }

private:
    static bool is_ignored(const MPI_Status* statuses) { return statuses == MPI_STATUSES_IGNORE; }

    MPI_Status* used_;
};

}  // namespace critpath::preload
