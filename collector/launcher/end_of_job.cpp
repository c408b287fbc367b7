// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/end_of_job.hpp"

#include "collector/launcher/environment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include <unistd.h>

namespace critpath::launcher
{

void end_job(int exit_code)
{
    // Others have a connection of this name, but speak another protocol; this variable is Hydra's alone.
    const std::string text = environment_value("MPI_LOCALRANKID").empty() ? "" : environment_value("PMI_FD");
    int connection = -1;
    std::from_chars(text.data(), text.data() + text.size(), connection);
    if (connection >= 0) {
        // The abort of the process management interface, version 1: what MPI_Abort makes of it.
        const std::string words = fmt::format("cmd=abort exitcode={}\n", exit_code);
        // What is written to stderr after that is lost, and so may be what was written just before.
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        [[maybe_unused]] const ssize_t written = write(connection, words.data(), words.size());
    }
}

}  // namespace critpath::launcher
