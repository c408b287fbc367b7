// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/pattern.hpp"

#include <algorithm>
#include <vector>

namespace critpath::bench
{

namespace
{

constexpr std::uint64_t halo_bytes = 2048;

/// Work; then MPI_Irecv and MPI_Isend for each neighbour on the grid, and one MPI_Waitall.
class Halo : public Pattern
{
public:
    explicit Halo(Program& program) : program_(program), posted_(static_cast<std::size_t>(program.ranks()))
    {
        for (int rank = 0; rank < program.ranks(); ++rank) {
            first_.push_back(sides_.size());
            add_sides(rank);
        }
        first_.push_back(sides_.size());
        for (Side& side : sides_)
            find_partner(side);
    }

    [[nodiscard]] double events_a_step() const override
    {
        constexpr int of_a_side = 2 * events_a_message_call + 2;
        return static_cast<double>(of_a_side * sides_.size() + 2 * posted_.size());
    }

    void step(std::uint64_t number) override
    {
        for (int rank = 0; rank < program_.ranks(); ++rank)
            posted_[static_cast<std::size_t>(rank)] = program_.now(rank) + program_.work(rank, number);
        for (int rank = 0; rank < program_.ranks(); ++rank)
            exchange(rank, number);
    }

private:
    static constexpr Time call = Machine::post + Machine::gap;

    /// One message each way, between `rank` and `peer`.
    struct Side {
        int rank, peer;
        std::int32_t tag;       // of what is sent; the direction
        std::int32_t peer_tag;  // of what is received
        Time peer_send = 0;     // from the peer's first post to that of its message to us
        Time transfer = 0;      // of that
        std::uint64_t edge = 0;
    };

    void add_sides(int rank)
    {
        const int rows = program_.options().rows, columns = program_.options().columns();
        const int row = rank / columns, column = rank % columns;
        if (row > 0)
            sides_.push_back({rank, rank - columns, 0, 1});
        if (row + 1 < rows)
            sides_.push_back({rank, rank + columns, 1, 0});
        if (column > 0)
            sides_.push_back({rank, rank - 1, 2, 3});
        if (column + 1 < columns)
            sides_.push_back({rank, rank + 1, 3, 2});
    }

    void find_partner(Side& side)
    {
        const std::size_t begin = first_[static_cast<std::size_t>(side.peer)];
        const std::size_t end = first_[static_cast<std::size_t>(side.peer) + 1];
        for (std::size_t i = begin; i < end; ++i) {
            if (sides_[i].peer == side.rank && sides_[i].tag == side.peer_tag) {
                side.peer_send = static_cast<Time>(end - begin + i - begin) * call;
                side.edge = i;
            }
        }
        side.transfer = program_.machine().transfer(side.peer, side.rank, halo_bytes);
    }

    void exchange(int rank, std::uint64_t number)
    {
        const std::size_t begin = first_[static_cast<std::size_t>(rank)],
                          end = first_[static_cast<std::size_t>(rank) + 1];
        const Time posted = posted_[static_cast<std::size_t>(rank)];
        const Time wait = posted + 2 * static_cast<Time>(end - begin) * call;
        Time left = wait;
        for (std::size_t i = begin; i < end; ++i) {
            const Side& side = sides_[i];
            left = std::max(left, posted_[static_cast<std::size_t>(side.peer)] + side.peer_send + side.transfer +
                                      program_.delay(side.edge, number));
        }
        left += Machine::complete;
        program_.now(rank) = left;
        if (Location* location = program_.location(rank))
            write(*location, {sides_.data() + begin, end - begin}, posted, left);
    }

    static void write(Location& location, std::span<const Side> sides, Time posted, Time left)
    {
        std::uint64_t first_receive = 0, first_send = 0;
        Time at = posted;
        for (std::size_t i = 0; i < sides.size(); ++i, at += call) {
            const std::uint64_t request = location.irecv(at);
            first_receive = i == 0 ? request : first_receive;
        }
        for (std::size_t i = 0; i < sides.size(); ++i, at += call) {
            const std::uint64_t request =
                location.isend(at, {sides[i].peer, Vocabulary::world, sides[i].tag, halo_bytes});
            first_send = i == 0 ? request : first_send;
        }
        location.enter(FunctionId::MPI_Waitall, at);
        location.sample_call(left);
        for (std::size_t i = 0; i < sides.size(); ++i)
            location.received(left, {sides[i].peer, Vocabulary::world, sides[i].peer_tag, halo_bytes},
                              first_receive + i);
        for (std::size_t i = 0; i < sides.size(); ++i)
            location.sent(left, first_send + i);
        location.leave(FunctionId::MPI_Waitall, left);
    }

    Program& program_;
    std::vector<Side> sides_;
    std::vector<std::size_t> first_;  // of each rank
    std::vector<Time> posted_;        // enter of the first call of each rank's exchange
};

}  // namespace

std::unique_ptr<Pattern> make_halo(Program& program)
{
    return std::make_unique<Halo>(program);
}

}  // namespace critpath::bench
