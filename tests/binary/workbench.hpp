// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a directory in which a test compiles programs and takes them apart.
#pragma once

#include "tests/scratch.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace critpath::binary
{

class Workbench
{
public:
    std::string operator/(const std::string& name) const { return scratch_ / name; }

    void write(const std::string& name, const std::string& text) const
    {
        std::filesystem::create_directories(std::filesystem::path(*this / name).parent_path());
        std::ofstream(*this / name, std::ios::binary) << text;
    }

    [[nodiscard]] std::string read(const std::string& name) const
    {
        std::ifstream file(*this / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Runs a command in the directory; its output.
    std::string run(const std::string& command) const
    {
        FILE* pipe = ::popen(("cd '" + scratch_.path().string() + "' && LC_ALL=C " + command).c_str(), "r");
        std::string output;
        std::array<char, 4096> buffer;
        for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
            output.append(buffer.data(), got);
        }
        if (::pclose(pipe) != 0) {
            throw std::runtime_error("failed: " + command);
        }
        return output;
    }

    /// Compiles a source to a shared library.
    void compile(const std::string& source, const std::string& library, const std::string& options = "-g -O2") const
    {
        compile_with(TEST_CXX, source, library, options);
    }

    void compile_with(const std::string& compiler, const std::string& source, const std::string& library,
                      const std::string& options) const
    {
        run(compiler + " -std=c++20 -shared -fPIC " + options + " " + source + " -o " + library);
    }

    void objcopy(const std::string& arguments) const { run(TEST_OBJCOPY " " + arguments); }

    /// Addresses of all symbols of a binary.
    [[nodiscard]] std::map<std::string, std::uint64_t> symbols(const std::string& binary) const
    {
        std::map<std::string, std::uint64_t> addresses;
        std::istringstream lines(run(TEST_NM " --defined-only " + binary));
        for (std::string address, type, name; lines >> address >> type >> name;) {
            addresses[name] = std::stoull(address, nullptr, 16);
        }
        return addresses;
    }

private:
    test::Scratch scratch_;
};

}  // namespace critpath::binary
