// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the symbols that distributions such as Fedora and RHEL leave in stripped binaries: a small ELF file in the
// section .gnu_debugdata, compressed with xz (GDB's manual, "MiniDebugInfo").
#pragma once

#include "formats/binary/elf_file.hpp"

#include <memory>

namespace critpath::binary
{

/// With those functions in .symtab that the dynamic symbols of `binary` lack. nullptr if there are none, or if it
/// cannot be unpacked within a reasonable size.
std::unique_ptr<ElfFile> embedded_symbols(const ElfFile& binary);

}  // namespace critpath::binary
