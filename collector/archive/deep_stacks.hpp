// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is known of a thread's stack beyond the copies of its samples: the images that the helper took of it now
// and then (spool::DeepStackRecord), as what stood at each address for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace critpath::archive
{

class DeepStacks
{
public:
    /// Images one behind the other, from `first` on, that have the same word at an address.
    struct Run {
        std::uint32_t first = 0, last = 0;  // both are in it
        std::uint64_t word = 0;

        [[nodiscard]] std::uint32_t images() const { return last - first + 1; }
    };

    DeepStacks() = default;

    /// Of the records of a .samples file, with `time_offset` added to their times. Ends where one makes no sense. Takes
    /// as much memory as these records, at most.
    DeepStacks(std::span<const std::byte> records, std::int64_t time_offset);

    [[nodiscard]] std::size_t images() const { return times_.size(); }

    /// What stood there around `time`: from the last image that was ready by then to the first one that was begun
    /// later. Mostly that is one run; nothing if one of these images has nothing there.
    [[nodiscard]] std::span<const Run> runs_around(std::uint64_t address, std::uint64_t time) const;

    /// All that stood there, in order of time.
    [[nodiscard]] std::span<const Run> runs(std::uint64_t address) const;

private:
    struct Times {
        std::uint64_t since, until;
    };
    static constexpr std::uint32_t goes_on = std::numeric_limits<std::uint32_t>::max();

    bool take(std::span<const std::byte> body, unsigned part, std::uint64_t time_offset);
    void put(std::uint64_t address, std::uint64_t word);
    void finish();

    std::vector<Times> times_;  // of the images
    std::unordered_map<std::uint64_t, std::vector<Run>> runs_;
    bool is_open_ = false;  // the last image has more
};

}  // namespace critpath::archive
