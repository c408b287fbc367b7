// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the interposition of the functions by which a program becomes another one, or begins once more: before MPI_Init,
// that one is what is to be recorded.
#pragma once

namespace critpath::preload
{

/// Looks up those that the application would have called: when this library is loaded, since signal handlers may call
/// them.
void find_exec();

}  // namespace critpath::preload
