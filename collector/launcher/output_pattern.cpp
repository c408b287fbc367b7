// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/output_pattern.hpp"

#include "collector/launcher/environment.hpp"
#include "formats/support/error.hpp"

#include <array>
#include <ctime>
#include <string_view>

#include <unistd.h>

namespace critpath::launcher
{
namespace
{

std::string host_name()
{
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return as_file_name(name.data());
}

std::string job_or_none()
{
    std::string job = find_job();
    return job.empty() ? "nojob" : job;
}

}  // namespace

std::string expand_output(const std::string& pattern, const std::string& application)
{
    std::string expanded;
    for (std::size_t at = 0; at < pattern.size();) {
        const std::string_view rest = std::string_view(pattern).substr(at);
        const auto replace = [&](std::string_view word, const std::string& value) {
            expanded += value;
            at += word.size();
        };
        if (rest.front() != '%') {
            replace(rest.substr(0, 1), std::string(rest.substr(0, 1)));
        } else if (rest.substr(0, 2) == "%%") {
            replace("%%", "%");
        } else if (rest.substr(0, 4) == "%app") {
            replace("%app", as_file_name(application));
        } else if (rest.substr(0, 6) == "%jobid") {
            replace("%jobid", job_or_none());
        } else if (rest.substr(0, 5) == "%host") {
            replace("%host", host_name());
        } else if (rest.substr(0, 5) == "%date") {
            replace("%date", date_and_time());
        } else {
            fail(ExitCode::Usage,
                 "--output: {}: no such pattern; use %app, %jobid, %host, %date, or %% for a percent sign", rest);
        }
    }
    return expanded;
}

std::string date_and_time()
{
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
    return text.data();
}

}  // namespace critpath::launcher
