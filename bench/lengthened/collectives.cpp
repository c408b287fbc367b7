// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lengthened/collectives.hpp"

#include "tests/oracle/grammar/sketch.hpp"
#include "tests/oracle/needed.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace critpath::lengthened
{

using functions::CollectiveShape;
using oracle::at;
using oracle::FunctionId;
using oracle::Kind;
using oracle::Part;
using oracle::Program;
using oracle::Step;

/// An amount for each partner, at a place of its own.
struct Amounts {
    std::vector<int> counts, places;
    std::vector<MPI_Aint> addresses;  // the places, for MPI_Neighbor_alltoallw
    std::vector<MPI_Datatype> types;

    void add(int count, int block)
    {
        places.push_back(static_cast<int>(counts.size()) * block);
        addresses.push_back(places.back());
        counts.push_back(count);
        types.push_back(MPI_BYTE);
    }
};

struct Operation {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm half = MPI_COMM_NULL;
    int root = -1;
    int count = 0;       // of what goes to each, or comes from each
    int own_amount = 0;  // that others get, or of a scatter, that this one gets
    Amounts sent = {}, received = {};
    std::vector<int> scattered = {};  // by member of the own group
    Buffers buffers = {};
    MPI_Request* request = nullptr;
    MPI_Comm* made = nullptr;
};

namespace
{

struct Function {
    FunctionId id;
    void (*call)(const Operation& o);
};

#define CRITPATH_CALL(name, ...)                                                                                       \
    {                                                                                                                  \
        FunctionId::name, [](const Operation& o) { name(__VA_ARGS__); }                                                \
    }
/// A function and its non-blocking form.
#define CRITPATH_BOTH(name, other, ...) CRITPATH_CALL(name, __VA_ARGS__), CRITPATH_CALL(other, __VA_ARGS__, o.request)

#define CRITPATH_SEND o.buffers.send, o.count, MPI_BYTE
#define CRITPATH_RECEIVE o.buffers.receive, o.count, MPI_BYTE
#define CRITPATH_REDUCED o.buffers.send, o.buffers.receive, o.count, MPI_BYTE, MPI_BOR
#define CRITPATH_SEND_V o.buffers.send, o.sent.counts.data(), o.sent.places.data(), MPI_BYTE
#define CRITPATH_RECEIVE_V o.buffers.receive, o.received.counts.data(), o.received.places.data(), MPI_BYTE
#define CRITPATH_SEND_W o.buffers.send, o.sent.counts.data(), o.sent.places.data(), o.sent.types.data()
#define CRITPATH_RECEIVE_W                                                                                             \
    o.buffers.receive, o.received.counts.data(), o.received.places.data(), o.received.types.data()
#define CRITPATH_SEND_NEIGHBOURS o.buffers.send, o.sent.counts.data(), o.sent.addresses.data(), o.sent.types.data()
#define CRITPATH_RECEIVE_NEIGHBOURS                                                                                    \
    o.buffers.receive, o.received.counts.data(), o.received.addresses.data(), o.received.types.data()
#define CRITPATH_OWN o.buffers.send, o.own_amount, MPI_BYTE

void create_group(const Operation& o)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm_group(o.comm, &group);
    MPI_Comm_create_group(o.comm, group, 0, o.made);
    MPI_Group_free(&group);
}

/// In place of MPI_Comm_accept and MPI_Comm_connect as well, which need a server for names.
void create_between_groups(const Operation& o)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Intercomm_create(o.half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 2, o.made);
}

void split(const Operation& o)
{
    int rank = 0;
    MPI_Comm_rank(o.comm, &rank);
    MPI_Comm_split(o.comm, 0, rank, o.made);
}

