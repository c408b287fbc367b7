// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/epochs.hpp"

#include <map>
#include <optional>
#include <utility>

namespace critpath::replayer
{

namespace
{

using What = model::WindowEvent::What;

/// Which epochs are open while the events go by: of access and exposure one at a time on each window, of locks one a
/// target (-1: all).
class Builder
{
public:
    explicit Builder(Epochs& epochs) : out_(epochs) {}

    Epochs::Place add(const model::WindowEvent& event, std::uint32_t index)
    {
        switch (event.what) {
        case What::Start:
            return {Epochs::Kind::Access, begin(access_[event.window], out_.access, index)};
        case What::Complete:
            return place(Epochs::Kind::Access, end(access_[event.window], out_.access, index));
        case What::Post:
            begin(exposure_[event.window], out_.exposure, index);
            return {};
        case What::Wait:
            end(exposure_[event.window], out_.exposure, index);
            return {};
        case What::Lock:
            return {Epochs::Kind::Lock, begin(locks_[{event.window, event.target}], out_.locks, index)};
        case What::Unlock:
            return place(Epochs::Kind::Lock, end(locks_[{event.window, event.target}], out_.locks, index));
        case What::Sync:
            return {};
        case What::Transfer:
        case What::Flush:
            break;
        }
        return inside(event);
    }

private:
    using Open = std::optional<std::uint32_t>;

    static std::uint32_t begin(Open& open, std::vector<Epoch>& epochs, std::uint32_t index)
    {
        open = static_cast<std::uint32_t>(epochs.size());
        epochs.push_back({index});
        return *open;
    }

    static Open end(Open& open, std::vector<Epoch>& epochs, std::uint32_t index)
    {
        if (open)
            epochs[*open].end = index;
        return std::exchange(open, std::nullopt);
    }

    static Epochs::Place place(Epochs::Kind kind, Open epoch)
    {
        return epoch ? Epochs::Place{kind, *epoch} : Epochs::Place{};
    }

    Epochs::Place inside(const model::WindowEvent& event)
    {
        for (const std::int32_t target : {event.target, -1})
            if (const auto lock = locks_.find({event.window, target}); lock != locks_.end() && lock->second)
                return {Epochs::Kind::Lock, *lock->second};
        return place(Epochs::Kind::Access, access_[event.window]);
    }

    Epochs& out_;
    std::map<model::WindowId, Open> access_, exposure_;
    std::map<std::pair<model::WindowId, std::int32_t>, Open> locks_;
};

}  // namespace

Epochs::Epochs(const std::vector<model::WindowEvent>& events)
{
    Builder builder(*this);
    of_event.reserve(events.size());
    for (std::uint32_t i = 0; i < events.size(); ++i)
        of_event.push_back(builder.add(events[i], i));
}

}  // namespace critpath::replayer
