// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/reader.hpp"

#include "formats/otf2/anchor_check.hpp"
#include "formats/otf2/definition_file.hpp"
#include "formats/otf2/event_file.hpp"
#include "formats/otf2/input_file.hpp"
#include "formats/otf2/local_definitions.hpp"
#include "formats/support/last_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#include <system_error>
#include <vector>

#include <sys/stat.h>

namespace critpath::otf2
{

namespace fs = std::filesystem;

namespace
{

// ------------------------------------------------------------------------------------------------ callbacks

/// What the C callbacks get as user data. An exception of the handler must not pass through libotf2: it is kept, the
/// reading is interrupted, and rethrow() goes on with it on our side.
struct Sink {
    DefinitionHandler& handler;
    std::exception_ptr failure;

    template <class... Args>
    OTF2_CallbackCode deliver(const Args&... args) noexcept
    {
        try {
            handler.on(args...);
            return OTF2_CALLBACK_SUCCESS;
        } catch (...) {
            failure = std::current_exception();
            return OTF2_CALLBACK_INTERRUPT;
        }
    }
    void rethrow() const
    {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
};

// The C shims: libotf2's parameters behind the common ones are, in order, the members of our record.
template <class Record, class... Values>
OTF2_CallbackCode define(void* user, Values... values)
{
    return static_cast<Sink*>(user)->deliver(Record{values...});
}

using DefinitionCallbacks =
    std::unique_ptr<OTF2_GlobalDefReaderCallbacks, decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>;
DefinitionCallbacks definition_callbacks()
{
    using namespace definition;
    DefinitionCallbacks callbacks(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
    auto* c = callbacks.get();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, define<ClockProperties>);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, define<String>);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, define<definition::Attribute>);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, define<SystemTreeNode>);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, define<LocationGroup>);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, define<Location>);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, define<Region>);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, define<Group>);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, define<Comm>);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, define<InterComm>);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, define<MetricMember>);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, define<MetricClass>);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, define<CallingContext>);
    OTF2_GlobalDefReaderCallbacks_SetCallingContextPropertyCallback(c, define<CallingContextProperty>);
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(c, define<InterruptGenerator>);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, define<RmaWin>);
    OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(c, define<CartDimension>);
    OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(c, define<CartTopology>);
    OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(c, define<CartCoordinate>);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(c, define<LocationGroupProperty>);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, define<LocationProperty>);
    return callbacks;
}

// ---------------------------------------------------------------------------------------------------- files

[[noreturn]] void fail_reading(const fs::path& file, OTF2_ErrorCode rc)
{
    fail(ExitCode::BadTrace, "{}: cannot be read: {}; {}", file.string(), describe(rc), retry);
}

/// What is said if reading a file ends this process: libotf2 trusts what it reads.
LastWords last_words(const fs::path& file)
{
    return LastWords(ExitCode::BadTrace,
                     fmt::format("{}: reading it crashed, so its content is damaged; {}", file.string(), retry));
}

}  // namespace

static const char* why_no_anchor(const fs::path& directory)
{
    std::error_code error;
    if (fs::is_empty(directory, error)) {
        return "an empty directory: if cpcollect has made it, nothing was recorded, because there was no room (it said "
               "so then) or because nothing that it started came to MPI_Init with what records it; record the program "
               "itself, and not one that starts it with another LD_PRELOAD";
    }
    if (fs::exists(directory / "spool", error)) {
        return "no .otf2 file, only the raw records of an application that did not reach MPI_Finalize; make the trace "
               "of them with cpcollect recover";
    }
    return "no .otf2 file in this directory; give the directory that cpcollect made";
}

fs::path find_anchor(const fs::path& trace)
{
    std::error_code error;
    if (!is_there(trace)) {
        fail(ExitCode::BadTrace, "{}: no such file or directory; give the directory that cpcollect made",
             trace.string());
    }
    if (!fs::is_directory(trace, error)) {
        return trace;
    }
    if (is_there(trace / "traces.otf2")) {
        return trace / "traces.otf2";
    }
    std::vector<fs::path> anchors;
    for (const auto& entry : fs::directory_iterator(trace, error)) {
        if (entry.path().extension() == ".otf2") {
            anchors.push_back(entry.path());
        }
    }
    if (error) {
        fail(ExitCode::BadTrace, "{}: {}; check the permissions", trace.string(), error.message());
    }
    if (anchors.empty()) {
        fail(ExitCode::BadTrace, "{}: {}", trace.string(), why_no_anchor(trace));
    }
    if (anchors.size() > 1) {
        fail(ExitCode::BadTrace, "{}: {} .otf2 files in this directory; give one of them instead", trace.string(),
             anchors.size());
    }
    return anchors.front();
}

// --------------------------------------------------------------------------------------------------- reader

struct Reader::State {
    struct Close {
        void operator()(OTF2_Reader* handle) const { OTF2_Reader_Close(handle); }
    };

