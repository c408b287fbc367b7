// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/perf_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::archive
{

namespace
{

constexpr std::size_t longest_name = 4096;
// This is memory of the application's.
constexpr std::size_t largest_file = std::size_t{256} << 20;

// Takes a number and the space behind it off the front of `line`.
std::optional<std::uint64_t> take_number(std::string_view& line)
{
    const std::size_t at = line.find(' ');
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view digits = line.substr(0, at);
    line.remove_prefix(at + 1);
    if (digits.starts_with("0x")) {
        digits.remove_prefix(2);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

// A file's times are those of the last tick of the kernel's clock, which is a little late.
bool is_older(const struct stat& status, std::uint64_t start)
{
    constexpr std::uint64_t second = 1'000'000'000;
    const std::uint64_t changed =
        static_cast<std::uint64_t>(status.st_mtim.tv_sec) * second + static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    return changed + second < start;
}

std::string read_all(int fd, std::size_t size)
{
    std::string text(std::min(size, largest_file), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got = ::read(fd, text.data() + done, text.size() - done);
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (got == 0 || errno != EINTR) {
            break;
        }
    }
    text.resize(done);
    return text;
}

}  // namespace

PerfMap::PerfMap(std::string_view text)
{
    // A last line without an end may be one that is being written.
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
        std::string_view line = text.substr(0, end);
        const auto start = take_number(line);
        const std::uint64_t size = start ? take_number(line).value_or(0) : 0;
        const bool has_name = !line.empty() && line.size() <= longest_name && line.find('\0') == std::string_view::npos;
        if (size > 0 && has_name && *start + size > *start) {
            add(*start, *start + size, line);
        }
    }
}

PerfMap PerfMap::of_this_process(const std::string& directory, std::uint64_t start)
{
    const std::string path = fmt::format("{}/perf-{}.map", directory, ::getpid());
    // Anybody may put anything there: a link to what is not theirs, or what makes readers wait.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return {};
    }
    PerfMap map;
    struct stat status = {};
    if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
        !is_older(status, start)) {
        map = PerfMap(read_all(fd, static_cast<std::size_t>(status.st_size)));
    }
    ::close(fd);
    return map;
}

const std::string* PerfMap::find(std::uint64_t address) const
{
    const auto behind = code_.upper_bound(address);
    if (behind == code_.begin()) {
        return nullptr;
    }
    const Code& code = std::prev(behind)->second;
    return address < code.end ? &code.name : nullptr;
}

// What has the remark is another one even if it has the name: others were there before it.
bool PerfMap::has_another(std::uint64_t start, std::uint64_t end, std::string_view name) const
{
    auto at = code_.upper_bound(start);
    if (at != code_.begin() && std::prev(at)->second.end > start) {
        --at;
    }
    for (; at != code_.end() && at->first < end; ++at) {
        if (at->second.name != name) {
            return true;
        }
    }
    return false;
}

void PerfMap::add(std::uint64_t start, std::uint64_t end, std::string_view name)
{
    const bool is_remade = has_another(start, end, name);
    auto at = code_.upper_bound(start);
    if (at != code_.begin() && std::prev(at)->second.end > start) {
        // The one before keeps what is left of it, on both sides.
        --at;
        const Code before = at->second;
        if (before.end > end) {
            code_.emplace(end, before);
        }
        if (at->first < start) {
            at->second.end = start;
            ++at;
        } else {
            at = code_.erase(at);
        }
    }
    while (at != code_.end() && at->first < end) {
        if (at->second.end > end) {
            code_.emplace(end, at->second);
        }
        at = code_.erase(at);
    }
    code_.insert_or_assign(start, Code{end, std::string(name).append(is_remade ? remade_remark : "")});
}

}  // namespace critpath::archive
