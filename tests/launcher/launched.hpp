// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how cpcollect is run from a shell, with a library that does nothing in place of the preload library: what a user
// types, what comes back, what is on disk afterwards.
#pragma once

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

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace critpath::test
{

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Result {
    int exit_code;  // -1: ended by a signal
    int signal;
    std::string out, err;
};

inline std::string content(const fs::path& path)
{
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class Launcher : public testing::Test
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

}  // namespace critpath::test
