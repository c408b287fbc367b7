// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions, files and lines of programs whose text is known.
#include "formats/binary/source_lines.hpp"
#include "tests/binary/subject.hpp"
#include "tests/binary/workbench.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace critpath::binary
{

void PrintTo(const SourceFrame& frame, std::ostream* out)
{
    *out << frame.function << " at " << frame.file << ":" << frame.line;
}

namespace
{

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

auto is(const testing::Matcher<std::string>& function, const std::string& file, int line)
{
    return AllOf(Field("function", &SourceFrame::function, function), Field("file", &SourceFrame::file, file),
                 Field("line", &SourceFrame::line, line));
}

// Compilers do not say the parameters of functions that the linker does not know.
testing::Matcher<std::string> local(const std::string& name, const std::string& parameters)
{
    return testing::AnyOf(name, name + parameters);
}

class Subject
{
public:
    explicit Subject(const std::string& options)
    {
        write_subject(bench);
        bench.compile("subject.cpp", "libsubject.so", options);
        symbols = bench.symbols("libsubject.so");
    }

    [[nodiscard]] std::string source() const { return bench / "subject.cpp"; }
    [[nodiscard]] Module module() const
    {
        return {bench / "libsubject.so", ElfFile(bench / "libsubject.so").build_id()};
    }
    std::uint64_t operator[](const std::string& symbol) const { return symbols.at(symbol); }

    /// Two lambdas of one function, and the instances of a template for each, have names of their own. Compilers number
    /// them, or do not name them: then it is their lines.
    static void check_lambdas(const std::vector<SourceFrame>& first, const std::vector<SourceFrame>& second)
    {
        ASSERT_EQ(first.size(), 3);
        ASSERT_EQ(second.size(), 3);
        EXPECT_EQ(first[2].function, second[2].function);
        EXPECT_NE(first[0].function, second[0].function);
        EXPECT_NE(first[1].function, second[1].function);
        for (const auto& [frames, mark] :
             {std::pair(&first, "// the first of two"), std::pair(&second, "// the second of two")}) {
            const auto line = line_of(subject_source, mark);
            EXPECT_THAT((*frames)[0].function,
                        AnyOf(Not(HasSubstr("{lambda:")), HasSubstr(fmt::format("{{lambda:{}}}::", line))));
            EXPECT_THAT((*frames)[1].function,
                        AnyOf(Not(HasSubstr("<lambda(")), HasSubstr(fmt::format("):{}>", line))));
        }
    }

    /// `lines` say what the text says.
    void check(SourceLines& lines, const Module& module) const
    {
        const auto in_source = [](const std::string& mark) { return line_of(subject_source, mark); };
        EXPECT_EQ(lines.state(module), ModuleState::Found);
        EXPECT_THAT(lines.find(module, symbols.at("in_plain")),
                    ElementsAre(is("plain", source(), in_source("MARK(in_plain)"))));
        EXPECT_THAT(lines.find(module, symbols.at("in_twice")),
                    ElementsAre(is(local("space::twice", "(int)"), source(), in_source("MARK(in_twice)")),
                                is("plain", source(), in_source("// twice into plain"))));
        EXPECT_THAT(lines.find(module, symbols.at("in_smooth")),
                    ElementsAre(is("space::Grid::smooth(int&)", bench / "include/grid.hpp",
                                   line_of(subject_header, "MARK(in_smooth)")),
                                is(local("space::twice", "(int)"), source(), in_source("// smooth into twice")),
                                is("plain", source(), in_source("// twice into plain"))));
        EXPECT_THAT(lines.find(module, symbols.at("in_lambda")),
                    ElementsAre(is(MatchesRegex("plain(\\(int\\))?::.*::operator\\(\\).*"), source(),
                                   in_source("MARK(in_lambda)")),
                                is("plain", source(), in_source("// lambda into plain"))));
        check_lambdas(lines.find(module, symbols.at("in_first")), lines.find(module, symbols.at("in_second")));
        EXPECT_THAT(lines.declarations(module, symbols.at("in_smooth")),
                    ElementsAre(SourcePlace{bench / "include/grid.hpp", line_of(subject_header, "void smooth(int& x)")},
                                SourcePlace{source(), in_source("int twice(int x)")},
                                SourcePlace{source(), in_source("int plain(int x)")}));
        EXPECT_THAT(lines.declarations(module, symbols.at("in_step")),
                    ElementsAre(SourcePlace{source(), in_source("T step(T x)")}));
        EXPECT_THAT(lines.find(module, symbols.at("in_hidden")),
                    ElementsAre(is(local("space::(anonymous namespace)::hidden", "(int)"), source(),
                                   in_source("MARK(in_hidden)"))));
        EXPECT_THAT(lines.find(module, symbols.at("in_step")),
                    ElementsAre(is("space::Solver<int>::step(int)", source(), in_source("MARK(in_step)"))));
    }

    Workbench bench;
    std::map<std::string, std::uint64_t> symbols;
};

class Formats : public testing::TestWithParam<const char*>
{
};

TEST_P(Formats, FramesAreThoseOfTheText)
{
    const Subject subject(GetParam());
    SourceLines lines;
    subject.check(lines, subject.module());
}

INSTANTIATE_TEST_SUITE_P(SourceLines, Formats,
                         testing::Values("-O2 -g", "-O0 -g", "-O3 -g -gdwarf-4", "-O2 -g -gdwarf-3",
                                         "-O2 -g -gsplit-dwarf", "-O2 -g -gdwarf-4 -gsplit-dwarf", "-O2 -g -gz",
                                         "-O2 -g -gz -gdwarf-4 -ffunction-sections", "-O2 -g -flto",
                                         "-O2 -g -fdebug-types-section",
                                         "-O2 -g -Wl,--gc-sections -ffunction-sections"));

// Packed into a .dwp, which libdw knows since 0.191, or lost: the lines are in the library itself.
TEST(SourceLines, WithoutSplitFilesThereAreLinesWithoutFunctions)
{
    for (const char* options : {"-O2 -g -gsplit-dwarf", "-O2 -g -gdwarf-4 -gsplit-dwarf"}) {
        const Subject subject(options);
        const std::uint64_t address = subject["in_twice"];
        SourceLines whole;
        EXPECT_FALSE(whole.lacks_split_units(subject.module())) << options;
        const std::vector<SourceFrame> known = whole.find(subject.module(), address);
        ASSERT_GT(known.size(), 1U);
        subject.bench.run("rm *.dwo");
        SourceLines lines;
        EXPECT_EQ(lines.state(subject.module()), ModuleState::Found) << options;
        EXPECT_TRUE(lines.lacks_split_units(subject.module())) << options;
        EXPECT_THAT(lines.find(subject.module(), address),
                    testing::ElementsAre(SourceFrame{"", known[0].file, known[0].line}))
            << options;
    }
    const Subject subject("-O2 -g");
    SourceLines lines;
    EXPECT_FALSE(lines.lacks_split_units(subject.module()));
}

TEST(SourceLines, AreFoundThroughDebugFiles)
{
    const Subject subject("-O2 -g -Wl,--build-id");
    const Module module = subject.module();
    const Workbench& bench = subject.bench;
    bench.objcopy("--only-keep-debug libsubject.so libsubject.so.debug");
    bench.objcopy("--strip-all libsubject.so");
    EXPECT_EQ(SourceLines().state(module), ModuleState::NoLines);
    SourceLines by_name({std::filesystem::path(bench / "").parent_path()});
    subject.check(by_name, module);
    bench.objcopy("--add-gnu-debuglink=libsubject.so.debug libsubject.so");
    SourceLines by_link;
    subject.check(by_link, module);
    // Without the library they must be asked for by build-id.
    std::filesystem::remove(bench / "libsubject.so");
    EXPECT_EQ(SourceLines().state(module), ModuleState::Missing);
    SourceLines by_id({std::filesystem::path(bench / "").parent_path()});
    subject.check(by_id, module);
}

TEST(SourceLines, OfAnotherBuildAreNotBelieved)
{
    const Subject subject("-O2 -g -Wl,--build-id");
    const Module before = subject.module();
    std::filesystem::create_directory(subject.bench / "kept");
    std::filesystem::copy_file(subject.bench / "libsubject.so", subject.bench / "kept/libsubject.so");
    subject.bench.write("subject.cpp", "\n\n" + subject_source);
    subject.bench.compile("subject.cpp", "libsubject.so", "-O2 -g -Wl,--build-id");
    ASSERT_NE(subject.module().build_id, before.build_id);
    SourceLines lines;
    EXPECT_EQ(lines.state(before), ModuleState::Changed);
    EXPECT_THAT(lines.find(before, subject["in_plain"]), IsEmpty());
    EXPECT_THAT(lines.function_ranges(before, subject["in_plain"]), IsEmpty());
    EXPECT_THAT(lines.declarations(before, subject["in_plain"]), IsEmpty());
    EXPECT_EQ(lines.state(subject.module()), ModuleState::Found);
    // What had no build-id cannot be this one either.
    EXPECT_EQ(lines.state({before.path, "-"}), ModuleState::Changed);
    EXPECT_EQ(lines.state({before.path, ""}), ModuleState::Found);
    // A copy of what ran is as good as ever.
    SourceLines kept({subject.bench / "kept"});
    subject.check(kept, before);
    // As the kernel names it while the old one runs.
    EXPECT_EQ(lines.state({before.path.native() + " (deleted)", before.build_id}), ModuleState::Changed);
    EXPECT_EQ(lines.state({before.path.native() + " (deleted)", subject.module().build_id}), ModuleState::Found);
}

TEST(SourceLines, OfABinaryWithoutBuildId)
{
    const Subject subject("-O2 -g -Wl,--build-id=none");
    SourceLines lines;
    subject.check(lines, {subject.bench / "libsubject.so", "-"});
    EXPECT_EQ(lines.state({subject.bench / "libsubject.so", "0123"}), ModuleState::Changed);
    const Module before = {subject.bench / "libsubject.so", ElfFile(subject.bench / "libsubject.so").identity()};
    EXPECT_EQ(before.build_id.size(), 17U);
    subject.check(lines, before);
    // Any byte tells another one from it.
    std::fstream file(before.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
    file.close();
    SourceLines later;
    EXPECT_EQ(later.state(before), ModuleState::Changed);
    EXPECT_EQ(later.state({before.path, "-"}), ModuleState::Found);
}

TEST(SourceLines, WithoutDebugInformationThereAreNone)
{
    const Subject subject("-O2 -g0");
    SourceLines lines;
    EXPECT_EQ(lines.state(subject.module()), ModuleState::NoLines);
    EXPECT_THAT(lines.find(subject.module(), subject["in_plain"]), IsEmpty());
    for (const char* path : {"/nonexistent", "[vdso]", "[jit]", "", "/"}) {
        EXPECT_EQ(lines.state({path, ""}), ModuleState::Missing) << path;
        EXPECT_EQ(lines.state({path, "0123"}), ModuleState::Missing) << path;
        EXPECT_THAT(lines.find({path, ""}, 0x1000), IsEmpty());
    }
    EXPECT_EQ(lines.state({subject.source(), ""}), ModuleState::NoLines);
    EXPECT_EQ(lines.state({subject.source(), "0123"}), ModuleState::Changed);
}

TEST(SourceLines, OutsideOfFunctionsThereAreNone)
{
    const Subject subject("-O2 -g");
    SourceLines lines;
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1}, subject["_DYNAMIC"], ~std::uint64_t{0}}) {
        EXPECT_THAT(lines.find(subject.module(), address), IsEmpty());
        EXPECT_THAT(lines.function_ranges(subject.module(), address), IsEmpty());
    }
}

