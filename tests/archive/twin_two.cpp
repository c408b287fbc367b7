// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The other half: see twin_one.cpp.
#include <cstdint>

namespace
{

__attribute__((noinline, used)) int hidden(int x)
{
    return x ^ 0x71;
}

__attribute__((noinline, used)) int alone_in_two(int x)
{
    return x ^ 0x93;
}

}  // namespace

extern "C" {
__attribute__((noinline, used)) static int twin(int x)
{
    return x ^ 0x55;
}
__attribute__((noinline, used)) static int half_global(int x)
{
    return x ^ 0x31;
}
__attribute__((visibility("default"))) std::uintptr_t twins_of_two(int which)
{
    int (*const functions[])(int) = {hidden, twin, half_global, alone_in_two};
    return reinterpret_cast<std::uintptr_t>(functions[which]);
}
}
