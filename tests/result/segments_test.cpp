// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/checksum.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "tests/result/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

namespace critpath
{
namespace
{

using testing::AllOf;
using testing::HasSubstr;
using Bytes = std::vector<unsigned char>;

class SegmentsFile : public testing::Test
{
protected:
    SegmentsFile() : sample_(samples::sampled_run()) { samples::write_result(directory_.path(), sample_); }

    /// The message with which opening and checking the file fails after `change`; empty if it does not.
    std::string failure_after(const std::function<void(Bytes&)>& change)
    {
        samples::write_result(directory_.path(), sample_);
        const auto path = result::segments_path(directory_.path());
        Bytes bytes = samples::read_bytes(path);
        change(bytes);
        samples::write_bytes(path, bytes);
        try {
            result::Segments(directory_.path()).check(sample_.profile);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace);
            EXPECT_THAT(failure.what(), HasSubstr(path.string()));
            EXPECT_THAT(failure.what(), HasSubstr("cpreplay"));
            return failure.what();
        }
        return {};
    }

    /// As failure_after(), for one changed segment.
    std::string failure_with(std::size_t index, const std::function<void(model::Segment&)>& change)
    {
        return failure_after([&](Bytes& bytes) {
            unsigned char* at = bytes.data() + result::record_header_size + index * sizeof(model::Segment);
            model::Segment segment{};
            std::memcpy(&segment, at, sizeof segment);
            change(segment);
            std::memcpy(at, &segment, sizeof segment);
        });
    }

    samples::TemporaryDirectory directory_;
    samples::Sample sample_;
};

TEST_F(SegmentsFile, ReturnsWhatWasWritten)
{
    result::Segments segments(directory_.path());
    segments.check(sample_.profile);
    const result::Segments moved = std::move(segments);
    ASSERT_EQ(moved.records().size(), sample_.segments.size());
    EXPECT_EQ(
        std::memcmp(moved.records().data(), sample_.segments.data(), sample_.segments.size() * sizeof(model::Segment)),
        0);
    EXPECT_EQ(moved.header().makespan_ns, 10'000'000'000);
    EXPECT_EQ(moved.header().begin_ns, 1'000'000'007);
}

TEST_F(SegmentsFile, HeaderIsAsSpecified)
{
    const result::RecordHeader header = result::make_header(result::segments_format, 3, 5, 7);
    Bytes bytes(64);
    std::memcpy(bytes.data(), &header, sizeof header);
    Bytes expected(64, 0);
    std::memcpy(expected.data(), "CPSEGMT1", 8);
    expected[8] = 3;    // version
    expected[12] = 40;  // record size
    expected[16] = 3;   // records
    expected[24] = 5;   // begin
    expected[32] = 7;   // makespan
    EXPECT_EQ(bytes, expected);
}

TEST_F(SegmentsFile, AnEmptyPathIsFine)
{
    const samples::TemporaryDirectory directory;
    const samples::Sample sample = samples::empty_run();
    samples::write_result(directory.path(), sample);
    const result::Segments segments(directory.path());
    segments.check(sample.profile);
    EXPECT_EQ(segments.records().size(), 0U);
}

TEST_F(SegmentsFile, RefusesAHeaderThatDoesNotFit)
{
    EXPECT_EQ(failure_after([](Bytes&) {}), "");
    for (std::size_t size = 0; size < 64; size += 7)
        EXPECT_THAT(failure_after([&](Bytes& bytes) { bytes.resize(size); }), HasSubstr("cut short"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes.pop_back(); }), HasSubstr("cut short"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes.push_back(0); }), HasSubstr("longer"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes[0] = 'X'; }), HasSubstr("not a file of segments"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes[8] = 1; }), HasSubstr("version 1"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes[12] = 48; }), HasSubstr("another size"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes[23] = 0xff; }), HasSubstr("cut short"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes[24] ^= 1; }), HasSubstr("another result"));
    EXPECT_THAT(failure_after([](Bytes& bytes) { bytes[32] ^= 1; }), HasSubstr("another result"));
}

