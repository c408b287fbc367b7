// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_writer.hpp"
#include "formats/spool/packed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace critpath::preload
{
namespace
{

constexpr std::size_t stage_size = 4096;
constexpr std::uint64_t records_on_stage = stage_size / sizeof(spool::Record);

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
            writer_.append(record(next_++));
        }
    }

    // Reads the file back: `packed` records in frames, `staged` up to the first empty one, which must be 0, 1, 2 ...
    spool::SpoolHeader read(std::uint64_t& packed, std::uint64_t& staged)
    {
        packed = staged = 0;
        std::ifstream file(path_, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        spool::SpoolHeader header;
        std::memcpy(&header, bytes.data(), sizeof header);
        const std::size_t stage_end = std::min<std::size_t>(spool::header_size + header.stage_bytes, bytes.size());
        read_frames(bytes, stage_end, packed);
        for (std::size_t at = spool::header_size; at < stage_end; at += sizeof(spool::Record)) {
            spool::Record next;
            std::memcpy(static_cast<void*>(&next), bytes.data() + at, sizeof next);
            if (next.kind != spool::RecordKind::Call) {
                break;
            }
            EXPECT_EQ(next.enter, header.first_record + staged);
            EXPECT_EQ(next.bytes, ~next.enter);
            ++staged;
        }
        return header;
    }

    static void read_frames(const std::string& bytes, std::size_t at, std::uint64_t& records)
    {
        while (at < bytes.size()) {
            spool::FrameHeader frame;
            ASSERT_LE(at + sizeof frame, bytes.size());
            std::memcpy(&frame, bytes.data() + at, sizeof frame);
            at += sizeof frame;
            ASSERT_EQ(frame.magic, spool::frame_magic);
            ASSERT_EQ(frame.first, records);
            ASSERT_LE(at + frame.bytes, bytes.size());
            const auto* in = reinterpret_cast<const unsigned char*>(bytes.data()) + at;
            const auto* const end = in + frame.bytes;
            spool::Expectation expected;
            for (std::uint32_t i = 0; i < frame.records; ++i, ++records) {
                spool::Record next;
                in = spool::unpack_record(expected, in, end, &next);
                ASSERT_NE(in, nullptr);
                ASSERT_EQ(next.enter, records);
                ASSERT_EQ(next.bytes, ~records);
            }
            EXPECT_EQ(in, end);
            at += frame.bytes;
        }
    }

    // Behind what stands already the disk has no room.
    void forbid_growth() const
    {
        struct stat status;
        ASSERT_EQ(stat(path_.c_str(), &status), 0);
        const rlimit limit = {static_cast<rlim_t>(status.st_size), RLIM_INFINITY};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    }

    std::string directory_, path_;
    std::uint64_t next_ = 0;
    spool::SpoolHeader header_ = {};
    SpoolWriter writer_;
};

TEST_F(SpoolWriterTest, RecordsAreReadableWithoutAClose)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    append(3 * records_on_stage + 5);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    const spool::SpoolHeader header = read(packed, staged);
    EXPECT_EQ(header.magic, spool::magic);
    EXPECT_EQ(header.closed, 0U);
    EXPECT_EQ(header.first_record, 3 * records_on_stage);
    EXPECT_EQ(packed, 3 * records_on_stage);
    EXPECT_EQ(staged, 5U);
    writer_.close(1, true);
}

TEST_F(SpoolWriterTest, CloseCompletesTheHeaderAndCutsALargeFile)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, 2 * SpoolWriter::small_stage), 0);
    append(10);
    writer_.close(77, true);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    const spool::SpoolHeader header = read(packed, staged);
    EXPECT_EQ(header.records, 10U);
    EXPECT_EQ(header.lost, 0U);
    EXPECT_EQ(header.thread_end, 77U);
    EXPECT_EQ(header.closed, 1U);
    EXPECT_EQ(staged, 10U);
    EXPECT_EQ(std::filesystem::file_size(path_), spool::header_size + 10 * sizeof(spool::Record));
}