TEST(SourceLines, WhatWasKnownBeforeIsKnownOfAnotherBuild)
{
    const Subject subject("-O2 -g -Wl,--build-id");
    const Module module = subject.module();
    SourceLines first;
    const auto known = [&](const std::string& symbol) {
        const std::uint64_t address = subject[symbol];
        return KnownAddress{address, first.find(module, address), first.declarations(module, address)};
    };
    std::vector<KnownAddress> addresses;
    for (const auto& [symbol, address] : subject.symbols)
        if (symbol.starts_with("in_") && symbol != "in_hidden")
            addresses.push_back(known(symbol));
    SourceLines later;
    later.know(module, true, addresses);
    // Others are looked up as long as the file is there.
    subject.check(later, module);
    std::filesystem::remove(subject.bench / "libsubject.so");
    SourceLines last;
    last.know(module, true, std::move(addresses));
    EXPECT_EQ(last.state(module), ModuleState::Found);
    EXPECT_TRUE(last.lacks_split_units(module));
    EXPECT_EQ(last.find(module, subject["in_smooth"]), first.find(module, subject["in_smooth"]));
    EXPECT_EQ(last.find(module, subject["in_smooth"]).size(), 3U);
    EXPECT_EQ(last.declarations(module, subject["in_smooth"]).size(), 3U);
    EXPECT_THAT(last.find(module, subject["in_hidden"]), IsEmpty());
    EXPECT_THAT(last.function_ranges(module, subject["in_smooth"]), IsEmpty());
    // Of another build, nothing.
    EXPECT_EQ(last.state({module.path, "1234"}), ModuleState::Missing);
}

