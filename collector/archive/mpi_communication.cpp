// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/mpi_communication.hpp"

#include "formats/support/error.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>

#include <sys/uio.h>
#include <unistd.h>

namespace critpath::archive
{

namespace
{

constexpr int tag = 1;
// Counts are ints.
constexpr std::size_t largest_piece = std::size_t{1} << 30;
// What every MPI library sends through memory that processes share, along with its own header.
constexpr std::size_t eager_piece = 2048;

// Whether another process can no longer read the memory of this one by its process id, as libraries do for large
// messages within a node: so it is once the main thread has ended, although others run. Open MPI's btl/vader then
// writes "Read -1, expected ..., errno = 3" to the application's standard error before it takes another way.
bool memory_is_out_of_reach()
{
    char from = 0;
    char to = 0;
    const iovec local = {.iov_base = &to, .iov_len = 1};
    const iovec remote = {.iov_base = &from, .iov_len = 1};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == ESRCH;
}

void check_mpi(int rc, const char* what)
{
    if (rc == MPI_SUCCESS) {
        return;
    }
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    PMPI_Error_string(rc, text, &length);
    fail(ExitCode::Failed, "{} between the ranks: {}", what, text);
}

}  // namespace

MpiCommunication::MpiCommunication(MPI_Comm comm) : comm_(comm)
{
    check_mpi(PMPI_Comm_rank(comm, &rank_), "communication");
    check_mpi(PMPI_Comm_size(comm, &size_), "communication");
    int eager_only = memory_is_out_of_reach() ? 1 : 0;
    check_mpi(PMPI_Allreduce(MPI_IN_PLACE, &eager_only, 1, MPI_INT, MPI_MAX, comm), "agreeing");
    largest_ = eager_only != 0 ? eager_piece : largest_piece;
}

void MpiCommunication::send(int to, const std::vector<std::byte>& bytes) const
{
    const std::uint64_t size = bytes.size();
    check_mpi(PMPI_Send(&size, 1, MPI_UINT64_T, to, tag, comm_), "sending definitions");
    for (std::size_t at = 0; at < bytes.size(); at += largest_) {
        const int count = static_cast<int>(std::min(largest_, bytes.size() - at));
        check_mpi(PMPI_Send(bytes.data() + at, count, MPI_BYTE, to, tag, comm_), "sending definitions");
    }
}

std::vector<std::byte> MpiCommunication::receive(int from) const
{
    std::uint64_t size = 0;
    check_mpi(PMPI_Recv(&size, 1, MPI_UINT64_T, from, tag, comm_, MPI_STATUS_IGNORE), "receiving definitions");
    std::vector<std::byte> bytes(size);
    for (std::size_t at = 0; at < bytes.size(); at += largest_) {
        const int count = static_cast<int>(std::min(largest_, bytes.size() - at));
        check_mpi(PMPI_Recv(bytes.data() + at, count, MPI_BYTE, from, tag, comm_, MPI_STATUS_IGNORE),
                  "receiving definitions");
    }
    return bytes;
}

void MpiCommunication::barrier() const
{
    check_mpi(PMPI_Barrier(comm_), "waiting");
}

std::string MpiCommunication::first_error(std::string error) const
{
    int first = error.empty() ? INT_MAX : rank_;
    check_mpi(PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_), "agreeing");
    if (first == INT_MAX) {
        return {};
    }
    int length = static_cast<int>(std::min(error.size(), eager_piece));
    check_mpi(PMPI_Bcast(&length, 1, MPI_INT, first, comm_), "agreeing");
    error.resize(static_cast<std::size_t>(length));
    check_mpi(PMPI_Bcast(error.data(), length, MPI_CHAR, first, comm_), "agreeing");
    return error;
}

void MpiCommunication::sum(std::vector<std::uint64_t>& numbers) const
{
    check_mpi(
        PMPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T, MPI_SUM, comm_),
        "adding up");
}

struct CollectiveCallbacks {
    static const MpiCommunication& self(void* user) { return *static_cast<const MpiCommunication*>(user); }

    static MPI_Datatype datatype(OTF2_Type type)
    {
        switch (type) {
        case OTF2_TYPE_UINT8:
            return MPI_UINT8_T;
        case OTF2_TYPE_INT8:
            return MPI_INT8_T;
        case OTF2_TYPE_UINT16:
            return MPI_UINT16_T;
        case OTF2_TYPE_INT16:
            return MPI_INT16_T;
        case OTF2_TYPE_UINT32:
            return MPI_UINT32_T;
        case OTF2_TYPE_INT32:
            return MPI_INT32_T;
        case OTF2_TYPE_UINT64:
            return MPI_UINT64_T;
        case OTF2_TYPE_INT64:
            return MPI_INT64_T;
        case OTF2_TYPE_FLOAT:
            return MPI_FLOAT;
        case OTF2_TYPE_DOUBLE:
            return MPI_DOUBLE;
        default:
            return MPI_DATATYPE_NULL;
        }
    }

