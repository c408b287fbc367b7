// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/last_words.hpp"
#include "tests/bad_input/judge.hpp"
#include "tests/bad_input/random_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace critpath::bad_input
{
namespace
{

/// How a file ends.
constexpr std::string_view marks = "\x02\x01";

/// Every position of every file of an archive has a number.
class Positions
{
public:
    explicit Positions(Archive archive) : archive_(std::move(archive))
    {
        for (const File& file : archive_) {
            count_ += file.bytes.size();
        }
    }

    [[nodiscard]] std::uint64_t count() const { return count_; }

    /// `change` gets the bytes of the file and the position.
    template <class Change>
    [[nodiscard]] Case at(std::uint64_t number, Change change) const
    {
        Case result{archive_, {}};
        for (File& file : result.archive) {
            if (number < file.bytes.size()) {
                change(file.bytes, number);
                result.words = fmt::format("{} at {}", file.name.string(), number);
                break;
            }
            number -= file.bytes.size();
        }
        return result;
    }

private:
    Archive archive_;
    std::uint64_t count_ = 0;
};

/// Sanitizers make a case several times dearer.
#ifdef CRITPATH_SANITIZED
constexpr std::uint64_t step = 23, random_cases = 50;
#else
constexpr std::uint64_t step = 1, random_cases = 400;
#endif

/// How many of so many bytes are changed.
std::uint64_t changed_of(std::uint64_t bytes)
{
    return (bytes + step - 1) / step;
}

/// Every byte, or each of so many.
template <class Change>
Report change_every_byte(const Archive& archive, std::uint64_t bytes, Change change)
{
    const Positions positions(archive);
    return judge_all(0, changed_of(bytes), Depth::Load, 0,
                     [&](auto number) { return positions.at(number * step, change); });
}

void cut(std::string& bytes, std::size_t at)
{
    bytes.resize(at);
}

class EveryByte : public testing::TestWithParam<Archive (*)()>
{
};

TEST_P(EveryByte, CutThereIsRefused)
{
    const Archive archive = GetParam()();
    const std::uint64_t count = Positions(archive).count();
    const Report report = change_every_byte(archive, count, cut);
    constexpr std::uint64_t idle = 2;  // the last bytes of the anchor file, which say nothing
    EXPECT_LE(report.of(Verdict::Accepted), idle);
    EXPECT_EQ(report.of(Verdict::Refused) + report.of(Verdict::Accepted), changed_of(count))
        << fmt::format("{}", report.wrong);
}

TEST_P(EveryByte, InvertedThereHasAVerdict)
{
    const Archive archive = GetParam()();
    const Report report =
        change_every_byte(archive, Positions(archive).count(),
                          [](std::string& bytes, std::size_t at) { bytes[at] = static_cast<char>(~bytes[at]); });
    EXPECT_EQ(report.of(Verdict::Wrong), 0) << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_GT(report.of(Verdict::Refused), 0);
}

/// libotf2 does not notice that a file has ended, and goes on with what is left of another file in its memory.
TEST(EveryByteOfTheEvents, CutThereAndEndedProperlyIsRefused)
{
    Archive events = twins();
    std::erase_if(events, [](const File& file) { return file.name.extension() != ".evt"; });
    const std::uint64_t count = Positions(events).count();  // the event files are the first
    const Report report = change_every_byte(twins(), count, [](std::string& bytes, std::size_t at) {
        bytes.resize(at);
        if (at >= marks.size()) {
            bytes.replace(at - marks.size(), marks.size(), marks);
        }
    });
    EXPECT_EQ(report.of(Verdict::Refused), changed_of(count)) << fmt::format("{}", report.wrong);
}

class Chunks : public testing::Test
{
protected:
    /// The archive with another content of its second event file is refused.
    void expect_refused(const std::string& what, const std::string& bytes)
    {
        Archive changed = archive_;
        changed[second_].bytes = bytes;
        const Report report = judge_all(0, 1, Depth::Load, 0, [&](auto) { return Case{changed, what}; });
        EXPECT_EQ(report.of(Verdict::Refused), 1) << what << fmt::format("{}", report.wrong);
    }

    static constexpr std::size_t chunk = 1 << 18;
    static constexpr std::size_t second_ = 1;
    Archive archive_ = long_ring();
    const std::string whole_ = archive_[second_].bytes;
};

TEST_F(Chunks, AreAllThereAndInOrder)
{
    ASSERT_EQ(archive_[second_].name.extension(), ".evt");
    ASSERT_GT(whole_.size(), chunk + 1000);
    ASSERT_TRUE(whole_.ends_with(marks));
    const std::string first = whole_.substr(0, chunk);
    const std::string last = whole_.substr(chunk);
    expect_refused("cut between chunks", first);
    expect_refused("cut between chunks, and ended", first.substr(0, chunk - 2) + std::string(marks));
    expect_refused("the first chunk is missing", last);
    expect_refused("the first chunk twice", first + first + last);
    expect_refused("the last chunk twice", first + last + last);
    expect_refused("chunks the other way round", last + first);
    std::string another = whole_;
    another[another.size() - 2] = '\0';  // "the chunk ends": libotf2 would go back to the first one
    expect_refused("no end of the file", another);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryByte, testing::Values(twins, variety));

/// Behind what is always refused, damage would show nothing.
TEST(Undamaged, IsAccepted)
{
    for (const auto make : {twins, variety, long_ring}) {
        const Report report = judge_all(0, 1, Depth::Replay, 0, [&](auto) { return Case{make(), "undamaged"}; });
        EXPECT_EQ(report.of(Verdict::Accepted), 1) << fmt::format("{}", report.messages);
    }
}

/// Multiples of their difference would leave 64 bits.
TEST(Clocks, ThatAreYearsApartAreRefused)
{
    const Report report = judge_all(0, 1, Depth::Replay, 0, [](auto) { return Case{years_apart(), "years apart"}; });
    EXPECT_EQ(report.of(Verdict::Refused), 1) << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_THAT(fmt::format("{}", report.messages), testing::HasSubstr("years apart"));
}

TEST(Clocks, OfWhichNothingIsKnownAreAccepted)
{
    const Report report = judge_all(0, 1, Depth::Replay, 0, [](auto) { return Case{unsure_clocks(), "unsure"}; });
    EXPECT_EQ(report.of(Verdict::Accepted), 1) << fmt::format("{} {}", report.messages, fmt::join(report.wrong, "\n"));
}

/// Each case has a few seconds.
TEST(Clocks, OfYearsAreNotComparedForEachOfTheirMinutes)
{
    const Report report = judge_all(0, 1, Depth::Replay, 0, [](auto) { return Case{two_years(), "two years"}; });
    EXPECT_EQ(report.of(Verdict::Accepted), 1) << fmt::format("{} {}", report.messages, fmt::join(report.wrong, "\n"));
}

/// Likewise.
TEST(ManyRecords, ThatContradictEachOtherTakeNoLongerThanOthers)
{
    const Report report = judge_all(0, 1, Depth::Load, 0, [](auto) { return Case{never_left(), "never left"}; });
    EXPECT_EQ(report.of(Verdict::Accepted), 1) << fmt::format("{}", fmt::join(report.wrong, "\n"));
}

TEST(RandomDamage, HasAVerdict)
{
    const RandomCases cases;
    const Report report = judge_all(1, random_cases, Depth::Load, 0, [&](auto number) { return cases.make(number); });
    EXPECT_EQ(report.of(Verdict::Wrong), 0) << fmt::format("{}", fmt::join(report.wrong, "\n"));
    EXPECT_GT(report.of(Verdict::Refused), 0);
    EXPECT_GT(report.of(Verdict::Accepted), 0);
}

/// The judge itself must see what is wrong.
TEST(Judge, SeesCrashesAndWrongMessages)
{
    const pid_t parent = ::getpid();
    const Report report = judge_all(0, 5, Depth::Load, 0, [&](auto number) -> Case {
        const bool is_judged = ::getpid() != parent;
        if (number == 1 && is_judged) {
            std::abort();
        } else if (number == 3 && is_judged) {
            const LastWords words(ExitCode::BadTrace, "file: reading it crashed; copy it again");
            std::abort();
        }
        return {twins(), "nothing"};
    });
    EXPECT_EQ(report.of(Verdict::Accepted), 3);
    EXPECT_EQ(report.of(Verdict::Wrong), 1);
    EXPECT_EQ(report.of(Verdict::Contained), 1);
}

}  // namespace
}  // namespace critpath::bad_input
