// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how what is known by address becomes known by source line.
#pragma once

#include "analysis/naming/naming.hpp"
#include "analysis/report/hotspots.hpp"
#include "formats/binary/source_lines.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

using naming::recorded_module;

/// The source lines that the result has, and those of binaries whose debug information was not there when it was made.
binary::SourceLines source_lines(const model::Profile& profile);

/// A line of a function, and the function that this one is inlined into, if it is.
struct SourceLine {
    std::string file;
    int line;
    std::string function;
    std::string inlined_into;
    std::string called_at{};  // as Hotspot
};
/// Of an address in the binary of `row`; nothing if it is 0, or if that is not known.
std::optional<SourceLine> source_line_of(const model::Profile& profile, const model::Row& row, std::uint64_t address,
                                         binary::SourceLines& lines);

/// The functions that are inlined into `row` at one of its instructions, innermost first, each once, without the
/// function itself and those of the C++ library. Empty if there is none, or if that is not known.
std::vector<std::string> inlined_functions_at(const model::Profile& profile, const model::Row& row,
                                              std::uint64_t address, binary::SourceLines& lines);

/// The call of MPI that a place is, or is below without a processor or in flight; none() if it is no such place.
model::CallPathId call_of(const model::Profile& profile, model::CallPathId place);

/// Time in one MPI function, or without a processor or in flight in it; on the path, of one process.
struct CallTime {
    model::RowId function;
    model::CallPathId call;  // of the MPI function
    std::int64_t ns;
};
/// On the path, of the selected ranks and rows.
std::vector<CallTime> call_times(const model::Profile& profile, const Selection& selection);

/// Where the MPI function `call` is called; nothing if that is not known.
std::optional<SourceLine> line_of_call(const model::Profile& profile, model::CallPathId call,
                                       binary::SourceLines& lines);

/// "/src/halo.c:12", or "app+0x1200" without debug information, of a call of MPI at `site`; empty if that is not known.
std::string site_text(const model::Profile& profile, model::CallPathId call, std::uint64_t site,
                      binary::SourceLines& lines);

/// Which are asked for: what has no path time may be left with its function, where that has none either. To look up
/// what other ranks did in libraries takes longer than all else.
enum class Items : std::uint8_t { OnPath, All };

/// Whether what is inlined into functions that compilers have numbered is also told apart by where it is called
/// (Hotspot::called_at).
enum class CallSites : std::uint8_t { Together, Apart };

/// An item a source line, function, and function that it is inlined into; MPI functions by the lines that call them,
/// which a module "MPI" has, too; what belongs to no line stays one item a function. If ranks are selected, the
/// addresses of the profile must be theirs (window.hpp).
Hotspots by_line(const model::Profile& profile, const Selection& selection, Items wanted, binary::SourceLines& lines,
                 CallSites sites = CallSites::Together);

/// An item a function; what is inlined into it by the innermost function that is not of the C++ library
/// (inlined_functions_at()). Otherwise as by_line().
Hotspots by_inlined_function(const model::Profile& profile, const Selection& selection, Items wanted,
                             binary::SourceLines& lines, CallSites sites = CallSites::Together);

/// Where functions that samples have found are declared: `file` and `line` of items that have none.
void add_declarations(const model::Profile& profile, binary::SourceLines& lines, std::vector<Hotspot>& items);

/// The module of code that was made while the program ran (formats/FORMAT.md).
inline constexpr std::string_view made_code = "[jit]";

/// Why code that lies in no file has no lines ("[jit]"; formats/FORMAT.md), as the rest of a sentence; empty if
/// `module` is a file.
std::string_view why_in_no_file(std::string_view module);

/// Lines of a binary that has less of the time are no loss to the whole.
inline constexpr double notable_share = 0.05;

/// Sentences on files that could be the debug file of a binary, and are not taken, each with a space in front; empty
/// if there are none.
std::string refused_debug_files_text(const model::Profile& profile, const std::string& module);

/// Sentences on the binaries whose lines are not known, the one with most path time first, of those with a notable part
/// of what is selected; and what to do about it.
std::vector<std::string> missing_lines_notes(const model::Profile& profile, const Selection& selection,
                                             binary::SourceLines& lines);

/// That lines and instructions may have the time of those before them, where the processor said late where it was
/// (skid); empty if nothing says so.
std::string skid_note(const model::Profile& profile);

}  // namespace critpath::report
