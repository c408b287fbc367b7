// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns tables for people: columns as wide as their content, shortened names where the line is too short, and the
// labelled values and notes around them.
#include "analysis/naming/path_tails.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace critpath::report
{

namespace
{

constexpr std::string_view column_gap = "  ";
constexpr std::size_t least_name_width = 16;
constexpr std::size_t readable_name_width = 40;  // beside columns that can be spared
constexpr std::size_t hard_name_width = 30;      // to read, in less
constexpr std::size_t shortest_name_width = 12;  // where there are so many columns that the line is too long else

/// How one column looks once all its cells are known.
struct Shape {
    std::size_t column;  // index into Table::columns
    std::size_t width;
    int decimals = 0;                               // of seconds
    std::map<std::string, std::string> names = {};  // as they are shown, where they are too long
    std::map<std::string, std::string> paths = {};  // likewise, however long they are
};

struct CellText {
    int decimals;  // of seconds

    std::string operator()(std::monostate /*none*/) const { return "-"; }
    std::string operator()(const std::string& text) const { return printable(text); }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(Seconds time) const { return seconds_text(time.ns, decimals); }
    std::string operator()(Share share) const { return percent_text(share.value); }
    std::string operator()(const Estimate& estimate) const { return estimate_text(estimate); }
    std::string operator()(Ratio ratio) const
    {
        constexpr double few = 0.1;
        return ratio.value < few ? fmt::format("{:.2g}", ratio.value) : fmt::format("{:.2f}", ratio.value);
    }
};

std::string text_of(const Cell& cell, int decimals)
{
    return std::visit(CellText{decimals}, cell);
}

std::string text_of(const Cell& cell, const Shape& shape)
{
    const auto* text = std::get_if<std::string>(&cell);
    const auto path = text == nullptr ? shape.paths.end() : shape.paths.find(*text);
    return path == shape.paths.end() ? text_of(cell, shape.decimals) : printable(path->second);
}

void find_paths(std::vector<Shape>& shapes, const Table& table)
{
    for (Shape& shape : shapes) {
        if (table.columns[shape.column].fit != Fit::Path)
            continue;
        std::set<std::string> paths = table.other_paths;
        table.each_row([&](std::span<const Cell> row) {
            if (const auto* path = std::get_if<std::string>(&row[shape.column]))
                paths.insert(*path);
        });
        shape.paths = naming::path_tails(paths);
    }
}

std::vector<Shape> measure(const Table& table)
{
    std::vector<Shape> shapes;
    std::vector<std::int64_t> largest_ns(table.columns.size(), 0), least_ns(table.columns.size(), 0);
    std::vector<bool> has_time(table.columns.size(), false);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (!table.columns[i].title.empty())
            shapes.push_back({i, display_width(table.columns[i].title)});
    }
    find_paths(shapes, table);
    table.each_row([&](std::span<const Cell> row) {
        for (Shape& shape : shapes) {
            const Cell& cell = row[shape.column];
            if (const auto* time = std::get_if<Seconds>(&cell); time != nullptr) {
                largest_ns[shape.column] = std::max(largest_ns[shape.column], time->ns);
                least_ns[shape.column] = std::min(least_ns[shape.column], time->ns);
                has_time[shape.column] = true;
            } else {
                shape.width = std::max(shape.width, display_width(text_of(cell, shape)));
            }
        }
    });
    // The largest time of the table decides on the decimals of all of them, so that columns can be compared.
    const int decimals = decimals_for(*std::max_element(largest_ns.begin(), largest_ns.end()));
    for (Shape& shape : shapes) {
        shape.decimals = std::max(decimals, table.columns[shape.column].least_decimals);
        if (has_time[shape.column])
            for (const std::int64_t ns : {largest_ns[shape.column], least_ns[shape.column]})
                shape.width = std::max(shape.width, seconds_text(ns, shape.decimals).size());
    }
    return shapes;
}

/// How wide a line is, with names of at most so many columns.
std::size_t line_width(const std::vector<Shape>& shapes, const Table& table, std::size_t name_width)
{
    return std::accumulate(shapes.begin(), shapes.end(), column_gap.size() * (shapes.size() - 1),
                           [&](std::size_t sum, const Shape& shape) {
                               const bool is_name = table.columns[shape.column].fit != Fit::Whole;
                               return sum + (is_name ? std::min(shape.width, name_width) : shape.width);
                           });
}

/// Leaves out what can be spared if names would become hard to read beside it.
void leave_out_spare(std::vector<Shape>& shapes, const Table& table, std::size_t width)
{
    for (const auto& [spare, name_width] :
         {std::pair(Spare::First, readable_name_width), std::pair(Spare::Then, hard_name_width)})
        if (line_width(shapes, table, name_width) > width)
            std::erase_if(shapes, [&, of = spare](const Shape& s) { return table.columns[s.column].spare == of; });
}

/// Takes columns from the widest names until the line fits. Of a binary the ends tell more than of a function, so that
/// one that is wide enough for them goes before functions that are not hard to read yet.
void fit_into(std::vector<Shape>& shapes, const Table& table, std::size_t width)
{
    const auto width_to_give = [&](const Shape& shape) {
        constexpr std::size_t readable_place_width = 22;
        const Fit fit = table.columns[shape.column].fit;
        const bool is_place = fit == Fit::Middle || fit == Fit::Path;
        return is_place && shape.width > readable_place_width ? shape.width + readable_name_width - readable_place_width
                                                              : shape.width;
    };
    std::size_t least = least_name_width;
    while (line_width(shapes, table, std::numeric_limits<std::size_t>::max()) > width) {
        Shape* widest = nullptr;
        for (Shape& shape : shapes) {
            if (table.columns[shape.column].fit != Fit::Whole &&
                (widest == nullptr || width_to_give(shape) > width_to_give(*widest)))
                widest = &shape;
        }
        if (widest == nullptr || widest->width <= shortest_name_width)
            return;
        if (widest->width > least)
            --widest->width;
        else
            least = shortest_name_width;
    }
}

std::set<std::string> all_printable(const std::set<std::string>& names)
{
    std::set<std::string> result;
    for (const std::string& name : names)
        result.insert(printable(name));
    return result;
}

/// Names that are too long have to be known together.
void shorten_names_of(std::vector<Shape>& shapes, const Table& table)
{
    std::vector<std::set<std::string>> long_names(shapes.size()),
        others(shapes.size(), all_printable(table.other_names));
    if (std::ranges::none_of(shapes, [&](const Shape& s) { return table.columns[s.column].fit == Fit::Name; }))
        return;
    table.each_row([&](std::span<const Cell> row) {
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (table.columns[shapes[i].column].fit != Fit::Name)
                continue;
            std::string text = text_of(row[shapes[i].column], 0);
            (display_width(text) > shapes[i].width ? long_names : others)[i].insert(std::move(text));
        }
    });
    for (std::size_t i = 0; i < shapes.size(); ++i)
        shapes[i].names = shorten_names(long_names[i], shapes[i].width, others[i]);
}

