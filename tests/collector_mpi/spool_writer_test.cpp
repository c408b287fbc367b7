// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_writer.hpp"
#include "formats/spool/packed.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace critpath::preload
{
namespace
{

constexpr std::size_t window = 4096;
constexpr std::uint64_t records_per_window = window / sizeof(spool::Record);

class SpoolWriterTest : public testing::Test
{
protected:
    SpoolWriterTest()
    {
        std::string name = testing::TempDir() + "spool_XXXXXX";
        directory_ = mkdtemp(name.data());
        path_ = directory_ + "/0.0.calls";
        header_.magic = spool::magic;
    }
    ~SpoolWriterTest() override { std::filesystem::remove_all(directory_); }
    SpoolWriterTest(const SpoolWriterTest&) = delete;
    SpoolWriterTest& operator=(const SpoolWriterTest&) = delete;

    static spool::Record record(std::uint64_t number)
    {
        spool::Record record{};
        record.kind = spool::RecordKind::Call;
        record.enter = number;
        record.bytes = ~number;
        return record;
    }

    void append(std::uint64_t count)
    {
        for (std::uint64_t i = 0; i < count; ++i) {
            writer_.append(record(i));
        }
    }

    // Reads the file back: header, and the records up to the first empty one, which must be 0, 1, 2 ...
    spool::SpoolHeader read(std::uint64_t& records)
    {
        records = 0;
        return read_from(records);
    }

    // The same, but the first record is that of number `records`.
    spool::SpoolHeader read_from(std::uint64_t& records)
    {
        std::ifstream file(path_, std::ios::binary);
        std::vector<char> page(spool::header_size);
        file.read(page.data(), static_cast<std::streamsize>(page.size()));
        spool::SpoolHeader header;
        std::memcpy(&header, page.data(), sizeof header);
        spool::Record next;
        while (file.read(reinterpret_cast<char*>(&next), sizeof next) && next.kind == spool::RecordKind::Call) {
            EXPECT_EQ(next.enter, records);
            EXPECT_EQ(next.bytes, ~records);
            ++records;
        }
        return header;
    }

    // The .packed file holds records 0, 1, 2 ... of this number.
    void expect_packed(std::uint64_t count) const
    {
        std::ifstream file(directory_ + "/0.0.packed", std::ios::binary);
        spool::SpoolHeader header;
        file.read(reinterpret_cast<char*>(&header), sizeof header);
        EXPECT_EQ(header.magic, spool::magic);
        file.seekg(spool::header_size);
        std::uint64_t records = 0;
        spool::FrameHeader frame;
        while (file.read(reinterpret_cast<char*>(&frame), sizeof frame)) {
            ASSERT_EQ(frame.magic, spool::frame_magic);
            ASSERT_EQ(frame.first, records);
            std::vector<unsigned char> bytes(frame.bytes);
            file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
            const unsigned char* in = bytes.data();
            spool::Expectation expected;
            for (std::uint32_t i = 0; i < frame.records; ++i, ++records) {
                spool::Record next;
                in = spool::unpack_record(expected, in, bytes.data() + bytes.size(), &next);
                ASSERT_NE(in, nullptr);
                ASSERT_EQ(next.enter, records);
                ASSERT_EQ(next.bytes, ~records);
            }
            EXPECT_EQ(in, bytes.data() + bytes.size());
        }
        EXPECT_EQ(records, count);
    }

    std::string directory_, path_;
    spool::SpoolHeader header_ = {};
    SpoolWriter writer_;
};

TEST_F(SpoolWriterTest, RecordsAreReadableWithoutAClose)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), 0);
    append(3 * records_per_window + 5);
    std::uint64_t records = 0;
    const spool::SpoolHeader header = read(records);
    EXPECT_EQ(header.magic, spool::magic);
    EXPECT_EQ(header.closed, 0U);
    EXPECT_EQ(records, 3 * records_per_window + 5);
    writer_.close(1, true);
}

TEST_F(SpoolWriterTest, CloseCompletesTheHeaderAndCutsTheFile)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), 0);
    append(10);
    writer_.close(77, true);
    std::uint64_t records = 0;
    const spool::SpoolHeader header = read(records);
    EXPECT_EQ(header.records, 10U);
    EXPECT_EQ(header.lost, 0U);
    EXPECT_EQ(header.thread_end, 77U);
    EXPECT_EQ(header.closed, 1U);
    EXPECT_EQ(std::filesystem::file_size(path_), spool::header_size + 10 * sizeof(spool::Record));
}

TEST_F(SpoolWriterTest, AtTheBoundRecordsArePacked)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {spool::header_size + 2 * window, window}), 0);
    append(5 * records_per_window + 9);
    EXPECT_LE(std::filesystem::file_size(path_), spool::header_size + 2 * window);
    expect_packed(4 * records_per_window);
    writer_.close(1, true);
    std::uint64_t records = 4 * records_per_window;
    const spool::SpoolHeader header = read_from(records);
    EXPECT_EQ(header.first_record, 4 * records_per_window);
    EXPECT_EQ(records, 5 * records_per_window + 9);
    EXPECT_EQ(header.records, 5 * records_per_window + 9);
    EXPECT_EQ(header.lost, 0U);
}

