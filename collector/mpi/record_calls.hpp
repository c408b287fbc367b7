// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the wrappers of each semantic class write down after the call (the table in formats/spool/record.hpp).
#pragma once

#include "collector/mpi/call.hpp"
#include "collector/mpi/table_lock.hpp"
#include "collector/mpi/volume.hpp"
#include "collector/sampling/sampling.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace critpath::preload
{

/// Of a collective without a root: no value that MPI_PROC_NULL or MPI_ROOT may have.
inline constexpr int no_root = std::numeric_limits<int>::min();

/// The status that MPI fills: the application's, or our own where the application ignores it. Untouched calls
/// (`needed` false) keep the application's pointer.
class OwnStatus
{
public:
    OwnStatus(MPI_Status* theirs, bool needed) : used_(needed && theirs == MPI_STATUS_IGNORE ? &own_ : theirs) {}
    MPI_Status* get() { return used_; }

private:
    MPI_Status own_;
    MPI_Status* used_;
};

/// Class of what a function has returned. With MPICH that is a code which says more, and differs each time.
inline int error_class(int result)
{
    int error = result;
#ifndef OPEN_MPI
    if (result != MPI_SUCCESS && pmpi.Error_class(result, &error) != MPI_SUCCESS) {
        return MPI_ERR_OTHER;
    }
#endif
    return error;
}

/// A receive took a message, if only a part of it.
inline bool received(int result)
{
    return result == MPI_SUCCESS || error_class(result) == MPI_ERR_TRUNCATE;
}

/// Whether a call that makes something on a communicator counts there. A failed one does, since only some members may
/// have failed, but not if its arguments were bad: that is found before anything is sent, so that nobody else has taken
/// part.
inline bool counts_as_creation(FunctionId function, int result)
{
    if (result == MPI_SUCCESS) {
        return true;
    }
    constexpr int bad_arguments[] = {MPI_ERR_ARG,  MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_DIMS, MPI_ERR_TOPOLOGY,
                                     MPI_ERR_INFO, MPI_ERR_SIZE, MPI_ERR_DISP,  MPI_ERR_WIN};
    const int error = error_class(result);
    if (function == FunctionId::MPI_Cart_create && error == MPI_ERR_OTHER) {
        return false;  // what Open MPI says of negative dimensions
    }
    return std::find(std::begin(bad_arguments), std::end(bad_arguments), error) == std::end(bad_arguments);
}

/// Bytes of a message. MPI_BYTE because the receive's type may be freed, and because a type with an unequal signature
/// on the other side would leave the count undefined.
inline std::uint64_t bytes_in(const MPI_Status& status)
{
    MPI_Count bytes = 0;
    const bool known = pmpi.Get_elements_x(&status, handles.type_byte, &bytes) == MPI_SUCCESS;
    return known && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

/// Bytes that a file operation has moved, of those that it was `asked` to move. Where nothing was asked, some MPI
/// libraries leave the status as it was.
inline std::uint64_t bytes_moved(const MPI_Status& status, std::uint64_t asked)
{
    const std::uint64_t bytes = asked == 0 ? 0 : bytes_in(status);
    return bytes < asked ? bytes : asked;
}

/// Flags of a receive or probe, and `more`.
inline std::uint8_t receive_flags(int source, int tag, int more = 0)
{
    return static_cast<std::uint8_t>(spool::flag_receive | more |
                                     (source == MPI_ANY_SOURCE ? spool::flag_any_source : 0) |
                                     (tag == MPI_ANY_TAG ? spool::flag_any_tag : 0));
}

inline functions::SendMode mode_of(const spool::Record& record)
{
    return functions::info(static_cast<FunctionId>(record.function)).mode;
}

/// Communicator and peer; sets flag_null_peer where no message can be told: MPI_PROC_NULL, unknown communicator.
inline void set_peer(spool::Record& record, MPI_Comm comm, int peer)
{
    record.comm = process.communicators.id(comm);
    record.peer = peer;
    if (peer == MPI_PROC_NULL || record.comm < 0) {
        record.flags |= spool::flag_null_peer;
    }
}

/// The envelope from the status of a finished receive or probe.
inline void set_envelope(spool::Record& record, const MPI_Status& status)
{
    record.peer = status.MPI_SOURCE;
    record.tag = status.MPI_TAG;
    record.bytes = bytes_in(status);
}

inline void record_send(Call& call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    if (result == MPI_SUCCESS) {
        spool::Record& record = call.record();
        set_peer(record, comm, dest);
        record.tag = tag;
        record.bytes = bytes_of(count, type);
    }
    call.write();
}

inline void record_receive(Call& call, int result, int source, int tag, MPI_Comm comm, const MPI_Status* status)
{
    if (received(result)) {
        spool::Record& record = call.record();
        record.flags = receive_flags(source, tag);
        set_peer(record, comm, source);
        if (source != MPI_PROC_NULL) {
            set_envelope(record, *status);
        }
    }
    call.write();
}

inline void record_sendrecv(Call& call, int result, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, const MPI_Status* status)
{
    spool::Record& record = call.record();
    if (!received(result)) {
        call.write();
        return;
    }
    record.flags = spool::flag_none;
    set_peer(record, comm, dest);
    record.tag = sendtag;
    record.bytes = bytes_of(count, type);
    if (source == MPI_PROC_NULL || record.comm < 0) {
        call.write();
        return;
    }
    call.flag(spool::flag_has_completion);
    call.write(1);
    spool::CompletionsRecord half{};
    half.kind = spool::RecordKind::Completions;
    half.slots = 1;
    half.flags[0] = receive_flags(source, recvtag);
    half.bytes[0] = bytes_in(*status);
    half.peer[0] = status->MPI_SOURCE;
    half.tag[0] = status->MPI_TAG;
    half.comm[0] = record.comm;
    if (call.dropped()) {
        call.skip(Skipped::What::Receive, record.comm, half.peer[0], half.tag[0]);
    }
    call.append(half);
    call.write_pause();
}

/// What a post has in common with the Request that remembers it.
inline Request remember(const spool::Record& record)
{
    Request request;
    request.id = record.request;
    request.bytes = record.bytes;
    request.comm = record.comm;
    request.peer = record.peer;
    request.tag = record.tag;
    request.flags = record.flags;
    request.mode = mode_of(record);
    return request;
}

/// The application's variable that holds a request. Of a Fortran variable `handle` is a copy, as C knows it. Neither is
/// looked at unless the call has succeeded.
struct RequestVariable {
    RequestVariable(const MPI_Request* variable) : handle(variable), location(variable) {}  // NOLINT: as in C
    RequestVariable(const MPI_Request* copy, const void* variable) : handle(copy), location(variable) {}
    const MPI_Request* handle;  // nullptr: the function has no request
    const void* location;
};

/// `since`: Call::since() of what has given it its place.
inline void post(Call& call, const RequestVariable& variable, std::uint64_t since,
                 spool::Operation operation = spool::Operation::Message)
{
    {
        const TableLock lock;
        call.record().request = process.requests.next_id();
        Request request = remember(call.record());
        request.operation = operation;
        request.untold = call.dropped();
        request.since = since;
        if (operation == spool::Operation::File) {
            request.bytes += call.record().extra;  // read or written, not both
        }
        process.requests.post(key_of(*variable.handle), variable.location, request);
    }
    call.write();
}

inline void post(Call& call, const RequestVariable& variable, spool::Operation operation = spool::Operation::Message)
{
    post(call, variable, call.since(), operation);
}

/// A persistent request: the record itself is a local call, the request keeps what its starts will say.
inline void post_persistent(Call& call, const RequestVariable& variable, Request request,
                            const Special* special = nullptr)
{
    request.persistent = true;
    request.active = false;
    {
        const TableLock lock;
        if (special == nullptr) {
            process.requests.post(key_of(*variable.handle), variable.location, request);
        } else {
            process.requests.post(key_of(*variable.handle), variable.location, request, *special);
        }
    }
    call.write();
}

inline void describe_send(spool::Record& record, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    set_peer(record, comm, dest);
    record.tag = tag;
    record.bytes = bytes_of(count, type);
}

inline void describe_receive(spool::Record& record, MPI_Count count, MPI_Datatype type, int source, int tag,
                             MPI_Comm comm)
{
    record.flags |= receive_flags(source, tag);
    set_peer(record, comm, source);
    if (source == MPI_ANY_SOURCE) {
        record.peer = -1;
    }
    record.tag = tag == MPI_ANY_TAG ? -1 : tag;
    record.bytes = bytes_of(count, type);
}

inline void record_isend(Call& call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                         const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    describe_send(call.record(), count, type, dest, tag, comm);
    post(call, request);
}

inline void record_irecv(Call& call, int result, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    describe_receive(call.record(), count, type, source, tag, comm);
    post(call, request);
}

inline void record_send_init(Call& call, int result, MPI_Count count, MPI_Datatype type, int dest, int tag,
                             MPI_Comm comm, const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    spool::Record description = call.record();
    describe_send(description, count, type, dest, tag, comm);
    post_persistent(call, request, remember(description));
}

inline void record_recv_init(Call& call, int result, MPI_Count count, MPI_Datatype type, int source, int tag,
                             MPI_Comm comm, const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    spool::Record description = call.record();
    describe_receive(description, count, type, source, tag, comm);
    post_persistent(call, request, remember(description));
}

inline void describe_probe(spool::Record& record, int source, int tag, MPI_Comm comm, const MPI_Status& status)
{
    record.flags |= receive_flags(source, tag, spool::flag_success);
    set_peer(record, comm, source);
    if (source != MPI_PROC_NULL) {
        set_envelope(record, status);
    }
}

inline void record_probe(Call& call, int result, int source, int tag, MPI_Comm comm, const MPI_Status* status)
{
    if (result == MPI_SUCCESS) {
        describe_probe(call.record(), source, tag, comm, *status);
    }
    call.write();
}

/// `site`: where the application calls from.
inline void record_iprobe(Call& call, int result, int found, int source, int tag, MPI_Comm comm,
                          const MPI_Status* status, const void* site)
{
    if (result == MPI_SUCCESS && found == 0) {
        // The same question: equal source, tag and communicator.
        const std::uint64_t what = key_of(comm) ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(tag)) << 32) ^
                                   static_cast<std::uint32_t>(source);
        call.write_poll(what, site);
        return;
    }
    record_probe(call, result, source, tag, comm, status);
}