TEST_F(SegmentsFile, RefusesWhatIsNoPath)
{
    EXPECT_THAT(failure_with(3, [](model::Segment& s) { s.begin += 1; }), HasSubstr("one chain"));
    EXPECT_THAT(failure_with(0, [](model::Segment& s) { s.end = s.begin; }), HasSubstr("one chain"));
    EXPECT_THAT(failure_with(9, [](model::Segment& s) { s.end += 1; }), HasSubstr("cover the run"));
    EXPECT_THAT(failure_with(2, [](model::Segment& s) { s.kind = model::segment_kinds; }), HasSubstr("unknown kind"));
    EXPECT_THAT(failure_with(2, [](model::Segment& s) { s.location = 4; }), HasSubstr("unknown location"));
    EXPECT_THAT(failure_with(2, [](model::Segment& s) { s.other = 4; }), HasSubstr("unknown location"));
    EXPECT_THAT(failure_with(2, [](model::Segment& s) { s.call = 12; }), HasSubstr("unknown call"));
}

TEST_F(SegmentsFile, NoticesAChangedBitInEveryByte)
{
    sample_.profile.facts["segments_checksum"] = static_cast<std::int64_t>(result::checksum(sample_.segments, 0));
    const auto path = result::segments_path(directory_.path());
    const Bytes whole = samples::read_bytes(path);
    EXPECT_NO_THROW(result::Segments(directory_.path()).check(sample_.profile));
    for (std::size_t byte = 0; byte < whole.size(); ++byte) {
        Bytes changed = whole;
        changed[byte] ^= static_cast<unsigned char>(1U << byte % 8);
        samples::write_bytes(path, changed);
        ASSERT_THROW(result::Segments(directory_.path()).check(sample_.profile), Failure) << byte;
    }
}

TEST_F(SegmentsFile, NoticesWhatOnlyTheChecksumTells)
{
    sample_.profile.facts["segments_checksum"] = static_cast<std::int64_t>(result::checksum(sample_.segments, 0));
    EXPECT_THAT(failure_with(3, [](model::Segment& s) { s.bytes += 1; }), HasSubstr("checksum"));
    EXPECT_THAT(failure_with(3, [](model::Segment& s) { s.low_confidence ^= 1; }), HasSubstr("checksum"));
    EXPECT_THAT(failure_with(3, [](model::Segment& s) { s.flags = 1; }), HasSubstr("checksum"));
}

TEST_F(SegmentsFile, ChecksumIsTheSumOfItsParts)
{
    const std::span<const model::Segment> all = sample_.segments;
    const std::uint64_t whole = result::checksum(all, 0);
    for (std::size_t part = 0; part <= all.size(); ++part)
        EXPECT_EQ(result::checksum(all.first(part), 0) + result::checksum(all.subspan(part), part), whole);
    EXPECT_NE(result::checksum(all, 1), whole);
}

TEST_F(SegmentsFile, SaysWhatToRunIfThereIsNone)
{
    std::filesystem::remove(result::segments_path(directory_.path()));
    try {
        const result::Segments segments(directory_.path());
        FAIL() << "opened";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.code(), ExitCode::BadTrace);
        EXPECT_THAT(failure.what(), HasSubstr("segments.bin: is missing; run again: mpirun -n N cpreplay"));
    }
}

class AttributionFile : public testing::Test
{
protected:
    AttributionFile() : sample_(samples::sampled_run())
    {
        using model::AttributionKind;
        constexpr std::int64_t ms = 1'000'000;
        sample_.attributions = {{60 * ms, 1 * ms, 0x1139, 0, 1, 1, AttributionKind::Sample},
                                {61 * ms, 0, 0, model::CallPathId::none().value, 1, 1, AttributionKind::Sample},
                                {3051 * ms, 4 * ms, 0, 6, 1, 0, AttributionKind::Call},
                                {6700 * ms, 30 * ms, 0, 2, 2, 0, AttributionKind::Computation}};
        sample_.profile.facts["attribution_checksum"] =
            static_cast<std::int64_t>(result::checksum(sample_.attributions, 0));
    }

