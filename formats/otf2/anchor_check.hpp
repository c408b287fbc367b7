// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is checked of an anchor file before libotf2 sees it.
#pragma once

#include <filesystem>

namespace critpath::otf2
{

/// An anchor file of an archive that this libotf2 can read, whose numbers are such that reading it takes no more memory
/// than it may. Throws Failure(BadTrace) that names the file if not.
void check_anchor_file(const std::filesystem::path& file);

}  // namespace critpath::otf2
