// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the names that binaries and debug files of this machine have for functions that the trace has by their addresses
// only, or by symbols that nobody has written.
#pragma once

#include "analysis/model/profile.hpp"
#include "formats/binary/module.hpp"
#include "formats/binary/source_lines.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace critpath::naming
{

/// The binary of a row as it was recorded.
binary::Module recorded_module(const model::Profile& profile, const std::string& path);

/// Whether it is a function that is called by its place, for want of a symbol: "app+0x1234".
bool is_called_by_place(const model::Row& row);

/// As binary::FunctionNames::find().
using NameOf = std::function<std::optional<std::string>(const binary::Module& module, std::uint64_t start,
                                                        std::span<const std::uint64_t> addresses)>;

/// As binary::SourceLines::fortran_name().
using FortranNameOf = std::function<std::string(const binary::Module& module, const std::string& symbol)>;

/// Gives procedures outside of Fortran modules the names that `name_of` knows, where it has one for their symbols.
/// Those that share one (procedures inside of others may) keep their symbols.
void name_fortran(model::Profile& profile, const FortranNameOf& name_of);

/// Names the functions "app+0x1234" of `profile` that `name_of` knows, and numbers its rows anew, so that they are
/// sorted. Parts of a function that have one name now are one row. Call paths keep their numbers, as the other files of
/// the result have them: those of parts stay beside each other.
void complete_names(model::Profile& profile, const NameOf& name_of);

/// As binary::SourceLines::unit_file().
using UnitFileOf = std::function<std::string(const binary::Module& module, std::uint64_t address)>;

/// As binary::SourceLines::namesake_files().
using NamesakeFilesOf = std::function<std::vector<std::string>(const binary::Module& module, std::uint64_t address)>;

/// Functions that the symbol table tells apart only by their addresses, since their files are called alike
/// ("kernel [util.c:0x1240]"), have as many of the directories of these files, one or more, as tell them apart:
/// "kernel [a/util.c]". Those of which it does not know the files either (":0x1240", optimised at link time) have the
/// file, with directories if others of `files_of` are called alike. Of those that have no others, or none that
/// `file_of` knows, the names stay.
void name_namesakes(model::Profile& profile, const UnitFileOf& file_of, const NamesakeFilesOf& files_of);

/// Whether files of the binary at this path are to be read.
using IsWanted = std::function<bool(const std::string& path)>;

/// All of these, from the files of this machine.
void name_functions(model::Profile& profile, binary::SourceLines& lines, const IsWanted& is_wanted);

}  // namespace critpath::naming
