// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the variables by which cpcollect tells this library what to do: the application and its children do not see
// them, and a program that takes its place before MPI_Init is recorded by them.
#pragma once

#include <cstddef>

namespace critpath::preload
{

/// Removes every trace of the collector from `environ`, so that children see what the application was given.
void restore_environment();

/// The pointers of an environment, and the null pointer, for which there has to be room (for_successor()).
std::size_t room_for_successor(char* const* environment);

/// The environment for a program that takes the place of this one, which is to begin with `environment`: in `room`,
/// with what was removed; or as it is, if that program is not to be recorded. It is not in a child, nor after MPI_Init,
/// nor where somebody has chosen other libraries for it. Nothing is allocated: signal handlers may call it.
char* const* for_successor(char* const* environment, char** room);

}  // namespace critpath::preload
