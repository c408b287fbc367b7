// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Writes the sample results into a directory, for scripts: make_samples DIRECTORY [large]
#include "tests/result/samples.hpp"

#include <string_view>

int main(int argc, char** argv)
{
    using namespace critpath::samples;
    if (argc < 2)
        return 2;
    const std::filesystem::path directory = argv[1];
    if (argc > 2 && std::string_view(argv[2]) == "large") {
        write_result(directory / "large", large_run(64, 2000, 1'000'000));
        return 0;
    }
    write_result(directory / "sampled", sampled_run());
    write_result(directory / "traced", traced_run());
    write_result(directory / "awkward", awkward_run());
    write_result(directory / "empty", empty_run());
    write_result(directory / "phased", phased_run());
    write_result(directory / "recursive", recursive_run());
    write_result(directory / "timed", timed_run());
    return 0;
}
