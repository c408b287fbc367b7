// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/binary/demangle.hpp"

#include <array>
#include <cstdlib>

#include <cxxabi.h>

namespace critpath::binary
{

namespace
{

std::string demangle_function(const std::string& name)
{
    int status = 0;
    char* text = name.starts_with("_Z") ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status) : nullptr;
    if (text != nullptr) {
        std::string result = text;
        std::free(text);
        return result;
    }
    // No name of a module begins with an underscore, and Fortran has no capitals: the first "_MOD_" is the compiler's.
    constexpr std::string_view before = "__";
    constexpr std::string_view between = "_MOD_";
    const std::size_t at = name.starts_with(before) ? name.find(between) : std::string::npos;
    if (at != std::string::npos && at > before.size() && at + between.size() < name.size()) {
        return name.substr(before.size(), at - before.size()) + "::" + name.substr(at + between.size());
    }
    return name;
}

}  // namespace

std::string demangle(const std::string& name)
{
    if (name.ends_with(stub_ending)) {
        return demangle_function(name.substr(0, name.size() - stub_ending.size())).append(stub_ending);
    }
    return demangle_function(name);
}

std::string_view without_clones(std::string_view name)
{
    constexpr std::array<std::string_view, 5> marks = {" [clone ", ".constprop.", ".isra.", ".part.", ".lto_priv."};
    for (const std::string_view mark : marks) {
        name = name.substr(0, name.find(mark));
    }
    return name;
}

}  // namespace critpath::binary
