// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the reading of this process' memory map for the spool: its lines, and for each binary what tells it from another
// one that may come to its path before somebody reads its symbols (formats/spool/record.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace critpath::preload
{

/// Its memory is mapped for as long as it lives. No cost but some system calls for each binary.
class MapsReader
{
public:
    struct Line {
        const char* text;
        std::size_t size;  // with its end
        bool is_code;      // of executable memory, or about the binary in the line before it
    };

    MapsReader();
    ~MapsReader();
    MapsReader(const MapsReader&) = delete;
    MapsReader& operator=(const MapsReader&) = delete;

    /// Valid until the next call. False at the end, or where the map cannot be read.
    bool next(Line& line);

private:
    struct Memory;

    bool read_line(Line& line);
    void look_at(Line& line);
    void identify();
    bool identify_by_build_id(bool& is_binary);
    void identify_by_file();

    Memory* memory_ = nullptr;
    int fd_ = -1;
    std::size_t filled_ = 0, done_ = 0;  // of the text
    bool is_said_ = true;                // what tells the binary of the last line from others
};

}  // namespace critpath::preload
