// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns CSV as RFC 4180 has it, with line feeds. A document of one table is that table; one of several, or of none,
// comes in long form: section, row, quantity, value. Tables whose rows are of different kinds are one table, with the
// columns of all of them.
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace critpath::report
{

namespace
{

std::string csv_quoted(const std::string& raw)
{
    std::string text = valid_utf8(raw, false);
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"')
            result += '"';
        result += c;
    }
    return result + '"';
}

struct CsvText {
    std::string operator()(std::monostate /*none*/) const { return {}; }
    std::string operator()(const std::string& text) const { return csv_quoted(text); }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(Seconds time) const { return exact_seconds(time.ns); }
    std::string operator()(Share share) const { return exact_percent(share.value); }
    std::string operator()(const Estimate& estimate) const { return exact_percent(estimate.value); }
    std::string operator()(Ratio ratio) const { return fmt::format("{:.6g}", ratio.value); }
};

std::string csv_text(const Cell& cell)
{
    return std::visit(CsvText(), cell);
}

void write_plain(const Table& table, const Style& style, Output& output)
{
    // A line of what `text_of` says for each column that CSV shows.
    const auto write_line = [&](const auto& text_of) {
        std::string line;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (!table.columns[i].key.empty())
                line.append(text_of(i)).append(1, ',');
        }
        line.back() = '\n';
        output.write(line);
    };
    if (style.header)
        write_line([&](std::size_t i) { return table.columns[i].key; });
    table.each_row([&](std::span<const Cell> row) { write_line([&](std::size_t i) { return csv_text(row[i]); }); });
}

void write_long(const Document& document, const Style& style, Output& output)
{
    if (style.header)
        output.write("section,row,quantity,value\n");
    for (const Field& field : document.fields) {
        if (!field.key.empty())
            output.write(fmt::format("{},,{},{}\n", document.view, field.key, csv_text(field.value)));
    }
    for (const Table& table : document.tables) {
        table.each_row([&](std::span<const Cell> row) {
            // The first column names the row.
            for (std::size_t i = 1; i < row.size(); ++i) {
                if (!table.columns[i].key.empty())
                    output.write(fmt::format("{},{},{},{}\n", table.key, csv_text(row[0]), table.columns[i].key,
                                             csv_text(row[i])));
            }
        });
    }
}

/// Of all tables, each once.
std::vector<std::string> all_keys(const std::vector<Table>& tables)
{
    std::vector<std::string> keys;
    for (const Table& table : tables)
        for (const Column& column : table.columns)
            if (!column.key.empty() && std::ranges::find(keys, column.key) == keys.end())
                keys.push_back(column.key);
    return keys;
}

void write_by_kind(const std::vector<Table>& tables, const Style& style, Output& output)
{
    const std::vector<std::string> keys = all_keys(tables);
    if (style.header)
        output.write(fmt::format("kind,{}\n", fmt::join(keys, ",")));
    for (const Table& table : tables) {
        std::vector<std::size_t> places;  // of its columns by key; its number of columns: it has none
        for (const std::string& key : keys)
            places.push_back(
                static_cast<std::size_t>(std::ranges::find(table.columns, key, &Column::key) - table.columns.begin()));
        table.each_row([&](std::span<const Cell> row) {
            std::string line = table.kind;
            for (const std::size_t place : places)
                line.append(1, ',').append(place < row.size() ? csv_text(row[place]) : "");
            output.write(line += '\n');
        });
    }
}

}  // namespace

void write_csv(const Document& document, const Style& style, Output& output)
{
    if (!document.tables.empty() && !document.tables.front().kind.empty())
        write_by_kind(document.tables, style, output);
    else if (document.tables.size() == 1)
        write_plain(document.tables.front(), style, output);
    else
        write_long(document, style, output);
}

}  // namespace critpath::report
