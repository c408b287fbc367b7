// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns archives in memory, as the bytes of their files, and small whole ones to begin with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace critpath::bad_input
{

struct File {
    std::filesystem::path name;  // within the directory of the archive
    std::string bytes;
};

/// The files of an archive, ordered by name.
using Archive = std::vector<File>;

/// All files below `directory`.
Archive read_archive(const std::filesystem::path& directory);

void write_file(const std::filesystem::path& directory, const File& file);

/// Makes `directory`, which must not exist.
void write_archive(const std::filesystem::path& directory, const Archive& archive);

/// A directory in memory, if the system has one, for the archives of one run.
class Workshop
{
public:
    Workshop();
    ~Workshop();
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    /// Lays out an archive; writes what differs from the one that is there. Returns its directory.
    std::filesystem::path lay_out(const Archive& archive);

    [[nodiscard]] std::filesystem::path path() const { return path_; }

private:
    std::filesystem::path path_;
    Archive there_;
};

/// Two ranks that do the same at other times, so that their event files have the same size; no local definitions.
Archive twins();

/// A few of everything that the loader knows.
Archive variety();

/// A ring of ranks in so many rounds that each event file has several chunks.
Archive long_ring();

/// Two ranks whose clocks are ten years apart, by what the archive says of them.
Archive years_apart();

/// Two nodes whose clocks are off by any number of years, by what the archive says of them.
Archive unsure_clocks();

/// Nodes with clocks of their own, whose run took two years by the last time of one.
Archive two_years();

/// A thread enters so many functions that it never leaves, and leaves as many that it never entered, that it takes
/// minutes to go over all that are open at each of these.
Archive never_left();

}  // namespace critpath::bad_input
