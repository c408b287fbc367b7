// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns records on their way: small messages that were sent and not waited for, and how far a sender may be ahead of the
// process that receives from it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>
#include <vector>

namespace critpath::replayer::literal
{

/// Sends records of one type. Of the messages to one process, each `window`-th is a synchronous one, which MPI
/// completes when its receive has been posted; where two of these are open, there is no room. So a sender is ahead of
/// the last message that is known to have its receive by 2 windows at most.
template <class T>
class Outbox
{
    static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");

public:
    explicit Outbox(int processes, std::uint32_t window) : peers_(static_cast<std::size_t>(processes)), window_(window)
    {
    }

    /// Whether `to` keeps up. Never waits.
    bool has_room(int to)
    {
        if (peers_[static_cast<std::size_t>(to)].open < most_open)
            return true;
        look();
        return peers_[static_cast<std::size_t>(to)].open < most_open;
    }

    /// Sends without waiting.
    void send(const T& record, int to, int tag, MPI_Comm comm)
    {
        Peer& peer = peers_[static_cast<std::size_t>(to)];
        const bool synchronous = ++peer.sent % window_ == 0;
        const std::size_t slot = take_slot();
        records_[slot] = record;
        if (synchronous) {
            MPI_Issend(&records_[slot], sizeof(T), MPI_BYTE, to, tag, comm, &requests_[slot]);
            ++peer.open;
            synchronous_to_[slot] = to;
        } else {
            MPI_Isend(&records_[slot], sizeof(T), MPI_BYTE, to, tag, comm, &requests_[slot]);
            synchronous_to_[slot] = nobody;
        }
        int done = 0;
        MPI_Test(&requests_[slot], &done, MPI_STATUS_IGNORE);  // small messages are mostly gone at once
        if (done != 0)
            release(slot);
    }

    /// Completes what is complete. Never waits.
    void look()
    {
        completed_.resize(requests_.size());
        int count = 0;
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                     MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; ++i)  // none if it is MPI_UNDEFINED, which is negative
            release(static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]));
    }

    /// Waits for everything.
    void finish() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

private:
    static constexpr std::uint32_t most_open = 2;
    static constexpr int nobody = -1;
    static constexpr std::size_t look_at = 64;  // slots: before that many are in use, none is looked for

    struct Peer {
        std::uint64_t sent = 0;
        std::uint32_t open = 0;  // synchronous sends
    };

    std::size_t take_slot()
    {
        if (free_.empty() && requests_.size() >= look_at && requests_.size() >= look_again_) {
            look();
            look_again_ = free_.empty() ? 2 * requests_.size() : 0;
        }
        if (free_.empty()) {
            free_.push_back(requests_.size());
            records_.emplace_back();
            requests_.push_back(MPI_REQUEST_NULL);
            synchronous_to_.push_back(nobody);
        }
        const std::size_t slot = free_.back();
        free_.pop_back();
        return slot;
    }

    void release(std::size_t slot)
    {
        if (synchronous_to_[slot] != nobody)
            --peers_[static_cast<std::size_t>(synchronous_to_[slot])].open;
        synchronous_to_[slot] = nobody;
        free_.push_back(slot);
    }

    std::vector<Peer> peers_;  // by process
    std::uint32_t window_;
    std::size_t look_again_ = 0;  // slots
    std::deque<T> records_;       // by slot; they stay where they are
    std::vector<MPI_Request> requests_;
    std::vector<int> synchronous_to_;
    std::vector<int> completed_;
    std::vector<std::size_t> free_;  // slots
};

}  // namespace critpath::replayer::literal
