// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which function of the application has a library, or an interpreter, work for it. (docs/ALGORITHM,
// "Explanations")
#pragma once

#include "analysis/model/profile.hpp"

#include <set>
#include <string_view>

namespace critpath::report
{

class Callers
{
public:
    /// It must not outlive the profile.
    Callers(const model::Profile& profile, const model::Stretch& stretch);

    /// Of the functions that the last one of the call path was called from, the nearest one that was made while the
    /// program ran (of Python); without such, the nearest one of a binary that calls MPI at an end of the stretch, but
    /// none of the C++ library, whose templates are compiled into whoever uses them. nullptr: there is none, or the
    /// last one is of these itself, or of the binary that was started.
    [[nodiscard]] const model::Row* of(model::CallPathId call_path) const;

    /// Of the binaries that call MPI at an end of the stretch, or of the one that was started.
    [[nodiscard]] bool is_own(const model::Row& function) const { return own_.contains(function.module); }

private:
    template <class Is>
    [[nodiscard]] const model::Row* nearest(model::CallPathId call_path, Is is) const;

    const model::Profile& profile_;
    std::set<std::string_view> call_mpi_, own_;  // modules
};

}  // namespace critpath::report
