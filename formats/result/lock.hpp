// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <functional>

namespace critpath::result
{

/// While it lives, no other process that asks for it writes a result of `trace`. The constructor makes TRACE/critpath
/// if need be, and waits until nobody else has the lock; `before_waiting` is called if that is so. Whoever dies has let
/// it go. File systems that know no such locks give none, and a directory that cannot be made is left to who writes.
class Lock
{
public:
    Lock(const std::filesystem::path& trace, const std::function<void()>& before_waiting);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    int directory_;
};

}  // namespace critpath::result