    explicit State(const fs::path& file) : anchor(file)
    {
        check_anchor_file(file);
        const LastWords words = last_words(file);
        reader.reset(OTF2_Reader_Open(file.c_str()));
        if (!reader) {
            fail_reading(file, OTF2_ERROR_INVALID_DATA);
        }
        const OTF2_ErrorCode rc = OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
        if (rc != OTF2_SUCCESS) {
            fail_reading(file, rc);
        }
        OTF2_Reader_GetChunkSize(reader.get(), &event_chunk, &definition_chunk);
    }

    /// The file of a location: <anchor without .otf2>/<location>.<extension>
    [[nodiscard]] fs::path file_of(OTF2_LocationRef location, const char* extension) const
    {
        return fs::path(anchor).replace_extension() / fmt::format("{}.{}", location, extension);
    }

    LocalDefinitions local_definitions(OTF2_LocationRef location);

    QuietErrors quiet;  // outlives the reader, which may say something when it closes
    fs::path anchor;
    std::unique_ptr<OTF2_Reader, Close> reader;
    std::uint64_t event_chunk = 0;  // bytes
    std::uint64_t definition_chunk = 0;
    std::optional<bool> has_some_local_definitions;  // of any location; known where one has none
    ChunkMemory memory;
};

Reader::Reader(const fs::path& anchor) : state_(std::make_unique<State>(anchor)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

fs::path Reader::event_file(OTF2_LocationRef location) const
{
    return state_->file_of(location, "evt");
}

void Reader::read_definitions(DefinitionHandler& handler)
{
    OTF2_Reader* reader = state_->reader.get();
    const fs::path file = fs::path(state_->anchor).replace_extension("def");
    if (!is_there(file)) {
        fail(ExitCode::BadTrace, "{}: missing, though the anchor file is there; {}", file.string(), retry);
    }
    check_definition_file(file, state_->definition_chunk, state_->memory);
    const LastWords words = last_words(file);
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (definitions == nullptr) {
        fail_reading(file, OTF2_ERROR_INVALID_DATA);
    }
    Sink sink{handler, {}};
    const auto callbacks = definition_callbacks();
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), &sink);
    std::uint64_t promised = 0;
    std::uint64_t found = 0;
    OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &promised);
    const OTF2_ErrorCode rc = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &found);
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    sink.rethrow();
    if (found != promised) {
        fail(ExitCode::BadTrace, "{}: the anchor file promises {} definitions, {} could be read; {}", file.string(),
             promised, found, retry);
    }
    if (rc != OTF2_SUCCESS) {
        fail_reading(file, rc);
    }
}

std::string Reader::property(const std::string& name) const
{
    char* value = nullptr;
    const OTF2_ErrorCode rc = OTF2_Reader_GetProperty(state_->reader.get(), name.c_str(), &value);
    std::string text = rc == OTF2_SUCCESS && value != nullptr ? value : "";
    std::free(value);
    take_message();  // that there is no such property is no failure
    return text;
}

void Reader::check_location(OTF2_LocationRef location, std::uint64_t promised) const
{
    if (promised == 0) {
        return;
    }
    const fs::path file = event_file(location);
    struct stat status {
    };
    if (::stat(file.c_str(), &status) != 0 && !is_there(file)) {
        fail(ExitCode::BadTrace, "{}: missing, though the definitions promise {} events in it; {}", file.string(),
             promised, retry);
    }
    if (!S_ISREG(status.st_mode)) {
        fail(ExitCode::BadTrace, "{}: not a file; {}", file.string(), retry);
    }
    // Before memory is reserved for them.
    constexpr std::uint64_t smallest_event = 2;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (promised > size / smallest_event) {
        fail(ExitCode::BadTrace, "{}: {}, though the definitions promise {} events in it; {}", file.string(),
             size == 0 ? "empty" : fmt::format("has {} bytes", size), promised, retry);
    }
}

static bool has_local_definitions(const fs::path& directory)
{
    std::error_code error;
    const fs::directory_iterator files(directory, error);
    return std::any_of(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".def"; });
}

/// An archive may do without local definitions, but not for some of its locations.
LocalDefinitions Reader::State::local_definitions(OTF2_LocationRef location)
{
    const fs::path file = file_of(location, "def");
    if (is_there(file)) {
        return read_local_definitions(file, definition_chunk, memory);
    }
    if (!has_some_local_definitions) {
        has_some_local_definitions = has_local_definitions(file.parent_path());
    }
    if (*has_some_local_definitions) {
        fail(ExitCode::BadTrace, "{}: missing, though other locations have theirs; {}", file.string(), retry);
    }
    return {};
}

void Reader::read_events(OTF2_LocationRef location, std::uint64_t promised, EventHandler& handler)
{
    if (promised == 0) {
        return;
    }
    const LocalDefinitions local = state_->local_definitions(location);
    for (const definition::ClockOffset& offset : local.clock_offsets) {
        handler.on(offset);
    }
    read_event_file(event_file(location), state_->event_chunk, promised, local, state_->memory, handler);
}

}  // namespace critpath::otf2
