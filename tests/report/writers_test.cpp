// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The formats on documents made by hand: width, quoting, types.
#include "analysis/report/text.hpp"
#include "analysis/report/writer.hpp"
#include "tests/result/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::Not;

std::string written(const std::string& format, const Document& document, const Style& style)
{
    const samples::TemporaryDirectory directory;
    const auto path = directory.path() / "out";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    Output output(fd);
    find_writer(format)(document, style, output);
    output.flush();
    ::close(fd);
    const auto bytes = samples::read_bytes(path);
    return {bytes.begin(), bytes.end()};
}

std::vector<std::string> lines(const std::string& text)
{
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        result.push_back(line);
    return result;
}

Document document_with(std::vector<Row> rows)
{
    Document document;
    document.view = "test";
    document.tables.push_back({"rows",
                               "",
                               {{"name", "Name", Align::Left, Fit::Name},
                                {"place", "Place", Align::Left, Fit::Middle},
                                {"time_seconds", "Time s"},
                                {"part_percent", "Part %"},
                                {"count", "Count"},
                                {"only_machine", ""},
                                {"", "Only table"}},
                               rows_of(std::move(rows))});
    return document;
}

Row row(std::string name, std::string place, std::int64_t ns)
{
    return {std::move(name), std::move(place), Seconds{ns},     Share{0.25},
            std::int64_t{7}, std::string("m"), std::string("t")};
}