TEST(SourceLines, AddressesAreLookedUpOnce)
{
    const Subject subject("-O2 -g");
    SourceLines lines;
    const auto* first = &lines.find(subject.module(), subject["in_plain"]);
    for (std::uint64_t address = 0; address < 5000; ++address) {
        lines.find(subject.module(), address);
    }
    // Even when the file is gone.
    std::filesystem::rename(subject.bench / "libsubject.so", subject.bench / "gone.so");
    EXPECT_EQ(&lines.find({subject.bench / "libsubject.so", ElfFile(subject.bench / "gone.so").build_id()},
                          subject["in_plain"]),
              first);
    EXPECT_EQ(first->size(), 1U);
}

TEST(SourceLines, BinariesAreOpenedForSeveralRuns)
{
    const Subject subject("-O2 -g -Wl,--build-id");
    const Module module = subject.module();
    SourceLines first, second, alone;
    second.open_with(first);
    const std::vector<SourceFrame> frames = first.find(module, subject["in_smooth"]);
    EXPECT_EQ(frames.size(), 3U);
    std::filesystem::remove(subject.bench / "libsubject.so");
    EXPECT_EQ(second.state(module), ModuleState::Found);
    EXPECT_EQ(second.find(module, subject["in_smooth"]), frames);
    EXPECT_EQ(second.find(module, subject["in_plain"]), first.find(module, subject["in_plain"]));
    EXPECT_EQ(alone.state(module), ModuleState::Missing);
    // What one of them knew before is its own.
    SourceLines third;
    third.know(module, false, {{subject["in_smooth"], {{"known", "known.c", 1}}, {}}});
    third.open_with(first);
    EXPECT_EQ(third.find(module, subject["in_smooth"]).size(), 1U);
    EXPECT_EQ(first.find(module, subject["in_smooth"]), frames);
}

