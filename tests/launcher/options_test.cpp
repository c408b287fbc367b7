// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What cpcollect takes its options for.
#include "tests/launcher/launched.hpp"

namespace critpath::test
{
namespace
{

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

TEST_F(Launcher, FullDiskBehindStandardOutputIsAFailure)
{
    for (const char* option : {"--help", "--version", "--config ls", "recover --help"}) {
        const Result result = collect(std::string(option) + " >/dev/full");
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_THAT(result.err, HasSubstr("cpcollect: standard output: No space left on device; "));
    }
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
    EXPECT_EQ(defaults["frequency"], 149);
    EXPECT_EQ(defaults["sampler"], "auto");
    EXPECT_EQ(defaults["buffer_kb"], 128);
    EXPECT_EQ(defaults["clock_period_s"], 60);
    EXPECT_EQ(defaults["timer"], "tsc");
    EXPECT_EQ(defaults["quiet"], false);
    EXPECT_EQ(defaults["callpath"], "full");
    EXPECT_EQ(defaults["call_graph"], "dwarf");
    EXPECT_EQ(defaults["counters"], "");
    EXPECT_EQ(defaults["range"], "");
    EXPECT_EQ(defaults["groups"], (nlohmann::json{"p2p", "collective", "rma", "io", "local"}));
    EXPECT_EQ(defaults["unavailable_counters"], nlohmann::json::array());
    EXPECT_THAT(defaults["path"].get<std::string>(), testing::EndsWith("/ls"));
    expect_message(collect("--config ./nowhere"), 127, "nowhere");
    EXPECT_EQ(defaults["rank"], 0);
    EXPECT_EQ(defaults["preload_library"], DUMMY_DIRECTORY "/libcritpath-preload.so");
    EXPECT_THAT(defaults["output"].get<std::string>(), testing::MatchesRegex(".*/cp-ls-[0-9]{8}-[0-9]{6}"));
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
    EXPECT_EQ(config("ls")["call_graph"], "dwarf");
    EXPECT_EQ(config("--call-graph fp ls")["call_graph"], "fp");
    EXPECT_EQ(config("ls", "CPCOLLECT_CALL_GRAPH=none")["call_graph"], "none");
    EXPECT_EQ(config("--call-graph dwarf,16384 ls")["call_graph"], "dwarf,16384");
    expect_message(collect("--call-graph lbr ls"), 2, "'lbr' is none of dwarf, fp, none");
    expect_message(collect("--call-graph fp,4096 ls"), 2, "'fp,4096' is none of dwarf, fp, none");
    expect_message(collect("--call-graph dwarf,65536 ls"), 2, "'65536' is not a whole number from 512 to 32768");
    expect_message(collect("--call-graph dwarf,many ls"), 2, "'many' is not a whole number");
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
                testing::MatchesRegex(".*/[0-9]{8}-[0-9]{6}.ls"));
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
    EXPECT_EQ(frequency("PMI_SIZE=9999"), 149);
    EXPECT_EQ(frequency("PMI_SIZE=10000"), 97);
    EXPECT_EQ(frequency("OMPI_COMM_WORLD_SIZE=20000"), 97);
    EXPECT_EQ(frequency("SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=20000"), 97);
    EXPECT_EQ(frequency("SLURM_STEP_NUM_TASKS=20000"), 149) << "a batch script is no step";
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
    expect_message(collect("-F 1 -F 2 ls"), 2, "--frequency: may be given once only; see cpcollect --help");
    expect_message(collect("-F"), 2, "--frequency: its value is missing; see cpcollect --help");
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

}  // namespace
}  // namespace critpath::test
