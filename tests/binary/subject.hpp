// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a program for the tests: inlined functions in two files. A marked instruction says where it is by a symbol, and
// in which line by its text.
#pragma once

#include "tests/binary/workbench.hpp"

#include <string>

namespace critpath::binary
{

inline const std::string subject_header = R"(#pragma once
#define MARK(name) asm volatile(".globl " #name "\n" #name ":\n nop")
#define INLINED inline __attribute__((always_inline))
#define ALONE __attribute__((noinline))

namespace space
{
struct Grid {
    static INLINED void smooth(int& x)
    {
        MARK(in_smooth);
        ++x;
    }
};
}
)";

inline const std::string subject_source = R"(#include "include/grid.hpp"

namespace space
{
static INLINED int twice(int x)
{
    MARK(in_twice);
    Grid::smooth(x);  // smooth into twice
    return 2 * x;
}

namespace
{
ALONE int hidden(int x)
{
    MARK(in_hidden);
    return x * 3;
}
}

template <class T>
struct Solver {
    ALONE T step(T x)
    {
        MARK(in_step);
        return x + 1;
    }
};
}

template <class F>
static INLINED void apply(const F& f, int& y)
{
    f(y);
}

extern "C" int plain(int x)
{
    x += 7;
    MARK(in_plain);
    x = space::twice(x);  // twice into plain
    const auto lambda = [](int& y) __attribute__((always_inline)) {
        MARK(in_lambda);
        y += 2;
    };
    lambda(x);  // lambda into plain
    apply([](int& y) __attribute__((always_inline)) {  // the first of two
        MARK(in_first);
        y += 3;
    }, x);
    apply([](int& y) __attribute__((always_inline)) {  // the second of two
        MARK(in_second);
        y += 4;
    }, x);
    return space::hidden(x) + space::Solver<int>().step(x);
}
)";

/// The line that holds `mark`, counted from one.
inline int line_of(const std::string& text, const std::string& mark)
{
    const std::size_t at = text.find(mark);
    if (at == std::string::npos || text.find(mark, at + 1) != std::string::npos) {
        throw std::logic_error("the mark is not there once: " + mark);
    }
    return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Writes the sources; compile("subject.cpp") follows.
inline void write_subject(const Workbench& bench)
{
    bench.write("include/grid.hpp", subject_header);
    bench.write("subject.cpp", subject_source);
}

}  // namespace critpath::binary