TEST(SourceLines, FunctionsHaveTheRangesOfTheirSymbols)
{
    Workbench bench;
    bench.write("parts.c",
                "void __attribute__((cold)) slow(int);\n"
                "int whole(int x) { return x * 5; }\n"
                "int parts(int x) { if (__builtin_expect(x > 5, 0)) { slow(x); slow(x + 1); } return x; }\n");
    bench.run(std::string(TEST_CC) + " -shared -fPIC -g -O2 parts.c -o libparts.so");
    const auto symbols = bench.symbols("libparts.so");
    SourceLines lines;
    const Module module{bench / "libparts.so", ""};
    std::map<std::string, std::uint64_t> sizes;
    std::istringstream table(bench.run(std::string(TEST_NM) + " -S --defined-only libparts.so | awk 'NF == 4'"));
    for (std::string address, size, type, name; table >> address >> size >> type >> name;) {
        sizes[name] = std::stoull(size, nullptr, 16);
    }
    const auto range = [&](const std::string& name) {
        return AddressRange{symbols.at(name), symbols.at(name) + sizes.at(name)};
    };
    EXPECT_THAT(lines.function_ranges(module, symbols.at("whole") + 1), ElementsAre(range("whole")));
    if (symbols.contains("parts.cold")) {
        std::vector<AddressRange> both = {range("parts"), range("parts.cold")};
        std::ranges::sort(both, {}, &AddressRange::start);
        EXPECT_EQ(lines.function_ranges(module, symbols.at("parts")), both);
        EXPECT_EQ(lines.function_ranges(module, symbols.at("parts.cold")), both);
        EXPECT_EQ(lines.find(module, symbols.at("parts.cold")).back().function, "parts");
    } else {
        EXPECT_THAT(lines.function_ranges(module, symbols.at("parts")), ElementsAre(range("parts")));
    }
}

