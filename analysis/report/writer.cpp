// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/writer.hpp"

#include "formats/support/error.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace critpath::report
{

namespace
{

struct NamedWriter {
    const char* name;
    Writer writer;
};

constexpr std::array writers = {
    NamedWriter{"table", write_table},
    NamedWriter{"csv", write_csv},
    NamedWriter{"json", write_json},
};

}  // namespace

std::vector<std::string> writer_names()
{
    std::vector<std::string> names;
    std::transform(writers.begin(), writers.end(), std::back_inserter(names),
                   [](const NamedWriter& writer) { return writer.name; });
    return names;
}

Writer find_writer(const std::string& name)
{
    for (const NamedWriter& writer : writers) {
        if (name == writer.name)
            return writer.writer;
    }
    fail(ExitCode::Usage, "--format: no format '{}'; see: cpreport --help", name);
}

}  // namespace critpath::report
