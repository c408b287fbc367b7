// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/pattern.hpp"

#include <array>
#include <vector>

namespace critpath::bench
{

namespace
{

enum class Members { World, Row, Column };
enum class Shape { AllToAll, OneToAll, AllToOne };

struct Turn {
    FunctionId function;
    Members members;
    Shape shape;
    std::uint64_t bytes;
};

constexpr std::array turns = {
    Turn{FunctionId::MPI_Allreduce, Members::World, Shape::AllToAll, 8},
    Turn{FunctionId::MPI_Bcast, Members::Row, Shape::OneToAll, 4096},
    Turn{FunctionId::MPI_Alltoall, Members::Column, Shape::AllToAll, 1024},
    Turn{FunctionId::MPI_Reduce, Members::World, Shape::AllToOne, 64},
    Turn{FunctionId::MPI_Allreduce, Members::Row, Shape::AllToAll, 16},
    Turn{FunctionId::MPI_Bcast, Members::World, Shape::OneToAll, 256},
    Turn{FunctionId::MPI_Allgather, Members::Column, Shape::AllToAll, 512},
    Turn{FunctionId::MPI_Reduce, Members::Row, Shape::AllToOne, 1024},
    Turn{FunctionId::MPI_Alltoall, Members::World, Shape::AllToAll, 64},
    Turn{FunctionId::MPI_Barrier, Members::Row, Shape::AllToAll, 0},
};

/// Work, and one of the operations above in turn, whose roots go round.
class CollectiveMix : public Pattern
{
public:
    explicit CollectiveMix(Program& program) : program_(program)
    {
        const int rows = program.options().rows, columns = program.options().columns();
        rows_ = program.split(grid(rows, columns, columns, 1));
        columns_ = program.split(grid(columns, rows, 1, columns));
    }

    [[nodiscard]] double events_a_step() const override
    {
        return static_cast<double>(events_a_collective) * program_.ranks();
    }
    [[nodiscard]] bool synchronises() const override { return true; }

    void step(std::uint64_t number) override
    {
        for (int rank = 0; rank < program_.ranks(); ++rank)
            program_.now(rank) += program_.work(rank, number);
        const Turn& turn = turns[number % turns.size()];
        const std::uint64_t round = number / turns.size();
        if (turn.members == Members::World)
            call(turn, program_.world(), round);
        for (const Communicator& comm : turn.members == Members::Row ? rows_ : columns_)
            if (turn.members != Members::World)
                call(turn, comm, round);
    }

private:
    /// `groups` lists of `members` ranks: the `i`-th of group `g` is g * group_stride + i * stride.
    static std::vector<std::vector<std::int32_t>> grid(int groups, int members, int group_stride, int stride)
    {
        std::vector<std::vector<std::int32_t>> result;
        for (int g = 0; g < groups; ++g) {
            auto& group = result.emplace_back();
            for (int i = 0; i < members; ++i)
                group.push_back(g * group_stride + i * stride);
        }
        return result;
    }

    void call(const Turn& turn, const Communicator& comm, std::uint64_t round)
    {
        const std::size_t root = round % comm.ranks.size();
        switch (turn.shape) {
        case Shape::AllToAll:
            return program_.all_to_all(turn.function, comm, turn.bytes);
        case Shape::OneToAll:
            return program_.one_to_all(turn.function, comm, turn.bytes, root);
        case Shape::AllToOne:
            return program_.all_to_one(turn.function, comm, turn.bytes, root);
        }
    }

    Program& program_;
    std::vector<Communicator> rows_, columns_;
};

}  // namespace

std::unique_ptr<Pattern> make_collective(Program& program)
{
    return std::make_unique<CollectiveMix>(program);
}

}  // namespace critpath::bench
