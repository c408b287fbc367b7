// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which binary stood at which address, and when: the executable lines of copies of /proc/<pid>/maps (proc(5)), the
// last one of which holds from the last time on that something was unloaded.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::archive
{

struct MappedRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;     // first address behind it
    std::uint64_t offset = 0;  // in the file
    std::uint32_t module = 0;  // index into AddressMap::modules()
};

/// How code without a file is called as a module.
inline constexpr std::string_view vdso_module = "[vdso]";
inline constexpr std::string_view anonymous_module = "[anon]";  // made at run time
inline constexpr std::string_view compiled_module = "[jit]";    // of that, what its maker gave a name
inline constexpr std::string_view kernel_module = "[kernel]";

/// What the kernel says behind the path of a file that is there no more.
inline constexpr std::string_view deleted_remark = " (deleted)";

class AddressMap
{
public:
    static constexpr std::uint64_t the_end = std::numeric_limits<std::uint64_t>::max();

    /// `maps`: as it is in the end. `unloads`: as <rank>.unloads (formats/spool/record.hpp). Lines that cannot be read
    /// are left out.
    explicit AddressMap(std::string_view maps, std::string_view unloads = {});

    /// Between two changes of the map all times are one epoch. They are numbered from 0.
    [[nodiscard]] std::uint32_t epoch_at(std::uint64_t time) const;
    [[nodiscard]] std::uint32_t last_epoch() const { return static_cast<std::uint32_t>(epochs_.size() - 1); }

    /// The executable range that contains `address`, or nullptr.
    [[nodiscard]] const MappedRange* find(std::uint64_t address, std::uint32_t epoch) const;
    [[nodiscard]] const MappedRange* find(std::uint64_t address) const { return find(address, last_epoch()); }

    /// Paths (without the kernel's remark about deleted files), or vdso_module, or anonymous_module for all executable
    /// memory without a file. Of a binary that was renamed while it was loaded the path is the last one: there it is.
    [[nodiscard]] const std::vector<std::string>& modules() const { return modules_; }

    /// The kernel has seen that what its path leads to is another file, or none.
    [[nodiscard]] bool was_replaced(std::uint32_t module) const;

    /// What tells it from other binaries that may come to its path: the text of its line in the spool, or nothing.
    [[nodiscard]] const std::string& identity(std::uint32_t module) const { return identities_[module]; }

    /// Libraries that were unloaded without a note of when: those that were not noted, and files that were there and
    /// later were not.
    [[nodiscard]] std::uint64_t unseen_unloads() const;

private:
    struct Epoch {
        std::uint64_t until = the_end;
        std::uint64_t unloaded = 0;            // at its end
        std::vector<MappedRange> ranges = {};  // by start
    };

    void add_line(std::string_view line, std::string_view identity);
    std::uint32_t module(std::string_view name, std::string inode, std::string_view identity);
    [[nodiscard]] std::uint64_t missing_after(std::size_t epoch) const;

    std::vector<Epoch> epochs_ = std::vector<Epoch>(1);  // by time
    std::vector<std::string> modules_;                   // in the order in which they are seen first
    std::vector<std::string> inodes_;                    // of modules, with their devices; none: no file
    std::vector<bool> deleted_;                          // of modules: the kernel says so
    std::vector<std::string> identities_;                // of modules: what the collector says, or nothing
    std::uint64_t unnoted_ = 0;                          // libraries that were unloaded, and are in no map
};

}  // namespace critpath::archive
