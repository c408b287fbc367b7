// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/file_check.hpp"

#include "formats/support/error.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::otf2
{

namespace
{

namespace fs = std::filesystem;
using Bytes = std::span<const std::uint8_t>;

// The first byte of what stands in a chunk. Records begin with their type.
constexpr std::uint8_t end_of_chunk = 0;
constexpr std::uint8_t end_of_buffer = 1;  // behind the end of the file
constexpr std::uint8_t end_of_file = 2;
constexpr std::uint8_t chunk_header = 3;
constexpr std::uint8_t timestamp = 5;  // in event files
constexpr std::uint8_t attribute_list = 6;
constexpr std::uint8_t mapping_table = 5;  // in local definitions
constexpr std::uint8_t group = 18;         // in all definitions

constexpr std::size_t header_size = 18;
constexpr std::uint8_t big_endian = 0x23;

class InputFile
{
public:
    /// (O_NONBLOCK: of a pipe that nobody writes to, too, one knows at once that it is not a file.)
    explicit InputFile(const fs::path& name) : name_(name), fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {
        struct stat status {
        };
        if (fd_ < 0) {
            const int error = errno;
            fail(ExitCode::BadTrace, "{}: cannot be opened: {}; check its permissions", name.string(),
                 std::strerror(error));
        }
        if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
            ::close(fd_);
            fail(ExitCode::BadTrace, "{}: not a file; {}", name.string(), retry);
        }
        size_ = static_cast<std::uint64_t>(status.st_size);
    }
    ~InputFile() { ::close(fd_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// The bytes from `begin` on, `size` or as many as the file has.
    void read(std::uint64_t begin, std::span<std::uint8_t> bytes) const
    {
        while (!bytes.empty()) {
            const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(begin));
            if (got > 0) {
                begin += static_cast<std::uint64_t>(got);
                bytes = bytes.subspan(static_cast<std::size_t>(got));
            } else if (got == 0 || errno != EINTR) {
                fail(ExitCode::BadTrace, "{}: cannot be read: {}; {}", name_.string(),
                     got == 0 ? "it became shorter" : std::strerror(errno), retry);
            }
        }
    }

    template <class... Args>
    [[noreturn]] void damaged(fmt::format_string<Args...> cause, Args&&... args) const
    {
        fail(ExitCode::BadTrace, "{}: {}; {}", name_.string(), fmt::format(cause, std::forward<Args>(args)...), retry);
    }

private:
    const fs::path& name_;
    int fd_;
    std::uint64_t size_ = 0;
};

/// The head of a chunk: the numbers of its first and last event, both from 1; of definitions, 0.
struct ChunkHead {
    bool swapped;
    std::uint64_t first;
    std::uint64_t last;
};

std::uint64_t number(Bytes bytes, bool swapped)
{
    std::array<std::uint8_t, 8> raw{};
    std::copy_n(bytes.begin(), raw.size(), raw.begin());
    if (swapped) {
        std::ranges::reverse(raw);
    }
    return std::bit_cast<std::uint64_t>(raw);
}

std::optional<ChunkHead> parse_head(Bytes bytes)
{
    if (bytes.size() < header_size || bytes[0] != chunk_header ||
        (bytes[1] != little_endian && bytes[1] != big_endian)) {
        return {};
    }
    const bool swapped = (bytes[1] == little_endian) != (std::endian::native == std::endian::little);
    return ChunkHead{swapped, number(bytes.subspan(2), swapped), number(bytes.subspan(10), swapped)};
}

/// By type: events that have a length. Those that are no more than one compressed integer have none.
constexpr auto has_length = [] {
    std::array<bool, 256> result{};
    std::fill(result.begin() + attribute_list + 1, result.end(), true);
    for (const std::size_t event : {12, 13, 16, 17, 20, 21, 24, 28, 29, 30})
        result[event] = false;
    return result;
}();

/// A pass over the records of one chunk, by their lengths.
class Records
{
public:
    Records(Bytes chunk, bool swapped) : rest_(chunk.subspan(header_size)), swapped_(swapped) {}

    [[nodiscard]] std::size_t left() const { return rest_.size(); }

    std::optional<std::uint8_t> byte()
    {
        if (rest_.empty()) {
            return {};
        }
        const std::uint8_t value = rest_.front();
        rest_ = rest_.subspan(1);
        return value;
    }

    bool skip(std::uint64_t bytes)
    {
        if (bytes > rest_.size()) {
            return false;
        }
        rest_ = rest_.subspan(bytes);
        return true;
    }

    /// An integer without its leading zero bytes; 0xff stands for all ones.
    std::optional<std::uint64_t> compressed()
    {
        const auto size = byte();
        if (!size || *size == 0xff) {
            return size ? std::optional(UINT64_MAX) : std::nullopt;
        }
        if (*size > 8 || *size > rest_.size()) {
            return {};
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < *size; ++i) {
            value = value << 8U | rest_[swapped_ == (std::endian::native == std::endian::little) ? i : *size - 1 - i];
        }
        skip(*size);
        return value;
    }

    /// Steps over an event as most are, at one go: a time, no attributes, and a length of one byte before its content.
    bool skip_usual_event()
    {
        constexpr std::size_t type_at = 9, length_at = 10, content_at = 11;
        if (rest_.size() < content_at || rest_[0] != timestamp || !has_length[rest_[type_at]] ||
            rest_[length_at] == 0xff)
            return false;
        return skip(content_at + rest_[length_at]);
    }

    /// The content of a record: behind its length, which is one byte, or 0xff and eight bytes. Steps over it.
    std::optional<Records> content()
    {
        const auto small = byte();
        if (!small) {
            return {};
        }
        std::uint64_t length = *small;
        if (*small == 0xff) {
            if (rest_.size() < 8) {
                return {};
            }
            length = number(rest_, swapped_);
            skip(8);
        }
        if (length > rest_.size()) {
            return {};
        }
        Records inside(rest_.first(length), swapped_, 0);
        skip(length);
        return inside;
    }

private:
    Records(Bytes bytes, bool swapped, int) : rest_(bytes), swapped_(swapped) {}

    Bytes rest_;
    bool swapped_;
};

enum class Step : std::uint8_t { Record, EndOfChunk, EndOfFile, Broken };

Step end_of(std::uint8_t type)
{
    return type == end_of_chunk ? Step::EndOfChunk : type == end_of_file ? Step::EndOfFile : Step::Broken;
}

/// Steps over an event, with its time and its attributes.
Step next_event(Records& records)
{
    if (records.skip_usual_event())
        return Step::Record;
    auto type = records.byte();
    while (type == timestamp || type == attribute_list) {
        if (type == timestamp) {
            if (!records.skip(8)) {
                return Step::Broken;
            }
        } else {
            auto list = records.content();
            const auto count = list ? list->compressed() : std::nullopt;
            if (!count || *count > list->left()) {
                return Step::Broken;
            }
        }
        type = records.byte();
    }
    if (!type || *type <= attribute_list) {
        return type ? end_of(*type) : Step::Broken;
    }
    return (has_length[*type] ? records.content().has_value() : records.compressed().has_value()) ? Step::Record
                                                                                                  : Step::Broken;
}

/// Of the members of a group: reference, name, old type, number of members.
bool fits_group(Records inside)
{
    const bool has_head = inside.compressed() && inside.compressed() && inside.byte();
    const auto members = has_head ? inside.compressed() : std::nullopt;
    return members && *members <= inside.left();
}

/// Of the references of a table: what they refer to, number of entries, 0 (one number an entry) or 1 (two).
bool fits_table(Records inside)
{
    const auto what = inside.byte();
    const auto entries = inside.compressed();
    const auto mode = inside.byte();
    return what && entries && mode && *entries <= inside.left() / (*mode == 0 ? 1 : 2);
}

Step next_definition(Records& records, Definitions kind)
{
    const auto type = records.byte();
    if (!type || *type < mapping_table) {
        return type ? end_of(*type) : Step::Broken;
    }
    const auto inside = records.content();
    if (!inside || (*type == group && !fits_group(*inside)) ||
        (kind == Definitions::Local && *type == mapping_table && !fits_table(*inside))) {
        return Step::Broken;
    }
    return Step::Record;
}

/// Goes over the records of a chunk; `next` steps over one. How that ended, and after how many.
template <class Next>
std::pair<Step, std::uint64_t> walk(Records& records, Next next)
{
    for (std::uint64_t count = 0;; ++count) {
        const Step step = next(records);
        if (step != Step::Record) {
            return {step, count};
        }
    }
}

/// A file ends with two marks.
bool is_at_end(Records records)
{
    return records.byte() == end_of_buffer && records.left() == 0;
}

Bytes read_chunk(const InputFile& file, std::uint64_t begin, std::uint64_t chunk_size, CheckMemory& memory)
{
    const std::uint64_t size = std::min(chunk_size, file.size() - begin);
    memory.resize(std::max<std::uint64_t>(memory.size(), size));
    const auto bytes = std::span(memory).first(size);
    file.read(begin, bytes);
    return bytes;
}

[[noreturn]] void fail_at_end(const InputFile& file)
{
    file.damaged("does not end as an OTF2 file ends: it has been cut short, or something was appended");
}

}  // namespace

bool is_there(const fs::path& name)
{
    std::error_code error;
    const fs::file_status status = fs::status(name, error);
    if (fs::exists(status)) {
        return true;
    }
    if (status.type() != fs::file_type::not_found) {
        fail(ExitCode::BadTrace, "{}: cannot be looked at: {}; check the permissions of the directories above it",
             name.string(), error.message());
    }
    const fs::path parent = name.parent_path();
    if (fs::exists(parent, error) && !fs::is_directory(parent, error)) {
        fail(ExitCode::BadTrace, "{}: not a directory; {}", parent.string(), retry);
    }
    return false;
}

void check_event_file(const fs::path& name, std::uint64_t chunk_size, std::uint64_t promised, CheckMemory& memory)
{
    const InputFile file(name);
    const auto fail_after = [&](std::uint64_t events) {
        if (events == promised) {
            fail_at_end(file);  // all are there, and something is behind them
        }
        file.damaged("the definitions promise {} events, {} could be read", promised, events);
    };
    std::uint64_t events = 0;
    std::uint64_t begin = 0;
    for (; file.size() - begin > chunk_size; begin += chunk_size) {
        std::array<std::uint8_t, header_size> bytes{};
        file.read(begin, bytes);
        const auto head = parse_head(bytes);
        if (!head || head->first != events + 1 || head->last < events) {
            fail_after(events);
        }
        events = head->last;
    }
    const Bytes last = read_chunk(file, begin, chunk_size, memory);
    const auto head = parse_head(last);
    if (!head) {
        fail_after(events);
    }
    Records records(last, head->swapped);
    const auto [end, count] = walk(records, next_event);
    if (end == Step::Broken || events + count != promised) {
        fail_after(events + count);
    }
    if (end != Step::EndOfFile || !is_at_end(records)) {
        fail_at_end(file);
    }
}

void check_definition_file(const fs::path& name, std::uint64_t chunk_size, Definitions kind, CheckMemory& memory)
{
    const InputFile file(name);
    for (std::uint64_t begin = 0; begin < file.size(); begin += chunk_size) {
        const Bytes bytes = read_chunk(file, begin, chunk_size, memory);
        const auto head = parse_head(bytes);
        if (!head) {
            break;
        }
        Records records(bytes, head->swapped);
        const auto [end, count] = walk(records, [kind](Records& r) { return next_definition(r, kind); });
        if (end == Step::EndOfFile && is_at_end(records) && begin + bytes.size() == file.size()) {
            return;
        }
        if (end == Step::Broken) {
            file.damaged("damaged, or cut short, {} bytes from its begin", begin + bytes.size() - records.left());
        }
        if (end == Step::EndOfFile) {
            break;
        }
    }
    fail_at_end(file);
}

}  // namespace critpath::otf2
