// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/function_name.hpp"
#include "analysis/report/meant_function.hpp"
#include "analysis/report/names.hpp"
#include "analysis/report/seen_names.hpp"
#include "analysis/report/text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace critpath::report
{
namespace
{

TEST(Text, WidthCountsColumnsNotBytes)
{
    EXPECT_EQ(display_width(""), 0U);
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("± … µ"), 5U);
    EXPECT_EQ(display_width("計算"), 4U);
    EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e and a combining accent
    EXPECT_EQ(display_width("😀"), 2U);
}

TEST(Text, PrintableReplacesWhatCouldSteerATerminal)
{
    EXPECT_EQ(printable("plain ± 計"), "plain ± 計");
    EXPECT_EQ(printable("\x1b[31m"), "\xEF\xBF\xBD[31m");
    EXPECT_EQ(printable("a\nb\tc"), "a\xEF\xBF\xBD"
                                    "b\xEF\xBF\xBD"
                                    "c");
    EXPECT_EQ(printable("\xC2\x9B"
                        "31m"),
              "\xEF\xBF\xBD"
              "31m");  // CSI in one character
    EXPECT_EQ(printable("\xE2\x80\xAE"
                        "abc"),
              "\xEF\xBF\xBD"
              "abc");  // right-to-left override
    EXPECT_EQ(valid_utf8("a\nb", false), "a\nb");
}

TEST(Text, InvalidUtf8IsReplacedByteByByte)
{
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(valid_utf8("a\xff"
                         "b",
                         false),
              "a" + bad + "b");
    EXPECT_EQ(valid_utf8("\xC0\x80", false), bad + bad);                      // overlong
    EXPECT_EQ(valid_utf8("\xED\xA0\x80", false), bad + bad + bad);            // surrogate
    EXPECT_EQ(valid_utf8("\xE2\x82", false), bad + bad);                      // cut short
    EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80", false), bad + bad + bad + bad);  // beyond Unicode
}

TEST(Text, ShortensInTheMiddle)
{
    EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(shorten_middle("abcdefghij", 7), "abc…hij");
    EXPECT_EQ(shorten_middle("abcdefghij", 1), "…");
    EXPECT_EQ(shorten_middle("abcdefghij", 0), "");
    EXPECT_EQ(shorten_middle("計算計算計算", 7), "計…算");  // half a character is none
}

TEST(Text, QualifiedNamesAreWhatADeveloperWrites)
{
    EXPECT_EQ(qualified_name("main"), "main");
    EXPECT_EQ(qualified_name("solve_"), "solve_");
    EXPECT_EQ(qualified_name("grid::Solver::step(int, double) const"), "grid::Solver::step");
    EXPECT_EQ(qualified_name("void grid::Solver::step<3, std::less<int> >(A<(B)1>)"), "grid::Solver::step");
    EXPECT_EQ(qualified_name("unsigned long const& A<int>::get[abi:cxx11]()"), "A::get");
    EXPECT_EQ(qualified_name("step(int) [clone .constprop.0]"), "step");
    EXPECT_EQ(qualified_name("(anonymous namespace)::f<int, int>()"), "(anonymous namespace)::f");
    EXPECT_EQ(qualified_name("app::order(int)::{lambda(double, double)#1}::operator()(double, double) const"),
              "app::order(int)::{lambda(double, double)#1}::operator()");
    EXPECT_EQ(qualified_name("app::order(int) const::{lambda()#1}::operator()() const"),
              "app::order(int)::{lambda()#1}::operator()");
    EXPECT_EQ(qualified_name("A<int, double, char>::operator->()"), "A::operator->");
    EXPECT_EQ(qualified_name("A::operator<(A const&) const"), "A::operator<");
    EXPECT_EQ(qualified_name("A<(x)1>::operator bool() const"), "A::operator bool");
    EXPECT_EQ(qualified_name("my_operator(int)"), "my_operator");
    EXPECT_EQ(qualified_name("std::enable_if<((4)>(3)), int>::type app::work<4>(int)"), "app::work");
    EXPECT_EQ(qualified_name("int app::shift<((8)>>(1))>(int)"), "app::shift");
    EXPECT_EQ(qualified_name("decltype(auto) std::apply<F, T>(F&&, T&&)"), "std::apply");
    EXPECT_EQ(qualified_name("decltype (({parm#1}).x) app::get<A>(A&&)"), "app::get");
    EXPECT_EQ(qualified_name("void std::__introsort_loop<It, long, Cmp>(It, It, long, Cmp)"), "std::__introsort_loop");
    EXPECT_EQ(qualified_name("[blocked]"), "[blocked]");
    EXPECT_EQ(qualified_name("broken<(name"), "broken<(name");
    EXPECT_EQ(qualified_name("std::ostream& ns::operator<< <char>(std::ostream&, A<char>)"), "ns::operator<<");
    EXPECT_EQ(qualified_name("void (*ns::get<int>(int))(double)"), "ns::get");
    EXPECT_EQ(qualified_name("check_match [dl-lookup.c]"), "check_match");
    EXPECT_EQ(qualified_name("void space::call<int>(int)@plt"), "space::call");
    EXPECT_EQ(qualified_name("ldexp@plt"), "ldexp");
}

TEST(Text, StubsOfTheCppLibraryAreItsFunctions)
{
    EXPECT_TRUE(is_of_cpp_library("void std::swap<int>(int&, int&)@plt"));
    EXPECT_FALSE(is_of_cpp_library("void app::swap<int>(int&, int&)@plt"));
    EXPECT_EQ(shorten_name("ns::A<B>::f(int, double)@plt", 20), "ns::A<B>::f(…)@plt");
}

TEST(Text, ShortensNamesAtTheirArguments)
{
    EXPECT_EQ(shorten_name("f(int, double)", 14), "f(int, double)");
    EXPECT_EQ(shorten_name("f(int, double)", 13), "f(…)");
    EXPECT_EQ(shorten_name("ns::A<B<C>, D>::f(int, double)", 18), "ns::A<…>::f(…)");
    EXPECT_EQ(shorten_name("ns::A<B<C>, D>::f(int, double) const", 22), "ns::A<…>::f(…) const");
    EXPECT_EQ(shorten_name("(anonymous namespace)::f<int, int>()", 30), "(anonymous namespace)::f<…>()");
    EXPECT_EQ(shorten_name("ns::operator<< <char, std::traits>(A, B)", 30), "ns::operator<< <…>(…)");
    EXPECT_EQ(shorten_name("A<int, double, char>::operator()(int, int) const", 30), "A<…>::operator()(…) const");
    EXPECT_EQ(shorten_name("A<int, double, char>::operator->()", 30), "A<…>::operator->()");
    EXPECT_EQ(shorten_name("__physics_types_MOD_physics_update_main", 20), "__physics_…date_main");
}

/// The type that a function returns goes first, and its identifier last.
TEST(Text, ShorteningKeepsTheFunctionsOwnName)
{
    const std::string plaquette =
        "std::vector<std::complex<double>, std::allocator<std::complex<double> > > "
        "lattice::gauge::compute_plaquette<double, 3>(std::vector<std::complex<double>, "
        "std::allocator<std::complex<double> > > const&, lattice::gauge::Field<std::array<double, 3> > const&, long) "
        "[clone .isra.0]";
    EXPECT_EQ(shorten_name(plaquette, 230), plaquette.substr(plaquette.find("lattice")));
    EXPECT_EQ(shorten_name(plaquette, 60), "lattice::gauge::compute_plaquette<double, 3>(…)");
    EXPECT_EQ(shorten_name(plaquette, 39), "lattice::gauge::compute_plaquette<…>(…)");
    EXPECT_EQ(shorten_name(plaquette, 38), "…::gauge::compute_plaquette<…>(…)");
    EXPECT_EQ(shorten_name(plaquette, 29), "…::compute_plaquette<…>(…)");
    EXPECT_EQ(shorten_name(plaquette, 25), "compute_plaquette<…>(…)");
    EXPECT_EQ(shorten_name(plaquette, 22), "compute_plaquette…(…)");
    EXPECT_EQ(shorten_name(plaquette, 18), "compute_plaquette…");
    EXPECT_EQ(shorten_name(plaquette, 17), "compute_plaquette");
    EXPECT_EQ(shorten_name(plaquette, 16), "compute_…aquette");
    EXPECT_EQ(shorten_name("void lattice::gauge::apply<lattice::gauge::Dirac>(lattice::gauge::Dirac, long)", 28),
              "lattice::gauge::apply<…>(…)");
    EXPECT_EQ(shorten_name("lattice::gauge::Dirac::operator()(long) const", 26), "…::Dirac::operator()(…)");
    EXPECT_EQ(shorten_name("main::{lambda(double, long)#1}::operator()(double, long) const", 36),
              "main::{lambda(…)#1}::operator()(…)");
    EXPECT_EQ(shorten_name("app::(anonymous namespace)::kernel(double const*, long)", 30), "…::kernel(…)");
    EXPECT_EQ(shorten_name("app::grid::Solver::Solver(std::vector<int> const&, long)", 22), "…::Solver::Solver(…)");
    EXPECT_EQ(shorten_name("app::grid::Solver::~Solver() [clone .part.0]", 22), "…::Solver::~Solver()");
    EXPECT_EQ(shorten_name("app::Handle::operator std::map<int, double>*() const", 45),
              "…::Handle::operator std::map<int, double>*()");
    EXPECT_EQ(shorten_name("decltype(auto) app::visit<Shape>(Shape&&, long)", 18), "app::visit<…>(…)");
    EXPECT_EQ(shorten_name("void (*app::pick<int, double>(int))(double, long)", 34), "app::pick<int, double>(int)");
    EXPECT_EQ(shorten_name("bool app::operator< <int>(app::Pair<int> const&, app::Pair<int> const&)", 30),
              "app::operator< <int>(…)");
    EXPECT_EQ(shorten_name("LAMMPS_NS::NPairHalfBinAtomonlyNewton::build(LAMMPS_NS::NeighList*)", 36),
              "NPairHalfBinAtomonlyNewton::build(…)");
    EXPECT_EQ(shorten_name("LAMMPS_NS::NPairHalfBinAtomonlyNewton::build(LAMMPS_NS::NeighList*)", 34),
              "NPairHalfBin…monlyNewton::build(…)");
    EXPECT_EQ(shorten_name("LAMMPS_NS::NPairHalfBinAtomonlyNewton::build(LAMMPS_NS::NeighList*)", 26),
              "NPairHal…yNewton::build(…)");
    EXPECT_EQ(shorten_name("LAMMPS_NS::NPairHalfBinAtomonlyNewton::build(LAMMPS_NS::NeighList*)", 17), "…::build(…)");
    EXPECT_EQ(shorten_name("│ ├ from: void app::pack<double>(double*, long)", 24), "│ ├ from: …::pack<…>(…)");
    EXPECT_EQ(shorten_name("app::f(int)::Local<double>::step(int, long)", 22), "…::Local<…>::step(…)");
}

TEST(Text, ShorteningAlwaysFitsAndStaysValid)
{
    const unsigned seed = 4711;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::vector<std::string> pieces = {"<", ">", "(", ")", "operator", "-", "ab", "計", "é", "::", "\xff", " "};
    for (int round = 0; round < 5000; ++round) {
        std::string name;
        for (auto i = random() % 24; i > 0; --i)
            name += pieces[random() % pieces.size()];
        name = printable(name);
        const std::size_t width = random() % 30;
        for (const std::string& shortened : {shorten_name(name, width), shorten_middle(name, width)}) {
            EXPECT_LE(display_width(shortened), width) << name;
            EXPECT_EQ(printable(shortened), shortened) << name;
            EXPECT_TRUE(display_width(name) > width || shortened == name) << name;
        }
    }
}

TEST(Text, Basename)
{
    EXPECT_EQ(basename("/usr/lib/libc.so.6"), "libc.so.6");
    EXPECT_EQ(basename("MPI"), "MPI");
    EXPECT_EQ(basename(""), "");
    EXPECT_EQ(basename("/a/"), "/a/");
}

TEST(Text, QuotesForTheShell)
{
    EXPECT_EQ(shell_quoted("cp-app-1"), "cp-app-1");
    EXPECT_EQ(shell_quoted("my trace"), "'my trace'");
    EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(command_line("hotspots --by line", "my trace"), "cpreport hotspots --by line 'my trace'");
}

TEST(Text, SuggestsTheNearestWord)
{
    const std::vector<std::string> words = {"summary", "hotspots", "path"};
    EXPECT_EQ(nearest_word("hotspot", words), "hotspots");
    EXPECT_EQ(nearest_word("hot", words), "hotspots");
    EXPECT_EQ(nearest_word("pth", words), "path");
    EXPECT_EQ(nearest_word("sumary", words), "summary");
    EXPECT_EQ(nearest_word("zzzzzz", words), "");
    EXPECT_EQ(nearest_word("", words), "");
    EXPECT_EQ(nearest_word("node", {"sort", "top", "by"}), "") << "less than every third letter may differ";
}

/// In that many columns, by the order of the names.
std::vector<std::string> together(const std::set<std::string>& names, std::size_t width)
{
    std::vector<std::string> result;
    for (const auto& [name, shortened] : shorten_names(names, width)) {
        EXPECT_LE(display_width(shortened), width) << shortened;
        result.push_back(shortened);
    }
    return result;
}

TEST(Text, NamesThatWouldReadTheSameShowWhereTheyDiffer)
{
    using Names = std::vector<std::string>;
    EXPECT_EQ(together({"app::smooth(long, std::map<int, double>)", "app::smooth(long, std::map<char, double>)"}, 28),
              (Names{"app::smooth(…char…)", "app::smooth(…int…)"}));
    EXPECT_EQ(together({"Operator<CellCenteredField, double>::apply(long, double)",
                        "Operator<FaceCenteredField, double>::apply(long, double)"},
                       40),
              (Names{"Operator<Cell…>::apply(…)", "Operator<Face…>::apply(…)"}));
    EXPECT_EQ(together({"LAMMPS_NS::FixNVE::initial_integrate(int)", "LAMMPS_NS::FixNVX::initial_integrate(int)"}, 28),
              (Names{"FixNVE::initial_integrate(…)", "FixNVX::initial_integrate(…)"}));
    EXPECT_EQ(together({"├ f(int, double, long)", "│ └ f(int, double, char)"}, 12),
              (Names{"│ └ f(…char)", "├ f(…long)"}));
    EXPECT_EQ(together({"f(int, double) [clone .isra.0]", "f(int, double) [clone .part.0]"}, 24),
              (Names{"f(…) [clone .isra.0]", "f(…) [clone .part.0]"}));
    EXPECT_EQ(together({"f(int, double) [clone .isra.0]", "g(int, double)"}, 14),
              (Names{"f(int, double)", "g(int, double)"}));
    EXPECT_EQ(together({"first(int, double)", "second(int, double)"}, 10), (Names{"first(…)", "second(…)"}));
    EXPECT_EQ(together({"int app::first::run<4>(int, double)", "int app::second::run<8>(int, double)"}, 15),
              (Names{"…::run<4>(…)", "…::run<8>(…)"}));
    EXPECT_EQ(together({"app::run<std::array<int, 9>, std::less<int> >(int)",
                        "app::run<std::array<int, 19>, std::less<int> >(int)"},
                       20),
              (Names{"app::run<…19…>(…)", "app::run<… 9>…>(…)"}))
        << "9 is in 19, too";
    EXPECT_EQ(together({"app::first::run(int)", "app::second::run(int)"}, 16),
              (Names{"…::first::run(…)", "second::run(…)"}));
    EXPECT_EQ(shorten_names({"app::run(int, double)"}, 18, {"app::run(int)"}).begin()->second, "run(int, double)");
}

/// Where no single part of a name is its own, two of them are shown, or a piece of what differs: not without the name.
TEST(Text, NamesThatDifferInSeveralPartsKeepTheirOwn)
{
    const std::string begin = "tmp<Field<double> > app::InterpolationScheme<", call = ">::dotInterpolate<app::";
    std::set<std::string> names = {"void app::divide(app::Field<double>&, app::List<double> const&, double const&)",
                                   "void app::divide(app::Field<double>&, double const&, app::List<double> const&)",
                                   "void app::divide<int>(app::Field<int>&, app::List<int> const&, double const&)"};
    for (const std::string type : {"double", "app::Vector"})
        for (const std::string mesh : {"One", "Volume"})
            names.insert(begin + type + call + mesh + ">(app::" + mesh + " const&, Field<" + type + "> const&)");
    const SeenNames seen(names);
    for (const std::size_t width : {12, 16, 24, 33, 44, 60, 90})
        for (const std::string& name : names) {
            const std::string shown = seen.shorten(name, width);
            const std::string own = name.find("divide") != name.npos ? "divide" : "dotInterpolate";
            EXPECT_LE(display_width(shown), width);
            EXPECT_TRUE(width <= own.size() || shown.find(own) != shown.npos) << shown << " in " << width;
        }
    for (const std::size_t width : {33, 44, 60, 90}) {
        const std::vector<std::string> shown = together(names, width);
        EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), names.size()) << width;
    }
}

