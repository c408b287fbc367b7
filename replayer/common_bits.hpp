// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns sets of small numbers that the processes of a replay agree on, a bit each.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// A set of numbers less than `size`.
class CommonBits
{
public:
    explicit CommonBits(std::size_t size) : words_((size + word - 1) / word) {}

    void set(std::size_t bit) { words_[bit / word] |= std::uint64_t{1} << bit % word; }
    [[nodiscard]] bool has(std::size_t bit) const { return (words_[bit / word] >> bit % word & 1U) != 0; }

    /// Now has what it has on any process. Collective.
    void agree(MPI_Comm comm)
    {
        MPI_Allreduce(MPI_IN_PLACE, words_.data(), static_cast<int>(words_.size()), MPI_UINT64_T, MPI_BOR, comm);
    }

    /// All of them, ascending.
    [[nodiscard]] std::vector<std::size_t> numbers() const
    {
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
                result.push_back(i * word + static_cast<std::size_t>(std::countr_zero(rest)));
        return result;
    }

private:
    static constexpr std::size_t word = 64;

    std::vector<std::uint64_t> words_;
};

}  // namespace critpath::replayer