const Function table[] = {
    CRITPATH_BOTH(MPI_Barrier, MPI_Ibarrier, o.comm),
    CRITPATH_BOTH(MPI_Allreduce, MPI_Iallreduce, CRITPATH_REDUCED, o.comm),
    CRITPATH_BOTH(MPI_Scan, MPI_Iscan, CRITPATH_REDUCED, o.comm),
    CRITPATH_BOTH(MPI_Exscan, MPI_Iexscan, CRITPATH_REDUCED, o.comm),
    CRITPATH_BOTH(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, CRITPATH_REDUCED, o.comm),
    CRITPATH_BOTH(MPI_Reduce, MPI_Ireduce, CRITPATH_REDUCED, o.root, o.comm),
    CRITPATH_BOTH(MPI_Bcast, MPI_Ibcast, CRITPATH_SEND, o.root, o.comm),
    CRITPATH_BOTH(MPI_Scatter, MPI_Iscatter, CRITPATH_SEND, CRITPATH_RECEIVE, o.root, o.comm),
    CRITPATH_BOTH(MPI_Gather, MPI_Igather, CRITPATH_SEND, CRITPATH_RECEIVE, o.root, o.comm),
    CRITPATH_BOTH(MPI_Allgather, MPI_Iallgather, CRITPATH_SEND, CRITPATH_RECEIVE, o.comm),
    CRITPATH_BOTH(MPI_Alltoall, MPI_Ialltoall, CRITPATH_SEND, CRITPATH_RECEIVE, o.comm),
    CRITPATH_BOTH(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, CRITPATH_SEND, CRITPATH_RECEIVE, o.comm),
    CRITPATH_BOTH(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, CRITPATH_SEND, CRITPATH_RECEIVE, o.comm),
    CRITPATH_BOTH(MPI_Allgatherv, MPI_Iallgatherv, CRITPATH_OWN, CRITPATH_RECEIVE_V, o.comm),
    CRITPATH_BOTH(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, CRITPATH_OWN, CRITPATH_RECEIVE_V, o.comm),
    CRITPATH_BOTH(MPI_Gatherv, MPI_Igatherv, CRITPATH_OWN, CRITPATH_RECEIVE_V, o.root, o.comm),
    CRITPATH_BOTH(MPI_Scatterv, MPI_Iscatterv, CRITPATH_SEND_V, o.buffers.receive, o.own_amount, MPI_BYTE, o.root,
                  o.comm),
    CRITPATH_BOTH(MPI_Reduce_scatter, MPI_Ireduce_scatter, o.buffers.send, o.buffers.receive, o.scattered.data(),
                  MPI_BYTE, MPI_BOR, o.comm),
    CRITPATH_BOTH(MPI_Alltoallv, MPI_Ialltoallv, CRITPATH_SEND_V, CRITPATH_RECEIVE_V, o.comm),
    CRITPATH_BOTH(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, CRITPATH_SEND_V, CRITPATH_RECEIVE_V, o.comm),
    CRITPATH_BOTH(MPI_Alltoallw, MPI_Ialltoallw, CRITPATH_SEND_W, CRITPATH_RECEIVE_W, o.comm),
    CRITPATH_BOTH(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, CRITPATH_SEND_NEIGHBOURS,
                  CRITPATH_RECEIVE_NEIGHBOURS, o.comm),
    CRITPATH_CALL(MPI_Comm_dup, o.comm, o.made),
    CRITPATH_CALL(MPI_Comm_idup, o.comm, o.made, o.request),
    {FunctionId::MPI_Comm_split, split},
    {FunctionId::MPI_Comm_create_group, create_group},
    {FunctionId::MPI_Intercomm_create, create_between_groups},
    {FunctionId::MPI_Comm_accept, create_between_groups},
    {FunctionId::MPI_Comm_connect, create_between_groups},
};

#undef CRITPATH_OWN
#undef CRITPATH_RECEIVE_NEIGHBOURS
#undef CRITPATH_SEND_NEIGHBOURS
#undef CRITPATH_RECEIVE_W
#undef CRITPATH_SEND_W
#undef CRITPATH_RECEIVE_V
#undef CRITPATH_SEND_V
#undef CRITPATH_REDUCED
#undef CRITPATH_RECEIVE
#undef CRITPATH_SEND
#undef CRITPATH_BOTH
#undef CRITPATH_CALL

const Function* find(FunctionId id)
{
    const Function* function = std::ranges::find(table, id, &Function::id);
    return function == std::ranges::end(table) ? nullptr : function;
}

/// The part of `member` in the `number`-th operation on `comm`, which all know; null: as the function has it.
const Part* part_of(const Program& program, std::size_t comm, std::size_t number, int member)
{
    for (const Step& step : program.steps[at(program.comms[comm][at(member)])]) {
        const bool is_operation = step.kind == Kind::Collective || step.kind == Kind::Icollective;
        if (is_operation && step.comm == comm && number-- == 0)
            return step.part ? &*step.part : nullptr;
    }
    throw std::logic_error("members disagree on how often they meet");
}

/// Makes them from one member's step.
class Arguments
{
public:
    Arguments(const Program& program, const Communicators& communicators, const Step& step, std::size_t number)
        : program_(program), communicators_(communicators), step_(step), number_(number)
    {
    }

    [[nodiscard]] Operation make() const
    {
        const int own = communicators_.own_member(step_.comm), block = static_cast<int>(step_.bytes);
        const bool has_amounts = step_.part.has_value(), is_from_root = shape() == CollectiveShape::OneToAll;
        Operation o;
        o.comm = communicators_.handle(step_.comm);
        o.half = communicators_.half();
        o.root = root();
        o.count = has_amounts ? 0 : block;
        o.own_amount = has_amounts && !(is_from_root ? step_.part->gets : step_.part->gives) ? 0 : block;
        for (const int partner : receivers())
            o.sent.add(partner >= 0 && has(own, partner) ? block : 0, block);
        for (const int partner : senders())
            o.received.add(partner >= 0 && has(partner, own) ? block : 0, block);
        o.scattered = scattered();
        o.sent.add(0, 0);  // no address of an array is null, also for nobody
        o.received.add(0, 0);
        return o;
    }

private:
    [[nodiscard]] CollectiveShape shape() const { return functions::info(step_.function).shape; }

