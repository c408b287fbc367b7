// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a subcommand of cpreport is: its options as data, and a function from a trace to a Document. To add one:
// write it in a file of its own, and add it to the list in commands.cpp.
#pragma once

#include "analysis/report/table.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

struct Option {
    std::string name;   // "--top"
    std::string value;  // placeholder of its value; empty: a flag
    std::string help;
    std::string fallback;              // value if it is not given
    std::vector<std::string> choices;  // the valid values; empty: any
    bool is_list = false;              // several values, separated by commas
};

/// The values of the options of one call. Getters throw Failure(Usage) that names option, value and what is valid.
class Arguments
{
public:
    Arguments() = default;
    explicit Arguments(std::map<std::string, std::string> values) : values_(std::move(values)) {}

    /// Throws if a value is not among the choices of its option.
    void check(const std::vector<Option>& options) const;

    [[nodiscard]] const std::string& text(const std::string& option) const;
    [[nodiscard]] bool flag(const std::string& option) const { return !text(option).empty(); }
    [[nodiscard]] bool given(const std::string& option) const { return !text(option).empty(); }
    [[nodiscard]] std::uint64_t number(const std::string& option) const;
    [[nodiscard]] std::optional<std::int64_t> duration_ns(const std::string& option) const;
    /// A moment of a run of `makespan_ns`: as a duration from its start, or as a part of it ("40%").
    [[nodiscard]] std::optional<std::int64_t> moment_ns(const std::string& option, std::int64_t makespan_ns) const;
    [[nodiscard]] std::vector<std::string> list(const std::string& option) const;
    /// A list of ranks from 0 to `ranks` - 1.
    [[nodiscard]] std::vector<std::uint32_t> ranks(const std::string& option, std::size_t ranks) const;

private:
    std::map<std::string, std::string> values_;
};

/// What a command is about, if not the whole trace. Its value is that of the option of its name.
struct Operand {
    std::string name;  // "FUNCTION"
    std::string help;
};

struct Request {
    std::filesystem::path trace;  // directory of the trace
    std::string trace_name;       // as the user may type it
    Arguments arguments;
};

struct Command {
    std::string name;
    std::string summary;                // one line for the list of commands
    std::vector<Option> options;        // its own; all commands have those of common_options()
    std::vector<std::string> examples;  // arguments after "cpreport"
    Document (*run)(const Request& request);
    Operand operand{};  // before TRACE; without a name: there is none
};

/// In the order of the help.
const std::vector<Command>& commands();

/// --format and --no-header.
const std::vector<Option>& common_options();

Command summary_command();
Command hotspots_command();
Command explain_command();
Command path_command();
Command annotate_command();
Command diff_command();

/// A Failure(Usage) about `typed`, which is none of `valid`: says what is valid and what may have been meant.
[[noreturn]] void fail_choice(const std::string& what, const std::string& typed, const std::vector<std::string>& valid);

}  // namespace critpath::report
