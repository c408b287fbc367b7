// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/rules/operation.hpp"

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
    return {dependence, CollectiveShape::None, false, blocking};
}

/// Classes that are not listed here wait for nothing: posting, starting, cancelling, and every form of Test or Iprobe
/// (a successful test was at most the last of a series of polls, each of which returned at once).
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
    // Waits for the receivers of buffered sends; which of them are outstanding is not followed yet.
    {SemanticClass::BufferDetach, messages(Dependence::Nothing)},
    // Start-up is mostly local work, so a long MPI_Init is not a delay.
    {SemanticClass::Init, {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking}},
    {SemanticClass::Finalize, {Dependence::Members, CollectiveShape::DataDriven, !sync_tested, !blocking}},
    {SemanticClass::CommFree, {Dependence::Members, CollectiveShape::DataDriven, !sync_tested, blocking}},
    {SemanticClass::Collective, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    {SemanticClass::CommCreate, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
    {SemanticClass::CommCreateGroup, {Dependence::Members, CollectiveShape::None, !sync_tested, blocking}},
};

}  // namespace

Operation operation(FunctionId function)
{
    if (function >= FunctionId::count)
        return {};
    const functions::FunctionInfo& info = functions::info(function);
    for (const ClassRule& rule : class_rules) {
        if (rule.semantic_class != info.semantic_class)
            continue;
        Operation result = rule.operation;
        if (result.dependence == Dependence::Members && result.shape == CollectiveShape::None)
            result.shape = info.shape;  // the function table knows the shape of each collective
        return result;
    }
    return {};
}

Operation unlisted_collective()
{
    return {Dependence::Members, CollectiveShape::AllToAll, sync_tested, !blocking};
}

}  // namespace critpath::replayer::rules