std::string shortened(const std::string& text, Fit fit, std::size_t width)
{
    switch (fit) {
    case Fit::Name:
        return shorten_name(text, width);
    case Fit::Middle:
    case Fit::Path:
        return shorten_middle(text, width);
    case Fit::End:
        return shorten_end(text, width);
    case Fit::Whole:
        break;
    }
    return text;
}

/// Appends `text` to `line` at the place of `shape`.
void place(std::string& line, const std::string& text, const Shape& shape, const Column& column, Align align)
{
    const auto known = shape.names.find(text);
    const std::string fitted = known != shape.names.end() ? known->second : shortened(text, column.fit, shape.width);
    const std::size_t used = display_width(fitted);
    const std::size_t padding = shape.width > used ? shape.width - used : 0;
    line.append(align == Align::Right ? padding : 0, ' ')
        .append(fitted)
        .append(align == Align::Left ? padding : 0, ' ')
        .append(column_gap);
}

void end_line(std::string& line, Output& output)
{
    line.erase(line.find_last_not_of(' ') + 1);
    output.write(line += '\n');
    line.clear();
}

std::string marked(const std::string& text, const char* escape, const Style& style)
{
    return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", escape, text) : text;
}

void write_one(const Table& table, const Style& style, Output& output)
{
    std::vector<Shape> shapes = measure(table);
    if (shapes.empty())
        return;
    leave_out_spare(shapes, table, style.width);
    fit_into(shapes, table, style.width);
    shorten_names_of(shapes, table);
    std::string line;
    if (style.header) {
        if (!table.title.empty())
            output.write(marked(table.title, "1", style) + "\n");
        for (const Shape& shape : shapes)
            place(line, table.columns[shape.column].title, shape, table.columns[shape.column],
                  table.columns[shape.column].align);
        line.erase(line.find_last_not_of(' ') + 1);
        output.write(marked(line, "1", style) + "\n");
        line.clear();
    }
    table.each_row([&](std::span<const Cell> row) {
        for (const Shape& shape : shapes) {
            const Cell& cell = row[shape.column];
            const Column& column = table.columns[shape.column];
            // The values of estimates are of one width; their intervals are not.
            place(line, text_of(cell, shape), shape, column,
                  std::holds_alternative<Estimate>(cell) ? Align::Left : column.align);
        }
        end_line(line, output);
    });
}

