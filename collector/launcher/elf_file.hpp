// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the look into the headers of an executable file.
#pragma once

#include <string>

namespace critpath::launcher
{

enum class ElfKind {
    None,     // not ELF: a script, or nothing that can be told
    Dynamic,  // the loader will load libraries into it
    Static,
    Foreign,  // for another machine
};

struct ElfFile {
    ElfKind kind = ElfKind::None;
    std::string machine;  // of a foreign file, in words
};

/// The library that a dynamic program is linked to and that must be the first of all libraries in it: the run-time of
/// AddressSanitizer, as the program names it. Empty if there is none. For a script: of its interpreter.
std::string first_library(const std::string& path);

/// True for a file, or a name, of such a library.
bool is_first_library(const std::string& name);

/// Files that cannot be read are None: whether they can be run will be seen.
ElfFile inspect_elf(const std::string& path);

}  // namespace critpath::launcher