inline std::int32_t root_of(int root, bool is_inter)
{
    if (root == no_root) {
        return spool::root_none;
    }
    if (is_inter && root == MPI_ROOT) {
        return spool::root_is_me;
    }
    return is_inter && root == MPI_PROC_NULL ? std::int32_t{spool::root_in_my_group} : root;
}

/// `volume_on`: bytes moved, from a VolumeOf. False if the communicator is not known.
template <class VolumeOn>
bool describe_collective(spool::Record& record, int root, MPI_Comm comm, const VolumeOn& volume_on)
{
    const Communicator group = process.communicators.look_up(comm);
    if (group.id < 0) {
        return false;
    }
    const Volume volume = volume_on(VolumeOf(group, comm));
    record.comm = group.id;
    record.peer = root_of(root, group.is_inter);
    record.bytes = volume.sent;
    record.extra = volume.received;
    return true;
}

template <class VolumeOn>
void record_collective(Call& call, int result, int root, MPI_Comm comm, const VolumeOn& volume_on)
{
    if (result == MPI_SUCCESS) {
        describe_collective(call.record(), root, comm, volume_on);
    }
    call.write();
    if (result == MPI_SUCCESS) {
        control.count_collective(static_cast<FunctionId>(call.record().function), comm, call.record().leave);
    }
}

