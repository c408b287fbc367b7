// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A library whose functions symbols_test.cpp looks for, in builds with and without symbols. It prints nothing but
// where they are: the test asks for addresses through this one exported function.
#include <cstdint>

namespace subject
{

namespace
{

__attribute__((noinline, used)) int hidden_one(int x)
{
    return x * 7 + 3;
}

__attribute__((noinline, used)) int hidden_two(int x)
{
    return (x ^ 0x55) - hidden_one(x);
}

}  // namespace

__attribute__((noinline, visibility("default"))) int visible(int x, double)
{
    return hidden_two(x) * 5;
}

}  // namespace subject

// Three names for one function, as C libraries have them.
extern "C" {
__attribute__((noinline, visibility("default"))) int __subject_inside(int x)
{
    return x * 13 + 4;
}
__attribute__((weak, alias("__subject_inside"), visibility("default"))) int subject_weak_name(int);
__attribute__((alias("__subject_inside"), visibility("default"))) int subject_global_name(int);
}

extern "C" __attribute__((visibility("default"))) std::uintptr_t subject_address(int which)
{
    switch (which) {
    case 0:
        return reinterpret_cast<std::uintptr_t>(&subject::hidden_one);
    case 1:
        return reinterpret_cast<std::uintptr_t>(&subject::hidden_two);
    case 2:
        return reinterpret_cast<std::uintptr_t>(&subject::visible);
    default:
        return reinterpret_cast<std::uintptr_t>(&subject_weak_name);
    }
}
