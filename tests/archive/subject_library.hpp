// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns subject.cpp as it is loaded into the test, and what the process has loaded.
#pragma once

#include "collector/archive/address_map.hpp"
#include "collector/archive/symbols.hpp"
#include "formats/binary/demangle.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include <dlfcn.h>

namespace critpath::archive
{

inline constexpr int hidden_one = 0;
inline constexpr int hidden_two = 1;
inline constexpr int visible = 2;
inline constexpr int aliased = 3;

inline std::string own_maps()
{
    std::ifstream maps("/proc/self/maps");
    std::stringstream text;
    text << maps.rdbuf();
    return text.str();
}

class Subject
{
public:
    explicit Subject(const char* path, const char* addresses = "subject_address")
        : path_(path), library_(dlopen(path, RTLD_NOW | RTLD_LOCAL))
    {
        if (library_ != nullptr) {
            address_ = reinterpret_cast<std::uintptr_t (*)(int)>(dlsym(library_, addresses));
        }
        maps_ = own_maps();
    }
    ~Subject() { dlclose(library_); }
    Subject(const Subject&) = delete;
    Subject& operator=(const Subject&) = delete;

    [[nodiscard]] std::uint64_t address(int which) const { return address_(which); }
    [[nodiscard]] const std::string& maps() const { return maps_; }

    // Address within the file.
    [[nodiscard]] std::uint64_t in_binary(int which, const SymbolTable& symbols) const
    {
        const AddressMap map(maps_);
        const MappedRange* range = map.find(address(which));
        EXPECT_NE(range, nullptr);
        return symbols.address_of(address(which) - range->start + range->offset).value();
    }

private:
    std::string path_;
    void* library_;
    std::uintptr_t (*address_)(int) = nullptr;
    std::string maps_;
};

inline std::string name_at(const SymbolTable& symbols, std::uint64_t address)
{
    const auto found = symbols.find(address);
    return found ? binary::demangle(found->name) : "nothing";
}

}  // namespace critpath::archive
