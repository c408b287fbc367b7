// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One half of a library for symbols_test.cpp, of which twin_two.cpp is the other: both have functions of the same
// names.
#include <cstdint>

namespace
{

__attribute__((noinline, used)) int hidden(int x)
{
    return x * 7 + 3;
}

__attribute__((noinline, used)) int alone_in_one(int x)
{
    return x * 9 + 4;
}

}  // namespace

extern "C" {
__attribute__((noinline, used)) static int twin(int x)
{
    return x * 5 + 1;
}
__attribute__((noinline, visibility("hidden"), used)) int half_global(int x)
{
    return x * 3 + 1;
}
__attribute__((visibility("default"))) std::uintptr_t twins_of_one(int which)
{
    int (*const functions[])(int) = {hidden, twin, half_global, alone_in_one};
    return reinterpret_cast<std::uintptr_t>(functions[which]);
}
}
