// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who a test is: root may read what nobody may, so that permissions are tested as somebody else.
#pragma once

#include <unistd.h>

namespace critpath::test
{

class AsNobody
{
public:
    AsNobody() : was_root_(geteuid() == 0), is_other_(!was_root_ || seteuid(65534) == 0) {}
    ~AsNobody()
    {
        if (was_root_ && is_other_ && seteuid(0) != 0) {
            _exit(1);
        }
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;

    /// False: it may not become somebody else, and permissions mean nothing.
    [[nodiscard]] bool is_other() const { return is_other_; }

private:
    bool was_root_, is_other_;
};

}  // namespace critpath::test
