// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What cpcollect does to the application, to its environment and on disk.
#include "tests/launcher/launched.hpp"

#include <link.h>

namespace critpath::test
{
namespace
{

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
    EXPECT_THAT(result.out, HasSubstr("CRITPATH_FREQUENCY=149\n"));
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
}  // namespace critpath::test
