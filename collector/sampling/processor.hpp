// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the kernel's text files say about this machine, read without stdio and without allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace critpath::sampling
{

/// Nominal frequency of the processors in Hz; a plausible guess if nothing tells it.
std::uint64_t nominal_frequency();

/// The beginning of a small text file, always terminated; empty if it cannot be read. Returns its length.
std::size_t read_text(const char* path, char* text, std::size_t size);

}  // namespace critpath::sampling
