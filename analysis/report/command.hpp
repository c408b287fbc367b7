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
#include <set>
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
    // Values that are valid elsewhere but not here, and why, and what to do instead; "{}" stands for the value.
    std::vector<std::string> refused{};
    std::string refusal{};
    // The values that it can have in a trace, where these are names that nobody knows by heart; else null.
    std::vector<std::string> (*values_in)(const std::filesystem::path& trace) = nullptr;
};

/// An option, or some values of it.
struct Choice {
    std::string option;
    std::vector<std::string> values{};  // that are meant; empty: any that is given
};

/// Two options that do not go together: what is given of the first would be ignored.
struct Conflict {
    Choice given;
    Choice with;         // given, or what holds if it is not
    std::string advice;  // why, and what to do instead; "{}" stands for the value of `with`
};

/// The values of the options of one call. Getters throw Failure(Usage) that names option, value and what is valid.
class Arguments
{
public:
    Arguments() = default;
    /// `given`: those of the command line; the others have their fallbacks.
    Arguments(std::map<std::string, std::string> values, std::set<std::string> given)
        : values_(std::move(values)), given_(std::move(given))
    {
    }

    /// Throws if a value is not among the choices of its option, or empty.
    void check(const std::vector<Option>& options) const;
    /// Throws if two options were given, or hold, that do not go together.
    void check(const std::vector<Conflict>& conflicts) const;

    [[nodiscard]] const std::string& text(const std::string& option) const;
    [[nodiscard]] bool flag(const std::string& option) const { return !text(option).empty(); }
    [[nodiscard]] bool given(const std::string& option) const { return given_.contains(option); }
    [[nodiscard]] std::uint64_t number(const std::string& option) const;
    [[nodiscard]] std::optional<std::int64_t> duration_ns(const std::string& option) const;
    /// A moment of a run of `makespan_ns`: as a duration from its start, or as a part of it ("40%").
    [[nodiscard]] std::optional<std::int64_t> moment_ns(const std::string& option, std::int64_t makespan_ns) const;
    [[nodiscard]] std::vector<std::string> list(const std::string& option) const;
    /// A list of ranks from 0 to `ranks` - 1.
    [[nodiscard]] std::vector<std::uint32_t> ranks(const std::string& option, std::size_t ranks) const;

private:
    [[nodiscard]] bool is_among(const Choice& choice) const;

    std::map<std::string, std::string> values_;
    std::set<std::string> given_;
};

/// What a command is about, if not the whole trace. Its value is that of the option of its name.
struct Operand {
    std::string name;  // "FUNCTION"
    std::string help;
    bool is_trace = false;  // another one
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
    Operand operand{};                  // before TRACE; without a name: there is none
    std::vector<Conflict> conflicts{};  // of its options; all commands have common_conflicts()
};

/// In the order of the help.
const std::vector<Command>& commands();

/// --format and --no-header.
const std::vector<Option>& common_options();
const std::vector<Conflict>& common_conflicts();

Command summary_command();
Command hotspots_command();
Command explain_command();
Command path_command();
Command annotate_command();
Command diff_command();

/// A Failure(Usage) about `typed`, which is none of `valid`: says what is valid and what may have been meant.
[[noreturn]] void fail_choice(const std::string& what, const std::string& typed, const std::vector<std::string>& valid);
/// Throws a Failure: the option was given an empty value.
[[noreturn]] void fail_empty(const Option& option);

}  // namespace critpath::report
