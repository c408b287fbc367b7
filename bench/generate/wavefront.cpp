// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/pattern.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace critpath::bench
{

namespace
{

constexpr std::uint64_t wavefront_bytes = 1024;

/// A sweep over the grid from one of its corners, the next sweep from the next corner: MPI_Recv from above and from the
/// side, work, MPI_Send to below and to the other side. With one row, the path goes through all ranks back and forth.
class Wavefront : public Pattern
{
public:
    explicit Wavefront(Program& program)
        : program_(program), rows_(program.options().rows), columns_(program.options().columns()),
          down_(static_cast<std::size_t>(program.ranks())), along_(down_.size())
    {
    }

    [[nodiscard]] double events_a_step() const override
    {
        const int messages = rows_ * (columns_ - 1) + columns_ * (rows_ - 1);
        return static_cast<double>(2 * events_a_message_call * messages);
    }

    void step(std::uint64_t number) override
    {
        const bool backward = number % 2 == 1, upward = number / 2 % 2 == 1;
        for (int i = 0; i < rows_; ++i)
            for (int j = 0; j < columns_; ++j)
                visit(upward ? rows_ - 1 - i : i, backward ? columns_ - 1 - j : j, upward ? -1 : 1, backward ? -1 : 1,
                      number);
    }

private:
    static constexpr std::int32_t down_tag = 0, along_tag = 1;

    std::optional<int> neighbour(int row, int column) const
    {
        if (row < 0 || row >= rows_ || column < 0 || column >= columns_)
            return std::nullopt;
        return row * columns_ + column;
    }

    void visit(int row, int column, int row_step, int column_step, std::uint64_t number)
    {
        const int rank = row * columns_ + column;
        const auto r = static_cast<std::size_t>(rank);
        if (const auto above = neighbour(row - row_step, column))
            receive(rank, *above, down_tag, down_[static_cast<std::size_t>(*above)], number);
        if (const auto before = neighbour(row, column - column_step))
            receive(rank, *before, along_tag, along_[static_cast<std::size_t>(*before)], number);
        program_.now(rank) += program_.work(rank, number);
        if (const auto below = neighbour(row + row_step, column))
            down_[r] = send(rank, *below, down_tag);
        if (const auto behind = neighbour(row, column + column_step))
            along_[r] = send(rank, *behind, along_tag);
    }

    void receive(int rank, int from, std::int32_t tag, Time posted, std::uint64_t number)
    {
        Time& now = program_.now(rank);
        const Time enter = now + Machine::gap;
        const auto edge = static_cast<std::uint64_t>(2 * rank + tag);
        const Time arrival =
            posted + program_.machine().transfer(from, rank, wavefront_bytes) + program_.delay(edge, number);
        now = std::max(enter, arrival) + Machine::complete;
        if (Location* location = program_.location(rank))
            location->recv(enter, now, {from, Vocabulary::world, tag, wavefront_bytes});
    }

    /// When it was posted.
    Time send(int rank, int to, std::int32_t tag)
    {
        Time& now = program_.now(rank);
        const Time enter = now + Machine::gap;
        now = enter + Machine::post;
        if (Location* location = program_.location(rank))
            location->send(enter, now, {to, Vocabulary::world, tag, wavefront_bytes});
        return enter;
    }

    Program& program_;
    int rows_, columns_;
    std::vector<Time> down_, along_;  // when each rank posted its last message in that direction
};

}  // namespace

std::unique_ptr<Pattern> make_wavefront(Program& program)
{
    return std::make_unique<Wavefront>(program);
}

}  // namespace critpath::bench
