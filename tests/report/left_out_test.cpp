// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/left_out.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

using report::left_out_note;
using testing::StartsWith;

TEST(LeftOut, IsSaidOfWhatProcessesWaitIn)
{
    model::Profile profile;
    EXPECT_EQ(left_out_note(profile), "");
    profile.properties["left_out"] = "local";
    EXPECT_EQ(left_out_note(profile), "");
    profile.properties["left_out"] = "collective";
    EXPECT_THAT(left_out_note(profile), StartsWith("MPI calls of collective were not recorded (--include, --exclude)"));
    profile.properties["left_out"] = "collective,rma,local";
    EXPECT_THAT(left_out_note(profile), StartsWith("MPI calls of collective, rma were not recorded"));
    report::Document document;
    report::add_left_out(document, profile);
    ASSERT_EQ(document.notes.size(), 1U);
    EXPECT_EQ(document.notes.front(), left_out_note(profile));
}

}  // namespace
}  // namespace critpath::tests
