// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/communication.hpp"

#include "formats/support/error.hpp"

#include <exception>
#include <utility>

namespace critpath::archive
{

std::string Communication::agree(const std::function<void()>& step) const
{
    std::string error;
    try {
        step();
    } catch (const std::exception& e) {
        error = e.what();
        if (error.empty()) {
            error = "unknown error";
        }
    }
    return first_error(std::move(error));
}

int Communication::parent() const
{
    return rank_ & (rank_ - 1);  // without the lowest bit
}

std::vector<int> Communication::children() const
{
    std::vector<int> result;
    for (int bit = 1; bit < size_ && (rank_ & bit) == 0; bit <<= 1) {
        if (rank_ + bit < size_) {
            result.push_back(rank_ + bit);
        }
    }
    return result;
}

void NoCommunication::send(int to, const std::vector<std::byte>& /*bytes*/) const
{
    fail(ExitCode::Failed, "process {}: there is none; this is a defect of critpath, please report it", to);
}

std::vector<std::byte> NoCommunication::receive(int from) const
{
    fail(ExitCode::Failed, "process {}: there is none; this is a defect of critpath, please report it", from);
}

}  // namespace critpath::archive