/// Nor where that is too long to be shown in whole: then it is cut, and still told apart.
TEST(Text, LongNamesOfTheirOwnAreCutAndToldApart)
{
    const std::string scope = "double Very_long_template_name<std::map<std::string, std::vector<std::pair<int, long> > "
                              ">, std::array<std::map<int, std::vector<";
    const std::string own = ", std::allocator<int> > >, 17ul> >::compute_something_with_a_name_that_goes_on<";
    std::set<std::string> names = {"main", "void site<1>(int)"};
    for (const std::string part : {"double", "float"})
        for (const std::string number : {"0", "1", "2"})
            names.insert(scope + part + own + number + ">(long)");
    for (const std::size_t width : {30, 36, 41, 44, 50, 60, 80}) {
        const std::vector<std::string> shown = together(names, width);
        EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), names.size()) << width << ": " << shown[0];
        for (const auto& [name, shortened] : shorten_names(names, width)) {
            EXPECT_TRUE(reads_as(name, shortened)) << shortened;
            EXPECT_EQ(meant_function({}, {}, names, shortened, "a run"), name) << shortened;
            if (name.starts_with("double")) {
                EXPECT_TRUE(shortened.find("compute") != shortened.npos || width < 36) << shortened;
            }
        }
    }
    names = {"void a_class::a_function_with_a_name_that_goes_on_and_on<1>(int)",
             "void a_class::a_function_with_a_name_that_goes_on_and_on<2>(int)"};
    EXPECT_EQ(together(names, 30),
              (std::vector<std::string>{"a_function_w…s_on_and_on<1>(…)", "a_function_w…s_on_and_on<2>(…)"}));
}