/// Its completion is left out, by flag_null_peer, where the communicator is not known.
template <class VolumeOn>
void record_icollective(Call& call, int result, int root, MPI_Comm comm, const RequestVariable& request,
                        const VolumeOn& volume_on)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    if (!describe_collective(call.record(), root, comm, volume_on)) {
        call.flag(spool::flag_null_peer);
    }
    post(call, request, spool::Operation::Collective);
}

/// `non_blocking`: the function that does at once what each start of the request will do.
template <class VolumeOn>
void record_collective_init(Call& call, int result, FunctionId non_blocking, int root, MPI_Comm comm,
                            const RequestVariable& request, const VolumeOn& volume_on)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    spool::Record description = call.record();
    description.function = static_cast<std::uint16_t>(non_blocking);
    if (!describe_collective(description, root, comm, volume_on)) {
        description.flags |= spool::flag_null_peer;
    }
    Request started = remember(description);
    started.operation = spool::Operation::Collective;
    Special special;
    special.function = non_blocking;
    special.received = description.extra;
    post_persistent(call, request, started, &special);
}

/// How a record names a communicator that was created: id + 1, so that 0 is none.
inline std::uint64_t extra_of(std::int32_t id)
{
    return static_cast<std::uint64_t>(std::int64_t{id} + 1);
}

