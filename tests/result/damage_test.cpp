// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A damaged database gives the same profile or a Failure; never a crash, never another profile.
#include "formats/result/result.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "tests/result/compare.hpp"
#include "tests/result/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace critpath
{
namespace
{

using testing::AnyOf;
using testing::HasSubstr;

class Damage : public testing::Test
{
protected:
    Damage() : profile_(samples::sorted(samples::sampled_run().profile))
    {
        result::write(directory_.path(), profile_);
        path_ = result::database_path(directory_.path());
        bytes_ = samples::read_bytes(path_);
    }

    /// Writes `bytes` and reads them back. Returns true if they were refused.
    bool is_refused(const std::vector<unsigned char>& bytes, const std::string& how)
    {
        samples::write_bytes(path_, bytes);
        try {
            EXPECT_TRUE(samples::equal(result::read(directory_.path()), profile_)) << how;
            return false;
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace) << how;
            EXPECT_THAT(failure.what(), AnyOf(HasSubstr("damaged"), HasSubstr("not a result"), HasSubstr("version")))
                << how;
            return true;
        }
    }

    samples::TemporaryDirectory directory_;
    model::Profile profile_;
    std::filesystem::path path_;
    std::vector<unsigned char> bytes_;
};

TEST_F(Damage, CutAnywhere)
{
    for (std::size_t size = 0; size < bytes_.size(); size += size < 4200 ? 37 : 509) {
        const std::vector<unsigned char> cut(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_TRUE(is_refused(cut, "cut at " + std::to_string(size)));
    }
}

TEST_F(Damage, OneBitFlippedAnywhere)
{
    std::size_t refused = 0;
    std::size_t tried = 0;
    for (std::size_t at = 0; at < bytes_.size(); at += at < 100 ? 1 : 13) {
        std::vector<unsigned char> flipped = bytes_;
        flipped[at] ^= static_cast<unsigned char>(1U << (at % 8));
        refused += is_refused(flipped, "flipped at " + std::to_string(at)) ? 1 : 0;
        ++tried;
    }
    // Unused space does not matter; the rest must have been noticed.
    EXPECT_GT(refused, tried / 20);
}

TEST_F(Damage, RandomBytes)
{
    const unsigned seed = 20240817;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 1500; ++round) {
        std::vector<unsigned char> changed = bytes_;
        const std::size_t length = 1 + random() % 64;
        const std::size_t at = random() % (changed.size() - length);
        for (std::size_t i = 0; i < length; ++i)
            changed[at + i] = static_cast<unsigned char>(random());
        is_refused(changed, "round " + std::to_string(round));
    }
}

TEST_F(Damage, PagesSwappedOrZeroed)
{
    constexpr std::size_t page = 4096;
    const std::size_t pages = bytes_.size() / page;
    ASSERT_GT(pages, 4U);
    for (std::size_t i = 0; i < pages; ++i) {
        std::vector<unsigned char> zeroed = bytes_;
        std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(i * page), page, static_cast<unsigned char>(0));
        EXPECT_TRUE(is_refused(zeroed, "zeroed page " + std::to_string(i)));
        for (std::size_t j = i + 1; j < pages; ++j) {
            std::vector<unsigned char> swapped = bytes_;
            const auto at = [&](std::size_t n) { return swapped.begin() + static_cast<std::ptrdiff_t>(n * page); };
            std::swap_ranges(at(i), at(i + 1), at(j));
            is_refused(swapped, "swapped pages");
        }
    }
}

TEST_F(Damage, NotADatabase)
{
    EXPECT_TRUE(is_refused({}, "empty"));
    EXPECT_TRUE(is_refused({'h', 'e', 'l', 'l', 'o'}, "text"));
    EXPECT_TRUE(is_refused(std::vector<unsigned char>(1 << 20, 0xff), "ones"));
}

}  // namespace
}  // namespace critpath