// Of two loops, GNU's link-time optimisation makes blocks side by side that both have the inner one's code.
TEST(SourceLines, BlocksThatOverlapHideNothing)
{
    const std::string text = R"(#include <vector>
#define MARK(name) asm volatile(".globl " #name "\n" #name ":\n nop")
extern "C" void meet(int*);
volatile double sink;
struct Solver {
    std::vector<double> values;
    Solver() : values(20000, 1.0) {}
    __attribute__((noinline)) void step(int n)
    {
        for (int i = 0; i < n; ++i)
            values[i] += 1;
    }
};
static void work()
{
    double x = sink;
    MARK(in_work);
    for (int i = 0; i < 1000000; ++i)
        x = x * .5 + i;
    sink = x;
}
extern "C" void scoped()
{
    int rank;
    meet(&rank);
    Solver solver;
    for (int i = 0; i < 80; ++i) {
        for (int k = 0; k <= (rank == 2); ++k) {
            solver.step(2);
            work();  // into scoped
        }
        meet(&rank);
    }
}
)";
    const Workbench bench;
    bench.write("scoped.cpp", text);
    for (const char* options : {"-g -O3 -flto", "-g -O2"}) {
        bench.compile("scoped.cpp", "libscoped.so", options);
        SourceLines lines;
        const Module module{bench / "libscoped.so", ElfFile(bench / "libscoped.so").build_id()};
        EXPECT_THAT(lines.find(module, bench.symbols("libscoped.so").at("in_work")),
                    ElementsAre(is(local("work", "()"), bench / "scoped.cpp", line_of(text, "MARK(in_work)")),
                                is("scoped", bench / "scoped.cpp", line_of(text, "// into scoped"))));
    }
}

TEST(SourceLines, OfAssemblyAreWithoutAFunction)
{
    Workbench bench;
    bench.write("code.s", ".text\n.globl code\ncode:\n nop\n nop\n");
    bench.run(std::string(TEST_CC) + " -shared -g -nostdlib code.s -o libcode.so");
    SourceLines lines;
    const auto frames = lines.find({bench / "libcode.so", ""}, bench.symbols("libcode.so").at("code") + 1);
    EXPECT_THAT(frames, ElementsAre(is("", bench / "code.s", 5)));
}

class Fortran : public testing::TestWithParam<const char*>
{
};

// Each procedure calls `here`, which tells where it was called.
TEST_P(Fortran, ProceduresAreThoseOfTheText)
{
    if (*TEST_FORTRAN == '\0' || std::string(TEST_FORTRAN).ends_with("NOTFOUND")) {
        GTEST_SKIP() << "gfortran is not installed";
    }
    const std::string text = "module solver\n"
                             "contains\n"
                             "  subroutine step(x)\n"
                             "    real, intent(inout) :: x\n"
                             "    call here()  ! in step\n"
                             "    x = x + 1\n"
                             "  end subroutine\n"
                             "end module\n"
                             "\n"
                             "subroutine outside(x)\n"
                             "  real, intent(inout) :: x\n"
                             "  call here()  ! in outside\n"
                             "  x = x * 2\n"
                             "end subroutine\n"
                             "\n"
                             "program app\n"
                             "  use solver\n"
                             "  real :: x = 1\n"
                             "  call step(x)\n"
                             "  call outside(x)\n"
                             "  call within()\n"
                             "  call here()  ! in app\n"
                             "contains\n"
                             "  subroutine within()\n"
                             "    call here()  ! in within\n"
                             "    x = x - 1\n"
                             "  end subroutine\n"
                             "end program\n";
    Workbench bench;
    bench.write("app.f90", text);
    bench.write("here.c", "#include <stdio.h>\n"
                          "void here_(void) { printf(\"%p\\n\", (char*)__builtin_return_address(0) - 1); }\n");
    bench.run(std::string(TEST_CC) + " -O1 -c here.c");
    bench.run(std::string(TEST_FORTRAN) + " -no-pie " + GetParam() + " app.f90 here.o -o app");
    std::istringstream addresses(bench.run("./app"));
    SourceLines lines;
    const Module module{bench / "app", ""};
    for (const auto& [function, mark] : {std::pair("solver::step", "! in step"), std::pair("outside", "! in outside"),
                                         std::pair("within", "! in within"), std::pair("app", "! in app")}) {
        std::string address;
        addresses >> address;
        const std::vector<SourceFrame>& frames = lines.find(module, std::stoull(address, nullptr, 16));
        ASSERT_FALSE(frames.empty()) << mark;
        EXPECT_THAT(frames.front(), is(function, bench / "app.f90", line_of(text, mark)));
    }
    EXPECT_EQ(lines.fortran_name(module, "here_"), "") << "that is its name: it is not Fortran";
    EXPECT_EQ(lines.fortran_name(module, "nobody_"), "");
    for (const auto& [symbol, address] : bench.symbols("app")) {
        const bool is_within = symbol.starts_with("within.");  // unless it is inlined
        if (is_within || symbol == "outside_" || symbol == "MAIN__") {
            EXPECT_EQ(lines.fortran_name(module, symbol), is_within            ? "within"
                                                          : symbol == "MAIN__" ? "app"
                                                                               : "outside");
        }
    }
}

