// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what code there is by the definitions: regions and the contexts that they are reached in.
#pragma once

#include "replayer/load/collected.hpp"
#include "replayer/load/definitions.hpp"

#include <string>

namespace critpath::replayer::load
{

void define_code(const Collected& in, const std::string& file, LoadedDefinitions& out);

}  // namespace critpath::replayer::load
