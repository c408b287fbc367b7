// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a thread is said to be blocked for, by the system call in which it was found.
#pragma once

#include <cstdint>

namespace critpath::otf2
{

/// The value of Attribute::WaitsFor, in bits; Unknown is not written.
enum class WaitsFor : std::uint8_t {
    Other = 0,         // a file, a pipe, another process, ...
    Thread = 1,        // another thread of its process: a lock, a condition, a barrier, the end of a thread
    Time = 2,          // a while at most, and perhaps for something else in it
    ThreadOrTime = 3,  // as a condition with a limit of time
    Unknown = 0xff,
};

constexpr bool is_for_thread(WaitsFor what)
{
    return what == WaitsFor::Thread || what == WaitsFor::ThreadOrTime;
}

constexpr bool may_be_for_thread(WaitsFor what)
{
    return is_for_thread(what) || what == WaitsFor::Unknown;
}

/// It goes on after a while whatever happens, as in a loop that sleeps.
constexpr bool is_for_a_while(WaitsFor what)
{
    return what == WaitsFor::Time || what == WaitsFor::ThreadOrTime;
}

/// It goes on when something has been done.
constexpr bool is_until_done(WaitsFor what)
{
    return what == WaitsFor::Other || what == WaitsFor::Thread;
}

}  // namespace critpath::otf2