    /// The message with which opening and checking fails; empty if it does not.
    std::string failure()
    {
        try {
            result::Attributions(directory_.path()).check(sample_.profile);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace);
            EXPECT_THAT(failure.what(),
                        AllOf(HasSubstr("attribution.bin: "), HasSubstr("run again: mpirun -n N cpreplay")));
            return failure.what();
        }
        return {};
    }

    std::string failure_with(std::size_t index, const std::function<void(model::Attribution&)>& change)
    {
        samples::Sample changed = sample_;
        change(changed.attributions[index]);
        samples::write_result(directory_.path(), changed);
        return failure();
    }

    samples::TemporaryDirectory directory_;
    samples::Sample sample_;
};

TEST_F(AttributionFile, RefusesWhatCannotBe)
{
    using model::Attribution;
    EXPECT_EQ(failure_with(0, [](Attribution&) {}), "");
    EXPECT_THAT(failure_with(0, [](Attribution& a) { a.kind = static_cast<model::AttributionKind>(5); }),
                HasSubstr("unknown kind"));
    EXPECT_THAT(failure_with(3, [](Attribution& a) { a.location = 4; }), HasSubstr("unknown location"));
    EXPECT_THAT(failure_with(0, [](Attribution& a) { a.call_path = 12; }), HasSubstr("unknown call path"));
    EXPECT_THAT(failure_with(1, [](Attribution& a) { a.ns = 1; }), HasSubstr("unknown call path"));
    EXPECT_THAT(failure_with(2, [](Attribution& a) { a.call_path = 5; }), HasSubstr("below no call"));
    EXPECT_THAT(failure_with(0, [](Attribution& a) { a.begin = -1; }), HasSubstr("outside of the run"));
    EXPECT_THAT(failure_with(3, [](Attribution& a) { a.ns += 3'300'000'000; }), HasSubstr("outside of the run"));
    EXPECT_THAT(failure_with(0, [](Attribution& a) { a.begin += 2'000'000; }), HasSubstr("not sorted"));
    EXPECT_THAT(failure_with(0, [](Attribution& a) { a.ns += 1; }), HasSubstr("checksum"));
    samples::write_result(directory_.path(), sample_);
    std::filesystem::remove(result::attribution_path(directory_.path()));
    EXPECT_THAT(failure(), HasSubstr("is missing"));
}

TEST_F(AttributionFile, NoticesAChangedBitInEveryByte)
{
    samples::write_result(directory_.path(), sample_);
    const auto path = result::attribution_path(directory_.path());
    const Bytes whole = samples::read_bytes(path);
    for (std::size_t byte = 0; byte < whole.size(); ++byte) {
        Bytes changed = whole;
        changed[byte] ^= static_cast<unsigned char>(1U << byte % 8);
        samples::write_bytes(path, changed);
        ASSERT_NE(failure(), "") << byte;
    }
}

/// Two intervals and what another thread counted, of one rank, of one event.
class CountsFile : public testing::Test
{
protected:
    static constexpr std::int64_t ms = 1'000'000;

    CountsFile() : sample_(samples::sampled_run())
    {
        sample_.profile.events = {"instructions"};
        sample_.profile.path_events = {};
        const model::CountPlace function{0x1139, 0, model::CountOwner::Function};
        const model::CountPlace nowhere{0, model::CallPathId::none().value, model::CountOwner::None};
        intervals_ = {{60 * ms, 4 * ms, 50 * ms, 64 * ms, function, nowhere, 1, 0, 5 * ms},
                      {64 * ms, 6 * ms, 64 * ms, 72 * ms, nowhere, function, 1, model::CountInterval::scaled, 6 * ms},
                      {63 * ms, 3 * ms, 63 * ms, 63 * ms, function, nowhere, 1, model::CountInterval::moment, 9 * ms}};
        write(sample_);
        sample_.profile.facts["counts_checksum"] =
            static_cast<std::int64_t>(result::checksum(sample_.counts.records(), 0));
    }

    void write(samples::Sample& sample)
    {
        sample.counts = model::CountTable(1);
        for (const model::CountInterval& interval : intervals_)
            sample.counts.push_back(interval, std::array{std::int64_t{7}});
        samples::write_result(directory_.path(), sample);
    }

    /// The message with which opening and checking fails; empty if it does not.
    std::string failure()
    {
        try {
            result::Counts(directory_.path(), sample_.profile.events.size()).check(sample_.profile);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace);
            EXPECT_THAT(failure.what(), AllOf(HasSubstr("counts.bin: "), HasSubstr("run again: mpirun -n N cpreplay")));
            return failure.what();
        }
        return {};
    }

    std::string failure_with(std::size_t index, const std::function<void(model::CountInterval&)>& change)
    {
        const model::CountInterval before = intervals_[index];
        change(intervals_[index]);
        samples::Sample changed = sample_;
        write(changed);
        intervals_[index] = before;
        return failure();
    }

    samples::TemporaryDirectory directory_;
    samples::Sample sample_;
    std::vector<model::CountInterval> intervals_;
};

TEST_F(CountsFile, ReturnsWhatWasWritten)
{
    ASSERT_EQ(failure_with(0, [](model::CountInterval&) {}), "");
    const result::Counts counts(directory_.path(), 1);
    ASSERT_EQ(counts.records().size(), 3U);
    EXPECT_EQ(counts.header().record_size, 88U);
    EXPECT_EQ(counts.records().interval(2).begin, 63 * ms);
    EXPECT_EQ(counts.records().counts(1)[0], 7);
    EXPECT_THROW(result::Counts(directory_.path(), 2), Failure);  // another result has more events
}

TEST_F(CountsFile, RefusesWhatCannotBe)
{
    using model::CountInterval;
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.location = 4; }), HasSubstr("unknown location"));
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.flags = 8; }), HasSubstr("unknown flag"));
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.last.call_path = 12; }), HasSubstr("unknown call path"));
    EXPECT_THAT(failure_with(1, [](CountInterval& i) { i.last.call_path = 0; }), HasSubstr("unknown call path"));
    EXPECT_THAT(failure_with(1, [](CountInterval& i) { i.before.owner = static_cast<model::CountOwner>(4); }),
                HasSubstr("unknown call path"));
    EXPECT_THAT(failure_with(2, [](CountInterval& i) { i.last.owner = model::CountOwner::Waiting; }),
                HasSubstr("no function"));
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.ns = 0; }), HasSubstr("outside of the run"));
    EXPECT_THAT(failure_with(2, [](CountInterval& i) { i.begin = -1; }), HasSubstr("outside of the run"));
    EXPECT_THAT(failure_with(1, [](CountInterval& i) { i.begin = 10'000 * ms; }), HasSubstr("outside of the run"));
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.whole_ns = i.ns - 1; }),
                HasSubstr("more than their sample's"));
    EXPECT_THAT(failure_with(2, [](CountInterval& i) { i.whole_ns = INT64_MAX; }),
                HasSubstr("more than their sample's"));
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.ns += 1; }), HasSubstr("not sorted"));
    EXPECT_THAT(failure_with(2, [](CountInterval& i) { i.location = 0; }), HasSubstr("not sorted"));
    EXPECT_THAT(failure_with(0, [](CountInterval& i) { i.ns -= 1; }), HasSubstr("checksum"));
    std::filesystem::remove(result::counts_path(directory_.path()));
    EXPECT_THAT(failure(), HasSubstr("is missing"));
}