/// Collective creation: every member of the parent takes part, also one that gets no communicator.
inline void record_comm_create(Call& call, int result, MPI_Comm parent, const MPI_Comm* child)
{
    Origin origin;
    const auto function = static_cast<FunctionId>(call.record().function);
    if (counts_as_creation(function, result) && process.communicators.next_child(parent, origin) &&
        result == MPI_SUCCESS) {
        spool::Record& record = call.record();
        record.comm = process.communicators.id(parent);
        if (*child != handles.comm_null) {
            record.extra = extra_of(process.communicators.add(*child, *child, origin, call.thread().spool));
        }
    }
    call.write();
    call.write_own_time();
}

/// Creation that `parent` does not number. `child` may be the null communicator.
inline void describe_created(Call& call, MPI_Comm parent, MPI_Comm child, MPI_Comm like, const Origin& origin)
{
    spool::Record& record = call.record();
    record.comm = process.communicators.id(parent);
    if (child != handles.comm_null) {
        record.extra = extra_of(process.communicators.add(child, like, origin, call.thread().spool));
    }
}

/// MPI_Comm_create_group: collective over the new members only.
inline void record_comm_create_group(Call& call, int result, MPI_Comm parent, int tag, const MPI_Comm* child)
{
    const Communicator known = process.communicators.look_up(parent);
    if (result == MPI_SUCCESS && known.id >= 0) {
        describe_created(call, parent, *child, *child, {GidKind::Group, known.gid, 0, tag});
    }
    call.write();
    call.write_own_time();
}

inline void record_intercomm_create(Call& call, int result, MPI_Comm local_comm, int tag, const MPI_Comm* child)
{
    if (result == MPI_SUCCESS) {
        describe_created(call, local_comm, *child, *child, {GidKind::Inter, Gid(), 0, tag});
    }
    call.write();
    call.write_own_time();
}

/// The new handle is good when MPI_Comm_idup returns, although nothing may be asked of it before the request has
/// completed. Identity and members are known without asking, so nothing has to happen at that completion
/// (docs/ALGORITHM, "Communicator identity").
inline void record_comm_idup(Call& call, int result, MPI_Comm parent, const MPI_Comm* child,
                             const RequestVariable& request)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    Origin origin;
    if (process.communicators.next_child(parent, origin)) {
        describe_created(call, parent, *child, parent, origin);
    } else {
        call.flag(spool::flag_null_peer);
    }
    post(call, request, spool::Operation::NewComm);
    call.write_own_time();
}

/// The other side may belong to another MPI_COMM_WORLD: then the new communicator is not described, and stays unknown.
/// `parent` is the null communicator, and `root` no_root, for MPI_Comm_join.
inline void record_comm_dynamic(Call& call, int result, int root, MPI_Comm parent, const MPI_Comm* child)
{
    if (result == MPI_SUCCESS) {
        describe_created(call, parent, *child, *child, {GidKind::Meeting, Gid(), 0, 0});
        call.record().peer = root_of(root, false);
    }
    call.write();
    call.write_own_time();
}

inline void record_pcontrol(Call& call, int level)
{
    call.record().extra = static_cast<std::uint64_t>(std::int64_t{level});
    call.write();
}

/// Before the call, which does not return.
inline void record_abort(Call& call)
{
    call.record().enter = call.record().leave = now();
    call.write();
    sampling::save();  // nobody else will
}

inline void record_comm_free(Call& call, int result, MPI_Comm freed, std::int32_t id)
{
    if (result == MPI_SUCCESS && id >= 0) {
        call.record().comm = id;
        process.communicators.remove(freed, id);
    }
    call.write();
}

}  // namespace critpath::preload
