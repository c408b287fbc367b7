// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns JSON: one object with the schema, the fields, and an array of objects for each table. Units are in the names;
// times are seconds with all their digits. Written as a stream, so that a path of millions of segments needs no memory.
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"

#include <algorithm>

namespace critpath::report
{

namespace
{

constexpr int json_schema_version = 3;

void append_quoted(std::string& line, std::string_view raw)
{
    const std::string text = valid_utf8(raw, false);
    const auto is_special = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return c == '"' || c == '\\' || byte < 0x20 || byte == 0x7F;
    };
    line += '"';
    for (auto at = text.begin(); at != text.end();) {
        const auto special = std::find_if(at, text.end(), is_special);
        line.append(at, special);
        at = special;
        if (at == text.end())
            break;
        if (*at == '"' || *at == '\\')
            line.append(1, '\\').append(1, *at);
        else
            line += fmt::format("\\u{:04x}", static_cast<unsigned char>(*at));
        ++at;
    }
    line += '"';
}

std::string json_quoted(std::string_view text)
{
    std::string quoted;
    append_quoted(quoted, text);
    return quoted;
}

/// Appends a cell.
struct AppendJson {
    std::string& line;

    void operator()(std::monostate /*none*/) const { line += "null"; }
    void operator()(const std::string& text) const { append_quoted(line, text); }
    void operator()(std::int64_t number) const { line += fmt::format_int(number).str(); }
    void operator()(Seconds time) const { line += exact_seconds(time.ns); }
    void operator()(Share share) const { line += exact_percent(share.value); }
    void operator()(const Estimate& estimate) const { line += exact_percent(estimate.value); }
    void operator()(Ratio ratio) const { line += fmt::format("{:.6g}", ratio.value); }
};

void write_rows(const Table& table, Output& output)
{
    std::vector<std::string> keys;  // as they stand before the values; empty: not in JSON
    bool is_first = true;
    for (const Column& column : table.columns) {
        keys.push_back(column.key.empty() ? "" : (is_first ? "    {" : ", ") + json_quoted(column.key) + ": ");
        is_first = is_first && column.key.empty();
    }
    std::string line = "\n";
    table.each_row([&](std::span<const Cell> row) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (keys[i].empty())
                continue;
            line += keys[i];
            std::visit(AppendJson{line}, row[i]);
        }
        output.write(line += '}');
        line = ",\n";
    });
}

/// As an array of strings.
void write_sentences(const char* key, const std::vector<std::string>& sentences, Output& output)
{
    std::string line = fmt::format(",\n  {}: [", json_quoted(key));
    for (std::size_t i = 0; i < sentences.size(); ++i)
        line += fmt::format("{}\n    {}", i > 0 ? "," : "", json_quoted(sentences[i]));
    output.write(line += sentences.empty() ? "]" : "\n  ]");
}

}  // namespace

void write_json(const Document& document, const Style& style, Output& output)
{
    output.write(fmt::format("{{\n  \"schema\": {},\n  \"schema_version\": {},\n  \"tool_version\": {},\n"
                             "  \"trace\": {}",
                             json_quoted("critpath.report." + document.view), json_schema_version,
                             json_quoted(style.tool_version), json_quoted(document.trace)));
    for (const Field& field : document.fields) {
        if (field.key.empty())
            continue;
        std::string line = fmt::format(",\n  {}: ", json_quoted(field.key));
        std::visit(AppendJson{line}, field.value);
        output.write(line);
    }
    for (const Table& table : document.tables) {
        output.write(fmt::format(",\n  {}: [", json_quoted(table.key)));
        write_rows(table, output);
        output.write("\n  ]");
    }
    if (document.has_findings) {
        write_sentences("lead", document.lead, output);
        write_sentences("notes", document.notes, output);
    }
    output.write("\n}\n");
}

}  // namespace critpath::report
