// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::test
{
namespace
{

using model::NodeId;
using ::testing::HasSubstr;

model::Definitions with_domains(std::initializer_list<std::uint32_t> domains)
{
    model::Definitions definitions;
    for (const auto domain : domains) {
        definitions.processes.push_back({"rank", "host", NodeId{domain}, {}});
    }
    return definitions;
}

TEST(Clocks, OneDomainNeedsNoWords)
{
    EXPECT_EQ(replayer::clocks::check(with_domains({0, 0, 0}), true), "");
    EXPECT_EQ(replayer::clocks::check(with_domains({0}), false), "");
}

TEST(Clocks, SeveralDomainsAreTakenAsTheyAre)
{
    EXPECT_THAT(replayer::clocks::check(with_domains({0, 1, 0, 2}), true), HasSubstr("3 hosts"));
    EXPECT_THAT(replayer::clocks::check(with_domains({0, 1}), false), HasSubstr("synchronised"));
}

}  // namespace
}  // namespace critpath::test
