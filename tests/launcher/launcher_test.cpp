// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs cpcollect from a shell, with a library that does nothing in place of the preload library: what a user types,
// what comes back, what is on disk afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <link.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Result {
    int exit_code;  // -1: ended by a signal
    int signal;
    std::string out, err;
};

std::string content(const fs::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class Launcher : public ::testing::Test
{
protected:
    void SetUp() override
    {
        std::string pattern = (fs::temp_directory_path() / "critpath-launcher-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        directory = pattern;
        fs::create_directory(work());
    }

    void TearDown() override { fs::remove_all(directory); }

    [[nodiscard]] fs::path work() const { return directory / "work"; }

    /// `line` is what is typed behind `cpcollect` in an empty directory; `before` is what stands before it.
    Result collect(const std::string& line, const std::string& before = "")
    {
        return shell(begin() + "exec env " + before + " " CPCOLLECT " " + line);
    }

    /// The empty directory, and nothing in the environment that cpcollect would look at.
    [[nodiscard]] std::string begin() const
    {
        return "cd " + work().string() +
               " && for name in $(env | sed -n 's/^\\(CPCOLLECT_[A-Z_]*\\|CRITPATH_[A-Z_]*\\|[A-Z]*_JOB_\\?ID\\|"
               "OMPI_COMM_[A-Z_]*\\|PMIX_RANK\\|PMI_RANK\\|SLURM_PROCID\\|SLURM_STEP_ID\\)=.*/\\1/p'); do "
               "unset $name; done; "
               "unset LD_PRELOAD; export ASAN_OPTIONS=verify_asan_link_order=0 CRITPATH_LIBDIR=" DUMMY_DIRECTORY "; ";
    }

    Result shell(const std::string& command)
    {
        const fs::path out = directory / "out", err = directory / "err";
        const pid_t child = fork();
        if (child == 0) {
            const bool redirected =
                freopen(out.c_str(), "w", stdout) != nullptr && freopen(err.c_str(), "w", stderr) != nullptr;
            if (redirected) {
                execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            }
            _exit(99);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0, content(out),
                content(err)};
    }

    /// Exit code and one message with the words.
    void expect_message(const Result& result, int exit_code, const std::string& words)
    {
        EXPECT_EQ(result.exit_code, exit_code);
        EXPECT_THAT(result.err, StartsWith("cpcollect: "));
        EXPECT_THAT(result.err, HasSubstr(words));
        EXPECT_THAT(result.err, HasSubstr("; ")) << "no next action";
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_EQ(result.out, "");
    }

    fs::path make_file(const std::string& name, const std::string& text = "", int mode = 0644)
    {
        fs::path path = work() / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        EXPECT_EQ(chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
        return path;
    }

    nlohmann::json config(const std::string& line, const std::string& before = "")
    {
        const Result result = collect("--config " + line, before);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_TRUE(fs::is_empty(work())) << "--config did something";
        return nlohmann::json::parse(result.out);
    }

    fs::path directory;
};

// ---- options

TEST_F(Launcher, HelpFitsAScreenAndEndsInExamples)
{
    const Result result = collect("--help");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 24);
    for (const char* option : {"--output", "--force", "--quiet", "--frequency", "--no-samples", "--sampler", "--buffer",
                               "--clock-period", "--timer", "--callpath", "--call-graph", "--counters", "--events",
                               "--include", "--exclude", "--range", "--config", "--version", "CPCOLLECT_FREQUENCY"}) {
        EXPECT_THAT(result.out, HasSubstr(option));
    }
    EXPECT_GT(result.out.find("cpcollect ./app"), result.out.find("Examples"));
}

TEST_F(Launcher, TellsItsVersion)
{
    EXPECT_EQ(collect("--version").out, "cpcollect " CRITPATH_VERSION "\n");
}

TEST_F(Launcher, Defaults)
{
    const auto defaults = config("ls");
    EXPECT_EQ(defaults["application"], nlohmann::json::array({"ls"}));
    EXPECT_EQ(defaults["force"], false);
    EXPECT_EQ(defaults["frequency"], 199);
    EXPECT_EQ(defaults["sampler"], "auto");
    EXPECT_EQ(defaults["buffer_kb"], 128);
    EXPECT_EQ(defaults["clock_period_s"], 60);
    EXPECT_EQ(defaults["timer"], "tsc");
    EXPECT_EQ(defaults["quiet"], false);
    EXPECT_EQ(defaults["callpath"], "full");
    EXPECT_EQ(defaults["call_graph"], "fp");
    EXPECT_EQ(defaults["counters"], "");
    EXPECT_EQ(defaults["range"], "");
    EXPECT_EQ(defaults["groups"], (nlohmann::json{"p2p", "collective", "rma", "io", "local"}));
    EXPECT_EQ(defaults["unavailable_counters"], nlohmann::json::array());
    EXPECT_THAT(defaults["path"].get<std::string>(), ::testing::EndsWith("/ls"));
    expect_message(collect("--config ./nowhere"), 127, "nowhere");
    EXPECT_EQ(defaults["rank"], 0);
    EXPECT_EQ(defaults["preload_library"], DUMMY_DIRECTORY "/libcritpath-preload.so");
    EXPECT_THAT(defaults["output"].get<std::string>(), ::testing::MatchesRegex(".*/cp-ls-[0-9]{8}-[0-9]{6}"));
}

TEST_F(Launcher, OptionsInAllForms)
{
    const auto given = config("-qF 100 --output=a/b --buffer 7 --force -- ls -F 3");
    EXPECT_EQ(given["quiet"], true);
    EXPECT_EQ(given["frequency"], 100);
    EXPECT_EQ(given["buffer_kb"], 7);
    EXPECT_EQ(given["force"], true);
    EXPECT_EQ(given["output"], (work() / "a/b").string());
    EXPECT_EQ(given["application"], nlohmann::json::array({"ls", "-F", "3"}));
    EXPECT_EQ(config("-F200 ls")["frequency"], 200);
    EXPECT_EQ(config("-F 200 --no-samples ls")["frequency"], 0);
}

TEST_F(Launcher, GroupsAreWhatIsIncludedAndNotExcluded)
{
    using List = nlohmann::json;
    EXPECT_EQ(config("ls")["groups"], (List{"p2p", "collective", "rma", "io", "local"}));
    EXPECT_EQ(config("--exclude io,local ls")["groups"], (List{"p2p", "collective", "rma"}));
    EXPECT_EQ(config("--include collective --include p2p ls")["groups"], (List{"p2p", "collective"}));
    EXPECT_EQ(config("--include rma,io --exclude io ls")["groups"], List::array({"rma"}));
    EXPECT_EQ(config("ls", "CPCOLLECT_EXCLUDE=p2p,rma")["groups"], (List{"collective", "io", "local"}));
    expect_message(collect("--include p2p,colective ls"), 2, "'colective' is none of p2p, collective, rma, io, local");
}

TEST_F(Launcher, WhereTheCallersOfASampleComeFrom)
{
    EXPECT_EQ(config("ls")["events"], "");
    EXPECT_EQ(config("--events none ls")["events"], "none");
    EXPECT_EQ(config("--events instructions,faults,migrations,cpu-migrations ls")["events"],
              "instructions,page-faults,cpu-migrations");
    EXPECT_EQ(config("ls", "CPCOLLECT_EVENTS=cache-misses")["events"], "cache-misses");
    EXPECT_EQ(config("ls")["call_graph"], "fp");
    EXPECT_EQ(config("--call-graph dwarf ls")["call_graph"], "dwarf");
    EXPECT_EQ(config("ls", "CPCOLLECT_CALL_GRAPH=none")["call_graph"], "none");
    expect_message(collect("--call-graph lbr ls"), 2, "'lbr' is none of fp, dwarf, none");
    expect_message(collect("--call-graph -- ls"), 2, "--call-graph: the value is missing");
}

TEST_F(Launcher, WhatIsRecordedOfACall)
{
    EXPECT_EQ(config("ls")["callpath"], "full");
    EXPECT_EQ(config("--callpath site ls")["callpath"], "site");
    EXPECT_EQ(config("ls", "CPCOLLECT_CALLPATH=none")["callpath"], "none");
    EXPECT_EQ(config("--counters PAPI_TOT_INS ls")["counters"], "PAPI_TOT_INS");
    expect_message(collect("--config --counters PAPI_TOT_INS,PAPI_TOTINS ls"), 2,
                   "PAPI_TOTINS: PAPI knows no such event");
    expect_message(collect("--callpath deep ls"), 2, "'deep' is none of full, site, none");
    expect_message(collect("--counters a,b,c,d,e,f,g,h ls"), 2, "8 counters, but at most 7 fit");
}

TEST_F(Launcher, Range)
{
    for (const char* range : {"3:10", "3:", ":10", "pcontrol"}) {
        EXPECT_EQ(config(std::string("--range ") + range + " ls")["range"], range);
    }
    EXPECT_EQ(config("ls", "CPCOLLECT_RANGE=1:2")["range"], "1:2");
    for (const char* range : {"3", ":", "10:3", "4:4", "a:b", "1:2:3", "1:2x", "-1:4", "off"}) {
        expect_message(collect(std::string("--range ") + range + " ls"), 2, "is not a range: give A:B");
    }
}

TEST_F(Launcher, OutputMayHoldPatterns)
{
    make_file("../my app", "#!/bin/sh\n", 0755);
    std::string host(256, '\0');
    gethostname(host.data(), host.size() - 1);
    host.resize(host.find('\0'));
    EXPECT_EQ(config("-o '%app/%jobid-%host' '../my app'", "PBS_JOBID=12.server")["output"],
              (work() / "my_app" / ("12-" + host)).string());
    EXPECT_EQ(config("-o 'a%%app-%jobid' ls")["output"], (work() / "a%app-nojob").string());
    EXPECT_THAT(config("ls", "CPCOLLECT_OUTPUT=%date.%app")["output"].get<std::string>(),
                ::testing::MatchesRegex(".*/[0-9]{8}-[0-9]{6}.ls"));
    expect_message(collect("-o run-%rank ls"), 2, "--output: %rank: no such pattern");
    expect_message(collect("-o 50% ls"), 2, "--output: %: no such pattern");
}

TEST_F(Launcher, EnvironmentGivesDefaults)
{
    const std::string before =
        "CPCOLLECT_OUTPUT=x CPCOLLECT_FORCE=1 CPCOLLECT_QUIET=1 CPCOLLECT_FREQUENCY=50 CPCOLLECT_BUFFER=9 "
        "CPCOLLECT_CLOCK_PERIOD=3 CPCOLLECT_TIMER=kernel CPCOLLECT_SAMPLER=perf";
    const auto given = config("-F 60 ls", before);
    EXPECT_EQ(given["output"], (work() / "x").string());
    EXPECT_EQ(given["force"], true);
    EXPECT_EQ(given["quiet"], true);
    EXPECT_EQ(given["frequency"], 60) << "the option wins";
    EXPECT_EQ(given["buffer_kb"], 9);
    EXPECT_EQ(given["clock_period_s"], 3);
    EXPECT_EQ(given["timer"], "kernel");
    EXPECT_EQ(given["sampler"], "perf");
    EXPECT_EQ(config("ls", "CPCOLLECT_NO_SAMPLES=1")["frequency"], 0);
    EXPECT_EQ(config("ls", "CPCOLLECT_INCLUDE=rma,io")["groups"], (nlohmann::json{"rma", "io"}));
    EXPECT_EQ(config("ls", "CPCOLLECT_COUNTERS=PAPI_TOT_INS")["counters"], "PAPI_TOT_INS");
    const Result by_variable = collect("-o x ls", "CPCOLLECT_CONFIG=1");
    EXPECT_EQ(nlohmann::json::parse(by_variable.out), config("-o x ls")) << by_variable.err;
}

TEST_F(Launcher, ManyRanksAreSampledLessOften)
{
    const auto frequency = [this](const std::string& job, const std::string& options = "") {
        return config(options + "ls",
                      "OMPI_COMM_WORLD_RANK=0 PMI_RANK=0 OMPI_COMM_WORLD_SIZE= PMI_SIZE= " + job)["frequency"];
    };
    EXPECT_EQ(frequency("PMI_SIZE=9999"), 199);
    EXPECT_EQ(frequency("PMI_SIZE=10000"), 97);
    EXPECT_EQ(frequency("OMPI_COMM_WORLD_SIZE=20000"), 97);
    EXPECT_EQ(frequency("SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=20000"), 97);
    EXPECT_EQ(frequency("SLURM_STEP_NUM_TASKS=20000"), 199) << "a batch script is no step";
    EXPECT_EQ(frequency("PMI_SIZE=20000", "-F 500 "), 500);
    EXPECT_EQ(frequency("PMI_SIZE=20000 CPCOLLECT_FREQUENCY=400"), 400);
}

TEST_F(Launcher, DefaultOutputHasTheJob)
{
    EXPECT_EQ(config("/bin/ls", "PBS_JOBID=123.server")["output"], (work() / "cp-ls-123").string());
    make_file("../my app", "#!/bin/sh\n", 0755);
    EXPECT_EQ(config("'../my app'", "SLURM_JOB_ID=77")["output"], (work() / "cp-my_app-77").string());
}

TEST_F(Launcher, FurtherRunsOfAJobGetANameOfTheirOwn)
{
    for (int run = 0; run < 3; ++run) {
        EXPECT_EQ(collect("true", "SLURM_JOB_ID=5").exit_code, 0);
    }
    EXPECT_TRUE(fs::exists(work() / "cp-true-5"));
    EXPECT_TRUE(fs::exists(work() / "cp-true-5.2"));
    EXPECT_TRUE(fs::exists(work() / "cp-true-5.3"));
}

TEST_F(Launcher, RunsThatBeginAtTheSameMomentGetDirectoriesOfTheirOwn)
{
    const Result result =
        shell(begin() + "export SLURM_JOB_ID=5; for i in 1 2 3 4 5 6 7 8; do " CPCOLLECT " true & done; wait");
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(std::distance(fs::directory_iterator(work()), {}), 8);
}

TEST_F(Launcher, RankComesFromTheMostTrustedSource)
{
    const std::string slurm = "SLURM_STEP_ID=0 SLURM_PROCID=4";
    EXPECT_EQ(config("ls", slurm)["rank"], 4);
    EXPECT_EQ(config("ls", slurm + " PMI_RANK=3")["rank"], 3);
    EXPECT_EQ(config("ls", slurm + " PMIX_RANK=2")["rank"], 2);
    EXPECT_EQ(config("ls", "SLURM_STEP_ID=0 SLURM_PROCID= PMI_RANK=x")["rank"], 0);
    EXPECT_EQ(config("ls", "SLURM_PROCID=4")["rank"], 0) << "a batch script is not a task";
    // The MPI library's own launcher may itself have been started by another.
    const std::string all = slurm + " PMI_RANK=3 PMIX_RANK=2 OMPI_COMM_WORLD_RANK=1";
    if (std::string(CRITPATH_MPI) == "MPICH") {
        EXPECT_EQ(config("ls", all)["rank"], 3);
    } else {
        EXPECT_EQ(config("ls", all)["rank"], 1);
    }
}

TEST_F(Launcher, BadUsage)
{
    expect_message(collect(""), 2, "no application given");
    expect_message(collect("-q"), 2, "no application given");
    expect_message(collect("--"), 2, "no application given");
    expect_message(collect("--typo ls"), 2, "--typo: no such option");
    expect_message(collect("-F abc ls"), 2, "'abc' is not a whole number from 0 to 20000");
    expect_message(collect("--events cycles,instruction ls"), 2, "'instruction' is none of page-faults, ");
    expect_message(collect("--events cycles,,instructions ls"), 2, "'' is none of page-faults, ");
    expect_message(collect("--events cycles,instructions,branches,branch-misses,cache-misses,ref-cycles ls"), 2,
                   "6 events, but beside page-faults at most 5 fit");
    expect_message(collect("-F 0 --events minor-faults ls"), 2, "--events: they are counted with samples");
    expect_message(collect("-F 20001 ls"), 2, "--frequency");
    expect_message(collect("-F -5 ls"), 2, "--frequency");
    expect_message(collect("--buffer 0 ls"), 2, "--buffer");
    expect_message(collect("--clock-period -1 ls"), 2, "--clock-period");
    expect_message(collect("--timer sundial ls"), 2, "'sundial' is none of tsc, kernel");
    expect_message(collect("--sampler none ls"), 2, "'none' is none of auto, perf, timer");
    expect_message(collect("-F"), 2, "--frequency");
    expect_message(collect("-o '' ls"), 2, "--output");
    expect_message(collect("--output= --force ls"), 2, "--output=: the value is empty");
    expect_message(collect("--counters= --config ls"), 2, "--counters=: the value is empty");
    expect_message(collect("--include= p2p ls"), 2, "--include=: the value is empty");
    expect_message(collect("-o=run1 ls"), 2, "-o=run1: write -o run1");
    expect_message(collect("-o --force ls"), 2, "-o: the value is missing");
    expect_message(collect("-qo -- ls"), 2, "-qo: the value is missing");
    expect_message(collect("--counters , ls"), 2, "',' has an empty name");
    expect_message(collect("--counters a,,b ls"), 2, "has an empty name");
    expect_message(collect("--counters a, ls"), 2, "has an empty name");
    expect_message(collect("ls", "CPCOLLECT_FREQUENCY=abc"), 2, "'abc' is not a whole number");
    EXPECT_TRUE(fs::is_empty(work()));
}

// ---- the application

TEST_F(Launcher, ApplicationsOptionsAreItsOwn)
{
    const Result result = collect("-o t sh -c 'echo \"$@\"' sh --help -o x --force -F 5 -- --version");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, "--help -o x --force -F 5 -- --version\n");
    EXPECT_EQ(collect("-o u -- sh -c 'echo \"$@\"' sh -- a").out, "-- a\n");
    EXPECT_EQ(collect("-o v sh -c 'printf \"<%s>\" \"$@\"' sh '' 'a b'").out, "<><a b>");
}

TEST_F(Launcher, ExitCodeAndSignalsAreTheApplications)
{
    EXPECT_EQ(collect("-o t sh -c 'exit 3'").exit_code, 3);
    EXPECT_EQ(collect("-o u sh -c 'kill -TERM $$'").signal, SIGTERM);
    EXPECT_EQ(collect("-o v sh -c 'kill -SEGV $$'").signal, SIGSEGV);
}

TEST_F(Launcher, AddsNothingToTheOutput)
{
    const Result result = collect("-o t sh -c 'echo out; echo err >&2'");
    EXPECT_EQ(result.out, "out\n");
    EXPECT_EQ(result.err, "err\n");
}

TEST_F(Launcher, BecomesTheApplication)
{
    // The shell prints its own process id; with a supervisor in between, it would not be the child of the test.
    const Result result = collect("-o t sh -c 'cat /proc/$$/comm; tr \"\\0\" \" \" </proc/$$/cmdline'");
    EXPECT_EQ(result.out.substr(0, 3), "sh\n");
    EXPECT_THAT(result.out, Not(HasSubstr("cpcollect")));
}

TEST_F(Launcher, MissingApplication)
{
    expect_message(collect("lmpp"), 127, "lmpp: not found in PATH; ");
    expect_message(collect("./nowhere"), 127, "./nowhere: not found; ");
    expect_message(collect("''"), 127, "empty");
    make_file("here", "#!/bin/sh\n", 0755);
    expect_message(collect("here"), 127, "give ./here");
    EXPECT_EQ(std::distance(fs::directory_iterator(work()), {}), 1) << "made a directory";
}

TEST_F(Launcher, ApplicationThatCannotBeExecuted)
{
    make_file("text", "hello");
    fs::create_directory(work() / "folder");
    expect_message(collect("./text"), 126, "./text: is not executable; make it so with: chmod +x ./text");
    expect_message(collect("./folder"), 126, "./folder: is a directory");
    expect_message(collect("text", "PATH=" + work().string() + ":/usr/bin:/bin"), 126, "text: is not executable");
}

TEST_F(Launcher, ApplicationForAnotherMachine)
{
    std::string program = content("/bin/true");
    ASSERT_GT(program.size(), 20U);
    program[18] = static_cast<char>(0xb7);  // e_machine: AArch64 ...
    program[19] = 0;
    make_file("foreign", program, 0755);
    if (content("/proc/self/exe")[18] == program[18]) {
        program[18] = 62;  // ... or x86_64 where that is this machine
        make_file("foreign", program, 0755);
    }
    expect_message(collect("./foreign"), 126, "./foreign: is a program for another machine");
}

TEST_F(Launcher, StaticApplication)
{
    expect_message(collect(STATIC_APPLICATION), 2, "is linked statically");
    expect_message(collect(STATIC_PIE_APPLICATION), 2, "is linked statically");
    EXPECT_TRUE(fs::is_empty(work()));
}

// A dynamic section of 2^56 bytes: what it would say is not known, and the kernel does not ask.
TEST_F(Launcher, DamagedApplication)
{
    std::string program = content(STATIC_PIE_APPLICATION);
    ElfW(Ehdr) header;
    std::memcpy(&header, program.data(), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        char* place = &program[header.e_phoff + i * sizeof(ElfW(Phdr))];
        ElfW(Phdr) segment;
        std::memcpy(&segment, place, sizeof segment);
        segment.p_filesz |= segment.p_type == PT_DYNAMIC ? std::uint64_t{1} << 56 : 0;
        std::memcpy(place, &segment, sizeof segment);
    }
    make_file("../damaged", program, 0755);
    EXPECT_EQ(config("../damaged")["path"], "../damaged");
}

TEST_F(Launcher, LoaderAsApplicationIsNotStatic)
{
    const Result result = shell("readelf -l /bin/true | sed -n 's/.*program interpreter: \\(.*\\)\\]/\\1/p'");
    ASSERT_THAT(result.out, StartsWith("/"));
    const std::string loader = result.out.substr(0, result.out.find('\n'));
    EXPECT_EQ(collect("-o t " + loader + " /bin/echo hello").out, "hello\n");
}

TEST_F(Launcher, PrivilegedApplication)
{
    if (geteuid() != 0) {
        GTEST_SKIP() << "only root can make a program of another user";
    }
    make_file("setuid", content("/bin/true"), 0755);
    ASSERT_EQ(chown((work() / "setuid").c_str(), 1, 1), 0);
    ASSERT_EQ(chmod((work() / "setuid").c_str(), 04755), 0);
    expect_message(collect("./setuid"), 2, "./setuid: is setuid");
    ASSERT_EQ(chmod((work() / "setuid").c_str(), 02755), 0);
    expect_message(collect("./setuid"), 2, "./setuid: is setgid");
    ASSERT_EQ(chmod((work() / "setuid").c_str(), 0755), 0);
    EXPECT_EQ(collect("-o t ./setuid").exit_code, 0);
}

TEST_F(Launcher, ScriptsAreStarted)
{
    make_file("script", "#!/bin/sh\necho script \"$1\"\n", 0755);
    EXPECT_EQ(collect("-o t ./script x").out, "script x\n");
    make_file("no_interpreter_line", "echo plain\n", 0755);
    EXPECT_EQ(collect("-o u ./no_interpreter_line").out, "plain\n");
}

TEST_F(Launcher, FailedStartRemovesTheDirectoryItMade)
{
    make_file("script", "#!/no/such/interpreter\n", 0755);
    expect_message(collect("-o t ./script"), 127, "interpreter");
    EXPECT_FALSE(fs::exists(work() / "t"));
    fs::create_directory(work() / "mine");
    expect_message(collect("-o mine ./script"), 127, "interpreter");
    EXPECT_TRUE(fs::exists(work() / "mine")) << "removed a directory that it did not make";
}

TEST_F(Launcher, LauncherAsApplicationIsAMistake)
{
    make_file("mpirun", "#!/bin/sh\n", 0755);
    expect_message(collect("./mpirun -n 4 ./app"), 2, "mpirun ... cpcollect ./app");
    expect_message(collect("./mpirun -n 4 ./app", "SLURM_JOB_ID=5 SLURM_PROCID=0"), 2, "mpirun ... cpcollect ./app");
    make_file("mpiexec.mpich", "#!/bin/sh\n", 0755);
    expect_message(collect("./mpiexec.mpich -n 4 ./app"), 2, "mpiexec.mpich ... cpcollect ./app");
}

// ---- the environment of the application

TEST_F(Launcher, TellsThePreloadLibrary)
{
    const Result result =
        collect("-o t -F 500 --buffer 5 --clock-period 7 --timer kernel --sampler timer -q --callpath site "
                "--call-graph dwarf --counters A,B --range 2:9 --exclude io env");
    EXPECT_THAT(result.out, HasSubstr("LD_PRELOAD=" DUMMY_DIRECTORY "/libcritpath-preload.so\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_TRACE=" + (work() / "t").string() + "\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_TRACE_OWNER=1\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_FREQUENCY=500\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_BUFFER_KB=5\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_CLOCK_PERIOD=7\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_TIMER=kernel\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_SAMPLER=timer\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_QUIET=1\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_LAUNCHER_RANK=0\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_CALLPATH=site\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_CALL_GRAPH=dwarf\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_COUNTERS=A,B\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_RANGE=2:9\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_GROUPS=p2p,collective,rma,local\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_ARCHIVE_LIBRARY=" DUMMY_DIRECTORY "/libcritpath-archive.so\n"));
    EXPECT_THAT(result.out, Not(HasSubstr("CRITPATH_ORIGINAL_LD_PRELOAD")));
}

TEST_F(Launcher, KeepsTheUsersPreload)
{
    const fs::path other = directory / "libother.so";
    fs::copy_file(DUMMY_DIRECTORY "/libcritpath-preload.so", other);
    const Result result = collect("-o t env", "LD_PRELOAD=" + other.string());
    EXPECT_THAT(result.out,
                HasSubstr("LD_PRELOAD=" DUMMY_DIRECTORY "/libcritpath-preload.so:" + other.string() + "\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_ORIGINAL_LD_PRELOAD=" + other.string() + "\n"));
}

TEST_F(Launcher, OtherRanksDoNotOwnTheTrace)
{
    const Result result = collect("-o t env", "PMIX_RANK=3 CRITPATH_TRACE=/old CRITPATH_TRACE_OWNER=1");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_FREQUENCY=199\n"));
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_TRACE=\n"));
    EXPECT_THAT(result.out, Not(HasSubstr("CRITPATH_TRACE_OWNER")));
    EXPECT_FALSE(fs::exists(work() / "t"));
}

TEST_F(Launcher, MissingLibrary)
{
    expect_message(collect("-o t ls", "CRITPATH_LIBDIR=/nowhere"), 1,
                   "libcritpath-preload.so: not found in /nowhere; ");
    EXPECT_FALSE(fs::exists(work() / "t"));
}

TEST_F(Launcher, LibraryPathThatLdPreloadCannotHold)
{
    for (const char* name : {"with space", "with:colon"}) {
        fs::create_directory(directory / name);
        fs::copy_file(DUMMY_DIRECTORY "/libcritpath-preload.so", directory / name / "libcritpath-preload.so");
        expect_message(collect("-o t ls", "'CRITPATH_LIBDIR=" + (directory / name).string() + "'"), 1,
                       "LD_PRELOAD cannot hold a path with spaces or colons");
    }
}

// ---- the directory of the trace

TEST_F(Launcher, MakesTheDirectoryAndItsParents)
{
    EXPECT_EQ(collect("-o a/b/c true").exit_code, 0);
    EXPECT_TRUE(fs::is_directory(work() / "a/b/c"));
    EXPECT_EQ(collect("-o 'with space' sh -c 'echo $CRITPATH_TRACE'").out, (work() / "with space").string() + "\n");
}

TEST_F(Launcher, TakesAnEmptyDirectory)
{
    fs::create_directory(work() / "t");
    EXPECT_EQ(collect("-o t true").exit_code, 0);
}

TEST_F(Launcher, ExistingTraceNeedsForce)
{
    make_file("t/traces.otf2");
    make_file("t/traces.def");
    make_file("t/traces/0.evt");
    make_file("t/critpath/critpath.sqlite");
    expect_message(collect("-o t true"), 2, "exists already; overwrite it with --force");
    EXPECT_TRUE(fs::exists(work() / "t/traces.otf2"));
    EXPECT_EQ(collect("-o t --force true").exit_code, 0);
    EXPECT_TRUE(fs::is_empty(work() / "t"));
}

TEST_F(Launcher, ForceOverwritesWhatADeadRunLeft)
{
    make_file("t/spool/0.0.calls");
    make_file("t/spool/0.0.samples");
    make_file("t/spool/0.maps");
    EXPECT_EQ(collect("-o t --force true").exit_code, 0);
    EXPECT_TRUE(fs::is_empty(work() / "t"));
}

TEST_F(Launcher, ForceTouchesNothingButTraces)
{
    make_file("home/thesis.tex");
    make_file("mixed/traces.otf2");
    make_file("mixed/thesis.tex");
    make_file("var/spool/mail/me");
    make_file("old/traces.otf2");
    make_file("old/spool/notes.samples");
    expect_message(collect("-o home --force true"), 2, "is not a trace");
    expect_message(collect("-o mixed --force true"), 2, "holds thesis.tex");
    expect_message(collect("-o var --force true"), 2, "holds spool/mail");
    expect_message(collect("-o old --force true"), 2, "holds spool/notes.samples");
    expect_message(collect("-o / --force true"), 2, "is not a trace");
    expect_message(collect("-o . --force true"), 2, "is not a trace");
    EXPECT_TRUE(fs::exists(work() / "home/thesis.tex"));
    EXPECT_TRUE(fs::exists(work() / "mixed/traces.otf2"));
    EXPECT_TRUE(fs::exists(work() / "var/spool/mail/me"));
}

TEST_F(Launcher, ForceDoesNotFollowLinksOutOfTheTrace)
{
    make_file("precious/data");
    make_file("real/traces.otf2");
    fs::create_directory_symlink(work() / "precious", work() / "real/traces");
    fs::create_directory_symlink(work() / "real", work() / "link");
    EXPECT_EQ(collect("-o link --force true").exit_code, 0);
    EXPECT_TRUE(fs::exists(work() / "precious/data"));
    EXPECT_TRUE(fs::is_symlink(work() / "link"));
    EXPECT_TRUE(fs::is_empty(work() / "real"));
}

TEST_F(Launcher, OutputThatCannotBeMade)
{
    make_file("file");
    expect_message(collect("-o file true"), 2, "is not a directory");
    for (const std::string output : {"file/t", "/proc/t"}) {
        const Result result = collect("-o " + output + " sh -c 'exit 7'");
        EXPECT_EQ(result.exit_code, 7);
        EXPECT_NE(result.err.find(output + ": "), std::string::npos) << result.err;
        EXPECT_NE(result.err.find(", nothing will be recorded; choose another directory with -o\n"), std::string::npos)
            << result.err;
    }
}

TEST_F(Launcher, ApplicationIsCheckedBeforeTheTraceIsOverwritten)
{
    make_file("t/traces.otf2");
    expect_message(collect("-o t --force ./nowhere"), 127, "not found");
    EXPECT_TRUE(fs::exists(work() / "t/traces.otf2"));
}

// ---- many ranks

class ParallelLauncher : public Launcher
{
protected:
    /// As collect(), on four ranks.
    Result parallel(const std::string& line)
    {
        return shell(
            "cd " + work().string() +
            " && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
            "CRITPATH_LIBDIR=" DUMMY_DIRECTORY " && " MPIEXEC " -n 4 " CPCOLLECT " " +
            line);
    }

    static int count(const std::string& text, const std::string& word)
    {
        int found = 0;
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            ++found;
        }
        return found;
    }
};