TEST_F(CountsFile, NoticesAChangedBitInEveryByte)
{
    ASSERT_EQ(failure(), "");
    const auto path = result::counts_path(directory_.path());
    const Bytes whole = samples::read_bytes(path);
    for (std::size_t byte = 0; byte < whole.size(); ++byte) {
        Bytes changed = whole;
        changed[byte] ^= static_cast<unsigned char>(1U << byte % 8);
        samples::write_bytes(path, changed);
        ASSERT_NE(failure(), "") << byte;
    }
}

/// A file of phased_run(), whose records are `records` of the sample.
template <class File, class Record, std::vector<Record> samples::Sample::*records>
class FileOfTotals : public testing::Test
{
protected:
    explicit FileOfTotals(std::filesystem::path (*path)(const std::filesystem::path&))
        : sample_(samples::phased_run()), path_(path(directory_.path()))
    {
        samples::write_result(directory_.path(), sample_);
    }

    std::string failure()
    {
        try {
            File(directory_.path()).check(sample_.profile);
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), ExitCode::BadTrace);
            EXPECT_THAT(failure.what(), AllOf(HasSubstr(path_.filename().string() + ": "),
                                              HasSubstr("run again: mpirun -n N cpreplay")));
            return failure.what();
        }
        return {};
    }

    std::string failure_with(std::size_t index, const std::function<void(Record&)>& change)
    {
        samples::Sample changed = sample_;
        change((changed.*records)[index]);
        samples::write_result(directory_.path(), changed);
        return failure();
    }

    std::string failure_without()
    {
        std::filesystem::remove(path_);
        return failure();
    }

    /// In each of the first bytes, and in one of some behind them.
    void expect_that_bits_count()
    {
        constexpr std::size_t all = 2000, some = 97;
        Bytes bytes = samples::read_bytes(path_);
        for (std::size_t byte = 0; byte < bytes.size(); byte += byte < all ? 1 : some) {
            bytes[byte] ^= static_cast<unsigned char>(1U << byte % 8);
            samples::write_bytes(path_, bytes);
            ASSERT_NE(failure(), "") << byte;
            bytes[byte] ^= static_cast<unsigned char>(1U << byte % 8);
        }
    }

    samples::TemporaryDirectory directory_;
    samples::Sample sample_;
    std::filesystem::path path_;
};

