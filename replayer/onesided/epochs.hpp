// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the epochs of one process: which call began each, which ended it, and what was done in it.
#pragma once

#include "analysis/model/trace.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Two calls on a window, by their places in ProcessTrace::window_events; `end` is `open` where the epoch was not
/// ended.
struct Epoch {
    static constexpr std::uint32_t open = UINT32_MAX;

    std::uint32_t begin;
    std::uint32_t end = open;
};

struct Epochs {
    enum class Kind : std::uint8_t { None, Access, Lock };
    /// The epoch of a transfer or flush; transfers between fences are in none.
    struct Place {
        Kind kind = Kind::None;
        std::uint32_t epoch = 0;  // index into `access` or `locks`
    };

    explicit Epochs(const std::vector<model::WindowEvent>& events);

    std::vector<Epoch> access;    // Start to Complete
    std::vector<Epoch> exposure;  // Post to Wait
    std::vector<Epoch> locks;     // Lock to Unlock
    std::vector<Place> of_event;  // by event; also that of the calls that begin and end it
};

}  // namespace critpath::replayer
