// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns an OTF2 archive that is being written: its files, in the order in which libotf2 wants them opened and
// closed. An archive is written by one process, or by many that pass the same collectives.
#pragma once

#include "formats/otf2/check.hpp"
#include "formats/otf2/chunk_pool.hpp"
#include "formats/otf2/clock_correction.hpp"
#include "formats/otf2/event_writer.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace critpath::otf2
{

/// How libotf2 reaches the other processes that write the archive; must outlive it. See OTF2_Callbacks.h.
struct Collectives {
    const OTF2_CollectiveCallbacks* callbacks;
    void* data;
    OTF2_CollectiveContext* global;
};

/// Where the files of an archive are.
struct ArchiveFiles {
    std::string directory;

    [[nodiscard]] std::string anchor() const { return directory + "/traces.otf2"; }
    [[nodiscard]] std::string definitions() const { return directory + "/traces.def"; }
    [[nodiscard]] std::string event_directory() const { return directory + "/traces"; }
    [[nodiscard]] std::string events(OTF2_LocationRef location) const;
    [[nodiscard]] std::string local_definitions(OTF2_LocationRef location) const;
};

/// Calls are collective over the writers where they say so. All of them throw Failure. An archive that was not
/// closed is given up: the destructor leaves libotf2's part to the end of the process, because closing may be
/// collective and because libotf2 3.0.2 overruns its buffer when it is called again after a failed write.
class Archive
{
public:
    /// Collective. Creates <directory>/traces.otf2, .def and the directory traces; the directory must exist.
    /// `locations`: how many the whole archive will have. Without `collectives`: one process.
    Archive(std::string directory, std::uint64_t locations, const Collectives* collectives = nullptr);
    ~Archive() = default;
    Archive(const Archive&) = delete;
    Archive& operator=(const Archive&) = delete;

    /// Collective; before the first event_writer().
    void open_events();

    /// Not collective; so is finish(). Several threads may have a writer each. The writer belongs to the archive and
    /// lives until it is finished.
    EventWriter event_writer(OTF2_LocationRef location);

    /// Not collective. Writes out what is buffered. Returns the number of events.
    std::uint64_t finish(EventWriter& writer);

    /// Collective; after all writers have finished.
    void close_events();

    /// Local definitions: of locations that share a clock, with what is known about it. Opening and closing is
    /// collective, writing is not.
    void open_local_definitions();
    void write_local_definitions(std::span<const OTF2_LocationRef> locations, std::span<const ClockPoint> clocks = {});
    void close_local_definitions();

    /// On the first process only.
    OTF2_GlobalDefWriter* definition_writer();
    void finish_definitions();
    void set_property(const std::string& name, const std::string& value);

    /// Collective.
    void close();

    /// After close(): that the files are there and whole, since libotf2 3.0.2 does not report every failed write. Throw
    /// Failure(Failed) that names a file that is not. Of the files they read little more than the end.
    void check_location(OTF2_LocationRef location, std::uint64_t events) const;
    void check_definitions() const;

    [[nodiscard]] const ArchiveFiles& files() const { return files_; }

private:
    ArchiveFiles files_;
    QuietErrors quiet_;
    ChunkPool memory_;
    std::uint64_t definition_chunk_;
    OTF2_Archive* archive_ = nullptr;
    OTF2_GlobalDefWriter* definitions_ = nullptr;
};

}  // namespace critpath::otf2
