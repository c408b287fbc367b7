// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what debug information said of the instructions of a run when it was replayed, so that reports say the same of
// it when the program has been built anew.
#pragma once

#include <cstdint>
#include <string>

namespace critpath::model
{

/// A function of the source, inlined or not.
struct SourceFunction {
    std::string name;        // demangled; empty if unknown (assembly)
    std::uint32_t file = 0;  // where it is declared: Profile::source_files
    std::uint32_t line = 0;  // 0: unknown
};

/// One of the functions that an instruction belongs to: those that are inlined there, innermost first, then the one
/// that they are inlined into, which are records of the same address in this order.
struct SourceFrame {
    std::uint32_t module = 0;    // Profile::modules
    std::uint64_t address = 0;   // virtual address of the binary
    std::uint32_t function = 0;  // Profile::source_functions
    std::uint32_t file = 0;      // of what is executed: Profile::source_files
    std::uint32_t line = 0;      // 0: unknown, or code that belongs to no line
};

}  // namespace critpath::model