TEST_F(SpoolWriterTest, ASmallFileIsLeftAsItIs)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    append(10);
    writer_.close(77, true);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    EXPECT_EQ(read(packed, staged).records, 10U);
    EXPECT_EQ(staged, 10U);
    EXPECT_EQ(std::filesystem::file_size(path_), spool::header_size + stage_size);
}

TEST_F(SpoolWriterTest, TheHeaderNamesTheThread)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    writer_.name_thread(3, 4711, 99);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    const spool::SpoolHeader header = read(packed, staged);
    EXPECT_EQ(header.thread, 3);
    EXPECT_EQ(header.tid, 4711);
    EXPECT_EQ(header.thread_start, 99U);
    writer_.close(1, true);
}

TEST_F(SpoolWriterTest, SaysThatTheFileIsGone)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    append(records_on_stage);
    EXPECT_EQ(writer_.why_lost(), 0);
    struct stat file;
    ASSERT_EQ(stat(path_.c_str(), &file), 0);
    std::filesystem::remove(path_);
    for (int fd = 3; fd < 4096; ++fd) {
        struct stat status;
        if (fstat(fd, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino) {
            close(fd);
        }
    }
    append(3 * records_on_stage);
    EXPECT_GT(writer_.lost(), 0U);
    EXPECT_EQ(writer_.why_lost(), ENOENT);
    writer_.close(1, true);
}

TEST_F(SpoolWriterTest, CloseKeepsWhatWasPacked)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    append(5 * records_on_stage + 9);
    writer_.close(1, true);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    const spool::SpoolHeader header = read(packed, staged);
    EXPECT_EQ(packed, 5 * records_on_stage);
    EXPECT_EQ(staged, 9U);
    EXPECT_EQ(header.records, 5 * records_on_stage + 9);
    EXPECT_EQ(header.lost, 0U);
}

TEST_F(SpoolWriterTest, DrainingIsAPause)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    append(records_on_stage - 1);
    EXPECT_FALSE(writer_.take_pause(begin, end));
    append(1);
    EXPECT_TRUE(writer_.take_pause(begin, end));
    EXPECT_LT(begin, end);
    EXPECT_FALSE(writer_.take_pause(begin, end));
    writer_.close(1, true);
}

TEST_F(SpoolWriterTest, WhereNothingCanBePackedTheRecordsStayAndTheRestIsLost)
{
    const pid_t child = fork();
    if (child == 0) {
        if (writer_.open(path_.c_str(), header_, stage_size) != 0) {
            _exit(2);
        }
        append(records_on_stage + 3);
        forbid_growth();
        append(2 * records_on_stage);
        const bool is_told = writer_.why_lost() == EFBIG;
        writer_.close(1, true);
        _exit(is_told ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));  // no SIGXFSZ
    ASSERT_EQ(WEXITSTATUS(status), 0);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    const spool::SpoolHeader header = read(packed, staged);
    EXPECT_EQ(packed, records_on_stage);
    EXPECT_EQ(staged, records_on_stage);
    EXPECT_EQ(header.records, 2 * records_on_stage);
    EXPECT_EQ(header.lost, records_on_stage + 3);
    EXPECT_EQ(header.closed, 1U);
}

TEST_F(SpoolWriterTest, AStageHoldsWholeRecords)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, 3 * sizeof(spool::Record) + 5), 0);
    append(10);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    EXPECT_EQ(read(packed, staged).stage_bytes, 3 * sizeof(spool::Record));
    EXPECT_EQ(packed, 9U);
    EXPECT_EQ(staged, 1U);
    writer_.close(1, true);
}

// The call that a thread is in stands where its record will be; what ends it overwrites that.
TEST_F(SpoolWriterTest, NotesTheCallThatIsOpen)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
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
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    read(packed, staged);
    EXPECT_EQ(staged, 4U);
}

