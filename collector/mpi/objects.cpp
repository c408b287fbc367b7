// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/objects.hpp"

#include "collector/mpi/process.hpp"
#include "collector/mpi/spool_writer.hpp"
#include "collector/mpi/table_lock.hpp"
#include "collector/mpi/thread.hpp"

#include <cstring>

namespace critpath::preload
{

namespace
{

GidKind kind_of(spool::ObjectRecord::Type type)
{
    return type == spool::ObjectRecord::Window ? GidKind::Window : GidKind::File;
}

std::uint64_t& counter(Communicator& communicator, spool::ObjectRecord::Type type)
{
    return type == spool::ObjectRecord::Window ? communicator.windows : communicator.files;
}

}  // namespace

PathEnd::PathEnd(const char* path, std::size_t length)
{
    std::size_t used = length < capacity ? length : capacity - 1;
    const char* end = path + length;
    while (used < length && used > 0 && (static_cast<unsigned char>(*(end - used)) & 0xc0) == 0x80) {
        --used;  // not from within a character of UTF-8
    }
    std::memcpy(text_, end - used, used);
}

ObjectOrigin Objects::next(MPI_Comm comm)
{
    const TableLock lock;
    Communicator* communicator = process.communicators.find(comm);
    if (communicator == nullptr) {
        return {};
    }
    return {object_gid(kind_of(type_), communicator->gid, counter(*communicator, type_)++), communicator->id};
}

Object Objects::add(std::uint64_t handle, const ObjectOrigin& origin, functions::FunctionId function,
                    const PathEnd& name, SpoolWriter& spool)
{
    Object object;
    {
        const TableLock lock;
        object = {next_id_, origin.comm, 0};
        if (table_.replace(handle, object) == HandleTable<Object>::none) {
            return {};
        }
        ++next_id_;
    }
    spool::ObjectRecord record{};
    record.kind = spool::RecordKind::Object;
    record.type = type_;
    record.id = object.id;
    record.comm = object.comm;
    record.function = static_cast<std::uint32_t>(function);
    std::memcpy(record.gid, origin.gid.word, sizeof record.gid);
    std::memcpy(record.name, name.text(), sizeof record.name);
    spool.append(record);
    return object;
}

Object Objects::find(std::uint64_t handle)
{
    const TableLock lock;
    const std::uint32_t index = table_.find(handle);
    return index == HandleTable<Object>::none ? Object() : table_.at(index);
}

void Objects::begin_split(std::uint64_t handle, std::uint64_t bytes)
{
    const TableLock lock;
    const std::uint32_t index = table_.find(handle);
    if (index != HandleTable<Object>::none) {
        table_.at(index).split = bytes;
    }
}

void Objects::remove(std::uint64_t handle, std::int32_t id)
{
    const TableLock lock;
    const std::uint32_t index = table_.find(handle);
    if (index != HandleTable<Object>::none && table_.at(index).id == id) {
        table_.erase(index);
    }
}

}  // namespace critpath::preload
