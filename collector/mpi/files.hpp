// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the spool directory's other contents, and the words for what goes wrong with files.
#pragma once

namespace critpath::preload
{

/// Writes <rank>.maps, which names the addresses of the samples. Called at the beginning, whenever something was
/// unloaded, and again at the end, when everything that the application loads is there. Returns 0, or an errno: then
/// there is none.
int copy_maps();

/// Removes this process's spool files. When all processes have done so, one of them removes the directory.
void remove_spool_files();
void remove_spool_directory();

/// Why a system call failed, in the words of strerror.
const char* error_text(int error);

/// What to do where a spool could not be made, or not be made longer, because of `error`: behind "; ".
const char* remedy(int error);

}  // namespace critpath::preload
