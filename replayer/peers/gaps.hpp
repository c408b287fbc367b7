// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the gaps of the owned processes: what a process' first thread does between two MPI calls, at which place of the
// program, and which of them are on the path.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/peers/split.hpp"
#include "replayer/restore/restore.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// Where in the program a gap is: the calls before and after it.
struct GapPlace {
    model::ContextId before, after;
    auto operator<=>(const GapPlace&) const = default;
};

/// The gaps of one process. Gap i, from 1 on, lies before call i: points are no calls, and what is entered behind the
/// end of the application or of a recording is none. Must not outlive the trace.
class Gaps
{
public:
    explicit Gaps(const model::LocationTrace& location);

    [[nodiscard]] std::size_t end() const { return end_; }  // one more than the last
    [[nodiscard]] GapPlace place(std::size_t i) const
    {
        const model::Calls& calls = location_->calls;
        return {calls.context(calls_.number(i - 1)), calls.context(calls_.number(i))};
    }
    [[nodiscard]] model::Ns begin_of(std::size_t i) const { return calls_.leave(i - 1); }
    [[nodiscard]] model::Ns end_of(std::size_t i) const { return calls_.enter(i); }

    /// The first gap that ends behind `time`.
    [[nodiscard]] std::size_t first_behind(model::Ns time);
    /// Of [begin, end), what is neither the collector's own nor unrecorded, ns.
    [[nodiscard]] std::int64_t recorded(model::Ns begin, model::Ns end);
    /// Of [begin, end), when the thread had a processor, ns.
    [[nodiscard]] std::int64_t on_processor(model::Ns begin, model::Ns end);
    [[nodiscard]] Gap measure(std::size_t i);

    [[nodiscard]] const model::LocationTrace& location() const { return *location_; }

private:
    [[nodiscard]] std::int64_t page_faults(model::Ns begin, model::Ns end);

    const model::LocationTrace* location_;
    model::CallsAlone calls_;
    std::size_t end_;
    bool has_page_faults_;
    // Where the last answers were: questions come mostly in the order of time.
    std::size_t near_ = 0, near_tool_ = 0, near_unrecorded_ = 0, near_off_ = 0, near_sample_ = 0;
};

/// A gap, as far as it is on the path.
struct GapOnPath {
    std::size_t process;  // index into Replay::processes
    std::size_t gap;
    std::int64_t ns;
};

/// The gaps on the path, each once, of each process in order of time. `gaps`: by index into Replay::processes. All must
/// outlive this.
class GapsOnPath
{
public:
    GapsOnPath(const Replay& replay, const Path& path, std::vector<Gaps>& gaps)
        : replay_(replay), path_(path), gaps_(gaps), open_(gaps.size())
    {
    }

    std::optional<GapOnPath> next();

private:
    bool begin_piece();

    const Replay& replay_;
    const Path& path_;
    std::vector<Gaps>& gaps_;
    std::size_t piece_ = 0;
    bool in_piece_ = false;
    std::size_t process_ = 0;      // of the piece
    std::size_t gap_ = 0;          // the next one on the piece
    std::vector<GapOnPath> open_;  // by process: the last one, of which more may follow; none has 0 ns
    std::size_t closing_ = 0;
};

/// Numbers for places, or for some of them.
class GapPlaces
{
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit GapPlaces(std::size_t contexts) : last_(contexts, none) {}

    [[nodiscard]] std::uint32_t find(GapPlace place) const
    {
        std::uint32_t i = last_[place.after.value];
        while (i != none && entries_[i].before != place.before)
            i = entries_[i].next;
        return i;
    }
    std::uint32_t add(GapPlace place)
    {
        if (const std::uint32_t known = find(place); known != none)
            return known;
        entries_.push_back({place.before, last_[place.after.value]});
        places_.push_back(place);
        return last_[place.after.value] = static_cast<std::uint32_t>(places_.size() - 1);
    }
    [[nodiscard]] const std::vector<GapPlace>& places() const { return places_; }

private:
    struct Entry {
        model::ContextId before;
        std::uint32_t next;  // of those with the same call after it
    };
    std::vector<std::uint32_t> last_;  // by the call after it
    std::vector<Entry> entries_;
    std::vector<GapPlace> places_;
};

}  // namespace critpath::replayer
