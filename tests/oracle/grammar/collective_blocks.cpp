// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/grammar/blocks.hpp"
#include "tests/oracle/needed.hpp"

#include <algorithm>
#include <utility>

namespace critpath::oracle::blocks
{

namespace
{

using enum FunctionId;
using functions::CollectiveShape;

/// One collective operation, which may wait for others than its function says.
struct Operation {
    FunctionId function;
    std::size_t comm = Sketch::world;
    int root = -1;
    std::vector<Part> parts = {};  // by member; empty: as the function says
    bool is_blocking = true;
    std::uint64_t bytes = usual_bytes;
};

/// Of two groups that meet, the second one connects.
FunctionId function_of(Sketch& s, const Operation& operation, std::size_t member)
{
    const auto first = s.program().first_groups.find(operation.comm);
    const bool is_second = first != s.program().first_groups.end() && member >= first->second;
    return operation.function == MPI_Comm_accept && is_second ? MPI_Comm_connect : operation.function;
}

/// Barriers move nothing, nor does the making of communicators.
void draw_size(Sketch& s, Operation& operation)
{
    if (operation.function != MPI_Barrier && operation.function != MPI_Ibarrier &&
        functions::semantic_class(operation.function) != functions::SemanticClass::CommCreate)
        operation.bytes = s.collective_size();
}

/// What each member does: computes afterwards, or while the operation is under way.
void perform(Sketch& s, const Operation& operation)
{
    const auto& members = s.members(operation.comm);
    for (std::size_t m = 0; m < members.size(); ++m) {
        const int r = members[m];
        Step step{.kind = operation.is_blocking ? Kind::Collective : Kind::Icollective,
                  .function = function_of(s, operation, m),
                  .comm = operation.comm,
                  .bytes = operation.bytes,
                  .root = operation.root};
        if (!operation.parts.empty())
            step.part = operation.parts[m];
        if (operation.is_blocking) {
            s.add(r, step);
            s.compute(r, 30);
            continue;
        }
        const int request = s.post(r, step);
        s.compute(r);
        if (s.chance(3))
            s.poll(r, MPI_Test, {request});
        else if (s.chance(6))
            s.poll_status(r, request);
        else
            s.add(r, {.kind = Kind::Waitall, .function = MPI_Wait, .requests = {request}});
    }
}

bool is_rooted(FunctionId function)
{
    const auto shape = functions::info(function).shape;
    return shape == CollectiveShape::OneToAll || shape == CollectiveShape::AllToOne;
}

int draw_root(Sketch& s, FunctionId function, std::size_t comm)
{
    return is_rooted(function) ? s.draw(0, static_cast<int>(s.members(comm).size()) - 1) : -1;
}

using Both = std::pair<FunctionId, FunctionId>;  // blocking and not

FunctionId choose(Sketch& s, Operation& operation, const Both& functions)
{
    operation.is_blocking = s.chance(2);
    operation.function = operation.is_blocking ? functions.first : functions.second;
    operation.root = draw_root(s, operation.function, operation.comm);
    return operation.function;
}

}  // namespace

void collectives(Sketch& s)
{
    for (int i = s.draw(1, 4); i > 0; --i) {
        Operation operation{
            s.one_of({MPI_Barrier, MPI_Allreduce, MPI_Alltoall, MPI_Allgather, MPI_Bcast, MPI_Scatter, MPI_Reduce,
                      MPI_Gather, MPI_Scan, MPI_Exscan, MPI_Reduce_scatter_block, MPI_Comm_dup, MPI_Comm_split}),
            s.one_of({Sketch::world, Sketch::world, Sketch::even, Sketch::reversed})};
        operation.root = draw_root(s, operation.function, operation.comm);
        draw_size(s, operation);
        perform(s, operation);
    }
}

void overlap(Sketch& s)
{
    Operation operation{s.one_of({MPI_Ibarrier, MPI_Iallreduce, MPI_Ialltoall, MPI_Ibcast, MPI_Ireduce, MPI_Iscan,
                                  MPI_Iexscan, MPI_Ireduce_scatter_block}),
                        s.one_of({Sketch::world, Sketch::even, Sketch::reversed})};
    operation.root = draw_root(s, operation.function, operation.comm);
    operation.is_blocking = false;
    draw_size(s, operation);
    perform(s, operation);
}

void crossing(Sketch& s)
{
    const std::uint64_t bytes = s.size();
    std::vector<std::vector<int>> requests(at(s.ranks()));
    s.each([&](int r) {
        requests[at(r)].push_back(s.irecv(r, (r + s.ranks() - 1) % s.ranks(), 5));
        requests[at(r)].push_back(s.isend(r, (r + 1) % s.ranks(), 5, bytes));
    });
    s.each([&](int r) { s.compute(r); });
    perform(s, {MPI_Allreduce});
    s.each([&](int r) { s.complete(r, requests[at(r)]); });
}

void between_groups(Sketch& s)
{
    for (int i = s.draw(1, 3); i > 0; --i) {
        Operation operation{MPI_Barrier, Sketch::inter};
        choose(s, operation,
               s.one_of<Both>({{MPI_Barrier, MPI_Ibarrier},
                               {MPI_Allreduce, MPI_Iallreduce},
                               {MPI_Allgather, MPI_Iallgather},
                               {MPI_Bcast, MPI_Ibcast},
                               {MPI_Scatter, MPI_Iscatter},
                               {MPI_Reduce, MPI_Ireduce},
                               {MPI_Gather, MPI_Igather}}));
        draw_size(s, operation);
        perform(s, operation);
    }
}

void neighbourhoods(Sketch& s)
{
    for (int i = s.draw(1, 3); i > 0; --i) {
        Operation operation{MPI_Neighbor_allgather, s.one_of({Sketch::ring, Sketch::plane, Sketch::graph})};
        choose(s, operation,
               s.one_of<Both>({{MPI_Neighbor_allgather, MPI_Ineighbor_allgather},
                               {MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall},
                               {MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv}}));
        draw_size(s, operation);
        perform(s, operation);
    }
}

void creations(Sketch& s)
{
    for (int i = s.draw(1, 3); i > 0; --i) {
        if (s.chance(2))
            perform(s, {s.one_of({MPI_Intercomm_create, MPI_Comm_accept}), Sketch::inter});
        else
            perform(s, {MPI_Comm_create_group, s.one_of({Sketch::world, Sketch::even, Sketch::reversed})});
    }
}

namespace
{

/// Messages to the next and from the one before. Returns the requests.
std::vector<std::vector<int>> post_around(Sketch& s, std::size_t comm, int tag)
{
    const std::uint64_t bytes = s.size();
    const int size = static_cast<int>(s.members(comm).size());
    std::vector<std::vector<int>> requests(at(s.ranks()));
    for (int m = 0; m < size; ++m) {
        const int r = s.members(comm)[at(m)];
        requests[at(r)] = {s.irecv(r, (m + size - 1) % size, tag, comm), s.isend(r, (m + 1) % size, tag, bytes, comm)};
    }
    return requests;
}

}  // namespace

/// While a copy is under way, its parent goes on; what is under way on a copy goes on when that is freed.
void copies(Sketch& s)
{
    const std::size_t parent = s.one_of({Sketch::world, Sketch::even, Sketch::reversed});
    const std::size_t copy = s.copy_of(parent);
    const std::vector<int> members = s.members(parent);
    const bool has_messages = s.chance(2), is_freed_early = s.chance(2);
    std::vector<std::vector<int>> requests(at(s.ranks()));
    if (has_messages)
        requests = post_around(s, parent, 14);
    for (const int r : members) {
        s.compute(r);
        requests[at(r)].push_back(
            s.post(r, {.kind = Kind::Icollective, .function = MPI_Comm_idup, .comm = parent, .makes = copy}));
        s.compute(r);
    }
    if (s.chance(2))
        perform(s, {s.one_of({MPI_Barrier, MPI_Allreduce, MPI_Comm_dup}), parent});
    for (const int r : members)
        s.complete(r, requests[at(r)]);
    perform(s, {s.one_of({MPI_Barrier, MPI_Allreduce, MPI_Scan}), copy});
    requests = post_around(s, copy, 14);
    const auto complete = [&] {
        for (const int r : members) {
            s.compute(r, 30);
            s.complete(r, requests[at(r)]);
        }
    };
    if (!is_freed_early)
        complete();
    perform(s, {MPI_Comm_free, copy});
    if (is_freed_early)
        complete();
}

// ------------------------------------------------------------------------------------------------------- amounts

namespace
{

class Amounts
{
public:
    Amounts(Sketch& s, Operation& operation) : s_(s), operation_(operation), size_(at(members())), needed_(size_)
    {
        for (int m = 0; m < members(); ++m)
            needed_[at(m)] = needed_members(s.program(), operation.comm, operation.function, m, operation.root);
        operation.parts.assign(size_, {false, false, {}});
    }

