// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a random program while it is drawn: the steps so far, the communicators, and the numbers of requests. The blocks
// of the grammar (blocks.hpp) draw on it.
#pragma once

#include "tests/oracle/grammar.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace critpath::oracle
{

/// Of a collective operation, where it does not matter.
inline constexpr std::uint64_t usual_bytes = 8;
/// Of collective operations that are told apart by their size: each of another power of two.
inline constexpr std::array<std::uint64_t, 4> collective_sizes = {usual_bytes, 5'000, 60'000, 400'000};

/// The index of a rank, or of a member.
inline std::size_t at(int number)
{
    return static_cast<std::size_t>(number);
}

class Sketch
{
public:
    /// Communicators of every sketch. `inter`: ranks of even numbers on its first side.
    static constexpr std::size_t world = 0, even = 1, reversed = 2, inter = 3, ring = 4, plane = 5, of_threads = 6,
                                 graph = 7;

    /// All ranks have been through MPI_Init.
    explicit Sketch(int ranks);

    /// `times`: as Block.
    void seed(std::uint32_t seed, std::uint32_t times = 0)
    {
        random_.seed(seed);
        times_ = times != 0 ? std::optional(std::mt19937(times)) : std::nullopt;
    }
    Program finish() { return std::move(program_); }

    [[nodiscard]] int ranks() const { return program_.ranks; }
    [[nodiscard]] const std::vector<int>& members(std::size_t comm) const { return program_.comms[comm]; }
    [[nodiscard]] const Program& program() const { return program_; }
    /// 0 .. ranks - 1.
    [[nodiscard]] std::vector<int> all() const;
    /// A number that no other block of the program gets.
    int unique() { return next_unique_++; }

    int draw(int from, int to)
    {
        return from + static_cast<int>(random_() % static_cast<std::uint32_t>(to - from + 1));
    }
    bool chance(int one_of) { return draw(1, one_of) == 1; }
    template <class T>
    T one_of(std::initializer_list<T> all)
    {
        return all.begin()[draw(0, static_cast<int>(all.size()) - 1)];
    }
    std::mt19937& random() { return random_; }
    std::uint64_t size();
    /// Of a collective operation.
    std::uint64_t collective_size();

    template <class Visit>
    void each(Visit visit)
    {
        for (int r = 0; r < ranks(); ++r)
            visit(r);
    }

    /// A communicator with the same members, which is there when they have made it.
    std::size_t copy_of(std::size_t comm);

    void add(int r, Step step) { program_.steps[at(r)].push_back(std::move(step)); }
    void compute(int r, int most = 60);
    /// With a request of its own, which is returned.
    int post(int r, Step step);

    /// A thread of rank `r`, which begins now, with a call; what it does then is up to the caller. Where steps are
    /// added, it stands for a rank.
    int fork(int r);

    int irecv(int r, int from, int tag, std::size_t comm = world);
    int isend(int r, int to, int tag, std::uint64_t bytes, std::size_t comm = world);
    /// A persistent one, for MPI_Startall.
    Step start_of_receive(int r, int from, int tag, std::size_t comm = world);
    Step start_of_send(int r, int to, int tag, std::uint64_t bytes, std::size_t comm = world);
    /// By one MPI_Startall, in any order. Returns their requests.
    std::vector<int> start_all(int r, std::vector<Step> starts);
    void send(int r, int to, int tag, std::uint64_t bytes, std::size_t comm = world);
    void recv(int r, int from, int tag, std::size_t comm = world);
    /// A loop that polls until all or any of `requests` are done, as `function` has it.
    void poll(int r, FunctionId function, const std::vector<int>& requests);
    /// The same by MPI_Request_get_status, which leaves it to a MPI_Wait behind it to complete the request.
    void poll_status(int r, int request);
    /// A loop that probes until a message is there. Returns that message, if `function` is MPI_Improbe.
    int probe_loop(int r, FunctionId function, int from, int tag);
    /// Receives what a matched probe has found, at once or by a request, which is returned then.
    std::optional<int> take(int r, int message);
    /// Completes all of `requests` in one of all ways.
    void complete(int r, std::vector<int> requests);

private:
    std::int64_t between_polls();

    Program program_;
    std::vector<int> requests_;  // by rank: how many
    int next_unique_ = 1000;
    std::mt19937 random_;
    std::optional<std::mt19937> times_;
};

}  // namespace critpath::oracle
