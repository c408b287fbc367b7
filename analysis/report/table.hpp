// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a view hands to a writer: a Document of labelled values and typed tables. Views know nothing of
// formats, writers nothing of hotspots.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace critpath::report
{

/// A length or point of time, in ns.
struct Seconds {
    std::int64_t ns;
};

/// A part of the whole, from 0 to 1.
struct Share {
    double value;
};

/// A part of the whole with its 95 % interval; exact if it was not found by sampling.
struct Estimate {
    double value;
    double low;
    double high;
    bool exact;
};

/// So many of one thing for each of another.
struct Ratio {
    double value;
};

/// monostate: there is no such value ("-" in a table, empty in CSV, null in JSON).
using Cell = std::variant<std::monostate, std::string, std::int64_t, Seconds, Share, Estimate, Ratio>;
using Row = std::vector<Cell>;

enum class Align : std::uint8_t { Left, Right };

/// How a text that is too long for the line is shortened (in tables only).
enum class Fit : std::uint8_t {
    Whole,  // never
    Name,   // a function: at its arguments and template arguments, then in the middle
    Middle,
    Path,  // of those of one column, as many of their ends as tell them apart, whatever room there is; then as Middle
    End,
};

/// Which columns tables leave out where the names beside them would have too little room.
enum class Spare : std::uint8_t {
    No,
    First,
    Then,  // if names are hard to read nevertheless
};

struct Column {
    std::string key;    // name in CSV and JSON, with its unit; empty: only in tables
    std::string title;  // heading in tables, with its unit; empty: only in CSV and JSON
    Align align = Align::Right;
    Fit fit = Fit::Whole;
    int least_decimals = 0;  // of seconds, in tables
    Spare spare = Spare::No;
};

using RowSink = std::function<void(std::span<const Cell>)>;

/// Columns and rows. The rows are made on demand, in the same way each time, so that a table of millions of rows
/// needs no memory; a row has one cell a column.
struct Table {
    std::string key;    // name in JSON
    std::string title;  // line above the table; may be empty
    std::vector<Column> columns;
    std::function<void(const RowSink&)> each_row;
    std::string kind{};  // what a row is, where CSV has those of all tables of a document in one table; else empty
    std::set<std::string> other_names{};  // of functions that may not be in it: shortened names mean none of them
    std::set<std::string> other_paths{};  // of binaries, likewise
};

/// Table::each_row of rows that are in memory.
inline std::function<void(const RowSink&)> rows_of(std::vector<Row> rows)
{
    return [rows = std::move(rows)](const RowSink& sink) {
        for (const Row& row : rows)
            sink(row);
    };
}

/// One labelled value.
struct Field {
    std::string key;    // name in CSV and JSON, with its unit; empty: only in tables
    std::string label;  // in tables; empty: only in CSV and JSON
    Cell value;
    Fit fit = Fit::Whole;  // how a value that is too long is shortened; Whole: it takes more lines
};

/// Sentences below a line of their own, which says the gist of them.
struct Paragraph {
    std::string headline;
    std::string text;
};

/// What one command has to say.
struct Document {
    std::string view;                     // "hotspots"
    std::string trace;                    // as the user may type it
    std::vector<Field> fields;            // above the tables
    std::vector<Table> tables;            // CSV: one table as it is, several in long form or by Table::kind
    std::vector<Paragraph> paragraphs{};  // below the tables, in tables only: what is found
    std::vector<std::string> notes;       // sentences below these, in tables only
    std::vector<std::string> lead{};      // above all of that, in tables only: what matters most
    bool has_findings = false;            // the last two are such, so that JSON has them, too
};

}  // namespace critpath::report