TEST(TableWriter, AlignsAndKeepsToTheWidth)
{
    const Document document = document_with({row(std::string(300, 'n'), "/a/b", 1'500'000'000),
                                             row("ns::A<int, int, int>::f(double)", std::string(80, 'p'), 20'000'000),
                                             row("計算する関数の名前", "é", 0)});
    for (const std::size_t width : {80U, 100U, 200U, 400U}) {
        Style style;
        style.width = width;
        const auto output = lines(written("table", document, style));
        ASSERT_EQ(output.size(), 4U);
        for (const std::string& line : output) {
            EXPECT_LE(display_width(line), width);
            // The last column is right aligned: all lines end in one place.
            EXPECT_EQ(display_width(line), display_width(output.front()));
        }
    }
}

TEST(TableWriter, ShortenedNamesMeanNoFunctionThatIsNotShown)
{
    Document document;
    document.tables.push_back({"t",
                               "",
                               {{"name", "Name", Align::Left, Fit::Name}},
                               rows_of({{std::string("app::Solver::run(std::vector<double> const&, long)")}})});
    Style style;
    style.width = 30;
    EXPECT_THAT(written("table", document, style), HasSubstr("app::Solver::run(…)\n"));
    document.tables.back().other_names = {"app::Solver::run(std::vector<float> const&, long)"};
    EXPECT_THAT(written("table", document, style), HasSubstr("app::Solver::run(…double…)\n"));
}

TEST(TableWriter, WhatMattersMostComesFirst)
{
    Document document = document_with({row("f", "p", 1)});
    document.lead = {"Mind this."};
    Style style;
    EXPECT_THAT(written("table", document, style), testing::StartsWith("Mind this.\n\n"));
    EXPECT_THAT(written("csv", document, style), testing::Not(HasSubstr("Mind")));
    style.header = false;
    EXPECT_THAT(written("table", document, style), testing::Not(HasSubstr("Mind")));
}

TEST(TableWriter, ATerminalTooNarrowGetsWholeNumbers)
{
    Style style;
    style.width = 10;
    EXPECT_THAT(written("table", document_with({row("f", "p", 1'500'000'000)}), style), HasSubstr("1.500"));
}

TEST(TableWriter, OneNumberOfDecimalsInATable)
{
    const std::string text =
        written("table", document_with({row("f", "p", 150'000'000'000), row("g", "p", 4'000'000)}), Style());
    EXPECT_THAT(text, HasSubstr("150.00"));
    EXPECT_THAT(text, HasSubstr("  0.00"));
}

TEST(TableWriter, WhatCanBeSparedStandsThereWhereNamesCanStillBeRead)
{
    Document document;
    document.tables.push_back({"t",
                               "",
                               {{"name", "Name", Align::Left, Fit::Name},
                                {"time", "Time s"},
                                {"more", "More s", Align::Right, Fit::Whole, 0, Spare::First},
                                {"least", "Last s", Align::Right, Fit::Whole, 0, Spare::Then}},
                               rows_of({{std::string(300, 'n'), Seconds{1'000'000'000}, Seconds{2}, Seconds{3}},
                                        {std::string("f"), Seconds{0}, Seconds{0}, Seconds{0}}})});
    Style style;
    style.width = 40 + 3 * (2 + 6);  // the name and three columns with their gaps
    EXPECT_THAT(lines(written("table", document, style)).front(), HasSubstr("Name    "));
    EXPECT_THAT(written("table", document, style), HasSubstr("Time s  More s  Last s"));
    --style.width;
    EXPECT_THAT(written("table", document, style), HasSubstr("Time s  Last s"));
    style.width = 30 + 2 * (2 + 6);
    EXPECT_THAT(written("table", document, style), HasSubstr("Time s  Last s"));
    --style.width;
    EXPECT_THAT(written("table", document, style), Not(HasSubstr("Last s")));
    document.tables.front().each_row = rows_of({{std::string("f"), Seconds{0}, Seconds{0}, Seconds{0}}});
    style.width = 28;
    EXPECT_EQ(lines(written("table", document, style)).front(), "Name  Time s  More s  Last s");
}

TEST(TableWriter, BinariesGiveWayToFunctionsThatAreHardToRead)
{
    Document document;
    document.tables.push_back({"t",
                               "",
                               {{"name", "Name", Align::Left, Fit::Name}, {"", "Module", Align::Left, Fit::Middle}},
                               rows_of({{std::string(100, 'n'), std::string(30, 'm')}})});
    const auto modules = [&](std::size_t width) {
        Style style;
        style.width = width;
        style.header = false;
        const std::string line = lines(written("table", document, style)).front();
        return display_width(line.substr(line.rfind(' ') + 1));
    };
    EXPECT_EQ(modules(90), 30U);
    EXPECT_EQ(modules(40 + 2 + 22), 22U);
    EXPECT_EQ(modules(30 + 2 + 22), 22U);
    EXPECT_EQ(modules(16 + 2 + 16), 16U);
}

// Two plug-ins of one file name, each in its directory.
/// Five columns of which four can be shortened: to 16 columns each, or to less if that is too much.
TEST(TableWriter, ManyNamesBecomeShortToFit)
{
    Table table;
    Row row;
    for (const Fit fit : {Fit::Middle, Fit::Name, Fit::Name, Fit::Path}) {
        table.columns.push_back({"", "Name", Align::Left, fit});
        row.emplace_back("a_name_of_more_than_twenty_columns");
    }
    table.columns.push_back({"", "Number"});
    row.emplace_back(std::int64_t{1});
    table.each_row = rows_of({row});
    Style style;
    for (const std::size_t width : {4 * (16 + 2) + 6U, 4 * (16 + 2) + 5U, 4 * (12 + 2) + 6U}) {
        style.width = width;
        EXPECT_EQ(display_width(lines(written("table", {"", "", {}, {table}, {}, {}}, style)).at(1)), width);
    }
}

TEST(TableWriter, BinariesAreCalledByAsMuchOfTheirPathsAsTellsThemApart)
{
    Document document;
    document.tables.push_back({"t",
                               "",
                               {{"name", "Name", Align::Left, Fit::Name}, {"", "Module", Align::Left, Fit::Path}},
                               rows_of({{std::string("kernel"), std::string("/app/x/same.so")},
                                        {std::string("kernel"), std::string("/app/y/same.so")},
                                        {std::string("kernel"), std::string("/app/y/other.so")},
                                        {std::string("more"), std::string("/app/x/same.so")},
                                        {std::string("MPI_Send"), std::string("MPI")},
                                        {std::string("[blocked]"), std::string()}})});
    EXPECT_EQ(lines(written("table", document, Style())),
              (std::vector<std::string>{"Name       Module", "kernel     x/same.so", "kernel     y/same.so",
                                        "kernel     other.so", "more       x/same.so", "MPI_Send   MPI", "[blocked]"}));
}

TEST(TableWriter, NoHeaderMeansRowsOnly)
{
    Document document = document_with({row("f", "p", 1)});
    document.fields.push_back({"key", "Label", std::string("value")});
    document.notes.emplace_back("A note.");
    Style style;
    EXPECT_EQ(lines(written("table", document, style)).size(), 6U);
    style.header = false;
    EXPECT_EQ(lines(written("table", document, style)).size(), 1U);
}

TEST(TableWriter, LongFieldsTakeMoreLinesUnlessTheyMayBeShortened)
{
    Document document;
    document.fields = {{"", "Long label", std::string("one two three four five six 7 s eight")},
                       {"", "Name", std::string("/a/very/long/path/to/a/trace"), Fit::Middle}};
    Style style;
    style.width = 30;
    EXPECT_EQ(written("table", document, style), "Long label  one two three four\n"
                                                 "            five six 7 s eight\n"
                                                 "Name        /a/very/l…/a/trace\n");
}

TEST(TableWriter, ColourOnlyIfAsked)
{
    Document document = document_with({row("f", "p", 1)});
    document.notes.emplace_back("A note.");
    Style style;
    EXPECT_THAT(written("table", document, style), Not(HasSubstr("\x1b")));
    style.colour = true;
    EXPECT_THAT(written("table", document, style), HasSubstr("\x1b[1mName"));
}

TEST(TableWriter, ParagraphsAreIndentedBelowTheirHeadlines)
{
    Document document;
    document.paragraphs = {{"1: aaa bbb ccc dddd", "One two three four."}, {"2: ddd", "Five."}};
    document.notes.emplace_back("A note.");
    Style style;
    style.width = 20;
    EXPECT_EQ(written("table", document, style), "\n1: aaa bbb ccc\n   dddd\n     One two three\n     four.\n"
                                                 "\n2: ddd\n     Five.\n\nA note.\n");
    style.colour = true;
    EXPECT_THAT(written("table", document, style), HasSubstr("\n\x1b[1m2: ddd\x1b[0m\n     Five.\n"));
    style.header = false;
    EXPECT_EQ(written("table", document, style), "");
}

TEST(TableWriter, NotesAreWrappedAndKeepUnitsWithNumbers)
{
    Document document = document_with({});
    document.notes.emplace_back("aaaa bbbb 12 s cccc (91 ms).");
    Style style;
    style.width = 11;
    const auto output = lines(written("table", document, style));
    const std::vector<std::string> expected = {"aaaa bbbb", "12 s cccc", "(91 ms)."};
    ASSERT_GE(output.size(), expected.size());
    EXPECT_EQ(std::vector<std::string>(output.end() - 3, output.end()), expected);
}

TEST(TableWriter, CommandsAreNotBroken)
{
    Document document = document_with({});
    document.notes.emplace_back("Aaa: cpreport path x; bbb: cpreport hotspots --by line 'a run'");
    Style style;
    style.width = 11;
    const auto output = lines(written("table", document, style));
    const std::vector<std::string> expected = {"Aaa:", "cpreport path x;",
                                               "bbb:", "cpreport hotspots --by line 'a run'"};
    ASSERT_GE(output.size(), expected.size());
    EXPECT_EQ(std::vector<std::string>(output.end() - 4, output.end()), expected);
}

TEST(CsvWriter, QuotesAsRfc4180)
{
    const Document document = document_with({row("a,\"b\"\nc", "plain", 1'000'000'001)});
    EXPECT_EQ(written("csv", document, Style()), "name,place,time_seconds,part_percent,count,only_machine\n"
                                                 "\"a,\"\"b\"\"\nc\",plain,1.000000001,25,7,m\n");
}

TEST(CsvWriter, RowsOfDifferentKindsAreOneTable)
{
    Document document;
    document.fields.push_back({"key", "Label", std::string("value")});
    const auto number = [](std::int64_t n) { return Cell(n); };
    document.tables.push_back(
        {"as", "", {{"a", ""}, {"", "Title"}, {"x", ""}}, rows_of({{number(1), {}, number(2)}}), "a"});
    document.tables.push_back(
        {"bs", "", {{"x", ""}, {"b", ""}}, rows_of({{number(3), std::string("p,q")}, {{}, {}}}), "b"});
    Style style;
    EXPECT_EQ(written("csv", document, style), "kind,a,x,b\na,1,2,\nb,,3,\"p,q\"\nb,,,\n");
    document.tables.pop_back();
    style.header = false;
    EXPECT_EQ(written("csv", document, style), "a,1,2\n");
}

TEST(CsvWriter, AnEmptyFirstCellIsACell)
{
    Document document = document_with({row("", "", 0)});
    EXPECT_EQ(written("csv", document, {100, false, false, ""}), ",,0,25,7,m\n");
    document = document_with({{Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), Cell()}});
    EXPECT_EQ(written("csv", document, {100, false, false, ""}), ",,,,,\n");
}

TEST(JsonWriter, ParsesAndKeepsTypes)
{
    Document document = document_with(
        {row("q\"\\\n\x01\xff計", "p", 1'000'000'001), {Cell(), Cell(), Cell(), Cell(), Cell(), Cell(), Cell()}});
    document.trace = "dir/trace";
    document.fields.push_back({"makespan_seconds", "Makespan", Seconds{2'500'000'000}});
    document.fields.push_back({"", "Only in tables", std::string("x")});
    const auto json = nlohmann::json::parse(written("json", document, {100, false, true, "1.2.3"}));
    EXPECT_EQ(json["schema"], "critpath.report.test");
    EXPECT_EQ(json["schema_version"], 3);
    EXPECT_EQ(json["tool_version"], "1.2.3");
    EXPECT_EQ(json["trace"], "dir/trace");
    EXPECT_EQ(json["makespan_seconds"], 2.5);
    EXPECT_EQ(json.size(), 6U);
    ASSERT_EQ(json["rows"].size(), 2U);
    EXPECT_EQ(json["rows"][0]["name"], "q\"\\\n\x01\xEF\xBF\xBD計");
    EXPECT_EQ(json["rows"][0]["time_seconds"], 1.000000001);
    EXPECT_EQ(json["rows"][0]["count"], 7);
    EXPECT_EQ(json["rows"][0].size(), 6U);
    EXPECT_TRUE(json["rows"][1]["time_seconds"].is_null());
}

TEST(JsonWriter, HasTheSentencesOfFindings)
{
    Document document = document_with({});
    const auto parse = [&] { return nlohmann::json::parse(written("json", document, {100, false, true, "1.2.3"})); };
    document.lead = {"\"Most\" of all."};
    EXPECT_FALSE(parse().contains("notes"));
    document.has_findings = true;
    document.notes = {"One.", "Two."};
    nlohmann::json parsed = parse();
    EXPECT_EQ(parsed["lead"], nlohmann::json({"\"Most\" of all."}));
    EXPECT_EQ(parsed["notes"], nlohmann::json({"One.", "Two."}));
    document.notes.clear();
    parsed = parse();
    EXPECT_EQ(parsed["notes"], nlohmann::json::array());
}

TEST(JsonWriter, ATableWithoutRowsIsAnEmptyArray)
{
    const auto json = nlohmann::json::parse(written("json", document_with({}), Style()));
    EXPECT_TRUE(json["rows"].is_array());
    EXPECT_TRUE(json["rows"].empty());
}

TEST(Output, TellsAClosedPipeFromAFailure)
{
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    Output pipe(ends[1]);
    pipe.write("x");
    EXPECT_THROW(pipe.flush(), ReaderGone);
    ::close(ends[1]);

    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    Output disk(full);
    disk.write("x");
    EXPECT_THROW(disk.flush(), std::runtime_error);
    ::close(full);
}

}  // namespace
}  // namespace critpath::report
