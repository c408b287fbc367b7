// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/communicators.hpp"

#include "collector/mpi/members.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/spool_writer.hpp"
#include "collector/mpi/table_lock.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/mpi/topology.hpp"

#include <cstring>

namespace critpath::preload
{

namespace
{

// The world ranks of a group, in mapped memory.
class Members
{
public:
    explicit Members(MPI_Group group)
    {
        if (pmpi.Group_size(group, &size_) != MPI_SUCCESS) {
            return;
        }
        bytes_ = sizeof(int) * world_ranks_room(size_ + 1);
        world_ = static_cast<int*>(map_memory(bytes_));
        if (world_ == nullptr) {
            return;
        }
        valid_ = to_world_ranks(group, size_, world_);
        for (int i = 0; i < size_; ++i) {
            valid_ = valid_ && world_[i] >= 0;
        }
    }
    ~Members()
    {
        if (world_ != nullptr) {
            munmap(world_, bytes_);
        }
    }
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    [[nodiscard]] bool valid() const { return valid_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] int operator[](int i) const { return world_[i]; }
    [[nodiscard]] const int* world() const { return world_; }
    [[nodiscard]] Gid hash() const { return hash_group(world_, size_); }

    // first + i * stride?
    [[nodiscard]] bool is_range() const
    {
        for (int i = 2; i < size_; ++i) {
            if (world_[i] - world_[i - 1] != world_[1] - world_[0]) {
                return false;
            }
        }
        return size_ > 0;
    }

private:
    int* world_ = nullptr;
    std::size_t bytes_ = 0;
    int size_ = 0;
    bool valid_ = false;
};

void write(const Communicator& communicator, const Gid& parent, const Members& members, SpoolWriter& spool)
{
    spool::CommunicatorRecord record{};
    record.kind = spool::RecordKind::Communicator;
    record.is_inter = communicator.is_inter ? 1 : 0;
    record.is_range = members.is_range() ? 1 : 0;
    record.comm = communicator.id;
    std::memcpy(record.gid, communicator.gid.word, sizeof record.gid);
    std::memcpy(record.parent_gid, parent.word, sizeof record.parent_gid);
    record.size = members.size();
    record.rank = communicator.rank;
    if (record.is_range != 0) {
        record.first = members[0];
        record.stride = members.size() > 1 ? members[1] - members[0] : 1;
    }
    spool.append(record);
    if (record.is_range == 0) {
        append_members(members.world(), members.size(), [&](const auto& part) { spool.append(part); });
    }
}

// Asks MPI for everything but identity and id. False if MPI will not say.
bool describe(MPI_Comm comm, Communicator& communicator, MPI_Group& group, MPI_Group& peers)
{
    int is_inter = 0;
    bool good = pmpi.Comm_test_inter(comm, &is_inter) == MPI_SUCCESS &&
                pmpi.Comm_rank(comm, &communicator.rank) == MPI_SUCCESS &&
                pmpi.Comm_size(comm, &communicator.size) == MPI_SUCCESS && pmpi.Comm_group(comm, &group) == MPI_SUCCESS;
    communicator.is_inter = is_inter != 0;
    communicator.peers = communicator.size;
    peers = group;
    if (good && communicator.is_inter) {
        good = pmpi.Comm_remote_size(comm, &communicator.peers) == MPI_SUCCESS &&
               pmpi.Comm_remote_group(comm, &peers) == MPI_SUCCESS;
    }
    return good;
}

}  // namespace

std::int32_t Communicators::insert(MPI_Comm comm, Communicator communicator)
{
    communicator.id = next_id_;
    if (table_.replace(key_of(comm), communicator) == HandleTable<Communicator>::none) {
        return -1;
    }
    return next_id_++;
}

void Communicators::start(SpoolWriter& spool)
{
    const MPI_Comm predefined[] = {handles.comm_world, handles.comm_self};
    const Gid gids[] = {world_gid(), self_gid(process.rank)};
    for (int i = 0; i < 2; ++i) {
        Communicator communicator;
        MPI_Group group{};
        MPI_Group peers{};
        if (!describe(predefined[i], communicator, group, peers)) {
            continue;
        }
        communicator.gid = gids[i];
        communicator.id = insert(predefined[i], communicator);
        write(communicator, Gid(), Members(group), spool);
        pmpi.Group_free(&group);
    }
}

Communicator* Communicators::find(MPI_Comm comm)
{
    const std::uint32_t index = table_.find(key_of(comm));
    return index == HandleTable<Communicator>::none ? nullptr : &table_.at(index);
}

std::int32_t Communicators::id(MPI_Comm comm)
{
    const TableLock lock;
    const Communicator* communicator = find(comm);
    return communicator == nullptr ? -1 : communicator->id;
}

Communicator Communicators::look_up(MPI_Comm comm)
{
    const TableLock lock;
    const Communicator* communicator = find(comm);
    return communicator == nullptr ? Communicator() : *communicator;
}

std::int32_t Communicators::add(MPI_Comm comm, MPI_Comm like, const Origin& origin, SpoolWriter& spool)
{
    Communicator communicator;
    MPI_Group group{};
    MPI_Group peers{};
    if (!describe(like, communicator, group, peers)) {
        return -1;
    }
    const Members members(peers);
    Gid identity = members.valid() ? members.hash() : Gid();
    bool valid = members.valid();
    if (communicator.is_inter) {
        const Members own(group);
        valid = valid && own.valid();
        identity = valid ? hash_groups(own.hash(), identity) : Gid();
        pmpi.Group_free(&peers);
    }
    pmpi.Group_free(&group);
    if (!valid) {
        return -1;
    }
    {
        const TableLock lock;
        if (origin.kind == GidKind::Child) {
            communicator.gid = child_gid(origin.parent, origin.sequence, identity);
        } else {
            const Gid key = group_key(origin.kind, origin.parent, identity, origin.tag);
            std::uint32_t index = sequences_.find(key.word[0]);
            if (index == HandleTable<std::uint64_t>::none) {
                index = sequences_.insert(key.word[0], 0);
            }
            communicator.gid = keyed_gid(key, index == HandleTable<std::uint64_t>::none ? 0 : sequences_.at(index)++);
        }
        communicator.id = insert(comm, communicator);
    }
    if (communicator.id >= 0) {
        const bool has_parent = origin.kind == GidKind::Child || origin.kind == GidKind::Group;
        write(communicator, has_parent ? origin.parent : world_gid(), members, spool);
        write_topology(like, communicator.rank, communicator.id, spool);
    }
    return communicator.id;
}

bool Communicators::next_child(MPI_Comm parent, Origin& origin)
{
    const TableLock lock;
    Communicator* communicator = find(parent);
    if (communicator == nullptr) {
        return false;
    }
    origin = {GidKind::Child, communicator->gid, communicator->children++, 0};
    return true;
}

void Communicators::remove(MPI_Comm comm, std::int32_t id)
{
    const TableLock lock;
    const std::uint32_t index = table_.find(key_of(comm));
    if (index != HandleTable<Communicator>::none && table_.at(index).id == id) {
        table_.erase(index);
    }
}

}  // namespace critpath::preload
