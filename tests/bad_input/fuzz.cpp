// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Archives that libFuzzer makes, led by which code they reach. An input is an archive in one piece (encode); those with
// no clear verdict end the run. Needs no corpus: what is no archive becomes a whole one.
//
// fuzz -max_len=20000 -runs=100000 [CORPUS]     with ASAN_OPTIONS=detect_leaks=0: MPI keeps memory
#include "tests/bad_input/judge.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t capacity);

namespace
{

using namespace critpath::bad_input;

const std::vector<Archive>& samples()
{
    static const std::vector<Archive> all = {twins(), variety()};
    return all;
}

/// The files one after the other, each behind its size; before them, which sample's names they have.
std::string encode(std::uint8_t sample, const Archive& archive)
{
    std::string text(1, static_cast<char>(sample));
    for (const File& file : archive) {
        const auto size = static_cast<std::uint32_t>(file.bytes.size());
        text.append(reinterpret_cast<const char*>(&size), sizeof size);
        text += file.bytes;
    }
    return text;
}

/// A size that leads beyond the end takes what there is.
Archive decode(std::string text)
{
    if (text.empty()) {
        return samples()[0];
    }
    Archive archive = samples()[static_cast<std::uint8_t>(text[0]) % samples().size()];
    text.erase(0, 1);
    for (File& file : archive) {
        std::uint32_t size = 0;
        if (text.size() < sizeof size) {
            break;
        }
        std::memcpy(&size, text.data(), sizeof size);
        file.bytes = text.substr(sizeof size, size);
        text.erase(0, sizeof size + file.bytes.size());
    }
    return archive;
}

std::string text_of(const std::uint8_t* data, std::size_t size)
{
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    MPI_Init(argc, argv);
    return 0;
}

/// Changes one file of the archive, so that the sizes of the others stay right.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t capacity,
                                               unsigned int seed)
{
    const auto sample = static_cast<std::uint8_t>(size < 2 ? seed : data[0]);
    Archive archive = size < 2 ? samples()[sample % samples().size()] : decode(text_of(data, size));
    std::string& bytes = archive[seed / 2 % archive.size()].bytes;
    constexpr std::size_t room = 64;
    const std::size_t old = bytes.size();
    bytes.resize(old + room);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), old, bytes.size()));
    const std::string text = encode(sample, archive);
    if (text.size() > capacity) {
        return size;
    }
    std::ranges::copy(text, data);
    return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static Workshop workshop;
    const Judgement judgement = judge(workshop.lay_out(decode(text_of(data, size))), Depth::Replay);
    if (judgement.verdict == Verdict::Wrong) {
        std::fprintf(stderr, "no verdict: %s\n", judgement.words.c_str());
        std::abort();
    }
    return 0;
}