    static OTF2_CallbackCode code(int rc) { return rc == MPI_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR; }

    // What MPI wants for the root of a gatherv or scatterv.
    struct Layout {
        std::vector<int> counts, displacements;

        Layout(const MpiCommunication& c, const std::uint32_t* elements, std::uint32_t root)
        {
            int at = 0;
            for (int i = 0; static_cast<int>(root) == c.rank_ && i < c.size_; ++i) {
                counts.push_back(static_cast<int>(elements[i]));
                displacements.push_back(at);
                at += counts.back();
            }
        }
    };

    static OTF2_CallbackCode get_size(void* user, OTF2_CollectiveContext*, std::uint32_t* size)
    {
        *size = static_cast<std::uint32_t>(self(user).size_);
        return OTF2_CALLBACK_SUCCESS;
    }

    static OTF2_CallbackCode get_rank(void* user, OTF2_CollectiveContext*, std::uint32_t* rank)
    {
        *rank = static_cast<std::uint32_t>(self(user).rank_);
        return OTF2_CALLBACK_SUCCESS;
    }

    static OTF2_CallbackCode barrier(void* user, OTF2_CollectiveContext*)
    {
        return code(PMPI_Barrier(self(user).comm_));
    }

    static OTF2_CallbackCode bcast(void* user, OTF2_CollectiveContext*, void* data, std::uint32_t elements,
                                   OTF2_Type type, std::uint32_t root)
    {
        return code(
            PMPI_Bcast(data, static_cast<int>(elements), datatype(type), static_cast<int>(root), self(user).comm_));
    }

    static OTF2_CallbackCode gather(void* user, OTF2_CollectiveContext*, const void* in, void* out,
                                    std::uint32_t elements, OTF2_Type type, std::uint32_t root)
    {
        const int count = static_cast<int>(elements);
        return code(PMPI_Gather(in, count, datatype(type), out, count, datatype(type), static_cast<int>(root),
                                self(user).comm_));
    }

    static OTF2_CallbackCode gatherv(void* user, OTF2_CollectiveContext*, const void* in, std::uint32_t in_elements,
                                     void* out, const std::uint32_t* out_elements, OTF2_Type type, std::uint32_t root)
    {
        const Layout layout(self(user), out_elements, root);
        return code(PMPI_Gatherv(in, static_cast<int>(in_elements), datatype(type), out, layout.counts.data(),
                                 layout.displacements.data(), datatype(type), static_cast<int>(root),
                                 self(user).comm_));
    }

    static OTF2_CallbackCode scatter(void* user, OTF2_CollectiveContext*, const void* in, void* out,
                                     std::uint32_t elements, OTF2_Type type, std::uint32_t root)
    {
        const int count = static_cast<int>(elements);
        return code(PMPI_Scatter(in, count, datatype(type), out, count, datatype(type), static_cast<int>(root),
                                 self(user).comm_));
    }

    static OTF2_CallbackCode scatterv(void* user, OTF2_CollectiveContext*, const void* in,
                                      const std::uint32_t* in_elements, void* out, std::uint32_t out_elements,
                                      OTF2_Type type, std::uint32_t root)
    {
        const Layout layout(self(user), in_elements, root);
        return code(PMPI_Scatterv(in, layout.counts.data(), layout.displacements.data(), datatype(type), out,
                                  static_cast<int>(out_elements), datatype(type), static_cast<int>(root),
                                  self(user).comm_));
    }
};

std::optional<otf2::Collectives> MpiCommunication::otf2_collectives() const
{
    static constexpr OTF2_CollectiveCallbacks callbacks = {
        .otf2_release = nullptr,
        .otf2_get_size = CollectiveCallbacks::get_size,
        .otf2_get_rank = CollectiveCallbacks::get_rank,
        .otf2_create_local_comm = nullptr,  // only for several locations in one file
        .otf2_free_local_comm = nullptr,
        .otf2_barrier = CollectiveCallbacks::barrier,
        .otf2_bcast = CollectiveCallbacks::bcast,
        .otf2_gather = CollectiveCallbacks::gather,
        .otf2_gatherv = CollectiveCallbacks::gatherv,
        .otf2_scatter = CollectiveCallbacks::scatter,
        .otf2_scatterv = CollectiveCallbacks::scatterv,
    };
    auto* const user = const_cast<MpiCommunication*>(this);
    // The context is opaque to libotf2, which only asks that it is not null.
    return otf2::Collectives{&callbacks, user, reinterpret_cast<OTF2_CollectiveContext*>(user)};
}

}  // namespace critpath::archive
