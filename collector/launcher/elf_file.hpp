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

/// Files that cannot be read are None: whether they can be run will be seen.
ElfFile inspect_elf(const std::string& path);

}  // namespace critpath::launcher
