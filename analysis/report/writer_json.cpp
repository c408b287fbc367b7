// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns JSON: one object with the schema, the fields, and an array of objects for each table. Units are in the names;
// times are seconds with all their digits. Written as a stream, so that a path of millions of segments needs no memory.
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"

namespace critpath::report
{

namespace
{

constexpr int json_schema_version = 3;

std::string json_quoted(const std::string& text)
{
    std::string result = "\"";
    for (const char c : valid_utf8(text, false)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result.append(1, '\\').append(1, c);
        else if (byte < 0x20 || byte == 0x7F)
            result += fmt::format("\\u{:04x}", byte);
        else
            result += c;
    }
    return result + '"';
}

struct JsonText {
    std::string operator()(std::monostate /*none*/) const { return "null"; }
    std::string operator()(const std::string& text) const { return json_quoted(text); }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(Seconds time) const { return exact_seconds(time.ns); }
    std::string operator()(Share share) const { return exact_percent(share.value); }
    std::string operator()(const Estimate& estimate) const { return exact_percent(estimate.value); }
    std::string operator()(Ratio ratio) const { return fmt::format("{:.6g}", ratio.value); }
};

void write_rows(const Table& table, Output& output)
{
    const char* before = "\n";
    table.each_row([&](std::span<const Cell> row) {
        output.write(before);
        before = ",\n";
        const char* separator = "    {";
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (table.columns[i].key.empty())
                continue;
            output.write(
                fmt::format("{}{}: {}", separator, json_quoted(table.columns[i].key), std::visit(JsonText(), row[i])));
            separator = ", ";
        }
        output.write("}");
    });
}

}  // namespace

void write_json(const Document& document, const Style& style, Output& output)
{
    output.write(fmt::format("{{\n  \"schema\": {},\n  \"schema_version\": {},\n  \"tool_version\": {},\n"
                             "  \"trace\": {}",
                             json_quoted("critpath.report." + document.view), json_schema_version,
                             json_quoted(style.tool_version), json_quoted(document.trace)));
    for (const Field& field : document.fields) {
        if (!field.key.empty())
            output.write(fmt::format(",\n  {}: {}", json_quoted(field.key), std::visit(JsonText(), field.value)));
    }
    for (const Table& table : document.tables) {
        output.write(fmt::format(",\n  {}: [", json_quoted(table.key)));
        write_rows(table, output);
        output.write("\n  ]");
    }
    output.write("\n}\n");
}

}  // namespace critpath::report
