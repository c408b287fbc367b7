// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which polls in vain stand at the end of a thread's records: one record for each question that a loop asks in
// turn, however often it asks. Who waits by polling asks some ten million times a second.
#pragma once

#include <cstddef>
#include <cstdint>

namespace critpath::preload
{

/// `what` it asks for, from the code at `site`, by `function`.
struct PollQuestion {
    std::uint64_t what = 0;
    const void* site = nullptr;
    std::uint16_t function = 0;

    bool operator==(const PollQuestion&) const = default;
};

class Polls
{
public:
    void clear() { size_ = 0; }

    /// Record `number` asks `question` for the first time, and find() did not know it.
    void add(const PollQuestion& question, std::uint64_t number)
    {
        if (size_ == most) {
            clear();
        }
        asked_[size_] = question;
        numbers_[size_] = number;
        ++size_;
    }

    /// Number of the record that asks it; 0: none. A loop that asks more than `most` questions is told by where it
    /// asks.
    [[nodiscard]] std::uint64_t find(const PollQuestion& question) const
    {
        std::uint64_t from_there = 0;
        for (std::size_t i = size_; i-- > 0;) {
            if (asked_[i] == question) {
                return numbers_[i];
            }
            if (asked_[i].site == question.site && asked_[i].function == question.function) {
                from_there = numbers_[i];
            }
        }
        return size_ == most ? from_there : 0;
    }

    /// Number of the last record; 0: none.
    [[nodiscard]] std::uint64_t last() const { return size_ == 0 ? 0 : numbers_[size_ - 1]; }

    [[nodiscard]] bool ask_by(std::uint16_t function) const
    {
        for (std::size_t i = 0; i < size_; ++i) {
            if (asked_[i].function == function) {
                return true;
            }
        }
        return false;
    }

    static constexpr std::size_t most = 32;

private:
    PollQuestion asked_[most];
    std::uint64_t numbers_[most] = {};  // of their records, counted from 1
    std::size_t size_ = 0;
};

}  // namespace critpath::preload
