// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/archive.hpp"

#include "formats/otf2/anchor_check.hpp"
#include "formats/otf2/definition_file.hpp"
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/local_definitions.hpp"

#include <otf2/OTF2_Pthread_Locks.h>

#include <algorithm>

namespace critpath::otf2
{

namespace
{

// Chunks are held in memory, one a location, and whoever reads a location through libotf2 clears two of that size
// before, both of its events and of its definitions, whatever it holds: the least that libotf2 allows.
constexpr std::uint64_t event_chunk = OTF2_CHUNK_SIZE_MIN;

// libotf2 wants ten bytes of definition chunk a location, since the largest record lists all locations.
std::uint64_t definition_chunk(std::uint64_t locations)
{
    return std::clamp<std::uint64_t>(16 * locations, OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_MAX);
}

OTF2_FlushType always_flush(void* /*user*/, OTF2_FileType /*type*/, OTF2_LocationRef /*location*/, void* /*caller*/,
                            bool /*final*/)
{
    return OTF2_FLUSH;
}

// Without a callback after the flush libotf2 writes no BUFFER_FLUSH records; ours would not be the application's.
constexpr OTF2_FlushCallbacks flush_callbacks = {always_flush, nullptr};

/// `check` is one of those of a reader, who has other advice.
template <class Check>
void check_written(const std::string& file, Check check)
{
    try {
        check();
    } catch (const Failure&) {
        fail(ExitCode::Failed, "{}: was not written whole; is the file system full?", file);
    }
}

}  // namespace

Archive::Archive(std::string directory, std::uint64_t locations, const Collectives* collectives)
    : files_{std::move(directory)}, definition_chunk_(definition_chunk(locations))
{
    archive_ = OTF2_Archive_Open(files_.directory.c_str(), "traces", OTF2_FILEMODE_WRITE, event_chunk,
                                 definition_chunk_, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) {
        fail(ExitCode::Failed, "{}: libotf2 cannot create an archive here: {}", files_.directory, take_message());
    }
    check(OTF2_Archive_SetFlushCallbacks(archive_, &flush_callbacks, nullptr), "{}", files_.directory);
    check(OTF2_Archive_SetMemoryCallbacks(archive_, &ChunkPool::callbacks, &memory_), "{}", files_.directory);
    check(OTF2_Pthread_Archive_SetLockingCallbacks(archive_, nullptr), "{}", files_.directory);
    check(OTF2_Archive_SetCreator(archive_, "critpath"), "{}", files_.directory);
    check(collectives == nullptr ? OTF2_Archive_SetSerialCollectiveCallbacks(archive_)
                                 : OTF2_Archive_SetCollectiveCallbacks(archive_, collectives->callbacks,
                                                                       collectives->data, collectives->global, nullptr),
          "{}: creating the archive", files_.directory);
}

void Archive::open_events()
{
    check(OTF2_Archive_OpenEvtFiles(archive_), "{}", files_.event_directory());
}

EventWriter Archive::event_writer(OTF2_LocationRef location)
{
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_, location);
    if (writer == nullptr) {
        fail(ExitCode::Failed, "{}: libotf2 cannot create the file: {}", files_.events(location), take_message());
    }
    return EventWriter(writer, location, files_.events(location));
}

std::uint64_t Archive::finish(EventWriter& writer)
{
    std::uint64_t events = 0;
    check(OTF2_EvtWriter_GetNumberOfEvents(writer.handle(), &events), "{}", writer.file());
    check(OTF2_Archive_CloseEvtWriter(archive_, writer.handle()), "{}", writer.file());
    return events;
}

void Archive::close_events()
{
    check(OTF2_Archive_CloseEvtFiles(archive_), "{}", files_.event_directory());
}

void Archive::open_local_definitions()
{
    check(OTF2_Archive_OpenDefFiles(archive_), "{}", files_.event_directory());
}

void Archive::write_local_definitions(std::span<const OTF2_LocationRef> locations, std::span<const ClockPoint> clocks)
{
    for (const OTF2_LocationRef location : locations) {
        OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, location);
        if (writer == nullptr) {
            fail(ExitCode::Failed, "{}: libotf2 cannot create the file: {}", files_.local_definitions(location),
                 take_message());
        }
        for (const ClockPoint& point : clocks) {
            check(OTF2_DefWriter_WriteClockOffset(writer, point.time, point.offset,
                                                  static_cast<double>(point.half_width)),
                  "{}", files_.local_definitions(location));
        }
        check(OTF2_Archive_CloseDefWriter(archive_, writer), "{}", files_.local_definitions(location));
    }
}

void Archive::close_local_definitions()
{
    check(OTF2_Archive_CloseDefFiles(archive_), "{}", files_.event_directory());
}

OTF2_GlobalDefWriter* Archive::definition_writer()
{
    if (definitions_ == nullptr) {
        definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
        if (definitions_ == nullptr) {
            fail(ExitCode::Failed, "{}: libotf2 cannot create the file: {}", files_.definitions(), take_message());
        }
    }
    return definitions_;
}

void Archive::finish_definitions()
{
    check(OTF2_Archive_CloseGlobalDefWriter(archive_, std::exchange(definitions_, nullptr)), "{}",
          files_.definitions());
}

void Archive::set_property(const std::string& name, const std::string& value)
{
    check(OTF2_Archive_SetProperty(archive_, name.c_str(), value.c_str(), true), "{}: property {}", files_.anchor(),
          name);
}

void Archive::close()
{
    check(OTF2_Archive_Close(std::exchange(archive_, nullptr)), "{}", files_.anchor());
}

void Archive::check_location(OTF2_LocationRef location, std::uint64_t events) const
{
    if (events == 0) {
        return;  // nobody reads its files
    }
    const std::string file = files_.events(location);
    const std::string definitions = files_.local_definitions(location);
    ChunkMemory memory;
    check_written(file, [&] { check_event_file(file, event_chunk, events, memory); });
    check_written(definitions, [&] { read_local_definitions(definitions, definition_chunk_, memory); });
}

void Archive::check_definitions() const
{
    const std::string definitions = files_.definitions();
    check_written(files_.anchor(), [&] { check_anchor_file(files_.anchor()); });
    ChunkMemory memory;
    check_written(definitions, [&] { check_definition_file(definitions, definition_chunk_, memory); });
}

std::string ArchiveFiles::events(OTF2_LocationRef location) const
{
    return fmt::format("{}/{}.evt", event_directory(), location);
}

std::string ArchiveFiles::local_definitions(OTF2_LocationRef location) const
{
    return fmt::format("{}/{}.def", event_directory(), location);
}

}  // namespace critpath::otf2
