// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns copies of spool files whose writers may still be at work: an archive is made in two passes over the records of a
// rank, which must find the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace critpath::archive
{

/// In the spool; there only while an archive is made.
inline constexpr const char* spool_copy_name = "copy";

class SpoolCopy
{
public:
    /// Removes what a recovery that was ended has left.
    explicit SpoolCopy(const std::filesystem::path& spool);
    /// Removes the copies.
    ~SpoolCopy();
    SpoolCopy(const SpoolCopy&) = delete;
    SpoolCopy& operator=(const SpoolCopy&) = delete;

    /// Copies the files of a rank and these threads, as they are now. Throws Failure.
    void add(std::int32_t rank, const std::vector<std::uint32_t>& threads);

    /// Where to read a rank: its copies, or else the spool.
    [[nodiscard]] const std::filesystem::path& directory_of(std::int32_t rank) const
    {
        return ranks_.contains(rank) ? copies_ : spool_;
    }

private:
    std::filesystem::path spool_, copies_;
    std::set<std::int32_t> ranks_;
};

}  // namespace critpath::archive