/// The first function tells siblings in a tree apart, and the last one has the time.
TEST(Text, ChainsOfCallsKeepBothEnds)
{
    using Names = std::vector<std::string>;
    const std::set<std::string> leaves = {"├ fromA_assemble_matrix(long) > … > leaf_kernel_function(long)",
                                          "├ fromB_assemble_rhs(long) > … > leaf_kernel_function(long)"};
    EXPECT_EQ(together(leaves, 64), Names(leaves.begin(), leaves.end()));
    EXPECT_EQ(together(leaves, 56), (Names{"├ fromA_assemble_matrix > … > leaf_kernel_function(long)",
                                           "├ fromB_assemble_rhs(…) > … > leaf_kernel_function(long)"}));
    EXPECT_EQ(together(leaves, 41),
              (Names{"├ fromA_…atrix > … > leaf_kernel_function", "├ fromB_…e_rhs > … > leaf_kernel_function"}));
    EXPECT_EQ(
        together({"send_halo_of_the_grid(int) > MPI_Send at xfer.c:6", "recv_halo_of_the_grid(int) > MPI_Recv"}, 40),
        (Names{"recv_halo_of_the_grid(int) > MPI_Recv", "send_hal…the_grid > MPI_Send at xfer.c:6"}));
    EXPECT_EQ(together({"[I] void app::apply<long>(long) > void app::solve<long>(long)"}, 40),
              (Names{"[I] apply<…>(…) > app::solve<long>(long)"}));
    EXPECT_EQ(together({"app::order<(1 > 2), std::less<int> >(int, int)"}, 20), (Names{"app::order<…>(…)"}));
    EXPECT_EQ(together({"recv_halo > MPI_Recv at xfer_of_halo.c:7"}, 30), (Names{"recv_halo > MPI_Recv at xf…c:7"}));
    EXPECT_EQ(together({"│ │ │ first > second"}, 15), (Names{"│ │ │ … > se…nd"}));
    for (const std::string tree : {"├ ", "│ │ │ ├ "})
        for (std::size_t width = 18; width < 64; ++width) {
            const Names names = together(
                {tree + "assemble_matrix > … > kernel", tree + "scale > kernel", tree + "assemble_rhs > … > kernel"},
                width);
            EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << width << names[0];
        }
}

