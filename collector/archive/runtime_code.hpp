// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names of code that is in no binary on disk: the functions that the kernel lends to each process (vdso(7)),
// its own, and those that the process has made itself. They are only known in that process, or on that machine.
#pragma once

#include "collector/archive/kernel_symbols.hpp"
#include "collector/archive/perf_map.hpp"
#include "collector/archive/symbols.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace critpath::archive
{

/// The vdso of this process, if it is what was mapped to [start, end); empty if it is not.
std::vector<std::byte> own_vdso(std::uint64_t start, std::uint64_t end);

class RuntimeCode
{
public:
    /// Of a process that cannot be asked any more: nothing is known.
    RuntimeCode() = default;

    /// Of this process, which began at `start` (ns since the epoch). All are read when they are first asked for.
    static RuntimeCode of_this_process(std::uint64_t start, std::string map_directory = "/tmp");

    [[nodiscard]] bool is_of_this_process() const { return process_.has_value(); }

    /// The functions of the vdso, if it is what was mapped to [start, end); nullptr if it is not.
    const SymbolTable* vdso(std::uint64_t start, std::uint64_t end);

    /// The function that a just-in-time compiler has put there; nullptr if it has not said so.
    const std::string* compiled(std::uint64_t address);

    /// The function of the kernel at that address; empty if it hides its addresses.
    std::string_view in_kernel(std::uint64_t address);

private:
    struct Process {
        std::uint64_t start;
        std::string map_directory;
    };
    std::optional<Process> process_;
    std::unique_ptr<SymbolTable> vdso_;
    std::optional<PerfMap> compiled_;
    std::optional<KernelSymbols> kernel_;
};

}  // namespace critpath::archive
