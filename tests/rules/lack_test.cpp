// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/lack.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::tests
{
namespace
{

using model::Ns;

/// Who asks for what was before the last one comes to an end, also where a damaged trace has times of no length.
TEST(Lack, TimesWithoutAProcessorComeOneBeforeTheOther)
{
    model::LocationTrace location;
    location.calls.add(Ns{0}, Ns{1000}, {0});
    for (const auto& [begin, end] :
         {std::pair(100, 200), std::pair(400, 400), std::pair(500, 700), std::pair(700, 700)})
        location.off.push_back({Ns{begin}, Ns{end}, true});
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    Ns until{900};
    while (const auto preempted = replayer::last_preempted(location, Ns{0}, until, Ns{10})) {
        found.emplace_back(preempted->begin.count(), preempted->end.count());
        ASSERT_LT(preempted->begin, until);
        until = preempted->begin;
    }
    EXPECT_EQ(found, (std::vector<std::pair<std::int64_t, std::int64_t>>{{500, 700}, {100, 200}}));
}

}  // namespace
}  // namespace critpath::tests