TEST(Text, WhatIsShownMeansTheFunction)
{
    const std::set<std::string> names = {
        "Operator<CellCenteredField, double>::apply(long, double)",
        "Operator<FaceCenteredField, double>::apply(long, double)",
        "f(int, double) [clone .isra.0]",
        "std::vector<double> lattice::gauge::plaquette<double, 3>(std::vector<double> const&, long) [clone .isra.0]",
        "std::vector<float> lattice::gauge::plaquette<float, 3>(std::vector<float> const&, long) [clone .isra.0]",
        "void std::sort<int*, lattice::gauge::order(int)::{lambda(int, int)#1}>(int*, int*)",
        "lattice::gauge::order(int)",
        "lattice::order(int)",
        "lattice::order(int, std::vector<double> const&)",
        "lattice::order(int)::{lambda(int, int)#1}::operator()(int, int) const",
        "lattice::order(int)::{lambda(int, int)#2}::operator()(int, int) const"};
    for (const std::size_t width : {20, 24, 28, 40, 60})
        for (const auto& [name, shortened] : shorten_names(names, width))
            EXPECT_EQ(meant_function({}, {}, names, shortened, "a run"), name) << shortened;
}

TEST(Text, NamesOfAnyLengthFitAndStayApart)
{
    std::mt19937 random(17);
    for (int round = 0; round < 500; ++round) {
        std::set<std::string> names;
        const std::string begin = "outer::f<", end = ">::call(std::vector<int> const&)";
        for (int i = 0; i < 4; ++i) {
            std::string inner = "äö_";
            for (auto letters = random() % 40; letters > 0; --letters)
                inner += static_cast<char>('a' + random() % 2);
            names.insert(begin + inner + end);
        }
        for (const std::size_t width : {16, 24, 40, 80})
            for (const std::string& name : together(names, width))
                EXPECT_EQ(valid_utf8(name, true), name);
    }
}

// Where only a part of an address has room, it does not look like another one.
TEST(Text, NoPartOfAnAddressIsShownAsIfItWereAll)
{
    const std::set<std::string> names = {"pw.x+0x486bf0", "pw.x+0x4862f0", "pw.x+0x48eef0"};
    const SeenNames seen(names);
    for (const std::string& name : names)
        for (std::size_t width = 1; width < name.size(); ++width) {
            const std::string shown = seen.shorten(name, width);
            EXPECT_LE(display_width(shown), width);
            EXPECT_TRUE(shown == "0x" + name.substr(name.size() - 6) || shown.find(ellipsis) != shown.npos)
                << shown << " in " << width;
        }
}

}  // namespace
}  // namespace critpath::report
