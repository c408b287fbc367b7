// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a pattern is: a step of the made-up program, over and over again. One file a pattern.
#pragma once

#include "bench/generate/program.hpp"

#include <cstdint>
#include <memory>

namespace critpath::bench
{

class Pattern
{
public:
    Pattern() = default;
    virtual ~Pattern() = default;
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    /// Of all ranks, on average.
    [[nodiscard]] virtual double events_a_step() const = 0;
    /// Whether the ranks meet often enough without an Allreduce of the whole program.
    [[nodiscard]] virtual bool synchronises() const { return false; }

    /// Moves each rank's time to the end of its part of the step, and writes down what the own ranks did.
    virtual void step(std::uint64_t number) = 0;
};

inline constexpr int events_a_collective = 4;
inline constexpr int events_a_message_call = 3;

std::unique_ptr<Pattern> make_halo(Program& program);
std::unique_ptr<Pattern> make_wavefront(Program& program);
std::unique_ptr<Pattern> make_collective(Program& program);
std::unique_ptr<Pattern> make_irregular(Program& program);

}  // namespace critpath::bench