/// A command that is suggested, from `at` on: nothing but another one comes behind it (command_line).
bool is_command(const std::string& text, std::size_t at)
{
    return at >= 2 && text.compare(at - 2, 2, ": ") == 0 && text.compare(at, 9, "cpreport ") == 0;
}

/// End of the word that begins at `at`. A number and its unit are one word; and so is a command, for who copies one
/// that is broken has a shell run the first line of it.
std::size_t word_end(const std::string& text, std::size_t at)
{
    if (is_command(text, at)) {
        const std::size_t semicolon = text.find("; ", at);
        return semicolon == std::string::npos ? text.size() : semicolon + 1;
    }
    std::size_t end = text.find(' ', at);
    while (end != std::string::npos && end > at && text[end - 1] >= '0' && text[end - 1] <= '9')
        end = text.find(' ', end + 1);
    return std::min(end, text.size());
}

/// `text` in lines of at most `width` columns, broken between words.
std::vector<std::string> wrapped(const std::string& text, std::size_t width)
{
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = word_end(text, at);
        const std::string word = text.substr(at, end - at);
        if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width)
            lines.emplace_back();
        lines.back().append(lines.back().empty() ? "" : " ").append(word);
        at = end + 1;
    }
    return lines;
}

std::string field_text(const Cell& cell)
{
    const auto* time = std::get_if<Seconds>(&cell);
    return time != nullptr ? duration_text(time->ns) : text_of(cell, 0);
}

void write_fields(const Document& document, const Style& style, Output& output)
{
    std::size_t width = 0;
    for (const Field& field : document.fields)
        width = std::max(width, display_width(field.label));
    const std::size_t indent = width + column_gap.size();
    const std::size_t room = std::max(style.width > indent ? style.width - indent : 1, least_name_width);
    for (const Field& field : document.fields) {
        if (field.label.empty())
            continue;
        std::string line = marked(field.label, "1", style).append(indent - display_width(field.label), ' ');
        const std::string text = field_text(field.value);
        for (const std::string& part :
             field.fit == Fit::Whole ? wrapped(text, room) : std::vector{shortened(text, field.fit, room)}) {
            end_line(line += part, output);
            line.assign(indent, ' ');
        }
    }
}

/// The headline's second line is indented, too, and the text below it further.
void write_paragraph(const Paragraph& paragraph, const Style& style, Output& output)
{
    constexpr std::string_view indent = "   ", text_indent = "     ";
    const std::size_t room = style.width > text_indent.size() ? style.width - text_indent.size() : 1;
    std::string_view before;
    for (const std::string& line : wrapped(printable(paragraph.headline), room)) {
        output.write(fmt::format("{}{}\n", before, marked(line, "1", style)));
        before = indent;
    }
    for (const std::string& line : wrapped(printable(paragraph.text), room))
        output.write(fmt::format("{}{}\n", text_indent, line));
}

void write_sentences(const std::vector<std::string>& sentences, const char* escape, const Style& style, Output& output)
{
    for (const std::string& sentence : sentences)
        for (const std::string& line : wrapped(printable(sentence), style.width))
            output.write(marked(line, escape, style) + "\n");
}

}  // namespace

void write_table(const Document& document, const Style& style, Output& output)
{
    bool separate = style.header && !document.lead.empty();
    if (separate)
        write_sentences(document.lead, "1", style, output);
    if (style.header && std::any_of(document.fields.begin(), document.fields.end(),
                                    [](const Field& field) { return !field.label.empty(); })) {
        if (separate)
            output.write("\n");
        write_fields(document, style, output);
        separate = true;
    }
    for (const Table& table : document.tables) {
        if (separate)
            output.write("\n");
        write_one(table, style, output);
        separate = true;
    }
    if (!style.header)
        return;
    for (const Paragraph& paragraph : document.paragraphs) {
        output.write("\n");
        write_paragraph(paragraph, style, output);
    }
    if (!document.notes.empty())
        output.write("\n");
    write_sentences(document.notes, "2", style, output);
}

}  // namespace critpath::report
