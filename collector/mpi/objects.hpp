// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the windows and files that the process knows: handle -> id and communicator, and their records in the spool.
#pragma once

#include "collector/mpi/gid.hpp"
#include "collector/mpi/handle_table.hpp"
#include "formats/functions/functions.hpp"
#include "formats/spool/record.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace critpath::preload
{

class SpoolWriter;

/// A window or a file.
struct Object {
    std::int32_t id = -1;
    std::int32_t comm = -1;   // id of the communicator that it was made on; -1: not known
    std::uint64_t split = 0;  // of a file: bytes that its split operation was asked to move
};

/// Which of the objects of one type and communicator one is: members number them alike.
struct ObjectOrigin {
    Gid gid;  // zero where the communicator is not known
    std::int32_t comm = -1;
};

/// The end of a path, with '\0' behind it.
class PathEnd
{
public:
    PathEnd() = default;
    PathEnd(const char* path, std::size_t length);

    [[nodiscard]] const char* text() const { return text_; }
    static constexpr std::size_t capacity = sizeof spool::ObjectRecord::name;

private:
    char text_[capacity] = {};
};

/// The objects of one type, by handle. The methods take the table lock of the process.
class Objects
{
public:
    explicit constexpr Objects(spool::ObjectRecord::Type type) : type_(type) {}

    /// A call that makes an object on `comm` is over, and counts there.
    ObjectOrigin next(MPI_Comm comm);

    /// Registers an object that `function` has made and writes its record. id -1 if there is no memory.
    Object add(std::uint64_t handle, const ObjectOrigin& origin, functions::FunctionId function, const PathEnd& name,
               SpoolWriter& spool);

    /// What is known of the object; id -1 if that is nothing.
    Object find(std::uint64_t handle);

    /// A split operation for `bytes` has begun; a file has one at a time.
    void begin_split(std::uint64_t handle, std::uint64_t bytes);

    /// Forgets the object, unless another thread has got its handle for a new one in the meantime.
    void remove(std::uint64_t handle, std::int32_t id);

private:
    HandleTable<Object> table_;
    spool::ObjectRecord::Type type_;
    std::int32_t next_id_ = 0;
};

}  // namespace critpath::preload