class TotalsFile : public FileOfTotals<result::TotalParts, model::TotalPart, &samples::Sample::totals>
{
protected:
    TotalsFile() : FileOfTotals(result::totals_path) {}
};

class ComputedFile : public FileOfTotals<result::Computed, model::ComputedParts, &samples::Sample::computed>
{
protected:
    ComputedFile() : FileOfTotals(result::computed_path) {}
};

TEST_F(TotalsFile, ReturnsWhatWasWritten)
{
    ASSERT_EQ(failure(), "");
    const result::TotalParts totals(directory_.path());
    ASSERT_EQ(totals.records().size(), 1950U);
    EXPECT_EQ(totals.records()[800].slot, 400U);
    EXPECT_EQ(totals.records()[800].call_path, 2U);
    EXPECT_EQ(totals.records()[800].ns, 10'000'000);
}

TEST_F(TotalsFile, RefusesWhatCannotBe)
{
    using model::TotalPart;
    EXPECT_THAT(failure_with(1949, [](TotalPart& p) { p.slot = 1000; }), HasSubstr("unknown part of the run"));
    EXPECT_THAT(failure_with(0, [](TotalPart& p) { p.call_path = 9; }), HasSubstr("unknown call path"));
    EXPECT_THAT(failure_with(2, [](TotalPart& p) { p.slot = 0; }), HasSubstr("not sorted"));
    EXPECT_THAT(failure_with(1, [](TotalPart& p) { p.call_path = 1; }), HasSubstr("not sorted"));
    EXPECT_THAT(failure_with(0, [](TotalPart& p) { p.ns += 1; }), HasSubstr("checksum"));
    EXPECT_THAT(failure_without(), HasSubstr("is missing"));
}

TEST_F(TotalsFile, NoticesChangedBits)
{
    expect_that_bits_count();
}

TEST_F(ComputedFile, ReturnsWhatWasWritten)
{
    ASSERT_EQ(failure(), "");
    const result::Computed computed(directory_.path());
    ASSERT_EQ(computed.records().size(), 2U);
    EXPECT_EQ(computed.records()[1].location, 1U);
    EXPECT_EQ(computed.records()[1].ns[89], 100'000'000);
    EXPECT_EQ(computed.records()[1].ns[90], 0);
}

TEST_F(ComputedFile, RefusesWhatCannotBe)
{
    using model::ComputedParts;
    EXPECT_THAT(failure_with(1, [](ComputedParts& p) { p.location = 2; }), HasSubstr("unknown location"));
    EXPECT_THAT(failure_with(0, [](ComputedParts& p) { p.location = 1; }), HasSubstr("not sorted"));
    EXPECT_THAT(failure_with(0, [](ComputedParts& p) { p.ns[7] += 1; }), HasSubstr("checksum"));
    EXPECT_THAT(failure_without(), HasSubstr("is missing"));
}

TEST_F(ComputedFile, NoticesChangedBits)
{
    expect_that_bits_count();
}

}  // namespace
}  // namespace critpath