TEST_F(SpoolWriterTest, PackingIsAPause)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {spool::header_size + window, window}), 0);
    append(records_per_window + 1);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    EXPECT_TRUE(writer_.take_pause(begin, end));
    EXPECT_LT(begin, end);
    writer_.close(1, true);
}

TEST_F(SpoolWriterTest, WhereNothingCanBePackedTheRecordsStayAndTheRestIsLost)
{
    std::filesystem::create_directory(directory_ + "/0.0.packed");
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {spool::header_size + 2 * window, window}), 0);
    append(2 * records_per_window + 9);
    writer_.close(1, true);
    std::uint64_t records = 0;
    const spool::SpoolHeader header = read(records);
    EXPECT_EQ(records, 2 * records_per_window);
    EXPECT_EQ(header.records, 2 * records_per_window);
    EXPECT_EQ(header.lost, 9U);
}

TEST_F(SpoolWriterTest, AWindowLargerThanTheBoundIsMadeSmaller)
{
    std::filesystem::create_directory(directory_ + "/0.0.packed");
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {spool::header_size + 3 * window + 100, 1 << 20}), 0);
    append(3 * records_per_window + 1);
    writer_.close(1, true);
    std::uint64_t records = 0;
    EXPECT_EQ(read(records).lost, 1U);
    EXPECT_EQ(records, 3 * records_per_window);
}

// The call that a thread is in stands where its record will be; what ends it overwrites that.
TEST_F(SpoolWriterTest, NotesTheCallThatIsOpen)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), 0);
    append(3);
    writer_.enter_call(17, 99);
    std::ifstream file(path_, std::ios::binary);
    spool::Record open{};
    file.seekg(static_cast<std::streamoff>(spool::header_size + 3 * sizeof open));
    file.read(reinterpret_cast<char*>(&open), sizeof open);
    EXPECT_EQ(open.kind, spool::RecordKind::Empty);
    EXPECT_EQ(open.function, 17);
    EXPECT_EQ(open.enter, 99U);
    writer_.append(record(3));
    writer_.close(1, true);
    std::uint64_t records = 0;
    read(records);
    EXPECT_EQ(records, 4U);
}

// A limit on the size of files must cost records, not the application's life (SIGXFSZ, SIGBUS).
TEST_F(SpoolWriterTest, AFileSizeLimitRaisesNoSignal)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit = {spool::header_size + window, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        if (writer_.open(path_.c_str(), header_, {1 << 20, window}) != 0) {
            _exit(2);
        }
        append(2 * records_per_window);
        writer_.close(1, true);
        _exit(writer_.lost() == records_per_window ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SpoolWriterTest, LeavesLowDescriptorNumbersToTheApplication)
{
    const int before = dup(0);
    close(before);
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), 0);
    const int after = dup(0);
    close(after);
    EXPECT_EQ(after, before);
    writer_.close(1, true);
}

// Some applications close every descriptor and open their own in their place.
TEST_F(SpoolWriterTest, NeverWritesToADescriptorThatIsNoLongerItsOwn)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), 0);
    const std::string victim = directory_ + "/victim";
    for (int fd = 3; fd < 4096; ++fd) {
        std::error_code error;
        if (std::filesystem::equivalent("/proc/self/fd/" + std::to_string(fd), path_, error)) {
            const int other = open(victim.c_str(), O_RDWR | O_CREAT, 0600);
            dup2(other, fd);
            close(other);
        }
    }
    append(records_per_window + 3);
    writer_.close(1, true);
    EXPECT_EQ(std::filesystem::file_size(victim), 0U);
    std::uint64_t records = 0;
    EXPECT_EQ(read(records).lost, 3U);
    EXPECT_EQ(records, records_per_window);
}

TEST_F(SpoolWriterTest, DoesNotOverwriteAFile)
{
    std::ofstream(path_) << "precious";
    EXPECT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), EEXIST);
    EXPECT_FALSE(writer_.is_open());
    writer_.append(record(0));
    EXPECT_EQ(writer_.lost(), 1U);
}

TEST_F(SpoolWriterTest, TellsWhenItsWindowHasMoved)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, {1 << 20, window}), 0);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    append(records_per_window);
    EXPECT_FALSE(writer_.take_pause(begin, end));
    append(1);
    EXPECT_TRUE(writer_.take_pause(begin, end));
    EXPECT_LT(begin, end);
    EXPECT_FALSE(writer_.take_pause(begin, end));
    writer_.close(1, true);
}

}  // namespace
}  // namespace critpath::preload
