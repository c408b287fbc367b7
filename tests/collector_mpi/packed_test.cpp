// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spool/packed.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace critpath::spool
{
namespace
{

std::vector<unsigned char> pack(const std::vector<Record>& records)
{
    std::vector<unsigned char> bytes(records.size() * largest_packed);
    Expectation expected;
    unsigned char* out = bytes.data();
    for (const Record& record : records) {
        out = pack_record(expected, &record, out);
    }
    bytes.resize(static_cast<std::size_t>(out - bytes.data()));
    return bytes;
}

std::vector<Record> unpack(const std::vector<unsigned char>& bytes)
{
    std::vector<Record> records;
    Expectation expected;
    const unsigned char* in = bytes.data();
    const unsigned char* const end = in + bytes.size();
    while (in != nullptr && in != end) {
        Record record;
        in = unpack_record(expected, in, end, &record);
        if (in != nullptr) {
            records.push_back(record);
        }
    }
    return records;
}

bool equal(const std::vector<Record>& a, const std::vector<Record>& b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Record)) == 0);
}

Record call(std::uint16_t function, std::uint64_t enter, std::uint64_t leave, std::uint64_t request)
{
    Record record{};
    record.kind = RecordKind::Call;
    record.function = function;
    record.enter = enter;
    record.leave = leave;
    record.peer = 3;
    record.tag = 7;
    record.bytes = 65536;
    record.request = request;
    record.callpath = 12;
    return record;
}

TEST(Packed, AnyBytesComeBack)
{
    std::mt19937_64 random(1);
    std::vector<Record> records(2000);
    for (Record& record : records) {
        std::uint64_t words[8];
        for (std::uint64_t& word : words) {
            word = random() >> (random() % 64);
        }
        std::memcpy(static_cast<void*>(&record), words, sizeof record);
    }
    EXPECT_TRUE(equal(unpack(pack(records)), records));
}

// What an application does over and over takes a sixth of its 64 bytes.
TEST(Packed, ARepeatedExchangeIsSmall)
{
    std::mt19937_64 random(2);
    std::vector<Record> records;
    std::uint64_t time = 1'000'000'000'000;
    for (std::uint64_t i = 0; i < 10000; ++i) {
        for (const std::uint16_t function : {std::uint16_t{10}, std::uint16_t{20}, std::uint16_t{30}}) {
            const std::uint64_t enter = time + 200 + random() % 1000;
            time = enter + 500 + random() % 3000;
            records.push_back(call(function, enter, time, function == 30 ? 0 : i));
        }
    }
    const auto bytes = pack(records);
    EXPECT_LE(bytes.size(), records.size() * 64 / 6);
    EXPECT_TRUE(equal(unpack(bytes), records));
}

TEST(Packed, WhatIsCutGivesTheRecordsBeforeTheCut)
{
    std::vector<Record> records;
    for (std::uint64_t i = 0; i < 20; ++i) {
        records.push_back(call(static_cast<std::uint16_t>(i % 3), 1000 * i, 1000 * i + 500, i));
    }
    const auto bytes = pack(records);
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        const auto found = unpack({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
        ASSERT_LE(found.size(), records.size());
        EXPECT_TRUE(equal(found, {records.begin(), records.begin() + static_cast<std::ptrdiff_t>(found.size())}));
    }
}

TEST(Packed, NoBytesMakeItReadBeyondTheEnd)
{
    std::mt19937_64 random(3);
    for (int i = 0; i < 2000; ++i) {
        std::vector<unsigned char> bytes(random() % 200);
        for (unsigned char& byte : bytes) {
            byte = static_cast<unsigned char>(random());
        }
        bytes.shrink_to_fit();
        EXPECT_LE(unpack(bytes).size(), bytes.size() / 2);
    }
}

}  // namespace
}  // namespace critpath::spool
