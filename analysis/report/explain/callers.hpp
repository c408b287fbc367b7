// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which function of the application has a library, or an interpreter, work for it. (docs/ALGORITHM,
// "Explanations")
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

namespace critpath::report
{

/// A function, and where in its binary it makes the call in question; 0: not known.
struct Caller {
    const model::Row* function;
    std::uint64_t site;
};

class Callers
{
public:
    /// It must not outlive the profile.
    Callers(const model::Profile& profile, const model::Stretch& stretch);

    /// Of the functions that the last one of the call path was called from, the nearest one that was made while the
    /// program ran (of Python); without such, the nearest one of a binary that calls MPI at an end of the stretch, but
    /// none of the C++ library, whose templates are compiled into whoever uses them. Nothing: there is none, or the
    /// last one is of these itself, or of the binary that was started.
    [[nodiscard]] std::optional<Caller> of(model::CallPathId call_path) const;

    /// Of the binaries that call MPI at an end of the stretch, or of the one that was started.
    [[nodiscard]] bool is_own(const model::Row& function) const { return own_.contains(function.module); }
    /// Own, or made while the program ran; but not of the C++ library.
    [[nodiscard]] bool is_of_application(const model::Row& function) const;

private:
    template <class Is>
    [[nodiscard]] std::optional<Caller> nearest(model::CallPathId call_path, Is is) const;

    const model::Profile& profile_;
    std::set<std::string_view> call_mpi_, own_;  // modules
};

}  // namespace critpath::report
