// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/walk.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace critpath::replayer
{

namespace
{

using model::LocationId;
using model::Ns;

class Walker
{
public:
    Walker(std::span<const LocationSpan> spans, std::span<const Jump> jumps)
        : spans_(spans), jumps_(jumps), taken_(jumps.size(), false), begin_(spans.size() + 1, jumps.size())
    {
        std::size_t next = 0;  // location whose jumps have not begun
        for (std::size_t i = 0; i < jumps.size(); ++i)
            while (next <= jumps[i].call.location.value)
                begin_[next++] = i;
    }

    Walk run()
    {
        const auto last = find_end();
        if (!last)
            return {};
        walk_.begin = find_begin();
        walk_.end = spans_[last->value].end;
        location_ = *last;
        time_ = walk_.end;
        while (step()) {
        }
        return std::move(walk_);
    }

private:
    [[nodiscard]] bool is_main(std::size_t i) const { return !spans_[i].empty && spans_[i].main.value == i; }

    [[nodiscard]] std::optional<LocationId> find_end() const
    {
        std::optional<LocationId> last;
        for (std::uint32_t i = 0; i < spans_.size(); ++i)
            if (is_main(i) && (!last || spans_[i].end >= spans_[last->value].end))
                last = LocationId{i};
        return last;
    }

    [[nodiscard]] Ns find_begin() const
    {
        Ns first = Ns::max();
        for (std::size_t i = 0; i < spans_.size(); ++i)
            if (is_main(i))
                first = std::min(first, spans_[i].begin);
        return first;
    }

    /// The last jump of the location before the position that was not taken yet.
    [[nodiscard]] const Jump* previous_jump() const
    {
        const auto begin = jumps_.begin() + static_cast<std::ptrdiff_t>(begin_[location_.value]);
        const auto end = jumps_.begin() + static_cast<std::ptrdiff_t>(begin_[location_.value + 1]);
        auto after =
            end_call_ == Piece::by_time
                ? std::partition_point(begin, end, [&](const Jump& j) { return j.leave <= time_; })
                : std::partition_point(begin, end, [&](const Jump& j) { return j.call.call.value < end_call_; });
        while (after != begin) {
            --after;
            if (!taken_[static_cast<std::size_t>(after - jumps_.begin())])
                return &*after;
        }
        return nullptr;
    }

    void add(Piece piece, Ns begin)
    {
        piece.number = walk_.pieces.size();
        piece.begin = begin.count();
        piece.end = time_.count();
        piece.location = location_.value;
        walk_.pieces.push_back(piece);
        time_ = begin;
    }

    /// One stretch and what is before it; false at the first moment of the run.
    bool step()
    {
        const Jump* jump = previous_jump();
        const LocationSpan& span = spans_[location_.value];
        const Ns begin = std::clamp(jump != nullptr ? jump->leave : span.begin, walk_.begin, time_);
        Piece stretch{};
        stretch.kind = Piece::Kind::Stretch;
        stretch.first_call = jump != nullptr ? jump->call.call.value + 1 : 0;
        stretch.end_call = end_call_;
        add(stretch, begin);
        if (jump != nullptr) {
            take(*jump);
            return true;
        }
        if (span.main != location_) {  // who started the thread is not recorded; its process lived before it
            ++walk_.hops;
            location_ = span.main;
            end_call_ = Piece::by_time;
            return true;
        }
        Piece delay{};
        delay.kind = Piece::Kind::StartDelay;
        add(delay, walk_.begin);
        return false;
    }

    void take(const Jump& jump)
    {
        taken_[static_cast<std::size_t>(&jump - jumps_.data())] = true;
        if (jump.to_enter > time_)
            ++walk_.clock_violations;
        Piece piece{};
        piece.kind = Piece::Kind::Jump;
        piece.from = jump.to.location.value;
        piece.bytes = jump.bytes;
        piece.region = jump.region.value;
        piece.segment_kind = jump.kind;
        piece.low_confidence = jump.low_confidence;
        add(piece, std::clamp(jump.to_enter, walk_.begin, time_));
        walk_.hops += jump.to.location != location_ ? 1 : 0;
        location_ = jump.to.location;
        end_call_ = jump.to.call.value;
    }

    std::span<const LocationSpan> spans_;
    std::span<const Jump> jumps_;
    std::vector<bool> taken_;
    std::vector<std::size_t> begin_;  // by location: where its jumps begin

    Walk walk_;
    LocationId location_;
    Ns time_{};
    std::uint32_t end_call_ = Piece::by_time;
};

}  // namespace

Walk walk(std::span<const LocationSpan> spans, std::span<const Jump> jumps)
{
    return Walker(spans, jumps).run();
}

}  // namespace critpath::replayer