    /// Who has something has it for all who need it.
    void some_give()
    {
        std::vector<bool> gives(size_);
        for (std::size_t m = 0; m < size_; ++m)
            gives[m] = !s_.chance(3);
        draw([&](int from, int) { return gives[at(from)]; });
    }

    void some_get()
    {
        std::vector<bool> gets(size_);
        for (std::size_t m = 0; m < size_; ++m)
            gets[m] = !s_.chance(3);
        draw([&](int, int to) { return gets[at(to)]; });
    }

    void some_give_to_some()
    {
        draw([&](int, int) { return s_.chance(2); });
    }

private:
    [[nodiscard]] int members() const { return static_cast<int>(s_.members(operation_.comm).size()); }

    template <class Has>
    void draw(Has has)
    {
        for (int to = 0; to < members(); ++to)
            for (const int from : needed_[at(to)])
                if (has(from, to)) {
                    operation_.parts[at(from)].gives = true;
                    operation_.parts[at(to)].gets = true;
                    operation_.parts[at(to)].sources.push_back(from);
                }
    }

    Sketch& s_;
    Operation& operation_;
    std::size_t size_;
    std::vector<std::vector<int>> needed_;
};

}  // namespace

void amounts(Sketch& s)
{
    const auto of_all = [&] { return s.one_of({Sketch::world, Sketch::even, Sketch::reversed, Sketch::inter}); };
    const auto of_some = [&] { return s.one_of({Sketch::world, Sketch::even, Sketch::reversed}); };
    const auto of_neighbours = [&] { return s.one_of({Sketch::ring, Sketch::plane, Sketch::graph}); };
    for (int i = s.draw(1, 4); i > 0; --i) {
        Operation operation{MPI_Allreduce};
        switch (s.draw(0, 5)) {
        case 0:  // nobody has anything
            operation.comm = of_some();
            choose(s, operation,
                   s.one_of<Both>({{MPI_Allreduce, MPI_Iallreduce},
                                   {MPI_Bcast, MPI_Ibcast},
                                   {MPI_Gather, MPI_Igather},
                                   {MPI_Scan, MPI_Iscan},
                                   {MPI_Alltoall, MPI_Ialltoall}}));
            Amounts(s, operation);
            break;
        case 1:
            operation.comm = of_all();
            choose(s, operation, s.one_of<Both>({{MPI_Allgatherv, MPI_Iallgatherv}, {MPI_Gatherv, MPI_Igatherv}}));
            Amounts(s, operation).some_give();
            break;
        case 2:
            operation.comm = of_all();
            choose(s, operation,
                   s.one_of<Both>({{MPI_Reduce_scatter, MPI_Ireduce_scatter}, {MPI_Scatterv, MPI_Iscatterv}}));
            Amounts(s, operation).some_get();
            break;
        case 3:
            operation.comm = of_neighbours();
            choose(s, operation, {MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv});
            Amounts(s, operation).some_give();
            break;
        case 4:
            operation.comm = of_neighbours();
            choose(s, operation,
                   s.one_of<Both>({{MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv},
                                   {MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw}}));
            Amounts(s, operation).some_give_to_some();
            break;
        default:
            operation.comm = of_some();
            choose(s, operation, s.one_of<Both>({{MPI_Alltoallv, MPI_Ialltoallv}, {MPI_Alltoallw, MPI_Ialltoallw}}));
            Amounts(s, operation).some_give_to_some();
            break;
        }
        perform(s, operation);
    }
}

}  // namespace critpath::oracle::blocks
