// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/operation.hpp"

#include <algorithm>
#include <iterator>

namespace critpath::replayer::rules
{

namespace
{

using functions::SemanticClass;

struct ClassRule {
    SemanticClass semantic_class;
    Operation operation;
};

constexpr bool blocking = true;
constexpr bool sync_tested = true;

constexpr Operation messages(Dependence dependence)
{
    return {dependence, CollectiveShape::None, !sync_tested, blocking};
}

constexpr Operation poll(Dependence dependence)
{
    return {dependence, CollectiveShape::None, !sync_tested, !blocking};
}

/// Copying is work, however long it takes.
constexpr Operation transfer = {Dependence::AllMessages, CollectiveShape::None, !sync_tested, !blocking};

/// Classes that are not listed here wait for nothing: posting, starting, cancelling.
constexpr ClassRule class_rules[] = {
    {SemanticClass::Send, messages(Dependence::AllMessages)},
    {SemanticClass::Recv, messages(Dependence::AllMessages)},
    {SemanticClass::Mrecv, messages(Dependence::AllMessages)},
    {SemanticClass::Sendrecv, messages(Dependence::AllMessages)},
    {SemanticClass::Wait, messages(Dependence::AllMessages)},
    {SemanticClass::Waitall, messages(Dependence::AllMessages)},
    {SemanticClass::Waitany, messages(Dependence::AnyMessage)},
    {SemanticClass::Waitsome, messages(Dependence::AnyMessage)},
    {SemanticClass::Probe, messages(Dependence::ProbedMessage)},
    {SemanticClass::Mprobe, messages(Dependence::ProbedMessage)},
    {SemanticClass::Test, poll(Dependence::AllMessages)},
    {SemanticClass::Testall, poll(Dependence::AllMessages)},
    {SemanticClass::Testany, poll(Dependence::AnyMessage)},
    {SemanticClass::Testsome, poll(Dependence::AnyMessage)},
    {SemanticClass::Iprobe, poll(Dependence::ProbedMessage)},
    {SemanticClass::Improbe, poll(Dependence::ProbedMessage)},
    // What it finds is completed by the call behind it (status_poll_before()).
    {SemanticClass::RequestGetStatus, poll(Dependence::Nothing)},
    {SemanticClass::Parrived, poll(Dependence::Nothing)},
    // Where all that completes a request is that it is freed.
    {SemanticClass::RequestFree, {Dependence::AllMessages, CollectiveShape::None, !sync_tested, !blocking}},
    // For the receivers of buffered sends that came before it.
    {SemanticClass::BufferDetach, messages(Dependence::AllMessages)},
    // Start-up is mostly local work, so a long MPI_Init is not a delay.
    {SemanticClass::Init, {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking}},
    {SemanticClass::Finalize, {Dependence::Members, CollectiveShape::DataDriven, !sync_tested, !blocking}},
    {SemanticClass::CommFree, {Dependence::Members, CollectiveShape::DataDriven, !sync_tested, blocking}},
    {SemanticClass::WinCreate, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    {SemanticClass::WinFree, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    {SemanticClass::WinFence, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    // What epochs wait for is found out by replayer/onesided, as if it were messages.
    {SemanticClass::WinStart, messages(Dependence::AllMessages)},
    {SemanticClass::WinComplete, messages(Dependence::AllMessages)},
    {SemanticClass::WinWait, messages(Dependence::AllMessages)},
    {SemanticClass::WinTest, poll(Dependence::AllMessages)},
    {SemanticClass::WinLock, messages(Dependence::AllMessages)},
    {SemanticClass::WinUnlock, messages(Dependence::AllMessages)},
    {SemanticClass::WinFlush, messages(Dependence::AllMessages)},
    {SemanticClass::RmaPut, transfer},
    {SemanticClass::RmaGet, transfer},
    {SemanticClass::RmaAtomic, transfer},
    {SemanticClass::Collective, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    {SemanticClass::Icollective, {Dependence::MembersLater, CollectiveShape::None, !sync_tested, !blocking}},
    {SemanticClass::CommIdup, {Dependence::MembersLater, CollectiveShape::AllToAll, !sync_tested, !blocking}},
    {SemanticClass::CommCreate, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    {SemanticClass::CommCreateGroup, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    // Of both sides, or of one if the other is of another trace: then what takes long may be a wait for that.
    {SemanticClass::CommDynamic, {Dependence::Members, CollectiveShape::AllToAll, sync_tested, blocking}},
    // What takes long in these is the file system, not a partner that came late.
    {SemanticClass::FileOpen, {Dependence::Members, CollectiveShape::AllToAll, !sync_tested, !blocking}},
    {SemanticClass::FileClose, {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking}},
    {SemanticClass::FileMeta, {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking}},
    {SemanticClass::FileIoAll, {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking}},
    {SemanticClass::FileIoOrdered, {Dependence::Members, CollectiveShape::Prefix, !sync_tested, !blocking}},
};

constexpr bool has_amounts(const functions::FunctionInfo& info, FunctionId function)
{
    const bool is_collective =
        info.semantic_class == SemanticClass::Collective || info.semantic_class == SemanticClass::Icollective;
    return is_collective && function != FunctionId::MPI_Barrier && function != FunctionId::MPI_Ibarrier;
}

constexpr bool some_give(FunctionId function)
{
    constexpr FunctionId functions[] = {
        FunctionId::MPI_Alltoallv,           FunctionId::MPI_Alltoallw,           FunctionId::MPI_Ialltoallv,
        FunctionId::MPI_Ialltoallw,          FunctionId::MPI_Neighbor_alltoallv,  FunctionId::MPI_Neighbor_alltoallw,
        FunctionId::MPI_Ineighbor_alltoallv, FunctionId::MPI_Ineighbor_alltoallw,
    };
    return std::ranges::find(functions, function) != std::end(functions);
}

/// The beginning and the end of a split operation on a file may each be the blocking one (MPI-3.1, 13.4.5).
constexpr SemanticClass rule_class(const functions::FunctionInfo& info)
{
    if (info.semantic_class != SemanticClass::FileBegin && info.semantic_class != SemanticClass::FileEnd)
        return info.semantic_class;
    return info.shape == CollectiveShape::Prefix ? SemanticClass::FileIoOrdered : SemanticClass::FileIoAll;
}

constexpr Operation look_up(const functions::FunctionInfo& info, FunctionId function)
{
    for (const ClassRule& rule : class_rules) {
        if (rule.semantic_class != rule_class(info))
            continue;
        Operation result = rule.operation;
        const bool of_members =
            result.dependence == Dependence::Members || result.dependence == Dependence::MembersLater;
        if (of_members && result.shape == CollectiveShape::None)
            result.shape = info.shape;  // the function table knows the shape of each collective
        result.has_amounts = has_amounts(info, function);
        result.some_give = some_give(function);
        result.polls = functions::is_poll(info.semantic_class);
        result.on_file = functions::group_of(info.semantic_class) == functions::Group::Io;
        return result;
    }
    return {};
}

constexpr Looks looks_in(SemanticClass semantic_class)
{
    switch (semantic_class) {
    case SemanticClass::Local:
    case SemanticClass::RequestFree:
        return Looks::Never;
    case SemanticClass::Isend:
    case SemanticClass::Irecv:
    case SemanticClass::Isendrecv:
    case SemanticClass::SendInit:
    case SemanticClass::RecvInit:
    case SemanticClass::PsendInit:
    case SemanticClass::PrecvInit:
    case SemanticClass::Pready:
    case SemanticClass::CollectiveInit:
    case SemanticClass::Start:
    case SemanticClass::Startall:
    case SemanticClass::Icollective:
    case SemanticClass::CommIdup:
        return Looks::Perhaps;
    default:
        return Looks::Always;
    }
}

constexpr Operations make_operations()
{
    Operations result{};  // who is not in the table is taken for local
    for (std::size_t i = 0; i + 1 < result.size(); ++i) {
        const auto function = static_cast<FunctionId>(i);
        result[i] = look_up(functions::info(function), function);
        result[i].looks = looks_in(functions::semantic_class(function));
    }
    return result;
}

}  // namespace

constexpr Operations operations = make_operations();

Operation unlisted_collective()
{
    return {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking};
}

}  // namespace critpath::replayer::rules