    /// Whom the places of arrays are for; nobody: -1.
    [[nodiscard]] std::vector<int> senders() const
    {
        if (shape() != CollectiveShape::Neighbour)
            return communicators_.partners(step_.comm);
        return communicators_.neighbours(step_.comm).first;
    }
    [[nodiscard]] std::vector<int> receivers() const
    {
        if (shape() != CollectiveShape::Neighbour)
            return communicators_.partners(step_.comm);
        return communicators_.neighbours(step_.comm).second;
    }

    [[nodiscard]] bool has(int from, int to) const
    {
        const Part* part = part_of(program_, step_.comm, number_, to);
        const std::vector<int> sources =
            part != nullptr ? part->sources
                            : oracle::needed_members(program_, step_.comm, step_.function, to, step_.root);
        return std::ranges::find(sources, from) != sources.end();
    }

    [[nodiscard]] int root() const
    {
        if (step_.root < 0 || !communicators_.is_between_groups(step_.comm))
            return step_.root;
        const std::vector<int> others = communicators_.partners(step_.comm);
        if (std::ranges::find(others, step_.root) != others.end())
            return communicators_.rank_of(step_.comm, step_.root);
        return step_.root == communicators_.own_member(step_.comm) ? MPI_ROOT : MPI_PROC_NULL;
    }

    [[nodiscard]] int getters(const std::vector<int>& members) const
    {
        return static_cast<int>(std::ranges::count_if(members, [&](int member) { return gets(member); }));
    }
    [[nodiscard]] bool gets(int member) const
    {
        const Part* part = part_of(program_, step_.comm, number_, member);
        return part == nullptr || part->gets;
    }

    /// Both groups must get as much as the other one, so that each of the fewer gets more; of none, all do.
    [[nodiscard]] std::vector<int> scattered() const
    {
        const std::vector<int> own = communicators_.own_group(step_.comm), others = communicators_.partners(step_.comm);
        const int own_getters = getters(own), other_getters = getters(others);
        const bool all_get = own_getters == 0 && other_getters > 0;
        int each = static_cast<int>(step_.bytes);
        if (communicators_.is_between_groups(step_.comm))
            each *= other_getters > 0 || own_getters == 0 ? other_getters : static_cast<int>(others.size());
        std::vector<int> result;
        if (all_get)
            each = static_cast<int>(step_.bytes) * other_getters;
        for (const int member : own)
            result.push_back(all_get || gets(member) ? each : 0);
        return result;
    }

    const Program& program_;
    const Communicators& communicators_;
    const Step& step_;
    std::size_t number_;
};

}  // namespace

Collectives::Collectives(const Program& program, Communicators& communicators)
    : program_(program), communicators_(communicators)
{
}

Collectives::~Collectives() = default;

bool is_performed(FunctionId function)
{
    return function == FunctionId::MPI_Init || function == FunctionId::MPI_Comm_free || find(function) != nullptr;
}

void Collectives::perform(const Step& step, Buffers buffers, MPI_Request* request)
{
    const std::size_t number = performed_[step.comm]++;
    if (step.function == FunctionId::MPI_Init)
        return;  // has been called
    if (step.function == FunctionId::MPI_Comm_free) {
        MPI_Comm_free(&communicators_.slot(step.comm));
        return;
    }
    const Function* function = find(step.function);
    if (function == nullptr)
        throw std::logic_error(std::string("no way to perform ") + functions::info(step.function).name);
    Operation& operation = kept_.emplace_back(Arguments(program_, communicators_, step, number).make());
    operation.buffers = buffers;
    operation.request = request;
    operation.made = step.makes != 0 ? &communicators_.slot(step.makes) : &made_.emplace_back(MPI_COMM_NULL);
    function->call(operation);
}

void Collectives::free_made()
{
    for (MPI_Comm& comm : made_)
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    made_.clear();
}

std::size_t room(const Program& program)
{
    std::uint64_t largest = 0;
    for (const std::vector<Step>& steps : program.steps)
        for (const Step& step : steps) {
            largest = std::max(largest, step.bytes);
            for (const Step& start : step.starts)
                largest = std::max(largest, start.bytes);
        }
    return largest * at(program.ranks + 1) * at(program.ranks + 1);
}

}  // namespace critpath::lengthened
