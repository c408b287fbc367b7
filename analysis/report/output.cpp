// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/output.hpp"

#include "formats/support/error.hpp"

#include <cerrno>

#include <unistd.h>

namespace critpath::report
{

void Output::flush()
{
    std::string_view rest(buffer_.data(), buffer_.size());
    while (!rest.empty()) {
        const ssize_t written = ::write(fd_, rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(static_cast<std::size_t>(written));
        else if (errno == EPIPE)
            throw ReaderGone{};
        else if (errno != EINTR)
            fail(ExitCode::Failed, "standard output: {}; what was printed is incomplete", std::strerror(errno));
    }
    buffer_.clear();
}

}  // namespace critpath::report
