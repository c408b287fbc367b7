// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/windows/program.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <random>
#include <utility>

namespace critpath::oracle::windows
{

namespace
{

class Expansion
{
public:
    explicit Expansion(std::uint32_t seed) : random_(seed)
    {
        program_.ranks = draw(2, 6);
        program_.windows = draw(1, 2) + 1;
        program_.deferral = static_cast<Deferral>(draw(0, 2));
        program_.steps.resize(at(program_.ranks));
    }

    Program run()
    {
        for (int block = draw(3, 8); block > 0; --block) {
            for (int r = 0; r < program_.ranks; ++r)
                compute(r);
            const int window = draw(0, shared_window() - 1);
            switch (draw(0, 4)) {
            case 0:
                fence(window);
                break;
            case 1:
                ring(window);
                break;
            case 2:
                star(window);
                break;
            case 3:
                notice();
                break;
            default:
                locks(window);
                break;
            }
        }
        for (int r = 0; r < program_.ranks; ++r)
            compute(r);
        return std::move(program_);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    int draw(int from, int to)
    {
        return from + static_cast<int>(random_() % static_cast<std::uint32_t>(to - from + 1));
    }
    bool chance(int one_of) { return draw(1, one_of) == 1; }
    std::uint64_t size()
    {
        constexpr std::uint64_t sizes[] = {8, 8, 1000, 60'000, 400'000};
        return sizes[draw(0, 4)];
    }
    void add(int r, const Step& step) { program_.steps[at(r)].push_back(step); }
    void compute(int r, int most = 3000) { add(r, {.kind = Kind::Compute, .ticks = draw(0, most)}); }

    /// Nobody locks it for itself alone: who looks for something there keeps it locked for long.
    [[nodiscard]] int shared_window() const { return program_.windows - 1; }

    void fence(int window)
    {
        for (int r = 0; r < program_.ranks; ++r)
            add(r, {.kind = Kind::Fence, .window = window});
    }

    void access(int r, int window, const std::vector<int>& targets)
    {
        add(r, {.kind = Kind::Start, .window = window, .peers = targets});
        compute(r, 500);
        for (int i = draw(0, 3); i > 0; --i) {
            add(r, {.kind = Kind::Transfer,
                    .window = window,
                    .target = targets[at(draw(0, static_cast<int>(targets.size()) - 1))],
                    .bytes = size()});
            compute(r, 500);
        }
        add(r, {.kind = Kind::Complete, .window = window});
    }

    void expose(int r, int window, const std::vector<int>& origins)
    {
        add(r, {.kind = Kind::Post, .window = window, .peers = origins});
        compute(r, 500);
    }

    /// Everybody is origin of the next and target of the one before.
    void ring(int window)
    {
        const int n = program_.ranks;
        for (int r = 0; r < n; ++r) {
            expose(r, window, {(r + n - 1) % n});
            access(r, window, {(r + 1) % n});
            compute(r, 500);
            add(r, {.kind = Kind::Wait, .window = window});
        }
    }

    /// Some are origins, the others are targets of all of them.
    void star(int window)
    {
        std::vector<int> order(at(program_.ranks));
        std::iota(order.begin(), order.end(), 0);
        std::ranges::shuffle(order, random_);
        const auto middle = order.begin() + draw(1, program_.ranks - 1);
        const std::vector<int> origins(order.begin(), middle), targets(middle, order.end());
        for (const int r : origins)
            access(r, window, targets);
        for (const int r : targets) {
            expose(r, window, origins);
            add(r, {.kind = Kind::Wait, .window = window});
        }
    }

    void locks(int window)
    {
        for (int r = 0; r < program_.ranks; ++r)
            for (int i = draw(1, 3); i > 0; --i) {
                const int other = (r + draw(1, program_.ranks - 1)) % program_.ranks;
                const int target = chance(6) ? Step::all : chance(2) && r != 0 ? 0 : other;
                const bool exclusive = target != Step::all && !chance(3);
                add(r, {.kind = Kind::Lock, .window = window, .target = target, .exclusive = exclusive});
                compute(r, 800);
                for (int k = draw(0, 2); k > 0; --k) {
                    add(r, {.kind = Kind::Transfer,
                            .window = window,
                            .target = target == Step::all ? other : target,
                            .bytes = size()});
                    compute(r, 300);
                }
                if (target != Step::all && chance(3))
                    add(r, {.kind = Kind::Flush, .window = window, .target = target});
                compute(r, 300);
                add(r, {.kind = Kind::Unlock, .window = window, .target = target});
                compute(r, 500);
            }
    }

    /// Some look for what one of the others puts somewhere.
    void notice()
    {
        const int window = shared_window(), writer = draw(0, program_.ranks - 1);
        const int target = draw(0, program_.ranks - 1);
        const std::size_t number = puts_[{writer, target}]++;
        for (int r = 0; r < program_.ranks; ++r) {
            if (r != writer && chance(3))
                continue;
            add(r, {.kind = Kind::Lock, .window = window, .target = r == writer ? target : Step::all});
            if (r == writer)
                add(r, {.kind = Kind::Transfer, .window = window, .target = target, .bytes = size()});
            else
                add(r, {.kind = Kind::Look, .window = window, .target = target, .peers = {writer}, .number = number});
            add(r, {.kind = Kind::Unlock, .window = window, .target = r == writer ? target : Step::all});
        }
    }

    Program program_;
    std::mt19937 random_;
    std::map<std::pair<int, int>, std::size_t> puts_;  // by writer and target
};

}  // namespace

Program random_program(std::uint32_t seed)
{
    return Expansion(seed).run();
}

}  // namespace critpath::oracle::windows