// Two names of the compiler's: of the program, and of what starts it.
TEST_P(Fortran, AProgramThatIsCalledMainIsNotWhatStartsIt)
{
    if (*TEST_FORTRAN == '\0' || std::string(TEST_FORTRAN).ends_with("NOTFOUND")) {
        GTEST_SKIP() << "gfortran is not installed";
    }
    Workbench bench;
    bench.write("app.f90", "program main\n  print *, 'text'\nend program\n");
    bench.run(std::string(TEST_FORTRAN) + " " + GetParam() + " -fno-inline app.f90 -o app");
    SourceLines lines;
    EXPECT_EQ(lines.fortran_name({bench / "app", ""}, "main"), "main");
    for (const auto& [symbol, address] : bench.symbols("app")) {
        if (symbol == "MAIN__") {
            EXPECT_EQ(lines.fortran_name({bench / "app", ""}, symbol), "main program");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(SourceLines, Fortran, testing::Values("-O0 -g", "-O2 -g"));

// What dwz does: names and functions that several binaries share are in a supplementary file. Written by hand, so that
// the tests need no dwz.
TEST(SourceLines, NamesMayStandInASupplementaryFile)
{
    Workbench bench;
    bench.write("supplement.s", ".section .debug_abbrev,\"\"\n"
                                " .uleb128 1, 0x3c, 1, 0, 0\n"               // partial unit
                                " .uleb128 2, 0x2e, 0, 0x3, 0x8, 0, 0, 0\n"  // subprogram: name as a string
                                ".section .debug_info,\"\"\n"
                                " .long end - begin\n"
                                "begin: .value 4\n .long 0\n .byte 8\n"
                                " .uleb128 1\n"
                                " .uleb128 2\n .string \"shared\"\n"  // at 12
                                " .byte 0\n"
                                "end:\n");
    bench.write("user.s", ".text\n.globl user\nuser:\n nop\n nop\n.size user, 2\nuser_end:\n"
                          ".section .debug_abbrev,\"\"\n"
                          " .uleb128 1, 0x11, 1, 0x11, 0x1, 0x12, 0x7, 0, 0\n"  // unit: low and high pc
                          " .uleb128 2, 0x2e, 0, 0x31, 0x1f20, 0x11, 0x1, 0x12, 0x7, 0, 0, 0\n"  // and origin there
                          ".section .debug_info,\"\"\n"
                          " .long end - begin\n"
                          "begin: .value 4\n .long 0\n .byte 8\n"
                          " .uleb128 1\n .quad user\n .quad user_end - user\n"
                          " .uleb128 2\n .long 12\n .quad user\n .quad user_end - user\n"
                          " .byte 0\n"
                          "end:\n"
                          ".section .gnu_debugaltlink,\"\"\n"
                          " .string \"common/supplement.debug\"\n"
                          " .byte 1, 2, 3, 4, 5, 6, 7, 8\n");
    const std::string compile = std::string(TEST_CC) + " -shared -nostdlib ";
    std::filesystem::create_directory(bench / "common");
    bench.run(compile + "-Wl,--build-id=0x0102030405060708 supplement.s -o common/supplement.debug");
    bench.run(compile + "user.s -o libuser.so");
    const Module module{bench / "libuser.so", ""};
    const std::uint64_t address = bench.symbols("libuser.so").at("user");
    SourceLines by_name;
    ASSERT_EQ(by_name.find(module, address).size(), 1U);
    EXPECT_EQ(by_name.find(module, address).front().function, "shared");
    std::filesystem::create_directories(bench / "ids/01");
    std::filesystem::rename(bench / "common/supplement.debug", bench / "ids/01/02030405060708.debug");
    SourceLines without;
    EXPECT_EQ(without.find(module, address).front().function, "");
    SourceLines by_id({bench / "ids"});
    EXPECT_EQ(by_id.find(module, address).front().function, "shared");
}

}  // namespace
}  // namespace critpath::binary
