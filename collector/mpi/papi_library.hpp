// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns under which names the PAPI library is looked for, by the launcher and by the library that is preloaded.
#pragma once

namespace critpath
{

/// The first that can be opened is used.
inline constexpr const char* papi_libraries[] = {"libpapi.so.7.0", "libpapi.so.7", "libpapi.so.6.0", "libpapi.so.6",
                                                 "libpapi.so"};

}  // namespace critpath
