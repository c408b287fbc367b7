// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/requests.hpp"

#include <algorithm>

namespace critpath::oracle
{

Requests::Requests(const Program& program) : open_(program.steps.size())
{
    for (std::size_t rank = 0; rank < open_.size(); ++rank)
        for (const Step& step : program.steps[rank]) {
            int highest = step.request;
            for (const Step& start : step.starts)
                highest = std::max(highest, start.request);
            open_[rank].resize(std::max(open_[rank].size(), at(highest + 1)), nullptr);
        }
}

Posted* Requests::add(const Posted& posted)
{
    Posted* added = &posted_.emplace_back(posted);
    if (added->request >= 0) {
        added->message.request = id(added->rank, added->request);
        open_[at(added->rank)][at(added->request)] = added;
    }
    return added;
}

std::vector<Posted*> Requests::find(int rank, const std::vector<int>& requests) const
{
    std::vector<Posted*> result;
    for (const int request : requests)
        if (Posted* posted = find(rank, request); posted != nullptr)
            result.push_back(posted);
    return result;
}

}  // namespace critpath::oracle