// A limit on the size of files must cost records, not the application's life (SIGXFSZ, SIGBUS).
TEST_F(SpoolWriterTest, WithoutRoomForAStageThereIsNoFile)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit = {spool::header_size, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        const int error = writer_.open(path_.c_str(), header_, stage_size);
        append(7);
        _exit(error == EFBIG && writer_.lost() == 7 ? 0 : 3);
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
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    const int after = dup(0);
    close(after);
    EXPECT_EQ(after, before);
    writer_.close(1, true);
}

// Some applications close every descriptor and open their own in their place.
TEST_F(SpoolWriterTest, NeverWritesToADescriptorThatIsNoLongerItsOwn)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    const std::string victim = directory_ + "/victim";
    for (int fd = 3; fd < 4096; ++fd) {
        std::error_code error;
        if (std::filesystem::equivalent("/proc/self/fd/" + std::to_string(fd), path_, error)) {
            const int other = open(victim.c_str(), O_RDWR | O_CREAT, 0600);
            dup2(other, fd);
            close(other);
        }
    }
    append(records_on_stage + 3);
    writer_.close(1, true);
    EXPECT_EQ(std::filesystem::file_size(victim), 0U);
    std::uint64_t packed = 0;
    std::uint64_t staged = 0;
    EXPECT_EQ(read(packed, staged).lost, 0U);  // it has opened its own again
    EXPECT_EQ(packed, records_on_stage);
    EXPECT_EQ(staged, 3U);
}

SpoolWriter* interrupted_writer;

void close_and_exit(int /*signal*/)
{
    interrupted_writer->close(1, true);
    _exit(0);
}

// As by exit() in a signal handler, which would wait for itself if it came while a frame is written.
TEST_F(SpoolWriterTest, MayBeClosedByASignalHandler)
{
    for (int round = 0; round < 40; ++round) {
        std::filesystem::remove(path_);
        const pid_t child = fork();
        if (child == 0) {
            const rlimit patience = {2, 2};  // s of processor time
            setrlimit(RLIMIT_CPU, &patience);
            interrupted_writer = &writer_;
            std::signal(SIGALRM, close_and_exit);
            if (writer_.open(path_.c_str(), header_, 4 * sizeof(spool::Record)) != 0) {
                _exit(2);
            }
            const itimerval soon = {{0, 0}, {0, 500 + 37 * round}};
            setitimer(ITIMER_REAL, &soon, nullptr);
            for (;;) {
                append(1);
            }
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status)) << "round " << round;
        ASSERT_EQ(WEXITSTATUS(status), 0);
        std::uint64_t packed = 0;
        std::uint64_t staged = 0;
        const spool::SpoolHeader header = read(packed, staged);
        const std::uint64_t half_written = packed + staged - header.records;
        EXPECT_EQ(header.closed, 1U);
        EXPECT_EQ(header.lost, 0U);
        EXPECT_TRUE(half_written == 0 || (half_written == 1 && staged > 0)) << packed << " " << staged;
    }
}

TEST_F(SpoolWriterTest, ADescriptorOfTheApplicationIsNotClosedInAChild)
{
    ASSERT_EQ(writer_.open(path_.c_str(), header_, stage_size), 0);
    int taken = -1;
    for (int fd = 3; fd < 4096; ++fd) {
        std::error_code error;
        if (std::filesystem::equivalent("/proc/self/fd/" + std::to_string(fd), path_, error)) {
            taken = fd;
        }
    }
    ASSERT_EQ(dup2(0, taken), taken);
    writer_.abandon();
    EXPECT_NE(fcntl(taken, F_GETFD), -1);
    close(taken);
}

TEST_F(SpoolWriterTest, DoesNotOverwriteAFile)
{
    std::ofstream(path_) << "precious";
    EXPECT_EQ(writer_.open(path_.c_str(), header_, stage_size), EEXIST);
    EXPECT_FALSE(writer_.is_open());
    writer_.append(record(0));
    EXPECT_EQ(writer_.lost(), 1U);
}

}  // namespace
}  // namespace critpath::preload
