// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/address_map.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace critpath::archive
{

namespace
{

// Takes the text up to `separator` off the front of `line`.
std::string_view take(std::string_view& line, char separator)
{
    const std::size_t at = std::min(line.find(separator), line.size());
    const std::string_view field = line.substr(0, at);
    line.remove_prefix(std::min(at + 1, line.size()));
    return field;
}

std::optional<std::uint64_t> number(std::string_view text, int base)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> hex(std::string_view text)
{
    return number(text, 16);
}

// Of the line before, if this one says what it is.
std::string_view take_identity(std::string_view& lines)
{
    return lines.starts_with("# ") ? take(lines, '\n').substr(2) : "";
}

}  // namespace

AddressMap::AddressMap(std::string_view maps, std::string_view unloads)
{
    while (!unloads.empty()) {
        std::string_view line = take(unloads, '\n');
        if (line.starts_with("? ")) {
            unnoted_ += number(line.substr(2), 10).value_or(0);
        }
        if (!line.starts_with("= ")) {
            continue;
        }
        take(line, ' ');
        const auto until = number(take(line, ' '), 10);
        const auto unloaded = number(line, 10);
        if (!until || !unloaded) {
            break;  // what follows is of no known time
        }
        // The lines stand behind their head: they go into the epoch that is the last one so far.
        epochs_.back().until = *until;
        epochs_.back().unloaded = *unloaded;
        while (!unloads.empty() && !unloads.starts_with("= ") && !unloads.starts_with("? ")) {
            const std::string_view mapped = take(unloads, '\n');
            add_line(mapped, take_identity(unloads));
        }
        epochs_.emplace_back();
    }
    while (!maps.empty()) {
        const std::string_view mapped = take(maps, '\n');
        add_line(mapped, take_identity(maps));
    }
    for (Epoch& epoch : epochs_) {
        std::ranges::sort(epoch.ranges, {}, &MappedRange::start);
    }
}

void AddressMap::add_line(std::string_view line, std::string_view identity)
{
    const auto start = hex(take(line, '-'));
    const auto end = hex(take(line, ' '));
    const std::string_view permissions = take(line, ' ');
    const auto offset = hex(take(line, ' '));
    const std::string_view device = take(line, ' ');
    const std::string_view inode = take(line, ' ');
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const bool is_executable = permissions.size() >= 3 && permissions[2] == 'x';
    if (start && end && offset && is_executable && *start < *end) {
        epochs_.back().ranges.push_back(
            {*start, *end, *offset, module(line, std::string(device) + ' ' + std::string(inode), identity)});
    }
}

std::uint32_t AddressMap::epoch_at(std::uint64_t time) const
{
    const auto found = std::ranges::lower_bound(epochs_, time, {}, &Epoch::until);
    return std::min(static_cast<std::uint32_t>(found - epochs_.begin()), last_epoch());
}

const MappedRange* AddressMap::find(std::uint64_t address, std::uint32_t epoch) const
{
    const std::vector<MappedRange>& ranges = epochs_[epoch].ranges;
    const auto behind = std::ranges::upper_bound(ranges, address, {}, &MappedRange::start);
    if (behind == ranges.begin() || address >= (behind - 1)->end) {
        return nullptr;
    }
    return &*(behind - 1);
}

bool AddressMap::was_replaced(std::uint32_t module) const
{
    const auto behind = modules_.begin() + module + 1;
    return deleted_[module] || std::find(behind, modules_.end(), modules_[module]) != modules_.end();
}

std::uint64_t AddressMap::unseen_unloads() const
{
    std::uint64_t missing = 0;
    std::uint64_t seen = unnoted_;
    for (std::size_t epoch = 0; epoch + 1 < epochs_.size(); ++epoch) {
        missing += missing_after(epoch);
        seen += epochs_[epoch].unloaded;
    }
    return missing - std::min(missing, seen) + unnoted_;
}

// Files, not ranges: those that are nowhere in the next epoch.
std::uint64_t AddressMap::missing_after(std::size_t epoch) const
{
    std::vector<bool> is_there(modules_.size());
    std::vector<bool> is_counted(modules_.size());
    for (const MappedRange& range : epochs_[epoch + 1].ranges) {
        is_there[range.module] = true;
    }
    std::uint64_t missing = 0;
    for (const MappedRange& range : epochs_[epoch].ranges) {
        const bool is_missing = !is_there[range.module] && modules_[range.module].front() == '/';
        missing += is_missing && !is_counted[range.module] ? 1 : 0;
        is_counted[range.module] = true;
    }
    return missing;
}

std::uint32_t AddressMap::module(std::string_view name, std::string inode, std::string_view identity)
{
    const bool has_file = !name.empty() && name.front() == '/' && !name.starts_with("/memfd:");
    if (!has_file) {
        name = name != vdso_module && name != "[vsyscall]" ? anonymous_module : name;
        inode.clear();
    }
    const bool is_deleted = has_file && name.ends_with(deleted_remark);
    name.remove_suffix(is_deleted ? deleted_remark.size() : 0);
    // A file that was built anew between two loads may have got the inode of the one before.
    const auto is_it = [&](std::size_t i) {
        const bool is_identified = !identity.empty() && !identities_[i].empty();
        return inodes_[i] == inode && (is_identified ? identities_[i] == identity : modules_[i] == name);
    };
    std::size_t i = 0;
    while (i < modules_.size() && !is_it(i)) {
        ++i;
    }
    if (i == modules_.size()) {
        modules_.emplace_back();
        inodes_.push_back(std::move(inode));
        deleted_.push_back(false);
        identities_.emplace_back();
    }
    modules_[i] = name;
    deleted_[i] = deleted_[i] || is_deleted;
    if (!identity.empty()) {
        identities_[i] = identity;
    }
    return static_cast<std::uint32_t>(i);
}

}  // namespace critpath::archive