TEST_F(ParallelLauncher, OneRankOwnsTheTrace)
{
    const Result result = parallel("-o t sh -c 'echo \"[$CRITPATH_TRACE_OWNER]\"'");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(count(result.out, "[1]"), 1) << result.out;
    EXPECT_EQ(count(result.out, "[]"), 3) << result.out;
    EXPECT_TRUE(fs::is_directory(work() / "t"));
}

TEST_F(ParallelLauncher, ErrorsOfAllRanksAreSaidOnce)
{
    const Result missing = parallel("lmpp");
    EXPECT_EQ(missing.exit_code, 127);
    EXPECT_EQ(count(missing.err, "cpcollect: "), 1) << missing.err;
    const Result usage = parallel("--typo ls");
    EXPECT_EQ(usage.exit_code, 2);
    EXPECT_EQ(count(usage.err, "cpcollect: "), 1) << usage.err;
}

TEST_F(ParallelLauncher, ErrorOfRankZeroEndsTheJob)
{
    make_file("t/thesis.tex");
    const Result result = parallel("-o t sleep 60");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(count(result.err, "cpcollect: "), 1) << result.err;
}

TEST_F(ParallelLauncher, ErrorOfAnotherRankIsSaidToo)
{
    // Only rank 2 does not find its application.
    make_file("choose",
              "#!/bin/sh\n[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 2 ] && "
              "export OMPI_COMM_WORLD_LOCAL_RANK=0 MPI_LOCALRANKID=0 && exec " CPCOLLECT
              " -o t ./nowhere\nexec " CPCOLLECT " -o t sleep 60\n",
              0755);
    const Result result =
        shell("cd " + work().string() +
              " && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
              "OMPI_MCA_rmaps_base_oversubscribe=1 CRITPATH_LIBDIR=" DUMMY_DIRECTORY " && " MPIEXEC " -n 4 ./choose");
    EXPECT_EQ(result.exit_code, 127);
    EXPECT_THAT(result.err, HasSubstr("cpcollect: rank 2 on "));
    EXPECT_EQ(count(result.err, "cpcollect: "), 1) << result.err;
}

}  // namespace
