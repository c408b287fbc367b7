// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the steps from an archive's definitions to the model have in common: what is read, what is made, and what
// is said where definitions contradict themselves.
#pragma once

#include "formats/support/error.hpp"
#include "replayer/load/collected.hpp"
#include "replayer/load/definitions.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace critpath::replayer::load
{

class DefinitionStep
{
public:
    /// `file` names the trace in messages. All must outlive this.
    DefinitionStep(const Collected& in, const std::string& file, LoadedDefinitions& out)
        : in_(in), file_(file), out_(out)
    {
    }

protected:
    template <class... Args>
    [[noreturn]] void contradict(fmt::format_string<Args...> what, Args&&... args) const
    {
        fail(ExitCode::BadTrace, "{}: the definitions contradict themselves: {}; record the application again", file_,
             fmt::format(what, std::forward<Args>(args)...));
    }

    template <class T>
    static std::uint32_t size(const std::vector<T>& vector)
    {
        return static_cast<std::uint32_t>(vector.size());
    }

    const Collected& in_;
    const std::string& file_;
    LoadedDefinitions& out_;
    model::Definitions& definitions_ = out_.definitions;
    Vocabulary& vocabulary_ = out_.vocabulary;
};

}  // namespace critpath::replayer::load
